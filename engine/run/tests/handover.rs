//! Fleets that get another name and machines that change hands: a process dies at every moment at which it can,
//! and a second one ends what it began. On a store far away, where a lease is made of objects.

mod fixture;

use fixture::mortal::Fate;
use fixture::{Fixture, catalog_for, desired};
use fleet_core::adopt;
use fleet_model::{Desired, FleetName, Labelled, Limits, MachineId, Scope, SlotId, SlotState};
use fleet_provider::TagFilter;
use fleet_run::{Engine, RunError};
use fleet_sim::Preset;
use std::collections::BTreeSet;
use std::time::Duration;

fn spec(name: &str) -> Desired {
    desired(&format!(
        "
apiVersion: fleet/v1
kind: Fleet
metadata: {{ name: {name}, labels: {{ team: research }} }}
spec:
  capacity: {{ unit: instances, target: 4, base: {{ onDemand: 50% }} }}
  instances: {{ types: [m6i.xlarge, n2-standard-4] }}
  placement:
    clouds: [{{ provider: aws, regions: [us-east-1] }}, {{ provider: gcp, regions: [us-central1] }}]
    spread: {{ maxSharePerProvider: 50% }}
"
    ))
}

/// A fleet of four on two clouds.
async fn standing() -> Fixture {
    let fixture = Fixture::with(Preset::Calm, 1, catalog_for(&[&spec("old")]));
    fixture.apply(&spec("old")).await;
    fixture.sim.advance(Duration::from_secs(600)).expect("time");
    fixture
}

fn ids(fixture: &Fixture) -> BTreeSet<MachineId> {
    fixture.live().into_iter().map(|machine| machine.id).collect()
}

async fn rename(engine: &Engine) -> Result<(), RunError> {
    let names = (&FleetName::new("old"), &FleetName::new("new"));
    engine.rename(names, "test", Duration::ZERO, &|_| {}).await.map(|_| ())
}

async fn release(engine: &Engine) -> Result<(), RunError> {
    let session = engine.begin(&spec("old"), "test", Duration::ZERO, &|_| {}).await?;
    let recorded = session.gather(Limits::default()).await?.recorded;
    let filled = recorded.slots.iter().filter_map(|(&name, record)| match &record.state {
        SlotState::Filled { machine, pool, .. } => {
            let slot = SlotId { name, generation: record.generation };
            Some((pool.place.scope(), Labelled { machine: machine.clone(), slot }))
        }
        SlotState::InDoubt { .. } | SlotState::Vacant => None,
    });
    session.let_go("test", filled.collect()).await?;
    session.finish().await
}

async fn import(engine: &Engine) -> Result<(), RunError> {
    let session = engine.begin(&spec("lab"), "test", Duration::ZERO, &|_| {}).await?;
    let mut inputs = session.gather(Limits::default()).await?;
    let scopes: BTreeSet<Scope> = inputs.observed.complete.clone();
    let tag = TagFilter { key: "team".into(), value: "research".into() };
    let answers = engine.unowned(&scopes, &tag).await;
    let found: Vec<_> =
        answers.into_iter().flat_map(|(_, answer)| answer.expect("an answer")).collect();
    engine.know_pools(&mut inputs, &found);
    session.take_in("test", &adopt(&inputs, &found)).await?;
    session.finish().await
}

/// A run that dies at every moment in turn, and one after it that lives.
async fn die_everywhere(
    before: impl AsyncFn() -> Fixture,
    deed: impl AsyncFn(&Engine) -> Result<(), RunError>,
    after: impl AsyncFn(&Fixture),
) -> u32 {
    for fatal in 1.. {
        let fixture = before().await;
        let machines = ids(&fixture);
        let fate = Fate::at(fatal);
        let lived = fate.run(deed(&fixture.mortal(&fate))).await;
        if let Some(done) = &lived {
            done.as_ref().expect("done");
        }
        fixture.store.forget_leases().await.expect("a store");
        assert_eq!(ids(&fixture), machines, "no machine is touched");
        deed(&fixture.engine).await.unwrap_or_else(|error| panic!("moment {fatal}: {error}"));
        assert_eq!(ids(&fixture), machines, "no machine is touched");
        after(&fixture).await;
        if lived.is_some() {
            return fatal - 1;
        }
    }
    0
}

#[tokio::test]
async fn a_rename_dies_anywhere() {
    let moments = die_everywhere(standing, rename, async |fixture: &Fixture| {
        assert_eq!(fixture.engine.fleets().await.expect("names"), [FleetName::new("new")]);
        fixture.assert_converged(&spec("new")).await;
        let owners = fixture.live().into_iter().filter_map(|machine| machine.owner);
        assert!(owners.into_iter().all(|owner| owner.name.as_str() == "new"));
    })
    .await;
    // The record that says so, a copy of each, and the end of each, before and after.
    assert!(moments > 10, "{moments}");
}

#[tokio::test]
async fn a_release_dies_anywhere() {
    let moments = die_everywhere(standing, release, async |fixture: &Fixture| {
        assert!(fixture.live().into_iter().all(|machine| machine.owner.is_none()));
        assert_eq!(fixture.engine.standing(&FleetName::new("old")).await.expect("read"), 0);
    })
    .await;
    assert!(moments >= 8, "{moments}");
}

#[tokio::test]
async fn an_import_dies_anywhere() {
    let released = async || {
        let fixture = standing().await;
        release(&fixture.engine).await.expect("released");
        fixture
    };
    let moments = die_everywhere(released, import, async |fixture: &Fixture| {
        fixture.assert_converged(&spec("lab")).await;
        assert_eq!(fixture.engine.standing(&FleetName::new("lab")).await.expect("read"), 4);
    })
    .await;
    assert!(moments >= 8, "{moments}");
}
