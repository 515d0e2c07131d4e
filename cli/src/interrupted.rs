//! How often spot machines are interrupted, for `fleet compare`: by the user's word, by what fleets of this
//! state have seen, or by the planner's prior.

use crate::args::CompareArgs;
use crate::commands::block_on;
use crate::context::Context;
use crate::fail::Answer;
use crate::text::{clean_line, count};
use fleet_core::market::belief::{self, Prior};
use fleet_model::{Beliefs, Catalog, Market, PoolBelief, PoolId, Timestamp};
use fleet_money::compare::{Picked, Way};
use fleet_provider::Clock;
use fleet_run::SystemClock;
use std::sync::Arc;

/// Rates are taken over the length of the job, at least an hour and at most a day: old machines live longer.
const HORIZON: (f64, f64) = (1.0, 24.0);

/// What is known of the lives of spot machines.
pub(crate) struct Lives {
    /// By the user's word, in hours.
    said: Option<f64>,
    learned: Beliefs,
    now: Timestamp,
    horizon: f64,
}

/// How often one machine is interrupted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rate {
    pub per_hour: f64,
    pub basis: RateBasis,
}

/// What a rate is taken from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum RateBasis {
    /// On-demand machines are not interrupted.
    OnDemand,
    /// By `--spot-life-hours`.
    Said,
    /// By what was seen of the pool.
    Learned { interruptions: u64, machine_hours: f64 },
    /// Nothing was seen.
    Prior,
}

impl Lives {
    /// Reads what fleets of this state have learned.
    pub(crate) fn of(
        context: &Context,
        catalog: &Arc<Catalog>,
        args: &CompareArgs,
    ) -> Answer<Self> {
        let horizon = args.hours.clamp(HORIZON.0, HORIZON.1);
        let mut lives = Lives {
            said: args.spot_life_hours,
            learned: Beliefs::new(),
            now: SystemClock.now(),
            horizon,
        };
        // A folder that is not there has nothing to tell, and is not made for a question.
        let far = context.global.state.contains("://");
        if lives.said.is_some() || (!far && !std::path::Path::new(&context.global.state).exists()) {
            return Ok(lives);
        }
        if context.global.sim && context.sim_folder().exists() {
            lives.now = context.sim(catalog.clone())?.clock().now();
        }
        let store = context.store()?;
        let now = lives.now;
        lives.learned = block_on(async { Ok(fleet_run::learned(&store, now).await) })?;
        Ok(lives)
    }

    /// How often one machine of a pool is interrupted.
    pub(crate) fn rate(&self, picked: &Picked) -> Rate {
        if picked.market != Market::Spot {
            return Rate { per_hour: 0.0, basis: RateBasis::OnDemand };
        }
        if let Some(hours) = self.said {
            return Rate { per_hour: 1.0 / hours, basis: RateBasis::Said };
        }
        let pool = PoolId {
            place: picked.place.clone(),
            instance_type: picked.kind.name.clone(),
            market: Market::Spot,
        };
        let nothing = PoolBelief::default();
        let (known, basis) = match self.learned.get(&pool) {
            None => (&nothing, RateBasis::Prior),
            Some(known) => {
                let belief::Evidence { machine_hours, interruptions } = belief::evidence(known);
                (known, RateBasis::Learned { interruptions, machine_hours })
            }
        };
        let survives = belief::survival(known, Prior::default(), self.now, self.horizon);
        let per_hour = belief::interruptions(survives) / self.horizon;
        Rate { per_hour, basis }
    }

    /// Where the rates come from, in a sentence.
    pub(crate) fn words(&self, ways: &[Way]) -> String {
        if let Some(hours) = self.said {
            return format!("Spot: a machine lives {hours} h in the mean (--spot-life-hours).");
        }
        let spot = || ways.iter().filter(|way| way.picked.market == Market::Spot);
        let learned: Vec<String> = spot()
            .filter_map(|way| match self.rate(&way.picked).basis {
                RateBasis::Learned { interruptions, machine_hours } => Some(format!(
                    "{} in {}: {}",
                    clean_line(way.picked.kind.name.as_str()),
                    clean_line(way.picked.place.region.name()),
                    seen(interruptions, machine_hours)
                )),
                RateBasis::OnDemand | RateBasis::Said | RateBasis::Prior => None,
            })
            .collect();
        let rest = spot().find(|way| self.rate(&way.picked).basis == RateBasis::Prior);
        let prior = rest.map(|way| {
            let mean = 1.0 / self.rate(&way.picked).per_hour;
            let which = if learned.is_empty() { "these pools" } else { "the others" };
            format!(
                "no fleet of this state has seen {which}, so the planner's prior holds, which is a \
                 guess: one interruption in {mean:.1} machine-hours over a job of this length. \
                 --spot-life-hours says otherwise"
            )
        });
        let parts: Vec<String> = learned.into_iter().chain(prior).collect();
        format!("Spot: {}.", parts.join("; "))
    }
}

/// Evidence, in words.
fn seen(interruptions: u64, machine_hours: f64) -> String {
    format!("{} in {machine_hours:.0} machine-hours", count(interruptions, "interruption"))
}
