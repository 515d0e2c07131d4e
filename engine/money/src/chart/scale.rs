//! Round numbers along an axis.

/// From nothing to a round number above all values, in a few round steps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    step: f64,
    steps: u32,
}

impl Scale {
    /// A scale for values up to `most`, with about five steps. Nonsense (nothing, less, infinite) is a
    /// scale up to 1.
    pub fn up_to(most: f64) -> Self {
        const STEPS: f64 = 5.0;
        let most = if most.is_finite() && most > 1e-12 { most } else { 1.0 };
        let raw = most / STEPS;
        let power = 10f64.powf(raw.log10().floor());
        let step = [1.0, 2.0, 2.5, 5.0, 10.0]
            .into_iter()
            .map(|factor| factor * power)
            .find(|step| *step >= raw * (1.0 - 1e-9))
            .unwrap_or(10.0 * power);
        let steps = (most / step * (1.0 - 1e-9)).ceil().max(1.0);
        Scale { step, steps: steps as u32 }
    }

    /// The end of the axis.
    pub fn end(&self) -> f64 {
        self.step * f64::from(self.steps)
    }

    /// Where a value stands: 0 at the start, 1 at the end.
    pub fn share(&self, value: f64) -> f64 {
        if value.is_finite() { (value / self.end()).clamp(0.0, 1.0) } else { 0.0 }
    }

    /// The values that are named, from 0 on.
    pub fn ticks(&self) -> impl Iterator<Item = f64> {
        let step = self.step;
        (0..=self.steps).map(move |nth| step * f64::from(nth))
    }

    /// A value of the axis with as many decimals as its steps need, and no more.
    pub fn label(&self, value: f64) -> String {
        let needs = |decimals: &usize| {
            let power = 10f64.powi(*decimals as i32);
            ((self.step * power).round() / power - self.step).abs() < 1e-9 * self.step
        };
        let decimals = (0..=9).find(needs).unwrap_or(9);
        let text = format!("{value:.decimals$}");
        let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
        match whole.parse::<u64>() {
            Ok(number) => format!("{}{rest}", fleet_model::thousands(number)),
            Err(_) => text,
        }
    }
}
