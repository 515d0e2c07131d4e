//! `fleet rollout`: how far a change of template has come, and a person's say in it.
//!
//! Everything is in the journal, so no cloud is asked anything.

use crate::args::{Format, RolloutCommand, RolloutStatusArgs, RolloutWishArgs};
use crate::commands::freeze::{engine, write};
use crate::context::Context;
use crate::exit::Exit;
use crate::fail::Answer;
use crate::out::Out;
use crate::output::document;
use crate::runs::failed;
use crate::sentences;
use crate::text::{clean_line, count, when};
use fleet_model::{Event, FleetName, Recorded, RolloutNews, RolloutState};
use fleet_words::rollouts::{body, changes, may};

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

fn told(context: &Context, fleet: &str, recorded: &Recorded, out: &mut Out) -> Answer {
    if context.global.output == Format::Json {
        out.json(&document(Exit::Done, body(fleet, recorded)))?;
        return Ok(Exit::Done);
    }
    let Some(rollout) = &recorded.rollout else {
        out.text(format!("Fleet {fleet} has had no rollout: its template did not change."));
        return Ok(Exit::Done);
    };
    let (updated, left) = recorded.rolled_out();
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
