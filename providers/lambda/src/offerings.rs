//! What each type costs now and where it is to be had: one call for everything.

use crate::machines::price;
use crate::regional::{Belongings, refusal};
use crate::wire::Kinds;
use fleet_model::{Market, Obtainability, PoolId, Quote, SignalSource, Signals, Template, Zone};

/// Listed is likely, not certain: of eleven launches of types listed a moment before, three were
/// refused for lack of room (a public survey of 2026-08-31).
const LISTED: u8 = 70;

/// Not listed is unlikely, not impossible: of 355 polls without a type, 22 had it in the next one,
/// two minutes later (the recorded polls of the same survey).
const NOT_LISTED: u8 = 5;

/// What is known of a pool.
pub(crate) fn quote(
    pool: &PoolId,
    template: &Template,
    kinds: &Kinds,
    found: &Belongings,
) -> Option<Quote> {
    let offer = offer(pool, kinds)?;
    Some(Quote { refusal: refusal(pool, template, found).map(Into::into), ..offer })
}

/// What the list of types says of a pool.
pub(crate) fn offer(pool: &PoolId, kinds: &Kinds) -> Option<Quote> {
    if pool.market != Market::OnDemand || pool.place.zone.as_str() != Zone::REGIONAL {
        return None;
    }
    let item = kinds.get(pool.instance_type.as_str())?;
    let region = pool.place.region.as_str();
    let here = item.regions_with_capacity_available.iter().any(|other| other.name == region);
    let percent = if here { LISTED } else { NOT_LISTED };
    let source = SignalSource::RegionsWithCapacity;
    Some(Quote {
        price: Some(price(&item.instance_type)),
        signals: Signals {
            obtainability: Some(Obtainability { percent, source }),
            ..Signals::default()
        },
        ..Quote::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use fleet_model::MicroUsd;
    use serde_json::{from_value, json};

    #[test]
    fn one_answer_has_prices_and_capacity() {
        let kinds: Kinds = from_value(json!({ "gpu_1x_a10": {
            "instance_type": { "name": "gpu_1x_a10", "price_cents_per_hour": 129 },
            "regions_with_capacity_available": [{ "name": "us-west-1" }],
        }}))
        .expect("types");
        let template = Template { key: Some("laptop".into()), ..Template::default() };
        let of = |pool: &str| {
            quote(&pool.parse().expect("a pool"), &template, &kinds, &Belongings::default())
        };
        let percent = |quote: &Quote| quote.signals.obtainability.map(|signal| signal.percent);
        let here = of("lambda/us-west-1/regional/gpu_1x_a10/on-demand").expect("known");
        assert_eq!((here.price, percent(&here)), (Some(MicroUsd(1_290_000)), Some(LISTED)));
        assert_eq!(here.refusal, None);
        let there = of("lambda/us-east-1/regional/gpu_1x_a10/on-demand").expect("known");
        assert_eq!(percent(&there), Some(NOT_LISTED));
        assert_eq!(of("lambda/us-west-1/regional/gpu_1x_a10/spot"), None);
        assert_eq!(of("lambda/us-west-1/regional/gpu_9x_b900/on-demand"), None);
        let pool = "lambda/us-west-1/regional/gpu_1x_a10/on-demand".parse().expect("a pool");
        let keyless =
            quote(&pool, &Template::default(), &kinds, &Belongings::default()).expect("known");
        assert!(keyless.refusal.is_some());
    }
}
