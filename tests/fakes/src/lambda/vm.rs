//! One machine.

use super::habits::{Habits, Sick};
use super::kinds::{Kind, region};
use serde_json::{Value, json};

/// Seconds until a machine is up: 3 to 5 minutes were seen for one GPU, 10 to 15 for eight.
const BOOTS: i64 = 300;
const BOOTS_LARGE: i64 = 900;
/// Seconds until an ended machine is gone, until lists forget it, and until nobody knows of it.
const ENDS: i64 = 20;
const FORGOTTEN: i64 = 90;
const UNKNOWN: i64 = 24 * 3600;

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
    pub(super) sick: Option<Sick>,
    pub(super) ended: Option<i64>,
}

impl Vm {
    pub(super) fn status(&self, now: i64) -> &'static str {
        match self.ended {
            Some(at) if now >= at + ENDS => "terminated",
            Some(_) => "terminating",
            None => self.life(now - self.launched),
        }
    }

    fn life(&self, age: i64) -> &'static str {
        let boots = if self.kind.starts_with("gpu_8x") { BOOTS_LARGE } else { BOOTS };
        match self.sick {
            Some(Sick::After(seconds)) if age >= seconds => "unhealthy",
            Some(_) | None if age < boots => "booting",
            Some(Sick::FromBoot) => "unhealthy",
            Some(Sick::After(_)) | None => "active",
        }
    }

    pub(super) fn is_live(&self) -> bool {
        self.ended.is_none()
    }

    pub(super) fn is_listed(&self, now: i64, habits: &Habits) -> bool {
        let forgotten = if habits.forgets_at_once { 0 } else { FORGOTTEN };
        now >= self.visible && self.ended.is_none_or(|at| now < at + forgotten)
    }

    /// Whether it is told of by its id, which goes on longer.
    pub(super) fn is_known(&self, now: i64, habits: &Habits) -> bool {
        let unknown = if habits.knows_no_ended { 0 } else { UNKNOWN };
        now >= self.visible && self.ended.is_none_or(|at| now < at + unknown)
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
