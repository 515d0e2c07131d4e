//! Eviction rates: how likely Azure is to take a spot machine of a size back within an hour, in bands,
//! over the last weeks. One query of the Resource Graph for all sizes and regions of a plan.

use crate::api::Api;
use crate::error::Asked;
use fleet_model::{Share, SignalSource, digest};
use fleet_provider::{Answers, Error};
use reqwest::Method;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The version of the API of the Resource Graph.
const GRAPH: &str = "2021-03-01";

/// Rows of one answer, as many as Azure gives.
const PAGE: usize = 1000;

/// Pages of one plan: a user may ask 15 times in 5 seconds.
const PAGES: usize = 5;

/// Rates by region and size, both in small letters.
pub(crate) type Rates = BTreeMap<String, BTreeMap<String, Share>>;

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Answer {
    data: Vec<Row>,
    #[serde(rename = "$skipToken")]
    skip_token: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Row {
    sku_name: Option<String>,
    location: Option<String>,
    eviction_rate: Option<String>,
}

/// Names as a query takes them. What is no plain name is left out: a quote would end the list.
fn listed(names: &BTreeSet<String>) -> String {
    let plain =
        |name: &&String| name.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c));
    let names: Vec<String> = names.iter().filter(plain).map(|name| format!("'{name}'")).collect();
    names.join(", ")
}

fn query(regions: &BTreeSet<String>, sizes: &BTreeSet<String>) -> String {
    format!(
        "SpotResources | where type =~ 'microsoft.compute/skuspotevictionrate/location' \
         | where location in~ ({}) | where sku.name in~ ({}) \
         | project skuName = tostring(sku.name), location, \
         evictionRate = tostring(properties.evictionRate)",
        listed(regions),
        listed(sizes)
    )
}

/// The rates of sizes in regions: those of today, else new ones.
pub(crate) async fn rates(
    api: &Api,
    answers: &Answers,
    subscription: &str,
    regions: &BTreeSet<String>,
    sizes: &BTreeSet<String>,
) -> Result<Rates, Error> {
    if regions.is_empty() || sizes.is_empty() {
        return Ok(Rates::new());
    }
    let query = query(regions, sizes);
    // Long, and of no use to people.
    let question = format!("{subscription}/{}", digest("evictions/1", [query.as_bytes()]));
    let now = api.clock.now();
    let ask = || pages(api, subscription, &query);
    answers.ask(SignalSource::EvictionRate, &question, now, ask).await
}

async fn pages(api: &Api, subscription: &str, query: &str) -> Result<Rates, Error> {
    let mut rates = Rates::new();
    let mut token: Option<String> = None;
    for _ in 0..PAGES {
        let mut options = json!({ "resultFormat": "objectArray", "$top": PAGE });
        if let Some(token) = token {
            options["$skipToken"] = Value::from(token);
        }
        let body = json!({ "subscriptions": [subscription], "query": query, "options": options });
        let path = "/providers/Microsoft.ResourceGraph/resources";
        let version = [("api-version", GRAPH)];
        let answer = api.send(Asked::Read, Method::POST, path, &version, Some(&body)).await?;
        if answer.status != 200 {
            return Err(answer.error(Asked::Read));
        }
        let answer: Answer = answer.json(Asked::Read)?;
        read(&answer, &mut rates);
        token = answer.skip_token.filter(|token| !token.is_empty());
        if token.is_none() {
            break;
        }
    }
    Ok(rates)
}

fn read(answer: &Answer, rates: &mut Rates) {
    for Row { sku_name, location, eviction_rate } in &answer.data {
        if let (Some(size), Some(region), Some(band)) = (sku_name, location, eviction_rate)
            && let Some(rate) = middle(band)
        {
            let here = rates.entry(region.to_ascii_lowercase()).or_default();
            here.insert(size.to_ascii_lowercase(), rate);
        }
    }
}

/// The middle of a band: `0-5`, `5-10`, …, `20+`. The last has no end; a quarter is a guess.
fn middle(band: &str) -> Option<Share> {
    let percent = match band.trim().split_once('-') {
        Some((low, high)) => {
            (low.trim().parse::<f64>().ok()? + high.trim().parse::<f64>().ok()?) / 2.0
        }
        None => band.trim().strip_suffix('+')?.parse::<f64>().ok()? + 5.0,
    };
    let ppm = (0.0..=100.0).contains(&percent).then_some((percent * 10_000.0) as u32)?;
    Share::from_ppm(ppm)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::from_value;

    #[test]
    fn bands_are_read_and_nonsense_is_nothing() {
        let answer: Answer = from_value(json!({ "count": 4, "data": [
            { "skuName": "Standard_D2s_v5", "location": "EastUS", "evictionRate": "5-10" },
            { "skuName": "Standard_D4s_v5", "location": "eastus", "evictionRate": "20+" },
            { "skuName": "Standard_D8s_v5", "location": "eastus", "evictionRate": "often" },
            { "skuName": null, "location": "eastus", "evictionRate": "0-5" },
        ] }))
        .expect("an answer");
        let mut rates = Rates::new();
        read(&answer, &mut rates);
        let of = |size: &str| rates["eastus"].get(size).map(|share| share.ppm());
        assert_eq!(of("standard_d2s_v5"), Some(75_000));
        assert_eq!(of("standard_d4s_v5"), Some(250_000));
        assert_eq!(rates["eastus"].len(), 2);
        for wrong in ["", "-", "x-y", "+", "200-300", "NaN-NaN"] {
            assert_eq!(middle(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn only_plain_names_reach_the_query() {
        let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let text = query(&set(&["eastus"]), &set(&["Standard_D2s_v5", "x') | take 1"]));
        assert!(text.contains("in~ ('eastus')"), "{text}");
        assert!(text.contains("in~ ('Standard_D2s_v5')"), "{text}");
    }
}
