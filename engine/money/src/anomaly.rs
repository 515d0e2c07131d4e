//! What is odd about the money of a fleet: a stretch of time against the one before it, and who caused it.

mod idle;

pub use idle::Told;

use crate::Spend;
use crate::entry::Entry;
use crate::ledger::{Ledger, Lost, Sink};
use crate::meter::Charge;
use fleet_model::{Digest, Event, Group, Labels, Market, MicroUsd, PoolId, PriceStep, Timestamp};
use idle::Idle;
use std::collections::BTreeMap;

/// A share that rose by less is no news, in hundredths.
const DRIFT: u64 = 10;
/// A family is dearer if a unit of it costs so much more than a unit did before, in hundredths.
const DEARER: u64 = 15;
/// A price jumps if it rises by so much at once, in hundredths.
const JUMP: u64 = 25;
/// A fleet costs more if a day costs so much more than before, in hundredths.
const GREW: u64 = 50;
/// What is less than this of a fleet's cost is not worth a word, in hundredths.
const WORTH_A_WORD: u64 = 5;

/// The apply or reconcile that something goes back to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cause {
    /// When it began.
    pub at: Timestamp,
    /// Who ran it, and from which commit, as far as it said.
    pub who: String,
    /// The spec that it worked towards.
    pub spec: Digest,
}

/// Something odd.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Anomaly {
    /// More of the burst is on demand than before.
    OnDemandDrift {
        /// Of the burst's machine-hours before, in hundredths.
        before: u64,
        /// And now.
        now: u64,
        /// What the on-demand machines cost.
        cost: Spend,
        /// When the first of them was launched.
        since: Timestamp,
    },
    /// A family was not used before, and a unit of it costs more than a unit did.
    DearerFamily {
        /// Which.
        family: String,
        /// What a unit of it costs per hour.
        each: MicroUsd,
        /// What a unit cost before, on average.
        before: MicroUsd,
        /// What it cost in all.
        cost: Spend,
        /// When the first of its machines was launched.
        since: Timestamp,
    },
    /// The price of a pool that holds machines rose at once.
    PriceJump {
        /// Which.
        pool: PoolId,
        /// Per hour before.
        from: MicroUsd,
        /// And after.
        to: MicroUsd,
        /// When.
        since: Timestamp,
    },
    /// A day costs more than before.
    CostGrew {
        /// A day before.
        before: Spend,
        /// And now.
        now: Spend,
        /// When most machines were launched.
        since: Timestamp,
    },
    /// Machines that were paid for and had nothing to do, by their own word.
    Idle {
        /// How many.
        machines: u64,
        /// For how long, in milliseconds of one machine.
        idle_ms: u128,
        /// What that time cost.
        cost: Spend,
    },
    /// Machines that a cloud made and nobody asked for.
    Orphans {
        /// How many.
        machines: u64,
    },
    /// Machines without a label that says whose they are.
    Unlabelled {
        /// The label.
        label: String,
        /// What they cost.
        cost: Spend,
    },
}

impl Anomaly {
    /// When it began, if an apply may have caused it. A market asks nobody.
    pub fn since(&self) -> Option<Timestamp> {
        match self {
            Anomaly::OnDemandDrift { since, .. }
            | Anomaly::DearerFamily { since, .. }
            | Anomaly::CostGrew { since, .. } => Some(*since),
            Anomaly::PriceJump { .. }
            | Anomaly::Idle { .. }
            | Anomaly::Orphans { .. }
            | Anomaly::Unlabelled { .. } => None,
        }
    }
}

/// What is looked at: a stretch of time, in milliseconds since 1970, and the one of the same length before it.
#[derive(Debug, Clone, Copy)]
pub struct Window {
    /// From.
    pub from: i64,
    /// Until.
    pub to: i64,
}

/// One of the two stretches.
#[derive(Debug, Default)]
struct Side {
    cost: Spend,
    unlabelled: Spend,
    /// Of the burst: machine-milliseconds in all and on demand, and what those cost.
    burst: u128,
    on_demand: u128,
    on_demand_cost: Spend,
    families: BTreeMap<String, Family>,
}

#[derive(Debug, Default)]
struct Family {
    cost: Spend,
    /// Thousandths of a unit, times milliseconds.
    units: u128,
    first: Option<Timestamp>,
}

/// Reads a journal and remembers what may be odd.
pub struct Watch {
    window: Window,
    label: String,
    family: fn(&PoolId) -> String,
    sides: [Side; 2],
    idle: Idle,
    first_on_demand: Option<Timestamp>,
    jumps: Vec<Anomaly>,
    prices: BTreeMap<PoolId, MicroUsd>,
    rounds: Vec<(Cause, u32)>,
    who: String,
}

impl Watch {
    /// Watches a window. `label` says whose a machine is; `family` names the family of a pool.
    pub fn new(window: Window, label: &str, family: fn(&PoolId) -> String) -> Self {
        Watch {
            window,
            label: label.into(),
            family,
            sides: Default::default(),
            idle: Idle::default(),
            first_on_demand: None,
            jumps: Vec::new(),
            prices: BTreeMap::new(),
            rounds: Vec::new(),
            who: String::new(),
        }
    }

    /// Takes in an event, with the ledger that goes with it.
    pub fn take(&mut self, ledger: &mut Ledger, event: &Event, at: Timestamp) {
        match event {
            Event::Epoch { holder, .. } => self.who.clone_from(holder),
            Event::RoundStarted { spec, create, .. } => {
                let cause = Cause { at, who: self.who.clone(), spec: *spec };
                self.rounds.push((cause, *create));
            }
            Event::Created { machines, .. } => {
                for new in machines {
                    if let (Some(pool), Some(price)) = (&new.pool, new.price) {
                        self.prices.entry(pool.clone()).or_insert(price);
                    }
                }
            }
            Event::CreateIntended { create } => {
                if let Some(price) = create.price {
                    self.prices.insert(create.pool.clone(), price);
                }
            }
            Event::BusyTold { told } => {
                told.iter().for_each(|busy| self.idle.told(busy, self.window));
            }
            Event::Priced { prices, .. } => prices.iter().for_each(|step| self.priced(step)),
            _ => {}
        }
        ledger.take(Entry::from(event), at, self);
    }

    fn priced(&mut self, step: &PriceStep) {
        let PriceStep { pool, since, price } = step;
        let before = self.prices.insert(pool.clone(), *price);
        let within = (self.window.from..self.window.to).contains(&since.as_millisecond());
        if let Some(from) = before.filter(|from| within && rose(from.0, price.0, JUMP)) {
            let (pool, to, since) = (pool.clone(), *price, *since);
            self.jumps.push(Anomaly::PriceJump { pool, from, to, since });
        }
    }

    /// Everything that is odd, each with its cause; and how much machines told of their use.
    pub fn found(self, ledger: &Ledger, now: Timestamp) -> (Vec<(Anomaly, Option<Cause>)>, Told) {
        let mut watch = self;
        ledger.accrued(now, &mut watch);
        let mut found = Vec::new();
        found.extend(watch.drift());
        found.extend(watch.dearer());
        found.extend(watch.grew());
        found.append(&mut watch.jumps);
        found.extend(watch.idle.found(watch.sides[1].cost));
        match ledger.surplus().len() as u64 {
            0 => {}
            machines => found.push(Anomaly::Orphans { machines }),
        }
        let Side { cost, unlabelled, .. } = watch.sides[1];
        if part(unlabelled, cost) >= WORTH_A_WORD {
            found.push(Anomaly::Unlabelled { label: watch.label.clone(), cost: unlabelled });
        }
        let caused = |anomaly: Anomaly| {
            let cause = anomaly.since().and_then(|since| watch.cause_of(since));
            (anomaly, cause)
        };
        (found.into_iter().map(caused).collect(), watch.idle.coverage())
    }

    /// The round under way at a moment.
    fn cause_of(&self, at: Timestamp) -> Option<Cause> {
        // Clocks of clouds and of ours differ by seconds.
        let at = at + jiff::SignedDuration::from_secs(5);
        let past = self.rounds.partition_point(|(cause, _)| cause.at <= at);
        let launches = self.rounds[..past].iter().rev().find(|(_, create)| *create > 0);
        launches.map(|(cause, _)| cause.clone())
    }

    fn drift(&self) -> Option<Anomaly> {
        let share = |side: &Side| hundredths(side.on_demand, side.burst);
        let [before, now] = [share(&self.sides[0]), share(&self.sides[1])];
        let since = self.first_on_demand?;
        let cost = self.sides[1].on_demand_cost;
        (now >= before + DRIFT).then_some(Anomaly::OnDemandDrift { before, now, cost, since })
    }

    fn dearer(&self) -> Vec<Anomaly> {
        let [before, now] = &self.sides;
        let units: u128 = before.families.values().map(|family| family.units).sum();
        let Some(mean) = each(before.cost, units) else { return Vec::new() };
        let new = now.families.iter().filter(|(name, _)| !before.families.contains_key(*name));
        let dearer = new.filter_map(|(family, figures)| {
            let each = each(figures.cost, figures.units)?;
            let matters = part(figures.cost, now.cost) >= WORTH_A_WORD;
            (matters && rose(mean.0, each.0, DEARER)).then_some(Anomaly::DearerFamily {
                family: family.clone(),
                each,
                before: mean,
                cost: figures.cost,
                since: figures.first?,
            })
        });
        dearer.collect()
    }

    fn grew(&self) -> Option<Anomaly> {
        const DAY: u128 = 86_400_000;
        let length = u128::try_from(self.window.to - self.window.from).ok()?.max(1);
        let a_day = |side: &Side| Spend::from_raw(side.cost.raw() * DAY / length);
        let [before, now] = [a_day(&self.sides[0]), a_day(&self.sides[1])];
        let (from, to) = (self.window.from, self.window.to);
        let within = |cause: &Cause| (from..to).contains(&cause.at.as_millisecond());
        let rounds = self.rounds.iter().filter(|(cause, _)| within(cause));
        let (largest, _) = rounds.max_by_key(|(_, create)| *create)?;
        let more = rose_wide(before.raw(), now.raw(), GREW) && before.raw() > 0;
        more.then_some(Anomaly::CostGrew { before, now, since: largest.at })
    }
}

impl Sink for Watch {
    fn charge(&mut self, charge: Charge<'_>, labels: Option<&Labels>) {
        let Window { from, to } = self.window;
        let (early, late) = charge.split_at(from);
        let early = early.and_then(|early| early.split_at(from - (to - from)).1);
        let late = late.and_then(|late| late.split_at(to).0);
        if let Some(late) = &late {
            self.idle.charge(late);
        }
        for (side, charge) in self.sides.iter_mut().zip([early, late]) {
            let Some(charge) = charge else { continue };
            let cost = charge.amount().unwrap_or_default();
            let ms = u128::from(charge.ms());
            side.cost += cost;
            if labels.is_none_or(|labels| !labels.contains_key(&self.label)) {
                side.unlabelled += cost;
            }
            // What follows is about machines: disks and addresses are bought for each, wherever it is from.
            if !charge.is_machine() {
                continue;
            }
            let life = charge.life;
            if life.slot.name.group == Group::Burst {
                side.burst += ms;
                if life.pool.market == Market::OnDemand {
                    side.on_demand += ms;
                    side.on_demand_cost += cost;
                }
            }
            let family = side.families.entry((self.family)(&life.pool)).or_default();
            family.cost += cost;
            family.units += life.units.map_or(0, |units| u128::from(units.0)) * ms;
            let first = family.first.get_or_insert(life.launched_at);
            *first = life.launched_at.min(*first);
        }
        let life = charge.life;
        let on_demand = charge.is_machine()
            && life.slot.name.group == Group::Burst
            && life.pool.market == Market::OnDemand;
        if on_demand && late.is_some() && life.launched_at.as_millisecond() >= from {
            let first = self.first_on_demand.get_or_insert(life.launched_at);
            *first = life.launched_at.min(*first);
        }
    }

    fn lost(&mut self, _: &Lost, _: i64, _: Option<&Labels>) {}
}

/// What a unit costs per hour; `None` where nothing is known of units.
fn each(cost: Spend, milli_units: u128) -> Option<MicroUsd> {
    let each = (cost.raw() * 1000).checked_div(milli_units)?;
    Some(MicroUsd(u64::try_from(each).unwrap_or(u64::MAX)))
}

fn hundredths(part: u128, whole: u128) -> u64 {
    u64::try_from((part * 100).checked_div(whole).unwrap_or(0)).unwrap_or(100)
}

fn part(part: Spend, whole: Spend) -> u64 {
    hundredths(part.raw(), whole.raw())
}

fn rose(from: u64, to: u64, hundredths: u64) -> bool {
    rose_wide(from.into(), to.into(), hundredths)
}

fn rose_wide(from: u128, to: u128, hundredths: u64) -> bool {
    to * 100 >= from * (100 + u128::from(hundredths)) && to > from
}
