//! The suite that every provider must pass.

use crate::support::{Fixture, ON_DEMAND, SPOT, pool};
use async_trait::async_trait;
use fleet_fakes::gcp::Faults;
use fleet_model::{Labels, MachineId, PoolId};
use fleet_provider::conformance::{Fault, Harness, run};
use fleet_provider::{Clock, Provider};
use std::sync::Arc;
use std::time::Duration;

/// New machines are out of the lists for less than this.
const SETTLE: Duration = Duration::from_millis(300);

struct OnFake(Fixture);

/// Also without trouble, machines are not listed at once, and operations take their time.
fn calm() -> Faults {
    Faults { hidden_ms: 100, operation_ms: 50, ..Faults::default() }
}

#[async_trait]
impl Harness for OnFake {
    fn provider(&self) -> Arc<dyn Provider> {
        self.0.provider.clone()
    }

    fn clock(&self) -> Arc<dyn Clock> {
        self.0.clock.clone()
    }

    fn pools(&self) -> Vec<PoolId> {
        let tpu = "gcp/us-central1/us-central1-a/tpu-v5litepod-16/spot";
        vec![pool(ON_DEMAND), pool(SPOT), pool(tpu)]
    }

    fn settle(&self) -> Duration {
        SETTLE
    }

    fn longest_wait(&self) -> Duration {
        SETTLE
    }

    async fn labels(&self, machine: &MachineId) -> Option<Labels> {
        let number = machine.as_str().rsplit('/').next().unwrap_or_default();
        Some(self.0.fake.labels(number))
    }

    async fn cause(&self, trouble: &Fault) -> Result<(), String> {
        let mut faults = calm();
        match trouble {
            Fault::RoomFor(pool, room) => {
                faults.room.insert(format!("{}/{}", pool.place.zone, pool.instance_type), *room);
            }
            Fault::Outage => faults.outage = true,
            Fault::Throttling => faults.throttled = true,
            Fault::LostAnswers => faults.answers_lost = true,
            Fault::LostPage => faults.page_lost = true,
        }
        self.0.fake.set(faults);
        Ok(())
    }

    async fn heal(&self) {
        self.0.fake.set(calm());
    }
}

#[tokio::test]
async fn gcp_conforms() {
    let twin = OnFake(Fixture::new().await);
    twin.heal().await;
    let report = run(&twin).await;
    assert!(report.is_conformant(), "{report}");
    assert_eq!(report.skipped, [], "{report}");
    assert_eq!(report.passed.len(), 17, "{report}");
    assert_eq!(twin.0.fake.count(), (0, 0), "machines or disks are left");
}
