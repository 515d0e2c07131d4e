use super::*;

/// A job as it happens, with interruptions drawn at a constant rate.
struct Run {
    hours: f64,
    billed: f64,
    free: f64,
}

/// A small generator of our own: the same numbers on every machine.
struct Chance(u64);

impl Chance {
    /// Between 0 and 1, never 0.
    fn share(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 11) as f64 + 1.0) / (1u64 << 53) as f64
    }

    fn until_interrupted(&mut self, rate: f64) -> f64 {
        -self.share().ln() / rate
    }
}

fn simulated(job: &Job, interval: Option<f64>, chance: &mut Chance) -> Run {
    let Job { work, checkpoint, restore, replace, rate, .. } = *job;
    let mut run = Run { hours: 0.0, billed: 0.0, free: 0.0 };
    let (mut done, mut left, mut age, mut restoring) =
        (0.0, chance.until_interrupted(rate), 0.0, 0.0);
    while done < work - 1e-9 {
        let stretch = interval.map_or(work, |every| every.min(work - done));
        let save =
            if interval.is_some() { checkpoint * stretch / interval.unwrap_or(1.0) } else { 0.0 };
        let needs = restoring + stretch + save;
        if needs <= left {
            (run.hours, run.billed, age, left) =
                (run.hours + needs, run.billed + needs, age + needs, left - needs);
            (done, restoring) = (done + stretch, 0.0);
        } else {
            (run.hours, run.billed, age) =
                (run.hours + left + replace, run.billed + left, age + left);
            if age < 1.0 {
                run.free += age;
            }
            (age, restoring, left) = (0.0, restore, chance.until_interrupted(rate));
        }
    }
    run
}

fn mean(job: &Job, interval: Option<f64>, runs: u32) -> Run {
    let mut chance = Chance(0x9e37_79b9_7f4a_7c15);
    let mut sum = Run { hours: 0.0, billed: 0.0, free: 0.0 };
    for _ in 0..runs {
        let run = simulated(job, interval, &mut chance);
        sum.hours += run.hours / f64::from(runs);
        sum.billed += run.billed / f64::from(runs);
        sum.free += run.free / f64::from(runs);
    }
    sum
}

fn job(work: f64, rate: f64) -> Job {
    Job { work, checkpoint: 0.05, restore: 0.1, replace: 0.2, rate, saves_on_notice: false }
}

fn near(value: f64, expect: f64, off: f64) {
    assert!((value / expect - 1.0).abs() < off, "{value} is not {expect}");
}

/// T 24 h, C 0.05, R 0.1, D 0.2, M 4 h: the figures of our notes, and a simulation.
#[test]
fn expectations_are_what_happens() {
    for (interval, hours) in [(0.4, 30.77), (0.63, 30.40), (1.0, 31.02)] {
        let expected = job(24.0, 0.25).expected(Some(interval));
        near(expected.hours, hours, 0.001);
        let run = mean(&job(24.0, 0.25), Some(interval), 8_000);
        near(run.hours, expected.hours, 0.01);
        near(run.billed, expected.billed_hours, 0.01);
    }
    for (work, rate) in [(8.0, 0.02), (8.0, 0.1), (3.0, 0.5), (24.0, 0.05)] {
        let expected = job(work, rate).expected(None);
        near(mean(&job(work, rate), None, 30_000).hours, expected.hours, 0.03);
    }
}

#[test]
fn the_three_intervals_agree_with_our_notes() {
    near(young(0.05, 0.25), 0.632, 0.001);
    near(daly(0.05, 0.25), 0.600, 0.001);
    near(optimal(0.05, 0.25), 0.600, 0.001);
    near(daly(9.0, 0.25), 4.0, 1e-9);
    // Short checkpoints and long lives: all the same.
    near(optimal(1e-6, 1e-3), young(1e-6, 1e-3), 1e-3);
    near(daly(1e-6, 1e-3), young(1e-6, 1e-3), 1e-3);
}

/// No other interval is better, over five powers of ten of either time.
#[test]
fn the_optimum_is_the_optimum() {
    for c in [1e-5, 1e-3, 0.02, 0.3, 2.0] {
        for rate in [1e-5, 1e-3, 0.03, 0.4, 3.0] {
            let best = optimal(c, rate);
            let cost = |every: f64| (rate * (every + c)).exp_m1() / every;
            assert!(best > 0.0 && best <= 1.0 / rate, "{c} {rate}: {best}");
            for factor in [0.9, 0.99, 1.01, 1.1] {
                let other = cost(best * factor);
                assert!(cost(best) <= other * (1.0 + 1e-9), "{c} {rate}: {best} × {factor}");
            }
        }
    }
}

#[test]
fn checkpoints_are_written_only_where_they_pay() {
    assert_eq!(job(8.0, 0.0).at_best().interval, None);
    near(job(8.0, 0.0).at_best().hours, 8.0, 1e-12);
    // One interruption in a hundred such jobs: not worth five checkpoints.
    assert_eq!(job(0.5, 0.01).at_best().interval, None);
    let often = job(24.0, 0.25).at_best();
    near(often.interval.unwrap_or_default(), 0.600, 0.001);
    assert!(often.hours < job(24.0, 0.25).expected(Some(0.4)).hours);
    assert!(often.hours > 24.0 && often.billed_hours < often.hours);
    // A job that never ends says so.
    assert!(job(1e5, 1.0).expected(None).hours.is_infinite());
    let saved = Job { saves_on_notice: true, ..job(24.0, 0.25) }.at_best();
    assert!(saved.hours < often.hours && saved.hours > 24.0);
    // E ≈ T·(1 + λ(C + D + R))
    near(saved.hours, 24.0 * (1.0 + 0.25 * 0.35), 0.02);
}

#[test]
fn ec2_gives_first_hours_for_nothing() {
    // The long run: 2.6 % at a mean of 4 h, 26 % at 1 h.
    near(free_hours_on_ec2(1e6, 0.25) / 1e6, 0.0265, 0.01);
    near(free_hours_on_ec2(1e6, 1.0) / 1e6, 0.2642, 0.01);
    assert_eq!(free_hours_on_ec2(100.0, 0.0), 0.0);
    for rate in [0.1, 0.5] {
        let with = Job { replace: 0.0, ..job(24.0, rate) };
        let interval = Some(optimal(0.05, rate));
        let run = mean(&with, interval, 20_000);
        near(free_hours_on_ec2(run.billed, rate), run.free, 0.05);
    }
    let little = free_hours_on_ec2(0.5, 0.1);
    assert!(little > 0.0 && little < 0.5 * 0.1, "{little}");
}
