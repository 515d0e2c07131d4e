//! What pools are worth now: images pinned, limits read, chances asked for. Prices are the
//! catalog's: Google's spot prices change at most once a day, and its list has ten thousand rows.

use crate::advice::Asking;
use crate::kind::Kind;
use crate::quota::{ALL_CPUS, ALL_GPUS, Limit, in_machines, limits, names, quota};
use crate::request::refusal;
use crate::session::{Clients, Session};
use crate::{image, tpu};
use fleet_model::{
    Interrupted, Market, Obtainability, PoolId, Quota, Quote, Region, SignalSource, Signals,
    Template, Zone,
};
use fleet_provider::{Error, Offered, OfferingsRequest};
use futures::future::join_all;
use std::collections::{BTreeMap, BTreeSet};

/// Pools whose chances are asked for, one call each. The others' are unknown.
const ASKED: usize = 60;

/// Calls at once.
const AT_ONCE: usize = 10;

/// What is known of the pools.
pub(crate) async fn offered(
    session: &Session,
    request: &OfferingsRequest<'_>,
    asking: Asking<'_>,
) -> Result<Offered, Error> {
    let clients = session.clients().await?;
    let flex_start = session.settings.flex_start_hours.is_some();
    let kinds: Vec<Option<Kind<'_>>> =
        request.pools.iter().map(|pool| Kind::read(pool.instance_type.as_str())).collect();
    let images = images(session, request, &kinds).await;
    let here = regional_limits(clients, request.pools).await;
    let signals = chances(clients, request, &kinds, asking).await;
    let mut book = Book::default();
    // In the order of the pools' names: the positions are then the same in whatever order we are
    // asked.
    let mut order: Vec<usize> = (0..request.pools.len()).collect();
    order.sort_by_key(|at| &request.pools[*at]);
    let mut quotas = vec![Vec::new(); request.pools.len()];
    for at in order {
        if let Some(kind) = kinds[at] {
            quotas[at] = book.of(&request.pools[at], kind, request.template, &here);
        }
    }
    let mut quotes = Vec::with_capacity(request.pools.len());
    let known = signals.into_iter().zip(quotas);
    for ((pool, kind), (signals, quotas)) in request.pools.iter().zip(&kinds).zip(known) {
        let Some(kind) = kind else {
            quotes.push(tpu::is_slice(pool.instance_type.as_str()).then(|| Quote {
                refusal: refusal(pool, request.template, flex_start).map(Into::into),
                ..Quote::default()
            }));
            continue;
        };
        let mut refusal = refusal(pool, request.template, flex_start);
        let image = match images.get(&image::text(request.template, *kind)) {
            Some(Ok(link)) => Some(link.as_str().into()),
            Some(Err(why)) => {
                refusal = refusal.or_else(|| Some(why.clone()));
                None
            }
            None => None,
        };
        let refusal = refusal.map(Into::into);
        quotes.push(Some(Quote { price: None, signals, image, refusal, quotas }));
    }
    Ok(Offered { quotes, quotas: book.quotas })
}

/// What the template's image stands for, once per name. A name that stands for nothing is
/// a reason not to launch; a look that failed is not.
async fn images(
    session: &Session,
    request: &OfferingsRequest<'_>,
    kinds: &[Option<Kind<'_>>],
) -> BTreeMap<String, Result<String, String>> {
    let text = |kind: &Kind<'_>| image::text(request.template, *kind);
    let named: BTreeSet<String> = kinds.iter().flatten().map(text).collect();
    let mut images = BTreeMap::new();
    for name in named {
        match image::find(session, &name).await {
            Ok(link) => {
                images.insert(name, Ok(link));
            }
            Err(error) if error.class == fleet_provider::Class::Invalid => {
                images.insert(name, Err(error.message));
            }
            Err(error) => tracing::warn!(%error, "the image was not looked up"),
        }
    }
    images
}

/// The limits of each region, and of the project under no region. What does not answer is unknown.
async fn regional_limits(
    clients: &Clients,
    pools: &[PoolId],
) -> BTreeMap<Option<Region>, Vec<Limit>> {
    let mut regions: Vec<&Region> = pools.iter().map(|pool| &pool.place.region).collect();
    regions.sort();
    regions.dedup();
    let asked = regions.into_iter().map(|region| async move {
        let call = clients.regions.get().set_project(&clients.project);
        (region, call.set_region(region.as_str()).send().await)
    });
    let mut all = BTreeMap::new();
    for (region, answer) in join_all(asked).await {
        match answer {
            Ok(answer) => {
                all.insert(Some(region.clone()), limits(&answer.quotas));
            }
            Err(error) => tracing::warn!(%region, %error, "limits are not known"),
        }
    }
    match clients.projects.get().set_project(&clients.project).send().await {
        Ok(project) => {
            all.insert(None, limits(&project.quotas));
        }
        Err(error) => tracing::warn!(%error, "limits of the project are not known"),
    }
    all
}

/// What Google says of spot pools, in the order of the pools.
async fn chances(
    clients: &Clients,
    request: &OfferingsRequest<'_>,
    kinds: &[Option<Kind<'_>>],
    asking: Asking<'_>,
) -> Vec<Signals> {
    let pools = request.pools;
    let mut signals = vec![Signals::default(); pools.len()];
    let mut spot: Vec<(usize, &PoolId, Kind<'_>)> = Vec::new();
    for (at, (pool, kind)) in pools.iter().zip(kinds).enumerate() {
        let asked = pool.market == Market::Spot && pool.place.zone.as_str() != Zone::REGIONAL;
        // The SDK has no field for accelerators that are attached; of TPUs Google knows nothing.
        if let Some(kind) = kind.filter(|kind| asked && kind.starts_like(*kind)) {
            spot.push((at, pool, kind));
        }
    }
    spot.truncate(ASKED);
    let source = SignalSource::CapacityAdvice;
    if request.wants(source) {
        let ask = |pool, kind| asking.advice(clients, pool, kind, request.goal);
        for (at, percent) in each(source, &spot, ask).await {
            signals[at].obtainability = Some(Obtainability { percent, source });
        }
    }
    let source = SignalSource::CapacityHistory;
    if request.wants(source) {
        for (at, share) in
            each(source, &spot, |pool, kind| asking.history(clients, pool, kind)).await
        {
            signals[at].interrupted = Some(Interrupted { share, source });
        }
    }
    signals
}

/// Asks about each pool: the first alone, since without the right all others have the same answer, then
/// some at once. What does not answer is unknown.
async fn each<'a, T, F>(
    source: SignalSource,
    pools: &[(usize, &'a PoolId, Kind<'a>)],
    ask: impl Fn(&'a PoolId, Kind<'a>) -> F,
) -> Vec<(usize, T)>
where
    F: Future<Output = Result<Option<T>, Error>>,
{
    let (first, others) = pools.split_at(pools.len().min(1));
    let mut found = Vec::new();
    for some in [first].into_iter().chain(others.chunks(AT_ONCE)) {
        let asked = some.iter().map(|(_, pool, kind)| ask(pool, *kind));
        for ((at, ..), answer) in some.iter().zip(join_all(asked).await) {
            match answer {
                Ok(known) => found.extend(known.map(|known| (*at, known))),
                Err(error) if error.class == fleet_provider::Class::Auth => {
                    not_allowed(source, &error);
                    return found;
                }
                Err(error) => tracing::debug!(%source, %error, "no answer"),
            }
        }
    }
    found
}

fn not_allowed(source: SignalSource, error: &Error) {
    match source {
        // The role that we print does not have it: which permission it takes is not published.
        SignalSource::CapacityHistory => tracing::debug!(%source, %error, "not allowed"),
        _ => tracing::warn!(
            %error,
            "no {source}: `fleet doctor` names the permission, or list it in placement.ignoreSignals"
        ),
    }
}

/// Limits, each once, with the positions that pools refer to.
#[derive(Default)]
struct Book {
    quotas: Vec<Quota>,
    at: BTreeMap<(Option<Region>, &'static str), u32>,
}

impl Book {
    /// The positions of the limits that a pool counts toward.
    fn of(
        &mut self,
        pool: &PoolId,
        kind: Kind<'_>,
        template: &Template,
        all: &BTreeMap<Option<Region>, Vec<Limit>>,
    ) -> Vec<u32> {
        let region = Some(pool.place.region.clone());
        let Some(here) = all.get(&region) else { return Vec::new() };
        let everywhere = all.get(&None).map(Vec::as_slice).unwrap_or_default();
        let mut positions = Vec::new();
        for (name, unit) in names(kind, pool.market, template, here) {
            let whole = name == ALL_GPUS || name == ALL_CPUS;
            let (scope, limits) =
                if whole { (None, everywhere) } else { (region.clone(), &here[..]) };
            let Some(limit) = limits.iter().find(|limit| limit.name == name) else { continue };
            let next = u32::try_from(self.quotas.len()).unwrap_or(u32::MAX);
            let position = *self.at.entry((scope.clone(), name)).or_insert_with(|| {
                let limit = in_machines(limit, template);
                self.quotas.push(quota(&limit, unit, scope.as_ref(), pool.market));
                next
            });
            positions.push(position);
        }
        positions
    }
}
