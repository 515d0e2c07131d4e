//! Guards against launching for ever: how often a slot may be tried, and machines that never come up.
//!
//! A guard rests a whole group. Resting one slot would not do: slots are alike, and the next free
//! one would be tried in its place.

use fleet_model::{
    Departure, EarlyEnds, Group, Hold, Inputs, Market, Recorded, SlotRecord, SlotState, Timestamp,
    Vacated,
};
use std::collections::BTreeMap;
use std::time::Duration;

/// How often one slot may be tried in an hour. A market that is short everywhere takes one apply
/// up to forty tries, so this lets a person run an apply and half of another.
pub const TRIES_PER_HOUR: u32 = 60;
/// The window in which tries are counted.
const HOUR: Duration = Duration::from_secs(3600);
/// A machine that ends within this time of its launch never came up.
const BOOT_WINDOW: Duration = Duration::from_secs(600);
/// So many of them in a row rest their group.
pub const BOOT_FAILURES: u32 = 3;
/// For how long.
const BOOT_REST: Duration = Duration::from_secs(1800);

fn after(at: Timestamp, time: Duration) -> Timestamp {
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

/// Early ends once some machines are gone whose slots are not freed yet. Only on demand: that spot
/// is taken back is a matter of the market, and what is believed of its pools answers it.
pub(crate) fn early_ends(
    recorded: &Recorded,
    gone: &[Vacated],
    at: Timestamp,
) -> BTreeMap<Group, EarlyEnds> {
    let mut all = recorded.early_ends.clone();
    for vacated in gone.iter().filter(|vacated| vacated.how != Departure::Ended) {
        let Some(SlotState::Filled { machine, pool, launched_at, template, .. }) =
            recorded.slots.get(&vacated.slot).map(|record| &record.state)
        else {
            continue;
        };
        if *machine != vacated.machine || pool.market != Market::OnDemand {
            continue;
        }
        let group = vacated.slot.group;
        if after(*launched_at, BOOT_WINDOW) < at {
            // It came up once: whatever ended it, launches of this group work.
            all.remove(&group);
            continue;
        }
        let earlier = all.get(&group);
        let count = earlier.filter(|ends| after(ends.last, HOUR) > at).map_or(0, |ends| ends.count);
        let (cloud, template) = (pool.place.cloud, *template);
        let ends = EarlyEnds { count: count + 1, last: at, cloud, template };
        all.insert(group, ends);
    }
    all
}

/// Why a group launches nothing for the time being.
pub(crate) fn resting(inputs: &Inputs, gone: &[Vacated], group: Group) -> Option<Hold> {
    boot_failures(inputs, gone, group).or_else(|| attempts(inputs, group))
}

fn boot_failures(inputs: &Inputs, gone: &[Vacated], group: Group) -> Option<Hold> {
    let ends = early_ends(&inputs.recorded, gone, inputs.now);
    let EarlyEnds { count, last, cloud, template } = ends.get(&group)?;
    let until = after(*last, BOOT_REST);
    let now = inputs.desired.templates.get(cloud).cloned().unwrap_or_default().digest();
    // A mended template is worth a try at once.
    let rests = *count >= BOOT_FAILURES && until > inputs.now && now == *template;
    rests.then_some(Hold::BootFailures { group, failures: *count, until })
}

fn attempts(inputs: &Inputs, group: Group) -> Option<Hold> {
    let slots = inputs.recorded.slots.iter();
    let of_group = slots.filter(|(name, record)| {
        let full = record.tried.len() >= TRIES_PER_HOUR as usize;
        name.group == group && full && record.state == SlotState::Vacant
    });
    of_group
        .filter_map(|(&slot, record)| Some((slot, after(*record.tried.first()?, HOUR))))
        .filter(|(_, until)| *until > inputs.now)
        .max_by_key(|(_, until)| *until)
        .map(|(slot, until)| Hold::AttemptLimit { slot, tries: TRIES_PER_HOUR, until })
}
