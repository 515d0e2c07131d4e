//! What machines leave behind: on record until it is gone, cleared away only when that is safe.

use crate::world::{Row, at, catalog, desired, inputs, obey};
use fleet_core::{Violation, check, fold, plan};
use fleet_model::{
    Action, Cloud, Event, Hold, Inputs, MachineId, Orphans, Scope, SlotState, Token, Unit,
};

const AZURE: &[Row<'_>] = &[("azure/eastus/regional/d.4", 0, Some(100), None)];

fn scope() -> Scope {
    Scope { cloud: Cloud::Azure, region: "eastus".into() }
}

fn leave(world: &mut Inputs, machine: &MachineId, token: &Token) {
    let left = Orphans { machine: machine.clone(), token: token.clone(), scope: scope() };
    world.observed.orphans.insert(machine.clone(), left);
}

/// A fleet of so many, of which the first `gone` are no longer listed and left a disk each.
fn fleet(machines: u64, gone: usize) -> Inputs {
    let mut world = inputs(desired(machines, machines, Unit::Instances), &catalog(AZURE));
    let first = plan(&world);
    obey(&mut world, &first, 3600);
    let ids: Vec<MachineId> = world.observed.machines.keys().take(gone).cloned().collect();
    for id in ids {
        let machine = world.observed.machines.remove(&id).expect("it was there");
        leave(&mut world, &id, &machine.owner.expect("ours").token);
        world.observed.gone.insert(id, None);
    }
    world
}

#[test]
fn a_machine_that_left_a_disk_keeps_its_record_and_its_slot() {
    let world = fleet(4, 1);
    let planned = plan(&world);
    assert_eq!(check(&world, &planned), []);
    assert_eq!((planned.plan.clear.len(), planned.plan.vacate.len()), (1, 0));
    // It no longer counts, and is replaced, in another slot.
    let [step] = planned.plan.steps.as_slice() else { panic!("{planned:#?}") };
    let Action::Create(create) = &step.action else { panic!("{step:?}") };
    let free = world.recorded.slots.get(&create.slots[0].name);
    assert!(free.is_none_or(|record| record.state == SlotState::Vacant), "{free:?}");
    let mut cleared = world.clone();
    cleared.observed.orphans.clear();
    let planned = plan(&cleared);
    assert_eq!((planned.plan.clear.len(), planned.plan.vacate.len()), (0, 1));
}

#[test]
fn while_a_fleet_is_frozen_nothing_of_it_is_cleared_away() {
    let mut world = fleet(8, 4);
    let planned = plan(&world);
    assert_eq!(planned.report.held, [Hold::Frozen { missing: 4, of: 8 }]);
    assert!(planned.plan.is_empty() && planned.plan.vacate.is_empty(), "{:?}", planned.plan);
    world.limits.accept_loss = Some(4);
    assert_eq!(plan(&world).plan.clear.len(), 4);
}

#[test]
fn what_is_young_or_silent_is_left_alone() {
    let mut young = fleet(4, 1);
    young.observed.gone.clear();
    assert!(plan(&young).plan.clear.is_empty(), "a list proves nothing of what is not in it");
    let mut silent = fleet(4, 1);
    silent.observed.complete.remove(&scope());
    assert!(plan(&silent).plan.clear.is_empty(), "nobody knows");
}

#[test]
fn a_launch_in_doubt_is_cleared_up_after_when_absence_is_proof() {
    let mut world = inputs(desired(1, 1, Unit::Instances), &catalog(AZURE));
    world.recorded.uid = Some(world.uid.clone());
    let first = plan(&world);
    let Action::Create(create) = &first.plan.steps[0].action else { panic!("{first:#?}") };
    fold(&mut world.recorded, &Event::CreateIntended { create: create.clone() }, at(0));
    leave(&mut world, &"fleet-x".into(), &create.token);
    for (second, clears) in [(329, 0), (330, 1)] {
        world.observed.taken_at = at(second);
        let planned = plan(&world);
        assert_eq!(check(&world, &planned), []);
        assert_eq!(planned.plan.clear.len(), clears, "after {second} s");
    }
    // What nobody has on record is nobody's to clear away.
    let mut stranger = plan(&world);
    stranger.plan.clear[0].machine = "somebody-elses".into();
    stranger.plan.clear[0].token = "another".into();
    let machine = "somebody-elses".into();
    assert_eq!(check(&world, &stranger), [Violation::UnknownRemains { machine }]);
}
