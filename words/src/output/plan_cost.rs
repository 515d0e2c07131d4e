//! Money in documents: totals, lines that add up to them, and what no amount counts.

use super::words::{CostKind, Group, NoPrice, Provider, Tier, usd};
use crate::sentences;
use fleet_model as model;
use schemars::JsonSchema;
use serde::Serialize;

/// Money, before and after: machines with their disks, public addresses and expected traffic.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Cost {
    /// Per hour now.
    pub hourly_before_usd: f64,
    /// Per hour afterwards.
    pub hourly_after_usd: f64,
    /// What is added per hour; negative if it gets cheaper.
    pub hourly_difference_usd: f64,
    /// Per month (730 hours) now.
    pub monthly_before_usd: f64,
    /// Per month (730 hours) afterwards.
    pub monthly_after_usd: f64,
    /// What is added per month (730 hours); negative if it gets cheaper.
    pub monthly_difference_usd: f64,
    /// Per hour afterwards at the prices of now. The others count spot machines at what they cost when they
    /// were launched.
    pub hourly_at_present_usd: f64,
    /// Per hour afterwards, if the same machines were on-demand.
    pub hourly_on_demand_usd: f64,
    /// The limit per hour; `null` without one. Of several fleets: the sum, if each has one.
    pub hourly_limit_usd: Option<f64>,
    /// Machines without a known price: no amount counts them.
    pub unpriced_machines: u32,
    /// Machines that are paid for already: they add no cost.
    pub committed_machines: u32,
    /// The end of the way, where this plan is a part of it; `null` otherwise, and in a sum of fleets.
    pub when_done: Option<WhenDone>,
    /// How far the price per hour may vary as spot goes; `null` without spot machines.
    pub range: Option<Range>,
}

/// How far the price per hour of a fleet with spot machines may vary.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Range {
    /// Every launch is granted, and spot is at the low end of its recorded range. Never above the expected.
    pub hourly_low_usd: f64,
    /// At the prices of now, less the time in which interrupted machines are missing. Launches that are not
    /// granted are bought on demand where the spec has a fallback, and elsewhere as spot at the same price.
    pub hourly_expected_usd: f64,
    /// Spot at the most that the spec pays for it, or at the on-demand price, within the budget; `null` if
    /// some spot machines have no such price.
    pub hourly_high_usd: Option<f64>,
    /// Spot machines whose price range is recorded: by the cloud, or by what was paid before.
    pub recorded_machines: u32,
    /// Spot machines without: their low end is the price of now.
    pub unrecorded_machines: u32,
}

/// The end of a way that takes several applies.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WhenDone {
    /// Per hour then, at the prices of now.
    pub hourly_usd: f64,
    /// Per month (730 hours) then.
    pub monthly_usd: f64,
    /// About how many applies it takes, this one included.
    pub applies: u32,
    /// The number for `--allow-destroy` that makes it one apply; `null` if none does.
    pub allow_destroy: Option<u32>,
}

/// What machines of one tier in one pool cost for one kind of thing.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CostLine {
    /// The part of the fleet.
    pub tier: Tier,
    /// The group whose slots the machines fill.
    pub group: Group,
    /// The cloud of the machines.
    pub provider: Provider,
    /// The pool, as `provider/region/zone/type/market`.
    pub pool: String,
    /// What for.
    pub kind: CostKind,
    /// Per hour now.
    pub hourly_before_usd: f64,
    /// Per hour afterwards.
    pub hourly_after_usd: f64,
    /// What is added per hour; negative if it gets cheaper.
    pub hourly_difference_usd: f64,
    /// Per month (730 hours) now.
    pub monthly_before_usd: f64,
    /// Per month (730 hours) afterwards.
    pub monthly_after_usd: f64,
    /// What is added per month (730 hours); negative if it gets cheaper.
    pub monthly_difference_usd: f64,
    /// Whether the price of another region of the same cloud was taken, because this one's is not known.
    pub about: bool,
}

impl From<&model::CostLine> for CostLine {
    fn from(line: &model::CostLine) -> Self {
        let model::CostLine { tier, pool, kind, change, about } = line;
        CostLine {
            tier: (*tier).into(),
            group: match tier {
                model::Tier::Base => Group::Base,
                model::Tier::Burst | model::Tier::Fallback => Group::Burst,
            },
            provider: pool.place.cloud.into(),
            pool: pool.to_string(),
            kind: (*kind).into(),
            hourly_before_usd: usd(change.before),
            hourly_after_usd: usd(change.after),
            hourly_difference_usd: hourly(*change),
            monthly_before_usd: usd(change.before.per_month()),
            monthly_after_usd: usd(change.after.per_month()),
            monthly_difference_usd: monthly(*change),
            about: *about,
        }
    }
}

/// Something that no amount counts.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Uncounted {
    /// What.
    pub kind: CostKind,
    /// Why there is no price.
    pub because: NoPrice,
    /// On which cloud.
    pub provider: Provider,
    /// Of how many machines, afterwards.
    pub machines: u32,
    /// The reason as a sentence, for people.
    pub why: String,
}

impl From<&model::Uncounted> for Uncounted {
    fn from(one: &model::Uncounted) -> Self {
        let model::Uncounted { kind, because, cloud, machines } = *one;
        Uncounted {
            kind: kind.into(),
            because: because.into(),
            provider: cloud.into(),
            machines,
            why: sentences::why_uncounted(because).to_owned(),
        }
    }
}

/// Dollars that are added per hour.
fn hourly(change: model::Change) -> f64 {
    signed(change.before, change.after)
}

/// Dollars that are added per month.
fn monthly(change: model::Change) -> f64 {
    signed(change.before.per_month(), change.after.per_month())
}

fn signed(before: model::MicroUsd, after: model::MicroUsd) -> f64 {
    match before > after {
        true => -usd(before - after),
        false => usd(after - before),
    }
}

impl From<&model::Cost> for Cost {
    fn from(cost: &model::Cost) -> Self {
        let model::Cost {
            hourly_before,
            hourly_after,
            hourly_at_present,
            hourly_on_demand,
            hourly_limit,
            unpriced,
            committed,
            when_done,
            range,
        } = cost;
        let change = model::Change { before: *hourly_before, after: *hourly_after };
        Cost {
            hourly_before_usd: usd(*hourly_before),
            hourly_after_usd: usd(*hourly_after),
            hourly_difference_usd: hourly(change),
            monthly_before_usd: usd(hourly_before.per_month()),
            monthly_after_usd: usd(hourly_after.per_month()),
            monthly_difference_usd: monthly(change),
            hourly_at_present_usd: usd(*hourly_at_present),
            hourly_on_demand_usd: usd(*hourly_on_demand),
            hourly_limit_usd: hourly_limit.map(usd),
            unpriced_machines: *unpriced,
            committed_machines: *committed,
            when_done: when_done.map(|done| WhenDone {
                hourly_usd: usd(done.hourly),
                monthly_usd: usd(done.hourly.per_month()),
                applies: done.applies,
                allow_destroy: done.allow_destroy,
            }),
            range: range.map(|range| Range {
                hourly_low_usd: usd(range.low),
                hourly_expected_usd: usd(range.expected),
                hourly_high_usd: range.high.map(usd),
                recorded_machines: range.recorded,
                unrecorded_machines: range.unrecorded,
            }),
        }
    }
}

/// The sum of several costs. There is a limit for all only if there is one for each.
pub fn total<'a>(costs: impl Iterator<Item = &'a model::Cost>) -> model::Cost {
    let nothing = model::Cost {
        hourly_before: Default::default(),
        hourly_after: Default::default(),
        hourly_at_present: Default::default(),
        hourly_on_demand: Default::default(),
        hourly_limit: None,
        unpriced: 0,
        committed: 0,
        when_done: None,
        range: None,
    };
    // Each fleet has an end of its own, and a number of its own to allow.
    let costs = costs.map(|cost| model::Cost { when_done: None, ..*cost });
    let sum = costs.reduce(|sum, cost| model::Cost {
        hourly_before: sum.hourly_before + cost.hourly_before,
        hourly_after: sum.hourly_after + cost.hourly_after,
        hourly_at_present: sum.hourly_at_present + cost.hourly_at_present,
        hourly_on_demand: sum.hourly_on_demand + cost.hourly_on_demand,
        hourly_limit: sum.hourly_limit.zip(cost.hourly_limit).map(|(a, b)| a + b),
        unpriced: sum.unpriced + cost.unpriced,
        committed: sum.committed + cost.committed,
        when_done: None,
        range: both(&sum, &cost),
    });
    sum.unwrap_or(nothing)
}

/// The ranges of two fleets together. A fleet without spot costs what it costs.
fn both(one: &model::Cost, other: &model::Cost) -> Option<model::CostRange> {
    if one.range.is_none() && other.range.is_none() {
        return None;
    }
    let of = |cost: &model::Cost| {
        let fixed = cost.hourly_at_present;
        cost.range.unwrap_or(model::CostRange {
            low: fixed,
            expected: fixed,
            high: Some(fixed),
            recorded: 0,
            unrecorded: 0,
        })
    };
    let (one, other) = (of(one), of(other));
    Some(model::CostRange {
        low: one.low + other.low,
        expected: one.expected + other.expected,
        high: one.high.zip(other.high).map(|(a, b)| a + b),
        recorded: one.recorded + other.recorded,
        unrecorded: one.unrecorded + other.unrecorded,
    })
}
