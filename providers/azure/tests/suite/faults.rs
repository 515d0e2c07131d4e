//! What the suite for all providers does not ask: the habits of Azure alone.

use crate::fixture::{Fixture, bed_with, fixture, pool, template};
use fleet_fakes::azure::{SUBSCRIPTIONS, subnet};
use fleet_fakes::{Faults, Refusal};
use fleet_model::{
    Create, FleetUid, MachineState, Market, MicroUsd, Orphans, Pattern, SignalSource, Template,
};
use fleet_provider::{
    Class, ClearRequest, Error, ExamineRequest, Listed, OfferingsRequest, PriceListRequest, Verdict,
};
use fleet_testkit::{ask, victims};
use serde_json::{Value, json};
use std::time::Duration;

const HOUR: Duration = Duration::from_secs(3600);

impl Fixture {
    pub(crate) async fn orphans(&self) -> Vec<Orphans> {
        let scope = self.asks.pool.place.scope();
        self.asks.provider.orphans(&scope).await.expect("a list")
    }

    pub(crate) async fn clear(&self, fleet: &str, orphans: &[Orphans]) -> Result<u32, Error> {
        let (fleet, scope) = (FleetUid::new(fleet), self.asks.pool.place.scope());
        self.asks.provider.clear(&ClearRequest { fleet: &fleet, scope: &scope, orphans }).await
    }

    /// Machines in whatever state, and their children.
    pub(crate) fn left(&self) -> (usize, usize) {
        self.server.meddle(|world| (world.live(), world.children()))
    }
}

#[tokio::test]
async fn a_launch_that_fails_later_leaves_nothing_behind() {
    for (code, class) in [
        ("AllocationFailed", Class::Capacity { block: HOUR }),
        ("ZonalAllocationFailed", Class::Capacity { block: HOUR }),
        ("OverconstrainedAllocationRequest", Class::Capacity { block: HOUR }),
        ("SkuNotAvailable", Class::Capacity { block: HOUR / 4 }),
        ("VMSizeNotSupported", Class::Invalid),
        ("OperationNotAllowed", Class::Quota { block: HOUR }),
        ("OperationPreempted", Class::Retry { after: Some(Duration::from_secs(30)) }),
        // Nothing is left, so nothing is in doubt; what we do not know is no matter of capacity.
        ("OSProvisioningTimedOut", Class::Refused { block: HOUR / 6 }),
    ] {
        let fixture = fixture().await;
        fixture.server.set(Faults { fails_later: Some(code.into()), ..Faults::default() });
        let error = fixture.asks.create(&fixture.asks.ask("t")).await.expect_err("failed");
        assert_eq!((error.code.as_str(), error.class), (code, class));
        assert_eq!(fixture.left(), (0, 0), "{code}");
    }
}

#[tokio::test]
async fn a_shell_that_cannot_be_cleared_away_stays_in_doubt_and_is_seen() {
    let fixture = fixture().await;
    let faults = Faults {
        fails_later: Some("AllocationFailed".into()),
        ends_fail: true,
        ..Faults::default()
    };
    fixture.server.set(faults);
    let error = fixture.asks.create(&fixture.asks.ask("t")).await.expect_err("failed");
    assert_eq!((error.class, error.code.as_str()), (Class::Unknown, "AllocationFailed"));
    let seen = fixture.asks.list().await.expect("a list");
    assert_eq!(seen.len(), 1);
    // Asked again, the same name makes a machine of the shell.
    fixture.server.set(Faults::default());
    let created = fixture.asks.create(&fixture.asks.ask("t")).await.expect("made");
    assert_eq!(created.machines[0].id, seen[0].id);
    assert_eq!(fixture.left(), (1, 2));
}

#[tokio::test]
async fn refusals_at_once_have_their_reactions() {
    let fixture = fixture().await;
    let quota = "results in exceeding approved standardDSv5Family Cores quota. Current Limit: 10,";
    for (status, code, message, expect) in [
        (409, "SkuNotAvailable", "", Class::Capacity { block: HOUR / 4 }),
        (409, "OperationNotAllowed", quota, Class::Quota { block: Duration::from_secs(600) }),
        (403, "AuthorizationFailed", "", Class::Auth),
        (409, "ReadOnlyDisabledSubscription", "", Class::Auth),
        (400, "InvalidParameter", "", Class::Invalid),
        (409, "PropertyChangeNotAllowed", "", Class::Freeze),
        (409, "SomethingNew", "", Class::Unknown),
        (400, "SomethingNew", "", Class::Refused { block: HOUR / 6 }),
        (409, "OperationNotAllowed", "marked for deletion", Class::Refused { block: HOUR / 6 }),
        (409, "OperationNotAllowed", "another is in progress", Class::Unknown),
        (409, "ScopeLocked", "", Class::Refused { block: HOUR / 6 }),
        (404, "ImageVersionDeprecated", "", Class::Invalid),
        (503, "QuotaExceeded", quota, Class::Unknown),
        (429, "", "", Class::Retry { after: None }),
    ] {
        let refusal = Refusal { status, code: code.into(), message: message.into() };
        fixture.server.set(Faults { refuse: Some(refusal), ..Faults::default() });
        let error = fixture.asks.create(&fixture.asks.ask("t")).await.expect_err("refused");
        assert_eq!(error.class, expect, "{error}");
    }
    assert_eq!(fixture.left(), (0, 0));
}

#[tokio::test]
async fn a_5xx_after_the_deed_is_settled_by_name() {
    let fixture = fixture().await;
    fixture.server.set(Faults { answers_broken: true, ..Faults::default() });
    let created = fixture.asks.create(&fixture.asks.ask("t")).await.expect("found by its name");
    assert_eq!(created.machines.len(), 1);
    assert_eq!(fixture.left(), (1, 2));
}

#[tokio::test]
async fn a_machine_of_our_name_with_other_tags_freezes() {
    let fixture = fixture().await;
    fixture.asks.create(&fixture.asks.ask("t")).await.expect("one");
    fixture.server.meddle(|world| world.edit(|vm| vm["tags"]["fleet:uid"] = json!("another")));
    let error = fixture.asks.create(&fixture.asks.ask("t")).await.expect_err("a stranger");
    assert_eq!((error.class, error.code.as_str()), (Class::Freeze, "ForeignMachine"));
    let listed = fixture.asks.list().await.expect("a list");
    let destroyed = fixture.asks.destroy(&victims(&listed)).await.expect("an answer");
    assert_eq!((destroyed.ended.len(), destroyed.refused.len()), (0, 1));
    assert_eq!(fixture.left(), (1, 2));
}

#[tokio::test]
async fn an_end_that_fails_later_is_asked_for_again() {
    let fixture = fixture().await;
    let created = fixture.asks.create(&fixture.asks.ask("t")).await.expect("one");
    fixture.server.set(Faults { ends_fail: true, ..Faults::default() });
    let error = fixture.asks.destroy(&victims(&created.machines)).await.expect_err("failed");
    assert!(matches!(error.class, Class::Retry { after: Some(_) }), "{error}");
    assert_eq!(fixture.left(), (1, 2));
    fixture.server.set(Faults::default());
    fixture.asks.destroy(&victims(&created.machines)).await.expect("ended");
    assert_eq!(fixture.left(), (0, 0));
}

#[tokio::test]
async fn what_this_run_deleted_is_known_to_be_gone_however_young() {
    let fixture = fixture().await;
    let created = fixture.asks.create(&fixture.asks.ask("t")).await.expect("one");
    fixture.asks.destroy(&victims(&created.machines)).await.expect("ended");
    let seen = fixture.asks.list().await.expect("a list");
    let states: Vec<_> = seen.iter().map(|machine| (&machine.id, machine.state)).collect();
    assert_eq!(states, [(&created.machines[0].id, MachineState::Terminated)]);
    let again = fixture.asks.destroy(&victims(&created.machines)).await.expect("gone before");
    assert_eq!(again.ended.len(), 1);
    fixture.clock.sleep(Duration::from_secs(300)).await;
    assert_eq!(fixture.asks.list().await.map(|all| all.len()), Some(0));
}

#[tokio::test]
async fn children_that_stay_behind_are_cleared_away() {
    let fixture = fixture().await;
    let created = fixture.asks.create(&fixture.asks.ask("t")).await.expect("one");
    // As if Azure had forgotten to take the disk along.
    let detach = |vm: &mut Value| {
        vm["properties"]["storageProfile"]["osDisk"]["deleteOption"] = json!("Detach");
    };
    fixture.server.meddle(|world| world.edit(detach));
    fixture.asks.destroy(&victims(&created.machines)).await.expect("ended");
    assert_eq!(fixture.left(), (0, 0));
}

/// The machine goes, its disk and interface do not, and the process dies before it can clear them away.
#[tokio::test]
async fn what_a_dead_run_left_is_seen_and_cleared_away_by_the_next() {
    let fixture = fixture().await;
    let token = "fleet-0a1b";
    let created = fixture.asks.create(&fixture.asks.ask(token)).await.expect("one");
    assert_eq!(fixture.orphans().await, [], "a machine uses them");
    fixture.server.set(Faults { children_stay: true, ..Faults::default() });
    fixture.asks.destroy(&victims(&created.machines)).await.expect_err("something stays");
    assert_eq!(fixture.left(), (0, 2));
    let left = fixture.orphans().await;
    assert_eq!((left.len(), left[0].machine.as_str(), left[0].token.as_str()), (1, token, token));
    // Accepted, and then it fails.
    let error = fixture.clear("uid", &left).await.expect_err("it stays");
    assert!(matches!(error.class, Class::Retry { .. }), "{error}");
    assert_eq!((fixture.left(), fixture.orphans().await.len()), ((0, 2), 1));
    fixture.server.set(Faults::default());
    assert_eq!(fixture.clear("uid", &left).await.expect("cleared"), 1);
    assert_eq!((fixture.left(), fixture.orphans().await.len()), ((0, 0), 0));
    assert_eq!(fixture.clear("uid", &left).await.expect("nothing there"), 1, "again");
}

#[tokio::test]
async fn what_a_machine_uses_or_others_own_is_not_cleared_away() {
    let fixture = fixture().await;
    let created = fixture.asks.create(&fixture.asks.ask("fleet-0a1b")).await.expect("one");
    let left = [Orphans {
        machine: created.machines[0].id.clone(),
        token: "fleet-0a1b".into(),
        scope: fixture.asks.pool.place.scope(),
    }];
    assert_eq!(fixture.clear("uid", &left).await.expect("an answer"), 0, "it lives");
    assert_eq!(fixture.left(), (1, 2));
    fixture.server.set(Faults { children_stay: true, ..Faults::default() });
    fixture.asks.destroy(&victims(&created.machines)).await.expect_err("something stays");
    fixture.server.set(Faults::default());
    assert_eq!(fixture.clear("another", &left).await.expect("an answer"), 0, "the disk says whose");
    assert_eq!(fixture.left(), (0, 2));
}

#[tokio::test]
async fn machines_stand_in_the_subscription_that_the_spec_names() {
    let fixture = fixture().await;
    let there = format!("azure/westus2@{}/1/Standard_D4s_v5/spot", SUBSCRIPTIONS[1]);
    let west = ask(&pool(&there), "w", &template());
    let west = Create { max_price: Some(MicroUsd(50_000)), ..west };
    let created = fixture.asks.create(&west).await.expect("one in the west");
    assert_eq!(created.machines[0].market, Market::Spot);
    let state = fixture.server.state();
    let id = state["live"][0]["id"].as_str().expect("an id");
    assert!(id.contains(SUBSCRIPTIONS[1]), "{id}");
    let vm = &state["live"][0];
    assert_eq!(vm["zones"], json!(["1"]));
    assert_eq!(vm["properties"]["billingProfile"]["maxPrice"], json!(0.05));
    assert_eq!(vm["properties"]["evictionPolicy"], "Delete");
}

#[tokio::test]
async fn networks_and_keys_are_looked_up_or_refused_before_anything_is_sent() {
    let fixture = fixture().await;
    let base = template;
    for wrong in [
        Template { subnets: Vec::new(), ..base() },
        Template { subnets: vec!["default".into()], ..base() },
        Template { subnets: vec![subnet(0, "mars")], ..base() },
        Template { subnets: vec![subnet(0, "westus2")], ..base() },
        Template { key: None, ..base() },
        Template { key: Some("nobody".into()), ..base() },
        Template { key: Some("ecdsa-sha2-nistp256 AAAA me".into()), ..base() },
    ] {
        let error =
            fixture.asks.create_from(&fixture.asks.ask("t"), &wrong).await.expect_err("refused");
        assert_eq!(error.class, Class::Invalid, "{error} {wrong:?}");
    }
    let mut reserved = fixture.asks.ask("r");
    reserved.pool.market = Market::Reserved;
    let error = fixture.asks.create(&reserved).await.expect_err("no group");
    assert_eq!(error.code, "NoReservation");
    assert_eq!(fixture.server.calls("PUT virtualMachines"), 0);
}

#[tokio::test]
async fn nothing_is_asked_without_a_group_or_over_plain_http_to_strangers() {
    let bare = bed_with(|settings| settings.resource_group = None).await;
    let error = bare.asks.create(&bare.asks.ask("t")).await.expect_err("not set up");
    assert_eq!((error.class, error.code.as_str()), (Class::Auth, "NotSetUp"));
    let open = bed_with(|settings| settings.endpoint = "http://example.org".into()).await;
    let error = open.asks.create(&open.asks.ask("t")).await.expect_err("insecure");
    assert_eq!((error.class, error.code.as_str()), (Class::Auth, "InsecureEndpoint"));
}

#[tokio::test]
async fn few_reads_left_slow_us_down() {
    let fixture = fixture().await;
    fixture.server.set(Faults { reads_left: Some(10), ..Faults::default() });
    fixture.asks.list().await.expect("a list");
    let before = fixture.clock.now();
    fixture.asks.list().await.expect("a list");
    assert!(fixture.clock.now().duration_since(before).as_secs() >= 1);
    fixture.server.set(Faults::default());
    fixture.asks.list().await.expect("a list");
    let before = fixture.clock.now();
    fixture.asks.list().await.expect("a list");
    assert!(fixture.clock.now().duration_since(before).is_zero());
}

#[tokio::test]
async fn pools_have_prices_scores_limits_and_restrictions() {
    let fixture = fixture().await;
    let second = format!("westus2@{}", SUBSCRIPTIONS[1]);
    let pools = [
        pool("azure/eastus/regional/Standard_D4s_v5/on-demand"),
        pool("azure/eastus/regional/Standard_D4s_v5/spot"),
        pool(&format!("azure/{second}/regional/Standard_NC48ads_A100_v4/on-demand")),
        pool(&format!("azure/{second}/regional/Standard_D4s_v5/on-demand")),
        pool("azure/westus2/regional/Standard_D4s_v5/on-demand"),
    ];
    let template = template();
    let request = OfferingsRequest {
        pools: &pools,
        template: &template,
        goal: fleet_model::CapacityGoal::default(),
        ignore: fleet_model::SignalSet::default(),
    };
    let offered = fixture.asks.provider.offerings(&request).await.expect("quotes");
    let quote = |n: usize| offered.quotes[n].clone().expect("known");
    assert_eq!(quote(0).price, Some(MicroUsd(192_000)));
    assert_eq!(quote(1).price, Some(MicroUsd(48_000)));
    assert_eq!(quote(1).signals.obtainability.map(|signal| signal.percent), Some(90));
    assert_eq!(quote(0).signals.obtainability, None);
    assert_eq!(quote(1).signals.interrupted.map(|signal| signal.share.ppm()), Some(75_000));
    assert_eq!(quote(0).signals.interrupted, None);
    // Ignored, they are not asked for.
    let calls = |name| fixture.server.calls(name);
    let before = ["POST placementScores", "POST resources"].map(calls);
    assert_eq!(before, [1, 1]);
    let ignore = [SignalSource::PlacementScore, SignalSource::EvictionRate];
    let off = OfferingsRequest { ignore: ignore.into_iter().collect(), ..request };
    let silent = fixture.asks.provider.offerings(&off).await.expect("quotes");
    assert!(silent.quotes.iter().flatten().all(|quote| quote.signals.words().count() == 0));
    assert_eq!(["POST placementScores", "POST resources"].map(calls), before);
    assert!(quote(0).refusal.is_none() && quote(2).refusal.is_some());
    let newest = "Canonical:ubuntu-24_04-lts:server:24.04.202607100";
    assert_eq!(quote(0).image.as_deref(), Some(newest));
    let names = |n: usize| -> Vec<&str> {
        quote(n).quotas.iter().map(|at| offered.quotas[*at as usize].name.as_str()).collect()
    };
    assert_eq!(names(0), ["standardDSv5Family", "cores"]);
    assert_eq!(names(1), ["lowPriorityCores"]);
    // The limits of each subscription are its own, and so are its networks.
    assert_eq!(names(3), ["standardDSv5Family", "cores"]);
    let of_second = |at: &u32| offered.quotas[*at as usize].region.as_str() == second;
    assert!(quote(3).quotas.iter().all(of_second) && quote(3).refusal.is_none());
    assert!(quote(4).refusal.is_some_and(|why| why.contains("no subnet")));
    let image = Some("Canonical:nothing:server:latest".to_owned());
    let nothing = Template { image, ..template.clone() };
    let request = OfferingsRequest { template: &nothing, ..request };
    let offered = fixture.asks.provider.offerings(&request).await.expect("quotes");
    let refusal = offered.quotes[0].clone().and_then(|quote| quote.refusal);
    assert!(refusal.is_some_and(|why| why.contains("has no image")));
    let listed = PriceListRequest { regions: &[Pattern::new("east*")] };
    let listed = fixture.asks.provider.price_list(&listed).await.expect("a list");
    assert_eq!(listed.len(), 9 * 4);
    let sold = |row: &Listed| row.on_demand.is_some() && row.spot.is_some() == row.has_spot;
    assert!(listed.iter().all(sold));
    assert_eq!(listed.iter().filter(|row| !row.has_spot).count(), 4);
}

#[tokio::test]
async fn an_account_is_looked_over() {
    let fixture = fixture().await;
    let pools = [fixture.asks.pool.clone()];
    let request = ExamineRequest {
        pools: &pools,
        everywhere: &pools,
        template: &fixture.asks.template,
        fulfilment: fleet_model::Fulfilment::Exact,
    };
    let found = fixture.asks.provider.examine(&request).await;
    let bad: Vec<_> = found.findings.iter().filter(|f| f.verdict == Verdict::Bad).collect();
    assert!(bad.is_empty(), "{bad:?}");
    let role: Value = serde_json::from_str(&found.policy.expect("a role")).expect("JSON");
    assert_eq!(role["AssignableScopes"], json!([format!("/subscriptions/{}", SUBSCRIPTIONS[0])]));
    let south = [pool("azure/southcentralus/regional/Standard_D2s_v5/on-demand")];
    let shut = Template { subnets: vec![subnet(0, "southcentralus")], ..template() };
    let request = ExamineRequest { pools: &south, everywhere: &south, template: &shut, ..request };
    let doubts = fixture.asks.provider.examine(&request).await.findings;
    assert!(doubts.iter().any(|f| f.words.contains("no NAT gateway")), "{doubts:?}");
    let wrong = Template { subnets: vec![subnet(0, "mars")], ..template() };
    let request = ExamineRequest {
        pools: &pools,
        everywhere: &pools,
        template: &wrong,
        fulfilment: fleet_model::Fulfilment::Exact,
    };
    let found = fixture.asks.provider.examine(&request).await.findings;
    assert!(found.iter().any(|f| f.verdict == Verdict::Bad && f.subject == "eastus"));
}
