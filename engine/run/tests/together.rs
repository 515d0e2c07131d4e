//! Several fleets looked at together: one look per account, and to each its own.

mod fixture;

use fixture::mortal::Fate;
use fixture::{Fixture, cpu, desired};
use fleet_core::plan;
use fleet_model::{Desired, Hold, Inputs, Limits, Machine, PoolId};
use fleet_run::{Engine, RunError};
use fleet_sim::Preset;
use std::collections::BTreeSet;
use std::time::Duration;

fn named(name: &str, target: u32) -> Desired {
    desired(&cpu(target).replace("name: cpu", &format!("name: {name}")))
}

async fn stand() -> (Fixture, Vec<Desired>) {
    let fixture = Fixture::new(Preset::Calm, 1);
    let fleets = vec![named("a", 4), named("b", 8), named("c", 12)];
    for fleet in &fleets {
        fixture.apply(fleet).await;
    }
    (fixture, fleets)
}

async fn together(engine: &Engine, fleets: &[Desired]) -> Vec<Result<Inputs, RunError>> {
    let fleets: Vec<&Desired> = fleets.iter().collect();
    engine.gather_all(&fleets, Limits::default()).await
}

#[tokio::test]
async fn each_region_is_asked_once_and_each_fleet_sees_its_own() {
    let (fixture, fleets) = stand().await;
    let alone = Fate::at(0);
    let engine = fixture.mortal(&alone);
    let mut one_by_one = Vec::new();
    for fleet in &fleets {
        one_by_one.push(engine.gather(fleet, Limits::default()).await.expect("inputs"));
    }
    assert_eq!(alone.looks(), 9, "three fleets in three regions");

    let shared = Fate::at(0);
    let all = together(&fixture.mortal(&shared), &fleets).await;
    assert_eq!(shared.looks(), 3, "three regions");
    for ((fleet, inputs), alone) in fleets.iter().zip(all).zip(one_by_one) {
        let inputs = inputs.expect("inputs");
        let ours = |inputs: &Inputs| {
            let all = inputs.observed.machines.values();
            let uid = inputs.recorded.uid.as_ref().expect("a fleet");
            let of = move |machine: &&Machine| {
                machine.owner.as_ref().is_some_and(|owner| owner.fleet == *uid)
            };
            all.filter(of).count()
        };
        assert_eq!(ours(&inputs), ours(&alone), "{}", fleet.fleet);
        for seen in [&inputs.observed, &alone.observed] {
            assert_eq!(seen.machines.len(), ours(&inputs), "none of its neighbours'");
        }
        assert_eq!(inputs.observed.complete, alone.observed.complete);
        assert!(plan(&inputs).plan.is_empty(), "{} stands", fleet.fleet);
    }
}

#[tokio::test]
async fn a_pool_that_takes_back_a_neighbours_machine_warns_all() {
    // Other clouds tell machines of theirs alone.
    let on_aws = |name| desired(&cpu(8).replace("name: cpu", name).replace(", n2, c3", ""));
    let fleets = ["name: a", "name: b", "name: c"].map(on_aws);
    let fixture = Fixture::new(Preset::Calm, 1);
    for fleet in &fleets {
        fixture.apply(fleet).await;
    }
    fixture.sim.interrupt("aws/*/*/*/spot", 3).expect("notices");
    let leaving = |inputs: &Inputs| -> BTreeSet<PoolId> {
        let taken = inputs.observed.machines.values().filter(|machine| machine.is_taken_back());
        taken.map(Machine::pool).collect()
    };
    let engine = &fixture.engine;
    let mut all = together(engine, &fleets).await;
    for fleet in &fleets {
        all.push(engine.gather(fleet, Limits::default()).await);
    }
    let seen: Vec<_> = all.iter().flatten().map(leaving).collect();
    assert!(seen.len() == 6 && !seen[0].is_empty(), "{seen:?}");
    assert!(seen.iter().all(|pools| *pools == seen[0]), "{seen:?}");
}

#[tokio::test]
async fn who_lost_its_journal_still_knows_its_machines_by_name() {
    let (fixture, fleets) = stand().await;
    let all = together(&fixture.without_journals(), &fleets).await;
    for (fleet, inputs) in fleets.iter().zip(all) {
        let held = plan(&inputs.expect("inputs")).report.held;
        let lost = held.iter().find_map(|hold| match hold {
            Hold::JournalLost { machines } => Some(*machines),
            _ => None,
        });
        let stand = fleet.capacity.target.as_f64() as u32;
        assert_eq!(lost, Some(stand), "{}: {held:?}", fleet.fleet);
    }
}

#[tokio::test]
async fn sessions_look_together_under_their_leases() {
    let (fixture, mut fleets) = stand().await;
    fleets.push(named("d", 5));
    let fate = Fate::at(0);
    let engine = fixture.mortal(&fate);
    let mut sessions = Vec::new();
    for fleet in &fleets {
        sessions.push(engine.begin(fleet, "test", Duration::ZERO, &|_| {}).await.expect("free"));
    }
    let asked: Vec<_> = sessions.iter().map(|one| (one, Limits::default())).collect();
    let all = engine.gather_sessions(&asked).await;
    assert_eq!(fate.looks(), 3);
    let steps: Vec<usize> =
        all.into_iter().map(|one| plan(&one.expect("inputs")).plan.steps.len()).collect();
    assert_eq!(&steps[..3], [0, 0, 0]);
    assert!(steps[3] > 0, "the new one wants machines");
}
