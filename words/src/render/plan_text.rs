//! A plan for people: reads like a diff, ends with the money.

use super::attention::{attention, unseen};
use super::columns::{Cell, Columns, across, left, right};
use super::plan_cost;
use crate::output::common::Summary;
use crate::sentences;
use crate::style::{ADD, BOLD, DIM, PLAIN, REMOVE, WARN};
use crate::text::{clean_line, count, price, span, thousands, wrap};
use anstyle::Style;
use fleet_model::{
    Action, Cloud, GroupLine, Market, MicroUsd, Notice, Plan, PoolLine, Relabel, Report,
    TemplateChange, Uncounted, Units, Why,
};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// More kept pools than this are summed up: a diff is about what changes.
const KEPT_LINES: usize = 12;

/// The whole screen for one fleet.
pub fn render(plan: &Plan, report: &Report) -> String {
    render_with(plan, report, false)
}

/// The same, with every line of the cost if details are asked for.
pub fn render_with(plan: &Plan, report: &Report, details: bool) -> String {
    let summary = Summary::of(report);
    let mut out = format!("{BOLD}fleet {}{BOLD:#}", clean_line(plan.fleet.as_str()));
    let wanted: Units = report.groups.iter().map(|line| line.wanted).sum();
    if !wanted.is_zero() {
        let parts: Vec<String> = report
            .groups
            .iter()
            .filter(|line| !line.wanted.is_zero())
            .map(|line| format!("{} {}", line.wanted, line.group.market()))
            .collect();
        out.push_str(&format!(
            ": {} wanted, {}",
            sentences::amount(wanted, report.unit),
            parts.join(" + ")
        ));
    }
    out.push('\n');
    if report.is_blind() {
        // Numbers of what nobody saw would be taken for true ones.
        let (gaps, closing) = (unseen(report), closing(plan, report, summary));
        return format!("{out}\n{gaps}\n{closing}");
    }
    let pools = pools(report);
    if !pools.is_empty() {
        out.push('\n');
        out.push_str(&pools.render("  "));
    }
    if !plan.is_empty() {
        out.push('\n');
        out.push_str(&reasons(plan));
        out.push_str(&images(plan));
        out.push_str(&choices(plan));
        out.push_str(&labels(plan));
        out.push_str(&template(report));
    }
    out.push('\n');
    out.push_str(&groups(report).render("  "));
    out.push_str(&plan_cost::text(report, details));
    out.push_str(&budgets(plan, report));
    out.push_str(&outlook(report));
    out.push_str(&attention(report));
    out.push('\n');
    out.push_str(&closing(plan, report, summary));
    out
}

/// Fields of the template that changed: what a replacement is for.
fn template(report: &Report) -> String {
    let line = |change: &TemplateChange| {
        let text = wrap("    ", &sentences::template_change(change));
        format!("  {WARN}~{WARN:#} {}\n", text.trim_start())
    };
    report.template_changes.iter().map(line).collect()
}

/// Labels that change in place, per cloud: what machines should carry, and what no more.
fn labels(plan: &Plan) -> String {
    let mut clouds: BTreeMap<Cloud, (u64, &Relabel)> = BTreeMap::new();
    for one in &plan.relabel {
        clouds.entry(one.scope.cloud).or_insert((0, one)).0 += one.machines.len() as u64;
    }
    let mut out = String::new();
    for (cloud, (machines, Relabel { set, remove, .. })) in clouds {
        let set = set.iter().map(|(key, value)| clean_line(&format!("{key}={value}")));
        let remove = remove.iter().map(|key| format!("without {}", clean_line(key)));
        let words: Vec<String> = set.chain(remove).collect();
        out.push_str(&format!(
            "  {WARN}~{WARN:#} labels of {} on {cloud}, changed in place: {}\n",
            count(machines, "machine"),
            words.join(", ")
        ));
    }
    out
}

/// The last line: what would happen.
fn closing(plan: &Plan, report: &Report, summary: Summary) -> String {
    let Summary { create, destroy, keep } = summary;
    if !plan.is_empty() {
        let mut left = match plan.clear.len() as u64 {
            0 => String::new(),
            machines => format!(", leftovers of {} to remove", count(machines, "machine")),
        };
        let relabel = plan.relabel.iter().map(|one| one.machines.len() as u64).sum::<u64>();
        if relabel > 0 {
            left.push_str(&format!(", labels of {} to change", count(relabel, "machine")));
        }
        return format!(
            "{BOLD}Plan:{BOLD:#} {ADD}{} to launch{ADD:#}, {REMOVE}{} to destroy{REMOVE:#}, {} to keep{left}.",
            thousands(create.into()),
            thousands(destroy.into()),
            thousands(keep.into())
        );
    }
    if !report.in_doubt.is_empty() {
        let again = plan.resend.len() as u64;
        let rest = report.in_doubt.len() as u64 - again.min(report.in_doubt.len() as u64);
        let mut parts = Vec::new();
        if again > 0 {
            parts
                .push(format!("{} again, because the spec still wants it", count(again, "launch")));
        }
        if rest > 0 {
            parts.push(format!("{} waits until absence is proof", count(rest, "launch")));
        }
        return format!("{BOLD}Plan:{BOLD:#} settle what is in doubt: {}.", parts.join(", "));
    }
    if report.is_blind() {
        return format!(
            "{BOLD}No plan.{BOLD:#} No cloud answered, so nobody knows what is there; see above for why."
        );
    }
    if is_settled(report) {
        format!("{BOLD}No changes.{BOLD:#} The fleet is as the spec asks.")
    } else {
        format!("{BOLD}No changes{BOLD:#} can be made now; see above for what stands in the way.")
    }
}

/// Several fleets together.
pub fn total(fleets: &[(&Plan, &Report)]) -> String {
    let sum = fleets.iter().fold(Summary::default(), |s, (_, report)| s.and(Summary::of(report)));
    let (before, after) = plan_cost::before_and_after(fleets.iter().map(|(_, report)| *report));
    let blind = fleets.iter().filter(|(_, report)| report.is_blind()).count();
    if blind == fleets.len() {
        return format!("\n{BOLD}None of {} fleets{BOLD:#} could be looked at.", fleets.len());
    }
    let unseen = match blind {
        0 => String::new(),
        few => format!("; {few} could not be looked at"),
    };
    format!(
        "\n{BOLD}All {} fleets:{BOLD:#} {} to launch, {} to destroy, {} to keep; {} → {} per hour{unseen}",
        fleets.len(),
        thousands(sum.create.into()),
        thousands(sum.destroy.into()),
        thousands(sum.keep.into()),
        before.per_hour(),
        after.per_hour()
    )
}

/// Whether nothing is held, unplaced or in doubt. A region that did not answer and holds nothing
/// of ours unsettles nothing.
pub fn is_settled(report: &Report) -> bool {
    // Machines that nobody accounts for cost money, and too few zones is not what was asked for.
    let odd = report.notices.iter().any(|notice| match notice {
        Notice::NotRecorded { .. }
        | Notice::Surplus { .. }
        | Notice::LeftBehind { .. }
        | Notice::Failed { .. }
        | Notice::Stopped { .. }
        | Notice::CameBack { .. }
        | Notice::Namesakes { .. }
        | Notice::FewerZones { .. } => true,
        Notice::TagsLost { .. }
        | Notice::CommitmentUnused { .. }
        | Notice::NeedsApproval { .. }
        | Notice::AtRisk { .. }
        | Notice::ChecksFail { .. }
        | Notice::Undone { .. }
        | Notice::Gone { .. }
        | Notice::OldTemplate { .. }
        | Notice::StrategyChanged { .. }
        | Notice::Scheduled { .. }
        | Notice::ByHand { .. }
        | Notice::Fallback { .. }
        | Notice::SpotShort { .. }
        | Notice::Expires { .. }
        | Notice::Oversized { .. }
        | Notice::OldLabels { .. }
        | Notice::UnknownType { .. }
        | Notice::OldPrices { .. }
        | Notice::UnpricedMachines { .. } => false,
    });
    !odd && !report.is_blind()
        && report.held.is_empty()
        && report.unplaced.is_empty()
        && report.in_doubt.is_empty()
}

fn pools(report: &Report) -> Columns {
    let mut columns = Columns::without(&["saves", "why here", "each/h", "market"]);
    let rows = |pick: fn(&PoolLine) -> u32| {
        report.pools.iter().map(move |line| (line, pick(line))).filter(|(_, count)| *count > 0)
    };
    let kept: Vec<_> = rows(|line| line.keep).collect();
    let changes = report.pools.iter().any(|line| line.create + line.destroy > 0);
    if changes || (1..=KEPT_LINES).contains(&kept.len()) {
        columns.styled(DIM, heading(report));
    }
    for (line, count) in rows(|line| line.destroy) {
        pool(&mut columns, line, '-', count, REMOVE);
    }
    for (line, count) in rows(|line| line.create) {
        pool(&mut columns, line, '+', count, ADD);
    }
    if kept.len() <= KEPT_LINES {
        kept.into_iter().for_each(|(line, count)| pool(&mut columns, line, '=', count, DIM));
    } else {
        let machines: u64 = kept.iter().map(|(_, count)| u64::from(*count)).sum();
        let text = format!("kept in {} pools (-o json lists them)", kept.len());
        columns.styled(DIM, [right(format!("= {} ×", thousands(machines))), across(text)]);
    }
    columns
}

fn heading(report: &Report) -> [Cell; 8] {
    let some = |any: bool, head: &'static str| if any { head } else { "" };
    let saves = report.pools.iter().any(|line| !saving(line).is_empty());
    let why = report.pools.iter().any(|line| line.create > 0 && line.reason.is_some());
    [
        right(""),
        left("type"),
        left("where"),
        left("market"),
        right("each/h"),
        right(some(saves, "saves")),
        right(report.unit.as_str()),
        left(some(why, "why here")),
    ]
}

fn pool(columns: &mut Columns, line: &PoolLine, sign: char, count: u32, style: Style) {
    let units = Units(line.weight.0.saturating_mul(count.into()));
    let rest = if sign == '=' { DIM } else { PLAIN };
    columns.row([
        right(format!("{sign} {} ×", thousands(count.into()))).style(style),
        left(line.pool.instance_type.as_str()).style(style),
        left(super::place(&line.pool.place)).style(rest),
        left(line.pool.market.as_str()).style(rest),
        right(price(each(line, sign))).style(rest),
        right(saving(line)).style(rest),
        right(units.to_string()).style(rest),
        left(match (&line.reason, sign) {
            (Some(reason), '+') => sentences::pool_reason(reason),
            _ => String::new(),
        })
        .style(DIM),
    ]);
}

/// What one machine of a row adds to the cost: launches at the price of now, what stands at the price
/// at which it was launched, so that rows add up to the total.
pub fn each(line: &PoolLine, sign: char) -> Option<MicroUsd> {
    let (sum, machines) = match sign {
        '=' => (line.kept_hourly, line.keep),
        '-' => (line.ended_hourly, line.destroy),
        _ => return line.price,
    };
    if sum == MicroUsd(0) {
        return line.price;
    }
    Some(MicroUsd(sum.0 / u64::from(machines.max(1))))
}

/// How far below on-demand a spot price is, or how many machines cost nothing more.
fn saving(line: &PoolLine) -> String {
    if line.committed > 0 {
        let all = line.committed >= line.keep + line.create;
        return if all { "paid".into() } else { format!("{} paid", line.committed) };
    }
    match (line.pool.market, line.price, line.on_demand) {
        (Market::Spot, Some(price), Some(full)) if full > MicroUsd(0) => percent_below(price, full),
        _ => String::new(),
    }
}

/// `62%` for a price that is 62 % below the full one; a minus if it is above.
pub fn percent_below(price: MicroUsd, full: MicroUsd) -> String {
    let below = (1.0 - price.0 as f64 / full.0 as f64) * 100.0;
    format!("{:.0}%", below)
}

/// Why, summed over steps: a plan of a hundred requests has two or three reasons.
fn reasons(plan: &Plan) -> String {
    let mut sums: BTreeMap<(&Why, bool), u64> = BTreeMap::new();
    for step in &plan.steps {
        let create = matches!(step.action, Action::Create(_));
        *sums.entry((&step.why, create)).or_default() += step.action.count() as u64;
    }
    let widest = sums.values().map(|machines| thousands(*machines).len()).max().unwrap_or(0);
    let mut out = String::new();
    for ((why, create), machines) in sums {
        let (sign, style) = if create { ('+', ADD) } else { ('-', REMOVE) };
        let head = format!("{:>widest$} because ", thousands(machines));
        let text = wrap(&" ".repeat(head.len() + 4), &sentences::why(why));
        out.push_str(&format!("  {style}{sign}{style:#} {head}{}\n", text.trim_start()));
    }
    out
}

/// The images that names in the template stood for, and where: pinned by this plan.
fn images(plan: &Plan) -> String {
    let mut pinned: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for step in &plan.steps {
        if let Action::Create(create) = &step.action
            && let Some(image) = &create.image
        {
            let place = &create.pool.place;
            let place = format!("{}/{}", place.cloud, place.region);
            pinned.entry(image).or_default().insert(place);
        }
    }
    let line = |(image, places): (&str, BTreeSet<String>)| {
        let places: Vec<String> = places.into_iter().collect();
        format!("  {DIM}image {} in {}{DIM:#}\n", clean_line(image), places.join(", "))
    };
    pinned.into_iter().map(line).collect()
}

/// Launches that leave the choice of pools to the cloud.
fn choices(plan: &Plan) -> String {
    let mut out = String::new();
    for line in sentences::choices(plan) {
        let text = wrap("    ", &line);
        out.push_str(&format!("  {DIM}~ {}{DIM:#}\n", text.trim_start()));
    }
    out
}

fn groups(report: &Report) -> Columns {
    let mut columns = Columns::default();
    let heads = ["wanted", "before", "after"].map(|head| right(format!("{head:>8}")));
    columns.styled(DIM, [left(format!("{:<8}", report.unit.as_str()))].into_iter().chain(heads));
    let used = |line: &&GroupLine| {
        !(line.wanted.is_zero() && line.before.is_zero() && line.after.is_zero())
    };
    for line in report.groups.iter().filter(used) {
        let after = right(line.after.to_string());
        let short = line.after < line.wanted;
        columns.row([
            left(format!("{} ({})", line.group, line.group.market())),
            right(line.wanted.to_string()),
            right(line.before.to_string()),
            if short { after.style(WARN) } else { after },
        ]);
    }
    columns
}

/// Limits on what is spent, and how far they reach.
fn budgets(plan: &Plan, report: &Report) -> String {
    let line = |line| {
        let text = sentences::budget::line(line, plan.premises.decided_at);
        format!("  {DIM}budget{DIM:#}  {}\n", wrap("          ", &text).trim_start())
    };
    let mut out: String = report.budgets.iter().map(line).collect();
    // What the cost of the plan leaves out is said there.
    let said = |one: &&Uncounted| {
        let same = |other: &Uncounted| (other.kind, other.because) == (one.kind, one.because);
        !report.uncounted.iter().any(same)
    };
    let more: Vec<Uncounted> = report.budget_uncounted.iter().filter(said).copied().collect();
    for what in sentences::uncounted(&more) {
        let text = wrap("          ", &format!("not counted in what was spent: {what}"));
        out.push_str(&format!("{text}\n"));
    }
    out
}

/// What is to be expected, for fleets that say what it costs to be short: pool by pool what is
/// learned, then the whole, and what that assumes.
fn outlook(report: &Report) -> String {
    let Some(expected) = report.outlook.as_ref().filter(|expected| expected.whole.is_some()) else {
        return String::new();
    };
    let mut table = Columns::without(&["of target", "half live"]);
    table
        .styled(DIM, [left("spot pool"), right("granted"), right("half live"), right("of target")]);
    let pools = report.pools.iter().filter(|line| line.keep + line.create > 0);
    for (line, chance) in pools.filter_map(|line| Some((line, line.chance?))).take(KEPT_LINES) {
        table.row([
            left(format!("{} {}", line.pool.instance_type, super::place(&line.pool.place))),
            right(likely(chance.fill)),
            right(format!("{:.1} h", chance.life_minutes as f64 / 60.0)),
            right(likely(line.share)),
        ]);
    }
    let mut out = format!("\n{}", table.render("  "));
    let spare = spare(report);
    let lines = [
        (!spare.is_zero()).then(|| {
            let spare = sentences::amount(spare, report.unit);
            format!(
                "{spare} beyond the target are spares: they pay for themselves at the spec's \
                     availability or penalty"
            )
        }),
        Some(format!("{} likely that every launch is granted now", likely(expected.fill))),
        Some(format!(
            "{:.1} interruptions a day",
            expected.interruptions_per_day_milli as f64 / 1000.0
        )),
        expected.whole.zip(expected.reconcile_every_seconds).map(|(whole, every)| {
            let every = span(Duration::from_secs(u64::from(every)));
            format!(
                "at target {} of the time if `fleet reconcile` runs every {every}, as \
                 capacity.reconcileEvery says or by default",
                likely(whole)
            )
        }),
        Some(format!(
            "at target {} of the time if `fleet reconcile` runs every 5 minutes, {} if nightly",
            likely(expected.at_target_every_five_minutes),
            likely(expected.at_target_nightly),
        )),
        Some(format!(
            "{} to {} per hour in 8 of 10 outcomes, {} in the middle",
            expected.hourly_p10, expected.hourly_p90, expected.hourly_p50
        )),
        signals(report),
        Some(
            "assumes learned reliability, and 5 minutes from a launch until a machine is of use"
                .into(),
        ),
    ];
    let mut head = "  outlook ";
    for line in lines.into_iter().flatten() {
        let text = wrap("          ", &line);
        out.push_str(&format!("{DIM}{head}{DIM:#}{}\n", &text[head.len()..]));
        head = "          ";
    }
    out
}

/// How far each signal is believed that says something of a pool of the plan.
fn signals(report: &Report) -> Option<String> {
    let heeded = report.pools.iter().flat_map(|line| &line.signals);
    let weights: BTreeMap<_, _> = heeded.map(|one| (one.word.source, one.weight)).collect();
    let one = |(source, weight)| format!("{source} to {}", likely(weight));
    let all: Vec<String> = weights.into_iter().map(one).collect();
    (!all.is_empty()).then(|| format!("believes {}", all.join(", ")))
}

/// What will stand beyond the target.
fn spare(report: &Report) -> Units {
    let after: Units = report.groups.iter().map(|line| line.after).sum();
    let wanted: Units = report.groups.iter().map(|line| line.wanted).sum();
    after.saturating_sub(wanted)
}

fn likely(share: fleet_model::Share) -> String {
    format!("{:.1}%", f64::from(share.ppm()) / 10_000.0)
}

/// Whether two prices are a hundredth apart. Less is not worth a line.
pub fn differ(one: MicroUsd, other: MicroUsd) -> bool {
    one.0.abs_diff(other.0).saturating_mul(100) > one.0 && other > MicroUsd(0)
}
