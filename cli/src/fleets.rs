//! Fleets whose spec is at hand, and fleets of which only the journal knows.

use crate::context::{Context, DEFAULT_SPEC, invalid};
use crate::exit::Exit;
use crate::fail::{Answer, Failure};
use crate::out::Out;
use crate::runs::failed;
use crate::style::WARN;
use crate::text::count;
use fleet_model::{Cloud, Desired, FleetName, digest};
use fleet_run::Engine;
use fleet_spec::{Diagnostics, LoadedFleet};
use std::path::{Path, PathBuf};

/// The fleets that a read-only command or a destroy speaks of: those of the specs that are named;
/// without any, those of the default spec; without that, or by names that it does not know, fleets with
/// a journal.
pub(crate) async fn fleets(context: &Context, specs: &[PathBuf]) -> Answer<Vec<Desired>> {
    let known = || async { context.journals()?.fleets().await.map_err(failed) };
    let wanted = &context.global.fleet;
    if !specs.is_empty() || Path::new(DEFAULT_SPEC).exists() {
        let failure = match context.specs(specs) {
            Ok(loaded) if loaded.broken.is_empty() => {
                return Ok(loaded.fleets.into_iter().map(|fleet| fleet.desired).collect());
            }
            // Whoever looks or destroys is told of all fleets, or of what hides one.
            Ok(loaded) => {
                let all = loaded.broken.into_iter().flat_map(|broken| broken.problems.0);
                invalid(&Diagnostics(all.collect()))
            }
            Err(failure) => failure,
        };
        // A fleet whose spec is gone, or has another name now, is asked for by its old name.
        let known = known().await?;
        let recorded = |name: &String| known.iter().any(|k| k.as_str() == name);
        if !specs.is_empty() || wanted.is_empty() || !wanted.iter().all(recorded) {
            return Err(failure);
        }
    }
    let known = known().await?;
    recorded(context, &known)
}

/// Every fleet that has a journal here.
pub(crate) async fn every(context: &Context) -> Answer<Vec<Desired>> {
    let known = context.journals()?.fleets().await.map_err(failed)?;
    recorded(context, &known)
}

/// Fleets of which only journals know.
fn recorded(context: &Context, known: &[FleetName]) -> Answer<Vec<Desired>> {
    let wanted = &context.global.fleet;
    if let Some(missing) = wanted.iter().find(|name| !known.iter().any(|k| k.as_str() == *name)) {
        return Err(no_such_fleet(context, missing, known));
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

/// Says so if a fleet is new here while machines of another stand that no spec names: somebody may have
/// renamed it, and a name is all that ties a spec to its machines.
pub(crate) async fn tell_of_unnamed(
    engine: &Engine,
    fleets: &[LoadedFleet],
    out: &mut Out,
) -> Answer<()> {
    let known = engine.fleets().await.map_err(failed)?;
    let named = |name: &FleetName| fleets.iter().any(|fleet| fleet.desired.fleet == *name);
    if fleets.iter().all(|fleet| known.contains(&fleet.desired.fleet)) {
        return Ok(());
    }
    for name in known.iter().filter(|name| !named(name)) {
        // A journal that cannot be read is another command's story.
        let machines = engine.standing(name).await.unwrap_or_default() as u64;
        if machines > 0 {
            let machines = count(machines, "machine");
            out.aside(format!(
                "{WARN}note:{WARN:#} fleet `{name}` has {machines} here, and none of these specs names it. If you \
                 renamed it, they stay and cost money until `fleet destroy --fleet {name}`."
            ));
        }
    }
    Ok(())
}

/// A name that neither specs nor journals know. The same exit code as for a name that is in no spec.
pub(crate) fn no_such_fleet(context: &Context, name: &str, known: &[FleetName]) -> Failure {
    Failure::new(format!("there is no fleet `{name}` in {}", context.state()))
        .hint(format!("fleets here: {}", list(known)))
        .exit(Exit::SpecInvalid)
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

/// A fleet by its name alone.
pub(crate) fn by_name(fleet: &FleetName) -> Desired {
    unspecified(fleet, Vec::new())
}

/// A fleet that wants nothing: enough to look at what is recorded of it, or to take it down.
fn unspecified(fleet: &FleetName, clouds: Vec<Cloud>) -> Desired {
    let unspecified = digest("no-spec/1", [fleet.as_str().as_bytes()]);
    Desired::nothing(fleet.clone(), clouds, unspecified)
}
