//! What `fleet plan --compare` and `--fail-if` add to the document of a plan.

use super::words::{Unit, usd};
use crate::review;
use fleet_model::MicroUsd;
use schemars::JsonSchema;
use serde::Serialize;

/// What the change of specs does: each fleet as the base asks for it and as it is asked for now, both bought
/// anew at the prices of now.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Comparison {
    /// The base, as it was named.
    pub r#ref: String,
    /// Its commit.
    pub commit: String,
    /// Whether the base has commits that the branch at hand does not have: their changes count as undone.
    pub base_is_ahead: bool,
    /// Why all or a part of the base is not known.
    pub problems: Vec<String>,
    /// All fleets as the base asks for them; `null` if a part of it is not known.
    pub before: Option<Sum>,
    /// All fleets as they are asked for now.
    pub after: Sum,
    /// How much more they cost; `null` if that is not known.
    pub increase: Option<Increase>,
    /// Families that no fleet of the base uses, as `aws p5`; `null` if that is not known.
    pub new_families: Option<Vec<String>>,
    /// Regions that no fleet of the base uses, as `aws us-east-1`; `null` if that is not known.
    pub new_regions: Option<Vec<String>>,
    /// Clouds that no fleet of the base uses; `null` if that is not known.
    pub new_clouds: Option<Vec<String>>,
    /// Every fleet of either side, by name.
    pub fleets: Vec<FleetEdit>,
}

/// Machines and their cost.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Sum {
    /// How many machines.
    pub machines: u32,
    /// Per hour.
    pub hourly_usd: f64,
    /// Per month (730 hours).
    pub monthly_usd: f64,
    /// Machines without a known price: no amount counts them.
    pub unpriced_machines: u32,
}

/// How much more something costs; less is below 0.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Increase {
    /// Machines.
    pub machines: i64,
    /// Per hour.
    pub hourly_usd: f64,
    /// Per month (730 hours).
    pub monthly_usd: f64,
    /// As a share of what it was; `null` if that was nothing.
    pub percent: Option<f64>,
}

/// What became of a fleet's spec.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Edit {
    /// It is new.
    Added,
    /// It asks for something else.
    Changed,
    /// It is gone.
    Removed,
    /// It was invalid before.
    Unknown,
    /// It asks for the same.
    Same,
}

/// One fleet, before and after.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FleetEdit {
    /// The fleet's name.
    pub fleet: String,
    /// What became of its spec.
    pub is: Edit,
    /// What the base asks for; `null` if that is not known.
    pub before: Option<Side>,
    /// What is asked for now.
    pub after: Side,
    /// What stands; `null` if no cloud answered.
    pub now: Option<Side>,
    /// Whether what stands is not what the base asks for.
    pub drift: bool,
    /// Whether the plan ends a fleet whose spec is gone; if not, its machines stay and are paid for.
    pub pruned: bool,
    /// Values of the spec that are written otherwise.
    pub fields: Vec<FieldEdit>,
}

/// What a spec asks for, or what stands.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Side {
    /// Capacity; `null` where there is no spec.
    pub capacity: Option<f64>,
    /// In what unit; `null` where there is no spec.
    pub unit: Option<Unit>,
    /// How many machines.
    pub machines: u32,
    /// Per hour.
    pub hourly_usd: f64,
    /// Per month (730 hours).
    pub monthly_usd: f64,
    /// Machines without a known price: no amount counts them.
    pub unpriced_machines: u32,
    /// Families in use, as `aws p5`.
    pub families: Vec<String>,
    /// Regions in use, as `aws us-east-1`.
    pub regions: Vec<String>,
}

/// A value of a spec that is not what it was.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FieldEdit {
    /// The field, such as `spec.capacity.target`.
    pub field: String,
    /// What it was; `null`: not written. Of user data its length.
    pub from: Option<String>,
    /// What it is; `null`: not written any more. Of user data its length.
    pub to: Option<String>,
}

/// How a rule of `--fail-if` stands.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Standing {
    /// It holds.
    Kept,
    /// It does not hold.
    Broken,
    /// Nobody can say. Counts as broken.
    Unknown,
}

/// A rule of `--fail-if`, and what became of it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Rule {
    /// The rule.
    pub rule: String,
    /// How it stands.
    pub is: Standing,
    /// The figure, in a sentence.
    pub why: String,
    /// How to get past it; `null` where it holds.
    pub next: Option<String>,
}

impl From<&review::Verdict> for Rule {
    fn from(verdict: &review::Verdict) -> Self {
        let review::Verdict { rule, is, why, next } = verdict.clone();
        let is = match is {
            review::Standing::Kept => Standing::Kept,
            review::Standing::Broken => Standing::Broken,
            review::Standing::Unknown => Standing::Unknown,
        };
        Rule { rule, is, why, next }
    }
}

impl From<review::Sum> for Sum {
    fn from(sum: review::Sum) -> Self {
        let review::Sum { machines, hourly, uncounted } = sum;
        Sum {
            machines,
            hourly_usd: usd(hourly),
            monthly_usd: usd(hourly.per_month()),
            unpriced_machines: review::unpriced_machines(&uncounted),
        }
    }
}

impl From<&review::Side> for Side {
    fn from(side: &review::Side) -> Self {
        let review::Side { capacity, machines, hourly, uncounted, families, regions } = side;
        let names = |(cloud, name): &(fleet_model::Cloud, String)| format!("{cloud} {name}");
        Side {
            capacity: capacity.map(|(units, _)| units.as_f64()),
            unit: capacity.map(|(_, unit)| unit.into()),
            machines: *machines,
            hourly_usd: usd(*hourly),
            monthly_usd: usd(hourly.per_month()),
            unpriced_machines: review::unpriced_machines(uncounted),
            families: families.iter().map(names).collect(),
            regions: regions.iter().map(names).collect(),
        }
    }
}

impl From<&review::Comparison> for Comparison {
    fn from(all: &review::Comparison) -> Self {
        let (before, after) = (all.before(), all.after());
        Comparison {
            r#ref: all.reference.clone(),
            commit: all.commit.clone(),
            base_is_ahead: all.is_ahead,
            problems: all.problems.clone(),
            increase: before.as_ref().filter(|_| all.whole).map(|before| increase(before, &after)),
            before: before.map(Sum::from),
            after: Sum::from(after),
            new_families: all.new_names(review::families),
            new_regions: all.new_names(review::regions),
            new_clouds: all.new_clouds(),
            fleets: all.fleets.iter().map(fleet).collect(),
        }
    }
}

fn fleet(one: &review::FleetEdit) -> FleetEdit {
    let review::FleetEdit { fleet, edit, before, after, now, drift, pruned, fields } = one;
    FleetEdit {
        fleet: fleet.to_string(),
        is: match edit {
            review::Edit::Added => Edit::Added,
            review::Edit::Changed => Edit::Changed,
            review::Edit::Removed => Edit::Removed,
            review::Edit::Unknown => Edit::Unknown,
            review::Edit::Same => Edit::Same,
        },
        before: before.as_ref().map(Side::from),
        after: after.into(),
        now: now.as_ref().map(Side::from),
        drift: *drift,
        pruned: *pruned,
        fields: fields
            .iter()
            .map(|review::FieldEdit { field, from, to }| FieldEdit {
                field: field.clone(),
                from: from.clone(),
                to: to.clone(),
            })
            .collect(),
    }
}

fn increase(before: &review::Sum, after: &review::Sum) -> Increase {
    let more = |before: MicroUsd, after: MicroUsd| {
        if after >= before { usd(after - before) } else { -usd(before - after) }
    };
    let percent = more(before.hourly, after.hourly) / usd(before.hourly) * 100.0;
    Increase {
        machines: i64::from(after.machines) - i64::from(before.machines),
        hourly_usd: more(before.hourly, after.hourly),
        monthly_usd: more(before.hourly.per_month(), after.hourly.per_month()),
        percent: (before.hourly > MicroUsd(0)).then(|| (percent * 10.0).round() / 10.0),
    }
}
