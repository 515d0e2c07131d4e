//! Which pools of the catalog the spec allows, and what rules out the others.

use crate::offers::approvals::needs_approval;
use crate::offers::defaults::{Defaults, place_rule};
use crate::offers::names::matches_kind;
use crate::offers::weights::weight;
use fleet_model::{
    AcceleratorRules, Bounds, Catalog, CatalogRow, CloudRule, Desired, Extras, Inputs,
    InstanceKind, InstanceRules, LocalDiskRule, Market, Offering, Pattern, Place, PoolId, Recorded,
    Rejection, Resources, Signals,
};
use std::collections::BTreeMap;

/// What is left of the catalog, and what was ruled out.
#[derive(Debug, Clone)]
pub struct Eligible {
    /// Pools that the spec allows, in the order of their ids, at the catalog's prices.
    pub offerings: Vec<Offering>,
    /// Reasons and how many pools each rules out, most first.
    pub rejected: Vec<(Rejection, u32)>,
    /// What the fleet has one of, because the spec does not say otherwise.
    pub(crate) defaults: Defaults,
}

/// Filters the catalog for a fleet that has no machines.
pub fn eligible(desired: &Desired, catalog: &Catalog) -> Eligible {
    eligible_beside(desired, catalog, &Recorded::default())
}

/// Filters the catalog for a fleet that may have machines already. Kinds and places are judged once
/// each, so the cost per row is a look-up.
pub fn eligible_beside(desired: &Desired, catalog: &Catalog, recorded: &Recorded) -> Eligible {
    let not_by_default = |rule| Rejection::NotByDefault { rule };
    let mut kinds: Vec<Option<Rejection>> =
        catalog.kinds.iter().map(|kind| kind_rejection(desired, kind)).collect();
    let places: Vec<Option<Rejection>> = catalog
        .places
        .iter()
        .map(|place| {
            let rejection = place_rejection(desired, place);
            rejection.or_else(|| place_rule(desired, place).map(not_by_default))
        })
        .collect();
    let unapproved: Vec<Option<Rejection>> =
        catalog.kinds.iter().map(|kind| needs_approval(desired, kind)).collect();
    // What cannot be launched is no reason to have the rest of the fleet like it.
    let open = |row: &CatalogRow| {
        let (place, kind) = (row.place as usize, row.kind as usize);
        places[place].is_none() && kinds[kind].is_none() && unapproved[kind].is_none()
    };
    let rows = (0..).zip(&catalog.rows);
    let allowed: Vec<u32> = rows.filter(|(_, row)| open(row)).map(|(at, _)| at).collect();
    let defaults = Defaults::choose(desired, catalog, recorded, &allowed);
    for ((kind, rejection), unapproved) in catalog.kinds.iter().zip(&mut kinds).zip(unapproved) {
        if rejection.is_none() {
            *rejection = defaults.of_kind(desired, kind).map(not_by_default).or(unapproved);
        }
    }
    let markets = markets(desired);
    let mut offerings = Vec::new();
    let mut rejected: BTreeMap<&Rejection, u32> = BTreeMap::new();
    let not_sold = Rejection::NotSold { market: Market::Spot };
    for row in &catalog.rows {
        let ruled_out = places[row.place as usize].as_ref().or(kinds[row.kind as usize].as_ref());
        // Machines that are paid for are launched on demand, whatever else is bought.
        let committed = ruled_out.is_none()
            && !markets.contains(&Market::OnDemand)
            && is_committed(desired, catalog, row);
        if committed {
            offerings.push(offering(catalog, row, Market::OnDemand));
        }
        for &market in &markets {
            match ruled_out {
                Some(reason) => *rejected.entry(reason).or_default() += 1,
                None if market == Market::Spot && !row.has_spot => {
                    *rejected.entry(&not_sold).or_default() += 1;
                }
                None => offerings.push(offering(catalog, row, market)),
            }
        }
    }
    in_accounts(desired, &mut offerings);
    let mut rejected: Vec<_> = rejected.into_iter().map(|(r, n)| (r.clone(), n)).collect();
    rejected.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    Eligible { offerings, rejected, defaults }
}

/// Puts every pool into each of the accounts that the spec names for its place.
fn in_accounts(desired: &Desired, offerings: &mut Vec<Offering>) {
    if desired.placement.clouds.iter().all(|rule| rule.accounts.is_empty()) {
        return;
    }
    let everywhere = std::mem::take(offerings);
    for offering in everywhere {
        for place in place_in_accounts(desired, &offering.pool.place) {
            let pool = PoolId { place, ..offering.pool.clone() };
            offerings.push(Offering { pool, ..offering.clone() });
        }
    }
    offerings.sort_by(|a, b| a.pool.cmp(&b.pool));
}

/// A place of the catalog in each of the accounts that the spec names for it; the place itself where it
/// names none.
pub(crate) fn place_in_accounts(desired: &Desired, place: &Place) -> Vec<Place> {
    let rules = desired.placement.clouds.iter();
    let mut all = Vec::new();
    for rule in rules.filter(|rule| rule_rejection(rule, place).is_none()) {
        if rule.accounts.is_empty() {
            all.push(place.clone());
        }
        let there = |account| Place { region: place.region.of_account(account), ..place.clone() };
        all.extend(rule.accounts.iter().map(|account| there(account.as_str())));
    }
    // Two rules may name the same account.
    all.sort();
    all.dedup();
    if all.is_empty() {
        all.push(place.clone());
    }
    all
}

/// The markets in which the fleet buys anything, in the order of pool ids.
fn markets(desired: &Desired) -> Vec<Market> {
    let goal = desired.capacity;
    // A burst with a hedge or a fallback may take on-demand in place of spot.
    let in_place_of_spot = desired.placement.hedge.is_some() || desired.fallback.is_some();
    let instead = in_place_of_spot && !goal.spot.is_zero();
    let on_demand = (!goal.on_demand.is_zero() || instead).then_some(Market::OnDemand);
    let spot = (!goal.spot.is_zero()).then_some(Market::Spot);
    on_demand.into_iter().chain(spot).collect()
}

fn is_committed(desired: &Desired, catalog: &Catalog, row: &CatalogRow) -> bool {
    let (place, kind) = (catalog.place(row), catalog.kind(row));
    desired.placement.commitments.iter().any(|one| one.names(place, &kind.name))
}

fn offering(catalog: &Catalog, row: &CatalogRow, market: Market) -> Offering {
    let kind = catalog.kind(row);
    Offering {
        pool: PoolId {
            place: catalog.place(row).clone(),
            instance_type: kind.name.clone(),
            market,
        },
        kind: kind.clone(),
        price: match market {
            Market::OnDemand | Market::Reserved => row.on_demand,
            Market::Spot => row.spot,
        },
        on_demand: row.on_demand,
        extras: Extras::default(),
        signals: Signals::default(),
        image: None,
        refusal: None,
        quotas: Vec::new(),
    }
}

/// The offering of a pool, if the spec allows it. Offerings are in the order of pool ids.
pub(crate) fn find_offering<'a>(inputs: &'a Inputs, pool: &PoolId) -> Option<&'a Offering> {
    let at = inputs.offerings.binary_search_by(|offering| offering.pool.cmp(pool)).ok()?;
    inputs.offerings.get(at)
}

/// What in the spec rules a pool out, whatever its price and state; `None` if nothing does. Defaults
/// rule out nothing here: a machine that stands may stay.
pub fn rejection(desired: &Desired, place: &Place, kind: &InstanceKind) -> Option<Rejection> {
    place_rejection(desired, place).or_else(|| kind_rejection(desired, kind))
}

fn place_rejection(desired: &Desired, place: &Place) -> Option<Rejection> {
    let mut worst = Rejection::CloudNotAllowed { cloud: place.cloud };
    for rule in &desired.placement.clouds {
        match rule_rejection(rule, place) {
            None => return None,
            // The nearest miss is the most useful reason: a region that is named, a zone that is
            // not.
            Some(Rejection::CloudNotAllowed { .. }) => {}
            Some(Rejection::RegionNotAllowed)
                if matches!(worst, Rejection::ZoneNotAllowed | Rejection::NeedsOptIn) => {}
            Some(reason) => worst = reason,
        }
    }
    Some(worst)
}

/// What in one rule rules a place out.
fn rule_rejection(rule: &CloudRule, place: &Place) -> Option<Rejection> {
    let allows = |patterns: &[Pattern], name: &str| {
        patterns.is_empty() || patterns.iter().any(|pattern| pattern.matches(name))
    };
    // A place without an account is one of the catalog's, and stands for every account.
    let account = place.region.account();
    let account_allowed =
        account.is_none_or(|account| rule.accounts.iter().any(|allowed| allowed == account));
    if rule.cloud != place.cloud {
        Some(Rejection::CloudNotAllowed { cloud: place.cloud })
    } else if !allows(&rule.regions, place.region.name()) || !account_allowed {
        Some(Rejection::RegionNotAllowed)
    } else if !allows(&rule.zones, place.zone.as_str()) {
        Some(Rejection::ZoneNotAllowed)
    } else if rule.zones.is_empty() && place.needs_opt_in() {
        Some(Rejection::NeedsOptIn)
    } else {
        None
    }
}

fn kind_rejection(desired: &Desired, kind: &InstanceKind) -> Option<Rejection> {
    let InstanceRules {
        families,
        types,
        exclude,
        vcpus,
        memory_mib,
        mib_per_vcpu,
        architectures,
        accelerators,
        local_disk,
        generation,
    } = &desired.instances;
    let named = |pattern: &Pattern| matches_kind(pattern, kind.cloud, &kind.name);
    let unrestricted = families.is_empty() && types.is_empty();
    if !unrestricted && !families.iter().chain(types).any(named) {
        return Some(Rejection::FamilyNotAllowed);
    }
    if let Some(pattern) = exclude.iter().find(|pattern| named(pattern)) {
        return Some(Rejection::Excluded { pattern: pattern.to_string() });
    }
    let Resources {
        vcpus: has_vcpus,
        memory_mib: has_memory,
        architecture,
        accelerators: has_accelerators,
        local_disk: has_disk,
        generation: has_generation,
    } = &kind.resources;
    let has_vcpus = has_vcpus.map(u64::from);
    let per_vcpu = has_memory.zip(has_vcpus).and_then(|(mib, cpus)| mib.checked_div(cpus));
    let bounded = [
        ("vcpus", has_vcpus, *vcpus),
        ("memoryGiB", *has_memory, *memory_mib),
        ("gibPerVcpu", per_vcpu, *mib_per_vcpu),
        ("generation", has_generation.map(u64::from), *generation),
    ];
    if let Some(reason) = bounded.into_iter().find_map(out_of_bounds) {
        return Some(reason);
    }
    if !architectures.is_empty() && !architectures.contains(architecture) {
        return Some(Rejection::ArchitectureNotAllowed);
    }
    if !accelerators.is_empty() {
        let has = has_accelerators.as_ref();
        if let Some(reason) = accelerator_rejection(accelerators, has) {
            return Some(reason);
        }
    }
    let disk_fits = match local_disk {
        LocalDiskRule::Any => true,
        LocalDiskRule::Required => *has_disk == Some(true),
        LocalDiskRule::Excluded => *has_disk == Some(false),
    };
    if !disk_fits {
        return Some(Rejection::LocalDisk);
    }
    let unit = desired.capacity.unit;
    weight(desired, kind).is_none().then_some(Rejection::NoWeight { unit })
}

fn accelerator_rejection(
    rules: &AcceleratorRules,
    has: Option<&fleet_model::Accelerators>,
) -> Option<Rejection> {
    let AcceleratorRules { names, makers, count_milli, memory_mib } = rules;
    let Some(has) = has else {
        return Some(Rejection::AcceleratorNotAllowed { has: None });
    };
    let name_fits = names.is_empty()
        || has.name.as_ref().is_some_and(|name| names.iter().any(|n| n.matches(name)));
    let maker_fits = makers.is_empty() || has.maker.is_some_and(|maker| makers.contains(&maker));
    if !name_fits || !maker_fits {
        return Some(Rejection::AcceleratorNotAllowed { has: has.name.clone() });
    }
    out_of_bounds(("accelerators.perInstance", Some(u64::from(has.count_milli)), *count_milli))
        .or_else(|| out_of_bounds(("accelerators.memoryGiB", has.memory_mib, *memory_mib)))
}

fn out_of_bounds((requirement, has, wants): (&str, Option<u64>, Bounds)) -> Option<Rejection> {
    let fits = wants.is_unbounded() || has.is_some_and(|has| wants.contains(has));
    (!fits).then(|| Rejection::OutOfBounds { requirement: requirement.into(), has, wants })
}
