//! A change of specs under review: what it does against a base, and the rules that it has to keep.

mod base;
mod change;
mod rules;
mod sides;

pub(crate) use change::{
    Comparison, Edit, FieldEdit, FleetEdit, Side, Sum, families, measures, regions,
};
pub(crate) use rules::{Rule, Standing, Verdict, judge};
pub(crate) use sides::{Past, compare};

/// What a plan is judged by besides itself.
#[derive(Debug, Default)]
pub(crate) struct Review {
    /// The specs against those of another commit.
    pub comparison: Option<Comparison>,
    /// The rules of `--fail-if`, and what became of each.
    pub verdicts: Vec<Verdict>,
}

impl Review {
    /// Rules that do not hold, or that nobody can judge.
    pub(crate) fn broken(&self) -> impl Iterator<Item = &Verdict> {
        self.verdicts.iter().filter(|verdict| verdict.is != Standing::Kept)
    }
}
