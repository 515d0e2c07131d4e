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
}

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

    /// The interface's name and whether it goes with the machine.
    pub(super) fn nic(&self) -> Option<(String, bool)> {
        let config = self.config()?;
        let goes = config.pointer("/properties/deleteOption") == Some(&json!("Delete"));
        Some((config["name"].as_str()?.to_owned(), goes))
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
