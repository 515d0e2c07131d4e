//! The clouds' own signals, one row each: what a source says, how long an answer holds, how often a cloud
//! may be asked, and how far we believe it before we have seen how good it is.
//!
//! Everything else reads this table: the spec's words, the caches of the providers, the priors of the
//! market, the page in docs/placement.md.

use crate::{Cloud, Obtainability, PoolId, Share, Signals, Timestamp};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

/// Where a signal comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum SignalSource {
    /// EC2 spot placement score.
    SpotPlacementScore,
    /// EC2 spot price history: how much the price moved.
    SpotPriceHistory,
    /// AWS Spot Advisor, from a file.
    SpotAdvisor,
    /// GCP capacity advice.
    CapacityAdvice,
    /// GCP capacity history: preemption rates.
    CapacityHistory,
    /// Azure spot placement score.
    PlacementScore,
    /// Azure spot eviction rate.
    EvictionRate,
    /// Lambda's list of regions with capacity.
    RegionsWithCapacity,
}

/// What a source speaks of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Says {
    /// How likely a launch is.
    Launch,
    /// How likely machines are taken back; `usual` is the share that says nothing.
    Interruption {
        /// What is usual, in per cent. A guess for each source: what counts is the ratio to it.
        usual_percent: u32,
    },
    /// The same, by how much the price moved; `usual` is the movement that says nothing.
    PriceMovement {
        /// What is usual, in per cent.
        usual_percent: u32,
    },
}

impl Says {
    /// What is foretold, as users read it.
    pub fn as_str(self) -> &'static str {
        match self {
            Says::Launch => "launch",
            Says::Interruption { .. } | Says::PriceMovement { .. } => "interruption",
        }
    }
}

/// One source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SignalRow {
    /// Which.
    pub source: SignalSource,
    /// Its name in specs and on screens.
    pub name: &'static str,
    /// Whose word it is.
    pub cloud: Cloud,
    /// What it speaks of.
    pub says: Says,
    /// How it is asked for.
    pub asked: &'static str,
    /// How long an answer holds: the same question is not asked again.
    pub holds: Duration,
    /// How old the last answer may be that stands in for one that does not come.
    pub stands_in: Duration,
    /// The cloud's limit on questions.
    pub limit: &'static str,
    /// Who says so.
    pub limit_source: &'static str,
    /// How far it is believed without any evidence, in per cent.
    pub weight_percent: u8,
}

const fn minutes(count: u64) -> Duration {
    Duration::from_secs(count * 60)
}

const HOUR: Duration = minutes(60);
const DAY: Duration = minutes(24 * 60);
const WEEK: Duration = minutes(7 * 24 * 60);

/// Every source, in the order of the enum.
pub const SIGNALS: [SignalRow; 8] = [
    SignalRow {
        source: SignalSource::SpotPlacementScore,
        name: "aws-placement-score",
        cloud: Cloud::Aws,
        says: Says::Launch,
        asked: "GetSpotPlacementScores",
        holds: HOUR,
        stands_in: DAY,
        limit: "new configurations per 24 hours, number not published",
        limit_source: "EC2 user guide, \"Spot placement score\"; MaxConfigLimitExceeded",
        weight_percent: 50,
    },
    SignalRow {
        source: SignalSource::SpotPriceHistory,
        name: "aws-price-history",
        cloud: Cloud::Aws,
        says: Says::PriceMovement { usual_percent: 5 },
        asked: "DescribeSpotPriceHistory",
        holds: minutes(5),
        // The price itself is in the same answer: without a network, the last one is better than none.
        stands_in: minutes(90 * 24 * 60),
        limit: "API rate limit of the account and region",
        limit_source: "EC2 \"Request throttling\"",
        weight_percent: 20,
    },
    SignalRow {
        source: SignalSource::SpotAdvisor,
        name: "aws-spot-advisor",
        cloud: Cloud::Aws,
        says: Says::Interruption { usual_percent: 10 },
        asked: "file named by FLEET_AWS_SPOT_ADVISOR",
        holds: Duration::ZERO,
        stands_in: Duration::ZERO,
        limit: "none: a local file",
        limit_source: "no call is made",
        weight_percent: 50,
    },
    SignalRow {
        source: SignalSource::CapacityAdvice,
        name: "gcp-capacity-advice",
        cloud: Cloud::Gcp,
        says: Says::Launch,
        asked: "advice.capacity",
        holds: minutes(15),
        stands_in: minutes(6 * 60),
        limit: "API rate limit of the project and minute",
        limit_source: "\"Compute Engine rate quotas\"; which group it counts toward is a guess",
        weight_percent: 50,
    },
    SignalRow {
        source: SignalSource::CapacityHistory,
        name: "gcp-capacity-history",
        cloud: Cloud::Gcp,
        says: Says::Interruption { usual_percent: 30 },
        asked: "advice.capacityHistory",
        holds: DAY,
        stands_in: WEEK,
        limit: "API rate limit of the project and minute",
        limit_source: "\"Compute Engine rate quotas\"; which group it counts toward is a guess",
        weight_percent: 50,
    },
    SignalRow {
        source: SignalSource::PlacementScore,
        name: "azure-placement-score",
        cloud: Cloud::Azure,
        says: Says::Launch,
        asked: "placementScores/spot/generate",
        holds: minutes(15),
        stands_in: minutes(6 * 60),
        limit: "counts as a read of the subscription; 5 sizes per question",
        limit_source: "\"Spot Placement Score\", \"Request limits and throttling\"",
        weight_percent: 50,
    },
    SignalRow {
        source: SignalSource::EvictionRate,
        name: "azure-eviction-rate",
        cloud: Cloud::Azure,
        says: Says::Interruption { usual_percent: 8 },
        asked: "Resource Graph, SpotResources",
        holds: DAY,
        stands_in: WEEK,
        limit: "15 queries per 5 seconds and user",
        limit_source: "\"Guidance for throttled requests in Azure Resource Graph\"",
        weight_percent: 50,
    },
    SignalRow {
        source: SignalSource::RegionsWithCapacity,
        name: "lambda-capacity-list",
        cloud: Cloud::Lambda,
        says: Says::Launch,
        asked: "GET instance-types, which also has the prices",
        // In the list of types, which every plan reads anyway.
        holds: Duration::ZERO,
        stands_in: Duration::ZERO,
        limit: "1 call per second and account",
        limit_source: "Lambda Cloud API documentation; skypilot-org/skypilot#2261",
        weight_percent: 50,
    },
];

impl SignalSource {
    /// Every source.
    pub const ALL: [SignalSource; 8] = [
        SignalSource::SpotPlacementScore,
        SignalSource::SpotPriceHistory,
        SignalSource::SpotAdvisor,
        SignalSource::CapacityAdvice,
        SignalSource::CapacityHistory,
        SignalSource::PlacementScore,
        SignalSource::EvictionRate,
        SignalSource::RegionsWithCapacity,
    ];

    /// Its row in the table.
    pub fn row(self) -> &'static SignalRow {
        &SIGNALS[self as usize]
    }

    /// Its name in specs and on screens.
    pub fn as_str(self) -> &'static str {
        self.row().name
    }
}

impl fmt::Display for SignalSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Some sources.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<SignalSource>", into = "Vec<SignalSource>")]
pub struct SignalSet(u16);

impl SignalSet {
    /// Whether a source is among them.
    pub fn contains(self, source: SignalSource) -> bool {
        self.0 & 1 << source as u16 != 0
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0 == 0
    }

    /// The sources, in order.
    pub fn iter(self) -> impl Iterator<Item = SignalSource> {
        SignalSource::ALL.into_iter().filter(move |source| self.contains(*source))
    }
}

impl FromIterator<SignalSource> for SignalSet {
    fn from_iter<T: IntoIterator<Item = SignalSource>>(sources: T) -> Self {
        SignalSet(sources.into_iter().fold(0, |set, source| set | 1 << source as u16))
    }
}

impl From<Vec<SignalSource>> for SignalSet {
    fn from(sources: Vec<SignalSource>) -> Self {
        sources.into_iter().collect()
    }
}

impl From<SignalSet> for Vec<SignalSource> {
    fn from(set: SignalSet) -> Self {
        set.iter().collect()
    }
}

/// A cloud's own word on how many machines it takes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Interrupted {
    /// The share of machines, in the source's own way of counting.
    pub share: Share,
    /// Who says so.
    pub source: SignalSource,
}

/// What one source says of one pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Word {
    /// Who.
    pub source: SignalSource,
    /// How likely a launch is, how many machines are taken back, or how much the price moved.
    pub share: Share,
}

/// What one source says of one pool, and how far it is believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Heeded {
    /// Who says what.
    #[serde(flatten)]
    pub word: Word,
    /// From nothing to all of it.
    pub weight: Share,
    /// Since when a word on launches is taken to have stood.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steady_since: Option<Timestamp>,
}

/// What the sources said of a pool when machines were launched there: that is what they are judged by.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Heard {
    /// Which pool.
    pub pool: PoolId,
    /// Each source's word.
    pub words: Vec<Word>,
}

/// How well each source foretold what happened to us.
pub type SignalRecords = BTreeMap<SignalSource, SignalRecord>;

/// How well one source foretold what happened to us. Whole numbers, so that saved inputs replay exactly.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SignalRecord {
    /// How much likelier its words made what happened than the usual prior did, as far as that counts
    /// still: the logarithm, in millionths.
    pub gain_micro: i64,
    /// How often it was judged.
    pub judged: u64,
    /// When the gain was last aged.
    pub as_of: Timestamp,
}

impl Signals {
    /// Each source's word.
    pub fn words(&self) -> impl Iterator<Item = Word> {
        let launch = self.obtainability.map(|Obtainability { percent, source }| Word {
            source,
            share: Share::from_ppm(u32::from(percent.min(100)) * 10_000).unwrap_or(Share::ALL),
        });
        let lost = self.interrupted.map(|Interrupted { share, source }| Word { source, share });
        let moved = self.volatility;
        let moved = moved.map(|share| Word { source: SignalSource::SpotPriceHistory, share });
        [launch, lost, moved].into_iter().flatten()
    }

    /// The same without some sources.
    pub fn without(self, off: SignalSet) -> Self {
        let obtainability = self.obtainability.filter(|word| !off.contains(word.source));
        Signals {
            obtainability,
            steady_since: self.steady_since.filter(|_| obtainability.is_some()),
            volatility: self.volatility.filter(|_| !off.contains(SignalSource::SpotPriceHistory)),
            interrupted: self.interrupted.filter(|word| !off.contains(word.source)),
            price_as_of: self.price_as_of,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_a_row_for_each_source_in_order() {
        assert_eq!(SIGNALS.map(|row| row.source), SignalSource::ALL);
        for row in &SIGNALS {
            assert_eq!(row.source.row().name, row.name);
            assert!(row.name.starts_with(row.cloud.as_str()), "{}", row.name);
            assert!((1..100).contains(&row.weight_percent), "{}: can be learned", row.name);
            assert!(row.stands_in >= row.holds, "{}", row.name);
            assert!(!row.limit_source.is_empty(), "{}", row.name);
        }
    }

    #[test]
    fn what_is_off_says_nothing() {
        let share = Share::from_ppm(300_000).expect("a share");
        let signals = Signals {
            obtainability: Some(Obtainability {
                percent: 70,
                source: SignalSource::SpotPlacementScore,
            }),
            volatility: Some(share),
            steady_since: None,
            interrupted: Some(Interrupted { share, source: SignalSource::SpotAdvisor }),
            price_as_of: None,
        };
        assert_eq!(signals.words().count(), 3);
        for source in signals.words().map(|word| word.source) {
            let off: SignalSet = [source].into_iter().collect();
            let left: Vec<SignalSource> =
                signals.without(off).words().map(|word| word.source).collect();
            assert_eq!(left.len(), 2);
            assert!(!left.contains(&source));
        }
        let all: SignalSet = SignalSource::ALL.into_iter().collect();
        assert_eq!(signals.without(all), Signals::default());
        assert_eq!(all.iter().count(), 8);
        let text = serde_json::to_string(&all).expect("JSON");
        assert_eq!(serde_json::from_str::<SignalSet>(&text).expect("a set"), all);
    }

    #[test]
    fn journals_of_before_are_read() {
        let old =
            r#"{"event":"roundStarted","spec":"SPEC","create":1,"destroy":0,"hourlyAfter":5}"#;
        let spec = serde_json::to_string(&crate::digest("test/1", [])).expect("JSON");
        let old = old.replace("\"SPEC\"", &spec);
        let event: crate::Event = serde_json::from_str(&old).expect("an event");
        assert!(matches!(&event, crate::Event::RoundStarted { heard, .. } if heard.is_empty()));
        assert_eq!(serde_json::to_string(&event).expect("JSON"), old);
    }
}
