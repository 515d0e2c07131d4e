//! The screen, and the last line.

use crate::measures::{Ms, Presence, Window, bill, presence, spent, time_up};
use crate::moves::{
    Causes, Moved, ONE_RECONCILE, Twice, ended, moves, short_lived, taken, twice_without_cause,
};
use crate::run::{BEGINS, Lived};
use fleet_model::{Cloud, Desired, Group, Market, PoolId};
use fleet_sim::Life;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;

const HOUR: Ms = 3_600_000;
const DAY: Ms = 24 * HOUR;

/// What must hold.
const BASE_PERCENT: u128 = 100;
const TARGET_PERCENT: u128 = 99;

/// How many machines that were moved twice are shown.
const EXAMPLES: usize = 5;

/// What was asked of a month.
pub(crate) struct Asked<'a> {
    pub(crate) desired: &'a Desired,
    pub(crate) seed: u64,
    pub(crate) days: u32,
    /// The lowest on-demand price per hour among the pools that the spec allows, in micro-dollars.
    pub(crate) cheapest: u64,
}

/// What came of it.
pub(crate) struct Month<'a> {
    base: Presence,
    target: Presence,
    days: Vec<Day>,
    twice: Vec<Twice<'a>>,
    /// Machines that we ended within three hours of their launch, and by the reconcile that launched them.
    short_lived: [usize; 2],
    /// Machines that ran on average, spares included, by where.
    mean: BTreeMap<(Cloud, Market), f64>,
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

impl<'a> Month<'a> {
    /// Measures from the first full hour on: before it the fleet is being launched.
    pub(crate) fn measure(asked: &Asked<'_>, lived: &'a Lived) -> Self {
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
                refused: lived.refusals.iter().filter(|(at, _)| holds(at)).count(),
                launched: lives.iter().filter(|life| window.holds(life.launched)).count(),
                ended: lives.iter().filter_map(ended).filter(holds).count(),
                moved: BTreeMap::new(),
            };
            for one in moved.iter().filter(|one| holds(&one.at)) {
                *tally.moved.entry(one.why()).or_default() += 1;
            }
            Day {
                base: presence(lives, Some(Group::Base), base, window),
                target: presence(lives, None, wanted, window),
                tally,
                usd: spent(lives, window),
                on_demand: bill(wanted, asked.cheapest, window),
            }
        };
        let taken = lives.iter().filter_map(|life| Some((taken(life)?, life.pool.clone())));
        let events: Vec<(Ms, PoolId)> = taken.chain(lived.refusals.iter().cloned()).collect();
        let mut mean = BTreeMap::new();
        for life in lives {
            let ran = time_up(life, whole) as f64 / (whole.to - whole.from) as f64;
            *mean.entry((life.pool.place.cloud, life.pool.market)).or_default() += ran;
        }
        Month {
            base: presence(lives, Some(Group::Base), base, whole),
            target: presence(lives, None, wanted, whole),
            days: (0..Ms::from(asked.days)).map(day).collect(),
            twice: twice_without_cause(&moved, &Causes { events: &events, prices: &lived.prices }),
            short_lived: [3 * HOUR, ONE_RECONCILE].map(|age| short_lived(lives, whole, age)),
            mean,
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
        if !self.twice.is_empty() {
            missed.push(format!("{} moved twice without a cause", self.twice.len()));
        }
        if self.short_lived[1] > 0 {
            missed.push(format!("{} ended by the run that launched them", self.short_lived[1]));
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
             target  {}; whole for {} of the time; {} at worst, {:.0} on average\n\
             where   {}\n\
             moved   {} by us, {} twice without a cause; {} launched and ended within 3 h, {} in one reconcile\n\
             money   ${:.0} against ${:.0} on demand: {} saved",
            percent(self.base.share()),
            percent(self.target.share()),
            percent(self.target.whole()),
            self.target.fewest,
            self.mean.values().sum::<f64>(),
            self.places(),
            self.sum(|tally| tally.moved.values().sum()),
            self.twice.len(),
            self.short_lived[0],
            self.short_lived[1],
            self.usd().unwrap_or_default(),
            self.on_demand(),
            saved.unwrap_or_else(|| "unknown".into()),
        );
        for twice in self.twice.iter().take(EXAMPLES) {
            let Twice { first, second } = twice;
            let _ = writeln!(
                out,
                "twice   {}; then {}; then {}",
                told(first.from),
                told(second.from),
                told(second.to)
            );
        }
        out
    }

    fn places(&self) -> String {
        let place = |((cloud, market), mean): (&(Cloud, Market), &f64)| {
            format!("{mean:.1} {cloud} {market}")
        };
        self.mean.iter().map(place).collect::<Vec<_>>().join(", ")
    }

    fn means(&self) -> Value {
        let tenth = |mean: &f64| (mean * 10.0).round() / 10.0;
        let mean = self
            .mean
            .iter()
            .map(|((cloud, market), mean)| (format!("{cloud}/{market}"), tenth(mean)));
        mean.map(|(place, mean)| (place, mean.into())).collect::<serde_json::Map<_, _>>().into()
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
            "meanRunning": self.means(),
            "interruptions": self.sum(|tally| tally.interrupted),
            "refusals": self.sum(|tally| tally.refused),
            "launches": self.sum(|tally| tally.launched),
            "endedByUs": self.sum(|tally| tally.ended),
            "moved": moved,
            "plannedEnds": lived.reasons,
            "held": lived.held,
            "movedTwiceWithoutCause": self.twice.len(),
            "endedWithin3Hours": self.short_lived[0],
            "endedWithin10Minutes": self.short_lived[1],
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

/// The life of a machine that we ended, in hours of the run.
fn told(life: &Life) -> String {
    let hour = |at: Ms| (at - BEGINS) as f64 / HOUR as f64;
    let price = life.price.map_or("unpriced".into(), |price| price.to_string());
    let (from, to) = (life.launched.as_millisecond(), ended(life).unwrap_or_default());
    format!("{} at {price} from hour {:.2} to {:.2}", life.pool, hour(from), hour(to))
}

/// Rounded down, so that 100 % is all of it.
fn percent(share: f64) -> String {
    format!("{:.3} %", (share * 100_000.0).floor() / 1000.0)
}
