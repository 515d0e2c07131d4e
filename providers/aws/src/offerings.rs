//! What spot machines cost now. On-demand prices are the catalog's; limits of the account are not
//! read, which leaves them unknown.

use crate::error::{Asked, read, refused};
use crate::session::Site;
use crate::spot_cache::Known;
use crate::zones::Zones;
use aws_sdk_ec2::operation::describe_spot_price_history::builders::DescribeSpotPriceHistoryInputBuilder;
use aws_sdk_ec2::primitives::DateTime;
use aws_sdk_ec2::types::{Filter, SpotPrice};
use fleet_model::{InstanceType, Market, MicroUsd, PoolId, Quote, Signals, Timestamp, Zone};
use fleet_provider::{Class, Error};
use std::collections::{BTreeMap, BTreeSet};

/// Values that one filter may hold.
const VALUES: usize = 200;

/// Rows per page.
const PAGE: i32 = 1000;

/// Far more than a region has.
const PAGES: usize = 200;

/// Linux, which is what the catalog's prices are for.
const PRODUCT: &str = "Linux/UNIX";

/// Prices by type and zone.
pub(crate) type Prices = BTreeMap<(InstanceType, Zone), MicroUsd>;

/// Requests for the present prices of some types: a history that begins now is the price now.
fn requests(
    types: &BTreeSet<&InstanceType>,
    now: Timestamp,
) -> Vec<DescribeSpotPriceHistoryInputBuilder> {
    let types: Vec<&&InstanceType> = types.iter().collect();
    let some = |types: &[&&InstanceType]| {
        // By filter: a type that EC2 does not know fails the call if it is named outright.
        let values = types.iter().map(|kind| kind.to_string()).collect();
        DescribeSpotPriceHistoryInputBuilder::default()
            .filters(Filter::builder().name("instance-type").set_values(Some(values)).build())
            .product_descriptions(PRODUCT)
            .start_time(DateTime::from_secs(now.as_second()))
            .max_results(PAGE)
    };
    types.chunks(VALUES).map(some).collect()
}

/// The present spot prices in a region.
pub(crate) async fn spot_prices(
    site: &Site,
    types: &BTreeSet<&InstanceType>,
    now: Timestamp,
) -> Result<Prices, Error> {
    let zones = site.zones().await?;
    let mut rows = Vec::new();
    for asked in requests(types, now) {
        rows.extend(all(site, asked).await?);
    }
    Ok(prices(&rows, zones))
}

async fn all(
    site: &Site,
    asked: DescribeSpotPriceHistoryInputBuilder,
) -> Result<Vec<SpotPrice>, Error> {
    let mut rows = Vec::new();
    let mut page = None;
    for _ in 0..PAGES {
        let request = asked.clone().set_next_token(page);
        let answer =
            request.send_with(&site.ec2).await.map_err(|error| read(Asked::Read, error))?;
        rows.extend(answer.spot_price_history.unwrap_or_default());
        page = answer.next_token.filter(|token| !token.is_empty());
        if page.is_none() {
            return Ok(rows);
        }
    }
    Err(refused(Class::Retry { after: None }, "EndlessList", "the list of prices has no end"))
}

/// The newest price of each type and zone.
fn prices(rows: &[SpotPrice], zones: &Zones) -> Prices {
    let mut newest: BTreeMap<(InstanceType, Zone), (i64, MicroUsd)> = BTreeMap::new();
    for row in rows {
        let (Some(kind), Some(price)) = (row.instance_type(), row.spot_price()) else { continue };
        let zone = match (row.availability_zone_id(), row.availability_zone()) {
            (Some(id), _) => id.into(),
            (None, Some(name)) => zones.id(name),
            (None, None) => continue,
        };
        let Ok(price) = price.parse::<MicroUsd>() else { continue };
        let at = row.timestamp().map_or(i64::MIN, DateTime::secs);
        let entry = newest.entry((kind.as_str().into(), zone)).or_insert((at, price));
        if at > entry.0 {
            *entry = (at, price);
        }
    }
    newest.into_iter().map(|(pool, (_, price))| (pool, price)).collect()
}

/// What is known of a pool.
pub(crate) fn quote(pool: &PoolId, known: &Known) -> Option<Quote> {
    if pool.market != Market::Spot {
        return None;
    }
    let price = known.prices.get(&(pool.instance_type.clone(), pool.place.zone.clone()))?;
    let signals = Signals { price_as_of: Some(known.as_of), ..Signals::default() };
    Some(Quote { price: Some(*price), signals, ..Quote::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_price_of_each_pool_counts() {
        let row = |zone: &str, at: i64, price: &str| {
            SpotPrice::builder()
                .instance_type("m5.large".into())
                .availability_zone(zone)
                .timestamp(DateTime::from_secs(at))
                .spot_price(price)
                .build()
        };
        let rows = [
            row("us-east-1a", 1, "0.040000"),
            row("us-east-1a", 3, "0.041100"),
            row("us-east-1a", 2, "0.050000"),
            row("us-east-1b", 1, "not money"),
        ];
        let zones = Zones::of(&[("use1-az6", "us-east-1a"), ("use1-az1", "us-east-1b")]);
        let known = Known { prices: prices(&rows, &zones), as_of: Timestamp::UNIX_EPOCH };
        let check = |pool: &str, expect: Option<u64>| {
            let quote = quote(&pool.parse().expect("a pool"), &known);
            assert_eq!(quote.and_then(|quote| quote.price), expect.map(MicroUsd), "{pool}");
        };
        check("aws/us-east-1/use1-az6/m5.large/spot", Some(41_100));
        check("aws/us-east-1/use1-az6/m5.large/on-demand", None);
        check("aws/us-east-1/use1-az1/m5.large/spot", None);
        check("aws/us-east-1/use1-az6/m6i.large/spot", None);
    }

    #[test]
    fn many_types_are_several_requests() {
        let types: Vec<InstanceType> =
            (0..201).map(|n| format!("t{n}.large").as_str().into()).collect();
        let types: BTreeSet<&InstanceType> = types.iter().collect();
        assert_eq!(requests(&types, Timestamp::UNIX_EPOCH).len(), 2);
    }
}
