//! Why this pool, why not that one, and how each slot stands.

use crate::decide::{Decision, decide};
use crate::holdings::Standing;
use crate::market::Prospects;
use crate::market::belief::Evidence;
use crate::offers::trust::Trust;
use crate::offers::{
    Defaults, eligible_beside, find_offering, needs_approval, place_in_accounts, rejection, weight,
};
use fleet_model::{
    Catalog, CatalogRow, Extras, Heeded, Inputs, MachineId, Market, MicroUsd, Obtainability,
    Offering, Place, PoolId, Rejection, Saving, Share, SlotId, Units, Why,
};
use std::collections::BTreeMap;

/// What became of one pool.
#[derive(Debug, Clone, PartialEq)]
pub struct PoolVerdict {
    /// Which pool.
    pub pool: PoolId,
    /// Price per hour.
    pub price: Option<MicroUsd>,
    /// What one machine costs beside; nothing where the spec rules the pool out.
    pub extras: Extras,
    /// On-demand price per hour of the same.
    pub on_demand: Option<MicroUsd>,
    /// The cloud's word on launches.
    pub obtainability: Option<Obtainability>,
    /// What its signals say, and how far each is believed.
    pub signals: Vec<Heeded>,
    /// What is to be expected of a spot machine there.
    pub odds: Option<PoolOdds>,
    /// Capacity of one machine.
    pub weight: Option<Units>,
    /// Used, or why not.
    pub verdict: Verdict,
}

/// What is to be expected of one more machine in a spot pool, and from how much evidence.
#[derive(Debug, Clone, PartialEq)]
pub struct PoolOdds {
    /// That a launch succeeds now.
    pub launch: Share,
    /// That a machine which is up lasts 1, 6 and 24 hours.
    pub lasts: [Share; 3],
    /// What was seen there; `None`: nothing yet.
    pub seen: Option<Evidence>,
}

/// Hours that machines are expected to last, or not.
pub const ODDS_HOURS: [u32; 3] = [1, 6, 24];

/// Used, or why not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Machines stand there or will.
    Used {
        /// Kept.
        keep: u32,
        /// To be launched.
        create: u32,
        /// To be ended.
        destroy: u32,
    },
    /// Not used.
    NotUsed(Rejection),
}

/// The verdict on every pool of the catalog whose id passes `filter`.
pub fn explain_pools(
    inputs: &Inputs,
    catalog: &Catalog,
    filter: impl Fn(&PoolId) -> bool,
) -> Vec<PoolVerdict> {
    let decision = decide(inputs, false);
    let verdicts = Verdicts::new(&decision, catalog);
    let mut found = Vec::new();
    let places: Vec<Vec<Place>> =
        catalog.places.iter().map(|place| place_in_accounts(&inputs.desired, place)).collect();
    for row in &catalog.rows {
        for place in &places[row.place as usize] {
            for market in [Market::OnDemand, Market::Spot] {
                let instance_type = catalog.kind(row).name.clone();
                let pool = PoolId { place: place.clone(), instance_type, market };
                if filter(&pool) {
                    found.push(verdicts.of(pool, catalog, row));
                }
            }
        }
    }
    found
}

struct Verdicts<'a> {
    decision: &'a Decision<'a>,
    used: BTreeMap<&'a PoolId, (u32, u32, u32)>,
    not_now: BTreeMap<&'a PoolId, &'a Rejection>,
    /// The last pool that was taken in each market, by the strategy's order.
    last: BTreeMap<Market, PoolId>,
    defaults: Defaults,
    trust: Trust,
    prospects: Prospects<'a>,
}

impl<'a> Verdicts<'a> {
    fn new(decision: &'a Decision<'a>, catalog: &Catalog) -> Self {
        let mut used: BTreeMap<&PoolId, (u32, u32, u32)> = BTreeMap::new();
        let holdings = decision.inventory.holdings.iter().enumerate();
        // What is being destroyed is no use of a pool any more.
        for (at, holding) in holdings.filter(|(_, held)| held.standing != Standing::Ending) {
            let entry = used.entry(&holding.pool).or_default();
            if decision.choice.victims.contains_key(&at) {
                entry.2 += 1;
            } else {
                entry.0 += 1;
            }
        }
        let mut last = BTreeMap::new();
        for (group, taken) in &decision.choice.taken {
            for (&at, &count) in &taken.counts {
                let pool = &decision.candidate(at).offering.pool;
                used.entry(pool).or_default().1 += count;
                last.insert(group.market(), pool.clone());
            }
        }
        for holding in &decision.inventory.holdings {
            last.entry(holding.pool.market).or_insert_with(|| holding.pool.clone());
        }
        let not_now = decision.problem.not_now.iter().map(|(o, why)| (&o.pool, why)).collect();
        let inputs = decision.inputs;
        let defaults = eligible_beside(&inputs.desired, catalog, &inputs.recorded).defaults;
        let trust = Trust::of(inputs);
        let prospects = Prospects::new(inputs, &decision.inventory);
        Verdicts { decision, used, not_now, last, defaults, trust, prospects }
    }

    /// What is to be expected of one more machine in a spot pool.
    fn odds(&self, offering: &Offering) -> Option<PoolOdds> {
        if offering.pool.market != Market::Spot {
            return None;
        }
        let (chances, seen) = self.prospects.of_one_more(offering, ODDS_HOURS.map(f64::from));
        let share = |chance: f64| Share::from_ppm((chance.clamp(0.0, 1.0) * 1e6) as u32);
        let share = |chance: f64| share(chance).unwrap_or(Share::ALL);
        let known = seen.machine_hours > 0.0 || seen.interruptions > 0;
        Some(PoolOdds {
            launch: share(chances[0].up),
            lasts: chances.map(|chance| share(chance.stays)),
            seen: known.then_some(seen),
        })
    }

    fn of(&self, pool: PoolId, catalog: &Catalog, row: &CatalogRow) -> PoolVerdict {
        let inputs = self.decision.inputs;
        let kind = catalog.kind(row);
        let offering = find_offering(inputs, &pool);
        let listed = match pool.market {
            Market::OnDemand | Market::Reserved => row.on_demand,
            Market::Spot => row.spot,
        };
        let verdict = match self.used.get(&pool) {
            Some(&(keep, create, destroy)) => Verdict::Used { keep, create, destroy },
            None => Verdict::NotUsed(self.reason(&pool, catalog, row)),
        };
        PoolVerdict {
            price: offering.map_or(listed, |offering| offering.price),
            extras: offering.map_or_else(Extras::default, |offering| offering.extras),
            on_demand: row.on_demand,
            obtainability: offering.and_then(|offering| offering.signals.obtainability),
            signals: offering.map_or_else(Vec::new, |o| self.trust.heeded(&o.signals)),
            odds: offering.and_then(|offering| self.odds(offering)),
            weight: weight(&inputs.desired, kind),
            verdict,
            pool,
        }
    }

    fn reason(&self, pool: &PoolId, catalog: &Catalog, row: &CatalogRow) -> Rejection {
        let inputs = self.decision.inputs;
        if let Some(reason) = rejection(&inputs.desired, &pool.place, catalog.kind(row)) {
            return reason;
        }
        let kind = catalog.kind(row);
        if let Some(rule) = self.defaults.rule(&inputs.desired, &pool.place, kind) {
            return Rejection::NotByDefault { rule };
        }
        if let Some(reason) = needs_approval(&inputs.desired, kind) {
            return reason;
        }
        if let Some(reason) = self.not_now.get(pool) {
            return (*reason).clone();
        }
        let problem = &self.decision.problem;
        let at = problem.position(pool);
        let misfit = at.and_then(|at| problem.misfit(&self.decision.choice.usage, at));
        match (misfit, self.last.get(&pool.market)) {
            (Some(reason), _) => reason,
            (None, Some(by)) if at.is_some() => Rejection::Outranked { by: by.clone() },
            // The fleet buys nothing in this market, or the pool is not sold in it.
            (None, _) => Rejection::NotSold { market: pool.market },
        }
    }
}

/// What moving machines to cheaper pools comes to, the dearest pools first; empty unless the spec asks for
/// it.
pub fn explain_moves(inputs: &Inputs) -> Vec<Saving> {
    decide(inputs, false).choice.savings
}

impl PoolVerdict {
    /// What one machine costs per hour with what is known of what comes beside.
    pub fn whole_price(&self) -> Option<MicroUsd> {
        self.price.map(|price| price + self.extras.known())
    }
}

/// How one slot stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlotVerdict {
    /// Which slot.
    pub slot: SlotId,
    /// The machine in it; `None` while its launch is in doubt.
    pub machine: Option<MachineId>,
    /// Its pool.
    pub pool: PoolId,
    /// What it counts for.
    pub weight: Units,
    /// Its price per hour.
    pub price: Option<MicroUsd>,
    /// Kept, in doubt, being taken back, being ended …
    pub standing: &'static str,
    /// Why it will be ended, if it will.
    pub ends: Option<Why>,
}

/// How every filled slot stands.
pub fn explain_slots(inputs: &Inputs) -> Vec<SlotVerdict> {
    let decision = decide(inputs, false);
    let holdings = decision.inventory.holdings.iter().enumerate();
    holdings
        .map(|(at, holding)| SlotVerdict {
            slot: holding.slot,
            machine: holding.machine.clone(),
            pool: holding.pool.clone(),
            weight: holding.weight,
            price: holding.price,
            standing: match (&holding.standing, &holding.machine) {
                (Standing::Good, _) => "kept",
                (Standing::Disallowed(_), _) => "no longer allowed",
                (Standing::ToReplace, _) => "to be replaced, as asked",
                (Standing::Fixed, None) => "in doubt",
                (Standing::Fixed, Some(_)) => "left alone",
                (Standing::Failed(_), _) => "failed",
                (Standing::Stopped, _) => "stopped",
                (Standing::CameBack, _) => "came back",
                (Standing::Interrupted, _) => "being taken back",
                (Standing::Ending, _) => "ending",
            },
            ends: decision.choice.victims.get(&at).cloned(),
        })
        .collect()
}
