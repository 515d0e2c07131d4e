//! What a change of specs does: each fleet before and after, as bought anew at the prices of now.

use super::rules::Measures;
use crate::review::family_of;
use crate::text::Hourly;
use fleet_core::{Planned, afresh, plan};
use fleet_model::{
    Cloud, Cost, CostKind, FleetName, Inputs, MicroUsd, PoolLine, Report, Uncounted, Unit, Units,
};
use fleet_spec::{GivenBy, LoadedFleet};
use std::collections::{BTreeMap, BTreeSet};

/// What a spec asks for, or what stands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Side {
    /// Capacity, in its unit; `None`: nothing is asked for.
    pub capacity: Option<(Units, Unit)>,
    /// How many machines.
    pub machines: u32,
    /// What they cost per hour, as far as prices are known.
    pub hourly: MicroUsd,
    /// What nobody can price, and no amount counts.
    pub uncounted: Vec<Uncounted>,
    /// Families in use, with their clouds.
    pub families: BTreeSet<(Cloud, String)>,
    /// Regions in use, with their clouds.
    pub regions: BTreeSet<(Cloud, String)>,
}

/// What a plan comes to in the end, at the prices of now: where one apply does a part, the whole.
fn asked(cost: &Cost) -> MicroUsd {
    cost.when_done.map_or(cost.hourly_at_present, |done| done.hourly)
}

impl Side {
    /// What a spec asks for.
    pub fn wanted(inputs: &Inputs) -> Self {
        let Planned { report, .. } = plan(&afresh(inputs));
        let wanted = report.groups.iter().map(|line| line.wanted).sum();
        Side { capacity: Some((wanted, report.unit)), ..Side::planned(&report) }
    }

    /// Where a plan leads.
    fn planned(report: &Report) -> Self {
        let used = Side::used(report, |line| line.keep + line.create);
        Side { hourly: asked(&report.cost), uncounted: report.uncounted.clone(), ..used }
    }

    /// What stands.
    pub fn standing(report: &Report) -> Self {
        let stood = |line: &PoolLine| line.keep + line.destroy;
        let before = report.groups.iter().map(|line| line.before).sum();
        Side {
            capacity: Some((before, report.unit)),
            hourly: report.cost.hourly_before,
            uncounted: report.uncounted_before.clone(),
            ..Side::used(report, stood)
        }
    }

    /// What it costs per hour, and whether that is all.
    pub fn cost(&self) -> Hourly {
        Hourly::of(self.hourly, &self.uncounted)
    }

    fn used(report: &Report, machines: fn(&PoolLine) -> u32) -> Self {
        let mut side = Side::default();
        for line in report.pools.iter().filter(|line| machines(line) > 0) {
            let (cloud, place) = (line.pool.place.cloud, &line.pool.place);
            let family = family_of(cloud, &line.pool.instance_type);
            side.machines += machines(line);
            side.families.insert((cloud, family.to_owned()));
            side.regions.insert((cloud, place.region.name().to_owned()));
        }
        side
    }
}

/// What became of a fleet's spec.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Edit {
    /// It is new.
    Added,
    /// It asks for something else.
    Changed,
    /// It is gone.
    Removed,
    /// Its spec was invalid before, so nobody knows what it asked for.
    Unknown,
    /// It asks for the same.
    Same,
}

/// A value of a spec that is not what it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldEdit {
    /// The field, as `spec.capacity.target`.
    pub field: String,
    /// What it was; `None`: not written.
    pub from: Option<String>,
    /// What it is; `None`: not written any more.
    pub to: Option<String>,
}

/// One fleet, before and after.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FleetEdit {
    /// Which fleet.
    pub fleet: FleetName,
    /// What became of its spec.
    pub edit: Edit,
    /// What the base asks for; `None`: not known.
    pub before: Option<Side>,
    /// What the specs at hand ask for.
    pub after: Side,
    /// What stands; `None`: nobody could look.
    pub now: Option<Side>,
    /// Whether applying the base would change machines already: what stands is not what it asks for.
    pub drift: bool,
    /// Whether the plan ends a fleet whose spec is gone. If not, its machines stay and are paid for.
    pub pruned: bool,
    /// What was edited, without user data. Empty although the spec changed: a policy, user data, or a value
    /// from outside of the repository.
    pub fields: Vec<FieldEdit>,
}

/// The whole comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comparison {
    /// As the user names the base.
    pub reference: String,
    /// Its commit.
    pub commit: String,
    /// Whether it has commits that the branch at hand does not have.
    pub is_ahead: bool,
    /// Why all or a part of the base is not known, a sentence each.
    pub problems: Vec<String>,
    /// Every fleet of either side, by name.
    pub fleets: Vec<FleetEdit>,
    /// Whether the base could be read in full.
    pub known: bool,
    /// Whether all fleets at hand have a plan. Those without are not among the fleets here.
    pub whole: bool,
}

/// The sum of sides.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sum {
    /// How many machines.
    pub machines: u32,
    /// What they cost per hour.
    pub hourly: MicroUsd,
    /// What nobody can price, and no amount counts.
    pub uncounted: Vec<Uncounted>,
}

impl Sum {
    /// What it costs per hour, and whether that is all.
    pub fn cost(&self) -> Hourly {
        Hourly::of(self.hourly, &self.uncounted)
    }
}

/// Machines of which something has no price at all, by what that is.
pub(super) fn unpriced(uncounted: &[Uncounted]) -> BTreeMap<CostKind, u32> {
    let mut unpriced = BTreeMap::new();
    for one in uncounted.iter().filter(|one| one.because.is_unpriced()) {
        *unpriced.entry(one.kind).or_default() += one.machines;
    }
    unpriced
}

/// Machines whose own price is not known.
pub fn unpriced_machines(uncounted: &[Uncounted]) -> u32 {
    unpriced(uncounted).get(&CostKind::Machine).copied().unwrap_or(0)
}

impl<'a> FromIterator<&'a Side> for Sum {
    fn from_iter<I: IntoIterator<Item = &'a Side>>(sides: I) -> Self {
        sides.into_iter().fold(Sum::default(), |sum, side| Sum {
            machines: sum.machines + side.machines,
            hourly: sum.hourly + side.hourly,
            uncounted: [sum.uncounted, side.uncounted.clone()].concat(),
        })
    }
}

impl Comparison {
    /// What the base asks for; `None` if a part of it is not known.
    pub fn before(&self) -> Option<Sum> {
        let sides: Option<Vec<&Side>> = self.fleets.iter().map(|one| one.before.as_ref()).collect();
        sides.filter(|_| self.known).map(|sides| sides.into_iter().collect())
    }

    /// What the specs at hand ask for.
    pub fn after(&self) -> Sum {
        self.fleets.iter().map(|one| &one.after).collect()
    }

    /// What machines of fleets without a spec go on to cost per hour.
    pub fn remains(&self) -> MicroUsd {
        let gone = self.fleets.iter().filter(|one| one.edit == Edit::Removed && !one.pruned);
        gone.filter_map(|one| one.now.as_ref()).map(|now| now.hourly).sum()
    }

    /// Fleets whose spec became this.
    pub fn count(&self, edit: Edit) -> u64 {
        self.fleets.iter().filter(|one| one.edit == edit).count() as u64
    }

    /// What is used after and by no fleet before; `None` if that is not known.
    pub fn new_names(&self, pick: fn(&Side) -> &BTreeSet<(Cloud, String)>) -> Option<Vec<String>> {
        let all: Option<Vec<&Side>> = self.fleets.iter().map(|one| one.before.as_ref()).collect();
        let before = union(all.filter(|_| self.known)?, pick);
        Some(unseen(&before, &union(self.fleets.iter().map(|one| &one.after), pick)))
    }

    /// Clouds that are used after and by no fleet before.
    pub fn new_clouds(&self) -> Option<Vec<String>> {
        let all: Option<Vec<&Side>> = self.fleets.iter().map(|one| one.before.as_ref()).collect();
        let before = union(all.filter(|_| self.known)?, regions);
        Some(new_clouds(&before, &union(self.fleets.iter().map(|one| &one.after), regions)))
    }
}

/// Families of a side.
pub fn families(side: &Side) -> &BTreeSet<(Cloud, String)> {
    &side.families
}

/// Regions of a side.
pub fn regions(side: &Side) -> &BTreeSet<(Cloud, String)> {
    &side.regions
}

type Names<'a> = BTreeSet<&'a (Cloud, String)>;

fn union<'a>(
    sides: impl IntoIterator<Item = &'a Side>,
    pick: fn(&Side) -> &BTreeSet<(Cloud, String)>,
) -> Names<'a> {
    sides.into_iter().flat_map(pick).collect()
}

fn unseen(before: &Names<'_>, after: &Names<'_>) -> Vec<String> {
    after.difference(before).map(|(cloud, name)| format!("{cloud} {name}")).collect()
}

fn new_clouds(before: &Names<'_>, after: &Names<'_>) -> Vec<String> {
    let clouds = |names: &Names<'_>| names.iter().map(|(cloud, _)| *cloud).collect::<BTreeSet<_>>();
    clouds(after).difference(&clouds(before)).map(ToString::to_string).collect()
}

/// What rules are held against: the specs at the base, or without one what stands.
pub fn measures(planned: &[(String, &Report)], comparison: Option<&Comparison>) -> Measures {
    let destroys = planned.iter().map(|(_, report)| super::destroys(report)).sum();
    let short = planned.iter().filter(|(_, report)| !report.unplaced.is_empty());
    let unplaced = short.map(|(name, _)| name.clone()).collect();
    if let Some(all) = comparison {
        let (before, after) = (all.before(), all.after());
        return Measures {
            before: before.as_ref().map(|sum| sum.hourly),
            // Taking a spec away saves nothing as long as its machines run.
            after: all.whole.then(|| after.hourly + all.remains()),
            remains: all.remains(),
            uncounted: (before.map(|sum| sum.uncounted).unwrap_or_default(), after.uncounted),
            families: all.new_names(families),
            regions: all.new_names(regions),
            clouds: all.new_clouds(),
            destroys,
            unplaced,
            against: format!("what the specs at {} ask for", all.reference),
        };
    }
    let blind = planned.iter().any(|(_, report)| report.is_blind());
    let now: Vec<Side> = planned.iter().map(|(_, report)| Side::standing(report)).collect();
    let then: Vec<Side> = planned.iter().map(|(_, report)| Side::planned(report)).collect();
    let (before, after): (Sum, Sum) = (now.iter().collect(), then.iter().collect());
    let seen = |names: Vec<String>| (!blind).then_some(names);
    Measures {
        before: (!blind).then_some(before.hourly),
        after: (!blind).then_some(after.hourly),
        uncounted: (before.uncounted, after.uncounted),
        families: seen(unseen(&union(&now, families), &union(&then, families))),
        regions: seen(unseen(&union(&now, regions), &union(&then, regions))),
        clouds: seen(new_clouds(&union(&now, regions), &union(&then, regions))),
        remains: MicroUsd(0),
        destroys,
        unplaced,
        against: "what stands now".into(),
    }
}

/// Values that two specs write otherwise, in the order of their names. Of user data, that it changed.
pub fn field_edits(before: Option<&LoadedFleet>, after: Option<&LoadedFleet>) -> Vec<FieldEdit> {
    let (before, after) = (values(before), values(after));
    let fields: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    fields
        .into_iter()
        .filter(|field| before.get(*field) != after.get(*field))
        .map(|field| FieldEdit {
            field: field.clone(),
            from: before.get(field).cloned(),
            to: after.get(field).cloned(),
        })
        .collect()
}

/// Every value of a spec by its field. A list of words is one value: who puts one in front has not edited
/// all of them.
fn values(fleet: Option<&LoadedFleet>) -> BTreeMap<String, String> {
    let mut values: BTreeMap<String, String> = BTreeMap::new();
    for line in fleet.map(LoadedFleet::effective).unwrap_or_default() {
        let Some((path, value)) = line.value else { continue };
        // Values from outside of the repository are not the repository's to show.
        let mut given = line.variables.iter().filter(|used| used.given_by != GivenBy::Default);
        let value = match (given.next(), value) {
            (Some(used), _) => format!("${{{}}}", used.name),
            (None, value) => value.unwrap_or_else(|| line.text.trim().into()),
        };
        let list = path.strip_suffix(']').and_then(|path| path.rsplit_once('['));
        let field = list.map_or(path.as_str(), |(field, _)| field).to_owned();
        values.entry(field).and_modify(|all| *all = format!("{all}, {value}")).or_insert(value);
    }
    values
}
