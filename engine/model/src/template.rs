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

/// The fields of a template that are set, as text: what people are told of it. Of user data only a
/// fingerprint, because it may hold secrets.
pub type TemplateFields = BTreeMap<String, String>;

impl Template {
    /// What is set, by the names of the spec.
    pub fn fields(&self) -> TemplateFields {
        let Template {
            image,
            network,
            subnets,
            security_groups,
            disk,
            instance_role,
            key,
            // Who logs in changes nothing of a machine; tags are changed in place.
            ssh_user: _,
            user_data,
            reservation,
            placement_group,
            fast_network,
            tags: _,
        } = self;
        let disk = disk.as_ref();
        let list = |items: &[String]| (!items.is_empty()).then(|| items.join(", "));
        let secret = |text: &Secret| {
            let whole = digest("user-data/1", [text.expose().as_bytes()]).to_string();
            whole.chars().take(12).collect()
        };
        let all = [
            ("image", image.clone()),
            ("network", network.clone()),
            ("subnets", list(subnets)),
            ("securityGroups", list(security_groups)),
            ("disk.sizeGiB", disk.and_then(|disk| disk.size_gib).map(|size| size.to_string())),
            ("disk.type", disk.and_then(|disk| disk.kind.clone())),
            ("disk.encrypted", disk.filter(|disk| !disk.encrypted).map(|_| "false".to_owned())),
            ("instanceRole", instance_role.clone()),
            ("key", key.clone()),
            ("userData", user_data.as_ref().map(secret)),
            ("reservation", reservation.clone()),
            ("placementGroup", placement_group.clone()),
            ("fastNetwork", fast_network.then(|| "true".to_owned())),
        ];
        all.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
    }

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
