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
async fn kept(bed: &Fixture, fleet: &Desired) -> (usize, usize) {
    let recorded = bed.inputs(fleet).await.recorded;
    let filled = |state: &SlotState| matches!(state, SlotState::Filled { .. });
    let filled = recorded.slots.values().filter(|record| filled(&record.state)).count();
    (filled, bed.sim.remains().expect("a world").len())
}

#[tokio::test]
async fn a_machine_stays_on_record_until_its_disk_is_gone() {
    let bed = Fixture::new(Preset::Calm, 1);
    bed.apply(&azure(4)).await;
    let fleet = azure(3);
    bed.sim.fault(Fault::ChildrenLeft { percent: 100 }).expect("a fault");
    bed.apply(&fleet).await;
    bed.sim.advance(Duration::from_secs(600)).expect("time");
    assert_eq!(kept(&bed, &fleet).await, (4, 1));

    // Looking changes nothing, and says what an apply would do.
    let planned = bed.plan(&fleet).await;
    assert_eq!((planned.plan.clear.len(), planned.plan.vacate.len()), (1, 0));
    let told = |notice: &Notice| matches!(notice, Notice::LeftBehind { .. });
    assert_eq!(planned.report.notices.iter().filter(|notice| told(notice)).count(), 1);
    assert_eq!(kept(&bed, &fleet).await, (4, 1));

    // Accepted, and then it fails.
    let rounds = bed.apply(&fleet).await.rounds;
    assert_eq!(rounds.iter().map(|round| round.cleared).sum::<u32>(), 0);
    assert_eq!(kept(&bed, &fleet).await, (4, 1));

    bed.sim.heal().expect("healed");
    let rounds = bed.apply(&fleet).await.rounds;
    assert_eq!(rounds.iter().map(|round| round.cleared).sum::<u32>(), 1);
    assert_eq!(kept(&bed, &fleet).await, (3, 0));
    assert_eq!(bed.live().len(), 3);
    bed.assert_converged(&fleet).await;
}

#[tokio::test]
async fn disks_of_machines_that_are_not_listed_yet_are_left_alone() {
    let bed = Fixture::new(Preset::Calm, 1);
    bed.sim.delay_visibility(fleet_model::Cloud::Azure, Duration::from_secs(240)).expect("a fault");
    let fleet = azure(3);
    bed.apply(&fleet).await;
    let planned = bed.plan(&fleet).await;
    assert_eq!(bed.inputs(&fleet).await.observed.remains.len(), 3, "they are seen");
    assert!(planned.plan.is_empty() && planned.plan.vacate.is_empty());
}
