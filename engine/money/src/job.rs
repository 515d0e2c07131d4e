//! What a job takes on machines that may be taken back: time, money, and how often to save.
//!
//! The work is done in stretches, each ended by a checkpoint. An interruption loses the stretch; after it
//! a replacement starts and the last checkpoint is restored. Interruptions come at a constant rate, for the
//! whole job: n machines that must all live are interrupted n times as often as one. The formulas are
//! Young's (CACM 1974), Daly's (FGCS 2006), and the exact ones for a constant rate; tests check them
//! against a simulation.

/// Times of a job, in hours, and how often it is interrupted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Job {
    /// Useful work, in hours on these machines without any interruption.
    pub work: f64,
    /// To write a checkpoint.
    pub checkpoint: f64,
    /// To read one back.
    pub restore: f64,
    /// From an interruption until replacements run. Not billed by most clouds.
    pub replace: f64,
    /// Interruptions an hour, of the whole job.
    pub rate: f64,
    /// Whether a notice is long enough to save: then an interruption loses no work.
    pub saves_on_notice: bool,
}

/// What to expect of a job.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Expected {
    /// From the start to the end, in hours.
    pub hours: f64,
    /// Of those, hours in which machines run and are billed.
    pub billed_hours: f64,
    /// Interruptions.
    pub interruptions: f64,
    /// Work between two checkpoints, in hours; `None`: none are written.
    pub interval: Option<f64>,
}

/// Young's interval: the first order, good if a checkpoint is short against the time between interruptions.
pub fn young(checkpoint: f64, rate: f64) -> f64 {
    (2.0 * checkpoint / rate).sqrt()
}

/// Daly's interval: the higher order.
pub fn daly(checkpoint: f64, rate: f64) -> f64 {
    let mean = 1.0 / rate;
    if checkpoint >= 2.0 * mean {
        return mean;
    }
    let half = checkpoint / (2.0 * mean);
    (2.0 * checkpoint * mean).sqrt() * (1.0 + half.sqrt() / 3.0 + half / 9.0) - checkpoint
}

/// The interval that is best for a constant rate, whatever restores and replacements take: the solution of
/// λW = 1 + W₀(−e^(−λC−1)), with Lambert's W₀.
pub fn optimal(checkpoint: f64, rate: f64) -> f64 {
    // With y = λW and c = λC the expected time is least where (1 − y)·e^(y+c) = 1. The left side falls
    // ever faster, so Newton's steps from Young's value end after a few.
    let c = rate * checkpoint;
    let mut y = (2.0 * c).sqrt().min(1.0);
    for _ in 0..60 {
        let off = (y + c).exp_m1() - y * (y + c).exp();
        let slope = -y * (y + c).exp();
        if slope == 0.0 {
            break;
        }
        let next = (y - off / slope).clamp(f64::MIN_POSITIVE, 1.0);
        let moved = (next - y).abs();
        y = next;
        if moved <= 1e-14 * y {
            break;
        }
    }
    y / rate
}

impl Job {
    /// What to expect with a checkpoint after so much work, or none. Infinite where the job never ends.
    pub fn expected(&self, interval: Option<f64>) -> Expected {
        let Job { work, checkpoint, restore, replace, rate, saves_on_notice } = *self;
        let interval = interval.filter(|every| *every > 0.0 && *every < work);
        // A last stretch that is shorter counts as its part: the error is below one checkpoint.
        let saves = interval.map_or(0.0, |every| work / every);
        let plain = work + saves * checkpoint;
        if rate <= 0.0 {
            return Expected { hours: plain, billed_hours: plain, interruptions: 0.0, interval };
        }
        if saves_on_notice {
            // Only what saving, replacing and restoring take is lost; each may be interrupted as well.
            let each = checkpoint + restore;
            let billed = plain / (1.0 - (rate * each).min(1.0 - 1e-9));
            let interruptions = rate * billed;
            return Expected {
                hours: billed + interruptions * replace,
                billed_hours: billed,
                interruptions,
                interval,
            };
        }
        // A stretch of s hours that begins anew after every interruption, behind a restore that can be
        // interrupted too, is interrupted e^(λR)·(e^(λs) − 1) times. Machines run 1/λ hours between two
        // interruptions, and do not run while they are replaced.
        let stretch = interval.map_or(work, |every| every + checkpoint);
        let count = interval.map_or(1.0, |every| work / every);
        let interruptions = count * (rate * restore).exp() * (rate * stretch).exp_m1();
        Expected {
            hours: interruptions * (1.0 / rate + replace),
            billed_hours: interruptions / rate,
            interruptions,
            interval,
        }
    }

    /// What to expect at the best interval. Checkpoints that do not pay are not written.
    pub fn at_best(&self) -> Expected {
        let never = self.expected(None);
        if self.rate <= 0.0 || self.saves_on_notice {
            return never;
        }
        let best = if self.checkpoint > 0.0 {
            optimal(self.checkpoint, self.rate)
        } else {
            // Saving costs nothing: a minute is often enough.
            1.0 / 60.0
        };
        let often = self.expected(Some(best));
        if often.hours < never.hours { often } else { never }
    }
}

/// Hours of a machine that EC2 does not charge, of so many in which it runs: spot machines that AWS interrupts
/// in their first hour are free (EC2 User Guide, "Billing for interrupted Spot Instances"). `rate` is that of
/// one machine. Over a long time it is the share 1 − e^(−λ)(1 + λ); a first life cannot be interrupted at an
/// age that it has not reached, so a short job gets less.
pub fn free_hours_on_ec2(hours: f64, rate: f64) -> f64 {
    if rate <= 0.0 || !hours.is_finite() {
        return 0.0;
    }
    let first = hours.min(1.0);
    let in_first_hour = first + (-rate * first).exp_m1() / rate;
    in_first_hour + (hours - first) * (1.0 - (-rate).exp() * (1.0 + rate))
}

#[cfg(test)]
#[path = "job_tests.rs"]
mod tests;
