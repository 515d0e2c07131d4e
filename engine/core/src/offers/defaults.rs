//! What a spec that does not say otherwise leaves out: what experts would not have bought.
//!
//! Words of the spec come first: whatever it names is allowed. What stands already may stay: these
//! rules are for what is bought, so that a new version of them replaces no machine.

use crate::offers::names::matches_kind;
use fleet_model::{
    Architecture, Catalog, Cloud, DefaultRule, Desired, InstanceKind, OnRecord, Pattern, Place,
    Recorded, Unit, WeightOf,
};
use std::collections::BTreeMap;

/// The defaults as they are for one fleet.
#[derive(Debug, Clone, Default)]
pub(crate) struct Defaults {
    /// The one architecture, where the spec leaves it open.
    architecture: Option<Architecture>,
    /// The one accelerator, where the spec leaves it open.
    accelerator: Option<String>,
}

impl Defaults {
    /// Chooses what a fleet has one of. `allowed` are the catalog's rows that the spec's own words
    /// allow; what the fleet has already is kept to.
    pub(super) fn choose(
        desired: &Desired,
        catalog: &Catalog,
        recorded: &Recorded,
        allowed: &[u32],
    ) -> Self {
        let rows = || allowed.iter().map(|&at| &catalog.rows[at as usize]);
        let kinds = || rows().map(|row| &**catalog.kind(row));
        let usual = |kind: &&InstanceKind| kind_rule(desired, kind).is_none();
        let mut defaults = Defaults::default();
        if desired.instances.architectures.is_empty() {
            let x86 =
                kinds().filter(usual).any(|k| k.resources.architecture == Architecture::X86_64);
            let one = if x86 { Architecture::X86_64 } else { Architecture::Arm64 };
            defaults.architecture = Some(one);
        }
        if leaves_accelerator_open(desired) {
            let held = held_types(recorded);
            let fits = |kind: &InstanceKind| defaults.of_kind(desired, kind).is_none();
            // The one that is sold most widely: where one pool is empty, another may not be.
            let mut sold: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
            for row in rows() {
                let kind = &**catalog.kind(row);
                let Some(name) = accelerator(kind).filter(|_| fits(kind)) else { continue };
                let held = held.get(&(kind.cloud, kind.name.as_str())).copied().unwrap_or_default();
                let known = sold.entry(name).or_default();
                *known = (known.0.max(held), known.1 + 1);
            }
            let best = sold.iter().max_by_key(|(name, known)| (**known, std::cmp::Reverse(**name)));
            defaults.accelerator = best.map(|(name, _)| (*name).to_owned());
        }
        defaults
    }

    /// The rule that leaves out a type in a place.
    pub(crate) fn rule(
        &self,
        desired: &Desired,
        place: &Place,
        kind: &InstanceKind,
    ) -> Option<DefaultRule> {
        place_rule(desired, place).or_else(|| self.of_kind(desired, kind))
    }

    pub(super) fn of_kind(&self, desired: &Desired, kind: &InstanceKind) -> Option<DefaultRule> {
        if let Some(rule) = kind_rule(desired, kind) {
            return Some(rule);
        }
        if let Some(fleet) = self.architecture
            && kind.resources.architecture != fleet
            && !is_named(desired, kind)
        {
            return Some(DefaultRule::Architecture { fleet });
        }
        let fleet = self.accelerator.as_deref()?;
        (accelerator(kind) != Some(fleet))
            .then(|| DefaultRule::Accelerator { fleet: fleet.to_owned() })
    }
}

/// The rule that leaves out a place.
pub(super) fn place_rule(desired: &Desired, place: &Place) -> Option<DefaultRule> {
    let named = || {
        let rules = desired.placement.clouds.iter().filter(|rule| rule.cloud == place.cloud);
        let mut regions = rules.flat_map(|rule| &rule.regions);
        regions.any(|pattern| is_literal(pattern) && pattern.matches(place.region.name()))
    };
    (place.is_restricted() && !named()).then_some(DefaultRule::RestrictedRegion)
}

/// The rule that leaves out a type, whatever the rest of the fleet is.
fn kind_rule(desired: &Desired, kind: &InstanceKind) -> Option<DefaultRule> {
    if kind.spans_hosts() {
        return Some(DefaultRule::SeveralHosts);
    }
    let resources = &kind.resources;
    let small = resources.vcpus.is_some_and(|vcpus| vcpus < 2);
    if small && desired.instances.vcpus.min.is_none() && !size_is_named(desired, kind) {
        return Some(DefaultRule::Small);
    }
    if is_named(desired, kind) {
        return None;
    }
    if kind.is_burstable() {
        return Some(DefaultRule::Burstable);
    }
    (resources.accelerators.is_some() && !asks_for_accelerators(desired))
        .then_some(DefaultRule::Accelerated)
}

/// Whether the spec has words for a type: a family or type, or a pattern that begins like it. What is
/// paid for, preferred or weighed is named as well.
fn is_named(desired: &Desired, kind: &InstanceKind) -> bool {
    let (rules, placement) = (&desired.instances, &desired.placement);
    let bought = placement.commitments.iter();
    if bought.clone().any(|one| (one.cloud, &one.instance_type) == (kind.cloud, &kind.name)) {
        return true;
    }
    let machines = placement.weights.iter().filter(|weight| weight.of == WeightOf::Machine);
    let weighed = machines.map(|weight| &weight.types);
    let wanted = placement.priorities.iter().chain(weighed);
    let mut patterns = rules.families.iter().chain(&rules.types).chain(wanted);
    patterns.any(|pattern| is_literal(pattern) && matches_kind(pattern, kind.cloud, &kind.name))
}

/// Whether the spec names a size, and not only its family.
fn size_is_named(desired: &Desired, kind: &InstanceKind) -> bool {
    let rules = &desired.instances;
    let exact = |pattern: &Pattern| !pattern.has_wildcards();
    let in_types = rules
        .types
        .iter()
        .any(|pattern| is_literal(pattern) && pattern.matches(kind.name.as_str()));
    in_types || rules.families.iter().any(|p| exact(p) && p.matches(kind.name.as_str()))
}

/// Whether a pattern says anything of how a name begins. `*.large` and `Standard_*` do not.
fn is_literal(pattern: &Pattern) -> bool {
    let text = pattern.as_str();
    let text = text.strip_prefix("Standard_").unwrap_or(text);
    !text.starts_with(['*', '?']) && !text.is_empty()
}

fn asks_for_accelerators(desired: &Desired) -> bool {
    let by_unit = match desired.capacity.unit {
        Unit::Gpus | Unit::Figure(_) => true,
        Unit::Work => weighs_accelerators(desired),
        Unit::Instances | Unit::Vcpus | Unit::MemoryGib => false,
    };
    by_unit || !desired.instances.accelerators.is_empty()
}

/// Whether the spec says what accelerators are worth against each other: then they may be mixed.
fn weighs_accelerators(desired: &Desired) -> bool {
    desired.placement.weights.iter().any(|weight| weight.of == WeightOf::Accelerator)
}

/// Whether the fleet wants accelerators, and nothing in the spec says which.
fn leaves_accelerator_open(desired: &Desired) -> bool {
    let rules = &desired.instances;
    let open = rules.families.is_empty() && rules.types.is_empty() && !weighs_accelerators(desired);
    asks_for_accelerators(desired) && open && rules.accelerators.names.is_empty()
}

/// What the accelerator of a type is called; its own type, where nobody knows.
fn accelerator(kind: &InstanceKind) -> Option<&str> {
    let has = kind.resources.accelerators.as_ref()?;
    Some(has.name.as_deref().unwrap_or(kind.name.as_str()))
}

/// How many machines of each type the journal knows.
fn held_types(recorded: &Recorded) -> BTreeMap<(Cloud, &str), u64> {
    let mut held = BTreeMap::new();
    for OnRecord { pool, .. } in recorded.machines() {
        *held.entry((pool.place.cloud, pool.instance_type.as_str())).or_insert(0) += 1;
    }
    held
}
