//! What the suite for all providers does not ask: the habits of EC2 alone.

use crate::support::{Bed, ON_DEMAND, ZONE_NAME, ask, pool, victims};
use fleet_model::{CapacityGoal, Machine, MachineId, SlotId, Template};
use fleet_provider::{Class, Listing, OfferingsRequest};
use fleet_tests::aws::Faults;
use std::collections::BTreeSet;
use std::time::Duration;

fn ids(machines: &[Machine]) -> Vec<MachineId> {
    let mut ids: Vec<MachineId> = machines.iter().map(|machine| machine.id.clone()).collect();
    ids.sort();
    ids
}

#[tokio::test]
#[ignore = "needs moto: cargo xtask test aws"]
async fn a_5xx_after_the_launch_is_an_unknown_outcome_and_the_token_finds_it() {
    let bed = Bed::new().await;
    bed.proxy.set(Faults { answers_broken: true, ..Faults::default() });
    let error = bed.create(&ask("t", 3)).await.expect_err("broken");
    assert_eq!(
        (error.class, error.code.as_str()),
        (Class::Unknown, "InsufficientInstanceCapacity")
    );
    bed.proxy.set(Faults::default());
    assert_eq!(bed.live().await, 3);
    let created = bed.create(&ask("t", 3)).await.expect("the same three");
    assert_eq!(created.machines.len(), 3);
    assert_eq!(bed.live().await, 3);
}

#[tokio::test]
#[ignore = "needs moto: cargo xtask test aws"]
async fn a_token_for_another_request_freezes() {
    let bed = Bed::new().await;
    bed.create(&ask("t", 2)).await.expect("two");
    let error = bed.create(&ask("t", 3)).await.expect_err("another request");
    assert_eq!((error.class, error.code.as_str()), (Class::Freeze, "IdempotentParameterMismatch"));
    assert_eq!(bed.live().await, 2);
}

#[tokio::test]
#[ignore = "needs moto: cargo xtask test aws"]
async fn a_token_whose_machines_have_ended_names_them() {
    let bed = Bed::new().await;
    let created = bed.create(&ask("t", 2)).await.expect("two");
    bed.destroy(&victims(&created)).await.expect("ended");
    let again = bed.create(&ask("t", 2)).await.expect("the same two");
    assert_eq!(ids(&again.machines), ids(&created.machines));
    assert!(again.machines.iter().all(|machine| !machine.state.is_live()));
    assert_eq!(bed.live().await, 0);
}

#[tokio::test]
#[ignore = "needs moto: cargo xtask test aws"]
async fn a_machine_that_is_not_listed_yet_is_neither_ended_nor_forgotten() {
    let bed = Bed::new().await;
    bed.proxy.set(Faults { hidden_for: Duration::from_secs(3600), ..Faults::default() });
    let created = bed.create(&ask("t", 1)).await.expect("one");
    assert_eq!(bed.live().await, 0);
    let error = bed.destroy(&victims(&created)).await.expect_err("not seen");
    assert!(matches!(error.class, Class::Retry { after: Some(_) }), "{error}");
}

#[tokio::test]
#[ignore = "needs moto: cargo xtask test aws"]
async fn capacity_is_a_matter_of_one_zone_and_type() {
    let bed = Bed::new().await;
    let full = [(ZONE_NAME.to_owned(), "m5.large".to_owned())].into();
    bed.proxy.set(Faults { full, ..Faults::default() });
    let error = bed.create(&ask("t", 1)).await.expect_err("full");
    assert_eq!(error.class, Class::Capacity { block: Duration::from_secs(180) });
    let mut elsewhere = ask("u", 1);
    elsewhere.pool = pool("aws/us-east-1/use1-az6/m5.large/spot");
    let created = bed.create(&elsewhere).await.expect("another zone");
    assert_eq!(created.machines[0].pool(), elsewhere.pool);
}

#[tokio::test]
#[ignore = "needs moto: cargo xtask test aws"]
async fn names_in_a_template_are_looked_up_or_refused_before_anything_is_sent() {
    let bed = Bed::new().await;
    let base = Template::default;
    let image = |name: &str| Template { image: Some(name.into()), ..base() };
    for wrong in [
        image("ami-00000000000000000"),
        image("ssm:/no/such/parameter"),
        image("self/no-such-image"),
        image("nonsense"),
        Template { subnets: vec!["subnet-00000000".into()], ..base() },
        Template { subnets: vec!["tag:Name=nowhere".into()], ..base() },
        Template { security_groups: vec!["no-such-group".into()], ..base() },
        Template { network: Some("vpc-00000000".into()), ..base() },
    ] {
        let error = bed.create_from(&ask("t", 1), &wrong).await.expect_err("refused");
        assert_eq!(error.class, Class::Invalid, "{error} {wrong:?}");
    }
    assert_eq!(bed.proxy.calls("RunInstances"), 0);
    let right = Template {
        image: Some("amazon/amzn2-ami-hvm-*".into()),
        security_groups: vec!["default".into()],
        user_data: Some("#!/bin/sh\n".into()),
        ..base()
    };
    let created = bed.create_from(&ask("t", 1), &right).await.expect("launched");
    assert_eq!(created.machines.len(), 1);
}

#[tokio::test]
#[ignore = "needs moto: cargo xtask test aws"]
async fn spot_pools_have_present_prices_and_others_the_catalogs() {
    let bed = Bed::new().await;
    let pools = [pool("aws/us-east-1/use1-az4/m5.large/spot"), pool(ON_DEMAND)];
    let offered = bed
        .provider
        .offerings(&OfferingsRequest {
            pools: &pools,
            template: &Template::default(),
            goal: CapacityGoal::default(),
        })
        .await
        .expect("prices");
    let prices: Vec<bool> = offered.quotes.iter().map(Option::is_some).collect();
    assert_eq!(prices, [true, false]);
    assert!(offered.quotas.is_empty());
}

#[tokio::test]
#[ignore = "needs moto: cargo xtask test aws"]
async fn a_list_of_many_launches_is_read_to_its_last_page() {
    let bed = Bed::new().await;
    for n in 0..7 {
        bed.create(&ask(&format!("t{n}"), 3)).await.expect("three");
    }
    bed.proxy.set(Faults { page: Some(2), ..Faults::default() });
    let before = bed.proxy.calls("DescribeInstances");
    assert_eq!(bed.live().await, 21);
    assert_eq!(bed.proxy.calls("DescribeInstances") - before, 4);
}

/// A hundred slots that have nothing in common, in one launch.
#[tokio::test]
#[ignore = "needs moto: cargo xtask test aws"]
async fn the_largest_launch_with_the_longest_tags_is_read_back() {
    let bed = Bed::new().await;
    let mut create = ask("t", 100);
    for (n, slot) in create.slots.iter_mut().enumerate() {
        slot.name.ordinal = 4_000_000_000 - 7 * n as u32;
    }
    let created = bed.create(&create).await.expect("a hundred");
    let slot = |machine: &Machine| machine.owner.as_ref().expect("ours").slot;
    let answered: BTreeSet<SlotId> = created.machines.iter().map(slot).collect();
    assert_eq!(answered, create.slots.iter().copied().collect());
    let listing = bed.provider.machines(&pool(ON_DEMAND).place.scope()).await.expect("a list");
    let Listing::Complete(listed) = listing else { panic!("{listing:?}") };
    for machine in &created.machines {
        let seen = listed.iter().find(|other| other.id == machine.id).expect("listed");
        assert_eq!(seen.owner, machine.owner);
        assert_eq!(seen.launched_at, machine.launched_at);
    }
    let destroyed = bed.destroy(&victims(&created)).await.expect("ended");
    assert_eq!((destroyed.ended.len(), destroyed.refused.len()), (100, 0));
    assert_eq!(bed.live().await, 0);
}
