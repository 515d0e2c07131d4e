//! Tags of ours on machines that run: written, rewritten, taken off.

use crate::event::{Event, Refusal};
use crate::limit::Call;
use crate::tx::Tx;
use fleet_model::{Machine, MachineId, MachineState, Ownership, Scope};
use fleet_provider::{DisownRequest, OwnRequest, RenameRequest, TagFilter};

/// Machines without tags of ours that carry one of the user's own.
pub(crate) fn unowned(
    tx: &mut Tx<'_>,
    scope: &Scope,
    tag: &TagFilter,
) -> Result<Vec<Machine>, Refusal> {
    tx.read(scope, |tx| {
        let (world, now) = (&*tx.world, tx.now());
        let serials = world.index.in_scope(scope);
        let shown = serials.iter().filter_map(|serial| world.vms.get(serial)).filter(|vm| {
            let carries = world.labels(vm).and_then(|labels| labels.get(&tag.key));
            vm.is_listed(scope.cloud, now)
                && vm.state(now) != MachineState::Terminated
                && !vm.tagged
                && !tx.hides(scope, vm)
                && carries == Some(&tag.value)
        });
        shown.filter_map(|vm| world.describe(vm)).collect()
    })
}

/// A machine of a scope that is there, and what its tags say.
fn there(tx: &Tx<'_>, scope: &Scope, id: &MachineId) -> Option<Option<Ownership>> {
    let vm = tx.world.vm(id)?;
    let machine = tx.world.describe(vm)?;
    let gone = vm.state(tx.now()) == MachineState::Terminated || tx.other_account(scope.cloud);
    (!gone && machine.place.scope() == *scope).then_some(machine.owner)
}

/// One call for some machines.
fn each(
    tx: &mut Tx<'_>,
    scope: &Scope,
    machines: usize,
    act: impl FnOnce(&mut Tx<'_>) -> Vec<MachineId>,
) -> Result<Vec<MachineId>, Refusal> {
    let count = u32::try_from(machines).unwrap_or(u32::MAX);
    tx.change(scope, Call::End, count, |tx| Ok(act(tx)))
}

/// Writes tags of ours.
pub(crate) fn own(tx: &mut Tx<'_>, request: &OwnRequest<'_>) -> Result<Vec<MachineId>, Refusal> {
    each(tx, request.scope, request.machines.len(), |tx| {
        let mut done = Vec::new();
        for one in request.machines {
            let Some(owner) = there(tx, request.scope, &one.machine) else { continue };
            if owner.is_some_and(|owner| owner != one.owner) {
                continue;
            }
            let labels = tx.world.vm(&one.machine).and_then(|vm| tx.world.labels(vm)).cloned();
            let mut labels = labels.unwrap_or_default();
            labels.extend(request.labels.clone());
            tx.emit(Event::Relabelled { id: one.machine.clone(), labels });
            tx.emit(Event::Owned { id: one.machine.clone(), owner: one.owner.clone() });
            done.push(one.machine.clone());
        }
        done
    })
}

/// Takes tags of ours off.
pub(crate) fn disown(
    tx: &mut Tx<'_>,
    request: &DisownRequest<'_>,
) -> Result<Vec<MachineId>, Refusal> {
    each(tx, request.scope, request.machines.len(), |tx| {
        let mut done = Vec::new();
        for one in request.machines {
            match there(tx, request.scope, &one.machine) {
                Some(Some(owner)) if owner.fleet == *request.fleet => {
                    tx.emit(Event::Stripped { id: one.machine.clone() });
                }
                // Done before.
                Some(None) => {}
                Some(Some(_)) | None => continue,
            }
            done.push(one.machine.clone());
        }
        done
    })
}

/// Writes another name of the fleet.
pub(crate) fn rename(
    tx: &mut Tx<'_>,
    request: &RenameRequest<'_>,
) -> Result<Vec<MachineId>, Refusal> {
    each(tx, request.scope, request.machines.len(), |tx| {
        let mut done = Vec::new();
        for one in request.machines {
            let owner = there(tx, request.scope, &one.machine).flatten();
            let Some(owner) = owner.filter(|owner| owner.fleet == *request.fleet) else { continue };
            let owner = Ownership { name: request.name.clone(), ..owner };
            tx.emit(Event::Owned { id: one.machine.clone(), owner });
            done.push(one.machine.clone());
        }
        done
    })
}
