//! What should exist: a validated fleet, with every share turned into a number.

use crate::{
    Approval, Architecture, Chip, Cloud, Digest, Fallback, FleetName, Group, Health, InstanceKind,
    InstanceType, Interruption, Maker, Market, MicroUsd, Pattern, Place, PoolId, Rebalance,
    ScheduleEntry, Share, SignalSet, Template, Timestamp, Unit, Units, Updates, digest,
};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// A fleet as it should be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Desired {
    /// The fleet's name.
    pub fleet: FleetName,
    /// Labels from its metadata.
    pub labels: Labels,
    /// How much.
    pub capacity: CapacityGoal,
    /// Of what.
    pub instances: InstanceRules,
    /// Where.
    pub placement: PlacementRules,
    /// At what price.
    pub budget: Budget,
    /// How machines are made, per cloud. A cloud without an entry uses the empty template.
    pub templates: BTreeMap<Cloud, Template>,
    /// How much of the fleet one apply may destroy because its target was lowered, without a person who
    /// confirms the number. What else is to be destroyed keeps the limit of one in ten.
    #[serde(default = "half", skip_serializing_if = "is_half")]
    pub max_destroy: Share,
    /// Targets by the clock, in the place of `capacity`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub schedule: Vec<ScheduleEntry>,
    /// When the fleet ends by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<Timestamp>,
    /// When a machine is of use.
    #[serde(default, skip_serializing_if = "Health::is_default")]
    pub health: Health,
    /// How machines are replaced when their template changes.
    #[serde(default, skip_serializing_if = "Updates::is_default")]
    pub updates: Updates,
    /// What happens when a cloud takes machines back.
    #[serde(default, skip_serializing_if = "Interruption::is_default")]
    pub interruption: Interruption,
    /// On-demand in the place of spot that is lost or cannot be had; `None`: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback: Option<Fallback>,
    /// Machines that run are moved to cheaper pools; `None`: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rebalance: Option<Rebalance>,
    /// Approvals that policies ask for and the labels do not give.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub approvals: Vec<Approval>,
    /// Fingerprint of the whole, so that a saved plan can tell that the spec moved on.
    pub digest: Digest,
}

/// What one apply may destroy of a fleet whose target was lowered, where no policy says otherwise.
fn half() -> Share {
    Share::HALF
}

fn is_half(share: &Share) -> bool {
    *share == Share::HALF
}

/// Labels or tags of the user's own, by key.
pub type Labels = BTreeMap<String, String>;

impl Desired {
    /// A fleet that wants nothing, from anywhere in some clouds.
    pub fn nothing(
        fleet: FleetName,
        clouds: impl IntoIterator<Item = Cloud>,
        digest: Digest,
    ) -> Self {
        Desired {
            fleet,
            labels: Labels::default(),
            capacity: CapacityGoal {
                unit: Unit::Instances,
                target: Units(0),
                on_demand: Units(0),
                spot: Units(0),
            },
            instances: InstanceRules::default(),
            placement: PlacementRules::anywhere(clouds),
            budget: Budget::default(),
            templates: BTreeMap::new(),
            max_destroy: half(),
            schedule: Vec::new(),
            expires: None,
            health: Health::default(),
            updates: Updates::default(),
            interruption: Interruption::default(),
            fallback: None,
            rebalance: None,
            approvals: Vec::new(),
            digest,
        }
    }

    /// A fleet of which only the name is known, because its spec is gone. It wants nothing: enough to look at what
    /// is recorded of it, or to take it down. Nobody lowered its target, so no more is destroyed at once than usual.
    pub fn without_spec(fleet: FleetName, clouds: impl IntoIterator<Item = Cloud>) -> Self {
        let digest = digest("no-spec/1", [fleet.as_str().as_bytes()]);
        Desired { max_destroy: Share::NONE, ..Desired::nothing(fleet, clouds, digest) }
    }

    /// Whether only the name is known.
    pub fn is_without_spec(&self) -> bool {
        self.digest == digest("no-spec/1", [self.fleet.as_str().as_bytes()])
    }

    /// What machines of a cloud carry: the fleet's labels, and its template's tags over them.
    pub fn labels_on(&self, cloud: Cloud) -> Labels {
        let mut labels = self.labels.clone();
        if let Some(template) = self.templates.get(&cloud) {
            labels.extend(template.tags.clone());
        }
        labels
    }
}

/// How much capacity, and how it is split between markets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CapacityGoal {
    /// What is counted.
    pub unit: Unit,
    /// How much in all. `on_demand + spot`.
    pub target: Units,
    /// Of that, on-demand. Shares are rounded up to whole units here.
    pub on_demand: Units,
    /// Of that, spot.
    pub spot: Units,
}

impl CapacityGoal {
    /// What one group is meant to hold.
    pub fn of(self, group: Group) -> Units {
        match group {
            Group::Base => self.on_demand,
            Group::Burst => self.spot,
        }
    }
}

/// Which machines are allowed. Empty lists allow everything.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct InstanceRules {
    /// Families or patterns over type names: `p5`, `Standard_ND96`, `g6*`.
    pub families: Vec<Pattern>,
    /// Types by name or pattern. A type is allowed if a family or a type matches.
    pub types: Vec<Pattern>,
    /// Families, types or patterns that are never used.
    pub exclude: Vec<Pattern>,
    /// vCPUs of one machine.
    pub vcpus: Bounds,
    /// Memory of one machine in MiB.
    pub memory_mib: Bounds,
    /// MiB of memory per vCPU.
    pub mib_per_vcpu: Bounds,
    /// Allowed architectures; empty: any.
    pub architectures: BTreeSet<Architecture>,
    /// Accelerators of one machine.
    pub accelerators: AcceleratorRules,
    /// Whether there must be, or must not be, a local disk.
    pub local_disk: LocalDiskRule,
    /// The cloud's own count of generations.
    pub generation: Bounds,
}

/// Which accelerators are allowed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AcceleratorRules {
    /// Names or patterns; empty: any, also none at all.
    pub names: Vec<Pattern>,
    /// Makers; empty: any.
    pub makers: BTreeSet<Maker>,
    /// How many in one machine, in thousandths.
    pub count_milli: Bounds,
    /// Memory of one accelerator in MiB.
    pub memory_mib: Bounds,
}

impl AcceleratorRules {
    /// Whether anything at all is asked of accelerators.
    pub fn is_empty(&self) -> bool {
        *self == AcceleratorRules::default()
    }
}

/// Inclusive bounds; absent means unbounded.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(default)]
pub struct Bounds {
    /// At least.
    pub min: Option<u64>,
    /// At most.
    pub max: Option<u64>,
}

impl Bounds {
    /// Whether nothing is asked.
    pub fn is_unbounded(self) -> bool {
        self.min.is_none() && self.max.is_none()
    }

    /// Whether a known value lies inside.
    pub fn contains(self, value: u64) -> bool {
        self.min.is_none_or(|min| value >= min) && self.max.is_none_or(|max| value <= max)
    }
}

/// What is asked of a disk in the machine itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LocalDiskRule {
    /// With or without.
    #[default]
    Any,
    /// With.
    Required,
    /// Without.
    Excluded,
}

/// Where machines may stand and how they are chosen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlacementRules {
    /// How pools are ranked.
    pub strategy: Strategy,
    /// Where. Never empty.
    pub clouds: Vec<CloudRule>,
    /// How far apart.
    pub spread: Spread,
    /// For the prioritized strategies, most wanted first. From `priorities`, else from the order
    /// in which families and types are listed.
    pub priorities: Vec<Pattern>,
    /// Overrides of how much capacity one machine counts for; the first match holds.
    pub weights: Vec<Weight>,
    /// The most we pay for spot.
    pub max_spot_price: Option<MaxSpotPrice>,
    /// What a cloud may do with a launch.
    #[serde(default, skip_serializing_if = "Fulfilment::is_exact")]
    pub fulfilment: Fulfilment,
    /// What all machines must share; `None`: nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub together: Option<Together>,
    /// How dear it is to be short. `None`: no spare machines, and no on-demand in place of spot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hedge: Option<Hedge>,
    /// Work that ends with a machine, in seconds of its own. `None`: the spec does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost_work_seconds: Option<u32>,
    /// Signals of the clouds that are neither asked for nor believed.
    #[serde(default, skip_serializing_if = "SignalSet::is_empty")]
    pub ignore_signals: SignalSet,
    /// What was bought ahead of time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commitments: Vec<Commitment>,
    /// What the fleet is expected to send and receive.
    #[serde(default, skip_serializing_if = "Traffic::is_nothing")]
    pub traffic: Traffic,
}

impl PlacementRules {
    /// Work that ends with a machine, in hours of its own, if the spec says so.
    pub fn lost_work_hours(&self) -> Option<f64> {
        self.lost_work_seconds.map(|seconds| f64::from(seconds) / 3600.0)
    }
}

/// What a fleet is expected to send and receive. A unit of capacity has its part of it: as much as it is
/// of the target.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Traffic {
    /// Where the data is: the cloud and the cloud's own name of the region. `None`: on the internet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<(Cloud, String)>,
    /// What leaves the place of the data for the machines, in thousandths of a GiB a day. Without such a
    /// place: what leaves the machines for the internet.
    pub egress_milli_gib: u64,
    /// What machines send back to the place of the data, in thousandths of a GiB a day.
    pub returned_milli_gib: u64,
}

impl Traffic {
    /// Whether nothing is expected.
    pub fn is_nothing(&self) -> bool {
        self.egress_milli_gib == 0 && self.returned_milli_gib == 0
    }
}

/// Machines that are paid for whether they run or not: reserved instances, committed use. On-demand
/// machines that they cover cost nothing more.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Commitment {
    /// The cloud.
    pub cloud: Cloud,
    /// The region, in whichever account.
    pub region: String,
    /// The type.
    pub instance_type: InstanceType,
    /// How many machines.
    pub count: u32,
    /// When it ends; `None`: not in sight.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// What it costs for each machine and hour, used or not. `None`: nobody said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hourly: Option<MicroUsd>,
}

impl Commitment {
    /// Whether it is for machines of a pool.
    pub fn is_for(&self, pool: &PoolId) -> bool {
        pool.market == Market::OnDemand && self.names(&pool.place, &pool.instance_type)
    }

    /// Whether it names a type in a place.
    pub fn names(&self, place: &Place, instance_type: &InstanceType) -> bool {
        place.cloud == self.cloud
            && *instance_type == self.instance_type
            && place.region.name() == self.region
    }

    /// Whether two are for the same machines.
    pub fn is_like(&self, other: &Self) -> bool {
        (self.cloud, &self.region, &self.instance_type)
            == (other.cloud, &other.region, &other.instance_type)
    }
}

/// What it costs to be short of capacity: decides how many spare spot machines, and how much
/// on-demand in place of spot, are worth their price.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Hedge {
    /// What a missing unit costs per hour, in thousandths of its on-demand price.
    pub penalty_milli: u32,
    /// From a launch until a machine is of use.
    pub ready_after_seconds: u32,
    /// From one reconcile to the next: a machine that is lost is missing until then.
    #[serde(default)]
    pub reconcile_every_seconds: u32,
}

impl Hedge {
    /// What it takes for a machine to be of use, where nobody says otherwise.
    pub const READY_AFTER_SECONDS: u32 = 300;
    /// How often a fleet is looked after, where nobody says otherwise.
    pub const RECONCILE_EVERY_SECONDS: u32 = 3600;

    /// With a price on what is missing, in thousandths of on-demand, and the usual times.
    pub fn at(penalty_milli: u32) -> Self {
        Hedge {
            penalty_milli,
            ready_after_seconds: Self::READY_AFTER_SECONDS,
            reconcile_every_seconds: Self::RECONCILE_EVERY_SECONDS,
        }
    }

    /// The same, looked after at every moment: by a controller, or in a replay.
    pub fn watched(self) -> Self {
        Hedge { reconcile_every_seconds: 0, ..self }
    }

    /// For how many hours a machine that is lost is missing, in the middle: it is lost half way between
    /// two looks, and its successor takes its time.
    pub fn missing_hours(self) -> f64 {
        (f64::from(self.reconcile_every_seconds) / 2.0 + f64::from(self.ready_after_seconds))
            / 3600.0
    }

    /// The penalty at which it pays to be whole for a share of the time.
    ///
    /// A spare spot machine costs about a third of an on-demand one. It pays for itself while the
    /// chance to be short, times the penalty, is above that.
    pub fn for_availability(share: Share) -> Self {
        const SPARE_MILLI: u64 = 300;
        let short_ppm = u64::from(Share::ALL.ppm() - share.ppm()).max(100);
        let penalty = SPARE_MILLI * u64::from(Share::ALL.ppm()) / short_ppm;
        Self::at(u32::try_from(penalty).unwrap_or(u32::MAX))
    }
}

/// How much capacity one machine of some types counts for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Weight {
    /// Which types, or which accelerators.
    pub types: Pattern,
    /// How much one counts for.
    pub units: Units,
    /// One of what.
    #[serde(default, skip_serializing_if = "WeightOf::is_machine")]
    pub of: WeightOf,
}

/// What a weight is the weight of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum WeightOf {
    /// A machine: the pattern is over types and families.
    #[default]
    Machine,
    /// An accelerator: the pattern is over the names of chips and accelerators, and a machine counts for as
    /// many as it has.
    Accelerator,
}

impl WeightOf {
    fn is_machine(&self) -> bool {
        *self == WeightOf::Machine
    }
}

impl Weight {
    /// How much a machine of a kind counts for by this weight; `None` if it is about others.
    pub fn of_kind(&self, kind: &InstanceKind) -> Option<Units> {
        match self.of {
            WeightOf::Machine => {
                let named = self.types.matches(kind.name.as_str())
                    || kind.cloud.is_family(self.types.as_str(), &kind.name);
                named.then_some(self.units)
            }
            WeightOf::Accelerator => {
                let has = kind.resources.accelerators.as_ref()?;
                let chip = Chip::of(kind).map(|chip| chip.name);
                let mut names = chip.into_iter().chain(has.name.as_deref());
                let count = has.count_milli;
                names
                    .any(|name| self.types.matches(name))
                    .then(|| Units(self.units.0.saturating_mul(count.into()) / 1000))
            }
        }
    }
}

/// One cloud and where in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CloudRule {
    /// The cloud.
    pub cloud: Cloud,
    /// Regions or patterns; empty: any.
    pub regions: Vec<Pattern>,
    /// Zones or patterns; empty: any.
    pub zones: Vec<Pattern>,
    /// Accounts, projects or subscriptions to stand in; empty: the one that the credentials name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accounts: Vec<String>,
}

impl CloudRule {
    /// Anywhere in a cloud.
    pub fn anywhere(cloud: Cloud) -> Self {
        CloudRule { cloud, regions: Vec::new(), zones: Vec::new(), accounts: Vec::new() }
    }
}

impl PlacementRules {
    /// Anywhere in some clouds, and no further word.
    pub fn anywhere(clouds: impl IntoIterator<Item = Cloud>) -> Self {
        PlacementRules {
            strategy: Strategy::CapacityOptimized,
            clouds: clouds.into_iter().map(CloudRule::anywhere).collect(),
            spread: Spread::default(),
            priorities: Vec::new(),
            weights: Vec::new(),
            max_spot_price: None,
            fulfilment: Fulfilment::default(),
            together: None,
            hedge: None,
            lost_work_seconds: None,
            ignore_signals: SignalSet::default(),
            commitments: Vec::new(),
            traffic: Traffic::default(),
        }
    }
}

/// What a cloud may do with a launch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fulfilment {
    /// Each launch is from one pool.
    #[default]
    Exact,
    /// The machines of one region and market come from any of the pools that the plan chose there,
    /// as far as the cloud has them. Fewer is an answer.
    Flexible,
}

impl Fulfilment {
    /// Every one of them.
    pub const ALL: [Fulfilment; 2] = [Fulfilment::Exact, Fulfilment::Flexible];

    /// The word as users write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Fulfilment::Exact => "exact",
            Fulfilment::Flexible => "flexible",
        }
    }

    fn is_exact(&self) -> bool {
        *self == Fulfilment::Exact
    }
}

/// What all machines of a fleet share, for work that talks much among them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Together {
    /// One zone.
    Zone,
    /// One region, of one account.
    Region,
    /// One cloud.
    Provider,
}

impl Together {
    /// Every one of them.
    pub const ALL: [Together; 3] = [Together::Zone, Together::Region, Together::Provider];

    /// The word as users write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Together::Zone => "zone",
            Together::Region => "region",
            Together::Provider => "provider",
        }
    }

    /// Whether machines in two places stand together.
    pub fn joins(self, one: &Place, other: &Place) -> bool {
        one.cloud == other.cloud
            && (self == Together::Provider || one.region == other.region)
            && (self != Together::Zone || one.zone == other.zone)
    }

    /// What of a place machines share, for people.
    pub fn shown(self, place: &Place) -> String {
        match self {
            Together::Zone => place.to_string(),
            Together::Region => place.scope().to_string(),
            Together::Provider => place.cloud.to_string(),
        }
    }
}

/// How pools are ranked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Strategy {
    /// Most likely to be had and to last.
    CapacityOptimized,
    /// The same, with the user's order where capacity is alike.
    CapacityOptimizedPrioritized,
    /// The cheapest of the likely.
    PriceCapacityOptimized,
    /// The cheapest.
    LowestPrice,
    /// Evenly over everything allowed.
    Diversified,
    /// The user's order.
    Prioritized,
}

impl Strategy {
    /// Every strategy.
    pub const ALL: [Strategy; 6] = [
        Strategy::CapacityOptimized,
        Strategy::CapacityOptimizedPrioritized,
        Strategy::PriceCapacityOptimized,
        Strategy::LowestPrice,
        Strategy::Diversified,
        Strategy::Prioritized,
    ];

    /// The strategy as users write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Strategy::CapacityOptimized => "capacity-optimized",
            Strategy::CapacityOptimizedPrioritized => "capacity-optimized-prioritized",
            Strategy::PriceCapacityOptimized => "price-capacity-optimized",
            Strategy::LowestPrice => "lowest-price",
            Strategy::Diversified => "diversified",
            Strategy::Prioritized => "prioritized",
        }
    }
}

/// Limits on how much may stand together. Shares are of the fleet's target.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Spread {
    /// At least this many zones, over all clouds.
    pub min_zones: u32,
    /// At most this share in one pool.
    pub max_share_per_pool: Option<Share>,
    /// At most this share in one zone.
    pub max_share_per_zone: Option<Share>,
    /// At most this share in one region.
    pub max_share_per_region: Option<Share>,
    /// At most this share on one cloud.
    pub max_share_per_provider: Option<Share>,
}

/// The most we pay for spot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum MaxSpotPrice {
    /// Per machine and hour.
    Hourly(MicroUsd),
    /// A share of the on-demand price of the same type in the same place.
    ShareOfOnDemand(Share),
}

/// What the fleet may cost.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Budget {
    /// At most this much per hour: the tighter of the hourly and the monthly limit.
    pub hourly: Option<MicroUsd>,
    /// At most this much may be spent in each month of the calendar.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calendar_month: Option<MicroUsd>,
    /// At most this much may ever be spent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lifetime: Option<MicroUsd>,
    /// The zone in which months begin.
    #[serde(skip_serializing_if = "is_utc")]
    pub time_zone: TimeZoneName,
    /// From one look at the fleet to the next: what is spent until then is spent already.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reconcile_every_seconds: Option<u32>,
    /// What happens when the target does not fit.
    pub at_cap: AtCap,
}

impl Budget {
    /// Whether anything limits what the fleet costs.
    pub fn is_limited(&self) -> bool {
        self.hourly.is_some() || self.has_caps()
    }

    /// Whether there is a limit on what is spent, and not only on what is paid per hour.
    pub fn has_caps(&self) -> bool {
        self.calendar_month.is_some() || self.lifetime.is_some()
    }

    /// One of the limits.
    pub fn limit(&self, cap: Cap) -> Option<MicroUsd> {
        match cap {
            Cap::Hourly => self.hourly,
            Cap::CalendarMonth => self.calendar_month,
            Cap::Lifetime => self.lifetime,
        }
    }

    /// The same, to set it.
    pub fn limit_mut(&mut self, cap: Cap) -> &mut Option<MicroUsd> {
        match cap {
            Cap::Hourly => &mut self.hourly,
            Cap::CalendarMonth => &mut self.calendar_month,
            Cap::Lifetime => &mut self.lifetime,
        }
    }

    /// How often somebody looks after the fleet.
    pub fn reconcile_every(&self) -> u32 {
        self.reconcile_every_seconds.unwrap_or(Hedge::RECONCILE_EVERY_SECONDS)
    }
}

/// The name of a time zone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TimeZoneName(pub String);

impl Default for TimeZoneName {
    fn default() -> Self {
        TimeZoneName("UTC".into())
    }
}

fn is_utc(zone: &TimeZoneName) -> bool {
    zone.0 == "UTC"
}

/// Which limit of a budget.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "camelCase")]
pub enum Cap {
    /// What is paid per hour.
    #[default]
    Hourly,
    /// What is spent in a month of the calendar.
    CalendarMonth,
    /// What is ever spent.
    Lifetime,
}

impl Cap {
    /// Every limit.
    pub const ALL: [Cap; 3] = [Cap::Hourly, Cap::CalendarMonth, Cap::Lifetime];

    /// For plans that were written when there was one limit.
    pub fn is_hourly(&self) -> bool {
        *self == Cap::Hourly
    }
}

/// What happens when the target does not fit into the budget.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AtCap {
    /// Place what fits, base first; report the rest as unplaced.
    #[default]
    ShrinkBurst,
    /// Launch nothing more until the whole target fits.
    Hold,
}
