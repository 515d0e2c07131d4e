//! Changes of template: a canary, waves, what stops them, and the way back.

use crate::world::{Row, catalog, checked, counts, desired, inputs, obey};
use fleet_core::{fold, plan, with_templates};
use fleet_model::{
    Cause, CauseKind, Cloud, Event, Hold, Inputs, MachineId, MachineState, Part, Probe, Probed,
    RolloutNews, RolloutState, RolloutWait, SlotState, Template, Unit, UpdateStrategy, Window,
};
use std::collections::BTreeSet;
use std::time::Duration;

const POOLS: &[Row<'_>] = &[("aws/us-east-1/a/d.4", 0, Some(100_000), Some(30_000))];

/// A fleet that stands, all on demand, from the template "one".
fn fleet(machines: u64) -> Inputs {
    let wish = with_key(desired(machines, machines, Unit::Instances), "one");
    let mut world = inputs(wish, &catalog(POOLS));
    let planned = checked(&world);
    obey(&mut world, &planned, 600);
    keep_templates(&mut world, "one");
    assert!(checked(&world).plan.is_empty());
    world
}

fn template(key: &str) -> Template {
    Template { key: Some(key.into()), ..Template::default() }
}

fn with_key(mut wish: fleet_model::Desired, key: &str) -> fleet_model::Desired {
    wish.templates.insert(Cloud::Aws, template(key));
    wish
}

/// What a launch writes down of its template.
fn keep_templates(world: &mut Inputs, key: &str) {
    let whole = template(key);
    let (digest, fields) = (whole.digest(), whole.fields());
    let event = Event::TemplateMeant {
        cloud: Cloud::Aws,
        template: digest,
        fields,
        whole: Some(Box::new(whole)),
    };
    fold(&mut world.recorded, &event, world.now);
}

fn change_to(world: &mut Inputs, key: &str) {
    world.desired = with_key(world.desired.clone(), key);
    keep_templates(world, key);
}

/// Live machines of a template, and those of them that are ready.
fn of_template(world: &Inputs, key: &str) -> (usize, usize) {
    let digest = template(key).digest();
    let ids = world.recorded.slots.values().filter_map(|slot| match &slot.state {
        SlotState::Filled { machine, template, .. } if *template == digest => Some(machine),
        _ => None,
    });
    let live: Vec<_> = ids
        .filter_map(|id| world.observed.machines.get(id))
        .filter(|machine| machine.state.is_live())
        .collect();
    let ready = live.iter().filter(|machine| machine.state == MachineState::Running).count();
    (live.len(), ready)
}

fn wait(world: &mut Inputs, seconds: u64) {
    world.now += Duration::from_secs(seconds);
    world.observed.taken_at = world.now;
}

/// Carries out a plan. New machines are pending; `boot` says whether they come up at the next look.
fn step(world: &mut Inputs, boot: bool) -> (usize, usize) {
    if boot {
        for machine in world.observed.machines.values_mut() {
            if machine.state == MachineState::Pending {
                machine.state = MachineState::Running;
            }
        }
    }
    let before: BTreeSet<MachineId> = world.observed.machines.keys().cloned().collect();
    let planned = checked(world);
    let counts = counts(&planned);
    obey(world, &planned, 30);
    for (id, machine) in &mut world.observed.machines {
        if !before.contains(id) {
            machine.state = MachineState::Pending;
        }
    }
    counts
}

fn wait_of(world: &Inputs) -> Option<RolloutWait> {
    let held = plan(world).report.held;
    held.into_iter().find_map(|hold| match hold {
        Hold::Rollout { waits, .. } => Some(waits),
        _ => None,
    })
}

/// Steps until nothing moves; the least that was ever ready and the most that ever stood.
fn run(world: &mut Inputs, rounds: usize) -> (usize, usize) {
    let (mut least, mut most) = (usize::MAX, 0);
    for _ in 0..rounds {
        step(world, true);
        let live = world.observed.machines.values().filter(|machine| machine.state.is_live());
        let ready = live.clone().filter(|machine| machine.state == MachineState::Running).count();
        (least, most) = (least.min(ready), most.max(live.count()));
    }
    (least, most)
}

#[test]
fn a_canary_first_then_waves_within_the_surge_and_never_fewer_ready() {
    let mut world = fleet(60);
    change_to(&mut world, "two");
    assert_eq!(step(&mut world, true), (1, 0), "one canary");
    assert_eq!(step(&mut world, false), (0, 0), "it boots, and nothing else happens");
    assert!(matches!(wait_of(&world), Some(RolloutWait::Ready { wave: 1, launching: 1, .. })));
    assert_eq!(step(&mut world, true), (0, 1), "it is ready, and its predecessor goes");
    let (least, most) = run(&mut world, 60);
    assert_eq!((of_template(&world, "two"), of_template(&world, "one").0), ((60, 60), 0));
    assert!(least >= 60 && most <= 66, "{least} ready at least, {most} stood at most");
    let rollout = world.recorded.rollout.as_ref().expect("on record");
    assert_eq!((&rollout.state, rollout.waves), (&RolloutState::Done, 11));
    assert!(checked(&world).plan.is_empty() && !checked(&world).plan.has_news());
}

#[test]
fn a_canary_that_fails_stops_it_and_nothing_else_is_touched() {
    let mut world = fleet(60);
    change_to(&mut world, "two");
    step(&mut world, true);
    let canary = template("two").digest();
    for slot in world.recorded.slots.values() {
        let SlotState::Filled { machine, template, .. } = &slot.state else { continue };
        if *template == canary {
            let machine = world.observed.machines.get_mut(machine).expect("there");
            machine.state = MachineState::Failed;
            machine.cause = Some(Cause::new(CauseKind::NeverReady, "no boot disk"));
        }
    }
    let planned = checked(&world);
    let failed = planned.plan.failed.clone();
    fold(&mut world.recorded, &Event::Failed { failed }, world.now);
    assert_eq!(step(&mut world, false), (0, 1), "the canary goes");
    assert_eq!((of_template(&world, "one"), of_template(&world, "two").0), ((60, 60), 0));
    for _ in 0..5 {
        assert_eq!(step(&mut world, true), (0, 0));
    }
    let Some(RolloutWait::Halt { why }) = wait_of(&world) else { panic!("it is halted") };
    assert_eq!(why.failed, 1);
    // What is lost meanwhile comes back; a mended template begins anew.
    change_to(&mut world, "three");
    run(&mut world, 80);
    assert_eq!((of_template(&world, "three"), of_template(&world, "one").0), ((60, 60), 0));
}

#[test]
fn a_canary_that_never_boots_is_late_and_stops_it() {
    let mut world = fleet(20);
    change_to(&mut world, "two");
    step(&mut world, true);
    wait(&mut world, 14 * 60);
    assert_eq!(step(&mut world, false), (0, 0), "it has fifteen minutes");
    wait(&mut world, 120);
    assert_eq!(step(&mut world, false), (0, 1), "it goes");
    assert!(matches!(wait_of(&world), Some(RolloutWait::Halt { .. })));
    assert_eq!(of_template(&world, "one"), (20, 20));
}

/// Its tags are gone, so nobody may destroy it, and it counts. It serves nobody all the same.
#[test]
fn a_successor_that_must_not_be_touched_and_does_not_work_is_not_ready() {
    for state in [MachineState::Pending, MachineState::Failed, MachineState::Stopped] {
        let mut world = fleet(2);
        change_to(&mut world, "two");
        assert_eq!(step(&mut world, true), (1, 0), "one canary");
        wait(&mut world, 16 * 60);
        for machine in world.observed.machines.values_mut() {
            if machine.state == MachineState::Pending {
                (machine.state, machine.owner) = (state, None);
            }
        }
        assert_eq!(step(&mut world, false), (0, 0), "{state:?}");
        assert_eq!(of_template(&world, "one"), (2, 2), "{state:?}");
    }
}

/// A wave has limits of its own. It is no way around the limit on destroys.
#[test]
fn a_fleet_that_is_to_have_nothing_has_no_rollout() {
    let mut world = fleet(20);
    change_to(&mut world, "two");
    world.desired.capacity = desired(0, 0, Unit::Instances).capacity;
    let planned = checked(&world);
    assert_eq!(counts(&planned), (0, 2));
    assert_eq!(planned.plan.rollout, Vec::new());
}

#[test]
fn missing_some_for_a_while_needs_no_surge() {
    let mut world = fleet(20);
    world.desired.updates.max_surge = Part::Machines(0);
    world.desired.updates.max_unavailable = Part::Machines(3);
    change_to(&mut world, "two");
    let (least, most) = run(&mut world, 60);
    assert_eq!(of_template(&world, "two"), (20, 20));
    assert!(least >= 17 && most <= 20, "{least} ready at least, {most} stood at most");
}

#[test]
fn recreate_destroys_all_and_launches_them_anew() {
    let mut world = fleet(20);
    world.desired.updates.strategy = UpdateStrategy::Recreate;
    change_to(&mut world, "two");
    assert_eq!(step(&mut world, true), (0, 20));
    let (_, most) = run(&mut world, 4);
    assert_eq!((of_template(&world, "two"), most), ((20, 20), 20));
}

#[test]
fn waves_wait_for_their_window_and_one_that_has_begun_is_finished() {
    let mut world = fleet(20);
    let cron = "0 2 * * *".parse().expect("a cron time");
    let window = Window { cron, time_zone: "UTC".into(), lasts_seconds: 3600 };
    world.desired.updates.windows = vec![window];
    world.now = "2026-03-10T12:00:00Z".parse().expect("a moment");
    world.observed.taken_at = world.now;
    change_to(&mut world, "two");
    assert_eq!(step(&mut world, true), (0, 0));
    let opens = "2026-03-11T02:00:00Z".parse().expect("a moment");
    assert_eq!(wait_of(&world), Some(RolloutWait::Window { opens: Some(opens) }));
    world.now = "2026-03-11T02:59:00Z".parse().expect("a moment");
    world.observed.taken_at = world.now;
    assert_eq!(step(&mut world, true), (1, 0), "the canary begins");
    wait(&mut world, 300);
    assert_eq!(step(&mut world, true), (0, 1), "and is finished after the window closed");
    assert_eq!(step(&mut world, true), (0, 0), "no wave follows");
    assert!(matches!(wait_of(&world), Some(RolloutWait::Window { .. })));
}

#[test]
fn a_pause_between_waves_and_a_persons_pause() {
    let mut world = fleet(20);
    world.desired.updates.pause_seconds = 600;
    change_to(&mut world, "two");
    step(&mut world, true);
    step(&mut world, true);
    step(&mut world, true);
    assert!(matches!(wait_of(&world), Some(RolloutWait::Pause { .. })), "{:?}", wait_of(&world));
    assert_eq!(step(&mut world, true), (0, 0));
    wait(&mut world, 600);
    let paused = Event::Rollout { news: RolloutNews::Paused };
    fold(&mut world.recorded, &paused, world.now);
    assert_eq!(step(&mut world, true), (0, 0));
    assert_eq!(wait_of(&world), Some(RolloutWait::Person));
    fold(&mut world.recorded, &Event::Rollout { news: RolloutNews::Resumed }, world.now);
    assert_eq!(step(&mut world, true).0, 2, "the next wave");
}

#[test]
fn undo_returns_to_the_template_that_all_were_ready_with() {
    let mut world = fleet(20);
    change_to(&mut world, "two");
    for _ in 0..12 {
        step(&mut world, true);
    }
    let (new, old) = (of_template(&world, "two").0, of_template(&world, "one").0);
    assert!(new > 2 && old > 2, "{new} new, {old} old");
    fleet_core::can_undo(&world.recorded).expect("there is a way back");
    fold(&mut world.recorded, &Event::Rollout { news: RolloutNews::Undone }, world.now);
    let spec = world.desired.clone();
    world.desired = with_templates(spec.clone(), &world.recorded);
    assert_eq!(world.desired.templates[&Cloud::Aws], template("one"));
    let (least, most) = run(&mut world, 60);
    assert_eq!((of_template(&world, "one"), of_template(&world, "two").0), ((20, 20), 0));
    assert!(least >= 20 && most <= 22, "{least} ready at least, {most} stood at most");
    // The same spec stays undone; another template is a new word.
    assert_eq!(
        with_templates(spec.clone(), &world.recorded).templates[&Cloud::Aws],
        template("one")
    );
    let third = with_key(spec.clone(), "three");
    assert_eq!(with_templates(third.clone(), &world.recorded), third);
    fold(&mut world.recorded, &Event::Rollout { news: RolloutNews::Resumed }, world.now);
    assert_eq!(with_templates(spec.clone(), &world.recorded), spec);
}

#[test]
fn user_data_that_changed_cannot_be_undone() {
    let mut world = fleet(4);
    let mut old = template("one");
    old.user_data = Some("old".into());
    let mut new = old.clone();
    new.user_data = Some("new".into());
    for whole in [&old, &new] {
        let kept = Template { user_data: None, ..(*whole).clone() };
        let event = Event::TemplateMeant {
            cloud: Cloud::Aws,
            template: whole.digest(),
            fields: whole.fields(),
            whole: Some(Box::new(kept)),
        };
        let set = |template: &Template| [(Cloud::Aws, template.digest())].into();
        let began = RolloutNews::Began { from: set(&old), to: set(&new) };
        fold(&mut world.recorded, &Event::Rollout { news: began }, world.now);
        fold(&mut world.recorded, &event, world.now);
    }
    let refused = fleet_core::can_undo(&world.recorded);
    assert_eq!(refused, Err(fleet_core::CannotUndo::UserData { cloud: Cloud::Aws }));
}

#[test]
fn checks_decide_when_a_machine_is_ready_and_when_it_is_not_any_more() {
    let mut world = fleet(10);
    world.desired.health.probes = vec![Probe::Tcp { port: 22 }];
    let say = |world: &mut Inputs, count: usize, words: &str| {
        let ids: Vec<MachineId> = world.observed.machines.keys().cloned().collect();
        world.observed.probed = ids
            .into_iter()
            .enumerate()
            .map(|(at, id)| {
                let failed = Probed::Failed { words: words.into() };
                (id, if at < count { failed } else { Probed::Passed })
            })
            .collect();
    };
    say(&mut world, 1, "refused");
    let planned = checked(&world);
    assert_eq!((planned.plan.health.ready.len(), planned.plan.health.failing.len()), (9, 1));
    assert!(planned.plan.is_empty() && planned.plan.has_news());
    obey(&mut world, &planned, 60);
    assert!(!checked(&world).plan.has_news(), "what did not change is not written down again");
    wait(&mut world, 4 * 60);
    assert_eq!(step(&mut world, false), (1, 1), "it failed for five minutes and is replaced");
    // Too many at once: nobody is touched.
    say(&mut world, 4, "refused");
    let planned = checked(&world);
    obey(&mut world, &planned, 0);
    wait(&mut world, 301);
    let planned = checked(&world);
    assert!(planned.plan.is_empty(), "{:?}", planned.plan);
    assert!(planned.report.held.iter().any(|hold| matches!(hold, Hold::ManyUnhealthy { .. })));
    // A check that cannot be made says nothing.
    let not_made = Probed::NotMade { words: "no such program".into() };
    world.observed.probed.values_mut().for_each(|said| *said = not_made.clone());
    assert!(checked(&world).plan.health.is_empty());
}
