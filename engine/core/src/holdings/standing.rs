//! How a machine stands: the journal's word and its cloud's.

use crate::holdings::pools::PoolFacts;
use crate::holdings::seams;
use fleet_model::{
    Cause, CauseKind, Departure, Inputs, Machine, MachineId, MachineState, NoticeKind, PoolId,
    Rejection, SlotId,
};

/// What may be done with a holding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Standing {
    /// It counts, and may be destroyed if there is too much.
    Good,
    /// It counts, but the spec no longer allows its pool.
    Disallowed(Rejection),
    /// It works, and a person asked for its replacement: it serves on until its successor is up, and does
    /// not count, so that a successor is launched.
    ToReplace,
    /// It counts and must not be touched: in doubt, in a gap, or its tags are lost.
    Fixed,
    /// It is there and paid for, and does not work: it is no capacity, and must go.
    Failed(CauseKind),
    /// It is shut down and still paid for: it is no capacity, and must go.
    Stopped,
    /// It was written down as gone, came back, and its slot has another machine: it must go.
    CameBack,
    /// The cloud is taking it back: it no longer counts.
    Interrupted,
    /// It is being ended: it no longer counts.
    Ending,
}

impl Standing {
    /// Whether it is part of the fleet's capacity.
    pub(crate) fn counts(&self) -> bool {
        match self {
            Standing::Good | Standing::Disallowed(_) | Standing::Fixed => true,
            Standing::ToReplace
            | Standing::Failed(_)
            | Standing::Stopped
            | Standing::CameBack
            | Standing::Interrupted
            | Standing::Ending => false,
        }
    }

    /// Whether it stands, and is paid for, until somebody destroys it. What its cloud takes back
    /// within minutes, and what is being destroyed, ends by itself.
    pub(crate) fn stands(&self) -> bool {
        match self {
            Standing::Good
            | Standing::Disallowed(_)
            | Standing::ToReplace
            | Standing::Fixed
            | Standing::Failed(_)
            | Standing::Stopped
            | Standing::CameBack => true,
            Standing::Interrupted | Standing::Ending => false,
        }
    }
}

/// Whether a machine is there.
pub(super) enum Found<'a> {
    Here(Standing),
    Gone(Departure, Option<&'a Cause>),
}

/// How a machine on record stands.
pub(super) fn standing<'a>(
    inputs: &'a Inputs,
    slot: SlotId,
    machine: &MachineId,
    pool: &PoolId,
    &PoolFacts { complete, .. }: &PoolFacts,
    (ending, failed): (bool, bool),
    seen: Option<&'a Machine>,
) -> Found<'a> {
    let Some(seen) = seen else {
        // A list proves nothing of what is not in it: a machine is gone when its cloud said so of
        // this very machine. Until then it counts, and cannot be destroyed.
        return match seams::believed(inputs.observed.gone.get(machine), complete) {
            Some(cause) => {
                Found::Gone(departure(pool, ending, failed, cause.as_ref()), cause.as_ref())
            }
            None => Found::Here(Standing::Fixed),
        };
    };
    debug_assert_eq!(seen.id, *machine);
    let interrupted = seen.notice.is_some_and(|notice| notice.kind == NoticeKind::Interruption);
    match seen.state {
        MachineState::Terminated => {
            let cause = seen.cause.as_ref();
            let how = match departure(pool, ending, failed, cause) {
                // It is listed as ended, so its cloud knows of it: no mystery.
                Departure::Vanished => Departure::Terminated,
                how => how,
            };
            Found::Gone(how, cause)
        }
        _ if !complete || !owned(inputs, slot, seen) => Found::Here(Standing::Fixed),
        MachineState::Stopping if seams::stopping_is_gone() => Found::Gone(Departure::Ended, None),
        MachineState::Stopping => Found::Here(Standing::Ending),
        MachineState::Failed if !inputs.desired.health.cloud => Found::Here(Standing::Good),
        MachineState::Failed => {
            let kind = seen.cause.as_ref().map_or(CauseKind::Unwell, |cause| cause.kind);
            Found::Here(Standing::Failed(kind))
        }
        MachineState::Stopped => Found::Here(Standing::Stopped),
        MachineState::Pending | MachineState::Running if interrupted => {
            Found::Here(Standing::Interrupted)
        }
        // An end that was asked for and not obeyed is asked for again.
        MachineState::Pending | MachineState::Running => Found::Here(Standing::Good),
    }
}

/// How a machine went that is gone for certain.
fn departure(pool: &PoolId, ending: bool, failed: bool, cause: Option<&Cause>) -> Departure {
    if ending {
        return Departure::Ended;
    }
    match cause.map(|cause| cause.kind) {
        Some(CauseKind::Interrupted) => Departure::Interrupted,
        Some(CauseKind::Person | CauseKind::Guest) => Departure::EndedByOther,
        Some(CauseKind::Expired) => Departure::Expired,
        Some(
            CauseKind::LaunchFailed
            | CauseKind::NeverReady
            | CauseKind::Unwell
            | CauseKind::NotReady,
        ) => Departure::Failed,
        None if failed => Departure::Failed,
        // Spot that its cloud confirms to be gone was taken back: that is what spot is.
        None if seams::takes_back(pool.market) => Departure::Interrupted,
        None => Departure::Vanished,
    }
}

/// Whether a machine carries the tags of its slot.
pub(super) fn owned(inputs: &Inputs, slot: SlotId, machine: &Machine) -> bool {
    machine.owner.as_ref().is_some_and(|owner| owner.fleet == inputs.uid && owner.slot == slot)
}
