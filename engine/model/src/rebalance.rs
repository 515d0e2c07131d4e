//! Cheaper pools for machines that run.

use crate::{MicroUsd, PoolId, Share, Timestamp};
use serde::{Deserialize, Serialize};

/// When machines that run are moved to cheaper pools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Rebalance {
    /// A move saves at least this share of the price.
    pub min_saving: Share,
    /// No more machines move in an hour; `None`: a tenth of the burst, at least one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_per_hour: Option<u32>,
}

impl Default for Rebalance {
    fn default() -> Self {
        let min_saving = Share::from_percent(15.0).unwrap_or(Share::HALF);
        Rebalance { min_saving, max_per_hour: None }
    }
}

/// What a move costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MoveCost {
    /// Old and new stand side by side for a while.
    pub side_by_side: MicroUsd,
    /// Work on the old machine is lost.
    pub work: MicroUsd,
    /// The new pool takes machines back more often.
    pub risk: MicroUsd,
}

impl MoveCost {
    /// All of it.
    pub fn sum(self) -> MicroUsd {
        self.side_by_side + self.work + self.risk
    }
}

/// What moving a machine of one pool would come to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Saving {
    /// Where it stands.
    pub from: PoolId,
    /// Where its successor would.
    pub to: PoolId,
    /// Machines that stand there.
    pub machines: u32,
    /// Price per hour of one of them now.
    pub price: MicroUsd,
    /// Price per hour of its successor.
    pub then: MicroUsd,
    /// What of the price is saved.
    pub saving: Share,
    /// How long the successor is expected to live, within the next day.
    pub life_minutes: u64,
    /// What is saved in that time.
    pub gain: MicroUsd,
    /// What the move costs.
    pub cost: MoveCost,
    /// What comes of it.
    pub verdict: SavingVerdict,
}

/// What comes of a saving.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SavingVerdict {
    /// It is less than the spec asks for.
    TooLittle,
    /// It does not pay for the move twice over.
    DoesNotPay,
    /// It must be seen until then.
    SeenUntil {
        /// The moment.
        until: Timestamp,
    },
    /// The machines are younger than an hour.
    TooYoung,
    /// As many machines moved within the last hour as may.
    NextHour {
        /// When the next may.
        at: Timestamp,
    },
    /// As many machines move now as may at once.
    Busy,
    /// Machines move now.
    Moves {
        /// How many.
        machines: u32,
    },
}
