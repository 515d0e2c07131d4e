//! What is not as it should be: unplaced, held, in doubt, unseen.

use crate::sentences::{self, Said};
use crate::style::{HINT, WARN};
use crate::text::{count, when, wrap};
use fleet_model::{InDoubt, Report};

/// What to do about a request without an answer.
const IN_DOUBT_NEXT: &str = "the next run asks the clouds what became of it before anything else";

/// Something that is not as it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// What kind: `unplaced`, `held`, `in doubt`, `gap` or `note`.
    pub label: &'static str,
    /// The case, and what to do next.
    pub said: Said,
    /// What stood in the way.
    pub because: Vec<String>,
}

impl Item {
    fn new(label: &'static str, said: Said) -> Self {
        Item { label, said, because: Vec::new() }
    }
}

/// Everything that is not as it should be, each with its reason and what to do next. Also what else there is
/// to know.
pub fn items(report: &Report) -> Vec<Item> {
    let mut items = Vec::new();
    for short in &report.unplaced {
        let because = sentences::because(&short.because);
        items.push(Item { label: "unplaced", said: sentences::shortfall(short), because });
    }
    items.extend(report.held.iter().map(|held| Item::new("held", sentences::hold(held))));
    items.extend(in_doubt(report).into_iter().map(|said| Item::new("in doubt", said)));
    items.extend(gaps(report));
    items.extend(report.notices.iter().map(|one| Item::new("note", sentences::notice(one))));
    items
}

fn in_doubt(report: &Report) -> Vec<Said> {
    let next = Some(IN_DOUBT_NEXT.to_owned());
    if report.in_doubt.len() > 2 {
        let machines: u64 = report.in_doubt.iter().map(|doubt| doubt.slots.len() as u64).sum();
        let what = format!(
            "{} for {} have no known outcome yet; their slots wait",
            count(report.in_doubt.len() as u64, "request"),
            count(machines, "machine"),
        );
        return vec![Said { what, next }];
    }
    let one = |doubt: &InDoubt| {
        let what = format!(
            "a request for {} from {} has no known outcome since {}; its slots wait",
            count(doubt.slots.len() as u64, "machine"),
            doubt.pool,
            when(doubt.since)
        );
        Said { what, next: next.clone() }
    };
    report.in_doubt.iter().map(one).collect()
}

fn gaps(report: &Report) -> impl Iterator<Item = Item> {
    sentences::gaps(&report.gaps).into_iter().map(|said| Item::new("gap", said))
}

/// The same for a terminal.
pub fn attention(report: &Report) -> String {
    /// Notices of one kind can be many: the first few are shown.
    const NOTES: usize = 5;
    let mut out = String::new();
    let mut notes = 0;
    for one in items(report) {
        notes += usize::from(one.label == "note");
        if notes <= NOTES {
            item(&mut out, &one);
        }
    }
    if notes > NOTES {
        let what = format!("{} more; -o json lists them", notes - NOTES);
        item(&mut out, &Item::new("note", Said { what, next: None }));
    }
    if out.is_empty() { out } else { format!("\n{out}") }
}

/// Where nobody could look.
pub fn unseen(report: &Report) -> String {
    let mut out = String::new();
    gaps(report).for_each(|one| item(&mut out, &one));
    out
}

fn item(out: &mut String, item: &Item) {
    let Item { label, said, because } = item;
    let text = wrap("            ", &said.what);
    let rest = text.strip_prefix("            ").unwrap_or(&text);
    out.push_str(&format!("  {WARN}{label:<8}{WARN:#}  {rest}\n"));
    for text in because.iter().take(4) {
        out.push_str(&format!("{}\n", wrap("              ", text)));
    }
    if let Some(text) = &said.next {
        let text = wrap("              ", text);
        out.push_str(&format!("            {HINT}→{HINT:#} {}\n", text.trim_start()));
    }
}
