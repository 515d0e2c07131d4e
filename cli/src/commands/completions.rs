//! `fleet completions SHELL`.

use crate::args::Cli;
use crate::exit::Exit;
use crate::fail::Answer;
use crate::out::Out;
use clap::CommandFactory;
use clap_complete::Shell;

/// Prints the script that a shell sources.
pub(crate) fn run(shell: Shell, out: &mut Out) -> Answer {
    // Into memory first: the generator panics if its writer fails.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "fleet", &mut script);
    out.raw(&script);
    Ok(Exit::Done)
}
