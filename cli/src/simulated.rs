//! Keeps journals of simulated fleets and of real ones apart.
//!
//! A journal that records simulated machines is poison for a run on real clouds: every machine in
//! it would seem to have vanished. So a fleet that was first applied on simulated clouds carries a
//! mark beside its journal, and runs of the other kind are refused.

use crate::context::Context;
use crate::fail::{Answer, Failure, Place};
use crate::runs::failed;
use fleet_model::{Desired, FleetName};
use fleet_run::{Origin, RunError, Store};
use futures::{StreamExt, stream};
use std::path::PathBuf;

/// Journals looked at at once.
const AT_ONCE: usize = 32;

impl Context {
    /// Refuses fleets of the other kind. For commands that change nothing.
    pub(crate) async fn same_kinds(&self, fleets: &[&Desired]) -> Answer<()> {
        let store = self.store()?;
        let checked = stream::iter(fleets.iter().copied())
            .map(|desired| self.check_kind(&store, &desired.fleet))
            .buffered(AT_ONCE);
        let checked: Vec<_> = checked.collect().await;
        checked.into_iter().try_for_each(|one| one.map(|_| ()))
    }

    /// Marks a new fleet, or refuses one of the other kind.
    pub(crate) async fn same_kind(&self, fleet: &FleetName) -> Answer<()> {
        let store = self.store()?;
        let origin = self.check_kind(&store, fleet).await?;
        if origin == Origin::None {
            let marked = store.mark_simulated(fleet, self.global.sim).await;
            marked.map_err(|error| failed(RunError::Store(error)))?;
        }
        Ok(())
    }

    async fn check_kind(&self, store: &Store, fleet: &FleetName) -> Answer<Origin> {
        let origin = store.origin(fleet).await.map_err(|error| failed(RunError::Store(error)))?;
        let place = format!("{}/fleets/{fleet}", self.state().trim_end_matches('/'));
        match (origin, self.global.sim) {
            (Origin::Simulated, false) => {
                Err(Failure::new(format!("fleet `{fleet}` stands on simulated clouds"))
                    .at(place)
                    .hint("add --sim, or use another --state for real clouds"))
            }
            (Origin::Real, true) => {
                Err(Failure::new(format!("fleet `{fleet}` does not stand on simulated clouds"))
                    .at(place)
                    .hint("leave --sim out, or use another --state to simulate"))
            }
            (Origin::None, _) | (Origin::Simulated, true) | (Origin::Real, false) => Ok(origin),
        }
    }

    /// Forgets the journals of simulated fleets: their machines end with their world. Says which. A
    /// remote store is left alone: who simulates there gives it a prefix of its own, and removes that.
    pub(crate) fn forget_simulated(&self) -> Answer<Vec<String>> {
        let local = !self.global.state.contains("://");
        let root = local.then(|| PathBuf::from(&self.global.state).join("fleets"));
        let Some(root) = root.filter(|root| root.exists()) else {
            return Ok(Vec::new());
        };
        let mut gone = Vec::new();
        let fleets = std::fs::read_dir(&root).or_fail("cannot read the state", root.display())?;
        for fleet in fleets {
            let fleet = fleet.or_fail("cannot read the state", root.display())?;
            let folder = fleet.path();
            if folder.join(fleet_run::SIMULATED_MARK).exists() {
                std::fs::remove_dir_all(&folder)
                    .or_fail("cannot remove the journal", folder.display())?;
                gone.push(fleet.file_name().to_string_lossy().into_owned());
            }
        }
        gone.sort();
        Ok(gone)
    }
}
