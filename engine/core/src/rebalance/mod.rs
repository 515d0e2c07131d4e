//! Cheaper pools for machines that run: what a move would save, what it would cost, and whether it pays.
//!
//! Prices move all the time. A move must save a share of the price, pay for itself twice over the time
//! that the successor is expected to live, and have done so for a while.

mod arithmetic;
mod judge;

pub(crate) use arithmetic::{Arithmetic, HOURS, Life};
pub(crate) use judge::{SEEN_FOR, YOUNGEST, is_worth_it, most_now};

#[cfg(test)]
mod tests;
