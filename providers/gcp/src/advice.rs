//! How likely spot machines are to be had, in Google's own opinion.

use crate::error::{Asked, read};
use crate::kind::Kind;
use crate::session::Clients;
use fleet_model::{CapacityGoal, Obtainability, PoolId, SignalSource, Signals, Unit};
use fleet_provider::Error;
use google_cloud_compute_v1::model::{
    CapacityAdviceRequest, CapacityAdviceRequestDistributionPolicy,
    CapacityAdviceRequestDistributionPolicyZoneConfiguration,
    CapacityAdviceRequestInstanceFlexibilityPolicy,
    CapacityAdviceRequestInstanceFlexibilityPolicyInstanceSelection,
    CapacityAdviceRequestInstanceProperties, CapacityAdviceRequestInstancePropertiesScheduling,
    CapacityAdviceResponse,
};

/// A question about one pool. Asked about several at once, Google would answer with the best mix
/// of them and not with what each is worth.
fn request(pool: &PoolId, kind: Kind<'_>, project: &str, size: i32) -> CapacityAdviceRequest {
    let zone = format!("projects/{project}/zones/{}", pool.place.zone);
    let zone = CapacityAdviceRequestDistributionPolicyZoneConfiguration::new().set_zone(zone);
    let selection = CapacityAdviceRequestInstanceFlexibilityPolicyInstanceSelection::new()
        .set_machine_types([kind.machine]);
    let scheduling =
        CapacityAdviceRequestInstancePropertiesScheduling::new().set_provisioning_model("SPOT");
    CapacityAdviceRequest::new()
        .set_size(size)
        .set_distribution_policy(
            CapacityAdviceRequestDistributionPolicy::new()
                .set_target_shape("ANY_SINGLE_ZONE")
                .set_zones([zone]),
        )
        .set_instance_flexibility_policy(
            CapacityAdviceRequestInstanceFlexibilityPolicy::new()
                .set_instance_selections([("only", selection)]),
        )
        .set_instance_properties(
            CapacityAdviceRequestInstanceProperties::new().set_scheduling(scheduling),
        )
}

/// As many as one launch asks for at the most.
const LARGEST: u64 = 100;

/// How many machines of a type are wanted: the score is for that many. A pool that is good for one
/// may be bad for fifty. What a type holds is read off its name; where that says nothing, one.
fn size(kind: Kind<'_>, goal: CapacityGoal) -> i32 {
    let last = kind.machine.rsplit('-').next().unwrap_or_default();
    let number = |text: &str| text.parse().ok().filter(|count: &u64| *count > 0);
    let each = match goal.unit {
        Unit::Instances => Some(1),
        Unit::Vcpus => number(last),
        Unit::Gpus => number(last.trim_end_matches('g')).filter(|_| last.ends_with('g')),
        Unit::MemoryGib => None,
    };
    let whole = goal.spot.0.div_ceil(1000);
    let count = each.map_or(1, |each| whole.div_ceil(each)).clamp(1, LARGEST);
    i32::try_from(count).unwrap_or(1)
}

/// What Google says of a pool.
pub(crate) async fn ask(
    clients: &Clients,
    pool: &PoolId,
    kind: Kind<'_>,
    goal: CapacityGoal,
) -> Result<Signals, Error> {
    let asked = clients.advice.capacity().set_project(&clients.project);
    let asked = asked.set_region(pool.place.region.as_str());
    let asked = asked.set_body(request(pool, kind, &clients.project, size(kind, goal)));
    let answer = asked.send().await.map_err(|error| read(Asked::Read, &error))?;
    Ok(signals(&answer))
}

fn signals(answer: &CapacityAdviceResponse) -> Signals {
    let best = answer
        .recommendations
        .iter()
        .filter_map(|one| one.scores.as_ref()?.obtainability)
        .filter(|score| (0.0..=1.0).contains(score))
        .fold(None, |best: Option<f64>, score| Some(best.map_or(score, |best| best.max(score))));
    let percent = |score: f64| (score * 100.0).round() as u8;
    let obtainability = best.map(|score| Obtainability {
        percent: percent(score),
        source: SignalSource::CapacityAdvice,
    });
    Signals { obtainability, ..Signals::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use google_cloud_compute_v1::model::{
        CapacityAdviceResponseRecommendation as One, CapacityAdviceResponseRecommendationScores,
    };

    #[test]
    fn advice_is_asked_for_as_many_as_are_wanted() {
        let check = |kind: &str, unit, spot: u64, expect: i32| {
            let spot = fleet_model::Units(spot * 1000);
            let goal = CapacityGoal { unit, target: spot, spot, ..CapacityGoal::default() };
            assert_eq!(size(Kind::read(kind).expect("a type"), goal), expect, "{kind} {unit:?}");
        };
        check("n2-standard-4", Unit::Instances, 50, 50);
        check("n2-standard-4", Unit::Instances, 5000, 100);
        check("n2-standard-4", Unit::Instances, 0, 1);
        check("n2-standard-4", Unit::Vcpus, 50, 13);
        check("a2-highgpu-8g", Unit::Gpus, 20, 3);
        // What its name does not tell is not guessed.
        check("e2-medium", Unit::Vcpus, 50, 1);
        check("g2-standard-4", Unit::Gpus, 20, 1);
        check("n2-standard-4", Unit::MemoryGib, 50, 1);
    }

    #[test]
    fn scores_are_percents_and_nonsense_is_nothing() {
        let one = |score: f64| {
            let scores = CapacityAdviceResponseRecommendationScores::new();
            One::new().set_scores(scores.set_obtainability(score))
        };
        let check = |scores: &[f64], expect: Option<u8>| {
            let answer =
                CapacityAdviceResponse::new().set_recommendations(scores.iter().map(|s| one(*s)));
            let found = signals(&answer).obtainability.map(|found| found.percent);
            assert_eq!(found, expect, "{scores:?}");
        };
        check(&[0.874], Some(87));
        check(&[0.2, 0.9], Some(90));
        check(&[1.5, f64::NAN, -0.1], None);
        check(&[], None);
    }
}
