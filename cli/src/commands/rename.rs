//! `fleet rename`: another name for a fleet. Its identity, its machines and its history stay.

use crate::args::{Format, RenameArgs};
use crate::context::Context;
use crate::exit::Exit;
use crate::fail::{Answer, Failure};
use crate::fleets::{by_name, is_name, no_such_fleet};
use crate::out::Out;
use crate::output::adopt::{NotChanged, Rename};
use crate::output::document;
use crate::runs::{failed, holder};
use crate::style::WARN;
use crate::text::{clean_line, count};
use fleet_model::{FleetName, SlotState};
use fleet_run::{Changed, RunError};

/// Runs `fleet rename`.
pub(crate) async fn run(context: &Context, args: &RenameArgs, out: &mut Out) -> Answer {
    for (name, place) in [(&args.from, "OLD"), (&args.to, "NEW")] {
        if !is_name(name) {
            return Err(Failure::new(format!("`{name}` cannot be a fleet's name"))
                .at(place)
                .hint("use lower-case letters, digits and dashes")
                .exit(Exit::Usage));
        }
    }
    if args.from == args.to {
        return Err(Failure::new(format!("fleet `{}` has that name already", args.from))
            .at("NEW")
            .hint("name another one")
            .exit(Exit::Usage));
    }
    let (from, to) = (FleetName::new(args.from.as_str()), FleetName::new(args.to.as_str()));
    context.same_kinds(&[&by_name(&from), &by_name(&to)]).await?;
    let engine = context.engine(context.catalog()?, [])?;
    let holder = holder("rename");
    let renamed = match engine.rename((&from, &to), &holder, args.lock_wait, &|_| {}).await {
        Ok(renamed) => renamed,
        Err(RunError::NoSuchFleet { .. }) => {
            let known = engine.fleets().await.map_err(failed)?;
            return Err(no_such_fleet(context, &args.from, &known));
        }
        Err(error) => return Err(failed(error)),
    };
    let slots = renamed.recorded.slots.values();
    let filled = slots.filter(|slot| matches!(slot.state, SlotState::Filled { .. })).count() as u64;
    told(context, args, filled, &renamed.tags, out)
}

fn told(
    context: &Context,
    args: &RenameArgs,
    machines: u64,
    tags: &Changed,
    out: &mut Out,
) -> Answer {
    let Changed { done, stuck, refused, unknown } = tags;
    let others = stuck.iter().chain(refused).chain(unknown);
    if context.global.output == Format::Json {
        let not_retagged = others
            .map(|(id, why)| NotChanged { id: id.to_string(), why: clean_line(why) })
            .collect();
        let document = Rename {
            fleet: args.to.clone(),
            from: args.from.clone(),
            machines,
            retagged: done.len() as u64,
            not_retagged,
        };
        out.json(&self::document(Exit::Done, document))?;
        return Ok(Exit::Done);
    }
    let with = match machines {
        0 => "It has no machines.".to_owned(),
        n => format!("Its {} stay as they are.", count(n, "machine")),
    };
    out.text(format!("Fleet {} is now called {}. {with}", args.from, args.to));
    let mut others = others.map(|(_, why)| why).collect::<Vec<_>>();
    let all = others.len() as u64;
    others.sort();
    others.dedup();
    if all > 0 {
        let whys: Vec<String> = others.into_iter().map(|why| clean_line(why)).collect();
        out.aside(format!(
            "{WARN}note:{WARN:#} the tags of {} tell the old name still: {}. That does no harm: a fleet knows \
             its machines by its identity.",
            count(all, "machine"),
            whys.join("; ")
        ));
    }
    Ok(Exit::Done)
}
