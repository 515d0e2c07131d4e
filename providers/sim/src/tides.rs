//! Markets that somebody recorded, in the place of those that the seed draws.

use crate::pools::{Pool, Pools};
use crate::settings::Settings;
use crate::time::{BUCKET, Ms, from_stamp, stamp};
use fleet_model::{PoolId, Timestamp};
use std::fmt;

/// What spot pools carry as time passes. Asked by pool and moment, so it is a function: the same
/// answer each time.
pub trait Tides: fmt::Debug + Send + Sync {
    /// How many machines of ours a spot pool carries; `None`: as many as the seed says.
    fn carries(&self, pool: &PoolId, at: Timestamp) -> Option<u32>;

    /// The first moment after this one at which a pool carries another number.
    fn next_change(&self, after: Timestamp) -> Option<Timestamp>;
}

impl Pools {
    /// How many machines of ours a pool carries at a moment.
    pub(crate) fn capacity(
        &self,
        id: &PoolId,
        pool: &Pool<'_>,
        settings: &Settings,
        at: Ms,
    ) -> u32 {
        let tides = self.tides.as_ref().filter(|_| id.market == fleet_model::Market::Spot);
        let recorded = tides.and_then(|tides| tides.carries(id, stamp(at)));
        recorded.unwrap_or_else(|| pool.capacity(settings, at))
    }

    /// The first moment after this one at which markets move.
    pub(crate) fn next_change(&self, after: Ms) -> Ms {
        let bucket = (after / BUCKET + 1) * BUCKET;
        let tide = self.tides.as_ref().and_then(|tides| tides.next_change(stamp(after)));
        // A recording that names a moment of the past moves nothing.
        tide.map(from_stamp).filter(|at| *at > after).map_or(bucket, |at| at.min(bucket))
    }
}
