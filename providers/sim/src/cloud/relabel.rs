//! Labels of machines that run.

use crate::event::{Event, Refusal};
use crate::limit::Call;
use crate::tx::Tx;
use fleet_model::{MachineId, MachineState};
use fleet_provider::RelabelRequest;

/// Changes the labels of those machines that are there and of this fleet.
pub(crate) fn relabel(
    tx: &mut Tx<'_>,
    request: &RelabelRequest<'_>,
) -> Result<Vec<MachineId>, Refusal> {
    let machines = u32::try_from(request.machines.len()).unwrap_or(u32::MAX);
    tx.change(request.scope, Call::End, machines, |tx| {
        let now = tx.now();
        let mut done = Vec::new();
        for one in request.machines {
            let Some(vm) = tx.world.vm(&one.machine) else { continue };
            // By id: lists may lack it still.
            let there = vm.state(now) != MachineState::Terminated;
            let owner = tx.world.describe(vm).and_then(|machine| machine.owner);
            if !there || owner.is_none_or(|owner| owner.fleet != *request.fleet) {
                continue;
            }
            let mut labels = tx.world.labels(vm).cloned().unwrap_or_default();
            labels.retain(|key, _| !request.remove.contains(key));
            labels.extend(request.set.clone());
            tx.emit(Event::Relabelled { id: one.machine.clone(), labels });
            done.push(one.machine.clone());
        }
        Ok(done)
    })
}
