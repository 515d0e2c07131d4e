//! `fleet apply`: plan, ask, obey.

use crate::args::{ApplyArgs, Format};
use crate::ask;
use crate::context::Context;
use crate::exit::Exit;
use crate::fail::{Answer, Failure};
use crate::fleets::{pruned, tell_of_unmanaged};
use crate::out::{Out, can_ask};
use crate::output::apply::{Apply, Destroy, Replace};
use crate::output::common::{LeftOut, Summary};
use crate::output::document;
use crate::prepare::{CHANGED_AT_ONCE, Lead, Ready};
use crate::render::applied::{self, Applied};
use crate::render::plan_text;
use crate::runs::{failed, limits, verdict};
use crate::saved::{SavedPlan, is_printed_plan};
use crate::text::count;
use crate::watch::{on_a_line, stop_on_signal};
use fleet_core::plan;
use fleet_model::{Action, Desired, Hold, Step, Why};
use fleet_run::{Converged, Reach, Stop};
use fleet_spec::Loaded;
use futures::{StreamExt, stream};
use tracing::Instrument;

/// What is to be applied.
struct Task {
    loaded: Loaded,
    saved: Option<SavedPlan>,
}

/// Runs `fleet apply`.
pub(crate) async fn run(context: &Context, args: &ApplyArgs, out: &mut Out) -> Answer {
    if !args.yes && !can_ask() {
        return Err(nobody("fleet apply --yes"));
    }
    let Task { loaded, saved } = task(context, args)?;
    let catalog = context.catalog()?;
    let loaded = context.launchable(loaded, &catalog)?;
    let mut worst = super::validate::warn(&loaded, context.global.output, out);
    let mut left_out = super::validate::left_out(&loaded.broken);
    let fleets = &loaded.fleets;
    let engine = context.engine(catalog, fleets.iter().map(|fleet| &fleet.desired))?;
    // A saved plan is carried out as it stands.
    let (named, specs) = context.named(if saved.is_some() { &[] } else { &args.specs });
    let unmanaged = tell_of_unmanaged(&named, &engine, &specs, &loaded, out).await?;
    let pruned = pruned(&named, args.prune, &specs, &loaded, &unmanaged, out)?;
    let wanted: Vec<&Desired> = fleets.iter().map(|fleet| &fleet.desired).chain(&pruned).collect();
    let board = context.board(wanted.len(), false);
    let lead = Lead { context, engine: &engine, wait: args.lock_wait, command: "apply", board };
    let prepared = lead.prepare(&wanted, limits(args.limits), saved.as_ref()).await;
    let mut ready = Vec::new();
    for (desired, one) in wanted.iter().zip(prepared) {
        match one {
            Ok(one) => ready.push(one),
            Err(failure) => {
                worst = worst.max(failure.exit);
                left_out.push(LeftOut::failed(&desired.fleet, &failure));
                out.aside(failure);
            }
        }
    }
    if context.global.output == Format::Text {
        ready.iter().for_each(|one| {
            out.text(format!("{}\n", plan_text::render(&one.planned.plan, &one.planned.report)));
        });
    }
    out.flush();
    let mut typed = false;
    if !args.yes {
        for one in &mut ready {
            typed |= all_at_once(one, out)?;
        }
    }
    let changes = ready.iter().any(|one| one.planned.plan.acts());
    if changes && !args.yes && !agreed(context, &ready, typed, out)? {
        return declined(context, worst, out);
    }
    if changes && !args.yes {
        // The question may have stood for hours.
        let sessions: Vec<_> = ready.iter().map(|one| (&one.session, one.inputs.limits)).collect();
        let now = engine.gather_sessions(&sessions).await;
        for (one, now) in ready.iter().zip(now) {
            one.session.verify(&one.planned.plan, &now.map_err(failed)?).map_err(failed)?;
        }
    }
    finish(context, "apply", ready, (worst, left_out), out).await
}

/// The answer was no. Programs are told as well.
pub(crate) fn declined(context: &Context, worst: Exit, out: &mut Out) -> Answer {
    let exit = worst.max(Exit::Failed);
    if context.global.output == Format::Json {
        return Err(Failure::new("nothing was changed: the answer was no").exit(exit));
    }
    out.aside("Nothing was changed.");
    Ok(exit)
}

pub(crate) fn nobody(with_yes: &str) -> Failure {
    Failure::new("there is no terminal to ask for confirmation")
        .hint(format!("look at `fleet plan` first; `{with_yes}` does not ask"))
}

fn task(context: &Context, args: &ApplyArgs) -> Answer<Task> {
    let ApplyArgs { specs, require_signature, .. } = args;
    if let Some(file) = specs.first().filter(|file| is_printed_plan(file)) {
        return Err(Failure::new("this is what `fleet plan -o json` printed, not a saved plan")
            .at(file.display())
            .hint("save a plan with `fleet plan SPEC --out FILE`, and apply that")
            .exit(Exit::PlanStale));
    }
    let Some(file) = specs.first().filter(|file| SavedPlan::is_one(file)) else {
        if !require_signature.is_empty() {
            return Err(Failure::new("a signature is required, and this is no saved plan")
                .hint("make one with `fleet plan SPEC --out FILE --sign KEY`, and apply that")
                .exit(Exit::PlanStale));
        }
        let (context, specs) = &context.named(specs);
        return Ok(Task { loaded: context.specs(specs)?, saved: None });
    };
    let saved = SavedPlan::read(file)?;
    saved.require(require_signature).map_err(|failure| failure.at(file.display()))?;
    if saved.simulated != context.global.sim {
        let (made, hint) = if saved.simulated {
            ("simulated clouds", "add --sim")
        } else {
            ("real clouds", "leave --sim out")
        };
        return Err(Failure::new(format!("the plan was made on {made}"))
            .at(file.display())
            .hint(hint));
    }
    // Specs named besides the plan stand in for those it was made from: other folders, same text.
    let specs = if specs.len() > 1 { &specs[1..] } else { &saved.specs };
    let policies = [saved.policies.as_slice(), &context.global.policy].concat();
    let mut loaded = context.load(specs, &policies)?;
    loaded
        .fleets
        .retain(|fleet| saved.fleets.iter().any(|saved| saved.plan.fleet == fleet.desired.fleet));
    let missing = saved.fleets.iter().find(|one| {
        context.global.fleet.is_empty()
            && !loaded.fleets.iter().any(|fleet| fleet.desired.fleet == one.plan.fleet)
    });
    if let Some(missing) = missing {
        return Err(Failure::new(format!(
            "the plan is stale: its specs no longer describe fleet `{}`",
            missing.plan.fleet
        ))
        .at(file.display())
        .hint("make a new plan")
        .exit(Exit::PlanStale));
    }
    Ok(Task { loaded, saved: Some(saved) })
}

/// Lowering a target is the user's own words, so whoever confirms the number has it done in one apply.
/// What is to be destroyed for any other reason keeps its limit. Tells whether a number was typed.
fn all_at_once(one: &mut Ready<'_>, out: &mut Out) -> Answer<bool> {
    let limit = one.planned.report.held.iter().find_map(|hold| match hold {
        Hold::DestroyLimit { wanted, .. } => Some(*wanted),
        _ => None,
    });
    let Some(wanted) = limit.filter(|_| one.reach != Reach::Plan) else { return Ok(false) };
    let mut inputs = one.inputs.clone();
    inputs.limits.allow_destroy = Some(wanted);
    let all = plan(&inputs);
    let lowered = |step: &Step| match step.action {
        Action::Destroy(_) => {
            matches!(step.why, Why::AboveTarget { .. } | Why::TargetLowered { .. })
        }
        Action::Create(_) => true,
    };
    if !all.plan.steps.iter().all(lowered) {
        return Ok(false);
    }
    let now = Summary::of(&one.planned.report).destroy;
    let question = format!(
        "The target of {} is lowered by {}. Type {wanted} to destroy all of them in this apply, or press \
         Enter to destroy {now} now:",
        one.planned.plan.fleet,
        count(wanted, "machine"),
    );
    let otherwise = "`fleet plan` shows what would happen;";
    let typed = ask::name(out, &question, &wanted.to_string(), otherwise)?;
    if typed {
        (one.inputs, one.planned) = (inputs, all);
    }
    Ok(typed)
}

fn agreed(context: &Context, ready: &[Ready<'_>], typed: bool, out: &mut Out) -> Answer<bool> {
    if context.global.output != Format::Text {
        for one in ready {
            out.aside(plan_text::render(&one.planned.plan, &one.planned.report));
        }
    }
    let sum =
        ready.iter().fold(Summary::default(), |sum, one| sum.and(Summary::of(&one.planned.report)));
    let fleets: Vec<&str> = ready.iter().map(|one| one.planned.plan.fleet.as_str()).collect();
    let what = match (sum.create, sum.destroy) {
        (create, 0) => format!("Launch {}", count(create, "machine")),
        (0, destroy) => format!("Destroy {}", count(destroy, "machine")),
        (create, destroy) => format!("Launch {} and destroy {destroy}", count(create, "machine")),
    };
    let simulated = if context.global.sim { " on simulated clouds" } else { "" };
    let question = format!("{what} for {}{simulated}?", fleets.join(", "));
    let otherwise = "`fleet plan` shows what would happen;";
    // More than one in ten: a number is harder to type by accident than a yes.
    let lowered = |step: &Step| matches!(step.why, Why::TargetLowered { .. });
    let many = sum.destroy > ((sum.keep + sum.destroy) / 10).max(1);
    if many && !typed && ready.iter().flat_map(|one| &one.planned.plan.steps).any(lowered) {
        let number = sum.destroy.to_string();
        let question = format!("{question} Type {number} to confirm:");
        return ask::name(out, &question, &number, otherwise);
    }
    ask::yes(out, &question, otherwise)
}

/// Carries everything out and tells what came of it.
pub(crate) async fn finish(
    context: &Context,
    command: &str,
    ready: Vec<Ready<'_>>,
    (mut worst, mut left_out): (Exit, Vec<LeftOut>),
    out: &mut Out,
) -> Answer {
    let stop = stop_on_signal(on_a_line);
    let mut results = Vec::new();
    let all = stream::iter(ready).map(|one| async {
        let fleet = one.planned.plan.fleet.clone();
        let span = tracing::info_span!("apply", %fleet, steps = one.planned.plan.steps.len());
        let done = match stop.asked() {
            true => leave(one).await,
            false => carry_out(one, &stop).instrument(span).await,
        };
        (fleet, done)
    });
    for (fleet, done) in all.buffered(CHANGED_AT_ONCE).collect::<Vec<_>>().await {
        match done {
            Ok(converged) => {
                let Some(last) = &converged.last else { continue };
                worst = worst.max(verdict(last));
                let stopped = stop.asked();
                results.push(Applied { fleet, converged, stopped });
            }
            Err(failure) => {
                worst = worst.max(failure.exit);
                left_out.push(LeftOut::failed(&fleet, &failure));
                out.aside(failure);
            }
        }
    }
    match context.global.output {
        Format::Json => {
            let fleets = results.iter().filter_map(applied::document).collect();
            match command {
                "destroy" => out.json(&document(worst, Destroy { fleets, left_out }))?,
                "replace" => out.json(&document(worst, Replace { fleets, left_out }))?,
                _ => out.json(&document(worst, Apply { fleets, left_out }))?,
            }
        }
        Format::Markdown => results.iter().for_each(|one| out.text(applied::markdown(one))),
        // Where there was nothing to do, the plan has said it all.
        Format::Text => {
            let begun = results.iter().filter(|one| !one.converged.rounds.is_empty());
            begun.for_each(|one| out.text(applied::text(one)));
            applied::not_begun(&results).into_iter().for_each(|text| out.text(text));
        }
    }
    Ok(worst)
}

/// Gives a fleet back that was not begun when somebody asked to stop.
pub(crate) async fn leave(ready: Ready<'_>) -> Answer<Converged> {
    let Ready { session, planned, .. } = ready;
    session.finish().await.map_err(failed)?;
    Ok(Converged { rounds: Vec::new(), last: Some(planned), seen: None })
}

/// Carries out one fleet's plan under its lease.
pub(crate) async fn carry_out(ready: Ready<'_>, stop: &Stop) -> Answer<Converged> {
    let Ready { session, inputs, planned, reach, watch, holder } = ready;
    let on = |news| watch.on(news);
    let done = session.converge(&holder, (inputs, planned), reach, stop, &on).await;
    watch.end();
    let converged = done.map_err(failed)?;
    session.finish().await.map_err(failed)?;
    Ok(converged)
}
