//! The conformance suite can fail: providers with one fault each, and the check that finds it.

use crate::conformance::Twin;
use crate::support::{AWS_CPU, AWS_CPU_SPOT, pool, sim};
use async_trait::async_trait;
use fleet_model::{Cloud, Create, Labels, Machine, MachineId, PoolId, Scope, Token};
use fleet_provider::conformance::{Fault, Harness, run};
use fleet_provider::{
    Class, Clock, CreateRequest, Created, DestroyRequest, Destroyed, Error, Listing, Offered,
    OfferingsRequest, Provider, RelabelRequest, TraceRequest, Traced,
};
use fleet_sim::Preset;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bug {
    RandomToken,
    SilenceIsEmpty,
    PartialIsComplete,
    LossIsFailure,
    KillsAnything,
    PartialFulfilmentIsError,
    QuotesSorted,
    ForgetsTags,
    LabelsNeverChange,
    ThrottlingIsCapacity,
}

struct Broken {
    inner: Arc<dyn Provider>,
    bug: Bug,
    calls: Arc<AtomicU64>,
}

#[async_trait]
impl Provider for Broken {
    fn cloud(&self) -> Cloud {
        self.inner.cloud()
    }

    async fn offerings(&self, request: &OfferingsRequest<'_>) -> Result<Offered, Error> {
        let mut pools: Vec<PoolId> = request.pools.to_vec();
        if self.bug == Bug::QuotesSorted {
            pools.sort();
        }
        self.inner.offerings(&OfferingsRequest { pools: &pools, ..*request }).await
    }

    async fn trace(&self, request: &TraceRequest<'_>) -> Result<Vec<Traced>, Error> {
        self.inner.trace(request).await
    }

    async fn made(&self, request: &CreateRequest<'_>) -> Result<Vec<Machine>, Error> {
        self.inner.made(request).await
    }

    async fn identity(&self, scope: &Scope) -> Result<Option<String>, Error> {
        self.inner.identity(scope).await
    }

    async fn machines(&self, scope: &Scope) -> Result<Listing, Error> {
        match (self.bug, self.inner.machines(scope).await) {
            (Bug::SilenceIsEmpty, Err(error)) if error.code == "ConnectionRefused" => {
                Ok(Listing::Complete(Vec::new()))
            }
            (Bug::PartialIsComplete, Ok(Listing::Partial(machines, _))) => {
                Ok(Listing::Complete(machines))
            }
            (Bug::ForgetsTags, Ok(Listing::Complete(mut machines))) => {
                let other = Token::new("another");
                machines.iter_mut().filter_map(|m| m.owner.as_mut()).for_each(|owner| {
                    owner.token = other.clone();
                });
                Ok(Listing::Complete(machines))
            }
            (_, answer) => answer,
        }
    }

    async fn create(&self, request: &CreateRequest<'_>) -> Result<Created, Error> {
        let mut create: Create = request.create.clone();
        if self.bug == Bug::RandomToken {
            let call = self.calls.fetch_add(1, Ordering::Relaxed);
            create.token = Token::new(format!("{}-{call}", create.token));
        }
        let answer = self.inner.create(&CreateRequest { create: &create, ..*request }).await;
        match (self.bug, answer) {
            (Bug::LossIsFailure, Err(error)) if error.class == Class::Unknown => {
                Err(Error { class: Class::Invalid, ..error })
            }
            (Bug::ThrottlingIsCapacity, Err(error)) if error.code == "RequestLimitExceeded" => {
                Err(Error { class: Class::Capacity { block: std::time::Duration::MAX }, ..error })
            }
            (Bug::PartialFulfilmentIsError, Ok(Created { shortfall: Some(error), .. })) => {
                Err(error)
            }
            (_, answer) => answer,
        }
    }

    async fn destroy(&self, request: &DestroyRequest<'_>) -> Result<Destroyed, Error> {
        let mut destroyed = self.inner.destroy(request).await?;
        if self.bug == Bug::KillsAnything {
            destroyed.ended.extend(destroyed.refused.drain(..).map(|(id, _)| id));
        }
        Ok(destroyed)
    }

    async fn relabel(&self, request: &RelabelRequest<'_>) -> Result<Vec<MachineId>, Error> {
        if self.bug == Bug::LabelsNeverChange {
            return Ok(request.machines.iter().map(|one| one.machine.clone()).collect());
        }
        self.inner.relabel(request).await
    }
}

struct BrokenTwin {
    twin: Twin,
    bug: Bug,
    calls: Arc<AtomicU64>,
}

#[async_trait]
impl Harness for BrokenTwin {
    fn provider(&self) -> Arc<dyn Provider> {
        let (inner, calls) = (self.twin.provider(), self.calls.clone());
        Arc::new(Broken { inner, bug: self.bug, calls })
    }

    fn clock(&self) -> Arc<dyn Clock> {
        self.twin.clock()
    }

    fn pools(&self) -> Vec<PoolId> {
        self.twin.pools()
    }

    async fn labels(&self, machine: &MachineId) -> Option<Labels> {
        self.twin.labels(machine).await
    }

    async fn cause(&self, trouble: &Fault) -> Result<(), String> {
        self.twin.cause(trouble).await
    }

    async fn heal(&self) {
        self.twin.heal().await;
    }
}

#[tokio::test]
async fn every_bug_is_found_by_the_check_that_is_there_for_it() {
    let cases = [
        (Bug::RandomToken, "same_token_same_machines"),
        (Bug::SilenceIsEmpty, "an_outage_is_never_an_empty_list"),
        (Bug::PartialIsComplete, "a_lost_page_makes_the_list_partial"),
        (Bug::LossIsFailure, "same_token_after_a_lost_answer"),
        (Bug::KillsAnything, "destroy_leaves_strangers_alone"),
        (Bug::PartialFulfilmentIsError, "partial_fulfilment_is_an_answer"),
        (Bug::QuotesSorted, "quotes_keep_the_order_of_the_request"),
        (Bug::ForgetsTags, "tags_are_there_from_the_first_listing"),
        (Bug::LabelsNeverChange, "labels_change_in_place"),
        (Bug::ThrottlingIsCapacity, "throttling_asks_for_patience"),
    ];
    for (bug, check) in cases {
        let pools = [AWS_CPU_SPOT, AWS_CPU].map(pool).to_vec();
        let twin = Twin { sim: sim(Preset::Lifelike), pools };
        let report = run(&BrokenTwin { twin, bug, calls: Arc::default() }).await;
        let found = report.failed.iter().any(|(name, _)| *name == check);
        assert!(found, "{bug:?}\n{report}");
    }
}
