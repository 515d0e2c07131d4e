//! `fleet unlock`: gives back the lease of a run that cannot do it any more.

use super::apply::declined;
use crate::args::{Format, UnlockArgs};
use crate::ask;
use crate::context::Context;
use crate::exit::Exit;
use crate::fail::{Answer, Failure};
use crate::fleets::no_such_fleet;
use crate::out::Out;
use crate::output::document;
use crate::output::other::{Unlock, Unlocked};
use crate::runs::failed;
use crate::text::{clean_line, span};
use fleet_model::FleetName;
use fleet_run::{Held, Lease, LeaseError};

/// Runs `fleet unlock`.
pub(crate) async fn run(context: &Context, args: &UnlockArgs, out: &mut Out) -> Answer {
    let store = context.store()?;
    let fleet = FleetName::new(args.fleet.as_str());
    let Some(held) = holder(context, &fleet).await? else {
        return told(context, &args.fleet, None, out);
    };
    if store.local_folder().is_some() {
        return Err(Failure::new(format!("fleet `{fleet}` is held by {}", held.holder))
            .hint("a local lock ends with its process, and needs no unlock: wait for it, or end it")
            .exit(Exit::LeaseHeld));
    }
    if !args.yes {
        let heard =
            held.heard.map_or_else(String::new, |age| format!(", last heard of {} ago", span(age)));
        out.aside(format!("Fleet {fleet} is held by {}{heard}.", clean_line(&held.holder)));
        let question = "Is that run dead, and may its lease be taken away?";
        if !ask::yes(out, question, "a holder that is dead loses its lease after 15 seconds;")? {
            return declined(context, Exit::Failed, out);
        }
    }
    let ended = Lease::end(&store, &fleet, &held).await.map_err(|cause| failed(cause.into()))?;
    if !ended {
        return Err(Failure::new("the lease has changed hands in the meantime; it was left alone")
            .hint("look again: `fleet unlock` names the holder")
            .exit(Exit::LeaseHeld));
    }
    told(context, &args.fleet, Some(&held), out)
}

/// Who holds a fleet of this state; a name that nobody knows is a mistake. One that has a lease and no
/// journal is known: a first apply may have failed before it wrote anything.
async fn holder(context: &Context, fleet: &FleetName) -> Answer<Option<Held>> {
    let store = context.store()?;
    let of_lease = |cause: LeaseError| failed(cause.into());
    let held = Lease::holder(&store, fleet).await.map_err(of_lease)?;
    if held.is_none() && !Lease::was_taken(&store, fleet).await.map_err(of_lease)? {
        let known = context.journals()?.fleets().await.map_err(failed)?;
        if !known.contains(fleet) {
            return Err(no_such_fleet(context, fleet.as_str(), &known));
        }
    }
    Ok(held)
}

fn told(context: &Context, fleet: &str, held: Option<&Held>, out: &mut Out) -> Answer {
    let holder = held.map(|held| held.holder.as_str());
    match (context.global.output, holder) {
        (Format::Json, holder) => {
            let unlocked = Unlocked {
                fleet: fleet.to_owned(),
                unlocked: holder.is_some(),
                holder: holder.map(clean_line),
            };
            out.json(&document(Exit::Done, Unlock { fleets: vec![unlocked] }))?;
        }
        (_, Some(holder)) => out.text(format!(
            "Fleet {fleet} is free: its lease was taken away from {}.",
            clean_line(holder)
        )),
        (_, None) => out.text(format!("Fleet {fleet} is free: nobody holds its lease.")),
    }
    Ok(Exit::Done)
}
