//! What is learned from a pool's history, in small.

use super::*;

fn at(hours: f64) -> Timestamp {
    Timestamp::from_second(1_700_000_000 + (hours * 3600.0) as i64).expect("a moment")
}

/// A pool in which `count` machines run from the start, looked at every quarter of an hour.
fn watched(count: u32, until: f64) -> PoolBelief {
    let mut belief = PoolBelief { as_of: at(0.0), ..PoolBelief::default() };
    for quarter in 0..=(until * 4.0) as i32 {
        alive(&mut belief, at(f64::from(quarter) / 4.0), count);
    }
    belief
}

/// Chance that the first slot is lost within an hour.
fn risk(belief: &PoolBelief, now: f64) -> f64 {
    1.0 - survival(belief, Prior::default(), at(now), 1.0)
}

#[test]
fn the_longer_a_slot_lasts_the_safer_it_is() {
    let risks: Vec<f64> = [1.0, 4.0, 16.0].map(|h| risk(&watched(2, h), h)).to_vec();
    assert!(risks[0] > 1.3 * risks[1] && risks[1] > 1.3 * risks[2], "{risks:?}");
}

#[test]
fn interruptions_make_a_pool_riskier_than_its_calm_twin() {
    let calm = watched(1, 12.0);
    let mut stormy = watched(1, 2.0);
    for hour in 1..=5 {
        let hour = 2.0 * f64::from(hour);
        interrupted(&mut stormy, at(hour), 1, 0);
        alive(&mut stormy, at(hour + 0.25), 1);
        alive(&mut stormy, at(hour + 2.0), 1);
    }
    let risks = (risk(&stormy, 12.0), risk(&calm, 12.0));
    assert!(risks.0 > 2.0 * risks.1, "{risks:?}");
    assert_eq!(evidence(&stormy).interruptions, 5);
}

#[test]
fn a_pool_that_takes_machines_back_at_once_is_frail() {
    let frail = |lives: f64| {
        let mut belief = PoolBelief { as_of: at(0.0), ..PoolBelief::default() };
        for nth in 0..6 {
            let start = 2.0 * f64::from(nth);
            exactly(&mut belief, at(start), 0, 1);
            alive(&mut belief, at(start + 0.1), 1);
            interrupted(&mut belief, at(start + 0.1 + lives), 1, 0);
        }
        frailty(&belief, Prior::default(), at(12.0))
    };
    assert!(frail(0.05) > 1.2 && frail(1.5) < 1.0, "{} {}", frail(0.05), frail(1.5));
}

#[test]
fn the_law_that_foretold_better_counts_more() {
    // Lost at the age of a day: ages had called this slot safe, its rate had not.
    let mut old = watched(1, 24.0);
    let before = mix::weight(&old, 0.0);
    interrupted(&mut old, at(24.0), 1, 0);
    assert!(mix::weight(&old, 0.0) < before, "rates gain");
    // Hours later that is forgotten.
    assert!((mix::weight(&old, 48.0) - 0.5).abs() < 0.01);
    // Lost just after it came up: ages had warned.
    let mut young = PoolBelief { as_of: at(0.0), ..PoolBelief::default() };
    exactly(&mut young, at(0.0), 0, 1);
    alive(&mut young, at(0.1), 1);
    interrupted(&mut young, at(0.15), 1, 0);
    assert!(mix::weight(&young, 0.0) > 0.5, "ages gain");
}

#[test]
fn looking_often_or_once_teaches_about_the_same() {
    let often = watched(3, 6.0);
    let mut once = PoolBelief { as_of: at(0.0), ..PoolBelief::default() };
    alive(&mut once, at(0.0), 3);
    alive(&mut once, at(6.0), 3);
    assert!((risk(&often, 6.0) / risk(&once, 6.0) - 1.0).abs() < 0.15);
    assert_eq!(evidence(&often).machine_hours, 18.0);
    assert_eq!(evidence(&once).to_string(), "0 interruptions in 18.0 machine-hours");
}

#[test]
fn half_of_the_machines_are_gone_at_the_median() {
    for belief in [PoolBelief::default(), watched(1, 1.0), watched(4, 20.0)] {
        let now = belief.as_of.max(at(0.0));
        let median = median_life(&belief, Prior::default(), now);
        let left = survival(&belief, Prior::default(), now, median);
        assert!((left - 0.5).abs() < 1e-3, "{median} h: {left}");
    }
}

#[test]
fn nothing_lasts_longer_with_more_time_and_bursts_end() {
    let mut stormy = watched(1, 2.0);
    for quarter in 9..=16 {
        let hour = f64::from(quarter) / 4.0;
        interrupted(&mut stormy, at(hour), 1, 0);
        alive(&mut stormy, at(hour + 0.1), 1);
    }
    for belief in [PoolBelief::default(), watched(4, 20.0), stormy] {
        let now = belief.as_of.max(at(0.0));
        let left = |hours: f64| survival(&belief, Prior::default(), now, hours);
        let hours: Vec<f64> = (0..200).map(|nth| f64::from(nth) / 5.0).collect();
        assert!(hours.windows(2).all(|pair| left(pair[1]) <= left(pair[0])), "{belief:?}");
    }
    // An hour of a burst is not six of them: the same rate in every hour would leave less.
    // Six interruptions in two hours, and the prior's one in four.
    let burst = Rate::new(1.0, 6.0, 2.0);
    let throughout = |hours: f64| (6.0 / (6.0 + hours)).powi(7);
    assert!((burst.lasts(1.0) - throughout(1.0)).abs() < 1e-12);
    assert!(burst.lasts(6.0) > 1.5 * throughout(6.0), "{}", burst.lasts(6.0));
}

#[test]
fn what_is_foretold_beyond_an_hour_goes_on_from_there() {
    let mut young = PoolBelief { as_of: at(0.0), ..PoolBelief::default() };
    exactly(&mut young, at(0.0), 0, 1);
    alive(&mut young, at(0.1), 1);
    let mut stood = watched(4, 20.0);
    interrupted(&mut stood, at(20.0), 2, 2);
    let priors = [Prior::default(), Prior { frailty: 4.0, shaken: 1.0, ..Prior::default() }];
    for belief in [PoolBelief::default(), young, watched(4, 48.0), stood] {
        for (prior, ahead) in priors.into_iter().flat_map(|prior| [(prior, 0.0), (prior, 1.5)]) {
            let now =
                at(hours(belief.as_of.max(at(0.0)).as_second() - at(0.0).as_second()) + ahead);
            let left = |hours: f64| survival(&belief, prior, now, hours);
            assert!((left(1.0 + 1e-9) - left(1.0)).abs() < 1e-6, "{belief:?}");
            let hours: Vec<f64> = (1..=480).map(|nth| f64::from(nth) / 10.0).collect();
            assert!(hours.windows(2).all(|pair| left(pair[1]) < left(pair[0])), "{belief:?}");
        }
    }
}

/// Two days old, a slot is safer than a usual one also later, but not by as much as in the next hour.
#[test]
fn an_age_tells_less_of_later_hours() {
    let (old, usual) = (watched(1, 48.0), PoolBelief::default());
    let lost = |belief: &PoolBelief, from: f64, to: f64| {
        let left = |hours| survival(belief, Prior::default(), at(48.0), hours);
        (left(from) / left(to)).ln()
    };
    let ratio = |from, to| lost(&usual, from, to) / lost(&old, from, to);
    assert!(ratio(0.0, 1.0) > ratio(1.0, 6.0) && ratio(1.0, 6.0) > 1.0);
}

#[test]
fn what_a_pool_is_shaken_by_counts_for_the_next_hours_and_fades() {
    let belief = PoolBelief::default();
    let (calm, now) = (Prior::default(), at(0.0));
    let shaken = Prior { shaken: 1.0, ..calm };
    let ratio = |hours: f64| {
        let hazard = |prior| -survival(&belief, prior, now, hours).ln();
        hazard(shaken) / hazard(calm)
    };
    assert!(ratio(0.01) > 1.7, "{}", ratio(0.01));
    let ratios = [0.01, 1.0, 6.0, 24.0].map(ratio);
    assert!(ratios.windows(2).all(|two| two[0] > two[1]) && ratios[3] > 1.0, "{ratios:?}");
    assert!(ratio(24.0) < 1.1, "{ratios:?}");
}
