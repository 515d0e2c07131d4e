//! How likely spot machines are to be had, in Google's own opinion.

use crate::error::{Asked, read};
use crate::kind::Kind;
use crate::session::Clients;
use fleet_model::{Obtainability, PoolId, SignalSource, Signals};
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
fn request(pool: &PoolId, kind: Kind<'_>, project: &str) -> CapacityAdviceRequest {
    let zone = format!("projects/{project}/zones/{}", pool.place.zone);
    let zone = CapacityAdviceRequestDistributionPolicyZoneConfiguration::new().set_zone(zone);
    let selection = CapacityAdviceRequestInstanceFlexibilityPolicyInstanceSelection::new()
        .set_machine_types([kind.machine]);
    let scheduling =
        CapacityAdviceRequestInstancePropertiesScheduling::new().set_provisioning_model("SPOT");
    CapacityAdviceRequest::new()
        .set_size(1)
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

/// What Google says of a pool.
pub(crate) async fn ask(
    clients: &Clients,
    pool: &PoolId,
    kind: Kind<'_>,
) -> Result<Signals, Error> {
    let asked = clients.advice.capacity().set_project(&clients.project);
    let asked = asked.set_region(pool.place.region.as_str());
    let asked = asked.set_body(request(pool, kind, &clients.project));
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
