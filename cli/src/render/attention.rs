//! What is not as it should be: unplaced, held, in doubt, unseen.

use crate::sentences::{self, Said};
use crate::style::{HINT, WARN};
use crate::text::{count, when, wrap};
use fleet_model::Report;

/// What to do about a request without an answer.
const IN_DOUBT_NEXT: &str = "the next run asks the clouds what became of it before anything else";

/// Everything that is not as it should be, each with its reason and what to do next.
pub(crate) fn attention(report: &Report) -> String {
    let mut out = String::new();
    for short in &report.unplaced {
        let said = sentences::shortfall(short);
        item(&mut out, "unplaced", &Said { what: said.what, next: None });
        for text in sentences::because(&short.because).iter().take(4) {
            out.push_str(&format!("{}\n", wrap("              ", text)));
        }
        next(&mut out, said.next.as_deref());
    }
    report.held.iter().for_each(|held| item(&mut out, "held", &sentences::hold(held)));
    let many = report.in_doubt.len() > 2;
    if many {
        let machines: u64 = report.in_doubt.iter().map(|doubt| doubt.slots.len() as u64).sum();
        let what = format!(
            "{} for {} have no known outcome yet; their slots wait",
            count(report.in_doubt.len() as u64, "request"),
            count(machines, "machine"),
        );
        item(&mut out, "in doubt", &Said { what, next: Some(IN_DOUBT_NEXT.into()) });
    }
    for doubt in report.in_doubt.iter().filter(|_| !many) {
        let slots = doubt.slots.len() as u64;
        let what = format!(
            "a request for {} from {} has no known outcome since {}; its slots wait",
            count(slots, "machine"),
            doubt.pool,
            when(doubt.since)
        );
        item(&mut out, "in doubt", &Said { what, next: Some(IN_DOUBT_NEXT.into()) });
    }
    out.push_str(&unseen(report));
    notices(&mut out, report);
    if out.is_empty() { out } else { format!("\n{out}") }
}

/// Where nobody could look.
pub(crate) fn unseen(report: &Report) -> String {
    let mut out = String::new();
    for said in sentences::gaps(&report.gaps) {
        item(&mut out, "gap", &said);
    }
    out
}

/// Notices of one kind can be many: the first few are shown.
fn notices(out: &mut String, report: &Report) {
    const SHOWN: usize = 5;
    let all = &report.notices;
    all.iter().take(SHOWN).for_each(|notice| item(out, "note", &sentences::notice(notice)));
    if all.len() > SHOWN {
        let what = format!("{} more; -o json lists them", all.len() - SHOWN);
        item(out, "note", &Said { what, next: None });
    }
}

fn item(out: &mut String, label: &str, said: &Said) {
    let text = wrap("            ", &said.what);
    let rest = text.strip_prefix("            ").unwrap_or(&text);
    out.push_str(&format!("  {WARN}{label:<8}{WARN:#}  {rest}\n"));
    next(out, said.next.as_deref());
}

fn next(out: &mut String, text: Option<&str>) {
    if let Some(text) = text {
        let text = wrap("              ", text);
        out.push_str(&format!("            {HINT}→{HINT:#} {}\n", text.trim_start()));
    }
}
