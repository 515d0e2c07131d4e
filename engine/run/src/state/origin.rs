//! Whether a fleet's journal is about real clouds or about simulated ones.

use crate::state::names::journal_folder;
use crate::state::store::{Store, StoreError};
use fleet_model::FleetName;

/// The mark of a simulated fleet, in its folder beside the journal.
pub const SIMULATED_MARK: &str = "simulated";

/// What a journal is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// Nothing yet: there is no journal.
    None,
    /// Simulated clouds.
    Simulated,
    /// Real clouds.
    Real,
}

impl Store {
    /// What a fleet's journal is about.
    pub async fn origin(&self, fleet: &FleetName) -> Result<Origin, StoreError> {
        if !self.has_any(&journal_folder(fleet)).await? {
            return Ok(Origin::None);
        }
        Ok(match self.is_marked_simulated(fleet).await? {
            true => Origin::Simulated,
            false => Origin::Real,
        })
    }

    /// Whether a fleet has the mark of simulated ones.
    pub(crate) async fn is_marked_simulated(&self, fleet: &FleetName) -> Result<bool, StoreError> {
        Ok(self.read(&mark(fleet)).await?.is_some())
    }

    /// Says of a fleet without a journal whether it is about to be simulated.
    pub async fn mark_simulated(
        &self,
        fleet: &FleetName,
        simulated: bool,
    ) -> Result<(), StoreError> {
        match simulated {
            true => self.create(&mark(fleet), Vec::new()).await.map(|_| ()),
            false => self.remove(&mark(fleet)).await,
        }
    }
}

fn mark(fleet: &FleetName) -> String {
    format!("fleets/{fleet}/{SIMULATED_MARK}")
}
