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

/// Firewall rulesets and the one region that each belongs to.
pub const RULESETS: &[(&str, &str)] = &[
    ("c4d291f47f9d436fa39f58493ce3b50d", "us-east-1"),
    ("5f1c1d1e2b7a4c0f9d3e6a8b7c6d5e4f", "us-west-1"),
];

/// Has no firewall.
pub(super) const NO_FIREWALL: &str = "us-south-1";

/// An image of us-east-1, for x86, and one for Arm.
pub const IMAGE: &str = "43336648-096d-4cba-9aa2-f9bb7727639d";
/// See [`IMAGE`].
pub const ARM_IMAGE: &str = "9b0b5a3c-7d3e-4f57-8c1a-0e2d4f6a8b10";

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

/// The family of every image.
const FAMILY: &str = "lambda-stack-24-04";

/// Region and architecture of each image.
const IMAGES: &[(&str, &str, &str)] = &[
    (IMAGE, "us-east-1", "x86_64"),
    (ARM_IMAGE, "us-east-1", "arm64"),
    ("43336648-096d-4cba-9aa2-f9bb7727639e", "us-west-1", "x86_64"),
];

pub(super) fn images() -> Value {
    let image = |&(id, place, architecture): &(&str, &str, &str)| {
        json!({
            "id": id,
            "created_time": "2026-01-01T00:00:00+00:00",
            "updated_time": "2026-01-01T00:00:00+00:00",
            "name": FAMILY,
            "description": "Lambda Stack",
            "family": FAMILY,
            "version": "1.0.0",
            "architecture": architecture,
            "region": region(place),
        })
    };
    json!(IMAGES.iter().map(image).collect::<Vec<_>>())
}

pub(super) fn rulesets() -> Value {
    let ruleset = |&(id, place): &(&str, &str)| {
        json!({
            "id": id,
            "name": format!("rules of {place}"),
            "region": region(place),
            "rules": [],
            "created": "2026-01-01T00:00:00+00:00",
            "instance_ids": [],
        })
    };
    json!(RULESETS.iter().map(ruleset).collect::<Vec<_>>())
}

/// Why a launch in a region cannot have these rulesets and this image.
pub(super) fn foreign(place: &str, kind: &str, body: &Value) -> Option<String> {
    for id in body["firewall_rulesets"].as_array().into_iter().flatten() {
        let id = id["id"].as_str().unwrap_or_default();
        if place == NO_FIREWALL || !RULESETS.contains(&(id, place)) {
            return Some(format!("firewall ruleset {id} in {place}"));
        }
    }
    let arm = if kind.contains("gh200") { "arm64" } else { "x86_64" };
    let image = &body["image"];
    if let Some(id) = image["id"].as_str().filter(|id| !IMAGES.contains(&(id, place, arm))) {
        return Some(format!("image {id} in {place} for {arm}"));
    }
    let family = image["family"].as_str().filter(|family| *family != FAMILY)?;
    Some(format!("image family {family}"))
}

/// A region as answers name it.
pub(super) fn region(name: &str) -> Option<Value> {
    let (name, description) = REGIONS.iter().find(|(known, _)| *known == name)?;
    Some(json!({ "name": name, "description": description }))
}
