//! Fleets whose spec is at hand, and fleets of which only the journal knows.

use crate::context::{Context, DEFAULT_SPEC};
use crate::fail::{Answer, Failure};
use crate::runs::failed;
use fleet_model::{
    Budget, CapacityGoal, Cloud, CloudRule, Desired, FleetName, InstanceRules, PlacementRules,
    Spread, Strategy, Unit, Units, digest,
};
use std::path::{Path, PathBuf};

/// The fleets that a read-only command or a destroy speaks of: those of the specs that are named;
/// without any, those of the default spec; without that, every fleet with a journal.
pub(crate) async fn fleets(context: &Context, specs: &[PathBuf]) -> Answer<Vec<Desired>> {
    if !specs.is_empty() || Path::new(DEFAULT_SPEC).exists() {
        let loaded = context.specs(specs)?;
        return Ok(loaded.fleets.into_iter().map(|fleet| fleet.desired).collect());
    }
    let known = context.journals()?.fleets().await.map_err(failed)?;
    let wanted = &context.global.fleet;
    if let Some(missing) = wanted.iter().find(|name| !known.iter().any(|k| k.as_str() == *name)) {
        return Err(Failure::new(format!("there is no fleet `{missing}` in {}", context.state()))
            .hint(format!("name its spec, or one of: {}", list(&known))));
    }
    let mut fleets: Vec<Desired> = known
        .iter()
        .filter(|name| wanted.is_empty() || wanted.iter().any(|w| w == name.as_str()))
        .map(|name| unspecified(name, context.clouds()))
        .collect();
    if fleets.is_empty() {
        return Err(Failure::new(format!("there is no fleet in {}", context.state()))
            .hint("name a spec, or write a first one with `fleet init`"));
    }
    fleets.sort_by(|a, b| a.fleet.cmp(&b.fleet));
    Ok(fleets)
}

fn list(names: &[FleetName]) -> String {
    if names.is_empty() {
        return "(none)".into();
    }
    names.iter().map(FleetName::as_str).collect::<Vec<_>>().join(", ")
}

/// Whether only the journal knows this fleet.
pub(crate) fn is_unspecified(desired: &Desired) -> bool {
    desired.digest == unspecified(&desired.fleet, Vec::new()).digest
}

/// A fleet that wants nothing: enough to look at what is recorded of it, or to take it down.
fn unspecified(fleet: &FleetName, clouds: Vec<Cloud>) -> Desired {
    let anywhere =
        |cloud| CloudRule { cloud, regions: Vec::new(), zones: Vec::new(), accounts: Vec::new() };
    Desired {
        fleet: fleet.clone(),
        labels: Default::default(),
        capacity: CapacityGoal {
            unit: Unit::Instances,
            target: Units(0),
            on_demand: Units(0),
            spot: Units(0),
        },
        instances: InstanceRules::default(),
        placement: PlacementRules {
            strategy: Strategy::CapacityOptimized,
            clouds: clouds.into_iter().map(anywhere).collect(),
            spread: Spread::default(),
            priorities: Vec::new(),
            weights: Vec::new(),
            max_spot_price: None,
            fulfilment: fleet_model::Fulfilment::default(),
            hedge: None,
            commitments: Vec::new(),
        },
        budget: Budget::default(),
        templates: Default::default(),
        digest: digest("no-spec/1", [fleet.as_str().as_bytes()]),
    }
}
