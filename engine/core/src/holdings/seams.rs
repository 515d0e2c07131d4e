//! Where seeded bugs enter what we hold, so that it is worked out once. Without the feature `bugs` each
//! of these does what its first line says.

use crate::holdings::absence::{ABSENCE_PROVES, jiff_duration};
use fleet_model::bugs::{self, Bug};
use fleet_model::{
    Attempt, Cause, Create, MachineId, Market, MicroUsd, Observed, Orphans, Probed, Recorded, Token,
};

/// The launch that may fill a slot in doubt: the one on record.
pub(super) fn in_doubt<'a>(recorded: &'a Recorded, token: &Token) -> Option<&'a Attempt> {
    if bugs::on(Bug::DoubtNotCounted) {
        return None;
    }
    recorded.in_doubt.get(token)
}

/// What a machine of a launch in doubt costs: whichever pool the cloud chose, no more than the dearest.
pub(super) fn price_in_doubt(create: &Create) -> Option<MicroUsd> {
    if bugs::on(Bug::DoubtCostsNothing) {
        return Some(MicroUsd(0));
    }
    create.dearest()
}

/// What is believed of a machine that is not listed: what its cloud said of this very machine, where
/// its scope answered in full.
pub(super) fn believed(said: Option<&Option<Cause>>, complete: bool) -> Option<&Option<Cause>> {
    let gone_anyway = match complete {
        true => bugs::on(Bug::ListBelieved),
        false => bugs::on(Bug::GapsForgotten),
    };
    if gone_anyway {
        return said.or(Some(&None));
    }
    said.filter(|_| complete)
}

/// Whether a machine that is being ended is taken for gone: never.
pub(super) fn stopping_is_gone() -> bool {
    bugs::on(Bug::StoppingMachinesForgotten)
}

/// Whether a market takes machines back, so that one that is gone needs no other reason: spot does.
pub(super) fn takes_back(market: Market) -> bool {
    market == Market::Spot && !bugs::on(Bug::VanishedSpotFrozen)
}

/// What a machine left behind: what is listed of it.
pub(super) fn left_behind<'a>(observed: &'a Observed, machine: &MachineId) -> Option<&'a Orphans> {
    if bugs::on(Bug::ChildrenForgotten) {
        return None;
    }
    observed.orphans.get(machine)
}

/// How long after a launch was last sent absence proves something: [`ABSENCE_PROVES`].
pub(super) fn absence_proves_after() -> jiff::SignedDuration {
    if bugs::on(Bug::DoubtfulChildrenCleared) {
        return jiff::SignedDuration::MIN;
    }
    jiff_duration(ABSENCE_PROVES)
}

/// What is cleared away of what may be: all of it.
pub(super) fn cleared_away(left: Vec<Orphans>) -> Vec<Orphans> {
    if bugs::on(Bug::ChildrenNeverCleared) {
        return Vec::new();
    }
    left
}

/// What is believed of a machine's checks: what they said.
pub(super) fn as_probed(said: Option<&Probed>) -> Option<&Probed> {
    if bugs::on(Bug::ChecksIgnored) {
        return Some(&Probed::Passed);
    }
    said
}

/// Whether so many machines are unhealthy that it is not the machines: two at least, and more than one in
/// five.
pub(super) fn is_too_many(unhealthy: u32, of: u32) -> bool {
    let many = unhealthy >= 2 && u64::from(unhealthy) * 5 > u64::from(of);
    many && !bugs::on(Bug::UnhealthyReplacedWithoutBound)
}
