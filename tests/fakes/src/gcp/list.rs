//! Lists: by zone, and over all zones at once, page by page.

use crate::gcp::answer::Answer;
use crate::gcp::fault::Faults;
use crate::gcp::filter;
use crate::gcp::market;
use crate::gcp::world::{BASE, Key, Vm, World};
use fleet_testkit::Request;
use serde_json::{Map, Value, json};
use std::time::Instant;

/// What is listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Noun {
    Instances,
    Disks,
    MachineTypes,
    AcceleratorTypes,
    Reservations,
}

impl Noun {
    pub(crate) fn read(text: &str) -> Option<Self> {
        Some(match text {
            "instances" => Noun::Instances,
            "disks" => Noun::Disks,
            "machineTypes" => Noun::MachineTypes,
            "acceleratorTypes" => Noun::AcceleratorTypes,
            "reservations" => Noun::Reservations,
            _ => return None,
        })
    }

    fn word(self) -> &'static str {
        match self {
            Noun::Instances => "instances",
            Noun::Disks => "disks",
            Noun::MachineTypes => "machineTypes",
            Noun::AcceleratorTypes => "acceleratorTypes",
            Noun::Reservations => "reservations",
        }
    }

    fn kind(self) -> &'static str {
        match self {
            Noun::Instances => "compute#instance",
            Noun::Disks => "compute#disk",
            Noun::MachineTypes => "compute#machineType",
            Noun::AcceleratorTypes => "compute#acceleratorType",
            Noun::Reservations => "compute#reservation",
        }
    }
}

/// Everything of a kind in a zone, in order.
fn of_zone(world: &World, noun: Noun, project: &str, zone: &str, now: Instant) -> Vec<Value> {
    let here = |key: &Key| key.0 == project && key.1 == zone;
    let at = format!("{BASE}/projects/{project}");
    match noun {
        Noun::Instances => {
            let shown = |(key, vm): (&Key, &Vm)| {
                (here(key) && vm.listed_from <= now).then(|| vm.shown(now))
            };
            // The keys are in order: a zone's machines stand together.
            let first = (project.to_owned(), zone.to_owned(), String::new());
            let at_zone = world.machines.range(first..).take_while(|(key, _)| here(key));
            at_zone.filter_map(shown).collect()
        }
        Noun::Disks => {
            let disks = world.disks.iter().filter(|(key, _)| here(key));
            disks.map(|(_, disk)| disk.clone()).collect()
        }
        Noun::MachineTypes => market::machine_types(&at, zone),
        Noun::AcceleratorTypes => market::accelerator_types(&at, zone),
        Noun::Reservations => reservations(&at, zone),
    }
}

/// One reservation, for two machines.
fn reservations(at: &str, zone: &str) -> Vec<Value> {
    if zone != "us-central1-a" {
        return Vec::new();
    }
    vec![json!({
        "kind": "compute#reservation",
        "id": "5500000000000000001",
        "name": "held-for-training",
        "zone": format!("{at}/zones/{zone}"),
        "selfLink": format!("{at}/zones/{zone}/reservations/held-for-training"),
        "status": "READY",
        "specificReservationRequired": true,
        "specificReservation": {
            "count": "2",
            "inUseCount": "0",
            "instanceProperties": { "machineType": "a2-highgpu-1g" },
        },
    })]
}

/// A page of some items: which, and the token of the next.
pub(crate) fn page<T: Clone>(
    all: &[T],
    request: &Request,
    faults: &Faults,
) -> Result<(Vec<T>, Option<String>), Answer> {
    let asked = request.query("maxResults").unwrap_or_default();
    let asked = if asked.is_empty() { Ok(500) } else { asked.parse::<usize>() };
    let Some(most) = asked.ok().filter(|most| (1..=500).contains(most)) else {
        return Err(Answer::invalid("Invalid value for field 'maxResults'"));
    };
    let token = request.query("pageToken").unwrap_or_default();
    let start = if token.is_empty() { Ok(0) } else { token.parse::<usize>() };
    let Ok(start) = start else {
        return Err(Answer::invalid("Invalid value for field 'pageToken'"));
    };
    if faults.page_lost {
        return match start {
            0 => Ok((Vec::new(), Some("1".into()))),
            _ => Err(Answer::broken("Backend Error")),
        };
    }
    let most = faults.page.unwrap_or(most).min(most).max(1);
    let end = all.len().min(start.saturating_add(most));
    let items = all.get(start..end).unwrap_or_default().to_vec();
    Ok((items, (end < all.len()).then(|| end.to_string())))
}

/// `GET zones/{zone}/{noun}`.
pub(crate) fn zonal(
    world: &World,
    noun: Noun,
    project: &str,
    zone: &str,
    request: &Request,
    faults: &Faults,
    now: Instant,
) -> Answer {
    if market::region_of(zone).is_none() {
        return Answer::not_found(&format!("projects/{project}/zones/{zone}"));
    }
    if faults.unreachable.contains(zone) {
        return Answer::broken("The zone does not answer");
    }
    let Some(conditions) = filter::read(request.query("filter").unwrap_or_default()) else {
        return Answer::invalid("Invalid value for field 'filter'");
    };
    let mut items = of_zone(world, noun, project, zone, now);
    items.retain(|item| filter::holds(&conditions, item));
    let (items, next) = match page(&items, request, faults) {
        Ok(page) => page,
        Err(answer) => return answer,
    };
    let mut body = json!({
        "kind": format!("{}List", noun.kind()),
        "id": format!("projects/{project}/zones/{zone}/{}", noun.word()),
        "selfLink": format!("{BASE}/projects/{project}/zones/{zone}/{}", noun.word()),
    });
    if !items.is_empty() {
        body["items"] = json!(items);
    }
    if let Some(next) = next {
        body["nextPageToken"] = json!(next);
    }
    Answer::ok(body)
}

/// `GET aggregated/{noun}`: every zone has an entry; one with nothing on this page has a warning.
pub(crate) fn aggregated(
    world: &World,
    noun: Noun,
    project: &str,
    request: &Request,
    faults: &Faults,
    now: Instant,
) -> Answer {
    let Some(conditions) = filter::read(request.query("filter").unwrap_or_default()) else {
        return Answer::invalid("Invalid value for field 'filter'");
    };
    let silent = |zone: &String| faults.unreachable.contains(zone);
    if !faults.unreachable.is_empty()
        && request.query("returnPartialSuccess").unwrap_or_default() != "true"
    {
        return Answer::broken("Backend Error");
    }
    let mut all: Vec<(String, Value)> = Vec::new();
    for zone in market::all_zones().into_iter().filter(|zone| !silent(zone)) {
        let mut items = of_zone(world, noun, project, &zone, now);
        items.retain(|item| filter::holds(&conditions, item));
        all.extend(items.into_iter().map(|item| (zone.clone(), item)));
    }
    let (page, next) = match page(&all, request, faults) {
        Ok(page) => page,
        Err(answer) => return answer,
    };
    let mut items = Map::new();
    for zone in market::all_zones() {
        let here: Vec<Value> =
            page.iter().filter(|(at, _)| *at == zone).map(|(_, item)| item.clone()).collect();
        let scope = format!("zones/{zone}");
        let entry = if silent(&zone) {
            warning("UNREACHABLE", "The scope did not answer.", &scope)
        } else if here.is_empty() {
            warning("NO_RESULTS_ON_PAGE", "There are no results for this scope.", &scope)
        } else {
            json!({ noun.word(): here })
        };
        items.insert(scope, entry);
    }
    let mut body = json!({
        "kind": format!("{}AggregatedList", noun.kind()),
        "id": format!("projects/{project}/aggregated/{}", noun.word()),
        "selfLink": format!("{BASE}/projects/{project}/aggregated/{}", noun.word()),
        "items": items,
    });
    if let Some(next) = next {
        body["nextPageToken"] = json!(next);
    }
    if !faults.unreachable.is_empty() {
        let unreachable = faults.unreachable.iter().map(|zone| format!("zones/{zone}"));
        body["unreachables"] = json!(unreachable.collect::<Vec<_>>());
    }
    Answer::ok(body)
}

fn warning(code: &str, message: &str, scope: &str) -> Value {
    let data = json!([{ "key": "scope", "value": scope }]);
    json!({ "warning": { "code": code, "message": message, "data": data } })
}
