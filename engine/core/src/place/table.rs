//! The least cost of every number of units, and how to come by it.

/// Steps that may be spent on one solution: a few milliseconds.
const STEPS: u64 = 6_000_000;

/// What is left of the steps.
pub(crate) struct Effort(u64);

impl Default for Effort {
    fn default() -> Self {
        Effort(STEPS)
    }
}

impl Effort {
    /// `None` once there is too much to do.
    pub(crate) fn spend(&mut self, steps: usize) -> Option<()> {
        self.0 = self.0.checked_sub(steps as u64)?;
        Some(())
    }
}

/// How far tables go: numbers of units, and of zones that count.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Size {
    pub(crate) units: usize,
    /// More zones than this are as good as this many.
    pub(crate) zones: usize,
}

/// The least cost of each number of units in each number of zones.
pub(crate) struct Table {
    size: Size,
    /// By zones, then by units.
    least: Vec<u64>,
    way: Way,
}

enum Way {
    Nothing,
    /// The first so many of these, each of so many units.
    Machines {
        weight: usize,
        cheapest: Vec<u32>,
    },
    /// The same units, in one zone.
    Zone(Box<Table>),
    /// A part from each; which state of the left for each state.
    Join {
        left: Box<Table>,
        right: Box<Table>,
        from: Vec<(u32, u32)>,
    },
}

const NEVER: u64 = u64::MAX;

impl Table {
    /// Nothing at all.
    pub(crate) fn nothing() -> Table {
        Table { size: Size { units: 0, zones: 0 }, least: vec![0], way: Way::Nothing }
    }

    /// Machines of one weight, cheapest first: `(cost, which)`.
    pub(crate) fn machines(weight: usize, cheapest: &[(u64, u32)]) -> Table {
        let size = Size { units: weight * cheapest.len(), zones: 0 };
        let mut least = vec![NEVER; size.units + 1];
        least[0] = 0;
        let mut sum = 0u64;
        for (nth, (cost, _)) in cheapest.iter().enumerate() {
            sum = sum.saturating_add(*cost);
            least[(nth + 1) * weight] = sum;
        }
        let cheapest = cheapest.iter().map(|(_, at)| *at).collect();
        Table { size, least, way: Way::Machines { weight, cheapest } }
    }

    /// The same, where any unit at all makes one more zone.
    pub(crate) fn in_one_zone(self) -> Table {
        let size = Size { zones: 1, ..self.size };
        let mut least = vec![NEVER; 2 * self.least.len()];
        least[0] = self.least[0];
        least[self.least.len() + 1..].copy_from_slice(&self.least[1..]);
        Table { size, least, way: Way::Zone(Box::new(self)) }
    }

    fn at(&self, zones: usize, units: usize) -> usize {
        zones * (self.size.units + 1) + units
    }

    /// States that can be had: zones, units, cost.
    fn states(&self) -> Vec<(usize, usize, u64)> {
        let row = self.size.units + 1;
        let all = self.least.iter().enumerate().filter(|(_, cost)| **cost < NEVER);
        all.map(|(state, cost)| (state / row, state % row, *cost)).collect()
    }

    /// What the two cost together, up to a size.
    pub(crate) fn join(self, right: Table, most: Size, effort: &mut Effort) -> Option<Table> {
        let size = Size {
            units: (self.size.units + right.size.units).min(most.units),
            zones: (self.size.zones + right.size.zones).min(most.zones),
        };
        let (ours, theirs) = (self.states(), right.states());
        effort.spend(ours.len() * theirs.len())?;
        let mut least = vec![NEVER; (size.zones + 1) * (size.units + 1)];
        let mut from = vec![(0, 0); least.len()];
        for (state, &(zones, units, cost)) in ours.iter().enumerate() {
            for (other, &(more_zones, more, extra)) in theirs.iter().enumerate() {
                if units + more > size.units {
                    continue;
                }
                let zones = (zones + more_zones).min(size.zones);
                let at = zones * (size.units + 1) + units + more;
                let sum = cost.saturating_add(extra);
                if sum < least[at] {
                    least[at] = sum;
                    from[at] = (state as u32, other as u32);
                }
            }
        }
        // Positions among the states that can be had, as positions in the tables.
        for (state, other) in &mut from {
            let (zones, units, _) = ours[*state as usize];
            let (more_zones, more, _) = theirs[*other as usize];
            *state = self.at(zones, units) as u32;
            *other = right.at(more_zones, more) as u32;
        }
        let way = Way::Join { left: Box::new(self), right: Box::new(right), from };
        Some(Table { size, least, way })
    }

    /// The cheapest way to have so many units and zones, and so many more units at most; the most
    /// units where there is none.
    pub(crate) fn best(&self, units: usize, zones: usize, spare: usize) -> Vec<u32> {
        let states = self.states();
        let fits = |have: usize| have >= units && have <= units.saturating_add(spare);
        let enough = states.iter().filter(|(z, u, _)| fits(*u) && *z >= zones);
        let best = enough.min_by_key(|(_, _, cost)| *cost).or_else(|| {
            states.iter().min_by_key(|(z, u, cost)| {
                (std::cmp::Reverse((*u).min(units)), zones.saturating_sub(*z), *cost)
            })
        });
        let mut chosen = Vec::new();
        if let Some((zones, units, _)) = best {
            self.choose(self.at(*zones, *units), &mut chosen);
        }
        chosen
    }

    fn choose(&self, state: usize, chosen: &mut Vec<u32>) {
        match &self.way {
            Way::Nothing => {}
            Way::Machines { weight, cheapest } => {
                chosen.extend(&cheapest[..state / weight]);
            }
            Way::Zone(inside) => inside.choose(state % inside.least.len(), chosen),
            Way::Join { left, right, from } => {
                let (ours, theirs) = from[state];
                left.choose(ours as usize, chosen);
                right.choose(theirs as usize, chosen);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(tables: Vec<Table>, most: Size) -> Table {
        let mut effort = Effort::default();
        let join = |sum: Table, table| sum.join(table, most, &mut effort).expect("little work");
        tables.into_iter().fold(Table::nothing(), join)
    }

    #[test]
    fn the_cheapest_cover_is_found() {
        let tables = || {
            let eights = Table::machines(8, &[(80, 0)]);
            vec![eights, Table::machines(4, &[(44, 1)]), Table::machines(1, &[(15, 2), (16, 3)])]
        };
        let check = |units, chosen: &[u32]| {
            let table = joined(tables(), Size { units: 21, zones: 0 });
            let mut which = table.best(units, 0, usize::MAX);
            which.sort_unstable();
            assert_eq!(which, chosen, "{units}");
        };
        check(0, &[]);
        check(1, &[2]);
        check(2, &[2, 3]);
        check(4, &[1]);
        check(5, &[1, 2]);
        check(7, &[0]);
        check(9, &[0, 2]);
        check(13, &[0, 1, 2]);
        // More than there is: all of it.
        check(20, &[0, 1, 2, 3]);
    }

    #[test]
    fn limits_and_zones_are_kept() {
        let zone = |machines: &[(u64, u32)]| Table::machines(1, machines).in_one_zone();
        let two = |units| {
            joined(vec![zone(&[(1, 0), (1, 1)]), zone(&[(5, 2)])], Size { units, zones: 2 })
        };
        assert_eq!(two(3).best(2, 0, usize::MAX), vec![0, 1]);
        assert_eq!(two(3).best(2, 2, usize::MAX), vec![0, 2]);
        assert_eq!(two(3).best(1, 2, usize::MAX), vec![0, 2]);
        assert_eq!(two(1).best(2, 0, usize::MAX), vec![0]);
        // One of eight and one of one hold two zones for two; the eight is more than may be too much.
        let eight = |units| {
            let dear = zone(&[(5, 1)]);
            let large = Table::machines(8, &[(1, 2)]).in_one_zone();
            joined(vec![zone(&[(1, 0)]), dear, large], Size { units, zones: 2 })
        };
        assert_eq!(eight(10).best(2, 2, 8), vec![0, 2]);
        assert_eq!(eight(10).best(2, 2, 6), vec![0, 1]);
    }
}
