//! The arithmetic of a move.

use super::{Arithmetic, Life, is_worth_it};
use fleet_model::{MicroUsd, Rebalance};

const FOR_EVER: Life = Life([1.0; 5]);
const AN_HOUR: Life = Life([0.0; 5]);

fn cents(cents: u64) -> MicroUsd {
    MicroUsd(cents * 10_000)
}

fn sums(price: u64, then: u64, lives: [Life; 2]) -> Arithmetic {
    let (price, then, on_demand) = (cents(price), cents(then), cents(300));
    Arithmetic { price, then, on_demand, lives, lost_work: None }
}

#[test]
fn a_life_is_counted_within_a_day() {
    assert_eq!(FOR_EVER.hours(), 24.0);
    assert_eq!(AN_HOUR.hours(), 0.5);
    assert_eq!(Life([1.0, 1.0, 1.0, 0.5, 0.0]).hours(), 6.0 + 4.5 + 3.0);
}

#[test]
fn what_is_saved_and_what_it_costs() {
    let calm = sums(100, 80, [FOR_EVER; 2]);
    assert_eq!(calm.saving().to_string(), "20%");
    assert_eq!(calm.gain(), cents(480));
    let cost = calm.cost();
    assert_eq!((cost.side_by_side, cost.work, cost.risk), (MicroUsd(66_667), cents(30), cents(0)));
    // A pool that surely takes the machine back within a day costs the work of a loss.
    assert_eq!(sums(100, 80, [FOR_EVER, AN_HOUR]).cost().risk, cents(60));
    assert_eq!(sums(100, 80, [AN_HOUR, FOR_EVER]).cost().risk, cents(0));
    assert_eq!(sums(100, 120, [FOR_EVER; 2]).gain(), cents(0));
    // Half an hour of work, moved or lost.
    let work = |lives| Arithmetic { lost_work: Some(0.5), ..sums(100, 80, lives) }.cost();
    assert_eq!(
        (work([FOR_EVER; 2]).work, work([FOR_EVER, AN_HOUR]).risk),
        (cents(150), cents(150))
    );
}

#[test]
fn a_move_saves_enough_and_pays_twice() {
    let rule = Rebalance::default();
    let worth = |seen, price, then, lives| is_worth_it(&rule, seen, &sums(price, then, lives));
    assert!(worth(false, 100, 80, [FOR_EVER; 2]));
    assert!(worth(false, 100, 85, [FOR_EVER; 2]));
    assert!(!worth(false, 100, 86, [FOR_EVER; 2]), "14% are too little");
    assert!(worth(true, 100, 86, [FOR_EVER; 2]), "not if it was more before");
    assert!(!worth(true, 100, 91, [FOR_EVER; 2]));
    assert!(!worth(false, 100, 80, [FOR_EVER, AN_HOUR]), "it would not live to pay");
}
