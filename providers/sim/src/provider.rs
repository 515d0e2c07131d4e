//! The adapters: what stands between the engine and a raw cloud.

use crate::classify::{Asked, classify};
use crate::cloud::{self, Launch, name_of};
use crate::event::Refusal;
use crate::pools::launch_signal;
use crate::quote;
use crate::readings::readings;
use crate::sim::Sim;
use crate::tx::Tx;
use async_trait::async_trait;
use fleet_model::{
    Cloud, Machine, MachineId, Market, Orphans, PoolId, Quote, Readings, Scope, SlotId,
};
use fleet_provider::{
    Class, ClearRequest, CreateRequest, Created, DestroyRequest, Destroyed, Error, Handover,
    LAMBDA_KEEPS_TAGS, Listing, Offered, OfferingsRequest, Provider, ReadingsRequest,
    RelabelRequest, TraceRequest, Traced, no_handover, with_causes,
};
use std::time::Duration;

/// How long an operation may refuse to say how it stands before we call its outcome unknown.
const POLLS: u32 = 30;

/// How often we ask.
const POLL_EVERY: Duration = Duration::from_secs(2);

/// A simulated cloud as the engine sees it.
#[derive(Debug)]
pub(crate) struct SimProvider {
    sim: Sim,
    cloud: Cloud,
    /// Lambda launches go one at a time: without tokens, two at once could not see each other.
    /// Those of another process are not held up by this: that is what its lease is for.
    launches: tokio::sync::Mutex<()>,
}

impl SimProvider {
    pub(crate) fn new(sim: Sim, cloud: Cloud) -> Self {
        SimProvider { sim, cloud, launches: tokio::sync::Mutex::new(()) }
    }

    /// One call to the raw cloud. Half of the latency lies before it and half behind, so that a
    /// process killed while it waits has or has not done the deed.
    pub(crate) async fn call<T>(
        &self,
        asked: Asked,
        act: impl FnOnce(&mut Tx<'_>) -> Result<T, Refusal> + Send,
    ) -> Result<T, Error> {
        let half = self.sim.latency() / 2;
        wait(half).await;
        let answer = self.sim.run(act);
        wait(half).await;
        match answer {
            Ok(answer) => answer.map_err(|refusal| classify(self.cloud, asked, &refusal)),
            Err(error) => {
                let message = with_causes(&error);
                Err(Error::new(self.cloud, Class::Unknown, "SimulatedWorldUnusable", message))
            }
        }
    }

    pub(crate) fn check_scope(&self, scope: &Scope) -> Result<(), Error> {
        if scope.cloud == self.cloud {
            return Ok(());
        }
        let message = format!("{scope} is not of {}", self.cloud);
        Err(Error::new(self.cloud, Class::Invalid, "WrongCloud", message))
    }

    /// Waits until an operation is done. The world's clock moves, nobody's watch does.
    async fn finish(&self, scope: &Scope, launch: Launch) -> Result<Launch, Error> {
        let clock = self.sim.clock();
        let mut silent = 0;
        loop {
            let polled = self
                .call(Asked::Read, |tx| match tx.outage(scope) {
                    Some(_) => Err(Refusal::new(503, "ServiceUnavailable", "no answer")),
                    None => Ok(tx.now() >= launch.done),
                })
                .await;
            match polled {
                Ok(true) => return Ok(launch),
                Ok(false) => silent = 0,
                Err(error) if silent >= POLLS => {
                    return Err(Error { class: Class::Unknown, ..error });
                }
                Err(_) => silent += 1,
            }
            clock.sleep(POLL_EVERY).await;
        }
    }

    async fn run_instances(&self, request: &CreateRequest<'_>) -> Result<Created, Error> {
        let asked = Asked::Launch;
        let launched = self.call(asked, |tx| cloud::run_instances(tx, request)).await;
        match launched {
            Ok(launch) => Ok(self.created(launch)),
            // They were launched and have ended since: the same token, the same machines.
            Err(error) if error.code == "IdempotentInstanceTerminated" => {
                let scope = request.create.pool.place.scope();
                let (machines, _) = self.call(Asked::Read, |tx| tx.list(&scope, true)).await?;
                let token = &request.create.token;
                let ours = |m: &Machine| m.owner.as_ref().is_some_and(|o| o.token == *token);
                let machines: Vec<Machine> = machines.into_iter().filter(ours).collect();
                if machines.is_empty() {
                    return Err(error);
                }
                Ok(Created::all(machines))
            }
            Err(error) => Err(error),
        }
    }

    async fn create_fleet(&self, request: &CreateRequest<'_>) -> Result<Created, Error> {
        let asked = Asked::Launch;
        let (machines, refusals) = self.call(asked, |tx| cloud::create_fleet(tx, request)).await?;
        let read = |(pool, refusal)| (pool, classify(self.cloud, asked, &refusal));
        let refusals: Vec<_> = refusals.into_iter().map(read).collect();
        let short = machines.len() < request.create.slots.len();
        let shortfall = refusals.last().filter(|_| short).map(|(_, error)| error.clone());
        Ok(Created { machines, shortfall, refusals })
    }

    async fn bulk_insert(&self, request: &CreateRequest<'_>) -> Result<Created, Error> {
        let asked = Asked::Launch;
        let launch = self.call(asked, |tx| cloud::bulk_insert(tx, request)).await?;
        let launch = self.finish(&request.create.pool.place.scope(), launch).await?;
        let created = self.created(launch);
        match created.shortfall {
            Some(error) if created.machines.is_empty() => Err(error),
            _ => Ok(created),
        }
    }

    async fn put_vms(&self, request: &CreateRequest<'_>) -> Result<Created, Error> {
        let asked = Asked::Launch;
        let scope = request.create.pool.place.scope();
        let mut all = Created::all(Vec::new());
        for slot in &request.create.slots {
            let put = self.call(asked, |tx| cloud::put_vm(tx, request, *slot)).await;
            let put = match put {
                Ok(launch) => self.finish(&scope, launch).await,
                Err(error) => Err(error),
            };
            let refused = match put {
                Ok(Launch { machines, refusal, .. }) => {
                    all.machines.extend(machines);
                    match refusal.map(|refusal| classify(self.cloud, asked, &refusal)) {
                        Some(error) => Some(self.clear_failed(request, error).await),
                        None => None,
                    }
                }
                Err(error) => Some(error),
            };
            if refused.is_some() {
                all.shortfall = refused;
                break;
            }
        }
        some_or_error(all)
    }

    /// A failed launch is told as it is only when nothing of it is left.
    async fn clear_failed(&self, request: &CreateRequest<'_>, error: Error) -> Error {
        match self.call(Asked::End, |tx| cloud::clear_failed(tx, request)).await {
            Ok(()) => error,
            Err(_) => Error { class: Class::Unknown, ..error },
        }
    }

    /// No tokens: look for the name first, and again when the answer is lost.
    async fn launch(&self, request: &CreateRequest<'_>) -> Result<Created, Error> {
        let _alone = self.launches.lock().await;
        let mut all = Created::all(Vec::new());
        for slot in &request.create.slots {
            match self.launch_one(request, *slot).await {
                Ok(machines) => all.machines.extend(machines),
                Err(error) => {
                    all.shortfall = Some(error);
                    break;
                }
            }
        }
        some_or_error(all)
    }

    async fn launch_one(
        &self,
        request: &CreateRequest<'_>,
        slot: SlotId,
    ) -> Result<Vec<Machine>, Error> {
        let scope = request.create.pool.place.scope();
        let name = name_of(&request.create.token, slot);
        let before = self.call(Asked::Read, |tx| cloud::by_name(tx, &scope, &name)).await?;
        if !before.is_empty() {
            return Ok(before);
        }
        let asked = Asked::Launch;
        match self.call(asked, |tx| cloud::launch(tx, request, slot)).await {
            Ok(launch) => Ok(launch.machines),
            Err(error) if error.class == Class::Unknown => {
                let after = self.call(Asked::Read, |tx| cloud::by_name(tx, &scope, &name)).await;
                match after {
                    Ok(found) if !found.is_empty() => Ok(found),
                    // Not seen is not "not there".
                    Ok(_) | Err(_) => Err(error),
                }
            }
            Err(error) => Err(error),
        }
    }

    fn created(&self, launch: Launch) -> Created {
        let asked = Asked::Launch;
        let shortfall = launch.refusal.map(|refusal| classify(self.cloud, asked, &refusal));
        Created { machines: launch.machines, shortfall, refusals: Vec::new() }
    }
}

/// Several calls as one answer: what was launched counts, unless the outcome of a part is unknown.
fn some_or_error(all: Created) -> Result<Created, Error> {
    match all.shortfall {
        Some(error) if all.machines.is_empty() || error.class == Class::Unknown => Err(error),
        _ => Ok(all),
    }
}

async fn wait(duration: Duration) {
    if !duration.is_zero() {
        tokio::time::sleep(duration).await;
    }
}

#[async_trait]
impl Provider for SimProvider {
    fn cloud(&self) -> Cloud {
        self.cloud
    }

    async fn offerings(&self, request: &OfferingsRequest<'_>) -> Result<Offered, Error> {
        let scopes = quote::regions(request.pools);
        let view = self.call(Asked::Read, |tx| quote::view(tx, self.cloud, &scopes)).await?;
        let signals = request.wants(launch_signal(self.cloud));
        if signals {
            // As the real ones: a question per region.
            self.sim.count_signal_questions(scopes.len());
        }
        Ok(quote::quote(view, self.sim.pools(), request.pools, self.cloud, signals))
    }

    async fn market(&self, pools: &[PoolId]) -> Result<Vec<Option<Quote>>, Error> {
        // As the real ones: AWS tells spot prices, Lambda prices and where there is room, the others nothing that
        // is new every minute.
        let told = |pool: &PoolId| match self.cloud {
            Cloud::Aws => pool.market == Market::Spot,
            Cloud::Lambda => true,
            Cloud::Gcp | Cloud::Azure => false,
        };
        if !pools.iter().any(told) {
            return Ok(vec![None; pools.len()]);
        }
        let scopes = quote::regions(pools);
        let view = self.call(Asked::Read, |tx| quote::view(tx, self.cloud, &scopes)).await?;
        let signals = self.cloud == Cloud::Lambda;
        let offered = quote::quote(view, self.sim.pools(), pools, self.cloud, signals);
        let quotes = pools.iter().zip(offered.quotes);
        Ok(quotes.map(|(pool, quote)| quote.filter(|_| told(pool))).collect())
    }

    async fn machines(&self, scope: &Scope) -> Result<Listing, Error> {
        self.check_scope(scope)?;
        let (machines, missing) = self.call(Asked::Read, |tx| tx.list(scope, true)).await?;
        Ok(match missing {
            None => Listing::Complete(machines),
            Some(missing) => Listing::Partial(machines, missing),
        })
    }

    async fn list(&self, scopes: &[Scope]) -> Vec<Result<Listing, Error>> {
        let mut answers = Vec::new();
        for (nth, scope) in scopes.iter().enumerate() {
            // One list shows a whole account: it is one call.
            let charge = nth == 0 || !self.cloud.lists_whole_accounts();
            let answer = match self.check_scope(scope) {
                Ok(()) => self.call(Asked::Read, |tx| tx.list(scope, charge)).await,
                Err(error) => Err(error),
            };
            answers.push(answer.map(|(machines, missing)| match missing {
                None => Listing::Complete(machines),
                Some(missing) => Listing::Partial(machines, missing),
            }));
        }
        answers
    }

    async fn trace(&self, request: &TraceRequest<'_>) -> Result<Vec<Traced>, Error> {
        self.check_scope(request.scope)?;
        self.call(Asked::Read, |tx| cloud::trace(tx, request)).await
    }

    async fn made(&self, request: &CreateRequest<'_>) -> Result<Vec<Machine>, Error> {
        let scope = request.create.pool.place.scope();
        self.check_scope(&scope)?;
        self.call(Asked::Read, |tx| cloud::made(tx, &scope, &request.create.token)).await
    }

    async fn identity(&self, scope: &Scope) -> Result<Option<String>, Error> {
        self.check_scope(scope)?;
        // Lambda does not tell.
        if self.cloud == Cloud::Lambda {
            return Ok(None);
        }
        let other = self.sim.run(|tx| tx.other_account(self.cloud)).unwrap_or(false);
        let account = if other { "another" } else { "simulated" };
        Ok(Some(format!("{}-{account}", self.cloud)))
    }

    async fn create(&self, request: &CreateRequest<'_>) -> Result<Created, Error> {
        self.check_scope(&request.create.pool.place.scope())?;
        if request.create.slots.is_empty() {
            return Ok(Created::all(Vec::new()));
        }
        match self.cloud {
            _ if !request.create.others.is_empty() => self.create_fleet(request).await,
            Cloud::Aws => self.run_instances(request).await,
            Cloud::Gcp => self.bulk_insert(request).await,
            Cloud::Azure => self.put_vms(request).await,
            Cloud::Lambda => self.launch(request).await,
        }
    }

    async fn destroy(&self, request: &DestroyRequest<'_>) -> Result<Destroyed, Error> {
        self.check_scope(request.scope)?;
        let ends = self.call(Asked::End, |tx| cloud::end(tx, request)).await?;
        Ok(Destroyed { ended: ends.ended, refused: ends.refused })
    }

    async fn orphans(&self, scope: &Scope) -> Result<Vec<Orphans>, Error> {
        self.check_scope(scope)?;
        if self.cloud != Cloud::Azure {
            return Ok(Vec::new());
        }
        // Part of the same look: what is charged for it is charged there.
        self.call(Asked::Read, |tx| match tx.outage(scope) {
            Some(_) => Err(Refusal::new(503, "ServiceUnavailable", "no answer")),
            None => Ok(cloud::orphans(tx, scope)),
        })
        .await
    }

    async fn clear(&self, request: &ClearRequest<'_>) -> Result<u32, Error> {
        self.check_scope(request.scope)?;
        self.call(Asked::End, |tx| cloud::clear(tx, request)).await
    }

    async fn relabel(&self, request: &RelabelRequest<'_>) -> Result<Vec<MachineId>, Error> {
        self.check_scope(request.scope)?;
        if !self.cloud.relabels() {
            return Ok(Vec::new());
        }
        // Sent again without harm: what is not answered is asked once more.
        self.call(Asked::Read, |tx| cloud::relabel(tx, request)).await
    }

    async fn readings(&self, request: &ReadingsRequest<'_>) -> Result<Readings, Error> {
        self.call(Asked::Read, |tx| Ok(readings(tx, self.cloud, request))).await
    }

    fn handover(&self) -> Result<&dyn Handover, Error> {
        match self.cloud {
            Cloud::Aws | Cloud::Gcp | Cloud::Azure => Ok(self),
            Cloud::Lambda => Err(no_handover(self.cloud, LAMBDA_KEEPS_TAGS)),
        }
    }
}
