//! A condition on the outcome, for CI: `availability<99%`.

use crate::measures::Measures;

/// A condition under which a replay counts as failed.
#[derive(Debug, Clone, PartialEq)]
pub struct Gate {
    text: String,
    measure: Measure,
    comparison: Comparison,
    bound: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Measure {
    Cost,
    Availability,
    Delivered,
    Interruptions,
    Recover,
    /// Cost, with a missing machine-hour at so many on-demand hours.
    J(f64),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    Less,
    LessOrEqual,
    More,
    MoreOrEqual,
}

/// The words for what can be compared.
const MEASURES: [(&str, Measure); 5] = [
    ("cost", Measure::Cost),
    ("availability", Measure::Availability),
    ("delivered", Measure::Delivered),
    ("interruptionsPer100h", Measure::Interruptions),
    ("recoverMinutes", Measure::Recover),
];

impl Gate {
    /// Reads `availability<99%`, `cost>0.5`, `j10>=0.6`.
    pub fn parse(text: &str) -> Result<Gate, String> {
        let signs = [
            ("<=", Comparison::LessOrEqual),
            (">=", Comparison::MoreOrEqual),
            ("<", Comparison::Less),
            (">", Comparison::More),
        ];
        let found = signs.iter().find_map(|(sign, comparison)| {
            let (left, right) = text.split_once(sign)?;
            Some((left.trim(), *comparison, right.trim()))
        });
        let Some((name, comparison, value)) = found else {
            return Err(format!("`{text}` compares nothing: write `availability<99%`"));
        };
        let Some(measure) = measure(name) else {
            let words: Vec<&str> = MEASURES.iter().map(|(word, _)| *word).collect();
            let words = words.join(", ");
            return Err(format!("`{name}` is not measured; {words}, j3, j10 and other j are"));
        };
        let (digits, scale) = match value.strip_suffix('%') {
            Some(digits) => (digits, 0.01),
            None => (value, 1.0),
        };
        // Nothing is less than what is not a number: such a condition would never fail.
        let bound = digits.trim().parse::<f64>().ok().filter(|bound| bound.is_finite());
        let bound = bound.ok_or_else(|| format!("`{value}` is not a number or share"))?;
        let text = text.trim().to_owned();
        Ok(Gate { text, measure, comparison, bound: bound * scale })
    }

    /// Whether the condition holds: the replay failed.
    pub fn fails(&self, measures: &Measures) -> bool {
        let value = match self.measure {
            Measure::Cost => measures.cost,
            Measure::Availability => measures.availability,
            Measure::Delivered => measures.delivered,
            Measure::Interruptions => measures.interruptions_per_100h,
            Measure::Recover => measures.recover_minutes,
            Measure::J(penalty) => measures.j(penalty),
        };
        match self.comparison {
            Comparison::Less => value < self.bound,
            Comparison::LessOrEqual => value <= self.bound,
            Comparison::More => value > self.bound,
            Comparison::MoreOrEqual => value >= self.bound,
        }
    }

    /// The condition as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// What a word names. `j10` is the cost with a missing machine-hour at ten on-demand hours.
fn measure(name: &str) -> Option<Measure> {
    let word = MEASURES.iter().find(|(word, _)| *word == name).map(|(_, measure)| *measure);
    word.or_else(|| {
        let penalty = name.strip_prefix('j')?;
        let digits = penalty.starts_with(|c: char| c.is_ascii_digit());
        penalty.parse().ok().filter(|n: &f64| digits && n.is_finite()).map(Measure::J)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions() {
        let measures =
            Measures { cost: 0.4, availability: 0.98, delivered: 0.99, ..Measures::default() };
        let check = |text: &str, fails: bool| {
            let gate = Gate::parse(text).expect("a condition");
            assert_eq!(gate.fails(&measures), fails, "{text}");
        };
        check("availability<99%", true);
        check("availability < 0.97", false);
        check("cost>=0.4", true);
        check("j10>0.55", false);
        check("j2.5>0.42", true);
        for wrong in
            ["availability", "speed<3", "cost<much", "j<3", "j-1<3", "jinf<3"].into_iter().chain([
                "availability<nan%",
                "cost>NaN",
                "cost>inf",
                "j10<-infinity",
                "cost>1e999",
                "j1e999>1",
            ])
        {
            assert!(Gate::parse(wrong).is_err(), "{wrong}");
        }
    }
}
