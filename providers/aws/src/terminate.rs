//! Ending: look at each machine once more, right before, and touch only what is still the same.

use crate::error::{Asked, LOOK_AGAIN, read, refused};
use crate::machines::{all, by_id, is_over, machines, started_at, with_siblings};
use crate::session::Site;
use crate::zones::Zones;
use aws_sdk_ec2::operation::terminate_instances::builders::TerminateInstancesInputBuilder;
use aws_sdk_ec2::types::{Instance, InstanceStateChange, InstanceStateName};
use fleet_model::{FleetUid, Machine, MachineId, Region, SETTLE_WINDOW, Timestamp, Victim};
use fleet_provider::{Class, DestroyRequest, Destroyed, Error, not_the_machine};
use std::collections::BTreeMap;

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
    site: &Site,
    request: &DestroyRequest<'_>,
    now: Timestamp,
) -> Result<Destroyed, Error> {
    let ids: Vec<&MachineId> = request.victims.iter().map(|victim| &victim.machine).collect();
    let mut found = Vec::new();
    for asked in by_id(&ids) {
        found.extend(all(site, asked).await?);
    }
    let found = with_siblings(site, found).await?;
    let zones = site.zones().await?;
    let verdicts = judge(request.fleet, request.victims, &found, &site.region, zones, now);
    let Verdicts { gone, doomed, refused: left_alone, unseen } = verdicts;
    let (mut ended, mut left_alone) = (gone, left_alone);
    let told = terminate(site, &doomed).await?;
    ended.extend(told.ended);
    left_alone.extend(told.refused);
    // Last, so that one machine that nobody sees yet does not keep the others alive.
    if let Some(id) = unseen.first() {
        let class = Class::Retry { after: Some(LOOK_AGAIN) };
        return Err(refused(class, "InvalidInstanceID.NotFound", format!("{id} is not seen yet")));
    }
    Ok(Destroyed { ended, refused: left_alone })
}

/// Asks for the end of machines: all at once, and one by one if EC2 turns that down. One protected
/// machine fails the call for all of its zone, while those of other zones are ended all the same.
async fn terminate(site: &Site, doomed: &[MachineId]) -> Result<Destroyed, Error> {
    if doomed.is_empty() {
        return Ok(Destroyed::default());
    }
    let error = match send(site, doomed).await {
        Ok(told) => return Ok(told),
        Err(error) => error,
    };
    if !is_no(&error) {
        return Err(error);
    }
    let mut all = Destroyed::default();
    for one in doomed {
        match send(site, std::slice::from_ref(one)).await {
            Ok(told) => {
                all.ended.extend(told.ended);
                all.refused.extend(told.refused);
            }
            Err(error) if is_no(&error) => {
                all.refused.push((one.clone(), format!("{}: {}", error.code, error.message)));
            }
            Err(error) => return Err(error),
        }
    }
    Ok(all)
}

/// Whether EC2 turned an end down for what the machine is, and not for who asks or how often.
fn is_no(error: &Error) -> bool {
    match error.class {
        Class::Invalid | Class::Refused { .. } => true,
        Class::Retry { .. }
        | Class::Capacity { .. }
        | Class::Quota { .. }
        | Class::Auth
        | Class::Unknown
        | Class::Freeze => false,
    }
}

async fn send(site: &Site, doomed: &[MachineId]) -> Result<Destroyed, Error> {
    let asked = TerminateInstancesInputBuilder::default()
        .set_instance_ids(Some(doomed.iter().map(MachineId::to_string).collect()));
    let answer = asked.send_with(&site.ec2).await.map_err(|error| read(Asked::End, error))?;
    told(doomed, answer.terminating_instances())
}

/// What an answer says of each machine: its new state counts, not that it is named.
fn told(doomed: &[MachineId], changes: &[InstanceStateChange]) -> Result<Destroyed, Error> {
    let mut told = Destroyed::default();
    for id in doomed {
        let change = changes.iter().find(|change| change.instance_id() == Some(id.as_str()));
        let Some(change) = change else {
            let words = format!("{id} is not in the answer");
            return Err(refused(Class::Unknown, "UnreadableAnswer", words));
        };
        match change.current_state().and_then(|state| state.name()) {
            Some(InstanceStateName::ShuttingDown | InstanceStateName::Terminated) => {
                told.ended.push(id.clone());
            }
            Some(other) => {
                told.refused.push((id.clone(), format!("EC2 left it {}", other.as_str())));
            }
            None => {
                let words = format!("the answer does not say what became of {id}");
                return Err(refused(Class::Unknown, "UnreadableAnswer", words));
            }
        }
    }
    Ok(told)
}

/// A machine with the launch time that the plan knows, if it can be that: EC2 gives no id twice, its
/// launch time moves with every start, and that of a machine which was late in the lists is a guess.
fn same_time(machine: &Machine, instance: &Instance, victim: &Victim) -> Machine {
    let near = |at: Timestamp| at.duration_since(victim.launched_at).unsigned_abs() < SETTLE_WINDOW;
    let same = near(machine.launched_at) || started_at(instance).is_some_and(near);
    let launched_at = if same { victim.launched_at } else { machine.launched_at };
    Machine { launched_at, ..machine.clone() }
}

fn judge(
    fleet: &FleetUid,
    victims: &[Victim],
    found: &[Instance],
    region: &Region,
    zones: &Zones,
    now: Timestamp,
) -> Verdicts {
    let seen = found.iter().zip(machines(found, region, zones));
    let found: BTreeMap<&str, (&Instance, Option<Machine>)> = seen
        .filter_map(|(instance, machine)| Some((instance.instance_id()?, (instance, machine))))
        .collect();
    let mut verdicts = Verdicts::default();
    for victim in victims {
        let id = victim.machine.clone();
        match found.get(id.as_str()) {
            None if now.duration_since(victim.launched_at).unsigned_abs() < SETTLE_WINDOW => {
                verdicts.unseen.push(id);
            }
            None => verdicts.gone.push(id),
            Some((instance, _)) if is_over(instance) => verdicts.gone.push(id),
            Some((_, None)) => {
                verdicts.refused.push((id, "its description cannot be read".into()));
            }
            Some((instance, Some(machine))) => {
                match not_the_machine(fleet, victim, &same_time(machine, instance, victim)) {
                    None => verdicts.doomed.push(id),
                    Some(why) => verdicts.refused.push((id, why)),
                }
            }
        }
    }
    verdicts
}

#[cfg(test)]
#[path = "terminate_tests.rs"]
mod tests;
