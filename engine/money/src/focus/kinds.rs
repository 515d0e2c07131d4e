//! What FOCUS calls machines and what comes beside them.

use fleet_model::{Cloud, CostKind};

/// Words of FOCUS for one kind.
pub(super) struct Words {
    /// `ServiceCategory`.
    pub(super) category: &'static str,
    /// `ServiceSubcategory`.
    pub(super) subcategory: &'static str,
    /// `SkuMeter`.
    pub(super) meter: &'static str,
    /// What the id of its price ends with; `None` for a machine, which has a type.
    pub(super) sku: Option<&'static str>,
    /// Nobody measured it: it is what the spec expects.
    pub(super) expected: bool,
}

pub(super) fn of(kind: CostKind) -> Words {
    let beside = |category, subcategory, meter, sku, expected| Words {
        category,
        subcategory,
        meter,
        sku: Some(sku),
        expected,
    };
    match kind {
        CostKind::Machine => Words {
            category: "Compute",
            subcategory: "Virtual Machines",
            meter: "Compute Usage",
            sku: None,
            expected: false,
        },
        CostKind::Disk => beside("Storage", "Block Storage", "Disk Capacity", "disk", false),
        CostKind::Address => {
            beside("Networking", "Network Infrastructure", "Public IPv4 Address", "ipv4", false)
        }
        CostKind::Egress => {
            beside("Networking", "Network Connectivity", "Data Transfer Out", "egress", true)
        }
    }
}

/// `ServiceName`. FOCUS wants one category for each name, so what comes beside machines has names of its own,
/// also where a cloud's own bill lists it under that of its machines.
pub(super) fn service(cloud: Cloud, kind: CostKind) -> &'static str {
    match (cloud, kind) {
        (Cloud::Aws, CostKind::Machine) => "Amazon Elastic Compute Cloud",
        (Cloud::Aws, CostKind::Disk) => "Amazon Elastic Block Store",
        (Cloud::Aws, CostKind::Address) => "Amazon Virtual Private Cloud",
        (Cloud::Aws, CostKind::Egress) => "AWS Data Transfer",
        (Cloud::Gcp, CostKind::Machine) => "Compute Engine",
        (Cloud::Gcp, CostKind::Disk) => "Persistent Disk",
        (Cloud::Gcp, CostKind::Address) => "Virtual Private Cloud",
        (Cloud::Gcp, CostKind::Egress) => "Networking",
        (Cloud::Azure, CostKind::Machine) => "Virtual Machines",
        (Cloud::Azure, CostKind::Disk) => "Storage",
        (Cloud::Azure, CostKind::Address) => "Virtual Network",
        (Cloud::Azure, CostKind::Egress) => "Bandwidth",
        (Cloud::Lambda, CostKind::Machine) => "On-Demand Cloud",
        (Cloud::Lambda, CostKind::Disk) => "Storage of On-Demand Cloud",
        (Cloud::Lambda, CostKind::Address) => "Addresses of On-Demand Cloud",
        (Cloud::Lambda, CostKind::Egress) => "Traffic of On-Demand Cloud",
    }
}
