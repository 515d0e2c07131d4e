//! `fleet`: from a spec on disk to capacity that holds.

mod args;
mod ask;
mod clouds;
mod commands;
mod context;
mod exit;
mod fail;
mod filters;
mod fleets;
mod logging;
mod machines;
mod out;
mod panics;
mod prepare;
mod quotas;
mod reach;
mod render;
mod runs;
mod saved;
mod sentences;
mod side_by_side;
mod sign;
mod simulated;
mod style;
mod text;
mod watch;

use args::{Cli, Format};
use clap::Parser;
use exit::Exit;
use out::Out;
use std::process::ExitCode;

fn main() -> ExitCode {
    panics::are_told_without_values();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(asked) => {
            // Help and version are answers; everything else is a wrong command line.
            let exit = if asked.use_stderr() { Exit::Usage } else { Exit::Done };
            let _ = asked.print();
            return exit.into();
        }
    };
    let mut out = Out::process(cli.global.no_color);
    let format = cli.global.output;
    let exit = commands::run(cli, &mut out).unwrap_or_else(|failure| {
        let exit = failure.exit;
        if format == Format::Json {
            // Whoever reads JSON reads why there is nothing else.
            let _ = out.json(&failure.document());
        }
        out.aside(failure);
        exit
    });
    out.close(exit).into()
}
