//! The adapter: for each call names are resolved, one request is sent, one answer is read.

use crate::error::{Asked, read, refused};
use crate::events::{self, Notices};
use crate::offerings::{Aside, Wanted, survey};
use crate::scores::{Asking, Scores};
use crate::session::{AwsSettings, Session, Site};
use crate::spot_advisor::SpotAdvisor;
use crate::spot_cache::Known;
use crate::{
    blocks, choice, doctor, image, launch, launch_template, machines, network, price_list, prices,
    relabel, status, terminate, trace,
};
use async_trait::async_trait;
use fleet_model::{
    Cloud, InstanceType, Machine, MachineId, MachineState, Market, Place, PoolId, Quote, Region,
    Scope, SignalSource, Template, Zone,
};
use fleet_provider::{
    Accounts, Answers, Class, Clock, CreateRequest, Created, DestroyRequest, Destroyed, Error,
    Examination, ExamineRequest, Handover, Listed, Listing, Offered, OfferingsRequest,
    PriceListRequest, Provider, RelabelRequest, TidyRequest, TraceRequest, Traced,
};
use futures::future::{join_all, try_join_all};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

/// EC2, in every region that it is asked about.
pub struct Aws {
    session: Session,
    clock: Arc<dyn Clock>,
    bands: Arc<OnceLock<Arc<SpotAdvisor>>>,
    answers: Arc<Answers>,
}

impl Aws {
    /// An adapter. Credentials are looked for at the first call.
    pub fn new(settings: AwsSettings, clock: Arc<dyn Clock>) -> Self {
        let session = Session::new(settings);
        Aws { session, clock, bands: Arc::default(), answers: Arc::default() }
    }

    /// The same, with prices and scores remembered as others remember theirs.
    pub fn remembering(mut self, answers: Arc<Answers>) -> Self {
        self.answers = answers;
        self
    }

    /// The same for every account that a spec names.
    pub fn of_accounts(self) -> Accounts {
        let home = Arc::new(self);
        Accounts::new(home.clone(), move |account| {
            Arc::new(Aws {
                session: home.session.of_account(account),
                clock: home.clock.clone(),
                bands: home.bands.clone(),
                // A spot price is the same for every account.
                answers: home.answers.clone(),
            })
        })
    }

    /// The clients of a region.
    pub(crate) async fn site(&self, region: &Region) -> Arc<Site> {
        self.session.site(region).await
    }

    /// The bands of the Spot Advisor, if somebody supplied them.
    fn bands(&self) -> Arc<SpotAdvisor> {
        let load = || {
            let Some(path) = &self.session.settings.spot_advisor else { return Arc::default() };
            let bands = SpotAdvisor::load(path).unwrap_or_else(|cause| {
                tracing::warn!(file = %path.display(), cause, "no interruption bands");
                SpotAdvisor::default()
            });
            Arc::new(bands)
        };
        self.bands.get_or_init(load).clone()
    }

    /// Placement scores. A hint: without an answer there is none.
    async fn scores(
        &self,
        request: &OfferingsRequest<'_>,
        regions: &BTreeMap<&Region, Wanted<'_>>,
    ) -> Scores {
        let spot = || regions.iter().filter(|(_, wanted)| !wanted.spot_types.is_empty());
        let types = spot().flat_map(|(_, wanted)| wanted.spot_types.iter().copied()).collect();
        let regions: BTreeSet<&Region> = spot().map(|(region, _)| *region).collect();
        let Some(region) = regions.first() else { return Scores::new() };
        if !request.wants(SignalSource::SpotPlacementScore) {
            return Scores::new();
        }
        let site = self.session.site(region).await;
        let asked = Asking { site: &site, answers: &self.answers, now: self.clock.now() };
        asked.scores(&types, &regions, request.goal).await.unwrap_or_else(|error| {
            tracing::debug!(%region, %error, "no placement scores");
            Scores::new()
        })
    }

    /// Warnings for machines of one region. A hint: without an answer there are none.
    async fn notices(&self, site: &Site) -> Notices {
        let queue = self.session.settings.events_queue.as_deref();
        let queued = async {
            match queue {
                Some(queue) => events::queued(self.session.home().await, queue).await,
                None => Ok(Notices::new()),
            }
        };
        let (marked, queued) = tokio::join!(events::marked(site), queued);
        let mut notices = Notices::new();
        for found in [marked, queued] {
            match found {
                Ok(found) => {
                    found.into_iter().for_each(|(id, n)| events::add(&mut notices, id, n));
                }
                Err(error) => {
                    tracing::warn!(region = %site.region, %error, "no interruption notices");
                }
            }
        }
        notices
    }

    /// What an earlier request with the same token made.
    async fn made_before(&self, site: &Site, token: &str) -> Result<Vec<Machine>, Error> {
        let instances = machines::all(site, machines::of_launch(token)).await?;
        let zones = site.zones().await?;
        let machine = |instance| machines::machine(instance, &site.region, zones);
        let mut made: Vec<Machine> = instances.iter().filter_map(machine).collect();
        made.retain(|m| m.owner.as_ref().is_some_and(|owner| owner.token.as_str() == token));
        Ok(made)
    }
}

/// What this account calls the zone of a place; `None` if EC2 is to choose.
pub(crate) async fn zone_name<'a>(site: &'a Site, place: &Place) -> Result<Option<&'a str>, Error> {
    if place.zone.as_str() == Zone::REGIONAL {
        return Ok(None);
    }
    let zones = site.zones().await?;
    if !zones.is_open(&place.zone) {
        let words = format!("this account has not opted in to {place}");
        return Err(refused(Class::Invalid, "ZoneNotOptedIn", words));
    }
    zones.name(&place.zone).map(Some).ok_or_else(|| {
        refused(Class::Invalid, "InvalidZone.NotFound", format!("this account has no {place}"))
    })
}

/// Network cards to plug EFA interfaces into; none if the template does not ask for them.
pub(crate) async fn efa_cards(
    site: &Site,
    template: &Template,
    kind: &InstanceType,
) -> Result<Vec<i32>, Error> {
    if !template.fast_network {
        return Ok(Vec::new());
    }
    let types = site.types(&BTreeSet::from([kind])).await?;
    Ok(types.get(kind).map(|facts| facts.efa_cards.clone()).unwrap_or_default())
}

/// What EC2 would refuse, told before anything is sent.
fn check(request: &CreateRequest<'_>) -> Result<(), Error> {
    let create = request.create;
    if create.pool.place.cloud != Cloud::Aws {
        let words = format!("{} is not of aws", create.pool);
        return Err(refused(Class::Invalid, "WrongCloud", words));
    }
    let first = &create.pool;
    let alike =
        |pool: &PoolId| pool.place.scope() == first.place.scope() && pool.market == first.market;
    if !create.pools().all(alike) {
        let words = "one launch chooses among pools of one region and market";
        return Err(refused(Class::Invalid, "MixedPools", words));
    }
    if create.pool.market == Market::Reserved {
        let words = "reserved capacity is used by on-demand launches that name a reservation";
        return Err(refused(Class::Invalid, "NotSold", words));
    }
    let token = create.token.as_str();
    if token.is_empty() || token.len() > launch::LONGEST_TOKEN || !token.is_ascii() {
        let words = format!("a token has 1 to {} ASCII characters", launch::LONGEST_TOKEN);
        return Err(refused(Class::Invalid, "BadToken", words));
    }
    Ok(())
}

#[async_trait]
impl Provider for Aws {
    fn cloud(&self) -> Cloud {
        Cloud::Aws
    }

    async fn offerings(&self, request: &OfferingsRequest<'_>) -> Result<Offered, Error> {
        let mut regions: BTreeMap<&Region, Wanted<'_>> = BTreeMap::new();
        for pool in request.pools {
            regions.entry(&pool.place.region).or_default().add(pool);
        }
        let now = self.clock.now();
        let bands = match request.wants(SignalSource::SpotAdvisor) {
            true => self.bands(),
            false => Arc::default(),
        };
        let history = request.wants(SignalSource::SpotPriceHistory);
        let aside = &Aside { answers: &self.answers, history, bands };
        let asked = regions.iter().map(|(region, wanted)| async move {
            let site = self.session.site(region).await;
            let found = survey(&site, wanted, request.template, aside, now).await;
            (*region, (site, found))
        });
        let (surveys, scores) = tokio::join!(join_all(asked), self.scores(request, &regions));
        let surveys: BTreeMap<&Region, _> = surveys.into_iter().collect();
        let mut quotas = Vec::new();
        let quote = |pool: &PoolId| {
            let (site, found) = surveys.get(&pool.place.region)?;
            let mut quote = found.quote(site, pool, &mut quotas)?;
            if pool.market == Market::Spot {
                let place = (pool.place.region.clone(), pool.place.zone.clone());
                quote.signals.obtainability = scores.get(&place).copied();
            }
            Some(quote)
        };
        let quotes = request.pools.iter().map(quote).collect();
        Ok(Offered { quotes, quotas })
    }

    async fn machines(&self, scope: &Scope) -> Result<Listing, Error> {
        let site = self.session.site(&scope.region).await;
        let instances = machines::all(&site, machines::of_any_fleet()).await?;
        if instances.is_empty() {
            return Ok(Listing::Complete(Vec::new()));
        }
        let zones = site.zones().await?;
        let mut list = Vec::with_capacity(instances.len());
        let mut unreadable = 0;
        for machine in machines::machines(&instances, &site.region, zones) {
            match machine {
                Some(machine) => list.push(machine),
                None => unreadable += 1,
            }
        }
        let blocks = blocks::of_machines(&instances);
        let runs = |machine: &Machine| machine.state == MachineState::Running;
        let at_risk = |machine: &Machine| machine.market == Market::Spot && runs(machine);
        if list.iter().any(at_risk) {
            let notices = self.notices(&site).await;
            for machine in list.iter_mut().filter(|machine| at_risk(machine)) {
                machine.notice = notices.get(&machine.id).copied();
            }
        }
        if !blocks.is_empty() {
            let named = blocks.values().cloned().collect();
            match blocks::ending(&site, named, self.clock.now()).await {
                Ok(ending) => {
                    for machine in list.iter_mut().filter(|machine| runs(machine)) {
                        let block = blocks.get(&machine.id);
                        let notice = block.and_then(|block| ending.get(block)).copied();
                        machine.notice = machine.notice.or(notice);
                    }
                }
                Err(error) => tracing::warn!(%error, "the ends of capacity blocks are not known"),
            }
        }
        if list.iter().any(|machine| machine.state == MachineState::Running) {
            match status::checks(&site).await {
                Ok(checks) => {
                    let now = self.clock.now();
                    for machine in &mut list {
                        let check = checks.get(&machine.id);
                        status::heed(machine, check, now);
                    }
                }
                // What runs is taken for well, as EC2 says elsewhere.
                Err(error) => tracing::debug!(%error, "no status checks"),
            }
        }
        Ok(match unreadable {
            0 => Listing::Complete(list),
            n => Listing::Partial(list, format!("{n} instances cannot be read")),
        })
    }

    async fn trace(&self, request: &TraceRequest<'_>) -> Result<Vec<Traced>, Error> {
        if request.missing.is_empty() {
            return Ok(Vec::new());
        }
        let site = self.session.site(&request.scope.region).await;
        trace::trace(&site, request, self.clock.now()).await
    }

    async fn made(&self, request: &CreateRequest<'_>) -> Result<Vec<Machine>, Error> {
        let site = self.session.site(&request.create.pool.place.region).await;
        let instances = machines::all(&site, machines::of_launch(request.create.token.as_str()));
        let (instances, zones) = (instances.await?, site.zones().await?);
        let all = machines::machines(&instances, &site.region, zones).into_iter().flatten();
        Ok(all.filter(|machine| machine.state != MachineState::Terminated).collect())
    }

    async fn identity(&self, _: &Scope) -> Result<Option<String>, Error> {
        self.session.identity().await
    }

    async fn create(&self, request: &CreateRequest<'_>) -> Result<Created, Error> {
        if request.create.slots.is_empty() {
            return Ok(Created::all(Vec::new()));
        }
        check(request)?;
        let pool = &request.create.pool;
        let site = self.session.site(&pool.place.region).await;
        if !request.create.others.is_empty() {
            return choice::create(&site, &*self.clock, request).await;
        }
        let zone = zone_name(&site, &pool.place).await?;
        let template = request.template;
        // As pinned when the plan was made; a name only where no plan could look it up.
        let named = request.create.image.as_deref().or(template.image.as_deref());
        let image = image::find(&site, named, &pool.instance_type).await?;
        let network = network::find(&site, template, &pool.place.zone).await?;
        let efa_cards = efa_cards(&site, template, &pool.instance_type).await?;
        let zones = site.zones().await?;

        let asked = launch::request(request, zone, &image, &network, &efa_cards);
        match asked.send_with(&site.ec2).await {
            Ok(answer) => {
                let machines = launch::machines(&answer, &site.region, zones);
                if machines.len() < answer.instances().len() || machines.is_empty() {
                    let words = "the answer to a launch cannot be read";
                    return Err(refused(Class::Unknown, "UnreadableAnswer", words));
                }
                Ok(Created::all(machines))
            }
            Err(error) => {
                let error = read(Asked::Launch, error);
                // They were launched and have ended since: the same token, the same machines.
                if error.code == "IdempotentInstanceTerminated"
                    && let Ok(machines) =
                        self.made_before(&site, request.create.token.as_str()).await
                    && !machines.is_empty()
                {
                    return Ok(Created::all(machines));
                }
                Err(error)
            }
        }
    }

    async fn destroy(&self, request: &DestroyRequest<'_>) -> Result<Destroyed, Error> {
        if request.victims.is_empty() {
            return Ok(Destroyed::default());
        }
        let site = self.session.site(&request.scope.region).await;
        terminate::end(&site, request, self.clock.now()).await
    }

    async fn relabel(&self, request: &RelabelRequest<'_>) -> Result<Vec<MachineId>, Error> {
        let site = self.session.site(&request.scope.region).await;
        relabel::relabel(&site, request).await
    }

    fn handover(&self) -> Result<&dyn Handover, Error> {
        Ok(self)
    }

    async fn examine(&self, request: &ExamineRequest<'_>) -> Examination {
        doctor::examine(&self.session, self.clock.as_ref(), request).await
    }

    async fn price_list(&self, request: &PriceListRequest<'_>) -> Result<Vec<Listed>, Error> {
        price_list::all(&self.session, request.regions, self.clock.now()).await
    }

    async fn alarms(&self, scopes: &[Scope]) -> Result<BTreeSet<MachineId>, Error> {
        let asked = scopes.iter().map(|scope| async {
            let site = self.session.site(&scope.region).await;
            self.notices(&site).await.into_keys()
        });
        Ok(join_all(asked).await.into_iter().flatten().collect())
    }

    /// Spot prices. They are remembered for minutes, so most of these questions never leave; how likely a launch
    /// is costs a question of which there are few a day.
    async fn market(&self, pools: &[PoolId]) -> Result<Vec<Option<Quote>>, Error> {
        let mut regions: BTreeMap<&Region, BTreeSet<&InstanceType>> = BTreeMap::new();
        for pool in pools.iter().filter(|pool| pool.market == Market::Spot) {
            regions.entry(&pool.place.region).or_default().insert(&pool.instance_type);
        }
        let now = self.clock.now();
        let asked = regions.into_iter().map(|(region, types)| async move {
            let site = self.session.site(region).await;
            Ok::<_, Error>((region, prices::known(&site, &types, true, &self.answers, now).await?))
        });
        let told: BTreeMap<&Region, Known> = try_join_all(asked).await?.into_iter().collect();
        let quote = |pool: &PoolId| {
            let known = told.get(&pool.place.region).filter(|_| pool.market == Market::Spot)?;
            let key = (pool.instance_type.clone(), pool.place.zone.clone());
            Some(Quote { price: Some(known.prices.get(&key)?.price), ..Quote::default() })
        };
        Ok(pools.iter().map(quote).collect())
    }

    async fn tidy(&self, request: &TidyRequest<'_>) -> Result<u32, Error> {
        let tidied = request.scopes.iter().map(|scope| async move {
            let site = self.session.site(&scope.region).await;
            if !request.machines.is_empty() {
                choice::number_left(&site, request.fleet, request.machines).await?;
            }
            launch_template::collect(&site, request, self.clock.now()).await
        });
        // Each region as far as it goes; the first that does not is what is told.
        let tidied: Vec<Result<u32, Error>> = join_all(tidied).await;
        tidied.into_iter().sum()
    }
}
