//! Types that share a limit of an account.
//!
//! Clouds count vCPUs or accelerators per class of types. When one class is used up, the others are
//! none the worse for it. The names here are ours: what matters is which types share one.

use crate::{AwsName, Cloud, InstanceType};

impl Cloud {
    /// The class of types that a type shares its limits with.
    pub fn limit_class(self, kind: &InstanceType) -> String {
        let name = kind.as_str();
        match self {
            Cloud::Aws => AwsName::of(name).limit_class().to_owned(),
            // `CPUS_PER_VM_FAMILY`, and one limit per accelerator: both follow the series.
            Cloud::Gcp => {
                let series = name.split('-').take(2).collect::<Vec<_>>();
                match series.as_slice() {
                    // Accelerators of one series differ by its second word: a2-highgpu, a2-ultragpu.
                    [first @ ("a2" | "a3" | "a4" | "g2" | "g4"), second, ..] => {
                        format!("{first}-{second}")
                    }
                    [first, ..] => (*first).to_owned(),
                    [] => name.to_owned(),
                }
            }
            Cloud::Azure => azure_family(name),
            // One limit for the whole account.
            Cloud::Lambda => "all".to_owned(),
        }
    }
}

/// `Standard_D4ls_v5` is of the family `dlsv5`, `Standard_E8-2ds_v5` of `edsv5`.
fn azure_family(name: &str) -> String {
    let name = name.split_once('_').map_or(name, |(_, rest)| rest);
    let mut family = String::new();
    for (at, part) in name.split('_').enumerate() {
        if at > 0 {
            family.push_str(&part.to_ascii_lowercase());
            continue;
        }
        // Neither the size (`8`) nor a constrained count of cores (`8-2`) is part of the family.
        let letters = part.chars().filter(char::is_ascii_alphabetic);
        family.extend(letters.map(|letter| letter.to_ascii_lowercase()));
    }
    family
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_that_share_a_limit_have_one_class() {
        let class = |cloud: Cloud, kind: &str| cloud.limit_class(&kind.into());
        for (cloud, one, other, same) in [
            (Cloud::Aws, "m6i.large", "c7g.8xlarge", true),
            (Cloud::Aws, "g5.xlarge", "vt1.3xlarge", true),
            (Cloud::Aws, "g5.xlarge", "m6i.large", false),
            (Cloud::Aws, "p5.48xlarge", "p4d.24xlarge", true),
            (Cloud::Gcp, "e2-standard-4", "e2-micro", true),
            (Cloud::Gcp, "a2-highgpu-1g", "a2-ultragpu-1g", false),
            (Cloud::Gcp, "a3-highgpu-8g", "e2-micro", false),
            (Cloud::Azure, "Standard_D4ls_v5", "Standard_D96ls_v5", true),
            (Cloud::Azure, "Standard_E8-2ds_v5", "Standard_E16ds_v5", true),
            (Cloud::Azure, "Standard_D4s_v5", "Standard_D4s_v4", false),
            (Cloud::Azure, "Standard_NC24ads_A100_v4", "Standard_NC48ads_A100_v4", true),
            (Cloud::Lambda, "gpu_1x_a10", "gpu_8x_h100_sxm5", true),
        ] {
            assert_eq!(class(cloud, one) == class(cloud, other), same, "{one} and {other}");
        }
        assert_eq!(class(Cloud::Azure, "Standard_D4ls_v5"), "dlsv5");
    }
}
