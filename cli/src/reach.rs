//! Machines to be reached: found by the names that people give them, and the program that connects.

use crate::args::{ConnectArgs, LoginArgs};
use crate::commands::tell_of_silence;
use crate::context::Context;
use crate::exit::Exit;
use crate::fail::{Answer, Failure};
use crate::fleets::fleets;
use crate::machines::{Line, lines};
use crate::out::Out;
use crate::runs::failed;
use crate::text::count;
use fleet_model::{Desired, FleetName, Limits, Timestamp};
use std::path::PathBuf;
use std::process::Command;

/// How many slots a message names.
const NAMED: usize = 12;

/// A fleet and those of its machines that its journal knows.
pub(crate) struct Reached {
    pub fleet: FleetName,
    pub taken_at: Timestamp,
    pub lines: Vec<Line>,
}

/// Looks at fleets, with addresses. Machines that the journal does not know are nobody's to reach.
pub(crate) async fn look(
    context: &Context,
    specs: &[PathBuf],
    login: &LoginArgs,
    out: &mut Out,
) -> Answer<Vec<Reached>> {
    let catalog = context.catalog()?;
    let fleets = fleets(context, specs).await?;
    let engine = context.engine(catalog, &fleets)?;
    let wanted: Vec<&Desired> = fleets.iter().collect();
    context.same_kinds(&wanted).await?;
    let asking = context.board(wanted.len(), false).asking(&wanted);
    let gathered = engine.gather_all(&wanted, Limits::default()).await;
    let mut gathered = gathered.into_iter().collect::<Result<Vec<_>, _>>().map_err(failed)?;
    let silent = engine.add_addresses(&mut gathered).await;
    drop(asking);
    tell_of_silence(&silent, out);
    let reached = gathered.iter().map(|inputs| {
        let mut lines = lines(inputs, login.user.as_deref());
        lines.retain(|line| line.recorded);
        let fleet = inputs.desired.fleet.clone();
        Reached { fleet, taken_at: inputs.observed.taken_at, lines }
    });
    Ok(reached.collect())
}

/// One fleet by its name.
pub(crate) async fn look_at(
    context: &Context,
    name: &str,
    connect: &ConnectArgs,
    out: &mut Out,
) -> Answer<Reached> {
    let mut global = context.global.clone();
    global.fleet = vec![name.to_owned()];
    let context = Context { global };
    let mut found = look(&context, &connect.spec, &connect.login, out).await?;
    found.pop().ok_or_else(|| Failure::new(format!("there is no fleet `{name}`")))
}

impl Reached {
    /// A machine by its slot, with its generation or without, or by its id.
    pub(crate) fn find(&self, word: &str) -> Answer<&Line> {
        let is = |line: &&Line| {
            let slot = line.slot;
            slot.name.to_string() == word || slot.to_string() == word || line.id.as_str() == word
        };
        self.lines.iter().find(is).ok_or_else(|| self.no_such(word))
    }

    fn no_such(&self, word: &str) -> Failure {
        let what = format!("fleet `{}` has no machine `{word}`", self.fleet);
        let failure = Failure::new(what).exit(Exit::Usage);
        if self.lines.is_empty() {
            return failure.hint("it has no machines at all; `fleet apply` launches them");
        }
        let slots: Vec<String> =
            self.lines.iter().take(NAMED).map(|line| line.slot.name.to_string()).collect();
        let more = self.lines.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        failure.hint(format!("it has {}{more}", slots.join(", ")))
    }

    /// The only machine of a fleet, for those who name none.
    pub(crate) fn only(&self) -> Answer<&Line> {
        match self.lines.as_slice() {
            [line] => Ok(line),
            [] => Err(Failure::new(format!("fleet `{}` has no machines", self.fleet))
                .hint("`fleet apply` launches them")),
            [first, ..] => Err(Failure::new(format!(
                "fleet `{}` has {}: which one?",
                self.fleet,
                count(self.lines.len() as u64, "machine")
            ))
            .hint(format!("name its slot, such as {}/{}", self.fleet, first.slot.name))
            .exit(Exit::Usage)),
        }
    }
}

/// The program that connects.
#[derive(Debug, Clone)]
pub(crate) struct Ssh {
    program: String,
    options: Vec<String>,
    private: bool,
}

impl Ssh {
    /// The program of the flags, else the system's. Machines of simulated clouds are not there to be
    /// reached, unless somebody brings a program of their own.
    pub(crate) fn new(context: &Context, connect: &ConnectArgs) -> Answer<Self> {
        let private = connect.login.private;
        let Some(text) = connect.ssh.as_deref().filter(|text| !text.trim().is_empty()) else {
            if context.global.sim {
                return Err(Failure::new(
                    "machines on simulated clouds do not exist: there is nothing to reach",
                )
                .hint(
                    "`fleet inventory` shows their made-up addresses; `--ssh PROGRAM` runs that program \
                     in place of ssh",
                ));
            }
            return Ok(Ssh { program: "ssh".into(), options: Vec::new(), private });
        };
        let mut words = text.split_whitespace().map(str::to_owned);
        let program = words.next().unwrap_or_default();
        Ok(Ssh { program, options: words.collect(), private })
    }

    /// The program's name.
    pub(crate) fn program(&self) -> &str {
        &self.program
    }

    /// What to start for a machine. `--` ends the options: neither an address nor a command can be
    /// taken for one.
    pub(crate) fn command(
        &self,
        line: &Line,
        more: &[&str],
        remote: &[String],
    ) -> Result<Command, String> {
        if !line.may_answer() {
            return Err(format!("it is {}", line.state()));
        }
        let Some(address) = line.address(self.private) else {
            return Err(match (self.private, line.state()) {
                (true, _) => "no private address is known".into(),
                (false, "running") => "no address is known".into(),
                (false, state) => format!("it is {state} and has no address yet"),
            });
        };
        let destination = match line.user() {
            Some(user) => format!("{user}@{address}"),
            None => address.to_string(),
        };
        let mut command = Command::new(&self.program);
        command.args(&self.options).args(more).arg("--").arg(destination);
        if !remote.is_empty() {
            command.arg(shell_line(remote));
        }
        Ok(command)
    }
}

/// A command as a remote shell reads it: one word is a line of its own making, and of several each
/// arrives as it was given.
pub(crate) fn shell_line(words: &[String]) -> String {
    match words {
        [line] => line.clone(),
        words => words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "),
    }
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_arrive_as_they_were_given() {
        let line = |words: &[&str]| {
            shell_line(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
        };
        assert_eq!(line(&["df -h | tail -1"]), "df -h | tail -1");
        assert_eq!(line(&["df", "-h"]), "df -h");
        assert_eq!(line(&["sh", "-c", "echo $HOME"]), "sh -c 'echo $HOME'");
        assert_eq!(line(&["echo", "it's", ""]), r"echo 'it'\''s' ''");
    }
}
