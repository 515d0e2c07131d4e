use super::*;
use fleet_model::Cloud;
use fleet_model::Timestamp;

/// A clock that is moved by sleeping.
#[derive(Default)]
struct Stepped(Mutex<i64>);

#[async_trait::async_trait]
impl Clock for Stepped {
    fn now(&self) -> Timestamp {
        Timestamp::from_millisecond(*self.0.lock().expect("alone")).expect("a moment")
    }
    async fn sleep(&self, duration: Duration) {
        *self.0.lock().expect("alone") += duration.as_millis() as i64;
    }
}

fn limits() -> RateLimits {
    RateLimits::new(Arc::new(Stepped::default()))
}

fn aws(region: &str) -> Scope {
    Scope { cloud: Cloud::Aws, region: region.into() }
}

fn waits(limits: &RateLimits, operation: Operation, machines: usize, count: usize) -> Vec<f64> {
    let wait = |_| limits.reserve(&aws("us-east-1"), operation, machines).0.as_secs_f64();
    (0..count).map(wait).map(|wait| (wait * 100.0).round() / 100.0).collect()
}

#[test]
fn launches_take_what_is_documented() {
    let limits = limits();
    // RunInstances: a bucket of 5 refilled at 2 per second, less a margin.
    assert_eq!(waits(&limits, Operation::Launch, 1, 7), [0.0, 0.0, 0.0, 0.0, 0.25, 0.76, 1.26]);
    assert!(limits.reserve(&aws("us-west-2"), Operation::Launch, 1).0.is_zero());
}

#[test]
fn machines_have_a_bucket_of_their_own() {
    let limits = limits();
    let waits = waits(&limits, Operation::Launch, 400, 4);
    // The third launch is the first to go beyond a thousand machines, by two hundred.
    assert_eq!(waits[..2], [0.0, 0.0]);
    assert_eq!(waits[2], (200.0_f64 / 1.98 * 100.0).round() / 100.0);
    assert_eq!(waits[3], (600.0_f64 / 1.98 * 100.0).round() / 100.0);
}

#[test]
fn looks_take_half() {
    let waits = waits(&limits(), Operation::Look, 0, 52);
    assert_eq!(waits[49..], [0.0, 0.1, 0.2]);
}

#[tokio::test]
async fn a_storm_is_asked_about_ever_less_often() {
    let limits = limits();
    let scope = aws("us-east-1");
    let mut sent = 0;
    while limits.now() < 600.0 {
        limits.turn_to_launch(&scope, 1).await;
        sent += 1;
        limits.brake(&scope, Operation::Launch);
    }
    // 1, 2, 4, … 32 seconds, then once a minute.
    assert!((14..=17).contains(&sent), "{sent} requests in ten minutes");
    // It is over: the pace comes back, and is whole again after a while.
    for _ in 0..40 {
        limits.turn_to_launch(&scope, 1).await;
        limits.release(&scope, Operation::Launch);
    }
    let before = limits.now();
    for _ in 0..20 {
        limits.turn_to_launch(&scope, 1).await;
    }
    let rate = 20.0 / (limits.now() - before);
    assert!((1.9..=2.1).contains(&rate), "{rate} per second");
}

#[test]
fn what_was_under_way_brakes_once() {
    let limits = limits();
    let scope = aws("us-east-1");
    for _ in 0..4 {
        limits.reserve(&scope, Operation::Launch, 1);
    }
    for _ in 0..4 {
        limits.brake(&scope, Operation::Launch);
    }
    assert_eq!(limits.brakes(&scope, Operation::Launch), 1);
    assert_eq!(limits.brakes(&scope, Operation::Look), 0);
}

/// Five take their turns, and the process stands still for an hour: they do not leave all at once.
#[tokio::test]
async fn turns_that_were_slept_over_are_left_one_by_one() {
    let clock = Arc::new(Stepped::default());
    let limits = RateLimits::new(clock.clone());
    let scope = Scope { cloud: Cloud::Lambda, region: "us-east-1".into() };
    let turns: Vec<_> =
        (0..5).map(|_| limits.reserve(&scope, Operation::End, 1).0.as_secs()).collect();
    assert_eq!(turns, [0, 1, 2, 3, 4]);
    clock.sleep(Duration::from_secs(3600)).await;
    let mut left = Vec::new();
    for _ in turns {
        while let Err(wait) = limits.leave(&scope, Operation::End, 1) {
            clock.sleep(wait).await;
        }
        left.push(limits.now() - 3600.0);
    }
    assert_eq!(left, [0.0, 1.0, 2.0, 3.0, 4.0]);
}
