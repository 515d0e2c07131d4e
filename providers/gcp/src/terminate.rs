//! Ending: look at each machine once more, right before, and touch only what is still the same.
//!
//! Google has no call that ends several machines. They are ended ten at a time, one such turn a
//! second: half of the rate that Google documents.

use crate::error::{Asked, is_missing, of_operation, read};
use crate::machines::{get, machine, read_id, region_of};
use crate::session::Clients;
use fleet_model::{FleetUid, MachineState, Scope, Victim};
use fleet_provider::{Class, Clock, DestroyRequest, Destroyed, Error, not_the_machine};
use futures::future::join_all;
use google_cloud_compute_v1::model::Instance;
use google_cloud_compute_v1::model::operation::Status;
use std::time::Duration;

/// Machines ended at once.
const AT_ONCE: usize = 10;

/// Between one turn and the next.
const PAUSE: Duration = Duration::from_secs(1);

/// What became of a machine.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Fate {
    Ended,
    LeftAlone(String),
}

/// Ends machines. One that fails does not keep the others alive; it fails the call.
pub(crate) async fn end(
    clients: &Clients,
    request: &DestroyRequest<'_>,
    clock: &dyn Clock,
) -> Result<Destroyed, Error> {
    let mut destroyed = Destroyed::default();
    let mut failed = None;
    for (turn, victims) in request.victims.chunks(AT_ONCE).enumerate() {
        if turn > 0 {
            clock.sleep(PAUSE).await;
        }
        let ended =
            victims.iter().map(|victim| end_one(clients, request.fleet, request.scope, victim));
        for (victim, fate) in victims.iter().zip(join_all(ended).await) {
            match fate {
                Ok(Fate::Ended) => destroyed.ended.push(victim.machine.clone()),
                Ok(Fate::LeftAlone(why)) => destroyed.refused.push((victim.machine.clone(), why)),
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        // Who is throttled must not go on knocking.
        if let Some(Error { class: Class::Retry { .. } | Class::Auth, .. }) = failed {
            break;
        }
    }
    match failed {
        Some(error) => Err(error),
        None => Ok(destroyed),
    }
}

async fn end_one(
    clients: &Clients,
    fleet: &FleetUid,
    scope: &Scope,
    victim: &Victim,
) -> Result<Fate, Error> {
    let here = |(zone, _): &(&str, &str)| region_of(zone) == Some(scope.region.as_str());
    let Some((zone, number)) = read_id(&victim.machine).filter(here) else {
        return Ok(Fate::LeftAlone(format!("{} is no machine of {scope}", victim.machine)));
    };
    let Some(instance) = get(clients, zone, number).await? else { return Ok(Fate::Ended) };
    if let Some(why) = mistaken(fleet, victim, &instance) {
        return Ok(Fate::LeftAlone(why));
    }
    // By its number: its name may be another machine's by the time the request arrives.
    let call = clients.instances.delete().set_project(&clients.project).set_zone(zone);
    match call.set_instance(number).send().await {
        Ok(operation) if operation.status == Some(Status::Done) => {
            match of_operation(Asked::End, &operation) {
                // Somebody was faster.
                Some(error) if error.code == "RESOURCE_NOT_FOUND" => Ok(Fate::Ended),
                Some(error) => Err(error),
                None => Ok(Fate::Ended),
            }
        }
        // Accepted. The next look shows what came of it.
        Ok(_) => Ok(Fate::Ended),
        Err(error) if is_missing(&error) => Ok(Fate::Ended),
        Err(error) => {
            let error = read(Asked::End, &error);
            let ending = machine(&instance).is_some_and(|m| m.state == MachineState::Stopping);
            // It is on its way out already, and can be told so only once.
            match error.class {
                Class::Retry { after: Some(_) } if ending => Ok(Fate::Ended),
                _ => Err(error),
            }
        }
    }
}

/// Why an instance is not the machine that the plan means.
fn mistaken(fleet: &FleetUid, victim: &Victim, instance: &Instance) -> Option<String> {
    let Some(machine) = machine(instance) else {
        return Some("its description cannot be read".into());
    };
    if machine.id != victim.machine {
        return Some(format!("it is {}", machine.id));
    }
    if machine.owner.is_none() {
        return Some("its labels do not say that it is a machine of ours".into());
    }
    not_the_machine(fleet, victim, &machine)
}
