//! What the suite for all providers does not ask: the habits of EC2 alone.

use crate::support::{Fixture, ON_DEMAND, ZONE_NAME, ask, pool, victims};
use fleet_emulators::aws::Faults;
use fleet_model::{
    CapacityGoal, Create, Machine, MachineId, PoolId, Quota, Quote, SlotId, Template, Timestamp,
    Units,
};
use fleet_provider::{
    Class, Listing, Missing, Offered, OfferingsRequest, Reach, TraceRequest, Traced,
};
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
    let fixture = Fixture::new().await;
    fixture.proxy.set(Faults { answers_broken: true, ..Faults::default() });
    let error = fixture.create(&ask("t", 3)).await.expect_err("broken");
    assert_eq!(
        (error.class, error.code.as_str()),
        (Class::Unknown, "InsufficientInstanceCapacity")
    );
    fixture.proxy.set(Faults::default());
    assert_eq!(fixture.live().await, 3);
    let created = fixture.create(&ask("t", 3)).await.expect("the same three");
    assert_eq!(created.machines.len(), 3);
    assert_eq!(fixture.live().await, 3);
}

#[tokio::test]
#[ignore = "needs moto: cargo xtask test aws"]
async fn a_token_for_another_request_freezes() {
    let fixture = Fixture::new().await;
    fixture.create(&ask("t", 2)).await.expect("two");
    let error = fixture.create(&ask("t", 3)).await.expect_err("another request");
    assert_eq!((error.class, error.code.as_str()), (Class::Freeze, "IdempotentParameterMismatch"));
    assert_eq!(fixture.live().await, 2);
}

#[tokio::test]
#[ignore = "needs moto: cargo xtask test aws"]
async fn a_token_whose_machines_have_ended_names_them() {
    let fixture = Fixture::new().await;
    let created = fixture.create(&ask("t", 2)).await.expect("two");
    fixture.destroy(&victims(&created)).await.expect("ended");
    let again = fixture.create(&ask("t", 2)).await.expect("the same two");
    assert_eq!(ids(&again.machines), ids(&created.machines));
    assert!(again.machines.iter().all(|machine| !machine.state.is_live()));
    assert_eq!(fixture.live().await, 0);
}

#[tokio::test]
#[ignore = "needs moto: cargo xtask test aws"]
async fn a_machine_that_is_not_listed_yet_is_neither_ended_nor_forgotten() {
    let fixture = Fixture::new().await;
    fixture.proxy.set(Faults { hidden_for: Duration::from_secs(3600), ..Faults::default() });
    let created = fixture.create(&ask("t", 1)).await.expect("one");
    assert_eq!(fixture.live().await, 0);
    let error = fixture.destroy(&victims(&created)).await.expect_err("not seen");
    assert!(matches!(error.class, Class::Retry { after: Some(_) }), "{error}");
}

#[tokio::test]
#[ignore = "needs moto: cargo xtask test aws"]
async fn capacity_is_a_matter_of_one_zone_and_type() {
    let fixture = Fixture::new().await;
    let full = [(ZONE_NAME.to_owned(), "m5.large".to_owned())].into();
    fixture.proxy.set(Faults { full, ..Faults::default() });
    let error = fixture.create(&ask("t", 1)).await.expect_err("full");
    assert_eq!(error.class, Class::Capacity { block: Duration::from_secs(180) });
    // A launch that was refused binds its token: another request under it is not the same.
    let error = fixture.create(&ask("t", 2)).await.expect_err("the token is taken");
    assert_eq!((error.class, error.code.as_str()), (Class::Freeze, "IdempotentParameterMismatch"));
    let mut elsewhere = ask("u", 1);
    elsewhere.pool = pool("aws/us-east-1/use1-az6/m5.large/spot");
    let created = fixture.create(&elsewhere).await.expect("another zone");
    assert_eq!(created.machines[0].pool(), elsewhere.pool);
}

#[tokio::test]
#[ignore = "needs moto: cargo xtask test aws"]
async fn a_refusal_that_nobody_foresaw_makes_nothing_and_is_as_wide_as_its_cause() {
    let fixture = Fixture::new().await;
    for (code, class, reach) in [
        ("VcpuLimitExceeded", Class::Quota { block: Duration::from_secs(900) }, Reach::Class),
        ("PendingVerification", Class::Refused { block: Duration::from_secs(900) }, Reach::Region),
        ("OptInRequired", Class::Invalid, Reach::Region),
        ("UnauthorizedOperation", Class::Auth, Reach::Region),
        ("InternalError", Class::Unknown, Reach::Pool),
    ] {
        let refused = [("RunInstances".to_owned(), code.to_owned())].into();
        fixture.proxy.set(Faults { refused, ..Faults::default() });
        let error = fixture.create(&ask(code, 1)).await.expect_err("refused");
        assert_eq!((error.class, error.reach()), (class, reach), "{error}");
    }
    assert_eq!(fixture.live().await, 0);
}

#[tokio::test]
#[ignore = "needs moto: cargo xtask test aws"]
async fn one_protected_machine_does_not_keep_the_others_alive() {
    let fixture = Fixture::new().await;
    let created = fixture.create(&ask("t", 3)).await.expect("three");
    let kept = created.machines[1].id.clone();
    fixture.proxy.set(Faults { protected: [kept.to_string()].into(), ..Faults::default() });
    let destroyed = fixture.destroy(&victims(&created)).await.expect("two of them");
    assert_eq!(destroyed.ended.len(), 2);
    let refused: Vec<&MachineId> = destroyed.refused.iter().map(|(id, _)| id).collect();
    assert_eq!(refused, [&kept]);
    assert!(destroyed.refused[0].1.starts_with("OperationNotPermitted"));
    assert_eq!(fixture.live().await, 1);
}

#[tokio::test]
#[ignore = "needs moto: cargo xtask test aws"]
async fn a_closed_spot_request_with_a_running_machine_is_a_warning() {
    let fixture = Fixture::new().await;
    let spot = pool("aws/us-east-1/use1-az4/m5.large/spot");
    let created = fixture.create(&Create { pool: spot, ..ask("t", 2) }).await.expect("two");
    let (one, other) = (&created.machines[0].id, &created.machines[1].id);
    let taken = [
        (one.to_string(), "instance-terminated-no-capacity".to_owned()),
        (other.to_string(), "fulfilled".to_owned()),
    ];
    fixture.proxy.set(Faults { taken: taken.into(), ..Faults::default() });
    let listing = fixture.provider.machines(&pool(ON_DEMAND).place.scope()).await.expect("a list");
    let Listing::Complete(listed) = listing else { panic!("{listing:?}") };
    let warned: Vec<&MachineId> =
        listed.iter().filter(|machine| machine.notice.is_some()).map(|m| &m.id).collect();
    assert_eq!(warned, [one]);
}

#[tokio::test]
#[ignore = "needs moto: cargo xtask test aws"]
async fn machines_that_a_list_lacks_are_asked_for_by_id() {
    let fixture = Fixture::new().await;
    let created = fixture.create(&ask("t", 2)).await.expect("two");
    let ended: Vec<_> = victims(&created).into_iter().take(1).collect();
    fixture.destroy(&ended).await.expect("one");
    let missing = |id: &str, age: i64| Missing {
        machine: id.into(),
        slot: created.machines[0].owner.as_ref().expect("ours").slot,
        pool: pool(ON_DEMAND),
        launched_at: Timestamp::from_second(Timestamp::now().as_second() - age).expect("a time"),
    };
    let ids = [&created.machines[0].id, &created.machines[1].id].map(|id| id.to_string());
    let asked = [
        missing(&ids[1], 900),
        missing("i-0123456789abcdef0", 900),
        missing(&ids[0], 900),
        missing("i-0123456789abcdef1", 10),
    ];
    let (fleet, scope) = ("uid".into(), pool(ON_DEMAND).place.scope());
    let request = TraceRequest { fleet: &fleet, scope: &scope, missing: &asked };
    let traced = fixture.provider.trace(&request).await.expect("answers");
    assert!(matches!(&traced[0], Traced::There(one) if one.id.as_str() == ids[1]), "{traced:?}");
    assert_eq!(traced[1], Traced::Gone(None));
    assert!(matches!(&traced[2], Traced::Gone(_)), "{traced:?}");
    assert_eq!(traced[3], Traced::Unknown);
    let identity = fixture.provider.identity(&scope).await.expect("an account");
    assert_eq!(identity, fixture.provider.identity(&scope).await.expect("the same"));
    assert_eq!(identity.map(|account| account.len()), Some(12));
    assert_eq!(fixture.proxy.calls("GetCallerIdentity"), 1, "asked once");
}

#[tokio::test]
#[ignore = "needs moto: cargo xtask test aws"]
async fn names_in_a_template_are_looked_up_or_refused_before_anything_is_sent() {
    let fixture = Fixture::new().await;
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
        let error = fixture.create_from(&ask("t", 1), &wrong).await.expect_err("refused");
        assert_eq!(error.class, Class::Invalid, "{error} {wrong:?}");
    }
    assert_eq!(fixture.proxy.calls("RunInstances"), 0);
    let right = Template {
        image: Some("amazon/amzn2-ami-hvm-*".into()),
        security_groups: vec!["default".into()],
        user_data: Some("#!/bin/sh\n".into()),
        ..base()
    };
    let created = fixture.create_from(&ask("t", 1), &right).await.expect("launched");
    assert_eq!(created.machines.len(), 1);
}

/// What the provider says of some pools.
async fn quotes(fixture: &Fixture, pools: &[&str], template: &Template) -> Offered {
    let pools: Vec<PoolId> = pools.iter().map(|text| pool(text)).collect();
    let spot = Units::whole(10);
    let goal = CapacityGoal { target: spot, spot, ..CapacityGoal::default() };
    let request = OfferingsRequest {
        pools: &pools,
        template,
        goal,
        ignore: fleet_model::SignalSet::default(),
    };
    fixture.provider.offerings(&request).await.expect("quotes")
}

#[tokio::test]
#[ignore = "needs moto: cargo xtask test aws"]
async fn pools_have_prices_images_and_reasons_against_them() {
    let fixture = Fixture::new().await;
    let spot = "aws/us-east-1/use1-az4/m5.large/spot";
    let sold_elsewhere = "aws/us-east-1/use1-az3/m5.large/on-demand";
    let arm = "aws/us-east-1/use1-az4/m6g.large/on-demand";
    let asked = [spot, ON_DEMAND, arm, sold_elsewhere, "aws/us-east-1/use1-az99/m5.large/spot"];
    let offered = quotes(&fixture, &asked, &Template::default()).await;
    assert!(offered.quotas.is_empty(), "moto keeps no limits, and unknown is not nought");
    let quotes: Vec<Quote> = offered.quotes.into_iter().map(Option::unwrap_or_default).collect();
    assert!(quotes[0].price.is_some() && quotes[1].price.is_none(), "the catalog's stands");
    assert_eq!(quotes[0].image, quotes[1].image);
    assert!(quotes[0].image.as_deref().is_some_and(|image| image.starts_with("ami-")));
    assert!(quotes[2].image.is_some());
    assert_eq!(quotes[0].refusal, None);
    assert_eq!(quotes[3].refusal.as_deref(), Some("EC2 does not sell it in this zone"));
    assert_eq!(quotes[4].refusal.as_deref(), Some("this account has no zone use1-az99"));
    let wrong = Template { image: Some("ami-00000000000000000".into()), ..Template::default() };
    let offered = self::quotes(&fixture, &[ON_DEMAND], &wrong).await;
    let refusal = offered.quotes[0].clone().and_then(|quote| quote.refusal);
    assert!(refusal.is_some_and(|why| why.starts_with("InvalidAMIID.NotFound")));
}

#[tokio::test]
#[ignore = "needs moto: cargo xtask test aws"]
async fn limits_and_scores_are_read_where_aws_gives_them() {
    let fixture = Fixture::new().await;
    fixture.create(&ask("t", 3)).await.expect("three of two vCPUs");
    fixture.proxy.set(Faults {
        quotas: [("L-1216C47A".to_owned(), 64), ("L-34B43A08".to_owned(), 5)].into(),
        scores: [("use1-az4".to_owned(), 9)].into(),
        ..Faults::default()
    });
    let spot = ["m5.large", "c5.large", "r5.large"]
        .map(|kind| format!("aws/us-east-1/use1-az4/{kind}/spot"));
    let asked = [ON_DEMAND, &spot[0], &spot[1], &spot[2]];
    let offered = quotes(&fixture, &asked, &Template::default()).await;
    let quota = |quota: &Quota| (quota.name.clone(), quota.limit, quota.used);
    let quotas: Vec<_> = offered.quotas.iter().map(quota).collect();
    let expect =
        [("on-demand Standard vCPUs".to_owned(), 64, 6), ("spot Standard vCPUs".to_owned(), 5, 0)];
    assert_eq!(quotas, expect);
    let quotes: Vec<Quote> = offered.quotes.into_iter().map(Option::unwrap_or_default).collect();
    assert_eq!([&quotes[0].quotas[..], &quotes[3].quotas[..]], [&[0], &[1]]);
    let chance = |quote: &Quote| quote.signals.obtainability.map(|chance| chance.percent);
    assert_eq!([chance(&quotes[0]), chance(&quotes[3])], [None, Some(90)]);
    // Two types alone are not asked about.
    let before = fixture.proxy.calls("GetSpotPlacementScores");
    quotes_of_two(&fixture, &spot).await;
    assert_eq!(fixture.proxy.calls("GetSpotPlacementScores"), before);
}

async fn quotes_of_two(fixture: &Fixture, spot: &[String]) {
    let offered = quotes(fixture, &[&spot[0], &spot[1]], &Template::default()).await;
    assert_eq!(offered.quotes.len(), 2);
}

#[tokio::test]
#[ignore = "needs moto: cargo xtask test aws"]
async fn a_list_of_many_launches_is_read_to_its_last_page() {
    let fixture = Fixture::new().await;
    for n in 0..7 {
        fixture.create(&ask(&format!("t{n}"), 3)).await.expect("three");
    }
    fixture.proxy.set(Faults { page: Some(2), ..Faults::default() });
    let before = fixture.proxy.calls("DescribeInstances");
    assert_eq!(fixture.live().await, 21);
    assert_eq!(fixture.proxy.calls("DescribeInstances") - before, 4);
}

/// A hundred slots that have nothing in common, in one launch.
#[tokio::test]
#[ignore = "needs moto: cargo xtask test aws"]
async fn the_largest_launch_with_the_longest_tags_is_read_back() {
    let fixture = Fixture::new().await;
    let mut create = ask("t", 100);
    for (n, slot) in create.slots.iter_mut().enumerate() {
        slot.name.ordinal = 4_000_000_000 - 7 * n as u32;
    }
    let created = fixture.create(&create).await.expect("a hundred");
    let slot = |machine: &Machine| machine.owner.as_ref().expect("ours").slot;
    let answered: BTreeSet<SlotId> = created.machines.iter().map(slot).collect();
    assert_eq!(answered, create.slots.iter().copied().collect());
    let listing = fixture.provider.machines(&pool(ON_DEMAND).place.scope()).await.expect("a list");
    let Listing::Complete(listed) = listing else { panic!("{listing:?}") };
    for machine in &created.machines {
        let seen = listed.iter().find(|other| other.id == machine.id).expect("listed");
        assert_eq!(seen.owner, machine.owner);
        assert_eq!(seen.launched_at, machine.launched_at);
    }
    let destroyed = fixture.destroy(&victims(&created)).await.expect("ended");
    assert_eq!((destroyed.ended.len(), destroyed.refused.len()), (100, 0));
    assert_eq!(fixture.live().await, 0);
}
