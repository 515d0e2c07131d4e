//! Another name for a fleet. Its identity stays, so its machines stay its own, whatever name their tags tell;
//! no machine is touched. How the journal moves is in `state/moving.rs`.

use crate::apply::handover::{Changed, at_once, by_scope};
use crate::engine::Engine;
use crate::error::RunError;
use crate::progress::Progress;
use crate::state::{Journal, Lease, beliefs, moving};
use fleet_model::{Event, FleetName, Labelled, OnRecord, Recorded, Scope};
use fleet_provider::RenameRequest;
use std::time::Duration;

/// What came of a new name.
#[derive(Debug, Clone)]
pub struct Renamed {
    /// What is recorded under the new name.
    pub recorded: Recorded,
    /// Machines whose tags tell the new name, and why those of others do not.
    pub tags: Changed,
}

impl Engine {
    /// Gives a fleet another name. A rename that a run began and did not end is ended by another.
    pub async fn rename(
        &self,
        (from, to): (&FleetName, &FleetName),
        holder: &str,
        wait: Duration,
        on: &(dyn Fn(Progress) + Sync),
    ) -> Result<Renamed, RunError> {
        let waiting = |waiting| on(Progress::Waiting(waiting));
        let take = |fleet| Lease::take(&self.store, fleet, holder, wait, &waiting);
        // In the order of names, so that two renames do not wait for each other.
        let first = take(from.min(to)).await?;
        let second = match take(from.max(to)).await {
            Ok(second) => second,
            Err(error) => {
                let _ = first.release().await;
                return Err(error.into());
            }
        };
        let moved = self.move_journal(from, to, holder).await;
        let renamed = match moved {
            Ok(recorded) => {
                let tags = self.tell_machines(to, &recorded, (&first, &second)).await;
                Ok(Renamed { recorded, tags })
            }
            Err(error) => Err(error),
        };
        for lease in [first, second] {
            // Nothing depends on it: a lease that is not given back runs out.
            let _ = lease.release().await;
        }
        // Where there is no journal, a lease that nobody holds is litter.
        for fleet in [from, to] {
            let _ = moving::erase_lease(&self.store, fleet).await;
        }
        renamed
    }

    async fn move_journal(
        &self,
        from: &FleetName,
        to: &FleetName,
        holder: &str,
    ) -> Result<Recorded, RunError> {
        let store = &self.store;
        if !moving::is_there(store, from).await? {
            // All but the last litter may be done.
            return match self.came_from(from, to).await? {
                true => self.arrived(from, to).await,
                false => Err(RunError::NoSuchFleet { fleet: from.clone() }),
            };
        }
        let mut farewell = moving::farewell(store, from).await?.filter(|known| known.to != *from);
        if let Some(known) = farewell.take_if(|known| known.to != *to)
            && moving::is_begun(store, &known, &known.to).await?
        {
            return Err(RunError::Leaving { fleet: from.clone(), to: known.to });
        }
        let begun = match &farewell {
            Some(farewell) => moving::is_begun(store, farewell, to).await?,
            None => false,
        };
        if !begun && moving::is_there(store, to).await? {
            return Err(RunError::NameTaken { fleet: to.clone() });
        }
        let farewell = match farewell {
            Some(farewell) => farewell,
            None => {
                self.say_farewell(from, to, holder).await?;
                let written = moving::farewell(store, from).await?;
                written.ok_or_else(|| RunError::NoSuchFleet { fleet: from.clone() })?
            }
        };
        moving::copy(store, &farewell).await?;
        self.arrived(from, to).await
    }

    /// Whether the journal under one name was last moved there from another.
    async fn came_from(&self, from: &FleetName, to: &FleetName) -> Result<bool, RunError> {
        let records = Journal::history(&self.store, to).await?;
        let last = records.iter().rev().flat_map(|record| record.events.iter().rev());
        let last = last.filter_map(|event| match event {
            Event::Renamed { from, to } => Some((from, to)),
            _ => None,
        });
        Ok(last.take(1).any(|last| last == (from, to)))
    }

    /// Writes down where the journal goes. From here on, nobody else writes under the old name.
    async fn say_farewell(
        &self,
        from: &FleetName,
        to: &FleetName,
        holder: &str,
    ) -> Result<(), RunError> {
        let journal = Journal::open(&self.store, from, self.clock.clone()).await?;
        let recorded = journal.recorded().await;
        if !recorded.in_doubt.is_empty() {
            // To be sent again they would have to carry the old name.
            let requests = recorded.in_doubt.len();
            return Err(RunError::InDoubt { fleet: from.clone(), requests });
        }
        let epoch = Event::Epoch { epoch: recorded.epoch + 1, holder: holder.into() };
        let renamed = Event::Renamed { from: from.clone(), to: to.clone() };
        Ok(journal.append(vec![epoch, renamed]).await?)
    }

    /// The journal stands under its new name: the old one goes.
    async fn arrived(&self, from: &FleetName, to: &FleetName) -> Result<Recorded, RunError> {
        let journal = Journal::open(&self.store, to, self.clock.clone()).await?;
        moving::erase(&self.store, from).await?;
        journal.snapshot().await?;
        let recorded = journal.recorded().await;
        beliefs::share(&self.store, to, &recorded).await?;
        Ok(recorded)
    }

    /// Writes the new name on machines, where clouds can. Nothing depends on it.
    async fn tell_machines(
        &self,
        name: &FleetName,
        recorded: &Recorded,
        leases: (&Lease, &Lease),
    ) -> Changed {
        let labelled = recorded.machines().map(|OnRecord { slot, machine, pool }| {
            (pool.place.scope(), Labelled { machine: machine.clone(), slot })
        });
        let mut changed = Changed::default();
        let Some(fleet) = &recorded.uid else { return changed };
        let held = || leases.0.is_held() && leases.1.is_held();
        for (scope, machines) in by_scope(labelled) {
            let ask = async |some: &[Labelled], scope: &Scope| {
                let provider = self.provider_of(scope)?;
                let request = RenameRequest { fleet, name, scope, machines: some };
                provider.handover()?.rename(&request).await
            };
            changed.extend(self.hand_over(&scope, (&machines, at_once(&scope)), &held, ask).await);
        }
        changed
    }
}
