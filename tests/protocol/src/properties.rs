//! What must hold in every state, and what must be possible.

use crate::protocol::{Protocol, SLOTS, Slot, State, fold};
use stateright::Property;

fn one_per_slot(state: &State) -> bool {
    state.cloud.iter().all(|slot| slot.iter().sum::<u8>() <= 1)
}

fn epochs_only_rise(state: &State) -> bool {
    let pairs = state.journal.windows(2);
    let rise = pairs.clone().all(|pair| pair[0].epoch <= pair[1].epoch);
    // Of one epoch there is one writer: a stale writer's append would show here.
    let one_writer = pairs.filter(|pair| pair[0].epoch == pair[1].epoch);
    rise && one_writer.into_iter().all(|pair| pair[0].by == pair[1].by)
}

fn converged(state: &State) -> bool {
    let filled = |(slot, machines): (&Slot, &[u8; SLOTS])| match slot {
        Slot::Filled(attempt) => machines.get(*attempt as usize) == Some(&1),
        Slot::Vacant(_) | Slot::InDoubt(_) => false,
    };
    fold(&state.journal).iter().zip(&state.cloud).all(filled) && one_per_slot(state)
}

/// No machine that the journal does not know, once every slot is settled.
fn no_orphans(state: &State) -> bool {
    fold(&state.journal).iter().zip(&state.cloud).all(|(slot, machines)| {
        let live = |attempt: usize| machines.get(attempt).copied().unwrap_or(0);
        match slot {
            Slot::Vacant(_) => machines.iter().all(|count| *count == 0),
            Slot::InDoubt(attempt) => (0..*attempt as usize).all(|earlier| live(earlier) == 0),
            Slot::Filled(attempt) => live(*attempt as usize) == 1,
        }
    })
}

pub(crate) fn properties() -> Vec<Property<Protocol>> {
    vec![
        Property::always("one machine per slot", |_, state: &State| one_per_slot(state)),
        Property::always("nothing is sent that is not written down", |_, state: &State| {
            !state.unrecorded
        }),
        Property::always("no append is lost", |_, state: &State| {
            state.journal.len() == state.accepted as usize
        }),
        Property::always("epochs only rise", |_, state: &State| epochs_only_rise(state)),
        Property::always("no machine that the journal does not know", |_, state: &State| {
            state.late || no_orphans(state)
        }),
        Property::always("no request is late", |_, state: &State| !state.late),
        Property::always("two machines only by a late request", |_, state: &State| {
            state.late || one_per_slot(state)
        }),
        Property::sometimes("converged", |_, state: &State| converged(state)),
        Property::sometimes("converged after a takeover", |_, state: &State| {
            let first = state.journal.first();
            converged(state)
                && first.is_some_and(|one| state.journal.iter().any(|r| r.by != one.by))
        }),
    ]
}
