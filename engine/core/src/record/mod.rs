//! What the journal says: events folded into a record, and the guards and breakers that follow from it.

mod beside;
mod breaker;
mod fold;
pub(crate) mod guards;
mod handover;
mod labels;
mod prices;
mod rollout;
mod seams;
mod slots;
mod spend;
pub(crate) mod spot;

pub use breaker::{Breaker, FAILURES, open_words};
pub use fold::{FOLD, fold};
pub use guards::{BOOT_FAILURES, REFUSALS_PER_HOUR, TRIES_PER_HOUR};
pub(crate) use labels::{clouds, template_meant};
pub use labels::{labels_meant, labels_version, templates_meant};
pub use prices::{ReadingsWanted, prices_seen, readings_wanted, with_times, worth};
pub use rollout::{CannotUndo, can_undo, kept_template, with_templates};
pub(crate) use rollout::{begun, step, undone_since};
