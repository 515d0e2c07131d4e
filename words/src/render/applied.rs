//! What an apply came to.

use super::attention::attention;
use super::{plan_cost, plan_text};
use crate::output::apply as output;
use crate::output::common::{Cost, Summary, gaps, in_doubt, said, unplaced};
use crate::style::{ADD, BOLD, WARN};
use crate::text::{Hourly, clean_line, count, markdown as md, thousands};
use fleet_core::Planned;
use fleet_model::{FleetName, GroupLine, Units};
use fleet_run::{Converged, RoundOutcome};
use std::collections::{BTreeMap, BTreeSet};

/// One fleet after an apply.
pub struct Applied {
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
fn have(last: &Planned) -> (Units, Units, Hourly) {
    let Planned { plan, report } = last;
    let sum = |pick: fn(&GroupLine) -> Units| report.groups.iter().map(pick).sum();
    let wanted = sum(|line| line.wanted);
    let (before, after) = plan_cost::before_and_after([report]);
    // What nobody knows to exist is not there.
    if plan.is_empty() {
        let there = sum(|line| line.after.saturating_sub(line.doubt));
        (there, wanted, after)
    } else {
        let there = sum(|line| line.before.saturating_sub(line.doubt));
        (there, wanted, before)
    }
}

/// For people.
pub fn text(applied: &Applied) -> String {
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
        format!(
            "{there} of {wanted} {unit}, {} per hour, {} per month",
            hourly.per_hour(),
            hourly.per_month()
        )
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
pub fn not_begun(results: &[Applied]) -> Option<String> {
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
pub fn markdown(applied: &Applied) -> String {
    let Some(last) = &applied.converged.last else { return String::new() };
    let (there, wanted, hourly) = have(last);
    let unit = last.report.unit;
    let name = md(applied.fleet.as_str());
    let hourly = hourly.per_hour();
    format!("- `{name}`: {}; {there} of {wanted} {unit}, {hourly} per hour", applied.done())
}

/// For programs; `None` if it came to no plan at all.
pub fn document(applied: &Applied) -> Option<output::Applied> {
    let last = applied.converged.last.as_ref()?;
    let report = &last.report;
    let (there, wanted, _) = have(last);
    Some(output::Applied {
        fleet: applied.fleet.to_string(),
        created: applied.sum(|round| round.created),
        destroyed: applied.sum(|round| round.destroyed),
        stopped: applied.stopped,
        rounds: applied.converged.rounds.iter().map(output::Round::of).collect(),
        unit: report.unit.into(),
        have: there.as_f64(),
        wanted: wanted.as_f64(),
        remaining: Summary::of(report),
        cost: Cost::from(&report.cost),
        unplaced: unplaced(&report.unplaced),
        held: said(&report.held),
        in_doubt: in_doubt(&report.in_doubt),
        gaps: gaps(&report.gaps),
        notices: said(&report.notices),
    })
}
