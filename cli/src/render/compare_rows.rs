//! A comparison for programs: JSON and CSV.

use super::compare::Compared;
use super::compare_words::REPLACE_MINUTES;
use crate::args::{CompareArgs, Perf};
use crate::interrupted::{Lives, Rate, RateBasis};
use crate::output::compare as output;
use crate::output::words::{Time, usd};
use crate::text::clean_line;
use fleet_model::{Chip, Figure};
use fleet_money::benchmark::Metric;
use fleet_money::compare::{Absent, Basis, Useful, Way};
use fleet_money::job;

fn useful(useful: &Useful, perf: &Perf) -> output::Useful {
    let figure = match perf {
        Perf::Published(figure) | Perf::Measured(Metric::Figure(figure)) => *figure,
        Perf::Measured(Metric::Training) | Perf::File(_) => Figure::Bf16,
    };
    let said = |chip: &Chip| (Some(chip.grade), chip.source_of(figure).to_owned());
    let (basis, (grade, source)) = match useful.basis {
        Basis::Published(chip) => (output::Basis::Published, said(chip)),
        Basis::NotMeasured(chip) => (output::Basis::PublishedInstead, said(chip)),
        Basis::Measured(at) => (output::Basis::Measured, (None, format!("benchmark of {at}"))),
        Basis::Own => {
            let file = match perf {
                Perf::File(path) => path.display().to_string(),
                Perf::Published(_) | Perf::Measured(_) => String::new(),
            };
            (output::Basis::Own, (None, file))
        }
    };
    let grade = grade.map(|grade| grade.as_str().to_owned());
    output::Useful { units: useful.units.as_f64(), basis, grade, source }
}

fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

/// The interval between checkpoints by a rule of thumb, in minutes.
pub(crate) fn rule(way: &Way, args: &CompareArgs, rule: fn(f64, f64) -> f64) -> Option<f64> {
    let rate = way.rate * f64::from(way.picked.machines);
    (rate > 0.0).then(|| rule(args.checkpoint_minutes / 60.0, rate) * 60.0)
}

/// All machines under the cheapest commitment for the same type in the same region, an hour.
fn committed(way: &Way, ways: &[Way]) -> Option<f64> {
    let same = |other: &&Way| {
        let (a, b) = (&way.picked, &other.picked);
        b.offer.is_some()
            && a.kind == b.kind
            && a.place.region == b.place.region
            && a.place.cloud == b.place.cloud
    };
    ways.iter().filter(same).map(|other| other.hourly).min().map(usd)
}

fn one(way: &Way, ways: &[Way], rate: Rate, args: &CompareArgs) -> output::Way {
    let picked = &way.picked;
    let job = way.job.map(|job| output::Job {
        work_hours: job.work_hours,
        expected_hours: finite(job.expected.hours).filter(|_| job.ends()),
        interruptions: finite(job.expected.interruptions),
        checkpoint_every_minutes: job.expected.interval.map(|hours| hours * 60.0),
        young_minutes: rule(way, args, job::young),
        daly_minutes: rule(way, args, job::daly),
        free_machine_hours: job.free_hours,
        cost_usd: job.cost.map(usd),
        per_useful_usd: job.per_useful.map(usd),
    });
    let basis = match rate.basis {
        RateBasis::OnDemand => output::RateBasis::OnDemand,
        RateBasis::Learned { .. } => output::RateBasis::Learned,
        RateBasis::Prior => output::RateBasis::Prior,
        RateBasis::Said => output::RateBasis::Said,
    };
    output::Way {
        accelerator: picked.accelerator.clone(),
        provider: picked.place.cloud.into(),
        region: picked.place.region.to_string(),
        r#type: picked.kind.name.to_string(),
        market: picked.market.into(),
        machines: picked.machines,
        machines_per_node: picked.per_node,
        accelerators: picked.accelerators_milli as f64 / 1000.0,
        hourly_usd: usd(way.hourly),
        accelerator_hourly_usd: way.per_accelerator.map(usd),
        committed_hourly_usd: committed(way, ways),
        commitment: picked.offer.as_ref().map(|offer| output::CommitmentOffer {
            term: offer.term.clone(),
            until: offer.until.map(|day| day.to_string()),
            source: offer.source.clone(),
        }),
        useful: way.useful.as_ref().map(|one| useful(one, &args.perf)),
        interruptions: output::Rate { per_hour: way.rate, basis },
        job,
    }
}

/// Everything, for programs.
pub(crate) fn body(compared: &Compared<'_>, lives: &Lives, args: &CompareArgs) -> output::Compare {
    let absent = compared.found.absent.iter().map(|(accelerator, cloud, market, why)| {
        let why = match why {
            Absent::Unpriced => output::AbsentWhy::Unpriced,
            Absent::NotSold => output::AbsentWhy::NotSold,
        };
        let (provider, market) = ((*cloud).into(), (*market).into());
        output::Absent { accelerator: accelerator.clone(), provider, market, why }
    });
    let perf = match &args.perf {
        Perf::Published(figure) => figure.as_str().to_owned(),
        Perf::Measured(Metric::Figure(figure)) => format!("measured:{figure}"),
        Perf::Measured(Metric::Training) => "measured:training".into(),
        Perf::File(path) => path.display().to_string(),
    };
    output::Compare {
        source: compared.catalog.source.to_string(),
        as_of: Time(compared.catalog.as_of),
        job: output::JobAsked {
            count: args.count,
            nodes: args.nodes,
            hours: args.hours,
            reference: args.reference.clone(),
            checkpoint_minutes: args.checkpoint_minutes,
            restart_minutes: args.restart_minutes,
            replace_minutes: REPLACE_MINUTES,
            save_on_notice: args.save_on_notice,
        },
        perf,
        useful_unit: compared.measure.scale().name.to_owned(),
        ways: compared
            .ways
            .iter()
            .map(|way| one(way, compared.ways, lives.rate(&way.picked), args))
            .collect(),
        absent: absent.collect(),
        assumptions: compared.assumptions.to_vec(),
    }
}

/// Everything as CSV. Unknown is an empty cell.
pub(crate) fn table(compared: &Compared<'_>, lives: &Lives, args: &CompareArgs) -> String {
    let mut out = String::from(
        "accelerator,provider,region,type,market,machines,accelerators,hourlyUsd,\
         acceleratorHourlyUsd,usefulUnits,interruptionsPerMachineHour,workHours,expectedHours,\
         interruptions,checkpointEveryMinutes,costUsd,perUsefulUsd,usefulUnit,pricesAsOf\n",
    );
    let cell = |value: Option<f64>| value.map_or_else(String::new, |value| format!("{value}"));
    for way in compared.ways {
        let row = one(way, compared.ways, lives.rate(&way.picked), args);
        let job = row.job.as_ref();
        let cells = [
            quoted(&row.accelerator),
            way.picked.place.cloud.to_string(),
            quoted(&row.region),
            quoted(&row.r#type),
            way.picked.market.to_string(),
            row.machines.to_string(),
            row.accelerators.to_string(),
            row.hourly_usd.to_string(),
            cell(row.accelerator_hourly_usd),
            cell(row.useful.as_ref().map(|useful| useful.units)),
            row.interruptions.per_hour.to_string(),
            cell(job.map(|job| job.work_hours)),
            cell(job.and_then(|job| job.expected_hours)),
            cell(job.and_then(|job| job.interruptions)),
            cell(job.and_then(|job| job.checkpoint_every_minutes)),
            cell(job.and_then(|job| job.cost_usd)),
            cell(job.and_then(|job| job.per_useful_usd)),
            compared.measure.scale().name.to_owned(),
            compared.catalog.as_of.to_string(),
        ];
        out.push_str(&cells.join(","));
        out.push('\n');
    }
    out
}

/// A cell that holds anything. A name of a catalog must not become a formula of a spreadsheet.
fn quoted(text: &str) -> String {
    let text = clean_line(text);
    let safe = if text.starts_with(['=', '+', '-', '@']) { format!("'{text}") } else { text };
    let mut cell = String::new();
    fleet_money::csv_cell(&mut cell, &safe);
    cell
}
