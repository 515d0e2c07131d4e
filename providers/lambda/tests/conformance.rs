//! The suite that every provider must pass, on a fake that keeps Lambda's rates.

use async_trait::async_trait;
use fleet_fakes::lambda::{KEY, LambdaCloud, SSH_KEY};
use fleet_fakes::{Faults, Server};
use fleet_lambda::{Lambda, LambdaSettings};
use fleet_model::{PoolId, Template};
use fleet_provider::conformance::{Fault, Harness, run};
use fleet_provider::{Clock, Provider};
use fleet_testkit::SteppedClock;
use std::sync::Arc;
use std::time::Duration;

struct OnFake {
    server: Server<LambdaCloud>,
    provider: Arc<dyn Provider>,
    clock: Arc<dyn Clock>,
}

/// Also without trouble, machines are not listed at once.
fn calm() -> Faults {
    Faults { hidden_for: 60, ..Faults::default() }
}

#[async_trait]
impl Harness for OnFake {
    fn provider(&self) -> Arc<dyn Provider> {
        self.provider.clone()
    }

    fn clock(&self) -> Arc<dyn Clock> {
        self.clock.clone()
    }

    fn pools(&self) -> Vec<PoolId> {
        let pool = |text: &str| text.parse().expect("a pool");
        vec![
            pool("lambda/us-east-1/regional/gpu_1x_a10/on-demand"),
            pool("lambda/us-west-1/regional/gpu_8x_h100_sxm5/on-demand"),
        ]
    }

    fn template(&self) -> Template {
        Template { key: Some(SSH_KEY.into()), ..Template::default() }
    }

    fn longest_wait(&self) -> Duration {
        Duration::from_secs(86_400)
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
        self.server.set(faults);
        Ok(())
    }

    async fn heal(&self) {
        self.server.set(calm());
    }
}

#[tokio::test]
async fn lambda_conforms() {
    let clock: Arc<dyn Clock> = Arc::new(SteppedClock::default());
    let server = Server::start(LambdaCloud::default(), clock.clone(), 0).await.expect("a fake");
    let settings = LambdaSettings { key: Some(KEY.into()), endpoint: server.url() };
    let provider = Arc::new(Lambda::new(settings, clock.clone()));
    let twin = OnFake { server, provider, clock };
    twin.heal().await;
    let report = run(&twin).await;
    assert!(report.is_conformant(), "{report}");
    let skipped: Vec<&str> = report.skipped.iter().map(|(name, _)| *name).collect();
    let skips = ["labels_change_in_place", "partial_fulfilment_is_an_answer"];
    assert_eq!(skipped, skips, "{report}");
    assert_eq!(report.passed.len(), 15, "{report}");
}
