//! Notices that machines gave themselves.

use fleet_model::{MachineState, NoticeKind, Observed, Recorded, Timestamp};
use jiff::SignedDuration;

/// A machine that still runs so long after it should have been taken back was not: the notice is void.
const VOID_AFTER: SignedDuration = SignedDuration::from_mins(10);

/// Adds what machines said of themselves to what the clouds said of them. A cloud's own word that it takes a machine
/// back stands.
pub fn heed_told(recorded: &Recorded, observed: &mut Observed, now: Timestamp) {
    for (id, told) in &recorded.told {
        let Some(machine) = observed.machines.get_mut(id) else { continue };
        let known = machine.notice.is_some_and(|notice| notice.kind == NoticeKind::Interruption);
        let runs = matches!(machine.state, MachineState::Pending | MachineState::Running);
        if runs && !known && now.duration_since(told.at) < VOID_AFTER {
            machine.notice = Some(*told);
        }
    }
}
