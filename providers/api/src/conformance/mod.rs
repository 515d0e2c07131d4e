//! One suite for every provider: what the engine relies on, asked of the provider itself.
//!
//! A provider's tests implement [`Harness`] and call [`run`]. Troubles that a harness cannot
//! cause (nobody orders an outage of a real cloud) skip the checks that need them, and the report
//! says which and why.

mod bench;
mod checks;

use crate::{Clock, Provider};
use async_trait::async_trait;
use bench::{Bench, Verdict};
use fleet_model::{Labels, MachineId, PoolId, Template};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// What the suite needs to know about the cloud under test.
#[async_trait]
pub trait Harness: Send + Sync {
    /// The provider under test.
    fn provider(&self) -> Arc<dyn Provider>;

    /// The clock it lives by.
    fn clock(&self) -> Arc<dyn Clock>;

    /// A few pools it sells, the first with room for a dozen machines.
    fn pools(&self) -> Vec<PoolId>;

    /// How machines are made.
    fn template(&self) -> Template {
        Template::default()
    }

    /// How long a new machine may stay out of the lists.
    fn settle(&self) -> Duration {
        Duration::from_secs(5 * 60)
    }

    /// The longest that the suite may wait for something at a stretch, settling apart. Simulated
    /// clocks have days to spare.
    fn longest_wait(&self) -> Duration {
        Duration::from_secs(5 * 60)
    }

    /// The labels that a machine carries, as its cloud knows them; `None` if nobody can look.
    async fn labels(&self, _: &MachineId) -> Option<Labels> {
        None
    }

    /// Causes a trouble that lasts until [`Harness::heal`]; `Err` says why it cannot.
    async fn cause(&self, trouble: &Fault) -> Result<(), String>;

    /// Ends every trouble.
    async fn heal(&self);
}

/// What the suite wants to go wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// A pool has room for just so many more machines.
    RoomFor(PoolId, u32),
    /// The first pool's region is out: nothing gets in.
    Outage,
    /// Every call is throttled, for ten minutes at the least.
    Throttling,
    /// Changes are carried out, and every answer is lost.
    LostAnswers,
    /// Lists lose a page.
    LostPage,
}

/// What came of the checks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConformanceReport {
    /// Checks that held.
    pub passed: Vec<&'static str>,
    /// Checks that could not be made, and why.
    pub skipped: Vec<(&'static str, String)>,
    /// Checks that did not hold, and what was seen.
    pub failed: Vec<(&'static str, String)>,
}

impl ConformanceReport {
    /// Whether nothing failed.
    pub fn is_conformant(&self) -> bool {
        self.failed.is_empty()
    }
}

impl fmt::Display for ConformanceReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.passed.iter().try_for_each(|name| writeln!(f, "pass  {name}"))?;
        self.skipped.iter().try_for_each(|(name, why)| writeln!(f, "skip  {name}: {why}"))?;
        self.failed.iter().try_for_each(|(name, why)| writeln!(f, "FAIL  {name}: {why}"))
    }
}

/// Runs every check, one after another, each on a fleet of its own that is taken down afterwards.
pub async fn run(harness: &dyn Harness) -> ConformanceReport {
    let mut report = ConformanceReport::default();
    macro_rules! check {
        ($($check:ident),* $(,)?) => {$({
            let name = stringify!($check);
            let verdict = match Bench::new(harness, name) {
                Some(bench) => {
                    let verdict = checks::$check(&bench).await;
                    harness.heal().await;
                    verdict.and(bench.clear().await)
                }
                None => Err(Verdict::Skipped("the harness names no pool".into())),
            };
            match verdict {
                Ok(()) => report.passed.push(name),
                Err(Verdict::Skipped(why)) => report.skipped.push((name, why)),
                Err(Verdict::Failed(why)) => report.failed.push((name, why)),
            }
        })*};
    }
    check!(
        same_token_same_machines,
        same_token_at_the_same_time,
        same_token_after_a_lost_answer,
        a_launch_is_found_by_its_own_names,
        machines_are_what_was_asked_for,
        tags_are_there_from_the_first_listing,
        labels_change_in_place,
        partial_fulfilment_is_an_answer,
        an_exhausted_pool_is_a_matter_of_capacity,
        an_unknown_pool_is_refused,
        destroy_is_idempotent,
        destroy_after_a_lost_answer,
        destroy_leaves_strangers_alone,
        a_lost_page_makes_the_list_partial,
        an_outage_is_never_an_empty_list,
        throttling_asks_for_patience,
        quotes_keep_the_order_of_the_request,
    );
    report
}
