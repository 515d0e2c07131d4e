//! What the market of a fleet's pools said at the last look, and what has changed since and cannot wait for the next.

use fleet_model::{Inputs, MicroUsd, PoolId, Quote};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

/// A price that moved by less is left to the next look, in per cent.
const MOVED: u64 = 10;
/// A pool that is so likely to be had is worth a try, in per cent.
const LIKELY: u8 = 50;
/// Pools that are watched for a fleet that lacks machines, the cheapest first.
const MOST: usize = 64;

/// A pool, as the last look saw it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Watched {
    /// What a machine costs per hour.
    pub price: Option<MicroUsd>,
    /// How likely a launch is, where the cloud tells.
    pub percent: Option<u8>,
    /// Whether machines of the fleet stand in it; if not, it is watched because the fleet lacks some.
    pub held: bool,
}

/// What cannot wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stir {
    /// Machines of the fleet became dearer.
    Dearer,
    /// A pool that could fill a gap became cheaper.
    Cheaper,
    /// A pool that could fill a gap has room again.
    Room,
}

impl Stir {
    /// What happened, for logs.
    pub fn as_str(self) -> &'static str {
        match self {
            Stir::Dearer => "machines of the fleet became dearer",
            Stir::Cheaper => "a pool that could fill a gap became cheaper",
            Stir::Room => "a pool that could fill a gap has room again",
        }
    }
}

/// The pools to watch: those that hold machines and, if the fleet lacks some, the cheapest that could.
pub fn watched(inputs: &Inputs, lacks: bool) -> BTreeMap<PoolId, Watched> {
    let held: BTreeSet<&PoolId> = inputs.recorded.machines().map(|one| one.pool).collect();
    let (mut here, mut others): (Vec<_>, Vec<_>) =
        inputs.offerings.iter().partition(|offering| held.contains(&offering.pool));
    if lacks {
        others.retain(|offering| offering.refusal.is_none());
        others.sort_by_key(|offering| offering.price.map_or(u64::MAX, |price| price.0));
        here.extend(others.into_iter().take(MOST));
    }
    let seen = here.into_iter().map(|offering| {
        let watched = Watched {
            price: offering.price,
            percent: offering.signals.obtainability.map(|signal| signal.percent),
            held: held.contains(&offering.pool),
        };
        (offering.pool.clone(), watched)
    });
    seen.collect()
}

impl Watched {
    /// What changed so much that it cannot wait.
    pub fn stirred(&self, now: &Quote) -> Option<Stir> {
        let percent = now.signals.obtainability.map(|signal| signal.percent);
        if !self.held
            && self.percent.is_some_and(|before| before < LIKELY)
            && percent.is_some_and(|now| now >= LIKELY)
        {
            return Some(Stir::Room);
        }
        let (before, now) = (self.price?.0, now.price?.0);
        let much = now.abs_diff(before).saturating_mul(100) >= before.saturating_mul(MOVED);
        match (self.held, now.cmp(&before)) {
            (true, Ordering::Greater) if much => Some(Stir::Dearer),
            (false, Ordering::Less) if much => Some(Stir::Cheaper),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fleet_model::{Obtainability, SignalSource, Signals};

    fn quote(price: u64, percent: Option<u8>) -> Quote {
        let source = SignalSource::RegionsWithCapacity;
        let obtainability = percent.map(|percent| Obtainability { percent, source });
        Quote {
            price: Some(MicroUsd(price)),
            signals: Signals { obtainability, ..Signals::default() },
            ..Quote::default()
        }
    }

    #[test]
    fn what_is_held_stirs_when_it_becomes_dearer() {
        let held = Watched { price: Some(MicroUsd(1_000)), percent: Some(5), held: true };
        assert_eq!(held.stirred(&quote(1_100, None)), Some(Stir::Dearer));
        assert_eq!(held.stirred(&quote(1_099, None)), None);
        assert_eq!(held.stirred(&quote(500, None)), None, "the next look is soon enough");
        assert_eq!(held.stirred(&quote(1_000, Some(70))), None, "there is nothing to gain");
    }

    #[test]
    fn what_could_fill_a_gap_stirs_when_it_can_be_had() {
        let other = Watched { price: Some(MicroUsd(1_000)), percent: Some(5), held: false };
        assert_eq!(other.stirred(&quote(1_000, Some(70))), Some(Stir::Room));
        assert_eq!(other.stirred(&quote(1_000, Some(20))), None);
        assert_eq!(other.stirred(&quote(900, Some(5))), Some(Stir::Cheaper));
        assert_eq!(other.stirred(&quote(901, Some(5))), None);
        assert_eq!(other.stirred(&quote(2_000, None)), None);
        let likely = Watched { percent: Some(70), ..other };
        assert_eq!(likely.stirred(&quote(1_000, Some(90))), None, "it was likely before");
        let unknown = Watched { price: None, percent: None, held: false };
        assert_eq!(unknown.stirred(&quote(1, Some(99))), None, "nothing is known to have changed");
    }
}
