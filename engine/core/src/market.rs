//! What is believed of spot pools, and how much to take from which.
//!
//! Beliefs come from what we saw ourselves: launches granted and refused, machines that live on,
//! machines taken back. The objective weighs price, risk and shortage against each other.

pub mod belief;
pub(crate) mod learn;
pub mod portfolio;
pub(crate) mod prior;
