//! Specs: never a panic, and every error has a place.

use fleet_fuzz::{corpus, files, fuzz};
use fleet_spec::{Diagnostics, load_bytes};
use std::path::Path;

fn check(input: &[u8]) {
    let lines = input.iter().filter(|byte| matches!(byte, b'\n' | b'\r')).count() as u32 + 1;
    let (said, refused) = match load_bytes("fuzz.yaml", input) {
        Ok(loaded) => (loaded.warnings, false),
        Err(errors) => (errors, true),
    };
    assert!(!refused || said.has_errors(), "refused without a reason");
    judge(&said, lines);
}

fn judge(said: &Diagnostics, lines: u32) {
    assert!(said.0.len() <= 1_000, "{} problems told", said.0.len());
    for one in &said.0 {
        assert!(!one.message.is_empty());
        assert_eq!(one.file, Path::new("fuzz.yaml"), "{one:?}");
        assert_eq!(one.line == 0, one.column == 0, "{one:?}");
        assert!(one.line <= lines, "line {} of {lines}: {one:?}", one.line);
    }
    let shown = said.render(false);
    let unsafe_to_print =
        |c: char| c.is_control() && c != '\n' || matches!(c, '\u{202a}'..='\u{202e}');
    let found = shown.chars().find(|c| unsafe_to_print(*c));
    assert!(found.is_none(), "{found:?} in {shown:?}");
}

#[test]
fn fuzz_spec() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut seeds = files(&root.join("fleet-specs"));
    seeds.extend(files(&root.join("engine/spec/tests/suite")));
    seeds.retain(|(path, _)| path.extension().is_some_and(|extension| extension == "yaml"));
    assert!(seeds.len() >= 8, "{} specs", seeds.len());
    seeds.extend(corpus("spec"));
    let seeds: Vec<Vec<u8>> = seeds.into_iter().map(|(_, bytes)| bytes).collect();
    fuzz("spec", &seeds, check);
}
