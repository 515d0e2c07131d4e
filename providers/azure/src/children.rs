//! Disks and interfaces: Azure makes them with a machine, takes them along when it goes, and now and
//! then forgets one.
//!
//! A child is known by its name, which is made from that of its machine, which is made from the token
//! of a launch. Disks inherit the tags of their machine as well; interfaces do not, so tags that are
//! there must be ours, and need not be there.

use crate::api::{Api, COMPUTE, NETWORK};
use crate::names::{self, DISKS, Group, MACHINES, NICS};
use crate::tags;
use crate::terminate::remove;
use crate::wire::{Child, Vm};
use fleet_model::{FleetUid, MachineId, Remains, Scope, Token};
use fleet_provider::{ClearRequest, Error};
use futures::future::{join_all, try_join_all};

/// The version of the API of disks.
const DISK_API: &str = "2023-04-02";

/// A kind of child.
pub(crate) struct Kind {
    /// Where it is.
    pub(crate) path: &'static str,
    /// How it is named after its machine.
    pub(crate) named: fn(&str) -> String,
    /// The version of its API.
    pub(crate) version: &'static str,
}

/// Each kind.
pub(crate) const KINDS: [Kind; 2] = [
    Kind { path: NICS, named: names::nic, version: NETWORK },
    Kind { path: DISKS, named: names::disk, version: DISK_API },
];

/// Children in a region that no machine uses.
pub(crate) async fn remains(api: &Api, scope: &Scope) -> Result<Vec<Remains>, Error> {
    let group = api.group()?;
    let lists = KINDS.map(|Kind { path, version, .. }| {
        let path = group.all(path);
        async move { api.list::<Child>(&path, &[("api-version", version)]).await }
    });
    let all = try_join_all(lists).await?;
    let here = |child: &Child| names::region(&child.location) == scope.region.as_str();
    let unused = all.into_iter().flatten().filter(|child| here(child) && !child.is_used());
    let mut remains: Vec<Remains> = unused.filter_map(|child| left(&child, scope)).collect();
    // A machine may have left both.
    remains.sort();
    remains.dedup();
    Ok(remains)
}

/// What a child is left of; `None` if its name and tags do not say that it is one of ours.
fn left(child: &Child, scope: &Scope) -> Option<Remains> {
    let name = child.name.to_ascii_lowercase();
    let machine = KINDS.iter().find_map(|kind| name.strip_suffix(&(kind.named)("")))?;
    let token = child.tag(tags::TOKEN).unwrap_or(machine);
    let ours = machine.starts_with("fleet-") && names::machine(token) == machine;
    ours.then(|| Remains {
        machine: MachineId::new(machine),
        token: Token::new(token),
        scope: scope.clone(),
    })
}

/// Clears away what machines left behind; of how many nothing is left.
pub(crate) async fn clear(api: &Api, request: &ClearRequest<'_>) -> Result<u32, Error> {
    let group = api.group()?;
    let remains = request.remains.iter();
    let each = remains.map(|left| clear_one(api, &group, request.fleet, left.machine.as_str()));
    let (mut cleared, mut failed) = (0, None);
    for outcome in join_all(each).await {
        match outcome {
            Ok(gone) => cleared += u32::from(gone),
            Err(error) => failed = failed.or(Some(error)),
        }
    }
    // Last, so that one that will not go does not keep the others.
    failed.map_or(Ok(cleared), Err)
}

/// Looks at the machine, which must be gone, and at each child, which must be ours and unused, right
/// before it is deleted. Whether nothing is left.
async fn clear_one(
    api: &Api,
    group: &Group,
    fleet: &FleetUid,
    machine: &str,
) -> Result<bool, Error> {
    if api.find::<Vm>(&group.at(MACHINES, machine), COMPUTE).await?.is_some() {
        return Ok(false);
    }
    let mut there = Vec::new();
    for Kind { path, named, version } in KINDS {
        let path = group.at(path, &named(machine));
        let Some(child) = api.find::<Child>(&path, version).await? else { continue };
        let of_others = child.tag(tags::UID).is_some_and(|uid| uid != fleet.as_str());
        if child.is_used() || of_others {
            return Ok(false);
        }
        there.push((path, version));
    }
    let mut gone = true;
    for (path, version) in there {
        gone &= remove(api, &path, version).await?;
    }
    Ok(gone)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{from_value, json};

    #[test]
    fn children_are_known_by_name_and_tags() {
        let scope: Scope = Scope { cloud: fleet_model::Cloud::Azure, region: "eastus".into() };
        let of = |name: &str, token: Option<&str>| {
            let mut child = json!({ "name": name, "location": "eastus" });
            if let Some(token) = token {
                child["tags"] = json!({ "Fleet:Token": token });
            }
            left(&from_value(child).expect("a child"), &scope).map(|left| left.machine.to_string())
        };
        let ours = Some("fleet-0a".to_owned());
        assert_eq!(
            (of("fleet-0a-nic", None), of("Fleet-0A-disk", Some("fleet-0a"))),
            (ours.clone(), ours)
        );
        for (name, token) in [
            ("fleet-0a", None),
            ("web-disk", None),
            ("fleet-0a-disk", Some("fleet-0b")),
            ("fleet-0a-disk2", None),
            ("-nic", None),
        ] {
            assert_eq!(of(name, token), None, "{name} {token:?}");
        }
    }
}
