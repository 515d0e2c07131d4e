//! What is odd about the cost of fleets, for people and for programs.

use super::bill;
use super::cost::hours;
use crate::output::cost::{Anomalies, AnomalyCause, AnomalyKind, CostAnomaly};
use crate::output::words::{Time, usd};
use crate::style::{BOLD, DIM, WARN};
use crate::text::{clean_line, count, markdown as md, when, wrap};
use fleet_model::{FleetName, Timestamp};
use fleet_money::anomaly::{Anomaly, Cause, Told};

/// Something odd about a fleet.
pub(crate) struct Odd {
    pub fleet: FleetName,
    pub anomaly: Anomaly,
    pub cause: Option<Cause>,
}

/// Everything that is shown.
pub(crate) struct Page<'a> {
    pub odd: &'a [Odd],
    pub days: u16,
    pub fleets: &'a [FleetName],
    pub now: Timestamp,
    pub told: Told,
}

/// What was looked at, and how much was found.
fn headline(page: &Page<'_>) -> (String, String) {
    let days = count(page.days, "day");
    let fleets = count(page.fleets.len() as u64, "fleet");
    let found = match page.odd.len() as u64 {
        0 => "nothing odd".to_owned(),
        found => format!("{} found", count(found, "odd thing")),
    };
    let until = when(page.now);
    (format!("The {days} until {until} against the {days} before:"), format!("{found} in {fleets}"))
}

/// Whose word there is on what is idle.
fn known(told: Told) -> String {
    match told.told {
        0 => "Whether machines are idle is not known: none says how busy it is (examples/agent)."
            .into(),
        some => format!(
            "How busy machines were is known of {} of {} machine-hours.",
            hours(some),
            hours(told.all)
        ),
    }
}

/// For people.
pub(crate) fn text(page: &Page<'_>) -> String {
    let (title, found) = headline(page);
    let mut out = format!("{BOLD}{title}{BOLD:#} {found}\n");
    for odd in page.odd {
        let fleet = clean_line(odd.fleet.as_str());
        let what = wrap("    ", &format!("{fleet}: {}", sentence(&odd.anomaly)));
        out.push_str(&format!("\n  {WARN}!{WARN:#} {}\n", what.trim_start()));
        if let Some(cause) = &odd.cause {
            let line = format!("since {}", caused(cause));
            out.push_str(&format!("    {DIM}{}{DIM:#}\n", wrap("      ", &line).trim_start()));
        }
        out.push_str(&format!("    {DIM}→ {}{DIM:#}\n", next(odd)));
    }
    out.push_str(&format!("\n{DIM}{}{DIM:#}\n", known(page.told)));
    out
}

/// For comments on pull requests.
pub(crate) fn markdown(page: &Page<'_>) -> String {
    let (title, found) = headline(page);
    let mut out = format!("**{}** {}\n", md(&title), md(&found));
    if !page.odd.is_empty() {
        out.push_str("\n| fleet | what | since | next |\n|---|---|---|---|\n");
    }
    for odd in page.odd {
        let since = odd.cause.as_ref().map(caused).unwrap_or_default();
        let (fleet, what) = (md(odd.fleet.as_str()), md(&sentence(&odd.anomaly)));
        // Words of ours, with commands in them.
        out.push_str(&format!("| {fleet} | {what} | {} | {} |\n", md(&since), next(odd)));
    }
    out.push_str(&format!("\n{}\n", known(page.told)));
    out
}

fn caused(cause: &Cause) -> String {
    let spec: String = cause.spec.to_string().chars().take(8).collect();
    format!("the round of {} ({}; spec {spec})", when(cause.at), clean_line(&cause.who))
}

fn sentence(anomaly: &Anomaly) -> String {
    match anomaly {
        Anomaly::OnDemandDrift { before, now, cost, since: _ } => format!(
            "{now}% of the burst's machine-hours are on demand, {before}% before; they cost {}",
            cost.micros()
        ),
        Anomaly::DearerFamily { family, each, before, cost, since: _ } => format!(
            "{} is new and costs {each} per unit-hour, where a unit cost {before} before; {} so far",
            clean_line(family),
            cost.micros()
        ),
        Anomaly::PriceJump { pool, from, to, since } => {
            let rise = (u128::from(to.0) * 100 / u128::from(from.0.max(1))).saturating_sub(100);
            format!(
                "the price of {pool} jumped by {rise}%, from {from} to {to}, at {}",
                when(*since)
            )
        }
        Anomaly::CostGrew { before, now, since: _ } => {
            format!("a day costs {}, {} before", now.micros(), before.micros())
        }
        Anomaly::Idle { machines, idle_ms, cost } => format!(
            "{} had nothing to do for {} machine-hours, which cost {}",
            count(*machines, "machine"),
            hours(*idle_ms),
            cost.micros()
        ),
        Anomaly::Orphans { machines } => format!(
            "{} that nobody asked for, and that no report counts",
            count(*machines, "machine")
        ),
        Anomaly::Unlabelled { label, cost } => {
            format!(
                "{} was spent on machines without the label `{}`",
                cost.micros(),
                clean_line(label)
            )
        }
    }
}

/// What to do about it.
fn next(odd: &Odd) -> String {
    let fleet = &odd.fleet;
    match odd.anomaly {
        Anomaly::OnDemandDrift { .. } => {
            format!("`fleet explain {fleet}` says why spot is not used")
        }
        Anomaly::DearerFamily { .. } => {
            format!("`fleet explain {fleet}` says why; exclude it, or name families")
        }
        Anomaly::PriceJump { .. } => {
            "`rebalance` or `maxSpotPrice` in the spec moves machines away".into()
        }
        Anomaly::CostGrew { .. } => format!("`fleet history {fleet}` shows what was launched"),
        Anomaly::Idle { .. } => {
            format!("find out what they wait for, or lower `capacity.target` of {fleet}")
        }
        Anomaly::Orphans { .. } => "`fleet sweep` lists them".into(),
        Anomaly::Unlabelled { .. } => {
            "add the label to metadata.labels; a policy can require it".into()
        }
    }
}

/// For programs.
pub(crate) fn document(page: &Page<'_>) -> Anomalies {
    let one = |odd: &Odd| CostAnomaly {
        fleet: odd.fleet.to_string(),
        is: kind(&odd.anomaly),
        what: sentence(&odd.anomaly),
        next: next(odd),
        cause: odd.cause.as_ref().map(|cause| AnomalyCause {
            at: Time(cause.at),
            who: cause.who.clone(),
            spec: cause.spec.to_string(),
        }),
    };
    Anomalies {
        to: Time(page.now),
        days: page.days,
        machine_hours: machine_hours(page.told.all),
        told_machine_hours: machine_hours(page.told.told),
        anomalies: page.odd.iter().map(one).collect(),
    }
}

/// For programs.
fn machine_hours(ms: u128) -> f64 {
    bill::hours(u64::try_from(ms).unwrap_or(u64::MAX))
}

fn kind(anomaly: &Anomaly) -> AnomalyKind {
    match anomaly {
        Anomaly::OnDemandDrift { before, now, cost, since } => AnomalyKind::OnDemandDrift {
            before_percent: *before,
            now_percent: *now,
            cost_usd: usd(cost.micros()),
            since: Time(*since),
        },
        Anomaly::DearerFamily { family, each, before, cost, since } => AnomalyKind::DearerFamily {
            family: family.clone(),
            unit_hour_usd: usd(*each),
            before_unit_hour_usd: usd(*before),
            cost_usd: usd(cost.micros()),
            since: Time(*since),
        },
        Anomaly::PriceJump { pool, from, to, since } => AnomalyKind::PriceJump {
            pool: pool.to_string(),
            from_hourly_usd: usd(*from),
            to_hourly_usd: usd(*to),
            since: Time(*since),
        },
        Anomaly::CostGrew { before, now, since } => AnomalyKind::CostGrew {
            before_daily_usd: usd(before.micros()),
            now_daily_usd: usd(now.micros()),
            since: Time(*since),
        },
        Anomaly::Idle { machines, idle_ms, cost } => AnomalyKind::Idle {
            machines: *machines,
            machine_hours: machine_hours(*idle_ms),
            cost_usd: usd(cost.micros()),
        },
        Anomaly::Orphans { machines } => AnomalyKind::Orphans { machines: *machines },
        Anomaly::Unlabelled { label, cost } => {
            AnomalyKind::Unlabelled { label: label.clone(), cost_usd: usd(cost.micros()) }
        }
    }
}
