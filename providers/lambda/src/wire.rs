//! What Lambda says, as far as we listen. Fields that we do not use are left out.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Debug, Deserialize)]
pub(crate) struct Data<T> {
    pub(crate) data: T,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Failure {
    pub(crate) error: ErrorBody,
}

#[derive(Debug, Deserialize)]
pub(crate) struct ErrorBody {
    pub(crate) code: String,
    #[serde(default)]
    pub(crate) message: String,
    #[serde(default)]
    pub(crate) suggestion: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Instance {
    pub(crate) id: String,
    #[serde(default)]
    pub(crate) name: Option<String>,
    pub(crate) status: String,
    pub(crate) region: Region,
    pub(crate) instance_type: Kind,
    #[serde(default)]
    pub(crate) tags: Vec<Tag>,
    #[serde(default)]
    pub(crate) ip: Option<String>,
    #[serde(default)]
    pub(crate) private_ip: Option<String>,
    #[serde(default)]
    pub(crate) hostname: Option<String>,
    #[serde(default)]
    pub(crate) ssh_key_names: Vec<String>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Region {
    pub(crate) name: String,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Kind {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) gpu_description: String,
    pub(crate) price_cents_per_hour: u32,
    #[serde(default)]
    pub(crate) specs: Specs,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Specs {
    pub(crate) vcpus: Option<u32>,
    pub(crate) memory_gib: Option<u64>,
    pub(crate) gpus: u32,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct KindItem {
    pub(crate) instance_type: Kind,
    pub(crate) regions_with_capacity_available: Vec<Region>,
}

/// Types by their names.
pub(crate) type Kinds = BTreeMap<String, KindItem>;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Tag {
    pub(crate) key: String,
    pub(crate) value: String,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Named {
    pub(crate) name: String,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct ImageItem {
    pub(crate) id: String,
    #[serde(default)]
    pub(crate) family: String,
    #[serde(default)]
    pub(crate) architecture: String,
    pub(crate) region: Region,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct RulesetItem {
    pub(crate) id: String,
    pub(crate) region: Region,
}

/// A launch.
#[derive(Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(Debug))]
pub(crate) struct Launch {
    pub(crate) region_name: String,
    pub(crate) instance_type_name: String,
    pub(crate) ssh_key_names: Vec<String>,
    pub(crate) name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) image: Option<Image>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) user_data: Option<String>,
    pub(crate) tags: Vec<Tag>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) firewall_rulesets: Vec<Ruleset>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Image {
    Id(String),
    Family(String),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Ruleset {
    pub(crate) id: String,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Launched {
    pub(crate) instance_ids: Vec<String>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Terminate<'a> {
    pub(crate) instance_ids: Vec<&'a str>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Terminated {
    pub(crate) terminated_instances: Vec<Instance>,
}
