//! Disks and interfaces: Azure makes them with a machine, and may forget them when it goes.

use crate::chance::{below, mix2, text};
use crate::event::{Event, Refusal};
use crate::fault::Fault;
use crate::limit::Call;
use crate::time::Ms;
use crate::tx::Tx;
use fleet_model::{Cloud, MachineId, MachineState, Orphans, Scope};
use fleet_provider::{ClearRequest, CreateRequest};

/// What no machine uses. An interface is there before its machine is, and is listed while that is
/// not listed yet.
pub(crate) fn orphans(tx: &Tx<'_>, scope: &Scope) -> Vec<Orphans> {
    let (world, now) = (&*tx.world, tx.now());
    if scope.cloud != Cloud::Azure {
        return Vec::new();
    }
    let left = world.orphans.values().filter(|(left, since)| left.scope == *scope && *since <= now);
    let left = left.map(|(left, _)| left.clone());
    let serials = world.index.in_scope(scope);
    let hidden = serials.iter().filter_map(|serial| world.vms.get(serial));
    let hidden = hidden.filter(|vm| vm.visible > now && vm.state(now) != MachineState::Terminated);
    left.chain(hidden.filter_map(|vm| world.orphans_of(vm))).collect()
}

/// Clears away what no machine uses; of how many machines nothing is left.
pub(crate) fn clear(tx: &mut Tx<'_>, request: &ClearRequest<'_>) -> Result<u32, Refusal> {
    let machines = u32::try_from(request.orphans.len()).unwrap_or(u32::MAX);
    tx.change(request.scope, Call::End, machines, |tx| {
        let mut cleared = 0;
        let mut stays = None;
        for Orphans { machine, .. } in request.orphans {
            let now = tx.now();
            let used = |tx: &Tx<'_>| {
                tx.world.vm(machine).is_some_and(|vm| vm.state(now) != MachineState::Terminated)
            };
            if used(tx) {
                continue;
            }
            if tx.world.orphans.contains_key(machine) && forgets(tx, machine, tx.world.calls) {
                stays = Some(Refusal::new(200, "InternalExecutionError", "it is still there"));
                continue;
            }
            tx.emit(Event::Cleared { machine: machine.clone() });
            cleared += 1;
        }
        stays.map_or(Ok(cleared), Err)
    })
}

impl Tx<'_> {
    /// Leaves behind what machines that go at some moment had, or earlier: what is taken back in ten
    /// seconds is gone by then, however long its end would take.
    pub(crate) fn leave_children(&mut self, ids: &[MachineId], since: Ms) {
        for id in ids.iter().filter(|id| forgets(self, id, 0)).cloned().collect::<Vec<_>>() {
            let Some(vm) = self.world.vm(&id) else { continue };
            let since = vm.gone.map_or(since, |gone| gone.min(since));
            let orphans = self.world.orphans_of(vm);
            if let Some(orphans) = orphans.filter(|left| left.scope.cloud == Cloud::Azure) {
                self.emit(Event::Left { orphans, since });
            }
        }
    }
}

/// A launch that fails may leave what it made before the machine, and one of the same name that does
/// not fail takes it over.
pub(super) fn children_of_launch(
    tx: &mut Tx<'_>,
    request: &CreateRequest<'_>,
    name: String,
    failed: bool,
) {
    let token = request.create.token.clone();
    let machine = MachineId::new(name);
    if failed && forgets(tx, &machine, 0) {
        let (scope, since) = (request.create.pool.place.scope(), tx.now());
        tx.emit(Event::Left { orphans: Orphans { machine, token, scope }, since });
    } else if !failed {
        let left = tx.world.orphans.values().filter(|(left, _)| left.token == token);
        let taken_over: Vec<MachineId> = left.map(|(left, _)| left.machine.clone()).collect();
        taken_over.into_iter().for_each(|machine| tx.emit(Event::Cleared { machine }));
    }
}

/// Clears away what a launch left that failed, before the failure is told: nobody would look for it
/// later.
pub(crate) fn clear_failed(tx: &mut Tx<'_>, request: &CreateRequest<'_>) -> Result<(), Refusal> {
    let of_it = |(left, _): &&(Orphans, Ms)| left.token == request.create.token;
    let Some((left, _)) = tx.world.orphans.values().find(of_it).cloned() else { return Ok(()) };
    if tx.outage(&left.scope).is_some() || forgets(tx, &left.machine, tx.world.calls) {
        return Err(Refusal::new(200, "InternalExecutionError", "it is still there"));
    }
    tx.emit(Event::Cleared { machine: left.machine });
    Ok(())
}

/// Whether the cloud forgets what belonged to a machine.
fn forgets(tx: &Tx<'_>, machine: &MachineId, turn: u64) -> bool {
    let percent = tx.faults().filter_map(|fault| match fault {
        Fault::ChildrenLeft { percent } => Some(u64::from(*percent)),
        _ => None,
    });
    let chance = mix2(tx.world.settings.seed ^ 0x0c41, text(machine.as_str()) ^ turn);
    below(chance, 100) < percent.last().unwrap_or(0)
}
