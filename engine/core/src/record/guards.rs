//! Guards against launching for ever: how often a slot may be tried, and machines that never come up.
//!
//! A guard rests a whole group. Resting one slot would not do: slots are alike, and the next free
//! one would be tried in its place.

use fleet_model::{
    CauseKind, Departure, Digest, EarlyEnds, FailedMachine, Group, Market, PoolId, Recorded,
    SlotId, SlotRecord, SlotState, Timestamp, Token, Vacated,
};
use std::collections::BTreeMap;
use std::time::Duration;

/// How often one slot may be tried in an hour, apart from tries that were refused for want of capacity.
pub const TRIES_PER_HOUR: u32 = 60;
/// How often it may be refused for want of capacity in an hour, and no machine of its group launched since,
/// until it is only probed: as often as an apply has rounds, so that one apply finds what there is.
pub const REFUSALS_PER_HOUR: u32 = 40;
/// What is only probed is tried again after so long, whether capacity is back: as soon as a pool that has
/// none may be asked again. So all refusals of a slot in an hour are sixty at most.
pub(crate) const PROBED_EVERY: Duration = Duration::from_secs(180);
/// The window in which tries are counted.
pub(crate) const HOUR: Duration = Duration::from_secs(3600);
/// A machine that ends within this time of its launch never came up.
const BOOT_WINDOW: Duration = Duration::from_secs(600);
/// One that fails within this time of its launch never was of use. Azure gives a machine forty
/// minutes to report ready, and its agents ninety to be installed.
const FAILING_WINDOW: Duration = Duration::from_secs(2 * 3600);
/// Failures this far apart still are in a row: a machine that never reports ready takes most of an
/// hour to say so.
const IN_A_ROW: Duration = Duration::from_secs(6 * 3600);
/// Two clocks may differ by this much: a cloud tells when a machine was launched, and our own clock when
/// another one was seen to have failed.
const CLOCKS_DIFFER: Duration = Duration::from_secs(300);
/// So many of them in a row rest their group.
pub const BOOT_FAILURES: u32 = 3;
/// For how long.
pub(crate) const BOOT_REST: Duration = Duration::from_secs(1800);

/// Failures of each group, a row per template.
type Rows = BTreeMap<Group, Vec<EarlyEnds>>;

pub(crate) fn after(at: Timestamp, time: Duration) -> Timestamp {
    at.checked_add(time).unwrap_or(Timestamp::MAX)
}

/// Notes that a slot is about to be tried.
pub(crate) fn note_try(record: &mut SlotRecord, at: Timestamp) {
    let tried = &mut record.tried;
    tried.retain(|earlier| after(*earlier, HOUR) > at);
    tried.push(at);
    let more = tried.len().saturating_sub(TRIES_PER_HOUR as usize);
    tried.drain(..more);
}

/// Notes that a try of some slots, as old as its intent, ended with a plain no for want of capacity: nothing
/// was launched, and nothing is in doubt. An outage of a cloud is no fault of the spec, and must not rest a
/// group long after capacity is back, so such tries are counted apart.
pub(crate) fn note_no_room(
    recorded: &mut Recorded,
    token: &Token,
    slots: &[SlotId],
    (tried_at, at): (Timestamp, Timestamp),
) {
    for slot in slots {
        let Some(record) = recorded.slots.get_mut(&slot.name) else { continue };
        if !matches!(&record.state, SlotState::InDoubt { token: of } if of == token) {
            continue;
        }
        let Some(nth) = record.tried.iter().rposition(|tried| *tried == tried_at) else { continue };
        record.tried.remove(nth);
        record.refused.retain(|earlier| after(*earlier, HOUR) > at);
        record.refused.push(at);
        let more = record.refused.len().saturating_sub(REFUSALS_PER_HOUR as usize);
        record.refused.drain(..more);
    }
}

/// Early ends once some machines are gone whose slots are not freed yet. What never came up counts
/// in every market; what ended soon for no known reason on demand alone: that spot is taken back is a
/// matter of the market, and what is believed of its pools answers it.
pub(crate) fn early_ends(recorded: &Recorded, gone: &[Vacated], at: Timestamp) -> Rows {
    with_early_ends(recorded.early_ends.clone(), recorded, gone, at)
}

pub(crate) fn with_early_ends(
    mut all: Rows,
    recorded: &Recorded,
    gone: &[Vacated],
    at: Timestamp,
) -> Rows {
    for vacated in gone {
        let failed = match vacated.how {
            Departure::Ended | Departure::Interrupted | Departure::Expired => continue,
            Departure::Failed => true,
            Departure::Terminated | Departure::Vanished | Departure::EndedByOther => false,
        };
        let Some(SlotState::Filled { machine, pool, launched_at, template, failed: known, .. }) =
            recorded.slots.get(&vacated.slot).map(|record| &record.state)
        else {
            continue;
        };
        // What was written down as failed while it stood is counted already.
        if *machine != vacated.machine || *known {
            continue;
        }
        let group = vacated.slot.group;
        if !failed && pool.market != Market::OnDemand {
            continue;
        }
        if !failed && after(*launched_at, BOOT_WINDOW) < at {
            // It came up once: whatever ended it, launches of this group work, if it was surely launched
            // after the last one that did not.
            let since = |row: &EarlyEnds| *launched_at > after(row.last, CLOCKS_DIFFER);
            let still = |row: &EarlyEnds| row.template != *template || !since(row);
            if let Some(rows) = all.get_mut(&group) {
                rows.retain(still);
            }
            continue;
        }
        count_one(&mut all, group, pool, *template, at);
    }
    all
}

/// Early ends once some machines are seen to be failed for the first time. One that worked for hours
/// says nothing of launches.
pub(crate) fn failures(recorded: &Recorded, failed: &[FailedMachine], at: Timestamp) -> Rows {
    let mut all = recorded.early_ends.clone();
    for FailedMachine { slot, machine: id, cause } in failed {
        let Some(SlotState::Filled { machine, pool, launched_at, template, failed: false, .. }) =
            recorded.slots.get(slot).map(|record| &record.state)
        else {
            continue;
        };
        let never_ready = match cause.kind {
            CauseKind::NeverReady | CauseKind::LaunchFailed => true,
            CauseKind::Unwell
            | CauseKind::NotReady
            | CauseKind::Interrupted
            | CauseKind::Person
            | CauseKind::Guest
            | CauseKind::Expired => false,
        };
        let young = after(*launched_at, FAILING_WINDOW) >= at;
        if machine == id && (never_ready || young) {
            count_one(&mut all, slot.group, pool, *template, at);
        }
    }
    all
}

fn count_one(all: &mut Rows, group: Group, pool: &PoolId, template: Digest, at: Timestamp) {
    let rows = all.entry(group).or_default();
    rows.retain(|row| after(row.last, IN_A_ROW) > at);
    match rows.iter_mut().find(|row| row.template == template) {
        Some(row) => {
            row.count += 1;
            row.last = at;
        }
        None => {
            rows.push(EarlyEnds { count: 1, last: at, cloud: pool.place.cloud, template });
        }
    }
}
