//! Spot that may fail, spares, and on-demand in its place: one decision.
//!
//! With a price on what is missing, how many spare spot machines and how much on-demand are worth
//! having follows from what is believed of the pools. A machine is ended only when what is ready
//! without it is enough: make before break.

use crate::candidates::Candidate;
use crate::field::{Field, Taken, Usage};
use crate::ledger::{Holding, Ledger, Standing, find_offering};
use crate::market::belief::{self, Prior};
use crate::market::learn;
use crate::market::portfolio::{Choice, Need, Portfolio, settled};
use crate::market::prior::{Siblings, latest};
use crate::zones::Zones;
use fleet_model::{Group, Hedge, Inputs, Market, PoolBelief, PoolId, Timestamp, Units, Vacated};
use std::collections::{BTreeMap, BTreeSet};

/// Moving to a new machine must pay for its start within this many hours.
const START_PAID_IN: f64 = 3.0;
/// What a launch that is refused costs, as a share of the on-demand price: time, not money.
const REFUSAL: f64 = 0.05;
/// Pools looked at, beyond those that hold something. More are needed where each may carry little.
const POOLS: usize = 24;
/// The finest division of the need.
const GRAINS: u64 = 512;
/// How much better another way to stand must be, as a share of one on-demand machine.
const INERTIA: f64 = 0.02;

/// What is to be launched and ended for the burst.
#[derive(Debug, Default)]
pub(crate) struct Hedged {
    pub(crate) taken: Taken,
    /// Positions in the ledger.
    pub(crate) ends: BTreeSet<usize>,
    pub(crate) portfolio: Portfolio,
}

/// One pool, and what we have in it.
struct Stand<'a> {
    pool: &'a PoolId,
    candidate: Option<u32>,
    weight: Units,
    price: f64,
    /// Positions in the ledger, oldest first.
    holdings: Vec<usize>,
    /// The most machines that it may carry.
    most: usize,
    belief: PoolBelief,
    prior: Prior,
}

/// What the burst is decided from.
pub(crate) struct Ground<'a> {
    pub(crate) inputs: &'a Inputs,
    pub(crate) field: &'a Field<'a>,
    pub(crate) ledger: &'a Ledger,
    /// Machines that end for other reasons.
    pub(crate) gone: &'a dyn Fn(usize) -> bool,
}

impl Ground<'_> {
    /// What of the burst is decided here. What is paid for already stays whatever is.
    fn burst(&self, market: Market) -> impl Iterator<Item = (usize, &Holding)> {
        let all = self.ledger.holdings.iter().enumerate();
        all.filter(move |(at, holding)| {
            holding.slot.name.group == Group::Burst
                && holding.standing.counts()
                && holding.pool.market == market
                && !holding.covered
                && !(self.gone)(*at)
        })
    }

    /// What of the burst stays unless it is ended here.
    fn standing(&self) -> Units {
        let all = [Market::Spot, Market::OnDemand].into_iter();
        all.flat_map(|market| self.burst(market)).map(|(_, holding)| holding.weight).sum()
    }

    /// Machines that stay, by zone.
    fn zones(&self) -> Zones<'_> {
        let least = self.inputs.desired.placement.spread.min_zones as usize;
        let holdings = self.ledger.holdings.iter().enumerate();
        Zones::new(holdings.filter(|(at, _)| !(self.gone)(*at)).map(|(_, h)| h), least)
    }

    fn ready(&self, holding: &Holding, hedge: Hedge) -> bool {
        is_ready(self.inputs, holding, hedge)
    }
}

/// Whether a machine has had the time that it takes to be of use.
pub(crate) fn is_ready(inputs: &Inputs, holding: &Holding, hedge: Hedge) -> bool {
    let age = inputs.now.as_second() - holding.launched_at.as_second();
    age >= i64::from(hedge.ready_after_seconds)
}

/// What is believed of a pool at this moment: what was seen, and what we see now.
pub(crate) fn belief_now(
    inputs: &Inputs,
    vacate: &[Vacated],
    pool: &PoolId,
    held: u32,
) -> PoolBelief {
    let lost = learn::lost(&inputs.recorded, vacate).get(pool).copied().unwrap_or_default();
    refreshed(inputs, pool, held, lost)
}

fn refreshed(inputs: &Inputs, pool: &PoolId, held: u32, lost: u32) -> PoolBelief {
    let mut belief = latest(inputs, pool).cloned().unwrap_or_default();
    let now: Timestamp = inputs.now;
    if lost > 0 {
        belief::interrupted(&mut belief, now, held + lost, held);
    } else if held > 0 {
        belief::alive(&mut belief, now, held);
    }
    belief
}

/// What is to be had, and at what price: the same however it is decided.
struct Survey<'a> {
    wanted: Units,
    hedge: Hedge,
    stands: Vec<Stand<'a>>,
    choices: Vec<Choice>,
    grain: Units,
    /// What a grain costs on demand, where that is to be had.
    per_grain: Option<f64>,
    /// The same, or its list price.
    reference: f64,
}

impl<'a> Survey<'a> {
    fn new(ground: &'a Ground<'a>, wanted: Units, hedge: Hedge) -> Self {
        let stands = stands(ground, wanted, hedge);
        let grain = grain(&stands, wanted);
        let per_grain = on_demand_price(ground).map(|per_unit| per_unit * grain.0 as f64 / 1000.0);
        let reference = per_grain.or_else(|| list_price(ground.inputs, grain)).unwrap_or_default();
        let choice = |stand| choice(ground, stand, grain, reference, hedge);
        let choices = stands.iter().map(choice).collect();
        Survey { wanted, hedge, stands, choices, grain, per_grain, reference }
    }
}

/// Decides the burst.
pub(crate) fn hedge(ground: &Ground<'_>, usage: &mut Usage, wanted: Units, hedge: Hedge) -> Hedged {
    let survey = Survey::new(ground, wanted, hedge);
    let mut most = wanted;
    loop {
        let mut tried = usage.clone();
        let (hedged, had) = decide(ground, &survey, &mut tried, most);
        // Less on demand than was counted on: what may be had otherwise is worth more then.
        if had >= most {
            *usage = tried;
            return hedged;
        }
        most = had;
    }
}

/// Decides the burst with at most so much on demand. Tells how much there is of that: less than
/// was allowed only if a limit stands in the way.
fn decide(
    ground: &Ground<'_>,
    survey: &Survey<'_>,
    usage: &mut Usage,
    most_on_demand: Units,
) -> (Hedged, Units) {
    let &Survey { wanted, hedge, grain, per_grain, reference, .. } = survey;
    let stands = &survey.stands;
    let mut choices = survey.choices.clone();
    let held: Units = ground.burst(Market::OnDemand).map(|(_, holding)| holding.weight).sum();
    let ahead = f64::from(hedge.ready_after_seconds) / 3600.0;
    let need = Need {
        wanted: wanted.0.div_ceil(grain.0) as usize,
        on_demand: per_grain,
        held: held.0.div_ceil(grain.0) as usize,
        most: most_on_demand.0.div_ceil(grain.0) as usize,
        start: reference * ahead / START_PAID_IN,
        missing: reference * f64::from(hedge.penalty_milli) / 1000.0,
        inertia: INERTIA * reference,
    };
    let most = wanted + wanted;
    let mut hedged = Hedged::default();
    let mut tried = usage.clone();
    // A limit that stands in the way of a pool lowers what it may carry; then anew. Each time at
    // least one pool is lowered, so this ends.
    for _ in 0..=stands.len() {
        hedged.portfolio = settled(&choices, need);
        tried = usage.clone();
        hedged.taken = Taken::default();
        let mut stopped = false;
        // However the machines are to move: never more than twice what is wanted at a time. What can
        // never be had must not be waited for, so limits are tried as if there were room for all.
        let mut room = most.saturating_sub(ground.standing());
        let mut all = usage.clone();
        let planned = stands.iter().zip(&mut choices).zip(&hedged.portfolio.counts);
        for ((stand, choice), &count) in planned {
            let Some(at) = stand.candidate else { continue };
            for nth in stand.holdings.len()..count {
                if let Some(misfit) = ground.field.misfit(&all, at) {
                    *hedged.taken.refused.entry(misfit).or_default() += 1;
                    choice.stays.truncate(nth);
                    choice.extra.truncate(nth);
                    choice.start.truncate(nth);
                    stopped = true;
                    break;
                }
                ground.field.take(&mut all, at, 1);
                if stand.weight > room {
                    continue;
                }
                ground.field.take_for(&mut tried, &mut hedged.taken, at, 1);
                room = room - stand.weight;
            }
        }
        if !stopped {
            break;
        }
    }
    *usage = tried;
    let mut zones = ground.zones();
    ends(ground, stands, wanted, hedge, &mut zones, &mut hedged);
    let short = on_demand(ground, usage, wanted, hedge, grain, &mut zones, &mut hedged);
    let counted_on = Units(hedged.portfolio.on_demand as u64 * grain.0);
    let most = if short.is_zero() { most_on_demand } else { counted_on.saturating_sub(short) };
    (hedged, most)
}

/// The pools worth looking at: those that hold something, and the best of the others.
fn stands<'a>(ground: &'a Ground<'a>, wanted: Units, hedge: Hedge) -> Vec<Stand<'a>> {
    let inputs = ground.inputs;
    let mut held: BTreeMap<&PoolId, Vec<usize>> = BTreeMap::new();
    for (at, holding) in ground.burst(Market::Spot) {
        held.entry(&holding.pool).or_default().push(at);
    }
    let lost = learn::lost(&inputs.recorded, &ground.ledger.vacate);
    let siblings = Siblings::new(inputs);
    let stand = |pool: &'a PoolId, candidate: Option<(u32, &Candidate<'a>)>, held: Vec<usize>| {
        let first = held.first().map(|at| &ground.ledger.holdings[*at]);
        let offering = find_offering(inputs, pool);
        let price = offering.and_then(|o| o.price).or_else(|| first.and_then(|h| h.price));
        let weight = candidate.map(|(_, c)| c.weight).or_else(|| first.map(|h| h.weight));
        let weight = weight.filter(|w| !w.is_zero())?;
        let taken = lost.get(pool).copied().unwrap_or_default();
        // What just took machines back has no room for more.
        let open = candidate.is_some() && taken == 0;
        let more = if open { wanted.0.div_ceil(weight.0) as usize } else { 0 };
        Some(Stand {
            pool,
            candidate: candidate.map(|(at, _)| at),
            weight,
            price: price.map_or(f64::INFINITY, |price| price.0 as f64),
            most: held.len() + more,
            belief: refreshed(inputs, pool, held.len() as u32, taken),
            prior: siblings.prior(inputs, pool),
            holdings: held,
        })
    };
    let mut all = Vec::new();
    let mut others = Vec::new();
    for (at, candidate) in ground.field.candidates.iter().enumerate() {
        let pool = &candidate.offering.pool;
        if pool.market != Market::Spot || candidate.offering.price.is_none() {
            continue;
        }
        let ours = held.remove(pool).unwrap_or_default();
        let kept = !ours.is_empty();
        let found = stand(pool, Some((at as u32, candidate)), ours);
        if kept { all.extend(found) } else { others.extend(found) }
    }
    for (pool, ours) in held {
        all.extend(stand(pool, None, ours));
    }
    let ahead = f64::from(hedge.ready_after_seconds) / 3600.0;
    others.sort_by_cached_key(|stand| {
        let first = belief::chances(&stand.belief, stand.prior, inputs.now, ahead, 1)[0];
        let per_unit = stand.price / stand.weight.0 as f64;
        let risk = 1.0 + (1.0 - first.stays) + REFUSAL * (1.0 - first.up);
        (per_unit * risk * 1e6) as u64
    });
    let share = inputs.desired.placement.spread.max_share_per_pool;
    let least = share.map_or(0, |share| 2_000_000 / share.ppm().max(1) as usize);
    others.truncate(POOLS.max(least).min(4 * POOLS));
    all.extend(others);
    all.sort_by(|a, b| a.pool.cmp(b.pool));
    all
}

/// The unit of the search: the smallest machine, unless that makes too many.
fn grain(stands: &[Stand<'_>], wanted: Units) -> Units {
    let smallest = stands.iter().map(|stand| stand.weight.0).min().unwrap_or(1000);
    Units(smallest.max(wanted.0.div_ceil(GRAINS)).max(1))
}

fn choice(
    ground: &Ground<'_>,
    stand: &Stand<'_>,
    grain: Units,
    reference: f64,
    hedge: Hedge,
) -> Choice {
    let ahead = f64::from(hedge.ready_after_seconds) / 3600.0;
    let weight = (stand.weight.0.div_ceil(grain.0)).max(1) as usize;
    let chances = belief::chances(&stand.belief, stand.prior, ground.inputs.now, ahead, stand.most);
    let start = |up: f64| {
        stand.price * ahead / START_PAID_IN + REFUSAL * reference * weight as f64 * (1.0 - up)
    };
    Choice {
        price: stand.price,
        weight,
        held: stand.holdings.len(),
        extra: chances.iter().map(|chance| (1.0 - chance.stays) * stand.price).collect(),
        start: chances.iter().map(|chance| start(chance.up)).collect(),
        stays: chances.iter().map(|chance| chance.stays).collect(),
    }
}

/// What a thousand thousandths of a unit cost on demand, where it is cheapest.
fn on_demand_price(ground: &Ground<'_>) -> Option<f64> {
    let sold = ground
        .field
        .candidates
        .iter()
        .filter(|c| c.offering.pool.market == Market::OnDemand && !c.weight.is_zero());
    sold.filter_map(|c| Some(c.offering.price?.0 as f64 * 1000.0 / c.weight.0 as f64))
        .min_by(f64::total_cmp)
}

/// The list price of a grain, where no on-demand is to be had.
fn list_price(inputs: &Inputs, grain: Units) -> Option<f64> {
    let listed = inputs.offerings.iter().filter_map(|offering| {
        let weight = crate::weight(&inputs.desired, &offering.kind).filter(|w| !w.is_zero())?;
        Some(offering.on_demand?.0 as f64 * grain.0 as f64 / weight.0 as f64)
    });
    listed.min_by(f64::total_cmp)
}

/// Ends what is beyond its count, dearest and youngest first, while what is ready without it is
/// enough.
fn ends(
    ground: &Ground<'_>,
    stands: &[Stand<'_>],
    wanted: Units,
    hedge: Hedge,
    zones: &mut Zones<'_>,
    hedged: &mut Hedged,
) {
    let holdings = &ground.ledger.holdings;
    let ready = |market| -> Units {
        let all = ground.burst(market).filter(|(_, h)| ground.ready(h, hedge));
        all.map(|(_, h)| h.weight).sum()
    };
    let mut spot = ready(Market::Spot);
    let on_demand = ready(Market::OnDemand);
    let mut dearest: Vec<(&Stand<'_>, usize)> =
        stands.iter().zip(hedged.portfolio.counts.iter().copied()).collect();
    let per_unit = |stand: &Stand<'_>| stand.price / stand.weight.0 as f64;
    dearest.sort_by(|(a, _), (b, _)| per_unit(b).total_cmp(&per_unit(a)));
    for (stand, count) in dearest {
        let mut beyond: Vec<usize> = stand.holdings.clone();
        beyond.sort_by_key(|&at| (holdings[at].launched_at, at));
        for &at in beyond.iter().skip(count).rev() {
            let holding = &holdings[at];
            if holding.standing == Standing::Fixed {
                continue;
            }
            let ready = ground.ready(holding, hedge);
            if ready && spot + on_demand < wanted + holding.weight {
                continue;
            }
            if !zones.leave(&holding.pool.place) {
                continue;
            }
            if ready {
                spot = spot - holding.weight;
            }
            hedged.ends.insert(at);
        }
    }
}

/// On-demand: what is worth having, and as a bridge until spot is ready. Returns what is not to be
/// had.
fn on_demand(
    ground: &Ground<'_>,
    usage: &mut Usage,
    wanted: Units,
    hedge: Hedge,
    grain: Units,
    zones: &mut Zones<'_>,
    hedged: &mut Hedged,
) -> Units {
    let ends = &hedged.ends;
    let kept = ground.burst(Market::Spot).filter(|(at, _)| !ends.contains(at));
    let spot: Units = kept.filter(|(_, h)| ground.ready(h, hedge)).map(|(_, h)| h.weight).sum();
    let mut held: Vec<(usize, &Holding)> = ground.burst(Market::OnDemand).collect();
    let mut have: Units = held.iter().map(|(_, h)| h.weight).sum();
    let bridge = wanted.saturating_sub(spot).min(have);
    let want = Units(hedged.portfolio.on_demand as u64 * grain.0).min(wanted).max(bridge);
    held.sort_by_key(|(at, h)| (std::cmp::Reverse(h.launched_at), *at));
    for (at, holding) in held {
        let spare = have >= want + holding.weight && holding.standing != Standing::Fixed;
        if spare && !holding.weight.is_zero() && zones.leave(&holding.pool.place) {
            have = have - holding.weight;
            hedged.ends.insert(at);
        }
    }
    let bought = |taken: &Taken| ground.field.units(taken);
    let room = (wanted + wanted).saturating_sub(ground.standing() + bought(&hedged.taken));
    let need = want.saturating_sub(have);
    // Asked without regard to the room: what can never be had must not be waited for.
    let mut tried = usage.clone();
    let mut more = ground.field.fill(&mut tried, Market::OnDemand, need, Units(0));
    let short = more.short;
    if room < need {
        tried = usage.clone();
        more = ground.field.fill(&mut tried, Market::OnDemand, room, Units(0));
    }
    *usage = tried;
    hedged.taken.join(more);
    let stays: Units = [Market::Spot, Market::OnDemand]
        .into_iter()
        .flat_map(|market| ground.burst(market))
        .filter(|(at, _)| !hedged.ends.contains(at))
        .map(|(_, h)| h.weight)
        .sum();
    hedged.taken.short = wanted.saturating_sub(bought(&hedged.taken) + stays);
    short
}
