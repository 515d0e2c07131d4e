//! One pass over some fleets: leases, one look for all, a decision for each, and what follows from it.

use crate::Controller;
use crate::agenda::Ended;
use crate::board::{FleetView, Standing};
use crate::market;
use crate::metrics::{self, Figures};
use fleet_core::{Planned, plan};
use fleet_model::{Desired, FleetName, Inputs, Limits};
use fleet_run::{Converged, Reach, Session};
use fleet_words::exit::Exit;
use fleet_words::fail::{Answer, Failure};
use fleet_words::output::plan as documents;
use fleet_words::render::attention::items;
use fleet_words::render::plan_text;
use fleet_words::render::status::Status;
use fleet_words::runs::failed;
use futures::{StreamExt, stream};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;
use tracing::{Instrument, Span};

/// How a look at one fleet ended.
pub(crate) struct Outcome {
    pub(crate) ended: Ended,
    pub(crate) standing: Standing,
    pub(crate) view: Option<FleetView>,
}

/// A fleet that nobody else may change meanwhile.
struct Begun<'a> {
    session: Session<'a>,
    holder: String,
}

impl Controller {
    /// Looks after fleets. One look at each account serves them all.
    pub(crate) async fn pass(&self, fleets: &[Arc<Desired>]) -> Vec<Outcome> {
        if !self.acts {
            return self.look_only(fleets).await;
        }
        let started = Instant::now();
        // A trace for each fleet.
        let traces: Vec<Span> = fleets.iter().map(|desired| trace(&desired.fleet)).collect();
        let begun: Vec<Answer<Begun<'_>>> = stream::iter(fleets.iter().zip(&traces))
            .map(|(desired, trace)| {
                let holder = self.ground.holder(self.board.specs().commit.as_deref());
                self.begin(desired, holder, Duration::ZERO).instrument(trace.clone())
            })
            .buffered(self.at_once)
            .collect()
            .await;
        let free: Vec<(&Session<'_>, Limits)> = begun
            .iter()
            .filter_map(|begun| Some((&begun.as_ref().ok()?.session, Limits::default())))
            .collect();
        let look = look_for(&traces);
        let gathered = self.engine.gather_sessions(&free).instrument(look).await;
        let mut gathered = gathered.into_iter();
        drop(free);
        let prepared = begun.into_iter().map(|begun| {
            let begun = begun?;
            match gathered.next() {
                Some(inputs) => Ok((begun, inputs.map_err(failed)?)),
                None => Err(Failure::new("the look gave no answer for this fleet")),
            }
        });
        let prepared: Vec<Answer<(Begun<'_>, Inputs)>> = prepared.collect();
        stream::iter(prepared.into_iter().zip(fleets).zip(traces))
            .map(|((prepared, desired), trace)| {
                async move {
                    let converged = match prepared {
                        Ok((begun, inputs)) => self.converge(begun, inputs).await,
                        Err(failure) => Err(failure),
                    };
                    let outcome = outcome(converged, started.elapsed());
                    self.measure(&desired.fleet, &outcome, started.elapsed());
                    outcome
                }
                .instrument(trace)
            })
            .buffered(self.at_once)
            .collect()
            .await
    }

    async fn begin(&self, desired: &Desired, holder: String, wait: Duration) -> Answer<Begun<'_>> {
        self.ground.admit(&desired.fleet).await?;
        let on = |news| tracing::debug!(?news, "progress");
        let session = self.engine.begin(desired, &holder, wait, &on).await;
        Ok(Begun { session: session.map_err(failed)?, holder })
    }

    /// The same for somebody who asked, which the journal tells.
    async fn begin_announced(
        &self,
        desired: &Desired,
        holder: String,
        wait: Duration,
    ) -> Answer<Begun<'_>> {
        let begun = self.begin(desired, holder, wait).await?;
        if let Err(error) = begun.session.announce(&begun.holder).await {
            let _ = begun.session.finish().await;
            return Err(failed(error));
        }
        Ok(begun)
    }

    async fn converge(&self, begun: Begun<'_>, inputs: Inputs) -> Answer<Converged> {
        let Begun { session, holder } = begun;
        let planned = plan(&inputs);
        let on = |news| tracing::debug!(?news, "progress");
        let converged =
            session.converge(&holder, (inputs, planned), Reach::Look, &self.stop, &on).await;
        // A lease that cannot be given back lapses by itself.
        let finished = session.finish().await;
        let converged = converged.map_err(failed)?;
        finished.map_err(failed)?;
        Ok(converged)
    }

    /// Looks after one fleet at once, because somebody asked for it. `told` hears when that is in the journal, or why it
    /// cannot be done.
    pub(crate) async fn look_after_now(
        &self,
        desired: &Desired,
        holder: String,
        wait: Duration,
        told: oneshot::Sender<Answer<()>>,
    ) {
        let started = Instant::now();
        let begun = match self.begin_announced(desired, holder, wait).await {
            Ok(begun) => begun,
            Err(failure) => {
                let _ = told.send(Err(failure));
                return;
            }
        };
        // The caller may be gone; what is in the journal is done all the same.
        let _ = told.send(Ok(()));
        let converged = match begun.session.gather(Limits::default()).await.map_err(failed) {
            Ok(inputs) => self.converge(begun, inputs).await,
            Err(failure) => {
                let _ = begun.session.finish().await;
                Err(failure)
            }
        };
        let outcome = outcome(converged, started.elapsed());
        self.measure(&desired.fleet, &outcome, started.elapsed());
        let Outcome { standing, view, .. } = outcome;
        let due = self.board.fleet(&desired.fleet).and_then(|known| known.due);
        self.board.looked(&desired.fleet, view, standing, due);
    }

    /// Looks and decides, and does nothing.
    pub(crate) async fn look_only(&self, fleets: &[Arc<Desired>]) -> Vec<Outcome> {
        let started = Instant::now();
        let wanted: Vec<&Desired> = fleets.iter().map(AsRef::as_ref).collect();
        let traces: Vec<Span> = fleets.iter().map(|desired| trace(&desired.fleet)).collect();
        let looked = self.engine.gather_all(&wanted, Limits::default());
        let gathered = looked.instrument(look_for(&traces)).await;
        let seen = gathered.into_iter().map(|inputs| {
            let inputs = inputs.map_err(failed)?;
            let last = Some(plan(&inputs));
            Ok(Converged { rounds: Vec::new(), last, seen: Some(inputs) })
        });
        let ended = seen.zip(fleets).zip(traces).map(|((seen, desired), trace)| {
            let outcome = outcome(seen, started.elapsed());
            trace.in_scope(|| self.measure(&desired.fleet, &outcome, started.elapsed()));
            outcome
        });
        ended.collect()
    }

    fn measure(&self, fleet: &FleetName, outcome: &Outcome, took: Duration) {
        let result = match &outcome.standing {
            Standing::Settled => metrics::SETTLED,
            Standing::GoesOn => metrics::GOES_ON,
            Standing::Elsewhere { .. } => metrics::ELSEWHERE,
            Standing::Failed { .. } => metrics::FAILED,
        };
        Span::current().record("result", result);
        self.metrics.reconciled(fleet, result, took);
    }
}

/// The root of a trace.
fn trace(fleet: &FleetName) -> Span {
    tracing::debug_span!(parent: None, "reconcile", %fleet, result = tracing::field::Empty)
}

/// One look serves many fleets: it is part of the first one's trace, and the others point to it.
fn look_for(traces: &[Span]) -> Span {
    let Some((first, others)) = traces.split_first() else { return Span::none() };
    let look = tracing::debug_span!(parent: first, "look", fleets = traces.len());
    for other in others {
        other.follows_from(&look);
    }
    look
}

fn outcome(converged: Answer<Converged>, took: Duration) -> Outcome {
    match converged {
        Ok(converged) => {
            let goes_on = converged.goes_on();
            let (ended, standing) = match goes_on {
                true => (Ended::GoesOn, Standing::GoesOn),
                false => (Ended::Settled, Standing::Settled),
            };
            Outcome { ended, standing, view: view(converged, took) }
        }
        Err(failure) if failure.exit == Exit::LeaseHeld => {
            let standing = Standing::Elsewhere { holder: failure.what };
            Outcome { ended: Ended::Held, standing, view: None }
        }
        Err(why) => {
            Outcome { ended: Ended::Failed, standing: Standing::Failed { why }, view: None }
        }
    }
}

fn view(converged: Converged, took: Duration) -> Option<FleetView> {
    let Converged { rounds, last, seen } = converged;
    let (inputs, Planned { plan, report }) = (seen?, last?);
    let held = inputs.recorded.machines().map(|one| (one.machine.clone(), one.pool.place.scope()));
    let (machines, scopes) = held.unzip();
    let status = Status::new(&inputs, &report).document();
    let freeze = inputs.recorded.freeze.as_ref();
    let frozen = freeze.is_some_and(|freeze| freeze.until.is_none_or(|until| until > inputs.now));
    let watched = market::watched(&inputs, !status.unplaced.is_empty());
    Some(FleetView {
        figures: Figures::of(&inputs, &report, &status),
        status,
        plan: documents::fleet(&plan, &report),
        plan_text: plan_text::render_with(&plan, &report, true),
        attention: items(&report),
        frozen,
        scopes,
        machines,
        watched,
        looked_at: inputs.observed.taken_at,
        took,
        launched: rounds.iter().map(|round| round.created).sum(),
        destroyed: rounds.iter().map(|round| round.destroyed).sum(),
    })
}
