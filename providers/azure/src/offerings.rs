//! What pools cost now, how likely they are, and what the subscription may use: per region some
//! questions, asked side by side. Prices and scores are hints; without them the catalog's stand.

use crate::api::Api;
use crate::evictions::{self, Rates};
use crate::image::{self, Generation, Images};
use crate::launch::lacks;
use crate::network::Networks;
use crate::prices::{self, Prices};
use crate::quotas;
use crate::scores::{self, Question, Scores};
use crate::skus::{Sizes, Skus, find};
use crate::wire::{Sku, Usage};
use fleet_model::{
    Interrupted, Market, Obtainability, PoolId, Quota, Quote, Region, SignalSource, Signals,
    Template, Zone,
};
use fleet_provider::{Answers, Class, Error, Offered, OfferingsRequest};
use futures::future::join_all;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Spot sizes that scores are asked for, per region: questions are few.
const SCORED: usize = 20;

/// Where knowledge comes from.
pub(crate) struct Sources<'a> {
    pub(crate) api: &'a Api,
    pub(crate) skus: &'a Skus,
    pub(crate) networks: &'a Networks,
    pub(crate) images: &'a Images,
    pub(crate) answers: &'a Answers,
}

/// What is known of a region.
struct Known {
    sizes: Arc<Sizes>,
    usages: Vec<Usage>,
    prices: Prices,
    scores: Scores,
    /// Why nothing can be launched there, if so.
    unplugged: Option<Arc<str>>,
    /// The pinned image for x86 and for Arm, where machines of such sizes are asked for.
    images: BTreeMap<bool, Image>,
}

/// The name of an image; without one, why there is none. A look that failed is neither.
type Image = Option<Result<Arc<str>, Arc<str>>>;

impl Sources<'_> {
    /// Quotes every pool.
    pub(crate) async fn offerings(&self, request: &OfferingsRequest<'_>) -> Result<Offered, Error> {
        let group = self.api.group()?;
        let mut regions: BTreeMap<&Region, Vec<&PoolId>> = BTreeMap::new();
        for pool in request.pools {
            regions.entry(&pool.place.region).or_default().push(pool);
        }
        let asked = regions.iter().map(|(region, pools)| {
            let learn = self.learn(&group.subscription, region, pools, request);
            async move { (*region, learn.await) }
        });
        let mut known = BTreeMap::new();
        let evicted = self.evicted(&group.subscription, request);
        let (answers, evicted) = futures::join!(join_all(asked), evicted);
        for (region, answer) in answers {
            match answer {
                Ok(here) => {
                    known.insert(region, here);
                }
                // One silent region must not hide what is known of the others.
                Err(error) => tracing::warn!(%region, %error, "no present offers"),
            }
        }
        let lacking: Option<Arc<str>> = lacks(request.template).map(Into::into);
        // In an order of their own, so that the order of pools does not matter.
        let here = |pool: &PoolId| known.get(&pool.place.region).map(|known| limits(pool, known));
        let mut quotas: Vec<Quota> = request.pools.iter().filter_map(here).flatten().collect();
        quotas.sort_by(|a, b| (&a.region, a.market, &a.name).cmp(&(&b.region, b.market, &b.name)));
        quotas.dedup();
        let quote = |pool: &PoolId| {
            let here = known.get(&pool.place.region)?;
            let quote = quote(pool, here, &evicted, &quotas)?;
            let stuck = || unbootable(find(&here.sizes, &pool.instance_type)?, request.template);
            let quote = Quote { refusal: quote.refusal.or_else(stuck), ..quote };
            Some(Quote { refusal: lacking.clone().or(quote.refusal), ..quote })
        };
        let quotes = request.pools.iter().map(quote).collect();
        Ok(Offered { quotes, quotas })
    }

    async fn learn(
        &self,
        subscription: &str,
        region: &Region,
        pools: &[&PoolId],
        request: &OfferingsRequest<'_>,
    ) -> Result<Known, Error> {
        let template = request.template;
        let (api, here) = (self.api, region.as_str());
        let sizes = self.skus.of(api, subscription, here).await?;
        let named: BTreeSet<&str> = pools.iter().map(|pool| pool.instance_type.as_str()).collect();
        let named: Vec<String> = named.into_iter().map(str::to_owned).collect();
        let spot: BTreeSet<&str> = pools
            .iter()
            .filter(|pool| pool.market == Market::Spot)
            .map(|pool| pool.instance_type.as_str())
            .collect();
        let spot: Vec<String> = spot.into_iter().take(SCORED).map(str::to_owned).collect();
        let zones = pools.iter().any(|pool| pool.place.zone.as_str() != Zone::REGIONAL);
        let count = scores::count(request.goal);
        let scored = if request.wants(SignalSource::PlacementScore) { &spot[..] } else { &[] };
        let questions = scored.chunks(scores::SIZES).map(|some| Question {
            region: here.to_owned(),
            sizes: some.to_vec(),
            zones,
            count,
        });
        let scored =
            join_all(questions.map(|q| scores::scores(api, self.answers, subscription, q)));
        let kinds = pools.iter().filter_map(|pool| find(&sizes, &pool.instance_type));
        let kinds: BTreeSet<bool> = kinds.map(|sku| sku.is_arm()).collect();
        let (usages, prices, scored, plug, images) = futures::join!(
            quotas::usages(api, subscription, here),
            prices::ask(api, here, &named),
            scored,
            self.networks.find(api, template, region),
            join_all(kinds.into_iter().map(|arm| self.image(here, template, arm))),
        );
        let hint = |error: &Error| tracing::debug!(%region, %error, "a hint is missing");
        Ok(Known {
            sizes,
            usages: usages?,
            prices: prices.inspect_err(hint).unwrap_or_default(),
            scores: scored
                .into_iter()
                .flat_map(|scores| scores.inspect_err(hint).unwrap_or_default())
                .collect(),
            // A look that failed is no reason not to launch.
            unplugged: plug.err().filter(|error| error.class == Class::Invalid).map(words),
            images: images.into_iter().collect(),
        })
    }

    /// How often machines are evicted, where that is wanted. A hint: without an answer there is none.
    async fn evicted(&self, subscription: &str, request: &OfferingsRequest<'_>) -> Rates {
        let spot = request.pools.iter().filter(|pool| pool.market == Market::Spot);
        if !request.wants(SignalSource::EvictionRate) {
            return Rates::new();
        }
        let (regions, sizes) = spot
            .map(|pool| (pool.place.region.name().to_owned(), pool.instance_type.to_string()))
            .unzip();
        evictions::rates(self.api, self.answers, subscription, &regions, &sizes)
            .await
            .inspect_err(|error| tracing::debug!(%error, "no eviction rates"))
            .unwrap_or_default()
    }

    async fn image(&self, region: &str, template: &Template, arm: bool) -> (bool, Image) {
        let pinned = match self.images.pin(self.api, region, image::text(template, arm)).await {
            Ok(name) => Some(Ok(name.into())),
            Err(error) if error.class == Class::Invalid => Some(Err(words(error))),
            Err(error) => {
                tracing::warn!(%region, %error, "the image was not looked up");
                None
            }
        };
        (arm, pinned)
    }
}

fn words(error: Error) -> Arc<str> {
    error.message.into()
}

/// Why a size does not boot the image, if their words say so.
fn unbootable(sku: &Sku, template: &Template) -> Option<Arc<str>> {
    let generation = image::generation(template)?;
    let number = match generation {
        Generation::One => 1,
        Generation::Two => 2,
    };
    let words = || format!("{} does not boot images of generation {number}", sku.name).into();
    (!sku.boots(generation)).then(words)
}

/// The limits that machines of a pool count toward.
fn limits(pool: &PoolId, known: &Known) -> Vec<Quota> {
    let Some(sku) = find(&known.sizes, &pool.instance_type) else { return Vec::new() };
    let region = &pool.place.region;
    quotas::of(&known.usages, region, &sku.family, pool.market, sku.constrained())
}

/// What is known of a pool.
fn quote(pool: &PoolId, known: &Known, evicted: &Rates, quotas: &[Quota]) -> Option<Quote> {
    let sku = find(&known.sizes, &pool.instance_type)?;
    let region = &pool.place.region;
    let size = pool.instance_type.as_str().to_ascii_lowercase();
    let price = known.prices.get(&size).copied().unwrap_or_default();
    let evicted = evicted.get(&region.name().to_ascii_lowercase()).and_then(|all| all.get(&size));
    let evicted = evicted.filter(|_| pool.market == Market::Spot);
    let zone = Some(pool.place.zone.to_string()).filter(|zone| zone != Zone::REGIONAL);
    let score = known.scores.get(&(size, zone)).filter(|_| pool.market == Market::Spot);
    let position = |limit: &Quota| quotas.iter().position(|other| other == limit);
    let image = known.images.get(&sku.is_arm()).cloned().flatten();
    let counts = limits(pool, known).iter().filter_map(position).collect::<Vec<usize>>();
    Some(Quote {
        price: match pool.market {
            Market::Spot => price.spot,
            Market::OnDemand | Market::Reserved => price.on_demand,
        },
        signals: Signals {
            obtainability: score.map(|percent| Obtainability {
                percent: *percent,
                source: SignalSource::PlacementScore,
            }),
            interrupted: evicted
                .map(|share| Interrupted { share: *share, source: SignalSource::EvictionRate }),
            ..Signals::default()
        },
        image: image.as_ref().and_then(|known| known.clone().ok()),
        refusal: known
            .unplugged
            .clone()
            .or(image.and_then(Result::err))
            .or(sku.refusal(region.as_str(), &pool.place.zone, pool.market).map(Into::into)),
        quotas: counts.into_iter().filter_map(|at| u32::try_from(at).ok()).collect(),
    })
}
