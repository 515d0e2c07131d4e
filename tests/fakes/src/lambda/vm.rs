//! One machine.

use super::kinds::{Kind, region};
use serde_json::{Value, json};

/// Seconds until a machine is up.
const BOOTS: i64 = 120;
/// Seconds until an ended machine is gone, and until it is forgotten.
const ENDS: i64 = 20;
const FORGOTTEN: i64 = 90;

/// A machine, with moments in seconds.
#[derive(Debug, Clone)]
pub(super) struct Vm {
    pub(super) id: String,
    pub(super) name: Option<String>,
    pub(super) region: String,
    pub(super) kind: String,
    pub(super) keys: Vec<String>,
    /// `{key, value}` objects, as they were given.
    pub(super) tags: Value,
    pub(super) launched: i64,
    pub(super) visible: i64,
    pub(super) ended: Option<i64>,
}

impl Vm {
    pub(super) fn status(&self, now: i64) -> &'static str {
        match self.ended {
            Some(at) if now >= at + ENDS => "terminated",
            Some(_) => "terminating",
            None if now < self.launched + BOOTS => "booting",
            None => "active",
        }
    }

    pub(super) fn is_live(&self) -> bool {
        self.ended.is_none()
    }

    pub(super) fn is_listed(&self, now: i64) -> bool {
        now >= self.visible && self.ended.is_none_or(|at| now < at + FORGOTTEN)
    }

    pub(super) fn json(&self, now: i64) -> Value {
        let status = self.status(now);
        let free = json!({ "available": true });
        let blocked = json!({
            "available": false,
            "reason_code": "vm-is-terminating",
            "reason_description": "Instance is terminating.",
        });
        let action = if self.is_live() { free } else { blocked };
        let mut vm = json!({
            "id": self.id,
            "status": status,
            "ssh_key_names": self.keys,
            "file_system_names": [],
            "region": region(&self.region),
            "instance_type": Kind::find(&self.kind).map(Kind::json),
            "actions": {
                "migrate": action, "rebuild": action, "restart": action,
                "cold_reboot": action, "terminate": action,
            },
            "tags": self.tags,
        });
        if let Some(name) = &self.name {
            vm["name"] = json!(name);
        }
        if status == "active" {
            vm["ip"] = json!("198.51.100.2");
            vm["private_ip"] = json!("10.0.2.100");
            vm["hostname"] = json!("198-51-100-2");
        }
        vm
    }
}
