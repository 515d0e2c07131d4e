//! What each cloud does differently from the others.

use crate::support::*;
use fleet_model::{CapacityGoal, Cloud, MachineState, Market, MicroUsd, Template};
use fleet_provider::{Class, OfferingsRequest};
use fleet_sim::{Preset, Sim};

#[tokio::test]
async fn aws_tokens_are_zonal() {
    let sim = sim(Preset::Lifelike);
    let here = launch(&sim, AWS_CPU, "t", 2).await;
    let again = launch(&sim, AWS_CPU, "t", 2).await;
    assert_eq!(here, again);
    let there = launch(&sim, "aws/us-east-1/use1-az2/m7i.2xlarge/on-demand", "t", 2).await;
    assert_ne!(here[0].id, there[0].id);
    assert_eq!(live(&sim), 4);
}

#[tokio::test]
async fn a_token_is_for_one_request() {
    let cases = [
        (AWS_CPU, "IdempotentParameterMismatch"),
        (GCP_CPU, "alreadyExists"),
        (AZURE_CPU, "PropertyChangeNotAllowed"),
    ];
    for (at, code) in cases {
        let sim = sim(Preset::Lifelike);
        launch(&sim, at, "t", 1).await;
        let mut other = ask(at, "t", 1);
        other.max_price = Some(MicroUsd(1));
        let error = create(&sim, &other).await.expect_err("a mismatch");
        assert_eq!((error.code.as_str(), error.class), (code, Class::Freeze));
        assert_eq!(live(&sim), 1);
    }
}

#[tokio::test]
async fn aws_launches_are_limited_per_region() {
    let sim = sim(Preset::Lifelike);
    for call in 0..5 {
        launch(&sim, AWS_CPU, &format!("t{call}"), 1).await;
    }
    let error = create(&sim, &ask(AWS_CPU, "t5", 1)).await.expect_err("throttled");
    assert_eq!(error.code, "RequestLimitExceeded");
    assert!(matches!(error.class, Class::Retry { .. }));
    launch(&sim, "aws/us-west-2/usw2-az1/m7i.2xlarge/on-demand", "t5", 1).await;
    sim.advance(seconds(1)).expect("later");
    launch(&sim, AWS_CPU, "t5", 1).await;
    assert_eq!(live(&sim), 7);
}

#[tokio::test]
async fn aws_repeats_a_token_whose_machines_have_ended() {
    let sim = sim(Preset::Lifelike);
    let first = launch(&sim, AWS_CPU, "t", 1).await;
    sim.advance(minutes(2)).expect("later");
    sim.reclaim(&first[0].id).expect("gone");
    let again = launch(&sim, AWS_CPU, "t", 1).await;
    assert_eq!(again[0].id, first[0].id);
    assert_eq!(again[0].state, MachineState::Terminated);
}

#[tokio::test]
async fn lambda_launches_one_machine_in_twelve_seconds() {
    let sim = sim(Preset::Lifelike);
    launch(&sim, LAMBDA, "a", 1).await;
    let error = create(&sim, &ask(LAMBDA, "b", 1)).await.expect_err("too soon");
    let Class::Retry { after: Some(after) } = error.class else { panic!("{error:?}") };
    assert!(after > seconds(11) && after <= seconds(12), "{after:?}");
    // The same request again is no launch: the adapter finds the machine by its name.
    launch(&sim, LAMBDA, "a", 1).await;
    sim.clock().sleep(after).await;
    launch(&sim, LAMBDA, "b", 1).await;
    assert_eq!(live(&sim), 2);
}

#[tokio::test]
async fn gcp_and_azure_answer_when_the_operation_is_done() {
    for (at, least, most) in [(GCP_CPU, 2, 12), (AZURE_CPU, 5, 22)] {
        let sim = sim(Preset::Lifelike);
        let start = sim.clock().now();
        let machines = launch(&sim, at, "t", 1).await;
        assert_eq!(machines[0].launched_at, start, "the machine is there before the answer");
        let took = sim.clock().now().duration_since(start).as_secs();
        assert!((least..=most).contains(&took), "{at}: {took} s");
    }
}

#[tokio::test]
async fn operations_side_by_side_take_no_longer_than_one() {
    let sim = sim(Preset::Lifelike);
    let start = sim.clock().now();
    let asks: Vec<_> = (0..50).map(|n| ask(AZURE_CPU, &format!("t{n}"), 1)).collect();
    let all = futures::future::join_all(asks.iter().map(|ask| create(&sim, ask))).await;
    assert!(all.iter().all(Result::is_ok));
    let took = sim.clock().now().duration_since(start).as_secs();
    assert!(took <= 22, "{took} s");
}

#[tokio::test]
async fn refusals_block_as_long_as_each_cloud_means_it() {
    let cases = [
        (AWS_CPU, "InsufficientInstanceCapacity", 3),
        (GCP_CPU, "ZONE_RESOURCE_POOL_EXHAUSTED", 3),
        (AZURE_CPU, "ZonalAllocationFailed", 60),
        (LAMBDA, "instance-operations/launch/insufficient-capacity", 3),
    ];
    for (at, code, block) in cases {
        let sim = sim(Preset::Calm);
        sim.exhaust(at, Some(minutes(10))).expect("exhausted");
        let error = create(&sim, &ask(at, "t", 1)).await.expect_err("no capacity");
        assert_eq!(error.code, code);
        assert_eq!(error.class, Class::Capacity { block: minutes(block) });
        sim.advance(minutes(10)).expect("later");
        launch(&sim, at, "t2", 1).await;
    }
}

#[tokio::test]
async fn quotas_refuse_and_are_told() {
    let cases = [
        (AWS_CPU, "VcpuLimitExceeded", 15),
        (GCP_CPU, "QUOTA_EXCEEDED", 15),
        (AZURE_CPU, "OperationNotAllowed", 10),
    ];
    for (at, code, block) in cases {
        let sim = sim(Preset::Lifelike);
        let id = pool(at);
        let region = id.place.region.clone();
        sim.set_quota(id.place.cloud, region, Market::OnDemand, 12).expect("a quota");
        launch(&sim, at, "a", 1).await;
        let error = create(&sim, &ask(at, "b", 1)).await.expect_err("over quota");
        assert_eq!(error.code, code);
        assert_eq!(error.class, Class::Quota { block: minutes(block) });
        let provider = sim.provider(id.place.cloud);
        let offered = provider
            .offerings(&OfferingsRequest {
                pools: &[id],
                template: &Template::default(),
                goal: CapacityGoal::default(),
                ignore: fleet_model::SignalSet::default(),
            })
            .await
            .expect("quotes");
        let quota = offered.quotas.iter().find(|q| q.market == Market::OnDemand).expect("told");
        assert_eq!((quota.limit, quota.used), (12, 8));
    }
}

#[tokio::test]
async fn spot_above_the_price_limit_is_not_launched() {
    let sim = sim(Preset::Lifelike);
    let mut dear = ask(AWS_CPU_SPOT, "t", 1);
    dear.max_price = Some(MicroUsd(1));
    let error = create(&sim, &dear).await.expect_err("too dear");
    assert_eq!(error.code, "SpotMaxPriceTooLow");
    assert_eq!(live(&sim), 0);
}

#[tokio::test]
async fn new_machines_take_a_while_to_be_listed() {
    let sim = sim(Preset::Lifelike);
    launch(&sim, AWS_CPU, "t", 50).await;
    assert!(listed(&sim, AWS_CPU).await < 50);
    sim.advance(seconds(20)).expect("later");
    assert_eq!(listed(&sim, AWS_CPU).await, 50);
    sim.delay_visibility(Cloud::Aws, minutes(5)).expect("slow");
    launch(&sim, AWS_CPU, "u", 10).await;
    sim.advance(minutes(4)).expect("later");
    assert_eq!(listed(&sim, AWS_CPU).await, 50);
    assert_eq!(live(&sim), 60);
    sim.advance(minutes(1)).expect("later");
    assert_eq!(listed(&sim, AWS_CPU).await, 60);
}

#[tokio::test]
async fn a_machine_that_is_not_shown_yet_is_not_taken_for_gone() {
    let sim = sim(Preset::Lifelike);
    sim.delay_visibility(Cloud::Aws, minutes(4)).expect("slow");
    let machines = launch(&sim, AWS_CPU, "t", 1).await;
    let error = destroy(&sim, &machines).await.expect_err("not found");
    assert_eq!(error.code, "InvalidInstanceID.NotFound");
    assert!(matches!(error.class, Class::Retry { .. }));
    sim.advance(minutes(4)).expect("later");
    assert_eq!(destroy(&sim, &machines).await.expect("ended").ended.len(), 1);
}

#[tokio::test]
async fn machines_live_and_die() {
    let sim = sim(Preset::Lifelike);
    let state = |sim: &Sim| sim.machines().expect("machines").first().map(|m| m.state);
    let machines = launch(&sim, AWS_CPU, "t", 1).await;
    assert_eq!(state(&sim), Some(MachineState::Pending));
    sim.advance(seconds(90)).expect("later");
    assert_eq!(state(&sim), Some(MachineState::Running));
    destroy(&sim, &machines).await.expect("ended");
    assert_eq!(state(&sim), Some(MachineState::Stopping));
    sim.advance(seconds(40)).expect("later");
    assert_eq!(state(&sim), Some(MachineState::Terminated));
    assert_eq!(listed(&sim, AWS_CPU).await, 1);
    sim.advance(minutes(60)).expect("later");
    assert_eq!(state(&sim), None);
}
