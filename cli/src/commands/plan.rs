//! `fleet plan`: decides and shows; changes nothing.

use crate::args::{Format, PlanArgs};
use crate::context::Context;
use crate::exit::Exit;
use crate::fail::{Answer, Failure};
use crate::fleets::{pruned, tell_of_unmanaged};
use crate::out::Out;
use crate::output::common::{LeftOut, Unmanaged};
use crate::output::{document, plan as output};
use crate::render::{plan_markdown, plan_text, review_text};
use crate::review::{Past, Review, compare, judge, measures};
use crate::runs::{failed, limits};
use crate::saved::{PlanKind, SavedFleet, SavedInputs, SavedPlan, write};
use crate::style::DIM;
use fleet_core::{Planned, plan};
use fleet_model::{Desired, FleetName, Inputs, PLAN_FORMAT, Report};
use fleet_spec::Loaded;
use std::collections::BTreeMap;

/// Runs `fleet plan`.
pub(crate) async fn run(context: &Context, args: &PlanArgs, out: &mut Out) -> Answer {
    let Gathered { inputs, left_out, unmanaged, worst, past } = match &args.inputs {
        Some(file) => Gathered { inputs: replay(context, args, file)?, ..Gathered::default() },
        None => gather(context, args, out).await?,
    };
    let planned: Vec<Planned> = inputs.iter().map(plan).collect();
    let review = review(args, (&inputs, &planned), past, &left_out);
    let verdicts = planned.iter().map(|one| exit(one, args.detailed_exitcode));
    let broken = if review.broken().count() > 0 { Exit::RuleBroken } else { Exit::Done };
    let worst = verdicts.fold(worst, Exit::max).max(broken);
    show(
        (context.global.output, args.details),
        &planned,
        (worst, left_out, unmanaged),
        &review,
        out,
    )?;
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
            specs: context.paths(&context.named(&args.spec.specs).1)?,
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
            "plan saved; apply exactly this with `fleet apply {}{}{}`",
            if context.global.sim { "--sim " } else { "" },
            // By name: a value may be part of user data, and the plan does not hold it.
            context
                .global
                .var
                .iter()
                .map(|(name, _)| format!("--var {name}=… "))
                .collect::<String>(),
            file.display()
        ));
    }
    Ok(worst)
}

/// Holds a plan against the base and the rules that the user names.
fn review(
    args: &PlanArgs,
    (inputs, planned): (&[Inputs], &[Planned]),
    past: Option<(Past, Loaded, BTreeMap<FleetName, Inputs>)>,
    left_out: &[LeftOut],
) -> Review {
    let comparison = past.map(|(past, loaded, before)| {
        let at_hand: Vec<_> = inputs.iter().zip(planned).collect();
        compare(&past, &loaded.fleets, &at_hand, &before, left_out)
    });
    let reports: Vec<(String, &Report)> =
        planned.iter().map(|one| (one.plan.fleet.to_string(), &one.report)).collect();
    let measures = measures(&reports, comparison.as_ref());
    Review { verdicts: judge(&args.fail_if, &measures), comparison }
}

/// A plan that could not look is a failure. What is held or unplaced is for those to know who ask.
fn exit(planned: &Planned, detailed: bool) -> Exit {
    let Planned { plan, report } = planned;
    // What is in doubt has to be settled, one way or the other.
    let changes = plan.acts() || !report.in_doubt.is_empty();
    match (report.is_blind(), detailed, changes) {
        (true, ..) => Exit::Failed,
        (false, true, true) => Exit::Changes,
        (false, true, false) if !plan_text::is_settled(report) => Exit::Unsettled,
        (false, ..) => Exit::Done,
    }
}

/// Prints plans in the form that was asked for.
fn show(
    (format, details): (Format, bool),
    planned: &[Planned],
    (exit, left_out, unmanaged): (Exit, Vec<LeftOut>, Vec<Unmanaged>),
    review: &Review,
    out: &mut Out,
) -> Answer<()> {
    let pairs: Vec<_> = planned.iter().map(|one| (&one.plan, &one.report)).collect();
    match format {
        Format::Json => {
            out.json(&document(exit, output::plan(&pairs, left_out, unmanaged, review)))?;
        }
        Format::Markdown => out.text(plan_markdown::render(&pairs, review).trim_end()),
        Format::Text => {
            for (nth, (plan, report)) in pairs.iter().enumerate() {
                let gap = if nth > 0 { "\n" } else { "" };
                out.text(format!("{gap}{}", plan_text::render_with(plan, report, details)));
            }
            if pairs.len() > 1 {
                out.text(plan_text::total(&pairs));
            }
            let review = review_text::render(review);
            if !review.is_empty() {
                out.text(review);
            }
        }
    }
    Ok(())
}

/// What a plan is made from, and the fleets that there is none for.
struct Gathered {
    inputs: Vec<Inputs>,
    left_out: Vec<LeftOut>,
    unmanaged: Vec<Unmanaged>,
    worst: Exit,
    /// The specs of the base, those at hand, and what the base is planned from.
    past: Option<(Past, Loaded, BTreeMap<FleetName, Inputs>)>,
}

impl Default for Gathered {
    fn default() -> Self {
        Gathered {
            inputs: Vec::new(),
            left_out: Vec::new(),
            unmanaged: Vec::new(),
            worst: Exit::Done,
            past: None,
        }
    }
}

async fn gather(context: &Context, args: &PlanArgs, out: &mut Out) -> Answer<Gathered> {
    let catalog = context.catalog()?;
    let (context, specs) = &context.named(&args.spec.specs);
    let loaded = context.launchable(context.specs(specs)?, &catalog)?;
    let past = match &args.compare {
        Some(reference) => Some(Past::read(context, reference, specs, &catalog)?),
        None => None,
    };
    let worst = super::validate::warn(&loaded, context.global.output, out);
    let left_out = super::validate::left_out(&loaded.broken);
    let at_hand: Vec<&Desired> = loaded.fleets.iter().map(|fleet| &fleet.desired).collect();
    let others = past.as_ref().map_or_else(Vec::new, |past| past.other(&at_hand));
    let engine = context.engine(catalog, at_hand.iter().chain(&others).copied())?;
    let unmanaged = tell_of_unmanaged(context, &engine, specs, &loaded, out).await?;
    let pruned = pruned(context, args.prune, specs, &loaded, &unmanaged, out)?;
    let named = loaded.fleets.iter().map(|fleet| &fleet.desired);
    let fleets: Vec<&Desired> = named.chain(&pruned).collect();
    // Both sides are planned from one look at the clouds.
    let all: Vec<&Desired> = fleets.iter().chain(&others).copied().collect();
    context.same_kinds(&all).await?;
    let asking = context.board(fleets.len(), false).asking(&fleets);
    let mut answers = engine.gather_all(&all, limits(args.limits)).await;
    drop(asking);
    let mut before = BTreeMap::new();
    for (desired, answer) in others.iter().zip(answers.drain(fleets.len()..)) {
        before.insert(desired.fleet.clone(), answer.map_err(failed)?);
    }
    let mut gathered = Gathered { inputs: Vec::new(), left_out, unmanaged, worst, past: None };
    for (desired, answer) in fleets.iter().zip(answers) {
        match answer.map_err(failed) {
            Ok(inputs) => gathered.inputs.push(inputs),
            Err(failure) if fleets.len() == 1 => return Err(failure),
            Err(failure) => {
                gathered.worst = gathered.worst.max(failure.exit);
                gathered.left_out.push(LeftOut::failed(&desired.fleet, &failure));
                out.aside(failure);
            }
        }
    }
    gathered.past = past.map(|past| (past, loaded, before));
    Ok(gathered)
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
