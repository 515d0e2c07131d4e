//! `fleet apply`: plan, ask, obey.

use crate::args::{ApplyArgs, Format};
use crate::ask;
use crate::context::Context;
use crate::exit::Exit;
use crate::fail::{Answer, Failure};
use crate::fleets::tell_of_unnamed;
use crate::out::{Out, can_ask};
use crate::render::applied::{self, Applied};
use crate::render::plan_json::Summary;
use crate::render::plan_text;
use crate::runs::{failed, holder, limits, verdict};
use crate::saved::SavedPlan;
use crate::text::count;
use crate::watch::{Watch, stop_on_signal};
use fleet_core::{Planned, plan};
use fleet_model::{Desired, Inputs, Limits};
use fleet_run::{Converged, Engine, Reach, Session, Stop};
use fleet_spec::Loaded;
use std::time::Duration;
use tracing::Instrument;

/// A fleet under lease, with what is to be done to it.
pub(crate) struct Ready<'a> {
    pub session: Session<'a>,
    pub inputs: Inputs,
    pub planned: Planned,
    /// A saved plan is carried out as it stands, and nothing after it.
    pub exactly: bool,
    pub watch: Watch,
}

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
    let task = task(context, args)?;
    let catalog = context.catalog()?;
    context.launchable(&task.loaded, &catalog)?;
    super::validate::warn(&task.loaded, context.global.output, out);
    let fleets = &task.loaded.fleets;
    let engine = context.engine(catalog, fleets.iter().map(|fleet| &fleet.desired))?;
    tell_of_unnamed(&engine, fleets, out).await?;
    let mut ready = Vec::new();
    let mut worst = Exit::Done;
    let lead = Lead { context, engine: &engine, wait: args.lock_wait, command: "apply" };
    for fleet in fleets {
        let span = tracing::info_span!("prepare", fleet = %fleet.desired.fleet);
        let prepared = lead.prepare(&fleet.desired, limits(args.limits), task.saved.as_ref());
        match prepared.instrument(span).await {
            Ok(one) => ready.push(one),
            Err(failure) => {
                worst = worst.max(failure.exit);
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
    let changes = ready.iter().any(|one| one.planned.plan.acts());
    if changes && !args.yes && !agreed(context, &ready, out)? {
        out.aside("Nothing was changed.");
        return Ok(worst.max(Exit::Failed));
    }
    if changes && !args.yes {
        // The question may have stood for hours.
        for one in &ready {
            let now = one.session.gather(one.inputs.limits).await.map_err(failed)?;
            one.session.verify(&one.planned.plan, &now).map_err(failed)?;
        }
    }
    finish(context, ready, worst, out).await
}

fn nobody(with_yes: &str) -> Failure {
    Failure::new("there is no terminal to ask for confirmation")
        .hint(format!("look at `fleet plan` first; `{with_yes}` does not ask"))
}

fn task(context: &Context, args: &ApplyArgs) -> Answer<Task> {
    let ApplyArgs { specs, require_signature, .. } = args;
    let Some(file) = specs.first().filter(|file| SavedPlan::is_one(file)) else {
        if !require_signature.is_empty() {
            return Err(Failure::new("a signature is required, and this is no saved plan")
                .hint("make one with `fleet plan SPEC --out FILE --sign KEY`, and apply that")
                .exit(Exit::PlanStale));
        }
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

/// What every fleet of one command is prepared with.
pub(crate) struct Lead<'a> {
    pub context: &'a Context,
    pub engine: &'a Engine,
    pub wait: Duration,
    pub command: &'static str,
}

impl<'a> Lead<'a> {
    /// Takes the lease, looks, and decides; a saved plan is verified instead.
    pub(crate) async fn prepare(
        &self,
        desired: &Desired,
        limits: Limits,
        saved: Option<&SavedPlan>,
    ) -> Answer<Ready<'a>> {
        let quiet = self.command == "reconcile" || self.context.global.output != Format::Text;
        let watch = Watch::new(desired.fleet.as_str(), quiet, self.context.global.no_color);
        let on = |news| watch.on(news);
        self.context.same_kind(&desired.fleet)?;
        let holder = holder(self.command);
        let session = self.engine.begin(desired, &holder, self.wait, &on).await.map_err(failed)?;
        let saved =
            saved.and_then(|saved| saved.fleets.iter().find(|one| one.plan.fleet == desired.fleet));
        let Some(saved) = saved else {
            let inputs = session.gather(limits).await.map_err(failed)?;
            let planned = plan(&inputs);
            return Ok(Ready { session, inputs, planned, exactly: false, watch });
        };
        // The plan was made within its own limits; it must be judged by the same.
        let mut inputs = session.gather(saved.limits).await.map_err(failed)?;
        session.verify(&saved.plan, &inputs).map_err(failed)?;
        // What is carried out is decided here and now; the file only says what it must be.
        if inputs.recorded.uid.is_none() {
            inputs.uid = saved.plan.uid.clone();
        }
        let planned = plan(&inputs);
        session.same(&saved.plan, &planned.plan).map_err(failed)?;
        Ok(Ready { session, inputs, planned, exactly: true, watch })
    }
}

fn agreed(context: &Context, ready: &[Ready<'_>], out: &mut Out) -> Answer<bool> {
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
        (0, destroy) => format!("End {}", count(destroy, "machine")),
        (create, destroy) => format!("Launch {} and destroy {destroy}", count(create, "machine")),
    };
    let simulated = if context.global.sim { " on simulated clouds" } else { "" };
    let question = format!("{what} for {}{simulated}?", fleets.join(", "));
    ask::yes(out, &question, "`fleet plan` shows what would happen;")
}

/// Carries everything out and tells what came of it.
pub(crate) async fn finish(
    context: &Context,
    ready: Vec<Ready<'_>>,
    mut worst: Exit,
    out: &mut Out,
) -> Answer {
    let stop = stop_on_signal(false);
    let mut results = Vec::new();
    for one in ready {
        let fleet = one.planned.plan.fleet.clone();
        let span = tracing::info_span!("apply", %fleet, steps = one.planned.plan.steps.len());
        let done = if stop.asked() {
            leave(one).await
        } else {
            carry_out(one, &stop).instrument(span).await
        };
        match done {
            Ok(converged) => {
                let Some(last) = &converged.last else { continue };
                worst = worst.max(verdict(last));
                let stopped = stop.asked();
                results.push(Applied { fleet, converged, stopped });
            }
            Err(failure) => {
                worst = worst.max(failure.exit);
                out.aside(failure);
            }
        }
    }
    match context.global.output {
        Format::Json => out.json(&applied::document(&results, worst))?,
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
async fn leave(ready: Ready<'_>) -> Answer<Converged> {
    let Ready { session, planned, .. } = ready;
    session.finish().await.map_err(failed)?;
    Ok(Converged { rounds: Vec::new(), last: Some(planned) })
}

/// Carries out one fleet's plan under its lease.
pub(crate) async fn carry_out(ready: Ready<'_>, stop: &Stop) -> Answer<Converged> {
    let Ready { session, inputs, planned, exactly, watch } = ready;
    let holder = holder("apply");
    let on = |news| watch.on(news);
    let reach = if exactly { Reach::Plan } else { Reach::Spec };
    let done = session.converge(&holder, (inputs, planned), reach, stop, &on).await;
    watch.end();
    let converged = done.map_err(failed)?;
    session.finish().await.map_err(failed)?;
    Ok(converged)
}
