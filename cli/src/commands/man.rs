//! `fleet man FOLDER`.

use crate::args::Cli;
use crate::exit::Exit;
use crate::fail::{Answer, Place};
use crate::out::Out;
use clap::CommandFactory;
use std::fs;
use std::path::Path;

/// Writes one page per command.
pub(crate) fn run(folder: &Path, out: &mut Out) -> Answer {
    fs::create_dir_all(folder).or_fail("cannot make the folder", folder.display())?;
    clap_mangen::generate_to(Cli::command(), folder)
        .or_fail("cannot write the man pages", folder.display())?;
    out.text(format!(
        "man pages written; read them with `man {}`",
        folder.join("fleet.1").display()
    ));
    Ok(Exit::Done)
}
