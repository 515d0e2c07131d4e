//! Where seeded bugs enter the record. Without the feature `bugs` each of these does what its first line
//! says.

use fleet_model::bugs::{self, Bug};
use fleet_model::{Rollout, TemplateSet};

/// The templates that an undo returns to: those before it.
pub(super) fn returned_to(rollout: &Rollout) -> &TemplateSet {
    if bugs::on(Bug::UndoToWrongTemplate) { &rollout.to } else { &rollout.from }
}
