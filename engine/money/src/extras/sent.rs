//! What a launch sends, as far as it is paid for.

use fleet_model::{Cloud, InstanceType, Template, TemplateFields};

/// What a launch asks for beside the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sent<'a> {
    /// Size of the boot disk; `None`: the image decides.
    pub disk_gib: Option<u32>,
    /// The cloud's name for its kind; `None`: ours by default.
    pub disk_kind: Option<&'a str>,
    /// Whether the user names a network or subnets of their own.
    pub own_network: bool,
}

impl<'a> From<&'a Template> for Sent<'a> {
    fn from(template: &'a Template) -> Self {
        let disk = template.disk.as_ref();
        Sent {
            disk_gib: disk.and_then(|disk| disk.size_gib),
            disk_kind: disk.and_then(|disk| disk.kind.as_deref()),
            own_network: template.network.is_some() || !template.subnets.is_empty(),
        }
    }
}

impl<'a> Sent<'a> {
    /// What a template of the journal asked for.
    pub fn of_fields(fields: &'a TemplateFields) -> Self {
        let get = |name: &str| fields.get(name).map(String::as_str);
        Sent {
            disk_gib: get("disk.sizeGiB").and_then(|size| size.parse().ok()),
            disk_kind: get("disk.type"),
            own_network: get("network").is_some() || get("subnets").is_some(),
        }
    }

    /// The kind of disk that a launch asks for; `None`: the disk is part of the machine.
    pub(super) fn disk_of(&self, cloud: Cloud, kind: &InstanceType) -> Option<&'a str> {
        let ours = match cloud {
            Cloud::Aws => "gp3",
            Cloud::Gcp if boots_from_hyperdisk(kind.as_str()) => "hyperdisk-balanced",
            Cloud::Gcp => "pd-balanced",
            Cloud::Azure => "StandardSSD_LRS",
            Cloud::Lambda => return None,
        };
        Some(self.disk_kind.unwrap_or(ours))
    }
}

/// Series of Google machines that boot from nothing but Hyperdisk, as our launches know them.
pub(super) const HYPERDISK: &[&str] =
    &["a4", "a4x", "c4", "c4a", "c4d", "ct6e", "g4", "h4d", "m4", "n4", "n4a", "n4d", "x4"];

fn boots_from_hyperdisk(machine: &str) -> bool {
    let series = machine.split('-').next().unwrap_or(machine);
    HYPERDISK.contains(&series) || machine.starts_with("a3-ultragpu-")
}
