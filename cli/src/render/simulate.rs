//! What a replay came to.

use crate::render::columns::{Columns, left, right};
use crate::style::{BOLD, DIM};
use crate::text::clean;
use fleet_model::Desired;
use fleet_replay::{Compared, Measures, Row, Setup};
use serde_json::{Value, json};

/// Format number of the document.
const FORMAT: u32 = 1;

/// For people.
pub(crate) fn text(
    desired: &Desired,
    setup: &Setup,
    compared: &[Compared],
    means: &[(Row, f64)],
) -> String {
    let mut out = format!(
        "fleet {}: {} machines, {} of them on demand, ready after {} s\n",
        clean(desired.fleet.as_str()),
        setup.target,
        setup.base,
        setup.delay_seconds
    );
    for one in compared {
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
    out.push_str(&format!(
        "\n{DIM}cost: all on demand is 1. J10: cost plus 10 for what is missing. over bound: J10 over \
         what who knows the future pays.{DIM:#}"
    ));
    out
}

fn table(rows: impl Iterator<Item = (Row, f64)>) -> String {
    let mut columns = Columns::default();
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
pub(crate) fn markdown(desired: &Desired, compared: &[Compared], means: &[(Row, f64)]) -> String {
    let mut out = format!("### Replay of `{}`\n", clean(desired.fleet.as_str()));
    for one in compared {
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

fn policy(Row { policy, measures }: &Row, over: f64) -> Value {
    let Measures {
        cost,
        availability,
        delivered,
        unit_hours,
        interruptions_per_100h,
        recover_minutes,
    } = measures;
    json!({
        "name": policy.as_str(),
        "cost": cost,
        "availability": availability,
        "delivered": delivered,
        "unitHours": unit_hours,
        "interruptionsPer100h": interruptions_per_100h,
        "recoverMinutes": recover_minutes,
        "j3": measures.j(3.0),
        "j10": measures.j(10.0),
        "j30": measures.j(30.0),
        "j10OverBound": over,
    })
}

/// For programs. `policies` are the means over all recordings.
pub(crate) fn document(
    desired: &Desired,
    setup: &Setup,
    compared: &[Compared],
    means: &[(Row, f64)],
) -> Value {
    let recordings = compared.iter().map(|one| {
        let rows = one.rows.iter();
        let rows = rows.map(|row| policy(row, row.measures.j(10.0) / one.omniscient));
        json!({
            "name": one.recording,
            "hours": one.hours,
            "omniscient": one.omniscient,
            "outOfReach": one.out_of_reach.as_ref().map(|limit| json!({
                "limit": limit.limit,
                "share": f64::from(limit.share.ppm()) / 1e6,
                "places": limit.places,
                "most": limit.most,
                "raiseTo": f64::from(limit.raise_to.ppm()) / 1e6,
            })),
            "policies": rows.collect::<Vec<_>>(),
        })
    });
    json!({
        "formatVersion": FORMAT,
        "fleet": desired.fleet.as_str(),
        "target": setup.target,
        "base": setup.base,
        "delaySeconds": setup.delay_seconds,
        "policies": means.iter().map(|(row, over)| policy(row, *over)).collect::<Vec<_>>(),
        "recordings": recordings.collect::<Vec<_>>(),
    })
}

/// Several fleets.
pub(crate) fn several(documents: &[Value]) -> Value {
    json!({ "formatVersion": FORMAT, "fleets": documents })
}
