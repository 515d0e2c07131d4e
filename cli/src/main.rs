//! `fleet`: from a spec on disk to capacity that holds.

mod args;
mod ask;
mod clouds;
mod commands;
mod context;
mod door;
mod filters;
mod fleets;
mod interrupted;
mod logging;
mod measured;
mod out;
mod panics;
mod performance;
mod prepare;
mod quotas;
mod reach;
mod render;
mod review;
mod runs;
mod saved;
mod side_by_side;
mod sign;
mod simulated;
mod traces;
mod watch;

// `crate::text` and the others read the same in every file, wherever they live.
use fleet_words::{exit, fail, machines, output, sentences, style, text};

use args::{Cli, Format};
use clap::Parser;
use exit::Exit;
use fail::Failure;
use out::Out;
use output::error::ErrorReport;
use std::process::ExitCode;

/// It gives back what is free. glibc's heaps keep the most that they ever needed, so a controller that lives for months
/// would be as large as its worst moment.
#[cfg(all(feature = "jemalloc", not(target_env = "msvc")))]
#[global_allocator]
static HEAP: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    panics::are_told_without_values();
    let cli = match Cli::try_parse_from(args::with_formats(std::env::args_os())) {
        Ok(cli) => cli,
        Err(asked) => {
            // Help and version are answers; everything else is a wrong command line.
            let exit = if asked.use_stderr() { Exit::Usage } else { Exit::Done };
            let _ = asked.print();
            if exit == Exit::Usage && args::asks_for_json(std::env::args_os()) {
                let mut out = Out::process(true);
                let failure = usage(&asked);
                let _ = out.json(&output::titled("fleet", exit, ErrorReport::from(&failure)));
                return out.close(exit).into();
            }
            return exit.into();
        }
    };
    out::terminal_width().into_iter().for_each(text::set_screen_width);
    let mut out = Out::process(cli.global.no_color);
    let (format, command) = (cli.global.output, cli.command.full_name());
    let exit = commands::run(cli, &mut out).unwrap_or_else(|failure| {
        let exit = failure.exit;
        // Whoever reads JSON reads why there is nothing else; `reconcile` writes lines, whatever is asked for.
        let document = output::titled(command, exit, ErrorReport::from(&failure));
        let _ = match (command, format) {
            ("reconcile", _) => out.json_line(&document),
            (_, Format::Json) => out.json(&document),
            (_, Format::Text | Format::Markdown) => Ok(()),
        };
        out.aside(failure);
        exit
    });
    out.close(exit).into()
}

/// A command line that makes no sense, as clap says it.
fn usage(asked: &clap::Error) -> Failure {
    let text = asked.render().to_string();
    let first = text.lines().next().unwrap_or_default();
    let what = first.strip_prefix("error: ").unwrap_or(first);
    Failure::new(what).hint("`fleet help` lists commands and flags").exit(Exit::Usage)
}
