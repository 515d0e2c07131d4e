//! Fleets under lease, looked at and decided on: where apply, destroy and reconcile begin.

use crate::args::Format;
use crate::context::Context;
use crate::exit::Exit;
use crate::fail::Answer;
use crate::runs::{failed, holder};
use crate::saved::SavedPlan;
use crate::watch::{Board, Watch};
use fleet_core::{Planned, plan};
use fleet_model::{Desired, Inputs, Limits};
use fleet_run::{Engine, Reach, Session};
use futures::{StreamExt, stream};
use std::time::Duration;

/// Fleets that are changed side by side. Clouds are paced per account whatever this is.
pub(crate) const CHANGED_AT_ONCE: usize = 32;

/// A fleet under lease, with what is to be done to it.
pub(crate) struct Ready<'a> {
    pub session: Session<'a>,
    pub inputs: Inputs,
    pub planned: Planned,
    /// How far to go: a saved plan is carried out as it stands, and nothing after it.
    pub reach: Reach,
    pub watch: Watch,
    /// On whose behalf, for the journal.
    pub holder: String,
}

/// What every fleet of one command is prepared with.
pub(crate) struct Lead<'a> {
    pub context: &'a Context,
    pub engine: &'a Engine,
    pub wait: Duration,
    pub command: &'static str,
    pub board: Board,
}

/// A fleet whose lease is ours.
struct Begun<'a> {
    session: Session<'a>,
    watch: Watch,
    holder: String,
}

impl Context {
    /// Where progress of so many fleets is shown; JSON and Markdown go to readers who want none.
    pub(crate) fn board(&self, fleets: usize, quiet: bool) -> Board {
        Board::new(fleets, quiet || self.global.output != Format::Text, self.global.no_color)
    }
}

impl<'a> Lead<'a> {
    /// Takes the leases, looks once for all, and decides for each; a saved plan is verified instead.
    /// The answers are in the order of the fleets.
    pub(crate) async fn prepare(
        &self,
        fleets: &[&Desired],
        limits: Limits,
        saved: Option<&SavedPlan>,
    ) -> Vec<Answer<Ready<'a>>> {
        let begun = stream::iter(fleets.iter().copied())
            .map(|desired| self.begin(desired, Duration::ZERO))
            .buffered(CHANGED_AT_ONCE)
            .collect::<Vec<_>>()
            .await;
        let saved = |desired: &Desired| {
            let mut fleets = saved.into_iter().flat_map(|saved| &saved.fleets);
            fleets.find(|one| one.plan.fleet == desired.fleet)
        };
        // A plan was made within its own limits; it must be judged by the same.
        let limits = |desired: &Desired| saved(desired).map_or(limits, |saved| saved.limits);
        let free: Vec<(&Session<'_>, Limits)> = fleets
            .iter()
            .zip(&begun)
            .filter_map(|(desired, begun)| Some((&begun.as_ref().ok()?.session, limits(desired))))
            .collect();
        let asking = self.board.asking(fleets);
        let mut gathered = self.engine.gather_sessions(&free).await.into_iter();
        drop(asking);
        let mut all = Vec::new();
        for (desired, begun) in fleets.iter().zip(begun) {
            let one = match begun {
                Ok(begun) => match gathered.next() {
                    Some(Ok(inputs)) => Ok((begun, inputs)),
                    Some(Err(error)) => Err(failed(error)),
                    None => continue,
                },
                // Whoever has to wait does so after the others looked, and looks alone.
                Err(failure) if failure.exit == Exit::LeaseHeld && !self.wait.is_zero() => {
                    self.later(desired, limits(desired)).await
                }
                Err(failure) => Err(failure),
            };
            all.push(one.and_then(|(begun, inputs)| decide(begun, inputs, saved(desired))));
        }
        all
    }

    async fn begin(&self, desired: &Desired, wait: Duration) -> Answer<Begun<'a>> {
        let watch = Watch::new(desired.fleet.as_str(), &self.board);
        let on = |news| watch.on(news);
        self.context.same_kind(&desired.fleet).await?;
        let holder = holder(self.command);
        let session = self.engine.begin(desired, &holder, wait, &on).await.map_err(failed)?;
        Ok(Begun { session, watch, holder })
    }

    async fn later(&self, desired: &Desired, limits: Limits) -> Answer<(Begun<'a>, Inputs)> {
        let begun = self.begin(desired, self.wait).await?;
        let inputs = begun.session.gather(limits).await.map_err(failed)?;
        Ok((begun, inputs))
    }
}

fn decide<'a>(
    begun: Begun<'a>,
    mut inputs: Inputs,
    saved: Option<&crate::saved::SavedFleet>,
) -> Answer<Ready<'a>> {
    let Begun { session, watch, holder } = begun;
    let Some(saved) = saved else {
        let planned = plan(&inputs);
        let reach = Reach::Replacements;
        return Ok(Ready { session, inputs, planned, reach, watch, holder });
    };
    session.verify(&saved.plan, &inputs).map_err(failed)?;
    // What is carried out is decided here and now; the file only says what it must be.
    if inputs.recorded.uid.is_none() {
        inputs.uid = saved.plan.uid.clone();
    }
    let planned = plan(&inputs);
    session.same(&saved.plan, &planned.plan).map_err(failed)?;
    Ok(Ready { session, inputs, planned, reach: Reach::Plan, watch, holder })
}
