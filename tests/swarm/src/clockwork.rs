//! What changes by the clock and by a person's word: targets of a schedule, the end of a fleet, a freeze, and
//! a spec that is gone.

use crate::chance::Chance;
use crate::operator::{self, Person};
use crate::wish::{FLEET, goal, sealed};
use crate::world::World;
use fleet_core::{Pruning, prunes, unmanaged};
use fleet_model::{
    CapacityGoal, Cloud, Desired, Event, FleetName, Limits, ScheduleEntry, Timestamp, Unit,
};
use std::sync::Arc;
use std::time::Duration;

/// Some fleets have a schedule, and some an end.
pub(crate) fn wind(chance: &mut Chance, start: Timestamp, mut desired: Desired) -> Desired {
    let (scheduled, ends) = (chance.percent(12), chance.percent(8));
    if scheduled {
        desired.schedule = schedule(chance, &desired);
    }
    if ends {
        let after = Duration::from_secs(60 * chance.between(15, 90));
        desired.expires = start.checked_add(after).ok();
    }
    if scheduled || ends { sealed(desired) } else { desired }
}

/// The first entry comes on the hour, and the second half an hour later: worlds are short.
fn schedule(chance: &mut Chance, desired: &Desired) -> Vec<ScheduleEntry> {
    let entry = |cron: &str, goal: CapacityGoal| ScheduleEntry {
        cron: cron.parse().unwrap_or_else(|_| panic!("a cron time")),
        time_zone: "UTC".into(),
        goal,
    };
    let first = entry("0 * * * *", some(chance, desired));
    let second = entry("30 * * * *", some(chance, desired));
    if chance.percent(20) { vec![first] } else { vec![first, second] }
}

/// A target like the one of the spec.
fn some(chance: &mut Chance, desired: &Desired) -> CapacityGoal {
    let CapacityGoal { unit, target, on_demand, .. } = desired.capacity;
    let (whole, base) = (target.0 / 1000, on_demand.0 / 1000);
    let step = if unit == Unit::Gpus { 8 } else { 1 };
    let target = (chance.between(0, whole * 3 / 2 + 2) / step * step).min(20.max(whole));
    let all_base = desired.placement.clouds.iter().all(|rule| rule.cloud == Cloud::Lambda);
    goal(unit, target, if all_base { target } else { base.min(target) })
}

/// An edit of a spec may change its schedule and its end.
pub(crate) fn edit(chance: &mut Chance, now: Timestamp, mut desired: Desired) -> Desired {
    if !desired.schedule.is_empty() && chance.percent(40) {
        desired.schedule = if chance.percent(25) { Vec::new() } else { schedule(chance, &desired) };
    }
    if desired.expires.is_some() && chance.percent(40) {
        let later = now.checked_add(Duration::from_secs(60 * chance.between(10, 60))).ok();
        desired.expires = later.filter(|_| chance.percent(60));
    }
    sealed(desired)
}

/// `fleet freeze`, for a while or until it is thawed, and `fleet thaw`.
pub(crate) async fn freeze_or_thaw(world: &Arc<World>, desired: &Desired, wait: Duration) {
    operator::command(world, desired, Limits::default(), |process| async move {
        let engine = operator::engine(&process);
        let recorded = engine.recorded(&desired.fleet).await?;
        if recorded.uid.is_none() {
            return Ok(None);
        }
        let wish = {
            let now = process.world.now();
            let chance = &mut process.world.lock().clockwork;
            let lasting = Duration::from_secs(60 * chance.between(5, 50));
            match recorded.freeze.is_some() && chance.percent(60) {
                true => Event::Thawed,
                false => Event::Frozen {
                    reason: "a benchmark runs".into(),
                    until: now.checked_add(lasting).ok().filter(|_| chance.percent(50)),
                },
            }
        };
        process.world.trace(format_args!("p{} says: {wish:?}", process.id));
        engine.wish(desired, &process.holder(), wait, wish, &|_| {}).await?;
        Ok(None)
    })
    .await;
}

/// `fleet thaw`, where all is calm.
pub(crate) async fn thaw(world: &Arc<World>, desired: &Desired) {
    operator::command(world, desired, Limits::default(), |process| async move {
        let engine = operator::engine(&process);
        let wait = Duration::from_secs(60);
        engine.wish(desired, &process.holder(), wait, Event::Thawed, &|_| {}).await?;
        Ok(None)
    })
    .await;
}

/// `fleet apply FOLDER`, with or without `--prune`, from which the spec may be gone: what it does to fleets
/// that no spec of it names.
pub(crate) async fn prune(world: &Arc<World>, person: Person, wait: Duration) {
    let fleet = FleetName::from(FLEET);
    let (there, pruning) = {
        let chance = &mut world.lock().clockwork;
        let there = chance.percent(30);
        let (asked, readable) = (chance.percent(60), chance.percent(85));
        (there, Pruning { asked, whole: true, readable })
    };
    let nothing = &Desired::without_spec(fleet.clone(), Cloud::ALL);
    operator::command(world, nothing, Limits::default(), |process| async move {
        process.world.trace(format_args!("p{} finds a spec: {there}, {pruning:?}", process.id));
        let may = !there && pruning.asked && pruning.readable;
        process.world.judge(|judge| judge.prunes(process.id, may));
        let engine = operator::engine(&process);
        let named: &[&FleetName] = if there { &[&fleet] } else { &[] };
        let gone = unmanaged(engine.fleets().await?, named);
        if !gone.contains(&fleet) || !prunes(pruning) || engine.standing(&fleet).await? == 0 {
            return Ok(None);
        }
        operator::work(&process, &engine, nothing, Limits::default(), person, wait).await
    })
    .await;
}

/// Makes a world ready for its last check: the fleet is not frozen, it has expired if it has an end, and its
/// target has just changed, so that it stays the same for a while.
pub(crate) async fn let_it_run(world: &Arc<World>, wish: &Desired) {
    let frozen = world.judge(|judge| judge.frozen());
    if let Some(until) = frozen {
        world.trace(format_args!("frozen: {until:?}"));
        operator::apply(world, wish, Limits::default(), Person::Agrees, Duration::from_secs(60))
            .await;
        match until {
            Some(until) => sleep_past(world, until).await,
            None => thaw(world, wish).await,
        }
    }
    if let Some(end) = wish.expires {
        sleep_past(world, end).await;
    } else if !wish.schedule.is_empty() {
        let left = 1800 - world.now().as_second().rem_euclid(1800);
        tokio::time::sleep(Duration::from_secs(left as u64 + 60)).await;
    }
    world.look();
}

async fn sleep_past(world: &World, moment: Timestamp) {
    let left = moment.duration_since(world.now());
    if left.is_positive() {
        tokio::time::sleep(left.unsigned_abs() + Duration::from_secs(60)).await;
    }
}
