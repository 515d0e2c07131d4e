//! What goes wrong on request.

use crate::support::*;
use fleet_model::{Cloud, Market};
use fleet_provider::{Class, Listing};
use fleet_sim::{Area, Preset};

fn area(text: &str) -> Area {
    text.parse().expect("an area")
}

#[tokio::test]
async fn an_outage_lets_nothing_in() {
    let sim = sim(Preset::Lifelike);
    sim.outage(area("aws/us-east-1"), Some(minutes(10))).expect("out");
    let error = create(&sim, &ask(AWS_CPU, "t", 1)).await.expect_err("out");
    assert!(matches!(error.class, Class::Retry { .. }), "{error:?}");
    assert!(list(&sim, AWS_CPU).await.is_err());
    assert_eq!(live(&sim), 0);
    launch(&sim, "aws/us-west-2/usw2-az1/m7i.2xlarge/on-demand", "t", 1).await;
    sim.advance(minutes(10)).expect("later");
    launch(&sim, AWS_CPU, "t", 1).await;
}

#[tokio::test]
async fn a_lossy_outage_carries_out_some_of_what_it_is_asked() {
    let sim = sim(Preset::Calm);
    sim.lossy_outage(area("aws"), None).expect("out");
    for n in 0..40 {
        let error = create(&sim, &ask(AWS_CPU, &format!("t{n}"), 1)).await.expect_err("out");
        assert_eq!(error.class, Class::Unknown);
    }
    let done = live(&sim);
    assert!((5..35).contains(&done), "{done} of 40");
    sim.heal().expect("healed");
    for n in 0..40 {
        launch(&sim, AWS_CPU, &format!("t{n}"), 1).await;
    }
    assert_eq!(live(&sim), 40);
}

#[tokio::test]
async fn lost_answers_are_deeds_all_the_same() {
    for at in [AWS_CPU, GCP_CPU, AZURE_CPU] {
        let sim = sim(Preset::Lifelike);
        sim.lose_answers(pool(at).place.cloud, 100).expect("lossy");
        let error = create(&sim, &ask(at, "t", 1)).await.expect_err("lost");
        assert_eq!(error.class, Class::Unknown);
        assert_eq!(live(&sim), 1);
    }
}

#[tokio::test]
async fn lambda_finds_what_it_launched_when_the_answer_is_lost() {
    let sim = sim(Preset::Lifelike);
    sim.lose_answers(Cloud::Lambda, 100).expect("lossy");
    assert_eq!(launch(&sim, LAMBDA, "t", 1).await.len(), 1);
    sim.advance(minutes(1)).expect("later");
    // Where it cannot be seen either, nothing is claimed.
    sim.delay_visibility(Cloud::Lambda, minutes(3)).expect("slow");
    let error = create(&sim, &ask(LAMBDA, "u", 1)).await.expect_err("unknown");
    assert_eq!(error.class, Class::Unknown);
    assert_eq!(live(&sim), 2);
}

#[tokio::test]
async fn throttling_ends_by_itself() {
    let sim = sim(Preset::Calm);
    sim.throttle(Cloud::Azure, minutes(10)).expect("throttled");
    let error = create(&sim, &ask(AZURE_CPU, "t", 1)).await.expect_err("throttled");
    assert_eq!(error.class, Class::Retry { after: Some(minutes(10)) });
    launch(&sim, AWS_CPU, "t", 1).await;
    sim.advance(minutes(10)).expect("later");
    launch(&sim, AZURE_CPU, "t", 1).await;
}

#[tokio::test]
async fn a_lost_page_leaves_half() {
    let sim = sim(Preset::Calm);
    launch(&sim, GCP_CPU, "t", 10).await;
    sim.partial_lists(area("gcp/us-central1")).expect("partial");
    let Ok(Listing::Partial(machines, why)) = list(&sim, GCP_CPU).await else {
        panic!("not partial")
    };
    assert_eq!(machines.len(), 5);
    assert!(why.contains("unreachables"), "{why}");
}

#[tokio::test]
async fn tags_and_machines_vanish_behind_our_back() {
    let sim = sim(Preset::Calm);
    let machines = launch(&sim, AWS_CPU, "t", 3).await;
    sim.strip_tags(&machines[0].id).expect("stripped");
    assert_eq!(listed(&sim, AWS_CPU).await, 2);
    let destroyed = destroy(&sim, &machines[..1]).await.expect("an answer");
    assert_eq!(destroyed.refused.len(), 1);
    sim.reclaim(&machines[1].id).expect("gone");
    assert!(sim.reclaim(&machines[1].id).is_err(), "only once");
    assert_eq!(live(&sim), 2);
    assert!(sim.reclaim(&"i-none".into()).is_err());
}

#[tokio::test]
async fn healing_ends_everything() {
    let sim = sim(Preset::Calm);
    sim.exhaust("*", None).expect("exhausted");
    sim.outage(area("gcp"), None).expect("out");
    sim.set_quota(Cloud::Aws, "us-east-1".into(), Market::OnDemand, 0).expect("a quota");
    let told: Vec<String> = sim.faults().expect("faults").iter().map(ToString::to_string).collect();
    let expect = ["* exhausted", "gcp in outage", "aws/us-east-1 allows 0 vCPUs of on-demand"];
    assert_eq!(told, expect);
    sim.heal().expect("healed");
    for at in [AWS_CPU, GCP_CPU, AZURE_CPU, LAMBDA] {
        launch(&sim, at, "t", 1).await;
    }
}

#[test]
fn areas_read_back_what_they_print() {
    for good in ["aws", "gcp/us-central1"] {
        assert_eq!(area(good).to_string(), good);
    }
    for bad in ["", "mars", "aws/", "aws/a/b", "/x"] {
        assert!(bad.parse::<Area>().is_err(), "{bad}");
    }
}

#[tokio::test]
async fn no_length_of_time_is_too_long() {
    let sim = sim(Preset::Lifelike);
    launch(&sim, AWS_CPU_SPOT, "t", 3).await;
    sim.outage(area("aws"), Some(std::time::Duration::MAX)).expect("out");
    for _ in 0..3 {
        sim.advance(std::time::Duration::MAX).expect("later");
    }
    sim.clock().sleep(std::time::Duration::MAX).await;
    assert!(sim.clock().now().to_string().starts_with("206"));
}
