//! Recorded answers of the real service, replayed to the provider as it is used.

use fleet_fakes::lambda::KEY;
use fleet_fakes::{Faults, Server, World};
use fleet_lambda::{Lambda, LambdaSettings};
use fleet_model::{CapacityGoal, Cloud, PoolId, Template, Timestamp};
use fleet_provider::recordings::{Recording, Witness, load, parse, tell};
use fleet_provider::{OfferingsRequest, PriceListRequest, Provider};
use fleet_testkit::{Answer, Request, SteppedClock};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Types by name, and the regions that have them.
type Poll = BTreeMap<String, Vec<String>>;

/// Answers every call with the same.
#[derive(Default)]
struct Replay(Value);

impl World for Replay {
    fn answer(&mut self, _: &Request, _: &Faults, _: Timestamp) -> Answer {
        Answer::json(200, self.0.clone())
    }

    fn is_change(&self, _: &Request) -> bool {
        false
    }

    fn failure(&self, _: bool) -> Answer {
        Answer::empty(500)
    }

    fn name(&self, request: &Request) -> String {
        request.path.clone()
    }

    fn state(&mut self, _: Timestamp) -> Value {
        Value::Null
    }
}

/// The recorder kept the names of types and regions; the rest of the answer is as the description
/// has it. Prices were not kept.
fn on_the_wire(poll: &Poll) -> Value {
    let item = |(name, regions): (&String, &Vec<String>)| {
        let region = |name: &String| json!({ "name": name, "description": "somewhere" });
        let kind = json!({
            "name": name, "description": name, "gpu_description": "GPU (1 GB)",
            "price_cents_per_hour": 1,
            "specs": { "vcpus": 1, "memory_gib": 1, "storage_gib": 1, "gpus": 1 },
        });
        let free: Vec<Value> = regions.iter().map(region).collect();
        (name.clone(), json!({ "instance_type": kind, "regions_with_capacity_available": free }))
    };
    json!({ "data": poll.iter().map(item).collect::<serde_json::Map<_, _>>() })
}

fn polls(recording: &Recording) -> Vec<Poll> {
    let poll = |body: &Value| {
        let regions = body["regionsWithCapacity"].clone();
        serde_json::from_value(regions).unwrap_or_else(|why| panic!("{}: {why}", recording.name))
    };
    recording.exchanges.iter().map(|exchange| poll(&exchange.body)).collect()
}

/// In how many polls the provider takes each type for likely to be had.
async fn replay(polls: &[Poll]) -> BTreeMap<String, usize> {
    let clock = Arc::new(SteppedClock::default());
    let server = Server::start(Replay::default(), clock.clone(), 0).await.expect("a server");
    let settings = LambdaSettings { key: Some(KEY.into()), endpoint: server.url() };
    let provider = Lambda::new(settings, clock);
    let regions: BTreeSet<&String> =
        polls.iter().flat_map(|poll| poll.values().flatten()).collect();
    let mut listed: BTreeMap<String, usize> = BTreeMap::new();
    for poll in polls {
        server.meddle(|world| world.0 = on_the_wire(poll));
        let names = poll.keys().flat_map(|kind| regions.iter().map(move |region| (kind, *region)));
        let names: Vec<(&String, &String)> = names.collect();
        let pool = |(kind, region): &(&String, &String)| -> PoolId {
            format!("lambda/{region}/regional/{kind}/on-demand").parse().expect("a pool")
        };
        let pools: Vec<PoolId> = names.iter().map(pool).collect();
        let template = Template { key: Some("laptop".into()), ..Template::default() };
        let goal = CapacityGoal::default();
        let request = OfferingsRequest {
            pools: &pools,
            template: &template,
            goal,
            ignore: fleet_model::SignalSet::default(),
        };
        let offered = provider.offerings(&request).await.expect("quotes");
        let mut kinds: BTreeSet<&String> = BTreeSet::new();
        for ((kind, region), quote) in names.into_iter().zip(offered.quotes) {
            let quote = quote.unwrap_or_else(|| panic!("{kind} in {region} is not known"));
            assert_eq!(quote.refusal, None, "{kind} in {region}");
            let percent = quote.signals.obtainability.map(|signal| signal.percent);
            let here = poll[kind].contains(region);
            assert_eq!(percent, Some(if here { 70 } else { 5 }), "{kind} in {region}");
            kinds.extend(here.then_some(kind));
        }
        for kind in kinds {
            *listed.entry(kind.clone()).or_default() += 1;
        }
    }
    // A region is on the price list also while it has nothing.
    let empty = polls[0].keys().map(|kind| (kind.clone(), Vec::new())).collect();
    server.meddle(|world| world.0 = on_the_wire(&empty));
    let all = provider.price_list(&PriceListRequest { regions: &[] }).await.expect("a list");
    let known: BTreeSet<String> = all.iter().map(|item| item.place.region.to_string()).collect();
    for region in regions {
        assert!(known.contains(region), "{region} is not known");
    }
    listed
}

/// Two polls of our own making, in the recordings' form.
const OWN: &str = r#"{"formatVersion": 1, "level": "sdk", "exchanges": [
    {"request": {"method": "GET", "url": "https://cloud.lambda.ai/api/v1/instance-types"},
     "response": {"status": 200, "body": {"regionsWithCapacity":
        {"gpu_1x_a10": ["us-east-1", "us-west-1"], "gpu_1x_gh200": []}}}},
    {"request": {"method": "GET", "url": "https://cloud.lambda.ai/api/v1/instance-types"},
     "response": {"status": 200, "body": {"regionsWithCapacity":
        {"gpu_1x_a10": ["us-west-1"], "gpu_1x_gh200": ["us-east-3"]}}}}]}"#;

#[tokio::test]
async fn capacity_is_read_as_it_was_recorded() {
    let counts = async |recording: &Recording, expect: &[(&str, usize)]| {
        let found = replay(&polls(recording)).await;
        for (kind, count) in expect {
            let here = found.get(*kind).copied().unwrap_or_default();
            assert_eq!(here, *count, "{kind} in {}", recording.name);
        }
    };
    let Some(recordings) = load(Cloud::Lambda) else {
        let own = parse("own", OWN).expect("our own");
        counts(&own, &[("gpu_1x_a10", 2), ("gpu_1x_gh200", 1)]).await;
        tell(Cloud::Lambda, Witness::Own, 1);
        return;
    };
    for recording in &recordings {
        // As the recordings' own description counts them.
        let expect: &[(&str, usize)] = match recording.name.as_str() {
            "capacity-poll-morning" => &[
                ("gpu_1x_h100_sxm5", 15),
                ("gpu_1x_gh200", 47),
                ("gpu_1x_h100_pcie", 48),
                ("gpu_1x_a100_sxm4", 66),
                ("gpu_1x_b200_sxm6", 0),
            ],
            "capacity-poll-afternoon" => &[("gpu_1x_gh200", 2)],
            other => panic!("{other}: nobody reads this recording"),
        };
        counts(recording, expect).await;
    }
    tell(Cloud::Lambda, Witness::Recorded, recordings.len());
}

/// What is replayed where there are no recordings is replayed here as well, so that it works then.
#[tokio::test]
async fn our_own_polls_can_be_replayed() {
    let found = replay(&polls(&parse("own", OWN).expect("our own"))).await;
    assert_eq!(found, [("gpu_1x_a10".to_owned(), 2), ("gpu_1x_gh200".to_owned(), 1)].into());
}
