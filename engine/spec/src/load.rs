//! Files and folders → fleets, held against their policies.

mod defaults;
mod effective;
mod files;

pub use effective::EffectiveLine;

use crate::canonical;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::enforce::enforce;
use crate::fleet::Draft;
use crate::places::{Location, Places};
use crate::policy::Policy;
use crate::reader::near;
use crate::total::Shared;
use crate::variables::{Values, is_name};
use crate::yaml::Node;
use crate::{input, source::quote, total, yaml};
use defaults::Document;
use files::{Files, Found, Scope};
use fleet_model::{Desired, FleetName};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What to load besides the paths.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LoadOptions {
    /// Policies that hold for every fleet, wherever they lie.
    pub policies: Vec<PathBuf>,
    /// Only these fleets, by name; empty: all. What is wrong with others alone does not matter.
    pub select: Vec<String>,
    /// Values for variables that fleets and Defaults declare.
    pub values: Values,
    /// Whether values for variables that nothing declares are passed over: specs of another time may not
    /// know them.
    pub spare_values: bool,
}

/// What was loaded.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The fleets, in the order of files and documents.
    pub fleets: Vec<LoadedFleet>,
    /// Every policy that was found.
    pub policies: Vec<Policy>,
    /// Names of the Defaults that were found.
    pub defaults: Vec<String>,
    /// What the authors should know.
    pub warnings: Diagnostics,
    /// Fleets that cannot be used, while the others can.
    pub broken: Vec<Broken>,
    /// YAML files in folders of which nobody can say that they are no specs: empty, too large, or no text. What
    /// ends fleets that no spec names must not trust a folder with such files.
    pub doubtful: Vec<PathBuf>,
}

/// A fleet, or a file with fleets, that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// Its name, if that could be read.
    pub fleet: Option<FleetName>,
    /// What is wrong with it.
    pub problems: Diagnostics,
}

/// A valid fleet and where its fields stand.
#[derive(Clone)]
pub struct LoadedFleet {
    /// What should exist.
    pub desired: Desired,
    /// The file it came from.
    pub file: PathBuf,
    /// Names of the policies that were applied.
    pub policies: Vec<String>,
    /// Names of the Defaults under it, nearest first.
    pub defaults: Vec<String>,
    places: Places,
    document: Arc<Node>,
}

/// Without the templates: user data is never printed.
impl fmt::Debug for LoadedFleet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoadedFleet")
            .field("fleet", &self.desired.fleet)
            .field("file", &self.file)
            .field("digest", &self.desired.digest)
            .finish_non_exhaustive()
    }
}

impl LoadedFleet {
    /// Where a field stands, e.g. `spec.instances.families[3]`; `None` if it is not written down.
    pub fn place_of(&self, path: &str) -> Option<Location> {
        self.places.has(path).then(|| self.places.location(path))
    }

    /// An error at a field, or at the nearest field around it that is written down: for what only
    /// the caller can know, such as that nothing in the catalog is left after the filters.
    pub fn error_at(
        &self,
        path: &str,
        message: impl fmt::Display,
        hint: impl Into<Option<String>>,
    ) -> Diagnostic {
        let message = format!("fleet `{}`: {message}", self.desired.fleet);
        self.places.diagnostic(path, message, hint.into())
    }
}

/// Loads files and folders. Everything that is wrong is told at once.
///
/// A folder is searched for `*.yaml` and `*.yml`, hidden folders left out; files of others in it
/// are passed over. A policy holds for its own folder and below, and so do Defaults; besides,
/// `policy.yaml` and `defaults.yaml` are looked for from each path upward to the root of the
/// repository.
pub fn load(paths: &[PathBuf], options: &LoadOptions) -> Result<Loaded, Diagnostics> {
    load_sound(paths, options)?.all_sound()
}

/// The same, except that fleets with errors are left out and told of, as long as others are sound: one
/// broken file stops one fleet. What concerns every fleet, such as a policy that cannot be read, stops
/// them all.
pub fn load_sound(paths: &[PathBuf], options: &LoadOptions) -> Result<Loaded, Diagnostics> {
    let mut files = Files::default();
    for path in paths {
        files.add(path);
    }
    for path in &options.policies {
        files.add_policy(path);
    }
    for path in paths {
        files.discover(path);
    }
    if files.is_empty() {
        let named: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
        let message = format!("no fleet found in {}", quote(&named.join(", ")));
        let hint = "a spec begins with `apiVersion: fleet/v1`; `fleet init` writes one";
        files.problems.push(Diagnostic::general(message, Some(hint.to_owned())));
    }
    finish(files, options)
}

/// Loads the text of one file. Policies in it hold for every fleet in it.
pub fn load_str(name: &str, text: &str) -> Result<Loaded, Diagnostics> {
    load_bytes(name, text.as_bytes())
}

/// Loads the bytes of one file, whatever they are.
pub fn load_bytes(name: &str, bytes: &[u8]) -> Result<Loaded, Diagnostics> {
    let mut files = Files::default();
    let length = bytes.len() as u64;
    let text = if length > input::MAX_FILE {
        Err(input::Refusal::TooLarge { bytes: length, most: input::MAX_FILE })
    } else {
        input::text(bytes.to_vec())
    };
    match text {
        Ok(text) => files.text(Path::new(name), None, &text, Found::Named),
        Err(refusal) => files.refuse(Path::new(name), &refusal),
    }
    finish(files, &LoadOptions::default())?.all_sound()
}

fn finish(mut files: Files, options: &LoadOptions) -> Result<Loaded, Diagnostics> {
    let LoadOptions { policies: _, select, values, spare_values } = options;
    let defaults = files.defaults.iter().map(Document::name).collect();
    let declared = files.resolve(values);
    if !spare_values {
        files.problems.extend(undeclared(values, &declared));
    }
    duplicates(&mut files);
    let mut applied: Vec<Vec<String>> = Vec::new();
    for (draft, file) in &mut files.drafts {
        let holds = files.policies.iter().filter(|(_, scope)| scope.covers(file.as_ref()));
        let holds: Vec<&Policy> = holds.map(|(policy, _)| policy).collect();
        enforce(draft, &holds);
        applied.push(holds.iter().map(|policy| policy.name.clone()).collect());
    }
    totals(&mut files, values);
    for (draft, _) in &mut files.drafts {
        unlimited(draft);
    }
    // Files of which a part cannot be read: who knows what else it would have said.
    let errors = files.problems.iter().filter(|one| one.is_error());
    let unreadable: BTreeSet<PathBuf> = errors.map(|one| one.file.clone()).collect();
    // With a limit on the sum, every fleet counts.
    let summed = files.policies.iter().any(|(policy, _)| sums(policy));
    let concerns_all = files.concerns_all || summed;
    let mut problems = files.problems;
    let mut broken: BTreeMap<FleetName, Diagnostics> = BTreeMap::new();
    let mut fleets = Vec::new();
    for ((draft, _), policies) in files.drafts.into_iter().zip(applied) {
        if draft.problems.iter().any(Diagnostic::is_error) {
            let of_fleet = broken.entry(draft.desired.fleet.clone()).or_default();
            of_fleet.0.extend(draft.problems.iter().cloned());
        }
        problems.extend(draft.problems);
        let mut desired = draft.desired;
        desired.digest = canonical::digest_of(&desired);
        fleets.push(LoadedFleet {
            file: draft.places.location("").file,
            desired,
            policies,
            defaults: draft.defaults,
            document: Arc::new(draft.document),
            places: draft.places,
        });
    }
    problems.extend(unknown(select, &fleets));
    let mut problems = Diagnostics(problems);
    problems.tidy();
    cap(&mut problems);
    let wanted = |name: &FleetName| {
        select.is_empty() || select.iter().any(|selected| selected == name.as_str())
    };
    let sound = |fleet: &LoadedFleet| {
        !broken.contains_key(&fleet.desired.fleet) && !unreadable.contains(&fleet.file)
    };
    let mut usable = fleets;
    usable.retain(|fleet| sound(fleet) && wanted(&fleet.desired.fleet));
    if problems.has_errors() && (concerns_all || usable.is_empty() || !is_local(&problems)) {
        return Err(problems);
    }
    let policies = files.policies.into_iter().map(|(policy, _)| policy).collect();
    let (errors, warnings): (Vec<_>, Vec<_>) =
        problems.0.into_iter().partition(Diagnostic::is_error);
    let named = broken.into_iter().filter(|(name, _)| wanted(name));
    let mut broken: Vec<Broken> = named
        .map(|(fleet, problems)| Broken {
            fleet: (!fleet.as_str().is_empty()).then_some(fleet),
            problems,
        })
        .collect();
    for file in unreadable.iter().filter(|_| select.is_empty()) {
        let of_file = errors.iter().filter(|one| one.file == *file).cloned();
        broken.push(Broken { fleet: None, problems: Diagnostics(of_file.collect()) });
    }
    let warnings = Diagnostics(warnings);
    let doubtful = files.doubtful;
    Ok(Loaded { fleets: usable, policies, defaults, warnings, broken, doubtful })
}

/// Whether every error is about a file.
fn is_local(problems: &Diagnostics) -> bool {
    problems.0.iter().filter(|one| one.is_error()).all(|one| !one.file.as_os_str().is_empty())
}

impl Loaded {
    /// Whether every file was read: only then does a fleet that no spec names have none.
    pub fn is_complete(&self) -> bool {
        self.broken.is_empty() && self.doubtful.is_empty()
    }

    /// Refuses a load of which a part is broken.
    fn all_sound(self) -> Result<Self, Diagnostics> {
        if self.broken.is_empty() {
            return Ok(self);
        }
        let broken = self.broken.into_iter().flat_map(|broken| broken.problems.0);
        let mut problems = Diagnostics(broken.chain(self.warnings.0).collect());
        problems.tidy();
        cap(&mut problems);
        Err(problems)
    }
}

/// Two fleets of one name would fight over the same machines.
fn duplicates(files: &mut Files) {
    let mut first: BTreeMap<String, Location> = BTreeMap::new();
    for (draft, _) in &mut files.drafts {
        let name = draft.desired.fleet.to_string();
        let place = draft.places.location("metadata.name");
        if name.is_empty() {
            continue;
        }
        if let Some(other) = first.get(&name) {
            let message = format!("fleet `{name}` is described twice");
            let hint = format!("rename or remove one; the first is at {other}");
            let diagnostic = draft.places.diagnostic("metadata.name", message, Some(hint));
            draft.problems.push(diagnostic);
        } else {
            first.insert(name, place);
        }
    }
}

/// Whether a policy limits what several fleets cost together.
fn sums(policy: &Policy) -> bool {
    policy.total.is_some() || !policy.by_label.is_empty()
}

fn totals(files: &mut Files, values: &Values) {
    let policies = files.policies.clone();
    for (policy, scope) in policies.iter().filter(|(policy, _)| sums(policy)) {
        let others = others(scope, files, values);
        let all = std::iter::once((policy.total, None));
        let labelled = policy.by_label.iter().map(|one| (one.ceiling, Some(one)));
        for (ceiling, label) in all.chain(labelled) {
            let about =
                |desired: &Desired| label.is_none_or(|label| label.is_about(&desired.labels));
            let under = files.drafts.iter_mut().filter(|(_, file)| scope.covers(file.as_ref()));
            let under = under.map(|(draft, _)| draft).filter(|draft| about(&draft.desired));
            let who = match label {
                None => "all fleets".to_owned(),
                Some(one) => format!("fleets with {}: {}", quote(&one.label), one.value),
            };
            let others = others.iter().filter(|desired| about(desired));
            let others = others.map(|desired| desired.budget.clone()).collect();
            total::check(policy, Shared { ceiling, who, drafts: under.collect(), others });
        }
    }
}

/// A budget that says what happens at the cap, and no cap, is probably not meant.
fn unlimited(draft: &mut Draft) {
    let written = draft.places.has("spec.budget.atCap") && draft.broken.is_empty();
    if written && !draft.desired.budget.is_limited() {
        let message = format!("fleet `{}`: its budget sets no limit", draft.desired.fleet);
        let hint = "set hourlyUsd, monthlyUsd, calendarMonthUsd or lifetimeUsd";
        let hint = Some(hint.to_owned());
        let diagnostic = draft.places.diagnostic("spec.budget", message, hint);
        draft.problems.push(diagnostic.into_warning());
    }
}

/// Fleets in a policy's folder that were not asked for.
fn others(scope: &Scope, files: &Files, values: &Values) -> Vec<Desired> {
    let Scope::Folder(folder) = scope else {
        return Vec::new();
    };
    let named: BTreeSet<&str> =
        files.drafts.iter().map(|(draft, _)| draft.desired.fleet.as_str()).collect();
    let mut all = Files::default();
    all.add(folder);
    all.discover(folder);
    all.resolve(values);
    let drafts = all.drafts.into_iter().map(|(draft, _)| draft.desired);
    drafts.filter(|desired| !named.contains(desired.fleet.as_str())).collect()
}

fn unknown(select: &[String], fleets: &[LoadedFleet]) -> Vec<Diagnostic> {
    let names: Vec<&str> = fleets.iter().map(|fleet| fleet.desired.fleet.as_str()).collect();
    let missing = select.iter().filter(|name| !names.contains(&name.as_str()));
    missing
        .map(|name| {
            let hint = match near(name, &names) {
                Some(near) => format!("did you mean `{near}`?"),
                None if names.is_empty() => "there is none in these files".into(),
                None => format!("fleets here: {}", names.join(", ")),
            };
            Diagnostic::general(format!("there is no fleet `{}`", quote(name)), hint)
        })
        .collect()
}

/// Values on the command line that no fleet asks for: a misspelt one would change nothing.
fn undeclared(values: &Values, declared: &BTreeSet<String>) -> Vec<Diagnostic> {
    let names: Vec<&str> = declared.iter().map(String::as_str).collect();
    let unknown = values.flags.keys().filter(|name| !declared.contains(*name));
    unknown
        .map(|name| {
            let hint = match near(name, &names) {
                Some(near) => format!("did you mean `{near}`?"),
                None if !is_name(name) => "write --var NAME=VALUE".into(),
                None if names.is_empty() => "no spec here declares `variables`".into(),
                None => format!("declared: {}", names.join(", ")),
            };
            let message = format!("--var: no fleet here has a variable `{}`", quote(name));
            Diagnostic::general(message, hint)
        })
        .collect()
}

/// Keeps the first problems of each file.
fn cap(problems: &mut Diagnostics) {
    let mut counts: BTreeMap<PathBuf, usize> = BTreeMap::new();
    problems.0.retain(|one| {
        let count = counts.entry(one.file.clone()).or_default();
        *count += 1;
        *count <= yaml::MAX_PROBLEMS
    });
    for (file, count) in counts.into_iter().filter(|(_, count)| *count > yaml::MAX_PROBLEMS) {
        let message = format!("there is more wrong than the first {} things", yaml::MAX_PROBLEMS);
        let hint = format!("mend these first ({count} were found before we stopped)");
        problems.0.push(Diagnostic::about_file(file, message, hint));
    }
}
