//! Disks that outlive their machine: seen, on record until they are gone, cleared away by an apply.

mod fixture;

use fixture::{Fixture, desired};
use fleet_model::{Desired, Notice, SlotState};
use fleet_sim::{Fault, Preset};
use std::time::Duration;

fn azure(target: u32) -> Desired {
    desired(&format!(
        "
apiVersion: fleet/v1
kind: Fleet
metadata: {{ name: herd }}
spec:
  capacity: {{ unit: instances, target: {target}, base: {{ onDemand: 100% }} }}
  instances: {{ vcpus: {{ min: 4, max: 8 }} }}
  placement:
    clouds: [{{ provider: azure, regions: [eastus, westus2] }}]
"
    ))
}

/// Machines on record, and those of which only a disk is there.
async fn kept(fixture: &Fixture, fleet: &Desired) -> (usize, usize) {
    let recorded = fixture.inputs(fleet).await.recorded;
    let filled = |state: &SlotState| matches!(state, SlotState::Filled { .. });
    let filled = recorded.slots.values().filter(|record| filled(&record.state)).count();
    (filled, fixture.sim.orphans().expect("a world").len())
}

#[tokio::test]
async fn a_machine_stays_on_record_until_its_disk_is_gone() {
    let fixture = Fixture::new(Preset::Calm, 1);
    fixture.apply(&azure(4)).await;
    let fleet = azure(3);
    fixture.sim.fault(Fault::ChildrenLeft { percent: 100 }).expect("a fault");
    fixture.apply(&fleet).await;
    fixture.sim.advance(Duration::from_secs(600)).expect("time");
    assert_eq!(kept(&fixture, &fleet).await, (4, 1));

    // Looking changes nothing, and says what an apply would do.
    let planned = fixture.plan(&fleet).await;
    assert_eq!((planned.plan.clear.len(), planned.plan.vacate.len()), (1, 0));
    let told = |notice: &Notice| matches!(notice, Notice::LeftBehind { .. });
    assert_eq!(planned.report.notices.iter().filter(|notice| told(notice)).count(), 1);
    assert_eq!(kept(&fixture, &fleet).await, (4, 1));

    // Accepted, and then it fails.
    let rounds = fixture.apply(&fleet).await.rounds;
    assert_eq!(rounds.iter().map(|round| round.cleared).sum::<u32>(), 0);
    assert_eq!(kept(&fixture, &fleet).await, (4, 1));

    fixture.sim.heal().expect("healed");
    let rounds = fixture.apply(&fleet).await.rounds;
    assert_eq!(rounds.iter().map(|round| round.cleared).sum::<u32>(), 1);
    assert_eq!(kept(&fixture, &fleet).await, (3, 0));
    assert_eq!(fixture.live().len(), 3);
    fixture.assert_converged(&fleet).await;
}

#[tokio::test]
async fn disks_of_machines_that_are_not_listed_yet_are_left_alone() {
    let fixture = Fixture::new(Preset::Calm, 1);
    fixture
        .sim
        .delay_visibility(fleet_model::Cloud::Azure, Duration::from_secs(240))
        .expect("a fault");
    let fleet = azure(3);
    fixture.apply(&fleet).await;
    let planned = fixture.plan(&fleet).await;
    assert_eq!(fixture.inputs(&fleet).await.observed.orphans.len(), 3, "they are seen");
    assert!(planned.plan.is_empty() && planned.plan.vacate.is_empty());
}
