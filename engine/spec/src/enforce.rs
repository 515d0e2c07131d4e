//! Policies upon fleets: what a fleet leaves open is narrowed, what it names against a limit is an
//! error at its place in the fleet's file.

use crate::ceiling::{amount, under};
use crate::fleet::{Draft, covers};
use crate::policy::{Policy, missing};
use crate::reader::near;
use crate::source::{quote, quote_up_to};
use fleet_model::{Approval, Cap, Cloud, Commitment, Pattern};

/// Holds one fleet against all of its policies.
///
/// First everything the user wrote is checked against every policy, while indices still mean what
/// the file says; only then is the fleet narrowed.
pub(crate) fn enforce(draft: &mut Draft, policies: &[&Policy]) {
    for policy in policies {
        labels(draft, policy);
        clouds(draft, policy);
        regions(draft, policy);
        machines(draft, policy);
        budget(draft, policy);
        commitments(draft, policy);
    }
    for policy in policies {
        narrow(draft, policy);
        if policy.per_fleet.lifetime.is_some() {
            lifetime_needs_end(draft, policy);
        }
    }
    // A budget that a policy gives counts as the fleet's own.
    for policy in policies {
        approvals(draft, policy);
    }
    // The tightest holds, also where it is wider than what holds without a policy.
    if let Some(most) = policies.iter().filter_map(|policy| policy.max_destroy).min() {
        draft.desired.max_destroy = most;
    }
}

impl Draft {
    /// An error at a field, in the fleet's name, with the policy in the hint.
    pub(crate) fn refuse(&mut self, policy: &Policy, path: &str, what: String, hint: String) {
        let message = format!("fleet `{}`: {what}", self.desired.fleet);
        let hint = format!("policy `{}` ({}) {hint}", policy.name, policy.file.display());
        let diagnostic = self.places.diagnostic(path, message, Some(hint));
        self.problems.push(diagnostic);
    }

    /// Whether a section could not be read in full; then its indices do not fit the file.
    fn is_broken(&self, path: &str) -> bool {
        self.broken.iter().any(|broken| broken.starts_with(path))
    }
}

fn list<T: ToString>(items: impl IntoIterator<Item = T>) -> String {
    items.into_iter().map(|item| item.to_string()).collect::<Vec<_>>().join(", ")
}

fn labels(draft: &mut Draft, policy: &Policy) {
    for (name, pattern) in &policy.required_labels {
        let path = format!("metadata.labels.{name}");
        match (draft.desired.labels.get(name).cloned(), pattern) {
            (None, _) => {
                let have: Vec<&str> = draft.desired.labels.keys().map(String::as_str).collect();
                let meant = near(name, &have).map(|near| format!("; is `{near}` meant?"));
                let hint = format!("requires it{}", meant.unwrap_or_default());
                draft.refuse(policy, "metadata.labels", format!("label `{name}` is missing"), hint);
            }
            (Some(value), Some(pattern)) if !pattern.matches(&value) => {
                let what = format!("label `{name}` is not allowed to be `{value}`");
                draft.refuse(policy, &path, what, format!("wants it to match `{pattern}`"));
            }
            (Some(_), _) => {}
        }
    }
}

fn clouds(draft: &mut Draft, policy: &Policy) {
    let written = draft.places.has("spec.placement.clouds");
    if policy.providers.is_empty() || !written || draft.is_broken("spec.placement.clouds") {
        return;
    }
    let hint = format!("allows: {}", list(&policy.providers));
    for (at, rule) in draft.desired.placement.clouds.clone().into_iter().enumerate() {
        if !policy.providers.contains(&rule.cloud) {
            let path = format!("spec.placement.clouds[{at}].provider");
            let what = format!("provider `{}` is not allowed", rule.cloud);
            draft.refuse(policy, &path, what, hint.clone());
        }
    }
}

fn regions(draft: &mut Draft, policy: &Policy) {
    if policy.regions.is_empty() || draft.is_broken("spec.placement.clouds") {
        return;
    }
    let hint = format!("allows: {}", list(&policy.regions));
    for (at, rule) in draft.desired.placement.clouds.clone().into_iter().enumerate() {
        for (item, region) in rule.regions.iter().enumerate() {
            if narrowed(std::slice::from_ref(region), &policy.regions, covers).is_empty() {
                let path = format!("spec.placement.clouds[{at}].regions[{item}]");
                let what = format!("region `{region}` is not allowed");
                draft.refuse(policy, &path, what, hint.clone());
            }
        }
    }
}

fn machines(draft: &mut Draft, policy: &Policy) {
    let instances = draft.desired.instances.clone();
    for (name, what, wanted) in
        [("families", "family", &instances.families), ("types", "type", &instances.types)]
    {
        if draft.is_broken(&format!("spec.instances.{name}")) {
            continue;
        }
        for (at, pattern) in wanted.iter().enumerate() {
            let path = format!("spec.instances.{name}[{at}]");
            let one = std::slice::from_ref(pattern);
            if !policy.families.is_empty() && narrowed(one, &policy.families, within).is_empty() {
                let hint = format!("allows: {}", list(&policy.families));
                draft.refuse(policy, &path, format!("{what} `{pattern}` is not allowed"), hint);
            } else if let Some(by) = policy.exclude.iter().find(|by| within(by, pattern)) {
                let hint = format!("excludes `{by}`");
                draft.refuse(policy, &path, format!("{what} `{pattern}` is not allowed"), hint);
            }
        }
    }
}

fn budget(draft: &mut Draft, policy: &Policy) {
    for cap in Cap::ALL {
        let limits = (policy.per_fleet.limit(cap), draft.desired.budget.limit(cap));
        let (Some(most), Some(budget)) = limits else { continue };
        if budget > most {
            let what = format!("a budget of {} is too high", amount(budget, cap));
            let hint = format!("allows {} for each fleet", amount(most, cap));
            let path = budget_path(draft, cap);
            draft.refuse(policy, path, what, hint);
        }
    }
}

/// What a fleet says is paid for counts nothing toward its budget: so whoever sets the ceiling must
/// know of it.
fn commitments(draft: &mut Draft, policy: &Policy) {
    let limited =
        policy.per_fleet.is_some() || policy.total.is_some() || !policy.by_label.is_empty();
    let unlimited = !limited && policy.commitments.is_empty();
    if unlimited || draft.is_broken("spec.placement.commitments") {
        return;
    }
    let mut named: Vec<Commitment> = Vec::new();
    for (at, one) in draft.desired.placement.commitments.clone().into_iter().enumerate() {
        let like = |other: &&Commitment| other.is_like(&one);
        // For as long as the fleet counts on it.
        let lasts = |other: &&Commitment| match (other.until, one.until) {
            (None, _) => true,
            (Some(theirs), ours) => ours.is_some_and(|ours| ours <= theirs),
        };
        let sum = |all: &[&Commitment]| all.iter().map(|one| u64::from(one.count)).sum::<u64>();
        let allowed =
            sum(&policy.commitments.iter().filter(like).filter(lasts).collect::<Vec<_>>());
        let before = sum(&named.iter().filter(like).collect::<Vec<_>>());
        if before + u64::from(one.count) > allowed {
            let path = format!("spec.placement.commitments[{at}]");
            let what = format!(
                "{} {} in {} {} are not known to be paid for",
                one.count, one.instance_type, one.cloud, one.region
            );
            let hint = match allowed {
                0 => "lists none of them under commitments".to_owned(),
                allowed => format!("lists {allowed} of them for that long"),
            };
            draft.refuse(policy, &path, what, hint);
        }
        named.push(one);
    }
}

/// A base is never destroyed for money: over a life without an end, no limit would hold.
pub(crate) fn lifetime_needs_end(draft: &mut Draft, policy: &Policy) {
    let desired = &draft.desired;
    let endless = desired.budget.lifetime.is_some() && desired.expires.is_none();
    if endless && !desired.capacity.on_demand.is_zero() && draft.problems.is_empty() {
        let what = "a base under a lifetime limit needs an end: set spec.expires".into();
        let hint = "limits what a fleet may cost over its life".into();
        draft.refuse(policy, "spec", what, hint);
    }
}

/// Machines that the fleet names and that need an approval which it does not have: a warning where it names
/// them. Not an error: what else it names is launched, and what stands may stay.
fn approvals(draft: &mut Draft, policy: &Policy) {
    for (approval, rule) in missing(draft, policy) {
        let instances = draft.desired.instances.clone();
        let lists = [("families", &instances.families), ("types", &instances.types)];
        for (name, wanted) in lists {
            if draft.is_broken(&format!("spec.instances.{name}")) {
                continue;
            }
            for (at, pattern) in wanted.iter().enumerate() {
                let covered = rule.machines.iter().any(|wide| within(wide, pattern));
                let path = format!("spec.instances.{name}[{at}]");
                if !covered || !draft.places.has(&path) {
                    continue;
                }
                let what = format!("`{pattern}` is not launched without an approval");
                let diagnostic = draft.places.diagnostic(
                    &path,
                    format!("fleet `{}`: {what}", draft.desired.fleet),
                    Some(wants(policy, &approval)),
                );
                draft.problems.push(diagnostic.into_warning());
            }
        }
        draft.desired.approvals.push(approval);
    }
}

/// How much of a policy's own words is repeated.
const MESSAGE: usize = 200;

/// What gives an approval, and who wants it.
fn wants(policy: &Policy, approval: &Approval) -> String {
    let Approval { label, value, message, .. } = approval;
    let value = value.as_ref().map(|value| format!(" that matches `{}`", quote(value.as_str())));
    let message = message.as_ref().map(|text| format!(": {}", quote_up_to(text, MESSAGE)));
    format!(
        "policy `{}` ({}) wants the label `{}`{}{}",
        quote(&policy.name),
        policy.file.display(),
        quote(label),
        value.unwrap_or_default(),
        message.unwrap_or_default()
    )
}

/// The field that sets one limit of a fleet's budget, or where it would stand.
pub(crate) fn budget_path(draft: &Draft, cap: Cap) -> &'static str {
    let fields: &[&'static str] = match cap {
        Cap::Hourly => &["spec.budget.hourlyUsd", "spec.budget.monthlyUsd"],
        Cap::CalendarMonth => &["spec.budget.calendarMonthUsd"],
        Cap::Lifetime => &["spec.budget.lifetimeUsd"],
    };
    let mut paths = fields.iter().copied().chain(["spec.budget"]);
    paths.find(|path| draft.places.has(path)).unwrap_or("spec")
}

fn narrow(draft: &mut Draft, policy: &Policy) {
    let desired = &mut draft.desired;
    if !policy.providers.is_empty() {
        desired.placement.clouds.retain(|rule| policy.providers.contains(&rule.cloud));
        desired.templates.retain(|cloud, _| policy.providers.contains(cloud));
    }
    if !policy.regions.is_empty() {
        for rule in &mut desired.placement.clouds {
            rule.regions = narrowed_or(&rule.regions, &policy.regions, covers);
        }
        desired.placement.clouds.retain(|rule| !rule.regions.is_empty());
    }
    let instances = &mut desired.instances;
    if !policy.families.is_empty() {
        match (instances.families.is_empty(), instances.types.is_empty()) {
            (true, true) => instances.families = policy.families.clone(),
            (_, _) => {
                instances.families = narrowed(&instances.families, &policy.families, within);
                instances.types = narrowed(&instances.types, &policy.families, within);
            }
        }
    }
    let new = policy.exclude.iter().filter(|pattern| !instances.exclude.contains(pattern));
    let new: Vec<Pattern> = new.cloned().collect();
    instances.exclude.extend(new);
    for cap in Cap::ALL {
        *desired.budget.limit_mut(cap) = under(&desired.budget, policy.per_fleet, cap);
    }
    let nothing = instances.families.is_empty() && instances.types.is_empty();
    let nowhere = desired.placement.clouds.is_empty();
    // With an error already told, there is nothing new in this.
    if draft.problems.iter().any(|one| one.severity == crate::Severity::Error) {
        return;
    }
    if nowhere {
        let what = "no place is left under its policies".into();
        draft.refuse(
            policy,
            "spec.placement",
            what,
            "and the others allow nothing in common".into(),
        );
    } else if nothing && !policy.families.is_empty() {
        let what = "no machine is left under its policies".into();
        draft.refuse(
            policy,
            "spec.instances",
            what,
            "and the others allow nothing in common".into(),
        );
    }
}

type Contains = fn(&Pattern, &Pattern) -> bool;

/// What of a list is allowed: items inside an allowed one, and allowed ones inside an item. Two
/// patterns that merely overlap have no common pattern; they are left out, on the safe side.
fn narrowed(items: &[Pattern], allowed: &[Pattern], contains: Contains) -> Vec<Pattern> {
    let mut out: Vec<Pattern> = Vec::new();
    for item in items {
        if allowed.iter().any(|wide| contains(wide, item)) {
            out.push(item.clone());
        } else {
            out.extend(allowed.iter().filter(|narrow| contains(item, narrow)).cloned());
        }
    }
    out
}

/// The same where an empty list means everything.
fn narrowed_or(items: &[Pattern], allowed: &[Pattern], contains: Contains) -> Vec<Pattern> {
    if items.is_empty() { allowed.to_vec() } else { narrowed(items, allowed, contains) }
}

/// Whether a family or pattern holds everything that another one does, on any cloud.
fn within(wide: &Pattern, narrow: &Pattern) -> bool {
    let family = |cloud: Cloud| cloud.is_family(wide.as_str(), &narrow.as_str().into());
    covers(wide, narrow) || Cloud::ALL.into_iter().any(family)
}
