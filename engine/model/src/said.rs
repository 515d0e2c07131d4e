//! Since when a cloud's word on launches has stood.

use crate::{PoolId, SignalSource, Timestamp};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a cloud has said of launches in one pool, as far as it still tells something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Said {
    /// Who said it. Words of different sources are not compared.
    pub source: SignalSource,
    /// When it was last heard.
    pub heard: Timestamp,
    /// Since when the word was never below so many per cent. Both rise; the last is the present word.
    pub at_least: Vec<(u8, Timestamp)>,
}

/// The same for every pool that a fleet was told of.
pub type AllSaid = BTreeMap<PoolId, Said>;
