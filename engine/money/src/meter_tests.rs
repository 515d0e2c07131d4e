use super::*;
use fleet_model::Group;

const MIN: i64 = 60_000;
const HOUR: i64 = 60 * MIN;
/// Where the tests begin: 2026-01-01.
const T0: i64 = 1_767_225_600_000;
const DOLLAR: MicroUsd = MicroUsd(1_000_000);

fn at(ms: i64) -> Timestamp {
    stamp(T0 + ms)
}

fn slot(ordinal: u32) -> SlotId {
    SlotId { name: SlotName { group: Group::Burst, ordinal }, generation: 1 }
}

fn pool(text: &str) -> PoolId {
    text.parse().expect("a pool")
}

fn start(meter: &mut Meter, pool: &PoolId, ordinal: u32, price: Option<MicroUsd>) -> NewMachine {
    let new = NewMachine {
        slot: slot(ordinal),
        machine: format!("m-{ordinal}").as_str().into(),
        launched_at: at(0),
        price,
        pool: None,
    };
    launched(
        meter,
        &new,
        Launch { pool, image: None, labels: 0, worth: None, extras: Some(Extras::default()) },
        None,
    );
    new
}

fn vacated(new: &NewMachine, how: Departure, ended: Option<i64>) -> Vacated {
    let (slot, machine) = (new.slot.name, new.machine.clone());
    Vacated { slot, machine, how, started: None, at: ended.map(at), deleted: ended.map(at) }
}

type Got = (i64, i64, Option<MicroUsd>, bool, bool);

fn end(meter: &mut Meter, gone_as: &Vacated, noticed: i64) -> Vec<Got> {
    let mut got = Vec::new();
    gone(meter, gone_as, at(noticed), &mut |charge: Charge<'_>| {
        let amount = charge.amount().map(Spend::micros);
        got.push((charge.from - T0, charge.to - T0, amount, charge.waived, charge.estimated));
    });
    got
}

const AWS_SPOT: &str = "aws/r/z/t.large/spot";

#[test]
fn the_market_is_followed_and_the_first_hour_may_be_free() {
    let pool = pool(AWS_SPOT);
    let mut meter = Meter::default();
    let new = start(&mut meter, &pool, 0, Some(DOLLAR));
    let step = |ms: i64, price: u64| PriceStep {
        pool: pool.clone(),
        since: at(ms),
        price: MicroUsd(price),
    };
    priced(&mut meter, &[step(HOUR, 2_000_000), step(3 * HOUR, 4_000_000)]);
    let again = meter.clone();
    let got = end(&mut meter, &vacated(&new, Departure::Interrupted, Some(2 * HOUR)), 5 * HOUR);
    assert_eq!(
        got,
        [
            (0, HOUR, Some(DOLLAR), false, false),
            (HOUR, 2 * HOUR, Some(MicroUsd(2_000_000)), false, false)
        ]
    );
    let mut meter = again;
    let got = end(&mut meter, &vacated(&new, Departure::Interrupted, Some(HOUR - 1)), 5 * HOUR);
    assert_eq!(got, [(0, HOUR - 1, Some(MicroUsd(0)), true, false)]);
}

#[test]
fn an_end_that_nobody_told_is_an_estimate() {
    let mut meter = Meter::default();
    let new = start(&mut meter, &pool("azure/r/z/t/on-demand"), 0, Some(DOLLAR));
    let asked_for = meter.clone();
    let got = end(&mut meter, &vacated(&new, Departure::Vanished, None), 2 * HOUR);
    assert_eq!(got, [(0, 2 * HOUR, Some(MicroUsd(2_000_000)), false, true)]);
    let mut meter = asked_for;
    asked(&mut meter, &[slot(0)], Some(at(HOUR)));
    let got = end(&mut meter, &vacated(&new, Departure::Ended, None), 2 * HOUR);
    assert_eq!(got, [(0, HOUR, Some(DOLLAR), false, false)]);
}

#[test]
fn no_price_is_not_nothing() {
    let mut meter = Meter::default();
    let new = start(&mut meter, &pool("lambda/r/z/t/on-demand"), 0, None);
    let got = end(&mut meter, &vacated(&new, Departure::Ended, Some(HOUR)), HOUR);
    assert_eq!(got, [(0, HOUR, None, false, false)]);
}

#[test]
fn what_is_settled_and_what_comes_later_add_up() {
    let pool = pool(AWS_SPOT);
    let mut meter = Meter::default();
    let new = start(&mut meter, &pool, 0, Some(MicroUsd(1_000_003)));
    let steps: Vec<PriceStep> = (1..200)
        .map(|half| PriceStep {
            pool: pool.clone(),
            since: at(half * HOUR / 2 + half),
            price: MicroUsd(900_000 + half as u64 * 777),
        })
        .collect();
    priced(&mut meter, &steps);
    let total = |meter: &mut Meter, settled: &[i64]| {
        let mut sum = Spend::default();
        let mut add = |charge: Charge<'_>| sum += charge.amount().expect("a price");
        for before in settled {
            settle(meter, at(*before), &mut add);
        }
        gone(
            meter,
            &vacated(&new, Departure::Ended, Some(99 * HOUR + 17)),
            at(99 * HOUR),
            &mut add,
        );
        sum
    };
    let whole = total(&mut meter.clone(), &[]);
    let cut = total(&mut meter.clone(), &[3 * HOUR + 1, 50 * HOUR, 50 * HOUR, 98 * HOUR + 333]);
    assert_eq!(whole, cut);
    settle(&mut meter, at(98 * HOUR), &mut |_| {});
    assert!(price_steps(&meter) <= 4, "{}", price_steps(&meter));
}

#[test]
fn a_machine_that_comes_back_was_there_all_the_time() {
    let mut meter = Meter::default();
    let mut new = start(&mut meter, &pool("aws/r/z/t/on-demand"), 0, Some(DOLLAR));
    end(&mut meter, &vacated(&new, Departure::Vanished, None), HOUR);
    new.slot.generation = 2;
    returned(&mut meter, &new);
    let got = end(&mut meter, &vacated(&new, Departure::Ended, Some(3 * HOUR)), 4 * HOUR);
    assert_eq!(got, [(HOUR, 3 * HOUR, Some(MicroUsd(2_000_000)), false, false)]);
}

#[test]
fn charges_can_be_cut_anywhere() {
    let mut meter = Meter::default();
    start(&mut meter, &pool("gcp/r/z/t/on-demand"), 0, Some(MicroUsd(333_333)));
    let mut charges = 0;
    accrued(&meter, at(HOUR + 1), &mut |charge: Charge<'_>| {
        charges += 1;
        let whole = charge.amount().expect("a price");
        for cut in [0, 1, MIN, HOUR, HOUR + 1, 9 * HOUR] {
            let (before, after) = charge.split_at(T0 + cut);
            let parts = before.into_iter().chain(after).map(|part| part.amount().expect("a price"));
            assert_eq!(parts.sum::<Spend>(), whole, "{cut}");
        }
    });
    assert_eq!(charges, 1);
}
