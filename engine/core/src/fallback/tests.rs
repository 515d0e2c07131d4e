//! The clockwork of the way back.

use super::stand::{last_beyond, wait};
use fleet_model::{Fallback, MoveWhy, Moved, SpotRecord, Times, Timestamp};

fn at(minutes: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + minutes * 60).expect("a time")
}

fn times(minutes: &[i64]) -> Vec<Times> {
    minutes.iter().map(|minute| Times { at: at(*minute), count: 1 }).collect()
}

fn back(minutes: &[i64]) -> SpotRecord {
    let moved = |minute: &i64| Moved { at: at(*minute), machines: 1, why: MoveWhy::BackToSpot };
    SpotRecord { moves: minutes.iter().map(moved).collect(), ..SpotRecord::default() }
}

fn minutes(rule: &Fallback, record: &SpotRecord, lost: &[i64], tolerated: u32) -> u64 {
    wait(rule, record, &times(lost), tolerated).as_secs() / 60
}

#[test]
fn the_wait_doubles_after_each_return_that_failed() {
    let rule = Fallback::default();
    let check = |steps: &[i64], lost: &[i64], expect: u64| {
        assert_eq!(minutes(&rule, &back(steps), lost, 0), expect, "{steps:?} {lost:?}");
    };
    check(&[], &[0, 1, 2], 30);
    check(&[0], &[31], 30);
    check(&[0], &[-1], 30);
    check(&[0], &[0], 60);
    check(&[0], &[30], 60);
    // One trouble strikes the steps before it together.
    check(&[0, 3, 6, 9], &[12], 60);
    check(&[0, 60], &[10, 70], 120);
    check(&[0, 60, 120, 180, 240, 300], &[1, 61, 121, 181, 241, 301], 480);
}

#[test]
fn the_wait_has_a_bound_and_a_refusal_counts() {
    let rule = Fallback { return_after_seconds: 12 * 3600, ..Fallback::default() };
    assert_eq!(minutes(&rule, &back(&[0, 60, 120]), &[1, 61, 121], 0), 24 * 60);
    let refused = SpotRecord { refused: times(&[5]), ..back(&[0]) };
    assert_eq!(minutes(&Fallback::default(), &refused, &[], 0), 60);
}

#[test]
fn a_large_fleet_loses_some_and_spot_holds_all_the_same() {
    assert_eq!(last_beyond(&times(&[1, 5]), &times(&[3]), 0), Some(at(5)));
    assert_eq!(last_beyond(&times(&[1, 5]), &times(&[3]), 2), Some(at(1)));
    assert_eq!(last_beyond(&times(&[1, 5]), &times(&[3]), 3), None);
    assert_eq!(minutes(&Fallback::default(), &back(&[0]), &[1, 2], 2), 30);
    assert_eq!(minutes(&Fallback::default(), &back(&[0]), &[1, 2, 3], 2), 60);
}
