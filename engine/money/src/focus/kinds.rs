//! What FOCUS calls machines and what comes beside them.

use fleet_model::CostKind;

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
