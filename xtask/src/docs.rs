//! `cargo xtask docs`: pages that are made from code.

use crate::Report;
use crate::shell::{cargo, run};
use crate::test::seconds;
use serde_json::json;
use std::time::Instant;

/// What to do with the pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Write those that differ.
    Write,
    /// Only compare.
    Check,
}

/// Writes or compares the pages. A test does the work: it is built with the others, so `cargo
/// xtask` itself stays small. With `--workspace`, crates are shared with the other builds.
pub(crate) fn execute(mode: Mode) -> Report {
    let start = Instant::now();
    let mut command = cargo(&["test", "--workspace", "--test", "generated_docs"]);
    if mode == Mode::Write {
        command.env("FLEET_WRITE_DOCS", "1");
    }
    let ok = run(command);
    let check = mode == Mode::Check;
    let figures = json!({ "command": "docs", "check": check, "ok": ok, "seconds": seconds(start) });
    Report { ok, figures }
}
