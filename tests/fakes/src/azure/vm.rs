//! One machine, as it was put and as it is read.

use serde_json::{Value, json};

/// A machine.
#[derive(Debug, Clone)]
pub(super) struct Vm {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) subscription: String,
    pub(super) group: String,
    /// What was put.
    pub(super) body: Value,
    pub(super) state: &'static str,
    /// Milliseconds.
    pub(super) visible: i64,
    pub(super) created: String,
    pub(super) number: u64,
    /// Whether it runs; `None`: nothing was ever allocated, or it is being made.
    pub(super) power: Option<&'static str>,
    /// What the last thing that was done to it failed with.
    pub(super) failure: Option<String>,
}

/// Power states.
pub(super) const POWER_ON: &str = "running";
pub(super) const POWER_OFF: &str = "deallocated";

/// What must not change while a machine lives.
const FIXED: &[&str] = &[
    "/location",
    "/zones",
    "/properties/hardwareProfile/vmSize",
    "/properties/priority",
    "/properties/storageProfile/imageReference",
    "/properties/osProfile",
    "/properties/userData",
];

impl Vm {
    /// A machine that is being made at an address.
    pub(super) fn new(id: &str, body: Value, created: String, number: u64) -> Self {
        let parts: Vec<&str> = id.trim_matches('/').split('/').collect();
        let part = |n: usize| parts.get(n).copied().unwrap_or_default().to_owned();
        Vm {
            id: id.to_owned(),
            name: part(7),
            subscription: part(1),
            group: part(3),
            body,
            state: "Creating",
            visible: 0,
            created,
            number,
            power: None,
            failure: None,
        }
    }

    /// Something done to it failed.
    pub(super) fn fails(&mut self, code: &str, power: Option<&'static str>) {
        (self.state, self.power) = ("Failed", power);
        self.failure = Some(code.to_owned());
    }

    pub(super) fn is_spot(&self) -> bool {
        self.body["properties"]["priority"] == "Spot"
    }

    /// What it does now.
    pub(super) fn view(&self) -> Value {
        let mut provisioning = format!("ProvisioningState/{}", self.state.to_ascii_lowercase());
        if let Some(code) = &self.failure {
            provisioning = format!("{provisioning}/{code}");
        }
        let mut statuses = vec![json!({
            "code": provisioning, "level": "Info", "displayStatus": self.state,
        })];
        if let Some(power) = self.power {
            statuses.push(json!({
                "code": format!("PowerState/{power}"), "level": "Info",
                "displayStatus": format!("VM {power}"),
            }));
        }
        json!({ "statuses": statuses })
    }

    /// With what it does now.
    pub(super) fn with_view(&self) -> Value {
        let mut vm = self.json();
        vm["properties"]["instanceView"] = self.view();
        vm
    }

    /// What the list of power states says: little else.
    pub(super) fn status(&self) -> Value {
        json!({
            "id": self.id, "name": self.name, "type": "Microsoft.Compute/virtualMachines",
            "location": self.body["location"],
            "properties": {
                "provisioningState": self.state, "instanceView": self.view(),
                "hardwareProfile": { "vmSize": self.place().1 },
            },
        })
    }

    pub(super) fn place(&self) -> (String, String) {
        let text = |path: &str| self.body.pointer(path).and_then(Value::as_str).unwrap_or_default();
        (text("/location").to_owned(), text("/properties/hardwareProfile/vmSize").to_owned())
    }

    /// The first property that a second put would change.
    pub(super) fn changed(&self, body: &Value) -> Option<&'static str> {
        FIXED.iter().copied().find(|path| self.body.pointer(path) != body.pointer(path))
    }

    fn config(&self) -> Option<&Value> {
        self.body.pointer("/properties/networkProfile/networkInterfaceConfigurations/0")
    }

    /// The interface's name, which is never the one that was asked for, and whether it goes with the
    /// machine.
    pub(super) fn nic(&self) -> Option<(String, bool)> {
        let config = self.config()?;
        let goes = config.pointer("/properties/deleteOption").is_none_or(|how| how == "Delete");
        let digits = (self.number as u32).wrapping_mul(0x9e37_79b1) ^ 0x78b7_aa25;
        Some((format!("{}-{digits:08x}", config["name"].as_str()?), goes))
    }

    /// The disk's name and whether it goes with the machine.
    pub(super) fn disk(&self) -> Option<(String, bool)> {
        let disk = self.body.pointer("/properties/storageProfile/osDisk")?;
        let name =
            disk["name"].as_str().map_or_else(|| format!("{}_OsDisk", self.name), str::to_owned);
        Some((name, disk["deleteOption"] == "Delete"))
    }

    pub(super) fn json(&self) -> Value {
        let mut properties = self.body["properties"].clone();
        if let Some(map) = properties.as_object_mut() {
            // Written, never read back.
            map.remove("userData");
            if let Some(os) = map.get_mut("osProfile").and_then(Value::as_object_mut) {
                os.remove("customData");
            }
        }
        let interfaces: Vec<Value> = self
            .nic()
            .map(|(name, goes)| {
                let id = format!(
                    "/subscriptions/{}/resourceGroups/{}/providers/Microsoft.Network/networkInterfaces/{name}",
                    self.subscription, self.group
                );
                let option = if goes { "Delete" } else { "Detach" };
                json!({ "id": id, "properties": { "primary": true, "deleteOption": option } })
            })
            .into_iter()
            .collect();
        properties["networkProfile"] = json!({ "networkInterfaces": interfaces });
        properties["provisioningState"] = json!(self.state);
        properties["timeCreated"] = json!(self.created);
        properties["vmId"] = json!(format!("00000000-0000-4000-8000-{:012x}", self.number));
        let mut vm = json!({
            "id": self.id,
            "name": self.name,
            "type": "Microsoft.Compute/virtualMachines",
            "location": self.body["location"],
            "properties": properties,
        });
        for field in ["tags", "zones", "identity"] {
            if let Some(value) = self.body.get(field) {
                vm[field] = value.clone();
            }
        }
        vm
    }
}
