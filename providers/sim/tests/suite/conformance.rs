//! Every simulated cloud passes the suite that real ones must pass, in both presets.

use crate::support::{AWS_CPU, AWS_GPU_SPOT, AZURE_CPU, GCP_CPU, LAMBDA, minutes, pool, sim};
use async_trait::async_trait;
use fleet_model::{Cloud, Labels, MachineId, PoolId};
use fleet_provider::conformance::{Fault, Harness, run};
use fleet_provider::{Clock, Provider};
use fleet_sim::{Area, Preset, Sim};
use std::sync::Arc;
use std::time::Duration;

pub(crate) struct Twin {
    pub(crate) sim: Sim,
    pub(crate) pools: Vec<PoolId>,
}

impl Twin {
    fn cloud(&self) -> Cloud {
        self.pools[0].place.cloud
    }
}

#[async_trait]
impl Harness for Twin {
    fn provider(&self) -> Arc<dyn Provider> {
        self.sim.provider(self.cloud())
    }

    fn clock(&self) -> Arc<dyn Clock> {
        self.sim.clock()
    }

    fn pools(&self) -> Vec<PoolId> {
        self.pools.clone()
    }

    fn longest_wait(&self) -> Duration {
        minutes(3 * 24 * 60)
    }

    async fn labels(&self, machine: &MachineId) -> Option<Labels> {
        self.sim.labels(machine).expect("a world")
    }

    async fn cause(&self, trouble: &Fault) -> Result<(), String> {
        let (sim, cloud) = (&self.sim, self.cloud());
        let area = Area::from(self.pools[0].place.scope());
        match trouble {
            Fault::RoomFor(pool, more) => {
                let machines = sim.machines().expect("machines");
                let live = machines.iter().filter(|m| m.state.is_live() && m.pool() == *pool);
                let room_for = live.count() as u32 + more;
                sim.limit_room(pool.to_string(), room_for, None)
            }
            Fault::Outage => sim.outage(area, None),
            Fault::Throttling => sim.throttle(cloud, minutes(60)),
            Fault::LostAnswers => sim.lose_answers(cloud, 100),
            Fault::LostPage => sim.partial_lists(area),
        }
        .map_err(|error| error.to_string())
    }

    async fn heal(&self) {
        self.sim.heal().expect("healed");
    }
}

async fn check(preset: Preset, pools: &[&str], skipped: &[&str]) {
    let twin = Twin { sim: sim(preset), pools: pools.iter().map(|text| pool(text)).collect() };
    let report = run(&twin).await;
    assert!(report.is_conformant(), "{} {preset}\n{report}", twin.cloud());
    let names: Vec<&str> = report.skipped.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, skipped, "{report}");
    assert_eq!(report.passed.len() + report.skipped.len(), 17);
}

#[tokio::test]
async fn all_clouds_conform() {
    for preset in [Preset::Calm, Preset::Lifelike] {
        let partial = ["partial_fulfilment_is_an_answer"];
        check(preset, &[AWS_CPU, AWS_GPU_SPOT], &[]).await;
        check(preset, &[GCP_CPU, "gcp/us-central1/us-central1-b/a3-highgpu-8g/spot"], &[]).await;
        check(preset, &[AZURE_CPU, "azure/westeurope/westeurope-1/Standard_D8s_v5/spot"], &partial)
            .await;
        check(preset, &[LAMBDA], &["labels_change_in_place", "partial_fulfilment_is_an_answer"])
            .await;
    }
}
