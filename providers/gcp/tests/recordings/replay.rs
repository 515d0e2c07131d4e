//! Recorded answers, served to the provider.

use crate::library::{Exchange, Library};
use crate::say;
use crate::stub::{Say, serve};
use async_trait::async_trait;
use fleet_gcp::{Gcp, GcpSettings};
use fleet_model::{
    CapacityGoal, CauseKind, Create, FleetName, FleetUid, Group, MachineId, MachineState, Scope,
    SlotId, SlotName, Template, Timestamp, Token,
};
use fleet_provider::{
    Class, Clock, CreateRequest, Error, Listing, Missing, OfferingsRequest, PriceListRequest,
    Provider, Reach, TraceRequest, Traced,
};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

struct NoWait;

#[async_trait]
impl Clock for NoWait {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    async fn sleep(&self, _: Duration) {}
}

/// A provider on a server that answers as told, for as long as both are needed.
async fn on<T>(say: Say, ask: impl AsyncFnOnce(&Gcp) -> T) -> T {
    let listener = serve(say).await;
    let settings = GcpSettings {
        project: Some("p".into()),
        endpoint: Some(listener.url()),
        ..GcpSettings::default()
    };
    ask(&Gcp::new(settings, Arc::new(NoWait))).await
}

fn scope(region: &str) -> Scope {
    let text = format!("gcp/{region}/{region}-a/n2-standard-4/spot");
    text.parse::<fleet_model::PoolId>().expect("a pool").place.scope()
}

fn missing(zone: &str, number: &str) -> Missing {
    let name = SlotName { group: Group::Base, ordinal: 0 };
    Missing {
        machine: MachineId::new(format!("{zone}/{number}")),
        slot: SlotId { name, generation: 1 },
        pool: format!("gcp/us-central1/{zone}/n2-standard-4/spot").parse().expect("a pool"),
        launched_at: "2020-01-01T00:00:00Z".parse().expect("a time"),
    }
}

async fn trace(gcp: &Gcp, missing: &[Missing]) -> Vec<Traced> {
    let (fleet, scope) = (FleetUid::new("uid"), scope("us-central1"));
    let asked = TraceRequest { fleet: &fleet, scope: &scope, missing };
    gcp.trace(&asked).await.expect("answers")
}

async fn create(gcp: &Gcp) -> Result<fleet_provider::Created, Error> {
    let name = SlotName { group: Group::Base, ordinal: 0 };
    let create = Create {
        pool: "gcp/us-central1/us-central1-c/n2-standard-4/spot".parse().expect("a pool"),
        slots: vec![SlotId { name, generation: 1 }],
        token: Token::new("t"),
        price: None,
        max_price: None,
        template: Template::default().digest(),
        image: Some("projects/debian-cloud/global/images/x".into()),
        others: Vec::new(),
    };
    let request = CreateRequest {
        fleet: &FleetUid::new("uid"),
        name: &FleetName::new("web"),
        labels: &BTreeMap::new(),
        create: &create,
        template: &Template::default(),
    };
    gcp.create(&request).await
}

/// Every instance in a body, whatever holds it.
fn instances(body: &Value) -> Vec<Value> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    match &body["kind"] {
        kind if kind == "compute#instance" => vec![body.clone()],
        kind if kind == "compute#instanceList" => list(&body["items"]),
        kind if kind == "compute#instanceAggregatedList" => {
            let scopes = body["items"].as_object().into_iter().flat_map(|all| all.values());
            scopes.flat_map(|scope| list(&scope["instances"])).collect()
        }
        _ => Vec::new(),
    }
}

fn not_found(library: &Library) -> Value {
    let all = library.get("instance-template-delete-then-404").unwrap_or_default();
    let found = all.iter().find(|exchange| exchange.status == 404);
    found.expect("a recorded 404").body.clone()
}

/// The operations of a recording by zone, as a list of one zone would show them.
fn by_zone(exchange: &Exchange) -> BTreeMap<String, Vec<Value>> {
    let scopes = exchange.body["items"].as_object().cloned().unwrap_or_default();
    let one = |(scope, body): (String, Value)| {
        let zone = scope.strip_prefix("zones/")?.to_owned();
        Some((zone, body["operations"].as_array().cloned().unwrap_or_default()))
    };
    scopes.into_iter().filter_map(one).collect()
}

/// Traces every target of recorded operations in a region, as if each were gone.
async fn traced(library: &Library, name: &str) -> Option<BTreeMap<String, Option<CauseKind>>> {
    let zones = by_zone(library.get(name)?.first()?);
    let targets: BTreeSet<(String, String)> = zones
        .iter()
        .filter(|(zone, _)| zone.starts_with("us-central1-"))
        .flat_map(|(zone, all)| all.iter().map(move |one| (zone.clone(), one.clone())))
        .filter_map(|(zone, one)| Some((zone, one["targetId"].as_str()?.to_owned())))
        .collect();
    let gone = not_found(library);
    let say: Say = Arc::new(move |asked, _| {
        let zone = asked.split("/zones/").nth(1).and_then(|rest| rest.split('/').next());
        match zone.and_then(|zone| zones.get(zone)) {
            Some(all) if asked.ends_with("/operations") => {
                (200, json!({ "kind": "compute#operationList", "id": "o", "items": all }))
            }
            _ => (404, gone.clone()),
        }
    });
    let asked: Vec<Missing> = targets.iter().map(|(zone, number)| missing(zone, number)).collect();
    let answers = on(say, async |gcp| trace(gcp, &asked).await).await;
    let one = |((_, number), answer): (&(String, String), Traced)| match answer {
        Traced::Gone(cause) => (number.clone(), cause.map(|cause| cause.kind)),
        other => panic!("{number}: {other:?}"),
    };
    Some(targets.iter().zip(answers).map(one).collect())
}

#[tokio::test]
async fn recordings_are_replayed() {
    let library = Library::open();
    let count = replay(&library).await;
    let own = if library.is_real { "" } else { "own " };
    say(&format!("recordings: gcp {own}{count} replayed"));
}

/// What stands in where the recordings are absent is no worse for it.
#[tokio::test]
async fn what_is_of_our_own_making_is_replayed_too() {
    assert_eq!(replay(&Library::own()).await, 4);
}

/// Replays everything, and says how many recordings that is. None may be left over.
async fn replay(library: &Library) -> usize {
    let mut replayed: BTreeSet<&str> = BTreeSet::new();

    // Why machines are gone.
    if let Some(found) = traced(library, "operations-aggregated-preempted").await {
        assert_eq!(found["2093000891450668968"], Some(CauseKind::Interrupted));
        assert_eq!(found["4632680981323459323"], Some(CauseKind::Guest));
        // Stopped by a schedule, and repaired by a group: no end of theirs.
        for number in ["3670725117245009111", "6200748239440076168"] {
            assert_eq!(found.get(number).copied().flatten(), None, "{number}");
        }
        replayed.insert("operations-aggregated-preempted");
    }
    if traced(library, "operations-aggregated-unfiltered").await.is_some() {
        replayed.insert("operations-aggregated-unfiltered");
    }

    // Every instance that was ever recorded is read, in the state that it is in.
    let now: Arc<Mutex<Value>> = Arc::default();
    let shown = now.clone();
    let say_it: Say = Arc::new(move |_, _| (200, shown.lock().expect("a body").clone()));
    on(say_it, async |gcp| {
        for name in library.names() {
            for exchange in library.get(name).unwrap_or_default() {
                for instance in instances(&exchange.body) {
                    *now.lock().expect("a body") = instance.clone();
                    there(gcp, &instance).await;
                    replayed.insert(name);
                }
            }
        }
    })
    .await;
    if let Some([exchange, ..]) = library.get("instances-aggregated-empty-scopes") {
        let count = instances(&exchange.body).len();
        let body = exchange.body.clone();
        let say: Say = Arc::new(move |_, _| (200, body.clone()));
        let scopes = [scope("us-central1"), scope("europe-west4")];
        let listed = on(say, async |gcp| gcp.list(&scopes).await).await;
        let seen = |answer: &Result<Listing, Error>| match answer {
            Ok(Listing::Complete(all)) => all.len(),
            other => panic!("{other:?}"),
        };
        assert_eq!(listed.iter().map(seen).collect::<Vec<_>>(), [count, 0]);
        replayed.insert("instances-aggregated-empty-scopes");
    }
    if pages(library).await {
        replayed.insert("instances-list-pages-and-empty-zone");
    }

    // Refusals and failures.
    if let Some([exchange, ..]) = library.get("audit-log-insert-forbidden") {
        let refused = exchange.body["entries"][0]["protoPayload"]["response"].clone();
        assert_eq!(refused["error"]["code"], 403);
        let say: Say = Arc::new(move |_, _| (403, refused.clone()));
        let error = on(say, create).await.expect_err("forbidden");
        assert_eq!((error.class, error.reach()), (Class::Auth, Reach::Account), "{error}");
        replayed.insert("audit-log-insert-forbidden");
    }
    replayed.insert("instance-template-delete-then-404");
    if let Some(all) = library.get("insert-name-conflict-is-an-operation-error") {
        let (first, last) = (all[2].body.clone(), all[3].body.clone());
        let gone = not_found(library);
        let say: Say = Arc::new(move |asked, _| match asked {
            asked if asked.starts_with("POST") && asked.ends_with("/instances") => {
                (200, first.clone())
            }
            asked if asked.ends_with("/wait") => (200, last.clone()),
            _ => (404, gone.clone()),
        });
        // The name was taken, and whoever had it is gone: no reason to stop for a person.
        let error = on(say, create).await.expect_err("taken");
        assert_eq!(error.code, "MadeFewer", "{error}");
        replayed.insert("insert-name-conflict-is-an-operation-error");
    }

    // Limits and types.
    if quotas(library).await {
        replayed.insert("regions-quotas");
    }
    if let Some([first, second, ..]) = library.get("machine-types-aggregated-pages") {
        let pages = [first.body.clone(), second.body.clone()];
        let say: Say = Arc::new(move |asked, query| match asked {
            asked if asked.ends_with("/skus") => (200, json!({ "skus": [] })),
            _ if query.contains("pageToken") => (200, pages[1].clone()),
            _ => (200, pages[0].clone()),
        });
        let list = PriceListRequest { regions: &[] };
        let listed = on(say, async |gcp| gcp.price_list(&list).await).await.expect("a list");
        assert!(!listed.is_empty() && listed.iter().all(|one| one.on_demand.is_none()));
        replayed.insert("machine-types-aggregated-pages");
    }

    // The log of a preemption is not what we read; the operation of the same is.
    let unread = ["audit-log-preempted-and-stops"];
    let left: Vec<&str> =
        library.names().filter(|name| !replayed.contains(name) && !unread.contains(name)).collect();
    assert!(left.is_empty(), "not replayed: {left:?}");
    replayed.len()
}

/// One machine by its number, as it was recorded.
async fn there(gcp: &Gcp, instance: &Value) {
    let zone = instance["zone"].as_str().and_then(|zone| zone.rsplit('/').next()).expect("a zone");
    let number = instance["id"].as_str().expect("a number").to_owned();
    let expect = match instance["status"].as_str() {
        Some("PROVISIONING" | "STAGING") => MachineState::Pending,
        Some("RUNNING") => MachineState::Running,
        Some("STOPPING" | "SUSPENDING") => MachineState::Stopping,
        Some("TERMINATED" | "SUSPENDED") => MachineState::Stopped,
        other => panic!("{other:?}"),
    };
    let region = zone.rsplit_once('-').map(|(region, _)| region).expect("a region");
    let (fleet, scope) = (FleetUid::new("uid"), scope(region));
    let asked = [missing(zone, &number)];
    let asked = TraceRequest { fleet: &fleet, scope: &scope, missing: &asked };
    let found = gcp.trace(&asked).await.expect("an answer");
    let [Traced::There(machine)] = &found[..] else { panic!("{found:?} {instance}") };
    assert_eq!(machine.state, expect, "{instance}");
    assert_eq!(machine.id.as_str(), format!("{zone}/{number}"));
    assert_eq!(machine.owner, None, "nobody's");
    let nic = &instance["networkInterfaces"][0];
    let ip = |ip: Option<std::net::IpAddr>| ip.map(|ip| ip.to_string());
    assert_eq!(ip(machine.access.private_ip).as_deref(), nic["networkIP"].as_str());
    let outside = nic["accessConfigs"][0]["natIP"].as_str();
    assert_eq!(ip(machine.access.public_ip).as_deref(), outside);
}

/// A zone in two pages and an empty one, listed one by one because the list of all failed.
async fn pages(library: &Library) -> bool {
    let Some([first, second, empty]) = library.get("instances-list-pages-and-empty-zone") else {
        return false;
    };
    let count = instances(&first.body).len() + instances(&second.body).len();
    let (first, second, empty) = (first.body.clone(), second.body.clone(), empty.body.clone());
    let say: Say = Arc::new(move |asked, query| match asked {
        asked if asked.contains("/aggregated/") => (503, json!({ "error": { "code": 503 } })),
        asked if asked.contains("/regions/") => {
            let zones = ["europe-west1-b", "europe-west1-c"].map(|zone| format!("x/zones/{zone}"));
            (200, json!({ "name": "europe-west1", "zones": zones }))
        }
        asked if asked.contains("europe-west1-c") => (200, empty.clone()),
        _ if query.contains("pageToken") => (200, second.clone()),
        _ => (200, first.clone()),
    });
    let listed = on(say, async |gcp| gcp.machines(&scope("europe-west1")).await).await;
    let Ok(Listing::Complete(all)) = listed else { panic!("{listed:?}") };
    assert_eq!(all.len(), count);
    true
}

/// The limits of a recorded region, as a plan counts them.
async fn quotas(library: &Library) -> bool {
    let Some([exchange, ..]) = library.get("regions-quotas") else { return false };
    let region = exchange.body["items"][0].clone();
    let name = region["name"].as_str().expect("a name").to_owned();
    let limit = |metric: &str| {
        let all = region["quotas"].as_array().expect("limits");
        let found = all.iter().find(|one| one["metric"] == metric).expect("a limit");
        found["limit"].as_f64().expect("a number") as u64
    };
    let text = |market: &str| format!("gcp/{name}/{name}-a/n2-standard-4/{market}");
    let pools = ["on-demand", "spot"].map(|market| text(market).parse().expect("a pool"));
    let template = Template {
        image: Some("projects/debian-cloud/global/images/x".into()),
        ..Template::default()
    };
    let body = region.clone();
    let say: Say = Arc::new(move |asked, _| match asked {
        asked if asked.contains("/advice/") => (200, json!({})),
        asked if asked.contains("/regions/") => (200, body.clone()),
        _ => (200, json!({ "name": "p", "quotas": [] })),
    });
    let goal = CapacityGoal::default();
    let request = OfferingsRequest {
        pools: &pools,
        template: &template,
        goal,
        ignore: fleet_model::SignalSet::default(),
    };
    let offered = on(say, async |gcp| gcp.offerings(&request).await).await.expect("quotes");
    for (at, cpus) in [(0, "N2_CPUS"), (1, "PREEMPTIBLE_CPUS")] {
        // A limit of 0 for spot is none: the ordinary one counts.
        let cpus = if limit(cpus) == 0 { "N2_CPUS" } else { cpus };
        let quote = offered.quotes[at].as_ref().expect("a quote");
        let found: BTreeMap<&str, u64> = quote
            .quotas
            .iter()
            .map(|at| &offered.quotas[*at as usize])
            .map(|quota| (quota.name.as_str(), quota.limit))
            .collect();
        assert_eq!(found["INSTANCES"], limit("INSTANCES"));
        assert_eq!(found["IN_USE_ADDRESSES"], limit("IN_USE_ADDRESSES"));
        assert_eq!(found["SSD_TOTAL_GB"], limit("SSD_TOTAL_GB") / 10);
        assert_eq!(found[cpus], limit(cpus), "{found:?}");
    }
    true
}
