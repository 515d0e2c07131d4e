//! The groups of a report, found by what a charge says of itself: a report over a long journal asks for one of a
//! few groups a million times.

use crate::Few;
use crate::quick::{Quick, QuickMap};
use crate::report::{Line, Part};
use fleet_model::{Cloud, CostKind, Market, PoolId};
use jiff::civil::Date;
use std::hash::{Hash as _, Hasher as _};

/// A part of a group's name as it is looked up: nothing is copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Seen<'a> {
    Without,
    Text(&'a str),
    Pool(&'a PoolId),
    Market(Market),
    Cloud(Cloud),
    Day(Date),
    Month(Date),
    Kind(CostKind),
}

impl Part {
    fn seen(&self) -> Seen<'_> {
        match self {
            Part::Without => Seen::Without,
            Part::Text(text) => Seen::Text(text),
            Part::Pool(pool) => Seen::Pool(pool),
            Part::Market(market) => Seen::Market(*market),
            Part::Cloud(cloud) => Seen::Cloud(*cloud),
            Part::Day(day) => Seen::Day(*day),
            Part::Month(day) => Seen::Month(*day),
            Part::Kind(kind) => Seen::Kind(*kind),
        }
    }
}

impl Seen<'_> {
    fn kept(self) -> Part {
        match self {
            Seen::Without => Part::Without,
            Seen::Text(text) => Part::Text(text.into()),
            Seen::Pool(pool) => Part::Pool(pool.clone()),
            Seen::Market(market) => Part::Market(market),
            Seen::Cloud(cloud) => Part::Cloud(cloud),
            Seen::Day(day) => Part::Day(day),
            Seen::Month(day) => Part::Month(day),
            Seen::Kind(kind) => Part::Kind(kind),
        }
    }
}

/// What each group comes to, in the order in which they came up.
#[derive(Debug, Clone, Default)]
pub(crate) struct Groups {
    /// Where groups are whose names have the same hash.
    places: QuickMap<u64, Few<usize>>,
    names: Vec<Vec<Part>>,
    lines: Vec<Line>,
}

impl Groups {
    /// The line of a group; one that is new is empty.
    pub(crate) fn line<'a>(&mut self, name: impl Iterator<Item = Seen<'a>> + Clone) -> &mut Line {
        let mut hash = Quick::default();
        name.clone().for_each(|part| part.hash(&mut hash));
        let places = self.places.entry(hash.finish()).or_default();
        // All names of a report are equally long.
        let is_it =
            |known: &[Part]| name.clone().zip(known).all(|(part, known)| part == known.seen());
        let known = places.iter().copied().find(|at| is_it(&self.names[*at]));
        let at = known.unwrap_or_else(|| {
            places.push(self.lines.len());
            self.names.push(name.map(Seen::kept).collect());
            self.lines.push(Line::default());
            self.lines.len() - 1
        });
        &mut self.lines[at]
    }

    /// Takes in other groups.
    pub(crate) fn merge(&mut self, other: &Groups) {
        for (name, line) in other.iter() {
            self.line(name.iter().map(Part::seen)).add(line);
        }
    }

    /// Names and lines.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&[Part], &Line)> {
        self.names.iter().map(Vec::as_slice).zip(&self.lines)
    }

    /// Lines alone.
    pub(crate) fn lines(&self) -> &[Line] {
        &self.lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_found_again_and_is_no_other() {
        let mut groups = Groups::default();
        let names = [
            vec![Seen::Text("a"), Seen::Text("b")],
            vec![Seen::Text("ab"), Seen::Text("")],
            vec![Seen::Text("a"), Seen::Without],
            vec![Seen::Without, Seen::Text("a")],
            vec![Seen::Market(Market::Spot), Seen::Cloud(Cloud::Aws)],
        ];
        for round in 1..=3 {
            for name in &names {
                let line = groups.line(name.iter().copied());
                line.interruptions += 1;
                assert_eq!(line.interruptions, round);
            }
        }
        let mut twice = groups.clone();
        twice.merge(&groups);
        assert!(twice.lines().iter().all(|line| line.interruptions == 6));
        assert_eq!(twice.lines().len(), names.len());
    }

    /// Two names with one hash, as nobody would choose them, are two groups.
    #[test]
    fn names_of_one_hash_are_told_apart() {
        let mut groups = Groups::default();
        groups.line([Seen::Text("a")].into_iter()).ms = 1;
        let all = groups.places.values().next().cloned().expect("one");
        let mut hash = Quick::default();
        Seen::Text("b").hash(&mut hash);
        groups.places.insert(hash.finish(), all);
        assert_eq!(groups.line([Seen::Text("b")].into_iter()).ms, 0);
        assert_eq!(groups.line([Seen::Text("a")].into_iter()).ms, 1);
        assert_eq!(groups.lines().len(), 2);
    }
}
