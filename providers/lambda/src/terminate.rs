//! Ending: look at each machine once more, right before, and touch only what is still the same.

use crate::api::Api;
use crate::error::{Asked, LOOK_AGAIN, refused};
use crate::machines::{all, is_over, machine};
use crate::wire::{Instance, Terminate, Terminated};
use fleet_model::{FleetUid, MachineId, SETTLE_WINDOW, Scope, Timestamp, Victim};
use fleet_provider::{Class, DestroyRequest, Destroyed, Error, not_the_machine};

/// What is to be done with each of some machines.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Verdicts {
    /// Gone already.
    gone: Vec<MachineId>,
    /// Still what the plan took them for.
    doomed: Vec<MachineId>,
    /// Something else.
    refused: Vec<(MachineId, String)>,
    /// Too new for their absence to mean anything.
    unseen: Vec<MachineId>,
}

/// Ends machines.
pub(crate) async fn end(
    api: &Api,
    request: &DestroyRequest<'_>,
    now: Timestamp,
) -> Result<Destroyed, Error> {
    let found = all(api).await?;
    let verdicts = judge(request.fleet, request.scope, request.victims, &found, now);
    let Verdicts { gone, doomed, refused: left_alone, unseen } = verdicts;
    let mut ended = gone;
    if !doomed.is_empty() {
        let body = Terminate { instance_ids: doomed.iter().map(MachineId::as_str).collect() };
        let path = "instance-operations/terminate";
        let answer: Terminated = api.post(Asked::End, path, &body).await?;
        let taken = |id: &MachineId| {
            answer.terminated_instances.iter().any(|instance| instance.id == id.as_str())
        };
        let missing = doomed.iter().filter(|id| !taken(id)).count();
        if missing > 0 {
            let words = format!("{missing} of {} machines are not in the answer", doomed.len());
            return Err(refused(Class::Unknown, "UnreadableAnswer", words));
        }
        ended.extend(doomed);
    }
    // Last, so that one machine that nobody sees yet does not keep the others alive.
    if let Some(id) = unseen.first() {
        let class = Class::Retry { after: Some(LOOK_AGAIN) };
        return Err(refused(class, "NotSeenYet", format!("{id} is not seen yet")));
    }
    Ok(Destroyed { ended, refused: left_alone })
}

/// Compares what the plan means with what is there.
fn judge(
    fleet: &FleetUid,
    scope: &Scope,
    victims: &[Victim],
    found: &[Instance],
    now: Timestamp,
) -> Verdicts {
    let mut verdicts = Verdicts::default();
    for victim in victims {
        let id = victim.machine.clone();
        match found.iter().find(|instance| instance.id == id.as_str()) {
            None if now.duration_since(victim.launched_at).unsigned_abs() < SETTLE_WINDOW => {
                verdicts.unseen.push(id);
            }
            None => verdicts.gone.push(id),
            Some(instance) if is_over(instance) => verdicts.gone.push(id),
            Some(instance) => match mistaken(fleet, scope, victim, instance, now) {
                None => verdicts.doomed.push(id),
                Some(why) => verdicts.refused.push((id, why)),
            },
        }
    }
    verdicts
}

/// Why an instance is not the machine that the plan means.
fn mistaken(
    fleet: &FleetUid,
    scope: &Scope,
    victim: &Victim,
    instance: &Instance,
    now: Timestamp,
) -> Option<String> {
    let machine = machine(instance, now);
    if machine.owner.is_some() && machine.place.scope() != *scope {
        return Some(format!("it stands in {}", machine.place.region));
    }
    not_the_machine(fleet, victim, &machine)
}
