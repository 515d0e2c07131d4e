//! What a move saves and what it costs.

use fleet_model::{MicroUsd, MoveCost, Share};

/// Nobody looks further ahead than a day.
const AHEAD: f64 = 24.0;
/// Hours at which it is asked whether a machine lasts.
pub(crate) const HOURS: [f64; 5] = [1.0, 3.0, 6.0, 12.0, AHEAD];
/// Old and new stand side by side until the new one is of use.
const SIDE_BY_SIDE: f64 = 300.0 / 3600.0;
/// Hours of on-demand that a machine's work is worth when it is ended for another, and when it is taken
/// back, where the spec does not say.
const WORK: [f64; 2] = [0.1, 0.2];

/// How long a machine is expected to live: the chance that it lasts, at each of [`HOURS`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Life(pub(crate) [f64; HOURS.len()]);

impl Life {
    /// Hours within the next day.
    pub(crate) fn hours(self) -> f64 {
        let (mut sum, mut last) = (0.0, (0.0, 1.0));
        for (at, lasts) in HOURS.into_iter().zip(self.0) {
            sum += (at - last.0) * (last.1 + lasts) / 2.0;
            last = (at, lasts);
        }
        sum
    }

    /// Chance that it is taken back within a day.
    fn lost(self) -> f64 {
        1.0 - self.0[HOURS.len() - 1]
    }
}

/// A machine and its successor.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Arithmetic {
    /// Price per hour now.
    pub(crate) price: MicroUsd,
    /// Of the successor.
    pub(crate) then: MicroUsd,
    /// On demand, of the same.
    pub(crate) on_demand: MicroUsd,
    /// How long the machine lives, and how long its successor would.
    pub(crate) lives: [Life; 2],
    /// Work that ends with a machine, in hours, if the spec says so.
    pub(crate) lost_work: Option<f64>,
}

impl Arithmetic {
    /// What of the price is saved.
    pub(crate) fn saving(&self) -> Share {
        let less = self.price.saturating_sub(self.then).0;
        let ppm = u128::from(less) * 1_000_000 / u128::from(self.price.0.max(1));
        u32::try_from(ppm).ok().and_then(Share::from_ppm).unwrap_or(Share::NONE)
    }

    /// What is saved over the life of the successor.
    pub(crate) fn gain(&self) -> MicroUsd {
        let less = self.price.saturating_sub(self.then);
        times(less, self.lives[1].hours())
    }

    /// What the move costs.
    pub(crate) fn cost(&self) -> MoveCost {
        let [moved, lost] = self.lost_work.map_or(WORK, |hours| [hours; 2]);
        let riskier = (self.lives[1].lost() - self.lives[0].lost()).max(0.0);
        MoveCost {
            side_by_side: times(self.then, SIDE_BY_SIDE),
            work: times(self.on_demand, moved),
            risk: times(self.on_demand, lost * riskier),
        }
    }
}

fn times(price: MicroUsd, hours: f64) -> MicroUsd {
    MicroUsd((price.0 as f64 * hours).round() as u64)
}
