//! What an import found, for people.

use fleet_model::Cloud;
use std::collections::BTreeMap;
use std::fmt;

/// Something in a price list that needed a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Finding {
    /// No on-demand price is given: kept, unpriced.
    Unpriced,
    /// The type is sold as spot elsewhere and has no spot price here: kept, spot unpriced.
    SpotUnpriced,
    /// Spot is dearer than on-demand: kept as it stands, for the planner to judge.
    SpotDearer,
    /// A price of zero: unpriced.
    Zero,
    /// A slice costs the same as a larger one in the same zone: a placeholder, so unpriced.
    Placeholder,
    /// A line for a type and zone that another line has given: merged, the one with prices wins.
    Duplicate,
    /// A machine with built-in accelerators that are listed apart: priced as host plus them.
    HostPlusAccelerators,
    /// The same, where the accelerators have no price in that zone: unpriced, not host-only.
    AcceleratorsUnpriced,
    /// Accelerators that can be attached to hosts of many sizes: left out. They are not machines,
    /// and every size of host times every count would be.
    Attachable,
    /// Accelerator prices that were folded into their machines.
    Folded,
    /// Machine types that exist only under a TPU slice: left out.
    TpuHost,
    /// Types whose accelerators the list leaves out: filled in from our own table.
    AcceleratorsFilled,
    /// Types whose accelerators the list has wrong: corrected from our own table.
    AcceleratorsCorrected,
    /// Types that surely have accelerators, which or how many is not known.
    AcceleratorsUnknown,
    /// Types with an accelerator that our vocabulary does not know: kept as written.
    AcceleratorsUnnamed,
    /// Types with fewer vCPUs enabled than the list says: corrected by their name.
    VcpusCorrected,
    /// Lines that contradict an earlier line about what the type has: the earlier one holds.
    Contradiction,
    /// Lines without an instance type that nothing above explains: left out.
    Nameless,
}

impl Finding {
    /// The finding and its treatment in a few words, to follow a number.
    pub fn describe(self) -> &'static str {
        match self {
            Finding::Unpriced => "offers without an on-demand price: kept as unpriced",
            Finding::SpotUnpriced => "offers of spot types without a spot price: kept as unpriced",
            Finding::SpotDearer => "spot prices above on-demand: kept",
            Finding::Zero => "prices of zero: taken as unpriced",
            Finding::Placeholder => "slices priced like larger ones: taken as unpriced",
            Finding::Duplicate => "duplicate lines: merged",
            Finding::HostPlusAccelerators => "offers priced as host plus accelerators",
            Finding::AcceleratorsUnpriced => "offers whose accelerators have no price: unpriced",
            Finding::Attachable => "lines of attachable accelerators: left out",
            Finding::Folded => "lines of accelerator prices: folded into machines",
            Finding::TpuHost => "lines of hosts sold only with TPUs: left out",
            Finding::AcceleratorsFilled => "types whose missing accelerators we filled in",
            Finding::AcceleratorsCorrected => "types whose wrong accelerators we corrected",
            Finding::AcceleratorsUnknown => "types with unknown accelerators",
            Finding::AcceleratorsUnnamed => "types with accelerators new to us: kept as written",
            Finding::VcpusCorrected => "types with fewer vCPUs than listed: corrected",
            Finding::Contradiction => "lines that contradict earlier ones: earlier ones hold",
            Finding::Nameless => "lines without a type: left out",
        }
    }
}

/// What one cloud's list held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CloudReport {
    /// The cloud.
    pub cloud: Cloud,
    /// Lines read.
    pub lines: u32,
    /// Types kept.
    pub kinds: u32,
    /// Offers kept: one type in one place.
    pub offers: u32,
    /// What needed a decision, and how often.
    pub findings: BTreeMap<Finding, u32>,
}

impl CloudReport {
    /// How often something was found.
    pub fn count(&self, finding: Finding) -> u32 {
        self.findings.get(&finding).copied().unwrap_or(0)
    }
}

/// What an import read and decided.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ImportReport {
    /// One report per cloud that had a list.
    pub clouds: Vec<CloudReport>,
}

impl ImportReport {
    /// Lines read in all.
    pub fn lines(&self) -> u32 {
        self.clouds.iter().map(|cloud| cloud.lines).sum()
    }

    /// Offers kept in all.
    pub fn offers(&self) -> u32 {
        self.clouds.iter().map(|cloud| cloud.offers).sum()
    }

    /// One cloud's report.
    pub fn cloud(&self, cloud: Cloud) -> Option<&CloudReport> {
        self.clouds.iter().find(|report| report.cloud == cloud)
    }
}

/// A summary of several lines, without a line end after the last.
impl fmt::Display for ImportReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, cloud) in self.clouds.iter().enumerate() {
            let CloudReport { cloud, lines, kinds, offers, findings } = cloud;
            let start = if at == 0 { "" } else { "\n" };
            write!(f, "{start}{cloud}: {lines} lines, {kinds} types, {offers} offers")?;
            for (finding, count) in findings {
                write!(f, "\n  {count:>6} {}", finding.describe())?;
            }
        }
        Ok(())
    }
}
