//! Why this pool, and why not that one.

use super::columns::{Columns, left, right};
use super::place;
use crate::sentences;
use crate::style::{ADD, BOLD, DIM, HINT};
use crate::text::{clean_line, count, markdown, price, thousands, wrap};
use fleet_core::{PoolVerdict, Relax, Relaxation, SlotVerdict, Verdict};
use fleet_model::{Figure, Group, Inputs, Notice, Rejection, Report, Saving};
use std::collections::BTreeMap;

/// A pool's verdict in a few words.
pub fn verdict(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Used { keep, create, destroy } => {
            let parts = [("kept", keep), ("to launch", create), ("to destroy", destroy)];
            let parts: Vec<String> = parts
                .into_iter()
                .filter(|(_, n)| **n > 0)
                .map(|(word, n)| format!("{n} {word}"))
                .collect();
            format!("used: {}", parts.join(", "))
        }
        Verdict::NotUsed(why) => sentences::rejection(why),
    }
}

/// Rejections by kind, most pools first.
pub fn by_kind<'a>(
    rejections: impl Iterator<Item = (&'a Rejection, u32)>,
) -> Vec<(String, &'a Rejection, u32)> {
    let mut kinds: BTreeMap<String, (&Rejection, u32)> = BTreeMap::new();
    for (reason, pools) in rejections {
        kinds.entry(sentences::rejection_kind(reason)).or_insert((reason, 0)).1 += pools;
    }
    let mut sorted: Vec<_> = kinds.into_iter().map(|(kind, (why, n))| (kind, why, n)).collect();
    sorted.sort_by(|a, b| (b.2, &a.0).cmp(&(a.2, &b.0)));
    sorted
}

/// Verdicts in the order people want them: used first, then the cheapest per unit of capacity.
pub fn sort(verdicts: &mut [PoolVerdict]) {
    verdicts.sort_by_cached_key(|one| {
        let used = matches!(one.verdict, Verdict::Used { .. });
        // What could be used comes before what the spec rules out.
        let outranked = matches!(one.verdict, Verdict::NotUsed(Rejection::Outranked { .. }));
        let per_unit = one
            .whole_price()
            .zip(one.weight)
            .map(|(price, weight)| u128::from(price.0) * 1000 / u128::from(weight.0.max(1)));
        (!used, !outranked, per_unit.is_none(), per_unit, one.pool.clone())
    });
}

/// The whole funnel of one fleet: how many pools there are, what rules them out, what is used.
pub fn text(inputs: &Inputs, report: &Report, verdicts: &[PoolVerdict], top: usize) -> String {
    let rejected: u64 = report.rejected.iter().map(|(_, pools)| u64::from(*pools)).sum();
    let allowed = u64::from(report.candidates);
    let mut out = format!(
        "{BOLD}fleet {}{BOLD:#}: the spec allows {} of {} in the catalog\n",
        clean_line(inputs.desired.fleet.as_str()),
        thousands(allowed),
        count(allowed + rejected, "pool"),
    );
    let kinds = by_kind(report.rejected.iter().map(|(why, pools)| (why, *pools)));
    if !kinds.is_empty() {
        out.push_str(&format!("\n{BOLD}Ruled out by the spec{BOLD:#}\n"));
        let mut table = Columns::default();
        for (kind, _, pools) in kinds.iter().take(12) {
            table.row([right(thousands(u64::from(*pools))), left(kind.clone())]);
        }
        out.push_str(&table.render("  "));
    }
    out.push_str(&format!("\n{BOLD}Pools{BOLD:#}, best first\n"));
    out.push_str(&pools(inputs, verdicts, top));
    let shortfalls = report.unplaced.iter().map(sentences::shortfall);
    for said in on_markets(report).map(sentences::notice).chain(shortfalls) {
        out.push_str(&format!("\n{}\n", said.what));
        if let Some(next) = said.next {
            out.push_str(&format!("{HINT}→{HINT:#} {next}\n"));
        }
    }
    out
}

/// What moving machines to cheaper pools comes to.
pub fn moves(savings: &[Saving]) -> String {
    if savings.is_empty() {
        return String::new();
    }
    let mut out = format!("\n{BOLD}Cheaper pools{BOLD:#} for machines that run\n");
    for saving in savings {
        let Saving { from, to, verdict, .. } = saving;
        out.push_str(&format!("  {from} → {to}\n"));
        let sums = sentences::rebalance::arithmetic(saving);
        out.push_str(&wrap("    ", &sums));
        out.push('\n');
        out.push_str(&wrap("    ", &sentences::rebalance::verdict(verdict)));
        out.push('\n');
    }
    out
}

/// What bears on the market in which machines stand.
pub fn on_markets(report: &Report) -> impl Iterator<Item = &Notice> {
    let bears =
        |notice: &&Notice| matches!(notice, Notice::Fallback { .. } | Notice::SpotShort { .. });
    report.notices.iter().filter(bears)
}

/// What a constraint costs, the dearest first.
pub fn relaxed(found: &[Relaxation]) -> String {
    if found.is_empty() {
        return String::new();
    }
    let mut out = format!("\n{BOLD}Cheapest relaxations{BOLD:#}, if bought anew\n");
    let mut table = Columns::default();
    for one in found.iter().take(3) {
        let gained = match one.gained.is_zero() {
            true => String::new(),
            false => format!("{} more placed", one.gained),
        };
        let saved = f64::from(one.saved().ppm()) / 10_000.0;
        let saved = if saved > 0.0 { format!("−{saved:.0}%") } else { String::new() };
        table.row([left(relax(&one.relax)), right(saved), left(gained)]);
    }
    out.push_str(&table.render("  "));
    out
}

/// How close to the least cost the optimiser proves to be.
pub fn gaps(gaps: [Option<f64>; 2]) -> String {
    let proven = Group::ALL.into_iter().zip(gaps).filter_map(|(group, gap)| {
        let gap = gap?;
        let far = match gap {
            gap if gap < 1e-7 => "none is cheaper".to_owned(),
            gap => format!("none is cheaper by more than {:.3}%", gap * 100.0),
        };
        Some(format!("{group}: {far}"))
    });
    let proven: Vec<String> = proven.collect();
    if proven.is_empty() {
        return String::new();
    }
    format!("\n{BOLD}Proven{BOLD:#}, if bought anew\n  {}\n", proven.join("; "))
}

/// A constraint that could be relaxed, in a few words.
pub fn relax(relax: &Relax) -> String {
    match relax {
        Relax::Region { cloud, region } => format!("allow {cloud} {region}"),
        Relax::Share { of } => format!("no share limit per {of}"),
        Relax::MinZones => "no least number of zones".into(),
        Relax::MaxSpotPrice => "no highest spot price".into(),
    }
}

/// One line per pool.
pub fn pools(inputs: &Inputs, verdicts: &[PoolVerdict], top: usize) -> String {
    let unit = inputs.desired.capacity.unit;
    let mut table = Columns::without(&["likely", "each/h", "market"]);
    let heads = [left("type"), left("where"), left("market"), right("each/h")];
    let more = [right(format!("$/{}", one(unit))), right("likely"), left("verdict")];
    table.styled(DIM, heads.into_iter().chain(more));
    for shown in verdicts.iter().take(top) {
        let used = matches!(shown.verdict, Verdict::Used { .. });
        let words = match &shown.verdict {
            Verdict::Used { .. } => verdict(&shown.verdict),
            // At length only for single pools: a table must fit.
            Verdict::NotUsed(why) => sentences::rejection_kind(why),
        };
        let per_unit = shown.whole_price().zip(shown.weight).map(|(price, weight)| {
            let micros = u128::from(price.0) * 1000 * many(unit) / u128::from(weight.0.max(1));
            fleet_model::MicroUsd(u64::try_from(micros).unwrap_or(u64::MAX)).to_string()
        });
        table.row([
            left(clean_line(shown.pool.instance_type.as_str())),
            left(place(&shown.pool.place)),
            left(shown.pool.market.as_str()),
            right(price(shown.price)),
            right(per_unit.unwrap_or_else(|| "?".into())),
            right(shown.obtainability.map_or_else(String::new, |o| format!("{}%", o.percent))),
            if used { left(words).style(ADD) } else { left(words) },
        ]);
    }
    let mut out = table.render("  ");
    if verdicts.len() > top {
        let more = thousands((verdicts.len() - top) as u64);
        out.push_str(&format!("  {DIM}{more} more; --top N shows more, --pool narrows{DIM:#}\n"));
    }
    out
}

/// One pool, at length.
pub fn pool(shown: &PoolVerdict) -> String {
    let mut out = format!("{BOLD}{}{BOLD:#}\n", clean_line(&shown.pool.to_string()));
    out.push_str(&format!("{}\n", wrap("  ", &verdict(&shown.verdict))));
    if let Verdict::NotUsed(why) = &shown.verdict
        && let Some(next) = sentences::relax(why)
    {
        out.push_str(&format!("  {HINT}→{HINT:#} {next}\n"));
    }
    let mut facts = vec![format!("{} per hour", price(shown.price))];
    facts.extend(sentences::beside(&shown.extras));
    if let Some(full) = shown.on_demand.filter(|full| Some(*full) != shown.price) {
        facts.push(format!("on-demand {full}"));
    }
    facts.push(shown.weight.map_or("counts for nothing".into(), |w| format!("counts for {w}")));
    out.push_str(&format!("  {DIM}{}{DIM:#}\n", facts.join(", ")));
    if let Some(odds) = &shown.odds {
        out.push_str(&format!("{DIM}{}{DIM:#}\n", wrap("  ", &sentences::odds(odds))));
    }
    for heeded in &shown.signals {
        out.push_str(&format!("  {DIM}{}{DIM:#}\n", sentences::signal(heeded)));
    }
    out
}

/// One slot, at length.
pub fn slot(shown: &SlotVerdict) -> String {
    let machine = shown
        .machine
        .as_ref()
        .map_or_else(|| "no machine known yet".into(), |machine| clean_line(machine.as_str()));
    let mut out = format!("{BOLD}{}{BOLD:#}  {}\n", shown.slot, shown.standing);
    out.push_str(&format!("  {machine} in {}\n", clean_line(&shown.pool.to_string())));
    out.push_str(&format!("  {} per hour, counts for {}\n", price(shown.price), shown.weight));
    if let Some(why) = &shown.ends {
        out.push_str(&format!(
            "{}\n",
            wrap("  ", &format!("will be destroyed because {}", sentences::why(why)))
        ));
    }
    out
}

/// For comments.
pub fn table(inputs: &Inputs, verdicts: &[PoolVerdict], top: usize) -> String {
    let name = markdown(inputs.desired.fleet.as_str());
    let mut out = format!("### Pools of `{name}`\n\n| pool | each/h | verdict |\n|---|--:|---|\n");
    for shown in verdicts.iter().take(top) {
        let pool = markdown(&shown.pool.to_string());
        let words = markdown(&verdict(&shown.verdict));
        out.push_str(&format!("| {pool} | {} | {words} |\n", price(shown.price)));
    }
    out
}

/// How many of a unit a price is for: one TFLOPS costs a fraction of a cent.
fn many(unit: fleet_model::Unit) -> u128 {
    if matches!(unit, fleet_model::Unit::Figure(_)) { 1000 } else { 1 }
}

/// What a price is for, in the singular.
fn one(unit: fleet_model::Unit) -> &'static str {
    match unit {
        fleet_model::Unit::Instances => "instance",
        fleet_model::Unit::Vcpus => "vcpu",
        fleet_model::Unit::Gpus => "gpu",
        fleet_model::Unit::MemoryGib => "GiB",
        fleet_model::Unit::Figure(Figure::Memory) => "TB",
        fleet_model::Unit::Figure(Figure::Bandwidth) => "TB/s",
        fleet_model::Unit::Figure(Figure::Int8) => "POPS",
        fleet_model::Unit::Figure(
            Figure::Fp32 | Figure::Tf32 | Figure::Bf16 | Figure::Fp16 | Figure::Fp8,
        ) => "PFLOPS",
        fleet_model::Unit::Work => "work",
    }
}
