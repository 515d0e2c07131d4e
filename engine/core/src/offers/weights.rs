//! What a machine counts for.

use fleet_model::{Desired, InstanceKind, Units};

/// How much capacity one machine counts for in a fleet: the spec's word, else what it has.
pub fn weight(desired: &Desired, kind: &InstanceKind) -> Option<Units> {
    let said = desired.placement.weights.iter().find(|weight| {
        weight.types.matches(kind.name.as_str())
            || kind.cloud.is_family(weight.types.as_str(), &kind.name)
    });
    match said {
        Some(weight) => Some(weight.units),
        None => kind.resources.weight(desired.capacity.unit),
    }
}
