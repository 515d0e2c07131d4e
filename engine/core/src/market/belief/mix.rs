//! Which of the two laws to believe: the one that predicted better of late.
//!
//! Ages fit a market with long calm spells, rates one that changes often. A pool's own last hours
//! tell which it is; neither law is ever ruled out, since markets change.

use super::{PPM, ages, rates::Rate};
use fleet_model::PoolBelief;

/// After this many hours a prediction counts half.
const HALF_LIFE: f64 = 3.0;
/// The least weight of either law.
const LEAST: f64 = 0.05;
/// The most that one law can be ahead: beyond this the weights no longer move.
const MOST: f64 = 20.0;

/// The weight of the law of ages, `silent` hours after the belief was brought up to date.
pub(super) fn weight(belief: &PoolBelief, silent: f64) -> f64 {
    LEAST + (1.0 - 2.0 * LEAST) / (1.0 + (-aged(belief, silent)).exp())
}

/// What the law of ages was ahead, once `silent` hours more have passed.
pub(super) fn aged(belief: &PoolBelief, silent: f64) -> f64 {
    belief.ages_lead_ppm as f64 / PPM * kept(silent)
}

/// How much better the law of ages foretold that a slot lasts `silent` hours after `age`.
///
/// Of a long silence only the last hours count, as if it had been watched hour by hour.
pub(super) fn lasted(age: f64, silent: f64, frailty: f64, rate: Rate) -> f64 {
    let window = silent.min(HALF_LIFE / std::f64::consts::LN_2);
    rate.hazard() * window - frailty * ages::usual(age + silent - window, window)
}

/// How much better it foretold that a slot of that age is lost now.
pub(super) fn lost(age: f64, frailty: f64, rate: Rate) -> f64 {
    (ages::hazard(age, frailty) / rate.hazard()).ln()
}

/// As it is kept.
pub(super) fn ppm(lead: f64) -> i64 {
    (lead.clamp(-MOST, MOST) * PPM) as i64
}

fn kept(silent: f64) -> f64 {
    0.5f64.powf(silent / HALF_LIFE)
}
