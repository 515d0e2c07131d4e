use super::*;
use fleet_model::{Extra, ExtrasStep, Group};

const MIN: i64 = 60_000;
const HOUR: i64 = 60 * MIN;
const T0: i64 = 1_767_225_600_000;
const DISK: MicroUsd = MicroUsd(200_000);
const ADDRESS: MicroUsd = MicroUsd(5_000);

fn at(ms: i64) -> Timestamp {
    stamp(T0 + ms)
}

fn slot() -> SlotId {
    SlotId { name: SlotName { group: Group::Burst, ordinal: 0 }, generation: 1 }
}

fn known(egress: Extra) -> Option<Extras> {
    Some(Extras { disk: Extra::About(DISK), address: Extra::Hourly(ADDRESS), egress })
}

fn start(pool: &str, extras: Option<Extras>) -> (Meter, NewMachine) {
    let pool: PoolId = pool.parse().expect("a pool");
    let new = NewMachine {
        slot: slot(),
        machine: "m".into(),
        launched_at: at(0),
        price: Some(MicroUsd(1)),
        pool: None,
    };
    let mut meter = Meter::default();
    launched(
        &mut meter,
        &new,
        Launch { pool: &pool, image: None, labels: 0, worth: None, extras },
        None,
    );
    (meter, new)
}

type Got = (CostKind, i64, i64, Option<MicroUsd>, bool);

fn told(got: &mut Vec<Got>) -> impl FnMut(Charge<'_>) {
    |charge| {
        if !charge.is_machine() {
            let amount = charge.amount().map(Spend::micros);
            got.push((charge.kind, charge.from - T0, charge.to - T0, amount, charge.estimated));
        }
    }
}

fn end(meter: &mut Meter, new: &NewMachine, ends: [Option<i64>; 2], noticed: i64) -> Vec<Got> {
    let gone_as = Vacated {
        slot: new.slot.name,
        machine: new.machine.clone(),
        how: Departure::Interrupted,
        started: None,
        at: ends[0].map(at),
        deleted: ends[1].map(at),
    };
    let mut got = Vec::new();
    gone(meter, &gone_as, at(noticed), &mut told(&mut got));
    got
}

const AWS: &str = "aws/r/z/t.large/spot";
const AZURE: &str = "azure/r/z/t/spot";

#[test]
fn a_disk_is_paid_for_until_it_is_deleted_also_where_the_machine_is_free() {
    use CostKind::{Address, Disk};
    // Taken back within the first hour: the machine is free, and what came with it is not.
    let (mut meter, new) = start(AWS, known(Extra::default()));
    let got = end(&mut meter, &new, [Some(30 * MIN), Some(36 * MIN)], HOUR);
    let expect = [
        (Disk, 0, 36 * MIN, Some(MicroUsd(120_000)), false),
        (Address, 0, 30 * MIN, Some(MicroUsd(2_500)), false),
    ];
    assert_eq!(got, expect);
    // A minute at the least; on Azure the started hour, and until it was noticed where nobody tells.
    let (mut meter, new) = start(AWS, known(Extra::default()));
    let got = end(&mut meter, &new, [Some(1), Some(1)], HOUR);
    assert!(got.iter().all(|one| one.2 == MIN), "{got:?}");
    let (mut meter, new) = start(AZURE, known(Extra::default()));
    asked(&mut meter, &[slot()], Some(at(MIN)));
    let got = end(&mut meter, &new, [None, None], HOUR + MIN);
    assert_eq!(got[0], (Disk, 0, 2 * HOUR, Some(MicroUsd(400_000)), true));
    assert_eq!((got[1].2, got[1].4), (MIN, false));
}

#[test]
fn what_was_not_written_down_is_not_known_until_it_is() {
    let (mut meter, new) = start(AWS, None);
    let mut got = Vec::new();
    let steps =
        [ExtrasStep { slots: vec![slot()], extras: known(Extra::default()).expect("some") }];
    extras_changed(&mut meter, &steps, at(HOUR), &mut told(&mut got));
    let unknown = got.iter().map(|one| (one.1, one.2, one.3)).collect::<Vec<_>>();
    assert_eq!(unknown, [(0, HOUR, None); 3]);
    let mut because = Vec::new();
    accrued(&meter, at(2 * HOUR), &mut |charge: Charge<'_>| {
        because.push((charge.kind, charge.hourly))
    });
    assert_eq!(because[1..], [(CostKind::Disk, Some(DISK)), (CostKind::Address, Some(ADDRESS))]);
    let got = end(&mut meter, &new, [Some(3 * HOUR); 2], 3 * HOUR);
    assert_eq!((got[0].1, got[0].2), (HOUR, 3 * HOUR), "only from there on: {got:?}");
}

#[test]
fn traffic_is_shared_out_anew_and_what_comes_back_was_there_all_the_time() {
    let (mut meter, new) = start(AWS, known(Extra::Hourly(MicroUsd(1_000))));
    let extras = known(Extra::Hourly(MicroUsd(3_000))).expect("some");
    let mut got = Vec::new();
    let steps = [ExtrasStep { slots: vec![slot()], extras }];
    extras_changed(&mut meter, &steps, at(HOUR), &mut told(&mut got));
    let vanished = end(&mut meter, &new, [None, None], 2 * HOUR);
    got.extend(vanished);
    returned(&mut meter, &new);
    accrued(&meter, at(4 * HOUR), &mut told(&mut got));
    let sum =
        |kind| got.iter().filter(|one| one.0 == kind).filter_map(|one| one.3).sum::<MicroUsd>();
    assert_eq!(sum(CostKind::Egress), MicroUsd(1_000 + 3 * 3_000));
    assert_eq!(sum(CostKind::Disk), DISK * 4);
    assert_eq!(sum(CostKind::Address), ADDRESS * 4);
    // Of another filling of the slot it says nothing.
    let other = ExtrasStep { slots: vec![SlotId { generation: 2, ..slot() }], extras };
    let mut none = Vec::new();
    extras_changed(&mut meter, &[other], at(5 * HOUR), &mut told(&mut none));
    assert!(none.is_empty());
}

#[test]
fn a_disk_that_outlived_its_machine_is_paid_once_if_the_machine_comes_back() {
    for (pool, counted) in [(AWS, 60), (AZURE, 60)] {
        let (mut meter, new) = start(pool, known(Extra::default()));
        // Its end is told; of its disk nobody says anything until nothing of it is seen any more.
        let mut got = end(&mut meter, &new, [Some(30 * MIN), None], counted * MIN);
        returned(&mut meter, &new);
        accrued(&meter, at(2 * HOUR), &mut told(&mut got));
        let of = |kind| -> Vec<(i64, i64)> {
            let of = got.iter().filter(|one| one.0 == kind);
            of.map(|one| (one.1 / MIN, one.2 / MIN)).collect()
        };
        assert_eq!(of(CostKind::Disk), [(0, counted), (counted, 120)]);
        assert_eq!(of(CostKind::Address), [(0, 30), (30, 120)]);
    }
}

#[test]
fn the_first_hour_keeps_the_labels_that_it_had() {
    let (mut meter, _) = start(AWS, known(Extra::default()));
    relabelled(&mut meter, &[slot()], 1, at(30 * MIN));
    let mut got = Vec::new();
    settle(&mut meter, at(50 * HOUR), &mut |charge: Charge<'_>| {
        if charge.kind == CostKind::Disk {
            got.push((charge.labels, (charge.from - T0) / MIN, (charge.to - T0) / MIN));
        }
    });
    assert_eq!(got, [(0, 0, 30), (1, 30, 50 * 60)]);
}

#[test]
fn what_is_settled_is_not_counted_twice() {
    let (mut meter, new) = start(AWS, known(Extra::default()));
    let mut got = Vec::new();
    settle(&mut meter, at(50 * HOUR), &mut told(&mut got));
    got.extend(end(&mut meter, &new, [Some(100 * HOUR); 2], 100 * HOUR));
    let disks: Vec<(i64, i64)> =
        got.iter().filter(|one| one.0 == CostKind::Disk).map(|one| (one.1, one.2)).collect();
    assert_eq!(disks, [(0, 50 * HOUR), (50 * HOUR, 100 * HOUR)]);
}
