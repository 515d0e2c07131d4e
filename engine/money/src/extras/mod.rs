//! What comes beside the price of a machine: its boot disk, its public address, its share of the traffic.
//!
//! One table per kind, each row with its source. What a launch sends decides what is priced: see
//! [`Sent`]. Where no price is known, the answer is the reason, never nought.

mod address;
mod billed;
mod disk;
mod page;
mod places;
mod sent;
mod traffic;

pub use billed::{RULES, Rule, Until, rule};
pub use page::page;
pub use sent::Sent;
pub use traffic::{Way, Ways};

use fleet_model::{Cloud, Extra, Extras, HOURS_PER_MONTH, MicroUsd, NoPrice, PoolId};

/// Where a price comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Source {
    /// The page, file or test.
    pub name: &'static str,
    /// The date of the copy that was read.
    pub date: &'static str,
    /// A: the cloud's own page. B: a well-kept project's table or test. C: anything else.
    pub grade: char,
}

/// What a machine of a pool costs per hour beside its price, but for traffic.
pub fn beside(sent: &Sent<'_>, pool: &PoolId) -> Extras {
    Extras {
        disk: disk::price(sent, pool),
        address: address::price(sent, pool),
        egress: Extra::default(),
    }
}

/// The same for a machine that somebody else launched: its disk and its address are what they were then.
pub fn foreign(cloud: Cloud) -> Extras {
    match cloud {
        Cloud::Aws | Cloud::Azure | Cloud::Gcp => {
            let unknown = Extra::Unknown(NoPrice::Adopted);
            Extras { disk: unknown, address: unknown, egress: Extra::default() }
        }
        // In the price of every machine.
        Cloud::Lambda => Extras::default(),
    }
}

/// A price per month as a price per hour, to the nearest micro-dollar.
fn hourly(per_month: u128) -> MicroUsd {
    let hours = u128::from(HOURS_PER_MONTH);
    MicroUsd(u64::try_from((per_month + hours / 2) / hours).unwrap_or(u64::MAX))
}

/// A price that holds in some regions, and about so elsewhere.
fn priced(price: MicroUsd, holds_in: &[&str], region: &str) -> Extra {
    match holds_in.is_empty() || holds_in.contains(&region) || price == MicroUsd(0) {
        true => Extra::Hourly(price),
        false => Extra::About(price),
    }
}

#[cfg(test)]
mod tests;
