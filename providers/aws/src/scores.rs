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
use std::collections::{BTreeMap, BTreeSet};

/// Fewer types than this make no score.
const FEWEST_TYPES: usize = 3;

/// Types that one question may name.
const MOST_TYPES: usize = 1000;

/// Regions that one question may name.
const MOST_REGIONS: usize = 10;

/// Scores by region and zone.
pub(crate) type Scores = BTreeMap<(Region, Zone), Obtainability>;

/// Questions about some types in some regions of one account. The amount is rounded up to a power
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
    let regions: Vec<&&Region> = regions.iter().collect();
    let some = |regions: &[&&Region]| {
        GetSpotPlacementScoresInputBuilder::default()
            .set_instance_types(Some(types.iter().map(|kind| kind.to_string()).collect()))
            .set_region_names(Some(regions.iter().map(|region| region.name().to_owned()).collect()))
            .target_capacity(amount.unwrap_or(i32::MAX))
            .target_capacity_unit_type(unit.clone())
            .single_availability_zone(true)
    };
    regions.chunks(MOST_REGIONS).map(some).collect()
}

/// Asks for the scores of some regions of one account.
pub(crate) async fn scores(
    site: &Site,
    types: &BTreeSet<&InstanceType>,
    regions: &BTreeSet<&Region>,
    goal: CapacityGoal,
) -> Result<Scores, Error> {
    let mut scores = Scores::new();
    for asked in requests(types, regions, goal) {
        let answer = asked.send_with(&site.ec2).await.map_err(|error| read(Asked::Read, error))?;
        let found = answer.spot_placement_scores();
        scores.extend(found.iter().filter_map(|score| of(score, site.region.account())));
    }
    Ok(scores)
}

fn of(
    score: &SpotPlacementScore,
    account: Option<&str>,
) -> Option<((Region, Zone), Obtainability)> {
    let region = Region::from(score.region()?);
    let region = account.map_or(region.clone(), |account| region.of_account(account));
    let percent = u8::try_from(score.score()?.clamp(0, 10) * 10).ok()?;
    let place = (region, Zone::from(score.availability_zone_id()?));
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
        let two = asked(3, goal(Unit::MemoryGib, 100));
        assert_eq!(two.len(), 2);
        assert_eq!(*two[0].get_target_capacity(), Some(131_072));
        assert_eq!(two[0].get_region_names().as_ref().map(Vec::len), Some(10));
        assert!(two[0].get_region_names().iter().flatten().all(|name| !name.contains('@')));
    }

    #[test]
    fn ten_is_certain() {
        let score =
            SpotPlacementScore::builder().region("us-east-1").availability_zone_id("use1-az4");
        let (place, chance) = of(&score.score(7).build(), Some("1")).expect("a score");
        assert_eq!((place.0.as_str(), place.1.as_str()), ("us-east-1@1", "use1-az4"));
        assert_eq!(chance.percent, 70);
    }
}
