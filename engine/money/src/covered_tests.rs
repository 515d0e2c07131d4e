use super::*;
use crate::Spend;
use crate::calendar::Calendar;
use crate::entry::Entry;
use crate::ledger::Ledger;
use crate::report::{Question, Saved, Tally};
use fleet_model::Event;

const HOUR: u128 = 3_600_000;

fn at(hour: u32) -> Timestamp {
    format!("2026-01-{:02}T{:02}:00:00Z", 1 + hour / 24, hour % 24).parse().expect("a time")
}

fn event(json: &str) -> Entry {
    Entry::from(&serde_json::from_str::<Event>(json).unwrap_or_else(|bad| panic!("{bad}: {json}")))
}

fn bought(list: &str) -> Entry {
    event(&format!(r#"{{"event":"priced","prices":[],"commitments":[{list}]}}"#))
}

fn launch(hour: u32, slot: &str, pool: &str, price: u64) -> [Entry; 3] {
    [
        event(&format!(
            r#"{{"event":"roundStarted","spec":"00000000000000000000000000000000","create":1,"destroy":0,
               "hourlyAfter":0,"worth":[{{"pool":"{pool}","onDemand":{price},"units":1000,"unit":"gpus"}}]}}"#
        )),
        event(&format!(
            r#"{{"event":"createIntended","create":{{"pool":"{pool}","slots":["{slot}.1"],"token":"t-{slot}",
               "price":{price},"maxPrice":null,"template":"00000000000000000000000000000000"}}}}"#
        )),
        event(&format!(
            r#"{{"event":"created","token":"t-{slot}","machines":[{{"slot":"{slot}.1","machine":"i-{slot}",
               "launchedAt":"{}","price":{price}}}],"missing":[],"surplus":[]}}"#,
            at(hour)
        )),
    ]
}

fn gone(hour: u32, slot: &str) -> Entry {
    event(&format!(
        r#"{{"event":"vacated","gone":[{{"slot":"{slot}","machine":"i-{slot}","how":"ended","at":"{}"}}]}}"#,
        at(hour)
    ))
}

fn tally(entries: Vec<(u32, Vec<Entry>)>, from: i64, to: i64, now: u32) -> Tally {
    let by = vec!["fleet".parse().expect("a group")];
    let question = Question { by, from, to, calendar: Calendar::utc() };
    let mut tally = Tally::new(question);
    tally.of_fleet("f");
    let mut ledger = Ledger::default();
    for (hour, entries) in entries {
        for entry in entries {
            ledger.take(entry, at(hour), &mut tally);
        }
    }
    ledger.accrued(at(now), &mut tally);
    tally
}

const POOL: &str = "gcp/us/a/t8/on-demand";
const ONE: &str = r#"{"cloud":"gcp","region":"us","instanceType":"t8","count":1,"hourly":600000}"#;

/// Two machines at 1.00 and 2.00 an hour; one is bought ahead at 0.60 from the second hour to the tenth.
fn story() -> Vec<(u32, Vec<Entry>)> {
    let until = ONE.replace("\"count\"", &format!("\"until\":\"{}\",\"count\"", at(10)));
    vec![
        (0, launch(0, "base-0", POOL, 1_000_000).into()),
        (2, vec![bought(&until)]),
        (3, launch(3, "base-1", POOL, 2_000_000).into()),
        (3, launch(3, "base-2", "gcp/eu/a/t8/on-demand", 5_000_000).into()),
        (3, launch(3, "burst-0", "gcp/us/a/t8/spot", 300_000).into()),
        (5, vec![gone(5, "base-1")]),
        (6, vec![gone(6, "base-0")]),
        (6, vec![gone(6, "base-2")]),
        (6, vec![gone(6, "burst-0")]),
    ]
}

#[test]
fn the_dearest_machine_is_covered_at_every_moment() {
    let tally = tally(story(), i64::MIN, i64::MAX, 12);
    let (lines, total) = tally.sorted();
    assert_eq!(lines.len(), 1);
    // base-0 pays for hours 0, 1, 3 and 4; base-1 for none; the other region and spot for all of theirs.
    assert_eq!(total.spent.micros(), MicroUsd(4_000_000 + 15_000_000 + 900_000));
    assert_eq!(total.ms, (6 + 2 + 3 + 3) * HOUR);
    // base-0 in hours 2 and 5, base-1 in hours 3 and 4.
    assert_eq!(total.covered_ms, 4 * HOUR);
    assert_eq!(total.covered.micros(), MicroUsd(2_000_000 + 4_000_000));
    let (bought, used) = tally.commitments.first_key_value().expect("a commitment");
    assert_eq!((bought.region.as_str(), bought.instance_type.as_str()), ("us", "t8"));
    assert_eq!((used.held_ms, used.used_ms), (8 * HOUR, 4 * HOUR));
    assert_eq!(used.worth.micros(), MicroUsd(6_000_000));
    assert_eq!(
        (used.paid.micros(), used.idle.micros()),
        (MicroUsd(4_800_000), MicroUsd(2_400_000))
    );
    assert_eq!(used.saved(), Some(Saved::Less(Spend::of(MicroUsd(1_200_000), 3_600_000))));
}

#[test]
fn parts_of_the_time_add_up_to_the_whole() {
    let whole = tally(story(), i64::MIN, i64::MAX, 12);
    for cut in [1, 2, 3, 4, 7, 11] {
        let cut = at(cut).as_millisecond() + 1_234_567;
        let mut parts = tally(story(), i64::MIN, cut, 12);
        parts.merge(tally(story(), cut, i64::MAX, 12));
        assert_eq!(parts.sorted().1, whole.sorted().1);
        assert_eq!(parts.commitments, whole.commitments);
    }
}

#[test]
fn what_a_commitment_costs_is_not_made_up() {
    let unpriced = ONE.replace(",\"hourly\":600000", "");
    let entries = vec![
        (0, vec![bought(&format!("{ONE},{unpriced}"))]),
        (1, launch(1, "base-0", POOL, 1_000_000).into()),
        // From here on nothing is bought ahead.
        (4, vec![bought("")]),
    ];
    let tally = tally(entries, i64::MIN, i64::MAX, 6);
    let total = tally.sorted().1;
    assert_eq!((total.covered_ms, total.spent.micros()), (3 * HOUR, MicroUsd(2_000_000)));
    let used = tally.commitments.values().next().expect("a commitment");
    assert_eq!((used.held_ms, used.used_ms, used.unpriced_ms), (8 * HOUR, 3 * HOUR, 4 * HOUR));
    assert_eq!((used.paid.micros(), used.idle.micros()), (MicroUsd(2_400_000), MicroUsd(600_000)));
    assert_eq!(used.saved(), None);
}

#[test]
fn a_commitment_that_is_never_used_costs_what_it_costs() {
    let tally = tally(vec![(0, vec![bought(ONE)])], i64::MIN, i64::MAX, 5);
    let used = tally.commitments.values().next().expect("a commitment");
    assert_eq!((used.held_ms, used.used_ms), (5 * HOUR, 0));
    assert_eq!(used.saved(), Some(Saved::More(Spend::of(MicroUsd(3_000_000), 3_600_000))));
}
