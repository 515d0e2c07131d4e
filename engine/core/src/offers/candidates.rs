//! Offerings that could be bought from at this moment, with their place in the order of things.

use crate::offers::commitments::commitment_for;
use crate::offers::names::matches_kind;
use crate::offers::places::Places;
use crate::offers::prospect::Prospect;
use crate::offers::weights::weight;
use fleet_model::{
    BlockScope, Commitment, Desired, Inputs, Machine, Market, MaxSpotPrice, MicroUsd, Offering,
    Place, PoolId, Rejection, Scope, Units,
};
use std::collections::{BTreeMap, BTreeSet};

/// What a pool is taken for when its cloud says nothing of it: on-demand is seldom refused.
pub(crate) fn usual_odds(market: Market) -> u8 {
    match market {
        Market::Spot => 50,
        Market::OnDemand | Market::Reserved => 90,
    }
}

/// An offering that may be bought from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Candidate<'a> {
    pub(crate) offering: &'a Offering,
    /// What a machine costs per hour with all that comes beside; `None`: nobody can tell. By this pools
    /// are compared.
    pub(crate) price: Option<MicroUsd>,
    /// What of it comes beside the machine, and is paid even if a commitment pays for the machine.
    pub(crate) beside: MicroUsd,
    pub(crate) weight: Units,
    /// Position in the user's order of preference; the last for what is not named.
    pub(crate) priority: u32,
    /// Dense numbers of its zone and region.
    pub(crate) zone: u32,
    pub(crate) region: u32,
    /// Which commitment is for such machines.
    pub(crate) commitment: Option<u32>,
    /// What is to be expected of its slots.
    pub(crate) prospect: Prospect,
}

/// What depends on the place alone.
#[derive(Clone, Copy)]
struct Standpoint {
    zone: u32,
    region: u32,
}

/// Judges every offering: a candidate, or why not.
pub(crate) fn candidates<'a>(
    inputs: &'a Inputs,
    places: &Places,
    commitments: &[Commitment],
    prospect: &dyn Fn(&Offering) -> Prospect,
) -> (Vec<Candidate<'a>>, Vec<(&'a Offering, Rejection)>) {
    let judge = Judge::new(inputs);
    let mut good = Vec::with_capacity(inputs.offerings.len());
    let mut bad = Vec::new();
    let mut last: Option<(&Place, Standpoint)> = None;
    let mut last_kind: Option<(&'a Offering, Option<Units>, u32)> = None;
    for offering in &inputs.offerings {
        if let Some(reason) = judge.rejection(offering) {
            bad.push((offering, reason));
            continue;
        }
        let place = &offering.pool.place;
        // Offerings come place by place: what depends on the place alone is looked up once.
        let here = match last {
            Some((known, here)) if known == place => here,
            _ => {
                let (zone, region) = places.number(place).unwrap_or_default();
                Standpoint { zone, region }
            }
        };
        last = Some((place, here));
        let (weight, priority) = match last_kind {
            Some((known, weight, priority)) if known.kind == offering.kind => (weight, priority),
            _ => (weight(&inputs.desired, &offering.kind), priority(&inputs.desired, offering)),
        };
        last_kind = Some((offering, weight, priority));
        let Some(weight) = weight else {
            let unit = inputs.desired.capacity.unit;
            bad.push((offering, Rejection::NoWeight { unit }));
            continue;
        };
        let Standpoint { zone, region } = here;
        let commitment = commitment_for(commitments, &offering.pool);
        let prospect = prospect(offering);
        good.push(Candidate {
            offering,
            price: offering.full_price(),
            beside: offering.extras.known(),
            weight,
            priority,
            zone,
            region,
            commitment,
            prospect,
        });
    }
    leave_noticed(inputs, &mut good, &mut bad);
    (good, bad)
}

/// Takes pools out whose machines are being taken back right now, as long as there are others.
fn leave_noticed<'a>(
    inputs: &Inputs,
    good: &mut Vec<Candidate<'a>>,
    bad: &mut Vec<(&'a Offering, Rejection)>,
) {
    let leaving = inputs.observed.machines.values().filter(|machine| machine.is_taken_back());
    let noticed: BTreeSet<PoolId> = leaving.map(Machine::pool).collect();
    let is_noticed = |candidate: &Candidate<'_>| noticed.contains(&candidate.offering.pool);
    let is_spot = |candidate: &&Candidate<'_>| candidate.offering.pool.market == Market::Spot;
    if noticed.is_empty() || good.iter().filter(is_spot).all(&is_noticed) {
        return;
    }
    let out = good.extract_if(.., |candidate| is_noticed(candidate));
    bad.extend(out.map(|candidate| (candidate.offering, Rejection::GaveNotice)));
}

fn priority(desired: &Desired, offering: &Offering) -> u32 {
    let order = &desired.placement.priorities;
    let named = |pattern| matches_kind(pattern, offering.kind.cloud, &offering.kind.name);
    order.iter().position(named).unwrap_or(order.len()) as u32
}

/// What is known of the present, indexed for one question per offering.
struct Judge<'a> {
    inputs: &'a Inputs,
    silent: BTreeSet<&'a Scope>,
    pools: BTreeMap<&'a PoolId, &'a fleet_model::Block>,
    wider: Vec<&'a fleet_model::Block>,
}

impl<'a> Judge<'a> {
    fn new(inputs: &'a Inputs) -> Self {
        let mut pools = BTreeMap::new();
        let mut wider = Vec::new();
        for block in inputs.recorded.blocks.iter().filter(|block| block.until > inputs.now) {
            match &block.scope {
                BlockScope::Pool { pool } => {
                    pools.insert(pool, block);
                }
                BlockScope::Quota { .. }
                | BlockScope::Class { .. }
                | BlockScope::Zone { .. }
                | BlockScope::Region { .. }
                | BlockScope::Account { .. }
                | BlockScope::Cloud { .. }
                | BlockScope::Breaker { .. } => wider.push(block),
            }
        }
        let silent = inputs.observed.gaps.iter().map(|gap| &gap.scope).collect();
        Judge { inputs, silent, pools, wider }
    }

    fn rejection(&self, offering: &Offering) -> Option<Rejection> {
        let pool = &offering.pool;
        // Most worlds have no gap and no block: two tests that cost nothing.
        if !self.silent.is_empty() {
            let scope = pool.place.scope();
            if self.silent.contains(&scope) {
                return Some(Rejection::InGap { scope });
            }
        }
        let block = self.pools.get(pool).copied();
        if let Some(block) =
            block.or_else(|| self.wider.iter().find(|block| block.scope.covers(pool)).copied())
        {
            return Some(Rejection::Blocked {
                scope: block.scope.clone(),
                until: block.until,
                code: block.code.clone(),
            });
        }
        if let Some(why) = &offering.refusal {
            return Some(Rejection::CannotLaunch { why: why.to_string() });
        }
        let desired = &self.inputs.desired;
        let Some(price) = offering.price else {
            // Without a price no limit can be kept.
            let limited = desired.budget.is_limited()
                || pool.market == Market::Spot && desired.placement.max_spot_price.is_some();
            return limited.then_some(Rejection::Unpriced);
        };
        // Nor without a price for its traffic.
        if let Some(because) = offering.extras.egress.unknown()
            && desired.budget.is_limited()
        {
            return Some(Rejection::UnpricedTraffic { because });
        }
        if pool.market != Market::Spot {
            return None;
        }
        if desired.placement.max_spot_price.is_some() && max_spot_price(desired, offering).is_none()
        {
            // A share of a price that nobody knows.
            return Some(Rejection::Unpriced);
        }
        let limit = max_spot_price(desired, offering);
        if let Some(limit) = limit.filter(|limit| price > *limit) {
            return Some(Rejection::AboveMaxSpotPrice { limit });
        }
        offering.on_demand.is_some_and(|list| price >= list).then_some(Rejection::SpotNotCheaper)
    }
}

/// The most the spec pays for one machine of a spot offering.
pub(crate) fn max_spot_price(desired: &Desired, offering: &Offering) -> Option<MicroUsd> {
    match desired.placement.max_spot_price? {
        MaxSpotPrice::Hourly(limit) => Some(limit),
        MaxSpotPrice::ShareOfOnDemand(share) => {
            Some(MicroUsd(share.floor_of(offering.on_demand?.0)))
        }
    }
}
