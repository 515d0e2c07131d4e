//! The candidates, the limits they are taken under, and what is taken so far.

use crate::bound::Certificate;
use crate::candidates::{Candidate, Ground};
use crate::commitment::Covered;
use fleet_model::{
    Cloud, Commitment, Desired, Fulfilment, Inputs, Market, MicroUsd, Place, PoolId, Quota,
    Rejection, Share, Units,
};
use std::collections::BTreeMap;

/// What is taken so far, against every limit.
#[derive(Debug, Clone)]
pub(crate) struct Usage {
    pools: Vec<Units>,
    zones: Vec<Units>,
    regions: Vec<Units>,
    clouds: [Units; Cloud::ALL.len()],
    quotas: Vec<u64>,
    /// What is taken of each commitment.
    pub(crate) committed: Vec<Covered>,
    /// Price per hour of everything taken, but for what is paid for already.
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
    pub(crate) commitments: &'a [Commitment],
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
    pub(crate) later: Units,
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

impl Taken {
    /// Adds what was taken elsewhere.
    pub(crate) fn join(&mut self, other: Taken) {
        for (at, count) in other.counts {
            *self.counts.entry(at).or_default() += count;
        }
        for (reason, pools) in other.refused {
            *self.refused.entry(reason).or_default() += pools;
        }
    }
}

impl<'a> Field<'a> {
    pub(crate) fn new(
        inputs: &'a Inputs,
        candidates: &'a [Candidate<'a>],
        ground: &'a Ground,
        commitments: &'a [Commitment],
    ) -> Self {
        let caps = Caps::new(&inputs.desired);
        Field {
            desired: &inputs.desired,
            candidates,
            ground,
            quotas: &inputs.quotas,
            commitments,
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
            committed: self.commitments.iter().map(|one| Covered::new(one.count)).collect(),
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
            let price = match self.free(usage, at) {
                0 => candidate.offering.price.unwrap_or_default(),
                _ => MicroUsd(0),
            };
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

    /// How many more machines of a candidate are paid for already.
    pub(crate) fn free(&self, usage: &Usage, at: u32) -> u32 {
        let commitment = self.candidates[at as usize].commitment;
        commitment.map_or(0, |commitment| usage.committed[commitment as usize].left())
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
        let price = offering.price.unwrap_or_default();
        usage.spend += match candidate.commitment {
            Some(commitment) => usage.committed[commitment as usize].add(price, count),
            None => price * count,
        };
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
            let within = if usage.spend > limit {
                0
            } else {
                let paid = (limit - usage.spend).0.checked_div(price.0).unwrap_or(u64::MAX);
                paid.saturating_add(self.free(usage, at).into())
            };
            fits = fits.min(within);
        }
        for (quota, _, uses) in self.quotas_of(candidate) {
            fits = fits.min(usage.quotas[quota].checked_div(uses).unwrap_or(u64::MAX));
        }
        fits
    }

    /// Takes machines of a candidate.
    pub(crate) fn take_for(&self, usage: &mut Usage, taken: &mut Taken, at: u32, count: u64) {
        self.take(usage, at, count);
        let more = u32::try_from(count).unwrap_or(u32::MAX);
        let counted = taken.counts.entry(at).or_default();
        *counted = counted.saturating_add(more);
    }

    /// Counts what was taken elsewhere.
    pub(crate) fn take_all(&self, usage: &mut Usage, taken: &Taken) {
        taken.counts.iter().for_each(|(&at, &count)| self.take(usage, at, count.into()));
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

    /// What machines give together.
    pub(crate) fn units(&self, taken: &Taken) -> Units {
        let all = taken.counts.iter();
        all.map(|(&at, &n)| Units(self.candidates[at as usize].weight.0 * u64::from(n))).sum()
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
    /// limit allows whole machines only, beyond what it held before; the others allow whole grains.
    pub(crate) fn room_in_units(
        &self,
        (before, usage): (&Usage, &Usage),
        at: u32,
        grain: u64,
    ) -> u64 {
        let candidate = &self.candidates[at as usize];
        let weight = candidate.weight.0.max(1);
        let mut room = u64::MAX;
        if let Some((_, cap)) = self.caps.pool {
            let held = before.pools[at as usize];
            let whole = cap.saturating_sub(held).0 / weight * weight;
            room = (held.0 + whole).saturating_sub(usage.pools[at as usize].0);
        }
        let others = self.rooms_in_grains((before, usage), at, grain);
        others.into_iter().flatten().fold(room, u64::min)
    }

    /// What whole grains leave of the limits of a candidate's zone, region and cloud.
    pub(crate) fn rooms_in_grains(
        &self,
        (before, usage): (&Usage, &Usage),
        at: u32,
        grain: u64,
    ) -> [Option<u64>; 3] {
        let (at_first, now) = (self.rooms(before, at), self.rooms(usage, at));
        std::array::from_fn(|of| {
            let (first, now) = (at_first[of]?, now[of]?);
            Some(now.saturating_sub(first % grain))
        })
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
        let price = offering.price.unwrap_or_default();
        let saved = match candidate.commitment {
            Some(commitment) => usage.committed[commitment as usize].remove(price),
            None => price,
        };
        usage.spend = usage.spend - saved;
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

    /// Whether a candidate's last machine keeps the number of zones at what the spec asks for.
    pub(crate) fn holds_a_zone(&self, usage: &Usage, at: u32) -> bool {
        let Candidate { zone, weight, .. } = self.candidates[at as usize];
        let wanted = self.desired.placement.spread.min_zones as usize;
        usage.zones[zone as usize] <= weight && self.zones_used(usage) <= wanted
    }

    pub(crate) fn zones_used(&self, usage: &Usage) -> usize {
        usage.zones.iter().filter(|units| !units.is_zero()).count()
    }
}
