//! Fleets whose spec is at hand, and fleets of which only the journal knows.

use crate::context::{Context, DEFAULT_SPEC, invalid};
use crate::exit::Exit;
use crate::fail::{Answer, Failure};
use crate::out::Out;
use crate::output::common::Unmanaged;
use crate::runs::failed;
use crate::style::WARN;
use crate::text::count;
use fleet_core::{Pruning, prunes};
use fleet_model::{Desired, FleetName};
use fleet_run::Engine;
use fleet_spec::{Diagnostics, Loaded};
use futures::{StreamExt, stream};
use std::path::{Path, PathBuf};

/// Journals read at once.
const READ_AT_ONCE: usize = 32;

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
        .map(|name| Desired::without_spec(name.clone(), context.clouds()))
        .collect();
    if fleets.is_empty() {
        return Err(Failure::new(format!("there is no fleet in {}", context.state()))
            .hint("name a spec, or write a first one with `fleet init`"));
    }
    fleets.sort_by(|a, b| a.fleet.cmp(&b.fleet));
    Ok(fleets)
}

/// Fleets with machines that none of these names. A folder is the truth of what there should be; files and
/// `--fleet` say nothing about other fleets.
pub(crate) async fn unmanaged(
    context: &Context,
    engine: &Engine,
    specs: &[PathBuf],
    named: &[&FleetName],
) -> Answer<Vec<Unmanaged>> {
    if !is_whole(context, specs) {
        return Ok(Vec::new());
    }
    Ok(not_named(engine, engine.fleets().await.map_err(failed)?, named).await)
}

/// Whether the specs are all that there should be.
fn is_whole(context: &Context, specs: &[PathBuf]) -> bool {
    context.global.fleet.is_empty() && specs.iter().any(|path| path.is_dir())
}

async fn not_named(engine: &Engine, known: Vec<FleetName>, named: &[&FleetName]) -> Vec<Unmanaged> {
    let others = fleet_core::unmanaged(known, named);
    let counted = stream::iter(others).map(|fleet| async move {
        // A journal that cannot be read is another command's story.
        let machines = engine.standing(&fleet).await.unwrap_or_default() as u64;
        Unmanaged { fleet: fleet.to_string(), machines }
    });
    let stand = |one: &Unmanaged| std::future::ready(one.machines > 0);
    counted.buffered(READ_AT_ONCE).filter(stand).collect().await
}

/// The names of all fleets that specs are about, readable or not.
pub(crate) fn names(loaded: &Loaded) -> Vec<&FleetName> {
    let broken = loaded.broken.iter().filter_map(|broken| broken.fleet.as_ref());
    loaded.fleets.iter().map(|fleet| &fleet.desired.fleet).chain(broken).collect()
}

/// That no spec of the folder names a fleet, in words.
pub(crate) fn is_unmanaged(one: &Unmanaged) -> String {
    let machines = count(one.machines, "machine");
    format!(
        "{WARN}note:{WARN:#} fleet `{}` is unmanaged: it has {machines}, and no spec here names it",
        one.fleet
    )
}

/// Says which fleets no spec of a folder names. Files get a note if one of their fleets is new here: a fleet
/// may have been renamed, and a name is all that ties a spec to its machines.
pub(crate) async fn tell_of_unmanaged(
    context: &Context,
    engine: &Engine,
    specs: &[PathBuf],
    loaded: &Loaded,
    out: &mut Out,
) -> Answer<Vec<Unmanaged>> {
    let named = names(loaded);
    let known = engine.fleets().await.map_err(failed)?;
    let desired = loaded.fleets.iter().map(|fleet| &fleet.desired.fleet);
    let new: Vec<FleetName> = desired.filter(|fleet| !known.contains(fleet)).cloned().collect();
    if is_whole(context, specs) {
        let found = not_named(engine, known, &named).await;
        found.iter().for_each(|one| {
            let renamed = perhaps_renamed(&one.fleet, &new);
            out.aside(format!("{}. `--prune` destroys it.{renamed}", is_unmanaged(one)));
        });
        return Ok(found);
    }
    if !new.is_empty() {
        for Unmanaged { fleet, machines } in not_named(engine, known, &named).await {
            let (machines, renamed) = (count(machines, "machine"), perhaps_renamed(&fleet, &new));
            out.aside(format!(
                "{WARN}note:{WARN:#} fleet `{fleet}` has {machines} here, and none of these specs names it. They \
                 stay and cost money until `fleet destroy --fleet {fleet}`.{renamed}"
            ));
        }
    }
    Ok(Vec::new())
}

/// What to do about a fleet that may have another name in the specs by now.
fn perhaps_renamed(fleet: &str, new: &[FleetName]) -> String {
    match new {
        [] => String::new(),
        [one] => format!(" If it is called `{one}` now: `fleet rename {fleet} {one}`."),
        several => {
            let names: Vec<String> = several.iter().map(|name| format!("`{name}`")).collect();
            format!(
                " If it has another name now ({}): `fleet rename {fleet} NAME`.",
                names.join(", ")
            )
        }
    }
}

/// What is to become of unmanaged fleets: nothing, or, if the user or a policy says so, an end. Their
/// machines are destroyed as those of a fleet whose target is 0.
pub(crate) fn pruned(
    context: &Context,
    asked: bool,
    specs: &[PathBuf],
    loaded: &Loaded,
    unmanaged: &[Unmanaged],
    out: &mut Out,
) -> Answer<Vec<Desired>> {
    if asked && !is_whole(context, specs) {
        return Err(Failure::new("only a whole folder says which fleets there should not be")
            .at("--prune")
            .hint("name the folder of your specs, and no --fleet")
            .exit(Exit::Usage));
    }
    let pruning = Pruning {
        asked: asked || loaded.policies.iter().any(|policy| policy.prune),
        whole: is_whole(context, specs),
        readable: loaded.is_complete(),
    };
    if pruning.asked && !pruning.readable && !unmanaged.is_empty() {
        let which = match loaded.doubtful.first() {
            Some(file) => format!("{}, which is empty or no text,", file.display()),
            None => "a spec that cannot be read".to_owned(),
        };
        out.aside(format!(
            "{WARN}note:{WARN:#} nothing is pruned: {which} may be about such a fleet."
        ));
    }
    if !prunes(pruning) {
        return Ok(Vec::new());
    }
    let clouds = context.clouds();
    Ok(unmanaged
        .iter()
        .map(|one| Desired::without_spec(FleetName::new(one.fleet.as_str()), clouds.clone()))
        .collect())
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

/// Whether a word can be the name of a fleet: a DNS label, as in specs.
pub(crate) fn is_name(word: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    (1..=63).contains(&word.len())
        && word.chars().all(plain)
        && !word.starts_with('-')
        && !word.ends_with('-')
}

/// A fleet by its name alone.
pub(crate) fn by_name(fleet: &FleetName) -> Desired {
    Desired::without_spec(fleet.clone(), [])
}

/// The one fleet that a command is for.
pub(crate) fn only_fleet(loaded: &Loaded) -> Answer<&Desired> {
    match loaded.fleets.as_slice() {
        [fleet] => Ok(&fleet.desired),
        fleets => {
            let names: Vec<&str> =
                fleets.iter().map(|fleet| fleet.desired.fleet.as_str()).collect();
            Err(Failure::new(format!("this names several fleets: {}", names.join(", ")))
                .hint("name one, or choose with --fleet NAME")
                .exit(Exit::Usage))
        }
    }
}
