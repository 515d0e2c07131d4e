//! How long a run waits for machines to be ready.

mod fixture;

use async_trait::async_trait;
use fixture::{Fixture, catalog_for, desired};
use fleet_core::plan;
use fleet_model::{Desired, Health, Hold, Interruption, Limits, Probed, RolloutWait};
use fleet_provider::Clock;
use fleet_run::{HookTarget, Hooks, Reach, Stop};
use fleet_sim::Preset;
use std::sync::Arc;
use std::time::Duration;

/// For so long the machine that changes its mind keeps it.
const SPELL: Duration = Duration::from_secs(600);

/// Checks that nobody can make, of all machines but the first: that one is well and unwell by turns.
struct ByTurns(Arc<dyn Clock>);

#[async_trait]
impl Hooks for ByTurns {
    async fn check(&self, of: HookTarget<'_>, _: &Health) -> Probed {
        if of.slot.name.ordinal > 0 {
            return Probed::NotMade { words: "no such program".into() };
        }
        match self.0.steady().as_secs() / SPELL.as_secs() % 2 {
            0 => Probed::Passed,
            _ => Probed::Failed { words: "connection refused".into() },
        }
    }

    async fn drain(&self, _: HookTarget<'_>, _: &Interruption) -> Result<(), String> {
        Ok(())
    }
}

fn spec(image: &str, health: &str) -> Desired {
    desired(&format!(
        "
apiVersion: fleet/v1
kind: Fleet
metadata: {{ name: herd }}
spec:
  capacity: {{ unit: instances, target: 3, base: {{ onDemand: 100% }} }}
  instances: {{ types: [m6i.xlarge] }}
  placement: {{ clouds: [{{ provider: aws, regions: [us-east-1] }}] }}
  template: {{ image: {{ aws: {image} }} }}
{health}"
    ))
}

/// What is ready by turns is news each time, and no reason to wait on: apply says what it waits for, and ends.
#[tokio::test]
async fn a_machine_that_comes_and_goes_is_not_waited_for_for_ever() {
    let before = spec("ami-00000000000000001", "");
    let health = "  health: { command: [./ready], unhealthyAfter: 20m }\n";
    let goal = spec("ami-00000000000000002", health);
    let mut fixture = Fixture::with(Preset::Lifelike, 3, catalog_for(&[&goal]));
    fixture.apply(&before).await;
    fixture.sim.advance(Duration::from_secs(1200)).expect("time");
    let clock = fixture.sim.clock();
    fixture.engine = fixture.engine.with_hooks(Arc::new(ByTurns(clock.clone())));

    let quiet = |_| {};
    let session = fixture.engine.begin(&goal, "test", Duration::ZERO, &quiet).await;
    let session = session.expect("a session");
    let inputs = session.gather(Limits::default()).await.expect("inputs");
    let first = (inputs.clone(), plan(&inputs));
    let begun = clock.steady();
    let stop = Stop::default();
    let done = session.converge("test", first, Reach::Replacements, &stop, &quiet).await;
    let took = clock.steady() - begun;
    session.finish().await.expect("finished");

    let last = done.expect("converged").last.expect("a look");
    let waits = |hold: &Hold| {
        matches!(hold, Hold::Rollout { waits: RolloutWait::Ready { launching: 1.., .. }, .. })
    };
    assert!(last.report.held.iter().any(waits), "{:?}", last.report.held);
    assert!(took > 2 * SPELL, "it waits: {took:?}");
    assert!(took < 5 * SPELL, "and not for ever: {took:?}");
}
