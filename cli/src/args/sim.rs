//! `fleet sim …`.

use clap::Subcommand;
use fleet_model::{Cloud, MachineId, Market, PoolPattern};
use fleet_sim::Preset;
use std::str::FromStr;
use std::time::Duration;

/// What should happen on the simulated clouds.
#[derive(Debug, Subcommand)]
pub(crate) enum SimCommand {
    /// Show the time, the machines and the faults
    Show,
    /// Show what the simulated clouds ask for their machines, by their own count
    Bill,
    /// Let time pass
    Advance {
        /// How long: 90s, 15m, 2h, 1d12h
        #[arg(value_parser = parse_duration)]
        time: Duration,
    },
    /// Make pools run out of capacity; machines in them keep running
    Exhaust {
        /// Pools, `*` allowed: 'aws/us-east-1/*/p5.48xlarge/spot', aws/us-east-1, '*h100*'
        #[arg(value_name = "POOL")]
        pool: PoolPattern,
        /// Machines of ours that each pool still has room for
        #[arg(long, value_name = "N", default_value_t = 0)]
        room: u32,
        /// For how long [default: until healed]
        #[arg(long = "for", value_name = "TIME", value_parser = parse_duration)]
        lasting: Option<Duration>,
    },
    /// Interrupt machines, with the notice that each cloud gives
    Interrupt {
        /// Pools, `*` allowed, or the id of one machine
        #[arg(value_name = "POOL|MACHINE")]
        target: String,
        /// Only the N youngest machines
        #[arg(long, value_name = "N", default_value_t = 1, conflicts_with = "all")]
        count: usize,
        /// All of them
        #[arg(long)]
        all: bool,
    },
    /// Terminate a machine at once, without notice
    Reclaim {
        /// Its id.
        #[arg(value_parser = machine)]
        machine: MachineId,
    },
    /// Remove the tags of a machine
    StripTags {
        /// Its id.
        #[arg(value_parser = machine)]
        machine: MachineId,
    },
    /// Make a region, or a whole cloud, stop answering
    Outage {
        /// us-east-1, aws/us-east-1 or aws
        #[arg(value_name = "REGION")]
        area: Where,
        /// Carry out half of the requests, and answer none
        #[arg(long)]
        lossy: bool,
        /// For how long [default: until healed]
        #[arg(long = "for", value_name = "TIME", value_parser = parse_duration)]
        lasting: Option<Duration>,
    },
    /// Throttle every change and every list
    Throttle {
        /// The cloud [default: all]
        cloud: Option<Cloud>,
        /// For how long
        #[arg(long = "for", value_name = "TIME", default_value = "10m", value_parser = parse_duration)]
        lasting: Duration,
    },
    /// Lose responses to changes: they are carried out, and the caller does not know
    LoseAnswers {
        /// The cloud [default: all]
        cloud: Option<Cloud>,
        /// Percentage of the responses
        #[arg(long, value_name = "N", default_value_t = 100,
            value_parser = clap::value_parser!(u8).range(0..=100))]
        percent: u8,
    },
    /// Lose a page of every list, and report it
    PartialLists {
        /// us-east-1, aws/us-east-1 or aws
        #[arg(value_name = "REGION")]
        area: Where,
    },
    /// List new machines late
    DelayVisibility {
        /// The cloud.
        cloud: Cloud,
        /// How late
        #[arg(value_parser = parse_duration)]
        by: Duration,
    },
    /// Set the account's quota of a region
    Quota {
        /// us-east-1 or aws/us-east-1
        #[arg(value_name = "REGION")]
        area: Where,
        /// on-demand or spot
        market: Market,
        /// vCPUs allowed.
        vcpus: u64,
    },
    /// Heal every fault, and restore quotas
    Heal,
    /// Start over: no machines, no faults, and no journals of simulated fleets
    Reset {
        /// Seed of the random generator
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// lifelike: capacity runs out and prices move; calm: endless, fixed, at once
        #[arg(long, default_value_t = Preset::Lifelike)]
        preset: Preset,
        /// Real time that every call takes
        #[arg(long, value_name = "TIME", default_value = "0ms", value_parser = parse_duration)]
        latency: Duration,
    },
}

/// Where something happens: a region with or without its cloud, or a whole cloud.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Where {
    /// The cloud was said.
    Area(fleet_sim::Area),
    /// Only a region; the catalog knows its cloud.
    Region(String),
}

impl FromStr for Where {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        if text.contains('/') || text.parse::<Cloud>().is_ok() {
            return text.parse().map(Where::Area).map_err(|cause: fleet_model::UnknownName| {
                format!("{cause}; write us-east-1, aws/us-east-1 or aws")
            });
        }
        if text.is_empty() {
            return Err("write a region: us-east-1 or aws/us-east-1".into());
        }
        Ok(Where::Region(text.into()))
    }
}

fn machine(text: &str) -> Result<MachineId, std::convert::Infallible> {
    Ok(text.into())
}

/// `90s`, `15m`, `2h`, `1d12h`, `20ms`.
pub(crate) fn parse_duration(text: &str) -> Result<Duration, String> {
    let bad = || format!("`{text}` is no duration; write 90s, 15m, 2h or 1d12h");
    let total = humantime::parse_duration(text).map_err(|_| bad())?;
    // Ten years: as far as the simulated clouds go in one step.
    if total > Duration::from_secs(10 * 365 * 86_400) {
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
    fn places() {
        assert_eq!("us-east-1".parse(), Ok(Where::Region("us-east-1".into())));
        assert!(matches!("aws".parse(), Ok(Where::Area(area)) if area.region.is_none()));
        assert!(matches!("aws/r".parse(), Ok(Where::Area(area)) if area.region.is_some()));
        assert!("mars/x".parse::<Where>().is_err());
        assert!("aws/".parse::<Where>().is_err());
    }
}
