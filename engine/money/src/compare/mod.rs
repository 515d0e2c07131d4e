//! The best buy: accelerators of all clouds side by side, by what a job on them costs.

mod committed;
mod measure;
mod pick;
#[cfg(test)]
mod tests;

pub use committed::{Offer, offers, pick_committed};
pub use measure::{Basis, Measure, Scale, Useful};
pub use pick::{Absent, Found, Picked, Wanted, accelerator_name, pick};

use crate::job::{Expected, Job, free_hours_on_ec2};
use fleet_model::{Cloud, Market, MicroUsd};

/// The job that is to be done.
#[derive(Debug, Clone, PartialEq)]
pub struct Work {
    /// Hours of useful work on the machines, or on those of the reference.
    pub hours: f64,
    /// Useful work an hour of what the hours are meant for; `None`: for each machine its own.
    pub reference: Option<f64>,
    /// Hours to write a checkpoint.
    pub checkpoint: f64,
    /// Hours to restore one.
    pub restore: f64,
    /// Hours until a replacement runs.
    pub replace: f64,
    /// Save within the notice of a spot interruption, where it is long enough.
    pub save_on_notice: bool,
}

/// One way to do the job.
#[derive(Debug, Clone, PartialEq)]
pub struct Way {
    /// The machines.
    pub picked: Picked,
    /// All machines, an hour.
    pub hourly: MicroUsd,
    /// One accelerator, an hour.
    pub per_accelerator: Option<MicroUsd>,
    /// What all machines do together; `None`: nobody says.
    pub useful: Option<Useful>,
    /// Interruptions an hour of one machine.
    pub rate: f64,
    /// What to expect of the job; `None` if its length depends on a figure that nobody gives.
    pub job: Option<JobCost>,
}

/// What a job costs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JobCost {
    /// Useful work, in hours on these machines.
    pub work_hours: f64,
    /// Times and interruptions.
    pub expected: Expected,
    /// Machine-hours that the cloud does not charge, of those that it would.
    pub free_hours: f64,
    /// The expected cost; `None`: the job does not end.
    pub cost: Option<MicroUsd>,
    /// The expected cost of a unit of useful work, in the measure's scale; `None` without a figure.
    pub per_useful: Option<MicroUsd>,
}

impl JobCost {
    /// Whether the job is ever done.
    pub fn ends(&self) -> bool {
        self.cost.is_some()
    }
}

/// Hours between the announcement of a spot interruption and the end, at least: nine tenths of what the
/// cloud promises, because of AWS's 120 seconds 108 were seen.
pub fn notice_hours(cloud: Cloud) -> f64 {
    cloud.facts().notice.map_or(0.0, |notice| 0.9 * notice.as_secs_f64() / 3600.0)
}

/// A job that takes longer does not end, as far as anybody is concerned: a hundred years.
const LONGEST_HOURS: f64 = 100.0 * 8_760.0;

/// Every way to do a job, the cheapest work first. What has no figure follows, by its price; where the job
/// never ends comes last.
///
/// `rate` says how often one machine of a pool is interrupted an hour.
pub fn ways(
    found: &[Picked],
    work: &Work,
    measure: &Measure,
    rate: &dyn Fn(&Picked) -> f64,
) -> Vec<Way> {
    let mut ways: Vec<Way> = found.iter().map(|one| way(one, work, measure, rate(one))).collect();
    ways.sort_by_cached_key(|way| {
        let per_useful = way.job.and_then(|job| job.per_useful);
        let cost = way.job.and_then(|job| job.cost);
        let never = way.job.is_some_and(|job| !job.ends());
        (
            never,
            (per_useful.is_none(), per_useful),
            (cost.is_none(), cost),
            (way.per_accelerator.is_none(), way.per_accelerator),
            way.picked.place.clone(),
            way.picked.kind.name.clone(),
        )
    });
    ways
}

fn way(picked: &Picked, work: &Work, measure: &Measure, rate: f64) -> Way {
    let machines = u64::from(picked.machines);
    let hourly = picked.each * machines;
    let per_accelerator = (hourly * 1000).0.checked_div(picked.accelerators_milli).map(MicroUsd);
    let useful = measure.of(&picked.kind).map(|one| Useful {
        units: fleet_model::Units(one.units.0.saturating_mul(machines)),
        ..one
    });
    let rate = if picked.market == Market::Spot { rate } else { 0.0 };
    let units = useful.map(|useful| useful.units.as_f64());
    let work_hours = match work.reference {
        None => Some(work.hours),
        Some(reference) => units.map(|units| work.hours * reference / units),
    };
    let job = work_hours.map(|hours| {
        let scale = measure.scale();
        let useful = units.map(|units| units * hours / scale.holds);
        job_cost(picked, work, (hours, useful), rate)
    });
    Way { picked: picked.clone(), hourly, per_accelerator, useful, rate, job }
}

/// What the job costs here: `hours` of work that come to so much useful work.
fn job_cost(
    picked: &Picked,
    work: &Work,
    (hours, useful): (f64, Option<f64>),
    rate: f64,
) -> JobCost {
    let machines = f64::from(picked.machines);
    let notice = notice_hours(picked.place.cloud);
    let job = Job {
        work: hours,
        checkpoint: work.checkpoint,
        restore: work.restore,
        replace: work.replace,
        // All machines must live; each is as likely to go as if it were alone.
        rate: rate * machines,
        saves_on_notice: work.save_on_notice && work.checkpoint <= notice,
    };
    let expected = job.at_best();
    // Whoever was not interrupted waits for the replacement, and is billed.
    let waiting = (machines - 1.0) * expected.interruptions * work.replace;
    let billed = machines * expected.billed_hours + waiting;
    let free_hours = match (picked.place.cloud, picked.market) {
        (Cloud::Aws, Market::Spot) => machines * free_hours_on_ec2(expected.billed_hours, rate),
        _ => 0.0,
    };
    // What a job costs that never ends is no price, however large a number comes out.
    let ends = expected.hours.is_finite() && expected.hours <= LONGEST_HOURS;
    let dollars = if ends { picked.each.as_f64() * (billed - free_hours) } else { f64::NAN };
    let cost = MicroUsd::from_f64(dollars);
    let per_useful = useful.filter(|useful| *useful > 0.0);
    let per_useful = per_useful.and_then(|useful| MicroUsd::from_f64(dollars / useful));
    JobCost { work_hours: hours, expected, free_hours, cost, per_useful }
}
