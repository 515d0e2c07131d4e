//! Spot that may fail, spares, and on-demand in its place: one decision.
//!
//! With a price on what is missing, how many spare spot machines and how much on-demand are worth
//! having follows from what is believed of the pools. A machine is ended only when what is ready
//! without it is enough: make before break.

use crate::holdings::{Holding, Standing, Zones};
use crate::market::choice::Choice;
use crate::market::moves::Bench;
use crate::market::need::Portfolio;
use crate::market::portfolio::{come_to, portfolio};
use crate::market::survey::{HedgeInputs, Stand, Survey, is_fresh};
use crate::place::{Taken, Usage};
use fleet_model::{Hedge, Market, Units};
use std::collections::BTreeSet;

/// A limit that several pools share lowers what they may carry, together; then anew. After so many rounds, what the
/// limits allow of the last answer is taken.
const ROUNDS: usize = 12;
/// Where a limit stands in the way, pools are given what they ask for in so many parts, in turn.
const PARTS: u64 = 16;

/// What is to be launched and ended for the burst.
#[derive(Debug, Default)]
pub(crate) struct Hedged {
    pub(crate) taken: Taken,
    /// Positions in the inventory.
    pub(crate) ends: BTreeSet<usize>,
    pub(crate) portfolio: Portfolio,
}

/// Decides the burst.
pub(crate) fn hedge(
    given: &HedgeInputs<'_>,
    usage: &mut Usage,
    wanted: Units,
    hedge: Hedge,
) -> Hedged {
    let survey = Survey::new(given, wanted, hedge);
    let mut most = wanted;
    let mut bench = Bench::default();
    loop {
        let mut tried = usage.clone();
        let (hedged, had) = decide(given, &survey, &mut tried, most, &mut bench);
        // Less on demand than was counted on: what may be had otherwise is worth more then.
        if had >= most {
            let (hedged, used) =
                target_first(given, &survey, usage, &hedged).unwrap_or((hedged, tried));
            *usage = used;
            return hedged;
        }
        most = had;
    }
}

/// Where limits leave less than the target to a burst with spares: the target alone, as a fleet without a hedge
/// would have it, if less is missing then. What the limits leave besides is asked for when this is looked at again.
fn target_first(
    given: &HedgeInputs<'_>,
    survey: &Survey<'_>,
    usage: &Usage,
    hedged: &Hedged,
) -> Option<(Hedged, Usage)> {
    if hedged.taken.short.is_zero() {
        return None;
    }
    let mut used = usage.clone();
    let need = survey.wanted.saturating_sub(given.standing());
    let mut taken = given.problem.fill(&mut used, Market::Spot, need, Units(0));
    let bridge = given.problem.fill(&mut used, Market::OnDemand, taken.short, Units(0));
    taken.short = bridge.short;
    taken.join(bridge);
    let target = Hedged { portfolio: outcome(given, survey, &taken), taken, ends: BTreeSet::new() };
    let better = target.portfolio.cost < outcome(given, survey, &hedged.taken).cost;
    better.then_some((target, used))
}

/// What it comes to if this is launched and nothing ends.
fn outcome(given: &HedgeInputs<'_>, survey: &Survey<'_>, taken: &Taken) -> Portfolio {
    let more = |at: u32| taken.counts.get(&at).map_or(0, |count| *count as usize);
    let stands = survey.stands.iter();
    let counts = stands.map(|stand| stand.holdings.len() + stand.candidate.map_or(0, more));
    let held: Units = given.burst(Market::OnDemand).map(|(_, holding)| holding.weight).sum();
    let candidates = given.problem.of_market(Market::OnDemand);
    let weight = |at: u32| given.problem.candidates[at as usize].weight.0;
    let bought: Units = candidates.map(|at| Units(weight(at) * more(at) as u64)).sum();
    let on_demand = (held + bought).0.div_ceil(survey.grain.0) as usize;
    come_to(&survey.choices, survey.need(given, survey.wanted), counts.collect(), on_demand)
}

/// Decides the burst with at most so much on demand. Tells how much there is of that: less than
/// was allowed only if a limit stands in the way.
fn decide(
    given: &HedgeInputs<'_>,
    survey: &Survey<'_>,
    usage: &mut Usage,
    most_on_demand: Units,
    bench: &mut Bench,
) -> (Hedged, Units) {
    let &Survey { wanted, hedge, grain, .. } = survey;
    let stands = &survey.stands;
    let mut choices = survey.choices.clone();
    let need = survey.need(given, most_on_demand);
    let most = wanted + wanted;
    for (choice, stand) in choices.iter_mut().zip(stands) {
        // What no limit allows is no way to stand. Limits that pools share are known once it is seen who asks.
        let more = stand.candidate.map(|at| given.problem.fits(usage, at));
        choice.limit(stand.holdings.len().saturating_add(more.unwrap_or_default() as usize));
    }
    let mut hedged = Hedged::default();
    let mut tried = usage.clone();
    for _ in 0..ROUNDS {
        hedged.portfolio = portfolio(&choices, need, bench);
        for (count, stand) in hedged.portfolio.counts.iter_mut().zip(stands) {
            *count = (*count).max(stand.settled);
        }
        let on_demand = &mut hedged.portfolio.on_demand;
        *on_demand = (*on_demand).max(need.settled.min(need.most));
        tried = usage.clone();
        hedged.taken = Taken::default();
        let mut stopped = false;
        // However the machines are to move: never more than twice what is wanted at a time. What can
        // never be had must not be waited for, so limits are tried as if there were room for all.
        let mut room = most.saturating_sub(given.standing());
        let order = best_first(stands, &choices, &hedged.portfolio.counts);
        let asked = asked(stands, &hedged.portfolio.counts, &order);
        let allowed = allowed(given, usage, &asked);
        for (Asked { nth, at, more }, fits) in asked.into_iter().zip(allowed) {
            let stand = &stands[nth];
            if fits < more {
                choices[nth].limit(stand.holdings.len() + fits as usize);
                stopped = true;
            }
            let now = fits.min(room.0 / stand.weight.0.max(1));
            if now > 0 {
                given.problem.take_for(&mut tried, &mut hedged.taken, at, now);
                room = room - Units(stand.weight.0 * now);
            }
        }
        if !stopped {
            break;
        }
    }
    *usage = tried;
    let mut zones = given.zones();
    ends(given, stands, wanted, hedge, &mut zones, &mut hedged);
    let short = on_demand(given, usage, wanted, hedge, grain, &mut zones, &mut hedged);
    if !hedged.taken.short.is_zero() {
        let full = stands.iter().filter_map(|stand| given.problem.misfit(usage, stand.candidate?));
        full.for_each(|misfit| *hedged.taken.refused.entry(misfit).or_default() += 1);
    }
    let counted_on = Units(hedged.portfolio.on_demand as u64 * grain.0);
    let most = if short.is_zero() { most_on_demand } else { counted_on.saturating_sub(short) };
    (hedged, most)
}

/// More machines of a pool.
struct Asked {
    /// Its position among the stands.
    nth: usize,
    /// Its position among the candidates.
    at: u32,
    more: u64,
}

/// What is asked for beside what is held, in some order.
fn asked(stands: &[Stand<'_>], counts: &[usize], order: &[usize]) -> Vec<Asked> {
    let of = |&nth: &usize| {
        let stand = &stands[nth];
        let more = (counts[nth] - stand.holdings.len()) as u64;
        Some(Asked { nth, at: stand.candidate?, more })
    };
    order.iter().filter_map(of).collect()
}

/// How much of it the limits allow. Pools that share a limit share what it leaves: whoever came first and took
/// it all would leave the fleet in few pools, where spot is worth little.
fn allowed(given: &HedgeInputs<'_>, usage: &Usage, asked: &[Asked]) -> Vec<u64> {
    let mut parts = 1;
    loop {
        let mut all = usage.clone();
        let mut allowed = vec![0; asked.len()];
        for part in 0..parts {
            for (ask, allowed) in asked.iter().zip(&mut allowed) {
                let until = |part: u64| (ask.more * part).div_ceil(parts);
                let fits = given.problem.fits(&all, ask.at).min(until(part + 1) - until(part));
                given.problem.take(&mut all, ask.at, fits);
                *allowed += fits;
            }
        }
        let whole = asked.iter().zip(&allowed).all(|(ask, allowed)| ask.more == *allowed);
        if whole || parts > 1 {
            return allowed;
        }
        parts = PARTS;
    }
}

/// The pools that give more than they hold, those first whose machines come cheapest: under limits that
/// they share, the first takes most.
fn best_first(stands: &[Stand<'_>], choices: &[Choice], counts: &[usize]) -> Vec<usize> {
    let more = |nth: &usize| counts[*nth] > stands[*nth].holdings.len();
    let mut order: Vec<(f64, usize)> = (0..counts.len())
        .filter(more)
        .map(|nth| {
            let slot = choices[nth].slot(stands[nth].holdings.len());
            let per_unit = slot.map_or(f64::INFINITY, |slot| {
                slot.cost / (slot.stays.max(f64::MIN_POSITIVE) * choices[nth].weight as f64)
            });
            (per_unit, nth)
        })
        .collect();
    order.sort_by(|(a, x), (b, y)| a.total_cmp(b).then(x.cmp(y)));
    order.into_iter().map(|(_, nth)| nth).collect()
}

/// Ends what is beyond its count, in the dearest pools first, while what is ready without it is enough. Of
/// a pool those go first whose checks fail, then the youngest, but for those that were launched since the last
/// look.
fn ends(
    given: &HedgeInputs<'_>,
    stands: &[Stand<'_>],
    wanted: Units,
    hedge: Hedge,
    zones: &mut Zones<'_>,
    hedged: &mut Hedged,
) {
    let holdings = &given.inventory.holdings;
    let ready = |market| -> Units {
        let all = given.burst(market).filter(|(_, h)| given.ready(h, hedge));
        all.map(|(_, h)| h.weight).sum()
    };
    let mut spot = ready(Market::Spot);
    let on_demand = ready(Market::OnDemand);
    let mut dearest: Vec<(&Stand<'_>, usize)> =
        stands.iter().zip(hedged.portfolio.counts.iter().copied()).collect();
    let per_unit = |stand: &Stand<'_>| stand.price / stand.weight.0 as f64;
    dearest.sort_by(|(a, _), (b, _)| per_unit(b).total_cmp(&per_unit(a)));
    for (stand, count) in dearest {
        if stand.holdings.len() <= count {
            continue;
        }
        let mut beyond: Vec<usize> = stand.holdings.clone();
        let fresh = |at: usize| is_fresh(given.inputs, &holdings[at], hedge);
        let order = |at: usize| (holdings[at].failing, holdings[at].launched_at, at);
        beyond.sort_by_key(|&at| (!fresh(at), order(at)));
        for &at in beyond.iter().skip(count).rev() {
            let holding = &holdings[at];
            if holding.standing == Standing::Fixed {
                continue;
            }
            if !given.enough(wanted, spot + on_demand, holding, hedge) {
                continue;
            }
            if !zones.leave(&holding.pool.place) {
                continue;
            }
            if given.ready(holding, hedge) {
                spot = spot - holding.weight;
            }
            hedged.ends.insert(at);
        }
    }
}

/// On-demand: what is worth having, and as a bridge until spot is ready. Returns what is not to be
/// had.
fn on_demand(
    given: &HedgeInputs<'_>,
    usage: &mut Usage,
    wanted: Units,
    hedge: Hedge,
    grain: Units,
    zones: &mut Zones<'_>,
    hedged: &mut Hedged,
) -> Units {
    let ends = &hedged.ends;
    let kept = given.burst(Market::Spot).filter(|(at, _)| !ends.contains(at));
    let spot: Units = kept.filter(|(_, h)| given.ready(h, hedge)).map(|(_, h)| h.weight).sum();
    let mut held: Vec<(usize, &Holding)> = given.burst(Market::OnDemand).collect();
    let mut have: Units = held.iter().map(|(_, h)| h.weight).sum();
    let ready = held.iter().filter(|(_, h)| given.ready(h, hedge));
    let mut serving = spot + ready.map(|(_, h)| h.weight).sum();
    let bridge = wanted.saturating_sub(spot).min(have);
    let want = Units(hedged.portfolio.on_demand as u64 * grain.0).min(wanted).max(bridge);
    let fresh = |holding: &Holding| is_fresh(given.inputs, holding, hedge);
    held.sort_by_key(|(at, h)| (fresh(h), !h.failing, std::cmp::Reverse(h.launched_at), *at));
    for (at, holding) in held {
        // The bridge counts machines, and not all of them are of use.
        let enough = given.enough(wanted, serving, holding, hedge);
        let spare = have >= want + holding.weight && holding.standing != Standing::Fixed && enough;
        if spare && !holding.weight.is_zero() && zones.leave(&holding.pool.place) {
            have = have - holding.weight;
            if given.ready(holding, hedge) {
                serving = serving - holding.weight;
            }
            hedged.ends.insert(at);
        }
    }
    let bought = |taken: &Taken| given.problem.units(taken);
    let room = (wanted + wanted).saturating_sub(given.standing() + bought(&hedged.taken));
    let need = want.saturating_sub(have);
    // Asked without regard to the room: what can never be had must not be waited for.
    let mut tried = usage.clone();
    let mut more = given.problem.fill(&mut tried, Market::OnDemand, need, Units(0));
    let short = more.short;
    if room < need {
        tried = usage.clone();
        more = given.problem.fill(&mut tried, Market::OnDemand, room, Units(0));
    }
    *usage = tried;
    hedged.taken.join(more);
    let stays: Units = [Market::Spot, Market::OnDemand]
        .into_iter()
        .flat_map(|market| given.burst(market))
        .filter(|(at, _)| !hedged.ends.contains(at))
        .map(|(_, h)| h.weight)
        .sum();
    hedged.taken.short = wanted.saturating_sub(bought(&hedged.taken) + stays);
    short
}
