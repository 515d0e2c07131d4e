//! Lists of a bill beside the journals, for terminals and for Markdown.

use super::bill::{dollars, hours, word};
use super::columns::{Cell, Columns, left, right};
use crate::style::{DIM, WARN};
use crate::text::{clean_line, count, markdown as md, when};
use fleet_model::Timestamp;
use fleet_money::bill::{Comparison, Differs};
use std::fmt::Write as _;

/// Rows of a list that a person reads; programs get all of them.
const SHOWN: usize = 20;

/// A list with a title.
pub(super) struct Table {
    title: String,
    /// What to do about it.
    hint: &'static str,
    heads: &'static [Head],
    rows: Vec<Vec<String>>,
    /// How many there are in all.
    all: usize,
}

/// A heading, and whether what is below it is a number.
type Head = (&'static str, bool);

const DIFFER: &[Head] = &[
    ("machine", false),
    ("fleet", false),
    ("differs in", false),
    ("since", false),
    ("bill hours", true),
    ("journal hours", true),
    ("bill", true),
    ("journal", true),
];
const ONLY_BILLED: &[Head] = &[("machine", false), ("fleet by its tag", false), ("bill", true)];
const ONLY_RECORDED: &[Head] =
    &[("machine", false), ("fleet", false), ("hours", true), ("journal", true)];

/// What differs: lists that are not empty.
pub(super) fn tables(found: &Comparison) -> Vec<Table> {
    let billed = found.only_billed.iter().take(SHOWN).map(|one| {
        let fleet = one.fleet.as_deref().unwrap_or_default();
        vec![clean_line(&one.name), clean_line(fleet), dollars(one.total().cost)]
    });
    let recorded = found.only_recorded.iter().take(SHOWN).map(|(machine, fleet, ms, spent)| {
        let hours = format!("{:.2}", hours(*ms));
        vec![clean_line(machine), clean_line(fleet), hours, dollars((*spent).into())]
    });
    let all = vec![
        Table {
            title: match found.differ.len() {
                1 => "1 machine differs".to_owned(),
                many => format!("{many} machines differ"),
            },
            hint: "",
            heads: DIFFER,
            rows: found.differ.iter().take(SHOWN).map(differing).collect(),
            all: found.differ.len(),
        },
        Table {
            title: "on the bill and in no journal".into(),
            hint: " (`fleet sweep` finds those that still run)",
            heads: ONLY_BILLED,
            rows: billed.collect(),
            all: found.only_billed.len(),
        },
        Table {
            title: "in a journal and not on the bill".into(),
            hint: "",
            heads: ONLY_RECORDED,
            rows: recorded.collect(),
            all: found.only_recorded.len(),
        },
    ];
    all.into_iter().filter(|table| table.all > 0).collect()
}

fn differing(one: &Differs) -> Vec<String> {
    let first = Timestamp::from_millisecond(one.first).map(when);
    vec![
        clean_line(&one.machine),
        clean_line(&one.fleet),
        word(one.what).into(),
        first.unwrap_or_default(),
        one.billed.ms.map_or_else(|| "—".into(), |ms| format!("{:.2}", hours(ms))),
        format!("{:.2}", hours(one.ms)),
        dollars(one.billed.cost),
        dollars(one.spent.into()),
    ]
}

impl Table {
    /// For a terminal.
    pub(super) fn text(&self) -> String {
        let mut out = format!("\n{WARN}{}{WARN:#}{}\n", self.title, self.hint);
        let mut table = Columns::without(&["since"]);
        let cell =
            |text: &str, number: bool| -> Cell { if number { right(text) } else { left(text) } };
        table.styled(DIM, self.heads.iter().map(|(head, number)| cell(head, *number)));
        for row in &self.rows {
            let cells = row.iter().zip(self.heads);
            table.row(cells.map(|(text, (_, number))| cell(text, *number)));
        }
        out.push_str(&table.render("  "));
        if let Some(more) = self.more() {
            let _ = writeln!(out, "  {more}");
        }
        out
    }

    /// For comments on pull requests.
    pub(super) fn markdown(&self) -> String {
        let mut out = format!("\n**{}**{}\n\n|", md(&self.title), self.hint);
        self.heads.iter().for_each(|(head, _)| {
            let _ = write!(out, " {} |", md(head));
        });
        out.push_str("\n|");
        self.heads.iter().for_each(|(_, number)| {
            out.push_str(if *number { "---:|" } else { "---|" });
        });
        for row in &self.rows {
            out.push_str("\n|");
            row.iter().for_each(|cell| {
                let _ = write!(out, " {} |", md(cell));
            });
        }
        out.push('\n');
        if let Some(more) = self.more() {
            let _ = writeln!(out, "\n{more}");
        }
        out
    }

    fn more(&self) -> Option<String> {
        let hidden = self.all.checked_sub(self.rows.len()).filter(|hidden| *hidden > 0)?;
        Some(format!("… and {hidden} more; `-o json` lists them all"))
    }
}

/// What was left out, and why.
pub(super) fn left_out(found: &Comparison) -> Vec<String> {
    let elsewhere = found.elsewhere.iter().map(|(cloud, machines)| {
        format!(
            "{} of {cloud}: left out, the bill is not of that cloud",
            count(*machines, "machine")
        )
    });
    let counted = [
        (found.unpriced, "without a price on record: not compared"),
        (found.of_others, "on the bill without a fleet's tag: left out"),
    ];
    let counted = counted.into_iter().filter(|(machines, _)| *machines > 0);
    elsewhere
        .chain(counted.map(|(machines, why)| format!("{} {why}", count(machines, "machine"))))
        .collect()
}
