//! The wire format: every field of `fleet/v1`, described once.
//!
//! From these types come the JSON Schema, the reference page and the lists of fields that the
//! reader knows. Nothing is deserialised into them: serde would stop at the first error.

use crate::wire_scalar::{
    AcceleratorMaker, AddressWord, Amount, AmountOrShare, AnyOr, ApiVersion, Arch, AtCapWord,
    DefaultsKind, Flag, FleetKind, FulfilmentWord, Glob, Labels, LocalDiskWord, Moment, Name,
    NotifyEventWord, NotifyFormatWord, OnNotice, OnRebalance, PerCloud, PolicyKind, Positive,
    PositiveWhole, Provider, RequiredLabels, ShareText, SignalWord, Span, StrategyWord, Text,
    TogetherWord, UnitWord, UpdateStrategy, Usd, UsdOrShare, Variables, Whole,
};
use schemars::JsonSchema;

macro_rules! wire {
    ($($(#[$meta:meta])* $name:ident {
        $($(#[$field_meta:meta])* $wire:literal $field:ident: $type:ty,)*
    })*) => {$(
        #[derive(JsonSchema)]
        $(#[$meta])*
        #[schemars(deny_unknown_fields)]
        #[expect(dead_code, reason = "described, never built")]
        pub(crate) struct $name {
            $($(#[$field_meta])* #[schemars(rename = $wire)] $field: $type,)*
        }
        impl $name {
            /// The fields that the reader knows.
            pub(crate) const FIELDS: &'static [&'static str] = &[$($wire),*];
        }
    )*
        /// Every type with its fields, in the order in which a person would explain them.
        pub(crate) const TYPES: &[(&str, &[&str])] =
            &[$((stringify!($name), $name::FIELDS)),*];
    };
}

/// The spec of Defaults, which the schema makes from that of a fleet.
pub(crate) const DEFAULTS_SPEC: &str = "DefaultsSpec";
/// The capacity in Defaults, made from that of a fleet.
pub(crate) const DEFAULTS_CAPACITY: &str = "DefaultsCapacity";

/// The type that has the fields of another one.
pub(crate) fn like(name: &str) -> &str {
    match name {
        DEFAULTS_SPEC => "FleetSpec",
        DEFAULTS_CAPACITY => "Capacity",
        name => name,
    }
}

wire! {
    /// A fleet: how much capacity of what kind should exist, where, and at what price.
    Fleet {
        /// The version of the language.
        "apiVersion" api_version: ApiVersion,
        /// What this document is.
        "kind" kind: FleetKind,
        /// What the fleet is called.
        "metadata" metadata: Metadata,
        /// Variables, each with its default, or with `null` if a value must be given. `${NAME}` in a
        /// value under metadata and spec is replaced: by `--var NAME=VALUE`, else by NAME in the
        /// environment, else by the default. Names of credentials, such as `…TOKEN`, are not read from the
        /// environment. An undeclared `${NAME}` stays in userData and is an error elsewhere.
        "variables" variables: Option<Variables>,
        /// What should exist.
        "spec" spec: FleetSpec,
    }

    /// What fleets have in common. They hold for every fleet in the folder of their file, which is
    /// named `defaults.yaml`, and below. The nearest folder wins key by key, and the fleet wins over
    /// all: mappings are merged, lists and single values are replaced. Of two keys that say the same
    /// thing, such as userData and userDataFile, the nearer one holds.
    Defaults {
        /// The version of the language.
        "apiVersion" api_version: ApiVersion,
        /// What this document is.
        "kind" kind: DefaultsKind,
        /// What the Defaults are called. Their labels are labels of every fleet.
        "metadata" metadata: Metadata,
        /// Variables for every fleet, as in a Fleet.
        "variables" variables: Option<Variables>,
        /// As in a Fleet, each field optional.
        "spec" spec: Option<FleetSpec>,
    }

    /// What a thing is called.
    Metadata {
        /// Unique among all fleets (or policies): lower-case letters, digits and `-`, 63 at most.
        "name" name: Name,
        /// Labels for people and policies, carried by every machine. Values are text; `1.10` stays `1.10`.
        /// A change reaches machines that run, in place (not on Lambda).
        "labels" labels: Option<Labels>,
    }

    /// What should exist.
    FleetSpec {
        /// How much, and how it is split between on-demand and spot.
        "capacity" capacity: Capacity,
        /// Which machines are allowed. Absent: every type that offers the unit.
        "instances" instances: Option<Instances>,
        /// Where machines may stand and how pools are chosen. Absent: anywhere on every cloud.
        "placement" placement: Option<Placement>,
        /// What the fleet may cost. Absent: the policy's ceiling, or no limit.
        "budget" budget: Option<Budget>,
        /// How machines are made. Each field is one value for all clouds, or one per cloud.
        "template" template: Option<Template>,
        /// When a machine is of use. Absent: when its cloud says that it runs.
        "health" health: Option<Health>,
        /// How machines are replaced when the template changes.
        "updates" updates: Option<Updates>,
        /// What happens when a cloud announces that it takes a machine back.
        "interruption" interruption: Option<Interruption>,
        /// Targets by the clock. The entry that came last holds, in the place of `capacity.target`;
        /// until one has come, `capacity.target` does. A lower target of the schedule is destroyed
        /// without `--allow-destroy`, unless a policy sets `maxDestroyPerApply` below 50%.
        "schedule" schedule: Option<Vec<ScheduleEntry>>,
        /// When the fleet ends by itself: from then on its target is 0. A day, which begins at midnight
        /// UTC, or a moment: `2027-03-01`, `2027-03-01T18:00:00+01:00`.
        "expires" expires: Option<Moment>,
        /// On-demand in the place of spot that is lost or cannot be had, and the way back. `{}` uses the
        /// defaults below. Absent: spot that is missing stays missing. With `availability` or `penalty`
        /// on-demand is bought by the odds already, and this does nothing more.
        "fallback" fallback: Option<Fallback>,
        /// Machines that run are moved to cheaper spot pools if that pays. `{}` uses the defaults below.
        /// Absent: never. With `availability` or `penalty` pools are weighed anew by every plan, and this
        /// does nothing more.
        "rebalance" rebalance: Option<Rebalance>,
    }

    /// When spot machines that run are moved to cheaper pools. The strategy chooses the pool. A move pays
    /// for itself twice over the life that is expected of the successor, and does so for half an hour;
    /// the successor comes first. `fleet explain` shows the arithmetic.
    Rebalance {
        /// A move saves at least this share of the price. Default: 15%.
        "minSaving" min_saving: Option<ShareText>,
        /// No more machines move in an hour. Default: a tenth of the burst, at least one.
        "maxPerHour" max_per_hour: Option<PositiveWhole>,
    }

    /// When missing spot is bought on demand, how much of it, and when it goes back. `budget` and
    /// `placement.spread` hold for both; `maxSpotPrice` is about spot alone.
    Fallback {
        /// When on-demand takes the place of spot.
        "after" after: Option<FallbackAfter>,
        /// At most this share of the burst is on demand in the place of spot. Default: 100%.
        "share" share: Option<ShareText>,
        /// Spot must hold for so long before machines go back to it, a tenth at a time: `1m` to `24h`.
        /// After each return that failed the wait doubles, four times at most. Default: 30m.
        "returnAfter" return_after: Option<Span>,
    }

    /// When on-demand takes the place of spot: whichever comes first. As long as another spot pool has
    /// room, a refusal alone sends launches there.
    FallbackAfter {
        /// So many spot machines lost, or spot launches refused. Default: 3, or a tenth of the burst if
        /// that is more.
        "losses" losses: Option<PositiveWhole>,
        /// Within this time. Default: 1h.
        "within" within: Option<Span>,
        /// Spot cannot fill the burst for so long. Default: 15m.
        "unfilled" unfilled: Option<Span>,
    }

    /// How much capacity. On-demand is the base plus what of the rest is not spot; both roundings
    /// go toward on-demand: a base given as a share is rounded up to whole units, the spot share
    /// of the rest is rounded down to whole units.
    Capacity {
        /// What is counted. `bf16-tflops` and its like count useful work: a machine counts for the dense
        /// peak of its accelerators, for their memory (`hbm-gb`) or for its bandwidth (`hbm-gbps`), by
        /// published figures; docs/compare.md lists them. `work` counts by a table of your own
        /// (`workFile`). Machines without a figure are not used. Default: `instances`.
        "unit" unit: Option<UnitWord>,
        /// For `unit: work`: a file in the folder of the spec, or below, with how much work a machine or
        /// an accelerator does. CSV (`H100,395`, one name in a line) or JSON (`{"H100": 395}`). The name
        /// of an accelerator is for one of them; any other name is a type, or a pattern over types, and
        /// for a whole machine. Accelerators of the table may be mixed.
        "workFile" work_file: Option<Text>,
        /// How much in all. 0 scales the fleet to nothing. Fractions are allowed to a thousandth, but for
        /// instances and vcpus.
        "target" target: Amount,
        /// The part that is always on-demand. Default: nothing.
        "base" base: Option<Base>,
        /// How the rest is bought. Default: all of it spot.
        "burst" burst: Option<Burst>,
        /// The share of time in which nothing should be missing, below 100%: `99%`, `99.9%`. Spare
        /// spot machines, and on-demand in place of spot, are held as far as that pays. Absent: none.
        "availability" availability: Option<ShareText>,
        /// The same as a price: what a missing unit costs per hour, in on-demand hours. About 3 for
        /// cheap batch work, 10 as a rule, 30 for serving.
        "penalty" penalty: Option<Positive>,
        /// How often somebody looks after the fleet: the period of your cron job or controller, such as
        /// `5m`, `1h` or `24h`. With `availability` or `penalty`, a machine that is lost is missing until
        /// then, so the longer it is the less spot is worth. Default: 1h.
        "reconcileEvery" reconcile_every: Option<Span>,
        /// How much work ends with a machine, such as `20m`: what was done since its last checkpoint, and what
        /// its successor needs until it is as far again. The more it is, the longer-lived pools are preferred to
        /// cheaper ones, and the fewer machines are moved. For `availability`, `penalty` and `rebalance`, which
        /// weigh it against money. Default: a fifth of the time that a lost machine is missing, and six minutes where it is
        /// moved; `rebalance` counts twelve and six.
        "lostWork" lost_work: Option<Span>,
    }

    /// The part that is always on-demand.
    Base {
        /// Units, or a share of the target such as `25%`.
        "onDemand" on_demand: AmountOrShare,
    }

    /// How capacity above the base is bought.
    Burst {
        /// The share of it that is spot. Default: `100%`.
        "spot" spot: Option<ShareText>,
    }

    /// Which machines are allowed. A type must match a family or a type (if any are listed), no
    /// exclusion, and every requirement. What is not known of a type satisfies no requirement.
    ///
    /// Left out unless the spec names them (under families, types, priorities, weights or commitments, by
    /// more than a leading wildcard): burstable types (`t3`, `e2-micro`, `Standard_B2s`), and types with
    /// accelerators where the fleet asks for none. TPU slices of several hosts are never used. `fleet explain`
    /// counts what each rule leaves out. Machines that stand already stay.
    Instances {
        /// Families or patterns over type names: `p5`, `a3-highgpu`, `Standard_ND96`, `g6*`.
        "families" families: Option<Vec<Glob>>,
        /// Types or patterns: `p5.48xlarge`, `gpu_8x_h100*`.
        "types" types: Option<Vec<Glob>>,
        /// Families, types or patterns that are never used.
        "exclude" exclude: Option<Vec<Glob>>,
        /// vCPUs of one machine. Without a minimum: at least 2, unless `types` names a smaller one.
        "vcpus" vcpus: Option<Range>,
        /// Memory of one machine in GiB.
        "memoryGiB" memory_gib: Option<Range>,
        /// GiB of memory per vCPU.
        "gibPerVcpu" gib_per_vcpu: Option<Range>,
        /// Allowed instruction sets. Absent: one, since one image runs on one: `x86_64` where there is any,
        /// otherwise `arm64`; and what families and types name.
        "architectures" architectures: Option<Vec<Arch>>,
        /// What is asked of accelerators.
        "accelerators" accelerators: Option<Accelerators>,
        /// Whether there must be, or must not be, a disk in the machine itself. Default: `any`.
        "localDisk" local_disk: Option<LocalDiskWord>,
        /// The cloud's own count of generations: 5 for `m5` and `Standard_D8s_v5`.
        "generation" generation: Option<Range>,
    }

    /// Inclusive bounds; at least one of them.
    #[schemars(extend("minProperties" = 1))]
    Range {
        /// At least.
        "min" min: Option<Amount>,
        /// At most.
        "max" max: Option<Amount>,
    }

    /// What is asked of accelerators. Absent: machines without, unless the unit is `gpus` or the spec names
    /// types that have some.
    Accelerators {
        /// Names or patterns: `H100`, `A100-80GB`, `L4*`. All that match may stand side by side. Absent, and
        /// without families and types: one, that which the fleet has, or else the most widely sold.
        "names" names: Option<Vec<Glob>>,
        /// Who made them.
        "makers" makers: Option<Vec<AcceleratorMaker>>,
        /// How many in one machine.
        "perInstance" per_instance: Option<Range>,
        /// Memory of one accelerator in GiB.
        "memoryGiB" memory_gib: Option<Range>,
    }

    /// Where machines may stand and how pools are chosen.
    Placement {
        /// How pools are ranked. Default: `capacity-optimized`. With `availability` or `penalty`, spot
        /// pools are chosen by what they are expected to cost instead, whatever the strategy.
        "strategy" strategy: Option<StrategyWord>,
        /// Clouds, and where in each. Absent: anywhere on every cloud.
        "clouds" clouds: Option<Vec<CloudRule>>,
        /// How far apart machines must stand.
        "spread" spread: Option<Spread>,
        /// All machines in one zone, one region or on one cloud, for work that talks much among them:
        /// the place that has room for all, by the order of the strategy. `zone` also asks for the
        /// fastest network that the type has, unless `template.fastNetwork` says otherwise. Absent:
        /// machines stand wherever they are best.
        "together" together: Option<TogetherWord>,
        /// For the prioritized strategies: families, types or patterns, most wanted first.
        /// Absent: the order of `instances.families`, then of `instances.types`. With `availability` or
        /// `penalty` they have no say in spot: `strategy` says why.
        "priorities" priorities: Option<Vec<Glob>>,
        /// How much capacity one machine counts for, where that is not what the unit says. The
        /// first match holds, which is why this is a list.
        "weights" weights: Option<Vec<Weight>>,
        /// Machines that are paid for whether they run or not. They are used first, before spot and
        /// on-demand, and count nothing toward the budget.
        "commitments" commitments: Option<Vec<Commitment>>,
        /// The most paid for spot: dollars per machine and hour, or a share of the on-demand price
        /// of the same type in the same place.
        "maxSpotPrice" max_spot_price: Option<UsdOrShare>,
        /// `exact` asks each pool for its part. `flexible` lets a cloud that can (AWS) take the
        /// machines of one region and market from any of the pools that the plan chose there, as
        /// far as it has them: limits per pool and zone then say what is asked for, not what
        /// comes. Default: `exact`.
        "fulfilment" fulfilment: Option<FulfilmentWord>,
        /// Signals of the clouds that are neither asked for nor believed; docs/placement.md lists them.
        /// Machines that run are not touched. Default: none, every signal counts as far as it proved
        /// right.
        "ignoreSignals" ignore_signals: Option<Vec<SignalWord>>,
        /// Where the fleet's data is, as cloud and region: `aws/us-east-1`. Traffic is free inside that
        /// region. Absent: traffic goes to the internet.
        "dataRegion" data_region: Option<Text>,
        /// GiB a day that the whole fleet reads from `dataRegion`, billed by the cloud of the data; without
        /// `dataRegion`, what it sends to the internet. Each unit of capacity has its part of it. Its price
        /// counts when pools are compared, and toward the budget. Default: 0.
        "egressGiBPerDay" egress_gib_per_day: Option<Amount>,
        /// GiB a day that the whole fleet sends back to `dataRegion`, billed by the cloud of the machines.
        /// Default: 0.
        "returnGiBPerDay" return_gib_per_day: Option<Amount>,
    }

    /// Machines that are paid for whether they run or not: reserved instances, committed use. The
    /// on-demand machines that they cover cost nothing more. Two entries for the same machines add up.
    Commitment {
        /// The cloud.
        "provider" provider: Provider,
        /// The region, in whichever account or subscription the bill applies it.
        "region" region: Text,
        /// The type, in the cloud's own words.
        "type" kind: Text,
        /// How many machines this fleet may count on. Fleets that share a commitment name a part each.
        "count" count: PositiveWhole,
        /// The day, in UTC, from which it no longer holds: `2027-03-01`, or a moment. Default: not in
        /// sight.
        "until" until: Option<Moment>,
        /// What one machine of it costs an hour, used or not, with what was paid up front spread over the term.
        /// Nothing is planned by it: `fleet cost report` says with it what the commitment saved.
        "usdPerHour" usd_per_hour: Option<Usd>,
    }

    /// One cloud and where in it.
    CloudRule {
        /// The cloud.
        "provider" provider: Provider,
        /// Regions or patterns, or `any`. Default: `any`. Sovereign clouds, edge sites, previews and regions
        /// on request are used only if they are named.
        "regions" regions: Option<AnyOr<Glob>>,
        /// Zones or patterns, or `any`. Default: `any`.
        "zones" zones: Option<AnyOr<Glob>>,
        /// AWS account ids, Google projects or Azure subscriptions, for a fleet in several. Default:
        /// the one that the credentials are for.
        "accounts" accounts: Option<Vec<Text>>,
    }

    /// Limits on how much may stand together. Shares are of the target.
    Spread {
        /// At least this many zones, over all clouds, each with its share of the fleet as far as they can be
        /// had.
        "minZones" min_zones: Option<Whole>,
        /// At most this share in one pool (a type in a zone in a market).
        "maxSharePerPool" max_share_per_pool: Option<ShareText>,
        /// At most this share in one zone.
        "maxSharePerZone" max_share_per_zone: Option<ShareText>,
        /// At most this share in one region.
        "maxSharePerRegion" max_share_per_region: Option<ShareText>,
        /// At most this share on one cloud.
        "maxSharePerProvider" max_share_per_provider: Option<ShareText>,
    }

    /// How much capacity one machine of some types counts for.
    Weight {
        /// A family, type or pattern.
        "types" types: Glob,
        /// Units that one machine counts for; more than 0.
        "units" units: Positive,
    }

    /// What the fleet may cost. Every limit holds. The first two limit what is paid per hour, the next
    /// two what is spent. A machine is launched only if what it will cost, at the dearest, is left; when
    /// little is left the fleet stops growing, then burst machines are destroyed, the dearest first. The
    /// base is never destroyed for money: what it costs to the end of the month (or to `expires`) is set
    /// aside first. A launch whose outcome is not known counts as if it stood.
    #[schemars(extend("minProperties" = 1))]
    Budget {
        /// Dollars per hour.
        "hourlyUsd" hourly_usd: Option<Usd>,
        /// Dollars per month of 730 hours: the same as a 730th of it per hour.
        "monthlyUsd" monthly_usd: Option<Usd>,
        /// Dollars to spend in each month of the calendar, counted from the journal.
        "calendarMonthUsd" calendar_month_usd: Option<Usd>,
        /// Dollars to spend in all, over the life of the fleet, counted from the journal. With a base it
        /// needs `expires`: a base without an end costs without an end.
        "lifetimeUsd" lifetime_usd: Option<Usd>,
        /// The zone in which months begin, such as `America/Los_Angeles`. AWS and Azure bill by months in
        /// UTC, Google by months in Pacific time. Default: `UTC`.
        "timeZone" time_zone: Option<Text>,
        /// When the target does not fit: `shrink-burst` places what fits, base first; `hold`
        /// launches nothing more until all of it fits. Default: `shrink-burst`.
        "atCap" at_cap: Option<AtCapWord>,
    }

    /// How machines are made. Each field is one value for all clouds, or a mapping from cloud to
    /// value.
    Template {
        /// Image, in the cloud's own words.
        "image" image: Option<PerCloud<Text>>,
        /// Network or VPC.
        "network" network: Option<PerCloud<Text>>,
        /// Subnets to choose from.
        "subnets" subnets: Option<PerCloud<Vec<Text>>>,
        /// Security groups or network tags.
        "securityGroups" security_groups: Option<PerCloud<Vec<Text>>>,
        /// The boot disk.
        "disk" disk: Option<PerCloud<Disk>>,
        /// Instance profile, service account or managed identity.
        "instanceRole" instance_role: Option<PerCloud<Text>>,
        /// SSH key name.
        "key" key: Option<PerCloud<Text>>,
        /// The user that `fleet ssh`, `exec` and `inventory` log in as. Machines do not notice it.
        "sshUser" ssh_user: Option<PerCloud<Text>>,
        /// What a machine runs at first boot, as text. Never printed.
        "userData" user_data: Option<PerCloud<Text>>,
        /// The same from a file: a path relative to the spec's folder, and inside it.
        "userDataFile" user_data_file: Option<PerCloud<Text>>,
        /// Capacity bought ahead of time, for the on-demand base: a capacity reservation (`cr-…`),
        /// a group of them (ARN) or a capacity block (`block:cr-…`) on AWS.
        "reservation" reservation: Option<PerCloud<Text>>,
        /// Placement group in which machines stand close together.
        "placementGroup" placement_group: Option<PerCloud<Text>>,
        /// The fastest network between machines that the type has: EFA on AWS. Default: `false`.
        "fastNetwork" fast_network: Option<PerCloud<Flag>>,
        /// Tags of your own on every machine, over the fleet's labels. A change reaches machines that run,
        /// in place (not on Lambda).
        "tags" tags: Option<PerCloud<Labels>>,
    }

    /// The boot disk.
    Disk {
        /// Size in GiB.
        "sizeGiB" size_gib: Option<PositiveWhole>,
        /// The cloud's name for the kind of disk: `gp3`, `pd-balanced`, `Premium_LRS`.
        "type" kind: Option<Text>,
        /// Default: `true`.
        "encrypted" encrypted: Option<Flag>,
    }

    /// When a machine is of use: its cloud says that it runs, and every check passes. `fleet apply` and
    /// `fleet reconcile` make the checks, from where they run; `plan` and `status` show what they last
    /// found. A machine that is not ready in time, or whose checks fail for too long, is replaced, unless
    /// more than one in five are: then it is the template or the check, and nothing is replaced.
    Health {
        /// Whether the cloud's word that a machine does not work counts. Default: `true`.
        "cloud" cloud: Option<Flag>,
        /// A GET that must be answered with a status of 200 to 399, without TLS.
        "http" http: Option<HttpCheck>,
        /// A port that must accept a connection.
        "tcp" tcp: Option<TcpCheck>,
        /// A program of yours and its arguments that must end with exit code 0. It finds the machine in
        /// its environment: FLEET_NAME, FLEET_SLOT, FLEET_MACHINE, FLEET_PROVIDER, FLEET_REGION,
        /// FLEET_ZONE, FLEET_TYPE, FLEET_PUBLIC_IP, FLEET_PRIVATE_IP.
        "command" command: Option<Vec<Text>>,
        /// The address at which `http` and `tcp` reach a machine: `private` or `public`. Default: `private`.
        "address" address: Option<AddressWord>,
        /// How long one check may take. Default: 5s.
        "timeout" timeout: Option<Span>,
        /// From its launch until a machine must be ready. Default: 15m on AWS and Google Cloud, 1h on
        /// Azure, 40m on Lambda.
        "readyWithin" ready_within: Option<Span>,
        /// For how long checks of a machine that was ready must fail before it is replaced. Default: 5m.
        "unhealthyAfter" unhealthy_after: Option<Span>,
    }

    /// A GET to a machine.
    HttpCheck {
        /// The port.
        "port" port: PositiveWhole,
        /// The path. Default: `/`.
        "path" path: Option<Text>,
    }

    /// A connection to a machine.
    TcpCheck {
        /// The port.
        "port" port: PositiveWhole,
    }

    /// How machines are replaced when the template changes. Labels and tags are changed in place, and what
    /// merely allows more changes nothing. A rollout within these limits needs no `--allow-destroy`.
    Updates {
        /// `rolling` replaces a few at a time, `recreate` destroys all and launches them anew. Default:
        /// `rolling`.
        "strategy" strategy: Option<UpdateStrategy>,
        /// How many machines, or which share of the target, may be missing meanwhile. Default: 0.
        "maxUnavailable" max_unavailable: Option<AmountOrShare>,
        /// How many machines, or which share of the target, may stand beyond it meanwhile. Default: 10%,
        /// and at least one machine.
        "maxSurge" max_surge: Option<AmountOrShare>,
        /// How many machines are replaced first. The others follow when those are ready. Default: 1.
        "canary" canary: Option<Whole>,
        /// For how long the canary, and each wave after it, must stay ready before the next. Default: 0s.
        "pause" pause: Option<Span>,
        /// Whether an old machine stays until its successor is ready, and a new machine that fails stops
        /// the rollout. Default: `true`.
        "healthGate" health_gate: Option<Flag>,
        /// When waves may begin. One that has begun is finished. Absent: at any time.
        "windows" windows: Option<Vec<UpdateWindow>>,
    }

    /// A time in which waves may begin.
    UpdateWindow {
        /// When it opens, in the five fields of cron.
        "cron" cron: Text,
        /// The clock that is meant, such as `Europe/Berlin`. Default: `UTC`.
        "timeZone" time_zone: Option<Text>,
        /// For how long it stays open: `4h`.
        "lasts" lasts: Span,
    }

    /// What happens when a cloud announces that it takes a machine back.
    Interruption {
        /// `replace` launches a successor at once, in a pool that takes none back right now; `drain` does
        /// so and ends the work on the machine; `ignore` waits until the machine is gone. Default:
        /// `replace`.
        "onNotice" on_notice: Option<OnNotice>,
        /// When a cloud recommends to move, and takes nothing back yet: `replace` launches a successor and
        /// destroys the machine when that is ready, `ignore` tells you and does nothing. Default: `ignore`.
        "onRebalance" on_rebalance: Option<OnRebalance>,
        /// Seconds for the work on a machine to end, 3600 at most. Default: 0.
        "graceSeconds" grace_seconds: Option<Whole>,
        /// A program of yours and its arguments that ends the work on a machine, with the same environment
        /// as `health.command`. It runs once, for as long as `graceSeconds` allows, when the machine is to
        /// be taken back, and before a machine that works is replaced.
        "drain" drain: Option<Vec<Text>>,
    }

    /// A target that holds from some time on, until another entry comes. It is split between markets as
    /// `capacity` says; a base above it is cut to it.
    ScheduleEntry {
        /// When, in the five fields of cron: minute, hour, day of month, month, day of week.
        "cron" cron: Text,
        /// The clock that is meant, such as `Europe/Berlin`. A time that the clocks skip in spring comes
        /// when they go on; one that they show twice in autumn comes the first time. Default: `UTC`.
        "timeZone" time_zone: Option<Text>,
        /// The target from then on.
        "target" target: Amount,
    }

    /// An organisation's limits. They hold for every fleet in the policy's own folder and below.
    Policy {
        /// The version of the language.
        "apiVersion" api_version: ApiVersion,
        /// What this document is.
        "kind" kind: PolicyKind,
        /// What the policy is called.
        "metadata" metadata: Metadata,
        /// The limits.
        "spec" spec: PolicySpec,
    }

    /// The limits. A fleet that leaves a choice open is narrowed to what is allowed; a fleet that
    /// names something else is refused.
    #[schemars(extend("minProperties" = 1))]
    PolicySpec {
        /// Allowed clouds. Absent: all.
        "providers" providers: Option<Vec<Provider>>,
        /// Allowed regions, as names or patterns. Absent: all.
        "regions" regions: Option<Vec<Glob>>,
        /// Allowed families, as names or patterns. Absent: all.
        "families" families: Option<Vec<Glob>>,
        /// Families, types or patterns that are never used.
        "exclude" exclude: Option<Vec<Glob>>,
        /// Ceilings in dollars.
        "budget" budget: Option<PolicyBudget>,
        /// How much of a fleet one apply may destroy because its target was lowered, when nobody is
        /// there to type the number (`--yes`, `fleet reconcile`). Default: `50%`. What is to be destroyed
        /// for any other reason keeps the limit of one machine in ten.
        "maxDestroyPerApply" max_destroy_per_apply: Option<ShareText>,
        /// Destroy fleets of the state that have machines and that no spec of the folder names, as
        /// `--prune` does: within the limit on destroys. For a state that no other folder shares.
        /// Default: `false`; they are reported.
        "prune" prune: Option<Flag>,
        /// What was bought ahead of time, and fleets may count on. Where there is a ceiling or this
        /// list, a fleet may name no commitment beyond it.
        "commitments" commitments: Option<Vec<Commitment>>,
        /// Machines that nobody launches without somebody's approval. A fleet without it does with what
        /// else its spec allows; `fleet validate` refuses it if there is nothing else. Machines that stand
        /// may stay.
        "approvals" approvals: Option<Vec<PolicyApproval>>,
        /// Labels that every fleet must have: a list of names, or a mapping from name to the
        /// pattern that its value must match.
        "requiredLabels" required_labels: Option<RequiredLabels>,
        /// Whom `fleet controller` tells of what.
        "notify" notify: Option<Vec<PolicyNotify>>,
    }

    /// A webhook that is told of some events.
    PolicyNotify {
        /// What the rule is called: letters, digits and hyphens. What was told is remembered by it.
        "name" name: Text,
        /// Of what. Absent: of all of them.
        "events" events: Option<Vec<NotifyEventWord>>,
        /// Of which fleets under the policy, as names or patterns. Absent: of all of them.
        "fleets" fleets: Option<Vec<Glob>>,
        /// Where messages are sent.
        "url" url: Option<Text>,
        /// Where that address is kept, if it is a secret. In place of `url`.
        "urlFrom" url_from: Option<NotifySecret>,
        /// Where the secret is kept that signs messages. Absent: they are not signed.
        "secretFrom" secret_from: Option<NotifySecret>,
        /// What messages look like: fields for programs, or a message for Slack. Default: `json`.
        "format" format: Option<NotifyFormatWord>,
        /// After what time the same thing is told again, if it is still so. Default: `4h`.
        "repeatEvery" repeat_every: Option<Span>,
    }

    /// Where a secret is kept. One of the two.
    NotifySecret {
        /// A variable of the environment of the controller.
        "env" env: Option<Text>,
        /// A file. It is read for each message.
        "file" file: Option<Text>,
    }

    /// What fleets with a label may cost together: the budgets of these fleets add up to no more. One
    /// fleet alone takes the ceiling as its budget; of several, each names its own part.
    LabelBudget {
        /// The label, such as `team`.
        "label" label: Text,
        /// The pattern that its value must match.
        "value" value: Glob,
        /// Dollars per hour.
        "hourlyUsd" hourly_usd: Option<Usd>,
        /// Dollars per month of 730 hours.
        "monthlyUsd" monthly_usd: Option<Usd>,
        /// Dollars in each month of the calendar.
        "calendarMonthUsd" calendar_month_usd: Option<Usd>,
        /// Dollars in all, over the lives of the fleets.
        "lifetimeUsd" lifetime_usd: Option<Usd>,
    }

    /// Machines that need an approval.
    PolicyApproval {
        /// Families, as names or patterns.
        "families" families: Option<Vec<Glob>>,
        /// Types, as names or patterns. With neither `families` nor `types`, every machine is meant.
        "types" types: Option<Vec<Glob>>,
        /// Clouds that it is about. Absent: all.
        "providers" providers: Option<Vec<Provider>>,
        /// No approval is needed by a fleet whose own budget is at most so many dollars per month of 730
        /// hours. Absent: every fleet needs it.
        "aboveMonthlyUsd" above_monthly_usd: Option<Usd>,
        /// What gives the approval.
        "needs" needs: ApprovalLabel,
        /// What to say to whoever does not have it: whom to ask, and where.
        "message" message: Option<Text>,
    }

    /// A label of the fleet that gives an approval. It is a line in the spec: who may merge it decides who
    /// may approve.
    ApprovalLabel {
        /// Its name, such as `approved-by`.
        "label" label: Text,
        /// What its value must match. Absent: any value.
        "value" value: Option<Text>,
    }

    /// Ceilings in dollars. A fleet without a budget takes the ceiling as its budget.
    #[schemars(extend("minProperties" = 1))]
    PolicyBudget {
        /// For each fleet, per hour.
        "perFleetHourlyUsd" per_fleet_hourly_usd: Option<Usd>,
        /// For each fleet, per month of 730 hours.
        "perFleetMonthlyUsd" per_fleet_monthly_usd: Option<Usd>,
        /// For all fleets under the policy together, per hour.
        "totalHourlyUsd" total_hourly_usd: Option<Usd>,
        /// For all fleets under the policy together, per month of 730 hours.
        "totalMonthlyUsd" total_monthly_usd: Option<Usd>,
        /// For each fleet, in each month of the calendar.
        "perFleetCalendarMonthUsd" per_fleet_calendar_month_usd: Option<Usd>,
        /// For each fleet, over its life.
        "perFleetLifetimeUsd" per_fleet_lifetime_usd: Option<Usd>,
        /// For all fleets under the policy together, in each month of the calendar.
        "totalCalendarMonthUsd" total_calendar_month_usd: Option<Usd>,
        /// For all fleets under the policy together, over their lives.
        "totalLifetimeUsd" total_lifetime_usd: Option<Usd>,
        /// For all fleets with a label together, such as those of a team.
        "byLabel" by_label: Option<Vec<LabelBudget>>,
    }
}
