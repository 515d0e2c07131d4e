//! What a replay came to.

use crate::output::simulate::{self as output, FleetReplay, OutOfReach, PolicyResult, Recording};
use crate::output::words::percent;
use crate::render::columns::{Columns, left, right};
use crate::style::{BOLD, DIM, WARN};
use crate::text::{clean, markdown as md, span, wrap};
use fleet_model::Desired;
use fleet_replay::{
    Compared, Measures, Replaced, Row, SPOT_SHARE, Setup, Trace, delay_samples, rounds,
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
    /// What it takes for granted.
    pub assumed: &'a [String],
    /// What of the spec it does not follow.
    pub replaced: &'a [Replaced],
}

/// For people.
pub(crate) fn text(replay: &Replay<'_>) -> String {
    let Replay { desired, setup, compared, means, assumed, replaced, .. } = replay;
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
        let lines = one.rows.iter().map(|row| (*row, row.measures.j(10.0) / one.omniscient));
        out.push_str(&format!("\n{title}\n{}", table(lines)));
        if let Some(limit) = &one.out_of_reach {
            out.push_str(&format!("  {}\n", clean(&limit.to_string())));
        }
    }
    if compared.len() > 1 {
        let title = format!("{BOLD}all {} recordings{BOLD:#}", compared.len());
        out.push_str(&format!("\n{title}\n{}", table(means.iter().copied())));
    }
    out.push_str(&format!("\n{BOLD}Assumptions{BOLD:#}\n"));
    for sentence in assumed.iter() {
        out.push_str(&format!("{}\n", wrap("  - ", sentence)));
    }
    out.push_str(&format!(
        "\n{DIM}cost: all on demand is 1. J10: cost plus 10 for what is missing. over bound: J10 over \
         what who knows the future pays.{DIM:#}"
    ));
    out
}

fn table(rows: impl Iterator<Item = (Row, f64)>) -> String {
    let mut columns =
        Columns::without(&["J30", "J3", "recover", "over bound", "delivered", "lost/100h"]);
    let heads = [
        "policy",
        "cost",
        "available",
        "delivered",
        "lost/100h",
        "recover",
        "J3",
        "J10",
        "J30",
        "over bound",
    ];
    let cells = heads.iter().enumerate();
    let cells = cells.map(|(nth, head)| if nth == 0 { left(head) } else { right(head) });
    columns.styled(DIM, cells);
    for (Row { policy, measures: m }, over) in rows {
        columns.row([
            left(policy.as_str()),
            right(format!("{:.3}", m.cost)),
            right(format!("{:.2}%", m.availability * 100.0)),
            right(format!("{:.2}%", m.delivered * 100.0)),
            right(format!("{:.1}", m.interruptions_per_100h)),
            right(format!("{:.0} min", m.recover_minutes)),
            right(format!("{:.3}", m.j(3.0))),
            right(format!("{:.3}", m.j(10.0))),
            right(format!("{:.3}", m.j(30.0))),
            right(format!("{over:.2}")),
        ]);
    }
    columns.render("  ")
}

/// For comments on pull requests.
pub(crate) fn markdown(replay: &Replay<'_>) -> String {
    let Replay { desired, compared, means, assumed, replaced, .. } = replay;
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
        let rows = one.rows.iter().map(|row| (*row, row.measures.j(10.0) / one.omniscient));
        let title = clean(&one.recording).replace('|', "\\|");
        out.push_str(&format!("\n**{title}**, {:.0} hours\n\n{}", one.hours, grid(rows)));
        if let Some(limit) = &one.out_of_reach {
            out.push_str(&format!("\n{}\n", clean(&limit.to_string()).replace('|', "\\|")));
        }
    }
    if compared.len() > 1 {
        out.push_str(&format!("\n**All recordings**\n\n{}", grid(means.iter().copied())));
    }
    out.trim_end().to_owned()
}

fn grid(rows: impl Iterator<Item = (Row, f64)>) -> String {
    let mut out = String::from(
        "| policy | cost | available | delivered | lost/100h | recover | J3 | J10 | J30 | over bound |\n\
         |---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n",
    );
    for (Row { policy, measures: m }, over) in rows {
        out.push_str(&format!(
            "| {} | {:.3} | {:.2} % | {:.2} % | {:.1} | {:.0} min | {:.3} | {:.3} | {:.3} | {over:.2} |\n",
            policy.as_str(),
            m.cost,
            m.availability * 100.0,
            m.delivered * 100.0,
            m.interruptions_per_100h,
            m.recover_minutes,
            m.j(3.0),
            m.j(10.0),
            m.j(30.0),
        ));
    }
    out
}

/// What a replay takes for granted, in sentences. Whoever believes its numbers believes these.
pub(crate) fn assumptions(setup: &Setup, traces: &[Trace], seed: u64) -> Vec<String> {
    let seconds = |seconds: u64| span(Duration::from_secs(seconds));
    let each = |of: &dyn Fn(&Trace) -> String| {
        let mut all: Vec<String> = traces.iter().map(of).collect();
        all.dedup();
        all.join(", ")
    };
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
        format!("A reconcile runs at every sample, every {interval}, with {rounds} rounds of requests at most."),
        format!("A machine is ready {ready} after its launch: --delay {}, in whole samples.", seconds(setup.delay_seconds.into())),
        "A machine is lost when its zone carries fewer: the youngest first, without notice. The reconcile of \
         the same sample replaces it."
            .to_owned(),
        format!("On-demand is always granted, at {on_demand} per hour. Machines are paid for from their launch."),
    ];
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

fn policy(Row { policy, measures }: &Row, over: f64) -> PolicyResult {
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
        j10_over_bound: over,
    }
}

/// For programs. `policies` are the means over all recordings.
pub(crate) fn document(replay: &Replay<'_>) -> FleetReplay {
    let Replay { desired, setup, traces, compared, means, assumed, replaced } = replay;
    let recording = |(trace, one): (&Trace, &Compared)| Recording {
        name: one.recording.clone(),
        hours: one.hours,
        interval_seconds: trace.interval_seconds,
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
            .map(|row| policy(row, row.measures.j(10.0) / one.omniscient))
            .collect(),
    };
    FleetReplay {
        fleet: desired.fleet.to_string(),
        target: setup.target,
        base: setup.base,
        delay_seconds: setup.delay_seconds,
        assumptions: assumed.to_vec(),
        replaced: replaced
            .iter()
            .map(|one| output::Replaced {
                field: one.field.to_owned(),
                wanted: one.wanted.clone(),
                used: one.used.clone(),
            })
            .collect(),
        policies: means.iter().map(|(row, over)| policy(row, *over)).collect(),
        recordings: traces.iter().zip(compared.iter()).map(recording).collect(),
    }
}
