//! Names as the spec writes them.

use fleet_model::{Cloud, InstanceType, Pattern};

/// Whether a family or pattern, as the spec writes it, means a type.
pub(crate) fn matches_kind(pattern: &Pattern, cloud: Cloud, name: &InstanceType) -> bool {
    pattern.matches(name.as_str()) || cloud.is_family(pattern.as_str(), name)
}
