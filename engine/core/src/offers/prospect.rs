//! What is to be expected of a pool's slots, as the order of pools needs it.

/// Steps that are told apart. Further ones are taken for the last: what is that deep is seldom reached.
const STEPS: usize = 4;
/// More machines than anybody asks for.
const ALL: u32 = u32::MAX;

/// The best that is told apart.
pub(crate) const BEST: u16 = 500;

/// What is to be expected of a pool's slots: 0 hopeless, 100 certain where nothing was seen, more where slots
/// were seen to last. Never rises with the slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Prospect {
    /// Up to which slot, and what is expected until there.
    steps: [(u32, u16); STEPS],
    /// The most machines that it may carry after this round: it is tried with a few first.
    most: u32,
}

impl Prospect {
    /// All slots alike.
    pub(crate) fn even(score: u8) -> Self {
        Prospect { steps: [(ALL, score.into()); STEPS], most: ALL }
    }

    /// Slots in steps of some slots and their score.
    pub(crate) fn new(scores: impl IntoIterator<Item = (u32, u16)>) -> Self {
        let mut steps: Vec<(u32, u16)> = Vec::new();
        for (slots, score) in scores {
            let last = steps.last().copied();
            let (before, lowest) = last.unwrap_or((0, u16::MAX));
            let (until, score) = (before.saturating_add(slots), score.min(lowest));
            match steps.last_mut() {
                Some(step) if step.1 == score => step.0 = until,
                _ => steps.push((until, score)),
            }
        }
        let Some(&(_, lowest)) = steps.last() else { return Prospect::even(0) };
        let step = |nth: usize| match steps.get(nth) {
            Some(step) if nth + 1 < steps.len().min(STEPS) => *step,
            // The last is for all that is deeper, so it is no better than the worst of it.
            _ => (ALL, lowest),
        };
        Prospect { steps: std::array::from_fn(step), most: ALL }
    }

    /// The same, for no more than so many machines after this round.
    pub(crate) fn at_most(self, most: u32) -> Self {
        Prospect { most, ..self }
    }

    /// What is expected of a slot, counted from 0.
    pub(crate) fn score(&self, slot: u64) -> u64 {
        let step = self.steps.iter().find(|(until, _)| slot < u64::from(*until));
        step.map_or(0, |(_, score)| u64::from(*score))
    }

    /// How many slots from this one on are as good.
    pub(crate) fn alike(&self, slot: u64) -> u64 {
        let score = self.score(slot);
        let same = self.steps.iter().filter(|(_, of)| u64::from(*of) == score);
        match same.map(|(until, _)| *until).max() {
            Some(ALL) | None => u64::MAX,
            Some(until) => u64::from(until).saturating_sub(slot).max(1),
        }
    }

    /// How many more machines it may carry after this round.
    pub(crate) fn room(&self, carried: u64) -> u64 {
        if self.most == ALL { u64::MAX } else { u64::from(self.most).saturating_sub(carried) }
    }

    /// How many machines it may carry after this round, if it is tried with a few first.
    pub(crate) fn tried_with(&self) -> Option<u32> {
        (self.most < ALL).then_some(self.most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_fall_with_the_slot() {
        let prospect = Prospect::new([(2, 90), (1, 95), (3, 40), (1, 30), (2, 20), (100, 44)]);
        let scores: Vec<u64> = (0..11).map(|slot| prospect.score(slot)).collect();
        assert_eq!(scores, [90, 90, 90, 40, 40, 40, 30, 20, 20, 20, 20]);
        assert_eq!((prospect.alike(0), prospect.alike(4), prospect.alike(9)), (3, 2, u64::MAX));
        let more = Prospect::new([(1, 90), (1, 80), (1, 70), (1, 60), (1, 50)]);
        assert_eq!((0..6).map(|s| more.score(s)).collect::<Vec<_>>(), [90, 80, 70, 50, 50, 50]);
        let few = Prospect::even(44).at_most(3);
        assert_eq!((few.room(1), few.room(5), Prospect::even(44).room(5)), (2, 0, u64::MAX));
    }
}
