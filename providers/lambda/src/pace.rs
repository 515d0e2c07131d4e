//! The documented rates: a call in a second, a launch in twelve. The engine keeps rates per step;
//! a step here is several calls.

use fleet_provider::Clock;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;

/// Between two calls.
const CALL: Duration = Duration::from_secs(1);

/// Between two launches.
const LAUNCH: Duration = Duration::from_secs(12);

/// When the next call may go out, by our own stopwatch: the clock on the wall may be set. Whoever
/// waits holds the place, so that calls stay in order.
pub(crate) struct Pace {
    clock: Arc<dyn Clock>,
    next: Mutex<Next>,
}

#[derive(Default)]
struct Next {
    call: Duration,
    launch: Duration,
}

impl Pace {
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Self {
        Pace { clock, next: Mutex::default() }
    }

    /// Waits until a call may be made.
    pub(crate) async fn turn(&self, is_launch: bool) {
        let mut next = self.next.lock().await;
        let launch = if is_launch { next.launch } else { Duration::ZERO };
        let left = next.call.max(launch).saturating_sub(self.clock.steady());
        if !left.is_zero() {
            self.clock.sleep(left).await;
        }
        let now = self.clock.steady();
        next.call = now + CALL;
        if is_launch {
            next.launch = now + LAUNCH;
        }
    }
}
