//! Documents of kind `Defaults`, and the fleets that are laid over them.

use super::files::{DEFAULTS_FILES, Origin};
use crate::diagnostic::Diagnostic;
use crate::fleet::{self, Draft, Reading, subject};
use crate::layers;
use crate::places::location;
use crate::source::{Part, Source, quote};
use crate::variables::{self, Values};
use crate::yaml::Node;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// A document that waits for the others: what it means depends on them.
pub(super) struct Document {
    pub(super) source: Source,
    pub(super) node: Node,
    /// Where its file lies; a text without a file holds for everything.
    pub(super) origin: Option<Origin>,
}

impl Document {
    fn folder(&self) -> Option<&Path> {
        self.origin.as_ref().map(|origin| origin.folder.as_path())
    }

    /// What it calls itself.
    pub(super) fn name(&self) -> String {
        let metadata = self.node.get("metadata");
        let name = metadata.and_then(|entry| entry.value.text_of("name"));
        name.map(quote).unwrap_or_default()
    }

    /// Whether it is under a fleet: in the fleet's folder, or in one around it. A link counts where
    /// it is seen, as it does for files that a spec names.
    fn is_under(&self, fleet: &Document) -> bool {
        match (self.folder(), fleet.folder()) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(around), Some(folder)) => folder.starts_with(around),
        }
    }

    fn part(&self, subject: String) -> Part {
        let folder = self.folder().map(Path::to_path_buf);
        Part { source: self.source.clone(), subject, folder }
    }

    fn own_subject(&self) -> String {
        match subject("defaults", &self.node) {
            subject if subject.is_empty() => "defaults".into(),
            subject => subject,
        }
    }
}

/// What is wrong with Defaults in themselves.
pub(super) struct Checked {
    pub(super) problems: Vec<Diagnostic>,
    /// The variables that they declare.
    pub(super) declared: BTreeSet<String>,
}

/// Reads Defaults alone, as far as they can be read without a fleet.
pub(super) fn check(all: &[Document], values: &Values) -> Checked {
    let mut problems = Vec::new();
    let mut declared = BTreeSet::new();
    let mut first: BTreeMap<Option<&Path>, &Document> = BTreeMap::new();
    for defaults in all {
        let parts = [defaults.part(defaults.own_subject())];
        let mut document = defaults.node.clone();
        let replaced = variables::replace(&mut document, &parts, values, true);
        declared.extend(replaced.declared);
        let draft = fleet::read(&parts, &document, Reading::Defaults, replaced.problems);
        // What is odd in Defaults may be made whole by a fleet; what is wrong may not.
        problems.extend(draft.problems.into_iter().filter(Diagnostic::is_error));
        let name = |what: String, hint: String| {
            let message = format!("{}: {what}", defaults.own_subject());
            Diagnostic::at(&defaults.source, defaults.node.span, message, Some(hint))
        };
        let file = defaults.source.file.file_name().and_then(|name| name.to_str());
        let found_by_name = file.is_some_and(|file| DEFAULTS_FILES.contains(&file));
        if defaults.origin.is_some() && !found_by_name {
            // Otherwise a fleet would mean one thing by its file and another by its folder.
            let what = "this file is not named defaults.yaml".into();
            problems.push(name(what, "move the document there: fleets look for that name".into()));
        } else if let Some(other) = first.insert(defaults.folder(), defaults) {
            let place = location(&[other.part(String::new())], other.node.span);
            let what = "a folder has one document of kind Defaults".into();
            problems.push(name(what, format!("merge them; the other is at {place}")));
        }
    }
    Checked { problems, declared }
}

/// A fleet over its Defaults, nearest first, and the variables that are declared for it.
pub(super) fn fleet(
    fleet: &Document,
    all: &[Document],
    values: &Values,
) -> (Draft, BTreeSet<String>) {
    let mut under: Vec<&Document> = all.iter().filter(|one| one.is_under(fleet)).collect();
    let depth = |one: &Document| one.folder().map_or(0, |folder| folder.components().count());
    under.sort_by_key(|one| std::cmp::Reverse(depth(one)));
    let mut document = fleet.node.clone();
    let mut parts = vec![fleet.part(subject("fleet", &fleet.node))];
    for defaults in &under {
        let Ok(at) = u16::try_from(parts.len()) else {
            break;
        };
        layers::lay(&mut document, &defaults.node, at);
        parts.push(defaults.part(String::new()));
    }
    let replaced = variables::replace(&mut document, &parts, values, false);
    // A name may hold a variable.
    let named = subject("fleet", &document);
    for (part, defaults) in parts.iter_mut().skip(1).zip(&under) {
        part.subject = format!("{named} with {}", defaults.own_subject());
    }
    if let Some(own) = parts.first_mut() {
        own.subject = named;
    }
    let mut draft = fleet::read(&parts, &document, Reading::Fleet, replaced.problems);
    draft.defaults = under.iter().map(|one| one.name()).collect();
    (draft, replaced.declared)
}
