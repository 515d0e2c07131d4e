//! A document of kind `Policy` → an organisation's limits.

mod approvals;
mod notify;

pub use approvals::ApprovalRule;
pub(crate) use approvals::missing;
pub use notify::{Kept, NotifyEvent, NotifyFormat, NotifyRule};

use crate::ceiling::{self, Ceiling, LabelCeiling};
use crate::diagnostic::Diagnostic;
use crate::fleet::{commitments, metadata, subject};
use crate::reader::{Field, Object, Reader};
use crate::source::{Part, Source, quote};
use crate::wire;
use crate::words::CLOUDS;
use crate::yaml::{Kind, Node};
use fleet_model::{Cloud, Commitment, Pattern, Share};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// An organisation's limits on fleets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Policy {
    /// What it is called.
    pub name: String,
    /// Where it was found.
    pub file: PathBuf,
    /// Allowed clouds; empty: all.
    pub providers: BTreeSet<Cloud>,
    /// Allowed regions; empty: all.
    pub regions: Vec<Pattern>,
    /// Allowed families; empty: all.
    pub families: Vec<Pattern>,
    /// What is never used.
    pub exclude: Vec<Pattern>,
    /// The most that one fleet may cost.
    pub per_fleet: Ceiling,
    /// The most that all fleets under the policy may cost together.
    pub total: Ceiling,
    /// The most that fleets with a label may cost together.
    pub by_label: Vec<LabelCeiling>,
    /// How much of a fleet one apply may destroy because its target was lowered.
    pub max_destroy: Option<Share>,
    /// Fleets that no spec of the folder names are destroyed, as with `--prune`.
    pub prune: bool,
    /// What was bought ahead of time.
    pub commitments: Vec<Commitment>,
    /// Machines that nobody launches without an approval.
    pub approvals: Vec<ApprovalRule>,
    /// Labels that every fleet must have, and what their values must match.
    pub required_labels: BTreeMap<String, Option<Pattern>>,
    /// Who is told of what.
    pub notify: Vec<NotifyRule>,
}

/// Reads a document of kind `Policy`.
pub(crate) fn read(source: &Source, document: &Node) -> (Policy, Vec<Diagnostic>) {
    let top = Field::document(document);
    let parts = [Part::alone(source, subject("policy", document))];
    let mut reader = Reader::new(&parts, document);
    let object = reader.object(&top, wire::Policy::FIELDS);
    let (name, _) = metadata(&mut reader, object.as_ref());
    let mut policy = Policy {
        name,
        file: source.file.clone(),
        providers: BTreeSet::new(),
        regions: Vec::new(),
        families: Vec::new(),
        exclude: Vec::new(),
        per_fleet: Ceiling::default(),
        total: Ceiling::default(),
        by_label: Vec::new(),
        max_destroy: None,
        prune: false,
        commitments: Vec::new(),
        approvals: Vec::new(),
        required_labels: BTreeMap::new(),
        notify: Vec::new(),
    };
    let spec = object
        .and_then(|object| object.require(&mut reader, "spec"))
        .and_then(|field| reader.object(&field, wire::PolicySpec::FIELDS));
    if let Some(spec) = spec {
        limits(&mut reader, &spec, &mut policy);
    }
    (policy, reader.problems)
}

fn limits(reader: &mut Reader<'_>, spec: &Object<'_>, policy: &mut Policy) {
    if spec.field().entries().next().is_none() {
        let message = "`spec` limits nothing".into();
        let fields = wire::PolicySpec::FIELDS.join(", ");
        reader.error(spec.field(), message, Some(format!("its fields are: {fields}")));
    }
    if let Some(field) = spec.get(reader, "providers") {
        let list = reader.list(&field, |reader, item| reader.word(item, "provider", CLOUDS));
        policy.providers = list.into_iter().collect();
    }
    if let Some(field) = spec.get(reader, "regions") {
        policy.regions = reader.patterns(&field);
    }
    if let Some(field) = spec.get(reader, "families") {
        policy.families = reader.patterns(&field);
    }
    if let Some(field) = spec.get(reader, "exclude") {
        policy.exclude = reader.patterns(&field);
    }
    if let Some(field) = spec.get(reader, "budget") {
        (policy.per_fleet, policy.total, policy.by_label) = ceiling::read(reader, &field);
    }
    if let Some(field) = spec.get(reader, "maxDestroyPerApply") {
        policy.max_destroy = reader.share(&field);
    }
    if let Some(field) = spec.get(reader, "prune") {
        policy.prune = reader.flag(&field).unwrap_or_default();
    }
    if let Some(field) = spec.get(reader, "commitments") {
        policy.commitments = commitments::read(reader, &field);
    }
    if let Some(field) = spec.get(reader, "approvals") {
        policy.approvals = approvals::read(reader, &field);
    }
    if let Some(field) = spec.get(reader, "requiredLabels") {
        policy.required_labels = required_labels(reader, &field);
    }
    if let Some(field) = spec.get(reader, "notify") {
        notify::read(reader, &field, policy);
    }
}

/// A list of names, or a mapping from name to the pattern of its value.
fn required_labels(
    reader: &mut Reader<'_>,
    field: &Field<'_>,
) -> BTreeMap<String, Option<Pattern>> {
    if !field.is_map() {
        let names = reader.list(field, |reader, item| reader.text(item));
        return names.into_iter().map(|name| (name, None)).collect();
    }
    if field.entries().next().is_none() {
        let message = "`requiredLabels` requires nothing".into();
        reader.error(field, message, Some("name a label, or remove the field".into()));
    }
    let mut labels = BTreeMap::new();
    for (name, inner) in field.entries() {
        // Values of labels are free text, so their patterns are as well.
        match &inner.node.kind {
            Kind::Scalar { text, .. } if !inner.node.is_null() => {
                labels.insert(name.to_owned(), Some(Pattern::new(text.clone())));
            }
            Kind::Scalar { .. } | Kind::List(_) | Kind::Map(_) => {
                let message = format!("`{}` must be a pattern", quote(name));
                let hint = format!("write {}: \"*\" for any value", quote(name));
                reader.error(&inner, message, Some(hint));
            }
        }
    }
    labels
}
