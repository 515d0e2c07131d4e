//! Ending: look at each machine once more, right before, and touch only what is still the same.

use crate::error::{Asked, LOOK_AGAIN, SETTLE, read, refused};
use crate::machines::{all, by_id, is_over, machines, with_siblings};
use crate::session::Site;
use crate::zones::Zones;
use aws_sdk_ec2::operation::terminate_instances::builders::TerminateInstancesInputBuilder;
use aws_sdk_ec2::types::Instance;
use fleet_model::{FleetUid, Machine, MachineId, Region, Timestamp, Victim};
use fleet_provider::{Class, DestroyRequest, Destroyed, Error, stranger};
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
    let mut ended = gone;
    if !doomed.is_empty() {
        let asked = TerminateInstancesInputBuilder::default()
            .set_instance_ids(Some(doomed.iter().map(MachineId::to_string).collect()));
        let answer = asked.send_with(&site.ec2).await.map_err(|error| read(Asked::End, error))?;
        let changes = answer.terminating_instances();
        let taken =
            |id: &MachineId| changes.iter().any(|change| change.instance_id() == Some(id.as_str()));
        let (taken, missing): (Vec<_>, Vec<_>) = doomed.into_iter().partition(taken);
        if !missing.is_empty() {
            let words =
                format!("{} of {} machines are not in the answer", missing.len(), ids.len());
            return Err(refused(Class::Unknown, "UnreadableAnswer", words));
        }
        ended.extend(taken);
    }
    // Last, so that one machine that nobody sees yet does not keep the others alive.
    if let Some(id) = unseen.first() {
        let class = Class::Retry { after: Some(LOOK_AGAIN) };
        return Err(refused(class, "InvalidInstanceID.NotFound", format!("{id} is not seen yet")));
    }
    Ok(Destroyed { ended, refused: left_alone })
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
            None if now.duration_since(victim.launched_at).unsigned_abs() < SETTLE => {
                verdicts.unseen.push(id);
            }
            None => verdicts.gone.push(id),
            Some((instance, _)) if is_over(instance) => verdicts.gone.push(id),
            Some((_, None)) => {
                verdicts.refused.push((id, "its description cannot be read".into()));
            }
            Some((_, Some(machine))) => match stranger(fleet, victim, machine) {
                None => verdicts.doomed.push(id),
                Some(why) => verdicts.refused.push((id, why)),
            },
        }
    }
    verdicts
}

#[cfg(test)]
#[path = "terminate_tests.rs"]
mod tests;
