//! The role that we ship is the role that the fake enforces: every call in every test is allowed by
//! `docs/security/azure.json`, or it is refused as Azure would refuse it.

use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// What the role allows, in lower case, as Azure compares it.
static ALLOWED: LazyLock<BTreeSet<String>> = LazyLock::new(|| {
    let role = include_str!("../../../../docs/security/azure.json");
    let role: Value = serde_json::from_str(role).unwrap_or_default();
    let actions = role["Actions"].as_array().into_iter().flatten();
    actions.filter_map(Value::as_str).map(str::to_ascii_lowercase).collect()
});

/// The first action that a request needs and the role does not allow.
pub(super) fn denied(method: &str, path: &[&str], body: &Value) -> Option<String> {
    let linked = if method == "PUT" { linked(body) } else { Vec::new() };
    let needed = action(method, path).into_iter().chain(linked);
    needed.into_iter().find(|action| !ALLOWED.contains(&action.to_ascii_lowercase()))
}

/// Azure's own rule: the last provider on the way (tags are a resource beside every other), the types on the way, and what is done. A path is alternately types
/// and names; a POST ends with the name of the action.
fn action(method: &str, path: &[&str]) -> Option<String> {
    let Some(at) = path.iter().rposition(|part| *part == "providers") else {
        let group = path.get(2) == Some(&"resourcegroups");
        return group.then(|| "Microsoft.Resources/subscriptions/resourceGroups/read".to_owned());
    };
    let (provider, rest) = path.get(at + 1..)?.split_first()?;
    // A query reads, though it is a POST.
    if (*provider, rest) == ("microsoft.resourcegraph", &["resources"]) {
        return Some("Microsoft.ResourceGraph/resources/read".to_owned());
    }
    let (types, deed) = match (method, rest.split_last()) {
        ("POST", Some((deed, before))) => (before, format!("{deed}/action")),
        ("PUT" | "PATCH", _) => (rest, "write".to_owned()),
        ("DELETE", _) => (rest, "delete".to_owned()),
        _ => (rest, "read".to_owned()),
    };
    let types: Vec<&str> = types.iter().step_by(2).copied().collect();
    Some(format!("{provider}/{}/{deed}", types.join("/")))
}

/// What else a machine needs: the rights to what is made with it, and to what it is tied to.
fn linked(body: &Value) -> Vec<String> {
    let properties = &body["properties"];
    let mut needed = Vec::new();
    let mut need =
        |is: bool, action: &str| needed.extend(is.then(|| format!("Microsoft.{action}")));
    let network = &properties["networkProfile"]["networkInterfaceConfigurations"];
    let text = network.to_string().to_ascii_lowercase();
    need(network.is_array(), "Network/networkInterfaces/write");
    need(network.is_array(), "Network/networkInterfaces/join/action");
    need(text.contains("\"subnet\""), "Network/virtualNetworks/subnets/join/action");
    need(text.contains("networksecuritygroup"), "Network/networkSecurityGroups/join/action");
    need(properties["storageProfile"]["osDisk"].is_object(), "Compute/disks/write");
    let identity = body["identity"]["userAssignedIdentities"].is_object();
    need(identity, "ManagedIdentity/userAssignedIdentities/assign/action");
    needed
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(method: &str, path: &str, body: Value, expect: Option<&str>) {
        let path = path.to_ascii_lowercase();
        let parts: Vec<&str> = path.split('/').collect();
        let found = denied(method, &parts, &body).map(|action| action.to_ascii_lowercase());
        assert_eq!(found, expect.map(str::to_ascii_lowercase), "{method} {path}");
    }

    #[test]
    fn the_role_is_enforced() {
        let none = || Value::Null;
        let group = "subscriptions/s/resourceGroups/g";
        let compute = format!("{group}/providers/Microsoft.Compute");
        check("GET", group, none(), None);
        check("GET", &format!("{compute}/virtualMachines"), none(), None);
        check("DELETE", &format!("{compute}/virtualMachines/m"), none(), None);
        let run = format!("{compute}/virtualMachines/m/runCommand");
        let denied = "Microsoft.Compute/virtualMachines/runCommand/action";
        check("POST", &run, none(), Some(denied));
        let scores =
            "subscriptions/s/providers/Microsoft.Compute/locations/l/placementScores/spot/generate";
        check("POST", scores, none(), None);
        check("POST", "providers/Microsoft.ResourceGraph/resources", none(), None);
        let rule = format!("{group}/providers/Microsoft.Network/networkSecurityGroups/n");
        check("PUT", &rule, none(), Some("Microsoft.Network/networkSecurityGroups/write"));
        let tied = json!({ "properties": { "networkProfile": { "networkInterfaceConfigurations": [
            { "properties": { "networkSecurityGroup": { "id": "n" }, "subnet": { "id": "s" } } },
        ] } } });
        check("PUT", &format!("{compute}/virtualMachines/m"), tied, None);
    }
}
