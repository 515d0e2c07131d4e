//! Spot placement scores: AWS's own word, 1 to 10, on how likely spot capacity is in each zone.
//!
//! A score is for a set of types together. AWS asks for three types or more; with fewer, scores
//! are low whatever the capacity, so they are not asked for at all.

use crate::error::{Asked, read};
use crate::session::Site;
use aws_sdk_ec2::operation::get_spot_placement_scores::builders::GetSpotPlacementScoresInputBuilder;
use aws_sdk_ec2::types::{SpotPlacementScore, TargetCapacityUnitType};
use fleet_model::{CapacityGoal, InstanceType, Obtainability, Region, SignalSource, Unit, Zone};
use fleet_provider::Error;
use futures::future::join_all;
use std::collections::{BTreeMap, BTreeSet};

/// Fewer types than this make no score.
const FEWEST_TYPES: usize = 3;

/// Types that one question may name.
const MOST_TYPES: usize = 1000;

/// As many as a page may hold.
const PAGE: i32 = 1000;

/// More pages than there are zones.
const PAGES: usize = 20;

/// Scores by region and zone.
pub(crate) type Scores = BTreeMap<(Region, Zone), Obtainability>;

/// Questions about some types in some regions of one account, region by region: AWS answers with the
/// ten best zones of all that were asked about, and no score is not the same as a low one. The amount is rounded up to a power
/// of two: AWS counts how many different questions an account asks in a day.
fn requests(
    types: &BTreeSet<&InstanceType>,
    regions: &BTreeSet<&Region>,
    goal: CapacityGoal,
) -> Vec<GetSpotPlacementScoresInputBuilder> {
    if types.len() < FEWEST_TYPES || types.len() > MOST_TYPES || goal.spot.is_zero() {
        return Vec::new();
    }
    let whole = goal.spot.0.div_ceil(1000);
    let (amount, unit) = match goal.unit {
        Unit::Instances | Unit::Gpus => (whole, TargetCapacityUnitType::Units),
        Unit::Vcpus => (whole, TargetCapacityUnitType::Vcpu),
        Unit::MemoryGib => (whole.saturating_mul(1024), TargetCapacityUnitType::MemoryMib),
    };
    let amount = i32::try_from(amount.checked_next_power_of_two().unwrap_or(u64::MAX));
    let one = |region: &&Region| {
        GetSpotPlacementScoresInputBuilder::default()
            .set_instance_types(Some(types.iter().map(|kind| kind.to_string()).collect()))
            .region_names(region.name())
            .target_capacity(amount.unwrap_or(i32::MAX))
            .target_capacity_unit_type(unit.clone())
            .single_availability_zone(true)
            .max_results(PAGE)
    };
    regions.iter().map(one).collect()
}

/// Asks for the scores of some regions of one account.
pub(crate) async fn scores(
    site: &Site,
    types: &BTreeSet<&InstanceType>,
    regions: &BTreeSet<&Region>,
    goal: CapacityGoal,
) -> Result<Scores, Error> {
    let questions = requests(types, regions, goal);
    let answers = join_all(questions.into_iter().map(|asked| pages(site, asked))).await;
    let mut scores = Scores::new();
    let mut failed = None;
    for answer in answers {
        match answer {
            Ok(found) => scores.extend(found.iter().filter_map(of)),
            Err(error) => failed = Some(error),
        }
    }
    // A new question may be one too many for today, while others are answered.
    match failed {
        Some(error) if scores.is_empty() => Err(error),
        Some(_) | None => Ok(scores),
    }
}

/// Every page of an answer.
async fn pages(
    site: &Site,
    asked: GetSpotPlacementScoresInputBuilder,
) -> Result<Vec<SpotPlacementScore>, Error> {
    let mut found = Vec::new();
    let mut page = None;
    for _ in 0..PAGES {
        let request = asked.clone().set_next_token(page);
        let answer =
            request.send_with(&site.ec2).await.map_err(|error| read(Asked::Read, error))?;
        found.extend(answer.spot_placement_scores.unwrap_or_default());
        page = answer.next_token.filter(|token| !token.is_empty());
        if page.is_none() {
            break;
        }
    }
    Ok(found)
}

fn of(score: &SpotPlacementScore) -> Option<((Region, Zone), Obtainability)> {
    let percent = u8::try_from(score.score()?.clamp(0, 10) * 10).ok()?;
    let place = (Region::from(score.region()?), Zone::from(score.availability_zone_id()?));
    Some((place, Obtainability { percent, source: SignalSource::SpotPlacementScore }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fleet_model::Units;

    #[test]
    fn asked_only_where_it_means_something() {
        let names: Vec<InstanceType> = ["a", "b", "c"].map(InstanceType::from).to_vec();
        let regions: Vec<Region> =
            (0..12).map(|n| Region::new(format!("r-{n}@123456789012"))).collect();
        let regions: BTreeSet<&Region> = regions.iter().collect();
        let goal = |unit, spot| CapacityGoal {
            unit,
            target: Units::whole(spot),
            on_demand: Units(0),
            spot: Units::whole(spot),
        };
        let asked =
            |types: usize, goal| requests(&names.iter().take(types).collect(), &regions, goal);
        assert!(asked(2, goal(Unit::Instances, 10)).is_empty());
        assert!(asked(3, goal(Unit::Instances, 0)).is_empty());
        let all = asked(3, goal(Unit::MemoryGib, 100));
        assert_eq!(all.len(), 12, "the ten best zones of each region");
        assert_eq!(*all[0].get_target_capacity(), Some(131_072));
        assert_eq!(all[0].get_region_names().as_ref().map(Vec::len), Some(1));
        assert!(all[0].get_region_names().iter().flatten().all(|name| !name.contains('@')));
    }

    #[test]
    fn ten_is_certain() {
        let score =
            SpotPlacementScore::builder().region("us-east-1").availability_zone_id("use1-az4");
        let (place, chance) = of(&score.score(7).build()).expect("a score");
        assert_eq!((place.0.as_str(), place.1.as_str()), ("us-east-1", "use1-az4"));
        assert_eq!(chance.percent, 70);
    }
}
