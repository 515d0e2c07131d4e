//! What is taken so far, against every limit.

use crate::budget::Limit;
use crate::offers::Covered;
use fleet_model::{Cloud, MicroUsd, Units};

/// What is taken so far, against every limit.
#[derive(Debug, Clone)]
pub(crate) struct Usage {
    pub(super) pools: Vec<Units>,
    pub(super) zones: Vec<Units>,
    pub(super) regions: Vec<Units>,
    pub(super) clouds: [Units; Cloud::ALL.len()],
    pub(super) quotas: Vec<u64>,
    /// What is taken of each commitment.
    pub(crate) committed: Vec<Covered>,
    /// Price per hour of everything taken, but for what is paid for already.
    pub(crate) spend: MicroUsd,
    /// The most that may be paid per hour.
    pub(crate) limit: Option<Limit>,
}

impl Usage {
    /// Whether more is paid per hour than may be.
    pub(crate) fn is_over(&self) -> bool {
        self.limit.is_some_and(|limit| self.spend > limit.hourly)
    }

    /// What a pool carries.
    pub(crate) fn in_pool(&self, at: u32) -> Units {
        self.pools[at as usize]
    }
}
