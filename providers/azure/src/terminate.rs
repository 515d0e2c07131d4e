//! Ending: look at each machine once more, right before, and touch only what is still the same.
//! Its disk and interface go with it; whether they did is looked at.

use crate::api::{Api, COMPUTE};
use crate::children;
use crate::error::{Asked, LOOK_AGAIN, refused};
use crate::machines::{all, machine};
use crate::names::{Group, MACHINES};
use crate::operation::{End, wait};
use crate::trace::{Seen, seek};
use crate::wire::{Child, Vm};
use fleet_model::{
    FleetUid, Machine, MachineId, MachineState, SETTLE_WINDOW, Scope, Timestamp, Victim,
};
use fleet_provider::{Class, DestroyRequest, Destroyed, Error, not_the_machine};
use futures::future::{join_all, try_join_all};
use reqwest::Method;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Machines that this run has deleted, and whose operation said so. Azure forgets what is gone, and
/// for a machine that is a few minutes old absence from a list alone proves nothing.
#[derive(Default)]
pub(crate) struct Ended(Mutex<BTreeMap<MachineId, Machine>>);

impl Ended {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<MachineId, Machine>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether this run has deleted it.
    fn has(&self, id: &MachineId) -> bool {
        self.lock().contains_key(id)
    }

    /// Whether this run has deleted this very machine, and not one of its name before it.
    pub(crate) fn is_over(&self, machine: &Machine) -> bool {
        let ended = self.lock();
        ended.get(&machine.id).is_some_and(|gone| gone.launched_at == machine.launched_at)
    }

    /// Those of a scope that are too young for their absence to speak for itself.
    pub(crate) fn lately(&self, scope: &Scope, now: Timestamp) -> Vec<Machine> {
        let young = |machine: &&Machine| {
            now.duration_since(machine.launched_at).unsigned_abs() < SETTLE_WINDOW
        };
        let here = |machine: &&Machine| machine.place.scope() == *scope;
        self.lock().values().filter(here).filter(young).cloned().collect()
    }
}

/// Up to so many machines no list is asked for.
const BY_NAME: usize = 50;

/// How many machines are asked for by name at a time.
const AT_A_TIME: usize = 20;

/// What is to be done with each of some machines.
#[derive(Debug, Clone, Default)]
struct Verdicts {
    /// Gone already.
    gone: Vec<MachineId>,
    /// Still what the plan took them for.
    doomed: Vec<(Machine, Vm)>,
    /// Something else.
    refused: Vec<(MachineId, String)>,
}

/// Ends machines.
pub(crate) async fn end(
    api: &Api,
    before: &Ended,
    request: &DestroyRequest<'_>,
) -> Result<Destroyed, Error> {
    let group = api.group()?;
    // A few are asked for by name, which is right and cheap; many are looked for in the list first.
    let many = request.victims.len() > BY_NAME;
    let mut found = if many { all(api).await? } else { Vec::new() };
    // A list once was empty while machines ran: only the question by name proves that one is gone.
    let lacking = request.victims.iter().filter(|victim| {
        let id = victim.machine.as_str();
        !found.iter().any(|vm| vm.name.eq_ignore_ascii_case(id)) && !before.has(&victim.machine)
    });
    let lacking: Vec<&Victim> = lacking.collect();
    let mut unclear: Vec<MachineId> = Vec::new();
    for some in lacking.chunks(AT_A_TIME) {
        let asked = some.iter().map(|v| seek(api, &group, v.machine.as_str(), v.launched_at));
        for (victim, seen) in some.iter().zip(try_join_all(asked).await?) {
            match seen {
                Seen::There(vm) => found.push(*vm),
                Seen::Gone { .. } => {}
                Seen::Unclear => unclear.push(victim.machine.clone()),
            }
        }
    }
    let victims = request.victims.iter().filter(|victim| !unclear.contains(&victim.machine));
    let Verdicts { gone, doomed, refused: left_alone } =
        judge(request.fleet, request.scope, victims, &found);
    let mut ended = gone;
    let deletes = doomed.iter().map(|(_, vm)| delete(api, &group, vm));
    let mut failed = None;
    for ((machine, _), outcome) in doomed.iter().zip(join_all(deletes).await) {
        match outcome {
            Ok(over) => {
                ended.push(machine.id.clone());
                if over {
                    let gone = Machine { state: MachineState::Terminated, ..machine.clone() };
                    before.lock().insert(gone.id.clone(), gone);
                }
            }
            Err(error) => failed = failed.or(Some(error)),
        }
    }
    // Last, so that one machine that will not go does not keep the others alive.
    if let Some(error) = failed {
        return Err(error);
    }
    if let Some(id) = unclear.first() {
        let class = Class::Retry { after: Some(LOOK_AGAIN) };
        return Err(refused(class, "ResourceNotFound", format!("{id} is not seen yet")));
    }
    Ok(Destroyed { ended, refused: left_alone })
}

/// Deletes one machine, and its children should they be left. Whether it is gone; if not, it is
/// going.
pub(crate) async fn delete(api: &Api, group: &Group, vm: &Vm) -> Result<bool, Error> {
    let over = remove(api, &group.at(MACHINES, &vm.name), COMPUTE).await?;
    // A deletion that goes on takes the children with it in its own time.
    if over {
        delete_children(api, group, vm).await?;
    }
    Ok(over)
}

/// Deletes what is left of a machine that is gone, each asked for by its own name.
pub(crate) async fn delete_children(api: &Api, group: &Group, vm: &Vm) -> Result<(), Error> {
    for (path, version) in children::of(group, vm) {
        // Who may not look at children cannot clear them away, and Azure does so by itself.
        let Ok(Some(child)) = api.find::<Child>(&path, version).await else { continue };
        if !child.is_used() {
            remove(api, &path, version).await?;
        }
    }
    Ok(())
}

/// Deletes one thing. Whether it is gone; if not, it is going.
pub(crate) async fn remove(api: &Api, path: &str, version: &str) -> Result<bool, Error> {
    let query = [("api-version", version)];
    let answer = api.send(Asked::End, Method::DELETE, path, &query, None).await?;
    match answer.status {
        200 | 202 => match wait(api, Asked::End, &answer).await {
            End::Done => Ok(true),
            End::Open => Ok(false),
            // It is still there, and the end may be asked for again.
            End::Failed(error) => {
                Err(Error { class: Class::Retry { after: Some(LOOK_AGAIN) }, ..error })
            }
        },
        204 | 404 => Ok(true),
        _ => Err(answer.error(Asked::End)),
    }
}

/// Compares what the plan means with what is there. What is not there is gone.
fn judge<'a>(
    fleet: &FleetUid,
    scope: &Scope,
    victims: impl Iterator<Item = &'a Victim>,
    found: &[Vm],
) -> Verdicts {
    let mut verdicts = Verdicts::default();
    for victim in victims {
        let id = victim.machine.clone();
        let vm = found.iter().find(|vm| vm.name.eq_ignore_ascii_case(id.as_str()));
        let Some(vm) = vm else {
            verdicts.gone.push(id);
            continue;
        };
        match machine(vm) {
            Some(machine) => match mistaken(fleet, scope, victim, &machine) {
                Some(why) => verdicts.refused.push((id, why)),
                None if machine.state == MachineState::Stopping => verdicts.gone.push(id),
                None => verdicts.doomed.push((machine, vm.clone())),
            },
            None => verdicts.refused.push((id, "its description cannot be read".to_owned())),
        }
    }
    verdicts
}

/// Why a machine is not the one that the plan means.
fn mistaken(fleet: &FleetUid, scope: &Scope, victim: &Victim, machine: &Machine) -> Option<String> {
    if machine.owner.is_some() && machine.place.scope() != *scope {
        return Some(format!("it stands in {}", machine.place.region));
    }
    not_the_machine(fleet, victim, machine)
}
