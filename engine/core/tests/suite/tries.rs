//! How often a slot is tried, and what counts as a try.

use crate::world::{Row, at, catalog, desired, inputs, obey};
use fleet_core::{Planned, REFUSALS_PER_HOUR, TRIES_PER_HOUR, check, fold, plan};
use fleet_model::{
    Action, Create, Event, Group, Hold, Inputs, MachineId, NewMachine, Rejection, Timestamp, Unit,
};

const ROWS: &[Row<'_>] = &[
    ("aws/us-east-1/a/m.1", 0, Some(100), Some(40)),
    ("aws/us-east-1/b/m.1", 0, Some(100), Some(41)),
];
const MINUTE: i64 = 60;

/// How a try ends.
#[derive(Clone, Copy)]
enum Answer {
    /// A plain no for want of capacity.
    NoRoom,
    /// Some of it, and no room for the rest.
    NoRoomForMore,
    /// Any other no.
    Refused,
    /// Silence; later it is proven that nothing was made.
    Unknown,
}

fn fleet(target: u64) -> Inputs {
    let mut world = inputs(desired(target, 0, Unit::Instances), &catalog(ROWS));
    world.recorded.uid = Some(world.uid.clone());
    world
}

fn planned(world: &Inputs) -> Planned {
    let planned = plan(world);
    assert_eq!(check(world, &planned), []);
    planned
}

fn launch(world: &Inputs) -> Option<Create> {
    planned(world).plan.steps.into_iter().find_map(|step| match step.action {
        Action::Create(create) => Some(create),
        Action::Destroy(_) => None,
    })
}

/// Tries once, if the plan does; says whether.
fn tries(world: &mut Inputs, answer: Answer) -> bool {
    let Some(create) = launch(world) else { return false };
    let token = create.token.clone();
    let refused = |code: &str, no_room| Event::CreateRefused {
        token: token.clone(),
        code: code.into(),
        no_room,
    };
    let outcome = match answer {
        Answer::NoRoom => vec![refused("InsufficientInstanceCapacity", true)],
        Answer::Refused => vec![refused("VcpuLimitExceeded", false)],
        Answer::Unknown => {
            let silent = Event::CreateUnknown { token: token.clone(), code: "timeout".into() };
            vec![silent, refused("NeverHappened", false)]
        }
        Answer::NoRoomForMore => {
            let (first, missing) = create.slots.split_first().expect("a slot");
            let machine = NewMachine {
                slot: *first,
                machine: MachineId::new(format!("{token}")),
                launched_at: world.now,
                price: create.price,
                pool: None,
            };
            let missing = missing.to_vec();
            let (machines, surplus) = (vec![machine], Vec::new());
            vec![Event::Created { token, machines, missing, surplus, no_room: true }]
        }
    };
    let now = world.now;
    fold(&mut world.recorded, &Event::CreateIntended { create }, now);
    outcome.iter().for_each(|event| fold(&mut world.recorded, event, now));
    true
}

fn moves_to(world: &mut Inputs, minute: i64) {
    world.now = at(minute * MINUTE);
    world.observed.taken_at = world.now;
}

/// Until when the burst launches nothing, and after how many tries.
fn rests(world: &Inputs) -> Option<(u32, Timestamp)> {
    planned(world).report.held.iter().find_map(|hold| match hold {
        Hold::AttemptLimit { tries, until, .. } => Some((*tries, *until)),
        _ => None,
    })
}

#[test]
fn what_counts_as_a_try() {
    let hour = (TRIES_PER_HOUR, at(60 * MINUTE));
    let soon = (REFUSALS_PER_HOUR, at(3 * MINUTE));
    let cases: [(&[(Answer, u32)], _); 7] = [
        (&[(Answer::NoRoom, REFUSALS_PER_HOUR - 1)], None),
        (&[(Answer::NoRoom, REFUSALS_PER_HOUR)], Some(soon)),
        (&[(Answer::Refused, TRIES_PER_HOUR - 1)], None),
        (&[(Answer::Refused, TRIES_PER_HOUR)], Some(hour)),
        (&[(Answer::Unknown, TRIES_PER_HOUR)], Some(hour)),
        // Each is counted for itself, and the longer rest holds.
        (&[(Answer::Refused, TRIES_PER_HOUR - 1), (Answer::NoRoom, REFUSALS_PER_HOUR - 1)], None),
        (&[(Answer::NoRoom, REFUSALS_PER_HOUR - 1), (Answer::Refused, TRIES_PER_HOUR)], Some(hour)),
    ];
    for (nth, (answers, expected)) in cases.into_iter().enumerate() {
        let mut world = fleet(1);
        for (answer, times) in answers {
            (0..*times).for_each(|_| assert!(tries(&mut world, *answer)));
        }
        assert_eq!(rests(&world), expected, "case {nth}");
    }
}

#[test]
fn what_rests_is_missing_and_is_probed_every_three_minutes() {
    let mut world = fleet(3);
    (0..REFUSALS_PER_HOUR).for_each(|_| assert!(tries(&mut world, Answer::NoRoom)));
    for minute in [0, 1, 2] {
        moves_to(&mut world, minute);
        assert!(!tries(&mut world, Answer::NoRoom), "minute {minute}");
        let report = planned(&world).report;
        let [short] = &report.unplaced[..] else { panic!("{:?}", report.unplaced) };
        assert_eq!((short.group, short.missing.to_string()), (Group::Burst, "3".into()));
        assert!(short.because.iter().all(|(why, _)| matches!(why, Rejection::Blocked { .. })));
    }
    for minute in [3, 6, 20] {
        moves_to(&mut world, minute);
        assert!(tries(&mut world, Answer::NoRoom), "minute {minute}");
        assert!(!tries(&mut world, Answer::NoRoom), "minute {minute}");
    }
    // Capacity is back: all that is missing comes at once.
    moves_to(&mut world, 23);
    let planned = planned(&world);
    obey(&mut world, &planned, 0);
    assert_eq!(world.recorded.machines().count(), 3);
}

#[test]
fn what_is_granted_begins_the_count_anew() {
    let mut world = fleet(3);
    (0..REFUSALS_PER_HOUR).for_each(|_| assert!(tries(&mut world, Answer::NoRoom)));
    moves_to(&mut world, 3);
    assert!(tries(&mut world, Answer::NoRoomForMore));
    assert_eq!(rests(&world), None, "two are missing, and were refused in that very launch");
    assert!(tries(&mut world, Answer::NoRoom));
}

#[test]
fn no_slot_is_refused_more_than_sixty_times_in_an_hour() {
    let mut world = fleet(1);
    let mut refused = Vec::new();
    for minute in 0..4 * 60 {
        moves_to(&mut world, minute);
        while tries(&mut world, Answer::NoRoom) {
            refused.push(minute);
        }
    }
    for (nth, first) in refused.iter().enumerate() {
        let within = refused[nth..].iter().take_while(|minute| **minute < first + 60).count();
        assert!(within <= 60, "{within} from minute {first}");
    }
    assert!(refused.len() > 60, "and it is asked on: {}", refused.len());
}
