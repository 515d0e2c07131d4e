//! The distribution of a sum of independent amounts.

/// Chances of each amount, in steps.
pub(crate) struct Odds {
    most: f64,
    steps: usize,
    /// Up to the highest amount so far.
    chances: Vec<f64>,
}

impl Odds {
    /// Nothing for certain; sums up to `most`, in so many steps.
    pub(crate) fn new(most: f64, steps: usize) -> Self {
        Odds { most, steps, chances: vec![1.0] }
    }

    fn step(&self) -> f64 {
        self.most / self.steps as f64
    }

    /// Adds an amount: chances that sum to one, and how much. What lies between two steps is shared
    /// between them, so that the mean is kept.
    pub(crate) fn add(&mut self, amounts: &[(f64, f64)]) {
        let (step, last) = (self.step(), self.steps);
        let in_steps =
            |amount: f64| if step > 0.0 { (amount / step).clamp(0.0, last as f64) } else { 0.0 };
        let some = amounts.iter().filter(|(chance, _)| *chance > 0.0);
        let some: Vec<(f64, f64)> = some.map(|&(chance, of)| (chance, in_steps(of))).collect();
        let highest = some.iter().map(|(_, steps)| steps.ceil() as usize).max().unwrap_or(0);
        let mut sum = vec![0.0; (self.chances.len() + highest).min(last + 1)];
        for (chance, steps) in some {
            let (whole, part) = (steps as usize, steps.fract());
            for (at, before) in self.chances.iter().enumerate().filter(|(_, c)| **c > 0.0) {
                sum[(at + whole).min(last)] += before * chance * (1.0 - part);
                if part > 0.0 {
                    sum[(at + whole + 1).min(last)] += before * chance * part;
                }
            }
        }
        self.chances = sum;
    }

    /// By how much an amount is exceeded on average, and the chance that it is.
    pub(crate) fn above(&self, amount: f64) -> (f64, f64) {
        // What is exceeded by less than this is met.
        let trifle = 1e-6 * self.most;
        let excess = |at: usize| at as f64 * self.step() - amount;
        let more = self.chances.iter().enumerate().filter(|(at, _)| excess(*at) > trifle);
        more.fold((0.0, 0.0), |(mean, all), (at, chance)| {
            (mean + chance * excess(at), all + chance)
        })
    }

    /// The amount that is not exceeded with a chance.
    pub(crate) fn below(&self, chance: f64) -> f64 {
        let mut sum = 0.0;
        let enough = self.chances.iter().position(|one| {
            sum += one;
            sum >= chance - 1e-9
        });
        self.most * enough.unwrap_or(self.steps) as f64 / self.steps as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_as_likely_as_they_are() {
        let mut odds = Odds::new(256.0, 256);
        assert_eq!(odds.below(0.9), 0.0);
        odds.add(&[(0.7, 0.0), (0.3, 64.0)]);
        let three = [odds.below(0.5), odds.below(0.7), odds.below(0.9)];
        assert_eq!(three, [0.0, 0.0, 64.0]);
        // 0.49 nothing, 0.42 one of them, 0.09 both.
        odds.add(&[(0.7, 0.0), (0.3, 64.0)]);
        let three = [odds.below(0.4), odds.below(0.9), odds.below(0.95)];
        assert_eq!(three, [0.0, 64.0, 128.0]);
        // One alone is 14 above 50, both are 78.
        let (mean, chance) = odds.above(50.0);
        assert!((mean - (0.42 * 14.0 + 0.09 * 78.0)).abs() < 1e-9 && (chance - 0.51).abs() < 1e-9);
        // Nothing to be had at all.
        let mut none = Odds::new(0.0, 256);
        none.add(&[(1.0, 0.0)]);
        assert_eq!(none.below(0.9), 0.0);
    }
}
