//! The adapter: five calls, each of them names resolved, one request, one answer read.

use crate::error::{Asked, read, refused};
use crate::session::{AwsSettings, Session, Site};
use crate::spot_cache::{Known, SpotCache};
use crate::{doctor, image, launch, machines, network, offerings, price_list, terminate};
use async_trait::async_trait;
use fleet_model::{Cloud, InstanceType, Machine, Market, Place, Region, Scope, Zone};
use fleet_provider::{
    Class, Clock, CreateRequest, Created, DestroyRequest, Destroyed, Error, Examination,
    ExamineRequest, Listed, Listing, Offered, OfferingsRequest, PriceListRequest, Provider,
};
use futures::future::join_all;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

/// EC2, in every region that it is asked about.
pub struct Aws {
    session: Session,
    clock: Arc<dyn Clock>,
    cache: SpotCache,
}

impl Aws {
    /// An adapter. Credentials are looked for at the first call.
    pub fn new(settings: AwsSettings, clock: Arc<dyn Clock>) -> Self {
        Aws { session: Session::new(settings), clock, cache: SpotCache::default() }
    }

    /// The same, with spot prices remembered in a file.
    pub fn remembering(mut self, prices: PathBuf) -> Self {
        self.cache = SpotCache::at(prices);
        self
    }

    /// Spot prices of some types: those of a moment ago, else those of now, else the last known.
    async fn spot_prices(
        &self,
        region: &Region,
        types: &BTreeSet<&InstanceType>,
    ) -> Result<Known, Error> {
        let now = self.clock.now();
        if let Some(known) = self.cache.fresh(region.as_str(), types, now) {
            return Ok(known);
        }
        let site = self.session.site(region.as_str()).await;
        match offerings::spot_prices(&site, types, now).await {
            Ok(prices) => {
                self.cache.keep(region.as_str(), types, &prices, now);
                Ok(Known { prices, as_of: now })
            }
            Err(error) => match self.cache.last(region.as_str(), types) {
                Some(known) => {
                    tracing::warn!(%region, %error, as_of = %known.as_of, "spot prices are not new");
                    Ok(known)
                }
                None => Err(error),
            },
        }
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
async fn zone_name<'a>(site: &'a Site, place: &Place) -> Result<Option<&'a str>, Error> {
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

/// What EC2 would refuse, told before anything is sent.
fn check(request: &CreateRequest<'_>) -> Result<(), Error> {
    let create = request.create;
    if create.pool.place.cloud != Cloud::Aws {
        let words = format!("{} is not of aws", create.pool);
        return Err(refused(Class::Invalid, "WrongCloud", words));
    }
    if create.pool.market == Market::Reserved {
        let words = "capacity reservations cannot be used yet";
        return Err(refused(Class::Invalid, "ReservedNotSupported", words));
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
        let mut types: BTreeMap<&Region, BTreeSet<&InstanceType>> = BTreeMap::new();
        for pool in request.pools.iter().filter(|pool| pool.market == Market::Spot) {
            types.entry(&pool.place.region).or_default().insert(&pool.instance_type);
        }
        let asked = types
            .iter()
            .map(|(region, types)| async move { (*region, self.spot_prices(region, types).await) });
        let mut prices = BTreeMap::new();
        for (region, answer) in join_all(asked).await {
            match answer {
                Ok(here) => {
                    prices.insert(region, here);
                }
                // One silent region must not hide the prices of the others.
                Err(error) => tracing::warn!(%region, %error, "no present spot prices"),
            }
        }
        let quote =
            |pool: &fleet_model::PoolId| offerings::quote(pool, prices.get(&pool.place.region)?);
        Ok(Offered { quotes: request.pools.iter().map(quote).collect(), quotas: Vec::new() })
    }

    async fn machines(&self, scope: &Scope) -> Result<Listing, Error> {
        let site = self.session.site(scope.region.as_str()).await;
        let instances = machines::all(&site, machines::of_any_fleet()).await?;
        if instances.is_empty() {
            return Ok(Listing::Complete(Vec::new()));
        }
        let zones = site.zones().await?;
        let mut list = Vec::with_capacity(instances.len());
        let mut unreadable = 0;
        for instance in &instances {
            match machines::machine(instance, &site.region, zones) {
                Some(machine) => list.push(machine),
                None => unreadable += 1,
            }
        }
        Ok(match unreadable {
            0 => Listing::Complete(list),
            n => Listing::Partial(list, format!("{n} instances cannot be read")),
        })
    }

    async fn create(&self, request: &CreateRequest<'_>) -> Result<Created, Error> {
        if request.create.slots.is_empty() {
            return Ok(Created { machines: Vec::new(), shortfall: None });
        }
        check(request)?;
        let pool = &request.create.pool;
        let site = self.session.site(pool.place.region.as_str()).await;
        let zone = zone_name(&site, &pool.place).await?;
        let template = request.template;
        let image = image::find(&site, template.image.as_deref(), &pool.instance_type).await?;
        let network = network::find(&site, template, &pool.place.zone).await?;
        let zones = site.zones().await?;

        let asked = launch::request(request, zone, &image, &network);
        match asked.send_with(&site.ec2).await {
            Ok(answer) => {
                let machines = launch::machines(&answer, &site.region, zones);
                if machines.len() < answer.instances().len() || machines.is_empty() {
                    let words = "the answer to a launch cannot be read";
                    return Err(refused(Class::Unknown, "UnreadableAnswer", words));
                }
                Ok(Created { machines, shortfall: None })
            }
            Err(error) => {
                let error = read(Asked::Launch, error);
                // They were launched and have ended since: the same token, the same machines.
                if error.code == "IdempotentInstanceTerminated"
                    && let Ok(machines) =
                        self.made_before(&site, request.create.token.as_str()).await
                    && !machines.is_empty()
                {
                    return Ok(Created { machines, shortfall: None });
                }
                Err(error)
            }
        }
    }

    async fn destroy(&self, request: &DestroyRequest<'_>) -> Result<Destroyed, Error> {
        if request.victims.is_empty() {
            return Ok(Destroyed::default());
        }
        let site = self.session.site(request.scope.region.as_str()).await;
        terminate::end(&site, request, self.clock.now()).await
    }

    async fn examine(&self, request: &ExamineRequest<'_>) -> Examination {
        doctor::examine(&self.session, self.clock.as_ref(), request).await
    }

    async fn price_list(&self, request: &PriceListRequest<'_>) -> Result<Vec<Listed>, Error> {
        price_list::all(&self.session, request.regions, self.clock.now()).await
    }
}
