//! How machines are made on one cloud.

use crate::{Digest, Secret, digest};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How machines of a fleet are made on one cloud.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Template {
    /// Image, in the cloud's own words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// Network or VPC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<String>,
    /// Subnets to choose from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub subnets: Vec<String>,
    /// Security groups or network tags.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub security_groups: Vec<String>,
    /// The boot disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk: Option<Disk>,
    /// Instance profile, service account or managed identity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance_role: Option<String>,
    /// SSH key name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The user to log in as.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ssh_user: Option<String>,
    /// What the machine runs at first boot. May hold secrets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_data: Option<Secret>,
    /// Capacity bought ahead of time, for on-demand machines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reservation: Option<String>,
    /// The group in which machines stand close together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placement_group: Option<String>,
    /// The fastest network between machines that the type has.
    #[serde(default, skip_serializing_if = "is_false")]
    pub fast_network: bool,
    /// Tags of the user's own.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tags: BTreeMap<String, String>,
}

/// The boot disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Disk {
    /// Size in GiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size_gib: Option<u32>,
    /// The cloud's name for the kind of disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Encrypted unless the user says otherwise.
    #[serde(default = "yes")]
    pub encrypted: bool,
}

fn yes() -> bool {
    true
}

fn is_false(flag: &bool) -> bool {
    !flag
}

impl Template {
    /// The fingerprint of everything a machine would notice. Tags of the user's own do not count:
    /// they can be changed in place. Nor does the user that we log in as.
    pub fn digest(&self) -> Digest {
        let Template {
            image,
            network,
            subnets,
            security_groups,
            disk,
            instance_role,
            key,
            ssh_user: _,
            user_data,
            reservation,
            placement_group,
            fast_network,
            tags: _,
        } = self;
        // Only fields that are set are eaten, each under its name: a field added later with no
        // value leaves every old digest as it was.
        let mut parts: Vec<String> = Vec::new();
        let mut eat = |name: &str, value: &str| parts.push(format!("{name}={value}"));
        let texts = [
            ("image", image.as_deref()),
            ("network", network.as_deref()),
            ("instanceRole", instance_role.as_deref()),
            ("key", key.as_deref()),
            ("userData", user_data.as_ref().map(Secret::expose)),
            ("reservation", reservation.as_deref()),
            ("placementGroup", placement_group.as_deref()),
        ];
        for (name, value) in texts {
            if let Some(value) = value {
                eat(name, value);
            }
        }
        if *fast_network {
            eat("fastNetwork", "true");
        }
        subnets.iter().for_each(|subnet| eat("subnet", subnet));
        security_groups.iter().for_each(|group| eat("securityGroup", group));
        if let Some(Disk { size_gib, kind, encrypted }) = disk {
            if let Some(size) = size_gib {
                eat("diskSizeGib", &size.to_string());
            }
            if let Some(kind) = kind {
                eat("diskKind", kind);
            }
            if !encrypted {
                eat("diskEncrypted", "false");
            }
        }
        digest("template/1", parts.iter().map(String::as_bytes))
    }
}
