//! One machine, asked for by its id or name.

use crate::event::Refusal;
use crate::time::{Ms, from_stamp};
use crate::tx::Tx;
use fleet_model::{Cloud, MachineState, Scope};
use fleet_provider::{Missing, TraceRequest, Traced};

/// For this long a new machine may be unknown to calls that ask for it: EC2 and Lambda need minutes,
/// Azure answers 404 now and then right after the create, Google knows at once.
fn unsure_for(cloud: Cloud) -> Ms {
    match cloud {
        Cloud::Aws | Cloud::Lambda => 5 * 60_000,
        Cloud::Azure => 2 * 60_000,
        Cloud::Gcp => 0,
    }
}

/// What became of machines that a list lacks.
pub(crate) fn trace(tx: &mut Tx<'_>, request: &TraceRequest<'_>) -> Result<Vec<Traced>, Refusal> {
    tx.read(request.scope, |tx| {
        request.missing.iter().map(|missing| one(tx, request.scope, missing)).collect()
    })
}

fn one(tx: &Tx<'_>, scope: &Scope, missing: &Missing) -> Traced {
    let (cloud, now) = (scope.cloud, tx.now());
    if tx.other_account(cloud) {
        return Traced::Gone(None);
    }
    let young = now.saturating_sub(from_stamp(missing.launched_at)) < unsure_for(cloud);
    let Some(vm) = tx.world.vm(&missing.machine) else {
        return if young { Traced::Unknown } else { Traced::Gone(None) };
    };
    // By name or number Google and Azure know a machine that their lists do not show yet.
    let hidden = vm.visible > now && matches!(cloud, Cloud::Aws | Cloud::Lambda);
    match tx.world.describe(vm) {
        Some(machine) if machine.state != MachineState::Terminated && !hidden => {
            Traced::There(Box::new(machine))
        }
        Some(machine) if machine.state == MachineState::Terminated => Traced::Gone(machine.cause),
        Some(_) | None if young => Traced::Unknown,
        Some(_) | None => Traced::Gone(None),
    }
}
