//! One machine, asked for by its id or name.

use crate::event::Refusal;
use crate::time::{Ms, from_stamp};
use crate::tx::Tx;
use crate::vm::Vm;
use fleet_model::{Cloud, Machine, MachineState, Scope, Token};
use fleet_provider::{Missing, TraceRequest, Traced};

/// For this long a new machine may be unknown to calls that ask for it.
fn unsure_for(cloud: Cloud) -> Ms {
    cloud.facts().unknown_for.as_millis() as Ms
}

/// What became of machines that a list lacks.
pub(crate) fn trace(tx: &mut Tx<'_>, request: &TraceRequest<'_>) -> Result<Vec<Traced>, Refusal> {
    tx.read(request.scope, |tx| {
        request.missing.iter().map(|missing| one(tx, request.scope, missing)).collect()
    })
}

/// What a launch made. By name Google and Azure know a machine that their lists do not show; EC2 knows
/// tags when its lists do, and Lambda has nothing but its list.
pub(crate) fn made(tx: &mut Tx<'_>, scope: &Scope, token: &Token) -> Result<Vec<Machine>, Refusal> {
    tx.read(scope, |tx| {
        let (cloud, now) = (scope.cloud, tx.now());
        if tx.other_account(cloud) {
            return Vec::new();
        }
        let by_name = matches!(cloud, Cloud::Gcp | Cloud::Azure);
        let known = |vm: &&Vm| {
            let listed = vm.is_listed(cloud, now);
            if cloud == Cloud::Lambda { listed && !tx.hides(scope, vm) } else { listed || by_name }
        };
        let all = tx.world.vms.values().filter(known).filter_map(|vm| tx.world.describe(vm));
        let ours = |machine: &Machine| {
            let owner = machine.owner.as_ref();
            machine.state != MachineState::Terminated
                && machine.place.scope() == *scope
                && owner.is_some_and(|owner| owner.token == *token)
        };
        all.filter(ours).collect()
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
