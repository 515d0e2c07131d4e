//! The screen, and the last line.

use crate::measures::{Ms, Presence, Window, bill, presence, spent};
use crate::moves::{Moved, ended, moves, short_lived, taken, twice_without_cause};
use crate::run::{BEGINS, Lived};
use fleet_model::{Desired, Group};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;

const HOUR: Ms = 3_600_000;
const DAY: Ms = 24 * HOUR;

/// What must hold.
const BASE_PERCENT: u128 = 100;
const TARGET_PERCENT: u128 = 99;

/// What was asked of a month.
pub(crate) struct Asked<'a> {
    pub(crate) desired: &'a Desired,
    pub(crate) seed: u64,
    pub(crate) days: u32,
    /// The lowest on-demand price per hour among the pools that the spec allows, in micro-dollars.
    pub(crate) cheapest: u64,
}

/// What came of it.
pub(crate) struct Month {
    base: Presence,
    target: Presence,
    days: Vec<Day>,
    twice: usize,
    short_lived: usize,
    most: u64,
}

/// One row of the screen.
struct Day {
    base: Presence,
    target: Presence,
    tally: Tally,
    usd: Option<f64>,
    on_demand: f64,
}

/// How often things happened.
#[derive(Default)]
struct Tally {
    interrupted: usize,
    refused: usize,
    launched: usize,
    ended: usize,
    moved: BTreeMap<Moved, usize>,
}

impl Month {
    /// Measures from the first full hour on: before it the fleet is being launched.
    pub(crate) fn measure(asked: &Asked<'_>, lived: &Lived) -> Self {
        let goal = asked.desired.capacity;
        let units = |milli: u64| milli / 1000;
        let (wanted, base) = (units(goal.target.0), units(goal.on_demand.0));
        let burst = units(goal.spot.0);
        let whole = window(0, Ms::from(asked.days));
        let lives = &lived.lives;
        let moved = moves(lives, |group| if group == Group::Base { base } else { burst });
        let day = |nth: Ms| {
            let window = window(nth, nth + 1);
            let holds = |at: &Ms| (window.from..window.to).contains(at);
            let mut tally = Tally {
                interrupted: lives.iter().filter_map(taken).filter(holds).count(),
                refused: lived.refusals.iter().filter(|at| holds(at)).count(),
                launched: lives.iter().filter(|life| window.holds(life.launched)).count(),
                ended: lives.iter().filter_map(ended).filter(holds).count(),
                moved: BTreeMap::new(),
            };
            for (_, why) in moved.iter().filter(|(at, _)| holds(at)) {
                *tally.moved.entry(*why).or_default() += 1;
            }
            Day {
                base: presence(lives, Some(Group::Base), base, window),
                target: presence(lives, None, wanted, window),
                tally,
                usd: spent(lives, window),
                on_demand: bill(wanted, asked.cheapest, window),
            }
        };
        let causes: Vec<Ms> =
            lives.iter().filter_map(taken).chain(lived.refusals.iter().copied()).collect();
        let over = presence(lives, None, u64::MAX >> 40, whole);
        Month {
            base: presence(lives, Some(Group::Base), base, whole),
            target: presence(lives, None, wanted, whole),
            days: (0..Ms::from(asked.days)).map(day).collect(),
            twice: twice_without_cause(lives, &causes).len(),
            short_lived: short_lived(lives, whole),
            // What was there on average, spares included.
            most: ((over.wanted - over.missing) / over.lasted.max(1)) as u64,
        }
    }

    /// What is not as it must be.
    pub(crate) fn missed(&self) -> Vec<String> {
        let mut missed = Vec::new();
        if !self.base.reaches(BASE_PERCENT) {
            missed.push(format!("base available {}, not 100 %", percent(self.base.share())));
        }
        if !self.target.reaches(TARGET_PERCENT) {
            let share = percent(self.target.share());
            missed.push(format!("target available {share}, below {TARGET_PERCENT} %"));
        }
        if self.twice > 0 {
            missed.push(format!("{} moved twice without a cause", self.twice));
        }
        if self.usd().is_none() {
            missed.push("a machine without a price: what was spent is not known".into());
        }
        missed
    }

    fn usd(&self) -> Option<f64> {
        self.days.iter().map(|day| day.usd).sum()
    }

    fn on_demand(&self) -> f64 {
        self.days.iter().map(|day| day.on_demand).sum()
    }

    /// A row per day, and the whole.
    pub(crate) fn screen(&self) -> String {
        let mut out = format!(
            "{:>4}  {:>9}  {:>9}  {:>6}  {:>11}  {:>7}  {:>8}  {:>5}  {:>5}  {:>9}  {:>9}\n",
            "day",
            "base",
            "target",
            "fewest",
            "interrupted",
            "refused",
            "launched",
            "ended",
            "moved",
            "spent",
            "on demand",
        );
        for (nth, day) in (1..).zip(&self.days) {
            let Day { base, target, tally, usd, on_demand } = day;
            let spent = usd.map_or("unknown".into(), |usd| format!("${usd:.0}"));
            let _ = writeln!(
                out,
                "{nth:>4}  {:>9}  {:>9}  {:>6}  {:>11}  {:>7}  {:>8}  {:>5}  {:>5}  {spent:>9}  {:>9}",
                percent(base.share()),
                percent(target.share()),
                target.fewest,
                tally.interrupted,
                tally.refused,
                tally.launched,
                tally.ended,
                tally.moved.values().sum::<usize>(),
                format!("${on_demand:.0}"),
            );
        }
        let saved = self.usd().map(|usd| percent(1.0 - usd / self.on_demand()));
        let _ = writeln!(
            out,
            "\nbase    {} of the time and machines wanted\n\
             target  {}; whole for {} of the time; {} at worst, {} on average\n\
             moved   {} by us, {} twice without a cause; {} launched and ended within 3 h\n\
             money   ${:.0} against ${:.0} on demand: {} saved",
            percent(self.base.share()),
            percent(self.target.share()),
            percent(self.target.whole()),
            self.target.fewest,
            self.most,
            self.sum(|tally| tally.moved.values().sum()),
            self.twice,
            self.short_lived,
            self.usd().unwrap_or_default(),
            self.on_demand(),
            saved.unwrap_or_else(|| "unknown".into()),
        );
        out
    }

    fn sum(&self, what: impl Fn(&Tally) -> usize) -> usize {
        self.days.iter().map(|day| what(&day.tally)).sum()
    }

    /// The last line.
    pub(crate) fn figures(&self, asked: &Asked<'_>, lived: &Lived, recorded: bool) -> Value {
        let mut moved: BTreeMap<&str, usize> = BTreeMap::new();
        for (why, count) in self.days.iter().flat_map(|day| &day.tally.moved) {
            *moved.entry(why.as_str()).or_default() += count;
        }
        let missed = self.missed();
        let saved = self.usd().map(|usd| 100.0 * (1.0 - usd / self.on_demand()));
        json!({
            "command": "month",
            "ok": missed.is_empty(),
            "missed": missed,
            "seed": asked.seed,
            "days": asked.days,
            "recorded": recorded,
            "reconciles": lived.reconciles,
            "idleReconciles": lived.idle,
            "longestReconcileSeconds": lived.longest.as_secs(),
            "baseAvailablePercent": 100.0 * self.base.share(),
            "targetAvailablePercent": 100.0 * self.target.share(),
            "nothingMissingPercent": 100.0 * self.target.whole(),
            "fewestRunning": self.target.fewest,
            "meanRunning": self.most,
            "interruptions": self.sum(|tally| tally.interrupted),
            "refusals": self.sum(|tally| tally.refused),
            "launches": self.sum(|tally| tally.launched),
            "endedByUs": self.sum(|tally| tally.ended),
            "moved": moved,
            "plannedEnds": lived.reasons,
            "held": lived.held,
            "movedTwiceWithoutCause": self.twice,
            "endedWithin3Hours": self.short_lived,
            "usd": self.usd(),
            "usdAllOnDemand": self.on_demand(),
            "savedPercent": saved,
        })
    }
}

fn window(from_day: Ms, to_day: Ms) -> Window {
    let first = BEGINS + HOUR;
    Window { from: first + from_day * DAY, to: first + to_day * DAY }
}

/// Rounded down, so that 100 % is all of it.
fn percent(share: f64) -> String {
    format!("{:.3} %", (share * 100_000.0).floor() / 1000.0)
}
