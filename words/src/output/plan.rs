//! The document of `fleet plan`.

use super::bodies;
use super::common::{
    Cost, Gap, InDoubt, LeftOut, Summary, Unmanaged, Unplaced, gaps, in_doubt, said, total,
    unplaced,
};
use super::plan_cost::{CostLine, Uncounted};
use super::reasons::{Counted, Hold, Notice, PoolReason, Said, Why, counted};
use super::review::{Comparison, Rule};
use super::words::{
    BudgetCap, Group, Market, Provider, SignalSource, Time, Unit, names, percent, usd,
};
use crate::review::Review;
use fleet_model as model;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// What apply would change, and what it would cost.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Plan {
    /// Machines of all fleets.
    pub summary: Summary,
    /// Money of all fleets.
    pub cost: Cost,
    /// One plan per fleet, in the order of their names.
    pub fleets: Vec<FleetPlan>,
    /// Fleets without a plan.
    pub left_out: Vec<LeftOut>,
    /// Fleets with machines that no spec of the folder names. With `--prune` they have a plan.
    pub unmanaged: Vec<Unmanaged>,
    /// What the specs ask for against those of another commit; `null` without `--compare`.
    pub comparison: Option<Comparison>,
    /// The rules of `--fail-if`, and what became of each.
    pub rules: Vec<Rule>,
}

bodies! { Plan: "plan", "plan"; }

/// The plan of one fleet.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FleetPlan {
    /// The fleet's name.
    pub fleet: String,
    /// Its identity, which its machines carry.
    pub uid: String,
    /// The unit of its capacity.
    pub unit: Unit,
    /// Whether there is anything to do; `null` if no cloud answered.
    pub changes: Option<bool>,
    /// Numbers of machines.
    pub summary: Summary,
    /// Requests to the clouds.
    pub steps: Vec<Step>,
    /// Tokens of launches in doubt that apply sends again.
    pub resend: Vec<String>,
    /// Labels to change in place.
    pub relabel: Vec<Relabel>,
    /// Money.
    pub cost: Cost,
    /// The same by tier, pool and kind: the lines add up to `cost`. Empty in plans that were saved by an
    /// older version.
    pub cost_lines: Vec<CostLine>,
    /// What no amount counts, because nobody can tell its price.
    pub uncounted: Vec<Uncounted>,
    /// What could not be placed.
    pub unplaced: Vec<Unplaced>,
    /// What is held back.
    pub held: Vec<Said<Hold>>,
    /// Launches whose outcome is not known.
    pub in_doubt: Vec<InDoubt>,
    /// Regions that could not be seen.
    pub gaps: Vec<Gap>,
    /// How many regions answered.
    pub answered: u32,
    /// What else there is to know.
    pub notices: Vec<Said<Notice>>,
    /// Capacity by part of the fleet.
    pub groups: Vec<GroupLine>,
    /// Pools that hold, gain or lose machines.
    pub pools: Vec<Pool>,
    /// What to expect of the spot machines; `null` without any.
    pub outlook: Option<Outlook>,
    /// Limits on what is spent, and how far they reach.
    pub budgets: Vec<Budget>,
    /// What is in none of the amounts that `budgets` says were spent, because nobody can tell its price. Machines that
    /// are gone are among those.
    pub budget_uncounted: Vec<Uncounted>,
    /// How many pools the spec allows.
    pub candidates: u32,
    /// What rules out the other pools of the catalog.
    pub rejected: Vec<Counted>,
    /// Fields of the template that are not what machines were made from.
    pub template_changes: Vec<TemplateChange>,
    /// When it was decided.
    pub decided_at: Time,
    /// Until when a saved plan can be applied.
    pub expires_at: Time,
}

/// What a step does.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ActionKind {
    Create,
    Destroy,
}

/// One request to a cloud.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Step {
    /// Its number in this plan.
    pub id: u32,
    /// What it does.
    pub action: ActionKind,
    /// The pool, as `provider/region/zone/type/market`.
    pub pool: String,
    /// How many machines.
    pub count: u64,
    /// Why.
    pub reason: Said<Why>,
    /// Steps that come first.
    pub after: Vec<u32>,
    /// The slots that the machines fill.
    pub slots: Vec<String>,
    /// Machines to destroy; empty for a launch.
    pub machines: Vec<String>,
    /// Further pools that the cloud may choose; empty for a destroy.
    pub others: Vec<String>,
    /// Expected price of one machine per hour; `null` for a destroy, and where it is not known.
    pub hourly_usd: Option<f64>,
    /// The most to pay for one machine per hour; `null` without such a limit.
    pub max_hourly_usd: Option<f64>,
    /// The image that the template's name stands for here; `null` where it names none.
    pub image: Option<String>,
}

/// Labels that change in place.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Relabel {
    /// The cloud.
    pub provider: Provider,
    /// The region.
    pub region: String,
    /// Labels that are set.
    pub set: BTreeMap<String, String>,
    /// Labels that are removed.
    pub remove: Vec<String>,
    /// The machines.
    pub machines: Vec<String>,
}

/// One part of a fleet, before and after.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GroupLine {
    /// Which part.
    pub group: Group,
    /// Capacity that the spec asks for.
    pub wanted: f64,
    /// Capacity now, launches in doubt included.
    pub before: f64,
    /// Capacity afterwards.
    pub after: f64,
    /// Machines to keep.
    pub keep: u32,
    /// Machines to launch.
    pub create: u32,
    /// Machines to destroy.
    pub destroy: u32,
}

/// A pool that holds, gains or loses machines.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Pool {
    /// The pool, as `provider/region/zone/type/market`.
    pub pool: String,
    /// Its cloud.
    pub provider: Provider,
    /// Its region.
    pub region: String,
    /// Its zone.
    pub zone: String,
    /// Its instance type.
    pub r#type: String,
    /// Its market.
    pub market: Market,
    /// Machines to keep.
    pub keep: u32,
    /// Machines to launch.
    pub create: u32,
    /// Machines to destroy.
    pub destroy: u32,
    /// Of the machines kept and launched, those that are paid for already.
    pub committed: u32,
    /// Capacity of one machine.
    pub weight: f64,
    /// Price of one machine per hour.
    pub hourly_usd: Option<f64>,
    /// What the machines to keep add to the cost per hour, at the prices at which they were launched.
    pub kept_hourly_usd: f64,
    /// The same of the machines to destroy.
    pub destroyed_hourly_usd: f64,
    /// The on-demand price of one machine per hour.
    pub on_demand_hourly_usd: Option<f64>,
    /// The cloud's word on launches.
    pub obtainability: Option<Obtainability>,
    /// What the cloud's signals say, and how far each is believed.
    pub signals: Vec<Signal>,
    /// Share of the target that stands here afterwards.
    pub share_percent: f64,
    /// Learned reliability; `null` for on-demand.
    pub belief: Option<Belief>,
    /// Why this pool was chosen; `null` where nothing is launched.
    pub reason: Option<Said<PoolReason>>,
}

/// What one signal of a cloud says of a pool, and how far it is believed.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Signal {
    /// Its name, as `placement.ignoreSignals` takes it.
    pub name: String,
    /// Where it comes from.
    pub source: SignalSource,
    /// How likely a launch is, how many machines are interrupted, or how much the price moved.
    pub percent: f64,
    /// How far it is believed: 0 not at all, 100 entirely. Learned from launches and interruptions.
    pub weight_percent: f64,
    /// Since when a word on launches is taken to have stood, never below half of what it is now: two hours
    /// before it was first heard. `null` for other signals, and below 10 %.
    pub steady_since: Option<Time>,
}

impl From<&model::Heeded> for Signal {
    fn from(heeded: &model::Heeded) -> Self {
        let model::Heeded { word: model::Word { source, share }, weight, steady_since } = *heeded;
        Signal {
            name: source.to_string(),
            source: source.into(),
            percent: percent(share),
            weight_percent: percent(weight),
            steady_since: steady_since.map(Time),
        }
    }
}

/// A cloud's own word on how likely a launch is to succeed and last.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Obtainability {
    /// 0 hopeless, 100 certain.
    pub percent: u8,
    /// Where it comes from.
    pub source: SignalSource,
}

impl From<model::Obtainability> for Obtainability {
    fn from(word: model::Obtainability) -> Self {
        Obtainability { percent: word.percent, source: word.source.into() }
    }
}

/// What was learned of a spot pool.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Belief {
    /// Chance that what the plan holds and launches here is granted.
    pub fill_percent: f64,
    /// How long half of the machines live.
    pub life_minutes: u64,
}

/// What to expect of the spot machines.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Outlook {
    /// Chance that every launch is granted.
    pub fill_percent: f64,
    /// Share of time at target if `fleet reconcile` runs every `reconcileEverySeconds`; `null` without
    /// a hedge.
    pub whole_percent: Option<f64>,
    /// How often somebody looks after the fleet, as the spec says; `null` without a hedge.
    pub reconcile_every_seconds: Option<u32>,
    /// Share of time at target, by how often `fleet reconcile` runs.
    pub at_target_percent: AtTarget,
    /// Spot machines interrupted in a day.
    pub interruptions_per_day: f64,
    /// Price per hour of the whole fleet.
    pub hourly_usd: Spread,
}

/// Share of time at target, by how often `fleet reconcile` runs.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AtTarget {
    /// If it runs every five minutes.
    pub every_five_minutes: f64,
    /// If it runs once a night.
    pub nightly: f64,
}

/// How far an amount may vary.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Spread {
    /// One outcome in ten is below.
    pub p10: f64,
    /// The middle.
    pub p50: f64,
    /// One outcome in ten is above.
    pub p90: f64,
}

/// The whole document.
pub fn plan(
    fleets: &[(&model::Plan, &model::Report)],
    left_out: Vec<LeftOut>,
    unmanaged: Vec<Unmanaged>,
    review: &Review,
) -> Plan {
    let Review { comparison, verdicts } = review;
    Plan {
        summary: fleets
            .iter()
            .fold(Summary::default(), |sum, (_, report)| sum.and(Summary::of(report))),
        cost: Cost::from(&total(fleets.iter().map(|(_, report)| &report.cost))),
        fleets: fleets.iter().map(|(plan, report)| fleet(plan, report)).collect(),
        left_out,
        unmanaged,
        comparison: comparison.as_ref().map(Comparison::from),
        rules: verdicts.iter().map(Rule::from).collect(),
    }
}

/// One fleet.
pub fn fleet(plan: &model::Plan, report: &model::Report) -> FleetPlan {
    let model::Report {
        unit,
        groups,
        pools,
        cost,
        cost_lines,
        uncounted,
        // Only rules need it.
        uncounted_before: _,
        held,
        unplaced: short,
        in_doubt: doubts,
        gaps: silent,
        answered,
        notices,
        candidates,
        rejected,
        template_changes,
        outlook: expected,
        budgets,
        budget_uncounted,
    } = report;
    FleetPlan {
        fleet: plan.fleet.to_string(),
        uid: plan.uid.to_string(),
        unit: (*unit).into(),
        // Whoever saw nothing cannot say that nothing changes.
        changes: (!report.is_blind()).then(|| plan.acts() || !doubts.is_empty()),
        summary: Summary::of(report),
        steps: plan.steps.iter().map(step).collect(),
        resend: names(&plan.resend),
        relabel: plan.relabel.iter().map(relabel).collect(),
        cost: Cost::from(cost),
        cost_lines: cost_lines.iter().map(CostLine::from).collect(),
        uncounted: uncounted.iter().map(Uncounted::from).collect(),
        unplaced: unplaced(short),
        held: said(held),
        in_doubt: in_doubt(doubts),
        gaps: gaps(silent),
        answered: *answered,
        notices: said(notices),
        groups: groups.iter().map(group).collect(),
        pools: pools.iter().map(pool).collect(),
        outlook: expected.as_ref().map(outlook),
        budgets: budgets.iter().map(Budget::of).collect(),
        budget_uncounted: budget_uncounted.iter().map(Uncounted::from).collect(),
        candidates: *candidates,
        rejected: counted(rejected),
        template_changes: template_changes.iter().map(TemplateChange::of).collect(),
        decided_at: Time(plan.premises.decided_at),
        expires_at: Time(plan.premises.expires_at),
    }
}

fn step(step: &model::Step) -> Step {
    let common = Step {
        id: step.id.0,
        action: ActionKind::Create,
        pool: step.action.pool().to_string(),
        count: step.action.count() as u64,
        reason: Said::from(&step.why),
        after: step.after.iter().map(|id| id.0).collect(),
        slots: Vec::new(),
        machines: Vec::new(),
        others: Vec::new(),
        hourly_usd: None,
        max_hourly_usd: None,
        image: None,
    };
    match &step.action {
        model::Action::Create(create) => Step {
            others: create.others.iter().map(|other| other.pool.to_string()).collect(),
            slots: names(&create.slots),
            hourly_usd: create.price.map(usd),
            max_hourly_usd: create.max_price.map(usd),
            image: create.image.clone(),
            ..common
        },
        model::Action::Destroy(destroy) => Step {
            action: ActionKind::Destroy,
            slots: destroy.victims.iter().map(|victim| victim.slot.to_string()).collect(),
            machines: destroy.victims.iter().map(|victim| victim.machine.to_string()).collect(),
            ..common
        },
    }
}

fn relabel(one: &model::Relabel) -> Relabel {
    let model::Relabel { scope, set, remove, machines, .. } = one;
    Relabel {
        provider: scope.cloud.into(),
        region: scope.region.to_string(),
        set: set.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect(),
        remove: names(remove),
        machines: machines.iter().map(|one| one.machine.to_string()).collect(),
    }
}

fn group(line: &model::GroupLine) -> GroupLine {
    let model::GroupLine { group, wanted, before, after, doubt: _, keep, create, destroy } = line;
    GroupLine {
        group: (*group).into(),
        wanted: wanted.as_f64(),
        before: before.as_f64(),
        after: after.as_f64(),
        keep: *keep,
        create: *create,
        destroy: *destroy,
    }
}

fn pool(line: &model::PoolLine) -> Pool {
    let model::PoolLine {
        pool,
        weight,
        keep,
        create,
        destroy,
        kept_hourly,
        ended_hourly,
        price,
        on_demand,
        obtainability,
        signals,
        share,
        committed,
        chance,
        reason,
    } = line;
    Pool {
        pool: pool.to_string(),
        provider: pool.place.cloud.into(),
        region: pool.place.region.to_string(),
        zone: pool.place.zone.to_string(),
        r#type: pool.instance_type.to_string(),
        market: pool.market.into(),
        keep: *keep,
        create: *create,
        destroy: *destroy,
        committed: *committed,
        weight: weight.as_f64(),
        hourly_usd: price.map(usd),
        kept_hourly_usd: usd(*kept_hourly),
        destroyed_hourly_usd: usd(*ended_hourly),
        on_demand_hourly_usd: on_demand.map(usd),
        obtainability: obtainability.map(Into::into),
        signals: signals.iter().map(Into::into).collect(),
        share_percent: percent(*share),
        belief: chance.map(|model::PoolChance { fill, life_minutes }| Belief {
            fill_percent: percent(fill),
            life_minutes,
        }),
        reason: reason.as_ref().map(Said::from),
    }
}

fn outlook(outlook: &model::Outlook) -> Outlook {
    let model::Outlook {
        fill,
        interruptions_per_day_milli,
        hourly_p10,
        hourly_p50,
        hourly_p90,
        whole,
        reconcile_every_seconds,
        at_target_every_five_minutes,
        at_target_nightly,
    } = outlook;
    Outlook {
        fill_percent: percent(*fill),
        whole_percent: whole.map(percent),
        reconcile_every_seconds: *reconcile_every_seconds,
        at_target_percent: AtTarget {
            every_five_minutes: percent(*at_target_every_five_minutes),
            nightly: percent(*at_target_nightly),
        },
        interruptions_per_day: *interruptions_per_day_milli as f64 / 1000.0,
        hourly_usd: Spread { p10: usd(*hourly_p10), p50: usd(*hourly_p50), p90: usd(*hourly_p90) },
    }
}

/// A limit on what is spent, and how far it reaches.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Budget {
    /// Which limit.
    pub limit: BudgetCap,
    /// How much.
    pub limit_usd: f64,
    /// What is spent of it by the journal: machines, their disks, public addresses and expected traffic. Launches in
    /// doubt count at the dearest.
    pub spent_usd: f64,
    /// The same by what it was spent on. All of it is 0 in a plan that was saved before that was told apart.
    pub spent_on: SpentOn,
    /// What the base costs to the end: it is set aside.
    pub set_aside_usd: f64,
    /// Until when it has to last; `null` if nothing says so.
    pub until: Option<Time>,
    /// What is spent by then at the plan's cost per hour; `null` without an end.
    pub forecast_usd: Option<f64>,
    /// When nothing is left for the burst (of a fleet without one: for the base), at the plan's cost per
    /// hour; `null` if that is not before the end.
    pub used_up_at: Option<Time>,
    /// The most that the fleet may cost per hour now, as far as launches of burst machines go.
    pub hourly_limit_usd: f64,
}

/// An amount, by what it was spent on.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SpentOn {
    /// Machines themselves.
    pub machines_usd: f64,
    /// Their disks.
    pub disks_usd: f64,
    /// Their public addresses.
    pub addresses_usd: f64,
    /// Their traffic, as the spec expects it.
    pub traffic_usd: f64,
}

impl From<model::ByKind> for SpentOn {
    fn from(by: model::ByKind) -> Self {
        let model::ByKind { machine, disk, address, egress } = by;
        SpentOn {
            machines_usd: usd(machine),
            disks_usd: usd(disk),
            addresses_usd: usd(address),
            traffic_usd: usd(egress),
        }
    }
}

impl Budget {
    fn of(line: &model::BudgetLine) -> Self {
        let model::BudgetLine {
            cap,
            limit,
            spent,
            spent_on,
            set_aside,
            until,
            forecast,
            used_up_at,
            hourly_limit,
        } = line;
        Budget {
            limit: (*cap).into(),
            limit_usd: usd(*limit),
            spent_usd: usd(*spent),
            spent_on: SpentOn::from(*spent_on),
            set_aside_usd: usd(*set_aside),
            until: until.map(Time),
            forecast_usd: forecast.map(usd),
            used_up_at: used_up_at.map(Time),
            hourly_limit_usd: usd(*hourly_limit),
        }
    }
}

/// A field of the template that changed.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TemplateChange {
    /// The cloud.
    pub provider: Provider,
    /// The field, as the spec names it.
    pub field: String,
    /// What it was; `null`: not set. Of user data a fingerprint.
    pub from: Option<String>,
    /// What it is; `null`: not set. Of user data a fingerprint.
    pub to: Option<String>,
    /// The change as a sentence, for people.
    pub what: String,
}

impl TemplateChange {
    fn of(change: &model::TemplateChange) -> Self {
        TemplateChange {
            provider: change.cloud.into(),
            field: change.field.clone(),
            from: change.from.clone(),
            to: change.to.clone(),
            what: crate::sentences::template_change(change),
        }
    }
}
