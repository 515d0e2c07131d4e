//! The law of rates: a pool interrupts at its own rate, whatever the age of a slot.
//!
//! The rate is unknown, and learned from the interruptions seen in the hours watched (Gamma and
//! Poisson). It keeps the law of ages honest: age alone trusts an old slot too much.

/// Interruptions that the prior is worth, and the hours in which it saw them.
const PRIOR: (f64, f64) = (1.0, 4.0);

/// A rate holds for an hour. Beyond, it fades over so many hours: interruptions come in bursts. Without
/// this, those pools that interrupted most were expected to take nine in ten machines within six hours,
/// and took six.
const FADES: f64 = 6.0;

/// Hours of so many ahead in which the rate of now holds, taken together.
fn in_force(ahead: f64) -> f64 {
    let beyond = (ahead - 1.0).max(0.0);
    ahead - beyond + FADES * (beyond / FADES).ln_1p()
}

/// What is known of a pool's rate.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rate {
    seen: f64,
    hours: f64,
}

impl Rate {
    /// After so many interruptions in so many hours, of a pool with this prior frailty.
    pub(super) fn new(frailty: f64, seen: f64, hours: f64) -> Self {
        Rate { seen: PRIOR.0 * frailty + seen, hours: PRIOR.1 + hours }
    }

    /// Chance to last `more` hours.
    pub(super) fn lasts(self, more: f64) -> f64 {
        (self.hours / (self.hours + in_force(more))).powf(self.seen)
    }

    /// Interruptions per hour.
    pub(super) fn hazard(self) -> f64 {
        self.seen / self.hours
    }
}
