//! A process dies at every place where it can: before and after each request takes effect.

mod bed;

use async_trait::async_trait;
use bed::{Bed, apply_with, cpu, desired, engine};
use fleet_model::{Cloud, Limits, Scope};
use fleet_provider::{
    CreateRequest, Created, DestroyRequest, Destroyed, Error, Listing, Offered, OfferingsRequest,
    Provider,
};
use fleet_sim::Preset;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use tokio::sync::Notify;

/// When the process dies.
#[derive(Clone, Copy, Debug)]
enum When {
    BeforeEffect,
    AfterEffect,
}

struct Mortal {
    inner: Arc<dyn Provider>,
    calls: Arc<AtomicU32>,
    fatal: u32,
    when: When,
    dead: Arc<Notify>,
}

impl Mortal {
    async fn die(&self) {
        self.dead.notify_one();
        std::future::pending::<()>().await;
    }
}

#[async_trait]
impl Provider for Mortal {
    fn cloud(&self) -> Cloud {
        self.inner.cloud()
    }
    async fn offerings(&self, request: &OfferingsRequest<'_>) -> Result<Offered, Error> {
        self.inner.offerings(request).await
    }
    async fn machines(&self, scope: &Scope) -> Result<Listing, Error> {
        self.inner.machines(scope).await
    }
    async fn create(&self, request: &CreateRequest<'_>) -> Result<Created, Error> {
        let fatal = self.calls.fetch_add(1, Ordering::Relaxed) + 1 == self.fatal;
        if fatal && matches!(self.when, When::BeforeEffect) {
            self.die().await;
        }
        let answer = self.inner.create(request).await;
        if fatal {
            self.die().await;
        }
        answer
    }
    async fn destroy(&self, request: &DestroyRequest<'_>) -> Result<Destroyed, Error> {
        let fatal = self.calls.fetch_add(1, Ordering::Relaxed) + 1 == self.fatal;
        if fatal && matches!(self.when, When::BeforeEffect) {
            self.die().await;
        }
        let answer = self.inner.destroy(request).await;
        if fatal {
            self.die().await;
        }
        answer
    }
}

/// Runs an apply that dies at its n-th request; says whether it lived to the end.
async fn apply_until(bed: &Bed, spec: &str, limits: Limits, fatal: u32, when: When) -> bool {
    let dead = Arc::new(Notify::new());
    let calls = Arc::new(AtomicU32::new(0));
    let mortal = engine(&bed.sim, &bed.store, |inner| {
        let (calls, dead) = (calls.clone(), dead.clone());
        Arc::new(Mortal { inner, calls, fatal, when, dead })
    });
    let fleet = desired(spec);
    tokio::select! {
        biased;
        () = dead.notified() => false,
        done = apply_with(&mortal, &fleet, limits) => { done.expect("applied"); true }
    }
}

/// Dies at the first request, then at the second, and so on, until a run lives to the end.
async fn die_everywhere(preset: Preset, when: When, spec: &str) {
    let bed = Bed::new(preset, 3);
    for fatal in 1..200 {
        let lived = apply_until(&bed, spec, Limits::default(), fatal, when).await;
        bed.assert_one_per_slot();
        assert!(bed.live().len() <= 60, "{} machines after death {fatal}", bed.live().len());
        // A remote lease of a dead holder has to run out; here nobody waits for it.
        bed.store.forget_leases().await.expect("no lease");
        if lived {
            bed.assert_converged(&desired(spec)).await;
            assert_eq!(bed.live().len(), 60);
            return;
        }
    }
    panic!("never finished");
}

#[tokio::test]
async fn death_before_a_request_takes_effect() {
    die_everywhere(Preset::Lifelike, When::BeforeEffect, &cpu(60)).await;
}

#[tokio::test]
async fn death_after_a_request_took_effect() {
    die_everywhere(Preset::Lifelike, When::AfterEffect, &cpu(60)).await;
}

/// The same fleet where the cloud may choose among pools.
#[tokio::test]
async fn death_around_a_request_that_leaves_a_choice() {
    let spec = cpu(60).replace("    spread:", "    fulfilment: flexible\n    spread:");
    die_everywhere(Preset::Lifelike, When::BeforeEffect, &spec).await;
    die_everywhere(Preset::Lifelike, When::AfterEffect, &spec).await;
}

#[tokio::test]
async fn death_while_ending_machines() {
    for when in [When::BeforeEffect, When::AfterEffect] {
        let bed = Bed::new(Preset::Calm, 3);
        bed.apply(&desired(&cpu(40))).await;
        let smaller = cpu(37);
        for fatal in 1..6 {
            apply_until(&bed, &smaller, Limits::default(), fatal, when).await;
            bed.store.forget_leases().await.expect("no lease");
        }
        bed.apply(&desired(&smaller)).await;
        bed.sim.advance(std::time::Duration::from_secs(120)).expect("time");
        bed.assert_converged(&desired(&smaller)).await;
        assert_eq!(bed.live().len(), 37, "{when:?}");
    }
}
