//! What is believed of spot pools, and how much to take from which.
//!
//! Beliefs come from what we saw ourselves: launches granted and refused, machines that live on,
//! machines taken back. The objective weighs price, risk and shortage against each other.

mod apart;
mod at_size;
pub mod belief;
mod boot;
pub mod choice;
mod descent;
mod evidence;
mod hedge;
pub(crate) mod learn;
mod moved;
mod moves;
pub mod need;
mod odds;
mod portfolio;
mod prior;
mod prospects;
mod said;
mod search;
mod shortage;
pub(crate) mod signals;
mod slots;
mod survey;
mod throttle;

pub(crate) use evidence::{lost_now, refreshed};
pub(crate) use hedge::{Hedged, hedge};
pub(crate) use odds::Odds;
pub(crate) use prior::Siblings;
pub use prior::foreseen;
pub(crate) use prospects::Prospects;
pub use said::{hear, worth_telling};
pub(crate) use survey::{HedgeInputs, enough_without, is_ready};
