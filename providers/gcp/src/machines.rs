//! Listing: every machine with a label of ours, page by page to the end.

use crate::error::{Asked, is_missing, read, refused};
use crate::session::Clients;
use crate::{kind, labels};
use fleet_model::{Cloud, Machine, MachineId, MachineState, Market, Place, Region};
use fleet_provider::{Class, Error, Listing};
use google_cloud_compute_v1::model::instance::Status;
use google_cloud_compute_v1::model::reservation_affinity::ConsumeReservationType;
use google_cloud_compute_v1::model::scheduling::ProvisioningModel;
use google_cloud_compute_v1::model::{Instance, InstanceAggregatedList};

/// As many as a page may hold.
const PAGE: u32 = 500;

/// A list that goes on for longer is not a list: some server repeats itself.
const PAGES: usize = 1000;

/// Every machine of any fleet of ours in a region.
pub(crate) async fn all(clients: &Clients, region: &Region) -> Result<Listing, Error> {
    let filter = format!("labels.{}:*", labels::UID);
    let pages = pages(clients, &filter).await?;
    let mut machines = Vec::new();
    let mut troubles = Vec::new();
    for page in &pages {
        read_page(page, region, &mut machines, &mut troubles);
    }
    troubles.dedup();
    Ok(match troubles.is_empty() {
        true => Listing::Complete(machines),
        false => Listing::Partial(machines, troubles.join("; ")),
    })
}

/// Asks for one page after another. A page that does not come makes the whole list fail: part of a
/// list is no list.
async fn pages(clients: &Clients, filter: &str) -> Result<Vec<InstanceAggregatedList>, Error> {
    let mut pages: Vec<InstanceAggregatedList> = Vec::new();
    let mut token: Option<String> = None;
    for _ in 0..PAGES {
        let asked = clients.instances.aggregated_list().set_project(&clients.project);
        let asked = asked.set_filter(filter).set_max_results(PAGE);
        let asked = asked.set_or_clear_page_token(token.clone());
        let page = asked.send().await.map_err(|error| read(Asked::Read, &error))?;
        let next = page.next_page_token.clone().filter(|next| !next.is_empty());
        pages.push(page);
        match next {
            None => return Ok(pages),
            // The same page for ever.
            next if next == token => break,
            next => token = next,
        }
    }
    Err(refused(Class::Retry { after: None }, "EndlessList", "the list of machines has no end"))
}

/// The machines of a page that stand in a region, and what the page says it could not tell of
/// that region. An answer of 200 may leave whole zones out.
fn read_page(
    page: &InstanceAggregatedList,
    region: &Region,
    machines: &mut Vec<Machine>,
    troubles: &mut Vec<String>,
) {
    // A scope that we cannot read may be anywhere: also here.
    let here = |scope: &str| zone_of(scope).is_none_or(|zone| is_in(zone, region));
    for scope in page.unreachables.iter().filter(|scope| here(scope)) {
        troubles.push(format!("{scope} does not answer"));
    }
    if let Some(warning) = &page.warning {
        let code = warning.code.as_ref().and_then(|code| code.name()).unwrap_or("a warning");
        troubles.extend(trouble(code, "the list"));
    }
    for (scope, items) in page.items.iter().filter(|(scope, _)| here(scope)) {
        if let Some(warning) = &items.warning {
            let code = warning.code.as_ref().and_then(|code| code.name()).unwrap_or("a warning");
            troubles.extend(trouble(code, scope));
        }
        for instance in &items.instances {
            match machine(instance) {
                Some(machine) => machines.push(machine),
                None => troubles.push(format!("a machine in {scope} cannot be read")),
            }
        }
    }
    troubles.sort();
}

/// What a warning takes away. That a scope has nothing on this page takes nothing.
fn trouble(code: &str, scope: &str) -> Option<String> {
    (code != "NO_RESULTS_ON_PAGE").then(|| format!("{scope}: {code}"))
}

/// The zone of `zones/us-central1-a`, also at the end of a link.
fn zone_of(scope: &str) -> Option<&str> {
    let (head, zone) = scope.rsplit_once('/')?;
    head.ends_with("zones").then_some(zone)
}

fn is_in(zone: &str, region: &Region) -> bool {
    region_of(zone) == Some(region.as_str())
}

/// `us-central1` of `us-central1-a`.
pub(crate) fn region_of(zone: &str) -> Option<&str> {
    zone.rsplit_once('-').map(|(region, _)| region)
}

/// The machines of one launch in a zone, or anywhere.
pub(crate) async fn of_launch(
    clients: &Clients,
    zone: Option<&str>,
    filter: &str,
) -> Result<Vec<Instance>, Error> {
    let Some(zone) = zone else {
        let pages = pages(clients, filter).await?;
        let scopes = pages.into_iter().flat_map(|page| page.items.into_values());
        return Ok(scopes.flat_map(|scope| scope.instances).collect());
    };
    // A launch has at most a hundred machines: one page holds them.
    let asked = clients.instances.list().set_project(&clients.project).set_zone(zone);
    let asked = asked.set_filter(filter).set_max_results(PAGE);
    let answer = asked.send().await.map_err(|error| read(Asked::Read, &error))?;
    Ok(answer.items)
}

/// One machine by its name or its number, right now; `None` if there is none.
pub(crate) async fn get(
    clients: &Clients,
    zone: &str,
    name: &str,
) -> Result<Option<Instance>, Error> {
    let asked = clients.instances.get().set_project(&clients.project).set_zone(zone);
    match asked.set_instance(name).send().await {
        Ok(instance) => Ok(Some(instance)),
        Err(error) if is_missing(&error) => Ok(None),
        Err(error) => Err(read(Asked::Read, &error)),
    }
}

/// Our name for a machine: its zone, and the number that Google gives no other machine. Its name
/// can be given again.
pub(crate) fn id(zone: &str, number: u64) -> MachineId {
    MachineId::new(format!("{zone}/{number}"))
}

/// Zone and number of a machine.
pub(crate) fn read_id(id: &MachineId) -> Option<(&str, &str)> {
    let (zone, number) = id.as_str().split_once('/')?;
    let digits = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    (digits && region_of(zone).is_some()).then_some((zone, number))
}

/// An instance as we speak of it. `None` if it lacks what every instance has.
pub(crate) fn machine(instance: &Instance) -> Option<Machine> {
    let zone = last(instance.zone.as_deref()?);
    let attached: Vec<(&str, i32)> = instance
        .guest_accelerators
        .iter()
        .map(|one| {
            let name = last(one.accelerator_type.as_deref().unwrap_or_default());
            (name, one.accelerator_count.unwrap_or(0))
        })
        .collect();
    let kind = kind::name(last(instance.machine_type.as_deref()?), &attached);
    Some(Machine {
        id: id(zone, instance.id?),
        place: Place { cloud: Cloud::Gcp, region: region_of(zone)?.into(), zone: zone.into() },
        instance_type: kind.as_str().into(),
        market: market(instance),
        state: state(instance),
        launched_at: instance.creation_timestamp.as_deref()?.parse().ok()?,
        price: None,
        owner: labels::owner(instance.name.as_deref()?, &instance.labels),
        notice: None,
        cause: None,
    })
}

/// The last word of a link.
pub(crate) fn last(link: &str) -> &str {
    link.rsplit('/').next().unwrap_or(link)
}

fn market(instance: &Instance) -> Market {
    let scheduling = instance.scheduling.as_ref();
    let model = scheduling.and_then(|scheduling| scheduling.provisioning_model.as_ref());
    let preemptible = scheduling.and_then(|scheduling| scheduling.preemptible) == Some(true);
    let affinity = instance.reservation_affinity.as_ref();
    let affinity = affinity.and_then(|affinity| affinity.consume_reservation_type.as_ref());
    match (model, affinity) {
        (Some(ProvisioningModel::Spot), _) => Market::Spot,
        _ if preemptible => Market::Spot,
        (Some(ProvisioningModel::ReservationBound), _)
        | (_, Some(ConsumeReservationType::SpecificReservation)) => Market::Reserved,
        _ => Market::OnDemand,
    }
}

/// A state we do not know is taken for running: what may cost money must not be overlooked. A
/// machine that is stopped still has its disk.
fn state(instance: &Instance) -> MachineState {
    match &instance.status {
        Some(Status::Pending | Status::Provisioning | Status::Staging) => MachineState::Pending,
        Some(
            Status::Stopping
            | Status::PendingStop
            | Status::Stopped
            | Status::Suspending
            | Status::Suspended
            | Status::Terminated
            | Status::Deprovisioning,
        ) => MachineState::Stopping,
        Some(_) | None => MachineState::Running,
    }
}

#[cfg(test)]
#[path = "machines_tests.rs"]
mod tests;
