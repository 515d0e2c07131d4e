//! `fleet freeze` and `fleet thaw`: a fleet is kept as it is, and may change again.
//!
//! The wish is one record of the journal, so that everybody who shares the state obeys it, and history
//! tells who froze what and why. No cloud is asked anything.

use crate::args::{Format, FreezeArgs, ThawArgs};
use crate::context::Context;
use crate::exit::Exit;
use crate::fail::{Answer, Failure};
use crate::fleets::{by_name, no_such_fleet};
use crate::out::Out;
use crate::output::document;
use crate::output::other::Freeze;
use crate::runs::{failed, holder};
use crate::text::{clean_line, when};
use fleet_model::{Event, FleetName, Recorded};
use fleet_run::Engine;
use std::time::Duration;

/// Runs `fleet freeze`.
pub(crate) async fn freeze(context: &Context, args: &FreezeArgs, out: &mut Out) -> Answer {
    let engine = engine(context, &args.fleet).await?;
    let now = engine.now();
    let until = match args.span {
        Some(span) => Some(
            now.checked_add(span)
                .map_err(|_| Failure::new("that is too long").at("--for").exit(Exit::Usage))?,
        ),
        None => args.until,
    };
    if let Some(until) = until.filter(|until| *until <= now) {
        return Err(Failure::new(format!("{} is over", when(until)))
            .at("--until")
            .hint("name a later time, or leave it out: `fleet thaw` ends it")
            .exit(Exit::Usage));
    }
    let wish = Event::Frozen { reason: args.reason.clone(), until };
    let recorded = write(&engine, &args.fleet, ("freeze", args.lock_wait), wish).await?;
    told(context, &args.fleet, &recorded, out)
}

/// Runs `fleet thaw`.
pub(crate) async fn thaw(context: &Context, args: &ThawArgs, out: &mut Out) -> Answer {
    let engine = engine(context, &args.fleet).await?;
    let recorded = write(&engine, &args.fleet, ("thaw", args.lock_wait), Event::Thawed).await?;
    told(context, &args.fleet, &recorded, out)
}

/// An engine for a fleet that there is.
pub(super) async fn engine(context: &Context, fleet: &str) -> Answer<Engine> {
    let engine = match context.global.sim {
        true => context.engine(context.catalog()?, [])?,
        false => context.journals()?,
    };
    let known = engine.fleets().await.map_err(failed)?;
    if known.contains(&FleetName::new(fleet)) {
        return Ok(engine);
    }
    Err(no_such_fleet(context, fleet, &known))
}

pub(super) async fn write(
    engine: &Engine,
    fleet: &str,
    (command, wait): (&str, Duration),
    wish: Event,
) -> Answer<Recorded> {
    let desired = by_name(&FleetName::new(fleet));
    let holder = holder(command);
    engine.wish(&desired, &holder, wait, wish, &|_| {}).await.map_err(failed)
}

fn told(context: &Context, fleet: &str, recorded: &Recorded, out: &mut Out) -> Answer {
    let freeze = recorded.freeze.as_ref();
    if context.global.output == Format::Json {
        let document = document(Exit::Done, Freeze::of(fleet, recorded));
        out.json(&document)?;
        return Ok(Exit::Done);
    }
    out.text(match freeze {
        Some(freeze) => {
            let until = freeze.until.map_or_else(
                || format!("until `fleet thaw {fleet}`"),
                |until| format!("until {}", when(until)),
            );
            let why = clean_line(&freeze.reason);
            format!("Fleet {fleet} is frozen {until}: nothing of it is changed ({why}).")
        }
        None => format!("Fleet {fleet} is not frozen: the next apply or reconcile may change it."),
    });
    Ok(Exit::Done)
}
