//! The meter of a fleet: machines that start, prices that move, machines that end; and the charges that
//! follow from it.
//!
//! The same fold serves a report over a whole journal and a budget that is kept with a snapshot. What it does
//! not know it does not make up: a machine without a price gives charges without one, and an end that no
//! cloud told is counted until it was noticed and marked as an estimate.

mod beside;

pub use beside::changed as extras_changed;

use crate::Spend;
use crate::billing::{self, From, Rule, Until};
use crate::covered::Cover;
use fleet_model::{
    CostKind, Departure, Extras, Head, MachineId, Market, Meter, MicroUsd, NewMachine, NoPrice,
    OpenLife, PoolId, PriceStep, PricedAt, ReleasedMachine, SlotId, SlotName, Timestamp, Vacated,
    Worth,
};
use std::collections::BTreeMap;

/// Machines that were written down as gone may come back for so long.
const MAY_COME_BACK: i64 = 86_400_000;
/// No machine that has run for longer is free.
const PAST_FREE: i64 = 2 * 3_600_000;
/// No machine takes longer to run: what is before that is settled at its end.
const HEAD: i64 = 3_600_000;

/// A stretch of a machine's life, or of what comes beside it, at one price and with one set of labels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Charge<'a> {
    /// The machine, its slot, pool and launch.
    pub life: &'a OpenLife,
    /// What is charged: the machine itself, or what comes beside it.
    pub kind: CostKind,
    /// The version of its cloud's labels that it carried.
    pub labels: u32,
    /// Milliseconds since 1970: the first that is billed.
    pub from: i64,
    /// The first that is billed no more.
    pub to: i64,
    /// Price per hour. `None`: nobody knows.
    pub hourly: Option<MicroUsd>,
    /// The price is that of another region.
    pub about: bool,
    /// Why nobody knows it, if nobody does.
    pub because: NoPrice,
    /// Its cloud asks nothing for it.
    pub waived: bool,
    /// The end is not what a cloud told.
    pub estimated: bool,
    /// How the machine went, on its last stretch.
    pub ended: Option<Departure>,
    /// A commitment paid for it.
    pub covered: Option<Cover>,
}

impl Charge<'_> {
    /// Which machine.
    pub fn machine(&self) -> &MachineId {
        &self.life.machine
    }

    /// How long it is, in milliseconds.
    pub fn ms(&self) -> u64 {
        u64::try_from(self.to - self.from).unwrap_or_default()
    }

    /// What it comes to, beside what is bought ahead. `None`: no price is known.
    pub fn amount(&self) -> Option<Spend> {
        if self.waived || self.covered.is_some() {
            return Some(Spend::default());
        }
        Some(Spend::of(self.hourly?, self.ms()))
    }

    /// Whether it is for the machine itself.
    pub fn is_machine(&self) -> bool {
        self.kind == CostKind::Machine
    }

    /// What the same time of the machine costs on demand. `None`: that price is not on record, or it is for what comes
    /// beside, which costs the same either way.
    pub fn on_demand(&self) -> Option<Spend> {
        if !self.is_machine() {
            return None;
        }
        let price = match self.life.pool.market {
            Market::OnDemand => self.life.on_demand.or(self.life.price),
            Market::Spot | Market::Reserved => self.life.on_demand,
        };
        Some(Spend::of(price?, self.ms()))
    }

    /// Both sides of a moment. The end of the machine goes with the later one; a side without time is none.
    pub fn split_at(self, at: i64) -> (Option<Self>, Option<Self>) {
        if at <= self.from {
            (None, Some(self))
        } else if at >= self.to {
            (Some(self), None)
        } else {
            (Some(Charge { to: at, ended: None, ..self }), Some(Charge { from: at, ..self }))
        }
    }
}

/// A machine that was launched, and what is known of it.
#[derive(Debug, Clone, Copy)]
pub struct Launch<'a> {
    /// The pool that the request named.
    pub pool: &'a PoolId,
    /// The image that the request named.
    pub image: Option<&'a str>,
    /// The version of the labels that it carries.
    pub labels: u32,
    /// What machines of its pool are worth.
    pub worth: Option<&'a Worth>,
    /// What comes beside it.
    pub extras: Option<Extras>,
}

/// A machine was launched, or came over from elsewhere (`adopted`: counted from then on).
pub fn launched(
    meter: &mut Meter,
    new: &NewMachine,
    launch: Launch<'_>,
    adopted: Option<Timestamp>,
) {
    let since = adopted.map_or(new.launched_at, |at| at.max(new.launched_at));
    let life = OpenLife {
        machine: new.machine.clone(),
        slot: new.slot,
        pool: new.pool.as_ref().unwrap_or(launch.pool).clone(),
        launched_at: new.launched_at,
        since,
        price: new.price,
        on_demand: launch.worth.and_then(|worth| worth.on_demand),
        units: launch.worth.and_then(|worth| worth.units),
        extras: launch.extras,
        extras_since: since,
        disk_since: None,
        product: billing::product_of(launch.image),
        labels: launch.labels,
        relabelled: Vec::new(),
        asked: None,
        head: None,
    };
    meter.lives.insert(new.slot.name, Box::new(life));
}

/// A machine that was written down as gone is there: it was all the time.
pub fn returned(meter: &mut Meter, new: &NewMachine) {
    let was = meter.departed.iter().position(|(_, life)| life.machine == new.machine);
    match was.and_then(|at| meter.departed.remove(at)) {
        Some((_, mut life)) => {
            life.slot = new.slot;
            meter.lives.insert(new.slot.name, life);
        }
        None => {
            if let Some(pool) = &new.pool {
                let launch = Launch { pool, image: None, labels: 0, worth: None, extras: None };
                launched(meter, new, launch, None);
            }
        }
    }
}

/// Prices moved.
pub fn priced(meter: &mut Meter, steps: &[PriceStep]) {
    for PriceStep { pool, since, price } in steps {
        let known = meter.prices.entry(pool.clone()).or_default();
        let at = known.partition_point(|step| step.since < *since);
        let step = PricedAt { since: *since, price: *price };
        match known.get_mut(at) {
            Some(same) if same.since == *since => *same = step,
            _ => known.insert(at, step),
        }
    }
}

/// The end of machines was asked for, or (`None`) that came to nothing.
pub fn asked(meter: &mut Meter, slots: &[SlotId], at: Option<Timestamp>) {
    for slot in slots {
        if let Some(life) = in_slot(meter, *slot) {
            life.asked = at.map(|at| life.asked.unwrap_or(at));
        }
    }
}

/// Machines carry other labels from a moment on.
pub fn relabelled(meter: &mut Meter, slots: &[SlotId], version: u32, at: Timestamp) {
    for slot in slots {
        if let Some(life) = in_slot(meter, *slot) {
            life.relabelled.push((at, version));
        }
    }
}

fn in_slot(meter: &mut Meter, slot: SlotId) -> Option<&mut OpenLife> {
    let life = meter.lives.get_mut(&slot.name)?;
    (life.slot == slot).then_some(life)
}

/// Takes a machine off the meter, if it is the one in its slot.
fn take(meter: &mut Meter, slot: SlotName, machine: &MachineId) -> Option<Box<OpenLife>> {
    let is_it = meter.lives.get(&slot).is_some_and(|life| life.machine == *machine);
    is_it.then(|| meter.lives.remove(&slot)).flatten()
}

/// A machine is gone; `noticed` is when that was written down.
pub fn gone(
    meter: &mut Meter,
    vacated: &Vacated,
    noticed: Timestamp,
    sink: &mut impl FnMut(Charge<'_>),
) {
    let Some(mut life) = take(meter, vacated.slot, &vacated.machine) else { return };
    let rule = rule_of(&life);
    let (until, estimated) = match (vacated.at, life.asked) {
        (Some(told), _) => (told, false),
        (None, Some(asked)) => (asked, rule.until == Until::Stopped),
        (None, None) => (noticed, true),
    };
    let begin = begin(&life, rule, vacated.started);
    let ran = u64::try_from(ms(until) - begin).unwrap_or_default();
    let taken = vacated.how == Departure::Interrupted && life.pool.market == Market::Spot;
    // One that ended before anything of it was billed cost nothing.
    let never = rule.from == From::Running && vacated.at.is_some_and(|until| ms(until) <= begin);
    let billed = if never { 0 } else { rule.billed(ran, taken) };
    let waived = billed == 0 && ran > 0;
    let to = begin + if waived { ran as i64 } else { billed as i64 };
    let from = ms(life.since).max(begin);
    head(&life, begin, to, sink);
    let steps = steps_of(meter, &life);
    cut(&life, steps, from, End { to, how: Some(vacated.how), waived, estimated }, sink);
    let how = Some(vacated.how);
    let machine = beside::End { to: ms(until), how, estimated };
    let disk = beside::End {
        to: ms(vacated.deleted.unwrap_or(noticed)),
        how,
        estimated: vacated.deleted.is_none(),
    };
    beside::rest(&life, machine, disk, sink);
    // If it comes back, it was there, and is paid for, all the time.
    let since = if waived { from } else { to.max(from) };
    let price = price_at(steps, life.price, since);
    (life.since, life.price, life.asked, life.head) = (stamp(since), price, None, None);
    beside::counted_until(&mut life, machine, disk);
    let old = |at: &Timestamp| ms(noticed) - ms(*at) > MAY_COME_BACK;
    while meter.departed.front().is_some_and(|(at, _)| old(at)) {
        meter.departed.pop_front();
    }
    meter.departed.push_back((noticed, life));
}

/// A machine is no longer the fleet's, and runs on at somebody else's cost.
pub fn released(
    meter: &mut Meter,
    released: &ReleasedMachine,
    at: Timestamp,
    sink: &mut impl FnMut(Charge<'_>),
) {
    let Some(life) = take(meter, released.slot, &released.machine) else { return };
    head(&life, ms(life.launched_at), ms(at), sink);
    stretches(meter, &life, ms(life.since), End::open(at), sink);
    beside::so_far(&life, at, sink);
}

/// Charges of machines that run, up to a moment. Nothing is closed: asked again later, they are longer.
pub fn accrued(meter: &Meter, now: Timestamp, sink: &mut impl FnMut(Charge<'_>)) {
    for life in meter.lives.values() {
        let until = life.asked.unwrap_or(now).min(now);
        head(life, ms(life.launched_at), ms(until), sink);
        stretches(meter, life, ms(life.since), End::open(until), sink);
        beside::running(life, until, now, sink);
    }
}

/// How many price steps are kept.
pub fn price_steps(meter: &Meter) -> usize {
    meter.prices.values().map(Vec::len).sum()
}

/// Gives out what nothing can change any more, so that nothing older has to be kept: what ran before a
/// moment, of machines that were well past every free hour by then. Choose a moment some days ago: an end
/// before it that is told later is not taken back.
pub fn settle(meter: &mut Meter, before: Timestamp, sink: &mut impl FnMut(Charge<'_>)) {
    let mut lives = std::mem::take(&mut meter.lives);
    for life in lives.values_mut() {
        let old = ms(before) - ms(life.launched_at) > PAST_FREE;
        if !old || life.since >= before || life.asked.is_some() {
            continue;
        }
        // While it still has the labels of its first hour.
        beside::so_far(life, before, sink);
        life.extras_since = before.max(life.extras_since);
        if rule_of(life).from == From::Running && life.since == life.launched_at {
            let until = ms(life.launched_at) + HEAD;
            let steps = steps_of(meter, life);
            let steps = &steps[..steps.partition_point(|step| ms(step.since) < until)];
            let (price, labels) = (life.price, life.labels);
            let head = Head { until: stamp(until), price, steps: steps.to_vec(), labels };
            settled_to(meter, life, until);
            life.head = Some(Box::new(head));
        }
        stretches(meter, life, ms(life.since), End::open(before), sink);
        settled_to(meter, life, ms(before));
    }
    meter.lives = lives;
    forget_prices(meter);
}

/// What runs from here on is another matter.
fn settled_to(meter: &Meter, life: &mut OpenLife, at: i64) {
    life.price = price_at(steps_of(meter, life), life.price, at);
    life.labels = labels_at(life, at);
    life.relabelled.retain(|(since, _)| ms(*since) > at);
    life.since = stamp(at);
}

/// Gives out the first minutes of a life of which the rest was settled before.
fn head(life: &OpenLife, begin: i64, to: i64, sink: &mut impl FnMut(Charge<'_>)) {
    let Some(head) = &life.head else { return };
    let Head { until, price, steps, labels } = &**head;
    let first = OpenLife {
        since: life.launched_at,
        price: *price,
        labels: *labels,
        relabelled: Vec::new(),
        head: None,
        ..life.clone()
    };
    let to = stamp(ms(*until).min(to));
    cut(&first, steps, begin, End::open(to), sink);
}

struct End {
    to: i64,
    how: Option<Departure>,
    waived: bool,
    estimated: bool,
}

impl End {
    /// It goes on, and only so much is asked for now.
    fn open(to: Timestamp) -> Self {
        End { to: ms(to), how: None, waived: false, estimated: false }
    }
}

/// Gives out a life from one moment to another.
fn stretches(
    meter: &Meter,
    life: &OpenLife,
    from: i64,
    end: End,
    sink: &mut impl FnMut(Charge<'_>),
) {
    cut(life, steps_of(meter, life), from, end, sink);
}

/// Cuts a life where its price or its labels change.
fn cut(
    life: &OpenLife,
    steps: &[PricedAt],
    from: i64,
    end: End,
    sink: &mut impl FnMut(Charge<'_>),
) {
    let End { to, how, waived, estimated } = end;
    let price = |at: i64| price_at(steps, life.price, at);
    if to <= from {
        // It cost nothing, and it is told all the same how it went.
        if how.is_some() {
            let (hourly, labels) = (price(from), labels_at(life, from));
            let to = from;
            let ended = how;
            sink(Charge {
                life,
                kind: CostKind::Machine,
                labels,
                from,
                to,
                hourly,
                about: false,
                because: NoPrice::Machine,
                waived,
                estimated,
                ended,
                covered: None,
            });
        }
        return;
    }
    let begun = steps.partition_point(|step| ms(step.since) <= from);
    let moved = steps[begun..].iter().map(|step| ms(step.since)).take_while(|at| *at < to);
    let labels = life.relabelled.iter().map(|(at, _)| ms(*at));
    let mut cuts: Vec<i64> = moved.chain(labels).filter(|at| *at > from && *at < to).collect();
    cuts.sort_unstable();
    cuts.dedup();
    let mut at = from;
    for next in cuts.into_iter().chain([to]) {
        let last = next == to;
        sink(Charge {
            life,
            kind: CostKind::Machine,
            labels: labels_at(life, at),
            from: at,
            to: next,
            hourly: price(at),
            about: false,
            because: NoPrice::Machine,
            waived,
            estimated: estimated && last,
            ended: how.filter(|_| last),
            covered: None,
        });
        at = next;
    }
}

fn rule_of(life: &OpenLife) -> &'static Rule {
    billing::rule(life.pool.place.cloud, life.product)
}

/// The first moment that is billed, whoever pays for it.
fn begin(life: &OpenLife, rule: &Rule, started: Option<Timestamp>) -> i64 {
    let launched = ms(life.launched_at);
    match rule.from {
        From::Launch => launched,
        From::Running => started.map_or(launched, |started| ms(started).max(launched)),
    }
}

/// How prices moved that this life follows.
fn steps_of<'a>(meter: &'a Meter, life: &OpenLife) -> &'a [PricedAt] {
    if !billing::follows_market(life.pool.market) {
        return &[];
    }
    let steps = meter.prices.get(&life.pool).map_or(&[][..], Vec::as_slice);
    // What was true before is in its own price.
    &steps[steps.partition_point(|step| step.since <= life.since)..]
}

fn price_at(steps: &[PricedAt], first: Option<MicroUsd>, at: i64) -> Option<MicroUsd> {
    let past = steps.partition_point(|step| ms(step.since) <= at);
    past.checked_sub(1).map_or(first, |last| Some(steps[last].price))
}

fn labels_at(life: &OpenLife, at: i64) -> u32 {
    let past = life.relabelled.iter().rev().find(|(since, _)| ms(*since) <= at);
    past.map_or(life.labels, |(_, version)| *version)
}

/// Drops prices that no machine on the meter was there for.
fn forget_prices(meter: &mut Meter) {
    let Meter { lives, prices, departed } = meter;
    if prices.is_empty() {
        return;
    }
    let mut oldest: BTreeMap<&PoolId, Timestamp> = BTreeMap::new();
    for life in lives.values().chain(departed.iter().map(|(_, life)| life)) {
        let since = oldest.entry(&life.pool).or_insert(life.since);
        *since = life.since.min(*since);
    }
    prices.retain(|pool, steps| {
        let Some(oldest) = oldest.get(pool) else { return false };
        let past = steps.partition_point(|step| step.since <= *oldest);
        steps.drain(..past);
        true
    });
}

fn ms(at: Timestamp) -> i64 {
    at.as_millisecond()
}

fn stamp(ms: i64) -> Timestamp {
    Timestamp::from_millisecond(ms).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
#[path = "meter/beside_tests.rs"]
mod beside_tests;
#[cfg(test)]
#[path = "meter_tests.rs"]
mod tests;
