//! Words of a fixed list, as JSON writes them.

use fleet_model as model;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use std::borrow::Cow;

/// An enum of the model with the words that stand for it. A variant that is forgotten does not compile.
macro_rules! words {
    ($($(#[$doc:meta])* $name:ident of $model:ty { $($variant:ident $word:literal,)* })*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
        pub enum $name {
            $(#[serde(rename = $word)] $variant,)*
        }

        impl From<$model> for $name {
            fn from(value: $model) -> Self {
                match value {
                    $(<$model>::$variant => $name::$variant,)*
                }
            }
        }
    )*};
}

words! {
    /// A cloud.
    Provider of model::Cloud { Aws "aws", Gcp "gcp", Azure "azure", Lambda "lambda", }
    /// How a machine is bought.
    Market of model::Market { OnDemand "on-demand", Spot "spot", Reserved "reserved", }
    /// A part of a fleet: `base` is on-demand, `burst` is spot.
    Group of model::Group { Base "base", Burst "burst", }
    /// Why a region could not be seen, or only in part.
    GapCause of model::GapCause {
        Unreachable "unreachable", PartialList "partial-list", NoCredentials "no-credentials",
        NotAllowed "not-allowed", Throttled "throttled", BreakerOpen "breaker-open",
        ListWrong "list-wrong", OtherAccount "other-account",
    }
    /// How a machine left.
    Departure of model::Departure {
        Ended "ended", Terminated "terminated", Vanished "vanished", Interrupted "interrupted",
        EndedByOther "endedByOther", Expired "expired", Failed "failed",
    }
    /// Why a machine does not work, as far as its cloud says.
    CauseKind of model::CauseKind {
        Interrupted "interrupted", Person "person", Guest "guest", Expired "expired",
        LaunchFailed "launchFailed", NeverReady "neverReady", Unwell "unwell",
        NotReady "notReady",
    }
    /// A limit of a budget.
    BudgetCap of model::Cap {
        Hourly "hourly", CalendarMonth "calendarMonth", Lifetime "lifetime",
    }
    /// What a quota counts.
    QuotaUnit of model::QuotaUnit {
        Vcpus "vcpus", Accelerators "accelerators", Machines "machines",
    }
    /// Where a cloud's word on launches comes from.
    SignalSource of model::SignalSource {
        SpotPlacementScore "spotPlacementScore", SpotPriceHistory "spotPriceHistory",
        SpotAdvisor "spotAdvisor", CapacityAdvice "capacityAdvice",
        CapacityHistory "capacityHistory", PlacementScore "placementScore",
        EvictionRate "evictionRate", RegionsWithCapacity "regionsWithCapacity",
    }
    /// What a line of the cost is for.
    CostKind of model::CostKind {
        Machine "machine", Disk "disk", Address "address", Egress "egress",
    }
    /// A part of a fleet: the on-demand base, spot, or on-demand in the place of spot.
    Tier of model::Tier { Base "base", Burst "burst", Fallback "fallback", }
    /// Why something has no price.
    NoPrice of model::NoPrice {
        Machine "machine", ImageDecides "imageDecides", DiskKind "diskKind", DiskSize "diskSize",
        SubnetDecides "subnetDecides", Route "route",
        Internet "internet", Volume "volume", NotRecorded "notRecorded",
        Adopted "adopted", UnknownType "unknownType",
    }
    /// A kind of request to a cloud.
    Operation of model::Operation { Look "look", Launch "launch", End "end", }
    /// What all machines of a fleet share.
    Together of model::Together { Zone "zone", Region "region", Provider "provider", }
    /// How pools are chosen.
    Strategy of model::Strategy {
        CapacityOptimized "capacity-optimized",
        CapacityOptimizedPrioritized "capacity-optimized-prioritized",
        PriceCapacityOptimized "price-capacity-optimized", LowestPrice "lowest-price",
        Diversified "diversified", Prioritized "prioritized",
    }
    /// An instruction set.
    Architecture of model::Architecture { X86_64 "x86_64", Arm64 "arm64", }
    /// A maker of accelerators.
    Maker of model::Maker {
        Nvidia "nvidia", Amd "amd", Google "google", Amazon "amazon", Intel "intel",
        Xilinx "xilinx", Qualcomm "qualcomm",
    }
    /// How bad a problem of a spec is.
    Severity of fleet_spec::Severity { Error "error", Warning "warning", }
    /// How a check of an account ended.
    Verdict of fleet_provider::Verdict { Good "good", Doubtful "doubtful", Bad "bad", }
}

/// What capacity is counted in. Those with a hyphen are published figures of accelerators.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub enum Unit {
    #[serde(rename = "instances")]
    Instances,
    #[serde(rename = "vcpus")]
    Vcpus,
    #[serde(rename = "gpus")]
    Gpus,
    #[serde(rename = "memoryGiB")]
    MemoryGib,
    #[serde(rename = "hbm-gb")]
    Memory,
    #[serde(rename = "hbm-gbps")]
    Bandwidth,
    #[serde(rename = "fp32-tflops")]
    Fp32,
    #[serde(rename = "tf32-tflops")]
    Tf32,
    #[serde(rename = "bf16-tflops")]
    Bf16,
    #[serde(rename = "fp16-tflops")]
    Fp16,
    #[serde(rename = "fp8-tflops")]
    Fp8,
    #[serde(rename = "int8-tops")]
    Int8,
    #[serde(rename = "work")]
    Work,
}

impl From<model::Unit> for Unit {
    fn from(unit: model::Unit) -> Self {
        use model::Figure;
        match unit {
            model::Unit::Instances => Unit::Instances,
            model::Unit::Vcpus => Unit::Vcpus,
            model::Unit::Gpus => Unit::Gpus,
            model::Unit::MemoryGib => Unit::MemoryGib,
            model::Unit::Figure(Figure::Memory) => Unit::Memory,
            model::Unit::Figure(Figure::Bandwidth) => Unit::Bandwidth,
            model::Unit::Figure(Figure::Fp32) => Unit::Fp32,
            model::Unit::Figure(Figure::Tf32) => Unit::Tf32,
            model::Unit::Figure(Figure::Bf16) => Unit::Bf16,
            model::Unit::Figure(Figure::Fp16) => Unit::Fp16,
            model::Unit::Figure(Figure::Fp8) => Unit::Fp8,
            model::Unit::Figure(Figure::Int8) => Unit::Int8,
            model::Unit::Work => Unit::Work,
        }
    }
}

/// State of a machine. `unknown`: it is recorded, and its region did not answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum State {
    Pending,
    Running,
    Failed,
    Stopped,
    Stopping,
    Terminated,
    Unknown,
}

impl From<Option<model::MachineState>> for State {
    fn from(state: Option<model::MachineState>) -> Self {
        match state {
            None => State::Unknown,
            Some(model::MachineState::Pending) => State::Pending,
            Some(model::MachineState::Running) => State::Running,
            Some(model::MachineState::Failed) => State::Failed,
            Some(model::MachineState::Stopped) => State::Stopped,
            Some(model::MachineState::Stopping) => State::Stopping,
            Some(model::MachineState::Terminated) => State::Terminated,
        }
    }
}

/// A moment, RFC 3339 in UTC.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(transparent)]
pub struct Time(pub model::Timestamp);

impl JsonSchema for Time {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Time".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "date-time" })
    }
}

/// A word of a fixed list, as documents write it.
pub fn name(word: &impl Serialize) -> String {
    let json = serde_json::to_value(word).unwrap_or_default();
    json.as_str().unwrap_or_default().to_owned()
}

/// An amount in US dollars.
pub fn usd(amount: model::MicroUsd) -> f64 {
    amount.as_f64()
}

/// A share in per cent.
pub fn percent(share: model::Share) -> f64 {
    f64::from(share.ppm()) / 10_000.0
}

/// Things as their names.
pub fn names<'a, T: ToString + 'a>(all: impl IntoIterator<Item = &'a T>) -> Vec<String> {
    all.into_iter().map(ToString::to_string).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The words of the model's own files: one vocabulary, not two.
    #[test]
    fn words_are_those_of_the_model() {
        fn same(ours: impl Serialize, theirs: impl Serialize) {
            let json = |value| serde_json::to_value(value).expect("JSON");
            assert_eq!(
                json(serde_json::to_value(ours).expect("JSON")),
                json(serde_json::to_value(theirs).expect("JSON"))
            );
        }
        model::Cloud::ALL.into_iter().for_each(|one| same(Provider::from(one), one));
        model::Market::ALL.into_iter().for_each(|one| same(Market::from(one), one));
        model::Group::ALL.into_iter().for_each(|one| same(Group::from(one), one));
        model::Strategy::ALL.into_iter().for_each(|one| same(Strategy::from(one), one));
        model::Maker::ALL.into_iter().for_each(|one| same(Maker::from(one), one));
    }
}
