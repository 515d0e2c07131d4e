//! The decisions: pure functions from [`Inputs`] to a plan and its reasons.
//!
//! No clock, no chance, no file, no network. What cannot be done is in the report, not an error:
//! one GPU that cannot be placed must not hide nine good nodes.
//!
//! The rooms, each of which uses only those above it: `clock` (what holds at a moment), `offers` (what could
//! be bought), `holdings` (what we hold), `budget` (what may still be spent), `place` (how many from which pool), `market` (what spot is worth),
//! `record` (what the journal says), `fallback`
//! (on-demand in the place of spot), `rebalance` (cheaper pools for what runs), `decide` (what to keep, launch and destroy), `plan` (steps in order),
//! `report` (what it means).

mod budget;
mod clock;
mod decide;
mod fallback;
mod holdings;
pub mod market;
mod offers;
mod place;
mod plan;
mod rebalance;
mod record;
mod report;
mod seams;

pub use clock::in_force;
pub use decide::{Placement, placement};
pub use holdings::{ABSENCE_PROVES, SENT_WITHIN, heed_told, orphans_of};
pub use offers::{
    Eligible, add_extras, add_signals, eligible, eligible_beside, extras_of, rejection, weight,
};
pub use place::Certificate;
pub use plan::{
    Adoptee, Adoption, Planned, Pruning, Stale, StepState, Unfit, Violation, Walk, adopt, check,
    premises, prunes, same_steps, stale, unfit, unmanaged,
};
pub use record::{
    BOOT_FAILURES, Breaker, CannotUndo, FAILURES, FOLD, REFUSALS_PER_HOUR, ReadingsWanted,
    TRIES_PER_HOUR, can_undo, fold, kept_template, labels_meant, labels_version, open_words,
    prices_seen, readings_wanted, templates_meant, with_templates, with_times, worth,
};
pub use report::{
    ODDS_HOURS, PoolOdds, PoolVerdict, Relax, Relaxation, SlotVerdict, Verdict, afresh,
    explain_moves, explain_pools, explain_slots, proven_gaps, relaxations,
};

use fleet_model::Inputs;

/// The plan without the report, for replays: they plan by the ten thousand, have nobody to ask before
/// machines end, and carry a plan out at once or never.
pub fn plan_alone(inputs: &Inputs) -> fleet_model::Plan {
    let decision = decide::decide_with(inputs, false, decide::Consent::Given);
    let premises = plan::premises_of_the_moment(inputs, decision.choice.usage.spend);
    plan::steps(&decision, premises)
}

/// Decides. Total: what cannot be done is in the report.
pub fn plan(inputs: &Inputs) -> Planned {
    let decision = decide::decide(inputs, false);
    let premises = premises(inputs, decision.choice.usage.spend);
    let plan = plan::steps(&decision, premises);
    let report = report::report(&decision, &plan);
    Planned { plan, report }
}
