//! What the fake sells.

use serde_json::{Value, json};

/// The only API key that it takes.
pub const KEY: &str = "secret_fake_0123456789";

/// The only SSH key that the account has.
pub const SSH_KEY: &str = "laptop";

/// Regions, of those that the official description knows.
pub const REGIONS: &[(&str, &str)] = &[
    ("us-east-1", "Virginia, USA"),
    ("us-west-1", "California, USA"),
    ("us-south-1", "Texas, USA"),
    ("europe-central-1", "Germany"),
];

pub(super) struct Kind {
    pub(super) name: &'static str,
    gpu: &'static str,
    cents: u32,
    vcpus: u32,
    memory_gib: u32,
    gpus: u32,
}

const fn kind(
    name: &'static str,
    gpu: &'static str,
    cents: u32,
    vcpus: u32,
    memory_gib: u32,
    gpus: u32,
) -> Kind {
    Kind { name, gpu, cents, vcpus, memory_gib, gpus }
}

pub(super) const KINDS: &[Kind] = &[
    kind("cpu_4x_general", "N/A", 20, 4, 16, 0),
    kind("gpu_1x_a10", "A10 (24 GB PCIe)", 129, 30, 200, 1),
    kind("gpu_1x_gh200", "GH200 (96 GB)", 229, 64, 432, 1),
    kind("gpu_8x_a100_80gb_sxm4", "A100 (80 GB SXM4)", 2232, 240, 1800, 8),
    kind("gpu_8x_h100_sxm5", "H100 (80 GB SXM5)", 3192, 208, 1800, 8),
];

impl Kind {
    pub(super) fn find(name: &str) -> Option<&'static Kind> {
        KINDS.iter().find(|kind| kind.name == name)
    }

    pub(super) fn json(&self) -> Value {
        json!({
            "name": self.name,
            "description": format!("{}x {}", self.gpus, self.gpu),
            "gpu_description": self.gpu,
            "price_cents_per_hour": self.cents,
            "specs": {
                "vcpus": self.vcpus,
                "memory_gib": self.memory_gib,
                "storage_gib": 1400,
                "gpus": self.gpus,
            },
        })
    }
}

/// A region as answers name it.
pub(super) fn region(name: &str) -> Option<Value> {
    let (name, description) = REGIONS.iter().find(|(known, _)| *known == name)?;
    Some(json!({ "name": name, "description": description }))
}
