//! Recorded spot markets, replayed: the planner against what others do.
//!
//! A [`Trace`] says how many machines each zone would have carried, sample by sample. The
//! [`judge`](judge::judge) walks a [`Policy`] through it and measures what came of it. No policy but
//! the two that are marked so sees a zone's room; nobody sees the future but [`bound`](bound::omniscient).

pub mod baseline;
pub mod bound;
pub mod calibration;
mod chance;
pub mod chart;
pub mod compare;
pub mod contest;
pub mod engine;
pub mod gate;
pub mod judge;
mod measures;
mod notice;
pub mod policy;
mod raw;
pub mod reach;
mod reacting;
mod reliability;
pub mod replaced;
pub mod synthetic;
mod table;
pub mod trace;
pub mod world;

pub use calibration::{Bin, Calibration};
pub use compare::{Compared, Named, Row, calibrations, compare, compare_watched, overall};
pub use gate::Gate;
pub use judge::{Setup, delay_samples, judge, judge_in, rounds};
pub use measures::Measures;
pub use notice::{Notice, notice_seconds};
pub use policy::{Ask, Policy, View};
pub use raw::SPOT_SHARE;
pub use reach::{OutOfReach, out_of_reach};
pub use replaced::{Replaced, replaced};
pub use trace::{Trace, TraceError};
pub use world::{Recorded, World};
