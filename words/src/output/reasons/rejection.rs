//! Why a pool is not used.

use super::{BlockScope, DefaultRule, Said};
use crate::output::words::{
    BudgetCap, Market, NoPrice, Provider, QuotaUnit, Time, Together, Unit, percent, usd,
};
use crate::sentences;
use crate::text::clean_line;
use fleet_model as model;
use schemars::JsonSchema;
use serde::Serialize;

/// Why a pool is not used.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(tag = "is", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Rejection {
    /// The spec does not name the cloud.
    CloudNotAllowed {
        /// The cloud.
        provider: Provider,
    },
    /// The spec does not name the region.
    RegionNotAllowed,
    /// The spec does not name the zone.
    ZoneNotAllowed,
    /// The account has to opt into the zone, and the spec does not name it.
    NeedsOptIn,
    /// Left out unless the spec names it. Machines that stand there may stay.
    NotByDefault {
        /// By which rule.
        default: DefaultRule,
    },
    /// The fleet stands together elsewhere.
    Apart {
        /// What its machines share.
        together: Together,
        /// Where that is.
        place: String,
    },
    /// A policy wants an approval first. Machines that stand there may stay.
    NeedsApproval {
        /// The policy.
        policy: String,
        /// The label that gives it.
        label: String,
        /// What the label's value must match; `null`: anything.
        value: Option<String>,
        /// What the policy's author says about it.
        message: Option<String>,
    },
    /// No family and no type of the spec matches.
    FamilyNotAllowed,
    /// The spec excludes it.
    Excluded {
        /// The pattern of the spec.
        pattern: String,
    },
    /// A requirement does not hold.
    OutOfBounds {
        /// The requirement, as the spec names it.
        requirement: String,
        /// What the type has; `null`: unknown.
        has: Option<f64>,
        /// The least that is asked for.
        min: Option<f64>,
        /// The most that is asked for.
        max: Option<f64>,
    },
    /// The spec does not allow the instruction set.
    ArchitectureNotAllowed,
    /// It has no accelerator that the spec names.
    AcceleratorNotAllowed {
        /// What it has.
        has: Option<String>,
    },
    /// A local disk is required and missing, or excluded and there.
    LocalDisk,
    /// It has nothing of the fleet's unit, or it is not known how much.
    NoWeight {
        /// The unit.
        unit: Unit,
    },
    /// It is not sold in this market.
    NotSold {
        /// The market.
        market: Market,
    },
    /// Its price is not known.
    Unpriced,
    /// What its traffic costs is not known.
    UnpricedTraffic {
        /// Why not.
        because: NoPrice,
    },
    /// Spot costs more than the spec allows.
    AboveMaxSpotPrice {
        /// The limit per hour.
        limit_hourly_usd: f64,
    },
    /// Spot costs as much as on-demand, or more.
    SpotNotCheaper,
    /// It refused a launch, and is not retried before a time.
    Blocked {
        /// How wide the refusal reaches.
        scope: BlockScope,
        /// Until when.
        until: Time,
        /// The cloud's code.
        code: String,
    },
    /// Its region did not answer.
    InGap {
        /// The cloud.
        provider: Provider,
        /// The region.
        region: String,
    },
    /// Its cloud is taking back a machine of it right now.
    GaveNotice,
    /// It refused or interrupted machines lately, so it is tried with a few before it is asked for more.
    TriedFirst {
        /// The most machines that it may carry for now.
        most: u32,
    },
    /// A share limit is reached.
    ShareReached {
        /// Of what: `pool`, `zone`, `region` or `provider`.
        of: String,
        /// The limit.
        limit_percent: f64,
    },
    /// One machine is larger than a share limit allows.
    LargerThanShare {
        /// Of what: `pool`, `zone`, `region` or `provider`.
        of: String,
        /// The limit.
        limit_percent: f64,
        /// What one machine counts for.
        weight: f64,
    },
    /// The account's quota is used up.
    QuotaReached {
        /// The region.
        region: String,
        /// What the cloud calls the quota.
        name: String,
        /// How much is allowed.
        limit: u64,
        /// The unit.
        unit: QuotaUnit,
    },
    /// This account cannot launch it as the template asks.
    CannotLaunch {
        /// The cloud's words.
        words: String,
    },
    /// On-demand in place of spot, and no commitment covers it any more.
    NotCommitted,
    /// The budget is used up.
    BudgetReached {
        /// The limit per hour; of a month or a lifetime, what is left of it per hour.
        limit_hourly_usd: f64,
        /// Which limit of the budget.
        limit: BudgetCap,
    },
    /// Other pools came first and were enough.
    Outranked {
        /// The last pool that was still chosen.
        by: String,
    },
}

impl From<&model::Rejection> for Said<Rejection> {
    fn from(rejection: &model::Rejection) -> Self {
        Said {
            reason: Rejection::from(rejection),
            why: sentences::rejection(rejection),
            next: sentences::relax(rejection),
        }
    }
}

impl From<&model::Rejection> for Rejection {
    fn from(rejection: &model::Rejection) -> Self {
        use model::Rejection as Model;
        match rejection {
            Model::CloudNotAllowed { cloud } => {
                Rejection::CloudNotAllowed { provider: (*cloud).into() }
            }
            Model::RegionNotAllowed => Rejection::RegionNotAllowed,
            Model::ZoneNotAllowed => Rejection::ZoneNotAllowed,
            Model::NeedsOptIn => Rejection::NeedsOptIn,
            Model::NotByDefault { rule } => Rejection::NotByDefault { default: rule.into() },
            Model::Apart { together, place } => {
                Rejection::Apart { together: (*together).into(), place: place.clone() }
            }
            Model::NeedsApproval { policy, label, value, message } => Rejection::NeedsApproval {
                policy: policy.clone(),
                label: label.clone(),
                value: value.clone(),
                message: message.clone(),
            },
            Model::FamilyNotAllowed => Rejection::FamilyNotAllowed,
            Model::Excluded { pattern } => Rejection::Excluded { pattern: pattern.clone() },
            Model::OutOfBounds { requirement, has, wants } => {
                let divisor = sentences::divisor(requirement);
                let show = |value: Option<u64>| value.map(|value| value as f64 / divisor);
                Rejection::OutOfBounds {
                    requirement: requirement.clone(),
                    has: show(*has),
                    min: show(wants.min),
                    max: show(wants.max),
                }
            }
            Model::ArchitectureNotAllowed => Rejection::ArchitectureNotAllowed,
            Model::AcceleratorNotAllowed { has } => {
                Rejection::AcceleratorNotAllowed { has: has.clone() }
            }
            Model::LocalDisk => Rejection::LocalDisk,
            Model::NoWeight { unit } => Rejection::NoWeight { unit: (*unit).into() },
            Model::NotSold { market } => Rejection::NotSold { market: (*market).into() },
            Model::Unpriced => Rejection::Unpriced,
            Model::UnpricedTraffic { because } => {
                Rejection::UnpricedTraffic { because: (*because).into() }
            }
            Model::AboveMaxSpotPrice { limit } => {
                Rejection::AboveMaxSpotPrice { limit_hourly_usd: usd(*limit) }
            }
            Model::SpotNotCheaper => Rejection::SpotNotCheaper,
            Model::Blocked { scope, until, code } => Rejection::Blocked {
                scope: scope.into(),
                until: Time(*until),
                code: clean_line(code),
            },
            Model::InGap { scope } => {
                Rejection::InGap { provider: scope.cloud.into(), region: scope.region.to_string() }
            }
            Model::TriedFirst { most } => Rejection::TriedFirst { most: *most },
            Model::GaveNotice => Rejection::GaveNotice,
            Model::ShareReached { of, limit } => {
                Rejection::ShareReached { of: of.clone(), limit_percent: percent(*limit) }
            }
            Model::LargerThanShare { of, limit, weight } => Rejection::LargerThanShare {
                of: of.clone(),
                limit_percent: percent(*limit),
                weight: weight.as_f64(),
            },
            Model::QuotaReached { region, name, limit, unit } => Rejection::QuotaReached {
                region: region.to_string(),
                name: name.clone(),
                limit: *limit,
                unit: (*unit).into(),
            },
            Model::CannotLaunch { why } => Rejection::CannotLaunch { words: clean_line(why) },
            Model::NotCommitted => Rejection::NotCommitted,
            Model::BudgetReached { limit, cap } => {
                Rejection::BudgetReached { limit_hourly_usd: usd(*limit), limit: (*cap).into() }
            }
            Model::Outranked { by } => Rejection::Outranked { by: by.to_string() },
        }
    }
}
