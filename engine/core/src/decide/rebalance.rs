//! Machines that run are moved to cheaper pools, a few at a time.

use crate::decide::moves::Move;
use crate::decide::removals::Removals;
use crate::fallback::Stand;
use crate::holdings::{Holding, Standing};
use crate::market::Prospects;
use crate::offers::find_offering;
use crate::place::{Taken, Usage};
use crate::rebalance::{Arithmetic, HOURS, Life, SEEN_FOR, YOUNGEST, is_worth_it, most_now};
use fleet_model::{
    Group, Market, MicroUsd, MoveWhy, Moving, PoolId, Rebalance, Saving, SavingVerdict, Timestamp,
    Units, Why,
};
use std::collections::{BTreeMap, BTreeSet};

/// Dear pools that are looked at, those with the dearest machines first.
const POOLS: usize = 32;

/// What came of looking for cheaper pools.
#[derive(Default)]
pub(crate) struct Rebalanced {
    /// Machines that move.
    pub(crate) step: Option<Move>,
    /// The pools whose machines are worth moving, if others than on record.
    pub(crate) news: Option<BTreeSet<PoolId>>,
    /// The arithmetic of each pool.
    pub(crate) savings: Vec<Saving>,
}

impl Removals<'_> {
    /// Looks for cheaper pools, and moves some machines there if that pays.
    pub(crate) fn rebalance(
        &mut self,
        rule: &Rebalance,
        stand: Option<&Stand>,
        usage: &mut Usage,
        wanted: Units,
        allowance: Units,
    ) -> Rebalanced {
        let trouble = stand.is_some_and(|stand| stand.on.is_some() || stand.short_since.is_some());
        if trouble || !self.is_quiet(wanted) {
            return Rebalanced::default();
        }
        let prospects = Prospects::new(self.inputs, self.inventory);
        let seen = &self.inputs.recorded.spot.cheaper;
        let burst = self.group(Group::Burst).count() as u32;
        let mut left = most_now(self.inputs, rule, burst);
        let live = self.inventory.ends_at_once();
        left = left.map(|left| left.min(live));
        let room = allowance.min(Units(wanted.0 / 10).max(self.smallest_spot()));
        let mut found = Rebalanced::default();
        let mut worth = BTreeSet::new();
        let mut some: Vec<usize> = Vec::new();
        let mut all = Taken::default();
        for (pool, machines) in self.dear_pools() {
            let since = seen.get(&pool).copied();
            let Some(&first) = machines.first() else { continue };
            let Some((sums, to, _)) = self.sums(&prospects, usage, &some, &all, first) else {
                continue;
            };
            let mut verdict = SavingVerdict::TooLittle;
            if is_worth_it(rule, since.is_some(), &sums) {
                worth.insert(pool.clone());
                let before = some.len();
                verdict = match (since.map(after_a_while), &left) {
                    (None, _) => SavingVerdict::SeenUntil { until: after_a_while(self.inputs.now) },
                    (Some(until), _) if until > self.inputs.now => {
                        SavingVerdict::SeenUntil { until }
                    }
                    (Some(_), Err(at)) => SavingVerdict::NextHour { at: *at },
                    (Some(_), Ok(most)) => self.take_some(
                        (rule, &prospects, &*usage),
                        (&machines, *most as usize, room),
                        &mut some,
                        &mut all,
                    ),
                };
                let moved = (some.len() - before) as u32;
                if moved > 0 {
                    verdict = SavingVerdict::Moves { machines: moved };
                }
            } else if sums.saving() >= rule.min_saving {
                verdict = SavingVerdict::DoesNotPay;
            }
            found.savings.push(Saving {
                from: pool,
                to,
                machines: machines.len() as u32,
                price: sums.price,
                then: sums.then,
                saving: sums.saving(),
                life_minutes: (sums.lives[1].hours() * 60.0).round() as u64,
                gain: sums.gain(),
                cost: sums.cost(),
                verdict,
            });
        }
        if worth.iter().ne(seen.keys()) {
            found.news = Some(worth);
        }
        if !some.is_empty() {
            let slots = some.iter().map(|at| self.inventory.holdings[*at].slot).collect();
            self.problem.take_all(usage, &all);
            let moving = Moving { why: MoveWhy::Cheaper, slots };
            found.step = Some(Move { taken: all, moving });
        }
        found
    }

    /// Takes machines of one pool, as long as each is worth it. What keeps the first of them, if none goes.
    fn take_some(
        &mut self,
        (rule, prospects, usage): (&Rebalance, &Prospects<'_>, &Usage),
        (machines, most, room): (&[usize], usize, Units),
        some: &mut Vec<usize>,
        all: &mut Taken,
    ) -> SavingVerdict {
        let old = |at: &&usize| {
            let age = self.inputs.now.duration_since(self.inventory.holdings[**at].launched_at);
            age.unsigned_abs() >= YOUNGEST
        };
        let old: Vec<usize> = machines.iter().filter(old).copied().collect();
        let mut verdict = match old.is_empty() {
            true => SavingVerdict::TooYoung,
            false => SavingVerdict::Busy,
        };
        for at in old {
            let units = |at: &usize| self.inventory.holdings[*at].weight;
            let taken: Units = some.iter().map(units).sum();
            if some.len() >= most || taken + units(&at) > room {
                break;
            }
            let Some((sums, _, more)) = self.sums(prospects, usage, some, all, at) else { break };
            if !is_worth_it(rule, true, &sums) {
                verdict = SavingVerdict::DoesNotPay;
                break;
            }
            some.push(at);
            all.join(more);
        }
        verdict
    }

    /// What a machine and its successor come to, once some others have moved. The strategy places the
    /// successor, as if the machine were gone: a pool that it would not choose is no cheaper pool.
    fn sums(
        &mut self,
        prospects: &Prospects<'_>,
        usage: &Usage,
        some: &[usize],
        all: &Taken,
        at: usize,
    ) -> Option<(Arithmetic, PoolId, Taken)> {
        let gone = || some.iter().copied().chain([at]);
        for one in gone() {
            self.victims.insert(one, Why::Moved { why: MoveWhy::Cheaper });
        }
        let mut placed = self.hold_kept();
        for one in gone() {
            self.victims.remove(&one);
        }
        (placed.spend, placed.limit) = (usage.spend, usage.limit);
        self.problem.take_all(&mut placed, all);
        let holding = &self.inventory.holdings[at];
        let taken = self.problem.fill_from(&mut placed, Market::Spot, holding.weight, Units(0));
        let from = find_offering(self.inputs, &holding.pool)?;
        let new = taken.counts.iter().map(|(at, count)| {
            let offering = self.problem.candidates[*at as usize].offering;
            (offering, *count)
        });
        let (to, _) = new.clone().max_by_key(|(_, count)| *count)?;
        if !taken.short.is_zero() || new.clone().any(|(one, _)| one.pool == holding.pool) {
            return None;
        }
        let mut then = MicroUsd(0);
        for (one, count) in new {
            then += one.full_price()? * u64::from(count);
        }
        let price = from.price.or(holding.price)? + holding.beside();
        let life = |chances: [crate::market::belief::Chance; HOURS.len()]| {
            Life(chances.map(|chance| chance.stays))
        };
        let old = life(prospects.of_the_last(from, HOURS));
        let new = life(prospects.of_one_more(to, HOURS).0);
        let on_demand = from.on_demand.or(to.on_demand).unwrap_or(price * 3);
        let lost_work = self.inputs.desired.placement.lost_work_hours();
        let sums = Arithmetic { price, then, on_demand, lives: [old, new], lost_work };
        Some((sums, to.pool.clone(), taken))
    }

    /// Spot machines of the burst by pool, those of the dearest pool per unit first, oldest first.
    fn dear_pools(&self) -> Vec<(PoolId, Vec<usize>)> {
        let mut pools: BTreeMap<&PoolId, Vec<usize>> = BTreeMap::new();
        let movable = |holding: &Holding| {
            holding.pool.market == Market::Spot && holding.standing == Standing::Good
        };
        for (at, holding) in self.group(Group::Burst).filter(|(_, holding)| movable(holding)) {
            pools.entry(&holding.pool).or_default().push(at);
        }
        let mut pools: Vec<(PoolId, Vec<usize>)> =
            pools.into_iter().map(|(pool, machines)| (pool.clone(), machines)).collect();
        for (_, machines) in &mut pools {
            machines.sort_by_key(|at| (self.inventory.holdings[*at].launched_at, *at));
        }
        pools.sort_by_cached_key(|(pool, machines)| {
            let weight = machines.first().map_or(1, |at| self.inventory.holdings[*at].weight.0);
            let price = find_offering(self.inputs, pool).and_then(|offering| offering.full_price());
            let per_unit =
                u128::from(price.unwrap_or_default().0) * 1000 / u128::from(weight.max(1));
            (std::cmp::Reverse(per_unit), pool.clone())
        });
        pools.truncate(POOLS);
        pools
    }

    fn smallest_spot(&self) -> Units {
        let burst = self.group(Group::Burst).filter(|(_, h)| h.pool.market == Market::Spot);
        burst.map(|(_, holding)| holding.weight).max().unwrap_or_default()
    }
}

fn after_a_while(since: Timestamp) -> Timestamp {
    since.checked_add(SEEN_FOR).unwrap_or(Timestamp::MAX)
}
