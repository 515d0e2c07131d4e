//! Sizes: what a region sells to this subscription, where in it, and what each size is.

use crate::api::{Api, SKUS};
use crate::image::Generation;
use crate::names;
use crate::quotas::Constrained;
use crate::wire::Sku;
use fleet_model::{
    Accelerators, Architecture, Cloud, InstanceKind, InstanceType, Maker, Market, Resources, Zone,
};
use fleet_provider::Error;
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::sync::Mutex;

/// The sizes of one region, by name in small letters.
pub(crate) type Sizes = BTreeMap<String, Sku>;

/// Sizes of regions, read once per run: some megabytes each.
#[derive(Default)]
pub(crate) struct Skus(Mutex<BTreeMap<(String, String), Arc<Sizes>>>);

impl Skus {
    /// The sizes that a region sells to a subscription.
    pub(crate) async fn of(
        &self,
        api: &Api,
        subscription: &str,
        region: &str,
    ) -> Result<Arc<Sizes>, Error> {
        let key = (subscription.to_owned(), region.to_owned());
        let mut known = self.0.lock().await;
        if let Some(sizes) = known.get(&key) {
            return Ok(sizes.clone());
        }
        let path = format!("/subscriptions/{subscription}/providers/Microsoft.Compute/skus");
        let filter = format!("location eq '{region}'");
        let query = [("api-version", SKUS), ("$filter", filter.as_str())];
        let all: Vec<Sku> = api.list(&path, &query).await?;
        let machines = all.into_iter().filter(|sku| sku.resource_type == "virtualMachines");
        let sizes: Sizes = machines.map(|sku| (sku.name.to_ascii_lowercase(), sku)).collect();
        let sizes = Arc::new(sizes);
        known.insert(key, sizes.clone());
        Ok(sizes)
    }
}

/// A size by its name.
pub(crate) fn find<'a>(sizes: &'a Sizes, name: &InstanceType) -> Option<&'a Sku> {
    sizes.get(&name.as_str().to_ascii_lowercase())
}

impl Sku {
    fn capability(&self, name: &str) -> Option<&str> {
        let same = |c: &&crate::wire::Capability| c.name.eq_ignore_ascii_case(name);
        self.capabilities.iter().find(same).map(|capability| capability.value.as_str())
    }

    fn can(&self, name: &str) -> bool {
        self.capability(name).is_some_and(|value| value.eq_ignore_ascii_case("true"))
    }

    /// Whether it has accelerated networking.
    pub(crate) fn has_fast_network(&self) -> bool {
        self.can("AcceleratedNetworkingEnabled")
    }

    /// Whether it is sold as spot.
    pub(crate) fn has_spot(&self) -> bool {
        self.can("LowPriorityCapable")
    }

    /// Whether its processors are Arm.
    pub(crate) fn is_arm(&self) -> bool {
        self.capability("CpuArchitectureType")
            .is_some_and(|kind| kind.eq_ignore_ascii_case("Arm64"))
    }

    /// Virtual processors that can be used.
    pub(crate) fn vcpus(&self) -> Option<u32> {
        let available = self.capability("vCPUsAvailable").or_else(|| self.capability("vCPUs"));
        available?.parse().ok()
    }

    /// Virtual processors as limits count them.
    pub(crate) fn counted_vcpus(&self) -> Option<u32> {
        self.capability("vCPUs").and_then(|count| count.parse().ok()).or_else(|| self.vcpus())
    }

    /// Set if limits count more processors than can be used.
    pub(crate) fn constrained(&self) -> Option<Constrained> {
        let (usable, full) = (self.vcpus()?, self.counted_vcpus()?);
        (usable < full).then_some(Constrained { usable, full })
    }

    /// Whether images of a generation boot on it. A size that does not say takes any.
    pub(crate) fn boots(&self, generation: Generation) -> bool {
        let name = match generation {
            Generation::One => "V1",
            Generation::Two => "V2",
        };
        let taken = self.capability("HyperVGenerations");
        taken.is_none_or(|all| all.split(',').any(|one| one.trim().eq_ignore_ascii_case(name)))
    }

    /// The zones of a region that have it.
    pub(crate) fn zones(&self, region: &str) -> Vec<&str> {
        let here = self.location_info.iter().filter(|info| names::region(&info.location) == region);
        let mut zones: Vec<&str> = here.flat_map(|info| &info.zones).map(String::as_str).collect();
        zones.sort_unstable();
        zones
    }

    /// Why it cannot be had there, whatever the capacity.
    pub(crate) fn refusal(&self, region: &str, zone: &Zone, market: Market) -> Option<String> {
        let regional = zone.as_str() == Zone::REGIONAL;
        if !regional && !self.zones(region).contains(&zone.as_str()) {
            return Some(format!("{} is not sold in zone {zone} of {region}", self.name));
        }
        if market == Market::Spot && !self.has_spot() {
            return Some(format!("{} is not sold as spot", self.name));
        }
        for restriction in &self.restrictions {
            let info = &restriction.restriction_info;
            let named = info.locations.iter().chain(&restriction.values);
            let here = restriction.kind.eq_ignore_ascii_case("Location")
                && named.map(|name| names::region(name)).any(|name| name == region);
            let in_zone = restriction.kind.eq_ignore_ascii_case("Zone")
                && info.zones.iter().any(|other| other == zone.as_str());
            if here || in_zone {
                let why = match restriction.reason_code.as_str() {
                    "NotAvailableForSubscription" => "is closed to this subscription",
                    "QuotaId" => "is not part of this subscription's offer",
                    _ => "is restricted",
                };
                return Some(format!("{} {why} in {region}", self.name));
            }
        }
        None
    }

    /// What it is, as the catalog speaks of it.
    pub(crate) fn kind(&self) -> InstanceKind {
        let number = |name: &str| self.capability(name).and_then(|value| value.parse::<f64>().ok());
        let memory = number("MemoryGB").map(|gib| (gib * 1024.0).round() as u64);
        let gpus = number("GPUs").filter(|count| *count > 0.0);
        let version = self.name.rsplit('_').find_map(|part| part.strip_prefix('v')?.parse().ok());
        InstanceKind {
            cloud: Cloud::Azure,
            name: self.name.as_str().into(),
            resources: Resources {
                vcpus: self.vcpus(),
                memory_mib: memory,
                architecture: if self.is_arm() {
                    Architecture::Arm64
                } else {
                    Architecture::X86_64
                },
                accelerators: gpus.map(|count| self.accelerators(count)),
                local_disk: number("MaxResourceVolumeMB").map(|disk| disk > 0.0),
                generation: version,
            },
        }
    }

    /// The count is Azure's; which chip it is, only the name says, and not always.
    fn accelerators(&self, count: f64) -> Accelerators {
        const CHIPS: &[(&str, &str, Maker, u64)] = &[
            ("_MI300X_", "MI300X", Maker::Amd, 192),
            ("_H200_", "H200", Maker::Nvidia, 141),
            // Those of the NC sizes are the pairs called NVL.
            ("_NC40ads_H100_", "H100", Maker::Nvidia, 94),
            ("_NC80adis_H100_", "H100", Maker::Nvidia, 94),
            ("_NCC40ads_H100_", "H100", Maker::Nvidia, 94),
            ("_H100_", "H100", Maker::Nvidia, 80),
            ("_A100_", "A100-80GB", Maker::Nvidia, 80),
            ("_A10_", "A10", Maker::Nvidia, 24),
            ("_T4_", "T4", Maker::Nvidia, 16),
            ("_V620_", "V620", Maker::Amd, 32),
            // These say it by their place in the list alone.
            ("_ND96asr_v4", "A100", Maker::Nvidia, 40),
            ("_NC6s_v3", "V100", Maker::Nvidia, 16),
            ("_NC12s_v3", "V100", Maker::Nvidia, 16),
            ("_NC24s_v3", "V100", Maker::Nvidia, 16),
            ("_NC24rs_v3", "V100", Maker::Nvidia, 16),
            ("_ND40rs_v2", "V100", Maker::Nvidia, 32),
        ];
        // A size with 36 processors has a whole A10; smaller ones a part, and say that it is one.
        let part = match self.counted_vcpus() {
            Some(vcpus) if self.name.contains("_A10_") && vcpus < 36 => f64::from(vcpus) / 36.0,
            Some(_) | None => 1.0,
        };
        let chip = CHIPS.iter().find(|(mark, ..)| self.name.contains(mark));
        let memory = |gib: u64| (gib as f64 * 1024.0 * part).round() as u64;
        Accelerators {
            name: chip.map(|(_, name, ..)| (*name).to_owned()),
            count_milli: (count * part * 1000.0).round().clamp(0.0, 1e9) as u32,
            memory_mib: chip.filter(|_| count >= 1.0).map(|(.., gib)| memory(*gib)),
            maker: chip.map(|(_, _, maker, _)| *maker),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{from_value, json};

    fn sku() -> Sku {
        from_value(json!({
            "resourceType": "virtualMachines", "name": "Standard_NC24ads_A100_v4",
            "family": "StandardNCADSA100v4Family",
            "locationInfo": [{ "location": "EastUS", "zones": ["3", "1"] }],
            "capabilities": [
                { "name": "vCPUs", "value": "24" }, { "name": "MemoryGB", "value": "220" },
                { "name": "GPUs", "value": "1" }, { "name": "LowPriorityCapable", "value": "True" },
                { "name": "AcceleratedNetworkingEnabled", "value": "True" },
                { "name": "CpuArchitectureType", "value": "x64" },
                { "name": "MaxResourceVolumeMB", "value": "65536" },
            ],
            "restrictions": [{ "type": "Zone", "values": ["eastus"],
                "restrictionInfo": { "locations": ["eastus"], "zones": ["3"] },
                "reasonCode": "NotAvailableForSubscription" }],
        }))
        .expect("a size")
    }

    #[test]
    fn sizes_are_what_their_capabilities_say() {
        let kind = sku().kind();
        assert_eq!((kind.resources.vcpus, kind.resources.memory_mib), (Some(24), Some(220 * 1024)));
        let chip = kind.resources.accelerators.expect("a chip");
        assert_eq!((chip.name.as_deref(), chip.count_milli), (Some("A100-80GB"), 1000));
        assert_eq!(kind.resources.generation, Some(4));
        assert!(sku().has_spot() && sku().has_fast_network() && !sku().is_arm());
    }

    #[test]
    fn parts_of_chips_and_chips_of_their_own() {
        let check = |name: &str, vcpus: &str, expect: (u32, Option<u64>)| {
            let mut sku = sku();
            sku.name = name.into();
            sku.capabilities[0].value = vcpus.into();
            let gpus = sku.kind().resources.accelerators.expect("some");
            assert_eq!((gpus.count_milli, gpus.memory_mib), expect, "{name}");
        };
        check("Standard_NV6ads_A10_v5", "6", (167, Some(4096)));
        check("Standard_NV12ads_A10_v5", "12", (333, Some(8192)));
        check("Standard_NV18ads_A10_v5", "18", (500, Some(12288)));
        check("Standard_NV36ads_A10_v5", "36", (1000, Some(24 * 1024)));
        check("Standard_NC40ads_H100_v5", "40", (1000, Some(94 * 1024)));
        check("Standard_ND96isr_H100_v5", "96", (1000, Some(80 * 1024)));
        check("Standard_NC6s_v3", "6", (1000, Some(16 * 1024)));
    }

    #[test]
    fn constrained_sizes_and_generations() {
        let mut size = sku();
        assert_eq!((size.constrained(), size.boots(Generation::Two)), (None, true));
        let more = json!([{ "name": "vCPUsAvailable", "value": "6" },
                          { "name": "HyperVGenerations", "value": "V1" }]);
        size.capabilities.extend(from_value::<Vec<_>>(more).expect("capabilities"));
        assert_eq!(size.constrained(), Some(Constrained { usable: 6, full: 24 }));
        assert_eq!((size.boots(Generation::One), size.boots(Generation::Two)), (true, false));
    }

    #[test]
    fn restrictions_of_zones_and_regions() {
        let check = |sku: &Sku, zone: &str, refused: bool| {
            let refusal = sku.refusal("eastus", &zone.into(), Market::Spot);
            assert_eq!(refusal.is_some(), refused, "{zone}: {refusal:?}");
        };
        check(&sku(), "1", false);
        check(&sku(), "2", true);
        check(&sku(), "3", true);
        check(&sku(), Zone::REGIONAL, false);
        let mut closed = sku();
        closed.restrictions[0].kind = "Location".into();
        check(&closed, "1", true);
        check(&closed, Zone::REGIONAL, true);
        let mut dear = sku();
        dear.capabilities.retain(|capability| capability.name != "LowPriorityCapable");
        check(&dear, "1", true);
    }
}
