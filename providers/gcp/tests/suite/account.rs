//! What people ask of a project: is it in order, and what is for sale?

use crate::support::{Fixture, ON_DEMAND, RealTime, ask, create_from, pool, victims};
use fleet_fakes::gcp::{Fake, Faults};
use fleet_gcp::{Gcp, GcpSettings};
use fleet_model::{FleetUid, MicroUsd, Pattern, Template};
use fleet_provider::{
    DestroyRequest, ExamineRequest, Listing, OfferingsRequest, PriceListRequest, Provider, Verdict,
};
use std::sync::Arc;

#[tokio::test]
async fn a_project_in_order_is_found_in_order_and_what_is_missing_is_named() {
    let fixture = Fixture::new().await;
    let pools = [pool(ON_DEMAND)];
    let plain = Template::default();
    let found = fixture
        .provider
        .examine(&ExamineRequest {
            pools: &pools,
            everywhere: &pools,
            template: &plain,
            fulfilment: fleet_model::Fulfilment::Exact,
        })
        .await;
    let bad: Vec<_> = found.findings.iter().filter(|f| f.verdict != Verdict::Good).collect();
    assert!(bad.is_empty(), "{bad:?}");
    assert!(found.findings.len() >= 5, "{:?}", found.findings);
    assert!(found.policy.is_some_and(|role| role.contains("- compute.instances.create")));

    let acting = Template { instance_role: Some("a@b".into()), ..Template::default() };
    let found = fixture
        .provider
        .examine(&ExamineRequest {
            pools: &pools,
            everywhere: &pools,
            template: &acting,
            fulfilment: fleet_model::Fulfilment::Exact,
        })
        .await;
    let bad: Vec<&str> = found
        .findings
        .iter()
        .filter(|finding| finding.verdict == Verdict::Bad)
        .map(|finding| finding.subject.as_str())
        .collect();
    assert_eq!(bad, ["iam.serviceAccounts.actAs"]);

    fixture.fake.set(Faults { outage: true, ..Faults::default() });
    let found = fixture
        .provider
        .examine(&ExamineRequest {
            pools: &pools,
            everywhere: &pools,
            template: &plain,
            fulfilment: fleet_model::Fulfilment::Exact,
        })
        .await;
    assert!(found.findings.iter().any(|finding| finding.verdict == Verdict::Bad));
}

#[tokio::test]
async fn the_price_list_is_the_sum_of_parts() {
    let fixture = Fixture::new().await;
    let regions = [Pattern::new("us-central1")];
    let all = fixture.provider.price_list(&PriceListRequest { regions: &regions }).await;
    let all = all.expect("a price list");
    assert!(all.iter().all(|one| one.place.region.as_str() == "us-central1"));
    let find = |name: &str| {
        let same = |zone: &str, kind: &str| zone == "us-central1-a" && kind == name;
        let one = all.iter().find(|l| same(l.place.zone.as_str(), l.kind.name.as_str()));
        one.unwrap_or_else(|| panic!("{name}")).clone()
    };
    // 4 × $0.031611 + 16 × $0.004237, and 4 × $0.00765 + 16 × $0.00102.
    let n2 = find("n2-standard-4");
    assert_eq!((n2.on_demand, n2.spot), (Some(MicroUsd(194_236)), Some(MicroUsd(46_920))));
    let l4 = find("g2-standard-4");
    assert_eq!(l4.on_demand, Some(MicroUsd(706_824)));
    assert_eq!(l4.kind.resources.accelerators.and_then(|a| a.name).as_deref(), Some("L4"));
    let t4 = find("n1-standard-8+2xt4");
    assert_eq!(t4.on_demand, Some(MicroUsd(1_079_998)));
    // No line of the list prices its cores: unpriced, not free.
    assert_eq!(find("n2d-standard-4").on_demand, None);
    let everywhere = fixture.provider.price_list(&PriceListRequest { regions: &[] }).await;
    assert!(everywhere.is_ok_and(|every| every.len() > all.len()));
}

#[tokio::test]
async fn what_two_projects_have_in_one_region_are_two_regions() {
    let fake = Fake::start().await.expect("a port");
    let settings = GcpSettings {
        project: Some("home".into()),
        endpoint: Some(fake.url()),
        ..GcpSettings::default()
    };
    let provider = Gcp::of_projects(settings, Arc::new(RealTime), Arc::default());
    let in_project =
        |project: &str| format!("gcp/us-central1@{project}/us-central1-a/n2-standard-4/on-demand");
    let template = Template::default();
    let (research, serving) = (in_project("research"), in_project("serving"));
    for (text, count) in [(&research, 2), (&serving, 1), (&ON_DEMAND.to_owned(), 3)] {
        let create = ask(text, &format!("token-{count}"), count);
        let created = create_from(&provider, &create, &template).await.expect("machines");
        assert_eq!(created.machines.len(), count as usize);
        assert!(created.machines.iter().all(|m| m.place == pool(text).place));
        let listed = provider.machines(&pool(text).place.scope()).await;
        let Ok(Listing::Complete(listed)) = listed else { panic!("{listed:?}") };
        assert_eq!(listed, created.machines);
    }
    let pools = [pool(&serving), pool(ON_DEMAND), pool(&research)];
    let goal = fleet_model::CapacityGoal::default();
    let request = OfferingsRequest {
        pools: &pools,
        template: &template,
        goal,
        ignore: fleet_model::SignalSet::default(),
    };
    let offered = provider.offerings(&request).await.expect("quotes");
    let used = |at: usize| {
        let quote = offered.quotes[at].as_ref().expect("a quote");
        let quotas = quote.quotas.iter().map(|at| &offered.quotas[*at as usize]);
        let cpus = quotas.into_iter().find(|quota| quota.name == "N2_CPUS").expect("a limit");
        assert_eq!(cpus.region, pools[at].place.region);
        cpus.used
    };
    assert_eq!((used(0), used(1), used(2)), (4, 12, 8));
    let fleet = FleetUid::new("uid");
    let scope = pool(&serving).place.scope();
    let Ok(Listing::Complete(there)) = provider.machines(&scope).await else { panic!("a list") };
    let victims = victims(&there);
    let request = DestroyRequest { fleet: &fleet, scope: &scope, victims: &victims };
    assert_eq!(provider.destroy(&request).await.expect("ended").ended.len(), 1);
}
