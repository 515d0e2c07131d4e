//! The families with their values, and how they are written.

use super::families::{
    BASE_MISSING, BLOCKED, BUDGET, BUDGET_USED, BUILD, CLOUD_CALL, COST, FAMILIES, FLEETS_MINE,
    HELD, INTERRUPTIONS, JOURNAL, Kind, LAST_RECONCILE, LAUNCHES, LEASE, MACHINES, NOTIFY,
    RECONCILE, RECONCILES, REPLICAS, ROLLOUT_LEFT, SPECS_FLEETS, SPECS_REFUSED, SPEND, STORE,
    UNITS, UNPLACED,
};
use super::figures::Figures;
use fleet_model::FleetName;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::exemplar::HistogramWithExemplars;
use prometheus_client::metrics::family::{Family, MetricConstructor};
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::AtomicU64;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

pub(super) type Labels = Vec<(&'static str, String)>;
type Gauges = Family<Labels, Gauge<f64, AtomicU64>>;
type Counters = Family<Labels, Counter<f64, AtomicU64>>;
type Times = Family<Labels, HistogramWithExemplars<Labels>, fn() -> HistogramWithExemplars<Labels>>;

/// Seconds; from a local disk to a cloud that takes its time.
const BUCKETS: [f64; 15] =
    [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 120.0];

/// What was built.
#[derive(Debug, Clone, Default)]
pub struct Build {
    /// Version of the program.
    pub version: String,
    /// The commit that it was built from.
    pub commit: String,
    /// What it was built with, separated by commas.
    pub features: String,
}

/// What there is besides fleets.
#[derive(Debug, Clone, Copy, Default)]
pub struct Around {
    /// The latest specs are not in force.
    pub specs_refused: bool,
    /// Fleets that specs name.
    pub fleets: usize,
    /// Fleets that this replica looks after first.
    pub mine: usize,
    /// Replicas.
    pub replicas: usize,
}

/// Everything that is measured.
pub struct Metrics {
    registry: Registry,
    gauges: BTreeMap<&'static str, Gauges>,
    counters: BTreeMap<&'static str, Counters>,
    times: BTreeMap<&'static str, Times>,
    /// What only rises, kept here because a family cannot forget the fleets that are gone.
    counts: Mutex<BTreeMap<(&'static str, Labels), f64>>,
    /// When each fleet was last looked at with success, in seconds since 1970.
    looked: Mutex<BTreeMap<FleetName, f64>>,
    /// One answer at a time: gauges are written afresh for each.
    answering: Mutex<()>,
    build: Build,
    trace: fn() -> Option<String>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn histogram() -> HistogramWithExemplars<Labels> {
    HistogramWithExemplars::new(BUCKETS.into_iter())
}

impl Metrics {
    /// Nothing measured yet. `trace` names the trace that goes on, for exemplars.
    pub fn new(build: Build, trace: fn() -> Option<String>) -> Self {
        let mut registry = Registry::default();
        let (mut gauges, mut counters, mut times) =
            (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        for row in FAMILIES {
            match row.kind {
                Kind::Gauge => {
                    let family = Gauges::default();
                    registry.register(row.name, row.help, family.clone());
                    gauges.insert(row.name, family);
                }
                Kind::Counter => {
                    let family = Counters::default();
                    // The format adds the ending itself.
                    let name = row.name.strip_suffix("_total").unwrap_or(row.name);
                    registry.register(name, row.help, family.clone());
                    counters.insert(row.name, family);
                }
                Kind::Histogram => {
                    let family = Times::new_with_constructor(histogram);
                    registry.register(row.name, row.help, family.clone());
                    times.insert(row.name, family);
                }
            }
        }
        let (counts, looked) = (Mutex::default(), Mutex::default());
        let answering = Mutex::default();
        Metrics { registry, gauges, counters, times, counts, looked, answering, build, trace }
    }

    pub(super) fn took(&self, family: &'static str, labels: Labels, took: Duration) {
        let exemplar = (self.trace)().map(|id| vec![("trace_id", id)]);
        let now = exemplar.is_some().then(SystemTime::now);
        if let Some(times) = self.times.get(family) {
            times.get_or_create(&labels).observe(took.as_secs_f64(), exemplar, now);
        }
    }

    pub(super) fn count(&self, family: &'static str, labels: Labels, more: usize) {
        if more > 0 {
            self.add(family, labels, more as f64);
        }
    }

    pub(super) fn add(&self, family: &'static str, labels: Labels, more: f64) {
        *locked(&self.counts).entry((family, labels)).or_default() += more;
    }

    /// A fleet was looked after.
    pub fn reconciled(&self, fleet: &FleetName, result: &'static str, took: Duration) {
        self.count(RECONCILES, vec![("fleet", fleet.to_string()), ("result", result.into())], 1);
        if result == ELSEWHERE {
            return;
        }
        self.took(RECONCILE, Vec::new(), took);
        if result != FAILED {
            let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
            locked(&self.looked).insert(fleet.clone(), now.unwrap_or_default().as_secs_f64());
        }
    }

    /// Everything in the OpenMetrics format, with exemplars. Fleets that are not among these are forgotten.
    pub fn open_metrics<'a>(
        &self,
        known: &BTreeSet<FleetName>,
        seen: impl IntoIterator<Item = (&'a FleetName, &'a Figures)>,
        around: Around,
    ) -> String {
        let _one = locked(&self.answering);
        self.forget_all_but(known);
        self.gauges.values().for_each(|family| family.clear());
        self.counters.values().for_each(|family| family.clear());
        for ((family, labels), count) in &*locked(&self.counts) {
            self.rise(family, labels, *count);
        }
        for (fleet, figures) in seen {
            self.show(fleet, figures);
        }
        self.set(SPECS_REFUSED, &[], f64::from(u8::from(around.specs_refused)));
        self.set(SPECS_FLEETS, &[], around.fleets as f64);
        self.set(FLEETS_MINE, &[], around.mine as f64);
        self.set(REPLICAS, &[], around.replicas as f64);
        let Build { version, commit, features } = &self.build;
        self.set(BUILD, &[("version", version), ("commit", commit), ("features", features)], 1.0);
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = encode(&mut text, &self.registry);
        text
    }

    fn forget_all_but(&self, known: &BTreeSet<FleetName>) {
        let stays = |labels: &Labels| {
            let fleet = labels.iter().find(|(label, _)| *label == "fleet");
            fleet.is_none_or(|(_, fleet)| known.contains(&FleetName::new(fleet.clone())))
        };
        locked(&self.counts).retain(|(_, labels), _| stays(labels));
        locked(&self.looked).retain(|fleet, _| known.contains(fleet));
    }

    fn set(&self, family: &'static str, labels: &[(&'static str, &str)], value: f64) {
        let labels: Labels = labels.iter().map(|(key, value)| (*key, (*value).into())).collect();
        if let Some(gauges) = self.gauges.get(family) {
            gauges.get_or_create(&labels).set(value);
        }
    }

    fn rise(&self, family: &'static str, labels: &Labels, value: f64) {
        if let Some(counters) = self.counters.get(family) {
            counters.get_or_create(labels).inc_by(value);
        }
    }

    fn show(&self, fleet: &FleetName, figures: &Figures) {
        let name = fleet.as_str();
        let of = ("fleet", name);
        for ([provider, region, market, state], count) in &figures.machines {
            let place: [(&str, &str); 5] = [
                of,
                ("provider", provider),
                ("region", region),
                ("market", market),
                ("state", state),
            ];
            self.set(MACHINES, &place, f64::from(*count));
        }
        // A counter that appears with its first event hides that event from `increase`.
        for provider in figures.machines.keys().map(|[provider, ..]| provider) {
            let here = vec![("fleet", name.to_owned()), ("provider", provider.clone())];
            self.rise(INTERRUPTIONS, &here, 0.0);
        }
        self.set(UNITS, &[of, ("kind", "wanted")], figures.wanted);
        self.set(UNITS, &[of, ("kind", "have")], figures.have);
        self.set(BASE_MISSING, &[of], figures.base_missing);
        self.set(UNPLACED, &[of], figures.unplaced);
        for (cloud, count) in &figures.blocked {
            self.set(BLOCKED, &[of, ("provider", cloud.as_str())], f64::from(*count));
        }
        self.set(COST, &[of], figures.hourly_usd);
        self.rise(SPEND, &vec![("fleet", name.to_owned())], figures.spent_usd);
        for (budget, (limit, used)) in &figures.budgets {
            self.set(BUDGET, &[of, ("budget", budget)], *limit);
            self.set(BUDGET_USED, &[of, ("budget", budget)], *used);
        }
        for (reason, count) in &figures.held {
            self.set(HELD, &[of, ("reason", reason)], f64::from(*count));
        }
        self.set(ROLLOUT_LEFT, &[of], figures.rollout_left as f64);
        if let Some(at) = locked(&self.looked).get(fleet) {
            self.set(LAST_RECONCILE, &[of], *at);
        }
    }

    /// What journals tell of machines.
    pub(super) fn launched(&self, fleet: &FleetName, cloud: &str, outcome: &str, count: usize) {
        let labels = vec![
            ("fleet", fleet.to_string()),
            ("provider", cloud.into()),
            ("outcome", outcome.into()),
        ];
        self.count(LAUNCHES, labels, count);
    }

    pub(super) fn interrupted(&self, fleet: &FleetName, cloud: &str) {
        let labels = vec![("fleet", fleet.to_string()), ("provider", cloud.into())];
        self.count(INTERRUPTIONS, labels, 1);
    }

    pub(super) fn called(&self, cloud: &str, call: &str, outcome: &str, took: Duration) {
        let labels = vec![
            ("provider", cloud.into()),
            ("operation", call.into()),
            ("outcome", outcome.into()),
        ];
        self.took(CLOUD_CALL, labels, took);
    }

    pub(super) fn stored(&self, call: &str, outcome: &str, took: Duration) {
        self.took(STORE, vec![("operation", call.into()), ("outcome", outcome.into())], took);
    }

    /// A notification was sent, or was not.
    pub(crate) fn notified(&self, outcome: &'static str) {
        self.count(NOTIFY, vec![("outcome", outcome.into())], 1);
    }

    pub(super) fn wrote(&self, took: Duration) {
        self.took(JOURNAL, Vec::new(), took);
    }

    pub(super) fn leased(&self, outcome: &str, took: Duration) {
        self.took(LEASE, vec![("outcome", outcome.into())], took);
    }
}

/// A look that found the fleet in other hands.
pub const ELSEWHERE: &str = "elsewhere";
/// A look that failed.
pub const FAILED: &str = "failed";
/// A look after which there is nothing to wait for.
pub const SETTLED: &str = "settled";
/// A look after which something goes on.
pub const GOES_ON: &str = "goes-on";

// The constructor is a plain function, so that its type has a name.
const _: fn() = || {
    fn is<M, C: MetricConstructor<M>>() {}
    is::<HistogramWithExemplars<Labels>, fn() -> HistogramWithExemplars<Labels>>();
};
