//! `fleet plan`: decides and shows; changes nothing.

use crate::args::{Format, PlanArgs};
use crate::context::Context;
use crate::exit::Exit;
use crate::fail::{Answer, Failure};
use crate::fleets::tell_of_unnamed;
use crate::out::Out;
use crate::render::{plan_json, plan_markdown, plan_text};
use crate::runs::{failed, limits};
use crate::saved::{PlanKind, SavedFleet, SavedInputs, SavedPlan, write};
use crate::style::DIM;
use fleet_core::{Planned, plan};
use fleet_model::{Inputs, PLAN_FORMAT};
use tracing::Instrument;

/// Runs `fleet plan`.
pub(crate) async fn run(context: &Context, args: &PlanArgs, out: &mut Out) -> Answer {
    let inputs = match &args.inputs {
        Some(file) => replay(context, args, file)?,
        None => gather(context, args, out).await?,
    };
    let planned: Vec<Planned> = inputs.iter().map(plan).collect();
    show(context.global.output, &planned, out)?;
    // What is in doubt has to be settled, one way or the other.
    let changes = planned.iter().any(|one| one.plan.acts() || !one.report.in_doubt.is_empty());
    if let Some(file) = &args.save_inputs {
        let some_data = inputs
            .iter()
            .any(|one| one.desired.templates.values().any(|template| template.user_data.is_some()));
        write(file, &SavedInputs::new(inputs.clone()))?;
        let without = if some_data { ", user data left out" } else { "" };
        out.aside(format!("{DIM}inputs saved to {}{without}{DIM:#}", file.display()));
    }
    if let Some(file) = &args.out {
        let fleets = planned.into_iter().zip(&inputs);
        let fleets = fleets.map(|(Planned { plan, report }, inputs)| SavedFleet {
            plan,
            report,
            limits: inputs.limits,
        });
        let saved = SavedPlan {
            format_version: PLAN_FORMAT,
            kind: PlanKind::FleetPlan,
            simulated: context.global.sim,
            specs: context.paths(&args.spec.specs)?,
            policies: context.global.policy.clone(),
            fleets: fleets.collect(),
            digest: None,
            signature: None,
        };
        let saved = saved.sealed();
        let saved = match &args.sign {
            Some(key) => saved.signed(key)?,
            None => saved,
        };
        write(file, &saved)?;
        out.aside(format!(
            "plan saved; apply exactly this with `fleet apply {}{}`",
            if context.global.sim { "--sim " } else { "" },
            file.display()
        ));
    }
    Ok(if args.detailed_exitcode && changes { Exit::Changes } else { Exit::Done })
}

/// Prints plans in the form that was asked for.
pub(crate) fn show(format: Format, planned: &[Planned], out: &mut Out) -> Answer<()> {
    let pairs: Vec<_> = planned.iter().map(|one| (&one.plan, &one.report)).collect();
    match format {
        Format::Json => out.json(&plan_json::document(&pairs))?,
        Format::Markdown => out.text(plan_markdown::render(&pairs).trim_end()),
        Format::Text => {
            for (nth, (plan, report)) in pairs.iter().enumerate() {
                let gap = if nth > 0 { "\n" } else { "" };
                out.text(format!("{gap}{}", plan_text::render(plan, report)));
            }
            if pairs.len() > 1 {
                out.text(plan_text::total(&pairs));
            }
        }
    }
    Ok(())
}

async fn gather(context: &Context, args: &PlanArgs, out: &mut Out) -> Answer<Vec<Inputs>> {
    let catalog = context.catalog()?;
    let loaded = context.specs(&args.spec.specs)?;
    context.launchable(&loaded, &catalog)?;
    super::validate::warn(&loaded, context.global.output, out);
    let engine = context.engine(catalog, loaded.fleets.iter().map(|fleet| &fleet.desired))?;
    tell_of_unnamed(&engine, &loaded.fleets, out).await?;
    let mut all = Vec::new();
    for fleet in &loaded.fleets {
        let span = tracing::info_span!("gather", fleet = %fleet.desired.fleet);
        let gathered = engine.gather(&fleet.desired, limits(args.limits)).instrument(span).await;
        all.push(gathered.map_err(failed)?);
    }
    Ok(all)
}

fn replay(context: &Context, args: &PlanArgs, file: &std::path::Path) -> Answer<Vec<Inputs>> {
    let mut inputs = SavedInputs::read(file)?.fleets;
    let wanted = &context.global.fleet;
    if !wanted.is_empty() {
        inputs.retain(|one| wanted.iter().any(|name| name == one.desired.fleet.as_str()));
    }
    if inputs.is_empty() {
        return Err(Failure::new("the saved inputs hold no such fleet").at(file.display()));
    }
    // A replay may ask "what if": limits on the command line win over saved ones.
    let asked = limits(args.limits);
    for one in &mut inputs {
        one.limits.allow_destroy = asked.allow_destroy.or(one.limits.allow_destroy);
        one.limits.accept_loss = asked.accept_loss.or(one.limits.accept_loss);
    }
    Ok(inputs)
}
