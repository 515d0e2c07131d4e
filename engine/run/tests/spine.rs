//! The whole way on simulated clouds, without the CLI: apply, lose things, apply again, at rest.

mod fixture;

use fixture::{Fixture, TRAIN, cpu, desired};
use fleet_model::{Cloud, Event, GapCause, Hold, Limits, Market, Scope, SlotState};
use fleet_sim::Preset;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

#[tokio::test]
async fn the_example_spec_converges_and_stays() {
    let fixture = Fixture::lifelike();
    let fleet = desired(TRAIN);
    fixture.apply(&fleet).await;
    fixture.assert_converged(&fleet).await;
    let gpus: u32 = fixture.live().len() as u32 * 8;
    assert!(gpus >= 64, "{gpus} GPUs");
    let on_demand = fixture.live().iter().filter(|m| m.market == Market::OnDemand).count();
    assert_eq!(on_demand, 2, "16 GPUs on demand");
    let report = fixture.plan(&fleet).await.report;
    let limit = report.cost.hourly_limit.expect("a budget");
    assert!(report.cost.hourly_after <= limit, "{} of {limit}", report.cost.hourly_after);
    assert!(report.pools.iter().all(|line| line.share.ppm() <= 400_000), "{:#?}", report.pools);
}

#[tokio::test]
async fn many_worlds_converge() {
    for seed in 1..=20 {
        let fixture = Fixture::new(Preset::Lifelike, seed);
        let fleet = desired(&cpu(40));
        fixture.apply(&fleet).await;
        fixture.assert_converged(&fleet).await;
        assert_eq!(fixture.live().len(), 40, "seed {seed}");
    }
}

#[tokio::test]
async fn a_region_in_outage_is_left_alone() {
    let fixture = Fixture::lifelike();
    let fleet = desired(&cpu(40));
    fixture.apply(&fleet).await;
    let lost: Scope = fixture.live()[0].place.scope();
    let before: Vec<_> = fixture.live().into_iter().map(|machine| machine.id).collect();
    let inside = fixture.live().iter().filter(|m| m.place.scope() == lost).count();
    assert!(inside > 0, "the test needs machines there");
    fixture.sim.outage(lost.clone().into(), None).expect("an outage");
    fixture.sim.advance(Duration::from_secs(600)).expect("time");

    let planned = fixture.plan(&fleet).await;
    assert_eq!(planned.report.gaps.len(), 1);
    assert!(planned.plan.steps.iter().all(|s| s.action.pool().place.scope() != lost));
    assert!(planned.plan.vacate.is_empty(), "nothing is forgotten");
    fixture.apply(&fleet).await;
    let after: Vec<_> = fixture.live().into_iter().map(|machine| machine.id).collect();
    assert_eq!(before, after, "nothing is created or destroyed");

    // A larger target is met elsewhere.
    let larger = desired(&cpu(50));
    fixture.apply(&larger).await;
    let inside_now = fixture.live().iter().filter(|m| m.place.scope() == lost).count();
    assert_eq!(inside_now, inside);
    assert_eq!(fixture.live().len(), 50);
    fixture.sim.heal().expect("healed");
    fixture.assert_converged(&larger).await;
}

#[tokio::test]
async fn a_partial_list_is_a_gap() {
    let fixture = Fixture::lifelike();
    let fleet = desired(&cpu(20));
    fixture.apply(&fleet).await;
    fixture.sim.partial_lists(Cloud::Gcp.into()).expect("a fault");
    let planned = fixture.plan(&fleet).await;
    assert!(planned.plan.is_empty());
    assert!(planned.report.gaps.iter().all(|gap| gap.scope.cloud == Cloud::Gcp));
    assert!(!planned.report.gaps.is_empty());
}

#[tokio::test]
async fn lost_answers_make_no_duplicates() {
    for seed in 1..=10 {
        let fixture = Fixture::new(Preset::Lifelike, seed);
        for cloud in Cloud::ALL {
            fixture.sim.lose_answers(cloud, 50).expect("a fault");
        }
        let fleet = desired(&cpu(30));
        for _ in 0..3 {
            fixture.apply(&fleet).await;
            fixture.assert_one_per_slot();
            assert!(fixture.live().len() <= 30, "seed {seed}: {} machines", fixture.live().len());
        }
        fixture.sim.heal().expect("healed");
        fixture.apply(&fleet).await;
        fixture.assert_converged(&fleet).await;
        assert_eq!(fixture.live().len(), 30, "seed {seed}");
    }
}

#[tokio::test]
async fn interrupted_machines_are_replaced() {
    let fixture = Fixture::lifelike();
    let fleet = desired(&cpu(40));
    fixture.apply(&fleet).await;
    fixture.sim.advance(Duration::from_secs(120)).expect("time");
    let taken = fixture.sim.interrupt("*/*/*/*/spot", 3).expect("interrupted");
    assert_eq!(taken.len(), 3);
    fixture.sim.advance(Duration::from_secs(150)).expect("time");
    fixture.apply(&fleet).await;
    fixture.assert_converged(&fleet).await;
    assert_eq!(fixture.live().len(), 40);
}

#[tokio::test]
async fn shrinking_needs_the_exact_number() {
    let fixture = Fixture::lifelike();
    fixture.apply(&desired(&cpu(40))).await;
    let smaller = desired(&cpu(8));
    fixture.apply(&smaller).await;
    fixture.sim.advance(Duration::from_secs(120)).expect("time");
    assert_eq!(fixture.live().len(), 36, "one in ten");
    let wanted = |held: &[Hold]| match held {
        [Hold::DestroyLimit { wanted, .. }] => *wanted,
        other => panic!("{other:?}"),
    };
    let asked = wanted(&fixture.plan(&smaller).await.report.held);
    let wrong = Limits { allow_destroy: Some(asked + 1), ..Limits::default() };
    fixture.apply_limited(&smaller, wrong).await;
    fixture.sim.advance(Duration::from_secs(120)).expect("time");
    assert_eq!(fixture.live().len(), 33, "a wrong number allows no more than usual");
    let asked = wanted(&fixture.plan(&smaller).await.report.held);
    let exact = Limits { allow_destroy: Some(asked), ..Limits::default() };
    fixture.apply_limited(&smaller, exact).await;
    fixture.sim.advance(Duration::from_secs(120)).expect("time");
    fixture.assert_converged(&smaller).await;
    assert_eq!(fixture.live().len(), 8);
}

#[tokio::test]
async fn many_vanished_machines_freeze_the_fleet() {
    let fixture = Fixture::lifelike();
    // On demand: spot that is gone was taken back, which is no mystery.
    let fleet = desired(&cpu(20).replace("25%", "100%"));
    fixture.apply(&fleet).await;
    // Reclaimed behind our back, and long enough ago that no cloud remembers them.
    for machine in fixture.live().iter().take(10) {
        fixture.sim.reclaim(&machine.id).expect("reclaimed");
    }
    fixture.sim.advance(Duration::from_secs(2 * 3600)).expect("time");
    let planned = fixture.plan(&fleet).await;
    assert!(planned.plan.is_empty(), "{:#?}", planned.plan.steps);
    let fleet_model::Hold::Frozen { missing, of: 20 } = planned.report.held[0] else {
        panic!("{:?}", planned.report.held);
    };
    let before = fixture.live().len();
    fixture.apply(&fleet).await;
    fixture.apply(&fleet).await;
    assert_eq!(fixture.live().len(), before, "frozen means frozen, however often it is applied");
    let accept = Limits { accept_loss: Some(missing), ..Limits::default() };
    fixture.apply_limited(&fleet, accept).await;
    fixture.assert_converged(&fleet).await;
}

#[tokio::test]
async fn destroy_takes_everything() {
    let fixture = Fixture::lifelike();
    let fleet = desired(TRAIN);
    fixture.apply(&fleet).await;
    let all = fixture.live().len() as u32;
    let limits = Limits { allow_destroy: Some(all), destroy_all: true, ..Limits::default() };
    fixture.apply_limited(&fleet, limits).await;
    fixture.sim.advance(Duration::from_secs(300)).expect("time");
    assert!(fixture.live().is_empty());
    let recorded = fixture.inputs(&fleet).await.recorded;
    fixture.apply_limited(&fleet, Limits { destroy_all: true, ..Limits::default() }).await;
    let after = fixture.inputs(&fleet).await.recorded;
    assert!(recorded.slots.len() == after.slots.len());
    assert!(after.slots.values().all(|slot| slot.state == SlotState::Vacant));
}

#[tokio::test]
async fn a_region_taken_out_of_the_spec_is_moved_create_first() {
    let fixture = Fixture::lifelike();
    let fleet = desired(&cpu(20));
    fixture.apply(&fleet).await;
    let narrower = desired(&cpu(20).replace("us-east-1, us-west-2", "us-west-2"));
    for _ in 0..30 {
        fixture.apply(&narrower).await;
        fixture.sim.advance(Duration::from_secs(60)).expect("time");
        assert!(fixture.live().len() <= 20 + 4, "surge is bounded: {}", fixture.live().len());
    }
    fixture.assert_converged(&narrower).await;
    assert!(fixture.live().iter().all(|m| m.place.region.as_str() != "us-east-1"));
}

/// Six machines on a cloud without tokens.
const LAMBDA: &str = "
apiVersion: fleet/v1
kind: Fleet
metadata: { name: l }
spec:
  capacity: { unit: instances, target: 6, base: { onDemand: 6 } }
  instances: { families: [gpu_1x] }
  placement: { clouds: [{ provider: lambda }] }
";

#[tokio::test]
async fn a_cloud_without_tokens_is_never_asked_twice() {
    for exhausted in [false, true] {
        let fixture = Fixture::lifelike();
        let fleet = desired(LAMBDA);
        fixture.sim.delay_visibility(Cloud::Lambda, Duration::from_secs(240)).expect("a fault");
        fixture.sim.lose_answers(Cloud::Lambda, 100).expect("a fault");
        fixture.apply(&fleet).await;
        if exhausted {
            fixture.sim.heal().expect("healed");
            fixture.sim.delay_visibility(Cloud::Lambda, Duration::from_secs(240)).expect("a fault");
            fixture.sim.exhaust("lambda/*", None).expect("a fault");
        }
        fixture.apply(&fleet).await;
        fixture.assert_one_per_slot();
        assert!(fixture.live().len() <= 6, "{} machines", fixture.live().len());
        fixture.sim.heal().expect("healed");
        fixture.sim.advance(Duration::from_secs(600)).expect("time");
        fixture.apply(&fleet).await;
        fixture.assert_converged(&fleet).await;
        assert_eq!(fixture.live().len(), 6);
    }
}

#[tokio::test]
async fn a_resend_starts_the_window_anew() {
    let fixture = Fixture::lifelike();
    let fleet = desired(&cpu(20));
    for _ in 0..4 {
        // Each time: invisible for four minutes, the answer lost, and almost five minutes pass.
        fixture.sim.heal().expect("healed");
        for cloud in Cloud::ALL {
            fixture.sim.delay_visibility(cloud, Duration::from_secs(240)).expect("a fault");
            fixture.sim.lose_answers(cloud, 100).expect("a fault");
        }
        fixture.apply(&fleet).await;
        fixture.assert_one_per_slot();
        fixture.sim.advance(Duration::from_secs(290)).expect("time");
    }
    fixture.sim.heal().expect("healed");
    fixture.apply(&fleet).await;
    fixture.assert_converged(&fleet).await;
    assert_eq!(fixture.live().len(), 20);
}

/// Who read a journal before reads on from there, unless it is another journal by now.
#[tokio::test]
async fn a_journal_is_read_on_from_where_somebody_stopped() {
    let fixture = Fixture::new(Preset::Calm, 1);
    let fleet = desired(&cpu(6));
    fixture.apply(&fleet).await;
    let whole = fixture.engine.history(&fleet.fleet).await.expect("a history");
    for nth in 0..whole.len() {
        let rest = fixture.engine.history_after(&fleet.fleet, &whole[nth]).await.expect("a rest");
        assert_eq!(rest.as_deref(), Some(&whole[nth + 1..]));
    }
    let mut other = whole[0].clone();
    other.epoch += 1;
    let rest = fixture.engine.history_after(&fleet.fleet, &other).await.expect("an answer");
    assert_eq!(rest, None);
    other.seq = 1_000_000;
    let rest = fixture.engine.history_after(&fleet.fleet, &other).await.expect("an answer");
    assert_eq!(rest, None);
}

/// Absence proves something five minutes after the time in the record. If the store took most of
/// them to write it, the record is no longer the time of the sending, and another is written.
#[tokio::test]
async fn a_slow_store_does_not_eat_the_window() {
    let fixture = Fixture::lifelike();
    let fleet = desired(&cpu(6));
    let slow = Duration::from_secs(200);
    let engine = fixture.mortal(&fixture::mortal::Fate::slow(&fixture.sim, slow));
    fixture::apply_with(&engine, &fleet, Limits::default()).await.expect("applied");
    let mut sent = BTreeMap::new();
    let mut intents = 0;
    for record in fixture.engine.history(&fleet.fleet).await.expect("a history") {
        for event in record.events {
            match event {
                Event::CreateIntended { create } => {
                    intents += 1;
                    sent.insert(create.token, (record.at, record.at));
                }
                Event::CreateResent { token } => {
                    sent.entry(token).and_modify(|(_, last)| *last = record.at);
                }
                _ => {}
            }
        }
    }
    assert!(intents > 0);
    for (token, (intended, last)) in sent {
        let later = last.duration_since(intended).unsigned_abs();
        assert!(later >= slow, "{token} was sent {later:?} after the time in its record");
    }
    fixture.assert_converged(&fleet).await;
}

#[tokio::test]
async fn what_nobody_has_seen_yet_is_not_ended() {
    let fixture = Fixture::lifelike();
    for cloud in Cloud::ALL {
        fixture.sim.delay_visibility(cloud, Duration::from_secs(240)).expect("a fault");
    }
    fixture.apply(&desired(&cpu(20))).await;
    let smaller = desired(&cpu(10));
    for _ in 0..15 {
        fixture.apply(&smaller).await;
        fixture.sim.advance(Duration::from_secs(120)).expect("time");
    }
    fixture.assert_converged(&smaller).await;
    assert_eq!(fixture.live().len(), 10, "none is lost track of");
}

#[tokio::test]
async fn a_lost_journal_makes_no_second_fleet() {
    let fixture = Fixture::lifelike();
    let fleet = desired(&cpu(20));
    fixture.apply(&fleet).await;
    fixture.sim.advance(Duration::from_secs(600)).expect("time");
    let elsewhere = fleet_run::Store::in_memory();
    let forgetful = fixture::engine(&fixture.sim, &elsewhere, |provider| provider);
    fixture::apply_with(&forgetful, &fleet, Limits::default()).await.expect("applied");
    assert_eq!(fixture.live().len(), 20, "machines of that name stand already");
    let inputs = forgetful.gather(&fleet, Limits::default()).await.expect("inputs");
    let planned = fleet_core::plan(&inputs);
    assert_eq!(planned.report.held, [Hold::JournalLost { machines: 20 }]);
}

#[tokio::test]
async fn another_account_is_a_gap_and_nothing_is_changed() {
    let fixture = Fixture::lifelike();
    let fleet = desired(&cpu(20));
    fixture.apply(&fleet).await;
    fixture.sim.advance(Duration::from_secs(600)).expect("time");
    let before = fixture.live();
    for cloud in [Cloud::Aws, Cloud::Gcp, Cloud::Azure] {
        fixture.sim.fault(fleet_sim::Fault::OtherAccount { cloud }).expect("a fault");
    }
    let observed = fixture.inputs(&fleet).await.observed;
    let stood: BTreeSet<Scope> = before.iter().map(|machine| machine.place.scope()).collect();
    let others = observed.gaps.iter().filter(|gap| gap.cause == GapCause::OtherAccount);
    let others: BTreeSet<Scope> = others.map(|gap| gap.scope.clone()).collect();
    assert!(others.is_superset(&stood), "{:?}", observed.gaps);
    fixture.apply(&fleet).await;
    let known: BTreeSet<_> = before.into_iter().map(|machine| machine.id).collect();
    assert!(
        fixture.live().iter().all(|machine| known.contains(&machine.id)),
        "nothing is launched"
    );
    fixture.sim.heal().expect("healed");
    fixture.apply(&fleet).await;
    fixture.assert_converged(&fleet).await;
    assert!(
        fixture.live().iter().any(|machine| known.contains(&machine.id)),
        "nothing was forgotten"
    );
}

#[tokio::test]
async fn a_lost_journal_is_noticed_by_what_is_left_of_a_list() {
    let fixture = Fixture::lifelike();
    let fleet = desired(&cpu(20));
    fixture.apply(&fleet).await;
    fixture.sim.advance(Duration::from_secs(600)).expect("time");
    for cloud in fleet_model::Cloud::ALL {
        fixture.sim.partial_lists(cloud.into()).expect("a fault");
    }
    let elsewhere = fleet_run::Store::in_memory();
    let forgetful = fixture::engine(&fixture.sim, &elsewhere, |provider| provider);
    fixture::apply_with(&forgetful, &fleet, Limits::default()).await.expect("applied");
    assert_eq!(fixture.live().len(), 20, "machines of that name stand already");
    let inputs = forgetful.gather(&fleet, Limits::default()).await.expect("inputs");
    let held = fleet_core::plan(&inputs).report.held;
    assert!(held.iter().any(|hold| matches!(hold, Hold::JournalLost { .. })), "{held:?}");
}

#[tokio::test]
async fn a_change_of_mix_never_doubles_the_fleet() {
    let fixture = Fixture::lifelike();
    fixture.apply(&desired(&cpu(40))).await;
    fixture.sim.advance(Duration::from_secs(400)).expect("time");
    let other_mix = desired(&cpu(40).replace("25%", "75%"));
    for _ in 0..40 {
        fixture.apply(&other_mix).await;
        assert!(fixture.live().len() <= 40 + 8, "{} machines", fixture.live().len());
        fixture.sim.advance(Duration::from_secs(60)).expect("time");
    }
    fixture.assert_converged(&other_mix).await;
    let on_demand = fixture.live().iter().filter(|m| m.market == Market::OnDemand).count();
    assert_eq!((on_demand, fixture.live().len()), (30, 40));
}

/// Counts launches on their way to a cloud.
struct Counted {
    inner: std::sync::Arc<dyn fleet_provider::Provider>,
    launches: std::sync::Arc<std::sync::atomic::AtomicU32>,
}

#[async_trait::async_trait]
impl fleet_provider::Provider for Counted {
    fn cloud(&self) -> Cloud {
        self.inner.cloud()
    }
    async fn offerings(
        &self,
        request: &fleet_provider::OfferingsRequest<'_>,
    ) -> Result<fleet_provider::Offered, fleet_provider::Error> {
        self.inner.offerings(request).await
    }
    async fn machines(
        &self,
        scope: &Scope,
    ) -> Result<fleet_provider::Listing, fleet_provider::Error> {
        self.inner.machines(scope).await
    }
    async fn trace(
        &self,
        request: &fleet_provider::TraceRequest<'_>,
    ) -> Result<Vec<fleet_provider::Traced>, fleet_provider::Error> {
        self.inner.trace(request).await
    }
    async fn made(
        &self,
        request: &fleet_provider::CreateRequest<'_>,
    ) -> Result<Vec<fleet_model::Machine>, fleet_provider::Error> {
        self.inner.made(request).await
    }
    async fn identity(&self, scope: &Scope) -> Result<Option<String>, fleet_provider::Error> {
        self.inner.identity(scope).await
    }
    async fn create(
        &self,
        request: &fleet_provider::CreateRequest<'_>,
    ) -> Result<fleet_provider::Created, fleet_provider::Error> {
        self.launches.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        self.inner.create(request).await
    }
    async fn destroy(
        &self,
        request: &fleet_provider::DestroyRequest<'_>,
    ) -> Result<fleet_provider::Destroyed, fleet_provider::Error> {
        self.inner.destroy(request).await
    }
}

/// Lambda lets one launch in every twelve seconds: the others wait, and hear of the first refusal.
#[tokio::test]
async fn launches_that_wait_do_not_ask_a_pool_that_said_no_meanwhile() {
    let fixture = Fixture::lifelike();
    fixture.sim.exhaust("lambda/*", None).expect("a fault");
    let launches = std::sync::Arc::new(std::sync::atomic::AtomicU32::new(0));
    let counting = fixture::engine(&fixture.sim, &fixture.store, |inner| {
        std::sync::Arc::new(Counted { inner, launches: launches.clone() })
    });
    let one_region = LAMBDA.replace("provider: lambda", "provider: lambda, regions: [us-east-1]");
    let fleet = desired(&one_region);
    let kinds = fixture.inputs(&fleet).await.offerings.len() as u32;
    fixture::apply_with(&counting, &fleet, Limits::default()).await.expect("applied");
    let asked = launches.load(std::sync::atomic::Ordering::Relaxed);
    assert!(asked <= kinds, "{asked} launches for {kinds} pools that are all full");
}

/// The answers to ends are lost while machines are replaced one by one.
#[tokio::test]
async fn ends_without_an_answer_count_toward_the_limit() {
    let mut lost = 0;
    for seed in 1..=20 {
        let fixture = Fixture::new(Preset::Calm, seed);
        fixture.apply(&desired(&cpu(10))).await;
        let before: Vec<_> = fixture.live().into_iter().map(|machine| machine.id).collect();
        fixture.sim.lose_answers(Cloud::Aws, 50).expect("a fault");
        fixture.sim.lose_answers(Cloud::Gcp, 50).expect("a fault");
        let narrower = cpu(10).replace("us-east-1, us-west-2", "us-west-2");
        fixture.apply(&desired(&narrower.replace("[us-central1]", "[us-west1]"))).await;
        fixture.sim.advance(Duration::from_secs(120)).expect("time");
        let after: Vec<_> = fixture.live().into_iter().map(|machine| machine.id).collect();
        let ended = before.iter().filter(|id| !after.contains(id)).count();
        assert!(ended <= 1, "seed {seed}: {ended} of 10 machines ended in one apply");
        lost += ended;
    }
    assert!(lost > 0, "some are ended");
}
