//! One region: whether it answers, what names stand for there, and what we may do in it.

use super::tried::{Need, Outcome, Tried, judge, refusal};
use crate::error::{Asked, read};
use crate::session::{Session, Site};
use crate::zones::Zones;
use crate::{image, launch, machines, network};
use fleet_model::{
    Create, FleetName, FleetUid, Group, Market, Place, PoolId, SlotId, SlotName, Template, Token,
    Zone,
};
use fleet_provider::{Class, Clock, CreateRequest, Error, Finding, Verdict};
use std::collections::{BTreeMap, BTreeSet};

/// An id that no instance has.
const NOBODY: &str = "i-00000000000000000";

/// What a region was like.
pub(super) struct Looked {
    pub(super) finding: Finding,
    pub(super) tried: Vec<Tried>,
}

/// Looks at a region.
pub(super) async fn look(
    session: &Session,
    clock: &dyn Clock,
    region: &str,
    pools: &[&PoolId],
    template: &Template,
) -> Looked {
    let site = session.site(&region.into()).await;
    let asked_at = clock.now();
    let answer = site.zones().await;
    let took = clock.now().duration_since(asked_at).unsigned_abs().as_millis();
    let finding = answering(region, pools, &answer, took);
    if let Err(error) = &answer
        && !matches!(error.class, Class::Auth | Class::Invalid)
    {
        // Nobody is there: a dozen more questions would only be a dozen more silences.
        return Looked { finding, tried: Vec::new() };
    }
    let zones = answer.ok();
    let mut tried = Vec::new();
    let mut note = |subject, need, outcome| {
        tried.push(Tried { subject, region: region.to_owned(), need, outcome });
    };
    let images = site.ec2.describe_images().image_ids("ami-00000000000000000").dry_run(true);
    note("ec2:DescribeImages", Need::Must, judge("ec2:DescribeImages", images.send().await));
    let (found, ours) = instances(&site).await;
    note("ec2:DescribeInstances", Need::Must, found);
    if let Some(pool) = sample(pools, zones, None) {
        note("image", Need::Must, image_of(&site, template, pool).await);
    }
    if !template.subnets.is_empty()
        || template.network.is_some()
        || !template.security_groups.is_empty()
    {
        for outcome in networks(&site, template, pools).await {
            note("network", Need::Must, outcome);
        }
    }
    for (market, subject) in [
        (Market::OnDemand, "ec2:RunInstances, on-demand"),
        (Market::Spot, "ec2:RunInstances, spot"),
    ] {
        if let Some(pool) = sample(pools, zones, Some(market)) {
            note(subject, Need::Must, try_launch(&site, template, pool, zones).await);
        }
    }
    note("ec2:TerminateInstances", Need::Must, try_end(&site, ours).await);
    let spot: BTreeSet<&str> = pools
        .iter()
        .filter(|pool| pool.market == Market::Spot)
        .map(|pool| pool.instance_type.as_str())
        .collect();
    if let Some(first) = spot.first() {
        let prices = site.ec2.describe_spot_price_history().dry_run(true);
        let prices = prices.instance_types((*first).into()).max_results(1).send().await;
        let lost = Need::Helps("plans use the catalog's spot prices");
        note("ec2:DescribeSpotPriceHistory", lost, judge("ec2:DescribeSpotPriceHistory", prices));
        let scores = site.ec2.get_spot_placement_scores().dry_run(true).target_capacity(1);
        let types = spot.iter().take(3).map(|name| (*name).to_owned()).collect();
        let scores =
            scores.set_instance_types(Some(types)).region_names(site.region.name()).send().await;
        let lost = Need::Helps("plans do not know which pools have room");
        note("ec2:GetSpotPlacementScores", lost, judge("ec2:GetSpotPlacementScores", scores));
    }
    let limits = aws_sdk_servicequotas::Client::new(&site.config);
    let limits = limits.list_service_quotas().service_code("ec2").max_results(1).send().await;
    let lost = Need::Helps("limits are known only once a launch runs into them");
    note("servicequotas:ListServiceQuotas", lost, judge("servicequotas:ListServiceQuotas", limits));
    Looked { finding, tried }
}

/// Whether a region answers, and whether the zones of the spec are open to us.
fn answering(
    region: &str,
    pools: &[&PoolId],
    answer: &Result<&Zones, Error>,
    took: u128,
) -> Finding {
    let zones = match answer {
        Ok(zones) => zones,
        Err(error) => {
            let words = format!("{}: {}", error.code, error.message);
            let hint = match (error.class, error.code.as_str()) {
                (_, "UnauthorizedOperation") => {
                    "ec2:DescribeAvailabilityZones is missing; `fleet doctor --print-policy` has it"
                }
                (Class::Auth, _) => {
                    "if it is only this region: enable it for the account, or take it out of the spec"
                }
                _ => "check the network and the region's name; nothing else was asked there",
            };
            return Finding::new(Verdict::Bad, region, words).hint(hint);
        }
    };
    let wanted: BTreeSet<&Zone> = pools
        .iter()
        .map(|pool| &pool.place.zone)
        .filter(|zone| zone.as_str() != Zone::REGIONAL)
        .collect();
    let is_there = |zone: &&&Zone| zones.name(zone).is_some();
    let missing: Vec<&str> =
        wanted.iter().filter(|zone| !is_there(zone)).map(|zone| zone.as_str()).collect();
    let closed: Vec<&str> = wanted
        .iter()
        .filter(|zone| is_there(zone) && !zones.is_open(zone))
        .map(|zone| zone.as_str())
        .collect();
    let open = wanted.len() - missing.len() - closed.len();
    let mut words = format!("{open} of {} zones open, answered in {took} ms", wanted.len());
    if !missing.is_empty() {
        words.push_str(&format!("; this account has no {}", missing.join(", ")));
    }
    if !closed.is_empty() {
        words.push_str(&format!("; not opted in to {}", closed.join(", ")));
    }
    match (open, wanted.len()) {
        (open, all) if open == all => Finding::new(Verdict::Good, region, words),
        (0, _) => Finding::new(Verdict::Bad, region, words)
            .hint("name other zones, or opt in to these in the EC2 console under Zones"),
        _ => Finding::new(Verdict::Doubtful, region, words)
            .hint("pools in those zones are refused; the others are used"),
    }
}

/// The first pool that we could launch in, of a market or of any.
fn sample<'a>(
    pools: &[&'a PoolId],
    zones: Option<&Zones>,
    market: Option<Market>,
) -> Option<&'a PoolId> {
    let mut some = pools.iter().copied().filter(|pool| market.is_none_or(|m| m == pool.market));
    let usable = |pool: &&PoolId| {
        zones.is_none_or(|zones| {
            let zone = &pool.place.zone;
            zone.as_str() == Zone::REGIONAL || zones.name(zone).is_some() && zones.is_open(zone)
        })
    };
    let first = some.clone().next();
    some.find(usable).or(first)
}

/// Whether machines can be listed; one of ours, if there is one.
async fn instances(site: &Site) -> (Outcome, Option<String>) {
    let action = "ec2:DescribeInstances";
    let asked = machines::of_any_fleet().max_results(5);
    match asked.send_with(&site.ec2).await {
        Ok(answer) => {
            let all = answer.reservations().iter().flat_map(|r| r.instances());
            let live = all.filter(|instance| !machines::is_over(instance));
            let ours = live.filter_map(|instance| instance.instance_id()).next();
            (Outcome::Good("allowed".into()), ours.map(str::to_owned))
        }
        Err(error) => (refusal(action, &read(Asked::Read, error)), None),
    }
}

async fn image_of(site: &Site, template: &Template, pool: &PoolId) -> Outcome {
    let named = template.image.as_deref();
    let action = if image::parameter_path(named).is_some() {
        "ssm:GetParameter"
    } else {
        "ec2:DescribeImages"
    };
    match image::find(site, named, &pool.instance_type).await {
        Ok(image) => Outcome::Good(format!("{} for {}", image.id, pool.instance_type)),
        Err(error) => refusal(action, &error),
    }
}

/// What subnets and groups stand for in each zone of the spec. Zones with the same outcome are one.
async fn networks(site: &Site, template: &Template, pools: &[&PoolId]) -> Vec<Outcome> {
    let zones: BTreeSet<&Zone> = pools.iter().map(|pool| &pool.place.zone).collect();
    let (mut with, mut without): (Vec<&str>, BTreeMap<String, Vec<&str>>) = Default::default();
    let mut outcomes = Vec::new();
    for zone in zones {
        match network::find(site, template, zone).await {
            Ok(_) => with.push(zone.as_str()),
            Err(error) if error.code == "NoSubnetInZone" => {
                without.entry(error.code).or_default().push(zone.as_str());
            }
            Err(error) => {
                let outcome = refusal("ec2:DescribeSubnets", &error);
                if !outcomes.contains(&outcome) {
                    outcomes.push(outcome);
                }
            }
        }
    }
    if let Some(zones) = without.values().next() {
        let words = format!("no subnet of the template lies in {}", zones.join(", "));
        // Pools elsewhere are used: not good, and no reason to fail.
        outcomes.push(if with.is_empty() {
            Outcome::Refused(words)
        } else {
            Outcome::Unknown(words)
        });
    }
    if !with.is_empty() {
        outcomes
            .insert(0, Outcome::Good(format!("subnet and groups found for {}", with.join(", "))));
    }
    outcomes
}

/// The very request that an apply would send, as a dry run. It sets tags and hands over the role,
/// so those rights are tried with it.
async fn try_launch(
    site: &Site,
    template: &Template,
    pool: &PoolId,
    zones: Option<&Zones>,
) -> Outcome {
    let cannot = |what: &str| Outcome::Unknown(format!("not tried: {what} is not known"));
    let Ok(image) = image::find(site, template.image.as_deref(), &pool.instance_type).await else {
        return cannot("the image");
    };
    let Ok(network) = network::find(site, template, &pool.place.zone).await else {
        return cannot("the subnet");
    };
    let Place { zone, .. } = &pool.place;
    let zone = zones.and_then(|zones| zones.name(zone));
    let slot = SlotId { name: SlotName { group: Group::Base, ordinal: 0 }, generation: 1 };
    let create = Create {
        pool: pool.clone(),
        slots: vec![slot],
        token: Token::new("fleet-doctor"),
        price: None,
        max_price: None,
        template: template.digest(),
        image: None,
        others: Vec::new(),
    };
    let request = CreateRequest {
        fleet: &FleetUid::new("fleet-doctor"),
        name: &FleetName::new("fleet-doctor"),
        labels: &BTreeMap::new(),
        create: &create,
        template,
    };
    let asked = launch::request(&request, zone, &image, &network, &[]).dry_run(true);
    match asked.send_with(&site.ec2).await {
        // Only a server that does not know dry runs answers so.
        Ok(_) => Outcome::Refused("the server took a dry run for a launch".into()),
        Err(error) => refusal("ec2:RunInstances", &read(Asked::Read, error)),
    }
}

/// A dry run on a machine of ours. Without one, a refusal proves nothing: the policy that we
/// advise allows ends of tagged machines only, and a machine that does not exist has no tags.
async fn try_end(site: &Site, ours: Option<String>) -> Outcome {
    let real = ours.is_some();
    let asked = site.ec2.terminate_instances().dry_run(true);
    let asked = asked.instance_ids(ours.unwrap_or_else(|| NOBODY.into()));
    match judge("ec2:TerminateInstances", asked.send().await) {
        Outcome::Missing(_) if !real => Outcome::Unknown(
            "no machine of ours stands there to try it on, and others are not allowed".into(),
        ),
        outcome => outcome,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::refused;

    fn pools(names: &[&str]) -> Vec<PoolId> {
        names.iter().map(|name| name.parse().expect("a pool")).collect()
    }

    #[test]
    fn regions_answer_in_full_in_part_or_not() {
        let pools = pools(&[
            "aws/us-east-1/use1-az1/m5.large/spot",
            "aws/us-east-1/use1-az2/m5.large/spot",
        ]);
        let pools: Vec<&PoolId> = pools.iter().collect();
        let both = Zones::of(&[("use1-az1", "a"), ("use1-az2", "b")]);
        let one = Zones::of(&[("use1-az1", "a")]);
        let none = Zones::of(&[]);
        let check = |answer: Result<&Zones, Error>, verdict, words: &str| {
            let finding = answering("us-east-1", &pools, &answer, 12);
            assert_eq!(finding.verdict, verdict, "{finding:?}");
            assert!(finding.words.contains(words), "{finding:?}");
        };
        check(Ok(&both), Verdict::Good, "2 of 2 zones open, answered in 12 ms");
        check(Ok(&one), Verdict::Doubtful, "has no use1-az2");
        check(Ok(&none), Verdict::Bad, "0 of 2");
        let closed = refused(Class::Auth, "AuthFailure", "no");
        check(Err(closed), Verdict::Bad, "AuthFailure: no");
    }

    #[test]
    fn the_sample_is_a_pool_that_could_be_used() {
        let pools = pools(&[
            "aws/us-east-1/use1-az1/m5.large/on-demand",
            "aws/us-east-1/use1-az1/m5.large/spot",
            "aws/us-east-1/use1-az2/m5.large/spot",
        ]);
        let pools: Vec<&PoolId> = pools.iter().collect();
        let zones = Zones::of(&[("use1-az2", "b")]);
        let zone = |market, zones| sample(&pools, zones, market).map(|p| p.place.zone.to_string());
        assert_eq!(zone(Some(Market::Spot), Some(&zones)).as_deref(), Some("use1-az2"));
        assert_eq!(zone(Some(Market::Spot), None).as_deref(), Some("use1-az1"));
        assert_eq!(zone(Some(Market::OnDemand), Some(&zones)).as_deref(), Some("use1-az1"));
        assert_eq!(zone(Some(Market::Reserved), None), None);
    }
}
