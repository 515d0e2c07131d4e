//! What still fits every limit.

use crate::budget::Limit;
use crate::offers::Candidate;
use crate::place::problem::Problem;
use crate::place::shares::Caps;
use crate::place::usage::Usage;
use fleet_model::{Fulfilment, MicroUsd, PoolId, Rejection, Share, Units};

impl Problem<'_> {
    /// Why one more machine of a candidate does not fit; `None` if it does.
    pub(crate) fn misfit(&self, usage: &Usage, at: u32) -> Option<Rejection> {
        let candidate = &self.candidates[at as usize];
        let cloud = candidate.offering.pool.place.cloud;
        let in_pool = usage.pools[at as usize];
        let over = self.caps.exceeded(
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
        if candidate.prospect.room(in_pool.0 / candidate.weight.0.max(1)) == 0 {
            let most = candidate.prospect.tried_with().unwrap_or_default();
            return Some(Rejection::TriedFirst { most });
        }
        if let Some((limit, share)) = self.fair
            && usage.zones[candidate.zone as usize] >= share
        {
            return Some(Rejection::ShareReached { of: "zone".into(), limit });
        }
        if let Some(Limit { hourly: limit, cap }) = usage.limit {
            let price = match self.free(usage, at) {
                0 => candidate.offering.price.unwrap_or_default(),
                _ => MicroUsd(0),
            };
            if usage.spend + price + candidate.beside > limit {
                return Some(Rejection::BudgetReached { limit, cap });
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
        let mut fits = candidate.prospect.room(usage.pools[at as usize].0 / weight);
        for (cap, used) in rooms {
            if let Some((_, cap)) = cap {
                fits = fits.min(cap.saturating_sub(used).0 / weight);
            }
        }
        if let Some((_, share)) = self.fair {
            // The last machine may go beyond the share: sizes seldom come out even.
            let room = share.saturating_sub(usage.zones[candidate.zone as usize]);
            fits = fits.min(room.0.div_ceil(weight));
        }
        if let Some(Limit { hourly: limit, .. }) = usage.limit {
            let within = match usage.spend > limit {
                true => 0,
                false => affordable(limit - usage.spend, candidate, self.free(usage, at)),
            };
            fits = fits.min(within);
        }
        for (quota, _, uses) in self.quotas_of(candidate) {
            fits = fits.min(usage.quotas[quota].checked_div(uses).unwrap_or(u64::MAX));
        }
        fits
    }

    /// How many more machines of a candidate are paid for already.
    pub(crate) fn free(&self, usage: &Usage, at: u32) -> u32 {
        let commitment = self.candidates[at as usize].commitment;
        commitment.map_or(0, |commitment| usage.committed[commitment as usize].left())
    }

    /// Whether something stands in a candidate's zone.
    pub(crate) fn zone_is_used(&self, usage: &Usage, at: u32) -> bool {
        !usage.zones[self.candidates[at as usize].zone as usize].is_zero()
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

    /// Whether a machine that is held already keeps every share limit.
    pub(crate) fn holds_within_caps(
        &self,
        usage: &Usage,
        pool: &PoolId,
        weight: Units,
    ) -> Option<Rejection> {
        let in_pool = self.position(pool).map_or(Units(0), |at| usage.pools[at as usize]);
        let (zone, region) = self.places.number(&pool.place)?;
        let cloud = pool.place.cloud;
        let chosen = self.desired.placement.fulfilment == Fulfilment::Flexible;
        if chosen && cloud.chooses_among_pools() {
            // Which pools of a region it took was the cloud's choice, and would be again.
            let region_alone = Caps { pool: None, zone: None, ..self.caps };
            return region_alone.exceeded(usage, in_pool, zone, region, cloud, weight);
        }
        self.caps.exceeded(usage, in_pool, zone, region, cloud, weight)
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
}

/// How many machines of a candidate some money pays for, if `free` of them cost only what comes beside.
fn affordable(room: MicroUsd, candidate: &Candidate<'_>, free: u32) -> u64 {
    let price = u128::from(candidate.offering.price.unwrap_or_default().0);
    let (room, beside, free) =
        (u128::from(room.0), u128::from(candidate.beside.0), u128::from(free));
    let machines = if room <= free * beside && beside > 0 {
        Some(room / beside)
    } else {
        (room + free * price).checked_div(price + beside)
    };
    machines.map_or(u64::MAX, |machines| u64::try_from(machines).unwrap_or(u64::MAX))
}
