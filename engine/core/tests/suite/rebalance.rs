//! Cheaper pools for machines that run.

use crate::world::*;
use fleet_core::{check, explain_moves, plan};
use fleet_model::*;
use proptest::prelude::*;

const WORLD: &[Row<'_>] = &[
    ("aws/r1/a/m.1", 0, Some(100), Some(30)),
    ("aws/r1/b/m.1", 0, Some(100), Some(40)),
    ("gcp/r3/c/n.1", 0, Some(120), Some(50)),
];
const MINUTE: i64 = 60;

fn fleet(target: u64, rule: Option<Rebalance>) -> Inputs {
    let mut wish = desired(target, 0, Unit::Instances);
    wish.rebalance = rule;
    wish.placement.strategy = fleet_model::Strategy::LowestPrice;
    inputs(wish, &catalog(WORLD))
}

fn wait(fleet: &mut Inputs, seconds: i64) {
    fleet.now = Timestamp::from_second(fleet.now.as_second() + seconds).expect("a time");
    fleet.observed.taken_at = fleet.now;
}

fn price(fleet: &mut Inputs, place: &str, cents: u64) {
    for offering in &mut fleet.offerings {
        if offering.pool.market == Market::Spot && offering.pool.to_string().starts_with(place) {
            offering.price = Some(MicroUsd(cents * 10_000));
        }
    }
}

/// Applies until nothing is left to do; what was done.
fn apply(fleet: &mut Inputs) -> Vec<String> {
    let mut done = Vec::new();
    for _ in 0..40 {
        let planned = plan(fleet);
        assert_eq!(check(fleet, &planned), [], "{:?}", summary(&planned));
        done.extend(summary(&planned));
        let rests = planned.plan.is_empty() && !planned.plan.has_news();
        obey(fleet, &planned, 0);
        if rests {
            return done;
        }
    }
    panic!("it does not rest: {done:?}");
}

fn verdicts(fleet: &Inputs) -> Vec<SavingVerdict> {
    explain_moves(fleet).into_iter().map(|saving| saving.verdict).collect()
}

const NONE: [String; 0] = [];

#[test]
fn without_a_word_nobody_moves() {
    let mut fleet = fleet(10, None);
    apply(&mut fleet);
    price(&mut fleet, "aws/r1/a", 90);
    wait(&mut fleet, 600 * MINUTE);
    assert_eq!((apply(&mut fleet), verdicts(&fleet)), (NONE.to_vec(), vec![]));
}

#[test]
fn a_saving_that_lasts_moves_a_few_an_hour() {
    let rule = Rebalance { max_per_hour: Some(1), ..Rebalance::default() };
    let mut fleet = fleet(10, Some(rule));
    assert_eq!(apply(&mut fleet), ["+10 aws/r1/a/m.1/spot"]);
    wait(&mut fleet, 120 * MINUTE);
    price(&mut fleet, "aws/r1/a", 50);
    assert_eq!(apply(&mut fleet), NONE, "it is only just so");
    let until = at(150 * MINUTE);
    assert_eq!(verdicts(&fleet), [SavingVerdict::SeenUntil { until }]);
    wait(&mut fleet, 30 * MINUTE);
    assert_eq!(verdicts(&fleet), [SavingVerdict::Moves { machines: 1 }]);
    assert_eq!(apply(&mut fleet), ["+1 aws/r1/b/m.1/spot", "-1 aws/r1/a/m.1/spot"]);
    let at = at(210 * MINUTE);
    assert_eq!(verdicts(&fleet)[0], SavingVerdict::NextHour { at });
    wait(&mut fleet, 59 * MINUTE);
    assert_eq!(apply(&mut fleet), NONE);
    wait(&mut fleet, MINUTE);
    assert_eq!(apply(&mut fleet).len(), 2);
}

#[test]
fn a_price_that_comes_and_goes_moves_nobody() {
    let mut fleet = fleet(10, Some(Rebalance::default()));
    apply(&mut fleet);
    wait(&mut fleet, 120 * MINUTE);
    for _ in 0..10 {
        price(&mut fleet, "aws/r1/a", 60);
        assert_eq!(apply(&mut fleet), NONE);
        wait(&mut fleet, 20 * MINUTE);
        price(&mut fleet, "aws/r1/a", 30);
        assert_eq!(apply(&mut fleet), NONE);
        wait(&mut fleet, 20 * MINUTE);
    }
}

#[test]
fn too_little_and_too_young() {
    let mut fleet = fleet(10, Some(Rebalance::default()));
    apply(&mut fleet);
    price(&mut fleet, "aws/r1/a", 46);
    apply(&mut fleet);
    assert_eq!(verdicts(&fleet), [SavingVerdict::TooLittle]);
    price(&mut fleet, "aws/r1/a", 60);
    apply(&mut fleet);
    wait(&mut fleet, 31 * MINUTE);
    assert_eq!(apply(&mut fleet), NONE);
    assert_eq!(verdicts(&fleet), [SavingVerdict::TooYoung]);
}

#[test]
fn the_budget_has_room_for_both_or_nobody_moves() {
    let mut fleet = fleet(10, Some(Rebalance::default()));
    fleet.desired.budget.hourly = Some(MicroUsd(3_100_000));
    apply(&mut fleet);
    wait(&mut fleet, 120 * MINUTE);
    price(&mut fleet, "aws/r1/a", 60);
    apply(&mut fleet);
    wait(&mut fleet, 30 * MINUTE);
    assert_eq!(apply(&mut fleet), NONE);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever prices do: every plan keeps the rules and comes to rest, no machine moves within an hour of
    /// its launch, no more move in an hour than may, and nothing is missing.
    #[test]
    fn nothing_chases_noise(
        target in 1u64..30,
        most in 1u32..4,
        weather in prop::collection::vec((1i64..60, 0usize..3, 10u64..90), 1..60),
    ) {
        let rule = Rebalance { max_per_hour: Some(most), ..Rebalance::default() };
        let mut fleet = fleet(target, Some(rule));
        apply(&mut fleet);
        for (minutes, place, cents) in weather {
            wait(&mut fleet, minutes * MINUTE);
            price(&mut fleet, ["aws/r1/a", "aws/r1/b", "gcp/r3/c"][place], cents);
            for _ in 0..10 {
                let planned = plan(&fleet);
                prop_assert_eq!(check(&fleet, &planned), vec![]);
                for step in &planned.plan.steps {
                    let Action::Destroy(destroy) = &step.action else { continue };
                    let why = Why::Moved { why: MoveWhy::Cheaper };
                    prop_assert_eq!(&step.why, &why);
                    for victim in &destroy.victims {
                        let age = fleet.now.duration_since(victim.launched_at).as_secs();
                        prop_assert!(age >= 60 * MINUTE, "moved after {age} s");
                    }
                }
                if planned.plan.is_empty() && !planned.plan.has_news() { break; }
                obey(&mut fleet, &planned, 0);
            }
            prop_assert!(plan(&fleet).plan.is_empty());
            let live = fleet.observed.machines.values().filter(|m| m.state.is_live()).count();
            prop_assert_eq!(live as u64, target);
            let lately = fleet.recorded.spot.moves.iter();
            let lately = lately.filter(|m| fleet.now.duration_since(m.at).as_secs() < 60 * MINUTE);
            prop_assert!(lately.map(|moved| moved.machines).sum::<u32>() <= most);
        }
    }
}
