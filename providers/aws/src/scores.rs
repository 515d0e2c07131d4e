//! Spot placement scores: AWS's own word, 1 to 10, on how likely spot capacity is in each zone.
//!
//! A score is for a set of types together. AWS asks for three types or more; with fewer, scores
//! are low whatever the capacity, so they are not asked for at all.

use crate::error::{Asked, read};
use crate::session::Site;
use aws_sdk_ec2::operation::get_spot_placement_scores::builders::GetSpotPlacementScoresInputBuilder;
use aws_sdk_ec2::types::{SpotPlacementScore, TargetCapacityUnitType};
use fleet_model::{
    CapacityGoal, InstanceType, Obtainability, Region, SignalSource, Timestamp, Unit, Zone,
};
use fleet_provider::{Answers, Error};
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
        // AWS does not count in work, and nobody knows how many machines it will be.
        Unit::Figure(_) | Unit::Work => (1, TargetCapacityUnitType::Units),
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

/// Where scores are asked for, and where they are remembered.
pub(crate) struct Asking<'a> {
    pub(crate) site: &'a Site,
    pub(crate) answers: &'a Answers,
    pub(crate) now: Timestamp,
}

const SOURCE: SignalSource = SignalSource::SpotPlacementScore;

impl Asking<'_> {
    /// The scores of some regions of one account: those of a while ago, else new ones. A new question may
    /// be one too many for today, while others are answered.
    pub(crate) async fn scores(
        &self,
        types: &BTreeSet<&InstanceType>,
        regions: &BTreeSet<&Region>,
        goal: CapacityGoal,
    ) -> Result<Scores, Error> {
        let questions = requests(types, regions, goal).into_iter().zip(regions);
        let answers = questions.map(|(asked, region)| async move {
            let question = question(region, &asked);
            let pages = || pages(self.site, asked);
            (region, self.answers.ask(SOURCE, &question, self.now, pages).await)
        });
        let mut scores = Scores::new();
        let mut failed = None;
        for (region, answer) in join_all(answers).await {
            match answer {
                Ok(found) => scores.extend(found.into_iter().map(|(zone, percent)| {
                    let place = ((*region).clone(), zone);
                    (place, Obtainability { percent, source: SOURCE })
                })),
                Err(error) => failed = Some(error),
            }
        }
        match failed {
            Some(error) if scores.is_empty() => Err(error),
            Some(_) | None => Ok(scores),
        }
    }
}

/// Everything that scores depend on: the region, how much, and of what. Accounts share answers: a score
/// is a word on EC2's capacity, and each account's questions are counted.
fn question(region: &Region, asked: &GetSpotPlacementScoresInputBuilder) -> String {
    let amount = asked.get_target_capacity().unwrap_or_default();
    let unit = asked.get_target_capacity_unit_type().as_ref().map_or("", |unit| unit.as_str());
    let types = asked.get_instance_types().as_deref().unwrap_or_default().join(",");
    format!("{region}/{amount}/{unit}/{types}")
}

/// Every page of an answer.
async fn pages(
    site: &Site,
    asked: GetSpotPlacementScoresInputBuilder,
) -> Result<BTreeMap<Zone, u8>, Error> {
    let mut found = BTreeMap::new();
    let mut page = None;
    for _ in 0..PAGES {
        let request = asked.clone().set_next_token(page);
        let answer =
            request.send_with(&site.ec2).await.map_err(|error| read(Asked::Read, error))?;
        found.extend(answer.spot_placement_scores().iter().filter_map(of));
        page = answer.next_token.filter(|token| !token.is_empty());
        if page.is_none() {
            break;
        }
    }
    Ok(found)
}

/// A zone and its score, in per cent.
fn of(score: &SpotPlacementScore) -> Option<(Zone, u8)> {
    let percent = u8::try_from(score.score()?.clamp(0, 10) * 10).ok()?;
    Some((Zone::from(score.availability_zone_id()?), percent))
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
        // Regions and accounts are questions of their own; a target a little higher is not.
        let first = regions.first().expect("a region");
        let more = asked(3, goal(Unit::MemoryGib, 120));
        assert_eq!(question(first, &all[0]), question(first, &more[0]));
        assert_eq!(question(first, &all[0]), "r-0@123456789012/131072/memory-mib/a,b,c");
    }

    #[test]
    fn ten_is_certain() {
        let score =
            SpotPlacementScore::builder().region("us-east-1").availability_zone_id("use1-az4");
        assert_eq!(of(&score.score(7).build()), Some(("use1-az4".into(), 70)));
    }
}
