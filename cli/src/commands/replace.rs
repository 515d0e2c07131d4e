//! `fleet replace`: a machine for a machine, the new one first.
//!
//! The wish is one record of the journal. What follows is an apply like any other: the planner counts the
//! machine no longer, so a successor is launched, and destroys it when that is up. A run that dies in
//! between leaves the wish, and the next apply goes on from there.

use super::apply::{declined, finish, leave, nobody};
use crate::args::{Format, ReplaceArgs, Slot};
use crate::ask;
use crate::context::Context;
use crate::exit::Exit;
use crate::fail::{Answer, Failure};
use crate::fleets::only_fleet;
use crate::out::{Out, can_ask};
use crate::output::apply::{ReplaceCancel, Withdrawn};
use crate::output::document;
use crate::prepare::{Lead, Ready};
use crate::render::plan_text;
use crate::runs::{failed, limits};
use crate::text::{clean_line, count};
use fleet_core::{fold, plan};
use fleet_model::{Event, Inputs, MachineId, Recorded, SlotId, SlotState};
use fleet_run::Reach;

/// A machine that somebody wants replaced.
struct Wanted {
    slot: SlotId,
    machine: MachineId,
    /// Whether somebody asked before.
    asked: bool,
}

/// Runs `fleet replace`.
pub(crate) async fn run(context: &Context, args: &ReplaceArgs, out: &mut Out) -> Answer {
    if !args.yes && !args.cancel && !can_ask() {
        return Err(nobody("fleet replace FLEET SLOT --yes"));
    }
    let catalog = context.catalog()?;
    let (context, specs) = &context.named(std::slice::from_ref(&args.which));
    let loaded = context.launchable(context.specs(specs)?, &catalog)?;
    let desired = only_fleet(&loaded)?;
    let engine = context.engine(catalog, [desired])?;
    let board = context.board(1, false);
    let lead = Lead { context, engine: &engine, wait: args.lock_wait, command: "replace", board };
    let prepared = lead.prepare(&[desired], limits(args.limits), None).await.pop();
    let mut one = prepared.ok_or_else(|| Failure::new("the fleet was not looked at"))??;
    let wanted = match wanted(&one.inputs.recorded, &args.slots) {
        Ok(wanted) => wanted,
        Err(failure) => {
            leave(one).await?;
            return Err(failure);
        }
    };
    if args.cancel {
        return withdraw(context, one, &wanted, out).await;
    }
    let new = wanted.iter().filter(|one| !one.asked).map(|one| one.slot);
    let wish = Event::ReplaceAsked { slots: new.collect() };
    if one.inputs.limits.allow_destroy.is_none() && wanted.len() > 1 {
        // Whoever names the machines allows exactly so many to be destroyed; one always may be.
        one.inputs.limits.allow_destroy = Some(wanted.len() as u32);
    }
    with_wish(&mut one.inputs, &wish);
    one.planned = plan(&one.inputs);
    one.reach = Reach::Replacements;
    let shown = plan_text::render(&one.planned.plan, &one.planned.report);
    match context.global.output {
        Format::Text => out.text(format!("{shown}\n")),
        Format::Json | Format::Markdown if !args.yes => out.aside(shown),
        Format::Json | Format::Markdown => {}
    }
    out.flush();
    if !args.yes {
        if !agreed(context, &wanted, out)? {
            leave(one).await?;
            return declined(context, Exit::Done, out);
        }
        // The question may have stood for hours.
        let mut now = one.session.gather(one.inputs.limits).await.map_err(failed)?;
        with_wish(&mut now, &wish);
        one.session.verify(&one.planned.plan, &now).map_err(failed)?;
    }
    if !is_empty(&wish) {
        one.session.ask(&one.holder, wish).await.map_err(failed)?;
    }
    finish(context, "replace", vec![one], (Exit::Done, Vec::new()), out).await
}

fn is_empty(wish: &Event) -> bool {
    matches!(wish, Event::ReplaceAsked { slots } if slots.is_empty())
}

/// What is recorded, as it will be once the wish is.
fn with_wish(inputs: &mut Inputs, wish: &Event) {
    if !is_empty(wish) {
        fold(&mut inputs.recorded, wish, inputs.now);
    }
}

/// The machines that fill slots now, each once.
fn wanted(recorded: &Recorded, slots: &[Slot]) -> Answer<Vec<Wanted>> {
    let mut wanted: Vec<Wanted> = Vec::new();
    for named in slots {
        if wanted.iter().any(|known| known.slot.name == named.name) {
            continue;
        }
        let record = recorded.slots.get(&named.name);
        let record = record.filter(|it| named.generation.is_none_or(|n| n == it.generation));
        match record.map(|record| (record.generation, &record.state)) {
            Some((generation, SlotState::Filled { machine, replace, .. })) => {
                let slot = SlotId { name: named.name, generation };
                wanted.push(Wanted { slot, machine: machine.clone(), asked: *replace });
            }
            Some((_, SlotState::InDoubt { .. })) => {
                let what = format!("nobody knows yet whether {named} has a machine");
                return Err(Failure::new(what).hint("`fleet apply` finds out"));
            }
            Some((_, SlotState::Vacant)) | None => {
                return Err(Failure::new(format!("no machine fills {named}"))
                    .hint("`fleet status FLEET --machines` lists the slots and their machines")
                    .exit(Exit::Usage));
            }
        }
    }
    Ok(wanted)
}

fn agreed(context: &Context, wanted: &[Wanted], out: &mut Out) -> Answer<bool> {
    let name = |one: &Wanted| format!("{} ({})", one.slot.name, clean_line(one.machine.as_str()));
    let names: Vec<String> = wanted.iter().map(name).collect();
    let simulated = if context.global.sim { " on simulated clouds" } else { "" };
    let question = format!("Replace {}{simulated}, successors first?", names.join(", "));
    ask::yes(out, &question, "`fleet status FLEET --machines` shows the machines;")
}

/// The machines stay. A successor that was launched already is one too many, for the next apply to see.
async fn withdraw(context: &Context, one: Ready<'_>, wanted: &[Wanted], out: &mut Out) -> Answer {
    let slots: Vec<SlotId> = wanted.iter().filter(|one| one.asked).map(|one| one.slot).collect();
    let fleet = one.planned.plan.fleet.clone();
    if !slots.is_empty() {
        let wish = Event::ReplaceWithdrawn { slots: slots.clone() };
        one.session.ask(&one.holder, wish).await.map_err(failed)?;
    }
    leave(one).await?;
    match context.global.output {
        Format::Json => {
            let withdrawn = slots.iter().map(ToString::to_string).collect();
            let fleets = vec![Withdrawn { fleet: fleet.to_string(), withdrawn }];
            out.json(&document(Exit::Done, ReplaceCancel { fleets }))?;
        }
        Format::Text | Format::Markdown => out.text(match slots.len() {
            0 => "Nobody asked to replace these; nothing was changed.".to_owned(),
            n => format!(
                "{} of {fleet} will not be replaced. A successor that runs already is surplus: \
                 `fleet apply` destroys it.",
                count(n as u64, "machine")
            ),
        }),
    }
    Ok(Exit::Done)
}
