//! One pool as the objective sees it: slots that are alike in steps, so that it costs the same to look at
//! a pool of ten machines and of ten thousand.

/// Slots that are alike.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// How many.
    pub slots: usize,
    /// Chance that they are up for as long as a replacement takes.
    pub stays: f64,
    /// What each costs per hour: its price, being lost, and, if it is new, being moved to.
    pub cost: f64,
}

/// One pool. Its slots fail from the last: if one is up, all before it are.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Choice {
    /// What a machine counts for.
    pub weight: usize,
    /// Machines held now.
    pub held: usize,
    steps: Vec<Step>,
    /// How many slots there are up to the end of each step.
    ends: Vec<usize>,
}

impl Choice {
    /// A pool that holds some machines, and has slots in the order in which they are taken.
    pub fn new(weight: usize, held: usize, slots: impl IntoIterator<Item = Step>) -> Self {
        let slots = slots.into_iter();
        let mut steps: Vec<Step> = Vec::with_capacity(slots.size_hint().0);
        let mut stays = 1.0f64;
        for mut step in slots.filter(|step| step.slots > 0) {
            // The chance that at least so many are up never rises with their number.
            stays = stays.min(step.stays);
            step.stays = stays;
            match steps.last_mut() {
                Some(last) if last.stays == step.stays && last.cost == step.cost => {
                    last.slots += step.slots;
                }
                _ => steps.push(step),
            }
        }
        let mut choice = Choice { weight, held, steps, ends: Vec::new() };
        choice.count();
        choice
    }

    fn count(&mut self) {
        let mut before = 0;
        self.ends.clear();
        self.ends.extend(self.steps.iter().map(|step| {
            before += step.slots;
            before
        }));
    }

    /// The most machines that may be taken.
    pub fn most(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }

    /// Takes no more than so many.
    pub fn limit(&mut self, most: usize) {
        if most >= self.most() {
            return;
        }
        let mut left = most;
        for step in &mut self.steps {
            step.slots = step.slots.min(left);
            left -= step.slots;
        }
        self.steps.retain(|step| step.slots > 0);
        self.count();
    }

    /// The same, if what is held costs nothing.
    pub(super) fn with_held_free(&self) -> Self {
        let mut left = self.held;
        let parts = |step: &Step| {
            let free = step.slots.min(left);
            left -= free;
            [Step { slots: free, cost: 0.0, ..*step }, Step { slots: step.slots - free, ..*step }]
        };
        Choice::new(self.weight, self.held, self.steps.iter().flat_map(parts))
    }

    /// Its steps.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The slot after the first `count`, if there is one.
    pub fn slot(&self, count: usize) -> Option<Step> {
        self.steps.get(self.ends.partition_point(|end| *end <= count)).copied()
    }

    /// What the first `count` machines cost per hour.
    pub fn cost(&self, count: usize) -> f64 {
        let mut left = count;
        let mut sum = 0.0;
        for step in &self.steps {
            let slots = step.slots.min(left);
            sum += slots as f64 * step.cost;
            left -= slots;
        }
        sum
    }

    /// How much survives of `count` machines, and how likely that is. Only what differs is listed: slots
    /// of a step fail together.
    pub fn survivors(&self, count: usize) -> impl Iterator<Item = (usize, f64)> {
        let (mut before, mut at_least, mut next) = (0, 1.0f64, 0);
        std::iter::from_fn(move || {
            if next > self.steps.len() {
                return None;
            }
            let step = self.steps.get(next).filter(|_| before < count);
            let survive = before * self.weight;
            let Some(step) = step else {
                next = self.steps.len() + 1;
                return Some((survive, at_least));
            };
            next += 1;
            let exactly = at_least - step.stays;
            at_least = step.stays;
            before += step.slots.min(count - before);
            Some((survive, exactly))
        })
        .filter(|(_, chance)| *chance > 0.0)
    }

    /// Mean and variance of what survives of `count` machines.
    pub fn moments(&self, count: usize) -> (f64, f64) {
        let (mut mean, mut square) = (0.0, 0.0);
        for (survive, chance) in self.survivors(count) {
            let survive = survive as f64;
            mean += survive * chance;
            square += survive * survive * chance;
        }
        (mean, (square - mean * mean).max(0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_in_steps() {
        let step = |slots, stays, cost| Step { slots, stays, cost };
        // The third step would be likelier than the second: it cannot be.
        let mut pool = Choice::new(
            2,
            0,
            [step(2, 0.9, 1.0), step(0, 0.1, 1.0), step(3, 0.5, 2.0), step(1, 0.7, 2.0)],
        );
        assert_eq!(pool.steps(), [step(2, 0.9, 1.0), step(4, 0.5, 2.0)]);
        assert_eq!((pool.most(), pool.cost(3)), (6, 4.0));
        assert_eq!(pool.slot(1).map(|s| s.stays), Some(0.9));
        assert_eq!(pool.slot(2).map(|s| s.stays), Some(0.5));
        assert_eq!(pool.slot(6), None);
        let close = |(a, x): (usize, f64), (b, y): (usize, f64)| a == b && (x - y).abs() < 1e-12;
        let found: Vec<_> = pool.survivors(3).collect();
        let expected = [(0, 0.1), (4, 0.4), (6, 0.5)];
        assert!(found.iter().zip(expected).all(|(a, b)| close(*a, b)), "{found:?}");
        assert_eq!(pool.survivors(0).collect::<Vec<_>>(), [(0, 1.0)]);
        let (mean, variance) = pool.moments(3);
        assert!(
            (mean - 4.6).abs() < 1e-12
                && (variance - (0.4 * 16.0 + 0.5 * 36.0 - 4.6 * 4.6)).abs() < 1e-12
        );
        pool.limit(3);
        assert_eq!(pool.steps(), [step(2, 0.9, 1.0), step(1, 0.5, 2.0)]);
    }
}
