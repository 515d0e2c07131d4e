//! What a machine counts for.

use fleet_model::{Desired, InstanceKind, Units};

/// How much capacity one machine counts for in a fleet: the spec's word, else what it has.
pub fn weight(desired: &Desired, kind: &InstanceKind) -> Option<Units> {
    let said = desired.placement.weights.iter().find_map(|weight| weight.of_kind(kind));
    match said {
        // An eighth of an accelerator may count for less than a thousandth.
        Some(units) => (!units.is_zero()).then_some(units),
        None => kind.weight(desired.capacity.unit),
    }
}
