//! What the snapshot holds.

use crate::import::AzureName;
use fleet_model::{Cloud, InstanceKind};

/// Larger TPU slices are bought by contract, not by a fleet, and would be half of the file.
const MAX_CHIPS: u32 = 256;

const AWS: &[&str] = &[
    "c5", "c6a", "c6g", "c6i", "c7a", "c7g", "c7i", "c8g", "m5", "m6a", "m6g", "m6i", "m7a", "m7g",
    "m7i", "m8g", "r5", "r6g", "r6i", "r7g", "r7i", "t3", "t4g",
];

const GCP: &[&str] = &["c2", "c2d", "c3", "c3d", "c4", "e2", "n1", "n2", "n2d", "n4", "t2a", "t2d"];

/// Whether a type belongs into the snapshot: all with accelerators, and of the others the
/// families most fleets are made of.
pub(super) fn chosen(kind: &InstanceKind) -> bool {
    if let Some(accelerators) = &kind.resources.accelerators {
        return !kind.name.as_str().starts_with("tpu-")
            || accelerators.count_milli <= MAX_CHIPS * 1000;
    }
    let family = |names: &[&str]| names.iter().any(|name| kind.cloud.is_family(name, &kind.name));
    match kind.cloud {
        Cloud::Aws => family(AWS),
        // Ultramem and megamem are SAP's machines, whatever their series.
        Cloud::Gcp => family(GCP) && !kind.name.as_str().contains("amem-"),
        Cloud::Azure => {
            let name = AzureName::of(kind.name.as_str());
            // F came to version 2 and was mainstream for longest.
            matches!((name.family, name.version), ("D" | "E", Some(3..=6)) | ("F", Some(2..=6)))
                && name.enabled.is_none()
        }
        Cloud::Lambda => true,
    }
}
