//! Limits on calls: token buckets as the clouds document them.

use crate::time::Ms;
use fleet_model::{Cloud, Region};
use serde::{Deserialize, Serialize};

/// What a call does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) enum Call {
    Launch,
    End,
    List,
}

/// Which bucket a call draws from.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) struct LimitKey {
    pub(crate) cloud: Cloud,
    /// `None` where the limit holds for the account as a whole.
    pub(crate) region: Option<Region>,
    pub(crate) call: Call,
    /// Whether machines are counted, not requests.
    pub(crate) machines: bool,
}

/// How much a bucket holds and how fast it fills.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rate {
    pub(crate) burst: u64,
    /// Thousandths per second.
    pub(crate) refill_milli: u64,
}

const fn rate(burst: u64, refill_milli: u64) -> Rate {
    Rate { burst, refill_milli }
}

/// The limits that one call draws on, with what it costs there.
pub(crate) fn limits(
    cloud: Cloud,
    region: &Region,
    call: Call,
    machines: u32,
) -> Vec<(LimitKey, Rate, u32)> {
    let key = |region: Option<&Region>, call, machines| LimitKey {
        cloud,
        region: region.cloned(),
        call,
        machines,
    };
    let here = Some(region);
    match (cloud, call) {
        (Cloud::Aws, Call::Launch) => vec![
            (key(here, call, false), rate(5, 2_000), 1),
            // EC2 documents two instances per second. Ten times that: else a large fleet takes
            // simulated hours, in which the market moves under it.
            (key(here, call, true), rate(1000, 20_000), machines),
        ],
        (Cloud::Aws, Call::End) => vec![(key(here, call, false), rate(100, 5_000), 1)],
        (Cloud::Aws, Call::List) => vec![(key(here, call, false), rate(100, 20_000), 1)],
        // Google counts per project and minute, whatever the region.
        (Cloud::Gcp, Call::Launch | Call::End) => {
            vec![(key(None, Call::Launch, false), rate(300, 20_000), 1)]
        }
        (Cloud::Gcp, Call::List) => vec![(key(None, call, false), rate(750, 25_000), 1)],
        (Cloud::Azure, Call::Launch | Call::End) => {
            vec![(key(here, Call::Launch, false), rate(200, 10_000), 1)]
        }
        (Cloud::Azure, Call::List) => vec![(key(here, call, false), rate(250, 25_000), 1)],
        (Cloud::Lambda, Call::Launch) => vec![(key(None, call, false), rate(1, 84), 1)],
        (Cloud::Lambda, Call::End | Call::List) => {
            vec![(key(None, Call::List, false), rate(20, 1_000), 1)]
        }
    }
}

/// How full a bucket was when it was last drawn on. Thousandths of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Level {
    milli: u64,
    at: Ms,
}

impl Level {
    /// A bucket nobody has drawn on.
    pub(crate) fn full(rate: Rate, now: Ms) -> Self {
        Level { milli: rate.burst * 1000, at: now }
    }

    fn filled(self, rate: Rate, now: Ms) -> u64 {
        let gained = now.saturating_sub(self.at).saturating_mul(rate.refill_milli) / 1000;
        self.milli.saturating_add(gained).min(rate.burst * 1000)
    }

    /// `Ok` if there is enough, else how long to wait.
    pub(crate) fn check(self, rate: Rate, now: Ms, cost: u32) -> Result<(), Ms> {
        // A request larger than the bucket is let in when the bucket is full: it would else
        // never be.
        let need = (u64::from(cost) * 1000).min(rate.burst * 1000);
        let have = self.filled(rate, now);
        if have >= need {
            return Ok(());
        }
        Err(((need - have) * 1000).div_ceil(rate.refill_milli.max(1)))
    }

    /// What is left after a call.
    pub(crate) fn drawn(self, rate: Rate, now: Ms, cost: u32) -> Self {
        Level { milli: self.filled(rate, now).saturating_sub(u64::from(cost) * 1000), at: now }
    }
}
