//! How many machines to take from which pool.
//!
//! Greedy: the best machine that still fits every limit, until the need is covered. A pool's key
//! rises as it fills, so the heap always knows the next best. What does not fit any more is set
//! aside with its reason.

use crate::bound::Certificate;
use crate::candidates::{Candidate, Ground};
use crate::exact::Goal;
use crate::rank::{self, Key};
use fleet_model::{
    Cloud, Desired, Fulfilment, Inputs, Market, MicroUsd, Place, PoolId, Quota, Rejection, Share,
    Strategy, Units,
};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// What is taken so far, against every limit.
#[derive(Debug, Clone)]
pub(crate) struct Usage {
    pools: Vec<Units>,
    zones: Vec<Units>,
    regions: Vec<Units>,
    clouds: [Units; Cloud::ALL.len()],
    quotas: Vec<u64>,
    /// Price per hour of everything taken.
    pub(crate) spend: MicroUsd,
}

impl Usage {
    /// What a pool carries.
    pub(crate) fn in_pool(&self, at: u32) -> Units {
        self.pools[at as usize]
    }
}

/// The candidates and the limits they are taken under.
pub(crate) struct Field<'a> {
    pub(crate) desired: &'a Desired,
    pub(crate) candidates: &'a [Candidate<'a>],
    pub(crate) ground: &'a Ground,
    quotas: &'a [Quota],
    caps: Caps,
    /// Whether fills prove how good they are.
    pub(crate) certify: bool,
}

/// Share limits as amounts.
struct Caps {
    pool: Option<(Share, Units)>,
    zone: Option<(Share, Units)>,
    region: Option<(Share, Units)>,
    cloud: Option<(Share, Units)>,
}

impl Caps {
    fn new(desired: &Desired) -> Self {
        let target = desired.capacity.target;
        let cap = |share: Option<Share>| share.map(|s| (s, Units(s.floor_of(target.0))));
        let spread = desired.placement.spread;
        Caps {
            pool: cap(spread.max_share_per_pool),
            zone: cap(spread.max_share_per_zone),
            region: cap(spread.max_share_per_region),
            cloud: cap(spread.max_share_per_provider),
        }
    }
}

/// What one market must cover now, and others will cover after it.
#[derive(Clone, Copy)]
pub(crate) struct Need {
    pub(crate) now: Units,
    later: Units,
}

/// What was taken for one group.
#[derive(Debug, Clone, Default)]
pub(crate) struct Taken {
    /// Machines per candidate.
    pub(crate) counts: BTreeMap<u32, u32>,
    /// What could not be covered.
    pub(crate) short: Units,
    /// Why each candidate that was tried in vain did not fit, and how many share that reason.
    pub(crate) refused: BTreeMap<Rejection, u32>,
    /// How good it is, if that was asked for and the strategy minimises a cost.
    pub(crate) certificate: Option<Certificate>,
}

impl<'a> Field<'a> {
    pub(crate) fn new(
        inputs: &'a Inputs,
        candidates: &'a [Candidate<'a>],
        ground: &'a Ground,
    ) -> Self {
        let caps = Caps::new(&inputs.desired);
        Field {
            desired: &inputs.desired,
            candidates,
            ground,
            quotas: &inputs.quotas,
            caps,
            certify: false,
        }
    }

    /// The state in which nothing is taken.
    pub(crate) fn usage(&self) -> Usage {
        Usage {
            pools: vec![Units(0); self.candidates.len()],
            zones: vec![Units(0); self.ground.zones()],
            regions: vec![Units(0); self.ground.regions()],
            clouds: Default::default(),
            quotas: self.quotas.iter().map(|q| q.limit.saturating_sub(q.used)).collect(),
            spend: MicroUsd(0),
        }
    }

    /// Counts a machine that is held already. Its vCPUs are in the quota's own count.
    pub(crate) fn hold(&self, usage: &mut Usage, pool: &PoolId, weight: Units) {
        if let Some(at) = self.candidate(pool) {
            usage.pools[at as usize] += weight;
        }
        self.hold_place(usage, &pool.place, weight);
    }

    fn hold_place(&self, usage: &mut Usage, place: &Place, weight: Units) {
        if let Some((zone, region)) = self.ground.number(place) {
            usage.zones[zone as usize] += weight;
            usage.regions[region as usize] += weight;
        }
        usage.clouds[place.cloud as usize] += weight;
    }

    /// Whether a machine that is held already keeps every share limit.
    pub(crate) fn holds_within_caps(
        &self,
        usage: &Usage,
        pool: &PoolId,
        weight: Units,
    ) -> Option<Rejection> {
        let in_pool = self.candidate(pool).map_or(Units(0), |at| usage.pools[at as usize]);
        let (zone, region) = self.ground.number(&pool.place)?;
        let cloud = pool.place.cloud;
        let chosen = self.desired.placement.fulfilment == Fulfilment::Flexible;
        if chosen && cloud.chooses_among_pools() {
            // Which pools of a region it took was the cloud's choice, and would be again.
            let caps = Caps { pool: None, zone: None, ..self.caps };
            let region_alone = Field { caps, ..*self };
            return region_alone.over_caps(usage, in_pool, zone, region, cloud, weight);
        }
        self.over_caps(usage, in_pool, zone, region, cloud, weight)
    }

    fn over_caps(
        &self,
        usage: &Usage,
        in_pool: Units,
        zone: u32,
        region: u32,
        cloud: Cloud,
        weight: Units,
    ) -> Option<Rejection> {
        let in_cloud = usage.clouds[cloud as usize];
        let checks = [
            ("pool", self.caps.pool, in_pool),
            ("zone", self.caps.zone, usage.zones[zone as usize]),
            ("region", self.caps.region, usage.regions[region as usize]),
            ("provider", self.caps.cloud, in_cloud),
        ];
        for (of, cap, used) in checks {
            let Some((limit, cap)) = cap else { continue };
            if weight > cap {
                return Some(Rejection::LargerThanShare { of: of.into(), limit, weight });
            }
            if used + weight > cap {
                return Some(Rejection::ShareReached { of: of.into(), limit });
            }
        }
        None
    }

    /// Why one more machine of a candidate does not fit; `None` if it does.
    pub(crate) fn misfit(&self, usage: &Usage, at: u32) -> Option<Rejection> {
        let candidate = &self.candidates[at as usize];
        let cloud = candidate.offering.pool.place.cloud;
        let in_pool = usage.pools[at as usize];
        let over = self.over_caps(
            usage,
            in_pool,
            candidate.zone,
            candidate.region,
            cloud,
            candidate.weight,
        );
        if over.is_some() {
            return over;
        }
        if let Some(limit) = self.desired.budget.hourly {
            let price = candidate.offering.price.unwrap_or_default();
            if usage.spend + price > limit {
                return Some(Rejection::BudgetReached { limit });
            }
        }
        let mut quotas = self.quotas_of(candidate);
        let (_, quota, _) = quotas.find(|(at, _, uses)| *uses > usage.quotas[*at])?;
        Some(Rejection::QuotaReached {
            region: quota.region.clone(),
            name: quota.name.clone(),
            limit: quota.limit,
            unit: quota.unit,
        })
    }

    /// The quotas that a candidate counts toward: position, quota, and how much one machine uses.
    fn quotas_of<'c>(
        &'c self,
        candidate: &'c Candidate<'a>,
    ) -> impl Iterator<Item = (usize, &'c Quota, u64)> + 'c {
        candidate.offering.quotas.iter().filter_map(|at| {
            let quota = self.quotas.get(*at as usize)?;
            Some((*at as usize, quota, quota.unit.of(&candidate.offering.kind)))
        })
    }

    /// Counts `count` machines of a candidate.
    pub(crate) fn take(&self, usage: &mut Usage, at: u32, count: u64) {
        let candidate = &self.candidates[at as usize];
        let &Candidate { offering, weight, zone, region, .. } = candidate;
        let all = Units(weight.0.saturating_mul(count));
        usage.pools[at as usize] += all;
        usage.zones[zone as usize] += all;
        usage.regions[region as usize] += all;
        usage.clouds[offering.pool.place.cloud as usize] += all;
        usage.spend += offering.price.unwrap_or_default() * count;
        for (quota, _, uses) in self.quotas_of(candidate) {
            let uses = uses.saturating_mul(count);
            usage.quotas[quota] = usage.quotas[quota].saturating_sub(uses);
        }
    }

    /// How many more machines of a candidate fit every limit. As many times nought as `misfit`
    /// has a reason.
    pub(crate) fn fits(&self, usage: &Usage, at: u32) -> u64 {
        let candidate = &self.candidates[at as usize];
        let weight = candidate.weight.0.max(1);
        let cloud = usage.clouds[candidate.offering.pool.place.cloud as usize];
        let rooms = [
            (self.caps.pool, usage.pools[at as usize]),
            (self.caps.zone, usage.zones[candidate.zone as usize]),
            (self.caps.region, usage.regions[candidate.region as usize]),
            (self.caps.cloud, cloud),
        ];
        let mut fits = u64::MAX;
        for (cap, used) in rooms {
            if let Some((_, cap)) = cap {
                fits = fits.min(cap.saturating_sub(used).0 / weight);
            }
        }
        if let Some(limit) = self.desired.budget.hourly {
            let price = candidate.offering.price.unwrap_or_default();
            let left = if usage.spend > limit { MicroUsd(0) } else { limit - usage.spend };
            let over = usage.spend > limit;
            fits = fits.min(left.0.checked_div(price.0).unwrap_or(if over { 0 } else { u64::MAX }));
        }
        for (quota, _, uses) in self.quotas_of(candidate) {
            fits = fits.min(usage.quotas[quota].checked_div(uses).unwrap_or(u64::MAX));
        }
        fits
    }

    /// Takes one machine of a candidate.
    pub(crate) fn take_for(&self, usage: &mut Usage, taken: &mut Taken, at: u32) {
        self.take(usage, at, 1);
        *taken.counts.entry(at).or_default() += 1;
    }

    /// Gives one machine of a candidate back.
    pub(crate) fn untake_one(&self, usage: &mut Usage, taken: &mut Taken, at: u32) {
        self.untake(usage, at);
        match taken.counts.get_mut(&at) {
            Some(count) if *count > 1 => *count -= 1,
            _ => {
                taken.counts.remove(&at);
            }
        }
    }

    /// Counts units of a candidate as if machines could be cut. Limits on shares only.
    pub(crate) fn take_units(&self, usage: &mut Usage, at: u32, units: Units) {
        let &Candidate { offering, zone, region, .. } = &self.candidates[at as usize];
        usage.pools[at as usize] += units;
        usage.zones[zone as usize] += units;
        usage.regions[region as usize] += units;
        usage.clouds[offering.pool.place.cloud as usize] += units;
    }

    /// How many units of a candidate the share limits allow, if machines could be cut. A pool's own
    /// limit allows whole machines only, beyond what it held before.
    pub(crate) fn room_in_units(&self, before: &Usage, usage: &Usage, at: u32) -> u64 {
        let candidate = &self.candidates[at as usize];
        let weight = candidate.weight.0.max(1);
        let mut room = u64::MAX;
        if let Some((_, cap)) = self.caps.pool {
            let held = before.pools[at as usize];
            let whole = cap.saturating_sub(held).0 / weight * weight;
            room = (held.0 + whole).saturating_sub(usage.pools[at as usize].0);
        }
        self.rooms(usage, at).into_iter().flatten().fold(room, u64::min)
    }

    /// What is left of the limits of a candidate's zone, region and cloud, as far as they have one.
    pub(crate) fn rooms(&self, usage: &Usage, at: u32) -> [Option<u64>; 3] {
        let candidate = &self.candidates[at as usize];
        let left = |cap: Option<(Share, Units)>, used: Units| {
            cap.map(|(_, cap)| cap.saturating_sub(used).0)
        };
        [
            left(self.caps.zone, usage.zones[candidate.zone as usize]),
            left(self.caps.region, usage.regions[candidate.region as usize]),
            left(self.caps.cloud, usage.clouds[candidate.offering.pool.place.cloud as usize]),
        ]
    }

    /// Whether zones, regions and clouds have limits.
    pub(crate) fn limited(&self) -> [bool; 3] {
        [self.caps.zone, self.caps.region, self.caps.cloud].map(|cap| cap.is_some())
    }

    /// Whether something stands in a candidate's zone.
    pub(crate) fn zone_is_used(&self, usage: &Usage, at: u32) -> bool {
        !usage.zones[self.candidates[at as usize].zone as usize].is_zero()
    }

    /// The candidates of a market.
    pub(crate) fn of_market(&self, market: Market) -> impl Iterator<Item = u32> {
        let all = 0..self.candidates.len() as u32;
        all.filter(move |at| self.candidates[*at as usize].offering.pool.market == market)
    }

    fn untake(&self, usage: &mut Usage, at: u32) {
        let candidate = &self.candidates[at as usize];
        let &Candidate { offering, weight, zone, region, .. } = candidate;
        let less = |units: &mut Units| *units = *units - weight;
        less(&mut usage.pools[at as usize]);
        less(&mut usage.zones[zone as usize]);
        less(&mut usage.regions[region as usize]);
        less(&mut usage.clouds[offering.pool.place.cloud as usize]);
        usage.spend = usage.spend - offering.price.unwrap_or_default();
        for (quota, _, uses) in self.quotas_of(candidate) {
            usage.quotas[quota] += uses;
        }
    }

    fn candidate(&self, pool: &PoolId) -> Option<u32> {
        self.candidates
            .binary_search_by(|candidate| candidate.offering.pool.cmp(pool))
            .ok()
            .map(|at| at as u32)
    }

    /// Covers `need` from the pools of one market; `later` is what other markets will cover.
    pub(crate) fn fill(
        &self,
        usage: &mut Usage,
        market: Market,
        need: Units,
        later: Units,
    ) -> Taken {
        let strategy = self.desired.placement.strategy;
        let before = usage.clone();
        let wanted = Need { now: need, later };
        let mut taken = self.fill_by(usage, market, wanted, strategy);
        let goal = Goal { market, need, later, strategy };
        taken.certificate = self.perfect(&before, usage, &mut taken, goal);
        let over_budget =
            taken.refused.keys().any(|r| matches!(r, Rejection::BudgetReached { .. }));
        if taken.short.is_zero() || !over_budget || strategy == Strategy::LowestPrice {
            return taken;
        }
        // The strategy's own choice does not fit the budget: more for the same money comes first.
        let mut cheaper_usage = before;
        let cheaper = self.fill_by(&mut cheaper_usage, market, wanted, Strategy::LowestPrice);
        if cheaper.short < taken.short {
            *usage = cheaper_usage;
            return cheaper;
        }
        taken
    }

    fn fill_by(
        &self,
        usage: &mut Usage,
        market: Market,
        wanted: Need,
        strategy: Strategy,
    ) -> Taken {
        let mut taken = Taken::default();
        let key = |usage: &Usage, at: u32, need: Units| -> Key {
            let candidate = &self.candidates[at as usize];
            let carried = usage.pools[at as usize];
            let useful = candidate.weight.min(need);
            let target = self.desired.capacity.target;
            rank::key(strategy, candidate, at, carried, useful, target)
        };
        let ours = |at: &u32| self.candidates[*at as usize].offering.pool.market == market;
        let all = 0..self.candidates.len() as u32;
        let mut need = self.reach_zones(usage, &mut taken, wanted, &|usage, at, need| {
            ours(&at).then(|| key(usage, at, need))
        });
        let mut heap: BinaryHeap<Reverse<Key>> = if need.is_zero() {
            BinaryHeap::new()
        } else {
            let keys: Vec<_> =
                all.clone().filter(ours).map(|at| Reverse(key(usage, at, need))).collect();
            keys.into()
        };
        while !need.is_zero() {
            let Some(mut best) = heap.peek_mut() else { break };
            let at = best.0.3;
            let fits = self.fits(usage, at);
            if fits == 0 {
                if let Some(misfit) = self.misfit(usage, at) {
                    *taken.refused.entry(misfit).or_default() += 1;
                }
                std::collections::binary_heap::PeekMut::pop(best);
                continue;
            }
            let candidate = &self.candidates[at as usize];
            if candidate.weight > need {
                // The last machine gives more than is needed: compare by useful units.
                let Some(at) = self.last_machine(usage, all.clone().filter(ours), need, &key)
                else {
                    break;
                };
                need = self.take_some(usage, &mut taken, at, 1, need);
                continue;
            }
            // As many as are equally good: the pool stays the best until its key rises.
            let target = self.desired.capacity.target;
            let level =
                rank::machines_at_level(strategy, candidate, usage.pools[at as usize], target);
            let whole = need.0 / candidate.weight.0.max(1);
            let count = fits.min(level).min(whole).max(1);
            need = self.take_some(usage, &mut taken, at, count, need);
            let next = key(usage, at, need);
            if best.0 != next {
                best.0 = next;
            }
        }
        taken.short = need;
        self.give_back(usage, &mut taken, wanted);
        self.polish(usage, &mut taken, wanted, market, strategy);
        // A machine that held a zone may be too many now.
        self.give_back(usage, &mut taken, wanted);
        taken
    }

    /// The best machine to end with, of those that fit.
    fn last_machine(
        &self,
        usage: &Usage,
        ours: impl Iterator<Item = u32>,
        need: Units,
        key: &dyn Fn(&Usage, u32, Units) -> Key,
    ) -> Option<u32> {
        let mut best: Option<Key> = None;
        for at in ours {
            let found = key(usage, at, need);
            if best.is_none_or(|best| found < best) && self.fits(usage, at) > 0 {
                best = Some(found);
            }
        }
        best.map(|key| key.3)
    }

    /// Gives back machines that a later, larger one made superfluous, dearest per unit first.
    fn give_back(&self, usage: &mut Usage, taken: &mut Taken, wanted: Need) {
        let weight = |at: u32| self.candidates[at as usize].weight;
        let got: Units =
            taken.counts.iter().map(|(&at, &n)| Units(weight(at).0 * u64::from(n))).sum();
        let mut spare = got.saturating_sub(wanted.now);
        // Zones that this market gives up, the next one can still reach.
        let last_chance = wanted.later.is_zero();
        let mut order: Vec<u32> = taken.counts.keys().copied().collect();
        order.sort_by_key(|&at| {
            let candidate = &self.candidates[at as usize];
            let price = candidate.offering.price.map(|p| p.0 * 1000 / candidate.weight.0.max(1));
            (price.is_some(), Reverse(price), Reverse(at))
        });
        for at in order {
            while weight(at) <= spare
                && taken.counts.contains_key(&at)
                && !(last_chance && self.holds_a_zone(usage, at))
            {
                spare = spare - weight(at);
                self.untake_one(usage, taken, at);
            }
        }
    }

    /// Whether a candidate's last machine keeps the number of zones at what the spec asks for.
    pub(crate) fn holds_a_zone(&self, usage: &Usage, at: u32) -> bool {
        let Candidate { zone, weight, .. } = self.candidates[at as usize];
        let wanted = self.desired.placement.spread.min_zones as usize;
        usage.zones[zone as usize] <= weight && self.zones_used(usage) <= wanted
    }

    fn take_some(
        &self,
        usage: &mut Usage,
        taken: &mut Taken,
        at: u32,
        count: u64,
        need: Units,
    ) -> Units {
        self.take(usage, at, count);
        let more = u32::try_from(count).unwrap_or(u32::MAX);
        let taken = taken.counts.entry(at).or_default();
        *taken = taken.saturating_add(more);
        need - Units(self.candidates[at as usize].weight.0.saturating_mul(count))
    }

    /// First one machine in each of as many zones as the spec asks for, best zones first.
    fn reach_zones(
        &self,
        usage: &mut Usage,
        taken: &mut Taken,
        Need { now: mut need, later }: Need,
        key: &dyn Fn(&Usage, u32, Units) -> Option<Key>,
    ) -> Units {
        let wanted = self.desired.placement.spread.min_zones as usize;
        let mut used = self.zones_used(usage);
        if need.is_zero() || used >= wanted {
            return need;
        }
        while !need.is_zero() && used < wanted {
            // A machine so large that nothing is left for the other zones comes last.
            let share = Units((need + later).0.div_ceil((wanted - used) as u64));
            let mut best: Option<(bool, Key)> = None;
            for (at, candidate) in self.candidates.iter().enumerate() {
                if !usage.zones[candidate.zone as usize].is_zero() {
                    continue;
                }
                let Some(key) = key(usage, at as u32, need) else { continue };
                let found = (candidate.weight > share, key);
                if best.is_none_or(|best| found < best) && self.fits(usage, at as u32) > 0 {
                    best = Some(found);
                }
            }
            let Some((_, best)) = best else { break };
            need = self.take_some(usage, taken, best.3, 1, need);
            used += 1;
        }
        need
    }

    pub(crate) fn zones_used(&self, usage: &Usage) -> usize {
        usage.zones.iter().filter(|units| !units.is_zero()).count()
    }
}
