use super::*;
use fleet_model::{Cloud, FleetName, Unit, digest};

fn at(text: &str) -> Timestamp {
    text.parse().expect("a moment")
}

fn goal(target: u64) -> CapacityGoal {
    let target = Units::whole(target);
    CapacityGoal { unit: Unit::Instances, target, on_demand: Units(0), spot: target }
}

fn entry(cron: &str, time_zone: &str, target: u64) -> ScheduleEntry {
    let cron = cron.parse().expect("a cron");
    ScheduleEntry { cron, time_zone: time_zone.into(), goal: goal(target) }
}

fn last(entry: &ScheduleEntry, now: Timestamp) -> Option<Timestamp> {
    fires::last(&entry.cron, &entry.time_zone, now)
}

fn next(entry: &ScheduleEntry, now: Timestamp) -> Option<Timestamp> {
    fires::next(&entry.cron, &entry.time_zone, now)
}

fn fleet(schedule: Vec<ScheduleEntry>) -> Desired {
    let nothing = Desired::nothing(FleetName::new("f"), [Cloud::Aws], digest("x", []));
    Desired { capacity: goal(5), schedule, ..nothing }
}

fn office() -> Desired {
    let zone = "Europe/Berlin";
    fleet(vec![entry("0 8 * * mon-fri", zone, 20), entry("0 20 * * mon-fri", zone, 2)])
}

#[test]
fn the_entry_that_came_last_holds() {
    let office = office();
    let target = |now: &str| in_force(&office, at(now)).capacity.target.0 / 1000;
    // Wednesday, in winter: one hour ahead of UTC.
    assert_eq!(target("2026-01-14T06:59:59Z"), 2);
    assert_eq!(target("2026-01-14T07:00:00Z"), 20);
    assert_eq!(target("2026-01-14T18:59:59Z"), 20);
    assert_eq!(target("2026-01-14T19:00:00Z"), 2);
    // On Sunday, Friday evening holds still.
    assert_eq!(target("2026-01-18T12:00:00Z"), 2);
    // In summer, two hours ahead.
    assert_eq!(target("2026-07-15T05:59:59Z"), 2);
    assert_eq!(target("2026-07-15T06:00:00Z"), 20);
}

#[test]
fn before_the_first_entry_the_spec_holds_and_ties_go_to_the_later() {
    let leap = fleet(vec![entry("0 0 29 2 *", "UTC", 9)]);
    assert_eq!(in_force(&leap, at("2027-06-01T00:00:00Z")).capacity, goal(9));
    let twice = fleet(vec![entry("0 8 * * *", "UTC", 1), entry("0 8 * * *", "UTC", 2)]);
    assert_eq!(in_force(&twice, at("2026-01-14T08:00:00Z")).capacity, goal(2));
    assert_eq!(in_force(&fleet(Vec::new()), at("2026-01-14T08:00:00Z")).capacity, goal(5));
}

#[test]
fn clocks_that_go_forward_and_back() {
    let zone = "Europe/Berlin";
    let skipped = entry("30 2 * * *", zone, 1);
    // 29 March 2026: 02:00 becomes 03:00. What the clocks skip comes an hour later by the clock, which is
    // when it would have come.
    assert_eq!(next(&skipped, at("2026-03-28T12:00:00Z")), Some(at("2026-03-29T01:30:00Z")));
    assert_eq!(last(&skipped, at("2026-03-29T01:29:59Z")), Some(at("2026-03-28T01:30:00Z")));
    assert_eq!(last(&skipped, at("2026-03-29T01:30:00Z")), Some(at("2026-03-29T01:30:00Z")));
    assert_eq!(next(&skipped, at("2026-03-29T01:30:00Z")), Some(at("2026-03-30T00:30:00Z")));
    // 25 October 2026: 03:00 becomes 02:00. What comes twice by the clock comes the first time.
    assert_eq!(next(&skipped, at("2026-10-24T12:00:00Z")), Some(at("2026-10-25T00:30:00Z")));
    assert_eq!(next(&skipped, at("2026-10-25T00:30:00Z")), Some(at("2026-10-26T01:30:00Z")));
    assert_eq!(last(&skipped, at("2026-10-25T01:45:00Z")), Some(at("2026-10-25T00:30:00Z")));
    // A day without midnight: Cairo, 24 April 2026, goes from 00:00 to 01:00.
    let midnight = entry("0 0 * * *", "Africa/Cairo", 1);
    assert_eq!(next(&midnight, at("2026-04-23T12:00:00Z")), Some(at("2026-04-23T22:00:00Z")));
    assert_eq!(last(&midnight, at("2026-04-23T22:00:00Z")), Some(at("2026-04-23T22:00:00Z")));
}

/// Every minute of two days around both changes: the target is that of the last entry before it, found by
/// counting up.
#[test]
fn looking_back_and_looking_ahead_agree() {
    for zone in ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "UTC"] {
        for start in ["2026-03-07T00:00:00Z", "2026-03-28T00:00:00Z", "2026-10-03T00:00:00Z"] {
            let one = entry("*/20 0-4 * * *", zone, 1);
            let mut came = None;
            for minute in 0..2 * 1440 {
                let now = at(start) + jiff::SignedDuration::from_mins(minute);
                let found = last(&one, now);
                assert!(found <= Some(now));
                if let Some(before) = came.filter(|before| Some(*before) != found) {
                    assert_eq!(next(&one, before), found, "{zone} {now}");
                }
                came = found;
            }
        }
    }
}

fn told(fleet: &Desired, now: Timestamp) -> Vec<Notice> {
    notices(&in_force(fleet, now), now)
}

#[test]
fn what_comes_next_is_told_and_what_changes_nothing_is_not() {
    let scheduled = |target: u64, since: &str, next| {
        let (target, unit) = (Units::whole(target), Unit::Instances);
        vec![Notice::Scheduled { target, unit, since: at(since), next }]
    };
    let monday = (at("2026-01-19T07:00:00Z"), Units::whole(20));
    assert_eq!(
        told(&office(), at("2026-01-16T20:00:00Z")),
        scheduled(2, "2026-01-16T19:00:00Z", Some(monday))
    );
    let steady = fleet(vec![entry("* * * * *", "UTC", 7)]);
    let now = "2026-01-14T08:00:00Z";
    assert_eq!(told(&steady, at(now)), scheduled(7, now, None));
    assert_eq!(told(&fleet(Vec::new()), at(now)), []);
}

#[test]
fn a_fleet_ends_by_itself() {
    let end = at("2026-01-14T08:00:00Z");
    let fleet = Desired { expires: Some(end), ..office() };
    let before = end - jiff::SignedDuration::from_secs(1);
    assert_eq!(in_force(&fleet, before).capacity, goal(20));
    assert_eq!(in_force(&fleet, end).capacity.target, Units(0));
    assert_eq!(in_force(&fleet, end).max_destroy, Share::ALL);
    let strict = Desired { max_destroy: Share::from_percent(20.0).expect("a share"), ..fleet };
    assert_eq!(in_force(&strict, end).max_destroy, strict.max_destroy, "a policy holds");
    let ends = |over| Notice::Expires { at: end, over };
    assert_eq!(told(&strict, end), [ends(true)]);
    let soon = told(&strict, before);
    assert!(
        matches!(&soon[..], [Notice::Scheduled { next: None, .. }, last] if *last == ends(false))
    );
    let early = told(&strict, end - jiff::SignedDuration::from_hours(25));
    assert!(matches!(&early[..], [Notice::Scheduled { next: Some(_), .. }]), "{early:?}");
}
