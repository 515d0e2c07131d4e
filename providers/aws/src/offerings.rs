//! What a plan must know of pools: prices, AWS's own signals, whether this account and template
//! can launch there at all, and what the account may use.
//!
//! Each region is asked about everything at once. Prices and signals that do not come are left
//! out; only what AWS says for certain rules a pool out.

use crate::error::{Asked, read, refused};
use crate::prices;
use crate::quota;
use crate::session::Site;
use crate::spot_advisor::SpotAdvisor;
use crate::spot_cache::Known;
use crate::{image, network};
use aws_sdk_ec2::operation::describe_instance_type_offerings::builders::DescribeInstanceTypeOfferingsInputBuilder;
use aws_sdk_ec2::types::{Filter, LocationType};
use fleet_model::{
    InstanceType, Interrupted, Market, PoolId, Quota, Quote, SignalSource, Signals, Template,
    Timestamp, Zone,
};
use fleet_provider::{Answers, Class, Error};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Values that one filter may hold.
const VALUES: usize = 200;

/// Pages of one question; a region has two or three.
const PAGES: usize = 100;

/// What was found out about one region.
#[derive(Debug, Default)]
pub(crate) struct Survey {
    /// `None`: the catalog's prices stand.
    prices: Option<Known>,
    /// Types sold in each zone; `None`: not known.
    sold: Option<BTreeSet<(Zone, InstanceType)>>,
    /// The image for each type, or why there is none.
    images: BTreeMap<InstanceType, Result<Arc<str>, Arc<str>>>,
    /// Why nothing can be launched in a zone.
    closed: BTreeMap<Zone, Arc<str>>,
    /// Limits by code, and how much of each is used.
    limits: BTreeMap<String, u64>,
    used: BTreeMap<&'static str, u64>,
    bands: Arc<SpotAdvisor>,
}

/// What is asked about one region.
#[derive(Debug, Clone, Default)]
pub(crate) struct Wanted<'a> {
    pub(crate) types: BTreeSet<&'a InstanceType>,
    pub(crate) spot_types: BTreeSet<&'a InstanceType>,
    pub(crate) zones: BTreeSet<&'a Zone>,
}

impl<'a> Wanted<'a> {
    pub(crate) fn add(&mut self, pool: &'a PoolId) {
        self.types.insert(&pool.instance_type);
        self.zones.insert(&pool.place.zone);
        if pool.market == Market::Spot {
            self.spot_types.insert(&pool.instance_type);
        }
    }
}

/// What is known besides what AWS is asked.
pub(crate) struct Aside<'a> {
    /// Prices of a moment ago.
    pub(crate) answers: &'a Answers,
    /// Whether it matters how prices moved.
    pub(crate) history: bool,
    /// Interruption bands.
    pub(crate) bands: Arc<SpotAdvisor>,
}

/// Finds out about one region.
pub(crate) async fn survey(
    site: &Site,
    wanted: &Wanted<'_>,
    template: &Template,
    aside: &Aside<'_>,
    now: Timestamp,
) -> Survey {
    let (prices, sold, images, closed, limits, running) = tokio::join!(
        prices::known(site, &wanted.spot_types, aside.history, aside.answers, now),
        sold(site, &wanted.types),
        images(site, &wanted.types, template),
        closed(site, wanted, template),
        quota::limits(site),
        quota::running(site),
    );
    // Without an answer the catalog's price stands, and a limit is unknown: one silent question
    // must not hide the answers to the others.
    let heard = |what: &str, error: &Error| {
        tracing::debug!(region = %site.region, what, %error, "not known");
    };
    let prices = prices.inspect_err(|error| {
        tracing::warn!(region = %site.region, %error, "no present spot prices");
    });
    let limits = limits.inspect_err(|error| heard("limits", error)).unwrap_or_default();
    let used = async {
        let running = running?;
        let vcpus = quota::vcpus_of(site, &running).await?;
        Ok(quota::used(&running, &vcpus))
    };
    let used = used.await.inspect_err(|error| heard("what runs", error));
    Survey {
        prices: prices.ok(),
        sold: sold.inspect_err(|error| heard("what is sold", error)).ok(),
        images,
        closed,
        // How much is left of a limit is known only with what is used of it.
        limits: if used.is_ok() { limits } else { BTreeMap::new() },
        used: used.unwrap_or_default(),
        bands: aside.bands.clone(),
    }
}

/// Which types are sold in which zones.
async fn sold(
    site: &Site,
    types: &BTreeSet<&InstanceType>,
) -> Result<BTreeSet<(Zone, InstanceType)>, Error> {
    let types: Vec<&&InstanceType> = types.iter().collect();
    let mut sold = BTreeSet::new();
    for types in types.chunks(VALUES) {
        let values = types.iter().map(|kind| kind.to_string()).collect();
        let filter = Filter::builder().name("instance-type").set_values(Some(values)).build();
        let asked = DescribeInstanceTypeOfferingsInputBuilder::default()
            .location_type(LocationType::AvailabilityZoneId)
            .filters(filter)
            .max_results(1000);
        let mut page = None;
        for turn in 0..=PAGES {
            let request = asked.clone().set_next_token(page);
            let answer =
                request.send_with(&site.ec2).await.map_err(|error| read(Asked::Read, error))?;
            sold.extend(answer.instance_type_offerings().iter().filter_map(|offering| {
                Some((offering.location()?.into(), offering.instance_type()?.as_str().into()))
            }));
            page = answer.next_token.filter(|token| !token.is_empty());
            if page.is_none() {
                break;
            }
            if turn == PAGES {
                let words = "the list of offerings has no end";
                return Err(refused(Class::Retry { after: None }, "EndlessList", words));
            }
        }
    }
    Ok(sold)
}

/// The image that each type would be launched from. A name that stands for nothing here is a
/// reason not to launch here; an answer that does not come is not.
async fn images(
    site: &Site,
    types: &BTreeSet<&InstanceType>,
    template: &Template,
) -> BTreeMap<InstanceType, Result<Arc<str>, Arc<str>>> {
    let named = template.image.as_deref();
    if image::depends_on_architecture(named)
        && let Err(error) = site.types(types).await
    {
        tracing::debug!(region = %site.region, %error, "architectures are not known");
        return BTreeMap::new();
    }
    let mut found = BTreeMap::new();
    for kind in types {
        let answer = match image::find(site, named, kind).await {
            Ok(image) => Ok(image.id.into()),
            Err(error) if error.class == Class::Invalid => Err(words(&error)),
            Err(error) => {
                tracing::debug!(region = %site.region, %error, "the image is not known");
                continue;
            }
        };
        found.insert((*kind).clone(), answer);
    }
    found
}

/// Zones where the account or the template leaves no place to launch.
async fn closed(site: &Site, wanted: &Wanted<'_>, template: &Template) -> BTreeMap<Zone, Arc<str>> {
    let mut closed = BTreeMap::new();
    let Ok(zones) = site.zones().await else { return closed };
    let named = !template.subnets.is_empty() || template.network.is_some();
    let defaults = if named { None } else { network::default_zones(site).await.ok() };
    for &zone in &wanted.zones {
        if zone.as_str() == Zone::REGIONAL {
            continue;
        }
        if zones.name(zone).is_none() {
            closed.insert(zone.clone(), format!("this account has no zone {zone}").into());
        } else if !zones.is_open(zone) {
            let why = format!("this account has not opted in to {zone}");
            closed.insert(zone.clone(), why.into());
        } else if named
            && let Err(error) = network::find(site, template, zone).await
            && error.class == Class::Invalid
        {
            closed.insert(zone.clone(), words(&error));
        } else if defaults.as_ref().is_some_and(|defaults| !defaults.contains(zone)) {
            let why = format!("this account has no default subnet in {zone}; name one in the spec");
            closed.insert(zone.clone(), why.into());
        }
    }
    closed
}

fn words(error: &Error) -> Arc<str> {
    format!("{}: {}", error.code, error.message).into()
}

impl Survey {
    /// What is known of a pool; limits that it counts toward are added to `quotas`.
    /// `None`: nothing at all.
    pub(crate) fn quote(
        &self,
        site: &Site,
        pool: &PoolId,
        quotas: &mut Vec<Quota>,
    ) -> Option<Quote> {
        let mut quote = Quote { refusal: self.refusal(pool), ..Quote::default() };
        quote.image = self.images.get(&pool.instance_type).and_then(|image| image.clone().ok());
        if pool.market == Market::Spot {
            let key = (pool.instance_type.clone(), pool.place.zone.clone());
            let known = self.prices.as_ref();
            let level = known.and_then(|known| known.prices.get(&key));
            quote.price = level.map(|level| level.price);
            quote.signals = Signals {
                volatility: level.and_then(|level| level.volatility),
                interrupted: self
                    .bands
                    .of(&pool.place.region, &pool.instance_type)
                    .map(|share| Interrupted { share, source: SignalSource::SpotAdvisor }),
                price_as_of: level.and(known).map(|known| known.as_of),
                ..Signals::default()
            };
        }
        if let Some((code, name)) = quota::counted(&pool.instance_type, pool.market)
            && let Some(limit) = self.limits.get(code)
        {
            let known = quotas.iter().position(|quota| {
                quota.name == name && quota.region == site.region && quota.market == pool.market
            });
            let at = known.unwrap_or_else(|| {
                let used = self.used.get(code).copied().unwrap_or_default();
                quotas.push(quota::quota(site, pool.market, name, *limit, used));
                quotas.len() - 1
            });
            quote.quotas = vec![at as u32];
        }
        (quote != Quote::default()).then_some(quote)
    }

    fn refusal(&self, pool: &PoolId) -> Option<Arc<str>> {
        if let Some(why) = self.closed.get(&pool.place.zone) {
            return Some(why.clone());
        }
        if let Some(Err(why)) = self.images.get(&pool.instance_type) {
            return Some(why.clone());
        }
        let key = (pool.place.zone.clone(), pool.instance_type.clone());
        let sold = self.sold.as_ref().is_none_or(|sold| sold.contains(&key));
        let regional = pool.place.zone.as_str() == Zone::REGIONAL;
        (!sold && !regional).then(|| "EC2 does not sell it in this zone".into())
    }
}
