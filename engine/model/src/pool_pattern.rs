//! Pools by pattern.

use crate::id::PoolId;
use crate::pattern::Pattern;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Some pools: `aws/us-east-1/*/p5*/spot`.
///
/// With all five parts, each is matched by itself. With fewer, a star reaches across the slashes
/// and the pattern also covers everything below it: `gcp`, `aws/us-east-1`, `*h100*`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct PoolPattern {
    text: String,
    parts: Option<[Pattern; 5]>,
    whole: Pattern,
    below: Pattern,
}

impl PoolPattern {
    /// Wraps a pattern as written.
    pub fn new(text: impl Into<String>) -> Self {
        let text: String = text.into();
        let parts: Vec<&str> = text.split('/').collect();
        let parts = <[&str; 5]>::try_from(parts).ok().map(|parts| parts.map(Pattern::from));
        let whole = Pattern::new(text.clone());
        let below = Pattern::new(format!("{text}/*"));
        PoolPattern { text, parts, whole, below }
    }

    /// The pattern as written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether a pool is among them.
    pub fn matches(&self, pool: &PoolId) -> bool {
        match &self.parts {
            Some([cloud, region, zone, instance_type, market]) => {
                cloud.matches(pool.place.cloud.as_str())
                    // A region stands for what every account has in it.
                    && (region.matches(pool.place.region.as_str())
                        || region.matches(pool.place.region.name()))
                    && zone.matches(pool.place.zone.as_str())
                    && instance_type.matches(pool.instance_type.as_str())
                    && market.matches(pool.market.as_str())
            }
            None => {
                let pool = pool.to_string();
                self.whole.matches(&pool) || self.below.matches(&pool)
            }
        }
    }
}

impl fmt::Display for PoolPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

impl From<&str> for PoolPattern {
    fn from(text: &str) -> Self {
        PoolPattern::new(text)
    }
}

impl From<String> for PoolPattern {
    fn from(text: String) -> Self {
        PoolPattern::new(text)
    }
}

impl From<PoolPattern> for String {
    fn from(pattern: PoolPattern) -> Self {
        pattern.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_or_everything_below() {
        let pool: PoolId = "aws/us-east-1/use1-az4/p5.48xlarge/spot".parse().expect("a pool");
        let check = |pattern: &str, expect: bool| {
            assert_eq!(PoolPattern::from(pattern).matches(&pool), expect, "{pattern}");
        };
        check("aws/us-east-1/*/p5*/spot", true);
        check("aws/us-east-1/*/p4*/spot", false);
        check("aws/*/*/*/on-demand", false);
        check("aws", true);
        check("aws/us-east-1", true);
        check("aws/us-east", false);
        check("*p5*", true);
        check("gcp", false);
        check("", false);
    }
}
