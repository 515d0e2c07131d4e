//! `fleet reconcile`: apply for cron and timers. No questions, one line of JSON per fleet.

use super::validate::left_out;
use crate::args::ReconcileArgs;
use crate::context::Context;
use crate::exit::Exit;
use crate::fail::{Answer, Failure};
use crate::fleets::{names, pruned, unmanaged};
use crate::measured::Textfile;
use crate::out::Out;
use crate::output::apply::Reconcile;
use crate::output::common::LeftOut;
use crate::output::words::Time;
use crate::output::{Document, document};
use crate::prepare::{CHANGED_AT_ONCE, Lead, Ready};
use crate::render::applied::{self, Applied};
use crate::runs::{failed, limits, verdict};
use crate::watch::{stop_on_signal, to_nobody};
use fleet_model::Desired;
use fleet_run::{Engine, Reach, Stop};
use futures::{StreamExt, stream};
use std::time::Instant;
use tracing::Instrument;

/// Fleets whose leases are held at once: the rest waits its turn.
const UNDER_LEASE: usize = 256;

/// Runs `fleet reconcile`.
pub(crate) async fn run(context: &Context, args: &ReconcileArgs, out: &mut Out) -> Answer {
    let catalog = context.catalog()?;
    let (context, specs) = &context.named(&args.spec.specs);
    let loaded = context.launchable(context.specs(specs)?, &catalog)?;
    for warning in &loaded.warnings.0 {
        tracing::warn!(file = %warning.file.display(), line = warning.line, "{}", warning.message);
    }
    let engine = context.engine(catalog, loaded.fleets.iter().map(|fleet| &fleet.desired))?;
    let textfile = args.metrics_textfile.as_deref().map(Textfile::begin).transpose()?;
    let engine = match &textfile {
        Some(textfile) => engine.with_meter(textfile.metrics.clone()),
        None => engine,
    };
    let unmanaged = unmanaged(context, &engine, specs, &names(&loaded)).await?;
    let pruned = pruned(context, args.prune, specs, &loaded, &unmanaged, out)?;
    let board = context.board(loaded.fleets.len(), true);
    let lead = Lead { context, engine: &engine, wait: args.lock_wait, command: "reconcile", board };
    let stop = stop_on_signal(to_nobody);
    let mut worst = Exit::Done;
    for broken in left_out(&loaded.broken) {
        worst = Exit::SpecInvalid;
        out.json_line(&left(&engine, Exit::SpecInvalid, broken))?;
    }
    if !unmanaged.is_empty() {
        let at = Time(engine.now());
        let line = Reconcile { at, fleets: Vec::new(), left_out: Vec::new(), unmanaged };
        out.json_line(&document(Exit::Done, line))?;
    }
    let named = loaded.fleets.iter().map(|fleet| &fleet.desired);
    let fleets: Vec<&Desired> = named.chain(&pruned).collect();
    for some in fleets.chunks(UNDER_LEASE) {
        let prepared: Vec<Option<Answer<Ready<'_>>>> = match stop.asked() {
            true => some.iter().map(|_| None).collect(),
            false => {
                lead.prepare(some, limits(args.limits), None).await.into_iter().map(Some).collect()
            }
        };
        let mut rounds = stream::iter(some.iter().zip(prepared))
            .map(|(desired, ready)| round(&engine, desired, ready, &stop, textfile.as_ref()))
            .buffer_unordered(CHANGED_AT_ONCE);
        while let Some((exit, line)) = rounds.next().await {
            worst = worst.max(exit);
            out.json_line(&line)?;
            out.flush();
        }
    }
    if let Some(textfile) = textfile {
        let refused = !loaded.broken.is_empty();
        textfile.write(fleets.iter().map(|desired| &desired.fleet), refused)?;
    }
    Ok(worst)
}

/// Makes one fleet what its spec says, and reports how it ended.
async fn round(
    engine: &Engine,
    desired: &Desired,
    ready: Option<Answer<Ready<'_>>>,
    stop: &Stop,
    textfile: Option<&Textfile>,
) -> (Exit, Document<Reconcile>) {
    let started = Instant::now();
    let span = tracing::info_span!("round", fleet = %desired.fleet);
    let done = match ready {
        Some(Ok(ready)) if !stop.asked() => converge(desired, ready, stop).instrument(span).await,
        Some(Err(failure)) => Err(failure),
        not_begun => {
            if let Some(Ok(ready)) = not_begun {
                // A lease that cannot be given back lapses by itself.
                let _ = ready.session.finish().await;
            }
            Err(Failure::new("the run was stopped before this fleet was begun")
                .hint("the next reconcile does it")
                .exit(Exit::Unsettled))
        }
    };
    if let Some(textfile) = textfile {
        let converged = done.as_ref().map(|(applied, _)| &applied.converged);
        textfile.reconciled(&desired.fleet, converged, started.elapsed());
    }
    match done {
        Ok((applied, exit)) => {
            let fleets = applied::document(&applied).into_iter().collect();
            let (at, none) = (Time(engine.now()), Vec::new());
            let line = Reconcile { at, fleets, left_out: Vec::new(), unmanaged: none };
            (exit, document(exit, line))
        }
        Err(failure) => {
            let one = LeftOut::failed(&desired.fleet, &failure);
            (failure.exit, left(engine, failure.exit, one))
        }
    }
}

async fn converge(desired: &Desired, ready: Ready<'_>, stop: &Stop) -> Answer<(Applied, Exit)> {
    let on = |news| tracing::debug!(?news, "progress");
    let Ready { session, inputs, planned, holder, .. } = ready;
    let converged = session.converge(&holder, (inputs, planned), Reach::Spec, stop, &on);
    let converged = converged.await.map_err(failed)?;
    session.finish().await.map_err(failed)?;
    let exit = converged.last.as_ref().map_or(Exit::Done, verdict);
    let applied = Applied { fleet: desired.fleet.clone(), converged, stopped: stop.asked() };
    Ok((applied, exit))
}

/// The line of a fleet that nothing was done to, or not to the end.
fn left(engine: &Engine, exit: Exit, one: LeftOut) -> Document<Reconcile> {
    let at = Time(engine.now());
    let left_out = vec![one];
    document(exit, Reconcile { at, fleets: Vec::new(), left_out, unmanaged: Vec::new() })
}
