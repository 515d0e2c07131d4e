//! Machines that nobody launches without somebody's approval.

use super::Policy;
use crate::fleet::Draft;
use crate::fleet::budget::tighter;
use crate::reader::{Field, Reader};
use crate::wire;
use crate::words::CLOUDS;
use fleet_model::{Approval, Cloud, MicroUsd, Pattern};
use serde::Serialize;
use std::collections::BTreeSet;

/// What a policy wants an approval for, and what gives it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalRule {
    /// Families, types or patterns; empty: every machine.
    pub machines: Vec<Pattern>,
    /// Clouds; empty: all.
    pub clouds: BTreeSet<Cloud>,
    /// A fleet whose budget per hour is at most this needs none; `None`: every fleet does.
    pub above: Option<MicroUsd>,
    /// The label that gives it.
    pub label: String,
    /// What its value must match; `None`: anything.
    pub value: Option<Pattern>,
    /// What to say to whoever does not have it.
    pub message: Option<String>,
}

/// Reads the list.
pub(super) fn read(reader: &mut Reader<'_>, field: &Field<'_>) -> Vec<ApprovalRule> {
    reader.list(field, rule)
}

fn rule(reader: &mut Reader<'_>, item: &Field<'_>) -> Option<ApprovalRule> {
    let object = reader.object(item, wire::PolicyApproval::FIELDS)?;
    let mut machines = Vec::new();
    for name in ["families", "types"] {
        if let Some(field) = object.get(reader, name) {
            machines.extend(reader.patterns(&field));
        }
    }
    let mut clouds = BTreeSet::new();
    if let Some(field) = object.get(reader, "providers") {
        let list = reader.list(&field, |reader, item| reader.word(item, "provider", CLOUDS));
        clouds.extend(list);
    }
    let above = object.get(reader, "aboveMonthlyUsd").and_then(|field| reader.usd(&field));
    let message = object.get(reader, "message").and_then(|field| reader.text(&field));
    let needs = object.require(reader, "needs")?;
    let needs = reader.object(&needs, wire::ApprovalLabel::FIELDS)?;
    let label = needs.require(reader, "label").and_then(|field| reader.text(&field));
    let value = needs.get(reader, "value").and_then(|field| reader.text(&field));
    Some(ApprovalRule {
        machines,
        clouds,
        above: tighter(None, above),
        label: label?,
        value: value.map(Pattern::new),
        message,
    })
}

impl ApprovalRule {
    /// Whether a fleet needs it and does not have it. Its budget holds whatever it launches, so one that
    /// is small enough is as good as an approval.
    fn is_missing(&self, draft: &Draft) -> bool {
        let budget = &draft.desired.budget;
        let most = tighter(budget.hourly, budget.calendar_month);
        let small = self.above.zip(most).is_some_and(|(above, most)| most <= above);
        let given =
            draft.desired.labels.get(&self.label).is_some_and(|value| {
                self.value.as_ref().is_none_or(|pattern| pattern.matches(value))
            });
        !small && !given
    }
}

/// The approvals of a policy that a fleet needs and does not have.
pub(crate) fn missing<'p>(draft: &Draft, policy: &'p Policy) -> Vec<(Approval, &'p ApprovalRule)> {
    let rules = policy.approvals.iter().filter(|rule| rule.is_missing(draft));
    rules
        .map(|rule| {
            let ApprovalRule { machines, clouds, above: _, label, value, message } = rule.clone();
            let policy = policy.name.clone();
            (Approval { policy, machines, clouds, label, value, message }, rule)
        })
        .collect()
}
