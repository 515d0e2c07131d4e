//! The FOCUS validator, in a folder of its own below the target folder, made on first use.

use crate::shell::{note, run, target};
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Counts up when what is in the folder changes.
const FOLDER: &str = "focus-1";

/// The validator holds rules for FOCUS 1.2; pyarrow above 20 wants a NumPy that it does not allow.
const PYTHON: [&str; 2] = ["focus-validator==2.2.1", "pyarrow<21"];

/// A Python with the validator. `None`, with a word on why, where there is no Python 3.12 or no package
/// index: the test that wants it says that it is skipped.
pub(crate) fn python() -> Option<PathBuf> {
    let folder = target().join("emulators").join(FOLDER);
    let python = folder.join("bin/python");
    if folder.join("ready").exists() {
        return Some(python);
    }
    let Some(base) = candidates().into_iter().find(is_new_enough) else {
        note(
            "the FOCUS validator needs Python 3.12 or 3.13, and there is none: its test is skipped",
        );
        return None;
    };
    let mut venv = Command::new(base);
    venv.args(["-m", "venv"]).arg(&folder);
    let mut pip = Command::new(folder.join("bin/pip"));
    pip.args(["install", "--quiet", "--disable-pip-version-check"]).args(PYTHON);
    let ready = run(venv) && run(pip) && std::fs::write(folder.join("ready"), "").is_ok();
    if !ready {
        note("the FOCUS validator cannot be installed: its test is skipped");
    }
    ready.then_some(python)
}

/// Pythons that may be there, the plain ones first.
fn candidates() -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = ["python3.12", "python3.13", "python3"].map(PathBuf::from).into();
    let pyenv = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".pyenv/versions"));
    let versions = pyenv.and_then(|folder| std::fs::read_dir(folder).ok());
    found
        .extend(versions.into_iter().flatten().flatten().map(|one| one.path().join("bin/python3")));
    found
}

fn is_new_enough(python: &PathBuf) -> bool {
    let asked = Command::new(python)
        .args(["-c", "import sys, venv; sys.exit(not (3, 12) <= sys.version_info < (3, 14))"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    asked.is_ok_and(|status| status.success())
}
