//! Pages that are made from code, held against the code. `cargo xtask docs` writes them.

use std::path::Path;

/// Set by `cargo xtask docs`: write what differs instead of failing.
const WRITE: &str = "FLEET_WRITE_DOCS";

fn check(name: &str, text: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name);
    if std::fs::read_to_string(&file).is_ok_and(|there| there == text) {
        return;
    }
    assert!(std::env::var_os(WRITE).is_some(), "{name} is out of date; run `cargo xtask docs`");
    std::fs::write(&file, text).expect("the page can be written");
}

#[test]
fn spec_reference() {
    check("docs/spec.md", &fleet_spec::reference_markdown());
}

#[test]
fn json_schema() {
    let schema = serde_json::to_string_pretty(&fleet_spec::schema()).expect("a schema");
    check("docs/fleet.schema.json", &(schema + "\n"));
}
