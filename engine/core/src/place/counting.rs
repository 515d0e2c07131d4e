//! Counting machines against every limit, and back.

use crate::budget::Limit;
use crate::budget::seams::is_paid;
use crate::holdings::Holding;
use crate::offers::{Candidate, Covered, commitment_for};
use crate::place::need::Taken;
use crate::place::problem::Problem;
use crate::place::usage::Usage;
use fleet_model::{Cap, MicroUsd, PoolId, Units};

/// The numbers of what a pool's machines are counted in, as far as they have any.
#[derive(Clone, Copy)]
struct Counters {
    /// The pool's own.
    pool: Option<u32>,
    /// Those of its zone and its region.
    place: Option<(u32, u32)>,
}

impl Problem<'_> {
    /// The state in which nothing is taken.
    pub(crate) fn usage(&self) -> Usage {
        Usage {
            pools: vec![Units(0); self.candidates.len()],
            zones: vec![Units(0); self.places.zones()],
            regions: vec![Units(0); self.places.regions()],
            clouds: Default::default(),
            quotas: self.quotas.iter().map(|q| q.limit.saturating_sub(q.used)).collect(),
            committed: self.commitments.iter().map(|one| Covered::new(one.count)).collect(),
            spend: MicroUsd(0),
            limit: self.desired.budget.hourly.map(|hourly| Limit { hourly, cap: Cap::Hourly }),
        }
    }

    /// Where a pool is counted.
    fn counters(&self, pool: &PoolId) -> Counters {
        Counters { pool: self.position(pool), place: self.places.number(&pool.place) }
    }

    /// Counts a machine that is held already. Its vCPUs are in the quota's own count.
    fn hold_in_pool(&self, usage: &mut Usage, at: Counters, holding: &Holding) {
        let weight = holding.weight;
        if let Some(pool) = at.pool {
            usage.pools[pool as usize] += weight;
        }
        if let Some((zone, region)) = at.place {
            usage.zones[zone as usize] += weight;
            usage.regions[region as usize] += weight;
        }
        usage.clouds[holding.pool.place.cloud as usize] += weight;
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
        usage.spend += candidate.beside * count;
        usage.spend += match candidate.commitment {
            Some(commitment) => usage.committed[commitment as usize].add(price, count),
            None => price * count,
        };
        for (quota, _, uses) in self.quotas_of(candidate) {
            let uses = uses.saturating_mul(count);
            usage.quotas[quota] = usage.quotas[quota].saturating_sub(uses);
        }
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
        usage.spend = usage.spend - saved - candidate.beside;
        for (quota, _, uses) in self.quotas_of(candidate) {
            usage.quotas[quota] += uses;
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

    /// What machines that stay take of every limit.
    pub(crate) fn held<'h>(&self, stay: impl Iterator<Item = &'h Holding>) -> Usage {
        let mut usage = self.usage();
        let mut known: Vec<Option<Counters>> = Vec::new();
        for holding in stay {
            let nth = holding.nth_pool as usize;
            if known.len() <= nth {
                known.resize(nth + 1, None);
            }
            let at = *known[nth].get_or_insert_with(|| self.counters(&holding.pool));
            self.hold_at(&mut usage, holding, at);
        }
        usage
    }

    /// Counts a machine that stays.
    pub(crate) fn hold(&self, usage: &mut Usage, holding: &Holding) {
        self.hold_at(usage, holding, self.counters(&holding.pool));
    }

    fn hold_at(&self, usage: &mut Usage, holding: &Holding, at: Counters) {
        self.hold_in_pool(usage, at, holding);
        if is_paid(holding.machine.as_ref()) {
            self.pay(usage, &holding.pool, holding.price.unwrap_or_default());
            usage.spend += holding.beside();
        }
    }

    /// Counts what a machine that is held adds to the bill.
    fn pay(&self, usage: &mut Usage, pool: &PoolId, price: MicroUsd) {
        usage.spend += match commitment_for(&self.commitments, pool) {
            Some(commitment) => usage.committed[commitment as usize].add(price, 1),
            None => price,
        };
    }
}
