//! What we did to machines that nobody took from us.

use crate::measures::{Ms, Window};
use crate::run::Prices;
use fleet_model::{Group, MachineId, Market, PoolId};
use fleet_sim::Life;
use std::collections::BTreeMap;

/// A launch beyond what is wanted makes room for an end for so long: the next reconcile ends what it stands
/// in for, once it is up.
const PAIRED_WITHIN: Ms = 3_600_000 + ONE_RECONCILE;

/// No reconcile lasts longer.
pub(crate) const ONE_RECONCILE: Ms = 600_000;

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

/// A machine that we ended, and the one that was launched for it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Move<'a> {
    pub(crate) at: Ms,
    pub(crate) from: &'a Life,
    pub(crate) to: &'a Life,
}

impl Move<'_> {
    pub(crate) fn why(&self) -> Moved {
        Moved::of(self.from)
    }
}

/// Ends of ours for which another machine was launched: a launch that the goal of its group did not
/// need, in the hours before, stands for the first end after it. Other ends let spares go, and a spare that
/// goes itself in the same reconcile stands for nothing.
pub(crate) fn moves(lives: &[Life], goal: impl Fn(Group) -> u64) -> Vec<Move<'_>> {
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
        let (mut stand, mut extra) = (0u64, Vec::<&Life>::new());
        for (at, what, life) in news {
            match what {
                2 => {
                    if stand >= goal(group) {
                        extra.push(life);
                    }
                    stand += 1;
                }
                what => {
                    stand = stand.saturating_sub(1);
                    extra.retain(|to| at - to.launched.as_millisecond() <= PAIRED_WITHIN);
                    if let Some(itself) = extra.iter().position(|to| to.id == life.id) {
                        extra.remove(itself);
                        continue;
                    }
                    let stays = |to: &&Life| ended(to).is_none_or(|end| end - at > ONE_RECONCILE);
                    if what == 1
                        && let Some(nth) = extra.iter().position(stays)
                    {
                        moves.push(Move { at, from: life, to: extra.remove(nth) });
                    }
                }
            }
        }
    }
    moves
}

/// What may be a cause to move a machine. The spec never changes here.
pub(crate) struct Causes<'a> {
    /// Interruptions and refusals, and where.
    pub(crate) events: &'a [(Ms, PoolId)],
    pub(crate) prices: &'a Prices,
}

impl Causes<'_> {
    /// Whether the price of a pool is another one at the second moment than at the first, by a twentieth at
    /// least. Prices change every half hour: less than that would excuse everything.
    fn repriced(&self, pool: &PoolId, from: Ms, to: Ms) -> bool {
        let at = |at| Some(self.prices.get(pool)?.range(..=at).next_back()?.1.0);
        let (Some(before), Some(after)) = (at(from), at(to)) else { return false };
        before.abs_diff(after) * 20 >= before
    }
}

/// A machine that was launched for another, and ended for a third.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Twice<'a> {
    pub(crate) first: Move<'a>,
    pub(crate) second: Move<'a>,
}

/// Machines that were moved and moved again, although nothing had happened meanwhile: no interruption, no
/// refusal, no other price. Among spot only what happened where they stood or where they went counts: a storm
/// elsewhere is no excuse. On-demand stands in for whatever spot is missing, so there everything counts.
pub(crate) fn twice_without_cause<'a>(moves: &[Move<'a>], causes: &Causes<'_>) -> Vec<Twice<'a>> {
    let firsts: BTreeMap<&MachineId, Move<'a>> =
        moves.iter().map(|first| (&first.to.id, *first)).collect();
    let twice = moves.iter().filter_map(|second| {
        let first = *firsts.get(&second.from.id).filter(|first| first.at <= second.at)?;
        let (since, until) = (first.to.launched.as_millisecond(), second.at);
        let spot = |life: &Life| life.pool.market == Market::Spot;
        let all_spot = [first.from, second.from, second.to].into_iter().all(spot);
        let concerns = |of: &PoolId| !all_spot || *of == second.from.pool || *of == second.to.pool;
        let mut events = causes.events.iter();
        let caused = events.any(|(at, of)| (since..=until).contains(at) && concerns(of));
        let mut pools = [&second.from.pool, &second.to.pool].into_iter();
        let repriced = pools.any(|pool| causes.repriced(pool, since, until));
        (!caused && !repriced).then_some(Twice { first, second: *second })
    });
    twice.collect()
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
    use fleet_model::MicroUsd;

    const BURST: (Group, u32) = (Group::Burst, 0);

    #[test]
    fn a_move_is_an_end_with_a_launch_that_nothing_else_needed() {
        let before = |end| life(BURST, 0, 1, Some(end));
        let after = life((Group::Burst, 1), 30, 31, None);
        let one = |_| 1;
        let lives = [before(End::Asked(60)), after.clone()];
        let moved: Vec<(Ms, Moved)> =
            moves(&lives, one).iter().map(|one| (one.at, one.why())).collect();
        assert_eq!(moved, [(60 * MINUTE, Moved::SpotToBetter)]);
        // What was taken back is replaced, not moved.
        assert!(moves(&[before(End::Taken(20)), after.clone()], one).is_empty());
        // A spare that is destroyed is no move either: nothing was launched beside it lately.
        assert!(moves(&[before(End::Asked(30 + 71)), after], one).is_empty());
    }

    #[test]
    fn a_machine_that_is_moved_again_needs_a_reason() {
        let slot = |nth| (Group::Burst, nth);
        let mut lives = vec![
            life(slot(0), 0, 1, Some(End::Asked(60))),
            life(slot(1), 59, 60, Some(End::Asked(180))),
            life(slot(2), 179, 180, None),
        ];
        lives[1].pool.place.region = "elsewhere".into();
        let count = |lives: &[Life], events: &[(Ms, PoolId)], prices: &Prices| {
            twice_without_cause(&moves(lives, |_| 1), &Causes { events, prices }).len()
        };
        let none = Prices::new();
        let (here, third) = (lives[1].pool.clone(), lives[2].pool.clone());
        assert_eq!(count(&lives, &[], &none), 1);
        assert_eq!(count(&lives, &[(150 * MINUTE, here.clone())], &none), 0);
        assert_eq!(count(&lives, &[(150 * MINUTE, third)], &none), 0, "where it went");
        assert_eq!(
            count(&lives, &[(58 * MINUTE, here.clone())], &none),
            1,
            "before the first move"
        );
        let mut far = here.clone();
        far.place.region = "far".into();
        let storm = [(150 * MINUTE, far)];
        assert_eq!(count(&lives, &storm, &none), 1, "a storm elsewhere");
        let priced = |after: u64| {
            let of_pool = [(0, MicroUsd(60_000)), (100 * MINUTE, MicroUsd(after))];
            Prices::from([(here.clone(), of_pool.into())])
        };
        assert_eq!(count(&lives, &[], &priced(57_000)), 0, "a twentieth less");
        assert_eq!(count(&lives, &[], &priced(57_001)), 1);
        assert_eq!(count(&lives, &[], &priced(63_000)), 0, "a twentieth more");
        lives[1].pool.market = Market::OnDemand;
        assert_eq!(count(&lives, &storm, &none), 0, "on-demand stands in for all of spot");
        assert_eq!(count(&lives, &[], &none), 1);
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
