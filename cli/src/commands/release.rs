//! `fleet release`: machines are let go, and run on.

use super::apply::{declined, leave};
use crate::args::{Format, ReleaseArgs};
use crate::ask;
use crate::context::Context;
use crate::exit::Exit;
use crate::fail::{Answer, Failure};
use crate::fleets::{by_name, no_such_fleet};
use crate::out::{Out, can_ask};
use crate::output::adopt::{NotChanged, Release, Released};
use crate::output::document;
use crate::prepare::{Lead, Ready};
use crate::render::columns::{Columns, left};
use crate::render::place;
use crate::runs::{failed, kept_as_it_is};
use crate::style::{DIM, WARN};
use crate::text::{clean_line, count};
use fleet_model::{
    Event, FleetName, Inputs, Labelled, Limits, MachineId, PoolId, SlotId, SlotState, Vacated,
};
use fleet_run::Changed;

/// A machine that is let go.
struct Machine {
    slot: SlotId,
    id: MachineId,
    pool: PoolId,
}

/// What is to be done.
struct Chosen {
    machines: Vec<Machine>,
    /// Recorded machines that are gone.
    gone: Vec<Vacated>,
}

/// Runs `fleet release`.
pub(crate) async fn run(context: &Context, args: &ReleaseArgs, out: &mut Out) -> Answer {
    if !args.yes && !can_ask() {
        return Err(Failure::new("there is no terminal to ask for the fleet's name")
            .hint("`fleet status` shows the machines; `fleet release FLEET --yes` does not ask"));
    }
    let fleet = FleetName::new(args.fleet.as_str());
    let known = context.journals()?.fleets().await.map_err(failed)?;
    if !known.contains(&fleet) {
        return Err(no_such_fleet(context, &args.fleet, &known));
    }
    let desired = by_name(&fleet);
    let engine = context.engine(context.catalog()?, [&desired])?;
    let board = context.board(1, false);
    let lead = Lead { context, engine: &engine, wait: args.lock_wait, command: "release", board };
    let prepared = lead.prepare(&[&desired], Limits::default(), None).await.pop();
    let one = prepared.ok_or_else(|| Failure::new("the fleet was not looked at"))??;
    let chosen = match kept_as_it_is(&one.inputs).map_or_else(|| choose(&one, args), Err) {
        Ok(chosen) => chosen,
        Err(failure) => {
            leave(one).await?;
            return Err(failure);
        }
    };
    if !chosen.machines.is_empty() && !args.yes {
        show(&chosen, out);
        if !agreed(context, &args.fleet, &chosen, out)? {
            leave(one).await?;
            return declined(context, Exit::Failed, out);
        }
    }
    let Ready { session, holder, watch, .. } = one;
    if !chosen.gone.is_empty() {
        let gone = Event::Vacated { gone: chosen.gone.clone() };
        session.ask(&holder, gone).await.map_err(failed)?;
    }
    let labelled = chosen
        .machines
        .iter()
        .map(|one| (one.pool.place.scope(), Labelled { machine: one.id.clone(), slot: one.slot }));
    let changed = match chosen.machines.is_empty() {
        true => Changed::default(),
        false => session.let_go(&holder, labelled.collect()).await.map_err(failed)?,
    };
    watch.end();
    session.finish().await.map_err(failed)?;
    told(context, args, &chosen, &changed, out)
}

/// The machines that are meant, if all of them can be let go.
fn choose(one: &Ready<'_>, args: &ReleaseArgs) -> Answer<Chosen> {
    let Inputs { recorded, observed, .. } = &one.inputs;
    if !recorded.in_doubt.is_empty() {
        let fleet = FleetName::new(args.fleet.as_str());
        let requests = recorded.in_doubt.len();
        return Err(failed(fleet_run::RunError::InDoubt { fleet, requests }));
    }
    let mut chosen = Chosen { machines: Vec::new(), gone: one.planned.plan.vacate.clone() };
    let mut named: Vec<&String> = args.machines.iter().collect();
    for (&name, record) in &recorded.slots {
        let SlotState::Filled { machine, pool, ending, .. } = &record.state else { continue };
        let slot = SlotId { name, generation: record.generation };
        let words = [name.to_string(), slot.to_string(), machine.to_string()];
        let wanted = args.machines.is_empty() || args.machines.iter().any(|w| words.contains(w));
        named.retain(|word| !words.contains(word));
        if !wanted || chosen.gone.iter().any(|gone| gone.machine == *machine) {
            continue;
        }
        if *ending {
            return Err(Failure::new(format!("{name} ({}) is being destroyed", machine))
                .hint("`fleet apply` or `fleet destroy` ends that; then release the others"));
        }
        if !observed.is_complete(&pool.place.scope()) {
            return Err(Failure::new(format!(
                "{} does not answer, and {name} ({machine}) stands there",
                pool.place.scope()
            ))
            .hint("nothing was changed; try again when it answers, or choose with --machines")
            .exit(Exit::Unsettled));
        }
        chosen.machines.push(Machine { slot, id: machine.clone(), pool: pool.clone() });
    }
    match named.first() {
        None => Ok(chosen),
        Some(word) => Err(Failure::new(format!("fleet `{}` has no machine `{word}`", args.fleet))
            .at("--machines")
            .hint("`fleet status FLEET --machines` lists the slots and their machines")
            .exit(Exit::Usage)),
    }
}

fn show(chosen: &Chosen, out: &mut Out) {
    let mut table = Columns::default();
    table.row(["slot", "machine", "type", "where", "market"].map(|head| left(head).style(DIM)));
    for Machine { slot, id, pool } in &chosen.machines {
        table.row([
            left(slot.name.to_string()),
            left(id.as_str()),
            left(pool.instance_type.as_str()),
            left(place(&pool.place)),
            left(pool.market.as_str()),
        ]);
    }
    out.aside(table.render("  ").trim_end());
    out.flush();
}

fn agreed(context: &Context, fleet: &str, chosen: &Chosen, out: &mut Out) -> Answer<bool> {
    let question = format!(
        "This lets go of {}{}: they run on, cost money, and nothing here looks after them. Type the fleet's \
         name ({fleet}) to continue:",
        count(chosen.machines.len() as u64, "machine"),
        if context.global.sim { " on simulated clouds" } else { "" }
    );
    ask::name(out, &question, fleet, "`fleet status` shows the machines;")
}

fn told(
    context: &Context,
    args: &ReleaseArgs,
    chosen: &Chosen,
    changed: &Changed,
    out: &mut Out,
) -> Answer {
    let Changed { done, stuck, refused, unknown } = changed;
    let kept: Vec<_> = refused.iter().chain(unknown).collect();
    let exit = if kept.is_empty() { Exit::Done } else { Exit::Unsettled };
    let released = chosen.machines.iter();
    let released = released.filter(|one| done.contains(&one.id) || stuck.contains_key(&one.id));
    if context.global.output == Format::Json {
        let released = released.map(|one| Released {
            id: one.id.to_string(),
            slot: one.slot.to_string(),
            pool: one.pool.to_string(),
            tagged: stuck.contains_key(&one.id),
        });
        let why = |(id, why): (&MachineId, &String)| NotChanged {
            id: id.to_string(),
            why: clean_line(why),
        };
        let body = Release {
            fleet: args.fleet.clone(),
            released: released.collect(),
            kept: kept.into_iter().map(why).collect(),
            gone: chosen.gone.len() as u64,
        };
        out.json(&document(exit, body))?;
        return Ok(exit);
    }
    out.text(match released.count() as u64 {
        0 if kept.is_empty() => format!("Fleet {} has no machines to release.", args.fleet),
        n => format!(
            "Fleet {} let go of {}: they run on. A spec that still wants them launches others at its next \
             apply.",
            args.fleet,
            count(n, "machine")
        ),
    });
    if let Some(why) = stuck.values().next() {
        let machines = count(stuck.len() as u64, "machine");
        out.aside(format!(
            "{WARN}note:{WARN:#} {machines} keep our tags: {}. The journal knows that they are let go.",
            clean_line(why)
        ));
    }
    for (id, why) in kept {
        out.aside(format!(
            "{WARN}warning:{WARN:#} {} is not released: {}",
            clean_line(id.as_str()),
            clean_line(why)
        ));
    }
    Ok(exit)
}
