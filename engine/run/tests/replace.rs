//! Machines that a person wants replaced: the successor first, whatever happens in between.

mod fixture;

use fixture::mortal::Fate;
use fixture::{Fixture, apply_with, catalog_for, desired};
use fleet_core::{fold, plan};
use fleet_model::{Desired, Event, Hold, Limits, MachineId, MachineState, SlotId, SlotState};
use fleet_run::{Converged, Engine, Reach, Stop};
use fleet_sim::Preset;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

const CLOUDS: [(&str, &str); 4] = [
    ("aws", "m6i.xlarge, m7i.xlarge"),
    ("gcp", "n2-standard-4, e2-standard-4"),
    ("azure", "Standard_D4s_v4, Standard_D4s_v5"),
    ("lambda", "gpu_1x_a10, gpu_1x_a100"),
];

fn spec(cloud: &str, types: &str, target: u32, budget: &str) -> Desired {
    desired(&format!(
        "
apiVersion: fleet/v1
kind: Fleet
metadata: {{ name: herd }}
spec:
  capacity: {{ unit: instances, target: {target}, base: {{ onDemand: 100% }} }}
  instances: {{ types: [{types}] }}
  placement: {{ clouds: [{{ provider: {cloud} }}] }}
{budget}"
    ))
}

/// A fleet that is up.
async fn fleet(goal: &Desired) -> Fixture {
    let fixture = Fixture::with(Preset::Lifelike, 3, catalog_for(&[goal]));
    fixture.apply(goal).await;
    fixture.sim.advance(Duration::from_secs(1200)).expect("time");
    fixture
}

/// As `fleet replace` does it.
async fn replace(engine: &Engine, goal: &Desired, slots: &[SlotId]) -> Converged {
    let quiet = |_| {};
    let session = engine.begin(goal, "test", Duration::ZERO, &quiet).await.expect("a session");
    let mut limits = Limits::default();
    if slots.len() > 1 {
        limits.allow_destroy = Some(slots.len() as u32);
    }
    let mut inputs = session.gather(limits).await.expect("inputs");
    let wish = Event::ReplaceAsked { slots: slots.to_vec() };
    fold(&mut inputs.recorded, &wish, inputs.now);
    let planned = plan(&inputs);
    session.ask("test", wish).await.expect("asked");
    let stop = Stop::default();
    let first = (inputs, planned);
    let done = session.converge("test", first, Reach::Replacements, &stop, &quiet).await;
    session.finish().await.expect("finished");
    done.expect("converged")
}

async fn filled(fixture: &Fixture, goal: &Desired) -> Vec<(SlotId, MachineId, bool)> {
    let inputs = fixture.inputs(goal).await;
    let filled = inputs.recorded.slots.iter().filter_map(|(&name, record)| match &record.state {
        SlotState::Filled { machine, replace, .. } => {
            Some((SlotId { name, generation: record.generation }, machine.clone(), *replace))
        }
        SlotState::Vacant | SlotState::InDoubt { .. } => None,
    });
    filled.collect()
}

/// Machines that nobody has told to go.
fn standing(fixture: &Fixture) -> BTreeSet<MachineId> {
    let live = fixture.live().into_iter();
    live.filter(|machine| machine.state != MachineState::Stopping).map(|it| it.id).collect()
}

async fn rest(fixture: &Fixture, goal: &Desired) {
    for _ in 0..6 {
        let last = fixture.apply(goal).await.last.expect("a last look");
        fixture.sim.advance(Duration::from_secs(1200)).expect("time");
        if last.plan.is_empty() && last.report.held.is_empty() {
            break;
        }
    }
    fixture.assert_converged(goal).await;
}

#[tokio::test]
async fn a_machine_goes_when_its_successor_is_up() {
    for (cloud, types) in CLOUDS {
        let goal = spec(cloud, types, 3, "");
        let fixture = fleet(&goal).await;
        let before = filled(&fixture, &goal).await;
        let (slot, old, _) = before[1].clone();
        let done = replace(&fixture.engine, &goal, &[slot]).await;
        let launched: Vec<(u32, u32)> =
            done.rounds.iter().map(|round| (round.created, round.destroyed)).collect();
        assert_eq!(launched, [(1, 0), (0, 1)], "{cloud}: first one, then the other");
        assert_eq!(done.last.expect("a look").report.held, [], "{cloud}");
        let now = standing(&fixture);
        assert_eq!(now.len(), 3, "{cloud}");
        assert!(!now.contains(&old), "{cloud}");
        for (_, kept, _) in before.iter().filter(|(one, ..)| *one != slot) {
            assert!(now.contains(kept), "{cloud}: {kept} is none of it");
        }
        // The successor was up before anybody told the old machine to go.
        let up = fixture.live().into_iter().filter(|it| it.state == MachineState::Running);
        assert_eq!(up.count(), 3, "{cloud}");
        rest(&fixture, &goal).await;
    }
}

/// At whatever moment the process dies: never fewer machines than wanted, and in the end the old one is
/// gone if anybody was told of the wish, and no other.
#[tokio::test]
async fn a_death_at_any_moment_is_made_good() {
    for (cloud, types) in CLOUDS {
        let goal = spec(cloud, types, 3, "");
        let mut deaths = 0;
        for fatal in 1.. {
            let fixture = fleet(&goal).await;
            let before = filled(&fixture, &goal).await;
            let (slot, old, _) = before[0].clone();
            let fate: Arc<Fate> = Fate::at(fatal);
            let engine = fixture.mortal(&fate);
            let lived = fate.run(replace(&engine, &goal, &[slot])).await.is_some();
            drop(engine);
            fixture.store.forget_leases().await.expect("no lease");
            fixture.assert_one_per_slot();
            assert!(standing(&fixture).len() >= 3, "{cloud}: {fatal}");
            let asked = filled(&fixture, &goal).await.iter().any(|(_, _, asked)| *asked);
            let gone = !standing(&fixture).contains(&old);
            rest(&fixture, &goal).await;
            let now = standing(&fixture);
            assert_eq!(now.len(), 3, "{cloud}: {fatal}");
            assert_eq!(now.contains(&old), !(asked || gone || lived), "{cloud}: {fatal}");
            for (_, kept, _) in &before[1..] {
                assert!(now.contains(kept), "{cloud}: {fatal}: {kept} is none of it");
            }
            if lived {
                break;
            }
            deaths += 1;
        }
        assert!(deaths > 10, "{cloud}: {deaths}");
    }
}

/// Two of three: one surge at a time, and neither waits for the other for ever.
#[tokio::test]
async fn several_are_replaced_in_turn() {
    let (cloud, types) = CLOUDS[0];
    let goal = spec(cloud, types, 3, "");
    let fixture = fleet(&goal).await;
    let before = filled(&fixture, &goal).await;
    let slots = [before[0].0, before[2].0];
    let done = replace(&fixture.engine, &goal, &slots).await;
    let destroyed: u32 = done.rounds.iter().map(|round| round.destroyed).sum();
    assert_eq!((destroyed, standing(&fixture).len()), (2, 3));
    assert!(standing(&fixture).contains(&before[1].1));
    rest(&fixture, &goal).await;
}

/// Old and new stand side by side, and both are paid for: without money for that nothing happens.
#[tokio::test]
async fn the_budget_is_kept() {
    let (cloud, types) = CLOUDS[0];
    let goal = spec(cloud, types, 3, "  budget: { hourlyUsd: 0.60 }\n");
    let fixture = fleet(&goal).await;
    let before = filled(&fixture, &goal).await;
    assert_eq!(before.len(), 3, "they fit, and a fourth does not");
    let (slot, old, _) = before[0].clone();
    let done = replace(&fixture.engine, &goal, &[slot]).await;
    let last = done.last.expect("a look").report;
    assert!(standing(&fixture).contains(&old));
    assert_eq!(standing(&fixture).len(), 3);
    let held = Hold::SuccessorsNotUp { slots: vec![slot.name], starting: 0 };
    assert!(last.held.contains(&held), "{:?}", last.held);
    assert!(!last.unplaced.is_empty());
}

#[tokio::test]
async fn a_wish_can_be_withdrawn_and_goes_with_its_machine() {
    let (cloud, types) = CLOUDS[0];
    let goal = spec(cloud, types, 3, "");
    let fixture = fleet(&goal).await;
    let (slot, old, _) = filled(&fixture, &goal).await[0].clone();
    fixture.sim.exhaust("*", None).expect("no capacity");
    replace(&fixture.engine, &goal, &[slot]).await;
    assert!(standing(&fixture).contains(&old), "nothing replaces it");
    let quiet = |_| {};
    let session = fixture.engine.begin(&goal, "test", Duration::ZERO, &quiet).await;
    let session = session.expect("a session");
    session.ask("test", Event::ReplaceWithdrawn { slots: vec![slot] }).await.expect("withdrawn");
    session.finish().await.expect("finished");
    fixture.sim.heal().expect("healed");
    fixture.sim.advance(Duration::from_secs(7200)).expect("time");
    rest(&fixture, &goal).await;
    assert!(standing(&fixture).contains(&old), "it stays");
    // A wish for a filling of the slot that is over is nobody's.
    let gone = SlotId { name: slot.name, generation: slot.generation + 1 };
    replace(&fixture.engine, &goal, &[gone]).await;
    assert!(standing(&fixture).contains(&old));
    assert!(!filled(&fixture, &goal).await.iter().any(|(_, _, asked)| *asked));
}

/// A plain apply obeys the wish too, and waits until the old machine may go: both are paid for meanwhile.
#[tokio::test]
async fn applies_go_on_with_it() {
    let (cloud, types) = CLOUDS[1];
    let goal = spec(cloud, types, 3, "");
    let fixture = fleet(&goal).await;
    let (slot, old, _) = filled(&fixture, &goal).await[0].clone();
    let quiet = |_| {};
    let session = fixture.engine.begin(&goal, "test", Duration::ZERO, &quiet).await;
    let session = session.expect("a session");
    session.ask("test", Event::ReplaceAsked { slots: vec![slot] }).await.expect("asked");
    session.finish().await.expect("finished");
    let first = apply_with(&fixture.engine, &goal, Limits::default()).await.expect("applied");
    let held = first.last.iter().flat_map(|last| &last.report.held).count();
    assert_eq!((first.rounds.len(), held), (2, 0), "one launches, one destroys");
    fixture.sim.advance(Duration::from_secs(120)).expect("time");
    assert!(!standing(&fixture).contains(&old));
    assert_eq!(standing(&fixture).len(), 3);
}
