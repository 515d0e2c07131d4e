//! Where seeded bugs enter a plan, so that it is made in one way. Without the feature `bugs` each of these
//! does what its first line says.

use fleet_model::bugs::{self, Bug};

/// Whether somebody wants fleets destroyed that no spec names: if they said so.
pub(super) fn is_asked(asked: bool) -> bool {
    asked || bugs::on(Bug::PruneUnasked)
}
