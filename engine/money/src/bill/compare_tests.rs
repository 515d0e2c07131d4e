use super::*;
use crate::entry::Entry;
use crate::ledger::Ledger;
use fleet_model::{Event, Timestamp};

const HOUR: i64 = 3_600_000;
const HEAD: &str = "ResourceId,ChargePeriodStart,ChargePeriodEnd,EffectiveCost,ConsumedQuantity,ConsumedUnit,ProviderName,Tags\n";

fn at(hour: i64) -> Timestamp {
    Timestamp::from_second(1_767_225_600 + hour * 3600).expect("a time")
}

fn ms(hour: i64) -> i64 {
    at(hour).as_millisecond()
}

fn event(json: &str) -> Entry {
    Entry::from(&serde_json::from_str::<Event>(json).unwrap_or_else(|bad| panic!("{bad}: {json}")))
}

/// A machine of a cloud that ran, at a dollar an hour.
fn life(cloud: &str, slot: &str, hours: std::ops::Range<i64>) -> Vec<(i64, Entry)> {
    let place = match cloud {
        "aws" => "aws/us-east-1/us-east-1a/m7i.2xlarge/on-demand",
        _ => "gcp/us-central1/us-central1-a/n2-standard-8/on-demand",
    };
    let launched = format!(
        r#"{{"event":"createIntended","create":{{"pool":"{place}","slots":["{slot}.1"],"token":"t-{slot}",
            "price":1000000,"maxPrice":null,"template":"00000000000000000000000000000000"}}}}"#
    );
    let runs = format!(
        r#"{{"event":"created","token":"t-{slot}","machines":[{{"slot":"{slot}.1","machine":"i-{slot}",
            "launchedAt":"{}","price":1000000}}],"missing":[],"surplus":[]}}"#,
        at(hours.start)
    );
    let gone = format!(
        r#"{{"event":"vacated","gone":[{{"slot":"{slot}","machine":"i-{slot}","how":"ended","at":"{}"}}]}}"#,
        at(hours.end)
    );
    vec![(hours.start, event(&launched)), (hours.start, event(&runs)), (hours.end, event(&gone))]
}

/// Rows of the same machine on a bill.
fn rows(provider: &str, slot: &str, hours: std::ops::Range<i64>) -> String {
    let row = |hour| {
        let (from, to) = (at(hour), at(hour + 1));
        format!("i-{slot},{from},{to},1,1,Hours,{provider},\"{{\"\"fleet\"\":\"\"web\"\"}}\"\n")
    };
    hours.map(row).collect()
}

struct Compared {
    window: Window,
    found: Comparison,
}

/// A bill beside a journal, from an hour on until another, at hour 100.
fn compared(bill: &str, mut journal: Vec<(i64, Entry)>, from: i64, to: i64) -> Compared {
    let bill = Bill::read(format!("{HEAD}{bill}").as_bytes()).expect("a bill");
    let window = bill.window(from, to, ms(100));
    let mut machines = Machines::new(&bill, window);
    machines.of_fleet("web");
    let mut ledger = Ledger::default();
    journal.sort_by_key(|(hour, _)| *hour);
    for (hour, entry) in journal {
        ledger.take(entry, at(hour), &mut machines);
    }
    ledger.accrued(at(100), &mut machines);
    Compared { window, found: compare(&bill, &machines, NanoUsd(10_000_000)) }
}

#[test]
fn what_is_outside_the_window_is_on_neither_side() {
    let bill = rows("AWS", "base-1", 0..10) + &rows("AWS", "base-2", 20..30);
    let journal = || [life("aws", "base-1", 0..10), life("aws", "base-2", 20..30)].concat();
    let check = |from: i64, to: i64, agree: u64, dollars: f64| {
        let Compared { found, .. } = compared(&bill, journal(), from, to);
        assert!(!found.differs(), "{from} {to} {found:#?}");
        assert_eq!((found.agree, found.billed.as_f64()), (agree, dollars), "{from} {to}");
        assert_eq!(found.of_others, 0);
    };
    check(i64::MIN, ms(100), 2, 20.0);
    check(i64::MIN, ms(15), 1, 10.0);
    check(ms(15), ms(100), 1, 10.0);
    check(ms(5), ms(25), 2, 10.0);
    check(ms(12), ms(18), 0, 0.0);
    check(ms(40), ms(100), 0, 0.0);
    // An hour that the window cuts is left out.
    check(ms(5) + HOUR / 2, ms(8) + HOUR / 2, 1, 2.0);
    // A machine that no journal knows counts where it is.
    let strange = bill.clone() + &rows("AWS", "base-9", 0..10);
    let one = |from| compared(&strange, journal(), from, ms(100)).found.only_billed;
    assert_eq!(one(ms(8))[0].total().cost, NanoUsd(2_000_000_000));
    assert_eq!(one(ms(10)), []);
}

#[test]
fn a_machine_that_is_billed_after_its_end_differs_and_is_known() {
    let bill = rows("AWS", "base-1", 0..10);
    let found = compared(&bill, life("aws", "base-1", 0..5), ms(6), ms(100)).found;
    assert_eq!((found.only_billed.len(), found.differ.len()), (0, 1), "{found:#?}");
    assert_eq!((found.differ[0].what, found.differ[0].ms), (What::Quantity, 0));
}

#[test]
fn a_first_hour_that_began_before_the_bill_counts() {
    let bill = format!("i-base-1,{},{},0.5,0.5,Hours,AWS,\n", "2026-01-01T00:30:00Z", at(1))
        + &rows("AWS", "base-1", 1..3);
    let found = compared(&bill, life("aws", "base-1", 0..3), i64::MIN, ms(100)).found;
    assert_eq!((found.agree, found.billed.as_f64()), (1, 2.5), "{found:#?}");
}

#[test]
fn machines_of_clouds_that_the_bill_is_not_of_are_left_out() {
    let journal = || [life("aws", "base-1", 0..10), life("gcp", "base-2", 0..10)].concat();
    let check = |bill: &str, clouds: &[Cloud], missing: usize| {
        let found = compared(bill, journal(), i64::MIN, ms(100)).found;
        let left_out: Vec<(Cloud, u64)> = found.elsewhere.clone().into_iter().collect();
        let expect: Vec<(Cloud, u64)> = clouds.iter().map(|cloud| (*cloud, 1)).collect();
        assert_eq!((left_out, found.only_recorded.len()), (expect, missing), "{bill}");
    };
    check(&rows("AWS", "base-1", 0..10), &[Cloud::Gcp], 0);
    check(&rows("Amazon Web Services", "base-1", 0..10), &[Cloud::Gcp], 0);
    check(&rows("Google Cloud", "base-2", 0..10), &[Cloud::Aws], 0);
    // A bill of both that lacks one's machine, and one that does not tell whose it is.
    check(&(rows("AWS", "base-1", 0..10) + &rows("Google", "x", 0..10)), &[], 1);
    check(&rows("", "base-1", 0..10), &[], 1);
    check(&rows("Somebody", "x", 0..10), &[Cloud::Aws, Cloud::Gcp], 0);
}

#[test]
fn a_bill_without_machines_lacks_those_of_the_journals() {
    let found = |bill: &str, from: i64| {
        let Compared { window, found } =
            compared(bill, life("aws", "base-1", 0..10), from, ms(100));
        (window.is_empty(), found.only_recorded.len(), found.elsewhere.len())
    };
    let disks = rows("AWS", "x", 0..10).replace("i-x,", ",");
    let others = rows("Google Cloud", "x", 0..10).replace("i-x,", ",");
    assert_eq!(found("", i64::MIN), (false, 1, 0));
    assert_eq!(found(&disks, i64::MIN), (false, 1, 0));
    assert_eq!(found(&disks, ms(50)), (false, 0, 0));
    assert_eq!(found(&others, i64::MIN), (false, 0, 1));
}

/// Disks and addresses have names of their own on a bill: no machine differs because of them, and no machine of the
/// bill is one of them.
#[test]
fn what_comes_beside_machines_is_compared_in_sums() {
    let mut journal = vec![(
        0,
        event(
            r#"{"event":"roundStarted","spec":"00000000000000000000000000000000","create":1,"destroy":0,"hourlyAfter":1,
            "worth":[{"pool":"aws/us-east-1/us-east-1a/m7i.2xlarge/on-demand","unit":"vcpus",
            "extras":{"disk":{"hourly":250000},"address":{"hourly":5000},"egress":{"unknown":"route"}}}]}"#,
        ),
    )];
    journal.extend(life("aws", "burst-0", 0..4));
    let head = "ResourceId,ChargePeriodStart,ChargePeriodEnd,EffectiveCost,ConsumedQuantity,ConsumedUnit,ProviderName,Tags,ServiceCategory,SkuMeter\n";
    let row = |id: &str, hour, cost: &str, tag: &str, what: &str| {
        let (from, to) = (at(hour), at(hour + 1));
        let tags = if tag.is_empty() {
            String::new()
        } else {
            format!("\"{{\"\"fleet\"\":\"\"{tag}\"\"}}\"")
        };
        format!("{id},{from},{to},{cost},1,Hours,AWS,{tags},{what}\n")
    };
    let mut bill = String::from(head);
    for hour in 0..4 {
        bill += &row("i-burst-0", hour, "1", "web", "Compute,BoxUsage");
        bill += &row("vol-1", hour, "0.2", "web", "Storage,EBS Volume");
        // Of somebody else, and of no fleet.
        bill += &row("vol-2", hour, "7", "", "Storage,EBS Volume");
        bill += &row("bucket", hour, "7", "web", "Storage,Object Requests");
        // Under the name of the machine, and not what it costs.
        bill += &row("i-burst-0", hour, "0.5", "web", "Compute,DataTransfer-Out-Bytes");
    }
    let bill = Bill::read(bill.as_bytes()).expect("a bill");
    assert_eq!((bill.rows, bill.machine_rows), (20, 4));
    let check = |from, to, expect: [(CostKind, Option<i128>, u64); 3]| {
        let mut machines = Machines::new(&bill, bill.window(from, to, ms(100)));
        machines.of_fleet("web");
        let mut ledger = Ledger::default();
        for (hour, entry) in journal.clone() {
            ledger.take(entry, at(hour), &mut machines);
        }
        let found = compare(&bill, &machines, NanoUsd(10_000_000));
        assert!(!found.differs() && found.agree == 1, "{found:?}");
        let sums = found.beside.iter();
        let sums = sums.map(|one| (one.kind, one.billed.map(|nano| nano.0), one.spent.micros().0));
        assert_eq!(sums.collect::<Vec<_>>(), expect);
    };
    use CostKind::{Address, Disk, Egress};
    let nano = |micros: i128| Some(micros * 1_000);
    let all =
        [(Disk, nano(800_000), 1_000_000), (Address, None, 20_000), (Egress, nano(2_000_000), 0)];
    check(ms(0), ms(4), all);
    let half =
        [(Disk, nano(400_000), 500_000), (Address, None, 10_000), (Egress, nano(1_000_000), 0)];
    check(ms(0), ms(2), half);
}
