//! `fleet exec`: one command on every machine of a fleet, some at a time.

use super::block_on;
use crate::args::{ExecArgs, Format};
use crate::context::Context;
use crate::exit::Exit;
use crate::fail::{Answer, Failure};
use crate::machines::Line;
use crate::out::Out;
use crate::output::document;
use crate::reach::{Reached, Ssh, look_at, shell_line};
use crate::render::executed::{self, Executed};
use crate::side_by_side::{End, News, Task, run_all};
use crate::text::clean;

/// Nobody is there to type a password, and a machine that does not answer keeps others waiting.
/// Options of the user's own come first, and with ssh the first one counts.
const UNATTENDED: [&str; 4] = ["-o", "BatchMode=yes", "-o", "ConnectTimeout=15"];

/// Runs `fleet exec`.
pub(crate) fn run(context: &Context, args: &ExecArgs, out: &mut Out) -> Answer {
    let ssh = Ssh::new(context, &args.connect)?;
    let fleet = block_on(look_at(context, &args.name, &args.connect, out))?;
    let chosen = chosen(&fleet, &args.on)?;
    let tasks: Vec<Task> = chosen
        .iter()
        .map(|line| ssh.command(line, &UNATTENDED, &args.command).map_err(End::NotReached))
        .collect();
    let text = context.global.output == Format::Text;
    let width = chosen.iter().map(|line| line.slot.name.to_string().len()).max().unwrap_or(0);
    let mut results: Vec<Executed<'_>> =
        chosen.iter().map(|line| Executed::new(line, args.connect.login.private)).collect();
    run_all(tasks, usize::from(args.parallel), args.timeout, |news| match news {
        News::Line { at, error, text: said } => {
            if text {
                let slot = chosen[at].slot.name.to_string();
                let line = format!("{slot:width$} | {}", clean(&said));
                if error { out.aside(line) } else { out.text(line) }
            }
            results[at].hear(error, &said, text);
        }
        News::Ended { at, end, took } => results[at].ended = Some((end, took)),
    });
    let not_started = |one: &Executed<'_>| matches!(one.ended, Some((End::NotStarted(_), _)));
    if let Some(Executed { ended: Some((End::NotStarted(why), _)), .. }) = results.first()
        && results.iter().all(not_started)
    {
        return Err(Failure::new(format!("cannot start `{}`: {why}", ssh.program()))
            .at("--ssh")
            .hint("install OpenSSH, or name another program with --ssh or FLEET_SSH"));
    }
    let exit = if results.iter().all(Executed::is_ok) { Exit::Done } else { Exit::Failed };
    match context.global.output {
        Format::Json => {
            let command = shell_line(&args.command);
            out.json(&document(exit, executed::document(&fleet.fleet, &command, &results)))?;
        }
        Format::Markdown => out.text(executed::markdown(&fleet.fleet, &results)),
        Format::Text => out.aside(executed::summary(&results)),
    }
    Ok(exit)
}

/// All machines, or those that are named, each once.
fn chosen<'a>(fleet: &'a Reached, on: &[String]) -> Answer<Vec<&'a Line>> {
    if fleet.lines.is_empty() {
        return Err(Failure::new(format!("fleet `{}` has no machines", fleet.fleet))
            .hint("`fleet apply` launches them"));
    }
    if on.is_empty() {
        return Ok(fleet.lines.iter().collect());
    }
    let mut named = Vec::new();
    for word in on {
        let line = fleet.find(word)?;
        if !named.iter().any(|known: &&Line| known.id == line.id) {
            named.push(line);
        }
    }
    Ok(named)
}
