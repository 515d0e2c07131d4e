//! The user's performance table: results of benchmarks, kept beside the imported catalog. It is about machine
//! types, not about a fleet, so it is not part of the state.

use crate::context::catalog_file;
use crate::fail::{Answer, Failure, Place};
use fleet_money::benchmark::BenchmarkResult;
use serde::{Deserialize, Serialize};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// The format of the file.
const FORMAT: u32 = 1;
/// The most that is read of a file: a result has a thousand bytes.
const MOST_BYTES: u64 = 16 * 1024 * 1024;

/// The file's content.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Stored {
    format_version: u32,
    kind: String,
    results: Vec<BenchmarkResult>,
}

/// Where the table is.
pub(crate) fn file() -> Answer<PathBuf> {
    let catalog = catalog_file().ok_or_else(|| {
        Failure::new("there is no folder for the performance table")
            .hint("set HOME, or FLEET_CATALOG to the folder that it shares with the catalog")
    })?;
    Ok(catalog.with_file_name("performance.json"))
}

/// A path as people write it: `~` for their own folder.
pub(crate) fn shown(path: &Path) -> String {
    let home = std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
    match home.as_deref().and_then(|home| path.strip_prefix(home).ok()) {
        Some(rest) => format!("~/{}", rest.display()),
        None => path.display().to_string(),
    }
}

/// A file as text, if it is not too large to be one of ours.
pub(crate) fn text_of(path: &Path, what: &str) -> Answer<String> {
    let size = std::fs::metadata(path).or_fail(what, path.display())?.len();
    if size > MOST_BYTES {
        let said = format!("{what}: it has {size} bytes, and {MOST_BYTES} are read at most");
        return Err(Failure::new(said).at(path.display()));
    }
    std::fs::read_to_string(path).or_fail(what, path.display())
}

/// All results, in the order in which they were added. None if there is no table yet.
pub(crate) fn load(path: &Path) -> Answer<Vec<BenchmarkResult>> {
    match std::fs::metadata(path) {
        Err(cause) if cause.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(_) | Ok(_) => {}
    }
    let text = text_of(path, "cannot read the performance table")?;
    let refuse = |what: String| {
        Failure::new(what)
            .at(path.display())
            .hint("move the file away, and add the results again with `fleet benchmark add`")
    };
    let stored: Stored = serde_json::from_str(&text)
        .map_err(|cause| refuse(format!("the performance table is damaged: {cause}")))?;
    if stored.format_version != FORMAT || stored.kind != "performance" {
        let what = format!("the performance table has format {}", stored.format_version);
        return Err(refuse(format!("{what}, and this program reads {FORMAT}")));
    }
    Ok(stored.results)
}

/// Replaces the table, in whole or not at all.
pub(crate) fn save(path: &Path, results: Vec<BenchmarkResult>) -> Answer<()> {
    let what = "cannot write the performance table";
    let stored = Stored { format_version: FORMAT, kind: "performance".into(), results };
    let text = serde_json::to_string_pretty(&stored).or_fail(what, path.display())?;
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder).or_fail(what, folder.display())?;
    let mut file = tempfile::NamedTempFile::new_in(folder).or_fail(what, folder.display())?;
    file.write_all(text.as_bytes()).or_fail(what, path.display())?;
    file.persist(path).or_fail(what, path.display())?;
    Ok(())
}
