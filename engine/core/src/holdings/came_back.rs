//! Machines that were written down as gone, and are there.

use crate::holdings::holding::{Holding, Inventory};
use crate::holdings::pools::{PoolFacts, pool_facts};
use crate::holdings::standing::{Standing, owned};
use fleet_model::{
    Departed, Inputs, Machine, MachineId, MachineState, NewMachine, Notice, NoticeKind, PoolId,
    Readopt, SlotName, SlotState, Why,
};
use std::collections::{BTreeMap, BTreeSet};

/// Machines that were written down as gone and are there after all. One whose slot is free has it
/// again; one whose slot has another machine by now is too many, and must go.
pub(super) fn came_back<'a>(
    inputs: &'a Inputs,
    strays: &[&'a Machine],
    inventory: &mut Inventory,
    pools: &mut BTreeMap<&'a PoolId, PoolFacts>,
) {
    let mut taken: BTreeSet<SlotName> = BTreeSet::new();
    for (id, departed, seen) in seen_again(inputs, strays) {
        let Departed { slot, pool, launched_at, price, template, extras: _, adopted: _, at: _ } =
            departed;
        let there = seen.state.is_live() && seen.state != MachineState::Stopping;
        let complete = inputs.observed.is_complete(&pool.place.scope());
        let notice = seen.notice.is_some_and(|notice| notice.kind == NoticeKind::Interruption);
        // An id may be given to another machine, and tags can be copied: the time of launch cannot.
        let same = owned(inputs, *slot, seen) && seen.launched_at == *launched_at;
        if !there || !complete || notice || !same {
            continue;
        }
        let record = inputs.recorded.slots.get(&slot.name);
        let free = record.is_none_or(|record| {
            record.state == SlotState::Vacant && record.generation <= slot.generation + 1
        });
        let vacating = inventory.vacate.iter().any(|vacated| vacated.slot == slot.name);
        let standing = if free && !vacating && taken.insert(slot.name) {
            inventory.readopt.push(Readopt {
                machine: NewMachine {
                    slot: *slot,
                    machine: id.clone(),
                    launched_at: *launched_at,
                    price: *price,
                    pool: Some(pool.clone()),
                },
                template: *template,
            });
            // It is on record from the next round on, and is judged then.
            Standing::Fixed
        } else {
            Standing::CameBack
        };
        inventory.notices.push(Notice::CameBack { machine: id.clone(), slot: slot.name });
        let facts =
            pools.entry(pool).or_insert_with(|| pool_facts(inputs, pool, &mut inventory.pools));
        inventory.holdings.push(Holding {
            slot: *slot,
            machine: Some(id.clone()),
            pool: pool.clone(),
            nth_pool: facts.nth,
            weight: facts.weight.unwrap_or_default(),
            price: seen.price.or(*price).or(facts.price),
            extras: facts.extras,
            covered: false,
            launched_at: *launched_at,
            standing,
            old_template: false,
            template: Some(*template),
            ending: false,
            labels: 0,
            starting: false,
            failing: false,
            unseen: false,
            leaving: Why::Requested,
        });
    }
}

/// Machines that departed and are seen, in the order of their ids. One that stands in its slot is on record, and
/// did not depart.
fn seen_again<'a>(
    inputs: &'a Inputs,
    strays: &[&'a Machine],
) -> impl Iterator<Item = (&'a MachineId, &'a Departed, &'a Machine)> {
    let departed = &inputs.recorded.departed;
    strays.iter().filter_map(|seen| Some((&seen.id, departed.get(&seen.id)?, *seen)))
}
