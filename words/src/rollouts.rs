//! A change of template, as the journal has it: how far it has come, and what may be asked of it now.

use crate::exit::Exit;
use crate::fail::{Answer, Failure};
use crate::output::rollout::{Rollout, RolloutIs};
use crate::output::words::Time;
use crate::sentences;
use fleet_core::{CannotUndo, can_undo};
use fleet_model::{Digest, Recorded, RolloutNews, RolloutState};
use std::collections::BTreeMap;

/// Refuses what makes no sense now.
pub fn may(fleet: &str, recorded: &Recorded, news: &RolloutNews) -> Answer<()> {
    let no = |what: String, hint: &str| Err(Failure::new(what).hint(hint).exit(Exit::Usage));
    let state = recorded.rollout.as_ref().map(|rollout| &rollout.state);
    match (news, state) {
        (RolloutNews::Paused, Some(RolloutState::Going)) => Ok(()),
        (RolloutNews::Paused, Some(RolloutState::Paused)) => no(
            format!("the rollout of {fleet} is paused already"),
            "`fleet rollout resume` goes on",
        ),
        (RolloutNews::Paused, _) => no(
            format!("no rollout of {fleet} is under way"),
            "a rollout begins when the spec's template changes and is applied",
        ),
        (RolloutNews::Resumed, Some(RolloutState::Paused | RolloutState::Halted { .. })) => Ok(()),
        (RolloutNews::Resumed, _) if recorded.undone.is_some() => Ok(()),
        (RolloutNews::Resumed, _) => no(
            format!("no rollout of {fleet} is paused, stopped or undone"),
            "`fleet rollout status FLEET` shows how it stands",
        ),
        (RolloutNews::Undone, _) => cannot_undo(fleet, recorded),
        (_, _) => Ok(()),
    }
}

fn cannot_undo(fleet: &str, recorded: &Recorded) -> Answer<()> {
    let (what, hint) = match can_undo(recorded) {
        Ok(()) => return Ok(()),
        Err(CannotUndo::Nothing) => (
            format!("{fleet} has no rollout to undo"),
            "`fleet history FLEET` shows what was done to it".to_owned(),
        ),
        Err(CannotUndo::Already) => (
            format!("the rollout of {fleet} is undone already"),
            "`fleet rollout resume FLEET` returns to the spec's template".to_owned(),
        ),
        Err(CannotUndo::NotKept { cloud }) => (
            format!("the journal of {fleet} does not have the template before this one on {cloud}"),
            "go back to it in the spec, and apply".to_owned(),
        ),
        Err(CannotUndo::UserData { cloud }) => (
            format!(
                "the user data of {fleet} changed on {cloud}, and the journal does not keep them"
            ),
            "user data may hold secrets: go back to the old ones in the spec, and apply".to_owned(),
        ),
    };
    Err(Failure::new(what).hint(hint).exit(Exit::Usage))
}

/// What changes, field by field.
pub fn changes(recorded: &Recorded) -> Vec<String> {
    let Some(rollout) = &recorded.rollout else { return Vec::new() };
    let none = BTreeMap::new();
    let fields = |digest: &Digest| recorded.templates.get(digest).unwrap_or(&none);
    let mut lines = Vec::new();
    for (cloud, to) in &rollout.to {
        let Some(from) = rollout.from.get(cloud) else { continue };
        let (from, to) = (fields(from), fields(to));
        let names: std::collections::BTreeSet<&String> = from.keys().chain(to.keys()).collect();
        for name in names {
            let (before, now) = (from.get(name), to.get(name));
            if before != now {
                let shown =
                    |value: Option<&String>| value.map_or("nothing", String::as_str).to_owned();
                lines.push(format!("{cloud}  {name}: {} → {}", shown(before), shown(now)));
            }
        }
    }
    lines
}

/// The document.
pub fn body(fleet: &str, recorded: &Recorded) -> Rollout {
    let rollout = recorded.rollout.as_ref();
    let (updated, left) = recorded.rolled_out();
    let undone = recorded.undone.as_ref().map(|undone| Time(undone.since));
    let is = match rollout.map(|rollout| &rollout.state) {
        None => RolloutIs::None,
        Some(RolloutState::Going) => RolloutIs::Going,
        Some(RolloutState::Paused) => RolloutIs::Paused,
        Some(RolloutState::Halted { .. }) => RolloutIs::Halted,
        Some(RolloutState::Done) => RolloutIs::Done,
    };
    let why = rollout.and_then(|rollout| match &rollout.state {
        RolloutState::Halted { why } => Some(sentences::halted(why)),
        _ => None,
    });
    Rollout {
        fleet: fleet.to_owned(),
        is,
        why,
        since: rollout.map(|rollout| Time(rollout.since)),
        undone,
        waves: rollout.map_or(0, |rollout| rollout.waves),
        updated,
        left,
        replacing: rollout
            .map(|rollout| rollout.wave.iter().map(|slot| slot.name.to_string()).collect())
            .unwrap_or_default(),
        changes: changes(recorded),
    }
}
