//! What we saw of spot pools: the evidence from which chances are computed.
//!
//! Evidence is kept, not chances: how long which part of a pool has been up or down, and how often
//! it took machines back. Whole numbers, so that saved inputs replay exactly.

use crate::{MicroUsd, PoolId, Timestamp};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What was seen of each pool.
pub type Beliefs = BTreeMap<PoolId, PoolBelief>;

/// What was seen of one pool.
///
/// A pool is a stack of slots: if it carries n machines of ours, the first n slots are up.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PoolBelief {
    /// Machines of ours that it carries, as far as the journal knows.
    pub held: u32,
    /// Its slots, from the first, those alike in one run. What lies beyond was never asked for.
    pub runs: Vec<SlotRun>,
    /// Interruptions that count still, in millionths: a loss of everything held is one.
    pub interruptions_ppm: u64,
    /// How many were to be expected of a usual pool in the same time, in millionths.
    pub exposure_ppm: u64,
    /// Hours in which it carried machines of ours, as far as they count still, in millionths.
    pub watched_ppm: u64,
    /// How much better the age of its slots foretold the last hours than its rate of interruptions
    /// did: the logarithm of the ratio of their likelihoods, in millionths.
    pub ages_lead_ppm: i64,
    /// For people: how long machines of ours were seen to run here, in all.
    pub machine_seconds: u64,
    /// For people: machines that it took back, in all.
    pub lost: u64,
    /// When it was last seen to carry less than before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fell: Option<Timestamp>,
    /// What a machine used to cost per hour when we bought it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usual_price: Option<MicroUsd>,
    /// How long machines take from their launch until they are ready, where that is not as usual.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub boot_seconds: Option<u32>,
    /// How many machines it is asked for, if it said no lately.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub throttle: Option<Throttle>,
    /// When what fades was last aged.
    pub as_of: Timestamp,
}

/// How many machines a pool is asked for after it said no.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Throttle {
    /// So many, at that time. Silence lifts it.
    pub allowed: u32,
    /// When it said no, or was last asked.
    pub at: Timestamp,
}

/// Neighbouring slots that were seen alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SlotRun {
    /// How many.
    pub slots: u32,
    /// Whether they were up.
    pub up: bool,
    /// For how long they had been so when last seen.
    pub age_seconds: u64,
    /// When they were last seen.
    pub seen: Timestamp,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beliefs_written_before_a_field_existed_are_read() {
        let text =
            r#"{"held":2,"interruptionsPpm":5,"exposurePpm":7,"asOf":"2026-01-01T00:00:00Z"}"#;
        let belief: PoolBelief = serde_json::from_str(text).expect("a belief");
        assert_eq!((belief.held, belief.exposure_ppm), (2, 7));
        assert_eq!((belief.watched_ppm, belief.ages_lead_ppm, belief.lost), (0, 0, 0));
    }
}
