//! What was predicted of machines held, against what the recording says came of them.
//!
//! A forecast is made at each sample for each machine held. Forecasts of one machine overlap, so their
//! number says how long was looked at, not how much was learned.

use crate::trace::Trace;

/// The times ahead for which losses are predicted, in hours.
pub const HORIZONS: [f64; 2] = [1.0, 6.0];

/// Groups of forecasts, by what they predict.
const GROUPS: usize = 10;

/// What was thought of one machine at a sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Forecast {
    /// When.
    pub sample: usize,
    /// Where.
    pub zone: usize,
    /// Its place among ours there, the oldest first: it is lost when its zone carries no more than this.
    pub slot: usize,
    /// The chance that it is lost within each of [`HORIZONS`].
    pub lost: [f64; 2],
}

/// A prediction, and whether it came true.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outcome {
    /// The chance that was given.
    pub predicted: f64,
    /// Whether the machine was lost.
    pub lost: bool,
}

/// Forecasts that predicted about the same.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bin {
    /// How many.
    pub count: usize,
    /// What they predicted, on average.
    pub predicted: f64,
    /// The share that came true.
    pub observed: f64,
}

/// How good predictions of losses within a time are.
#[derive(Debug, Clone, PartialEq)]
pub struct Calibration {
    /// The time ahead.
    pub hours: f64,
    /// How many predictions there are.
    pub count: usize,
    /// From the lowest prediction to the highest, a tenth of them each; equal ones are together.
    pub bins: Vec<Bin>,
    /// The mean square of what is missing to the truth. Nought is perfect.
    pub brier: f64,
    /// The same of always predicting the share that is lost in the end, which nobody can know.
    pub brier_of_mean: f64,
}

/// Says which forecasts came true. Those that reach beyond the recording are left out.
pub fn outcomes(trace: &Trace, forecasts: &[Forecast]) -> [Vec<Outcome>; 2] {
    let mut of = [Vec::new(), Vec::new()];
    for (horizon, hours) in HORIZONS.into_iter().enumerate() {
        let ahead = (hours / trace.hours()).round().max(1.0) as usize;
        let lows: Vec<Vec<u32>> =
            (0..trace.zones.len()).map(|zone| least_ahead(trace, zone, ahead)).collect();
        let known = forecasts.iter().filter(|f| f.sample + ahead < trace.samples());
        of[horizon] = known
            .map(|forecast| Outcome {
                predicted: forecast.lost[horizon],
                lost: lows[forecast.zone][forecast.sample] as usize <= forecast.slot,
            })
            .collect();
    }
    of
}

/// The least that a zone carries in the samples after each.
fn least_ahead(trace: &Trace, zone: usize, ahead: usize) -> Vec<u32> {
    let column: Vec<u32> = trace.capacity.iter().map(|row| row[zone]).collect();
    let least = |from: usize| {
        let window = (from + 1).min(column.len())..(from + 1 + ahead).min(column.len());
        column[window].iter().copied().min().unwrap_or(u32::MAX)
    };
    (0..column.len()).map(least).collect()
}

/// Holds predictions against outcomes. `None` if there are none.
pub fn calibrate(hours: f64, mut outcomes: Vec<Outcome>) -> Option<Calibration> {
    let count = outcomes.len();
    if count == 0 {
        return None;
    }
    outcomes.sort_by(|a, b| a.predicted.total_cmp(&b.predicted));
    let mean = |of: &[Outcome], value: &dyn Fn(&Outcome) -> f64| {
        of.iter().map(value).sum::<f64>() / of.len() as f64
    };
    let observed = |outcome: &Outcome| f64::from(u8::from(outcome.lost));
    let share = mean(&outcomes, &observed);
    let mut bins = Vec::new();
    let mut from = 0;
    for group in 1..=GROUPS {
        let mut to = (count * group / GROUPS).max(from);
        // What is predicted alike stays together.
        while to > from && to < count && outcomes[to].predicted <= outcomes[to - 1].predicted {
            to += 1;
        }
        if to > from {
            let of = &outcomes[from..to];
            let predicted = mean(of, &|outcome| outcome.predicted);
            bins.push(Bin { count: of.len(), predicted, observed: mean(of, &observed) });
        }
        from = to;
    }
    let brier = mean(&outcomes, &|outcome| (outcome.predicted - observed(outcome)).powi(2));
    Some(Calibration { hours, count, bins, brier, brier_of_mean: share * (1.0 - share) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(capacity: &[u32]) -> Trace {
        Trace {
            name: "one".into(),
            interval_seconds: 1800,
            on_demand: 1.0,
            zones: vec!["us-east-1a".into()],
            regions: vec!["us-east-1".into()],
            capacity: capacity.iter().map(|count| vec![*count]).collect(),
            price: vec![vec![0.3]; capacity.len()],
            has_prices: true,
        }
    }

    /// Two samples are an hour: slot 1 is lost at the third sample, slot 0 never.
    #[test]
    fn a_slot_is_lost_when_its_zone_carries_less() {
        let trace = trace(&[2, 2, 2, 1, 2, 2]);
        let forecast = |sample, slot| Forecast { sample, zone: 0, slot, lost: [0.25, 0.5] };
        let lost = |sample, slot| {
            let [hour, six] = outcomes(&trace, &[forecast(sample, slot)]);
            assert!(six.is_empty(), "six hours reach beyond the recording");
            hour.first().map(|outcome| outcome.lost)
        };
        assert_eq!(
            [0, 1, 2, 3, 4].map(|at| lost(at, 1)),
            [Some(false), Some(true), Some(true), Some(false), None]
        );
        assert_eq!(lost(1, 0), Some(false));
    }

    #[test]
    fn a_perfect_forecast_scores_nought_and_a_flat_one_as_its_mean() {
        let outcome = |predicted, lost| Outcome { predicted, lost };
        let perfect = (0..40).map(|n| outcome(f64::from(u8::from(n % 4 == 0)), n % 4 == 0));
        let perfect = calibrate(1.0, perfect.collect()).expect("outcomes");
        assert_eq!((perfect.brier, perfect.brier_of_mean), (0.0, 0.1875));
        assert_eq!(perfect.bins.len(), 2, "equal predictions stay together");
        let flat = calibrate(1.0, (0..40).map(|n| outcome(0.25, n % 4 == 0)).collect());
        let flat = flat.expect("outcomes");
        assert_eq!(flat.bins, [Bin { count: 40, predicted: 0.25, observed: 0.25 }]);
        assert_eq!(flat.brier, flat.brier_of_mean);
        assert_eq!(calibrate(1.0, Vec::new()), None);
    }
}
