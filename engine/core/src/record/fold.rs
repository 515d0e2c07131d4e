//! From the journal's events to what is recorded.

use crate::market::{learn, signals};
use crate::record::slots::{Counted, fill_vacant, filled, filled_by, record};
use crate::record::{guards, handover, prices, rollout, spend, spot};
use crate::seams;
use fleet_model::{
    Attempt, Block, BlockScope, Departed, Digest, Event, FailedMachine, Freeze, MachineId,
    NewMachine, PoolId, Recorded, SlotHealth, SlotId, SlotState, Timestamp, Token,
};
use std::collections::BTreeSet;

/// Number of the fold: raised whenever it makes something else of the same records, or more of them than before.
/// Snapshots carry it. One by another fold is not believed: what that left out would be missing for ever.
pub const FOLD: u32 = 1;

/// Blocks that are over stay on record for so long: the clock of a writer may have been ahead.
const DAY: jiff::SignedDuration = jiff::SignedDuration::from_hours(24);

/// Folds one event, written down `at` a time, into what is recorded.
pub fn fold(recorded: &mut Recorded, event: &Event, at: Timestamp) {
    if !matches!(
        event,
        Event::Epoch { .. }
            | Event::RoundStarted { .. }
            | Event::RoundEnded { .. }
            | Event::HealthSeen { .. }
            | Event::Priced { .. }
            | Event::BusyTold { .. }
    ) {
        recorded.changes += 1;
    }
    match event {
        Event::Opened { fleet: _, uid } => recorded.uid = Some(uid.clone()),
        Event::Epoch { epoch, holder: _ } => recorded.epoch = *epoch,
        Event::CreateIntended { create } => {
            for slot in &create.slots {
                let record = record(recorded, *slot);
                if record.generation != slot.generation {
                    record.attempt = 0;
                }
                record.generation = slot.generation;
                record.state = SlotState::InDoubt { token: create.token.clone() };
                guards::note_try(record, at);
            }
            let of = recorded.labels.get(&create.pool.place.cloud);
            let labels = of.map_or(0, |labels| labels.version);
            let extras = recorded.extras.get(&create.pool).copied();
            let (create, intended_at, last_sent) = (create.clone(), at, at);
            let attempt = Attempt { create, labels, extras, intended_at, last_sent };
            recorded.in_doubt.insert(attempt.create.token.clone(), attempt);
        }
        Event::CreateResent { token } => {
            if let Some(attempt) = recorded.in_doubt.get_mut(token) {
                attempt.last_sent = at;
            }
        }
        Event::Created { token, machines, missing, surplus, no_room } => {
            let Some(attempt) = recorded.in_doubt.remove(token) else { return };
            let Attempt { create, labels, extras, intended_at, last_sent: _ } = attempt;
            for new in machines {
                let pool = new.pool.as_ref().unwrap_or(&create.pool).clone();
                let extras = match pool == create.pool {
                    true => extras,
                    false => recorded.extras.get(&pool).copied(),
                };
                record(recorded, new.slot).state = filled_by(
                    new,
                    pool,
                    create.template,
                    labels,
                    Counted { extras, ..Counted::default() },
                );
            }
            let (got, price) = (machines.len(), machines.first().and_then(|new| new.price));
            learn::launched(recorded, &create.pool, (got, missing.len()), price, at);
            let of = |new: &NewMachine| new.pool.clone().unwrap_or_else(|| create.pool.clone());
            for pool in machines.iter().map(of).collect::<BTreeSet<PoolId>>() {
                signals::granted(recorded, &pool, at);
            }
            if *no_room {
                guards::note_no_room(recorded, token, missing, (intended_at, at));
            }
            vacate_untried(recorded, token, missing);
            recorded.surplus.extend(surplus.iter().cloned());
        }
        Event::CreateRefused { token, code: _, no_room } => {
            let Some(attempt) = recorded.in_doubt.remove(token) else { return };
            let Attempt { create, intended_at, .. } = attempt;
            if *no_room {
                guards::note_no_room(recorded, token, &create.slots, (intended_at, at));
            }
            vacate_untried(recorded, token, &create.slots);
        }
        Event::DestroyIntended { pool, slots } => {
            signals::ended(recorded, slots, at);
            let ends = set_ending(recorded, slots, true);
            learn::ended(recorded, pool, ends, at);
        }
        Event::DestroyRefused { slots, why: _ } => {
            set_ending(recorded, slots, false);
        }
        Event::Vacated { gone } => {
            let ended = |told: Option<Timestamp>| told.map_or(at, |told| told.min(at));
            let closed = gone.iter().map(|one| spend::Closed {
                slot: one.slot,
                machine: &one.machine,
                ended: ended(one.at),
                deleted: ended(one.deleted),
            });
            spend::closed(recorded, closed);
            signals::gone(recorded, gone, at);
            spot::gone(recorded, gone, at);
            learn::gone(recorded, gone, at);
            recorded.early_ends = guards::early_ends(recorded, gone, at);
            recorded.departed.retain(|_, departed| at.duration_since(departed.at) <= DAY);
            for vacated in gone {
                let Some(record) = recorded.slots.get_mut(&vacated.slot) else { continue };
                let slot = SlotId { name: vacated.slot, generation: record.generation };
                match &record.state {
                    SlotState::Filled {
                        machine,
                        pool,
                        launched_at,
                        price,
                        template,
                        extras,
                        adopted,
                        ..
                    } if *machine == vacated.machine => {
                        let departed = Departed {
                            slot,
                            pool: pool.clone(),
                            launched_at: *launched_at,
                            price: *price,
                            template: *template,
                            extras: *extras,
                            adopted: *adopted,
                            at,
                        };
                        recorded.departed.insert(machine.clone(), departed);
                    }
                    SlotState::Filled { .. } | SlotState::InDoubt { .. } | SlotState::Vacant => {
                        continue;
                    }
                }
                record.generation += 1;
                record.attempt = 0;
                record.state = SlotState::Vacant;
            }
        }
        Event::Failed { failed } => {
            recorded.early_ends = guards::failures(recorded, failed, at);
            for FailedMachine { slot, machine, cause: _ } in failed {
                let state = recorded.slots.get_mut(slot).map(|record| &mut record.state);
                if let Some(SlotState::Filled { machine: filled_by, failed, .. }) = state
                    && filled_by == machine
                {
                    *failed = true;
                }
            }
        }
        Event::AccountSeen { key, account } => {
            recorded.accounts.insert(key.clone(), account.clone());
        }
        Event::LabelsMeant { cloud, labels } => {
            let record = recorded.labels.entry(*cloud).or_default();
            let before = std::mem::replace(&mut record.now, labels.clone());
            record.former.extend(before.into_keys());
            record.former.retain(|key| !labels.contains_key(key));
            record.version += 1;
        }
        Event::Relabelled { version, slots } => {
            for slot in slots {
                if let Some(SlotState::Filled { labels, .. }) = filled(recorded, *slot) {
                    *labels = *version;
                }
            }
        }
        Event::Readopted { machine, template } => readopt(recorded, machine, *template),
        Event::NoticeTold { machine, notice } => {
            let mut told = std::mem::take(&mut recorded.told);
            told.insert(machine.clone(), *notice);
            // Those of machines that are gone are of no more use.
            let held: BTreeSet<&MachineId> = recorded.machines().map(|one| one.machine).collect();
            told.retain(|machine, _| held.contains(machine));
            recorded.told = told;
        }
        // For the ledger alone: no machine is destroyed because it says that it is idle.
        Event::BusyTold { .. } => {}
        Event::ReplaceAsked { slots } => set_replace(recorded, slots, true),
        Event::ReplaceWithdrawn { slots } => set_replace(recorded, slots, false),
        Event::Frozen { reason, until } => {
            // One that ended by itself is over.
            let held = recorded.freeze.as_ref();
            let held = held.filter(|freeze| freeze.until.is_none_or(|until| until > at));
            let since = held.map_or(at, |freeze| freeze.since);
            recorded.freeze = Some(Freeze { reason: reason.clone(), since, until: *until });
        }
        Event::Thawed => recorded.freeze = None,
        Event::Renamed { from: _, to } => recorded.renamed = Some(to.clone()),
        Event::Adopted { machines, template, labels } => {
            let made = (*template, *labels);
            machines.iter().for_each(|one| handover::adopt(recorded, one, made, at));
        }
        Event::Released { machines } => {
            let closed = machines.iter().map(|one| spend::Closed {
                slot: one.slot,
                machine: &one.machine,
                ended: at,
                deleted: at,
            });
            spend::closed(recorded, closed);
            handover::release(recorded, machines, at);
        }
        Event::Fallback { step } => spot::stepped(&mut recorded.spot, *step, at),
        Event::Cheaper { pools } => spot::cheaper(&mut recorded.spot, pools, at),
        Event::Moving { moving } => spot::moving(&mut recorded.spot, moving, at),
        Event::Priced { prices, commitments, extras } => {
            spend::priced(recorded, prices, at);
            spend::beside(recorded, extras, at);
            prices::fold_prices(recorded, prices);
            if let Some(bought) = commitments {
                recorded.commitments.clone_from(bought);
            }
        }
        Event::Blocked { block } => {
            let Some(block) = seams::remembered(block) else { return };
            let over = |old: &Block| at.duration_since(old.until) > DAY;
            recorded.blocks.retain(|old| old.scope != block.scope && !over(old));
            recorded.blocks.push(block.clone());
            spot::blocked(&mut recorded.spot, block, at);
            if let BlockScope::Pool { pool } = &block.scope {
                learn::refused(recorded, pool, at);
                signals::refused(recorded, pool, at);
            }
        }
        // The request stays in doubt: only an answer or a look at the cloud can settle it.
        Event::CreateUnknown { token, code: _ } => {
            let free = seams::freed_by_silence(recorded, token);
            vacate_untried(recorded, token, &free);
        }
        // So does an end: the machines are on record as ending.
        Event::DestroyUnknown { slots: _, code: _ } => {}
        Event::RoundStarted { heard, worth, .. } => {
            signals::heard(recorded, heard, at);
            prices::fold_worth(recorded, worth);
            recorded.looked = Some(at);
        }
        Event::TemplateMeant { cloud: _, template, fields, whole } => {
            let used: BTreeSet<Digest> = templates_in_use(recorded).collect();
            recorded.templates.retain(|known, _| used.contains(known));
            recorded.kept_templates.retain(|known, _| used.contains(known));
            recorded.templates.insert(*template, fields.clone());
            if let Some(whole) = whole {
                recorded.kept_templates.insert(*template, (**whole).clone());
            }
        }
        Event::HealthSeen { news } => {
            learn::ready(recorded, &news.ready, recorded.looked, at);
            for slot in &news.ready {
                if let Some(SlotState::Filled { health, .. }) = filled(recorded, *slot) {
                    *health = SlotHealth { ready: true, failing_since: None };
                }
            }
            for slot in &news.failing {
                if let Some(SlotState::Filled { health, .. }) = filled(recorded, *slot) {
                    health.failing_since.get_or_insert(at);
                }
            }
        }
        Event::Drained { slots } => {
            for slot in slots {
                if let Some(SlotState::Filled { drained, .. }) = filled(recorded, *slot) {
                    *drained = true;
                }
            }
        }
        Event::Rollout { news } => rollout::fold(recorded, news, at),
        Event::RoundEnded { reached, strategy, .. } => {
            recorded.strategy = strategy.or(recorded.strategy);
            if let Some(goal) = reached {
                recorded.goal = Some(*goal);
            }
        }
    }
}

/// The templates that machines on record, and launches in doubt, were made from.
fn templates_in_use(recorded: &Recorded) -> impl Iterator<Item = Digest> {
    let filled = recorded.slots.values().filter_map(|record| match &record.state {
        SlotState::Filled { template, .. } => Some(*template),
        SlotState::InDoubt { .. } | SlotState::Vacant => None,
    });
    let rollout = recorded.rollout.iter().flat_map(|r| r.from.values().chain(r.to.values()));
    let undone = recorded.undone.iter().flat_map(|u| u.bad.values().chain(u.good.values()));
    let doubtful = recorded.in_doubt.values().map(|attempt| attempt.create.template);
    filled.chain(doubtful).chain(rollout.copied()).chain(undone.copied())
}

/// A machine is there after all. Its slot is its own again, if nobody else has it.
fn readopt(recorded: &mut Recorded, machine: &NewMachine, template: Digest) {
    // Nobody wrote down what it carries; it is labelled anew. The next filling of the slot gets a
    // generation of its own all the same.
    fill_vacant(recorded, machine, template, 0, None);
}

/// Slots that a request was proven not to fill: free again, and the next try is a new request.
fn vacate_untried(recorded: &mut Recorded, token: &Token, slots: &[SlotId]) {
    for slot in slots {
        let record = record(recorded, *slot);
        if matches!(&record.state, SlotState::InDoubt { token: of } if of == token) {
            record.state = SlotState::Vacant;
            record.attempt += 1;
        }
    }
}

/// Marks slots; how many of them were not marked so before.
fn set_ending(recorded: &mut Recorded, slots: &[SlotId], value: bool) -> usize {
    let mut changed = 0;
    for slot in slots {
        if let Some(SlotState::Filled { ending, .. }) = filled(recorded, *slot) {
            changed += usize::from(*ending != value);
            *ending = value;
        }
    }
    changed
}

/// Marks machines that a person wants replaced, or no longer. The mark goes with its machine.
fn set_replace(recorded: &mut Recorded, slots: &[SlotId], value: bool) {
    for slot in slots {
        if let Some(SlotState::Filled { replace, .. }) = filled(recorded, *slot) {
            *replace = value;
        }
    }
}
