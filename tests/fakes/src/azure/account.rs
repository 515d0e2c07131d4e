//! What is in the account besides machines: networks, keys, limits, rights.

use super::answers::{not_found, seen};
use super::sizes::{REGIONS, SIZES};
use fleet_provider::evidence::Call;
use fleet_testkit::{Answer, Request};
use serde_json::{Value, json};

/// The only token that is taken.
pub const TOKEN: &str = "fake-token-0123456789";

/// The subscriptions.
pub const SUBSCRIPTIONS: [&str; 2] =
    ["11111111-1111-1111-1111-111111111111", "22222222-2222-2222-2222-222222222222"];

/// The resource group, of the same name in both.
pub const GROUP: &str = "fleets";

/// The name of a resource that holds a public key.
pub const KEY_NAME: &str = "laptop";

/// The subnet of a region, in one of the subscriptions.
pub fn subnet(subscription: usize, region: &str) -> String {
    format!(
        "/subscriptions/{}/resourceGroups/net/providers/Microsoft.Network/virtualNetworks/\
         net-{region}/subnets/default",
        SUBSCRIPTIONS[subscription % SUBSCRIPTIONS.len()]
    )
}

/// Answers what does not concern machines; `None`: it does.
pub(super) fn answer(
    request: &Request,
    parts: &[&str],
    machines: &[(String, String)],
) -> Option<Answer> {
    let method = request.method.as_str();
    Some(match (method, parts) {
        ("GET", ["subscriptions", id]) => Answer::json(
            200,
            json!({
                "subscriptionId": id, "displayName": "fake", "state": "Enabled",
            }),
        ),
        ("GET", ["subscriptions", _, "locations"]) => {
            let all: Vec<Value> = REGIONS.iter().map(|r| json!({ "name": r })).collect();
            Answer::json(200, json!({ "value": all }))
        }
        ("GET", ["subscriptions", _, "resourcegroups", name]) if *name == GROUP => {
            Answer::json(200, json!({ "name": GROUP, "location": "eastus" }))
        }
        (
            "GET",
            [
                "subscriptions",
                _,
                "resourcegroups",
                _,
                "providers",
                "microsoft.authorization",
                "permissions",
            ],
        ) => Answer::json(200, json!({ "value": [{ "actions": ["*"], "notActions": [] }] })),
        (
            "GET",
            [
                "subscriptions",
                _,
                "resourcegroups",
                "net",
                "providers",
                "microsoft.network",
                "virtualnetworks",
                name,
            ],
        ) => {
            let region = name.strip_prefix("net-").filter(|region| REGIONS.contains(region));
            match region {
                Some(region) => {
                    // One network is as new ones are: nothing leads out of it.
                    let subnet = match region {
                        "southcentralus" => json!({ "defaultOutboundAccess": false }),
                        _ => json!({ "natGateway": { "id": "nat" } }),
                    };
                    let subnets = json!([{ "name": "default", "properties": subnet }]);
                    let properties = json!({ "subnets": subnets });
                    Answer::json(
                        200,
                        json!({ "name": name, "location": region, "properties": properties }),
                    )
                }
                None => not_found(name),
            }
        }
        (
            "GET",
            [
                "subscriptions",
                _,
                "resourcegroups",
                _,
                "providers",
                "microsoft.compute",
                "sshpublickeys",
                name,
            ],
        ) => {
            if *name == KEY_NAME {
                let properties = json!({ "publicKey": "ssh-ed25519 AAAA nobody" });
                Answer::json(
                    200,
                    json!({ "name": name, "location": "eastus", "properties": properties }),
                )
            } else {
                not_found(name)
            }
        }
        ("GET", ["subscriptions", _, "providers", "microsoft.compute", "skus"]) => {
            let wanted =
                request.query("$filter").and_then(|f| f.split('\'').nth(1)).unwrap_or_default();
            let regions = REGIONS.iter().filter(|r| wanted.is_empty() || **r == wanted);
            let all: Vec<Value> = regions.flat_map(|r| SIZES.iter().map(|s| s.sku(r))).collect();
            Answer::json(200, json!({ "value": all }))
        }
        (
            "GET",
            [
                "subscriptions",
                _,
                "providers",
                "microsoft.compute",
                "locations",
                region,
                "publishers",
                publisher,
                "artifacttypes",
                "vmimage",
                "offers",
                offer,
                "skus",
                sku,
                "versions",
            ],
        ) => versions(request, region, [publisher, offer, sku]),
        (
            "GET",
            ["subscriptions", _, "providers", "microsoft.compute", "locations", region, "usages"],
        ) => Answer::json(200, json!({ "value": usages(region, machines) })),
        (
            "POST",
            [
                "subscriptions",
                _,
                "providers",
                "microsoft.compute",
                "locations",
                region,
                "placementscores",
                "spot",
                "generate",
            ],
        ) => {
            let body = request.json().unwrap_or_default();
            let sizes = body["desiredSizes"].as_array().cloned().unwrap_or_default();
            let scores: Vec<Value> = sizes.iter().map(|size| json!({
                "sku": size["sku"], "region": region, "score": "High", "isQuotaAvailable": true,
            })).collect();
            Answer::json(200, json!({ "placementScores": scores }))
        }
        ("POST", ["providers", "microsoft.resourcegraph", "resources"]) => {
            Answer::json(200, evictions(request))
        }
        ("GET", ["api", "retail", "prices"]) => Answer::json(200, prices(request)),
        _ => return None,
    })
}

/// Eviction rates of the sizes and regions that a query names, in the order of its two lists.
fn evictions(request: &Request) -> Value {
    let body = request.json().unwrap_or_default();
    let query = body["query"].as_str().unwrap_or_default();
    let lists: Vec<Vec<&str>> = query
        .split("in~ (")
        .skip(1)
        .map(|rest| rest.split(')').next().unwrap_or_default().split(", "))
        .map(|names| names.map(|name| name.trim_matches('\'')).collect())
        .collect();
    let [regions, sizes] = &lists[..] else { return json!({ "data": [] }) };
    let row = |region: &str, size: &str| json!({ "skuName": size, "location": region, "evictionRate": "5-10" });
    let rows = regions.iter().flat_map(|region| sizes.iter().map(|size| row(region, size)));
    let rows: Vec<Value> = rows.collect();
    json!({ "totalRecords": rows.len(), "count": rows.len(), "data": rows, "resultTruncated": "false" })
}

/// The versions of an image, as asked for: the newest first, or all.
fn versions(request: &Request, region: &str, image: [&str; 3]) -> Answer {
    let [publisher, offer, sku] = image;
    let known = publisher == "canonical"
        && offer == "ubuntu-24_04-lts"
        && ["server", "server-arm64"].contains(&sku);
    if !known || !REGIONS.contains(&region) {
        return seen(Call::Look, 404, "NotFound", "Artifact: VMImage was not found.");
    }
    let mut names = ["24.04.202606260", "24.04.202607100"];
    if request.query("$orderby") == Some("name desc") {
        names.reverse();
    }
    let most = request.query("$top").and_then(|top| top.parse().ok()).unwrap_or(names.len());
    let one = |name: &&str| json!({ "location": region, "name": name, "id": format!("{}/{name}", request.path) });
    Answer::json(200, json!(names.iter().take(most).map(one).collect::<Vec<_>>()))
}

/// Cores in use by family and in all; `machines` are regions and sizes of those that live.
fn usages(region: &str, machines: &[(String, String)]) -> Vec<Value> {
    let used = |family: Option<&str>| -> u32 {
        let here = machines.iter().filter(|(place, _)| place == region);
        let sizes = here.filter_map(|(_, size)| SIZES.iter().find(|s| s.name == size));
        sizes.filter(|s| family.is_none_or(|f| f == s.family)).map(|s| s.vcpus).sum()
    };
    let usage = |name: &str, used: u32| {
        json!({
            "unit": "Count", "currentValue": used, "limit": 1000,
            "name": { "value": name, "localizedValue": name },
        })
    };
    let mut all = vec![usage("cores", used(None)), usage("lowPriorityCores", 0)];
    let mut families: Vec<&str> = SIZES.iter().map(|s| s.family).collect();
    families.dedup();
    all.extend(families.into_iter().map(|family| usage(family, used(Some(family)))));
    all
}

fn prices(request: &Request) -> Value {
    let filter = request.query("$filter").unwrap_or_default();
    let mut items = Vec::new();
    for region in REGIONS.iter().filter(|r| filter.contains(&format!("armRegionName eq '{r}'"))) {
        let named = filter.contains("armSkuName");
        let wanted = |name: &str| !named || filter.contains(&format!("armSkuName eq '{name}'"));
        for size in SIZES.iter().filter(|size| wanted(size.name)) {
            items.extend(size.prices(region));
        }
    }
    json!({ "BillingCurrency": "USD", "Items": items, "NextPageLink": null, "Count": items.len() })
}
