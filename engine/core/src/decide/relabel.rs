//! Labels and tags of the user's own on machines that run already.

use crate::holdings::{Holding, Inventory, Standing};
use crate::record::{clouds, labels_version};
use fleet_model::{Cloud, Inputs, Labelled, Notice, Relabel, Scope, Why};
use std::collections::BTreeMap;

/// Machines to be destroyed, by position, and why.
type Victims = BTreeMap<usize, Why>;

/// Machines that stay and carry other labels than the spec's.
fn outdated<'a>(
    inputs: &'a Inputs,
    inventory: &'a Inventory,
    victims: &'a Victims,
) -> impl Iterator<Item = &'a Holding> {
    let clouds = clouds(&inputs.desired);
    let wanted: BTreeMap<Cloud, u32> =
        clouds.into_iter().map(|cloud| (cloud, labels_version(inputs, cloud))).collect();
    let is_outdated = move |(at, holding): &(usize, &Holding)| {
        let wanted = wanted.get(&holding.pool.place.cloud);
        wanted.is_some_and(|version| holding.labels != *version)
            && matches!(
                holding.standing,
                Standing::Good | Standing::Disallowed(_) | Standing::ToReplace
            )
            && !victims.contains_key(at)
    };
    inventory.holdings.iter().enumerate().filter(is_outdated).map(|(_, holding)| holding)
}

/// Labels to change in place.
pub(crate) fn to_relabel(
    inputs: &Inputs,
    inventory: &Inventory,
    victims: &Victims,
) -> Vec<Relabel> {
    if inputs.limits.destroy_all {
        return Vec::new();
    }
    let mut scopes: BTreeMap<Scope, Vec<Labelled>> = BTreeMap::new();
    for holding in outdated(inputs, inventory, victims) {
        let Some(machine) = holding.machine.clone() else { continue };
        if holding.pool.place.cloud.relabels() {
            let scope = holding.pool.place.scope();
            scopes.entry(scope).or_default().push(Labelled { machine, slot: holding.slot });
        }
    }
    let relabel = |(scope, machines): (Scope, Vec<Labelled>)| {
        let set = inputs.desired.labels_on(scope.cloud);
        let known = inputs.recorded.labels.get(&scope.cloud).cloned().unwrap_or_default();
        let mut remove = known.former;
        remove.extend(known.now.into_keys());
        remove.retain(|key| !set.contains_key(key));
        Relabel { scope, set, remove, machines }
    };
    scopes.into_iter().map(relabel).collect()
}

/// Machines whose cloud cannot change labels.
pub(crate) fn stuck(inputs: &Inputs, inventory: &Inventory, victims: &Victims) -> Vec<Notice> {
    let mut clouds: BTreeMap<Cloud, u32> = BTreeMap::new();
    // One from before there was a record of labels may carry the right ones.
    let known = outdated(inputs, inventory, victims).filter(|holding| holding.labels > 0);
    for holding in known {
        let cloud = holding.pool.place.cloud;
        if !cloud.relabels() {
            *clouds.entry(cloud).or_default() += 1;
        }
    }
    clouds.into_iter().map(|(cloud, machines)| Notice::OldLabels { cloud, machines }).collect()
}
