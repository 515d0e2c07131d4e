//! What pools cost now, and what the clouds say about getting them.

use crate::cloud::quota;
use crate::event::Refusal;
use crate::fault::Fault;
use crate::pools::Pools;
use crate::settings::Settings;
use crate::time::Ms;
use crate::tx::Tx;
use fleet_model::{Cloud, Market, PoolId, Quota, QuotaUnit, Quote, Scope, Signals};
use fleet_provider::Offered;
use std::collections::{BTreeSet, HashMap};

/// What of the world a quote depends on. Taken under the lock; the quoting itself is not.
#[derive(Debug)]
pub(crate) struct View {
    settings: Settings,
    now: Ms,
    faults: Vec<Fault>,
    /// Live machines of ours.
    live: Vec<(PoolId, u32)>,
    quotas: Vec<Quota>,
}

/// Regions that pools speak of, without repeats.
pub(crate) fn regions(pools: &[PoolId]) -> BTreeSet<Scope> {
    let mut regions = BTreeSet::new();
    let mut last: Option<&PoolId> = None;
    for pool in pools {
        // Neighbours are mostly alike: no need to look each of 190,000 up.
        if last.is_none_or(|last| last.place.region != pool.place.region) {
            regions.insert(pool.place.scope());
        }
        last = Some(pool);
    }
    regions
}

/// Looks at the world.
pub(crate) fn view(tx: &Tx<'_>, cloud: Cloud, scopes: &BTreeSet<Scope>) -> Result<View, Refusal> {
    if tx.whole_cloud_out(cloud) {
        return Err(Refusal::new(0, "ConnectionRefused", "could not connect"));
    }
    let world = &*tx.world;
    let live = world.pools.iter().zip(&world.index.pools);
    let live = live.filter(|(_, machines)| !machines.live.is_empty());
    let mut quotas = Vec::new();
    for scope in scopes.iter().filter(|scope| scope.cloud == cloud && tx.outage(scope).is_none()) {
        for market in [Market::OnDemand, Market::Spot] {
            let Some(limit) = quota(tx, cloud, &scope.region, market) else { continue };
            let (region, used) = (scope.region.clone(), world.index.used(scope, market));
            let (name, unit) = (format!("{market} vCPUs"), QuotaUnit::Vcpus);
            quotas.push(Quota { cloud, region, market, name, unit, limit, used });
        }
    }
    Ok(View {
        settings: world.settings.clone(),
        now: tx.now(),
        faults: tx.faults().cloned().collect(),
        live: live.map(|(id, m)| (id.clone(), m.live.len() as u32)).collect(),
        quotas,
    })
}

/// Quotes pools in the order they are asked for. A region in outage says nothing, and nobody's signals
/// are computed that nobody wants.
pub(crate) fn quote(
    view: View,
    pools: &Pools,
    ids: &[PoolId],
    cloud: Cloud,
    signals: bool,
) -> Offered {
    let View { settings, now, faults, live, quotas } = view;
    let numbered: Vec<(u32, &Quota)> = (0..).zip(&quotas).collect();
    // By row and market: numbers hash faster than names.
    let mut live_in: HashMap<(usize, Market), u32> = HashMap::new();
    for (id, count) in &live {
        if let Some(pool) = pools.find(id) {
            live_in.insert((pool.number, id.market), *count);
        }
    }
    let rooms: Vec<&Fault> =
        faults.iter().filter(|fault| matches!(fault, Fault::Exhausted { .. })).collect();
    let outages: Vec<&Fault> =
        faults.iter().filter(|fault| matches!(fault, Fault::Outage { .. })).collect();
    let silent = |id: &PoolId| {
        !outages.is_empty()
            && outages.iter().any(|fault| match fault {
                Fault::Outage { area, .. } => area.covers(&id.place.scope()),
                _ => false,
            })
    };
    let counted = |id: &PoolId| -> Vec<u32> {
        let counts = |quota: &&(u32, &Quota)| {
            quota.1.region == id.place.region && quota.1.market == id.market
        };
        numbered.iter().filter(counts).map(|(at, _)| *at).collect()
    };
    let mut walk = pools.walk();
    let one = |id: &PoolId| -> Option<Quote> {
        if id.place.cloud != cloud || silent(id) {
            return None;
        }
        let pool = walk.find(id)?;
        let room = || {
            let live = match live_in.is_empty() {
                true => 0,
                false => live_in.get(&(pool.number, id.market)).copied().unwrap_or(0),
            };
            let capacity = pools.capacity(id, &pool, &settings, now);
            let allowed = rooms.iter().filter_map(|fault| fault.room_for(id));
            allowed.fold(capacity, u32::min).saturating_sub(live)
        };
        Some(Quote {
            price: pool.price(&settings, now),
            signals: Signals {
                obtainability: match signals {
                    true => pool.obtainability(&settings, now, room),
                    false => None,
                },
                ..Signals::default()
            },
            quotas: counted(id),
            ..Quote::default()
        })
    };
    let quotes = ids.iter().map(one).collect();
    Offered { quotes, quotas }
}
