//! What an apply came to.

use super::attention::attention;
use super::plan_json::{self, OUTPUT_FORMAT, merge};
use super::{plan_text, reasons_json};
use crate::exit::Exit;
use crate::style::{ADD, BOLD, WARN};
use crate::text::{clean_line, count, markdown as md, monthly, thousands};
use fleet_core::Planned;
use fleet_model::{FleetName, GroupLine, MicroUsd, Timestamp, Units};
use fleet_run::{Converged, RoundOutcome};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// One fleet after an apply.
pub(crate) struct Applied {
    /// Which.
    pub fleet: FleetName,
    /// What was done, and what is left.
    pub converged: Converged,
    /// Whether somebody asked to stop.
    pub stopped: bool,
}

impl Applied {
    fn sum(&self, pick: fn(&RoundOutcome) -> u32) -> u32 {
        self.converged.rounds.iter().map(pick).sum()
    }

    /// Refusals by code: a thousand machines are refused for two or three reasons.
    fn refusals(&self) -> Vec<(String, u32)> {
        let mut sums: BTreeMap<String, u32> = BTreeMap::new();
        for (_, why) in self.converged.rounds.iter().flat_map(|round| &round.refused) {
            let code = why.split_once(": ").map_or(why.as_str(), |(code, _)| code);
            *sums.entry(clean_line(code)).or_default() += 1;
        }
        let mut sorted: Vec<_> = sums.into_iter().collect();
        sorted.sort_by(|a, b| (b.1, &a.0).cmp(&(a.1, &b.0)));
        sorted
    }

    /// `launched 8, ended 0 in 1 round`.
    fn done(&self) -> String {
        let (created, destroyed) = (self.sum(|r| r.created), self.sum(|r| r.destroyed));
        let (cleared, relabelled) = (self.sum(|r| r.cleared), self.sum(|r| r.relabelled));
        let rounds = self.converged.rounds.len() as u64;
        if created + destroyed + cleared + relabelled == 0 {
            return "nothing was changed".into();
        }
        let mut parts = Vec::new();
        if created > 0 {
            parts.push(format!("{} launched", thousands(created.into())));
        }
        if destroyed > 0 {
            parts.push(format!("{} destroyed", thousands(destroyed.into())));
        }
        if cleared > 0 {
            parts.push(format!("leftovers of {} removed", count(cleared, "machine")));
        }
        if relabelled > 0 {
            parts.push(format!("labels of {} changed", count(relabelled, "machine")));
        }
        format!("{} in {}", parts.join(", "), count(rounds, "round"))
    }
}

/// Capacity there is, capacity wanted, and what it costs per hour. What is ending no longer
/// counts; what is only planned does not count yet.
fn have(last: &Planned) -> (Units, Units, MicroUsd) {
    let Planned { plan, report } = last;
    let sum = |pick: fn(&GroupLine) -> Units| report.groups.iter().map(pick).sum();
    let wanted = sum(|line| line.wanted);
    // What nobody knows to exist is not there.
    if plan.is_empty() {
        let there = sum(|line| line.after.saturating_sub(line.doubt));
        (there, wanted, report.cost.hourly_after)
    } else {
        let there = sum(|line| line.before.saturating_sub(line.doubt));
        (there, wanted, report.cost.hourly_before)
    }
}

/// For people.
pub(crate) fn text(applied: &Applied) -> String {
    let name = clean_line(applied.fleet.as_str());
    let Some(last) = &applied.converged.last else { return String::new() };
    let report = &last.report;
    let (there, wanted, hourly) = have(last);
    let settled = last.plan.is_empty() && plan_text::is_settled(report);
    let (mark, style) = if settled { ("✓", ADD) } else { ("!", WARN) };
    let now = if there.is_zero() && wanted.is_zero() {
        "nothing is left".into()
    } else {
        let unit = report.unit;
        format!("{there} of {wanted} {unit}, {hourly} per hour, {} per month", monthly(hourly))
    };
    let done = applied.done();
    let mut out = format!("{style}{mark}{style:#} {BOLD}{name}{BOLD:#}: {done}; {now}\n");
    for (why, times) in applied.refusals().into_iter().take(5) {
        let times = if times == 1 { String::new() } else { format!(" ({times} times)") };
        out.push_str(&format!("  {WARN}refused{WARN:#}   {why}{times}\n"));
    }
    let labels = applied.converged.rounds.iter().flat_map(|round| &round.not_relabelled);
    for why in labels.collect::<BTreeSet<_>>().into_iter().take(3) {
        out.push_str(&format!("  {WARN}labels not changed{WARN:#}   {}\n", clean_line(why)));
    }
    out.push_str(attention(report).trim_start_matches('\n'));
    if !last.plan.is_empty() {
        let why = if applied.stopped { "stopped on request" } else { "not everything is done" };
        out.push_str(&format!("  {why}; run the same command again to continue\n"));
    }
    out.trim_end().to_owned()
}

/// Fleets with work to do that a stop came before, for people; `None` if there are none.
pub(crate) fn not_begun(results: &[Applied]) -> Option<String> {
    const NAMED: usize = 5;
    let names: Vec<String> = results
        .iter()
        .filter(|one| one.stopped && one.converged.rounds.is_empty())
        .filter(|one| one.converged.last.as_ref().is_some_and(|last| last.plan.acts()))
        .map(|one| clean_line(one.fleet.as_str()))
        .collect();
    if names.is_empty() {
        return None;
    }
    let (first, rest) = names.split_at(names.len().min(NAMED));
    let more = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
    let (fleets, first) = (count(names.len() as u64, "fleet"), first.join(", "));
    Some(format!(
        "{WARN}!{WARN:#} stopped on request before {fleets}: {first}{more}; run the same command again to \
         go on"
    ))
}

/// For comments.
pub(crate) fn markdown(applied: &Applied) -> String {
    let Some(last) = &applied.converged.last else { return String::new() };
    let (there, wanted, hourly) = have(last);
    let unit = last.report.unit;
    let name = md(applied.fleet.as_str());
    format!("- `{name}`: {}; {there} of {wanted} {unit}, {hourly} per hour", applied.done())
}

fn fleet(applied: &Applied) -> Value {
    let rounds: Vec<Value> = applied
        .converged
        .rounds
        .iter()
        .map(|round| {
            let told = |list: &[(fleet_model::StepId, String)]| -> Vec<Value> {
                list.iter()
                    .map(|(step, why)| json!({ "step": step, "why": clean_line(why) }))
                    .collect()
            };
            json!({
                "created": round.created,
                "destroyed": round.destroyed,
                "vacated": round.vacated,
                "cleared": round.cleared,
                "relabelled": round.relabelled,
                "notRelabelled": round.not_relabelled.iter().map(|why| clean_line(why)).collect::<Vec<_>>(),
                "skipped": round.skipped,
                "refused": told(&round.refused),
                "unknown": told(&round.unknown),
            })
        })
        .collect();
    let common = json!({
        "fleet": applied.fleet,
        "created": applied.sum(|round| round.created),
        "destroyed": applied.sum(|round| round.destroyed),
        "rounds": rounds,
        "stopped": applied.stopped,
    });
    let Some(last) = &applied.converged.last else { return common };
    let report = &last.report;
    let (there, wanted, _) = have(last);
    let left = json!({
        "unit": report.unit,
        "have": there.as_f64(),
        "wanted": wanted.as_f64(),
        "remaining": plan_json::Summary::of(report),
        "cost": plan_json::cost(&report.cost),
        "unplaced": report.unplaced.iter().map(reasons_json::shortfall).collect::<Vec<_>>(),
        "held": report.held.iter().map(reasons_json::hold).collect::<Vec<_>>(),
        "inDoubt": plan_json::in_doubt(&report.in_doubt),
        "gaps": plan_json::gaps(&report.gaps),
        "notices": report.notices.iter().map(reasons_json::notice).collect::<Vec<_>>(),
    });
    merge(common, left)
}

/// For programs.
pub(crate) fn document(results: &[Applied], exit: Exit) -> Value {
    let head = json!({ "formatVersion": OUTPUT_FORMAT, "exitCode": exit.code() });
    match results {
        [one] => merge(fleet(one), head),
        _ => merge(json!({ "fleets": results.iter().map(fleet).collect::<Vec<_>>() }), head),
    }
}

/// What every line of a log has.
pub(crate) fn log_head(at: Timestamp, exit: Exit) -> Value {
    json!({
        "formatVersion": OUTPUT_FORMAT,
        "at": at.to_string(),
        "exitCode": exit.code(),
    })
}

/// For logs: one line.
pub(crate) fn line(applied: &Applied, at: Timestamp, exit: Exit) -> Value {
    merge(fleet(applied), log_head(at, exit))
}
