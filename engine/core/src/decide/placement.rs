//! How a fleet would stand.

use crate::decide::driver::decide;
use crate::place::Certificate;
use fleet_model::{Group, Inputs, MicroUsd, Units};

/// How a fleet would stand, without the steps towards it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Placement {
    /// Machines launched.
    pub machines: u64,
    /// Price per hour of everything.
    pub hourly: MicroUsd,
    /// What could not be placed.
    pub short: Units,
    /// How good it is under its strategy, group by group, where that can be proven.
    pub certificates: [Option<Certificate>; 2],
}

/// Places, and nothing else: for benchmarks and tests of the optimiser. `certify` asks for a proof.
pub fn placement(inputs: &Inputs, certify: bool) -> Placement {
    let choice = decide(inputs, certify).choice;
    let certificate = |group| choice.taken.get(&group).and_then(|taken| taken.certificate);
    let taken = choice.taken.values();
    Placement {
        machines: taken.clone().flat_map(|t| t.counts.values()).map(|n| u64::from(*n)).sum(),
        hourly: choice.usage.spend,
        short: taken.map(|t| t.short).sum(),
        certificates: Group::ALL.map(certificate),
    }
}
