//! The public price list: on-demand and spot, by region and size.

use crate::api::Api;
use crate::error::{Asked, refused};
use fleet_model::MicroUsd;
use fleet_provider::{Class, Error};
use serde::Deserialize;
use std::collections::BTreeMap;

/// The version of the price list.
const VERSION: &str = "2023-01-01-preview";

/// Sizes that one question names: its address must not grow too long.
const SIZES: usize = 12;

/// A list that goes on for longer is not a list.
const PAGES: usize = 2000;

/// What a size costs per hour.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Price {
    pub(crate) on_demand: Option<MicroUsd>,
    pub(crate) spot: Option<MicroUsd>,
}

/// Prices by size in small letters.
pub(crate) type Prices = BTreeMap<String, Price>;

#[derive(Debug, Deserialize)]
struct Page {
    #[serde(rename = "Items", default)]
    items: Vec<Item>,
    #[serde(rename = "NextPageLink", default)]
    next: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Item {
    arm_sku_name: String,
    arm_region_name: String,
    product_name: String,
    sku_name: String,
    unit_of_measure: String,
    currency_code: String,
    #[serde(rename = "type")]
    kind: String,
    retail_price: f64,
    tier_minimum_units: f64,
}

impl Item {
    /// Windows, which some lines call `Win`, and what is not sold as a plain machine.
    fn is_for_others(&self) -> bool {
        let mut words = self.product_name.split_whitespace();
        words.any(|word| ["Windows", "Win", "CloudServices", "Dedicated"].contains(&word))
            || self.product_name.contains("Cloud Services")
    }
}

/// The prices of some sizes in a region; none named: of all of them.
pub(crate) async fn ask(api: &Api, region: &str, sizes: &[String]) -> Result<Prices, Error> {
    let mut prices = Prices::new();
    if sizes.is_empty() {
        read_into(&mut prices, all(api, &filter(region, &[])).await?, region);
        return Ok(prices);
    }
    for some in sizes.chunks(SIZES) {
        read_into(&mut prices, all(api, &filter(region, some)).await?, region);
    }
    Ok(prices)
}

fn filter(region: &str, sizes: &[String]) -> String {
    // Quotes would end the text that they stand in; no size has any.
    let clean = |text: &str| text.replace('\'', "");
    let mut filter = format!(
        "serviceName eq 'Virtual Machines' and priceType eq 'Consumption' and armRegionName eq '{}'",
        clean(region)
    );
    let named: Vec<String> =
        sizes.iter().map(|size| format!("armSkuName eq '{}'", clean(size))).collect();
    if !named.is_empty() {
        filter.push_str(&format!(" and ({})", named.join(" or ")));
    }
    filter
}

async fn all(api: &Api, filter: &str) -> Result<Vec<Item>, Error> {
    let base = api.settings.prices.trim_end_matches('/');
    let url = format!("{base}/api/retail/prices");
    let query = [("api-version", VERSION), ("$filter", filter)];
    let mut items = Vec::new();
    let mut answer = api.public(&url, &query).await?;
    for _ in 0..PAGES {
        if answer.status != 200 {
            return Err(answer.error(Asked::Read));
        }
        let page: Page = answer.json(Asked::Read)?;
        items.extend(page.items);
        let Some(next) = page.next.filter(|next| !next.is_empty()) else { return Ok(items) };
        // Nothing secret goes there; still, only to the same server.
        let Ok(next) = reqwest::Url::parse(&next) else { break };
        let query = next.query().map(|query| format!("?{query}")).unwrap_or_default();
        answer = api.public(&format!("{url}{query}"), &[]).await?;
    }
    Err(refused(Class::Retry { after: None }, "EndlessList", "the list of prices has no end"))
}

fn read_into(prices: &mut Prices, items: Vec<Item>, region: &str) {
    for item in items {
        let plain = item.kind == "Consumption"
            && item.arm_region_name == region
            && item.unit_of_measure == "1 Hour"
            && (item.currency_code.is_empty() || item.currency_code == "USD")
            && item.tier_minimum_units == 0.0
            && !item.arm_sku_name.is_empty()
            // Linux, which is what the catalog's prices are for.
            && !item.is_for_others()
            && !item.sku_name.contains("Low Priority");
        let Some(price) = MicroUsd::from_f64(item.retail_price).filter(|price| price.0 > 0) else {
            continue;
        };
        if !plain {
            continue;
        }
        let entry = prices.entry(item.arm_sku_name.to_ascii_lowercase()).or_default();
        let slot =
            if item.sku_name.ends_with(" Spot") { &mut entry.spot } else { &mut entry.on_demand };
        // Several meters for one size: the dearest, so that no budget is broken.
        *slot = (*slot).max(Some(price));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, from_value, json};

    fn item(change: impl FnOnce(&mut Value)) -> Item {
        let mut item = json!({
            "armSkuName": "Standard_D2s_v5", "armRegionName": "eastus",
            "productName": "Virtual Machines Dsv5 Series", "skuName": "D2s v5",
            "unitOfMeasure": "1 Hour", "currencyCode": "USD", "type": "Consumption",
            "retailPrice": 0.096, "tierMinimumUnits": 0.0,
        });
        change(&mut item);
        from_value(item).expect("an item")
    }

    #[test]
    fn only_plain_linux_hours_count() {
        let mut prices = Prices::new();
        let items = vec![
            item(|_| {}),
            item(|i| {
                i["skuName"] = json!("D2s v5 Spot");
                i["retailPrice"] = json!(0.0177);
            }),
            item(|i| {
                i["skuName"] = json!("D2s v5 Low Priority");
                i["retailPrice"] = json!(0.5);
            }),
            item(|i| {
                i["productName"] = json!("Virtual Machines Dsv5 Series Windows");
                i["retailPrice"] = json!(9.0);
            }),
            item(|i| {
                i["productName"] = json!("Virtual Machines Dsv5 Series Win");
                i["retailPrice"] = json!(9.0);
            }),
            item(|i| {
                i["productName"] = json!("Dsv5 Series CloudServices");
                i["retailPrice"] = json!(9.0);
            }),
            item(|i| {
                i["type"] = json!("Reservation");
                i["retailPrice"] = json!(9.0);
            }),
            item(|i| {
                i["armRegionName"] = json!("westus");
                i["retailPrice"] = json!(9.0);
            }),
            item(|i| i["retailPrice"] = json!(-1.0)),
        ];
        read_into(&mut prices, items, "eastus");
        let expect = Price { on_demand: Some(MicroUsd(96_000)), spot: Some(MicroUsd(17_700)) };
        assert_eq!(prices, Prices::from([("standard_d2s_v5".to_owned(), expect)]));
    }

    #[test]
    fn filters_cannot_be_broken_out_of() {
        let text = filter("eastus", &["x' or 1 eq 1".to_owned()]);
        assert!(text.ends_with("(armSkuName eq 'x or 1 eq 1')"), "{text}");
    }
}
