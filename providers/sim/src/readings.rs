//! What the clouds tell of prices and of ended machines, for a ledger.
//!
//! Google and EC2 tell when a machine and its disk ended (operations; `StateTransitionReason` and CloudTrail), also of
//! machines that their lists do not show any more; Azure and Lambda do not. That EC2 tells when a machine
//! began to run is a guess: its lists do not, its state-change events do.

use crate::time::{BUCKET, Ms, from_stamp, stamp};
use crate::tx::Tx;
use fleet_model::{Cloud, PoolId, PriceStep, Ran, Readings};
use fleet_provider::ReadingsRequest;

pub(crate) fn readings(tx: &Tx<'_>, cloud: Cloud, request: &ReadingsRequest<'_>) -> Readings {
    let mut readings = Readings::default();
    for (pool, since) in request.pools {
        if tx.outage(&pool.place.scope()).is_none() {
            readings.prices.extend(steps(tx, pool, from_stamp(*since)));
        }
    }
    for (machine, scope) in request.gone {
        if tx.outage(scope).is_some() {
            continue;
        }
        let moments = match tx.world.vm(machine) {
            Some(vm) => Some((vm.running, [vm.asked, vm.stopped, vm.gone])),
            None => tx.world.moments_of_past(machine),
        };
        if let Some((running, ends)) = moments {
            readings.ran.insert(machine.clone(), ran(cloud, running, ends));
        }
    }
    readings
}

/// How the price of a pool moved after a moment.
fn steps(tx: &Tx<'_>, id: &PoolId, since: Ms) -> Vec<PriceStep> {
    let Some(pool) = tx.pools.find(id) else { return Vec::new() };
    let settings = &tx.world.settings;
    let mut last = pool.price(settings, since);
    let mut steps = Vec::new();
    let mut at = (since / BUCKET + 1) * BUCKET;
    while at <= tx.now() {
        let price = pool.price(settings, at);
        if price != last {
            last = price;
            steps.extend(price.map(|price| PriceStep {
                pool: id.clone(),
                since: stamp(at),
                price,
            }));
        }
        at += BUCKET;
    }
    steps
}

fn ran(cloud: Cloud, running: Ms, [asked, stopped, gone]: [Option<Ms>; 3]) -> Ran {
    let first = |moments: [Option<Ms>; 3]| moments.into_iter().flatten().min().map(stamp);
    match cloud {
        Cloud::Aws => Ran {
            from: Some(stamp(running)),
            until: first([asked, stopped, gone]),
            deleted: gone.map(stamp),
        },
        Cloud::Gcp => {
            Ran { from: None, until: first([None, stopped, gone]), deleted: gone.map(stamp) }
        }
        Cloud::Azure | Cloud::Lambda => Ran::default(),
    }
}
