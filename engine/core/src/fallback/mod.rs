//! On-demand in the place of spot, and the way back: how a fleet stands by its own rule and by what the
//! journal says of spot, and what its burst is filled with.
//!
//! A fleet with a hedge buys on-demand by the odds of its pools and has no use for this.

mod fill;
mod seams;
mod stand;

pub(crate) use stand::{Stand, is_in_place_of_spot, stand};

#[cfg(test)]
mod tests;
