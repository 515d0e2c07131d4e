//! The distribution of a sum of independent amounts.

/// Steps between nothing and the most.
const STEPS: usize = 256;

/// Chances of each amount, in steps.
pub(crate) struct Odds {
    most: f64,
    chances: Vec<f64>,
}

impl Odds {
    /// Nothing for certain; sums up to `most`.
    pub(crate) fn new(most: f64) -> Self {
        Odds { most, chances: vec![1.0] }
    }

    /// Adds an amount: chances that sum to one, and how much. What lies between two steps is shared
    /// between them, so that the mean is kept.
    pub(crate) fn add(&mut self, amounts: &[(f64, f64)]) {
        let step = self.most / STEPS as f64;
        let mut sum = vec![0.0; STEPS + 1];
        for &(chance, amount) in amounts.iter().filter(|(chance, _)| *chance > 0.0) {
            let steps = if step > 0.0 { (amount / step).clamp(0.0, STEPS as f64) } else { 0.0 };
            let (whole, part) = (steps as usize, steps.fract());
            for (at, before) in self.chances.iter().enumerate().filter(|(_, c)| **c > 0.0) {
                sum[(at + whole).min(STEPS)] += before * chance * (1.0 - part);
                sum[(at + whole + 1).min(STEPS)] += before * chance * part;
            }
        }
        self.chances = sum;
    }

    /// The amount that is not exceeded with a chance.
    pub(crate) fn below(&self, chance: f64) -> f64 {
        let mut sum = 0.0;
        let enough = self.chances.iter().position(|one| {
            sum += one;
            sum >= chance - 1e-9
        });
        self.most * enough.unwrap_or(STEPS) as f64 / STEPS as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_as_likely_as_they_are() {
        let mut odds = Odds::new(256.0);
        assert_eq!(odds.below(0.9), 0.0);
        odds.add(&[(0.7, 0.0), (0.3, 64.0)]);
        let three = [odds.below(0.5), odds.below(0.7), odds.below(0.9)];
        assert_eq!(three, [0.0, 0.0, 64.0]);
        // 0.49 nothing, 0.42 one of them, 0.09 both.
        odds.add(&[(0.7, 0.0), (0.3, 64.0)]);
        let three = [odds.below(0.4), odds.below(0.9), odds.below(0.95)];
        assert_eq!(three, [0.0, 64.0, 128.0]);
        // Nothing to be had at all.
        let mut none = Odds::new(0.0);
        none.add(&[(1.0, 0.0)]);
        assert_eq!(none.below(0.9), 0.0);
    }
}
