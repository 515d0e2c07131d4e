//! The rights that one spec needs, and no others, as an IAM policy.
//!
//! Launches are allowed only with our tag in the request itself, ends only of machines that carry
//! it, and tags only as part of a launch: whoever holds these rights can neither take over a
//! machine of somebody else's nor make one that nobody owns.

use crate::image::parameter_path;
use crate::launch::BLOCK;
use crate::network::Named;
use crate::tags;
use fleet_model::{Market, PoolId, Template};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// What a spec uses of an account.
#[derive(Debug, Clone)]
pub(crate) struct Uses<'a> {
    /// The account's number; `None`: not known, so any account's resources are meant.
    pub(crate) account: Option<&'a str>,
    /// Where.
    pub(crate) regions: BTreeSet<&'a str>,
    /// Whether spot machines are bought.
    pub(crate) spot: bool,
    /// Whether machines are launched from launch templates of our own making.
    pub(crate) launch_templates: bool,
    /// How machines are made.
    pub(crate) template: &'a Template,
}

impl<'a> Uses<'a> {
    /// What the pools and the template of a spec use.
    pub(crate) fn of(
        pools: &'a [PoolId],
        template: &'a Template,
        account: Option<&'a str>,
    ) -> Self {
        // With accounts in the spec the same document goes to the role in each of them.
        let named = pools.iter().any(|pool| pool.place.region.account().is_some());
        Uses {
            account: account.filter(|_| !named),
            regions: pools.iter().map(|pool| pool.place.region.name()).collect(),
            spot: pools.iter().any(|pool| pool.market == Market::Spot),
            launch_templates: false,
            template,
        }
    }

    /// `aws`, or another partition where the regions are in one.
    fn partition(&self) -> &'static str {
        let all = |prefix: &str| {
            !self.regions.is_empty() && self.regions.iter().all(|r| r.starts_with(prefix))
        };
        if all("cn-") {
            "aws-cn"
        } else if all("us-gov-") {
            "aws-us-gov"
        } else {
            "aws"
        }
    }

    /// Something of the account's own.
    fn own(&self, what: &str) -> String {
        format!("arn:{}:ec2:*:{}:{what}", self.partition(), self.account.unwrap_or("*"))
    }

    /// Something that is nobody's, or anybody's: images and snapshots.
    fn shared(&self, what: &str) -> String {
        format!("arn:{}:ec2:*::{what}", self.partition())
    }

    /// Those of a list that is written in ids, else any: which ones a tag stands for can change.
    fn listed(&self, kind: &str, prefix: &str, names: &[String]) -> Vec<String> {
        let id = |text: &String| match Named::read(text, prefix) {
            Named::Id(id) => Some(id.to_owned()),
            Named::Tag(..) | Named::Name(_) => None,
        };
        let ids: Option<Vec<String>> = names.iter().map(id).collect();
        match ids {
            Some(ids) if !ids.is_empty() => {
                ids.iter().map(|id| self.own(&format!("{kind}/{id}"))).collect()
            }
            _ => vec![self.own(&format!("{kind}/*"))],
        }
    }
}

/// A policy as IAM writes it, in the order in which people read it.
#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Policy {
    version: &'static str,
    statement: Vec<Statement>,
}

/// One thing that is allowed.
#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Statement {
    sid: &'static str,
    effect: &'static str,
    action: Value,
    resource: Value,
    condition: Value,
}

/// The policy document.
pub(crate) fn document(uses: &Uses<'_>) -> String {
    let statement: Vec<Statement> = [
        Some(look(uses)),
        parameter(uses),
        Some(launch_tagged(uses)),
        Some(launch_parts(uses)),
        Some(tag(uses)),
        Some(relabel(uses)),
        Some(end(uses)),
        templates(uses),
        tidy(uses),
        pass_role(uses),
    ]
    .into_iter()
    .flatten()
    .collect();
    let policy = Policy { version: "2012-10-17", statement };
    // Text has no room for writing to fail: every key is a string.
    serde_json::to_string_pretty(&policy).unwrap_or_default() + "\n"
}

/// One thing that is allowed, in the spec's regions only.
fn allow(
    uses: &Uses<'_>,
    sid: &'static str,
    action: Value,
    resource: Value,
    more: Value,
) -> Statement {
    let mut condition = json!({ "StringEquals": { "aws:RequestedRegion": uses.regions } });
    if let (Value::Object(all), Value::Object(more)) = (&mut condition, more) {
        for (operator, keys) in more {
            match (all.get_mut(&operator), keys) {
                (Some(Value::Object(there)), Value::Object(keys)) => there.extend(keys),
                (_, keys) => {
                    all.insert(operator, keys);
                }
            }
        }
    }
    Statement { sid, effect: "Allow", action, resource, condition }
}

/// Only if the request sets our tag.
fn tagged_by_us() -> Value {
    json!({ "Null": { format!("aws:RequestTag/{}", tags::UID): "false" } })
}

/// Everything that is only looked at. EC2 knows no resources for these.
fn look(uses: &Uses<'_>) -> Statement {
    let Template { network, subnets, security_groups, .. } = uses.template;
    let named = |text: &String, prefix| !matches!(Named::read(text, prefix), Named::Id(_));
    let mut actions = vec![
        "ec2:DescribeAvailabilityZones",
        "ec2:DescribeImages",
        "ec2:DescribeInstanceStatus",
        "ec2:DescribeInstanceTypeOfferings",
        "ec2:DescribeInstanceTypes",
        "ec2:DescribeInstances",
    ];
    if uses.template.reservation.as_ref().is_some_and(|named| named.starts_with(BLOCK)) {
        actions.push("ec2:DescribeCapacityReservations");
    }
    if !security_groups.is_empty() {
        actions.push("ec2:DescribeSecurityGroups");
    }
    if uses.spot {
        actions.extend(["ec2:DescribeSpotInstanceRequests", "ec2:DescribeSpotPriceHistory"]);
    }
    // Also where none is named: zones without a default subnet are ruled out when a plan is made.
    actions.push("ec2:DescribeSubnets");
    let groups_of_default = subnets.is_empty() && network.is_none() && !security_groups.is_empty();
    if groups_of_default || network.as_ref().is_some_and(|network| named(network, "vpc-")) {
        actions.push("ec2:DescribeVpcs");
    }
    if uses.spot {
        actions.push("ec2:GetSpotPlacementScores");
    }
    if uses.launch_templates {
        actions.push("ec2:DescribeLaunchTemplates");
    }
    actions.push("servicequotas:ListServiceQuotas");
    allow(uses, "Look", json!(actions), json!("*"), Value::Null)
}

/// The parameter that names the image.
fn parameter(uses: &Uses<'_>) -> Option<Statement> {
    let path = parameter_path(uses.template.image.as_deref())?;
    // Amazon's own parameters belong to no account.
    let account = if path.starts_with("/aws/") { "" } else { uses.account.unwrap_or("*") };
    let slash = if path.starts_with('/') { "" } else { "/" };
    let arn = format!("arn:{}:ssm:*:{account}:parameter{slash}{path}", uses.partition());
    Some(allow(uses, "ReadTheImageParameter", json!("ssm:GetParameter"), json!(arn), Value::Null))
}

/// What a launch makes, which must carry our tag.
fn launch_tagged(uses: &Uses<'_>) -> Statement {
    let mut made = vec![uses.own("instance/*"), uses.own("volume/*")];
    if uses.spot {
        made.push(uses.own("spot-instances-request/*"));
    }
    allow(uses, "LaunchWithOurTag", json!("ec2:RunInstances"), json!(made), tagged_by_us())
}

/// What a launch is made from.
fn launch_parts(uses: &Uses<'_>) -> Statement {
    let Template { image, subnets, security_groups, key, reservation, placement_group, .. } =
        uses.template;
    let image = image.as_deref().filter(|name| name.starts_with("ami-")).unwrap_or("*");
    let mut parts = vec![uses.shared(&format!("image/{image}")), uses.shared("snapshot/*")];
    parts.extend(uses.listed("subnet", "subnet-", subnets));
    parts.extend(uses.listed("security-group", "sg-", security_groups));
    parts.push(uses.own("network-interface/*"));
    if let Some(key) = key {
        parts.push(uses.own(&format!("key-pair/{key}")));
    }
    if let Some(reservation) = reservation {
        let id = reservation.strip_prefix(BLOCK).unwrap_or(reservation);
        let id = if id.starts_with("cr-") { id } else { "*" };
        parts.push(uses.own(&format!("capacity-reservation/{id}")));
    }
    if let Some(group) = placement_group {
        parts.push(uses.own(&format!("placement-group/{group}")));
    }
    if uses.launch_templates {
        parts.push(uses.own("launch-template/*"));
    }
    allow(uses, "LaunchFromTheseParts", json!("ec2:RunInstances"), json!(parts), Value::Null)
}

/// Our tags are set in the launch and never afterwards.
fn tag(uses: &Uses<'_>) -> Statement {
    let mut made = vec![uses.own("instance/*"), uses.own("volume/*")];
    if uses.spot {
        made.push(uses.own("spot-instances-request/*"));
    }
    let by = if uses.launch_templates {
        made.push(uses.own("fleet/*"));
        made.push(uses.own("launch-template/*"));
        json!(["RunInstances", "CreateFleet", "CreateLaunchTemplate"])
    } else {
        json!("RunInstances")
    };
    let only = json!({ "StringEquals": { "ec2:CreateAction": by } });
    allow(uses, "TagInTheLaunchItself", json!("ec2:CreateTags"), json!(made), only)
}

/// Changes the user's own tags on machines of ours. This right cannot make a machine ours, nor give it
/// away: our tags are none of those that may be named, and EC2 takes a
/// request that names none for all of them.
fn relabel(uses: &Uses<'_>) -> Statement {
    let actions = json!(["ec2:CreateTags", "ec2:DeleteTags"]);
    let only = json!({
        "Null": { format!("aws:ResourceTag/{}", tags::UID): "false", "aws:TagKeys": "false" },
        "ForAllValues:StringNotLike": { "aws:TagKeys": "fleet:*" },
    });
    allow(uses, "ChangeLabelsOfWhatIsOurs", actions, json!(uses.own("instance/*")), only)
}

fn end(uses: &Uses<'_>) -> Statement {
    let ours = json!({ "Null": { format!("aws:ResourceTag/{}", tags::UID): "false" } });
    let instances = json!(uses.own("instance/*"));
    allow(uses, "EndWhatIsOurs", json!("ec2:TerminateInstances"), instances, ours)
}

/// Launch templates of ours, and the fleets that are launched from them.
fn templates(uses: &Uses<'_>) -> Option<Statement> {
    let actions = json!(["ec2:CreateFleet", "ec2:CreateLaunchTemplate"]);
    let made = json!([uses.own("fleet/*"), uses.own("launch-template/*")]);
    uses.launch_templates
        .then(|| allow(uses, "LaunchThroughTemplates", actions, made, tagged_by_us()))
}

/// What launches through templates need afterwards: each machine its slot, and templates that
/// nobody needs any more gone. Only on what carries our tag.
fn tidy(uses: &Uses<'_>) -> Option<Statement> {
    let ours = json!({ "Null": { format!("aws:ResourceTag/{}", tags::UID): "false" } });
    let actions = json!(["ec2:CreateTags", "ec2:DeleteLaunchTemplate"]);
    let on = json!([uses.own("instance/*"), uses.own("launch-template/*")]);
    uses.launch_templates.then(|| allow(uses, "TidyWhatIsOurs", actions, on, ours))
}

/// The machines' own role, that very one, and to EC2 only. IAM is everywhere: no region.
fn pass_role(uses: &Uses<'_>) -> Option<Statement> {
    let role = role_arn(uses.template.instance_role.as_deref()?, uses)?;
    let to = json!({ "StringEquals": { "iam:PassedToService": "ec2.amazonaws.com" } });
    Some(Statement {
        sid: "HandOverTheRole",
        effect: "Allow",
        action: json!("iam:PassRole"),
        resource: json!(role),
        condition: to,
    })
}

/// The role inside an instance profile. IAM's own consoles and most tools give both one name; a
/// role of another name must be put in by hand, since reading profiles would need rights of its own.
fn role_arn(profile: &str, uses: &Uses<'_>) -> Option<String> {
    let (account, name) = match profile.strip_prefix("arn:") {
        Some(arn) => (arn.split(':').nth(3)?, profile.rsplit('/').next()?),
        None => (uses.account.unwrap_or("*"), profile),
    };
    Some(format!("arn:{}:iam::{account}:role/{name}", uses.partition()))
}

#[cfg(test)]
#[path = "policy_tests.rs"]
mod tests;
