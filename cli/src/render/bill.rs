//! A bill beside the journals, for people and for programs.

use super::columns::{Columns, left, right};
use crate::output::cost::{BillDifference, CostReconcile, OnlyBilled, OnlyRecorded};
use crate::output::words::{Time, usd};
use crate::style::{BOLD, DIM, WARN};
use crate::text::{clean_line, count, when};
use fleet_model::Timestamp;
use fleet_money::bill::{Bill, Comparison, Differs, NanoUsd, What};
use std::fmt::Write as _;

/// Rows of a list that a person reads; programs get all of them.
const SHOWN: usize = 20;

fn at(ms: i64) -> Option<Timestamp> {
    Timestamp::from_millisecond(ms).ok()
}

fn hours(ms: u64) -> f64 {
    ms as f64 / 3_600_000.0
}

fn word(what: What) -> &'static str {
    match what {
        What::Quantity => "quantity",
        What::Price => "price",
        What::Cost => "cost",
    }
}

/// The comparison for programs.
pub(crate) fn document(bill: &Bill, found: &Comparison, from: i64, to: i64) -> CostReconcile {
    let time = |ms: i64| at(ms).filter(|_| bill.machine_rows > 0).map(Time);
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
        from: time(from),
        reconciled_to: time(to),
        billed_usd: found.billed.as_f64(),
        ledger_usd: usd(found.spent.micros()),
        agree: found.agree,
        differ: found.differ.iter().map(difference).collect(),
        only_billed: billed.collect(),
        only_recorded: recorded.collect(),
        unpriced: found.unpriced,
        of_others: found.of_others,
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

fn dollars(nano: NanoUsd) -> String {
    let sign = if nano.0 < 0 { "-" } else { "" };
    format!("{sign}${:.2}", nano.as_f64().abs())
}

/// The comparison for people.
pub(crate) fn text(bill: &Bill, found: &Comparison, to: i64) -> String {
    let rows = count(bill.rows, "row");
    let mut out =
        format!("{BOLD}{}{BOLD:#}: {rows}, {} about machines\n", bill.form, bill.machine_rows);
    if bill.machine_rows == 0 {
        return out + "there is nothing to compare\n";
    }
    if let Some(to) = at(to) {
        let _ = writeln!(out, "reconciled up to {}", when(to));
    }
    let agree = match found.agree {
        1 => "1 machine agrees".to_owned(),
        many => format!("{many} machines agree"),
    };
    let (billed, spent) = (dollars(found.billed), dollars(found.spent.into()));
    let _ = writeln!(out, "{agree}; the bill asks {billed}, the journals say {spent}");
    differing(&mut out, &found.differ);
    if !found.only_billed.is_empty() {
        let title = "on the bill and in no journal";
        let _ = writeln!(out, "\n{WARN}{title}{WARN:#} (`fleet sweep` finds those that still run)");
        let mut table = Columns::default();
        table.styled(DIM, [left("machine"), left("fleet by its tag"), right("bill")]);
        for one in found.only_billed.iter().take(SHOWN) {
            let fleet = one.fleet.as_deref().unwrap_or_default();
            let cost = dollars(one.total().cost);
            table.row([left(clean_line(&one.name)), left(clean_line(fleet)), right(cost)]);
        }
        out.push_str(&table.render("  "));
        more(&mut out, found.only_billed.len());
    }
    if !found.only_recorded.is_empty() {
        let _ = writeln!(out, "\n{WARN}in a journal and not on the bill{WARN:#}");
        let mut table = Columns::default();
        table.styled(DIM, [left("machine"), left("fleet"), right("hours"), right("journal")]);
        for (machine, fleet, ms, spent) in found.only_recorded.iter().take(SHOWN) {
            table.row([
                left(clean_line(machine)),
                left(clean_line(fleet)),
                right(format!("{:.2}", hours(*ms))),
                right(dollars((*spent).into())),
            ]);
        }
        out.push_str(&table.render("  "));
        more(&mut out, found.only_recorded.len());
    }
    if found.unpriced > 0 {
        let machines = count(found.unpriced, "machine");
        let _ = writeln!(out, "{DIM}{machines} without a price on record: not compared{DIM:#}");
    }
    if found.of_others > 0 {
        let machines = count(found.of_others, "machine");
        let _ = writeln!(out, "{DIM}{machines} on the bill without a fleet's tag: left out{DIM:#}");
    }
    out
}

fn differing(out: &mut String, differ: &[Differs]) {
    if differ.is_empty() {
        return;
    }
    let title = match differ.len() {
        1 => "1 machine differs".to_owned(),
        many => format!("{many} machines differ"),
    };
    let _ = writeln!(out, "\n{WARN}{title}{WARN:#}");
    let mut table = Columns::without(&["since"]);
    let heads = ["machine", "fleet", "differs in", "since"];
    let numbers = ["bill hours", "journal hours", "bill", "journal"];
    table.styled(DIM, heads.iter().map(left).chain(numbers.iter().map(right)));
    for one in differ.iter().take(SHOWN) {
        let billed = one.billed.ms.map_or_else(|| "—".into(), |ms| format!("{:.2}", hours(ms)));
        table.row([
            left(clean_line(&one.machine)),
            left(clean_line(&one.fleet)),
            left(word(one.what)),
            left(at(one.first).map(when).unwrap_or_default()),
            right(billed),
            right(format!("{:.2}", hours(one.ms))),
            right(dollars(one.billed.cost)),
            right(dollars(one.spent.into())),
        ]);
    }
    out.push_str(&table.render("  "));
    more(out, differ.len());
}

fn more(out: &mut String, all: usize) {
    if all > SHOWN {
        let _ = writeln!(out, "  … and {} more; -o json lists them all", all - SHOWN);
    }
}
