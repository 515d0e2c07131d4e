//! The price list: every type in every region, at one price.
//!
//! Lambda says where a type is to be had now, not where it is sold. A region that is sold out
//! today would be missing from a list made of that, so each type is listed in every region of the
//! API's own description and of the answer; whether it is to be had is asked at each plan.

use crate::machines::{place, price};
use crate::wire::{Kind, KindItem, Kinds};
use fleet_model::{Accelerators, Architecture, Cloud, InstanceKind, Maker, Pattern, Resources};
use fleet_provider::Listed;
use std::collections::BTreeSet;

/// The regions of the API's description 1.8.3, and one that has been seen in answers since.
const REGIONS: &[&str] = &[
    "asia-northeast-1",
    "asia-northeast-2",
    "asia-south-1",
    "australia-east-1",
    "europe-central-1",
    "me-west-1",
    "us-east-1",
    "us-east-2",
    "us-east-3",
    "us-midwest-1",
    "us-midwest-2",
    "us-south-1",
    "us-south-2",
    "us-south-3",
    "us-southeast-1",
    "us-west-1",
    "us-west-2",
    "us-west-3",
];

/// The list.
pub(crate) fn list(kinds: &Kinds, wanted: &[Pattern]) -> Vec<Listed> {
    let named = |item: &KindItem| -> Vec<String> {
        item.regions_with_capacity_available.iter().map(|region| region.name.clone()).collect()
    };
    let mut regions: BTreeSet<String> = kinds.values().flat_map(named).collect();
    regions.extend(REGIONS.iter().map(|&region| region.to_owned()));
    regions.retain(|region| wanted.is_empty() || wanted.iter().any(|p| p.matches(region)));
    let mut listed = Vec::new();
    for item in kinds.values() {
        for region in &regions {
            listed.push(Listed {
                kind: kind(&item.instance_type),
                place: place(region),
                on_demand: Some(price(&item.instance_type)),
                spot: None,
                has_spot: false,
            });
        }
    }
    listed
}

/// The Grace machines are Arm; the API does not say so.
pub(crate) fn is_arm(kind: &str) -> bool {
    ["gh200", "gb200", "gb300"].iter().any(|grace| kind.contains(grace))
}

fn kind(kind: &Kind) -> InstanceKind {
    let arm = is_arm(&kind.name);
    InstanceKind {
        cloud: Cloud::Lambda,
        name: kind.name.as_str().into(),
        resources: Resources {
            vcpus: kind.specs.vcpus,
            memory_mib: kind.specs.memory_gib.and_then(|gib| gib.checked_mul(1024)),
            architecture: if arm { Architecture::Arm64 } else { Architecture::X86_64 },
            accelerators: accelerators(kind),
            local_disk: Some(true),
            generation: None,
        },
    }
}

/// `A100 (80 GB SXM4)`: a chip, and what one of them holds. The first sizes of a chip go by its bare
/// name, as in the catalog.
fn accelerators(kind: &Kind) -> Option<Accelerators> {
    if kind.specs.gpus == 0 {
        return None;
    }
    let (chip, rest) = kind.gpu_description.split_once('(').unwrap_or((&kind.gpu_description, ""));
    let words: Vec<&str> = chip.split_whitespace().collect();
    let chip = words.iter().filter(|word| !["Tesla", "Quadro", "NVIDIA"].contains(word));
    let chip: String = chip.copied().collect();
    let chip = if chip == "RTXA6000" { "A6000".to_owned() } else { chip };
    let memory: Option<u64> = rest.split_once(" GB").and_then(|(gb, _)| gb.trim().parse().ok());
    let name = match (chip.as_str(), memory) {
        ("", _) => None,
        ("A100", Some(80)) | ("V100", Some(32)) => memory.map(|gb| format!("{chip}-{gb}GB")),
        _ => Some(chip),
    };
    Some(Accelerators {
        name,
        count_milli: kind.specs.gpus.saturating_mul(1000),
        memory_mib: memory.and_then(|gb| gb.checked_mul(1024)),
        maker: Some(Maker::Nvidia),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{from_value, json};

    #[test]
    fn chips_by_the_catalogs_names() {
        let check = |words: &str, name: Option<&str>, gib: Option<u64>| {
            let kind: Kind = from_value(json!({
                "name": "gpu_2x", "gpu_description": words, "price_cents_per_hour": 1,
                "specs": { "vcpus": 4, "memory_gib": 16, "gpus": 2 },
            }))
            .expect("a type");
            let found = accelerators(&kind).expect("two");
            assert_eq!(found.name.as_deref(), name, "{words}");
            assert_eq!((found.memory_mib, found.count_milli), (gib.map(|g| g * 1024), 2000));
        };
        check("H100 (80 GB SXM5)", Some("H100"), Some(80));
        check("A100 (40 GB SXM4)", Some("A100"), Some(40));
        check("A100 (80 GB SXM4)", Some("A100-80GB"), Some(80));
        check("Tesla V100 (16 GB)", Some("V100"), Some(16));
        check("Quadro RTX 6000 (24 GB)", Some("RTX6000"), Some(24));
        check("RTX A6000 (48 GB)", Some("A6000"), Some(48));
        check("GH200 (96 GB)", Some("GH200"), Some(96));
        check("Mystery", Some("Mystery"), None);
        check("", None, None);
    }

    #[test]
    fn a_type_is_listed_in_every_region_that_is_wanted() {
        let kinds: Kinds = from_value(json!({ "cpu_4x_general": {
            "instance_type": { "name": "cpu_4x_general", "price_cents_per_hour": 20 },
            "regions_with_capacity_available": [{ "name": "mars-1" }],
        }}))
        .expect("types");
        assert_eq!(list(&kinds, &[]).len(), REGIONS.len() + 1);
        let some = list(&kinds, &[Pattern::new("us-west-*")]);
        assert_eq!(some.len(), 3);
        assert_eq!(some[0].kind.resources.accelerators, None);
    }
}
