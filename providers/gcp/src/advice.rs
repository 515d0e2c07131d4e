//! How likely spot machines are to be had, and to be preempted, in Google's own opinion.

use crate::error::{Asked, read};
use crate::kind::Kind;
use crate::session::Clients;
use fleet_model::{CapacityGoal, PoolId, Share, SignalSource, Timestamp, Unit};
use fleet_provider::{Answers, Error};
use google_cloud_compute_v1::model::{
    CapacityAdviceRequest, CapacityAdviceRequestDistributionPolicy,
    CapacityAdviceRequestDistributionPolicyZoneConfiguration,
    CapacityAdviceRequestInstanceFlexibilityPolicy,
    CapacityAdviceRequestInstanceFlexibilityPolicyInstanceSelection,
    CapacityAdviceRequestInstanceProperties, CapacityAdviceRequestInstancePropertiesScheduling,
    CapacityAdviceResponse, CapacityHistoryRequest, CapacityHistoryRequestInstanceProperties,
    CapacityHistoryRequestInstancePropertiesScheduling, CapacityHistoryRequestLocationPolicy,
    CapacityHistoryResponse,
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
        Unit::MemoryGib | Unit::Figure(_) | Unit::Work => None,
    };
    let whole = goal.spot.0.div_ceil(1000);
    let count = each.map_or(1, |each| whole.div_ceil(each)).clamp(1, LARGEST);
    i32::try_from(count).unwrap_or(1)
}

/// A question about preemptions of one type in one zone.
fn history_request(pool: &PoolId, kind: Kind<'_>, project: &str) -> CapacityHistoryRequest {
    let zone = format!("projects/{project}/zones/{}", pool.place.zone);
    let scheduling =
        CapacityHistoryRequestInstancePropertiesScheduling::new().set_provisioning_model("SPOT");
    CapacityHistoryRequest::new()
        .set_instance_properties(
            CapacityHistoryRequestInstanceProperties::new()
                .set_machine_type(kind.machine)
                .set_scheduling(scheduling),
        )
        .set_location_policy(CapacityHistoryRequestLocationPolicy::new().set_location(zone))
        .set_types(["PREEMPTION"])
}

/// Where answers are remembered.
#[derive(Clone, Copy)]
pub(crate) struct Asking<'a> {
    pub(crate) answers: &'a Answers,
    pub(crate) now: Timestamp,
}

impl Asking<'_> {
    /// How likely as many machines as are wanted are to be had of a pool, in per cent.
    pub(crate) async fn advice(
        self,
        clients: &Clients,
        pool: &PoolId,
        kind: Kind<'_>,
        goal: CapacityGoal,
    ) -> Result<Option<u8>, Error> {
        let size = size(kind, goal);
        let question = format!("{}/{}/{}/{size}", clients.project, pool.place.zone, kind.machine);
        let ask = || async move {
            let asked = clients.advice.capacity().set_project(&clients.project);
            let asked = asked.set_region(pool.place.region.as_str());
            let asked = asked.set_body(request(pool, kind, &clients.project, size));
            let answer = asked.send().await.map_err(|error| read(Asked::Read, &error))?;
            Ok(obtainable(&answer))
        };
        self.answers.ask(SignalSource::CapacityAdvice, &question, self.now, ask).await
    }

    /// The share of spot machines of a pool that ended by preemption, over the last month.
    pub(crate) async fn history(
        self,
        clients: &Clients,
        pool: &PoolId,
        kind: Kind<'_>,
    ) -> Result<Option<Share>, Error> {
        let question = format!("{}/{}/{}", clients.project, pool.place.zone, kind.machine);
        let ask = || async move {
            let asked = clients.advice.capacity_history().set_project(&clients.project);
            let asked = asked.set_region(pool.place.region.as_str());
            let asked = asked.set_body(history_request(pool, kind, &clients.project));
            let answer = asked.send().await.map_err(|error| read(Asked::Read, &error))?;
            Ok(preempted(&answer))
        };
        self.answers.ask(SignalSource::CapacityHistory, &question, self.now, ask).await
    }
}

fn obtainable(answer: &CapacityAdviceResponse) -> Option<u8> {
    let best = answer
        .recommendations
        .iter()
        .filter_map(|one| one.scores.as_ref()?.obtainability)
        .filter(|score| (0.0..=1.0).contains(score))
        .fold(None, |best: Option<f64>, score| Some(best.map_or(score, |best| best.max(score))));
    best.map(|score| (score * 100.0).round() as u8)
}

/// The mean over the days: of machines that stopped, those that were preempted.
fn preempted(answer: &CapacityHistoryResponse) -> Option<Share> {
    let days: Vec<f64> = answer
        .preemption_history
        .iter()
        .filter_map(|day| day.preemption_rate)
        .filter(|rate| (0.0..=1.0).contains(rate))
        .collect();
    if days.is_empty() {
        return None;
    }
    let mean = days.iter().sum::<f64>() / days.len() as f64;
    Share::from_ppm((mean * 1e6).round() as u32)
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
            assert_eq!(obtainable(&answer), expect, "{scores:?}");
        };
        check(&[0.874], Some(87));
        check(&[0.2, 0.9], Some(90));
        check(&[1.5, f64::NAN, -0.1], None);
        check(&[], None);
    }

    #[test]
    fn preemption_rates_are_averaged_and_nonsense_is_nothing() {
        use google_cloud_compute_v1::model::CapacityHistoryResponsePreemptionRecord as Day;
        let check = |rates: &[f64], expect: Option<u32>| {
            let days = rates.iter().map(|rate| Day::new().set_preemption_rate(*rate));
            let answer = CapacityHistoryResponse::new().set_preemption_history(days);
            assert_eq!(preempted(&answer).map(Share::ppm), expect, "{rates:?}");
        };
        check(&[0.2, 0.4], Some(300_000));
        check(&[0.0], Some(0));
        check(&[1.5, f64::NAN, -0.1], None);
        check(&[], None);
    }
}
