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

/// Which week.
pub(crate) struct Week {
    pub(crate) seed: u64,
    pub(crate) days: u32,
    pub(crate) every: Duration,
}

/// What came of one run.
struct Outcome {
    launches: usize,
    on_demand: usize,
    refused: usize,
    taken: usize,
    ended: usize,
    mean: f64,
    whole: f64,
    usd_per_hour: Option<f64>,
    /// By somebody who knew the future, for as many machine-hours, all on spot.
    fewest: Option<usize>,
}

/// Runs the fleet twice, as it is and with `availability`, and tells of both.
pub(crate) fn week(
    desired: &Desired,
    catalog: &Arc<Catalog>,
    week: &Week,
) -> Result<Value, String> {
    let spot = eligible(desired, catalog).offerings.into_iter().map(|offering| offering.pool);
    let spot: Vec<PoolId> = spot.filter(|pool| pool.market == Market::Spot).collect();
    let wanted = desired.capacity.target.0 / 1000;
    let &Week { seed, days, every } = week;
    let minutes = every.as_secs() / 60;
    say(&format!(
        "{days} days of {}: {wanted} machines, {} spot pools, reconciled every {minutes} minutes, seed {seed}\n",
        desired.fleet,
        spot.len()
    ));
    say(&format!(
        "{:<13}  {:>8}  {:>9}  {:>7}  {:>5}  {:>5}  {:>7}  {:>15}  {:>8}  {:>6}",
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
    let mut rows = Vec::new();
    for (name, hedge) in [("as it is", None), ("99%", Some(looked_after))] {
        let mut desired = desired.clone();
        desired.placement.hedge = hedge;
        let outcome = live(&desired, catalog, &spot, week)?;
        say(&outcome.row(name));
        rows.push(outcome.figures(name));
    }
    Ok(json!({
        "command": "week",
        "ok": rows.iter().all(|row| !row["usdPerHour"].is_null()),
        "seed": seed,
        "days": days,
        "reconciledEverySeconds": every.as_secs(),
        "machines": wanted,
        "spotPools": spot.len(),
        "runs": rows,
    }))
}

fn live(
    desired: &Desired,
    catalog: &Arc<Catalog>,
    spot: &[PoolId],
    week: &Week,
) -> Result<Outcome, String> {
    let &Week { seed, days, every } = week;
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
            launches: lives.len(),
            on_demand: lives.iter().filter(|life| life.pool.market == Market::OnDemand).count(),
            refused: lived.refusals.iter().filter(|(at, _)| within(at)).count(),
            taken: lives.iter().filter_map(|life| taken(life)).filter(within).count(),
            ended: lives.iter().filter_map(|life| ended(life)).filter(within).count(),
            mean: there.share() * wanted as f64,
            whole: there.whole(),
            usd_per_hour: spent(&lived.lives, window).map(|usd| usd * HOUR / lasted),
            fewest: known.fewest(
                wanted as usize,
                every.as_millis() as Ms,
                there.wanted - there.missing,
            ),
        }
    }

    fn row(&self, name: &str) -> String {
        let usd = self.usd_per_hour.map_or("unknown".into(), |usd| format!("${usd:.0}"));
        let fewest = self.fewest.map_or("nobody".into(), |fewest| fewest.to_string());
        format!(
            "{name:<13}  {:>8}  {:>9}  {:>7}  {:>5}  {:>5}  {:>7.2}  {:>13.1} %  {usd:>8}  {fewest:>6}",
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
