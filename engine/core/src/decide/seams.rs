//! Where seeded bugs enter a decision, so that it is made in one way. Without the feature `bugs` each of
//! these does what its first line says.

use fleet_model::bugs::{self, Bug};
use fleet_model::{Freeze, Recorded, Units};

/// How many failures keep a group from launching more: all that there were.
pub(super) fn failures_counted(failures: u32) -> u32 {
    if bugs::on(Bug::FailedNotCounted) { 0 } else { failures }
}

/// Whether old and new machines may stand side by side without bound: never.
pub(super) fn surge_is_unbounded() -> bool {
    bugs::on(Bug::SurgeUnbounded)
}

/// How many machines one apply may still destroy: as many as its limit leaves.
pub(super) fn may_destroy(left: u32, target: Units) -> u32 {
    let nothing_wanted = target.is_zero() && bugs::on(Bug::PruneUnlimited);
    if bugs::on(Bug::DestroyLimitIgnored) || nothing_wanted { u32::MAX } else { left }
}

/// What a person said who wants nothing to be changed: what is on record.
pub(super) fn word_to_freeze(recorded: &Recorded) -> Option<&Freeze> {
    if bugs::on(Bug::FreezeByHandIgnored) {
        return None;
    }
    recorded.freeze.as_ref()
}

/// How many machines of the fleet's name speak for a lost journal: all that there are.
pub(super) fn signs_of_a_lost_journal(namesakes: u32) -> u32 {
    if bugs::on(Bug::LostJournalIgnored) { 0 } else { namesakes }
}

/// How many losses that nobody can explain speak for a freeze: all of them.
pub(super) fn unexplained_losses(vanished: u32) -> u32 {
    if bugs::on(Bug::FreezeIgnored) { 0 } else { vanished }
}

/// Whether launches in doubt are sent again whatever the spec wants now: never.
pub(super) fn unwanted_is_sent_again() -> bool {
    bugs::on(Bug::UnwantedSentAgain)
}

/// Whether an old machine waits until its successor is ready: if the spec says so.
pub(super) fn waits_for_ready(gate: bool) -> bool {
    gate && !bugs::on(Bug::HealthGateIgnored)
}

/// Whether a rollout goes on over machines that failed: never.
pub(super) fn failed_wave_is_ignored() -> bool {
    bugs::on(Bug::FailedWaveIgnored)
}

/// Whether every old machine is replaced at once: never.
pub(super) fn waves_are_unbounded() -> bool {
    bugs::on(Bug::WaveUnbounded)
}

/// Whether a wave may begin: in its windows.
pub(super) fn may_begin(open: bool) -> bool {
    open || bugs::on(Bug::WindowIgnored)
}
