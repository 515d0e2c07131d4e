//! What came of a policy, summed up second by second.

use crate::judge::{Market, Setup};
use crate::policy::ready;
use crate::trace::Trace;

/// What came of a policy.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Measures {
    /// Relative to the whole target on demand.
    pub cost: f64,
    /// Share of the time in which nothing was missing.
    pub availability: f64,
    /// Share of wanted machine-hours that were ready.
    pub delivered: f64,
    /// Machine-hours that were ready and wanted.
    pub unit_hours: f64,
    /// Interruptions per hundred spot machine-hours.
    pub interruptions_per_100h: f64,
    /// Mean length of a shortage.
    pub recover_minutes: f64,
}

impl Measures {
    /// Cost, with a missing machine-hour at `value` on-demand hours.
    pub fn j(&self, value: f64) -> f64 {
        self.cost + value * (1.0 - self.delivered)
    }
}

/// Sums over the measured time. Counts are in machine-seconds.
#[derive(Default)]
pub(crate) struct Tally {
    seconds: u64,
    /// Dollars per hour, times samples.
    dollars: f64,
    delivered: u64,
    full: u64,
    interruptions: u32,
    spot: u64,
    shortages: u32,
    short: u64,
    short_now: bool,
}

impl Tally {
    /// Machines were taken back.
    pub(crate) fn lose(&mut self, interrupted: &[u32]) {
        self.interruptions += interrupted.iter().sum::<u32>();
    }

    /// The market stood like this for some seconds from a moment on.
    pub(crate) fn add(&mut self, market: &Market<'_>, setup: &Setup, now: u64, seconds: u64) {
        let wanted = setup.target - setup.base;
        let running = market.held.iter().zip(market.price());
        let spot: f64 = running.map(|(held, price)| held.len() as f64 * price).sum();
        let paid_in_full = f64::from(setup.base) + market.on_demand.len() as f64;
        let spot_ready: u32 = market.held.iter().map(|held| ready(held, now, market.delay)).sum();
        let got = (spot_ready + ready(&market.on_demand, now, market.delay)).min(wanted);
        let of_sample = seconds as f64 / f64::from(market.trace.interval_seconds);
        self.seconds += seconds;
        self.dollars += (spot + paid_in_full * market.trace.on_demand) * of_sample;
        self.delivered += u64::from(got + setup.base) * seconds;
        self.spot += market.held.iter().map(|held| held.len() as u64).sum::<u64>() * seconds;
        let short = got < wanted;
        *(if short { &mut self.short } else { &mut self.full }) += seconds;
        self.shortages += u32::from(short && !self.short_now);
        self.short_now = short;
    }

    pub(crate) fn measures(&self, trace: &Trace, setup: &Setup) -> Measures {
        let interval = f64::from(trace.interval_seconds);
        // In samples, as prices and capacity are.
        let samples = |seconds: u64| seconds as f64 / interval;
        let measured = samples(self.seconds.max(u64::from(trace.interval_seconds)));
        let wanted = measured * f64::from(setup.target.max(1));
        let hours = |seconds: u64| samples(seconds) * trace.hours();
        let per = |sum: f64, of: f64| if of > 0.0 { sum / of } else { 0.0 };
        Measures {
            cost: self.dollars / (wanted * trace.on_demand),
            availability: samples(self.full) / measured,
            delivered: samples(self.delivered) / wanted,
            unit_hours: hours(self.delivered),
            interruptions_per_100h: per(f64::from(self.interruptions) * 100.0, hours(self.spot)),
            recover_minutes: per(hours(self.short) * 60.0, f64::from(self.shortages)),
        }
    }
}
