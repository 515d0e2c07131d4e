//! The right to change one fleet, held from the first look to the last record.

use crate::apply::seams;
use crate::engine::Engine;
use crate::error::RunError;
use crate::progress::Progress;
use crate::state::{Journal, JournalError, Lease};
use fleet_core::stale;
use fleet_model::{Desired, Event, FleetName, Inputs, Limits, Plan, Recorded};
use futures::future::join_all;
use std::time::Duration;

/// A lease on a fleet and its open journal.
pub struct Session<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) desired: Desired,
    pub(crate) journal: Journal,
    pub(crate) lease: Lease,
}

impl Engine {
    /// Takes the lease, opens the journal, and settles by looking what an earlier run left in
    /// doubt. Nothing is sent to a cloud but questions.
    pub async fn begin(
        &self,
        desired: &Desired,
        holder: &str,
        wait: Duration,
        on: &(dyn Fn(Progress) + Sync),
    ) -> Result<Session<'_>, RunError> {
        let session = self.take(desired, holder, wait, on).await?;
        match session.settle_first(holder, on).await {
            Ok(()) => Ok(session),
            Err(error) => {
                let _ = session.lease.release().await;
                Err(error)
            }
        }
    }

    /// Takes the lease and opens the journal. No cloud is asked anything.
    async fn take(
        &self,
        desired: &Desired,
        holder: &str,
        wait: Duration,
        on: &(dyn Fn(Progress) + Sync),
    ) -> Result<Session<'_>, RunError> {
        let waiting = |waiting| on(Progress::Waiting(waiting));
        let lease = Lease::take(&self.store, &desired.fleet, holder, wait, &waiting).await?;
        // Whoever mends a damaged journal need not wait for a lease of which nothing came.
        match self.open_to_write(&desired.fleet).await {
            Ok(journal) => Ok(Session { engine: self, desired: desired.clone(), journal, lease }),
            Err(error) => {
                let _ = lease.release().await;
                Err(error)
            }
        }
    }

    /// The journal of a fleet, unless it is on its way to another name.
    async fn open_to_write(&self, fleet: &FleetName) -> Result<Journal, RunError> {
        let journal = Journal::open(&self.store, fleet, self.clock.clone()).await?;
        match journal.recorded().await.renamed.filter(|to| to != fleet) {
            Some(to) => Err(RunError::Leaving { fleet: fleet.clone(), to }),
            None => Ok(journal),
        }
    }

    /// Writes down a person's wish for a fleet, under its lease. No cloud is asked anything, so that a
    /// fleet can be frozen while its clouds do not answer. Tells what is recorded then.
    pub async fn wish(
        &self,
        desired: &Desired,
        holder: &str,
        wait: Duration,
        wish: Event,
        on: &(dyn Fn(Progress) + Sync),
    ) -> Result<Recorded, RunError> {
        let session = self.take(desired, holder, wait, on).await?;
        let asked = session.ask(holder, wish).await;
        let recorded = session.journal.recorded().await;
        session.finish().await?;
        asked.map(|()| recorded)
    }

    /// Looks at journals and clouds for several fleets under lease, in their order. Each account is
    /// asked once for all of them.
    pub async fn gather_sessions(
        &self,
        sessions: &[(&Session<'_>, Limits)],
    ) -> Vec<Result<Inputs, RunError>> {
        let mut recorded = Vec::new();
        for (session, limits) in sessions {
            recorded.push(Ok((&session.desired, session.journal.recorded().await, *limits)));
        }
        let mut inputs = self.gather_from_all(recorded).await;
        let looked = sessions.iter().zip(&mut inputs).filter_map(|((session, _), one)| {
            let one = one.as_mut().ok()?;
            Some(async {
                session.probe(one).await;
                session.read_meters(one).await;
            })
        });
        join_all(looked).await;
        inputs
    }
}

impl Session<'_> {
    /// Reading needs no record; the epoch is written with the first change. Settling is one.
    async fn settle_first(
        &self,
        holder: &str,
        on: &(dyn Fn(Progress) + Sync),
    ) -> Result<(), RunError> {
        let recorded = self.journal.recorded().await;
        if recorded.in_doubt.is_empty() {
            return Ok(());
        }
        on(Progress::Recovering { requests: recorded.in_doubt.len() });
        self.open_epoch(holder).await?;
        self.settle_by_looking().await
    }

    /// Writes down who changes the fleet from here on.
    pub(crate) async fn open_epoch(&self, holder: &str) -> Result<(), RunError> {
        let epoch = self.journal.recorded().await.epoch + 1;
        let event = Event::Epoch { epoch, holder: holder.into() };
        Ok(self.record(seams::before_changes(event)).await?)
    }

    /// Writes down who looks after the fleet now and why, also if nothing comes of it: a person asked.
    pub async fn announce(&self, holder: &str) -> Result<(), RunError> {
        self.open_epoch(holder).await
    }

    /// Appends to the journal, if there is anything.
    pub(super) async fn record(&self, events: Vec<Event>) -> Result<(), JournalError> {
        if events.is_empty() { Ok(()) } else { self.journal.append(events).await }
    }

    /// Writes down a person's wish, such as [`fleet_model::Event::ReplaceAsked`]. Nothing is sent to a cloud; every apply from
    /// here on obeys it.
    pub async fn ask(&self, holder: &str, wish: Event) -> Result<(), RunError> {
        self.open_epoch(holder).await?;
        Ok(self.record(vec![wish]).await?)
    }

    /// Looks at journal and clouds.
    pub async fn gather(&self, limits: Limits) -> Result<Inputs, RunError> {
        let recorded = self.journal.recorded().await;
        let mut inputs = self.engine.gather_from(&self.desired, recorded, limits).await?;
        self.probe(&mut inputs).await;
        self.read_meters(&mut inputs).await;
        Ok(inputs)
    }

    /// Refuses a saved plan that no longer stands on what it was made from.
    pub fn verify(&self, saved: &Plan, inputs: &Inputs) -> Result<(), RunError> {
        match seams::what_broke(stale(saved, inputs, self.engine.clock.latest())) {
            Some(broken) => Err(RunError::Stale(broken)),
            None => Ok(()),
        }
    }

    /// Refuses a saved plan that is not what would be decided now: the world moved, or the file
    /// was altered.
    pub fn same(&self, saved: &Plan, fresh: &Plan) -> Result<(), RunError> {
        if seams::decides_the_same(saved, fresh) {
            Ok(())
        } else {
            Err(RunError::Stale(fleet_core::Stale::Decision))
        }
    }

    /// Ends the session, so that the next one need not wait.
    pub async fn finish(self) -> Result<(), RunError> {
        self.journal.snapshot().await?;
        Ok(self.lease.release().await?)
    }
}
