//! A week of machines that are scarce: `cargo xtask week`.
//!
//! The same loop as the month's, on the spot market that the seed draws, and beside it how few launches
//! somebody would have needed who knew that market in advance.

use crate::foresight::{HALF_HOUR, Market as Known};
use crate::measures::{Ms, Window, presence, spent};
use crate::moves::{ended, taken};
use crate::run::{BEGINS, Lived, Pace, World};
use crate::say;
use fleet_core::eligible;
use fleet_model::{Catalog, Desired, Hedge, Market, PoolId, Share};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

const HOUR: f64 = 3_600_000.0;

/// What `capacity.availability` is in the second of the two runs.
const AVAILABILITY_PERCENT: f64 = 99.0;

/// Which weeks.
pub(crate) struct Week {
    pub(crate) seed: u64,
    /// So many worlds, from that seed on.
    pub(crate) seeds: u64,
    pub(crate) days: u32,
    pub(crate) every: Duration,
}

/// What came of one run, or of several on average.
struct Outcome {
    launches: f64,
    on_demand: f64,
    refused: f64,
    taken: f64,
    ended: f64,
    mean: f64,
    whole: f64,
    usd_per_hour: Option<f64>,
    /// By somebody who knew the future, for as many machine-hours, all on spot.
    fewest: Option<f64>,
}

/// Runs the fleet twice in each world, as it is and with `availability`, and tells of both.
pub(crate) fn weeks(
    desired: &Desired,
    catalog: &Arc<Catalog>,
    week: &Week,
) -> Result<Value, String> {
    let spot = eligible(desired, catalog).offerings.into_iter().map(|offering| offering.pool);
    let spot: Vec<PoolId> = spot.filter(|pool| pool.market == Market::Spot).collect();
    let wanted = desired.capacity.target.0 / 1000;
    let &Week { seed, seeds, days, every } = week;
    let minutes = every.as_secs() / 60;
    say(&format!(
        "{days} days of {}: {wanted} machines, {} spot pools, reconciled every {minutes} minutes\n",
        desired.fleet,
        spot.len()
    ));
    say(&format!(
        "{:>6}  {:<12}  {:>8}  {:>9}  {:>7}  {:>5}  {:>5}  {:>7}  {:>15}  {:>8}  {:>6}",
        "seed",
        "availability",
        "launches",
        "on demand",
        "refused",
        "taken",
        "ended",
        "present",
        "nothing missing",
        "per hour",
        "fewest"
    ));
    let share = Share::from_percent(AVAILABILITY_PERCENT).ok_or("a share")?;
    let every_seconds = u32::try_from(every.as_secs()).map_err(|error| error.to_string())?;
    let looked_after =
        Hedge { reconcile_every_seconds: every_seconds, ..Hedge::for_availability(share) };
    let ways = [("as it is", None), ("99%", Some(looked_after))];
    let mut of: [Vec<Outcome>; 2] = Default::default();
    for seed in seed..seed.saturating_add(seeds) {
        for ((name, hedge), of) in ways.iter().zip(&mut of) {
            let mut desired = desired.clone();
            desired.placement.hedge = *hedge;
            let outcome = live(&desired, catalog, &spot, (seed, week))?;
            say(&outcome.row(&seed.to_string(), name));
            of.push(outcome);
        }
    }
    let mut runs = Vec::new();
    for ((name, _), of) in ways.iter().zip(&of) {
        let mean = Outcome::mean(of);
        if seeds > 1 {
            say(&mean.row("mean", name));
        }
        let mut figures = mean.figures(name);
        figures["standardErrorOfLaunches"] = json!(standard_error(of));
        runs.push(figures);
    }
    Ok(json!({
        "command": "week",
        "ok": runs.iter().all(|row| !row["usdPerHour"].is_null()),
        "seed": seed,
        "seeds": seeds,
        "days": days,
        "reconciledEverySeconds": every.as_secs(),
        "machines": wanted,
        "spotPools": spot.len(),
        "runs": runs,
    }))
}

/// How far the mean of launches may be from that of all worlds; `None` of one alone.
fn standard_error(of: &[Outcome]) -> Option<f64> {
    let count = of.len() as f64;
    let mean = Outcome::mean(of).launches;
    let squares: f64 = of.iter().map(|one| (one.launches - mean).powi(2)).sum();
    (of.len() > 1).then(|| (squares / (count - 1.0) / count).sqrt())
}

fn live(
    desired: &Desired,
    catalog: &Arc<Catalog>,
    spot: &[PoolId],
    (seed, week): (u64, &Week),
) -> Result<Outcome, String> {
    let &Week { days, every, .. } = week;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .map_err(|error| error.to_string())?;
    let lasts = Duration::from_secs(u64::from(days) * 24 * 3600);
    let looks = u32::try_from(lasts.as_secs().div_ceil(every.as_secs()));
    let pace = Pace { every, looks: looks.map_err(|error| error.to_string())? };
    runtime.block_on(async {
        let world = World::new(seed, catalog.clone(), None);
        let lived = world.live(desired, pace, &|_| {}).await?;
        let window = Window { from: BEGINS, to: BEGINS + lasts.as_millis() as Ms };
        let carries = |pool: &PoolId| {
            let half_hours = (window.to - window.from) / HALF_HOUR;
            let at = |nth| world.carries(pool, window.from + nth * HALF_HOUR);
            (0..half_hours).map(at).collect::<Result<Vec<u32>, String>>()
        };
        let pools = spot.iter().map(carries).collect::<Result<_, String>>()?;
        Ok(Outcome::measure(desired, &lived, &Known { window, pools }, every))
    })
}

impl Outcome {
    fn measure(desired: &Desired, lived: &Lived, known: &Known, every: Duration) -> Self {
        let window = known.window;
        let within = |at: &Ms| (window.from..window.to).contains(at);
        let lives: Vec<_> = lived.lives.iter().filter(|life| window.holds(life.launched)).collect();
        let wanted = desired.capacity.target.0 / 1000;
        let there = presence(&lived.lives, None, wanted, window);
        let lasted = (window.to - window.from) as f64;
        Outcome {
            launches: lives.len() as f64,
            on_demand: lives.iter().filter(|life| life.pool.market == Market::OnDemand).count()
                as f64,
            refused: lived.refusals.iter().filter(|(at, _)| within(at)).count() as f64,
            taken: lives.iter().filter_map(|life| taken(life)).filter(within).count() as f64,
            ended: lives.iter().filter_map(|life| ended(life)).filter(within).count() as f64,
            mean: there.share() * wanted as f64,
            whole: there.whole(),
            usd_per_hour: spent(&lived.lives, window).map(|usd| usd * HOUR / lasted),
            fewest: known
                .fewest(wanted as usize, every.as_millis() as Ms, there.wanted - there.missing)
                .map(|fewest| fewest as f64),
        }
    }

    /// Of several. What one of them does not know, nobody knows.
    fn mean(all: &[Outcome]) -> Self {
        let mean =
            |of: &dyn Fn(&Outcome) -> f64| all.iter().map(of).sum::<f64>() / all.len() as f64;
        let known = |of: &dyn Fn(&Outcome) -> Option<f64>| {
            let sum: Option<f64> = all.iter().map(of).sum();
            sum.map(|sum| sum / all.len() as f64)
        };
        Outcome {
            launches: mean(&|one| one.launches),
            on_demand: mean(&|one| one.on_demand),
            refused: mean(&|one| one.refused),
            taken: mean(&|one| one.taken),
            ended: mean(&|one| one.ended),
            mean: mean(&|one| one.mean),
            whole: mean(&|one| one.whole),
            usd_per_hour: known(&|one| one.usd_per_hour),
            fewest: known(&|one| one.fewest),
        }
    }

    fn row(&self, seed: &str, name: &str) -> String {
        let usd = self.usd_per_hour.map_or("unknown".into(), |usd| format!("${usd:.0}"));
        let fewest = self.fewest.map_or("nobody".into(), |fewest| format!("{fewest:.0}"));
        format!(
            "{seed:>6}  {name:<12}  {:>8.0}  {:>9.0}  {:>7.0}  {:>5.0}  {:>5.0}  {:>7.2}  {:>13.1} %  {usd:>8}  {fewest:>6}",
            self.launches,
            self.on_demand,
            self.refused,
            self.taken,
            self.ended,
            self.mean,
            100.0 * self.whole,
        )
    }

    fn figures(&self, name: &str) -> Value {
        json!({
            "availability": name,
            "launches": self.launches,
            "launchesOnDemand": self.on_demand,
            "refusals": self.refused,
            "interruptions": self.taken,
            "endedByUs": self.ended,
            "meanPresent": self.mean,
            "nothingMissingPercent": 100.0 * self.whole,
            "usdPerHour": self.usd_per_hour,
            "fewestLaunchesKnowingTheFuture": self.fewest,
        })
    }
}
