//! What we hold: the journal's word and the clouds' word, brought together. Each slot that is filled, or
//! may be, is a holding with its standing; what machines left behind and what nobody asked for is here
//! as well.

mod absence;
mod came_back;
mod covered;
mod holding;
mod inventory;
mod leftovers;
mod pools;
mod readiness;
mod seams;
mod standing;
mod strangers;
mod told;
mod zones;

pub use absence::{ABSENCE_PROVES, SENT_WITHIN};
pub(crate) use covered::cover;
pub(crate) use holding::{Holding, Inventory, by_pool};
pub(crate) use inventory::{inventory, template_digests};
pub use leftovers::orphans_of;
pub(crate) use leftovers::to_clear;
pub(crate) use standing::Standing;
pub use told::heed_told;
pub(crate) use zones::Zones;
