//! Every family of metrics: its name, its labels and what it says. The page and the answers are made from
//! this table, so that neither can say something else.

/// What a family is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// How things are now.
    Gauge,
    /// Only rises.
    Counter,
    /// How long something took.
    Histogram,
}

impl Kind {
    /// The word of the exposition formats.
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::Gauge => "gauge",
            Kind::Counter => "counter",
            Kind::Histogram => "histogram",
        }
    }
}

/// One family.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// As queries name it.
    pub name: &'static str,
    /// What it is.
    pub kind: Kind,
    /// Its labels.
    pub labels: &'static [&'static str],
    /// What it says.
    pub help: &'static str,
}

const fn row(
    name: &'static str,
    kind: Kind,
    labels: &'static [&'static str],
    help: &'static str,
) -> Row {
    Row { name, kind, labels, help }
}

use Kind::{Counter, Gauge, Histogram};

/// All of them.
pub const FAMILIES: [Row; 26] = [
    row(
        MACHINES,
        Gauge,
        &["fleet", "provider", "region", "market", "state"],
        "Machines of a fleet at the last look",
    ),
    row(
        UNITS,
        Gauge,
        &["fleet", "kind"],
        "Capacity in the unit of the spec: wanted by it, and there",
    ),
    row(BASE_MISSING, Gauge, &["fleet"], "Capacity that the on-demand base lacks"),
    row(UNPLACED, Gauge, &["fleet"], "Capacity that could not be placed anywhere"),
    row(
        LAUNCHES,
        Counter,
        &["fleet", "provider", "outcome"],
        "Machines asked for, by answer: launched, refused, unknown or not-sent. An unknown one counts again when it is settled",
    ),
    row(
        INTERRUPTIONS,
        Counter,
        &["fleet", "provider"],
        "Machines that a cloud took back, counted when they were seen to be gone",
    ),
    row(
        BLOCKED,
        Gauge,
        &["fleet", "provider"],
        "Pools, zones, regions, quotas and accounts that said no and are not asked for a while",
    ),
    row(
        COST,
        Gauge,
        &["fleet"],
        "Dollars per hour that the machines cost, with what is billed beside them",
    ),
    row(
        SPEND,
        Counter,
        &["fleet"],
        "Dollars spent since the fleet began, by its journal. Does not begin at zero with the process",
    ),
    row(
        BUDGET,
        Gauge,
        &["fleet", "budget"],
        "Limit of a budget in dollars: hourly, calendarMonth or lifetime",
    ),
    row(
        BUDGET_USED,
        Gauge,
        &["fleet", "budget"],
        "Dollars used of a budget; of an hourly one, what is paid per hour now",
    ),
    row(HELD, Gauge, &["fleet", "reason"], "Things that are held back, by reason"),
    row(
        ROLLOUT_LEFT,
        Gauge,
        &["fleet"],
        "Machines that a change of template has not reached; 0 without one",
    ),
    row(
        RECONCILES,
        Counter,
        &["fleet", "result"],
        "Looks at a fleet, by result: settled, goes-on, elsewhere or failed",
    ),
    row(RECONCILE, Histogram, &[], "Time of one look at a fleet, with everything done about it"),
    row(
        LAST_RECONCILE,
        Gauge,
        &["fleet"],
        "When a look last went well, in seconds since 1970 by the clock of this machine",
    ),
    row(
        CLOUD_CALL,
        Histogram,
        &["provider", "operation", "outcome"],
        "Time of one request to a cloud, without the wait for its turn",
    ),
    row(STORE, Histogram, &["operation", "outcome"], "Time of one request to the state store"),
    row(JOURNAL, Histogram, &[], "Time until a record of a journal was durable"),
    row(LEASE, Histogram, &["outcome"], "Time to take the lease of a fleet: ok, held or failed"),
    row(
        SPECS_REFUSED,
        Gauge,
        &[],
        "1 while the latest specs are not in force because something is wrong",
    ),
    row(SPECS_FLEETS, Gauge, &[], "Fleets that the specs in force name"),
    row(REPLICAS, Gauge, &[], "Replicas that share the state, this one included"),
    row(FLEETS_MINE, Gauge, &[], "Fleets that this replica looks after first"),
    row(NOTIFY, Counter, &["outcome"], "Notifications, by outcome: delivered, failed or given-up"),
    row(BUILD, Gauge, &["version", "commit", "features"], "1, with what was built"),
];

pub(super) const MACHINES: &str = "fleet_machines";
pub(super) const UNITS: &str = "fleet_units";
pub(super) const BASE_MISSING: &str = "fleet_base_missing_units";
pub(super) const UNPLACED: &str = "fleet_unplaced_units";
pub(super) const LAUNCHES: &str = "fleet_launch_total";
pub(super) const INTERRUPTIONS: &str = "fleet_interruptions_total";
pub(super) const BLOCKED: &str = "fleet_pool_blocked";
pub(super) const COST: &str = "fleet_cost_usd_per_hour";
pub(super) const SPEND: &str = "fleet_spend_usd_total";
pub(super) const BUDGET: &str = "fleet_budget_usd";
pub(super) const BUDGET_USED: &str = "fleet_budget_used_usd";
pub(super) const HELD: &str = "fleet_held";
pub(super) const ROLLOUT_LEFT: &str = "fleet_rollout_left";
pub(super) const RECONCILES: &str = "fleet_reconcile_total";
pub(super) const RECONCILE: &str = "fleet_reconcile_seconds";
pub(super) const LAST_RECONCILE: &str = "fleet_last_reconcile_timestamp_seconds";
pub(super) const CLOUD_CALL: &str = "fleet_cloud_call_seconds";
pub(super) const STORE: &str = "fleet_store_seconds";
pub(super) const JOURNAL: &str = "fleet_journal_append_seconds";
pub(super) const LEASE: &str = "fleet_lease_take_seconds";
pub(super) const SPECS_REFUSED: &str = "fleet_specs_refused";
pub(super) const SPECS_FLEETS: &str = "fleet_specs_fleets";
pub(super) const REPLICAS: &str = "fleet_replicas";
pub(super) const FLEETS_MINE: &str = "fleet_replica_fleets";
pub(super) const NOTIFY: &str = "fleet_notifications_total";
pub(super) const BUILD: &str = "fleet_build_info";

/// The table as a page shows it.
pub fn page() -> String {
    let mut page = String::from("| family | kind | labels | what it says |\n|---|---|---|---|\n");
    for Row { name, kind, labels, help } in FAMILIES {
        let labels = labels.iter().map(|label| format!("`{label}`")).collect::<Vec<_>>().join(" ");
        page.push_str(&format!("| `{name}` | {} | {labels} | {help}. |\n", kind.as_str()));
    }
    page
}
