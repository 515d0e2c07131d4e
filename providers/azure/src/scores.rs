//! Spot placement scores: Azure's own word on how likely a spot machine is.

use crate::api::Api;
use crate::error::Asked;
use fleet_provider::Error;
use reqwest::Method;
use serde::Deserialize;
use serde_json::json;
use std::collections::BTreeMap;

/// The version of the API of scores.
const SCORES: &str = "2025-06-05";

/// Sizes that one question may name.
pub(crate) const SIZES: usize = 5;

/// Scores by size in small letters and zone; no zone: the region as a whole.
pub(crate) type Scores = BTreeMap<(String, Option<String>), u8>;

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Answer {
    placement_scores: Vec<Score>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Score {
    sku: String,
    availability_zone: Option<String>,
    score: String,
}

/// Asks for the scores of a few sizes in a region. It changes nothing, though it is a `POST`.
pub(crate) async fn ask(
    api: &Api,
    subscription: &str,
    region: &str,
    sizes: &[String],
    zones: bool,
) -> Result<Scores, Error> {
    let path = format!(
        "/subscriptions/{subscription}/providers/Microsoft.Compute/locations/{region}\
         /placementScores/spot/generate"
    );
    let sizes: Vec<_> = sizes.iter().map(|size| json!({ "sku": size })).collect();
    let body = json!({
        "desiredLocations": [region],
        "desiredSizes": sizes,
        "desiredCount": 1,
        "availabilityZones": zones,
    });
    let query = [("api-version", SCORES)];
    let answer = api.send(Asked::Read, Method::POST, &path, &query, Some(&body)).await?;
    if answer.status != 200 {
        return Err(answer.error(Asked::Read));
    }
    Ok(read(&answer.json(Asked::Read)?))
}

pub(crate) fn read(answer: &Answer) -> Scores {
    let one = |score: &Score| {
        let percent = percent(&score.score)?;
        let zone = score.availability_zone.clone().filter(|zone| !zone.is_empty());
        Some(((score.sku.to_ascii_lowercase(), zone), percent))
    };
    answer.placement_scores.iter().filter_map(one).collect()
}

/// Three words as numbers; others say that nobody knows.
fn percent(score: &str) -> Option<u8> {
    match score {
        "High" => Some(90),
        "Medium" => Some(50),
        "Low" => Some(10),
        "RestrictedSkuNotAvailable" => Some(0),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::from_value;

    #[test]
    fn words_become_numbers() {
        let answer: Answer = from_value(json!({ "placementScores": [
            { "sku": "Standard_D2s_v5", "region": "eastus", "score": "High" },
            { "sku": "Standard_D2s_v5", "region": "eastus", "availabilityZone": "2", "score": "Low" },
            { "sku": "Standard_D4s_v5", "region": "eastus", "score": "DataNotFoundOrStale" },
        ]}))
        .expect("an answer");
        let scores = read(&answer);
        let of = |zone: Option<&str>| {
            scores.get(&("standard_d2s_v5".to_owned(), zone.map(str::to_owned))).copied()
        };
        assert_eq!((of(None), of(Some("2")), of(Some("1"))), (Some(90), Some(10), None));
        assert_eq!(scores.len(), 2);
    }
}
