//! For how long what comes beside a machine is billed. One table; each row with its source. What a page leaves open
//! is read the dearer way, and the row says so.

use fleet_model::{Cloud, CostKind};

const SECOND: u64 = 1_000;
const MINUTE: u64 = 60_000;
const HOUR: u64 = 3_600_000;

/// Until when it is billed. All of it is from the launch of its machine on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Until {
    /// Until it is deleted, also while its machine is stopped.
    Deleted,
    /// Until its machine leaves the last state that is billed.
    MachineEnds,
}

/// How something beside a machine is billed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule {
    /// The cloud; `None`: every one.
    pub cloud: Option<Cloud>,
    /// What.
    pub kind: CostKind,
    /// Milliseconds of one step; a step that was begun is billed.
    pub step: u64,
    /// Milliseconds that are billed at the least.
    pub least: u64,
    /// Until when.
    pub until: Until,
    /// What of it is one of several readings, or our own.
    pub reading: Option<&'static str>,
    /// Where it is said.
    pub source: &'static str,
}

const fn disk(
    cloud: Cloud,
    (step, least): (u64, u64),
    reading: Option<&'static str>,
    source: &'static str,
) -> Rule {
    let (cloud, kind) = (Some(cloud), CostKind::Disk);
    Rule { cloud, kind, step, least, until: Until::Deleted, reading, source }
}

const DISKS: [Rule; 4] = [
    disk(
        Cloud::Aws,
        (SECOND, MINUTE),
        None,
        "AWS What's New 2017-10-02; EC2 User Guide \"Billing for interrupted Spot Instances\"",
    ),
    disk(Cloud::Gcp, (SECOND, SECOND), None, "Compute Engine \"Disk and image pricing\""),
    disk(
        Cloud::Azure,
        (HOUR, HOUR),
        Some("by the started hour: how a part of a month is counted is not documented"),
        "Azure \"Understand Azure Disk Storage billing\"",
    ),
    disk(
        Cloud::Lambda,
        (SECOND, SECOND),
        None,
        "dstackai/dstack#1553: in the price of the machine",
    ),
];

const ADDRESSES: Rule = Rule {
    cloud: None,
    kind: CostKind::Address,
    step: SECOND,
    least: MINUTE,
    until: Until::MachineEnds,
    reading: Some(
        "by the second with a minute at least, as the machines: pages name a price per hour alone",
    ),
    source: "EC2 \"Instance lifecycle\"; Compute Engine \"VM instance pricing\"",
};

const TRAFFIC: Rule = Rule {
    cloud: None,
    kind: CostKind::Egress,
    step: 1,
    least: 0,
    until: Until::MachineEnds,
    reading: Some(
        "what the spec expects, spread evenly over the time of the machine; what was sent is not known",
    ),
    source: "`placement.egressGiBPerDay`",
};

/// Every rule.
pub const RULES: [Rule; 6] = {
    let [aws, gcp, azure, lambda] = DISKS;
    [aws, gcp, azure, lambda, ADDRESSES, TRAFFIC]
};

/// The rule for what comes beside a machine; `None` for the machine itself, which has [`crate::billing`].
pub fn rule(cloud: Cloud, kind: CostKind) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.kind == kind && rule.cloud.is_none_or(|of| of == cloud))
}

impl Rule {
    /// Milliseconds that are billed for what was there for some.
    pub fn billed(&self, there: u64) -> u64 {
        there.div_ceil(self.step).saturating_mul(self.step).max(self.least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_on_every_cloud_has_its_rule() {
        for (cloud, kind) in
            Cloud::ALL.iter().flat_map(|cloud| CostKind::BESIDE.map(|kind| (cloud, kind)))
        {
            assert_eq!(rule(*cloud, kind).map(|rule| rule.kind), Some(kind), "{cloud} {kind}");
        }
        let disk = |cloud, ms| rule(cloud, CostKind::Disk).map(|rule| rule.billed(ms));
        assert_eq!(disk(Cloud::Aws, 1), Some(MINUTE));
        assert_eq!(disk(Cloud::Aws, MINUTE + 1), Some(MINUTE + SECOND));
        assert_eq!(disk(Cloud::Gcp, 1), Some(SECOND));
        assert_eq!(disk(Cloud::Azure, HOUR + 1), Some(2 * HOUR));
        let traffic = rule(Cloud::Aws, CostKind::Egress).map(|rule| rule.billed(7));
        assert_eq!(traffic, Some(7));
        assert!(rule(Cloud::Aws, CostKind::Machine).is_none());
    }
}
