//! The words a field may hold. One table serves the reader, its hints and the JSON Schema.

use crate::policy::{NotifyEvent, NotifyFormat};
use fleet_model::{
    Architecture, AtCap, Cloud, Figure, Fulfilment, LocalDiskRule, Maker, OnNotice, OnRebalance,
    ProbeAddress, SignalSource, Strategy, Together, Unit, UpdateStrategy,
};

/// The version of the language that this crate reads.
pub(crate) const API_VERSION: &str = "fleet/v1";

/// A closed set of words and what each means.
pub(crate) type Words<T> = &'static [(&'static str, T)];

pub(crate) const CLOUDS: Words<Cloud> =
    &[("aws", Cloud::Aws), ("gcp", Cloud::Gcp), ("azure", Cloud::Azure), ("lambda", Cloud::Lambda)];

pub(crate) const UNITS: Words<Unit> = &[
    ("instances", Unit::Instances),
    ("vcpus", Unit::Vcpus),
    ("gpus", Unit::Gpus),
    ("memoryGiB", Unit::MemoryGib),
    ("bf16-tflops", Unit::Figure(Figure::Bf16)),
    ("fp8-tflops", Unit::Figure(Figure::Fp8)),
    ("fp16-tflops", Unit::Figure(Figure::Fp16)),
    ("tf32-tflops", Unit::Figure(Figure::Tf32)),
    ("fp32-tflops", Unit::Figure(Figure::Fp32)),
    ("int8-tops", Unit::Figure(Figure::Int8)),
    ("hbm-gbps", Unit::Figure(Figure::Bandwidth)),
    ("hbm-gb", Unit::Figure(Figure::Memory)),
    ("work", Unit::Work),
];

pub(crate) const STRATEGIES: Words<Strategy> = &[
    ("capacity-optimized", Strategy::CapacityOptimized),
    ("capacity-optimized-prioritized", Strategy::CapacityOptimizedPrioritized),
    ("price-capacity-optimized", Strategy::PriceCapacityOptimized),
    ("lowest-price", Strategy::LowestPrice),
    ("diversified", Strategy::Diversified),
    ("prioritized", Strategy::Prioritized),
];

pub(crate) const FULFILMENTS: Words<Fulfilment> =
    &[("exact", Fulfilment::Exact), ("flexible", Fulfilment::Flexible)];

pub(crate) const TOGETHER: Words<Together> =
    &[("zone", Together::Zone), ("region", Together::Region), ("provider", Together::Provider)];

pub(crate) const SIGNALS: Words<SignalSource> = &[
    ("aws-placement-score", SignalSource::SpotPlacementScore),
    ("aws-price-history", SignalSource::SpotPriceHistory),
    ("aws-spot-advisor", SignalSource::SpotAdvisor),
    ("gcp-capacity-advice", SignalSource::CapacityAdvice),
    ("gcp-capacity-history", SignalSource::CapacityHistory),
    ("azure-placement-score", SignalSource::PlacementScore),
    ("azure-eviction-rate", SignalSource::EvictionRate),
    ("lambda-capacity-list", SignalSource::RegionsWithCapacity),
];

pub(crate) const ARCHITECTURES: Words<Architecture> =
    &[("x86_64", Architecture::X86_64), ("arm64", Architecture::Arm64)];

pub(crate) const MAKERS: Words<Maker> = &[
    ("nvidia", Maker::Nvidia),
    ("amd", Maker::Amd),
    ("google", Maker::Google),
    ("amazon", Maker::Amazon),
    ("intel", Maker::Intel),
    ("xilinx", Maker::Xilinx),
    ("qualcomm", Maker::Qualcomm),
];

pub(crate) const LOCAL_DISK: Words<LocalDiskRule> = &[
    ("any", LocalDiskRule::Any),
    ("required", LocalDiskRule::Required),
    ("excluded", LocalDiskRule::Excluded),
];

pub(crate) const AT_CAP: Words<AtCap> =
    &[("shrink-burst", AtCap::ShrinkBurst), ("hold", AtCap::Hold)];

pub(crate) const UPDATE_STRATEGIES: Words<UpdateStrategy> =
    &[("rolling", UpdateStrategy::Rolling), ("recreate", UpdateStrategy::Recreate)];

pub(crate) const ON_NOTICE: Words<OnNotice> =
    &[("replace", OnNotice::Replace), ("drain", OnNotice::Drain), ("ignore", OnNotice::Ignore)];

pub(crate) const ADDRESSES: Words<ProbeAddress> =
    &[("private", ProbeAddress::Private), ("public", ProbeAddress::Public)];

pub(crate) const ON_REBALANCE: Words<OnRebalance> =
    &[("ignore", OnRebalance::Ignore), ("replace", OnRebalance::Replace)];

/// Words that people use for what we call otherwise; too far for a spelling check.
pub(crate) const MEANT: &[(&str, &str)] = &[
    ("amd64", "x86_64"),
    ("x86", "x86_64"),
    ("x64", "x86_64"),
    ("intel", "x86_64"),
    ("arm", "arm64"),
    ("aarch64", "arm64"),
    ("graviton", "arm64"),
    ("amazon", "aws"),
    ("google", "gcp"),
    ("microsoft", "azure"),
    ("lambdalabs", "lambda"),
    ("cpu", "vcpus"),
    ("cpus", "vcpus"),
    ("cores", "vcpus"),
    ("gpu", "gpus"),
    ("accelerators", "gpus"),
    ("machines", "instances"),
    ("nodes", "instances"),
    ("vms", "instances"),
    ("memory", "memoryGiB"),
    ("memorygb", "memoryGiB"),
    ("ram", "memoryGiB"),
    ("cheapest", "lowest-price"),
    ("lowestprice", "lowest-price"),
    ("balanced", "diversified"),
    ("aws", "amazon"),
    ("gcp", "google"),
    ("none", "excluded"),
    ("stop", "hold"),
    ("shrink", "shrink-burst"),
];

pub(crate) const NOTIFY_EVENTS: Words<NotifyEvent> = &[
    ("failed", NotifyEvent::Failed),
    ("held", NotifyEvent::Held),
    ("interruptions", NotifyEvent::Interruptions),
    ("budget", NotifyEvent::Budget),
    ("rollout", NotifyEvent::Rollout),
    ("specs-refused", NotifyEvent::SpecsRefused),
];

pub(crate) const NOTIFY_FORMATS: Words<NotifyFormat> =
    &[("json", NotifyFormat::Json), ("slack", NotifyFormat::Slack)];

/// The words of a table.
pub(crate) fn names<T>(words: Words<T>) -> Vec<&'static str> {
    words.iter().map(|(name, _)| *name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_of_the_model_is_a_word() {
        assert_eq!(names(CLOUDS), Cloud::ALL.map(Cloud::as_str));
        assert_eq!(names(STRATEGIES), Strategy::ALL.map(Strategy::as_str));
        assert_eq!(names(FULFILMENTS), Fulfilment::ALL.map(Fulfilment::as_str));
        assert_eq!(names(TOGETHER), Together::ALL.map(Together::as_str));
        assert_eq!(names(SIGNALS), SignalSource::ALL.map(SignalSource::as_str));
        assert_eq!(names(MAKERS), Maker::ALL.map(Maker::as_str));
        assert!(UNITS.iter().all(|(name, unit)| *name == unit.as_str()));
        assert!(ARCHITECTURES.iter().all(|(name, arch)| *name == arch.to_string()));
    }
}
