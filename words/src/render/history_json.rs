//! The journal for programs: one flat record per event.

use super::history::words;
use crate::output::history::{EventKind, FleetHistory, Happened};
use crate::output::words::{Time, names};
use crate::text::clean_line;
use fleet_model::{BlockScope, Event, FleetName, PoolId, RolloutNews, SlotId, Token};
use fleet_run::Record;
use std::collections::BTreeMap;

/// What was known before an event.
#[derive(Default)]
struct Before {
    who: Option<String>,
    launches: BTreeMap<Token, (PoolId, Vec<SlotId>)>,
}

/// The last events of a fleet, from a record on. Earlier ones say who ran and what was asked for.
pub fn fleet(fleet: &FleetName, records: &[Record], from: usize) -> FleetHistory {
    let mut before = Before::default();
    let mut events = Vec::new();
    for (at, record) in records.iter().enumerate() {
        for event in &record.events {
            let one = happened(fleet, record, event, &mut before);
            if at >= from {
                events.push(one);
            }
        }
    }
    FleetHistory { fleet: fleet.to_string(), events }
}

fn happened(fleet: &FleetName, record: &Record, event: &Event, before: &mut Before) -> Happened {
    let (kind, slots, machines, pool) = facts(event, before);
    let (_, what, trouble) = words(event);
    Happened {
        at: Time(record.at),
        fleet: fleet.to_string(),
        run: record.epoch,
        who: before.who.clone(),
        record: record.seq,
        kind,
        slots,
        machines,
        pool,
        what,
        trouble,
    }
}

type Facts = (EventKind, Vec<String>, Vec<String>, Option<String>);

fn facts(event: &Event, before: &mut Before) -> Facts {
    let none = Vec::new;
    let launch = |before: &Before, kind: EventKind, token: &Token| -> Facts {
        let asked = before.launches.get(token);
        let slots = asked.map_or_else(Vec::new, |(_, slots)| names(slots));
        (kind, slots, Vec::new(), asked.map(|(pool, _)| pool.to_string()))
    };
    match event {
        Event::Opened { .. } => (EventKind::Opened, none(), none(), None),
        Event::Epoch { holder, .. } => {
            before.who = Some(clean_line(holder));
            (EventKind::RunStarted, none(), none(), None)
        }
        Event::RoundStarted { .. } => (EventKind::RoundStarted, none(), none(), None),
        Event::CreateIntended { create } => {
            before
                .launches
                .insert(create.token.clone(), (create.pool.clone(), create.slots.clone()));
            launch(before, EventKind::LaunchIntended, &create.token)
        }
        Event::CreateResent { token } => launch(before, EventKind::LaunchResent, token),
        Event::Created { token, machines, surplus, .. } => {
            let (kind, _, _, pool) = launch(before, EventKind::Launched, token);
            let slots = machines.iter().map(|one| one.slot.to_string()).collect();
            let made = machines.iter().map(|one| &one.machine).chain(surplus);
            // Where the request left a choice, machines may come from several pools.
            let pool = pool.filter(|_| machines.iter().all(|one| one.pool.is_none()));
            (kind, slots, names(made), pool)
        }
        Event::CreateRefused { token, .. } => launch(before, EventKind::LaunchRefused, token),
        Event::CreateUnknown { token, .. } => launch(before, EventKind::LaunchUnknown, token),
        Event::DestroyIntended { pool, slots } => {
            (EventKind::DestroyIntended, names(slots), none(), Some(pool.to_string()))
        }
        Event::DestroyRefused { slots, .. } => {
            (EventKind::DestroyRefused, names(slots), none(), None)
        }
        Event::DestroyUnknown { slots, .. } => {
            (EventKind::DestroyUnknown, names(slots), none(), None)
        }
        Event::Vacated { gone } => {
            let slots = gone.iter().map(|one| one.slot.to_string()).collect();
            (EventKind::Gone, slots, names(gone.iter().map(|one| &one.machine)), None)
        }
        Event::Failed { failed } => {
            let slots = failed.iter().map(|one| one.slot.to_string()).collect();
            (EventKind::Failed, slots, names(failed.iter().map(|one| &one.machine)), None)
        }
        Event::AccountSeen { .. } => (EventKind::AccountSeen, none(), none(), None),
        Event::LabelsMeant { .. } => (EventKind::LabelsMeant, none(), none(), None),
        Event::TemplateMeant { .. } => (EventKind::TemplateMeant, none(), none(), None),
        Event::Relabelled { slots, .. } => (EventKind::Relabelled, names(slots), none(), None),
        Event::Readopted { machine, .. } => {
            let pool = machine.pool.as_ref().map(ToString::to_string);
            let slot = vec![machine.slot.to_string()];
            (EventKind::CameBack, slot, vec![machine.machine.to_string()], pool)
        }
        Event::HealthSeen { news } => {
            let all: Vec<_> = news.ready.iter().chain(&news.failing).copied().collect();
            (EventKind::HealthSeen, names(&all), none(), None)
        }
        Event::Rollout { news } => {
            let slots = match news {
                RolloutNews::WaveBegan { slots, .. } => names(slots),
                _ => none(),
            };
            (EventKind::Rollout, slots, none(), None)
        }
        Event::Drained { slots } => (EventKind::Drained, names(slots), none(), None),
        Event::Frozen { .. } => (EventKind::Frozen, none(), none(), None),
        Event::Fallback { .. } => (EventKind::Fallback, none(), none(), None),
        Event::Cheaper { .. } => (EventKind::Cheaper, none(), none(), None),
        Event::Priced { prices, .. } => {
            let pool = match prices.as_slice() {
                [one] => Some(one.pool.to_string()),
                _ => None,
            };
            (EventKind::Priced, none(), none(), pool)
        }
        Event::Moving { moving } => (EventKind::Moving, names(&moving.slots), none(), None),
        Event::Thawed => (EventKind::Thawed, none(), none(), None),
        Event::Renamed { .. } => (EventKind::Renamed, none(), none(), None),
        Event::Adopted { machines, .. } => {
            let slots = machines.iter().map(|one| one.slot.to_string()).collect();
            (EventKind::Adopted, slots, names(machines.iter().map(|one| &one.machine)), None)
        }
        Event::Released { machines } => {
            let slots = machines.iter().map(|one| one.slot.to_string()).collect();
            (EventKind::Released, slots, names(machines.iter().map(|one| &one.machine)), None)
        }
        Event::Blocked { block } => {
            let pool = match &block.scope {
                BlockScope::Pool { pool } => Some(pool.to_string()),
                BlockScope::Quota { .. }
                | BlockScope::Class { .. }
                | BlockScope::Zone { .. }
                | BlockScope::Region { .. }
                | BlockScope::Account { .. }
                | BlockScope::Cloud { .. }
                | BlockScope::Breaker { .. } => None,
            };
            (EventKind::Blocked, none(), none(), pool)
        }
        Event::NoticeTold { machine, .. } => {
            (EventKind::NoticeTold, none(), vec![machine.to_string()], None)
        }
        Event::BusyTold { told } => {
            let machines = told.iter().map(|busy| busy.machine.to_string()).collect();
            (EventKind::BusyTold, none(), machines, None)
        }
        Event::ReplaceAsked { slots } => (EventKind::ReplaceAsked, names(slots), none(), None),
        Event::ReplaceWithdrawn { slots } => {
            (EventKind::ReplaceWithdrawn, names(slots), none(), None)
        }
        Event::RoundEnded { .. } => (EventKind::RoundEnded, none(), none(), None),
    }
}
