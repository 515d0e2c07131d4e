//! The documents of `fleet cost`.

use super::bodies;
use super::words::{CostKind, NoPrice, Provider, Time};
use schemars::JsonSchema;
use serde::Serialize;

/// What fleets cost.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CostReport {
    /// From here on; `null`: from the beginning.
    pub from: Option<Time>,
    /// Until here.
    pub to: Option<Time>,
    /// Where days begin and end.
    pub time_zone: String,
    /// What the lines are grouped by, outermost first.
    pub by: Vec<String>,
    /// The groups, in the order of their names.
    pub lines: Vec<CostLine>,
    /// All of them together.
    pub total: CostFigures,
    /// Machines whose price nobody knows. They are in no cost.
    pub unpriced: Vec<UnpricedMachine>,
    /// Disks, public addresses and traffic whose price nobody knows. They are in no cost.
    pub uncounted: Vec<UncountedHours>,
    /// Machines whose end was not told by their cloud: counted until it was noticed.
    pub estimated_machines: u64,
    /// Disks of which their cloud did not tell when they were deleted: counted until nothing of their machine was left.
    pub estimated_disks: u64,
    /// Machines that a cloud made and nobody asked for. They are in no cost.
    pub surplus_machines: u64,
    /// What was bought ahead by the spec (`placement.commitments`), fleet by fleet. What it cost is in no
    /// `costUsd`: that is what was paid beside it.
    pub commitments: Vec<CommitmentUse>,
}

/// Machines that a fleet has bought ahead, and what came of it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CommitmentUse {
    /// The fleet.
    pub fleet: String,
    /// The cloud.
    pub provider: String,
    /// The region.
    pub region: String,
    /// The type.
    #[serde(rename = "type")]
    pub kind: String,
    /// Machine-hours that it held for.
    pub held_hours: f64,
    /// Of those, hours in which a machine ran that it paid for.
    pub used_hours: f64,
    /// Of those, hours in which none did.
    pub unused_hours: f64,
    /// What the machines that it paid for cost on demand.
    pub on_demand_usd: f64,
    /// What it cost, used or not; `null`: the spec does not say (`usdPerHour`).
    pub paid_usd: Option<f64>,
    /// Of that, what it cost while it lay unused.
    pub unused_usd: Option<f64>,
    /// What it saved against on demand, after what it cost; negative: it cost more.
    pub saved_usd: Option<f64>,
}

/// One group.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CostLine {
    /// Its name, one part for each of `by`; `null` for machines that lack the label.
    pub group: Vec<Option<String>>,
    /// What it comes to.
    #[serde(flatten)]
    pub figures: CostFigures,
}

/// What a group comes to.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CostFigures {
    /// What was spent, as far as prices are known: machines, their disks, public addresses and expected traffic.
    pub cost_usd: f64,
    /// Of that, machines themselves.
    pub machines_usd: f64,
    /// Of that, disks.
    pub disks_usd: f64,
    /// Of that, public IPv4 addresses.
    pub addresses_usd: f64,
    /// Of that, traffic as the spec expects it. What was sent is not known.
    pub traffic_usd: f64,
    /// Of disks, addresses and traffic, what is at the price of another region of the same cloud.
    pub about_usd: f64,
    /// Hours that machines were billed, or ran free.
    pub machine_hours: f64,
    /// Of those, without a price.
    pub unpriced_hours: f64,
    /// What capacity is counted in; `null` if it is not on record, or several things.
    pub unit: Option<String>,
    /// Capacity that was delivered, in units and hours; `null` without one unit.
    pub unit_hours: Option<f64>,
    /// What a unit cost per hour, with what comes beside the machines; `null` without one unit.
    pub unit_hour_usd: Option<f64>,
    /// What the same machines cost on demand, without what comes beside them; `null` if no such price is on record.
    pub on_demand_usd: Option<f64>,
    /// What was saved against that; negative: on demand would have been cheaper.
    pub saved_usd: Option<f64>,
    /// The same in per cent.
    pub saved_percent: Option<f64>,
    /// Machines that clouds took back.
    pub interruptions: u64,
    /// Hours until their slots were filled again.
    pub lost_hours: f64,
    /// What that capacity would have cost.
    pub lost_usd: f64,
    /// What clouds did not ask for: machines that they took back early.
    pub free_usd: f64,
    /// Of the machine-hours, those that commitments paid for. They add nothing to the cost.
    pub committed_hours: f64,
    /// What those would have cost besides.
    pub committed_usd: f64,
    /// Of the cost, what is an estimate: the end of a machine or a disk was not told.
    pub estimated_usd: f64,
}

/// What comes beside machines and has no price.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UncountedHours {
    /// What.
    pub kind: CostKind,
    /// Why.
    pub because: NoPrice,
    /// Where.
    pub provider: Provider,
    /// For so many machine-hours.
    pub hours: f64,
}

/// A machine whose price nobody knows.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UnpricedMachine {
    /// The fleet.
    pub fleet: String,
    /// The cloud's id.
    pub machine: String,
    /// The pool that it came from.
    pub pool: String,
    /// For how long.
    pub hours: f64,
}

/// A bill beside the journals.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CostReconcile {
    /// The form of the bill: `focus`, `aws-cur`, `gcp` or `azure`.
    pub format: String,
    /// Rows of the bill.
    pub rows: u64,
    /// Rows that are about machines.
    pub machine_rows: u64,
    /// The clouds whose machines were compared: those that the bill is of; all if it does not tell.
    pub clouds: Vec<String>,
    /// Machines in journals that were left out, because the bill is of other clouds.
    pub other_clouds: Vec<OtherCloud>,
    /// From here on both were compared; `null` if the bill holds nothing of machines in that time.
    pub from: Option<Time>,
    /// Until here both were compared. What the bill does not reach is not on it yet. `null` as `from`.
    pub reconciled_to: Option<Time>,
    /// What the bill asks for machines that the journals know.
    pub billed_usd: f64,
    /// What the journals say of them.
    pub ledger_usd: f64,
    /// Machines on which both agree.
    pub agree: u64,
    /// Machines on which they differ.
    pub differ: Vec<BillDifference>,
    /// Machines on the bill that no journal knows.
    pub only_billed: Vec<OnlyBilled>,
    /// Machines in journals that are not on the bill.
    pub only_recorded: Vec<OnlyRecorded>,
    /// Machines in journals without a price: they cannot be compared.
    pub unpriced: u64,
    /// Machines on the bill without a fleet's tag, which no journal knows.
    pub of_others: u64,
    /// Disks, public addresses and traffic, each in one sum: bills name them otherwise than machines. They are no
    /// difference, whatever they say.
    pub beside: Vec<BesideSums>,
}

/// What bill and journals say of all that is of one kind and came beside machines.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BesideSums {
    /// What.
    pub kind: CostKind,
    /// What the bill asks in rows that carry a fleet's tag; `null`: it has no such row.
    pub billed_usd: Option<f64>,
    /// What the journals say.
    pub ledger_usd: f64,
}

/// A cloud that a bill is not of.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OtherCloud {
    /// The cloud.
    pub cloud: String,
    /// Its machines in journals.
    pub machines: u64,
}

/// A machine on which bill and journal differ.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BillDifference {
    /// The cloud's id.
    pub machine: String,
    /// The fleet.
    pub fleet: String,
    /// What differs first: `quantity`, `price` or `cost`.
    pub what: String,
    /// The hour, or the day, in which it first does.
    pub first: Time,
    /// Hours on the bill; `null` if it does not count hours.
    pub billed_hours: Option<f64>,
    /// Hours in the journal.
    pub ledger_hours: f64,
    /// Cost on the bill.
    pub billed_usd: f64,
    /// Cost by the journal.
    pub ledger_usd: f64,
}

/// A machine on the bill that no journal knows.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OnlyBilled {
    /// The cloud's id.
    pub machine: String,
    /// The fleet that its tags name; `null` without.
    pub fleet: Option<String>,
    /// Hours on the bill; `null` if it does not count hours.
    pub hours: Option<f64>,
    /// Its cost.
    pub billed_usd: f64,
}

/// A machine that is not on the bill.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OnlyRecorded {
    /// The cloud's id.
    pub machine: String,
    /// The fleet.
    pub fleet: String,
    /// Hours in the journal.
    pub hours: f64,
    /// Cost by the journal.
    pub ledger_usd: f64,
}

/// What simulated clouds ask for.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SimBill {
    /// The simulated time.
    pub now: Time,
    /// All of it. Traffic is not on it: simulated machines send nothing.
    pub total_usd: f64,
    /// Machine by machine, with a line for its disk and one for its address.
    pub lines: Vec<SimBillLine>,
}

/// One machine on the bill of the simulated clouds, or what came with it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SimBillLine {
    /// The cloud's id.
    pub machine: String,
    /// The machine itself, its disk or its address.
    pub kind: CostKind,
    /// The fleet that its tags name.
    pub fleet: String,
    /// The pool that it came from.
    pub pool: String,
    /// Billed from here on.
    pub from: Time,
    /// Until here.
    pub until: Time,
    /// Whether it is on the meter still.
    pub running: bool,
    /// Whether its cloud asks nothing for it.
    pub free: bool,
    /// Its cost; `null` if it has no price.
    pub cost_usd: Option<f64>,
}

/// What is odd about the cost of fleets.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Anomalies {
    /// The end of the days that are looked at.
    pub to: Time,
    /// How many days; they are compared with as many before.
    pub days: u16,
    /// Machine-hours of these days.
    pub machine_hours: f64,
    /// Of those: how many machines told how busy they were. Nobody knows whether the others were idle.
    pub told_machine_hours: f64,
    /// What was found, fleet by fleet.
    pub anomalies: Vec<CostAnomaly>,
}

/// Something odd.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CostAnomaly {
    /// The fleet.
    pub fleet: String,
    /// What it is.
    #[serde(flatten)]
    pub is: AnomalyKind,
    /// The same as a sentence, for people.
    pub what: String,
    /// What to do about it.
    pub next: String,
    /// The apply or reconcile that caused it; `null` if none did, or it is not on record.
    pub cause: Option<AnomalyCause>,
}

/// The apply or reconcile that something goes back to.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AnomalyCause {
    /// When its round began.
    pub at: Time,
    /// Who ran it, and from which commit, as far as it said.
    pub who: String,
    /// Fingerprint of the spec.
    pub spec: String,
}

/// What is odd.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", tag = "is", rename_all_fields = "camelCase")]
pub enum AnomalyKind {
    /// More of the burst is on demand than before.
    OnDemandDrift {
        /// Of the burst's machine-hours before.
        before_percent: u64,
        /// And now.
        now_percent: u64,
        /// What the on-demand machines cost.
        cost_usd: f64,
        /// When the first was launched.
        since: Time,
    },
    /// A family that was not used before, and costs more per unit.
    DearerFamily {
        /// Which.
        family: String,
        /// What a unit of it costs per hour.
        unit_hour_usd: f64,
        /// What a unit cost before.
        before_unit_hour_usd: f64,
        /// What it cost in all.
        cost_usd: f64,
        /// When the first was launched.
        since: Time,
    },
    /// The price of a pool rose at once.
    PriceJump {
        /// Which pool.
        pool: String,
        /// Price before.
        from_hourly_usd: f64,
        /// Price after.
        to_hourly_usd: f64,
        /// When.
        since: Time,
    },
    /// A day costs more than before.
    CostGrew {
        /// A day before.
        before_daily_usd: f64,
        /// A day now.
        now_daily_usd: f64,
        /// When most machines were launched.
        since: Time,
    },
    /// Machines that were paid for and had nothing to do, by their own word.
    Idle {
        /// How many.
        machines: u64,
        /// For how long, in hours of one machine.
        machine_hours: f64,
        /// What that time cost.
        cost_usd: f64,
    },
    /// Machines that nobody asked for.
    Orphans {
        /// How many.
        machines: u64,
    },
    /// Machines without a label that says whose they are.
    Unlabelled {
        /// The label.
        label: String,
        /// What they cost.
        cost_usd: f64,
    },
}

bodies! {
    Anomalies: "cost-anomalies", "cost anomalies";
    CostReport: "cost-report", "cost report";
    CostReconcile: "cost-reconcile", "cost reconcile";
    SimBill: "sim-bill", "sim bill";
}
