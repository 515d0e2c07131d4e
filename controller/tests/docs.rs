//! docs/openapi.json is what the controller serves. `cargo xtask docs` writes it.

const WRITE: &str = "FLEET_WRITE_DOCS";

#[test]
fn the_description_is_in_the_docs() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/openapi.json");
    let text = fleet_controller::openapi::text();
    if std::env::var_os(WRITE).is_some() {
        std::fs::write(file, text).expect("a file");
    }
    let written = std::fs::read_to_string(file).unwrap_or_default();
    assert!(written == text, "docs/openapi.json is not as it is now: run `cargo xtask docs`");
}
