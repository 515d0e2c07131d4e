//! What a replay came to.

use crate::args::SimulateArgs;
use crate::output::simulate::{self as output, FleetReplay, OutOfReach, PolicyResult, Recording};
use crate::output::words::percent;
use crate::render::calibration;
use crate::render::columns::{Columns, left, right};
use crate::style::{BOLD, DIM, WARN};
use crate::text::{clean, markdown as md, span, wrap};
use fleet_model::Desired;
use fleet_replay::{
    Calibration, Compared, Measures, Named, Notice, Replaced, Row, SPOT_SHARE, Setup, Trace,
    delay_samples, notice_seconds, overall, rounds,
};
use std::time::Duration;

/// A replay of one fleet.
pub(crate) struct Replay<'a> {
    pub desired: &'a Desired,
    pub setup: &'a Setup,
    /// The recordings, and what came of each.
    pub traces: &'a [Trace],
    pub compared: &'a [Compared],
    /// The means over them.
    pub means: &'a [(Row, f64)],
    /// What the judge charges for a missing machine-hour.
    pub penalty: f64,
    /// What was predicted of machines held, and whether people are shown it.
    pub calibrations: &'a [Calibration],
    pub show_calibrations: bool,
    /// What it takes for granted.
    pub assumed: &'a [String],
    /// What of the spec it does not follow.
    pub replaced: &'a [Replaced],
}

/// For people.
pub(crate) fn text(replay: &Replay<'_>) -> String {
    let Replay { desired, setup, compared, means, penalty, assumed, replaced, .. } = replay;
    let penalty = *penalty;
    let mut out = format!(
        "fleet {}: {} machines, {} of them on demand, ready after {} s\n",
        clean(desired.fleet.as_str()),
        setup.target,
        setup.base,
        setup.delay_seconds
    );
    if !replaced.is_empty() {
        out.push_str(&format!(
            "\n{WARN}Not as the spec says{WARN:#}, because the recording has no such thing\n"
        ));
        for one in replaced.iter() {
            out.push_str(&format!("{}\n", wrap("  - ", &one.to_string())));
        }
    }
    for one in compared.iter() {
        let title = format!(
            "{BOLD}{}{BOLD:#}, {:.0} hours; who knows the future pays {:.3}",
            clean(&one.recording),
            one.hours,
            one.omniscient
        );
        let lines = one.rows.iter().map(|row| (*row, row.measures.j(penalty) / one.omniscient));
        out.push_str(&format!("\n{title}\n{}", table(lines, penalty)));
        if let Some(limit) = &one.out_of_reach {
            out.push_str(&format!("  {}\n", clean(&limit.to_string())));
        }
    }
    if compared.len() > 1 {
        let title = format!("{BOLD}all {} recordings{BOLD:#}", compared.len());
        out.push_str(&format!("\n{title}\n{}", table(means.iter().copied(), penalty)));
    }
    if replay.show_calibrations {
        out.push_str(&calibration::text(replay.calibrations));
    }
    out.push_str(&format!("\n{BOLD}Assumptions{BOLD:#}\n"));
    for sentence in assumed.iter() {
        out.push_str(&format!("{}\n", wrap("  - ", sentence)));
    }
    out.push_str(&format!(
        "\n{DIM}cost: all on demand is 1. J{penalty}: cost plus {penalty} for what is missing. over \
         bound: J{penalty} over what who knows the future pays.{DIM:#}"
    ));
    out
}

/// The penalties that have a column each: the usual ones, and the one that was asked for.
fn penalties(asked: f64) -> Vec<f64> {
    let mut all = vec![3.0, 10.0, 30.0];
    if !all.contains(&asked) {
        all.push(asked);
    }
    all
}

/// The headings and, for each policy, its cells.
fn cells(rows: impl Iterator<Item = (Row, f64)>, penalty: f64) -> (Vec<String>, Vec<Vec<String>>) {
    let mut heads: Vec<String> =
        ["policy", "cost", "available", "delivered", "lost/100h", "recover"].map(Into::into).into();
    heads.extend(penalties(penalty).iter().map(|penalty| format!("J{penalty}")));
    heads.push("over bound".into());
    let cells = |(Row { policy, measures: m }, over): (Row, f64)| {
        let mut cells = vec![
            policy.as_str().to_owned(),
            format!("{:.3}", m.cost),
            format!("{:.2}%", m.availability * 100.0),
            format!("{:.2}%", m.delivered * 100.0),
            format!("{:.1}", m.interruptions_per_100h),
            format!("{:.0} min", m.recover_minutes),
        ];
        cells.extend(penalties(penalty).iter().map(|penalty| format!("{:.3}", m.j(*penalty))));
        cells.push(format!("{over:.2}"));
        cells
    };
    (heads, rows.map(cells).collect())
}

fn table(rows: impl Iterator<Item = (Row, f64)>, penalty: f64) -> String {
    let mut columns =
        Columns::without(&["J30", "J3", "recover", "over bound", "delivered", "lost/100h"]);
    let line = |(nth, cell): (usize, &String)| if nth == 0 { left(cell) } else { right(cell) };
    let (heads, rows) = cells(rows, penalty);
    columns.styled(DIM, heads.iter().enumerate().map(line));
    for row in &rows {
        columns.row(row.iter().enumerate().map(line));
    }
    columns.render("  ")
}

/// For comments on pull requests.
pub(crate) fn markdown(replay: &Replay<'_>) -> String {
    let Replay { desired, compared, means, penalty, assumed, replaced, .. } = replay;
    let penalty = *penalty;
    let mut out = format!("### Replay of `{}`\n", clean(desired.fleet.as_str()));
    let mut list = |title: &str, lines: Vec<String>| {
        if !lines.is_empty() {
            let lines: Vec<String> = lines.iter().map(|line| format!("- {}", md(line))).collect();
            out.push_str(&format!("\n{title}\n\n{}\n", lines.join("\n")));
        }
    };
    list("Not as the spec says:", replaced.iter().map(ToString::to_string).collect());
    list("Assumptions:", assumed.to_vec());
    for one in compared.iter() {
        let rows = one.rows.iter().map(|row| (*row, row.measures.j(penalty) / one.omniscient));
        let title = clean(&one.recording).replace('|', "\\|");
        out.push_str(&format!("\n**{title}**, {:.0} hours\n\n{}", one.hours, grid(rows, penalty)));
        if let Some(limit) = &one.out_of_reach {
            out.push_str(&format!("\n{}\n", clean(&limit.to_string()).replace('|', "\\|")));
        }
    }
    if compared.len() > 1 {
        let grid = grid(means.iter().copied(), penalty);
        out.push_str(&format!("\n**All recordings**\n\n{grid}"));
    }
    if replay.show_calibrations {
        out.push_str(&calibration::markdown(replay.calibrations));
    }
    out.trim_end().to_owned()
}

fn grid(rows: impl Iterator<Item = (Row, f64)>, penalty: f64) -> String {
    let (heads, rows) = cells(rows, penalty);
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let rule = format!("|---|{}\n", "--:|".repeat(heads.len() - 1));
    let rows: String = rows.iter().map(|row| line(row)).collect();
    format!("{}{rule}{rows}", line(&heads))
}

/// What a replay takes for granted, in sentences. Whoever believes its numbers believes these.
pub(crate) fn assumptions(
    desired: &Desired,
    setup: &Setup,
    traces: &[Trace],
    policies: &[Named],
    args: &SimulateArgs,
) -> Vec<String> {
    let (penalty, seed) = (args.penalty, args.seed);
    let each = |of: &dyn Fn(&Trace) -> String| each(traces, of);
    let interval = each(&|trace| seconds(trace.interval_seconds.into()));
    let rounds = each(&|trace| rounds(trace).to_string());
    let ready = each(&|trace| {
        seconds(delay_samples(trace, setup) as u64 * u64::from(trace.interval_seconds))
    });
    let on_demand = each(&|trace| format!("${}", trace.on_demand));
    let zones = match seed {
        0 => "Zones stand in the order of the recording.".to_owned(),
        seed => format!("Zones are shuffled with seed {seed}."),
    };
    let mut said = vec![
        format!(
            "A reconcile runs at every sample, every {interval}, with {rounds} rounds of requests at most."
        ),
        format!(
            "A machine is ready {ready} after its launch: --delay {}, in whole samples.",
            seconds(setup.delay_seconds.into())
        ),
        lost(setup, &each(&|trace| seconds(notice_seconds(trace, setup).into()))),
        format!(
            "On-demand is always granted, at {on_demand} per hour. Machines are paid for from their launch."
        ),
    ];
    said.push(format!(
        "A missing machine-hour counts as {penalty} on-demand hours (--penalty). That is for the judge \
         alone: {}",
        planned_with(desired)
    ));
    said.extend(others(desired, policies));
    said.push(match traces.iter().all(|trace| trace.has_prices) {
        true => "Spot prices are those of the recording.".to_owned(),
        false => {
            let share = SPOT_SHARE * 100.0;
            format!("Where a recording has no prices, spot costs {share:.0}% of on-demand.")
        }
    });
    said.push(format!("{zones} The first hour is not measured."));
    said
}

/// What holds for each recording: said once where it is the same for all, otherwise with their names.
fn each(traces: &[Trace], of: &dyn Fn(&Trace) -> String) -> String {
    let mut values: Vec<(String, Vec<&str>)> = Vec::new();
    for trace in traces {
        let value = of(trace);
        match values.iter_mut().find(|(known, _)| *known == value) {
            Some((_, names)) => names.push(&trace.name),
            None => values.push((value, vec![&trace.name])),
        }
    }
    let named = |(value, names): &(String, Vec<&str>)| format!("{value} ({})", names.join(", "));
    match values.as_slice() {
        [(value, _)] => value.clone(),
        several => several.iter().map(named).collect::<Vec<_>>().join(", "),
    }
}

/// What the other policies do where spot is missing, which the fleet does only if its spec says so.
fn others(desired: &Desired, policies: &[Named]) -> Option<String> {
    let spot = policies.iter().any(|policy| !matches!(policy, Named::Engine | Named::OnDemand));
    let fleet = policies.contains(&Named::Engine);
    let buy = "The other policies buy on demand what spot does not grant";
    match (spot, desired.placement.hedge.is_some() || desired.fallback.is_some()) {
        (false, _) => None,
        (true, false) if fleet => Some(format!(
            "{buy}. The fleet does not: its spec has no `penalty`, `availability` or `fallback`. So \
             their cost and delivered do not compare with the fleet's."
        )),
        (true, _) => Some(format!("{buy}, whatever a missing machine counts for.")),
    }
}

/// A time of a replay, to the second: 136 s are not two minutes.
fn seconds(seconds: u64) -> String {
    match (seconds / 60, seconds % 60) {
        (minutes @ 1..60, rest @ 1..) => format!("{minutes}m {rest}s"),
        _ => span(Duration::from_secs(seconds)),
    }
}

/// When machines are lost, and who knows of it before.
fn lost(setup: &Setup, notice: &str) -> String {
    let lost = "A machine is lost when its zone carries fewer: the youngest first";
    if setup.notice == Notice::None {
        return format!(
            "{lost}, without notice (--notice). The reconcile of the same sample replaces it."
        );
    }
    format!(
        "{lost}, announced {notice} ahead (--notice). The fleet reconciles at the notice, so its \
         replacement is launched, and paid for, that much earlier. From the notice on the zone grants \
         no more than it will carry. The other policies do not react to notices."
    )
}

/// What the fleet itself takes a missing machine to cost.
fn planned_with(desired: &Desired) -> String {
    let Some(hedge) = desired.placement.hedge else {
        return "the spec has no `penalty` and no `availability`, so the fleet holds no on-demand \
                machines in place of spot, and what spot does not grant is missing."
            .into();
    };
    // `Hedge::for_availability` the other way round.
    let penalty = f64::from(hedge.penalty_milli) / 1000.0;
    let share = ((1.0 - 0.3 / penalty) * 1e5).round() / 1e3;
    let means = if share > 0.0 {
        format!(", which is what `availability: {share}%` means")
    } else {
        String::new()
    };
    format!("the fleet plans with the spec's own penalty of {penalty}{means}.")
}

fn policy(Row { policy, measures }: &Row, of: Judged) -> PolicyResult {
    let Measures {
        cost,
        availability,
        delivered,
        unit_hours,
        interruptions_per_100h,
        recover_minutes,
    } = measures;
    PolicyResult {
        name: policy.as_str().to_owned(),
        relative_cost: *cost,
        available_percent: availability * 100.0,
        delivered_percent: delivered * 100.0,
        unit_hours: *unit_hours,
        interruptions_per100h: *interruptions_per_100h,
        recover_minutes: *recover_minutes,
        j3: measures.j(3.0),
        j10: measures.j(10.0),
        j30: measures.j(30.0),
        j10_over_bound: of.j10_over_bound,
        j: measures.j(of.penalty),
        over_bound: of.over_bound,
    }
}

/// What the judge makes of a policy.
struct Judged {
    penalty: f64,
    over_bound: f64,
    j10_over_bound: f64,
}

/// For programs. `policies` are the means over all recordings.
pub(crate) fn document(replay: &Replay<'_>) -> FleetReplay {
    let &Replay { desired, setup, traces, compared, means, penalty, .. } = replay;
    let recording = |(trace, one): (&Trace, &Compared)| Recording {
        name: one.recording.clone(),
        hours: one.hours,
        interval_seconds: trace.interval_seconds,
        notice_seconds: notice_seconds(trace, setup),
        zones: trace.zones.clone(),
        on_demand_hourly_usd: trace.on_demand,
        omniscient: one.omniscient,
        out_of_reach: one.out_of_reach.as_ref().map(|limit| OutOfReach {
            limit: limit.limit.to_owned(),
            share_percent: percent(limit.share),
            places: limit.places.clone(),
            most: limit.most,
            raise_to_percent: percent(limit.raise_to),
        }),
        policies: one
            .rows
            .iter()
            .map(|row| {
                let over = |penalty| row.measures.j(penalty) / one.omniscient;
                let (over_bound, j10_over_bound) = (over(penalty), over(10.0));
                policy(row, Judged { penalty, over_bound, j10_over_bound })
            })
            .collect(),
    };
    let mean = |((row, over_bound), (_, j10_over_bound)): (&(Row, f64), (Row, f64))| {
        policy(row, Judged { penalty, over_bound: *over_bound, j10_over_bound })
    };
    FleetReplay {
        fleet: desired.fleet.to_string(),
        target: setup.target,
        base: setup.base,
        delay_seconds: setup.delay_seconds,
        penalty,
        spec_penalty: desired.placement.hedge.map(|hedge| f64::from(hedge.penalty_milli) / 1000.0),
        assumptions: replay.assumed.to_vec(),
        replaced: replay
            .replaced
            .iter()
            .map(|one| output::Replaced {
                field: one.field.to_owned(),
                wanted: one.wanted.clone(),
                used: one.used.clone(),
            })
            .collect(),
        policies: means.iter().zip(overall(compared, 10.0)).map(mean).collect(),
        calibration: calibration::document(replay.calibrations),
        recordings: traces.iter().zip(compared.iter()).map(recording).collect(),
    }
}
