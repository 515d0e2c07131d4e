//! Labels and tags of the user's own, which reach machines that run already.
//!
//! Every machine is on record with the version of the labels that it carries. What others put on a
//! machine is none of our business: only keys that a spec of ours once named are ever taken off.

use crate::decide::Choice;
use crate::ledger::{Holding, Ledger, Standing};
use fleet_model::{Cloud, Desired, Event, Inputs, Labelled, LabelsRecord, Notice, Relabel, Scope};
use std::collections::{BTreeMap, BTreeSet};

/// The clouds that a spec names.
fn clouds(desired: &Desired) -> BTreeSet<Cloud> {
    desired.placement.clouds.iter().map(|rule| rule.cloud).collect()
}

/// The version of a cloud's labels that the spec wants: the one on record, or the next.
pub fn labels_version(inputs: &Inputs, cloud: Cloud) -> u32 {
    let none = LabelsRecord::default();
    let known = inputs.recorded.labels.get(&cloud).unwrap_or(&none);
    let same = inputs.desired.labels_on(cloud) == known.now;
    known.version + u32::from(!same)
}

/// What is to be written down before the first launch or change with other labels.
pub fn labels_meant(inputs: &Inputs) -> Vec<Event> {
    let known = |cloud: Cloud| inputs.recorded.labels.get(&cloud).map_or(0, |known| known.version);
    let new = clouds(&inputs.desired)
        .into_iter()
        .filter(|&cloud| labels_version(inputs, cloud) != known(cloud));
    new.map(|cloud| Event::LabelsMeant { cloud, labels: inputs.desired.labels_on(cloud) }).collect()
}

/// Machines that stay and carry other labels than the spec's.
fn outdated<'a>(
    inputs: &'a Inputs,
    ledger: &'a Ledger,
    choice: &'a Choice,
) -> impl Iterator<Item = &'a Holding> {
    let clouds = clouds(&inputs.desired);
    let wanted: BTreeMap<Cloud, u32> =
        clouds.into_iter().map(|cloud| (cloud, labels_version(inputs, cloud))).collect();
    let is_outdated = move |(at, holding): &(usize, &Holding)| {
        let wanted = wanted.get(&holding.pool.place.cloud);
        wanted.is_some_and(|version| holding.labels != *version)
            && matches!(holding.standing, Standing::Good | Standing::Disallowed(_))
            && !choice.victims.contains_key(at)
    };
    ledger.holdings.iter().enumerate().filter(is_outdated).map(|(_, holding)| holding)
}

/// Labels to change in place.
pub(crate) fn to_relabel(inputs: &Inputs, ledger: &Ledger, choice: &Choice) -> Vec<Relabel> {
    if inputs.limits.destroy_all {
        return Vec::new();
    }
    let mut scopes: BTreeMap<Scope, Vec<Labelled>> = BTreeMap::new();
    for holding in outdated(inputs, ledger, choice) {
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
pub(crate) fn stuck(inputs: &Inputs, ledger: &Ledger, choice: &Choice) -> Vec<Notice> {
    let mut clouds: BTreeMap<Cloud, u32> = BTreeMap::new();
    // One from before there was a record of labels may carry the right ones.
    let known = outdated(inputs, ledger, choice).filter(|holding| holding.labels > 0);
    for holding in known {
        let cloud = holding.pool.place.cloud;
        if !cloud.relabels() {
            *clouds.entry(cloud).or_default() += 1;
        }
    }
    clouds.into_iter().map(|(cloud, machines)| Notice::OldLabels { cloud, machines }).collect()
}
