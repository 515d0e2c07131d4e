//! `fleet import`: machines that exist already are taken into a fleet.
//!
//! The planner judges before anything is changed: what it would destroy afterwards is not taken in.

use super::apply::{declined, leave};
use crate::args::{Format, ImportArgs};
use crate::ask;
use crate::context::Context;
use crate::exit::Exit;
use crate::fail::{Answer, Failure};
use crate::fleets::only_fleet;
use crate::out::{Out, can_ask};
use crate::output::common::Summary;
use crate::output::document;
use crate::prepare::{Lead, Ready};
use crate::render::import::{self as render, Listed};
use crate::runs::{failed, kept_as_it_is};
use crate::sentences;
use crate::text::count;
use fleet_core::{Adoption, Planned, adopt, plan, unfit};
use fleet_model::{Action, Desired, Hold, Inputs, Limits, Machine, Scope, Step, Why};
use fleet_provider::NO_HANDOVER;
use fleet_run::{Changed, Engine, RunError};
use std::collections::BTreeSet;

/// Runs `fleet import`.
pub(crate) async fn run(context: &Context, args: &ImportArgs, out: &mut Out) -> Answer {
    if !args.yes && !args.list && !can_ask() {
        return Err(Failure::new("there is no terminal to ask for confirmation").hint(
            "`fleet import … --list` shows the machines; `fleet import … --yes` does not ask",
        ));
    }
    let catalog = context.catalog()?;
    let (context, specs) = &context.named(std::slice::from_ref(&args.which));
    let loaded = context.launchable(context.specs(specs)?, &catalog)?;
    let desired = only_fleet(&loaded)?;
    let engine = context.engine(catalog, [desired])?;
    if let Some(why) = engine.cannot_hand_over(args.provider) {
        return Err(Failure::new(format!(
            "machines of {} cannot be taken in: {why}",
            args.provider
        ))
        .at("--provider")
        .exit(Exit::Usage));
    }
    let board = context.board(1, false);
    let lead = Lead { context, engine: &engine, wait: args.lock_wait, command: "import", board };
    let prepared = lead.prepare(&[desired], Limits::default(), None).await.pop();
    let mut one = prepared.ok_or_else(|| Failure::new("the fleet was not looked at"))??;
    let task = match prepare(&engine, &mut one, args).await {
        Ok(task) => task,
        Err(failure) => {
            leave(one).await?;
            return Err(failure);
        }
    };
    let taken = task.adoption.machines.len() as u64;
    if context.global.output != Format::Json {
        out.text(render::list(&task.listed, &task.after));
    }
    render::silent(&task.silent, out);
    out.flush();
    if args.list || taken == 0 {
        leave(one).await?;
        return told(context, desired, &task, None, out);
    }
    if !args.yes {
        let simulated = if context.global.sim { " on simulated clouds" } else { "" };
        let question =
            format!("Take {}{simulated} into {}?", count(taken, "machine"), desired.fleet);
        if !ask::yes(out, &question, "`fleet import … --list` shows the machines;")? {
            leave(one).await?;
            return declined(context, Exit::Failed, out);
        }
    }
    let Ready { session, holder, watch, .. } = one;
    let changed = session.take_in(&holder, &task.adoption).await.map_err(failed)?;
    watch.end();
    session.finish().await.map_err(failed)?;
    told(context, desired, &task, Some(&changed), out)
}

/// A cloud whose machines cannot be taken in.
fn never(args: &ImportArgs, why: &str) -> Failure {
    Failure::new(format!("machines of {} cannot be taken in: {why}", args.provider))
        .at("--provider")
        .exit(Exit::Usage)
}

/// What is to be taken in, and what comes of it.
struct Task {
    listed: Vec<Listed>,
    adoption: Adoption,
    silent: Vec<(Scope, String)>,
    /// What an apply would launch and destroy afterwards.
    after: Summary,
}

/// Looks for machines, and asks the planner what it would do with them.
async fn prepare(engine: &Engine, one: &mut Ready<'_>, args: &ImportArgs) -> Answer<Task> {
    let inputs = &mut one.inputs;
    let fleet = inputs.desired.fleet.clone();
    if let Some(failure) = kept_as_it_is(inputs) {
        return Err(failure);
    }
    if !inputs.recorded.in_doubt.is_empty() {
        let requests = inputs.recorded.in_doubt.len();
        return Err(failed(RunError::InDoubt { fleet, requests }));
    }
    let lost = |hold: &&Hold| matches!(hold, Hold::JournalLost { .. });
    if let Some(hold) = one.planned.report.held.iter().find(lost) {
        let said = sentences::hold(hold);
        let next = said.next.unwrap_or_default();
        return Err(Failure::new(said.what).hint(next).exit(Exit::Unsettled));
    }
    let scopes = scopes(inputs, args)?;
    let (mut found, mut silent): (Vec<Machine>, Vec<(Scope, String)>) = Default::default();
    for (scope, answer) in engine.unowned(&scopes, &args.filter).await {
        match answer {
            Ok(machines) => found.extend(machines),
            Err(error) if error.code == NO_HANDOVER => return Err(never(args, &error.message)),
            Err(error) => silent.push((scope, error.to_string())),
        }
    }
    if found.is_empty() && silent.len() == scopes.len() {
        let why = silent.first().map(|(_, why)| why.clone()).unwrap_or_default();
        return Err(Failure::new(format!("no region of {} answered: {why}", args.provider))
            .hint("nothing was changed; try again when it answers"));
    }
    engine.know_pools(inputs, &found);
    let judged: Vec<_> =
        found.into_iter().map(|machine| (unfit(inputs, &machine), machine)).collect();
    let fit = judged.iter().filter(|(unfit, _)| unfit.is_none());
    let fit: Vec<Machine> = fit.map(|(_, machine)| machine.clone()).collect();
    let adoption = adopt(inputs, &fit);
    let before = in_full(inputs);
    let after = in_full(&adoption.inputs);
    refuse_surplus(&fleet, &before, &after)?;
    let listed = judged.into_iter().map(|(unfit, machine)| {
        let taken = adoption.machines.iter().find(|one| one.machine.machine == machine.id);
        let slot = taken.map(|one| one.machine.slot);
        let price = taken.and_then(|one| one.machine.price).or(machine.price);
        Listed { machine, slot, price, unfit }
    });
    let mut listed: Vec<Listed> = listed.collect();
    listed.sort_by(|a, b| {
        (a.slot.is_none(), a.slot, &a.machine.id).cmp(&(b.slot.is_none(), b.slot, &b.machine.id))
    });
    let after = Summary::of(&after.report);
    Ok(Task { listed, adoption, silent, after })
}

/// The plan without the limit on destroys: what it comes to in the end.
fn in_full(inputs: &Inputs) -> Planned {
    let planned = plan(inputs);
    let wanted = planned.report.held.iter().find_map(|hold| match hold {
        Hold::DestroyLimit { wanted, .. } => Some(*wanted),
        _ => None,
    });
    let Some(wanted) = wanted else { return planned };
    let mut all = inputs.clone();
    all.limits.allow_destroy = Some(wanted);
    plan(&all)
}

/// Machines that nobody wants must not come under a plan that would destroy some.
fn refuse_surplus(fleet: &fleet_model::FleetName, before: &Planned, after: &Planned) -> Answer<()> {
    let destroys = |step: &&Step| matches!(step.action, Action::Destroy(_));
    let sum = |planned: &Planned| -> usize {
        planned.plan.steps.iter().filter(destroys).map(|step| step.action.count()).sum()
    };
    let more = sum(after).saturating_sub(sum(before));
    if more == 0 {
        return Ok(());
    }
    let known = |why: &Why| before.plan.steps.iter().any(|step| step.why == *why);
    let steps = after.plan.steps.iter().filter(destroys).map(|step| &step.why);
    let whys: BTreeSet<String> = steps.filter(|why| !known(why)).map(sentences::why).collect();
    let whys: Vec<String> = whys.into_iter().collect();
    Err(Failure::new(format!(
        "with these machines, the next apply of `{fleet}` would destroy {}: {}",
        count(more as u64, "machine"),
        whys.join("; ")
    ))
    .hint("nothing was changed; make room in the spec first, or choose fewer with --filter and --region")
    .exit(Exit::Unsettled))
}

/// Where to look: what the spec allows, and of that what the user names.
fn scopes(inputs: &Inputs, args: &ImportArgs) -> Answer<BTreeSet<Scope>> {
    let seen = &inputs.observed;
    let all = seen.complete.iter().chain(seen.gaps.iter().map(|gap| &gap.scope));
    let scopes: BTreeSet<Scope> =
        all.filter(|scope| scope.cloud == args.provider).cloned().collect();
    if scopes.is_empty() {
        let what = format!("fleet `{}` uses no region of {}", inputs.desired.fleet, args.provider);
        return Err(Failure::new(what)
            .at("--provider")
            .hint("add the cloud to `placement.clouds` of its spec first")
            .exit(Exit::Usage));
    }
    let named = |scope: &Scope, region: &String| scope.region.name() == region;
    let unknown = args.region.iter().find(|region| !scopes.iter().any(|one| named(one, region)));
    if let Some(region) = unknown {
        let what =
            format!("fleet `{}` does not use {region} of {}", inputs.desired.fleet, args.provider);
        return Err(Failure::new(what)
            .at("--region")
            .hint("add the region to `placement.clouds` of its spec first")
            .exit(Exit::Usage));
    }
    let wanted = |scope: &Scope| {
        args.region.is_empty() || args.region.iter().any(|region| named(scope, region))
    };
    Ok(scopes.into_iter().filter(wanted).collect())
}

/// Says what was done; without an answer of the clouds, that nothing was.
fn told(
    context: &Context,
    desired: &Desired,
    task: &Task,
    changed: Option<&Changed>,
    out: &mut Out,
) -> Answer {
    let none = Changed::default();
    let changed_or_none = changed.unwrap_or(&none);
    let Changed { done, stuck, refused, unknown } = changed_or_none;
    let failed = !(stuck.is_empty() && refused.is_empty() && unknown.is_empty());
    let exit = if failed || !task.silent.is_empty() { Exit::Unsettled } else { Exit::Done };
    if context.global.output == Format::Json {
        let body =
            render::document(&desired.fleet, &task.listed, &task.silent, changed, &task.after);
        out.json(&document(exit, body))?;
        return Ok(exit);
    }
    if changed.is_some() {
        let machines = count(done.len() as u64, "machine");
        out.text(format!("Fleet {} has {machines} more.", desired.fleet));
    }
    render::not_taken(changed_or_none, out);
    Ok(exit)
}
