//! What was spent, for programs.

use crate::output::cost::{
    CommitmentUse, CostFigures, CostLine, CostReport, UncountedHours, UnpricedMachine,
};
use crate::output::words::{Time, usd};
use fleet_model::{MicroUsd, Timestamp};
use fleet_money::Spend;
use fleet_money::report::{Bought, By, Line, Part, Question, Saved, Tally, Unit, Use};

const HOUR_MS: f64 = 3_600_000.0;

/// The report. `surplus`: machines that a cloud made and nobody asked for.
pub fn document(tally: &Tally, question: &Question, time_zone: &str, surplus: u64) -> CostReport {
    let (lines, total) = tally.sorted();
    let name = |part: &Part| (*part != Part::Without).then(|| part.to_string());
    CostReport {
        from: moment(question.from).map(Time),
        to: moment(question.to).map(Time),
        time_zone: time_zone.to_owned(),
        by: question.by.iter().map(|by| By::title(by).to_owned()).collect(),
        lines: lines
            .iter()
            .map(|(key, line)| CostLine {
                group: key.iter().map(name).collect(),
                figures: figures(line),
            })
            .collect(),
        total: figures(&total),
        unpriced: tally
            .unpriced
            .iter()
            .map(|(one, ms)| UnpricedMachine {
                fleet: one.fleet.to_string(),
                machine: one.machine.to_string(),
                pool: one.pool.to_string(),
                hours: *ms as f64 / HOUR_MS,
            })
            .collect(),
        uncounted: tally
            .uncounted
            .iter()
            .map(|((kind, because, cloud), ms)| UncountedHours {
                kind: (*kind).into(),
                because: (*because).into(),
                provider: (*cloud).into(),
                hours: *ms as f64 / HOUR_MS,
            })
            .collect(),
        estimated_machines: tally.estimated,
        estimated_disks: tally.estimated_disks,
        surplus_machines: surplus,
        commitments: commitments(tally),
    }
}

/// What was bought ahead.
fn commitments(tally: &Tally) -> Vec<CommitmentUse> {
    let one = |(bought, used): (&Bought, &Use)| {
        let in_hours = |ms: u128| ms as f64 / HOUR_MS;
        let known = |spend: Spend| (used.unpriced_ms == 0).then(|| usd(spend.micros()));
        let Bought { fleet, cloud, region, instance_type } = bought;
        CommitmentUse {
            fleet: fleet.to_string(),
            provider: cloud.to_string(),
            region: region.clone(),
            kind: instance_type.to_string(),
            held_hours: in_hours(used.held_ms),
            used_hours: in_hours(used.used_ms),
            unused_hours: in_hours(used.held_ms.saturating_sub(used.used_ms)),
            on_demand_usd: usd(used.worth.micros()),
            paid_usd: known(used.paid),
            unused_usd: known(used.idle),
            saved_usd: used.saved().map(|saved| match saved {
                Saved::Less(part) => usd(part.micros()),
                Saved::More(part) => -usd(part.micros()),
            }),
        }
    };
    tally.commitments.iter().map(one).collect()
}

/// What a group comes to.
pub fn figures(line: &Line) -> CostFigures {
    let in_hours = |ms: u128| ms as f64 / HOUR_MS;
    let unit = per_unit(line);
    let (saved_usd, saved_percent) = match line.saved() {
        None => (None, None),
        Some(saved) => {
            let (sign, part) = match saved {
                Saved::Less(part) => (1.0, part),
                Saved::More(part) => (-1.0, part),
            };
            let share = part.raw() as f64 / line.on_demand.raw().max(1) as f64;
            (Some(sign * usd(part.micros())), Some(sign * (share * 1000.0).round() / 10.0))
        }
    };
    CostFigures {
        cost_usd: usd(line.spent.micros()),
        machines_usd: usd(line.on_machines().micros()),
        disks_usd: usd(line.beside.disk.micros()),
        addresses_usd: usd(line.beside.address.micros()),
        traffic_usd: usd(line.beside.egress.micros()),
        about_usd: usd(line.about.micros()),
        machine_hours: in_hours(line.ms),
        unpriced_hours: in_hours(line.unpriced_ms),
        unit: unit.map(|(unit, ..)| unit.to_owned()),
        unit_hours: unit.map(|(_, ms, _)| in_hours(ms)),
        unit_hour_usd: unit.and_then(|(_, _, per)| per).map(usd),
        on_demand_usd: (line.on_demand > Spend::default()).then(|| usd(line.on_demand.micros())),
        saved_usd,
        saved_percent,
        interruptions: line.interruptions,
        lost_hours: in_hours(line.lost_ms),
        lost_usd: usd(line.lost.micros()),
        free_usd: usd(line.waived.micros()),
        committed_hours: in_hours(line.covered_ms),
        committed_usd: usd(line.covered.micros()),
        estimated_usd: usd(line.estimated.micros()),
    }
}

/// Unit-hours and what one cost, if capacity is one thing.
pub fn per_unit(line: &Line) -> Option<(&str, u128, Option<MicroUsd>)> {
    let Unit::One(unit) = &line.unit else { return None };
    // Units are thousandths.
    let per = (line.spent_on_units * 1000).per_hour(line.unit_ms);
    Some((unit, line.unit_ms / 1000, per))
}

/// A bound of a report; `None` for the beginning of time.
pub fn moment(ms: i64) -> Option<Timestamp> {
    (ms != i64::MIN).then(|| Timestamp::from_millisecond(ms).ok()).flatten()
}
