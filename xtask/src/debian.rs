//! Programs of Debian that look at `fleet` from outside, unpacked below the witnesses: nothing is installed.

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

fn unpack(folder: &Path, package: &str) -> bool {
    let mut download = Command::new("apt-get");
    download.args(["download", "--quiet", package]).current_dir(folder);
    if !run(download) {
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
