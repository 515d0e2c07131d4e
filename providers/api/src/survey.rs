//! What people ask of an account rather than of a fleet: is it in order, and what is for sale?

use fleet_model::{Fulfilment, InstanceKind, MicroUsd, Pattern, Place, PoolId, Template};

/// What a spec would use of an account.
#[derive(Debug, Clone, Copy)]
pub struct ExamineRequest<'a> {
    /// The pools that the spec allows, all of this provider's cloud, in order.
    pub pools: &'a [PoolId],
    /// The same in every account that the spec names: what the printed rights must allow.
    pub everywhere: &'a [PoolId],
    /// How their machines would be made.
    pub template: &'a Template,
    /// How launches are asked for.
    pub fulfilment: Fulfilment,
}

/// How an account was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Examination {
    /// What was looked at, in the order in which a person would.
    pub findings: Vec<Finding>,
    /// The rights that this very spec needs and no others, as a document that the cloud takes.
    pub policy: Option<String>,
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// How it is.
    pub verdict: Verdict,
    /// What was looked at: `identity`, `us-east-1`, `ec2:RunInstances`.
    pub subject: String,
    /// What was found. May hold the cloud's own words: escape before printing.
    pub words: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl Finding {
    /// A finding without a hint.
    pub fn new(verdict: Verdict, subject: impl Into<String>, words: impl Into<String>) -> Self {
        Finding { verdict, subject: subject.into(), words: words.into(), hint: None }
    }

    /// The same with a hint.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// How a thing is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// In order.
    Good,
    /// It works, but not as well as it could, or nobody knows.
    Doubtful,
    /// An apply would fail here.
    Bad,
}

/// Which part of a price list is wanted.
#[derive(Debug, Clone, Copy)]
pub struct PriceListRequest<'a> {
    /// Regions or patterns; empty: every region that the account can use.
    pub regions: &'a [Pattern],
}

/// One type in one place, as its cloud sells it today.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// What it is.
    pub kind: InstanceKind,
    /// Where.
    pub place: Place,
    /// On-demand price per hour; `None`: not known.
    pub on_demand: Option<MicroUsd>,
    /// Spot price per hour; `None`: not known.
    pub spot: Option<MicroUsd>,
    /// Whether it is sold as spot there at all.
    pub has_spot: bool,
}
