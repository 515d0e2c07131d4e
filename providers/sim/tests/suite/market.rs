//! Capacity, prices and interruptions move with the seed, half hour by half hour.

use crate::support::*;
use fleet_model::{CapacityGoal, Cloud, Market, MicroUsd, PoolId, Quote, SignalSource, Template};
use fleet_provider::{Class, OfferingsRequest};
use fleet_sim::{Area, Preset, Settings, Sim};

async fn quote(sim: &Sim, id: &PoolId) -> Option<Quote> {
    let pools = std::slice::from_ref(id);
    let offered = sim
        .provider(id.place.cloud)
        .offerings(&OfferingsRequest {
            pools,
            template: &Template::default(),
            goal: CapacityGoal::default(),
            ignore: fleet_model::SignalSet::default(),
        })
        .await;
    offered.expect("quotes").quotes[0].clone()
}

#[tokio::test]
async fn spot_prices_wander_around_the_listed_one() {
    let sim = sim(Preset::Lifelike);
    let spot = pool(AWS_CPU_SPOT);
    let listed = quote(&crate::support::sim(Preset::Calm), &spot).await.and_then(|q| q.price);
    let listed = listed.expect("a price").0;
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..200 {
        let price = quote(&sim, &spot).await.and_then(|quote| quote.price).expect("a price");
        assert!((listed * 3 / 4..=listed * 5 / 4).contains(&price.0), "{price}");
        seen.insert(price);
        sim.advance(minutes(29)).expect("later");
        assert_eq!(
            quote(&sim, &spot).await.and_then(|q| q.price),
            Some(price),
            "nothing moves inside a half hour"
        );
        sim.advance(minutes(1)).expect("later");
    }
    assert!(seen.len() > 100, "{} prices", seen.len());
    let on_demand = quote(&sim, &pool(AWS_CPU)).await.expect("a quote");
    let expect = Quote { price: Some(MicroUsd(400_000)), ..Quote::default() };
    assert_eq!(Quote { quotas: Vec::new(), ..on_demand }, expect);
}

#[tokio::test]
async fn unpriced_is_quoted_without_a_price_and_unknown_not_at_all() {
    let sim = sim(Preset::Lifelike);
    let unpriced = pool("azure/eastus/eastus-1/Standard_ND96isr_H100_v5/spot");
    let quoted = quote(&sim, &unpriced).await.expect("a quote");
    assert_eq!(quoted.price, None);
    let source = quoted.signals.obtainability.map(|obtainability| obtainability.source);
    assert_eq!(source, Some(SignalSource::PlacementScore));
    for unknown in [
        "azure/eastus/eastus-1/Standard_X/spot",
        "azure/mars/mars-1/Standard_D8s_v5/spot",
        "azure/eastus/eastus-1/Standard_D8s_v5/reserved",
    ] {
        assert_eq!(quote(&sim, &pool(unknown)).await, None, "{unknown}");
    }
    assert_eq!(quote(&sim, &pool("lambda/us-west-1/regional/gpu_8x_h100_sxm5/spot")).await, None);
}

#[tokio::test]
async fn signals_follow_the_room_that_is_left() {
    for (at, cloud) in [
        (AWS_CPU_SPOT, Cloud::Aws),
        ("gcp/us-central1/us-central1-a/n2-standard-8/spot", Cloud::Gcp),
        ("azure/eastus/eastus-1/Standard_D8s_v5/spot", Cloud::Azure),
        (LAMBDA, Cloud::Lambda),
    ] {
        let sim = sim(Preset::Calm);
        let mut last = None;
        for room in [0, 1, 3, 10, 30, 1000] {
            sim.heal().expect("healed");
            sim.limit_room(at, room, None).expect("limited");
            let quoted = quote(&sim, &pool(at)).await.and_then(|quote| quote.signals.obtainability);
            let percent = quoted.expect("a signal").percent;
            assert!(Some(percent) >= last, "{cloud}: {percent} after {last:?}");
            last = Some(percent);
        }
        assert!(last >= Some(70), "{cloud}: {last:?}");
    }
}

#[tokio::test]
async fn ignored_signals_are_not_asked_for() {
    for (at, source) in [
        (AWS_CPU_SPOT, SignalSource::SpotPlacementScore),
        ("gcp/us-central1/us-central1-a/n2-standard-8/spot", SignalSource::CapacityAdvice),
        ("azure/eastus/eastus-1/Standard_D8s_v5/spot", SignalSource::PlacementScore),
        (LAMBDA, SignalSource::RegionsWithCapacity),
    ] {
        let sim = sim(Preset::Calm);
        let pools = [pool(at)];
        let ask = async |ignore: &[SignalSource]| {
            let ignore = ignore.iter().copied().collect();
            let (template, goal) = (Template::default(), CapacityGoal::default());
            let request = OfferingsRequest { pools: &pools, template: &template, goal, ignore };
            let offered = sim.provider(source.row().cloud).offerings(&request).await;
            let quote = offered.expect("quotes").quotes[0].clone().expect("a quote");
            (quote.price.is_some(), quote.signals.obtainability.map(|word| word.source))
        };
        assert_eq!(ask(&[source]).await, (true, None));
        assert_eq!(sim.signal_questions(), 0, "{source} was asked for");
        let others: Vec<SignalSource> =
            SignalSource::ALL.into_iter().filter(|other| *other != source).collect();
        assert_eq!(ask(&others).await, (true, Some(source)));
        assert_eq!(sim.signal_questions(), 1);
    }
}

#[tokio::test]
async fn a_remembered_answer_spares_the_question_until_it_is_old() {
    let sim = sim(Preset::Calm);
    let (at, source) = (pool(AWS_CPU_SPOT), SignalSource::SpotPlacementScore);
    let answers = fleet_provider::Answers::default();
    let ask = async || {
        let now = sim.clock().now();
        let asked =
            async || Ok(quote(&sim, &at).await.and_then(|quote| quote.signals.obtainability));
        answers.ask(source, "us-east-1", now, asked).await.expect("an answer")
    };
    let first = ask().await;
    assert!(first.is_some());
    sim.limit_room(AWS_CPU_SPOT, 0, None).expect("limited");
    assert_eq!(ask().await, first, "the answer holds");
    assert_eq!(sim.signal_questions(), 1);
    sim.advance(source.row().holds).expect("later");
    assert!(ask().await < first, "a new answer");
    assert_eq!(sim.signal_questions(), 2);
}

#[tokio::test]
async fn accelerators_are_scarce_and_cpus_are_not() {
    let (mut empty, mut most) = (0, 0);
    for seed in 0..60 {
        let settings = Settings { seed, ..settings(Preset::Lifelike) };
        let sim = Sim::in_memory(settings, catalog());
        match create(&sim, &ask(AWS_GPU_SPOT, "t", 100)).await {
            Ok(created) => {
                let shortfall = created.shortfall.expect("fewer than a hundred");
                assert_eq!(shortfall.class, Class::Capacity { block: minutes(3) });
                most = most.max(created.machines.len());
            }
            Err(error) => {
                assert_eq!(error.code, "InsufficientInstanceCapacity");
                empty += 1;
            }
        }
        let cpus = create(&sim, &ask(AWS_CPU_SPOT, "u", 100)).await.expect("plenty");
        assert_eq!(cpus.machines.len(), 100);
    }
    assert!((1..30).contains(&empty), "{empty} of 60 are empty");
    assert!((10..=24).contains(&most), "{most} at most");
}

#[tokio::test]
async fn the_market_takes_back_the_youngest_first() {
    // Find a seed whose pool shrinks soon.
    for seed in 0..50 {
        let settings = Settings { seed, ..settings(Preset::Lifelike) };
        let sim = Sim::in_memory(settings, catalog());
        let Ok(created) = create(&sim, &ask(AWS_GPU_SPOT, "t", 100)).await else { continue };
        let full = created.machines.len();
        sim.advance(minutes(30)).expect("later");
        let machines = sim.machines().expect("machines");
        let noticed = machines.iter().filter(|machine| machine.notice.is_some()).count();
        if noticed == 0 || noticed == full {
            continue;
        }
        let (old, young) = machines.split_at(full - noticed);
        assert!(old.iter().all(|machine| machine.notice.is_none()));
        let due = sim.clock().now().checked_add(seconds(120)).expect("a time");
        assert!(young.iter().all(|machine| machine.notice.map(|n| n.at) == Some(due)));
        assert_eq!(live(&sim), full);
        sim.advance(seconds(119)).expect("later");
        assert_eq!(live(&sim), full);
        sim.advance(seconds(1)).expect("later");
        assert_eq!(live(&sim), full - noticed);
        return;
    }
    panic!("no pool shrank");
}

#[tokio::test]
async fn long_steps_are_the_sum_of_short_ones() {
    let run = async |step: u64| {
        let sim = sim(Preset::Lifelike);
        let _ = create(&sim, &ask(AWS_GPU_SPOT, "t", 100)).await;
        create(&sim, &ask(AWS_CPU_SPOT, "u", 100)).await.expect("a launch");
        for _ in 0..(24 * 60 / step) {
            sim.advance(minutes(step)).expect("later");
        }
        (sim.clock().now(), sim.machines().expect("machines"))
    };
    assert_eq!(run(24 * 60).await, run(10).await);
}

#[tokio::test]
async fn interruptions_on_request() {
    let sim = sim(Preset::Calm);
    let machines = launch(&sim, AWS_CPU_SPOT, "t", 5).await;
    let hit = sim.interrupt("aws/*/*/m7i*/spot", 2).expect("two");
    assert_eq!(hit, [machines[4].id.clone(), machines[3].id.clone()]);
    sim.interrupt(machines[0].id.as_str(), 1).expect("by id");
    assert!(sim.interrupt("gcp", 1).is_err());
    sim.advance(minutes(2)).expect("later");
    assert_eq!(live(&sim), 2);
}

#[tokio::test]
async fn a_region_in_outage_has_no_quotes_and_the_others_have() {
    let sim = sim(Preset::Lifelike);
    sim.outage("aws/us-east-1".parse::<Area>().expect("an area"), Some(minutes(5))).expect("out");
    assert_eq!(quote(&sim, &pool(AWS_CPU)).await, None);
    let west = pool("aws/us-west-2/usw2-az1/m7i.2xlarge/on-demand");
    assert!(quote(&sim, &west).await.is_some());
    assert_eq!(west.market, Market::OnDemand);
    sim.advance(minutes(5)).expect("later");
    assert!(quote(&sim, &pool(AWS_CPU)).await.is_some());
    assert!(sim.faults().expect("faults").is_empty());
}
