//! The decisions: pure functions from [`Inputs`] to a [`Plan`] and its reasons.
//!
//! No clock, no chance, no file, no network. What cannot be done is in the report, not an error:
//! one GPU that cannot be placed must not hide nine good nodes.

mod bound;
mod breaker;
mod burst;
mod candidates;
mod check;
mod choice;
mod commitment;
mod cost;
mod decide;
mod eligible;
mod exact;
mod explain;
mod field;
mod fold;
mod guard;
mod hedge;
mod labels;
mod ledger;
pub mod market;
mod odds;
mod order;
mod outlook;
mod place;
mod polish;
mod rank;
mod relax;
mod remains;
mod report;
mod resend;
mod staleness;
mod table;
mod token;
mod victims;
mod walk;
mod zones;

pub use bound::Certificate;
pub use breaker::{Breaker, FAILURES, open_words};
pub use check::{Violation, check};
pub use decide::{Placement, Planned, placement, plan};
pub use eligible::{Eligible, eligible, rejection};
pub use explain::{PoolVerdict, SlotVerdict, Verdict, explain_pools, explain_slots};
pub use fold::fold;
pub use guard::{BOOT_FAILURES, TRIES_PER_HOUR};
pub use labels::{labels_meant, labels_version};
pub use ledger::{ABSENCE_PROVES, SENT_WITHIN, SETTLE_WINDOW};
pub use relax::{Relax, Relaxation, proven_gaps, relaxations};
pub use remains::remains_of;
pub use staleness::{Stale, premises, same_steps, stale};
pub use walk::{StepState, Walk};

use fleet_model::{Desired, InstanceKind, Units};

/// How much capacity one machine counts for in a fleet: the spec's word, else what it has.
pub fn weight(desired: &Desired, kind: &InstanceKind) -> Option<Units> {
    let said = desired.placement.weights.iter().find(|weight| {
        weight.types.matches(kind.name.as_str())
            || kind.cloud.is_family(weight.types.as_str(), &kind.name)
    });
    match said {
        Some(weight) => Some(weight.units),
        None => kind.resources.weight(desired.capacity.unit),
    }
}
