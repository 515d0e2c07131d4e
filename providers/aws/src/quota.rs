//! Limits of the account: vCPUs per class of families, on-demand and spot apart.
//!
//! What cannot be read is unknown, not zero: it caps nothing, and EC2 says no in time.

use crate::error::{Asked, read, refused};
use crate::machines;
use crate::session::Site;
use aws_sdk_ec2::operation::describe_instances::builders::DescribeInstancesInputBuilder;
use aws_sdk_ec2::types::{Filter, Instance, InstanceLifecycleType};
use fleet_model::{Cloud, InstanceType, Market, Quota, QuotaUnit};
use fleet_provider::{Class, Error};
use std::collections::{BTreeMap, BTreeSet};

/// Pages of the list of limits; there are three today.
const PAGES: usize = 50;

/// Families that share a limit: the code and name of the limit on-demand and for spot, and the
/// letters that the names of the families begin with. From the Service Quotas console.
struct Shared {
    families: &'static [&'static str],
    on_demand: &'static str,
    spot: &'static str,
    name: &'static str,
}

const STANDARD: Shared = Shared {
    families: &["a", "c", "d", "h", "i", "im", "is", "m", "mac", "r", "t", "z"],
    on_demand: "L-1216C47A",
    spot: "L-34B43A08",
    name: "Standard",
};

const P_ON_DEMAND: &str = "L-417A185B";

const SHARED: &[Shared] = &[
    STANDARD,
    Shared {
        families: &["g", "gr", "vt"],
        on_demand: "L-DB2E81BA",
        spot: "L-3819A6DF",
        name: "G and VT",
    },
    Shared { families: &["p"], on_demand: P_ON_DEMAND, spot: "L-7212CCBC", name: "P" },
    Shared { families: &["f"], on_demand: "L-74FC7D96", spot: "L-88CF9481", name: "F" },
    Shared { families: &["inf"], on_demand: "L-1945791B", spot: "L-B5D1601B", name: "Inf" },
    Shared { families: &["trn"], on_demand: "L-2C3B7624", spot: "L-6B0D517C", name: "Trn" },
    Shared { families: &["dl"], on_demand: "L-6E869C2A", spot: "L-85EED4F7", name: "DL" },
    Shared { families: &["x"], on_demand: "L-7295265B", spot: "L-E3A00192", name: "X" },
];

/// P5 and its kin have a spot limit of their own, and share the on-demand one.
const P5: Shared =
    Shared { families: &["p"], on_demand: P_ON_DEMAND, spot: "L-C4BD4855", name: "P5" };

/// The limit that a type counts toward: its code and a name for people. `None`: not one we know.
pub(crate) fn counted(kind: &InstanceType, market: Market) -> Option<(&'static str, String)> {
    let family = kind.as_str().split('.').next()?;
    let letters: &str = family.split(|c: char| !c.is_ascii_lowercase()).next()?;
    let shared = if family.starts_with("p5") && market == Market::Spot {
        &P5
    } else {
        SHARED.iter().find(|shared| shared.families.contains(&letters))?
    };
    match market {
        Market::OnDemand => Some((shared.on_demand, format!("on-demand {} vCPUs", shared.name))),
        Market::Spot => Some((shared.spot, format!("spot {} vCPUs", shared.name))),
        // What was bought ahead of time counts toward nothing.
        Market::Reserved => None,
    }
}

/// The limits that apply in a region, by code.
pub(crate) async fn limits(site: &Site) -> Result<BTreeMap<String, u64>, Error> {
    let client = aws_sdk_servicequotas::Client::new(&site.config);
    let mut found = BTreeMap::new();
    let mut page = None;
    for _ in 0..PAGES {
        let asked = client.list_service_quotas().service_code("ec2").max_results(100);
        let answer = asked.set_next_token(page).send().await;
        let answer = answer.map_err(|error| read(Asked::Read, error))?;
        let quotas = answer.quotas.unwrap_or_default();
        found.extend(quotas.into_iter().filter_map(|quota| {
            let value = quota.value.filter(|value| value.is_finite() && *value >= 0.0)?;
            Some((quota.quota_code?, value as u64))
        }));
        page = answer.next_token.filter(|token| !token.is_empty());
        if page.is_none() {
            return Ok(found);
        }
    }
    Err(refused(Class::Retry { after: None }, "EndlessList", "the list of limits has no end"))
}

/// Everything that runs in a region, whoever made it.
pub(crate) async fn running(site: &Site) -> Result<Vec<Instance>, Error> {
    let filter = Filter::builder().name("instance-state-name").values("pending").values("running");
    let asked = DescribeInstancesInputBuilder::default().filters(filter.build()).max_results(1000);
    machines::all(site, asked).await
}

/// What types have, where an instance does not say it itself.
pub(crate) async fn vcpus_of(
    site: &Site,
    running: &[Instance],
) -> Result<BTreeMap<InstanceType, u64>, Error> {
    let silent = running.iter().filter(|instance| instance.cpu_options().is_none());
    let types: BTreeSet<InstanceType> =
        silent.filter_map(|i| Some(i.instance_type()?.as_str().into())).collect();
    let facts = site.types(&types.iter().collect()).await?;
    Ok(facts.into_iter().map(|(kind, facts)| (kind, facts.vcpus)).collect())
}

/// vCPUs in use, by the code of the limit that they count toward.
pub(crate) fn used(
    running: &[Instance],
    vcpus: &BTreeMap<InstanceType, u64>,
) -> BTreeMap<&'static str, u64> {
    let mut used: BTreeMap<&'static str, u64> = BTreeMap::new();
    for instance in running {
        let market = match instance.instance_lifecycle() {
            Some(InstanceLifecycleType::Spot) => Market::Spot,
            Some(_) | None => Market::OnDemand,
        };
        let Some(kind) = instance.instance_type() else { continue };
        let kind = InstanceType::from(kind.as_str());
        let Some((code, _)) = counted(&kind, market) else { continue };
        let said = instance.cpu_options().and_then(|cpus| {
            u64::try_from(cpus.core_count()? * cpus.threads_per_core().unwrap_or(1)).ok()
        });
        let vcpus = said.or_else(|| vcpus.get(&kind).copied()).unwrap_or_default();
        *used.entry(code).or_default() += vcpus;
    }
    used
}

/// A limit as the plan keeps it.
pub(crate) fn quota(site: &Site, market: Market, name: String, limit: u64, used: u64) -> Quota {
    let region = site.region.clone();
    Quota { cloud: Cloud::Aws, region, market, name, unit: QuotaUnit::Vcpus, limit, used }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aws_sdk_ec2::types::CpuOptions;

    #[test]
    fn every_family_counts_toward_its_limit() {
        let check = |kind: &str, on_demand: Option<&str>, spot: Option<&str>| {
            let code = |market| counted(&kind.into(), market).map(|(code, _)| code);
            assert_eq!(code(Market::OnDemand), on_demand, "{kind}");
            assert_eq!(code(Market::Spot), spot, "{kind}");
        };
        for standard in ["m5.large", "c7gn.xlarge", "im4gn.large", "i4i.large", "t3.nano", "hpc"] {
            if standard != "hpc" {
                check(standard, Some("L-1216C47A"), Some("L-34B43A08"));
            }
        }
        check("g6e.xlarge", Some("L-DB2E81BA"), Some("L-3819A6DF"));
        check("gr6.4xlarge", Some("L-DB2E81BA"), Some("L-3819A6DF"));
        check("p4d.24xlarge", Some("L-417A185B"), Some("L-7212CCBC"));
        check("p5en.48xlarge", Some("L-417A185B"), Some("L-C4BD4855"));
        check("inf2.xlarge", Some("L-1945791B"), Some("L-B5D1601B"));
        check("trn1n.32xlarge", Some("L-2C3B7624"), Some("L-6B0D517C"));
        check("x2idn.16xlarge", Some("L-7295265B"), Some("L-E3A00192"));
        check("hpc7g.16xlarge", None, None);
        check("u-6tb1.metal", None, None);
        assert_eq!(counted(&"p5.48xlarge".into(), Market::Reserved), None);
    }

    #[test]
    fn what_runs_is_counted_by_market() {
        let cpus = CpuOptions::builder().core_count(24).threads_per_core(2).build();
        let instance = Instance::builder().instance_type("p4d.24xlarge".into()).cpu_options(cpus);
        let spot = instance.clone().instance_lifecycle(InstanceLifecycleType::Spot).build();
        let silent = Instance::builder().instance_type("m5.large".into()).build();
        let vcpus = BTreeMap::from([("m5.large".into(), 2)]);
        let used = used(&[instance.clone().build(), instance.build(), spot, silent], &vcpus);
        assert_eq!(
            used,
            BTreeMap::from([("L-1216C47A", 2), ("L-417A185B", 96), ("L-7212CCBC", 48)])
        );
    }
}
