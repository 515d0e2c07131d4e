//! The law of ages: the longer a slot has been up or down, the longer it will stay so (Lomax).

/// How fast the hazard falls with age.
const SHAPE: f64 = 0.7;
/// The age, in hours, from which it falls. Small: a slot that just came up is far riskier than one
/// that has lasted an hour. All four recordings agreed on this.
const SCALE: f64 = 0.1;

/// Chance to last `more` hours after `age` hours.
pub(super) fn lasts(age: f64, more: f64, frailty: f64) -> f64 {
    ((SCALE + age) / (SCALE + age + more)).powf(SHAPE * frailty)
}

/// Interruptions to be expected of a usual pool in `more` hours after `age` hours.
pub(super) fn usual(age: f64, more: f64) -> f64 {
    SHAPE * ((SCALE + age + more) / (SCALE + age)).ln()
}

/// Interruptions per hour at an age.
pub(super) fn hazard(age: f64, frailty: f64) -> f64 {
    SHAPE * frailty / (SCALE + age)
}
