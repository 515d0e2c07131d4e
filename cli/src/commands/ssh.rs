//! `fleet ssh`: becomes the system's ssh, with the right user and address.

use crate::args::SshArgs;
use crate::context::Context;
use crate::exit::Exit;
use crate::fail::{Answer, Failure};
use crate::out::Out;
use crate::reach::{Ssh, look_at};
use std::process::Command;

/// Finds the machine, and what to start for it.
pub(crate) async fn find(context: &Context, args: &SshArgs, out: &mut Out) -> Answer<Command> {
    let ssh = Ssh::new(context, &args.connect)?;
    let (name, slot) = match args.machine.split_once('/') {
        Some((name, slot)) => (name, Some(slot)),
        None => (args.machine.as_str(), None),
    };
    if name.is_empty() || slot == Some("") {
        return Err(Failure::new(format!("`{}` names no machine", args.machine))
            .hint("write a fleet and a slot, such as web/burst-3")
            .exit(Exit::Usage));
    }
    let fleet = look_at(context, name, &args.connect, out).await?;
    let line = match slot {
        Some(slot) => fleet.find(slot)?,
        None => fleet.only()?,
    };
    ssh.command(line, &[], &args.command).map_err(|why| {
        Failure::new(format!("{}/{} cannot be reached: {why}", fleet.fleet, line.slot.name))
            .hint(format!("`fleet status {} --machines` shows how it is", fleet.fleet))
    })
}

/// Becomes the program: its exit code is ours, and so are its terminal and signals.
#[cfg(unix)]
pub(crate) fn become_it(mut command: Command, out: &mut Out) -> Answer {
    use std::os::unix::process::CommandExt;
    out.flush();
    let cause = command.exec();
    Err(cannot_start(&command, &cause))
}

/// Runs the program, and ends with its exit code.
#[cfg(not(unix))]
pub(crate) fn become_it(mut command: Command, out: &mut Out) -> Answer {
    out.flush();
    match command.status() {
        Ok(status) => std::process::exit(status.code().unwrap_or(255)),
        Err(cause) => Err(cannot_start(&command, &cause)),
    }
}

fn cannot_start(command: &Command, cause: &std::io::Error) -> Failure {
    Failure::new(format!("cannot start `{}`: {cause}", command.get_program().to_string_lossy()))
        .at("--ssh")
        .hint("install OpenSSH, or name another program with --ssh or FLEET_SSH")
}
