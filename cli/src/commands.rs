//! One module per command.

mod completions;
mod man;

use crate::args::{Cli, Command, LogFormat};
use crate::fail::{Answer, Failure};
use crate::logging;
use crate::out::Out;

/// Runs a command.
pub(crate) fn run(cli: Cli, out: &mut Out) -> Answer {
    let Cli { global, command } = cli;
    let level = global.log.as_deref().unwrap_or("warn");
    logging::start(level, global.log_format.unwrap_or(LogFormat::Text))?;
    match command {
        Command::Completions { shell } => completions::run(shell, out),
        Command::Man { folder } => man::run(&folder, out),
        _ => Err(Failure::new("not built yet")),
    }
}
