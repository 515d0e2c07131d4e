//! `fleet rollout`: how far a change of template has come, and a person's say in it.
//!
//! Everything is in the journal, so no cloud is asked anything.

use crate::args::{Format, RolloutCommand, RolloutStatusArgs, RolloutWishArgs};
use crate::commands::freeze::{engine, write};
use crate::context::Context;
use crate::exit::Exit;
use crate::fail::{Answer, Failure};
use crate::out::Out;
use crate::output::document;
use crate::output::rollout::{Rollout, RolloutIs};
use crate::output::words::Time;
use crate::runs::failed;
use crate::sentences;
use crate::text::{clean_line, count, when};
use fleet_core::{CannotUndo, can_undo};
use fleet_model::{Digest, Event, FleetName, Recorded, RolloutNews, RolloutState, SlotState};
use std::collections::BTreeMap;

/// Runs `fleet rollout`.
pub(crate) async fn run(context: &Context, command: &RolloutCommand, out: &mut Out) -> Answer {
    match command {
        RolloutCommand::Status(args) => status(context, args, out).await,
        RolloutCommand::Pause(args) => wish(context, args, RolloutNews::Paused, out).await,
        RolloutCommand::Resume(args) => wish(context, args, RolloutNews::Resumed, out).await,
        RolloutCommand::Undo(args) => wish(context, args, RolloutNews::Undone, out).await,
    }
}

async fn status(context: &Context, args: &RolloutStatusArgs, out: &mut Out) -> Answer {
    let engine = engine(context, &args.fleet).await?;
    let recorded = engine.recorded(&FleetName::new(args.fleet.as_str())).await.map_err(failed)?;
    told(context, &args.fleet, &recorded, out)
}

async fn wish(
    context: &Context,
    args: &RolloutWishArgs,
    news: RolloutNews,
    out: &mut Out,
) -> Answer {
    let engine = engine(context, &args.fleet).await?;
    let recorded = engine.recorded(&FleetName::new(args.fleet.as_str())).await.map_err(failed)?;
    may(&args.fleet, &recorded, &news)?;
    let command = match news {
        RolloutNews::Paused => "rollout pause",
        RolloutNews::Resumed => "rollout resume",
        _ => "rollout undo",
    };
    let wish = Event::Rollout { news };
    let recorded = write(&engine, &args.fleet, (command, args.lock_wait), wish).await?;
    told(context, &args.fleet, &recorded, out)
}

/// Refuses what makes no sense now.
fn may(fleet: &str, recorded: &Recorded, news: &RolloutNews) -> Answer<()> {
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

fn told(context: &Context, fleet: &str, recorded: &Recorded, out: &mut Out) -> Answer {
    if context.global.output == Format::Json {
        out.json(&document(Exit::Done, body(fleet, recorded)))?;
        return Ok(Exit::Done);
    }
    let Some(rollout) = &recorded.rollout else {
        out.text(format!("Fleet {fleet} has had no rollout: its template did not change."));
        return Ok(Exit::Done);
    };
    let (updated, left) = progress(recorded);
    let undone = recorded.undone.as_ref();
    let far = sentences::far(updated, left);
    out.text(match (undone, &rollout.state) {
        (Some(undone), RolloutState::Done) if undone.bad == rollout.to => {
            let since = when(undone.since);
            format!(
                "The rollout of {fleet} was undone at {since}: the template before it holds. The next apply or reconcile returns to it."
            )
        }
        (_, RolloutState::Going) => format!("The rollout of {fleet} is under way: {far}."),
        (_, RolloutState::Paused) => format!("The rollout of {fleet} is paused: {far}."),
        (_, RolloutState::Halted { why }) => {
            format!("The rollout of {fleet} stopped: {}. {far}.", sentences::halted(why))
        }
        (_, RolloutState::Done) => format!("The rollout of {fleet} is done: {far}."),
    });
    out.text(format!("  began   {}", when(rollout.since)));
    out.text(format!("  waves   {} done", rollout.waves));
    if !rollout.wave.is_empty() {
        let names: Vec<String> =
            rollout.wave.iter().take(6).map(|slot| slot.name.to_string()).collect();
        let more = if rollout.wave.len() > names.len() { ", …" } else { "" };
        let machines = count(rollout.wave.len() as u64, "machine");
        out.text(format!("  now     {machines}: {}{more}", names.join(", ")));
    }
    for change in changes(recorded) {
        out.text(format!("  {}", clean_line(&change)));
    }
    Ok(Exit::Done)
}

/// Machines with the new template, and without.
fn progress(recorded: &Recorded) -> (u64, u64) {
    let Some(rollout) = &recorded.rollout else { return (0, 0) };
    let (mut updated, mut left) = (0, 0);
    for record in recorded.slots.values() {
        let SlotState::Filled { pool, template, ending: false, .. } = &record.state else {
            continue;
        };
        match rollout.to.get(&pool.place.cloud) {
            Some(to) if to == template => updated += 1,
            Some(_) => left += 1,
            None => {}
        }
    }
    (updated, left)
}

/// What changes, field by field.
fn changes(recorded: &Recorded) -> Vec<String> {
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

fn body(fleet: &str, recorded: &Recorded) -> Rollout {
    let rollout = recorded.rollout.as_ref();
    let (updated, left) = progress(recorded);
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
