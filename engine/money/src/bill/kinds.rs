//! Which rows of a bill are about what comes beside machines.

use super::Form;
use fleet_model::CostKind;

/// What a row is about, by its service and what else it says; `None`: a machine, or nothing of ours.
pub(super) fn beside(form: Form, what: &str, detail: &[&str]) -> Option<CostKind> {
    let says = |words: &[&str]| {
        let mut texts = detail.iter().chain([&what]).map(|text| text.to_ascii_lowercase());
        texts.any(|text| words.iter().any(|word| text.contains(word)))
    };
    let address = ["ipv4", "ip address", "external ip", "publicip"];
    let traffic = ["data transfer", "datatransfer", "egress", "bandwidth"];
    let disk = ["volume", "disk", "pd capacity", "block storage", "persistent disk"];
    match form {
        Form::Focus => match what {
            // Other storage under a fleet's tag is not a disk of its machines.
            "Storage" => says(&disk).then_some(CostKind::Disk),
            "Networking" if says(&address) => Some(CostKind::Address),
            "Networking" => says(&traffic).then_some(CostKind::Egress),
            // Some clouds put what goes over the network under the service of the machine, and under its name.
            "" | "Compute" if says(&address) => Some(CostKind::Address),
            "" | "Compute" if says(&traffic) => Some(CostKind::Egress),
            _ => None,
        },
        Form::AwsCur => match what {
            what if what.contains("EBS:VolumeUsage") => Some(CostKind::Disk),
            what if what.contains("PublicIPv4") => Some(CostKind::Address),
            what if what.contains("DataTransfer") || what.contains("-Bytes") => {
                Some(CostKind::Egress)
            }
            _ => None,
        },
        Form::Gcp => match what {
            what if what.contains("Snapshot") => None,
            what if what.contains("PD Capacity") || what.contains("Hyperdisk") => {
                Some(CostKind::Disk)
            }
            what if what.contains("External IP") => Some(CostKind::Address),
            what if what.contains("Egress") || what.contains("Data Transfer") => {
                Some(CostKind::Egress)
            }
            _ => None,
        },
        Form::Azure => match what {
            "Storage" => Some(CostKind::Disk),
            "Virtual Network" => Some(CostKind::Address),
            "Bandwidth" => Some(CostKind::Egress),
            _ => None,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_told_apart_by_what_they_say() {
        let check = |form, what: &str, detail: &[&str], expect| {
            assert_eq!(beside(form, what, detail), expect, "{form} {what} {detail:?}");
        };
        use CostKind::{Address, Disk, Egress};
        check(Form::Focus, "Compute", &["Virtual Machines", "Compute Usage"], None);
        check(Form::Focus, "Storage", &["Block Storage"], Some(Disk));
        check(Form::Focus, "Storage", &["Object Storage"], None);
        check(Form::Focus, "Networking", &["", "IPv4 Address"], Some(Address));
        check(Form::Focus, "Compute", &["", "USE1-DataTransfer-Out-Bytes"], Some(Egress));
        check(Form::AwsCur, "USE1-EBS:VolumeUsage.gp3", &[], Some(Disk));
        check(Form::AwsCur, "BoxUsage:m7i.large", &[], None);
        check(Form::AwsCur, "USE1-PublicIPv4:InUseAddress", &[], Some(Address));
        check(Form::Gcp, "Balanced PD Capacity", &[], Some(Disk));
        check(Form::Gcp, "N2 Instance Core running in Americas", &[], None);
        check(Form::Gcp, "External IP Charge on a Spot Preemptible VM", &[], Some(Address));
        check(Form::Azure, "Virtual Machines", &[], None);
        check(Form::Azure, "Bandwidth", &[], Some(Egress));
    }
}
