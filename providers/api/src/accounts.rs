//! One cloud in several accounts: a provider for each, and names that say which.
//!
//! A region of a named account is called `us-central1@project`. The provider of one account knows
//! nothing of that: names lose the account on the way in and get it back on the way out.

mod handover;

use crate::{
    ClearRequest, CreateRequest, Created, DestroyRequest, Destroyed, Error, Examination,
    ExamineRequest, Handover, Listed, Listing, Missing, Offered, OfferingsRequest,
    PriceListRequest, Provider, ReadingsRequest, RelabelRequest, TidyRequest, TraceRequest, Traced,
};
use async_trait::async_trait;
use fleet_model::{
    Access, Cloud, Create, Machine, MachineId, Orphans, PoolId, Quote, Readings, Region, Scope,
    Timestamp,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

type Open = dyn Fn(&str) -> Arc<dyn Provider> + Send + Sync;

/// A provider of every account that a spec names, and of the one that the credentials are for.
pub struct Accounts {
    home: Arc<dyn Provider>,
    open: Box<Open>,
    others: Mutex<BTreeMap<String, Arc<dyn Provider>>>,
}

impl Accounts {
    /// `home` is asked where no account is named; `open` makes the provider of a named one.
    pub fn new(
        home: Arc<dyn Provider>,
        open: impl Fn(&str) -> Arc<dyn Provider> + Send + Sync + 'static,
    ) -> Self {
        Accounts { home, open: Box::new(open), others: Mutex::default() }
    }

    fn of(&self, account: Option<&str>) -> Arc<dyn Provider> {
        let Some(account) = account else { return self.home.clone() };
        let mut others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
        others.entry(account.to_owned()).or_insert_with(|| (self.open)(account)).clone()
    }
}

/// As the account itself calls it.
fn bare(region: &Region) -> Region {
    Region::new(region.name())
}

fn bare_pool(pool: &PoolId) -> PoolId {
    let mut pool = pool.clone();
    pool.place.region = bare(&pool.place.region);
    pool
}

fn bare_create(create: &Create) -> Create {
    let mut create = create.clone();
    create.pool = bare_pool(&create.pool);
    for other in &mut create.others {
        other.pool = bare_pool(&other.pool);
    }
    create
}

fn bare_scope(scope: &Scope) -> Scope {
    Scope { cloud: scope.cloud, region: bare(&scope.region) }
}

/// As everybody else calls it.
fn named(region: &mut Region, account: Option<&str>) {
    if let Some(account) = account {
        *region = region.of_account(account);
    }
}

fn named_machines(machines: &mut [Machine], account: Option<&str>) {
    for machine in machines {
        named(&mut machine.place.region, account);
    }
}

/// Positions of pools by account.
fn by_account(pools: &[PoolId]) -> BTreeMap<Option<&str>, Vec<usize>> {
    let mut accounts: BTreeMap<Option<&str>, Vec<usize>> = BTreeMap::new();
    for (at, pool) in pools.iter().enumerate() {
        accounts.entry(pool.place.region.account()).or_default().push(at);
    }
    accounts
}

fn bare_pools(pools: &[PoolId], which: &[usize]) -> Vec<PoolId> {
    which.iter().map(|&at| bare_pool(&pools[at])).collect()
}

#[async_trait]
impl Provider for Accounts {
    fn cloud(&self) -> Cloud {
        self.home.cloud()
    }

    async fn offerings(&self, request: &OfferingsRequest<'_>) -> Result<Offered, Error> {
        let mut offered = Offered { quotes: vec![None; request.pools.len()], ..Offered::default() };
        let accounts = by_account(request.pools);
        let alone = accounts.len() == 1;
        let asked = accounts.into_iter().map(|(account, which)| async move {
            let pools = bare_pools(request.pools, &which);
            let asked = OfferingsRequest { pools: &pools, ..*request };
            (account, which, self.of(account).offerings(&asked).await)
        });
        for (account, which, answer) in futures::future::join_all(asked).await {
            let answer = match answer {
                Ok(answer) => answer,
                Err(error) if alone => return Err(error),
                // Of this account nothing is known; the others are none the worse for it.
                Err(_) => continue,
            };
            // Limits are told by their position: those of this account come after the others'.
            let first = offered.quotas.len() as u32;
            for (at, mut quote) in which.into_iter().zip(answer.quotes) {
                for quota in quote.iter_mut().flat_map(|quote| &mut quote.quotas) {
                    *quota += first;
                }
                offered.quotes[at] = quote;
            }
            offered.quotas.extend(answer.quotas.into_iter().map(|mut quota| {
                named(&mut quota.region, account);
                quota
            }));
        }
        Ok(offered)
    }

    async fn machines(&self, scope: &Scope) -> Result<Listing, Error> {
        let account = scope.region.account();
        let mut listing = self.of(account).machines(&bare_scope(scope)).await?;
        let (Listing::Complete(machines) | Listing::Partial(machines, _)) = &mut listing;
        named_machines(machines, account);
        Ok(listing)
    }

    async fn list(&self, scopes: &[Scope]) -> Vec<Result<Listing, Error>> {
        let mut accounts: BTreeMap<Option<&str>, Vec<usize>> = BTreeMap::new();
        for (at, scope) in scopes.iter().enumerate() {
            accounts.entry(scope.region.account()).or_default().push(at);
        }
        let asked = accounts.into_iter().map(|(account, which)| async move {
            let bare: Vec<Scope> = which.iter().map(|&at| bare_scope(&scopes[at])).collect();
            let mut answers = self.of(account).list(&bare).await;
            for answer in answers.iter_mut().flatten() {
                let (Listing::Complete(machines) | Listing::Partial(machines, _)) = answer;
                named_machines(machines, account);
            }
            which.into_iter().zip(answers)
        });
        let answers = futures::future::join_all(asked).await;
        let mut answers: Vec<_> = answers.into_iter().flatten().collect();
        answers.sort_by_key(|(at, _)| *at);
        answers.into_iter().map(|(_, answer)| answer).collect()
    }

    async fn trace(&self, request: &TraceRequest<'_>) -> Result<Vec<Traced>, Error> {
        let account = request.scope.region.account();
        let scope = bare_scope(request.scope);
        let bare =
            |missing: &Missing| Missing { pool: bare_pool(&missing.pool), ..missing.clone() };
        let missing: Vec<Missing> = request.missing.iter().map(bare).collect();
        let asked = TraceRequest { scope: &scope, missing: &missing, ..*request };
        let mut traced = self.of(account).trace(&asked).await?;
        for one in &mut traced {
            if let Traced::There(machine) = one {
                named(&mut machine.place.region, account);
            }
        }
        Ok(traced)
    }

    async fn identity(&self, scope: &Scope) -> Result<Option<String>, Error> {
        self.of(scope.region.account()).identity(&bare_scope(scope)).await
    }

    async fn made(&self, request: &CreateRequest<'_>) -> Result<Vec<Machine>, Error> {
        let account = request.create.pool.place.region.account();
        let create = bare_create(request.create);
        let asked = CreateRequest { create: &create, ..*request };
        let mut made = self.of(account).made(&asked).await?;
        named_machines(&mut made, account);
        Ok(made)
    }

    async fn addresses(&self, machines: &[&Machine]) -> Result<BTreeMap<MachineId, Access>, Error> {
        let mut accounts: BTreeMap<Option<&str>, Vec<&Machine>> = BTreeMap::new();
        for &machine in machines {
            accounts.entry(machine.place.region.account()).or_default().push(machine);
        }
        let mut all = BTreeMap::new();
        for (account, machines) in accounts {
            all.extend(self.of(account).addresses(&machines).await?);
        }
        Ok(all)
    }

    async fn create(&self, request: &CreateRequest<'_>) -> Result<Created, Error> {
        let account = request.create.pool.place.region.account();
        let create = bare_create(request.create);
        let asked = CreateRequest { create: &create, ..*request };
        let mut created = self.of(account).create(&asked).await?;
        named_machines(&mut created.machines, account);
        for (pool, _) in &mut created.refusals {
            named(&mut pool.place.region, account);
        }
        Ok(created)
    }

    async fn destroy(&self, request: &DestroyRequest<'_>) -> Result<Destroyed, Error> {
        let scope = bare_scope(request.scope);
        let asked = DestroyRequest { scope: &scope, ..*request };
        self.of(request.scope.region.account()).destroy(&asked).await
    }

    async fn alarms(&self, scopes: &[Scope]) -> Result<BTreeSet<MachineId>, Error> {
        let mut alarmed = BTreeSet::new();
        for scope in scopes {
            let account = scope.region.account();
            alarmed.extend(self.of(account).alarms(&[bare_scope(scope)]).await?);
        }
        Ok(alarmed)
    }

    async fn market(&self, pools: &[PoolId]) -> Result<Vec<Option<Quote>>, Error> {
        let mut quotes = vec![None; pools.len()];
        for (account, which) in by_account(pools) {
            let told = self.of(account).market(&bare_pools(pools, &which)).await?;
            which.into_iter().zip(told).for_each(|(at, quote)| quotes[at] = quote);
        }
        Ok(quotes)
    }

    async fn orphans(&self, scope: &Scope) -> Result<Vec<Orphans>, Error> {
        let account = scope.region.account();
        let mut orphans = self.of(account).orphans(&bare_scope(scope)).await?;
        orphans.iter_mut().for_each(|left| left.scope = scope.clone());
        Ok(orphans)
    }

    async fn clear(&self, request: &ClearRequest<'_>) -> Result<u32, Error> {
        let scope = bare_scope(request.scope);
        let asked = ClearRequest { scope: &scope, ..*request };
        self.of(request.scope.region.account()).clear(&asked).await
    }

    async fn relabel(&self, request: &RelabelRequest<'_>) -> Result<Vec<MachineId>, Error> {
        let scope = bare_scope(request.scope);
        let asked = RelabelRequest { scope: &scope, ..*request };
        self.of(request.scope.region.account()).relabel(&asked).await
    }

    fn handover(&self) -> Result<&dyn Handover, Error> {
        self.home.handover()?;
        Ok(self)
    }

    async fn readings(&self, request: &ReadingsRequest<'_>) -> Result<Readings, Error> {
        type Part = (Vec<(PoolId, Timestamp)>, Vec<(MachineId, Scope)>);
        let mut accounts: BTreeMap<Option<&str>, Part> = BTreeMap::new();
        for (pool, since) in request.pools {
            let of = accounts.entry(pool.place.region.account()).or_default();
            of.0.push((bare_pool(pool), *since));
        }
        for (machine, scope) in request.gone {
            let of = accounts.entry(scope.region.account()).or_default();
            of.1.push((machine.clone(), bare_scope(scope)));
        }
        let mut readings = Readings::default();
        for (account, (pools, gone)) in accounts {
            let asked = ReadingsRequest { pools: &pools, gone: &gone };
            let mut told = self.of(account).readings(&asked).await?;
            for step in &mut told.prices {
                named(&mut step.pool.place.region, account);
            }
            readings.prices.append(&mut told.prices);
            readings.ran.append(&mut told.ran);
        }
        Ok(readings)
    }

    async fn tidy(&self, request: &TidyRequest<'_>) -> Result<u32, Error> {
        let mut accounts: BTreeMap<Option<&str>, BTreeSet<Scope>> = BTreeMap::new();
        for scope in request.scopes {
            accounts.entry(scope.region.account()).or_default().insert(bare_scope(scope));
        }
        let mut removed = 0;
        for (account, scopes) in accounts {
            removed += self.of(account).tidy(&TidyRequest { scopes: &scopes, ..*request }).await?;
        }
        Ok(removed)
    }

    async fn examine(&self, request: &ExamineRequest<'_>) -> Examination {
        if request.pools.is_empty() {
            return self.home.examine(request).await;
        }
        let mut all = Examination::default();
        let asked = by_account(request.pools).into_iter().map(|(account, which)| async move {
            let pools = bare_pools(request.pools, &which);
            let asked = ExamineRequest { pools: &pools, ..*request };
            (account, self.of(account).examine(&asked).await)
        });
        for (account, found) in futures::future::join_all(asked).await {
            all.findings.extend(found.findings.into_iter().map(|mut finding| {
                if let Some(account) = account {
                    finding.subject = format!("{} in {account}", finding.subject);
                }
                finding
            }));
            // The same rights in each account.
            all.policy = all.policy.or(found.policy);
        }
        all
    }

    async fn price_list(&self, request: &PriceListRequest<'_>) -> Result<Vec<Listed>, Error> {
        self.home.price_list(request).await
    }
}
