//! A document of kind `Fleet` → what should exist.

pub(crate) mod budget;
mod capacity;
mod clock;
pub(crate) mod commitments;
mod fallback;
mod instances;
mod placement;
mod reach;
mod rebalance;
mod template;
mod traffic;
mod upkeep;

pub(crate) use instances::covers;

use crate::diagnostic::Diagnostic;
use crate::places::Places;
use crate::reader::{Field, Object, Reader};
use crate::source::{Part, quote};
use crate::wire;
use crate::yaml::{Kind, Node};
use fleet_model::{Desired, FleetName, Share, Together, digest};
use std::collections::BTreeMap;

/// A fleet as read, before policies. Only without errors is it whole.
pub(crate) struct Draft {
    pub(crate) desired: Desired,
    pub(crate) places: Places,
    pub(crate) problems: Vec<Diagnostic>,
    /// Paths of what could not be read: lists there are shorter than in the file.
    pub(crate) broken: Vec<String>,
    /// Names of the Defaults under it, nearest first.
    pub(crate) defaults: Vec<String>,
    /// What was read: its own document over its Defaults, with variables replaced.
    pub(crate) document: Node,
}

/// What is being read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reading {
    /// A fleet, with the Defaults under it.
    Fleet,
    /// A document of kind `Defaults` alone: a fleet will add what is missing.
    Defaults,
}

/// Reads a fleet. `parts` are the documents it is made up of; `problems` were found on the way.
pub(crate) fn read(
    parts: &[Part],
    document: &Node,
    reading: Reading,
    problems: Vec<Diagnostic>,
) -> Draft {
    let top = Field::document(document);
    let mut reader = Reader::new(parts, document);
    reader.problems = problems;
    reader.is_defaults = reading == Reading::Defaults;
    let places = Places::of(parts, document);
    let object = reader.object(&top, wire::Fleet::FIELDS);
    let (name, labels) = metadata(&mut reader, object.as_ref());
    let spec = object.and_then(|object| match reading {
        Reading::Fleet => object.require(&mut reader, "spec"),
        Reading::Defaults => object.get(&mut reader, "spec"),
    });
    let spec = spec.and_then(|field| reader.object(&field, wire::FleetSpec::FIELDS));
    let capacity::Read { goal: capacity, split, hedge, every, lost_work, work } =
        capacity::read(&mut reader, spec.as_ref());
    let instances = instances::read(&mut reader, spec.as_ref(), capacity.unit);
    let mut placement = placement::read(&mut reader, spec.as_ref(), &instances, &capacity, hedge);
    placement.lost_work_seconds = lost_work;
    // The first match holds: what the spec says itself is nearer than the table.
    placement.weights.extend(work);
    let mut templates = template::read(&mut reader, spec.as_ref(), &placement.clouds);
    if placement.together == Some(Together::Zone) && !says_network(document) {
        for rule in &placement.clouds {
            templates.entry(rule.cloud).or_default().fast_network = true;
        }
    }
    let (health, updates, interruption) = upkeep::read(&mut reader, spec.as_ref());
    let (schedule, expires) = clock::read(&mut reader, spec.as_ref(), split);
    let around = budget::Around { goal: capacity, every, ends: expires.is_some() };
    let budget = budget::read(&mut reader, spec.as_ref(), around);
    let fallback = fallback::read(&mut reader, spec.as_ref());
    let rebalance = rebalance::read(&mut reader, spec.as_ref());
    if matches!(reading, Reading::Fleet) && hedge.is_none() && rebalance.is_none() {
        capacity::nobody_weighs_lost_work(&mut reader, spec.as_ref());
    }
    let desired = Desired {
        fleet: FleetName::new(name),
        labels,
        capacity,
        instances,
        placement,
        budget,
        templates,
        max_destroy: Share::HALF,
        schedule,
        expires,
        fallback,
        health,
        interruption,
        rebalance,
        updates,
        approvals: Vec::new(),
        digest: digest("spec/none", []),
    };
    let broken = reader.broken();
    let problems = reader.problems;
    let document = document.clone();
    Draft { desired, places, problems, broken, defaults: Vec::new(), document }
}

/// Whether the spec says which network its machines have.
fn says_network(document: &Node) -> bool {
    let spec = document.get("spec").map(|entry| &entry.value);
    let template = spec.and_then(|spec| spec.get("template")).map(|entry| &entry.value);
    template.is_some_and(|template| template.get("fastNetwork").is_some())
}

/// How messages speak of a document.
pub(crate) fn subject(kind: &str, document: &Node) -> String {
    let name = document.get("metadata").and_then(|entry| entry.value.text_of("name"));
    name.map(|name| format!("{kind} `{}`", quote(name))).unwrap_or_default()
}

/// Name and labels.
pub(crate) fn metadata(
    reader: &mut Reader<'_>,
    object: Option<&Object<'_>>,
) -> (String, BTreeMap<String, String>) {
    let metadata = object
        .and_then(|object| object.require(reader, "metadata"))
        .and_then(|field| reader.object(&field, wire::Metadata::FIELDS));
    let Some(metadata) = metadata else {
        return Default::default();
    };
    let name = metadata.require(reader, "name").and_then(|field| name(reader, &field));
    let labels = metadata.get(reader, "labels").map(|field| labels(reader, &field));
    (name.unwrap_or_default(), labels.unwrap_or_default())
}

/// A DNS label: it becomes part of tags and of names on every cloud.
fn name(reader: &mut Reader<'_>, field: &Field<'_>) -> Option<String> {
    const LONGEST: usize = 63;
    let text = reader.text(field)?;
    let good = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let edges = text.starts_with('-') || text.ends_with('-');
    if text.len() <= LONGEST && text.bytes().all(good) && !edges {
        return Some(text);
    }
    let mut better: String = text.to_lowercase().chars().map(fit).collect();
    better.truncate(LONGEST);
    let better = better.trim_matches('-');
    let hint = if better.is_empty() {
        "use lower-case letters, digits and `-`, 63 at most".into()
    } else {
        format!("use lower-case letters, digits and `-`, 63 at most: `{better}`")
    };
    reader.error(field, format!("`{}` is not a usable name", quote(&text)), Some(hint));
    None
}

fn fit(char: char) -> char {
    if char.is_ascii_alphanumeric() { char } else { '-' }
}

/// A mapping from name to text.
pub(crate) fn labels(reader: &mut Reader<'_>, field: &Field<'_>) -> BTreeMap<String, String> {
    if !field.is_map() {
        let found = field.node.describe();
        let message =
            format!("`{}` must be a mapping from name to text, found {found}", field.name());
        reader.error(field, message, Some("write `team: research`, one on a line".into()));
    }
    let mut labels = BTreeMap::new();
    for (key, inner) in field.entries() {
        let odd = |char: char| !(char.is_ascii_alphanumeric() || "-_./:".contains(char));
        if key.is_empty() || key.len() > 128 || key.contains(odd) {
            let message = format!("`{}` is not a usable name", quote(key));
            let hint = "use letters, digits, `-`, `_`, `.`, `/` and `:`, 128 at most";
            reader.error_at(inner.key, &inner.path, message, Some(hint.into()));
        }
        match &inner.node.kind {
            Kind::Scalar { text, .. } if !inner.node.is_null() && text.len() <= 256 => {
                labels.insert(key.to_owned(), text.clone());
            }
            Kind::Scalar { .. } | Kind::List(_) | Kind::Map(_) => {
                let found = inner.node.describe();
                let message =
                    format!("`{}` must be text of 256 characters at most, found {found}", key);
                let hint = format!("write {}: value", quote(key));
                reader.error(&inner, message, Some(hint));
            }
        }
    }
    labels
}
