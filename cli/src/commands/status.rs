//! `fleet status`: what is there.

use crate::args::{Format, StatusArgs};
use crate::context::Context;
use crate::exit::Exit;
use crate::fail::Answer;
use crate::fleets::{fleets, is_unmanaged, unmanaged};
use crate::out::Out;
use crate::output::{document, status as output};
use crate::render::status::Status;
use crate::runs::failed;
use crate::style::WARN;
use crate::text::clean;
use fleet_core::plan;
use fleet_model::{Cloud, Desired, FleetName, Limits, Notice};
use fleet_provider::Error;

/// Runs `fleet status`.
pub(crate) async fn run(context: &Context, args: &StatusArgs, out: &mut Out) -> Answer {
    let catalog = context.catalog()?;
    let (context, specs) = &context.named(&args.spec.specs);
    let fleets = fleets(context, specs).await?;
    let engine = context.engine(catalog, &fleets)?;
    let named: Vec<&FleetName> = fleets.iter().map(|fleet| &fleet.fleet).collect();
    let unmanaged = unmanaged(context, &engine, specs, &named).await?;
    let mut documents = Vec::new();
    let wanted: Vec<&Desired> = fleets.iter().collect();
    context.same_kinds(&wanted).await?;
    let asking = context.board(wanted.len(), false).asking(&wanted);
    let gathered = engine.gather_all(&wanted, Limits::default()).await;
    drop(asking);
    let mut gathered = gathered.into_iter().collect::<Result<Vec<_>, _>>().map_err(failed)?;
    // Only where they are shown: some clouds have to be asked for addresses.
    if args.machines || context.global.output == Format::Json {
        tell_of_silence(&engine.add_addresses(&mut gathered).await, out);
    }
    for (nth, (desired, mut inputs)) in fleets.iter().zip(gathered).enumerate() {
        let by_name = desired.is_without_spec();
        if let Some(goal) = inputs.recorded.goal.filter(|_| by_name) {
            // Without its spec, what the last apply meant is what is known of what is wanted.
            inputs.desired.capacity = goal;
        }
        let mut planned = plan(&inputs);
        if by_name {
            // What a plan without a spec would say is no news of the fleet.
            planned.report.held.clear();
            planned.report.unplaced.clear();
            planned.report.notices.retain(|notice| !is_of_the_spec(notice));
        }
        let status = Status::new(&inputs, &planned.report);
        match context.global.output {
            Format::Json => documents.push(status.document()),
            Format::Markdown => out.text(status.markdown()),
            Format::Text => {
                let gap = if nth > 0 { "\n" } else { "" };
                out.text(format!("{gap}{}", status.text(args.machines).trim_end()));
            }
        }
    }
    if context.global.output == Format::Json {
        out.json(&document(Exit::Done, output::Status { fleets: documents, unmanaged }))?;
    } else {
        unmanaged.iter().for_each(|one| out.aside(is_unmanaged(one)));
    }
    Ok(Exit::Done)
}

/// Whether a notice compares machines with a spec.
fn is_of_the_spec(notice: &Notice) -> bool {
    matches!(
        notice,
        Notice::OldTemplate { .. } | Notice::OldLabels { .. } | Notice::StrategyChanged { .. }
    )
}

/// Says of which clouds the addresses are not known.
pub(crate) fn tell_of_silence(silent: &[(Cloud, Error)], out: &mut Out) {
    for (cloud, error) in silent {
        out.aside(format!(
            "{WARN}warning:{WARN:#} addresses of machines on {cloud} are not known: {}",
            clean(&error.to_string())
        ));
    }
}
