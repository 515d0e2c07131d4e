//! A look at a fleet in numbers. Pure.

use fleet_model::{
    BlockScope, Cap, Cloud, Group, Inputs, MicroUsd, Recorded, Report, RolloutState,
};
use fleet_words::output::status::FleetStatus;
use serde::Serialize;
use std::collections::BTreeMap;

/// Where machines are, how they are bought, and how they are: `provider`, `region`, `market`, `state`.
type Where = [String; 4];

/// What a look at a fleet comes to.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Figures {
    pub(super) machines: BTreeMap<Where, u32>,
    pub(super) wanted: f64,
    pub(super) have: f64,
    pub(super) base_missing: f64,
    pub(super) unplaced: f64,
    pub(super) blocked: BTreeMap<Cloud, u32>,
    pub(super) hourly_usd: f64,
    pub(super) spent_usd: f64,
    /// Limit and use of each budget.
    pub(super) budgets: BTreeMap<String, (f64, f64)>,
    pub(super) held: BTreeMap<String, u32>,
    pub(super) rollout_left: u64,
}

impl Figures {
    /// Budgets of which more is used than there is: limit and use.
    pub(crate) fn overdrawn(&self) -> impl Iterator<Item = (&str, (f64, f64))> {
        let budgets = self.budgets.iter().map(|(budget, both)| (budget.as_str(), *both));
        budgets.filter(|(_, (limit, used))| used > limit)
    }

    /// The figures of what was seen and decided, of which `status` is the document.
    pub fn of(inputs: &Inputs, report: &Report, status: &FleetStatus) -> Self {
        let mut machines = BTreeMap::new();
        for one in &status.machines {
            let at = [word(one.provider), one.region.clone(), word(one.market), word(one.state)];
            *machines.entry(at).or_default() += 1;
        }
        let mut held = BTreeMap::new();
        for hold in &status.held {
            let named = serde_json::to_value(&hold.reason).ok();
            let named = named.as_ref().and_then(|hold| hold["is"].as_str());
            *held.entry(named.unwrap_or("other").to_owned()).or_default() += 1;
        }
        let groups = &report.groups;
        let base = groups.iter().filter(|group| group.group == Group::Base);
        Figures {
            machines,
            wanted: status.groups.iter().map(|group| group.wanted).sum(),
            have: status.groups.iter().map(|group| group.have).sum(),
            base_missing: base
                .map(|group| (group.wanted.as_f64() - group.before.as_f64()).max(0.0))
                .sum(),
            unplaced: status.unplaced.iter().map(|one| one.missing).fold(0.0, |a, b| a + b),
            blocked: blocked(inputs),
            hourly_usd: status.cost.hourly_usd,
            spent_usd: spent(inputs),
            budgets: budgets(report, status),
            held,
            rollout_left: rollout_left(&inputs.recorded),
        }
    }
}

/// A word of a fixed list, as documents write it.
fn word(word: impl Serialize) -> String {
    let value = serde_json::to_value(word).ok();
    value.as_ref().and_then(|value| value.as_str()).unwrap_or("other").to_owned()
}

fn rollout_left(recorded: &Recorded) -> u64 {
    match recorded.rollout.as_ref().map(|rollout| &rollout.state) {
        None | Some(RolloutState::Done) => 0,
        Some(RolloutState::Going | RolloutState::Paused | RolloutState::Halted { .. }) => {
            recorded.rolled_out().1
        }
    }
}

/// What is not asked for a while, by cloud.
fn blocked(inputs: &Inputs) -> BTreeMap<Cloud, u32> {
    let mut blocked = BTreeMap::new();
    for block in inputs.recorded.blocks.iter().filter(|block| block.until > inputs.now) {
        let cloud = match &block.scope {
            BlockScope::Pool { pool } => pool.place.cloud,
            BlockScope::Zone { place } => place.cloud,
            BlockScope::Quota { cloud, .. }
            | BlockScope::Class { cloud, .. }
            | BlockScope::Region { cloud, .. }
            | BlockScope::Account { cloud, .. }
            | BlockScope::Cloud { cloud }
            | BlockScope::Breaker { cloud, .. } => *cloud,
        };
        *blocked.entry(cloud).or_default() += 1;
    }
    blocked
}

fn budgets(report: &Report, status: &FleetStatus) -> BTreeMap<String, (f64, f64)> {
    use fleet_words::output::words::BudgetCap;
    let named = |cap: Cap| word(BudgetCap::from(cap));
    let usd = MicroUsd::as_f64;
    let caps = report.budgets.iter().map(|line| {
        let (limit, spent) = (usd(line.limit), usd(line.spent));
        (named(line.cap), (limit, spent))
    });
    let hourly = status.cost.hourly_limit_usd;
    let hourly = hourly.map(|limit| (named(Cap::Hourly), (limit, status.cost.hourly_usd)));
    caps.chain(hourly).collect()
}

/// What the journal says was spent on machines and what comes beside them, with what runs now at its recorded price. Launches in doubt do not count:
/// this figure must not fall when they come to nothing.
fn spent(inputs: &Inputs) -> f64 {
    let recorded = &inputs.recorded;
    let hours = |since| inputs.now.duration_since(since).as_secs_f64().max(0.0) / 3600.0;
    let open = recorded.running().map(|one| {
        let machine = one.price.unwrap_or_default().as_f64() * hours(one.since);
        machine + one.extras.unwrap_or_default().known().as_f64() * hours(one.extras_since)
    });
    let gone = recorded.spent_beside.values().map(|spent| spent.since(None).as_f64());
    recorded.spent.since(None).as_f64() + gone.sum::<f64>() + open.sum::<f64>()
}
