//! What is sold like a machine, or a place to stand, and is not what people mean by one.

use crate::{AwsName, Cloud, InstanceKind, Place};

/// Azure regions that a subscription must ask for: for recovery within a country, or for one partner's
/// customers. Microsoft marks such regions in its list (learn.microsoft.com/azure/reliability/regions-list,
/// seen in part, with `australiacentral2`); the other names are from memory, so a guess.
const AZURE_ON_REQUEST: &[&str] = &[
    "australiacentral2",
    "brazilsoutheast",
    "francesouth",
    "germanynorth",
    "jioindiacentral",
    "jioindiawest",
    "norwaywest",
    "southafricawest",
    "swedensouth",
    "switzerlandwest",
    "uaecentral",
];

/// Starts of the names of regions with accounts of their own: governments, China, the European
/// Sovereign Cloud (the partitions in Amazon's and Microsoft's endpoint lists).
const SOVEREIGN: &[(Cloud, &str)] = &[
    (Cloud::Aws, "us-gov-"),
    (Cloud::Aws, "us-iso"),
    (Cloud::Aws, "eu-iso"),
    (Cloud::Aws, "eusc-"),
    (Cloud::Aws, "cn-"),
    (Cloud::Azure, "usgov"),
    (Cloud::Azure, "usdod"),
    (Cloud::Azure, "usnat"),
    (Cloud::Azure, "ussec"),
    (Cloud::Azure, "china"),
    // Sold by a partner to customers of one country: cloud.google.com/about/locations.
    (Cloud::Gcp, "me-central2"),
];

impl InstanceKind {
    /// Whether it runs at a fraction of its speed once its credits are spent, or shares a core: `t3`,
    /// `e2-micro`, `Standard_B2s`.
    pub fn is_burstable(&self) -> bool {
        let name = self.name.as_str();
        match self.cloud {
            // t1 to t4g. No burstable type has accelerators.
            Cloud::Aws => {
                let parts = AwsName::of(name);
                parts.family() == "t"
                    && parts.generation().is_some_and(|generation| generation <= 4)
                    && self.resources.accelerators.is_none()
            }
            Cloud::Gcp => {
                matches!(name, "e2-micro" | "e2-small" | "e2-medium" | "f1-micro" | "g1-small")
            }
            Cloud::Azure => name
                .strip_prefix("Standard_B")
                .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit())),
            Cloud::Lambda => false,
        }
    }

    /// Whether it is a slice of a TPU pod that spans several hosts. A host has eight chips of v5e and
    /// v6e, and four of the others (docs.cloud.google.com/tpu/docs/v5e, v5p, v6e).
    pub fn spans_hosts(&self) -> bool {
        let Some(accelerators) = &self.resources.accelerators else { return false };
        let Some(name) = accelerators.name.as_deref().filter(|name| name.starts_with("tpu-"))
        else {
            return false;
        };
        let chips_per_host = if matches!(name, "tpu-v5e" | "tpu-v6e") { 8 } else { 4 };
        accelerators.count_milli > chips_per_host * 1000
    }
}

impl Place {
    /// Whether the region is for some customers only: sovereign clouds, regions on request, previews
    /// and edge sites.
    pub fn is_restricted(&self) -> bool {
        let region = self.region.name();
        let sovereign = SOVEREIGN
            .iter()
            .any(|(cloud, start)| *cloud == self.cloud && region.starts_with(start));
        // Microsoft's preview regions end in `euap` and `stg`; its edge sites begin with who runs them.
        let azure = self.cloud == Cloud::Azure
            && (AZURE_ON_REQUEST.contains(&region)
                || region.ends_with("euap")
                || region.ends_with("stg")
                || region.starts_with("att")
                || region.starts_with("microsoft"));
        sovereign || azure
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Accelerators, Architecture, Resources};

    fn kind(cloud: Cloud, name: &str, accelerators: Option<(&str, u32)>) -> InstanceKind {
        let accelerators = accelerators.map(|(name, count)| Accelerators {
            name: Some(name.into()),
            count_milli: count * 1000,
            memory_mib: None,
            maker: None,
        });
        let resources = Resources {
            vcpus: None,
            memory_mib: None,
            architecture: Architecture::X86_64,
            accelerators,
            local_disk: None,
            generation: None,
        };
        InstanceKind { cloud, name: name.into(), resources }
    }

    #[test]
    fn burstable_types() {
        let check = |cloud, name, expect: bool| {
            assert_eq!(kind(cloud, name, None).is_burstable(), expect, "{name}");
        };
        check(Cloud::Aws, "t3.nano", true);
        check(Cloud::Aws, "t4g.2xlarge", true);
        check(Cloud::Aws, "trn1.2xlarge", false);
        check(Cloud::Aws, "m7i.large", false);
        check(Cloud::Gcp, "e2-medium", true);
        check(Cloud::Gcp, "e2-standard-2", false);
        check(Cloud::Azure, "Standard_B16als_v2", true);
        check(Cloud::Azure, "Standard_D2s_v5", false);
    }

    #[test]
    fn slices_of_several_hosts() {
        let check = |chip, count, expect: bool| {
            assert_eq!(kind(Cloud::Gcp, "tpu", Some((chip, count))).spans_hosts(), expect);
        };
        check("tpu-v5e", 8, false);
        check("tpu-v5e", 16, true);
        check("tpu-v5p", 4, false);
        check("tpu-v5p", 8, true);
        check("H100", 8, false);
    }

    #[test]
    fn restricted_regions() {
        let check = |cloud, region: &str, expect: bool| {
            let place = Place { cloud, region: region.into(), zone: "regional".into() };
            assert_eq!(place.is_restricted(), expect, "{region}");
        };
        check(Cloud::Aws, "us-gov-west-1", true);
        check(Cloud::Aws, "eusc-de-east-1", true);
        check(Cloud::Aws, "us-east-1", false);
        check(Cloud::Azure, "norwaywest", true);
        check(Cloud::Azure, "norwayeast", false);
        check(Cloud::Azure, "eastus2euap", true);
        check(Cloud::Gcp, "me-central2", true);
        check(Cloud::Gcp, "me-central1", false);
    }
}
