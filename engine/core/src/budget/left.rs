//! What is left of a budget, as a limit on what is paid per hour.
//!
//! A limit on what is spent holds if, whenever somebody looks, what is left pays for everything that stands
//! until the look after the next, at the dearest. So it becomes a limit per hour, which gets tighter as
//! less is left: first nothing more is launched, then burst machines are destroyed. What the base costs to
//! the end is set aside before the burst gets anything, because the base stays whatever it costs.

use fleet_model::{ByKind, Cap, MicroUsd};

const HOUR: u128 = 3600;
/// The longest month: 31 days, with an hour more where clocks go back.
const LONGEST_MONTH: u64 = (31 * 24 + 1) * 3600;

/// A limit on what is paid per hour, and where it comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Limit {
    pub(crate) hourly: MicroUsd,
    pub(crate) cap: Cap,
}

/// What is left of one limit on what is spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Left {
    pub(crate) cap: Cap,
    /// The limit.
    pub(crate) limit: MicroUsd,
    /// What is spent, and what may have been, at the dearest.
    pub(crate) spent: MicroUsd,
    /// The same by what it was spent on.
    pub(crate) spent_on: ByKind,
    /// How long what is left must last, in seconds; `None`: nobody knows.
    pub(crate) rest: Option<u64>,
}

/// What may be paid per hour.
#[derive(Debug, Clone, Default)]
pub(crate) struct Allowance {
    pub(crate) hourly: Option<MicroUsd>,
    pub(crate) caps: Vec<Left>,
    /// What a burst machine may come to cost, in thousandths of its price.
    pub(crate) dearest_milli: u64,
    /// For how long, in seconds, a machine that stands is paid for before it can be destroyed.
    pub(crate) keep: u64,
    /// The same for a machine that is launched: one that has to go at the next look is no use.
    pub(crate) launch: u64,
}

impl Allowance {
    /// The limit while the base is launched beside a burst that costs so much.
    pub(crate) fn for_base(&self, burst: MicroUsd) -> Option<Limit> {
        let caps = self.caps.iter().map(|left| {
            let free = left.free().saturating_sub(self.at_dearest(burst, left.at_most(self.keep)));
            let base = match left.rest {
                Some(rest) => per_hour(free, rest).min(left.every_month()),
                None => MicroUsd(0),
            };
            Limit { hourly: burst + base, cap: left.cap }
        });
        self.tightest(caps)
    }

    /// The limit while the burst is launched beside a base that costs so much.
    pub(crate) fn for_burst(&self, base: MicroUsd) -> Option<Limit> {
        self.beside(base, self.launch)
    }

    /// The limit for what stands, beside a base that costs so much.
    pub(crate) fn to_keep(&self, base: MicroUsd) -> Option<Limit> {
        self.beside(base, self.keep)
    }

    /// The limits on what is spent alone.
    pub(crate) fn of_caps(&self) -> Allowance {
        Allowance { hourly: None, ..self.clone() }
    }

    /// One of the limits on what is spent alone.
    pub(crate) fn only(&self, cap: Cap) -> Allowance {
        let caps = self.caps.iter().copied().filter(|left| left.cap == cap).collect();
        Allowance { hourly: None, caps, ..*self }
    }

    fn beside(&self, base: MicroUsd, seconds: u64) -> Option<Limit> {
        let caps = self.caps.iter().map(|left| {
            let set_aside = cost(base, left.rest.unwrap_or(0));
            let free = left.free().saturating_sub(set_aside);
            let mut burst = self.of_burst(free, left.at_most(seconds));
            if left.cap == Cap::CalendarMonth {
                // What stands when the next month begins is paid for by that one.
                let next = left.limit.saturating_sub(cost(base, LONGEST_MONTH));
                burst = burst.min(self.of_burst(next, seconds));
            }
            Limit { hourly: base + burst, cap: left.cap }
        });
        self.tightest(caps)
    }

    fn tightest(&self, caps: impl Iterator<Item = Limit>) -> Option<Limit> {
        let hourly = self.hourly.map(|hourly| Limit { hourly, cap: Cap::Hourly });
        caps.chain(hourly).min()
    }

    /// What a burst costs in so many seconds, at the dearest.
    fn at_dearest(&self, burst: MicroUsd, seconds: u64) -> MicroUsd {
        let dearest = u128::from(burst.0) * u128::from(self.dearest_milli);
        whole((dearest * u128::from(seconds)).div_ceil(1000 * HOUR))
    }

    /// What a burst may cost per hour, so that an amount lasts for so many seconds at the dearest.
    fn of_burst(&self, amount: MicroUsd, seconds: u64) -> MicroUsd {
        let lasts = u128::from(seconds.max(1)) * u128::from(self.dearest_milli.max(1000));
        whole(u128::from(amount.0) * HOUR * 1000 / lasts)
    }
}

impl Left {
    /// What is left.
    pub(crate) fn free(&self) -> MicroUsd {
        self.limit.saturating_sub(self.spent)
    }

    /// A span that ends where the limit does.
    fn at_most(&self, seconds: u64) -> u64 {
        self.rest.map_or(seconds, |rest| rest.min(seconds))
    }

    /// What can be paid per hour month after month.
    fn every_month(&self) -> MicroUsd {
        match self.cap {
            Cap::CalendarMonth => per_hour(self.limit, LONGEST_MONTH),
            Cap::Hourly | Cap::Lifetime => MicroUsd(u64::MAX),
        }
    }
}

/// What a price per hour comes to. Rounded up.
pub(crate) fn cost(hourly: MicroUsd, seconds: u64) -> MicroUsd {
    whole((u128::from(hourly.0) * u128::from(seconds)).div_ceil(HOUR))
}

/// The price per hour at which an amount lasts for so long. Rounded down.
fn per_hour(amount: MicroUsd, seconds: u64) -> MicroUsd {
    whole(u128::from(amount.0) * HOUR / u128::from(seconds.max(1)))
}

fn whole(micros: u128) -> MicroUsd {
    MicroUsd(u64::try_from(micros).unwrap_or(u64::MAX))
}
