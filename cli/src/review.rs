//! The specs of another commit, to compare with.

mod base;
mod sides;

pub(crate) use fleet_words::review::*;
pub(crate) use sides::{Past, compare};
