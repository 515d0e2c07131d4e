//! `cargo xtask docs`: pages that are made from code.

use crate::Report;
use crate::shell::{cargo, run};
use crate::test::seconds;
use serde_json::json;
use std::time::Instant;

/// Writes or compares the pages. A test does the work: it is built with the others, so `cargo
/// xtask` itself stays small. With `--workspace`, crates are shared with the other builds.
pub(crate) fn execute(check: bool) -> Report {
    let start = Instant::now();
    // The tables of guards are made inside the binary, where the messages are.
    let tests =
        ["--test", "generated_docs", "--test", "docs", "--test", "compare", "--bin", "fleet"];
    let mut command = cargo(&[&["test", "--workspace"][..], &tests].concat());
    if !check {
        command.env("FLEET_WRITE_DOCS", "1");
    }
    let ok = run(command);
    let figures = json!({ "command": "docs", "check": check, "ok": ok, "seconds": seconds(start) });
    Report { ok, figures }
}
