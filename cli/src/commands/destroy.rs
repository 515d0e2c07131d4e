//! `fleet destroy`: ends every machine of a fleet, after its name was typed.

use super::apply::finish;
use crate::args::{DestroyArgs, Format};
use crate::ask;
use crate::context::{Context, DEFAULT_SPEC};
use crate::exit::Exit;
use crate::fail::{Answer, Failure};
use crate::fleets::{every, fleets};
use crate::out::{Out, can_ask};
use crate::output::common::{LeftOut, Summary};
use crate::prepare::Lead;
use crate::render::plan_text;
use crate::text::count;
use fleet_core::plan;
use fleet_model::{Desired, Hold, Limits};
use std::path::Path;

/// Runs `fleet destroy`.
pub(crate) async fn run(context: &Context, args: &DestroyArgs, out: &mut Out) -> Answer {
    if !args.yes && !can_ask() {
        return Err(Failure::new("there is no terminal to ask for the fleet's name").hint(
            "`fleet status` shows what would be destroyed; `fleet destroy --yes` does not ask",
        ));
    }
    let catalog = context.catalog()?;
    let (context, specs) = &context.named(&args.spec.specs);
    let named = !specs.is_empty() || !context.global.fleet.is_empty() || args.all;
    if !named && !Path::new(DEFAULT_SPEC).exists() {
        return Err(Failure::new("nobody said which fleets are to be destroyed")
            .hint("name a spec or a fleet; `--all` takes every fleet that has a journal here")
            .exit(Exit::Usage));
    }
    let fleets = match args.all {
        true => every(context).await?,
        false => fleets(context, specs).await?,
    };
    let engine = context.engine(catalog, &fleets)?;
    let board = context.board(fleets.len(), false);
    let lead = Lead { context, engine: &engine, wait: args.lock_wait, command: "destroy", board };
    let limits = Limits { destroy_all: true, accept_loss: args.accept_loss, ..Limits::default() };
    let wanted: Vec<&Desired> = fleets.iter().collect();
    let (mut ready, mut left_out, mut worst) = (Vec::new(), Vec::new(), Exit::Done);
    for (desired, one) in wanted.iter().zip(lead.prepare(&wanted, limits, None).await) {
        let mut one = match one {
            Ok(one) => one,
            Err(failure) => {
                worst = worst.max(failure.exit);
                left_out.push(LeftOut::failed(&desired.fleet, &failure));
                out.aside(failure);
                continue;
            }
        };
        // The limit on destroys asks for an exact number: it is the one shown here.
        let wanted = one.planned.report.held.iter().find_map(|held| match held {
            Hold::DestroyLimit { wanted, .. } => Some(*wanted),
            Hold::WaitingForReplacement { .. }
            | Hold::Surge { .. }
            | Hold::ManyUnhealthy { .. }
            | Hold::Rollout { .. }
            | Hold::SuccessorsNotUp { .. }
            | Hold::NotSeenYet { .. }
            | Hold::Frozen { .. }
            | Hold::ByHand { .. }
            | Hold::JournalLost { .. }
            | Hold::AttemptLimit { .. }
            | Hold::BootFailures { .. }
            | Hold::Budget { .. }
            | Hold::Gap { .. } => None,
        });
        if wanted.is_some() {
            one.inputs.limits.allow_destroy = wanted;
            one.planned = plan(&one.inputs);
        }
        if context.global.output == Format::Text {
            out.text(format!("{}\n", plan_text::render(&one.planned.plan, &one.planned.report)));
        }
        out.flush();
        if one.planned.plan.is_empty() || args.yes || agreed(context, &one.planned, out)? {
            ready.push(one);
        } else {
            let failure = Failure::new("nothing was changed: the answer was no");
            left_out.push(LeftOut::failed(&desired.fleet, &failure));
            out.aside("Nothing was changed.");
            worst = worst.max(Exit::Failed);
        }
    }
    finish(context, "destroy", ready, (worst, left_out), out).await
}

fn agreed(context: &Context, planned: &fleet_core::Planned, out: &mut Out) -> Answer<bool> {
    let name = planned.plan.fleet.as_str();
    let machines = Summary::of(&planned.report).destroy;
    let question = format!(
        "This destroys {}{}. Type the fleet's name ({name}) to continue:",
        count(machines, "machine"),
        if context.global.sim { " on simulated clouds" } else { " for good" }
    );
    ask::name(out, &question, name, "`fleet status` shows what would be destroyed;")
}
