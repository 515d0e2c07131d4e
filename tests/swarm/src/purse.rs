//! Worlds about money: a fleet with a budget of a month or of its life is looked after every hour, over the
//! turn of a month in some zone. Processes die, answers are lost, prices move, machines are taken back. What
//! was spent, on machines, disks and addresses, is read off the clouds' own bill, which no code of the engine
//! wrote. (S)

use crate::chance::Chance;
use crate::life::Outcome;
use crate::operator::{self, Ended, Person};
use crate::weather::{Kind, Weather};
use crate::wish::{self, goal, sealed};
use crate::world::World;
use fleet_model::{
    AtCap, Cloud, CloudRule, Desired, Disk, Limits, MicroUsd, Template, TimeZoneName, Timestamp,
    Unit, time_zone,
};
use jiff::SignedDuration;
use jiff::tz::TimeZone;
use std::sync::Arc;
use std::time::Duration;

/// Seeds from here on are worlds about money.
pub const PURSES: u64 = 1 << 40;

const ZONES: [&str; 4] = ["UTC", "America/Los_Angeles", "Asia/Kolkata", "Pacific/Auckland"];

/// What goes wrong here: everything that leaves somebody in doubt, and nothing that keeps a machine from
/// being destroyed for longer than one look.
const FAULTS: [Kind; 11] = [
    Kind::CrashBeforeAppend,
    Kind::CrashAfterAppend,
    Kind::CrashAfterSend,
    Kind::CrashAfterResponse,
    Kind::CrashAfterCommit,
    Kind::LostAnswer,
    Kind::CapacityWords,
    Kind::Duplicated,
    Kind::StoreLost,
    Kind::StoreConflict,
    Kind::LostRequest,
];

/// A limit on what is spent, and what the judge knows of it.
struct Purse {
    zone: TimeZone,
    month: Option<MicroUsd>,
    lifetime: Option<MicroUsd>,
    /// The bill when the month began.
    before: u128,
}

/// Lives one of them.
pub(crate) async fn live(seed: u64, keep_trace: bool) -> Outcome {
    let mut chance = Chance::new(seed);
    let wish = draw(&mut chance);
    let zone = time_zone(&wish.budget.time_zone.0).unwrap_or(TimeZone::UTC);
    let world = World::new(seed, (Chance::new(seed), Chance::later(seed)), &wish, keep_trace);
    let faults: Vec<Kind> = FAULTS.into_iter().filter(|_| chance.percent(40)).collect();
    let rate = chance.between(5, 40);
    calm(&world);
    let (start, wish) = begin(&world, &mut chance, &zone, wish).await;
    world.trace(format_args!("{:?} from {start}, faults {faults:?}", wish.budget));
    let (month, lifetime) = (wish.budget.calendar_month, wish.budget.lifetime);
    let mut purse = Purse { zone, month, lifetime, before: 0 };
    let mut clean = true;
    for _ in 0..chance.between(36, 72) {
        if world.is_broken() {
            break;
        }
        // Two looks in a row that fail are more than a budget of hours can stand: the second is clean.
        clean = !clean || chance.percent(50);
        if clean {
            calm(&world);
            reconcile(&world, &wish).await;
        } else if chance.percent(80) {
            world.lock().weather = Weather::of(faults.iter().copied(), rate);
            reconcile(&world, &wish).await;
            calm(&world);
        } else {
            world.trace(format_args!("nobody looks"));
        }
        purse.pass(&world, &mut chance).await;
    }
    Outcome::of(&world)
}

fn calm(world: &World) {
    let mut inner = world.lock();
    inner.weather.clear();
    inner.calm = true;
}

async fn reconcile(world: &Arc<World>, wish: &Desired) {
    let wait = Duration::from_secs(60);
    let ended = operator::apply(world, wish, Limits::default(), Person::Away, wait).await;
    if matches!(ended, Ended::Failed(_)) {
        world.trace(format_args!("the look failed"));
    }
}

/// A fleet with a budget that it reaches, or may.
fn draw(chance: &mut Chance) -> Desired {
    let mut wish = wish::draw(chance);
    wish.budget.hourly = None;
    let mut clouds = vec![Cloud::Aws, Cloud::Gcp, Cloud::Azure];
    clouds.truncate(chance.between(1, 3) as usize);
    if chance.percent(25) {
        clouds = vec![Cloud::Lambda];
    }
    let all_base = clouds == [Cloud::Lambda];
    wish.placement.clouds = clouds.into_iter().map(wish::rule).collect();
    wish.placement.spread = Default::default();
    wish.placement.weights = Vec::new();
    wish.instances.vcpus.max = Some(4);
    wish.instances.vcpus.min = None;
    let target = chance.between(2, 8);
    let base = if all_base { target } else { chance.below(target.min(3) + 1) };
    wish.capacity = goal(Unit::Instances, target, base);
    if chance.percent(20) {
        wish.budget.at_cap = AtCap::Hold;
    }
    // Disks that may cost as much as their machines; where there is none, the image decides, and nobody knows.
    if chance.percent(70) {
        let size_gib = Some(chance.between(10, 200) as u32 * 10);
        let disk = Some(Disk { size_gib, kind: None, encrypted: true });
        let template = Template { disk, ..Template::default() };
        let of = |rule: &CloudRule| (rule.cloud, template.clone());
        wish.templates = wish.placement.clouds.iter().map(of).collect();
    }
    wish.budget.time_zone = TimeZoneName((*chance.pick(&ZONES).unwrap_or(&"UTC")).into());
    wish
}

/// Sleeps to some hours before the turn of a month, and settles on the money: a part of what all of it
/// would cost.
async fn begin(
    world: &World,
    chance: &mut Chance,
    zone: &TimeZone,
    mut wish: Desired,
) -> (Timestamp, Desired) {
    let february = jiff::civil::date(2026, 2, 1).at(0, 0, 0, 0);
    let turn = zone.to_ambiguous_timestamp(february).compatible().unwrap_or_default();
    let start = turn - SignedDuration::from_hours(chance.between(2, 30) as i64);
    let nap = start.duration_since(world.now());
    tokio::time::sleep(nap.unsigned_abs()).await;
    let goal = wish.capacity;
    let (base, spot) = (goal.on_demand.0 / 1000, goal.spot.0 / 1000);
    // Prices of four vCPUs: 0.2 on demand, 0.08 spot, 0.04 at Lambda.
    let lambda = wish.placement.clouds.iter().all(|rule| rule.cloud == Cloud::Lambda);
    let on_demand = if lambda { 40_000 } else { 200_000 };
    let hours = chance.between(2, 50);
    // At the dearest of the clouds, $0.10 per GiB and month, and an address.
    let disk =
        wish.templates.values().filter_map(|template| template.disk.as_ref()?.size_gib).max();
    let beside = if lambda { 0 } else { u64::from(disk.unwrap_or(0)) * 137 + 5_000 };
    let on_demand = on_demand + beside;
    let burst = spot * (85_000 + beside) * hours;
    if lambda || chance.percent(30) {
        let lasts = chance.between(24, 60);
        wish.expires = Some(start + SignedDuration::from_hours(lasts as i64));
        let part = chance.between(20, 130);
        let cap = base * on_demand * lasts * part / 100 + burst;
        wish.budget.lifetime = Some(MicroUsd(cap.max(50_000)));
    } else {
        let cap = base * on_demand * 745 + burst;
        wish.budget.calendar_month = Some(MicroUsd(cap.max(50_000)));
    }
    (start, sealed(wish))
}

impl Purse {
    /// An hour passes, and the bill is read every ten minutes.
    async fn pass(&mut self, world: &World, chance: &mut Chance) {
        let until = Timestamp::from_second((world.now().as_second() / 3600 + 1) * 3600);
        let until = until.unwrap_or_default() + SignedDuration::from_secs(chance.below(120) as i64);
        while world.now() < until {
            let month = |at: Timestamp| at.to_zoned(self.zone.clone()).month();
            let was = month(world.now());
            let left = until.duration_since(world.now()).unsigned_abs();
            tokio::time::sleep(left.min(Duration::from_secs(600))).await;
            let bill = bill(world);
            if month(world.now()) != was {
                // Up to ten minutes of the new month are taken for the old one.
                self.before = bill;
            }
            self.judge(world, bill);
            if chance.percent(2) {
                take_back(world, chance);
            }
        }
    }

    fn judge(&self, world: &World, bill: u128) {
        let micros = |sum: u128| MicroUsd(u64::try_from(sum / 3_600_000).unwrap_or(u64::MAX));
        let month = micros(bill.saturating_sub(self.before));
        let over = |limit: Option<MicroUsd>, spent: MicroUsd, of: &str| {
            if limit.is_some_and(|limit| spent > limit) {
                let limit = limit.unwrap_or_default();
                world
                    .judge(|judge| judge.fail('S', format!("{spent} spent {of}, {limit} at most")));
            }
        };
        over(self.month, month, "in a month");
        over(self.lifetime, micros(bill), "in all");
    }
}

/// What the clouds ask for everything so far: micro-dollars per hour, times milliseconds.
fn bill(world: &World) -> u128 {
    let lines = world.sim.bill().unwrap_or_default();
    lines.iter().filter_map(|line| line.micro_usd_ms).sum()
}

/// A cloud takes a spot machine back.
fn take_back(world: &World, chance: &mut Chance) {
    let machines = world.sim.machines().unwrap_or_default();
    let live: Vec<_> = machines
        .into_iter()
        .filter(|one| one.state.is_live() && one.market == fleet_model::Market::Spot)
        .collect();
    if let Some(machine) = chance.pick(&live) {
        let _ = world.sim.reclaim(&machine.id);
        world.look();
    }
}
