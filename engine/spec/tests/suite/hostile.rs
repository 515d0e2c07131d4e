//! Inputs that want to hurt: each is refused, quickly, with something to read.

use crate::fleet;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

/// Far more than any of these takes, on the busiest machine: what grows faster than its input takes
/// hours.
const FOR_EVER: Duration = Duration::from_secs(30);

/// The bytes are refused, not for ever pondered, and an error says this.
fn refuse(name: &str, bytes: &[u8], says: &str) {
    let start = Instant::now();
    let errors = fleet_spec::load_bytes("bad.yaml", bytes).expect_err(name);
    let rendered = errors.render(true);
    let took = start.elapsed();
    assert!(took < FOR_EVER, "{name} took {took:?}");
    assert!(errors.0.len() <= 101, "{name}: {} errors", errors.0.len());
    assert!(rendered.len() < 100_000, "{name}: {} bytes of errors", rendered.len());
    let first = errors.errors().next().expect("an error");
    assert!(errors.errors().any(|one| one.message.contains(says)), "{name}: {}", first.message);
    assert!(first.hint.is_some(), "{name}");
}

#[test]
fn bombs() {
    let mut laughs = String::from("a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n");
    for level in 1..30 {
        let inner = vec![format!("*a{}", level - 1); 9].join(", ");
        let _ = writeln!(laughs, "a{level}: &a{level} [{inner}]");
    }
    refuse("billion laughs", laughs.as_bytes(), "more than 100000 values");
    let mut chain = String::from("a0: &a0 { x: 1 }\n");
    for level in 1..200 {
        let _ = writeln!(chain, "a{level}: &a{level} {{ x: *a{} }}", level - 1);
    }
    refuse("deep aliases", chain.as_bytes(), "nested deeper than 64");
    let long = format!("a: &a {}\nb: [{}]\n", "x".repeat(500_000), "*a, ".repeat(100_000));
    refuse("long text often", long.as_bytes(), "more than 100000 values");
    refuse("a value in itself", b"a: &a [*a]\n", "inside the value");
}

#[test]
fn depth() {
    refuse("flow lists", "[".repeat(100_000).as_bytes(), "nested deeper");
    refuse("flow mappings", "{a: ".repeat(100_000).as_bytes(), "nested deeper");
    refuse("block lists", "- ".repeat(100_000).as_bytes(), "nested deeper");
    let mut steps = String::new();
    for level in 0..1000 {
        let _ = writeln!(steps, "{}a:", " ".repeat(level));
    }
    refuse("block mappings", steps.as_bytes(), "nested deeper");
    refuse("question marks", "? ".repeat(100_000).as_bytes(), "");
    refuse("closed", format!("{}{}", "[".repeat(400), "]".repeat(400)).as_bytes(), "nested deeper");
}

#[test]
fn size() {
    refuse("ten megabytes", &vec![b'a'; 10_000_000], "10000000 bytes");
    let keys: String = (0..45_000).map(|key| format!("k{key}: 1\n")).collect();
    refuse("many fields", keys.as_bytes(), "`apiVersion` is missing");
    let keys: String = (0..45_000).map(|key| format!("  k{key}: 1\n")).collect();
    let text = format!("apiVersion: fleet/v1\nkind: Fleet\nmetadata: {{ name: a }}\nspec:\n{keys}");
    refuse("many unknown fields", text.as_bytes(), "unknown field");
    let twice = fleet(&format!("capacity: {{ {} }}", "target: 1, ".repeat(45_000)));
    refuse("one field very often", twice.as_bytes(), "given twice");
    refuse(
        "one long line",
        fleet(&format!("capacity: {{ {} }}", "x".repeat(900_000))).as_bytes(),
        "",
    );
    refuse("many documents", "--- a\n".repeat(40_000).as_bytes(), "must be a mapping");
    refuse("many broken documents", "--- [\n".repeat(150_000).as_bytes(), "not valid YAML");
    let anchors: String = (0..30_000).map(|at| format!("k{at}: &a{at} 1\n")).collect();
    refuse("many anchors", anchors.as_bytes(), "");
    let list = vec!["p5"; 90_000].join(", ");
    let long = fleet(&format!("capacity: {{ target: 1 }}\ninstances: {{ families: [{list}] }}"));
    refuse("a long list", long.as_bytes(), "90000 items");
    refuse("a long key", format!("{}: 1\n", "k".repeat(900_000)).as_bytes(), "");
    refuse("quotes", "\"".repeat(900_001).as_bytes(), "");
    refuse("colons", ": ".repeat(400_000).as_bytes(), "");
    refuse("comments", format!("{}a", "#\n".repeat(400_000)).as_bytes(), "");
}

#[test]
fn not_text() {
    refuse("zeros", &[0; 5000], "binary");
    let junk: Vec<u8> =
        (0..100_000u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    refuse("junk", &junk, "");
    refuse("a picture", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "binary");
    refuse(
        "latin-1",
        b"apiVersion: fleet/v1\nkind: Fl\xe9et\n",
        "not UTF-8 text: bad byte at line 2, column 9",
    );
    let wide: Vec<u8> = "apiVersion: fleet/v1".encode_utf16().flat_map(u16::to_le_bytes).collect();
    refuse("UTF-16", &wide, "binary");
    refuse("UTF-16 with mark", &[&[0xff, 0xfe], &wide[..]].concat(), "binary");
    refuse("lone surrogate", b"name: \xed\xa0\x80\n", "not UTF-8");
    refuse("escaped lone surrogate", b"name: \"\\ud800\"\n", "");
    refuse("escape", b"name: \x1b[31m\n", "binary");
    refuse("overlong", b"name: \xc0\xaf\n", "not UTF-8");
    refuse("a mark alone", b"\xef\xbb\xbf", "no document");
    refuse("directives", "%YAML 9.9\n---\na: b\n".as_bytes(), "");
    refuse("tabs", b"\t\t\t\n\ta:\tb\n", "");
    refuse("empty", b"", "no document");
    refuse("marks", b"---\n---\n...\n---\n", "no document");
}

#[test]
fn a_mark_at_the_beginning_is_no_error() {
    let text = format!("\u{feff}{}", crate::TRAIN);
    crate::accept(&text);
    crate::accept(&crate::TRAIN.replace('\n', "\r\n"));
}

#[test]
fn user_data_is_in_no_message() {
    let specs = [
        "template:\n  userData: |\n    #!/bin/sh\n    export TOKEN=CANARY\n  key: [1]",
        "template: { userData: CANARY, key: [1] }",
        "template: { userData: { aws: CANARY, gcp: \"CANARY\" }, bogus: 1 }",
        "template: { userData: { aws: [CANARY] }, userDataFile: x }",
        "template: { userData: [CANARY] }",
        "template:\n  userData: |\n    CANARY\n   CANARY: [\n",
        "template: { userData: \"CANARY }",
        "a: &a [1]\nb: &b [*b, { userData: [*missing, CANARY] }]",
        "template: { userData: CANARY, userData: CANARY }",
        "template: { userData: !tag CANARY }",
    ];
    for spec in specs {
        let text = fleet(&format!("capacity: {{ target: 8 }}\n{spec}"));
        let errors = fleet_spec::load_str("a.yaml", &text).expect_err(spec);
        let shown = format!("{}{errors:?}", errors.render(false));
        assert!(!shown.contains("CANARY"), "{spec}\n{shown}");
    }
    let good = fleet("capacity: { target: 8 }\ntemplate: { userData: CANARY }");
    let shown = format!("{:?}", crate::accept(&good));
    assert!(!shown.contains("CANARY"), "{shown}");
}
