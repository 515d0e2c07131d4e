//! The two sides of a comparison: the specs of the base, and the plans of both.

use super::base::Base;
use super::{Comparison, Edit, FleetEdit, Side, field_edits};
use crate::context::Context;
use crate::fail::Answer;
use crate::filters;
use crate::output::common::LeftOut;
use fleet_core::{Planned, plan};
use fleet_model::{Catalog, Desired, FleetName, Inputs};
use fleet_spec::{Diagnostic, LoadOptions, Loaded, LoadedFleet};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// The specs at the base.
pub(crate) struct Past {
    base: Base,
    fleets: BTreeMap<FleetName, LoadedFleet>,
    /// Fleets that are there and cannot be read.
    broken: BTreeSet<FleetName>,
    /// Whether a part could not be read that may hold any fleet.
    unreadable: bool,
    problems: Vec<String>,
}

impl Past {
    /// Reads the specs at a commit: the same files and folders, under the policies and Defaults of then.
    pub(crate) fn read(
        context: &Context,
        reference: &str,
        specs: &[PathBuf],
        catalog: &Catalog,
    ) -> Answer<Self> {
        let paths = context.paths(specs)?;
        let base = Base::open(reference, &paths)?;
        let mut past = Past {
            fleets: BTreeMap::new(),
            broken: BTreeSet::new(),
            unreadable: false,
            problems: Vec::new(),
            base,
        };
        let there: Vec<PathBuf> = paths.iter().filter_map(|path| past.base.path(path)).collect();
        for path in paths.iter().filter(|path| past.base.path(path).is_none()) {
            let place = path.display();
            past.problems.push(format!("{place} is not in {reference}: everything in it is new"));
        }
        if there.is_empty() {
            return Ok(past);
        }
        let policies = context.global.policy.iter().filter_map(|path| past.base.path(path));
        // All fleets, whichever are asked for: a name that is new is no mistake here.
        let options = LoadOptions {
            select: Vec::new(),
            spare_values: true,
            ..context.options(&policies.collect::<Vec<_>>())
        };
        match fleet_spec::load_sound(&there, &options) {
            Ok(loaded) => past.take(context, loaded, catalog),
            Err(problems) => {
                let of_files: Vec<&Diagnostic> =
                    problems.errors().filter(|one| !one.file.as_os_str().is_empty()).collect();
                // Without a word about a file there is no fleet in them.
                past.unreadable = !of_files.is_empty();
                let told = of_files.iter().take(3).map(|one| past.told(one));
                let told: Vec<String> = told.collect();
                past.problems.extend(told);
            }
        }
        Ok(past)
    }

    fn take(&mut self, context: &Context, loaded: Loaded, catalog: &Catalog) {
        let wanted = &context.global.fleet;
        let asked =
            |name: &FleetName| wanted.is_empty() || wanted.iter().any(|one| one == name.as_str());
        for broken in loaded.broken {
            let Some(first) = broken.problems.errors().next() else { continue };
            match broken.fleet {
                Some(fleet) if !asked(&fleet) => continue,
                Some(fleet) => {
                    self.broken.insert(fleet);
                }
                None => self.unreadable = true,
            }
            self.problems.push(self.told(first));
        }
        for fleet in loaded.fleets.into_iter().filter(|fleet| asked(&fleet.desired.fleet)) {
            match filters::nothing_left(&fleet, catalog) {
                None => {
                    self.fleets.insert(fleet.desired.fleet.clone(), fleet);
                }
                Some(problem) => {
                    self.problems.push(self.told(&problem));
                    self.broken.insert(fleet.desired.fleet);
                }
            }
        }
    }

    /// A problem of the base in a sentence, with its place as git writes it.
    fn told(&self, problem: &Diagnostic) -> String {
        let file = self.base.shown(&problem.file).unwrap_or_else(|| problem.file.clone());
        let place = match problem.line {
            0 => file.display().to_string(),
            line => format!("{}:{line}", file.display()),
        };
        format!("invalid before: {} ({place})", problem.message)
    }

    /// Fleets of the base that ask for something else than those at hand, or are not among them.
    pub(crate) fn other(&self, fleets: &[&Desired]) -> Vec<&Desired> {
        let same = |past: &Desired| {
            fleets.iter().any(|one| one.fleet == past.fleet && one.digest == past.digest)
        };
        self.fleets.values().map(|fleet| &fleet.desired).filter(|past| !same(past)).collect()
    }
}

/// Compares the fleets at hand with those of the base. `before` holds the inputs of [`Past::other`], and
/// `left_out` the fleets at hand without a plan.
pub(crate) fn compare(
    past: &Past,
    loaded: &[LoadedFleet],
    at_hand: &[(&Inputs, &Planned)],
    before: &BTreeMap<FleetName, Inputs>,
    left_out: &[LeftOut],
) -> Comparison {
    // A file that cannot be read may be about any fleet.
    let hidden = |name: &FleetName| {
        left_out.iter().any(|one| one.fleet.as_deref().is_none_or(|out| out == name.as_str()))
    };
    let mut fleets = Vec::new();
    let named = |name: &FleetName| loaded.iter().find(|fleet| fleet.desired.fleet == *name);
    for (inputs, Planned { report, .. }) in at_hand {
        let name = &inputs.desired.fleet;
        let then = past.fleets.get(name);
        // A fleet that no spec names is pruned: its spec went, with this change or before it.
        if inputs.desired.is_without_spec() {
            continue;
        }
        let now = (!report.is_blind()).then(|| Side::standing(report));
        let after = Side::wanted(inputs);
        let (edit, side, drift) = match (then, before.get(name)) {
            (Some(_), Some(then)) => {
                (Edit::Changed, Some(Side::wanted(then)), plan(then).plan.acts())
            }
            (Some(_), None) => (Edit::Same, Some(after.clone()), at_hand_acts(at_hand, name)),
            (None, _) if past.broken.contains(name) || past.unreadable => {
                (Edit::Unknown, None, false)
            }
            (None, _) => (Edit::Added, Some(Side::default()), false),
        };
        let fields = match edit {
            Edit::Changed => field_edits(then, named(name)),
            Edit::Added | Edit::Removed | Edit::Unknown | Edit::Same => Vec::new(),
        };
        fleets.push(FleetEdit {
            fleet: name.clone(),
            edit,
            before: side,
            after,
            now,
            drift,
            pruned: false,
            fields,
        });
    }
    for (name, inputs) in before {
        let stays = at_hand
            .iter()
            .any(|(one, _)| one.desired.fleet == *name && !one.desired.is_without_spec());
        if stays || hidden(name) {
            continue;
        }
        let Planned { plan, report } = plan(inputs);
        fleets.push(FleetEdit {
            fleet: name.clone(),
            edit: Edit::Removed,
            before: Some(Side::wanted(inputs)),
            after: Side::default(),
            now: (!report.is_blind()).then(|| Side::standing(&report)),
            drift: plan.acts(),
            pruned: at_hand.iter().any(|(one, _)| one.desired.fleet == *name),
            fields: Vec::new(),
        });
    }
    fleets.sort_by(|a, b| a.fleet.cmp(&b.fleet));
    let Base { reference, commit, is_ahead, .. } = &past.base;
    Comparison {
        reference: reference.clone(),
        commit: commit.clone(),
        is_ahead: *is_ahead,
        problems: past.problems.clone(),
        known: !past.unreadable && past.broken.is_empty(),
        whole: left_out.is_empty(),
        fleets,
    }
}

fn at_hand_acts(at_hand: &[(&Inputs, &Planned)], name: &FleetName) -> bool {
    at_hand.iter().any(|(one, planned)| one.desired.fleet == *name && planned.plan.acts())
}
