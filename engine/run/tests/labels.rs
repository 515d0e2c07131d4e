//! Labels and tags reach machines that run already, on clouds that can change them.

mod fixture;

use fixture::{Fixture, desired};
use fleet_model::{Cloud, Desired, Labels, Limits, Notice};
use fleet_sim::Preset;

fn spec(target: u32, cloud: &str, labels: &str, tags: &str) -> Desired {
    desired(&format!(
        "
apiVersion: fleet/v1
kind: Fleet
metadata: {{ name: herd, labels: {{ {labels} }} }}
spec:
  capacity: {{ unit: instances, target: {target}, base: {{ onDemand: 100% }} }}
  placement:
    clouds: [{{ provider: {cloud} }}]
  template: {{ tags: {{ {cloud}: {{ {tags} }} }} }}
"
    ))
}

/// What live machines carry, each kind once.
fn carried(fixture: &Fixture) -> Vec<Labels> {
    let labels = |machine: &fleet_model::Machine| {
        fixture.sim.labels(&machine.id).expect("a world").expect("a machine")
    };
    let mut all: Vec<Labels> = fixture.live().iter().map(labels).collect();
    all.sort();
    all.dedup();
    all
}

fn labels(pairs: &[(&str, &str)]) -> Labels {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

#[tokio::test]
async fn a_change_of_labels_reaches_machines_and_replaces_none() {
    for cloud in ["aws", "gcp", "azure"] {
        let fixture = Fixture::new(Preset::Calm, 1);
        fixture.apply(&spec(5, cloud, "team: shop, tier: one", "cost: a")).await;
        let first = labels(&[("team", "shop"), ("tier", "one"), ("cost", "a")]);
        assert_eq!(carried(&fixture), [first], "{cloud}");
        let before: Vec<_> = fixture.live().into_iter().map(|machine| machine.id).collect();

        let next = spec(5, cloud, "team: infra", "cost: b");
        let planned = fixture.plan(&next).await;
        assert!(planned.plan.steps.is_empty() && planned.plan.acts(), "{cloud}");
        let relabel: usize = planned.plan.relabel.iter().map(|one| one.machines.len()).sum();
        assert_eq!(relabel, 5, "{cloud}");
        assert!(planned.plan.relabel.iter().all(|one| one.remove.iter().eq(["tier"])), "{cloud}");
        let rounds = fixture.apply(&next).await.rounds;
        assert_eq!(rounds.iter().map(|round| round.relabelled).sum::<u32>(), 5, "{cloud}");
        assert_eq!(carried(&fixture), [labels(&[("team", "infra"), ("cost", "b")])], "{cloud}");
        let after: Vec<_> = fixture.live().into_iter().map(|machine| machine.id).collect();
        assert_eq!(before, after, "{cloud}");
        fixture.assert_converged(&next).await;

        // New machines carry the new ones, and nothing is changed twice.
        let more = spec(7, cloud, "team: infra", "cost: b");
        assert!(fixture.plan(&more).await.plan.relabel.is_empty(), "{cloud}");
        fixture.apply(&more).await;
        assert_eq!(carried(&fixture), [labels(&[("team", "infra"), ("cost", "b")])], "{cloud}");

        // All of them taken off again.
        let bare = spec(7, cloud, "", "");
        fixture.apply(&bare).await;
        assert_eq!(carried(&fixture), [Labels::new()], "{cloud}");
        fixture.assert_converged(&bare).await;
    }
}

#[tokio::test]
async fn labels_that_were_not_changed_are_tried_again() {
    let fixture = Fixture::new(Preset::Calm, 1);
    fixture.apply(&spec(4, "gcp", "team: shop", "")).await;
    let next = spec(4, "gcp", "team: infra", "");
    fixture.sim.lose_answers(Cloud::Gcp, 100).expect("a fault");
    let rounds = fixture.apply(&next).await.rounds;
    assert!(rounds.iter().all(|round| round.relabelled == 0));
    assert!(rounds.iter().any(|round| !round.not_relabelled.is_empty()), "what was said is kept");
    fixture.sim.heal().expect("healed");
    assert!(!fixture.plan(&next).await.plan.relabel.is_empty());
    fixture.apply(&next).await;
    assert_eq!(carried(&fixture), [labels(&[("team", "infra")])]);
    fixture.assert_converged(&next).await;
}

#[tokio::test]
async fn what_cannot_be_changed_is_told() {
    let fixture = Fixture::new(Preset::Calm, 1);
    fixture.apply(&spec(2, "lambda", "team: shop", "")).await;
    let next = spec(2, "lambda", "team: infra", "");
    let planned = fixture.plan(&next).await;
    assert!(planned.plan.is_empty());
    let told = Notice::OldLabels { cloud: Cloud::Lambda, machines: 2 };
    assert!(planned.report.notices.contains(&told), "{:?}", planned.report.notices);
}

#[tokio::test]
async fn a_fleet_that_goes_is_not_labelled_first() {
    let fixture = Fixture::new(Preset::Calm, 1);
    fixture.apply(&spec(3, "aws", "team: shop", "")).await;
    let all = Limits { destroy_all: true, ..Limits::default() };
    let next = spec(3, "aws", "team: infra", "");
    let rounds = fixture.apply_limited(&next, all).await.rounds;
    assert_eq!(rounds.iter().map(|round| round.relabelled).sum::<u32>(), 0);
}
