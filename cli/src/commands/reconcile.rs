//! `fleet reconcile`: apply for cron and timers. No questions, one line of JSON per fleet.

use super::apply::{Lead, Ready};
use crate::args::ReconcileArgs;
use crate::context::Context;
use crate::exit::Exit;
use crate::fail::{Answer, Failure};
use crate::out::Out;
use crate::render::applied::{Applied, line, log_head};
use crate::render::plan_json::merge;
use crate::runs::{failed, holder, limits, verdict};
use crate::watch::stop_on_signal;
use fleet_model::{Desired, Timestamp};
use fleet_run::{Reach, Stop};
use serde_json::json;
use tracing::Instrument;

/// Runs `fleet reconcile`.
pub(crate) async fn run(context: &Context, args: &ReconcileArgs, out: &mut Out) -> Answer {
    let catalog = context.catalog()?;
    let loaded = context.specs(&args.spec.specs)?;
    context.launchable(&loaded, &catalog)?;
    for warning in &loaded.warnings.0 {
        tracing::warn!(file = %warning.file.display(), line = warning.line, "{}", warning.message);
    }
    let engine = context.engine(catalog, loaded.fleets.iter().map(|fleet| &fleet.desired))?;
    let lead = Lead { context, engine: &engine, wait: args.lock_wait, command: "reconcile" };
    let stop = stop_on_signal(true);
    let mut worst = Exit::Done;
    for fleet in &loaded.fleets {
        if stop.asked() {
            let not_begun =
                json!({ "fleet": fleet.desired.fleet, "stopped": true, "begun": false });
            out.json_line(&merge(not_begun, log_head(engine.now(), Exit::Unsettled)));
            worst = worst.max(Exit::Unsettled);
            continue;
        }
        let span = tracing::info_span!("round", fleet = %fleet.desired.fleet);
        let (exit, text) = match round(&lead, &fleet.desired, args, &stop).instrument(span).await {
            Ok((applied, exit)) => (exit, line(&applied, engine.now(), exit)),
            Err(failure) => (failure.exit, report(&fleet.desired, engine.now(), &failure)),
        };
        worst = worst.max(exit);
        out.json_line(&text);
        out.flush();
    }
    Ok(worst)
}

async fn round(
    lead: &Lead<'_>,
    desired: &Desired,
    args: &ReconcileArgs,
    stop: &Stop,
) -> Answer<(Applied, Exit)> {
    let ready = lead.prepare(desired, limits(args.limits), None).await?;
    let holder = holder(lead.command);
    let on = |news| tracing::debug!(?news, "progress");
    let Ready { session, inputs, planned, .. } = ready;
    let converged = session.converge(&holder, (inputs, planned), Reach::Spec, stop, &on);
    let converged = converged.await.map_err(failed)?;
    session.finish().await.map_err(failed)?;
    let exit = converged.last.as_ref().map_or(Exit::Done, verdict);
    let applied = Applied { fleet: desired.fleet.clone(), converged, stopped: stop.asked() };
    Ok((applied, exit))
}

fn report(desired: &Desired, at: Timestamp, failure: &Failure) -> serde_json::Value {
    let what = json!({ "fleet": desired.fleet, "error": failure.what, "hint": failure.hint });
    merge(what, log_head(at, failure.exit))
}
