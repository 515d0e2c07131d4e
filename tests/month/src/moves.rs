//! What we did to machines that nobody took from us.

use crate::measures::{Ms, Window};
use fleet_model::{Group, Market, SlotName};
use fleet_sim::Life;
use std::collections::BTreeMap;

/// A launch beyond what is wanted makes room for an end for so long: the next reconciles end what it
/// stands in for, once it is up.
const PAIRED_WITHIN: Ms = 3 * 3_600_000;

/// When we ended a machine ourselves.
pub(crate) fn ended(life: &Life) -> Option<Ms> {
    let asked = life.asked?;
    // Whoever ends what its cloud takes at that moment ends nothing.
    let ours = life.taken.is_none_or(|taken| asked < taken);
    ours.then(|| asked.as_millisecond())
}

/// When its cloud took a machine.
pub(crate) fn taken(life: &Life) -> Option<Ms> {
    let taken = life.taken?;
    ended(life).is_none().then(|| taken.as_millisecond())
}

/// Why we moved a machine, by what it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Moved {
    /// A machine of the base.
    Base,
    /// On-demand that stood in for spot.
    FallbackToSpot,
    /// Spot for a place that was better.
    SpotToBetter,
}

impl Moved {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Moved::Base => "base",
            Moved::FallbackToSpot => "fallbackToSpot",
            Moved::SpotToBetter => "spotToBetter",
        }
    }

    fn of(life: &Life) -> Self {
        match (life.slot.name.group, life.pool.market) {
            (Group::Base, _) => Moved::Base,
            (Group::Burst, Market::Spot) => Moved::SpotToBetter,
            (Group::Burst, Market::OnDemand | Market::Reserved) => Moved::FallbackToSpot,
        }
    }
}

/// Ends of ours for which another machine was launched: a launch that the goal of its group did not
/// need, in the hours before, stands for the first end after it. Other ends let spares go.
pub(crate) fn moves(lives: &[Life], goal: impl Fn(Group) -> u64) -> Vec<(Ms, Moved)> {
    let mut moves = Vec::new();
    for group in [Group::Base, Group::Burst] {
        let of_group = lives.iter().filter(|life| life.slot.name.group == group);
        // Ends come before launches of the same moment: then more is wanted.
        let mut news: Vec<(Ms, u8, &Life)> = Vec::new();
        for life in of_group {
            news.push((life.launched.as_millisecond(), 2, life));
            if let Some(at) = ended(life) {
                news.push((at, 1, life));
            } else if let Some(at) = taken(life) {
                news.push((at, 0, life));
            }
        }
        news.sort_by(|a, b| (a.0, a.1, &a.2.id).cmp(&(b.0, b.1, &b.2.id)));
        let (mut stand, mut extra) = (0u64, Vec::<Ms>::new());
        for (at, what, life) in news {
            match what {
                2 => {
                    if stand >= goal(group) {
                        extra.push(at);
                    }
                    stand += 1;
                }
                what => {
                    stand = stand.saturating_sub(1);
                    extra.retain(|launched| at - launched <= PAIRED_WITHIN);
                    if what == 1 && !extra.is_empty() {
                        extra.remove(0);
                        moves.push((at, Moved::of(life)));
                    }
                }
            }
        }
    }
    moves
}

/// Two machines of a slot, one after the other, that we both ended ourselves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Twice {
    pub(crate) slot: SlotName,
    pub(crate) first: Life,
    pub(crate) second: Life,
}

/// Slots in which we ended a machine, launched another, and ended that as well, although nothing had
/// happened between the first end and the launch: no interruption and no refusal anywhere in the fleet.
///
/// The spec never changes here. Prices do, every half hour, and would excuse everything: a price counts
/// only if the second machine costs at least a twentieth less than the first.
pub(crate) fn twice_without_cause(lives: &[Life], causes: &[Ms]) -> Vec<Twice> {
    let mut by_slot: BTreeMap<SlotName, Vec<&Life>> = BTreeMap::new();
    for life in lives {
        by_slot.entry(life.slot.name).or_default().push(life);
    }
    let mut twice = Vec::new();
    for (slot, mut lives) in by_slot {
        lives.sort_by_key(|life| life.launched);
        for pair in lives.windows(2) {
            let (Some(first), Some(_)) = (ended(pair[0]), ended(pair[1])) else { continue };
            let again = pair[1].launched.as_millisecond();
            let cheaper = match (pair[0].price, pair[1].price) {
                (Some(first), Some(second)) => second.0 * 20 <= first.0 * 19,
                (None, _) | (_, None) => false,
            };
            if !cheaper && !causes.iter().any(|at| (first..=again).contains(at)) {
                let (first, second) = (pair[0].clone(), pair[1].clone());
                twice.push(Twice { slot, first, second });
            }
        }
    }
    twice
}

/// Machines that we ended before they were so old, in a window of ends.
pub(crate) fn short_lived(lives: &[Life], window: Window, age: Ms) -> usize {
    let brief = |life: &&Life| {
        let end = life.asked.filter(|asked| window.holds(*asked)).and(ended(life));
        end.is_some_and(|end| end - life.launched.as_millisecond() < age)
    };
    lives.iter().filter(brief).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measures::tests::{End, MINUTE, life};

    const BURST: (Group, u32) = (Group::Burst, 0);

    #[test]
    fn a_move_is_an_end_with_a_launch_that_nothing_else_needed() {
        let before = |end| life(BURST, 0, 1, Some(end));
        let after = life((Group::Burst, 1), 30, 31, None);
        let one = |_| 1;
        let moved = moves(&[before(End::Asked(60)), after.clone()], one);
        assert_eq!(moved, [(60 * MINUTE, Moved::SpotToBetter)]);
        // What was taken back is replaced, not moved.
        assert!(moves(&[before(End::Taken(20)), after.clone()], one).is_empty());
        // A spare that is let go is no move either: nothing was launched beside it for hours.
        assert!(moves(&[before(End::Asked(30 + 181)), after], one).is_empty());
    }

    #[test]
    fn ended_launched_and_ended_again_needs_a_reason() {
        let lives =
            [life(BURST, 0, 1, Some(End::Asked(60))), life(BURST, 120, 121, Some(End::Asked(180)))];
        assert_eq!(twice_without_cause(&lives, &[]).len(), 1);
        assert_eq!(twice_without_cause(&lives, &[90 * MINUTE]).len(), 0);
        assert_eq!(twice_without_cause(&lives, &[150 * MINUTE]).len(), 1, "after the launch");
        let mut cheaper = lives.clone();
        cheaper[1].price = Some(fleet_model::MicroUsd(57_000));
        assert_eq!(twice_without_cause(&cheaper, &[]).len(), 0, "a twentieth less");
        cheaper[1].price = Some(fleet_model::MicroUsd(57_001));
        assert_eq!(twice_without_cause(&cheaper, &[]).len(), 1);
        let taken = [lives[0].clone(), life(BURST, 120, 121, Some(End::Taken(180)))];
        assert_eq!(twice_without_cause(&taken, &[]).len(), 0);
    }

    #[test]
    fn brief_lives() {
        let lives = [
            life(BURST, 0, 1, Some(End::Asked(60))),
            life((Group::Burst, 1), 0, 1, Some(End::Asked(181))),
            life((Group::Burst, 2), 0, 1, Some(End::Taken(20))),
        ];
        let day = Window { from: 0, to: 24 * 60 * MINUTE };
        assert_eq!(short_lived(&lives, day, 3 * 60 * MINUTE), 1);
        assert_eq!(short_lived(&lives, day, 60 * MINUTE), 0);
    }
}
