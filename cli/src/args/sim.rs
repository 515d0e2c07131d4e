//! `fleet sim …`.

use clap::{Subcommand, ValueEnum};
use fleet_model::{Cloud, Market, Pattern, PoolId, Region};
use std::str::FromStr;
use std::time::Duration;

/// What should happen on the simulated clouds.
#[derive(Debug, Subcommand)]
pub(crate) enum SimCommand {
    /// Let time pass
    Advance {
        /// How long: 90s, 15m, 2h, 1d12h
        #[arg(value_parser = parse_duration)]
        time: Duration,
    },
    /// Let pools run out of capacity
    Exhaust {
        /// Pools, `*` allowed: 'aws/us-east-1/*/p5.48xlarge/spot'
        #[arg(value_name = "POOL")]
        pool: PoolPattern,
    },
    /// Take spot machines back, with the notice each cloud gives
    Interrupt {
        /// Pools, `*` allowed, or the id of one machine
        #[arg(value_name = "POOL|MACHINE")]
        target: String,
        /// At most so many machines
        #[arg(long, value_name = "N")]
        count: Option<u32>,
    },
    /// Let a region stop answering
    Outage {
        /// A region: us-east-1 or aws/us-east-1
        region: ScopeArg,
    },
    /// Let a cloud throttle every call
    Throttle {
        /// The cloud; all of them without it.
        cloud: Option<Cloud>,
    },
    /// Lose the answers to create calls: the machines exist, the caller does not know
    LoseAnswers {
        /// The cloud; all of them without it.
        cloud: Option<Cloud>,
        /// How many answers are lost
        #[arg(long, value_name = "N", default_value_t = 1)]
        count: u32,
    },
    /// Leave machines out of lists, and say so
    PartialLists {
        /// A region: us-east-1 or aws/us-east-1
        region: ScopeArg,
    },
    /// Set the account's quota of a region
    Quota {
        /// A region: us-east-1 or aws/us-east-1
        region: ScopeArg,
        /// on-demand or spot
        market: Market,
        /// vCPUs allowed.
        vcpus: u64,
    },
    /// End every fault that was asked for
    Heal,
    /// Show the time, the machines and the faults
    Show,
    /// Begin anew: no machines, no faults
    Reset {
        /// The seed of chance
        #[arg(long, default_value_t = 0)]
        seed: u64,
        /// How the clouds behave
        #[arg(long, value_enum, default_value_t = Preset::Calm)]
        preset: Preset,
        /// How long a call takes: 20ms
        #[arg(long, value_parser = parse_duration)]
        latency: Option<Duration>,
    },
}

/// How the simulated clouds behave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Preset {
    /// They answer at once and have what they list.
    Calm,
    /// They have the habits of the real ones.
    Lifelike,
}

/// Pools by pattern: `cloud/region/zone/type/market`, `*` in any part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PoolPattern(Pattern);

impl PoolPattern {
    /// Whether a pool is meant.
    pub(crate) fn matches(&self, pool: &PoolId) -> bool {
        self.0.matches(&pool.to_string())
    }

    /// The pool, if exactly one is named.
    pub(crate) fn exact(&self) -> Option<PoolId> {
        self.0.as_str().parse().ok().filter(|_| !self.0.as_str().contains(['*', '?']))
    }

    /// The pattern as written.
    pub(crate) fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

impl FromStr for PoolPattern {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let wild = text.contains(['*', '?']);
        if !wild && let Err(cause) = text.parse::<PoolId>() {
            return Err(format!(
                "{cause}; a pool is cloud/region/zone/type/market, for example \
                 aws/us-east-1/use1-az4/p5.48xlarge/spot"
            ));
        }
        Ok(PoolPattern(Pattern::new(text)))
    }
}

/// A region, with or without its cloud.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ScopeArg {
    /// The cloud, if it was said.
    pub cloud: Option<Cloud>,
    /// The region.
    pub region: Region,
}

impl FromStr for ScopeArg {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let (cloud, region) = match text.split_once('/') {
            None => (None, text),
            Some((cloud, region)) => {
                let cloud = cloud.parse::<Cloud>().map_err(|cause| cause.to_string())?;
                (Some(cloud), region)
            }
        };
        if region.is_empty() || region.contains('/') {
            return Err(format!("`{text}` is no region; write us-east-1 or aws/us-east-1"));
        }
        Ok(ScopeArg { cloud, region: region.into() })
    }
}

/// `90s`, `15m`, `2h`, `1d12h`, `20ms`.
pub(crate) fn parse_duration(text: &str) -> Result<Duration, String> {
    let bad = || format!("`{text}` is no duration; write 90s, 15m, 2h or 1d12h");
    let mut total = Duration::ZERO;
    let mut rest = text;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit()).ok_or_else(bad)?;
        let number: u64 = rest[..digits].parse().map_err(|_| bad())?;
        rest = &rest[digits..];
        let letters = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
        let millis: u64 = match &rest[..letters] {
            "ms" => 1,
            "s" => 1_000,
            "m" | "min" => 60_000,
            "h" => 3_600_000,
            "d" => 86_400_000,
            _ => return Err(bad()),
        };
        rest = &rest[letters..];
        let part = number.checked_mul(millis).ok_or_else(bad)?;
        total = total.checked_add(Duration::from_millis(part)).ok_or_else(bad)?;
    }
    // Two centuries: far beyond any scenario, far from the end of the calendar.
    if text.is_empty() || total > Duration::from_secs(200 * 365 * 86_400) {
        return Err(bad());
    }
    Ok(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        let check = |text: &str, seconds: Option<f64>| {
            assert_eq!(parse_duration(text).ok().map(|d| d.as_secs_f64()), seconds, "{text}");
        };
        check("2h", Some(7200.0));
        check("1d12h", Some(129_600.0));
        check("20ms", Some(0.02));
        check("15min", Some(900.0));
        for bad in ["", "2", "h", "2x", "-1h", "99999999999999999999h", "9999999d", "2é"] {
            check(bad, None);
        }
    }

    #[test]
    fn pools_and_regions() {
        assert!("aws/*/spot".parse::<PoolPattern>().is_ok());
        assert!("aws/us-east-1".parse::<PoolPattern>().is_err());
        assert!("mars/x".parse::<ScopeArg>().is_err());
        assert_eq!("aws/r".parse::<ScopeArg>().expect("a scope").cloud, Some(Cloud::Aws));
    }
}
