//! Programs of Debian that look at `fleet` from outside. What is one program is unpacked below the witnesses; a browser needs
//! a hundred packages, and is installed.

use crate::shell::{note, run};
use std::path::Path;
use std::process::Command;

/// Prometheus and promtool.
const PACKAGES: [&str; 1] = ["prometheus"];

/// Unpacks them into `witnesses/debian`, once.
pub(crate) fn unpacked(witnesses: &Path) -> bool {
    let folder = witnesses.join("debian");
    if folder.join("ready").exists() {
        return true;
    }
    let ready = std::fs::create_dir_all(&folder).is_ok()
        && PACKAGES.iter().all(|package| unpack(&folder, package))
        && std::fs::write(folder.join("ready"), "").is_ok();
    if !ready {
        note(
            "error: Debian's prometheus cannot be unpacked; apt-get, dpkg-deb and a package index \
             (`apt-get update`) are needed",
        );
    }
    ready
}

/// Installs Chromium if there is none. Without the right to install anything its tests say that they are skipped; with it, a
/// failure is an error.
pub(crate) fn browser() -> bool {
    if says("which", "chromium").is_some() {
        return true;
    }
    if says("id", "-u").as_deref() != Some("0") {
        note("there is no chromium, and only root may install it: pages are not looked at");
        return true;
    }
    let install = || {
        let mut apt = Command::new("apt-get");
        apt.args(["install", "--yes", "--quiet", "--no-install-recommends", "chromium"]);
        apt.env("DEBIAN_FRONTEND", "noninteractive");
        run(apt)
    };
    let ready = install() || (refreshed() && install());
    if !ready {
        note("error: Debian's chromium cannot be installed; apt-get is needed");
    }
    ready
}

/// What a program says, if all is well.
fn says(program: &str, argument: &str) -> Option<String> {
    let answer = Command::new(program).arg(argument).output().ok()?;
    let said = String::from_utf8(answer.stdout).ok()?;
    answer.status.success().then(|| said.trim().to_owned())
}

/// Fetches the index of packages.
fn refreshed() -> bool {
    let mut apt = Command::new("apt-get");
    apt.args(["update", "--quiet"]);
    run(apt)
}

fn unpack(folder: &Path, package: &str) -> bool {
    let download = || {
        let mut apt = Command::new("apt-get");
        apt.args(["download", "--quiet", package]).current_dir(folder);
        run(apt)
    };
    let there = download() || refreshed() && download();
    if !there {
        return false;
    }
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let named = format!("{package}_");
    let mut archives = files.map(|file| file.path()).filter(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with(&named) && name.ends_with(".deb")
    });
    archives.next().is_some_and(|archive| {
        let mut unpack = Command::new("dpkg-deb");
        unpack.arg("--extract").arg(archive).arg(folder);
        run(unpack)
    })
}
