//! Spot placement scores: Azure's own word on how likely a spot machine is.

use crate::api::Api;
use crate::error::Asked;
use fleet_model::{CapacityGoal, SignalSource, Unit};
use fleet_provider::{Answers, Error};
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

/// A question about a region: sizes, whether zones count, and how many machines.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Question {
    pub(crate) region: String,
    pub(crate) sizes: Vec<String>,
    pub(crate) zones: bool,
    pub(crate) count: u32,
}

/// The most machines that a question is asked for.
const MOST: u32 = 1000;

impl Question {
    fn text(&self, subscription: &str) -> String {
        let Question { region, sizes, zones, count } = self;
        format!(
            "{subscription}/{region}/{count}/{}/{}",
            if *zones { "zones" } else { "region" },
            sizes.join(",")
        )
    }
}

/// The scores of a few sizes: those that were asked for lately, or new ones.
pub(crate) async fn scores(
    api: &Api,
    answers: &Answers,
    subscription: &str,
    question: Question,
) -> Result<Scores, Error> {
    let text = question.text(subscription);
    let now = api.clock.now();
    let ask = || ask(api, subscription, &question);
    // As a list: a map's keys are text in JSON.
    let scores: Vec<Scored> = answers.ask(SignalSource::PlacementScore, &text, now, ask).await?;
    Ok(scores.into_iter().collect())
}

/// A size, a zone, and their score.
type Scored = ((String, Option<String>), u8);

/// For how many machines scores are asked: a score is for that many. Where something else is counted,
/// nobody knows how many machines of a size that will be.
pub(crate) fn count(goal: CapacityGoal) -> u32 {
    match goal.unit {
        Unit::Instances => u32::try_from(goal.spot.0.div_ceil(1000)).unwrap_or(MOST).clamp(1, MOST),
        Unit::Vcpus | Unit::Gpus | Unit::MemoryGib | Unit::Figure(_) | Unit::Work => 1,
    }
}

/// Asks for the scores of a few sizes in a region. It changes nothing, though it is a `POST`.
async fn ask(api: &Api, subscription: &str, question: &Question) -> Result<Vec<Scored>, Error> {
    let Question { region, sizes, zones, count } = question;
    let path = format!(
        "/subscriptions/{subscription}/providers/Microsoft.Compute/locations/{region}\
         /placementScores/spot/generate"
    );
    let sizes: Vec<_> = sizes.iter().map(|size| json!({ "sku": size })).collect();
    let body = json!({
        "desiredLocations": [region],
        "desiredSizes": sizes,
        "desiredCount": count,
        "availabilityZones": zones,
    });
    let query = [("api-version", SCORES)];
    let answer = api.send(Asked::Read, Method::POST, &path, &query, Some(&body)).await?;
    if answer.status != 200 {
        return Err(answer.error(Asked::Read));
    }
    Ok(read(&answer.json(Asked::Read)?).into_iter().collect())
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
    #[test]
    fn scores_are_asked_for_as_many_as_are_wanted() {
        let of = |unit, milli| {
            count(CapacityGoal { unit, spot: fleet_model::Units(milli), ..CapacityGoal::default() })
        };
        assert_eq!(of(Unit::Instances, 12_500), 13);
        assert_eq!(of(Unit::Instances, 0), 1);
        assert_eq!(of(Unit::Instances, 9_000_000), MOST);
        assert_eq!(of(Unit::Vcpus, 12_500), 1);
    }
}
