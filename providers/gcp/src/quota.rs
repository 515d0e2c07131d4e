//! Limits of the project: which of them a machine counts toward, and what is left.

use crate::kind::Kind;
use fleet_model::{Cloud, Market, Quota, QuotaUnit, Region, Template};
use google_cloud_compute_v1::model;

/// The limit of the whole project on accelerators of any kind.
pub(crate) const ALL_GPUS: &str = "GPUS_ALL_REGIONS";

/// The limit of the whole project on processors of any kind.
pub(crate) const ALL_CPUS: &str = "CPUS_ALL_REGIONS";

/// Addresses that are reachable from outside.
const ADDRESSES: &str = "IN_USE_ADDRESSES";

/// Disks that are no Hyperdisk and no spinning ones, in GB.
const SSD: &str = "SSD_TOTAL_GB";

/// The boot disk where the spec names no size: that of Google's own images.
const BOOT_GB: u64 = 10;

/// Where a limit of the whole project is said to hold.
const EVERYWHERE: &str = "global";

/// Series whose processors have a limit of their own. The others share `CPUS`, except for those
/// whose limits Google keeps elsewhere, of which nothing is known here.
const OWN_CPUS: &[(&str, &str)] = &[
    ("a2", "A2_CPUS"),
    ("c2", "C2_CPUS"),
    ("c2d", "C2D_CPUS"),
    ("c3", "C3_CPUS"),
    ("m1", "M1_CPUS"),
    ("m2", "M2_CPUS"),
    ("m3", "M3_CPUS"),
    ("n2", "N2_CPUS"),
    ("n2a", "N2A_CPUS"),
    ("n2d", "N2D_CPUS"),
    ("t2a", "T2A_CPUS"),
    ("t2d", "T2D_CPUS"),
];

/// Series that share one limit.
const SHARED_CPUS: &[&str] = &["e2", "f1", "g1", "g2", "n1"];

/// The limit on the accelerators of a type, by how its name begins.
const GPUS: &[(&str, &str)] = &[
    ("a2-ultragpu-", "NVIDIA_A100_80GB_GPUS"),
    ("a2-", "NVIDIA_A100_GPUS"),
    ("a3-highgpu-", "NVIDIA_H100_GPUS"),
    ("a3-megagpu-", "NVIDIA_H100_MEGA_GPUS"),
    ("g2-", "NVIDIA_L4_GPUS"),
];

/// A limit with what is used of it: its name, and both numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Limit {
    pub(crate) name: String,
    pub(crate) limit: u64,
    pub(crate) used: u64,
}

/// The limits that an answer tells. One without both numbers is unknown, not zero.
pub(crate) fn limits(quotas: &[model::Quota]) -> Vec<Limit> {
    let whole = |number: f64| (number.is_finite() && number >= 0.0).then_some(number as u64);
    let one = |quota: &model::Quota| {
        Some(Limit {
            name: quota.metric.as_ref()?.name()?.to_owned(),
            limit: whole(quota.limit?)?,
            used: whole(quota.usage?.ceil())?,
        })
    };
    quotas.iter().filter_map(one).collect()
}

/// The limits that one machine counts toward, by name, and what each counts.
pub(crate) fn names(
    kind: Kind<'_>,
    market: Market,
    template: &Template,
    here: &[Limit],
) -> Vec<(&'static str, QuotaUnit)> {
    let mut names = vec![("INSTANCES", QuotaUnit::Machines)];
    // On a network of the user's own machines get no address.
    if template.network.is_none() && template.subnets.is_empty() {
        names.push((ADDRESSES, QuotaUnit::Machines));
    }
    let disk = template.disk.as_ref().and_then(|disk| disk.kind.as_deref());
    if matches!(disk.unwrap_or(kind.disk()), "pd-balanced" | "pd-ssd") {
        names.push((SSD, QuotaUnit::Machines));
    }
    let own = OWN_CPUS.iter().find(|(series, _)| *series == kind.series()).map(|(_, name)| *name);
    let shared = SHARED_CPUS.contains(&kind.series()).then_some("CPUS");
    let cpus = preemptible(own.or(shared), "PREEMPTIBLE_CPUS", market, here, QuotaUnit::Vcpus);
    names.extend(cpus);
    // Spot machines with a limit of their own do not draw on the ordinary ones.
    if cpus.is_none_or(|(name, _)| name != "PREEMPTIBLE_CPUS") {
        names.push((ALL_CPUS, QuotaUnit::Vcpus));
    }
    let gpus = match kind.attached {
        Some(("nvidia-tesla-t4", _)) => Some(("NVIDIA_T4_GPUS", "PREEMPTIBLE_NVIDIA_T4_GPUS")),
        Some(("nvidia-tesla-v100", _)) => {
            Some(("NVIDIA_V100_GPUS", "PREEMPTIBLE_NVIDIA_V100_GPUS"))
        }
        Some(("nvidia-tesla-p100", _)) => {
            Some(("NVIDIA_P100_GPUS", "PREEMPTIBLE_NVIDIA_P100_GPUS"))
        }
        Some(("nvidia-tesla-p4", _)) => Some(("NVIDIA_P4_GPUS", "PREEMPTIBLE_NVIDIA_P4_GPUS")),
        Some(_) => None,
        None => {
            let known = GPUS.iter().find(|(start, _)| kind.machine.starts_with(start));
            known.map(|(_, name)| (*name, spot_name(name)))
        }
    };
    if let Some((standard, spot)) = gpus {
        names.extend(preemptible(Some(standard), spot, market, here, QuotaUnit::Accelerators));
    }
    // What Google keeps on TPUs is not in its list of a region.
    if kind.is_accelerated() && !kind.is_tpu() {
        names.push((ALL_GPUS, QuotaUnit::Accelerators));
    }
    names
}

fn spot_name(standard: &str) -> &'static str {
    match standard {
        "NVIDIA_A100_80GB_GPUS" => "PREEMPTIBLE_NVIDIA_A100_80GB_GPUS",
        "NVIDIA_A100_GPUS" => "PREEMPTIBLE_NVIDIA_A100_GPUS",
        "NVIDIA_H100_GPUS" => "PREEMPTIBLE_NVIDIA_H100_GPUS",
        "NVIDIA_H100_MEGA_GPUS" => "PREEMPTIBLE_NVIDIA_H100_MEGA_GPUS",
        _ => "PREEMPTIBLE_NVIDIA_L4_GPUS",
    }
}

/// Spot machines count toward a limit of their own where the project has one, and toward the
/// ordinary one where it has none.
fn preemptible(
    standard: Option<&'static str>,
    spot: &'static str,
    market: Market,
    here: &[Limit],
    unit: QuotaUnit,
) -> Option<(&'static str, QuotaUnit)> {
    let granted = here.iter().any(|limit| limit.name == spot && limit.limit > 0);
    match market {
        Market::Spot if granted => Some((spot, unit)),
        Market::Spot | Market::OnDemand | Market::Reserved => standard.map(|name| (name, unit)),
    }
}

/// A limit on disks as a limit on machines: each has a boot disk of the same size. Rounded so that
/// the last machine fits for certain. Other limits are what they are.
pub(crate) fn in_machines(limit: &Limit, template: &Template) -> Limit {
    if limit.name != SSD {
        return limit.clone();
    }
    let size = template.disk.as_ref().and_then(|disk| disk.size_gib);
    let size = size.map_or(BOOT_GB, u64::from).max(1);
    let used = limit.used.div_ceil(size);
    let free = limit.limit.saturating_sub(limit.used) / size;
    Limit { name: limit.name.clone(), limit: used + free, used }
}

/// A limit as the engine counts it. `None` for a region: it holds for the whole project.
pub(crate) fn quota(
    limit: &Limit,
    unit: QuotaUnit,
    region: Option<&Region>,
    market: Market,
) -> Quota {
    Quota {
        cloud: Cloud::Gcp,
        region: region.cloned().unwrap_or_else(|| EVERYWHERE.into()),
        market,
        name: limit.name.clone(),
        unit,
        limit: limit.limit,
        used: limit.used,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_counts_toward_what() {
        let limit = |name: &str, limit| Limit { name: name.into(), limit, used: 0 };
        let here = [limit("PREEMPTIBLE_CPUS", 100), limit("PREEMPTIBLE_NVIDIA_L4_GPUS", 0)];
        let check = |kind: &str, market, template: &Template, expect: &[&str]| {
            let found = names(Kind::read(kind).expect("a type"), market, template, &here);
            let found: Vec<&str> = found.into_iter().map(|(name, _)| name).collect();
            assert_eq!(found, expect, "{kind} {market}");
        };
        let own = Template { network: Some("prod".into()), ..Template::default() };
        let n2 = ["INSTANCES", SSD, "N2_CPUS", ALL_CPUS];
        check("n2-standard-4", Market::OnDemand, &own, &n2);
        check("n2-standard-4", Market::Spot, &own, &["INSTANCES", SSD, "PREEMPTIBLE_CPUS"]);
        let l4 = ["INSTANCES", SSD, "PREEMPTIBLE_CPUS", "NVIDIA_L4_GPUS", ALL_GPUS];
        check("g2-standard-4", Market::Spot, &own, &l4);
        let t4 = ["INSTANCES", SSD, "CPUS", ALL_CPUS, "NVIDIA_T4_GPUS", ALL_GPUS];
        check("n1-standard-8+2xt4", Market::OnDemand, &own, &t4);
        check("c4-standard-8", Market::OnDemand, &own, &["INSTANCES", ALL_CPUS]);
        let plain = Template::default();
        check("c4-standard-8", Market::OnDemand, &plain, &["INSTANCES", ADDRESSES, ALL_CPUS]);
    }

    #[test]
    fn a_limit_on_disks_is_one_on_machines() {
        let limit = Limit { name: SSD.into(), limit: 500, used: 45 };
        let sized = |size| Template {
            disk: Some(fleet_model::Disk { size_gib: size, kind: None, encrypted: true }),
            ..Template::default()
        };
        let check = |template: &Template, expect: (u64, u64)| {
            let found = in_machines(&limit, template);
            assert_eq!((found.limit, found.used), expect);
        };
        check(&Template::default(), (50, 5));
        check(&sized(Some(200)), (3, 1));
        check(&sized(Some(0)), (500, 45));
        let cpus = Limit { name: "CPUS".into(), limit: 8, used: 3 };
        assert_eq!(in_machines(&cpus, &Template::default()), cpus);
    }

    #[test]
    fn numbers_that_are_none_are_unknown() {
        let quota =
            |limit: f64| model::Quota::new().set_metric("CPUS").set_limit(limit).set_usage(1.5);
        let read = limits(&[quota(8.0), quota(f64::NAN), quota(-1.0), model::Quota::new()]);
        assert_eq!(read, [Limit { name: "CPUS".into(), limit: 8, used: 2 }]);
    }
}
