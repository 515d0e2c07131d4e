//! Which fleets end because no spec is about them any more.

use crate::plan::seams;
use fleet_model::FleetName;

/// What somebody said about fleets that no spec names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pruning {
    /// A person or a policy wants them destroyed.
    pub asked: bool,
    /// The specs are a whole folder: only that says which fleets there should not be.
    pub whole: bool,
    /// Every spec could be read: one that cannot may be about such a fleet.
    pub readable: bool,
}

/// Of the fleets with a journal, those that no spec names.
pub fn unmanaged(known: Vec<FleetName>, named: &[&FleetName]) -> Vec<FleetName> {
    known.into_iter().filter(|fleet| !named.contains(&fleet)).collect()
}

/// Whether fleets that no spec names are destroyed, within the usual limits. Otherwise they stay as they are.
pub fn prunes(pruning: Pruning) -> bool {
    let Pruning { asked, whole, readable } = pruning;
    seams::is_asked(asked) && whole && readable
}
