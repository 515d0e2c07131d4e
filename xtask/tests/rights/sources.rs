//! The providers' sources and the documents.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// A document of docs/security.
pub(crate) fn page(name: &str) -> String {
    fs::read_to_string(root().join("docs/security").join(name)).expect("a document")
}

/// All code of a provider without its tests, comments and white space.
pub(crate) fn code(provider: &str) -> String {
    let mut code = String::new();
    read(&root().join("providers").join(provider).join("src"), &mut code);
    code
}

fn read(folder: &Path, code: &mut String) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if path.is_dir() {
            read(&path, code);
        } else if name.ends_with(".rs") && !name.contains("test") {
            let text = fs::read_to_string(&path).expect("a source");
            let text = text.split("#[cfg(test)]").next().unwrap_or_default();
            let lines = text.lines().filter(|line| !line.trim_start().starts_with("//"));
            code.extend(lines.flat_map(str::chars).filter(|c| !c.is_whitespace()));
            code.push('\n');
        }
    }
}

/// `run_instances` is `RunInstances`.
pub(crate) fn snake_to_pascal(name: &str) -> String {
    let word = |word: &str| {
        let mut chars = word.chars();
        chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
    };
    name.split('_').map(word).collect()
}
