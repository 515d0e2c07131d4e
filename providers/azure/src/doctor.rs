//! Looking an account over: who we are, what we may do, where machines would stand, what is left.

use crate::api::{Api, NETWORK};
use crate::children::{self, KINDS, Kind};
use crate::launch::lacks;
use crate::names::Group;
use crate::network::Networks;
use crate::quotas;
use crate::skus::{Skus, find};
use crate::wire::Resource;
use crate::{machines, names};
use fleet_model::{Pattern, PoolId, Region};
use fleet_provider::{Error, Examination, ExamineRequest, Finding, Verdict};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// What we do on a resource group, each a right of its own.
const NEEDED: &[&str] = &[
    "Microsoft.Compute/virtualMachines/read",
    "Microsoft.Compute/virtualMachines/write",
    "Microsoft.Compute/virtualMachines/delete",
    "Microsoft.Compute/disks/read",
    "Microsoft.Compute/disks/write",
    "Microsoft.Compute/disks/delete",
    "Microsoft.Network/networkInterfaces/read",
    "Microsoft.Network/networkInterfaces/write",
    "Microsoft.Network/networkInterfaces/join/action",
    "Microsoft.Network/networkInterfaces/delete",
    "Microsoft.Resources/tags/write",
];

/// What we do elsewhere in the subscription.
const NEEDED_ABOVE: &[&str] = &[
    "Microsoft.Compute/skus/read",
    "Microsoft.Compute/locations/usages/read",
    "Microsoft.Compute/locations/operations/read",
    "Microsoft.Compute/locations/placementScores/generate/action",
    "Microsoft.Compute/locations/publishers/artifacttypes/offers/skus/versions/read",
    "Microsoft.Network/virtualNetworks/read",
    "Microsoft.Network/virtualNetworks/subnets/join/action",
    "Microsoft.ResourceGraph/resources/read",
];

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Permission {
    actions: Vec<String>,
    not_actions: Vec<String>,
}

/// Looks everything over.
pub(crate) async fn examine(
    api: &Api,
    skus: &Skus,
    networks: &Networks,
    request: &ExamineRequest<'_>,
) -> Examination {
    let group = match api.group() {
        Ok(group) => group,
        Err(error) => {
            let finding = Finding::new(Verdict::Bad, "settings", error.to_string());
            return Examination { findings: vec![finding], policy: None };
        }
    };
    let mut findings = account(api, &group).await;
    let policy = Some(role(request, &group));
    if findings.iter().any(|finding| finding.verdict == Verdict::Bad) {
        return Examination { findings, policy };
    }
    if let Some(why) = lacks(request.template) {
        findings.push(Finding::new(Verdict::Bad, "template", why));
    }
    let mut regions: BTreeMap<&Region, Vec<&PoolId>> = BTreeMap::new();
    for pool in request.pools {
        regions.entry(&pool.place.region).or_default().push(pool);
    }
    for (region, pools) in regions {
        match networks.find(api, request.template, region).await {
            Ok(plug) => {
                let way_out = way_out(api, region, &plug.subnet).await;
                findings.push(Finding::new(Verdict::Good, region.as_str(), plug.subnet));
                findings.extend(way_out);
            }
            Err(error) => {
                findings.push(Finding::new(Verdict::Bad, region.as_str(), error.to_string()));
            }
        }
        match region_findings(api, skus, &group, region, &pools).await {
            Ok(more) => findings.extend(more),
            Err(error) => {
                findings.push(Finding::new(Verdict::Bad, region.as_str(), error.to_string()));
            }
        }
    }
    findings.extend(leftovers(api, &group).await);
    Examination { findings, policy }
}

/// A word on a subnet whose machines reach nothing outside: ours have no public address. A look that
/// fails says nothing.
async fn way_out(api: &Api, region: &Region, subnet: &str) -> Option<Finding> {
    let network = names::network_of(subnet)?;
    let found = api.find::<Resource>(network, NETWORK).await.ok()??;
    let subnets = found.properties["subnets"].as_array()?;
    let same = |one: &&Value| {
        one["name"].as_str().is_some_and(|name| name.eq_ignore_ascii_case(names::last(subnet)))
    };
    is_shut(&subnets.iter().find(same)?["properties"]).then(|| {
        let words = "machines in this subnet reach nothing outside: it has no default outbound \
                     access and no NAT gateway";
        Finding::new(Verdict::Doubtful, region.as_str(), words).hint(
            "`az network nat gateway create`, then `az network vnet subnet update --nat-gateway`",
        )
    })
}

/// Whether nothing leads out of a subnet: neither Azure's default, which networks made since 2026-03-31
/// do not have, nor a NAT gateway, nor routes of somebody's own.
fn is_shut(subnet: &Value) -> bool {
    subnet["defaultOutboundAccess"] == false
        && subnet["natGateway"].is_null()
        && subnet["routeTable"].is_null()
}

/// The subscription, the group, and what we may do there.
async fn account(api: &Api, group: &Group) -> Vec<Finding> {
    let subject = format!("subscription {}", group.subscription);
    let path = format!("/subscriptions/{}", group.subscription);
    if let Err(error) = api.get::<serde_json::Value>(&path, "2022-12-01").await {
        let finding = Finding::new(Verdict::Bad, subject, error.to_string());
        return vec![
            finding.hint(
                "`az login`, or set AZURE_TENANT_ID, AZURE_CLIENT_ID and AZURE_CLIENT_SECRET",
            ),
        ];
    }
    let mut findings = vec![Finding::new(Verdict::Good, subject, "it answers us")];
    let subject = format!("resource group {}", group.name);
    match api.get::<Resource>(&group.path(), "2021-04-01").await {
        Ok(_) => findings.push(Finding::new(Verdict::Good, subject, "it is there")),
        Err(error) => {
            let hint = format!("az group create --name {} --location REGION", group.name);
            findings.push(Finding::new(Verdict::Bad, subject, error.to_string()).hint(hint));
            return findings;
        }
    }
    let path = group.all("Microsoft.Authorization/permissions");
    match api.list::<Permission>(&path, &[("api-version", "2022-04-01")]).await {
        Ok(permissions) => {
            let lacking: Vec<&str> =
                NEEDED.iter().copied().filter(|right| !allows(&permissions, right)).collect();
            findings.push(if lacking.is_empty() {
                Finding::new(Verdict::Good, "rights", "everything that a launch and an end need")
            } else {
                let words = format!("not allowed: {}", lacking.join(", "));
                Finding::new(Verdict::Bad, "rights", words).hint("assign the role below")
            });
        }
        Err(error) => {
            findings.push(Finding::new(Verdict::Doubtful, "rights", error.to_string()));
        }
    }
    findings
}

/// Whether some role of ours allows an action.
fn allows(permissions: &[Permission], action: &str) -> bool {
    let any =
        |patterns: &[String]| patterns.iter().any(|p| Pattern::new(p.as_str()).matches(action));
    permissions.iter().any(|role| any(&role.actions) && !any(&role.not_actions))
}

/// What of the spec's sizes a region does not sell us, and what is left of its limits.
async fn region_findings(
    api: &Api,
    skus: &Skus,
    group: &Group,
    region: &Region,
    pools: &[&PoolId],
) -> Result<Vec<Finding>, Error> {
    let sizes = skus.of(api, &group.subscription, region.as_str()).await?;
    let usages = quotas::usages(api, &group.subscription, region.as_str()).await?;
    let mut findings = Vec::new();
    let mut told = BTreeSet::new();
    for pool in pools {
        let Some(sku) = find(&sizes, &pool.instance_type) else {
            let words = format!("{region} does not sell it");
            if told.insert(words.clone() + pool.instance_type.as_str()) {
                findings.push(Finding::new(Verdict::Doubtful, pool.instance_type.as_str(), words));
            }
            continue;
        };
        if let Some(why) = sku.refusal(region.as_str(), &pool.place.zone, pool.market)
            && told.insert(why.clone())
        {
            findings.push(Finding::new(Verdict::Doubtful, pool.to_string(), why));
        }
        for quota in quotas::of(&usages, region, &sku.family, pool.market, None) {
            let left = quota.limit.saturating_sub(quota.used);
            let words = format!("{}: {left} of {} vCPUs left", quota.name, quota.limit);
            if !told.insert(format!("{words}{}", quota.market)) {
                continue;
            }
            let enough = sku.counted_vcpus().is_none_or(|one| left >= u64::from(one));
            let verdict = if enough { Verdict::Good } else { Verdict::Bad };
            let finding = Finding::new(verdict, format!("{region} {}", quota.market), words);
            findings.push(if enough {
                finding
            } else {
                finding.hint("ask for more: portal, Quotas, Compute")
            });
        }
    }
    Ok(findings)
}

/// Disks and interfaces of ours whose machine is gone.
async fn leftovers(api: &Api, group: &Group) -> Option<Finding> {
    let machines = machines::all(api).await.ok()?;
    let alive: BTreeSet<String> = machines.iter().map(|vm| vm.name.to_ascii_lowercase()).collect();
    let mut left = Vec::new();
    for Kind { path, version, .. } in KINDS {
        let query = [("api-version", version)];
        let all: Vec<Resource> = api.list(&group.all(path), &query).await.ok()?;
        left.extend(all.into_iter().map(|one| one.name.to_ascii_lowercase()).filter(|name| {
            children::machine_of(name).is_some_and(|machine| !alive.contains(machine))
        }));
    }
    if left.is_empty() {
        return Some(Finding::new(
            Verdict::Good,
            "leftovers",
            "no disk or interface without its machine",
        ));
    }
    let words = format!("without a machine: {}", left.join(", "));
    Some(Finding::new(Verdict::Doubtful, "leftovers", words).hint("delete them; they cost money"))
}

/// A custom role with the rights that this needs and no others.
fn role(request: &ExamineRequest<'_>, group: &Group) -> String {
    let mut actions: Vec<&str> = NEEDED.iter().chain(NEEDED_ABOVE).copied().collect();
    if request.template.instance_role.is_some() {
        actions.push("Microsoft.ManagedIdentity/userAssignedIdentities/assign/action");
    }
    if !request.template.security_groups.is_empty() {
        actions.push("Microsoft.Network/networkSecurityGroups/join/action");
    }
    if request.template.key.as_deref().is_some_and(|key| !key.contains(' ')) {
        actions.push("Microsoft.Compute/sshPublicKeys/read");
    }
    actions.push("Microsoft.Resources/subscriptions/resourceGroups/read");
    let role = json!({
        "Name": "fleet",
        "IsCustom": true,
        "Description": "Launches and ends the machines of fleets.",
        "Actions": actions,
        "NotActions": [],
        "AssignableScopes": [format!("/subscriptions/{}", group.subscription)],
    });
    format!("{role:#}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::from_value;

    #[test]
    fn the_document_for_everything() {
        let template = fleet_model::Template {
            security_groups: vec!["web".into()],
            instance_role: Some("node".into()),
            key: Some("ops".into()),
            ..fleet_model::Template::default()
        };
        let request = ExamineRequest {
            pools: &[],
            everywhere: &[],
            template: &template,
            fulfilment: Default::default(),
        };
        let subscription = "00000000-0000-0000-0000-000000000000".into();
        let group = Group { subscription, name: "fleet".into() };
        let page = include_str!("../../../docs/security/azure.json");
        assert_eq!(role(&request, &group) + "\n", page, "docs/security/azure.json is stale");
    }

    #[test]
    fn ways_out_of_a_subnet() {
        let shut = json!({ "defaultOutboundAccess": false });
        assert!(is_shut(&shut));
        for open in ["natGateway", "routeTable"] {
            let mut subnet = shut.clone();
            subnet[open] = json!({ "id": "x" });
            assert!(!is_shut(&subnet), "{open}");
        }
        assert!(!is_shut(&json!({})) && !is_shut(&json!({ "defaultOutboundAccess": true })));
    }

    #[test]
    fn rights_are_patterns() {
        let role = |actions: &[&str], not: &[&str]| -> Permission {
            from_value(json!({ "actions": actions, "notActions": not })).expect("a role")
        };
        let right = "Microsoft.Compute/virtualMachines/write";
        assert!(allows(&[role(&["*"], &[])], right));
        assert!(allows(&[role(&["*/read"], &[]), role(&["Microsoft.Compute/*"], &[])], right));
        assert!(!allows(&[role(&["*/read"], &[])], right));
        assert!(!allows(&[role(&["*"], &["Microsoft.Compute/*"])], right));
        assert!(!allows(&[], right));
    }
}
