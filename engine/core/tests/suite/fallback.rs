//! On-demand in the place of spot, and the way back.

use crate::world::*;
use fleet_core::{Planned, check, fold, plan};
use fleet_model::*;
use proptest::prelude::*;
use std::collections::BTreeSet;

const WORLD: &[Row<'_>] = &[
    ("aws/r1/a/m.1", 0, Some(100), Some(30)),
    ("aws/r1/b/m.1", 0, Some(100), Some(31)),
    ("aws/r2/a/m.1", 0, Some(110), Some(32)),
    ("gcp/r3/c/n.1", 0, Some(120), Some(33)),
];
/// Machines of two sizes.
const GPUS: &[Row<'_>] = &[
    ("aws/r1/a/g.8", 8, Some(4000), Some(1500)),
    ("aws/r1/b/g.1", 1, Some(510), Some(200)),
    ("gcp/r3/c/h-8", 8, Some(3900), Some(1600)),
    ("gcp/r3/c/h-1", 1, Some(500), Some(190)),
];
const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;

/// A fleet, and which spot pools have nothing.
struct Market {
    inputs: Inputs,
    empty: BTreeSet<PoolId>,
    /// When each machine that moved was launched and ended.
    moved: Vec<(Timestamp, Timestamp)>,
    ended: u32,
}

fn market(target: u64, rule: Option<Fallback>) -> Market {
    let mut wish = desired(target, 0, Unit::Instances);
    wish.fallback = rule;
    Market {
        inputs: inputs(wish, &catalog(WORLD)),
        empty: BTreeSet::new(),
        moved: vec![],
        ended: 0,
    }
}

impl Market {
    fn wait(&mut self, seconds: i64) {
        let now = Timestamp::from_second(self.inputs.now.as_second() + seconds).expect("a time");
        (self.inputs.now, self.inputs.observed.taken_at) = (now, now);
    }

    fn close(&mut self, closed: bool) {
        let spot = self.inputs.offerings.iter().map(|offering| &offering.pool);
        let spot = spot.filter(|pool| closed && pool.market == fleet_model::Market::Spot);
        self.empty = spot.cloned().collect();
    }

    /// The cloud takes spot machines back.
    fn lose(&mut self, count: usize) {
        let running = |machine: &&mut Machine| {
            machine.market == fleet_model::Market::Spot && machine.state == MachineState::Running
        };
        for machine in self.inputs.observed.machines.values_mut().filter(running).take(count) {
            machine.state = MachineState::Terminated;
            machine.cause = Some(Cause::new(CauseKind::Interrupted, "no capacity"));
        }
    }

    /// One round, of which nothing comes in pools that are empty.
    fn round(&mut self) -> Planned {
        let planned = plan(&self.inputs);
        assert_eq!(check(&self.inputs, &planned), [], "{:?}", summary(&planned));
        let mut granted = planned.clone();
        let refused = |step: &Step| match &step.action {
            Action::Create(create) => self.empty.contains(&create.pool).then(|| create.clone()),
            Action::Destroy(_) => None,
        };
        let refused: Vec<Create> = planned.plan.steps.iter().filter_map(refused).collect();
        granted.plan.steps.retain(|step| match &step.action {
            Action::Create(create) => !self.empty.contains(&create.pool),
            Action::Destroy(_) => refused.is_empty(),
        });
        for step in &granted.plan.steps {
            if let Action::Destroy(destroy) = &step.action {
                self.ended += destroy.victims.len() as u32;
                let moved = matches!(step.why, Why::Moved { .. });
                let now = self.inputs.now;
                let victims = destroy.victims.iter().filter(|_| moved);
                self.moved.extend(victims.map(|victim| (victim.launched_at, now)));
            }
        }
        obey(&mut self.inputs, &granted, 0);
        let now = self.inputs.now;
        for create in refused {
            let until = Timestamp::from_second(now.as_second() + 5 * MINUTE).expect("a time");
            let (token, pool) = (create.token.clone(), create.pool.clone());
            let scope = BlockScope::Pool { pool };
            let block = Block { scope, until, code: "no capacity".into() };
            let code = String::new();
            for event in [
                Event::CreateIntended { create },
                Event::CreateRefused { token, code, no_room: true },
                Event::Blocked { block },
            ] {
                fold(&mut self.inputs.recorded, &event, now);
            }
        }
        planned
    }

    /// Applies until nothing is left to do. Says what was done, round by round.
    fn apply(&mut self) -> Vec<String> {
        let mut done = Vec::new();
        for _ in 0..40 {
            let planned = self.round();
            done.extend(summary(&planned));
            if planned.plan.is_empty() && !planned.plan.has_news() {
                return done;
            }
        }
        let last = plan(&self.inputs);
        let why: Vec<&Why> = last.plan.steps.iter().map(|step| &step.why).collect();
        panic!("it does not rest: {why:?} {:?}", &done[done.len().saturating_sub(4)..]);
    }

    /// Machines that stand: spot, on demand.
    fn stand(&self) -> (usize, usize) {
        let live = self.inputs.observed.machines.values().filter(|m| m.state.is_live());
        let (spot, other): (Vec<&Machine>, Vec<&Machine>) =
            live.partition(|machine| machine.market == fleet_model::Market::Spot);
        (spot.len(), other.len())
    }

    fn told(&self) -> Option<Notice> {
        let mut notices = plan(&self.inputs).report.notices;
        notices.retain(|n| matches!(n, Notice::Fallback { .. } | Notice::SpotShort { .. }));
        notices.pop()
    }
}

#[test]
fn without_a_rule_what_is_missing_stays_missing() {
    let mut fleet = market(4, None);
    fleet.apply();
    fleet.close(true);
    fleet.lose(4);
    fleet.apply();
    fleet.wait(6 * HOUR);
    fleet.apply();
    assert_eq!(fleet.stand(), (0, 0));
    assert_eq!(fleet.told(), None);
}

#[test]
fn a_few_losses_are_made_up_for_on_spot_and_many_on_demand() {
    let mut fleet = market(12, Some(Fallback::default()));
    fleet.apply();
    fleet.lose(2);
    fleet.apply();
    assert_eq!(fleet.stand(), (12, 0), "two are no reason");
    fleet.wait(10 * MINUTE);
    fleet.lose(2);
    fleet.apply();
    assert_eq!(fleet.stand(), (10, 2), "four within the hour are");
    let since = fleet.inputs.now;
    let until = at(40 * MINUTE);
    assert_eq!(
        fleet.told(),
        Some(Notice::Fallback {
            on_demand: Units::whole(2),
            burst: Units::whole(12),
            unit: Unit::Instances,
            since,
            why: FallbackWhy::Lost { machines: 4 },
            back: WayBack::Holds { until, for_seconds: 1800 },
        })
    );
}

#[test]
fn losses_long_ago_do_not_count() {
    let mut fleet = market(12, Some(Fallback::default()));
    fleet.apply();
    for _ in 0..4 {
        fleet.lose(2);
        fleet.apply();
        fleet.wait(61 * MINUTE);
    }
    assert_eq!(fleet.stand(), (12, 0));
}

#[test]
fn a_refusal_goes_elsewhere_as_long_as_there_is_an_elsewhere() {
    let mut fleet = market(12, Some(Fallback::default()));
    fleet.close(true);
    let open: PoolId = "gcp/r3/c/n.1/spot".parse().expect("a pool");
    fleet.empty.remove(&open);
    fleet.apply();
    assert_eq!(fleet.stand(), (12, 0), "three pools refused, the fourth did not");
    fleet.empty.insert(open);
    fleet.lose(1);
    fleet.apply();
    assert_eq!(fleet.stand(), (11, 1), "nowhere is room now");
}

#[test]
fn spot_that_cannot_fill_is_waited_for() {
    let rule = Fallback { losses: Some(100), ..Fallback::default() };
    let mut fleet = market(4, Some(rule));
    fleet.close(true);
    fleet.apply();
    assert_eq!(fleet.stand(), (0, 0));
    let (since, on_demand_from) = (at(0), at(15 * MINUTE));
    assert_eq!(fleet.told(), Some(Notice::SpotShort { since, on_demand_from }));
    // Blocks are over by now: every run asks anew, and that is no end of the wait.
    for _ in 0..2 {
        fleet.wait(6 * MINUTE);
        fleet.apply();
        assert_eq!(fleet.stand(), (0, 0));
    }
    fleet.wait(6 * MINUTE);
    fleet.apply();
    assert_eq!(fleet.stand(), (0, 4));
    let told = fleet.told();
    let why = FallbackWhy::Unfilled { since };
    assert!(matches!(told, Some(Notice::Fallback { why: w, .. }) if w == why), "{told:?}");
}

#[test]
fn the_share_and_the_budget_hold() {
    let half = Fallback { share: Share::HALF, ..Fallback::default() };
    let mut fleet = market(12, Some(half));
    fleet.apply();
    fleet.close(true);
    fleet.lose(12);
    fleet.apply();
    assert_eq!(fleet.stand(), (0, 6));
    let mut fleet = market(12, Some(Fallback::default()));
    fleet.inputs.desired.budget.hourly = Some(MicroUsd::dollars(5));
    fleet.apply();
    fleet.close(true);
    fleet.lose(12);
    fleet.apply();
    assert_eq!(fleet.stand(), (0, 5));
    // More for the same money: spot has room for all of it.
    let mut fleet = market(12, Some(Fallback::default()));
    fleet.inputs.desired.budget.hourly = Some(MicroUsd::dollars(5));
    fleet.apply();
    fleet.lose(6);
    fleet.apply();
    assert_eq!(fleet.stand(), (12, 0));
}

#[test]
fn machines_go_back_a_few_at_a_time_when_spot_holds() {
    let mut fleet = market(20, Some(Fallback::default()));
    fleet.apply();
    fleet.lose(6);
    fleet.apply();
    assert_eq!(fleet.stand(), (14, 6));
    fleet.wait(29 * MINUTE);
    assert_eq!(fleet.apply(), Vec::<String>::new());
    fleet.wait(MINUTE);
    let planned = plan(&fleet.inputs);
    let news = planned.plan.moving.as_ref().map(|moving| moving.slots.len());
    assert_eq!((news, planned.plan.steps.len()), (Some(2), 1), "{:?}", summary(&planned));
    assert_eq!(planned.plan.steps[0].why, Why::Moved { why: MoveWhy::BackToSpot });
    fleet.apply();
    assert_eq!(fleet.stand(), (16, 4), "a tenth, and then it rests");
    for left in [2, 0] {
        fleet.wait(2 * MINUTE);
        assert_eq!(fleet.apply(), Vec::<String>::new());
        fleet.wait(MINUTE);
        fleet.apply();
        assert_eq!(fleet.stand().1, left);
    }
    assert_eq!((fleet.stand(), fleet.told()), ((20, 0), None));
    assert_eq!(fleet.inputs.recorded.spot.fallen_back, None);
}

#[test]
fn the_old_machine_stays_until_its_successor_is_up() {
    let mut fleet = market(4, Some(Fallback::default()));
    fleet.apply();
    fleet.lose(3);
    fleet.apply();
    fleet.wait(30 * MINUTE);
    fleet.round();
    let now = fleet.inputs.now;
    let new = fleet.inputs.observed.machines.values_mut().find(|m| m.launched_at == now);
    let id = new.map(|machine| {
        machine.state = MachineState::Pending;
        machine.id.clone()
    });
    assert_eq!(fleet.stand(), (2, 3));
    fleet.wait(MINUTE);
    assert_eq!(fleet.apply(), Vec::<String>::new(), "its successor is starting");
    let told = fleet.told();
    let back = WayBack::Starting { machines: 1 };
    assert!(matches!(told, Some(Notice::Fallback { back: b, .. }) if b == back), "{told:?}");
    let machine = fleet.inputs.observed.machines.get_mut(&id.expect("a successor"));
    machine.expect("listed").state = MachineState::Running;
    fleet.apply();
    assert_eq!(fleet.stand(), (2, 2));
}

#[test]
fn a_return_that_fails_is_tried_again_later_and_later() {
    let mut fleet = market(4, Some(Fallback::default()));
    fleet.apply();
    fleet.close(true);
    fleet.lose(4);
    fleet.apply();
    assert_eq!(fleet.stand(), (0, 4));
    let mut tries = Vec::new();
    for minute in 1..=16 * 60 {
        fleet.wait(MINUTE);
        let before = fleet.inputs.recorded.spot.moves.len();
        fleet.apply();
        if fleet.inputs.recorded.spot.moves.len() > before {
            tries.push(minute);
        }
    }
    assert_eq!(tries, [30, 90, 210, 450, 930]);
    assert_eq!((fleet.stand(), fleet.ended), ((0, 4), 0));
}

#[test]
fn spot_that_is_dearer_is_no_way_back() {
    let mut fleet = market(4, Some(Fallback::default()));
    fleet.apply();
    fleet.lose(3);
    fleet.apply();
    for offering in &mut fleet.inputs.offerings {
        if offering.pool.market == fleet_model::Market::Spot {
            offering.price = Some(MicroUsd::dollars(2));
        }
    }
    fleet.wait(HOUR);
    assert_eq!(fleet.apply(), Vec::<String>::new());
    let told = fleet.told();
    let back = WayBack::NoSuccessor;
    assert!(matches!(told, Some(Notice::Fallback { back: b, .. }) if b == back), "{told:?}");
}

#[test]
fn a_rule_that_is_removed_brings_everything_back() {
    let mut fleet = market(4, Some(Fallback::default()));
    fleet.apply();
    fleet.lose(3);
    fleet.apply();
    assert_eq!(fleet.stand(), (1, 3));
    fleet.inputs.desired.fallback = None;
    for _ in 0..3 {
        fleet.apply();
        fleet.wait(3 * MINUTE);
    }
    fleet.apply();
    assert_eq!((fleet.stand(), fleet.told()), ((4, 0), None));
    assert!(fleet.inputs.recorded.spot.fallen_back.is_none());
}

#[test]
fn a_hedge_weighs_on_demand_by_itself() {
    let mut fleet = market(4, Some(Fallback::default()));
    fleet.apply();
    fleet.lose(3);
    fleet.apply();
    fleet.inputs.desired.placement.hedge = Some(Hedge::at(10_000).watched());
    let planned = plan(&fleet.inputs);
    assert_eq!(planned.plan.fallback, Some(FallbackStep::Ended));
    assert!(planned.plan.moving.is_none());
    assert_eq!(fleet.told(), None);
}

#[test]
fn a_new_template_moves_nobody_to_on_demand() {
    let mut fleet = market(10, Some(Fallback::default()));
    fleet.apply();
    fleet.lose(3);
    fleet.apply();
    assert_eq!(fleet.stand(), (7, 3));
    let template = Template { image: Some("new".into()), ..Template::default() };
    for cloud in Cloud::ALL {
        fleet.inputs.desired.templates.insert(cloud, template.clone());
    }
    for _ in 0..12 {
        fleet.wait(MINUTE);
        fleet.apply();
    }
    assert_eq!(fleet.stand(), (7, 3));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever the market does: every plan keeps the rules and comes to rest, no machine is moved before
    /// it stood for as long as spot must hold, what is ended is ended to move, and the share holds.
    #[test]
    fn nothing_flaps(
        target in 1u64..30,
        gpus in any::<bool>(),
        share in prop::sample::select(&[100.0, 50.0, 25.0][..]),
        back in prop::sample::select(&[5u32, 30, 120][..]),
        weather in prop::collection::vec((1i64..40, 0usize..5, 0u8..4), 1..60),
    ) {
        let share = Share::from_percent(share).expect("a share");
        let rule = Fallback { share, return_after_seconds: back * 60, ..Fallback::default() };
        let mut fleet = market(target, Some(rule));
        if gpus {
            let wish = Desired { fallback: Some(rule), ..desired(target, 0, Unit::Gpus) };
            fleet.inputs = inputs(wish, &catalog(GPUS));
        }
        fleet.apply();
        for (minutes, lost, capacity) in weather {
            fleet.wait(minutes * MINUTE);
            match capacity {
                0 => fleet.close(true),
                1 => fleet.close(false),
                _ => {}
            }
            fleet.lose(lost.saturating_sub(2));
            fleet.apply();
            prop_assert!(plan(&fleet.inputs).plan.is_empty());
            if gpus { continue; }
            let (spot, on_demand) = fleet.stand();
            prop_assert!(on_demand as u64 <= share.floor_of(target), "{on_demand} of {target}");
            prop_assert!((spot + on_demand) as u64 <= target);
        }
        for (launched, ended) in &fleet.moved {
            let age = ended.duration_since(*launched).as_secs();
            prop_assert!(age >= i64::from(back) * 60, "moved after {age} s");
        }
        // Of two sizes, one that is too large may be worth ending for smaller ones.
        prop_assert!(gpus || fleet.moved.len() as u32 == fleet.ended);
    }
}
