//! The suite that every provider must pass.

use crate::fixture::{Fixture, POOL, fixture, pool, template};
use async_trait::async_trait;
use fleet_fakes::Faults;
use fleet_model::{Labels, MachineId, PoolId, Template};
use fleet_provider::conformance::{Fault, Harness, run};
use fleet_provider::{Clock, Provider};
use std::sync::Arc;
use std::time::Duration;

struct OnFake(Fixture);

/// Also without trouble, machines are not listed at once, and lists have pages.
fn calm() -> Faults {
    Faults { hidden_for: 60, page: Some(2), ..Faults::default() }
}

#[async_trait]
impl Harness for OnFake {
    fn provider(&self) -> Arc<dyn Provider> {
        self.0.asks.provider.clone()
    }

    fn clock(&self) -> Arc<dyn Clock> {
        self.0.clock.clone()
    }

    fn pools(&self) -> Vec<PoolId> {
        vec![pool(POOL), pool("azure/eastus/2/Standard_D4s_v5/spot")]
    }

    fn template(&self) -> Template {
        template()
    }

    fn longest_wait(&self) -> Duration {
        Duration::from_secs(86_400)
    }

    async fn labels(&self, machine: &MachineId) -> Option<Labels> {
        let state = self.0.server.state();
        let mut live = state["live"].as_array()?.iter();
        let vm = live.find(|vm| vm["name"].as_str() == Some(machine.as_str()))?;
        serde_json::from_value(vm["tags"].clone()).ok()
    }

    async fn cause(&self, trouble: &Fault) -> Result<(), String> {
        let mut faults = calm();
        match trouble {
            Fault::RoomFor(pool, room) => {
                let name = format!("{}/{}", pool.place.region, pool.instance_type);
                faults.room.insert(name, *room);
            }
            Fault::Outage => faults.out = true,
            Fault::Throttling => faults.throttled = true,
            Fault::LostAnswers => faults.answers_lost = true,
            Fault::LostPage => faults.page_lost = true,
        }
        self.0.server.set(faults);
        Ok(())
    }

    async fn heal(&self) {
        self.0.server.set(calm());
    }
}

#[tokio::test]
async fn azure_conforms() {
    let twin = OnFake(fixture().await);
    twin.heal().await;
    let report = run(&twin).await;
    assert!(report.is_conformant(), "{report}");
    let skipped: Vec<&str> = report.skipped.iter().map(|(name, _)| *name).collect();
    assert_eq!(skipped, ["partial_fulfilment_is_an_answer"], "{report}");
    assert_eq!(report.passed.len(), 16, "{report}");
    let left = twin.0.server.meddle(|world| (world.live(), world.children()));
    assert_eq!(left, (0, 0), "machines and children are left");
}
