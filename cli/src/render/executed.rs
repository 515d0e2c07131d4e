//! What a command came to on each machine.

use crate::machines::Line;
use crate::output::reach::{Exec, ExecMachine, ExecOutcome, FleetExec};
use crate::side_by_side::End;
use crate::style::{ADD, WARN};
use crate::text::{clean_line, count, markdown as escape};
use fleet_model::FleetName;
use std::time::Duration;

/// So much of what a machine says is kept, of each stream.
const KEPT: usize = 1 << 20;

/// Machines that a summary names.
const NAMED: usize = 20;

/// One machine, and what it said.
pub(crate) struct Executed<'a> {
    line: &'a Line,
    private: bool,
    pub ended: Option<(End, Duration)>,
    said: [String; 2],
    cut: bool,
}

impl<'a> Executed<'a> {
    /// Nothing yet.
    pub(crate) fn new(line: &'a Line, private: bool) -> Self {
        Executed { line, private, ended: None, said: Default::default(), cut: false }
    }

    /// Keeps a line of output or of errors, unless it was shown.
    pub(crate) fn hear(&mut self, error: bool, text: &str, shown: bool) {
        let said = &mut self.said[usize::from(error)];
        if shown {
            return;
        }
        if said.len() + text.len() > KEPT {
            self.cut = true;
            return;
        }
        said.push_str(text);
        said.push('\n');
    }

    /// Whether the command succeeded.
    pub(crate) fn is_ok(&self) -> bool {
        matches!(self.ended, Some((End::Exited(Some(0)), _)))
    }

    fn outcome(&self) -> ExecOutcome {
        match &self.ended {
            Some((End::Exited(Some(0)), _)) => ExecOutcome::Ok,
            Some((End::Exited(_), _)) => ExecOutcome::Failed,
            Some((End::TimedOut, _)) => ExecOutcome::TimedOut,
            Some((End::NotStarted(_) | End::NotReached(_), _)) | None => ExecOutcome::NotReached,
        }
    }

    /// Why it is not ok, in a few words.
    fn why(&self) -> String {
        match &self.ended {
            Some((End::Exited(Some(255)), _)) => {
                "exit code 255: ssh itself failed, or the command".into()
            }
            Some((End::Exited(Some(code)), _)) => format!("exit code {code}"),
            Some((End::Exited(None), _)) => "ended by a signal".into(),
            Some((End::TimedOut, _)) => "timed out".into(),
            Some((End::NotStarted(why) | End::NotReached(why), _)) => clean_line(why),
            None => "not run".into(),
        }
    }

    fn document(&self) -> ExecMachine {
        let exit_code = match &self.ended {
            Some((End::Exited(code), _)) => *code,
            _ => None,
        };
        let [stdout, stderr] = self.said.clone();
        let seconds = self.ended.as_ref().map(|(_, took)| took.as_millis() as f64 / 1000.0);
        ExecMachine {
            slot: self.line.slot.to_string(),
            id: self.line.id.to_string(),
            address: self.line.address(self.private).map(|address| address.to_string()),
            ssh_user: self.line.user().map(str::to_owned),
            outcome: self.outcome(),
            exit_code,
            why: (!self.is_ok()).then(|| self.why()),
            seconds,
            stdout,
            stderr,
            truncated: self.cut,
        }
    }
}

/// The last lines: how many are ok, and which are not.
pub(crate) fn summary(results: &[Executed<'_>]) -> String {
    let bad: Vec<&Executed<'_>> = results.iter().filter(|one| !one.is_ok()).collect();
    let all = count(results.len() as u64, "machine");
    if bad.is_empty() {
        return format!("\n{ADD}ok on {all}{ADD:#}");
    }
    let good = results.len() - bad.len();
    let mut out = format!("\n{WARN}ok on {good} of {all}, failed on {}:{WARN:#}", bad.len());
    for one in bad.iter().take(NAMED) {
        out.push_str(&format!("\n  {}: {}", one.line.slot.name, one.why()));
    }
    if bad.len() > NAMED {
        out.push_str(&format!("\n  and {} more; `-o json` lists all", bad.len() - NAMED));
    }
    out
}

/// For programs.
pub(crate) fn document(fleet: &FleetName, command: &str, results: &[Executed<'_>]) -> Exec {
    let count =
        |outcome: ExecOutcome| results.iter().filter(|one| one.outcome() == outcome).count() as u32;
    let fleet = FleetExec {
        fleet: fleet.to_string(),
        run: command.to_owned(),
        ok: count(ExecOutcome::Ok),
        failed: count(ExecOutcome::Failed),
        timed_out: count(ExecOutcome::TimedOut),
        not_reached: count(ExecOutcome::NotReached),
        machines: results.iter().map(Executed::document).collect(),
    };
    Exec { fleets: vec![fleet] }
}

/// For comments.
pub(crate) fn markdown(fleet: &FleetName, results: &[Executed<'_>]) -> String {
    let good = results.iter().filter(|one| one.is_ok()).count();
    let mut out = format!(
        "### Fleet `{}`\n\nok on {good} of {}\n\n| slot | outcome |\n|---|---|\n",
        escape(fleet.as_str()),
        count(results.len() as u64, "machine")
    );
    for one in results {
        let what = if one.is_ok() { "ok".to_owned() } else { one.why() };
        out.push_str(&format!("| {} | {} |\n", one.line.slot.name, escape(&what)));
    }
    out
}
