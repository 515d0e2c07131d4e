//! Disks and interfaces: Azure makes them with a machine, takes them along when it goes, and now and
//! then forgets one.
//!
//! A child is known by its name, which is made from that of its machine, which is made from the token
//! of a launch. To the name of an interface Azure adds eight digits of its own, so an interface is
//! asked for by the address that its machine names, or looked for in the list. Disks inherit the tags
//! of their machine as well; interfaces do not, so tags that are there must be ours, and need not be
//! there.

use crate::api::{Api, COMPUTE, NETWORK};
use crate::names::{self, DISKS, Group, MACHINES, NICS};
use crate::tags;
use crate::terminate::remove;
use crate::wire::{Child, Vm};
use fleet_model::{FleetUid, MachineId, Orphans, Scope, Timestamp, Token};
use fleet_provider::{ClearRequest, Error};
use futures::future::{join_all, try_join_all};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;

/// The version of the API of disks.
const DISK_API: &str = "2023-04-02";

/// A kind of child.
pub(crate) struct Kind {
    /// Where it is.
    pub(crate) path: &'static str,
    /// The machine that one was made for, by its name.
    pub(crate) machine_of: fn(&str) -> Option<&str>,
    /// The version of its API.
    pub(crate) version: &'static str,
}

/// Interfaces.
const NIC: Kind = Kind { path: NICS, machine_of: names::machine_of_nic, version: NETWORK };
/// Disks.
const DISK: Kind = Kind { path: DISKS, machine_of: names::machine_of_disk, version: DISK_API };
/// Each kind.
pub(crate) const KINDS: [Kind; 2] = [NIC, DISK];

/// How long the lists of one look hold.
const HOLDS: Duration = Duration::from_secs(60);

/// The lists of one look: they are those of the whole group, so one pair serves all its regions.
#[derive(Default)]
pub(crate) struct Children(Mutex<Option<Look>>);

struct Look {
    when: Timestamp,
    /// What no machine uses, by region.
    unused: Arc<BTreeMap<String, Vec<Child>>>,
    /// Who has had them: whoever asks again wants to know what is there now.
    told: BTreeSet<Scope>,
}

impl Children {
    /// What was listed is out of date.
    pub(crate) async fn forget(&self) {
        *self.0.lock().await = None;
    }

    /// Children in a region that no machine uses.
    pub(crate) async fn orphans(&self, api: &Api, scope: &Scope) -> Result<Vec<Orphans>, Error> {
        // Held while we ask: regions ask side by side, and one answer is for all.
        let mut look = self.0.lock().await;
        let now = api.clock.now();
        let fresh = look.as_mut().filter(|look| {
            now.duration_since(look.when).unsigned_abs() < HOLDS && !look.told.contains(scope)
        });
        let unused = match fresh {
            Some(look) => {
                look.told.insert(scope.clone());
                look.unused.clone()
            }
            None => {
                let mut unused: BTreeMap<String, Vec<Child>> = BTreeMap::new();
                for child in list(api).await?.into_iter().filter(|child| !child.is_used()) {
                    unused.entry(names::region(&child.location)).or_default().push(child);
                }
                let unused = Arc::new(unused);
                let told = BTreeSet::from([scope.clone()]);
                *look = Some(Look { when: now, unused: unused.clone(), told });
                unused
            }
        };
        drop(look);
        let here = unused.get(scope.region.as_str()).into_iter().flatten();
        let mut orphans: Vec<Orphans> = here.filter_map(|child| left(child, scope)).collect();
        // A machine may have left both.
        orphans.sort();
        orphans.dedup();
        Ok(orphans)
    }
}

/// Every disk and interface of the group.
async fn list(api: &Api) -> Result<Vec<Child>, Error> {
    let group = api.group()?;
    let lists = KINDS.map(|Kind { path, version, .. }| {
        let path = group.all(path);
        async move { api.list::<Child>(&path, &[("api-version", version)]).await }
    });
    Ok(try_join_all(lists).await?.into_iter().flatten().collect())
}

/// The machine that a disk or an interface was made for, by its name.
pub(crate) fn machine_of(child: &str) -> Option<&str> {
    KINDS.iter().find_map(|kind| (kind.machine_of)(child)).filter(|name| name.starts_with("fleet-"))
}

/// What a child is left of; `None` if its name and tags do not say that it is one of ours.
fn left(child: &Child, scope: &Scope) -> Option<Orphans> {
    let name = child.name.to_ascii_lowercase();
    let machine = machine_of(&name)?;
    let token = child.tag(tags::TOKEN).unwrap_or(machine);
    (names::machine(token) == machine).then(|| Orphans {
        machine: MachineId::new(machine),
        token: Token::new(token),
        scope: scope.clone(),
    })
}

/// Addresses of a machine's children, and the versions of their APIs: interfaces as the machine names
/// them, its disk as we did. By name and not by list: a list lacked a disk for hours.
pub(crate) fn of(group: &Group, vm: &Vm) -> Vec<(String, &'static str)> {
    let name = vm.name.to_ascii_lowercase();
    let interfaces = vm.properties.network_profile.network_interfaces.iter();
    let nics = interfaces
        .map(|nic| names::last(&nic.id))
        // One that somebody else has added is not ours to delete.
        .filter(|nic| names::machine_of_nic(&nic.to_ascii_lowercase()) == Some(&*name))
        .map(|nic| (group.at(NICS, nic), NIC.version));
    let disk = (group.at(DISKS, &names::disk(&name)), DISK.version);
    nics.chain([disk]).collect()
}

/// Clears away what machines left behind; of how many nothing is left.
pub(crate) async fn clear(api: &Api, request: &ClearRequest<'_>) -> Result<u32, Error> {
    let group = api.group()?;
    let nics: Vec<Child> = api.list(&group.all(NICS), &[("api-version", NETWORK)]).await?;
    let orphans = request.orphans.iter();
    let each =
        orphans.map(|left| clear_one(api, &group, request.fleet, left.machine.as_str(), &nics));
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
    nics: &[Child],
) -> Result<bool, Error> {
    if api.find::<Vm>(&group.at(MACHINES, machine), COMPUTE).await?.is_some() {
        return Ok(false);
    }
    let of_machine =
        |nic: &&Child| names::machine_of_nic(&nic.name.to_ascii_lowercase()) == Some(machine);
    let nics = nics.iter().filter(of_machine).map(|nic| (group.at(NICS, &nic.name), NIC.version));
    let disk = (group.at(DISKS, &names::disk(machine)), DISK.version);
    let mut there = Vec::new();
    for (path, version) in nics.chain([disk]) {
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
            (of("fleet-0a-nic-78B7aa25", None), of("Fleet-0A-disk", Some("fleet-0a"))),
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

    #[test]
    fn a_machine_names_its_interfaces() {
        let id = |name: &str| json!({ "id": format!("/x/networkInterfaces/{name}") });
        let vm: Vm = from_value(json!({ "name": "Fleet-A", "properties": { "networkProfile": {
            "networkInterfaces": [id("Fleet-A-nic-78b7aa25"), id("somebody-elses")] } } }))
        .expect("a machine");
        let group = Group { subscription: "s".into(), name: "g".into() };
        let of = super::of(&group, &vm);
        let names: Vec<&str> = of.iter().map(|(path, _)| names::last(path)).collect();
        assert_eq!(names, ["Fleet-A-nic-78b7aa25", "fleet-a-disk"]);
    }
}
