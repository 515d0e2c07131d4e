//! Where a seeded bug enters the fallback. Without the feature `bugs` this does what its first line says.

use fleet_model::bugs::{self, Bug};

/// For how many seconds spot must hold before machines go back to it: as the spec says.
pub(super) fn wait_for_spot(said: u32) -> u32 {
    if bugs::on(Bug::FallbackFlaps) { 0 } else { said }
}
