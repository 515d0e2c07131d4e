//! Running other programs, and talking.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

/// The root of the workspace.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."))
}

/// A path below the root of the workspace.
pub(crate) fn at(path: &str) -> std::path::PathBuf {
    root().join(path)
}

/// Where builds go.
pub(crate) fn target() -> std::path::PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| at("target"), Into::into)
}

/// Says something on stdout. A reader that went away is no reason to stop.
pub(crate) fn say(text: &str) {
    let _ = writeln!(std::io::stdout(), "{text}");
}

/// Says something on stderr, where it does not mix with results.
pub(crate) fn note(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Cargo itself, at the root. The very one that runs us, if it said so.
pub(crate) fn cargo(args: &[&str]) -> Command {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let mut command = Command::new(cargo);
    command.args(args).current_dir(root());
    command
}

/// Whether a cargo subcommand is installed.
pub(crate) fn has_cargo(subcommand: &str) -> bool {
    let mut command = cargo(&[subcommand, "--version"]);
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

/// Runs a command, shows what it prints, and hands each line of its stdout to `line`. Whether it
/// went well.
pub(crate) fn watch(command: Command, mut line: impl FnMut(&str)) -> bool {
    watch_quietly(command, |text| {
        say(text);
        line(text);
    })
}

/// Runs a command and hands each line of its stdout to `line`, which may show it. Whether it went
/// well.
pub(crate) fn watch_quietly(mut command: Command, mut line: impl FnMut(&str)) -> bool {
    note(&format!("$ {}", shown(&command)));
    let child = command.stdout(Stdio::piped()).spawn();
    let mut child = match child {
        Ok(child) => child,
        Err(cause) => {
            note(&format!("error: cannot run {}: {cause}", shown(&command)));
            return false;
        }
    };
    if let Some(stdout) = child.stdout.take() {
        // Lossy: a test may print anything.
        for text in BufReader::new(stdout).split(b'\n').map_while(Result::ok) {
            line(&String::from_utf8_lossy(&text));
        }
    }
    child.wait().is_ok_and(|status| status.success())
}

/// Runs a command. Whether it went well.
pub(crate) fn run(command: Command) -> bool {
    watch(command, |_| {})
}

fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or_default();
    let args = command.get_args().map(|arg| arg.to_string_lossy());
    std::iter::once(program.to_string_lossy()).chain(args).collect::<Vec<_>>().join(" ")
}
