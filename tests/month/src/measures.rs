//! What came of it, from the moments of every machine's life. Time and money are whole numbers:
//! machine-milliseconds, and micro-dollars per hour times milliseconds.

use fleet_model::{Group, Timestamp};
use fleet_sim::Life;

/// Milliseconds since 1970.
pub(crate) type Ms = i64;

/// From one moment up to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Window {
    pub(crate) from: Ms,
    pub(crate) to: Ms,
}

impl Window {
    pub(crate) fn holds(self, at: Timestamp) -> bool {
        (self.from..self.to).contains(&at.as_millisecond())
    }

    fn cut(self, from: Ms, to: Ms) -> Option<(Ms, Ms)> {
        let (from, to) = (from.max(self.from), to.min(self.to));
        (from < to).then_some((from, to))
    }
}

/// How much of what was wanted was there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Presence {
    /// Machine-milliseconds that were wanted.
    pub(crate) wanted: u128,
    /// Of those, how many were missing.
    pub(crate) missing: u128,
    /// Milliseconds in which anything was missing.
    pub(crate) short: u128,
    /// Milliseconds.
    pub(crate) lasted: u128,
    /// The fewest machines that ran at a time.
    pub(crate) fewest: u64,
}

impl Presence {
    /// The share that was there.
    pub(crate) fn share(&self) -> f64 {
        if self.wanted == 0 { 1.0 } else { 1.0 - self.missing as f64 / self.wanted as f64 }
    }

    /// The share of time in which nothing was missing.
    pub(crate) fn whole(&self) -> f64 {
        if self.lasted == 0 { 1.0 } else { 1.0 - self.short as f64 / self.lasted as f64 }
    }

    /// Whether so many of a hundred were there, exactly.
    pub(crate) fn reaches(&self, percent: u128) -> bool {
        (self.wanted - self.missing) * 100 >= self.wanted * percent
    }
}

/// When a machine runs: from when it is up until we end it or its cloud takes it.
pub(crate) fn up(life: &Life) -> (Ms, Ms) {
    let ends = [life.asked, life.gone].into_iter().flatten().min();
    (life.running.as_millisecond(), ends.map_or(Ms::MAX, Timestamp::as_millisecond))
}

/// For how long of a window a machine ran.
pub(crate) fn time_up(life: &Life, window: Window) -> Ms {
    let (from, to) = up(life);
    window.cut(from, to).map_or(0, |(from, to)| to - from)
}

/// How many machines ran at a time, against a goal. `group`: only its slots.
pub(crate) fn presence(
    lives: &[Life],
    group: Option<Group>,
    goal: u64,
    window: Window,
) -> Presence {
    let counted = lives.iter().filter(|life| group.is_none_or(|g| life.slot.name.group == g));
    let mut steps: Vec<(Ms, i64)> = Vec::new();
    for life in counted {
        let (from, to) = up(life);
        if let Some((from, to)) = window.cut(from, to) {
            steps.extend([(from, 1), (to, -1)]);
        }
    }
    steps.sort_unstable();
    let mut presence = Presence { fewest: u64::MAX, ..Presence::default() };
    let (mut at, mut running) = (window.from, 0i64);
    for (next, step) in steps.into_iter().chain([(window.to, 0)]) {
        let lasted = (next - at).max(0) as u128;
        if lasted > 0 {
            let here = running.max(0) as u64;
            let missing = u128::from(goal.saturating_sub(here));
            presence.wanted += u128::from(goal) * lasted;
            presence.missing += missing * lasted;
            presence.short += if missing > 0 { lasted } else { 0 };
            presence.lasted += lasted;
            presence.fewest = presence.fewest.min(here);
        }
        (at, running) = (next, running + step);
    }
    presence.fewest = if presence.lasted == 0 { 0 } else { presence.fewest };
    presence
}

const HOUR: u128 = 3_600_000;

/// Dollars for machines from their launch until they are gone, each at the price of its launch.
/// `None` if a machine has no price.
pub(crate) fn spent(lives: &[Life], window: Window) -> Option<f64> {
    let mut sum: u128 = 0;
    for life in lives {
        let gone = life.gone.map_or(Ms::MAX, Timestamp::as_millisecond);
        if let Some((from, to)) = window.cut(life.launched.as_millisecond(), gone) {
            sum += u128::from(life.price?.0) * (to - from) as u128;
        }
    }
    Some(dollars(sum))
}

/// Dollars for so many machines at a price per hour.
pub(crate) fn bill(machines: u64, micro_usd: u64, window: Window) -> f64 {
    dollars(u128::from(machines) * u128::from(micro_usd) * (window.to - window.from) as u128)
}

fn dollars(micro_usd_ms: u128) -> f64 {
    (micro_usd_ms / HOUR) as f64 / 1e6
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use fleet_model::{MicroUsd, SlotId, SlotName};

    pub(crate) const MINUTE: Ms = 60_000;

    fn moment(minutes: Ms) -> Timestamp {
        Timestamp::from_millisecond(minutes * MINUTE).expect("a moment")
    }

    /// A machine of a slot, by the minutes of its launch, of being up, and of its end.
    pub(crate) fn life(slot: (Group, u32), launched: Ms, up: Ms, end: Option<End>) -> Life {
        let pool = "aws/us-east-1/use1-az1/m5.xlarge/spot".parse().expect("a pool");
        let name = SlotName { group: slot.0, ordinal: slot.1 };
        let mut life = Life {
            id: format!("{name}-{launched}").as_str().into(),
            slot: SlotId { name, generation: 1 },
            pool,
            price: Some(MicroUsd(60_000)),
            launched: moment(launched),
            running: moment(up),
            asked: None,
            taken: None,
            gone: None,
        };
        match end {
            Some(End::Asked(at)) => {
                (life.asked, life.gone) = (Some(moment(at)), Some(moment(at + 1)));
            }
            Some(End::Taken(at)) => {
                (life.taken, life.gone) = (Some(moment(at)), Some(moment(at)));
            }
            None => {}
        }
        life
    }

    #[derive(Clone, Copy)]
    pub(crate) enum End {
        Asked(Ms),
        Taken(Ms),
    }

    fn hour() -> Window {
        Window { from: 0, to: 60 * MINUTE }
    }

    #[test]
    fn what_is_missing_is_counted_by_the_millisecond() {
        let lives = [
            life((Group::Base, 0), -10, -9, None),
            // Taken back after a quarter of the hour, and its successor is up for the last quarter.
            life((Group::Burst, 0), -10, -9, Some(End::Taken(15))),
            life((Group::Burst, 0), 44, 45, None),
        ];
        let base = presence(&lives, Some(Group::Base), 1, hour());
        assert!(base.reaches(100) && base.missing == 0 && base.share() == 1.0);
        let all = presence(&lives, None, 2, hour());
        assert_eq!(all.missing, 30 * MINUTE as u128);
        assert_eq!((all.share(), all.whole(), all.fewest), (0.75, 0.5, 1));
        assert!(all.reaches(75) && !all.reaches(76));
        assert_eq!(lives.map(|life| time_up(&life, hour()) / MINUTE), [60, 15, 15]);
    }

    #[test]
    fn spares_do_not_make_up_for_another_moment() {
        let lives = [
            life((Group::Burst, 0), -9, -9, Some(End::Taken(30))),
            life((Group::Burst, 1), -9, -9, Some(End::Taken(30))),
        ];
        let one = presence(&lives, None, 1, hour());
        assert_eq!((one.share(), one.fewest), (0.5, 0));
    }

    #[test]
    fn a_machine_that_never_came_up_was_never_there() {
        let lives = [life((Group::Burst, 0), 0, 50, Some(End::Asked(40)))];
        let one = presence(&lives, None, 1, hour());
        assert_eq!(one.share(), 0.0);
    }

    #[test]
    fn money_runs_from_launch_to_the_very_end() {
        let lives = [life((Group::Burst, 0), 10, 11, Some(End::Asked(39)))];
        // Half an hour at six cents.
        assert_eq!(spent(&lives, hour()), Some(0.03));
        assert_eq!(bill(200, 60_000, hour()), 12.0);
        let unpriced = [Life { price: None, ..lives[0].clone() }];
        assert_eq!(spent(&unpriced, hour()), None, "unknown is not free");
    }
}
