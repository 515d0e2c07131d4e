//! A bill beside the journals, for people and for programs.

use super::bill_tables::{left_out, tables};
use crate::output::cost::{
    BesideSums, BillDifference, CostReconcile, OnlyBilled, OnlyRecorded, OtherCloud,
};
use crate::output::words::{Time, usd};
use crate::style::{BOLD, DIM};
use crate::text::{count, markdown as md, when};
use fleet_model::Timestamp;
use fleet_money::bill::{Bill, Comparison, Differs, NanoUsd, What, Window};
use std::fmt::Write as _;

/// Everything that is shown.
pub(crate) struct Page<'a> {
    pub bill: &'a Bill,
    pub found: &'a Comparison,
    pub window: Window,
}

fn at(ms: i64) -> Option<Timestamp> {
    Timestamp::from_millisecond(ms).ok()
}

pub(super) fn hours(ms: u64) -> f64 {
    ms as f64 / 3_600_000.0
}

pub(super) fn word(what: What) -> &'static str {
    match what {
        What::Quantity => "quantity",
        What::Price => "price",
        What::Cost => "cost",
    }
}

/// The comparison for programs.
pub(crate) fn document(page: &Page<'_>) -> CostReconcile {
    let Page { bill, found, window } = page;
    let some = bill.machine_rows > 0 && !window.is_empty();
    let time = |ms: i64| at(ms).filter(|_| some).map(Time);
    let elsewhere = found.elsewhere.iter();
    let billed = found.only_billed.iter().map(|one| OnlyBilled {
        machine: one.name.clone(),
        fleet: one.fleet.clone(),
        hours: one.total().ms.map(hours),
        billed_usd: one.total().cost.as_f64(),
    });
    let recorded = found.only_recorded.iter().map(|(machine, fleet, ms, spent)| OnlyRecorded {
        machine: machine.clone(),
        fleet: fleet.clone(),
        hours: hours(*ms),
        ledger_usd: usd(spent.micros()),
    });
    CostReconcile {
        format: bill.form.as_str().into(),
        rows: bill.rows,
        machine_rows: bill.machine_rows,
        clouds: bill.clouds.iter().map(ToString::to_string).collect(),
        other_clouds: elsewhere
            .map(|(cloud, machines)| OtherCloud { cloud: cloud.to_string(), machines: *machines })
            .collect(),
        from: time(window.from),
        reconciled_to: time(window.to),
        billed_usd: found.billed.as_f64(),
        ledger_usd: usd(found.spent.micros()),
        agree: found.agree,
        differ: found.differ.iter().map(difference).collect(),
        only_billed: billed.collect(),
        only_recorded: recorded.collect(),
        unpriced: found.unpriced,
        of_others: found.of_others,
        beside: found
            .beside
            .iter()
            .map(|one| BesideSums {
                kind: one.kind.into(),
                billed_usd: one.billed.map(NanoUsd::as_f64),
                ledger_usd: usd(one.spent.micros()),
            })
            .collect(),
    }
}

fn difference(one: &Differs) -> BillDifference {
    BillDifference {
        machine: one.machine.clone(),
        fleet: one.fleet.clone(),
        what: word(one.what).into(),
        first: Time(at(one.first).unwrap_or(Timestamp::MIN)),
        billed_hours: one.billed.ms.map(hours),
        ledger_hours: hours(one.ms),
        billed_usd: one.billed.cost.as_f64(),
        ledger_usd: usd(one.spent.micros()),
    }
}

pub(super) fn dollars(nano: NanoUsd) -> String {
    let sign = if nano.0 < 0 { "-" } else { "" };
    format!("{sign}${:.2}", nano.as_f64().abs())
}

/// What was compared, in sentences.
fn summary(page: &Page<'_>) -> Vec<String> {
    let Page { bill, found, window } = page;
    let clouds: Vec<&str> = bill.clouds.iter().map(|cloud| cloud.as_str()).collect();
    let mut lines = vec![match clouds.as_slice() {
        [] => "clouds compared: none; the bill names providers that fleets know nothing of".into(),
        clouds => format!("clouds compared: {}", clouds.join(", ")),
    }];
    if bill.machine_rows == 0 {
        lines.push("the bill holds nothing about machines: there is nothing to compare".into());
        return lines;
    }
    if window.is_empty() {
        let reach = (at(bill.from).map(when), at(bill.to).map(when));
        let (from, to) = (reach.0.unwrap_or_default(), reach.1.unwrap_or_default());
        lines.push(format!(
            "the bill reaches from {from} to {to}: it holds nothing to compare in the time asked for"
        ));
        return lines;
    }
    let since = at(window.from).filter(|_| window.from > bill.from);
    let since = since.map(|from| format!(" from {}", when(from))).unwrap_or_default();
    if let Some(to) = at(window.to) {
        lines.push(format!("reconciled{since} up to {}", when(to)));
    }
    let agree = match found.agree {
        1 => "1 machine agrees".to_owned(),
        many => format!("{many} machines agree"),
    };
    let (billed, spent) = (dollars(found.billed), dollars(found.spent.into()));
    lines.push(format!("{agree}; the bill asks {billed}, the journals say {spent}"));
    lines.extend(found.beside.iter().map(|one| {
        let spent = dollars(one.spent.into());
        match one.billed {
            Some(billed) => format!(
                "{}, in one sum: the bill asks {} in rows with a fleet's tag, the journals say {spent}",
                one.kind,
                dollars(billed)
            ),
            None => format!(
                "{}: no row of the bill with a fleet's tag, the journals say {spent}; not compared",
                one.kind
            ),
        }
    }));
    lines
}

fn rows(bill: &Bill) -> String {
    format!("{}, {} about machines", count(bill.rows, "row"), bill.machine_rows)
}

/// The comparison for people.
pub(crate) fn text(page: &Page<'_>) -> String {
    let Page { bill, found, .. } = page;
    let mut out = format!("{BOLD}{}{BOLD:#}: {}\n", bill.form, rows(bill));
    for line in summary(page) {
        let _ = writeln!(out, "{line}");
    }
    tables(found).iter().for_each(|table| out.push_str(&table.text()));
    for line in left_out(found) {
        let _ = writeln!(out, "{DIM}{line}{DIM:#}");
    }
    out
}

/// The comparison for comments on pull requests.
pub(crate) fn markdown(page: &Page<'_>) -> String {
    let Page { bill, found, .. } = page;
    let mut out = format!("**{}**: {}\n\n", bill.form, md(&rows(bill)));
    for line in summary(page) {
        let _ = writeln!(out, "- {}", md(&line));
    }
    tables(found).iter().for_each(|table| out.push_str(&table.markdown()));
    for line in left_out(found) {
        let _ = writeln!(out, "\n{}", md(&line));
    }
    out
}
