//! What spot machines cost now, and how much that moved lately.

use crate::error::{Asked, read, refused};
use crate::session::Site;
use crate::spot_cache::{Known, Wanted};
use crate::zones::Zones;
use aws_sdk_ec2::operation::describe_spot_price_history::builders::DescribeSpotPriceHistoryInputBuilder;
use aws_sdk_ec2::primitives::DateTime;
use aws_sdk_ec2::types::{Filter, SpotPrice};
use fleet_model::{InstanceType, MicroUsd, Share, Timestamp, Zone};
use fleet_provider::{Answers, Class, Error};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Values that one filter may hold.
const VALUES: usize = 200;

/// Rows per page.
const PAGE: i32 = 1000;

/// Far more than a region has.
const PAGES: usize = 200;

/// Linux, which is what the catalog's prices are for.
const PRODUCT: &str = "Linux/UNIX";

const HOUR: i64 = 3600;

/// A price, and how much it moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Level {
    pub(crate) price: MicroUsd,
    /// The standard deviation over the time asked for, as a share of the mean. `None`: the
    /// history is too short to say.
    pub(crate) volatility: Option<Share>,
}

/// Prices by type and zone.
pub(crate) type Prices = BTreeMap<(InstanceType, Zone), Level>;

/// How far back to look: the more types, the longer the list, and a plan should not wait for it.
fn window(types: usize) -> i64 {
    match types {
        0..=20 => 72 * HOUR,
        21..=60 => 24 * HOUR,
        _ => 0,
    }
}

/// Requests for the prices of some types since a moment; the price at that moment comes with it.
fn requests(
    types: &BTreeSet<&InstanceType>,
    since: i64,
) -> Vec<DescribeSpotPriceHistoryInputBuilder> {
    let types: Vec<&&InstanceType> = types.iter().collect();
    let some = |types: &[&&InstanceType]| {
        // By filter: a type that EC2 does not know fails the call if it is named outright.
        let values = types.iter().map(|kind| kind.to_string()).collect();
        DescribeSpotPriceHistoryInputBuilder::default()
            .filters(Filter::builder().name("instance-type").set_values(Some(values)).build())
            .product_descriptions(PRODUCT)
            .start_time(DateTime::from_secs(since))
            .max_results(PAGE)
    };
    types.chunks(VALUES).map(some).collect()
}

/// Spot prices of some types: those of a moment ago, else those of now, else the last known.
pub(crate) async fn known(
    site: &Site,
    types: &BTreeSet<&InstanceType>,
    history: bool,
    answers: &Answers,
    now: Timestamp,
) -> Result<Known, Error> {
    let region = site.region.as_str();
    let wanted = Wanted { region, types, history };
    if types.is_empty() {
        return Ok(Known { prices: Prices::new(), as_of: now });
    }
    if let Some(known) = wanted.fresh(answers, now) {
        return Ok(known);
    }
    match spot_prices(site, types, history, now).await {
        Ok(prices) => {
            wanted.keep(answers, &prices, now);
            Ok(Known { prices, as_of: now })
        }
        Err(error) => match wanted.last(answers, now) {
            Some(known) => {
                tracing::warn!(%region, %error, as_of = %known.as_of, "spot prices are not new");
                Ok(known)
            }
            None => Err(error),
        },
    }
}

/// The spot prices in a region, and how they moved if that is wanted: it makes the list much longer.
pub(crate) async fn spot_prices(
    site: &Site,
    types: &BTreeSet<&InstanceType>,
    history: bool,
    now: Timestamp,
) -> Result<Prices, Error> {
    let zones = site.zones().await?;
    let since = now.as_second() - if history { window(types.len()) } else { 0 };
    let mut rows = Vec::new();
    for asked in requests(types, since) {
        rows.extend(all(site, asked).await?);
    }
    Ok(levels(&rows, zones, since, now.as_second()))
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

/// The newest price of each type and zone, and how it came to be.
fn levels(rows: &[SpotPrice], zones: &Zones, since: i64, now: i64) -> Prices {
    let mut histories: BTreeMap<(InstanceType, Zone), Vec<(i64, MicroUsd)>> = BTreeMap::new();
    for row in rows {
        let (Some(kind), Some(price)) = (row.instance_type(), row.spot_price()) else { continue };
        let zone = match (row.availability_zone_id(), row.availability_zone()) {
            (Some(id), _) => id.into(),
            (None, Some(name)) => zones.id(name),
            (None, None) => continue,
        };
        let Ok(price) = price.parse::<MicroUsd>() else { continue };
        let at = row.timestamp().map_or(i64::MIN, DateTime::secs);
        histories.entry((kind.as_str().into(), zone)).or_default().push((at, price));
    }
    let level = |mut history: Vec<(i64, MicroUsd)>| {
        history.sort();
        let price = history.last()?.1;
        Some(Level { price, volatility: volatility(&history, since, now) })
    };
    histories.into_iter().filter_map(|(pool, history)| Some((pool, level(history)?))).collect()
}

/// How much a price moved, each level weighed by how long it held.
fn volatility(history: &[(i64, MicroUsd)], since: i64, now: i64) -> Option<Share> {
    let ends = history.iter().skip(1).map(|(at, _)| *at).chain([now]);
    let held: Vec<(f64, f64)> = history
        .iter()
        .zip(ends)
        .map(|((at, price), end)| (price.0 as f64, (end - (*at).max(since)).max(0) as f64))
        .collect();
    let time: f64 = held.iter().map(|(_, time)| time).sum();
    if time < (HOUR as f64) {
        return None;
    }
    let mean = held.iter().map(|(price, time)| price * time).sum::<f64>() / time;
    let variance =
        held.iter().map(|(price, time)| (price - mean).powi(2) * time).sum::<f64>() / time;
    if mean <= 0.0 {
        return None;
    }
    let ppm = (variance.sqrt() / mean * 1e6).round().min(f64::from(Share::ALL.ppm()));
    Share::from_ppm(ppm as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(zone: &str, at: i64, price: &str) -> SpotPrice {
        SpotPrice::builder()
            .instance_type("m5.large".into())
            .availability_zone(zone)
            .timestamp(DateTime::from_secs(at))
            .spot_price(price)
            .build()
    }

    #[test]
    fn the_newest_price_of_each_pool_counts() {
        let rows = [
            row("us-east-1a", 1, "0.040000"),
            row("us-east-1a", 3, "0.041100"),
            row("us-east-1a", 2, "0.050000"),
            row("us-east-1b", 1, "not money"),
        ];
        let zones = Zones::of(&[("use1-az6", "us-east-1a"), ("use1-az1", "us-east-1b")]);
        let prices = levels(&rows, &zones, 0, 5);
        let level = Level { price: MicroUsd(41_100), volatility: None };
        assert_eq!(prices, Prices::from([(("m5.large".into(), "use1-az6".into()), level)]));
    }

    #[test]
    fn a_price_that_moves_is_volatile() {
        let of = |rows: &[(i64, u64)]| {
            let rows: Vec<_> = rows.iter().map(|(at, price)| (*at, MicroUsd(*price))).collect();
            volatility(&rows, 0, 10 * HOUR).map(Share::ppm)
        };
        assert_eq!(of(&[(-50, 40_000)]), Some(0));
        // Half of the time at 30, half at 50: 10 around 40.
        assert_eq!(of(&[(-50, 30_000), (5 * HOUR, 50_000)]), Some(250_000));
        // A peak that did not last counts for little.
        assert!(
            of(&[(-50, 40_000), (HOUR, 80_000), (HOUR + 60, 40_000)]).is_some_and(|v| v < 50_000)
        );
    }

    #[test]
    fn many_types_are_several_requests_and_a_short_history() {
        let types: Vec<InstanceType> =
            (0..201).map(|n| format!("t{n}.large").as_str().into()).collect();
        let types: BTreeSet<&InstanceType> = types.iter().collect();
        assert_eq!(requests(&types, 0).len(), 2);
        assert_eq!([window(3), window(50), window(201)], [72 * HOUR, 24 * HOUR, 0]);
    }
}
