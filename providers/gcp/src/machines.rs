//! Listing: every machine with a label of ours, page by page to the end.

use crate::error::{Asked, is_missing, read, refused};
use crate::session::Clients;
use crate::{kind, labels};
use fleet_model::{
    Access, Cloud, Machine, MachineId, MachineState, Market, Place, Region, address, user_name,
};
use fleet_provider::{Class, Error, Listing};
use futures::future::join_all;
use google_cloud_compute_v1::model::instance::Status;
use google_cloud_compute_v1::model::reservation_affinity::ConsumeReservationType;
use google_cloud_compute_v1::model::scheduling::ProvisioningModel;
use google_cloud_compute_v1::model::{Instance, InstanceAggregatedList};

/// As many as a page may hold.
const PAGE: u32 = 500;

/// A list that goes on for longer is not a list: some server repeats itself.
const PAGES: usize = 1000;

/// Lists of single zones at once.
const ZONES_AT_ONCE: usize = 10;

/// Every machine of any fleet of ours, by region, in the order of the regions.
///
/// One list over the whole project. It fails whole if one zone anywhere is broken: the SDK cannot
/// ask for partial success. Then each zone of the regions wanted is listed by itself, so that one
/// broken zone is one gap.
pub(crate) async fn listed(clients: &Clients, regions: &[&Region]) -> Vec<Result<Listing, Error>> {
    match pages(clients, &filter()).await {
        Ok(pages) => regions.iter().map(|region| Ok(read_pages(&pages, region))).collect(),
        Err(error) if may_be_one_zone(&error) => {
            tracing::warn!(%error, "the list of the project failed; zones are listed one by one");
            join_all(regions.iter().map(|region| by_zone(clients, region))).await
        }
        Err(error) => regions.iter().map(|_| Err(error.clone())).collect(),
    }
}

/// Every machine of any fleet of ours in a region.
pub(crate) async fn all(clients: &Clients, region: &Region) -> Result<Listing, Error> {
    let mut answers = listed(clients, &[region]).await;
    let nothing = || refused(Class::Retry { after: None }, "NoAnswer", "no list came back");
    answers.pop().unwrap_or_else(|| Err(nothing()))
}

fn filter() -> String {
    format!("labels.{}:*", labels::UID)
}

/// Whether a list of the project may have failed for one zone's sake. Who is throttled, or not let
/// in, or cannot connect, must not ask a hundred times more.
fn may_be_one_zone(error: &Error) -> bool {
    let broken = matches!(error.class, Class::Retry { .. } | Class::Unknown);
    broken && !error.throttled && error.code != "NoConnection" && error.code != "EndlessList"
}

/// A region's zones, each listed by itself.
async fn by_zone(clients: &Clients, region: &Region) -> Result<Listing, Error> {
    let asked = clients.regions.get().set_project(&clients.project).set_region(region.as_str());
    let known = asked.send().await.map_err(|error| read(Asked::Read, &error))?;
    let zones: Vec<&str> = known.zones.iter().map(|link| last(link)).collect();
    if zones.is_empty() {
        let words = format!("{region} does not say which zones it has");
        return Err(refused(Class::Retry { after: None }, "NoZones", words));
    }
    let (mut machines, mut troubles) = (Vec::new(), Vec::new());
    let filter = filter();
    for some in zones.chunks(ZONES_AT_ONCE) {
        let lists = some.iter().map(|zone| of_zone(clients, zone, &filter));
        for (zone, list) in some.iter().zip(join_all(lists).await) {
            match list {
                Ok(list) => read_instances(&list, zone, &mut machines, &mut troubles),
                Err(error) => troubles.push(format!("{zone}: {error}")),
            }
        }
    }
    Ok(listing(machines, troubles))
}

fn read_pages(pages: &[InstanceAggregatedList], region: &Region) -> Listing {
    let (mut machines, mut troubles) = (Vec::new(), Vec::new());
    for page in pages {
        read_page(page, region, &mut machines, &mut troubles);
    }
    listing(machines, troubles)
}

fn listing(machines: Vec<Machine>, mut troubles: Vec<String>) -> Listing {
    troubles.sort();
    troubles.dedup();
    match troubles.is_empty() {
        true => Listing::Complete(machines),
        false => Listing::Partial(machines, troubles.join("; ")),
    }
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
        read_instances(&items.instances, scope, machines, troubles);
    }
}

fn read_instances(
    instances: &[Instance],
    scope: &str,
    machines: &mut Vec<Machine>,
    troubles: &mut Vec<String>,
) {
    for instance in instances {
        match machine(instance) {
            Some(machine) => machines.push(machine),
            None => troubles.push(format!("a machine in {scope} cannot be read")),
        }
    }
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
    of_zone(clients, zone, filter).await
}

/// The machines of a zone, page by page to the end.
async fn of_zone(clients: &Clients, zone: &str, filter: &str) -> Result<Vec<Instance>, Error> {
    let mut all = Vec::new();
    let mut token: Option<String> = None;
    for _ in 0..PAGES {
        let asked = clients.instances.list().set_project(&clients.project).set_zone(zone);
        let asked = asked.set_filter(filter).set_max_results(PAGE);
        let asked = asked.set_or_clear_page_token(token.clone());
        let page = asked.send().await.map_err(|error| read(Asked::Read, &error))?;
        all.extend(page.items);
        match page.next_page_token.filter(|next| !next.is_empty()) {
            None => return Ok(all),
            next if next == token => break,
            next => token = next,
        }
    }
    Err(refused(Class::Retry { after: None }, "EndlessList", "the list of machines has no end"))
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
        access: access(instance),
    })
}

/// How a machine is reached: by its first interface, and by the first external address of that. Google
/// gives no public names. The user is the first one whose key the launch put into its metadata; with
/// OS Login it is the caller's own, which no answer tells.
fn access(instance: &Instance) -> Access {
    let first = instance.network_interfaces.first();
    let outside = first.and_then(|interface| interface.access_configs.first());
    let metadata = instance.metadata.iter().flat_map(|metadata| &metadata.items);
    let keys = metadata.filter(|item| item.key.as_deref() == Some("ssh-keys"));
    let user = keys.filter_map(|item| item.value.as_deref()?.split_once(':')).next();
    Access {
        public_ip: address(outside.and_then(|outside| outside.nat_ip.as_deref())),
        private_ip: address(first.and_then(|interface| interface.network_ip.as_deref())),
        dns_name: None,
        user: user_name(user.map(|(user, _)| user.trim())),
        key: None,
    }
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

/// A state we do not know is taken for running: what may cost money must not be overlooked.
///
/// What is stopped or suspended stays so for ever unless somebody starts it, and its disk, its
/// address and the memory it was suspended with are billed. A standard machine with accelerators
/// may be seen so while Google restarts it for maintenance; it is then replaced like the others,
/// because nothing tells the one from the other.
fn state(instance: &Instance) -> MachineState {
    match &instance.status {
        Some(Status::Pending | Status::Provisioning | Status::Staging) => MachineState::Pending,
        Some(
            Status::Stopping | Status::PendingStop | Status::Suspending | Status::Deprovisioning,
        ) => MachineState::Stopping,
        Some(Status::Stopped | Status::Suspended | Status::Terminated) => MachineState::Stopped,
        Some(_) | None => MachineState::Running,
    }
}

#[cfg(test)]
#[path = "machines_tests.rs"]
mod tests;
