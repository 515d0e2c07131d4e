//! Machines that change hands while they run.

use crate::market::{learn, signals};
use crate::record::slots::fill_vacant;
use fleet_model::{
    Digest, NewMachine, Recorded, ReleasedMachine, SlotId, SlotRecord, SlotState, Timestamp,
};

/// A machine that somebody else launched fills a slot, if nobody else does.
pub(super) fn adopt(
    recorded: &mut Recorded,
    new: &NewMachine,
    (template, labels): (Digest, u32),
    at: Timestamp,
) {
    if let Some(pool) = fill_vacant(recorded, new, template, labels, Some(at)) {
        recorded.released.remove(&new.machine);
        learn::adopted(recorded, &pool);
    }
}

/// Machines are no longer ours: their slots are free. That they lived until now is evidence of their pools.
pub(super) fn release(recorded: &mut Recorded, machines: &[ReleasedMachine], at: Timestamp) {
    for ReleasedMachine { slot: name, machine } in machines {
        let Some(record) = recorded.slots.get(name) else { continue };
        let SlotState::Filled { machine: filled_by, pool, ending, .. } = &record.state else {
            continue;
        };
        if filled_by != machine {
            continue;
        }
        let slot = SlotId { name: *name, generation: record.generation };
        let (pool, counted) = (pool.clone(), !*ending);
        if counted {
            signals::ended(recorded, &[slot], at);
            learn::ended(recorded, &pool, 1, at);
        }
        if let Some(record) = recorded.slots.get_mut(name) {
            record.generation += 1;
            record.attempt = 0;
            record.state = SlotState::Vacant;
        }
        recorded.released.insert(machine.clone());
    }
    let vacant = |record: &SlotRecord| record.state == SlotState::Vacant;
    if recorded.slots.values().all(vacant) {
        // Nobody is told that a fleet lacks what was let go.
        recorded.goal = None;
    }
}

#[cfg(test)]
mod tests {
    use crate::record::fold;
    use fleet_model::{Event, NewMachine, Recorded, ReleasedMachine, SlotState, Timestamp, digest};

    #[test]
    fn what_is_released_leaves_a_free_slot_of_the_next_generation() {
        let mut recorded = Recorded::default();
        let pool = "aws/us-east-1/use1-az1/m6i.large/spot".parse().expect("a pool");
        let adopted = Event::Adopted {
            machines: vec![NewMachine {
                slot: "burst-0.1".parse().expect("a slot"),
                machine: "i-1".into(),
                launched_at: Timestamp::UNIX_EPOCH,
                price: None,
                pool: Some(pool),
            }],
            template: digest("test", ["".as_bytes()]),
            labels: 3,
        };
        fold(&mut recorded, &adopted, Timestamp::UNIX_EPOCH);
        let before = recorded.clone();
        // A slot that is filled stays as it is.
        fold(&mut recorded, &adopted, Timestamp::UNIX_EPOCH);
        assert_eq!(recorded.slots, before.slots);
        let name = "burst-0".parse().expect("a slot");
        let state = &recorded.slots[&name].state;
        assert!(matches!(state, SlotState::Filled { labels: 3, .. }), "{state:?}");
        assert_eq!(recorded.beliefs.values().next().map(|belief| belief.held), Some(1));
        // Another machine of that slot is none of its business.
        let released = |machine: &str| Event::Released {
            machines: vec![ReleasedMachine { slot: name, machine: machine.into() }],
        };
        fold(&mut recorded, &released("i-2"), Timestamp::UNIX_EPOCH);
        assert_eq!(recorded.slots, before.slots);
        fold(&mut recorded, &released("i-1"), Timestamp::UNIX_EPOCH);
        let record = &recorded.slots[&name];
        assert_eq!((record.generation, &record.state), (2, &SlotState::Vacant));
        assert!(recorded.released.contains(&"i-1".into()));
        assert_eq!(recorded.beliefs.values().next().map(|belief| belief.held), Some(0));
    }
}
