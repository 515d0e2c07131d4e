//! What the fake sells.

use serde_json::{Value, json};

pub(super) const REGIONS: &[&str] = &["eastus", "westus2", "southcentralus"];

pub(super) struct Size {
    pub(super) name: &'static str,
    pub(super) family: &'static str,
    pub(super) vcpus: u32,
    memory: u32,
    gpus: u32,
    /// Thousandths of a dollar per hour.
    mils: u32,
    /// What is odd about it.
    odd: Odd,
}

/// What a size may have of its own.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Odd {
    Nothing,
    /// Images of generation 2 do not boot on it.
    OldFirmware,
    /// Fewer cores can be used than count toward quotas.
    Constrained(u32),
    /// Not sold as spot.
    NoSpot,
}

const fn size(
    name: &'static str,
    family: &'static str,
    vcpus: u32,
    memory: u32,
    gpus: u32,
    mils: u32,
) -> Size {
    Size { name, family, vcpus, memory, gpus, mils, odd: Odd::Nothing }
}

impl Size {
    const fn but(self, odd: Odd) -> Size {
        Size { odd, ..self }
    }
}

pub(super) const SIZES: &[Size] = &[
    size("Standard_D2s_v5", "standardDSv5Family", 2, 8, 0, 96),
    size("Standard_D4s_v5", "standardDSv5Family", 4, 16, 0, 192),
    size("Standard_D8s_v5", "standardDSv5Family", 8, 32, 0, 384),
    size("Standard_A2_v2", "standardAv2Family", 2, 4, 0, 91).but(Odd::OldFirmware),
    size("Standard_B2s", "standardBSFamily", 2, 4, 0, 42).but(Odd::NoSpot),
    size("Standard_E8-2s_v5", "standardESv5Family", 8, 64, 0, 504).but(Odd::Constrained(2)),
    size("Standard_NV6ads_A10_v5", "StandardNVADSA10v5Family", 6, 55, 1, 454),
    size("Standard_NC24ads_A100_v4", "StandardNCADSA100v4Family", 24, 220, 1, 3673),
    size("Standard_NC48ads_A100_v4", "StandardNCADSA100v4Family", 48, 440, 2, 7346),
];

impl Size {
    /// Whether images of generation 2 do not boot on it.
    pub(super) fn is_old(&self) -> bool {
        self.odd == Odd::OldFirmware
    }

    pub(super) fn sku(&self, region: &str) -> Value {
        let mut capabilities = vec![
            ("vCPUs", self.vcpus.to_string()),
            ("MemoryGB", self.memory.to_string()),
            ("LowPriorityCapable", if self.odd == Odd::NoSpot { "False" } else { "True" }.into()),
            ("HyperVGenerations", if self.is_old() { "V1" } else { "V1,V2" }.into()),
            ("AcceleratedNetworkingEnabled", "True".into()),
            ("CpuArchitectureType", "x64".into()),
        ];
        if let Odd::Constrained(usable) = self.odd {
            capabilities.push(("vCPUsAvailable", usable.to_string()));
        }
        if self.gpus > 0 {
            capabilities.push(("GPUs", self.gpus.to_string()));
        }
        let capabilities: Vec<Value> = capabilities
            .into_iter()
            .map(|(name, value)| json!({ "name": name, "value": value }))
            .collect();
        // One size is closed to the subscription in one region.
        let closed = self.gpus == 2 && region == "westus2";
        let restrictions = if closed {
            json!([{ "type": "Location", "values": [region], "reasonCode": "NotAvailableForSubscription",
                     "restrictionInfo": { "locations": [region] } }])
        } else {
            json!([])
        };
        json!({
            "resourceType": "virtualMachines",
            "name": self.name,
            "tier": "Standard",
            "size": self.name.trim_start_matches("Standard_"),
            "family": self.family,
            "locations": [region],
            "locationInfo": [{ "location": region, "zones": ["1", "2", "3"], "zoneDetails": [] }],
            "capabilities": capabilities,
            "restrictions": restrictions,
        })
    }

    pub(super) fn prices(&self, region: &str) -> Vec<Value> {
        let item = |suffix: &str, product: &str, price: f64| {
            json!({
                "currencyCode": "USD", "tierMinimumUnits": 0.0, "retailPrice": price, "unitPrice": price,
                "armRegionName": region, "armSkuName": self.name, "productName": product,
                "skuName": format!("{}{suffix}", self.name.trim_start_matches("Standard_").replace('_', " ")),
                "serviceName": "Virtual Machines", "unitOfMeasure": "1 Hour", "type": "Consumption",
            })
        };
        let price = f64::from(self.mils) / 1000.0;
        vec![
            item("", "Virtual Machines Series", price),
            item(" Spot", "Virtual Machines Series", price / 4.0),
            item("", "Virtual Machines Series Windows", price * 2.0),
            // Not all of them spell it out.
            item("", "Virtual Machines Series Win", price * 2.0),
        ]
    }
}
