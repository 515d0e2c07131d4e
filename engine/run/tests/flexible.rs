//! Launches that leave the choice of pools to the cloud: part of them, refusals, elsewhere, at rest.

mod fixture;

use fixture::{Fixture, desired};
use fleet_model::{Action, BlockScope, Cloud, Create, Event, SlotState};
use fleet_sim::Preset;
use std::collections::BTreeSet;
use std::time::Duration;

/// A fleet on one cloud whose launches are flexible.
fn flexible(target: u32) -> String {
    format!(
        "
apiVersion: fleet/v1
kind: Fleet
metadata: {{ name: any }}
spec:
  capacity: {{ unit: instances, target: {target}, base: {{ onDemand: 50% }} }}
  instances: {{ types: [m6i.xlarge, m7i.xlarge, c6i.xlarge] }}
  placement:
    clouds: [{{ provider: aws, regions: [us-east-1, us-west-2] }}]
    spread: {{ maxSharePerPool: 15% }}
    fulfilment: flexible
"
    )
}

fn creates(planned: &fleet_core::Planned) -> Vec<Create> {
    let steps = planned.plan.steps.iter();
    let create = |step: &fleet_model::Step| match &step.action {
        Action::Create(create) => Some(create.clone()),
        Action::Destroy(_) => None,
    };
    steps.filter_map(create).collect()
}

#[tokio::test]
async fn one_request_per_region_and_market() {
    let fixture = Fixture::new(Preset::Calm, 1);
    let fleet = desired(&flexible(40));
    let planned = fixture.plan(&fleet).await;
    let asked = creates(&planned);
    let apart: BTreeSet<_> =
        asked.iter().map(|c| (c.pool.place.region.clone(), c.pool.market)).collect();
    assert_eq!(apart.len(), asked.len(), "{asked:#?}");
    assert!(asked.iter().any(|create| create.others.len() > 1), "{asked:#?}");
    let meant: u32 = planned.report.pools.iter().map(|line| line.create).sum();
    assert_eq!(meant, 40);
    fixture.apply(&fleet).await;
    fixture.assert_converged(&fleet).await;
    assert_eq!(fixture.live().len(), 40);
}

#[tokio::test]
async fn pools_without_room_are_refused_one_by_one_and_the_next_round_goes_elsewhere() {
    let fixture = Fixture::new(Preset::Calm, 1);
    let fleet = desired(&flexible(40));
    let asked = creates(&fixture.plan(&fleet).await);
    let first = asked.iter().find(|create| create.others.len() > 1).expect("a choice").clone();
    // Room for one in the first pool, for none in the second.
    fixture.sim.exhaust(first.others[0].pool.to_string().as_str(), None).expect("a fault");
    fixture.sim.limit_room(first.pool.to_string().as_str(), 1, None).expect("a fault");
    fixture.apply(&fleet).await;
    fixture.assert_converged(&fleet).await;
    assert_eq!(fixture.live().len(), 40);
    let recorded = fixture.inputs(&fleet).await.recorded;
    let blocked: BTreeSet<_> = recorded
        .blocks
        .iter()
        .filter_map(|block| match &block.scope {
            BlockScope::Pool { pool } => Some(pool.clone()),
            _ => None,
        })
        .collect();
    for pool in [&first.pool, &first.others[0].pool] {
        assert!(blocked.contains(pool), "{pool} is not in {blocked:#?}");
    }
    // Every slot is recorded with the pool that its machine stands in.
    let live = fixture.live();
    for slot in recorded.slots.values() {
        let SlotState::Filled { machine, pool, price, .. } = &slot.state else { continue };
        let seen = live.iter().find(|one| one.id == *machine).expect("live");
        assert_eq!((seen.pool(), seen.price), (pool.clone(), *price));
    }
    let history = fixture.engine.history(&fleet.fleet).await.expect("a history");
    let events = history.iter().flat_map(|record| &record.events);
    let apart = events.filter(|event| matches!(event, Event::Blocked { .. })).count();
    assert!(apart >= 2, "{apart} refusals are recorded");
}

#[tokio::test]
async fn lost_answers_of_a_choice_make_no_duplicates() {
    for seed in 1..=6 {
        let fixture = Fixture::new(Preset::Lifelike, seed);
        fixture.sim.lose_answers(Cloud::Aws, 60).expect("a fault");
        let fleet = desired(&flexible(30));
        for _ in 0..3 {
            fixture.apply(&fleet).await;
            fixture.assert_one_per_slot();
            assert!(fixture.live().len() <= 30, "seed {seed}: {} machines", fixture.live().len());
            fixture.sim.advance(Duration::from_secs(30)).expect("time");
        }
        fixture.sim.heal().expect("healed");
        fixture.apply(&fleet).await;
        fixture.assert_converged(&fleet).await;
        assert_eq!(fixture.live().len(), 30, "seed {seed}");
    }
}
