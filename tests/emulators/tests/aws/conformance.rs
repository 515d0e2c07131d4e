//! The suite that every provider must pass.

use crate::support::{Fixture, ON_DEMAND, ZONE_NAME, pool};
use async_trait::async_trait;
use fleet_emulators::aws::Faults;
use fleet_model::PoolId;
use fleet_provider::conformance::{Fault, Harness, run};
use fleet_provider::{Clock, Provider};
use std::sync::Arc;
use std::time::Duration;

/// New machines are out of the lists for less than this.
const SETTLE: Duration = Duration::from_millis(600);

struct OnMoto(Fixture);

/// Also without trouble, machines are not listed at once.
fn calm() -> Faults {
    Faults { hidden_for: SETTLE / 2, ..Faults::default() }
}

#[async_trait]
impl Harness for OnMoto {
    fn provider(&self) -> Arc<dyn Provider> {
        self.0.provider.clone()
    }

    fn clock(&self) -> Arc<dyn Clock> {
        self.0.clock.clone()
    }

    fn pools(&self) -> Vec<PoolId> {
        vec![pool(ON_DEMAND), pool("aws/us-east-1/use1-az4/m5.large/spot")]
    }

    fn settle(&self) -> Duration {
        SETTLE
    }

    fn longest_wait(&self) -> Duration {
        SETTLE
    }

    async fn cause(&self, trouble: &Fault) -> Result<(), String> {
        let mut faults = calm();
        match trouble {
            Fault::RoomFor(pool, 0) => {
                faults.full.insert((ZONE_NAME.into(), pool.instance_type.to_string()));
            }
            Fault::RoomFor(..) => return Err("a launch makes all machines or none".into()),
            Fault::Outage => {
                faults.out.insert("us-east-1".into());
            }
            Fault::Throttling => faults.throttled = true,
            Fault::LostAnswers => faults.answers_lost = true,
            Fault::LostPage => faults.page_lost = true,
        }
        self.0.proxy.set(faults);
        Ok(())
    }

    async fn heal(&self) {
        self.0.proxy.set(calm());
    }
}

#[tokio::test]
#[ignore = "needs moto: cargo xtask test aws"]
async fn aws_conforms() {
    let twin = OnMoto(Fixture::new().await);
    twin.heal().await;
    let report = run(&twin).await;
    assert!(report.is_conformant(), "{report}");
    let skipped: Vec<&str> = report.skipped.iter().map(|(name, _)| *name).collect();
    assert_eq!(skipped, ["partial_fulfilment_is_an_answer"], "{report}");
    assert_eq!(report.passed.len(), 16, "{report}");
}
