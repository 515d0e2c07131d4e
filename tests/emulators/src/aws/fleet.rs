//! `CreateFleet` as the proxy does it: moto takes everything from one pool and says no to nobody,
//! so each pool becomes a call of its own, and the answers one.

use super::ec2::Call;
use fleet_model::Cloud;
use fleet_provider::evidence::Call::Launch;
use fleet_provider::evidence::row;
use fleet_testkit::{Answer, Request};
use std::collections::{BTreeMap, BTreeSet};

/// A pool that a request may take machines from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Asked {
    /// How the form calls it: `LaunchTemplateConfigs.1.Overrides.2.`.
    prefix: String,
    pub(crate) kind: String,
    pub(crate) subnet: String,
    zone: String,
}

impl Asked {
    /// The zone's name.
    pub(crate) fn zone(&self, subnets: &BTreeMap<String, String>) -> String {
        if self.zone.is_empty() {
            subnets.get(&self.subnet).cloned().unwrap_or_default()
        } else {
            self.zone.clone()
        }
    }
}

const CONFIGS: &str = "LaunchTemplateConfigs.";

/// The pools of a request, in order.
pub(crate) fn asked(call: &Call) -> Vec<Asked> {
    let mut found = Vec::new();
    for config in 1.. {
        let config = format!("{CONFIGS}{config}.");
        if !call.form.keys().any(|key| key.starts_with(&config)) {
            break;
        }
        for pool in 1.. {
            let prefix = format!("{config}Overrides.{pool}.");
            if !call.form.keys().any(|key| key.starts_with(&prefix)) {
                break;
            }
            let get = |name: &str| call.get(&format!("{prefix}{name}")).to_owned();
            let (kind, subnet, zone) =
                (get("InstanceType"), get("SubnetId"), get("AvailabilityZone"));
            found.push(Asked { prefix, kind, subnet, zone });
        }
    }
    found
}

/// How many machines a request is for.
pub(crate) fn wanted(call: &Call) -> u32 {
    call.get("TargetCapacitySpecification.TotalTargetCapacity").parse().unwrap_or(0)
}

/// The same request for some machines of one pool.
pub(crate) fn part(
    request: &Request,
    call: &Call,
    asked: &Asked,
    count: u32,
    subnets: &BTreeMap<String, String>,
) -> Request {
    let config = asked.prefix.split("Overrides.").next().unwrap_or_default();
    let mut form: BTreeMap<String, String> = BTreeMap::new();
    for (key, value) in &call.form {
        if let Some(rest) = key.strip_prefix(&asked.prefix) {
            form.insert(format!("{CONFIGS}1.Overrides.1.{rest}"), value.clone());
        } else if let Some(rest) = key.strip_prefix(config).filter(|r| !r.starts_with("Overrides."))
        {
            form.insert(format!("{CONFIGS}1.{rest}"), value.clone());
        } else if key.starts_with("TargetCapacitySpecification.") && value != "0" {
            let number = value.parse::<u32>().is_ok();
            form.insert(key.clone(), if number { count.to_string() } else { value.clone() });
        } else if !key.starts_with(CONFIGS) {
            form.insert(key.clone(), value.clone());
        }
    }
    // moto knows zones by their subnets alone.
    if asked.subnet.is_empty()
        && let Some((subnet, _)) = subnets.iter().find(|(_, zone)| **zone == asked.zone)
    {
        form.insert(format!("{CONFIGS}1.Overrides.1.SubnetId"), subnet.clone());
    }
    let body = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(&form).finish();
    Request { body: body.into_bytes(), ..request.clone() }
}

/// A question for the subnets, signed as the request was.
pub(crate) fn ask_for_subnets(request: &Request) -> Request {
    Request { body: b"Action=DescribeSubnets&Version=2016-11-15".to_vec(), ..request.clone() }
}

/// Zone names by subnet.
pub(crate) fn subnets(answer: &Answer) -> BTreeMap<String, String> {
    let text = String::from_utf8_lossy(&answer.body).into_owned();
    let parts = text.split("<item>").filter(|part| part.contains("<subnetId>"));
    parts
        .filter_map(|part| Some((inner(part, "subnetId")?, inner(part, "availabilityZone")?)))
        .collect()
}

fn inner(text: &str, tag: &str) -> Option<String> {
    let (_, rest) = text.split_once(&format!("<{tag}>"))?;
    Some(rest.split_once(&format!("</{tag}>"))?.0.to_owned())
}

/// The machines of an answer, as they are written there.
pub(crate) fn machines(answer: &Answer) -> String {
    inner(&String::from_utf8_lossy(&answer.body), "fleetInstanceSet").unwrap_or_default()
}

/// Ids of machines as they are written in an answer.
pub(crate) fn ids(machines: &str) -> BTreeSet<String> {
    let lists = machines.split("<instanceIds>").skip(1);
    let lists = lists.filter_map(|rest| rest.split_once("</instanceIds>"));
    let ids = lists.flat_map(|(list, _)| list.split("<item>").skip(1));
    ids.filter_map(|rest| Some(rest.split_once("</item>")?.0.to_owned())).collect()
}

/// A pool's no.
pub(crate) fn no(asked: &Asked) -> String {
    let place = match asked.subnet.as_str() {
        "" => format!("<availabilityZone>{}</availabilityZone>", asked.zone),
        subnet => format!("<subnetId>{subnet}</subnetId>"),
    };
    let code = row(Cloud::Aws, Launch, "InsufficientInstanceCapacity", "").code;
    format!(
        "<item><launchTemplateAndOverrides><overrides><instanceType>{}</instanceType>{place}\
         </overrides></launchTemplateAndOverrides><lifecycle>on-demand</lifecycle>\
         <errorCode>{code}</errorCode><errorMessage>We currently do not have \
         sufficient capacity in the Availability Zone.</errorMessage></item>",
        asked.kind
    )
}

/// One answer for all pools.
pub(crate) fn answer(machines: &str, errors: &str) -> Answer {
    let body = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<CreateFleetResponse \
         xmlns=\"http://ec2.amazonaws.com/doc/2016-11-15/\"><requestId>0</requestId>\
         <fleetId>fleet-0</fleetId><errorSet>{errors}</errorSet>\
         <fleetInstanceSet>{machines}</fleetInstanceSet></CreateFleetResponse>"
    );
    Answer::new(200, "text/xml", body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_taken_apart() {
        let form = [
            ("Action", "CreateFleet"),
            ("LaunchTemplateConfigs.1.LaunchTemplateSpecification.LaunchTemplateName", "a"),
            ("LaunchTemplateConfigs.1.Overrides.1.InstanceType", "m5.large"),
            ("LaunchTemplateConfigs.1.Overrides.1.AvailabilityZone", "z1"),
            ("LaunchTemplateConfigs.2.LaunchTemplateSpecification.LaunchTemplateName", "b"),
            ("LaunchTemplateConfigs.2.Overrides.1.InstanceType", "c5.large"),
            ("LaunchTemplateConfigs.2.Overrides.1.SubnetId", "s2"),
            ("TargetCapacitySpecification.TotalTargetCapacity", "9"),
            ("TargetCapacitySpecification.SpotTargetCapacity", "0"),
        ];
        let form = form.map(|(key, value)| (key.to_owned(), value.to_owned()));
        let call = Call { region: String::new(), form: form.into() };
        let pools = asked(&call);
        let subnets = BTreeMap::from([("s1".to_owned(), "z1".to_owned())]);
        assert_eq!((pools.len(), wanted(&call), pools[0].zone(&subnets).as_str()), (2, 9, "z1"));
        let request = Request::default();
        let first = part(&request, &call, &pools[0], 4, &subnets);
        let body = String::from_utf8(first.body).expect("text");
        assert!(body.contains("LaunchTemplateConfigs.1.Overrides.1.SubnetId=s1"), "{body}");
        assert!(body.contains("TotalTargetCapacity=4") && body.contains("SpotTargetCapacity=0"));
        let second = part(&request, &call, &pools[1], 5, &subnets);
        let body = String::from_utf8(second.body).expect("text");
        assert!(body.contains("LaunchTemplateConfigs.1.Overrides.1.InstanceType=c5"), "{body}");
        assert!(body.contains("LaunchTemplateName=b") && !body.contains("Configs.2"), "{body}");
    }

    #[test]
    fn ids_of_machines() {
        let text = "<item><instanceIds><item>i-1</item><item>i-2</item></instanceIds></item>";
        assert_eq!(ids(text), ["i-1".to_owned(), "i-2".to_owned()].into());
    }
}
