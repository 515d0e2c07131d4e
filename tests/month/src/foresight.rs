//! How few launches somebody would have needed who knew the future.

use crate::measures::{Ms, Window};

/// Markets change when a half hour begins.
pub(crate) const HALF_HOUR: Ms = 1_800_000;

/// What pools carry, half hour by half hour from the beginning of a window on.
pub(crate) struct Market {
    pub(crate) window: Window,
    pub(crate) pools: Vec<Vec<u32>>,
}

/// A machine of a pool's slot: from a look until the pool no longer carries so many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stay {
    from: Ms,
    until: Ms,
    pool: usize,
}

impl Market {
    /// Until when a pool carries more than so many, from a moment on.
    fn until(&self, pool: usize, held: usize, at: Ms) -> Ms {
        let now = ((at - self.window.from) / HALF_HOUR) as usize;
        let carries = &self.pools[pool];
        let lasts = carries[now..].iter().take_while(|carries| **carries as usize > held).count();
        let until = self.window.from + (now + lasts) as Ms * HALF_HOUR;
        if lasts == 0 { at } else { until.min(self.window.to) }
    }

    /// Every launch of somebody who looks that often, knows the future, and wants so many machines: at each
    /// look the missing ones are launched where they stay longest, and none is destroyed. Whatever else were
    /// launched would end no later. They are up at once, and all of them are spot.
    fn stays(&self, wanted: usize, every: Ms) -> Vec<Stay> {
        let mut stays: Vec<Stay> = Vec::new();
        let mut at = self.window.from;
        while at < self.window.to {
            let standing = |stay: &&Stay| stay.until > at;
            let mut held = vec![0; self.pools.len()];
            stays.iter().filter(standing).for_each(|stay| held[stay.pool] += 1);
            for _ in held.iter().sum()..wanted {
                // A pool takes back the youngest first, so the next machine has the next slot.
                let next =
                    (0..self.pools.len()).map(|pool| (self.until(pool, held[pool], at), pool));
                let Some((until, pool)) = next.filter(|(until, _)| *until > at).max() else {
                    break;
                };
                held[pool] += 1;
                stays.push(Stay { from: at, until, pool });
            }
            at += every;
        }
        stays
    }

    /// The fewest of those launches that come to so many machine-milliseconds, the longest first: that many are
    /// enough, if one knows. `None`: all of them do not, since what is lost is missing until the next look.
    pub(crate) fn fewest(&self, wanted: usize, every: Ms, presence: u128) -> Option<usize> {
        let mut lengths: Vec<u128> =
            self.stays(wanted, every).iter().map(|stay| (stay.until - stay.from) as u128).collect();
        lengths.sort_unstable_by(|a, b| b.cmp(a));
        let mut sum = 0;
        let reached = |length: &u128| {
            sum += length;
            sum >= presence
        };
        if presence == 0 { Some(0) } else { lengths.iter().position(reached).map(|at| at + 1) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Ms = 2 * HALF_HOUR;

    /// Two hours. The first pool falls to one machine after an hour and is empty for the last half hour;
    /// the second carries one from the second half hour on.
    fn market() -> Market {
        let window = Window { from: 0, to: 2 * HOUR };
        Market { window, pools: vec![vec![2, 2, 1, 0], vec![0, 1, 1, 1]] }
    }

    #[test]
    fn missing_machines_are_launched_where_they_stay_longest() {
        let hours = |stay: &Stay| (stay.from / HALF_HOUR, stay.until / HALF_HOUR, stay.pool);
        let stays: Vec<_> = market().stays(2, HOUR).iter().map(hours).collect();
        // At the second look one is missing; that the first pool falls later is seen by no further look.
        assert_eq!(stays, [(0, 3, 0), (0, 2, 0), (2, 4, 1)]);
        let stays: Vec<_> = market().stays(2, HALF_HOUR).iter().map(hours).collect();
        assert_eq!(stays, [(0, 3, 0), (0, 2, 0), (2, 4, 1)]);
    }

    #[test]
    fn the_longest_count_first() {
        let fewest = |half_hours: u128| market().fewest(2, HOUR, half_hours * HALF_HOUR as u128);
        assert_eq!(
            [0, 3, 4, 5, 6, 7, 8].map(fewest),
            [Some(0), Some(1), Some(2), Some(2), Some(3), Some(3), None]
        );
    }
}
