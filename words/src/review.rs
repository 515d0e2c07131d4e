//! A change of specs under review: what it does against a base, and the rules that it has to keep.

mod change;
mod destroys;
mod rules;

pub use change::{
    Comparison, Edit, FieldEdit, FleetEdit, Side, Sum, families, field_edits, measures, regions,
    unpriced_machines,
};
use destroys::destroys;
pub use rules::{Rule, Standing, Verdict, judge};

use fleet_model::{Cloud, InstanceType};

/// What a plan is judged by besides itself.
#[derive(Debug, Default)]
pub struct Review {
    /// The specs against those of another commit.
    pub comparison: Option<Comparison>,
    /// The rules of `--fail-if`, and what became of each.
    pub verdicts: Vec<Verdict>,
}

impl Review {
    /// Rules that do not hold, or that nobody can judge.
    pub fn broken(&self) -> impl Iterator<Item = &Verdict> {
        self.verdicts.iter().filter(|verdict| verdict.is != Standing::Kept)
    }
}

/// The part of a type's name that people call its family.
pub fn family_of(cloud: Cloud, name: &InstanceType) -> &str {
    let name = name.as_str();
    let nth = |separator: char, nth: usize| {
        name.match_indices(separator).nth(nth).map_or(name, |(at, _)| &name[..at])
    };
    match cloud {
        Cloud::Aws => nth('.', 0),
        Cloud::Gcp => nth('-', 1),
        Cloud::Lambda => nth('_', 1),
        Cloud::Azure => {
            let after = name.find('_').map_or(0, |at| at + 1);
            let digits = name[after..].find(|c: char| c.is_ascii_digit()).unwrap_or(0) + after;
            let end = name[digits..].find(|c: char| !c.is_ascii_digit());
            end.map_or(name, |end| &name[..digits + end])
        }
    }
}
