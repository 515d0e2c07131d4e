//! A budget is not passed: fleets live for days around the turn of a month, prices jump, launches are in
//! doubt, looks are missed, and a meter of the test's own counts what it all costs.

use crate::world::{Row, catalog, checked, desired, inputs, obey};
use fleet_core::{fold, plan, prices_seen, worth};
use fleet_model::*;
use jiff::SignedDuration;
use std::collections::BTreeMap;

const ROWS: [Row<'static>; 4] = [
    ("aws/us-east-1/a/m.8", 0, Some(100), Some(30)),
    ("aws/us-east-1/b/m.8", 0, Some(104), Some(26)),
    ("gcp/us-central1/a/n.8", 0, Some(96), Some(38)),
    ("azure/eastus/regional/d.8", 0, Some(110), Some(25)),
];

/// Numbers that look like chance, and are the same each time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit.max(1)
    }

    fn percent(&mut self, share: u64) -> bool {
        self.below(100) < share
    }
}

/// What machines really cost: seconds, at the price of the moment.
#[derive(Default)]
struct Purse {
    all: f64,
    month: f64,
}

impl Purse {
    fn pay(&mut self, world: &Inputs, on_demand: &BTreeMap<MachineId, f64>, seconds: i64) {
        let live = world.observed.machines.values().filter(|machine| machine.state.is_live());
        let hourly: f64 = live
            .map(|machine| {
                let offering = world.offerings.iter().find(|o| o.pool == machine.pool());
                let beside = offering.map_or(0.0, |o| o.extras.known().as_f64());
                let price = match (machine.market, on_demand.get(&machine.id)) {
                    (Market::OnDemand, Some(price)) => *price,
                    _ => offering.and_then(|o| o.price).unwrap_or_default().as_f64(),
                };
                price + beside
            })
            .sum();
        self.all += hourly * seconds as f64 / 3600.0;
        self.month += hourly * seconds as f64 / 3600.0;
    }
}

struct Life {
    world: Inputs,
    dice: Dice,
    purse: Purse,
    zone: jiff::tz::TimeZone,
    /// On-demand prices are those of the launch.
    fixed: BTreeMap<MachineId, f64>,
    /// When prices moved last.
    moved: BTreeMap<PoolId, Timestamp>,
}

/// The end of a month in some zone, some hours before it.
fn begin(dice: &mut Dice, zone: &jiff::tz::TimeZone) -> Timestamp {
    let midnight = jiff::civil::date(2027, 3, 1).at(0, 0, 0, 0);
    let turn = zone.to_ambiguous_timestamp(midnight).compatible().expect("a time");
    turn - SignedDuration::from_hours(dice.below(40) as i64)
}

fn live(seed: u64) -> Result<(), String> {
    let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let name =
        ["UTC", "America/Los_Angeles", "Asia/Kolkata", "Pacific/Auckland"][dice.below(4) as usize];
    let zone = time_zone(name).expect("a zone");
    let catalog = catalog(&ROWS);
    let target = 2 + dice.below(9);
    let base = if dice.percent(50) { 0 } else { dice.below(target.min(3) + 1) };
    let mut spec = desired(target, base, Unit::Instances);
    let start = begin(&mut dice, &zone);
    // From money for hours to money for weeks; the base alone may be too dear.
    let hours = 2 + dice.below(70);
    // Some have disks and addresses, which may cost as much as their machines.
    let beside = if dice.percent(60) { 1 + dice.below(40) } else { 0 };
    let month = base * (110 + beside) * 745 / 100 + target * (40 + beside) * hours / 100;
    if dice.percent(70) {
        spec.budget.calendar_month = Some(MicroUsd::dollars(month.max(1)));
    } else {
        spec.expires = Some(start + SignedDuration::from_hours(48 + dice.below(60) as i64));
        spec.budget.lifetime = Some(MicroUsd::dollars(
            base * 2 * (108 + beside) + target * (40 + beside) * hours / 100 + 1,
        ));
    }
    if dice.percent(20) {
        spec.budget.at_cap = AtCap::Hold;
    }
    spec.budget.time_zone = TimeZoneName(name.into());
    let every = [900, 3600, 3600, 4 * 3600][dice.below(4) as usize];
    spec.budget.reconcile_every_seconds = Some(every);
    let caps = spec.budget.clone();
    let expires = spec.expires;
    let mut world = inputs(spec, &catalog);
    for offering in &mut world.offerings {
        offering.extras = beside_of(beside * 10_000);
    }
    (world.now, world.observed.taken_at) = (start, start);
    let purse = Purse::default();
    let mut life =
        Life { world, dice, purse, zone, fixed: BTreeMap::new(), moved: BTreeMap::new() };
    let mut at_look = MicroUsd(0);
    for look in 0..60 {
        // Whoever runs it is away now and then, for one look.
        let missed = life.dice.percent(12);
        if !missed {
            at_look = life.look(expires);
        }
        life.pass(i64::from(every));
        let over = |limit: Option<MicroUsd>, spent: f64| {
            limit.filter(|limit| spent > limit.as_f64() + 1e-6).map(|limit| (limit, spent))
        };
        let found =
            over(caps.calendar_month, life.purse.month).or(over(caps.lifetime, life.purse.all));
        if let Some((limit, spent)) = found {
            return Err(format!("seed {seed}, look {look}: ${spent:.4} of {limit}; {at_look}/h"));
        }
    }
    Ok(())
}

/// A disk and an address.
fn beside_of(micros: u64) -> Extras {
    let address = Extra::Hourly(MicroUsd(micros / 8));
    Extras { disk: Extra::About(MicroUsd(micros - micros / 8)), address, ..Extras::default() }
}

/// What apply writes down before the first step.
fn round(world: &Inputs, planned: &fleet_core::Planned) -> Event {
    Event::RoundStarted {
        spec: planned.plan.premises.spec,
        create: 0,
        destroy: 0,
        hourly_after: MicroUsd(0),
        heard: Vec::new(),
        worth: worth(world, &planned.plan),
    }
}

impl Life {
    /// Plans and obeys. Some launches are in doubt: they are there, and nobody knows.
    fn look(&mut self, expires: Option<Timestamp>) -> MicroUsd {
        let over = expires.is_some_and(|end| end <= self.world.now);
        if over {
            let unit = self.world.desired.capacity.unit;
            self.world.desired.capacity = CapacityGoal { unit, ..CapacityGoal::default() };
            self.world.desired.max_destroy = Share::ALL;
        }
        let mut after = MicroUsd(0);
        for _ in 0..3 {
            if let Some(event) = prices_seen(&self.world) {
                fold(&mut self.world.recorded, &event, self.world.now);
            }
            let planned = checked(&self.world);
            after = planned.report.cost.hourly_after;
            let rests = planned.plan.is_empty();
            let known: Vec<MachineId> = self.world.observed.machines.keys().cloned().collect();
            let round = round(&self.world, &planned);
            fold(&mut self.world.recorded, &round, self.world.now);
            obey(&mut self.world, &planned, 0);
            for (id, machine) in &self.world.observed.machines {
                if !known.contains(id) {
                    let price = machine.price.unwrap_or_default().as_f64();
                    self.fixed.insert(id.clone(), price);
                }
            }
            if rests {
                break;
            }
        }
        after
    }

    /// Time passes: prices jump, spot is taken back, a month begins.
    fn pass(&mut self, seconds: i64) {
        let mut left = seconds;
        while left > 0 {
            let step = left.min(900);
            let until = self.world.now + SignedDuration::from_secs(step);
            let month =
                |at: Timestamp, zone: &jiff::tz::TimeZone| at.to_zoned(zone.clone()).month();
            // Months turn on the hour, and so do steps.
            self.purse.pay(&self.world, &self.fixed, step);
            if month(self.world.now, &self.zone) != month(until, &self.zone) {
                self.purse.month = 0.0;
            }
            self.world.now = until;
            left -= step;
            if self.dice.percent(3) {
                self.jump();
            }
            if self.dice.percent(5) {
                self.interrupt();
            }
        }
        self.world.observed.taken_at = self.world.now;
    }

    /// Spot moves anywhere between a quarter of the list price and all of it. AWS tells when; with the
    /// others it happens once a day at most.
    fn jump(&mut self) {
        let at = self.dice.below(self.world.offerings.len() as u64) as usize;
        let share = 25 + self.dice.below(75);
        let (now, offering) = (self.world.now, &mut self.world.offerings[at]);
        let Some(list) = offering.on_demand.filter(|_| offering.pool.market == Market::Spot) else {
            return;
        };
        let pool = offering.pool.clone();
        let seldom = pool.place.cloud != Cloud::Aws;
        let last = self.moved.get(&pool).copied();
        let lately = |last: Timestamp| now.duration_since(last) < SignedDuration::from_hours(24);
        if seldom && last.is_some_and(lately) {
            return;
        }
        let price = MicroUsd(list.0 * share / 100);
        offering.price = Some(price);
        self.moved.insert(pool.clone(), now);
        if !seldom {
            let prices = &mut self.world.observed.readings.prices;
            prices.push(PriceStep { pool, since: now, price });
        }
    }

    fn interrupt(&mut self) {
        let live = self.world.observed.machines.values_mut();
        let mut spot: Vec<&mut Machine> = live
            .filter(|machine| machine.state.is_live() && machine.market == Market::Spot)
            .collect();
        let count = spot.len() as u64;
        if count > 0 {
            let one = self.dice.below(count) as usize;
            spot[one].state = MachineState::Terminated;
        }
    }
}

#[test]
fn no_budget_is_passed() {
    let lives = if cfg!(debug_assertions) { 300 } else { 10_000 };
    let lives = std::env::var("FLEET_LIVES").ok().and_then(|n| n.parse().ok()).unwrap_or(lives);
    let broken: Vec<String> = (0..lives).filter_map(|seed| live(seed).err()).collect();
    assert!(broken.is_empty(), "{} of {lives}: {}", broken.len(), broken[0]);
}

#[test]
fn a_plan_says_how_far_the_money_reaches() {
    let mut spec = desired(4, 1, Unit::Instances);
    spec.budget.calendar_month = Some(MicroUsd::dollars(1000));
    let mut world = inputs(spec, &catalog(&ROWS));
    world.now = "2027-03-11T00:00:00Z".parse().expect("a moment");
    let planned = plan(&world);
    let [line] = planned.report.budgets[..] else { panic!("one budget") };
    assert_eq!((line.cap, line.spent), (Cap::CalendarMonth, MicroUsd(0)));
    assert_eq!(line.until.map(|at| at.to_string()).as_deref(), Some("2027-04-01T00:00:00Z"));
    // 21 days of the base, and of all of it.
    let hourly = planned.report.cost.hourly_after;
    assert_eq!(line.forecast, Some(hourly * 504));
    assert_eq!(line.set_aside, MicroUsd(960_000) * 504);
    assert_eq!(line.used_up_at, None);
}

#[test]
fn disks_addresses_and_traffic_are_spent_and_named() {
    let mut spec = desired(4, 1, Unit::Instances);
    spec.budget.calendar_month = Some(MicroUsd::dollars(1000));
    let mut world = inputs(spec, &catalog(&ROWS));
    world.now = "2027-03-11T00:00:00Z".parse().expect("a moment");
    world.observed.taken_at = world.now;
    let mut extras = Extras { egress: Extra::Hourly(MicroUsd(20_000)), ..beside_of(400_000) };
    world.offerings.iter_mut().for_each(|offering| offering.extras = extras);
    let planned = checked(&world);
    let opened = round(&world, &planned);
    let now = world.now;
    fold(&mut world.recorded, &opened, now);
    obey(&mut world, &planned, 36_000);
    let all = world.observed.machines.len() as u64;
    assert!(all > 2, "{all}");
    // The traffic is shared out anew: written down with the next look, and from then on.
    extras.egress = Extra::Hourly(MicroUsd(40_000));
    world.offerings.iter_mut().for_each(|offering| offering.extras = extras);
    let priced = prices_seen(&world).expect("news");
    let now = world.now;
    fold(&mut world.recorded, &priced, now);
    assert_eq!(prices_seen(&world), None, "told once");
    world.now = now + SignedDuration::from_hours(5);
    world.observed.taken_at = world.now;
    let line = plan(&world).report.budgets[0];
    // 15 hours of each; a second more is counted of what runs.
    let near = |got: MicroUsd, micros: u64| got.0 >= micros && got.0 < micros + 1_000;
    let on = line.spent_on;
    assert!(near(on.disk, all * 15 * 350_000), "{on:?}");
    assert!(near(on.address, all * 15 * 50_000), "{on:?}");
    assert!(near(on.egress, all * (10 * 20_000 + 5 * 40_000)), "{on:?}");
    assert_eq!(line.spent, on.total());
    let after = plan(&world).report.cost.hourly_after;
    let rest = world.now.duration_since(line.until.expect("an end")).as_secs().unsigned_abs();
    let rest = u128::from(after.0) * u128::from(rest) / 3600;
    let forecast = line.forecast.expect("a forecast") - line.spent;
    assert!(rest.abs_diff(forecast.0.into()) <= 1, "{forecast} {rest}");
    // Gone machines stay counted, with their disks until nothing of them was left.
    let spent = line.spent;
    for machine in world.observed.machines.values_mut() {
        machine.state = MachineState::Terminated;
    }
    world.desired.capacity = CapacityGoal { unit: Unit::Instances, ..CapacityGoal::default() };
    let planned = plan(&world);
    let now = world.now;
    let gone = planned.plan.vacate.clone();
    assert_eq!(gone.len() as u64, all, "{:?}", planned.plan);
    fold(&mut world.recorded, &Event::Vacated { gone }, now);
    world.now = now + SignedDuration::from_hours(5);
    let after = plan(&world).report.budgets[0];
    assert!(after.spent.0.abs_diff(spent.0) < 4_000, "{} {spent}", after.spent);
    assert!(near(after.spent_on.disk, all * 15 * 350_000), "{after:?}");
}

#[test]
fn what_was_not_written_down_is_said_and_never_nought() {
    let mut spec = desired(4, 1, Unit::Instances);
    spec.budget.calendar_month = Some(MicroUsd::dollars(1000));
    let mut world = inputs(spec, &catalog(&ROWS));
    world.now = "2027-03-11T00:00:00Z".parse().expect("a moment");
    world.observed.taken_at = world.now;
    world.offerings.iter_mut().for_each(|offering| offering.extras = beside_of(400_000));
    // A journal of an older version: no round says what came beside.
    let planned = checked(&world);
    obey(&mut world, &planned, 3_600);
    let report = plan(&world).report;
    assert_eq!(report.budgets[0].spent_on.disk, MicroUsd(0));
    let told = |report: &Report, kind| {
        let all = report.budget_uncounted.iter().filter(|one| one.kind == kind);
        all.map(|one| (one.because, one.machines)).collect::<Vec<_>>()
    };
    let machines: u32 = told(&report, CostKind::Disk).iter().map(|(_, machines)| machines).sum();
    let all = world.observed.machines.len() as u64;
    assert!(all > 2 && u64::from(machines) == all, "{machines} {all}");
    assert!(told(&report, CostKind::Disk).iter().all(|(why, _)| *why == NoPrice::NotRecorded));
    // From the next look on it is known, and what was before stays said.
    let priced = prices_seen(&world).expect("news");
    let now = world.now;
    fold(&mut world.recorded, &priced, now);
    world.now = now + SignedDuration::from_hours(1);
    world.observed.taken_at = world.now;
    let report = plan(&world).report;
    assert!(report.budgets[0].spent_on.disk >= MicroUsd(all * 350_000));
    let machines: u32 = told(&report, CostKind::Disk).iter().map(|(_, machines)| machines).sum();
    assert_eq!(u64::from(machines), all);
    // In the month after that it is over.
    world.now = "2027-04-11T00:00:00Z".parse().expect("a moment");
    assert_eq!(plan(&world).report.budget_uncounted, []);
}

#[test]
fn a_base_that_no_month_can_pay_is_not_launched() {
    let mut spec = desired(2, 2, Unit::Instances);
    // One machine of the two: 745 hours of 0.96 come to 715.
    spec.budget.calendar_month = Some(MicroUsd::dollars(800));
    let world = inputs(spec, &catalog(&ROWS));
    let planned = checked(&world);
    assert_eq!(planned.report.groups[0].create, 1);
    let short = &planned.report.unplaced[0];
    let month =
        |why: &Rejection| matches!(why, Rejection::BudgetReached { cap: Cap::CalendarMonth, .. });
    assert!(short.because.iter().any(|(why, _)| month(why)), "{short:?}");
}
