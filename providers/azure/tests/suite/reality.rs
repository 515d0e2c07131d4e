//! What Azure was seen to do, and other clouds do not: see docs/reality/azure.md.

use crate::fixture::{Fixture, fixture, pool};
use fleet_fakes::Faults;
use fleet_model::{CauseKind, Create, FleetUid, Machine, MachineState, Orphans, Scope};
use fleet_provider::{
    Class, Created, DestroyRequest, Error, Listing, Missing, OfferingsRequest, Reach, TraceRequest,
    Traced,
};
use fleet_testkit::{ask, say, victims};
use std::time::Duration;

const SPOT: &str = "azure/eastus/regional/Standard_D2s_v5/spot";
const MINUTE: Duration = Duration::from_secs(60);

impl Fixture {
    async fn launch(&self, pool_name: &str, count: usize) -> Vec<Machine> {
        let mut machines = Vec::new();
        for n in 0..count {
            let create = ask(&pool(pool_name), &format!("fleet-{n:04x}"), &self.asks.template);
            machines.extend(self.asks.create(&create).await.expect("made").machines);
        }
        machines
    }

    async fn spot(&self, token: &str) -> Result<Created, Error> {
        let create: Create = ask(&pool(SPOT), token, &self.asks.template);
        self.asks.create(&create).await
    }

    async fn trace(&self, machines: &[Machine]) -> Result<Vec<Traced>, Error> {
        let missing = machines.iter().map(|machine| Missing {
            machine: machine.id.clone(),
            slot: machine.owner.as_ref().expect("ours").slot,
            pool: machine.pool(),
            launched_at: machine.launched_at,
        });
        let missing: Vec<Missing> = missing.collect();
        let (fleet, scope) = (FleetUid::new("uid"), self.asks.pool.place.scope());
        let request = TraceRequest { fleet: &fleet, scope: &scope, missing: &missing };
        self.asks.provider.trace(&request).await
    }

    async fn kinds(&self) -> Vec<(MachineState, Option<CauseKind>)> {
        let seen = self.asks.list().await.expect("a list");
        seen.into_iter().map(|m| (m.state, m.cause.map(|cause| cause.kind))).collect()
    }
}

/// An agent that a policy installs fails on a working fleet: ten machines that are there and cost.
#[tokio::test]
async fn machines_that_fail_while_they_run_are_listed_as_unwell() {
    let fixture = fixture().await;
    let made = fixture.launch(crate::fixture::POOL, 10).await;
    fixture.server.meddle(|world| world.sicken(usize::MAX, "VMExtensionProvisioningError"));
    let seen = fixture.asks.list().await.expect("a list");
    assert_eq!(seen.len(), 10);
    for machine in &seen {
        let cause = machine.cause.as_ref().expect("a cause");
        assert_eq!((machine.state, cause.kind), (MachineState::Failed, CauseKind::Unwell));
        assert!(cause.words.contains("VMExtensionProvisioningError"), "{cause:?}");
        assert!(machine.state.is_live() && machine.notice.is_none() && machine.owner.is_some());
    }
    fixture.asks.destroy(&victims(&made)).await.expect("destroyed");
    assert_eq!(fixture.left(), (0, 0));
}

#[tokio::test]
async fn a_guest_that_never_reports_ready_and_a_shell_are_never_ready() {
    let fixture = fixture().await;
    fixture.launch(crate::fixture::POOL, 1).await;
    for code in ["OSProvisioningTimedOut", "VMStartTimedOut", "OSProvisioningClientError"] {
        fixture.server.meddle(|world| world.sicken(usize::MAX, code));
        assert_eq!(fixture.kinds().await, [(MachineState::Failed, Some(CauseKind::NeverReady))]);
    }
    // Nothing runs: what a launch left that failed after its run was killed.
    fixture.server.meddle(|world| world.fail());
    assert_eq!(fixture.kinds().await, [(MachineState::Failed, Some(CauseKind::NeverReady))]);
    let seen = fixture.asks.list().await.expect("a list");
    fixture.asks.destroy(&victims(&seen)).await.expect("destroyed");
    assert_eq!(fixture.left(), (0, 0));
}

#[tokio::test]
async fn a_view_that_is_not_there_does_not_make_a_machine_a_shell() {
    let fixture = fixture().await;
    fixture.launch(crate::fixture::POOL, 1).await;
    fixture.server.meddle(|world| {
        world.sicken(usize::MAX, "OSProvisioningTimedOut");
        world.habits(|habits| habits.views_lost = true);
    });
    assert_eq!(fixture.kinds().await, [(MachineState::Failed, Some(CauseKind::Unwell))]);
}

#[tokio::test]
async fn machines_that_somebody_deallocated_are_stopped() {
    let fixture = fixture().await;
    fixture.launch(crate::fixture::POOL, 3).await;
    fixture.server.meddle(|world| world.deallocate(1));
    let stopped = (MachineState::Stopped, Some(CauseKind::Person));
    let running = (MachineState::Running, None);
    assert_eq!(fixture.kinds().await, [stopped, running, running]);
    // The list of power states holds for some minutes, and costs one call.
    let before = fixture.server.calls("GET virtualMachines");
    fixture.server.meddle(|world| world.deallocate(3));
    assert_eq!(fixture.kinds().await, [stopped, running, running]);
    assert_eq!(fixture.server.calls("GET virtualMachines"), before + 2, "a list and a view");
    fixture.clock.sleep(6 * MINUTE).await;
    assert_eq!(fixture.kinds().await, [stopped; 3]);
}

#[tokio::test]
async fn a_delete_that_fails_leaves_a_machine_that_can_be_deleted_again() {
    let fixture = fixture().await;
    let made = fixture.launch(crate::fixture::POOL, 1).await;
    fixture.server.set(Faults { ends_fail: true, ..Faults::default() });
    fixture.asks.destroy(&victims(&made)).await.expect_err("it fails later");
    assert_eq!(fixture.kinds().await, [(MachineState::Failed, Some(CauseKind::Unwell))]);
    fixture.server.set(Faults::default());
    fixture.asks.destroy(&victims(&made)).await.expect("destroyed");
    assert_eq!(fixture.left(), (0, 0));
}

#[tokio::test]
async fn interfaces_have_names_that_azure_makes_up_and_are_found_all_the_same() {
    let fixture = fixture().await;
    let made = fixture.launch(crate::fixture::POOL, 1).await;
    let state = fixture.server.state();
    let children = state["children"].to_string();
    assert!(!children.contains("-nic\""), "never the name that was asked for: {children}");
    fixture.server.set(Faults { children_stay: true, ..Faults::default() });
    fixture.asks.destroy(&victims(&made)).await.expect_err("something stays");
    assert_eq!(fixture.left(), (0, 2));
    fixture.server.set(Faults::default());
    let left: Vec<Orphans> = fixture.orphans().await;
    assert_eq!((left.len(), left[0].machine.as_str()), (1, "fleet-0000"));
    // The list of disks may lack the disk: it is asked for by its name.
    fixture.server.meddle(|world| world.habits(|habits| habits.disks_unlisted = true));
    assert_eq!(fixture.clear("uid", &left).await.expect("cleared"), 1);
    assert_eq!(fixture.left(), (0, 0));
}

/// Lists lack the interface for a while: the answer to the launch has named it.
#[tokio::test]
async fn what_a_failed_launch_left_is_deleted_by_the_names_in_its_answer() {
    let fixture = fixture().await;
    fixture.server.meddle(|world| {
        world.habits(|habits| (habits.forgets_children, habits.disks_unlisted) = (true, true));
    });
    let fails_later = Some("OverconstrainedZonalAllocationRequest".to_owned());
    fixture.server.set(Faults { fails_later, ..Faults::default() });
    let error = fixture.asks.create(&fixture.asks.ask("fleet-0a")).await.expect_err("no room");
    assert_eq!(error.class, Class::Capacity { block: 60 * MINUTE });
    assert_eq!(fixture.left(), (0, 0));
    assert!(fixture.server.calls("DELETE networkInterfaces") == 1, "by its own name");
}

#[tokio::test]
async fn an_interface_that_an_eviction_left_is_a_leftover() {
    let fixture = fixture().await;
    fixture.launch(SPOT, 2).await;
    assert_eq!(fixture.server.meddle(|world| world.evict(1, true)), 1);
    assert_eq!(fixture.left(), (1, 3));
    let left = fixture.orphans().await;
    assert_eq!(left.len(), 1, "{left:?}");
    assert_eq!(fixture.clear("uid", &left).await.expect("cleared"), 1);
    assert_eq!(fixture.left(), (1, 2));
}

#[tokio::test]
async fn an_eviction_in_bulk_is_traced_as_one() {
    let fixture = fixture().await;
    let made = fixture.launch(SPOT, 10).await;
    fixture.clock.sleep(10 * MINUTE).await;
    assert_eq!(fixture.server.meddle(|world| world.evict(4, false)), 4);
    assert_eq!(fixture.asks.list().await.map(|all| all.len()), Some(6));
    let traced = fixture.trace(&made).await.expect("traced");
    let evicted = traced.iter().filter(
        |one| matches!(one, Traced::Gone(Some(cause)) if cause.kind == CauseKind::Interrupted),
    );
    assert_eq!(evicted.count(), 4);
    let there = traced.iter().filter(|one| matches!(one, Traced::There(_)));
    assert_eq!(there.count(), 6);
}

#[tokio::test]
async fn a_list_that_lacks_machines_is_not_believed() {
    let fixture = fixture().await;
    let made = fixture.launch(crate::fixture::POOL, 3).await;
    fixture.clock.sleep(30 * MINUTE).await;
    for empty in [true, false] {
        fixture.server.meddle(|world| {
            world.habits(|habits| {
                habits.lists_are_empty = empty;
                habits.lists_lack = made.iter().map(|machine| machine.id.to_string()).collect();
            });
        });
        assert_eq!(fixture.asks.list().await.map(|all| all.len()), Some(0));
        let traced = fixture.trace(&made).await.expect("traced");
        assert!(traced.iter().all(|one| matches!(one, Traced::There(_))), "{traced:?}");
    }
    // Nor is it when machines are to be destroyed: they are, and not just taken for gone.
    fixture.asks.destroy(&victims(&made)).await.expect("destroyed");
    assert_eq!(fixture.left(), (0, 0));
}

/// More than are asked for by name: the list comes first, and what it lacks is asked for after all.
#[tokio::test]
async fn many_machines_are_destroyed_even_if_the_list_lacks_some() {
    let fixture = fixture().await;
    fixture.server.meddle(|world| world.populate(60, 1));
    let scope = Scope { cloud: fleet_model::Cloud::Azure, region: "region0".into() };
    let listing = fixture.asks.provider.machines(&scope).await.expect("a list");
    let Listing::Complete(made) = listing else { panic!("not all of it") };
    let victims = victims(&made);
    assert_eq!(victims.len(), 60);
    fixture.server.meddle(|world| {
        world.habits(|habits| habits.lists_lack = [made[7].id.to_string()].into());
    });
    let fleet = FleetUid::new("uid");
    let request = DestroyRequest { fleet: &fleet, scope: &scope, victims: &victims };
    let destroyed = fixture.asks.provider.destroy(&request).await.expect("destroyed");
    assert_eq!((destroyed.ended.len(), fixture.left()), (60, (0, 0)));
}

#[tokio::test]
async fn what_is_asked_for_by_name_may_be_unknown_gone_or_not_answered() {
    let fixture = fixture().await;
    let made = fixture.launch(crate::fixture::POOL, 2).await;
    fixture.asks.destroy(&victims(&made[..1])).await.expect("destroyed");
    // The gateway says that it is not there, which proves nothing of a young machine.
    let traced = fixture.trace(&made[..1]).await.expect("traced");
    assert_eq!(traced, [Traced::Unknown]);
    fixture.clock.sleep(10 * MINUTE).await;
    let traced = fixture.trace(&made).await.expect("traced");
    assert!(matches!(traced[..], [Traced::Gone(None), Traced::There(_)]), "{traced:?}");
    fixture.server.set(Faults { throttled: true, ..Faults::default() });
    assert!(fixture.trace(&made).await.expect_err("no answer").throttled);
    // A list may still show what is gone; asked for by name it is.
    fixture.server.set(Faults::default());
    fixture.server.meddle(|world| world.habits(|habits| habits.lists_show_gone = true));
    let seen = fixture.asks.list().await.expect("a list");
    let live: Vec<_> = seen.iter().filter(|machine| machine.state.is_live()).collect();
    assert_eq!((seen.len(), live.len()), (2, 1), "{seen:?}");
    assert_eq!(live[0].id, made[1].id);
}

#[tokio::test]
async fn a_spot_machine_that_is_taken_back_while_it_is_made_is_not_told_as_made() {
    for seconds in [20, 240] {
        let fixture = fixture().await;
        let habit = Some(seconds);
        fixture.server.meddle(|world| world.habits(|habits| habits.taken_back_after = habit));
        match fixture.spot("fleet-0a").await {
            Err(error) => {
                let expect = Class::Capacity { block: 60 * MINUTE };
                assert_eq!((error.code.as_str(), error.class), ("GoneWhileMade", expect));
                assert_eq!(fixture.left(), (0, 0));
            }
            // Longer than a launch is waited for: it is told as being made, and traced as gone later.
            Ok(created) => {
                assert_eq!(seconds, 240);
                assert_eq!(created.machines[0].state, MachineState::Pending);
                fixture.clock.sleep(2 * MINUTE).await;
                let traced = fixture.trace(&created.machines).await.expect("traced");
                let interrupted = |one: &Traced| matches!(one, Traced::Gone(Some(c)) if c.kind == CauseKind::Interrupted);
                assert!(traced.iter().all(interrupted), "{traced:?}");
            }
        }
    }
}

#[tokio::test]
async fn computes_own_throttling_is_throttling_and_its_long_wish_is_kept() {
    let fixture = fixture().await;
    fixture.server.set(Faults { throttled: true, ..Faults::default() });
    let error = fixture.asks.create(&fixture.asks.ask("t")).await.expect_err("turned away");
    assert_eq!(error.code, "OperationNotAllowed");
    assert_eq!(error.class, Class::Retry { after: Some(10 * MINUTE) });
    assert!(error.throttled);
    fixture.server.set(Faults::default());
    fixture.server.meddle(|world| world.habits(|habits| habits.compute_left = Some(5)));
    fixture.asks.list().await.expect("a list");
    let before = fixture.clock.now();
    fixture.asks.list().await.expect("a list");
    assert!(fixture.clock.now().duration_since(before).as_secs() >= 1, "nearly empty: slower");
}

#[tokio::test]
async fn one_family_without_quota_does_not_close_the_region() {
    let fixture = fixture().await;
    let quota = Some(("standardDSv5Family".to_owned(), 4));
    fixture.server.meddle(|world| world.habits(|habits| habits.family_quota = quota));
    fixture.launch(crate::fixture::POOL, 2).await;
    let error = fixture.asks.create(&fixture.asks.ask("t")).await.expect_err("a limit");
    assert_eq!((error.class, error.reach()), (Class::Quota { block: 10 * MINUTE }, Reach::Class));
    let other = ask(&pool("azure/eastus/1/Standard_B2s/on-demand"), "o", &fixture.asks.template);
    fixture.asks.create(&other).await.expect("another family");
}

#[tokio::test]
async fn sizes_that_do_not_boot_the_image_are_not_offered() {
    let fixture = fixture().await;
    let pools = [
        pool("azure/eastus/regional/Standard_A2_v2/on-demand"),
        pool("azure/eastus/regional/Standard_E8-2s_v5/on-demand"),
        pool("azure/eastus/regional/Standard_B2s/spot"),
    ];
    let goal = fleet_model::CapacityGoal::default();
    let request = OfferingsRequest {
        pools: &pools,
        template: &fixture.asks.template,
        goal,
        ignore: fleet_model::SignalSet::default(),
    };
    let offered = fixture.asks.provider.offerings(&request).await.expect("quotes");
    let refusal = |n: usize| offered.quotes[n].clone().and_then(|quote| quote.refusal);
    assert!(refusal(0).is_some_and(|why| why.contains("generation 2")));
    assert_eq!(refusal(1), None);
    assert!(refusal(2).is_some_and(|why| why.contains("not sold as spot")));
    // Two of eight cores can be used, and all eight count.
    let limits = &offered.quotes[1].as_ref().expect("a quote").quotas;
    assert!(limits.iter().all(|at| offered.quotas[*at as usize].limit == 250), "{offered:?}");
    // Scores hold for a while.
    let calls =
        || ["POST placementScores", "POST resources"].map(|name| fixture.server.calls(name));
    assert_eq!(calls(), [1, 1]);
    fixture.asks.provider.offerings(&request).await.expect("quotes");
    assert_eq!(calls(), [1, 1]);
    // What the plan leaves out, Azure would refuse.
    let old = ask(&pools[0], "t", &fixture.asks.template);
    let error = fixture.asks.create(&old).await.expect_err("it does not boot");
    assert_eq!((error.code.as_str(), error.class), ("BadRequest", Class::Invalid));
}

/// Ten thousand machines in forty regions: one look lists each kind once, whatever the regions.
#[tokio::test]
async fn a_look_at_ten_thousand_machines_in_forty_regions_takes_few_lists() {
    let fixture = fixture().await;
    fixture.server.meddle(|world| world.populate(10_000, 40));
    fixture.server.set(Faults { page: Some(1500), ..Faults::default() });
    let scope = |n: usize| Scope {
        cloud: fleet_model::Cloud::Azure,
        region: format!("region{n}").as_str().into(),
    };
    let scopes: Vec<Scope> = (0..40).map(scope).collect();
    let lists = || -> u64 {
        ["virtualMachines", "disks", "networkInterfaces"]
            .iter()
            .map(|kind| fixture.server.calls(&format!("GET {kind}")))
            .sum()
    };
    let listings = fixture.asks.provider.list(&scopes).await;
    let found: usize = listings
        .into_iter()
        .map(|listing| match listing.expect("a list") {
            Listing::Complete(machines) => machines.len(),
            Listing::Partial(..) => panic!("not all of it"),
        })
        .sum();
    assert_eq!(found, 10_000);
    for scope in &scopes {
        assert_eq!(fixture.asks.provider.orphans(scope).await.expect("a list"), []);
    }
    say(&format!("lists for one look at 10,000 machines in 40 regions: {}", lists()));
    assert!(lists() <= 30, "{} lists", lists());
    let identity = fixture.asks.provider.identity(&scopes[0]).await.expect("known");
    assert_eq!(identity.as_deref(), Some(fleet_fakes::azure::SUBSCRIPTIONS[0]));
}
