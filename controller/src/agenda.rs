//! Which fleet is looked after when. Pure: time is handed in, in milliseconds.

use fleet_model::FleetName;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};
use std::time::Duration;

/// After a failure a fleet rests this long, then twice as long, and so on.
const FIRST_REST: i64 = 5_000;
/// No fleet rests longer.
const LONGEST_REST: i64 = 600_000;
/// What goes on by itself is looked at again after this.
const SOON: i64 = 10_000;
/// A fleet that somebody else changes is tried again after this: a dead holder's lease lasts as long.
const OTHERS: i64 = 15_000;

/// How a look ended, as far as the next one depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// There is nothing to wait for.
    Settled,
    /// Something that was begun goes on by itself.
    GoesOn,
    /// Somebody else changes the fleet.
    Held,
    /// It failed.
    Failed,
}

#[derive(Debug, Clone, Default)]
struct Entry {
    due: i64,
    failures: u32,
    busy: bool,
    /// Something happened while it was looked after.
    again: bool,
}

/// When each fleet is due.
#[derive(Debug)]
pub struct Agenda {
    every: i64,
    fleets: BTreeMap<FleetName, Entry>,
}

impl Agenda {
    /// Every fleet is due so often.
    pub fn new(every: Duration) -> Self {
        Agenda {
            every: i64::try_from(every.as_millis()).unwrap_or(i64::MAX),
            fleets: BTreeMap::new(),
        }
    }

    /// The fleets that there are. New ones are due at once; those that are gone are forgotten.
    pub fn keep(&mut self, fleets: &BTreeSet<FleetName>, now: i64) {
        self.fleets.retain(|fleet, _| fleets.contains(fleet));
        for fleet in fleets {
            self.fleets.entry(fleet.clone()).or_insert(Entry { due: now, ..Entry::default() });
        }
    }

    /// Something happened to a fleet: it is due at once. One that failed before gets another chance.
    pub fn wake(&mut self, fleet: &FleetName, now: i64) {
        if let Some(entry) = self.fleets.get_mut(fleet) {
            (entry.due, entry.failures) = (now, 0);
            entry.again = entry.busy;
        }
    }

    /// Fleets that are due, and those that soon will be: one look serves them all. They are busy until
    /// [`Agenda::ended`].
    pub fn due(
        &mut self,
        now: i64,
        most: usize,
        mine: impl Fn(&FleetName) -> bool,
    ) -> Vec<FleetName> {
        let ready = |entry: &Entry, by: i64| !entry.busy && entry.due <= by;
        let mut due: Vec<(i64, FleetName)> = Vec::new();
        if self.fleets.iter().any(|(fleet, entry)| ready(entry, now) && mine(fleet)) {
            let soon = now + self.every / 10;
            let all = self.fleets.iter().filter(|(fleet, entry)| ready(entry, soon) && mine(fleet));
            due.extend(all.map(|(fleet, entry)| (entry.due, fleet.clone())));
        }
        due.sort();
        due.truncate(most);
        for (_, fleet) in &due {
            if let Some(entry) = self.fleets.get_mut(fleet) {
                entry.busy = true;
            }
        }
        due.into_iter().map(|(_, fleet)| fleet).collect()
    }

    /// A fleet was looked after. Says when it is due again.
    pub fn ended(&mut self, fleet: &FleetName, how: Ended, now: i64) -> Option<i64> {
        let every = self.every;
        let entry = self.fleets.get_mut(fleet)?;
        entry.failures = if how == Ended::Failed { entry.failures + 1 } else { 0 };
        let rest = match how {
            Ended::Settled => jitter(every, fleet, now),
            Ended::GoesOn => SOON.min(every),
            Ended::Held => jitter(OTHERS, fleet, now),
            Ended::Failed => {
                let doubled = FIRST_REST << (entry.failures - 1).min(20);
                jitter(doubled.min(LONGEST_REST), fleet, now)
            }
        };
        entry.due = if entry.again { now } else { now.saturating_add(rest) };
        (entry.busy, entry.again) = (false, false);
        Some(entry.due)
    }

    /// Whether anything is under way.
    pub fn is_busy(&self) -> bool {
        self.fleets.values().any(|entry| entry.busy)
    }
}

/// A tenth more or less, so that replicas and fleets do not march in step. From name and time, not from
/// chance: a test sees the same.
fn jitter(time: i64, fleet: &FleetName, now: i64) -> i64 {
    let mut hasher = std::hash::DefaultHasher::new();
    (fleet.as_str(), now).hash(&mut hasher);
    let share = i64::try_from(hasher.finish() % 2_000).unwrap_or_default() - 1_000;
    time + time / 10_000 * share + time % 10_000 * share / 10_000
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(some: &[&str]) -> BTreeSet<FleetName> {
        some.iter().map(|name| FleetName::new(*name)).collect()
    }

    fn agenda(some: &[&str]) -> Agenda {
        let mut agenda = Agenda::new(Duration::from_secs(60));
        agenda.keep(&names(some), 0);
        agenda
    }

    #[test]
    fn new_fleets_are_due_and_busy_ones_are_not() {
        let mut agenda = agenda(&["a", "b"]);
        assert_eq!(agenda.due(0, 9, |_| true).len(), 2);
        assert!(agenda.due(0, 9, |_| true).is_empty());
        let next = agenda.ended(&"a".into(), Ended::Settled, 0).expect("known");
        assert!((54_000..=66_000).contains(&next), "{next}");
        assert!(agenda.due(next - 10_000, 9, |_| true).is_empty());
        assert_eq!(agenda.due(next, 9, |_| true), ["a".into()]);
    }

    #[test]
    fn fleets_of_others_are_left_to_them() {
        let mut agenda = agenda(&["a", "b"]);
        assert_eq!(agenda.due(0, 9, |fleet| fleet.as_str() == "b"), ["b".into()]);
    }

    #[test]
    fn failures_rest_longer_up_to_a_ceiling() {
        let mut agenda = agenda(&["a"]);
        let mut rests = Vec::new();
        let mut now = 0;
        for _ in 0..12 {
            agenda.due(now, 9, |_| true);
            let next = agenda.ended(&"a".into(), Ended::Failed, now).expect("known");
            rests.push(next - now);
            now = next;
        }
        assert!((4_500..=5_500).contains(&rests[0]), "{rests:?}");
        assert!((9_000..=11_000).contains(&rests[1]), "{rests:?}");
        assert!(rests.iter().all(|rest| *rest <= 660_000), "{rests:?}");
        // Somebody mends it: no fleet waits out a rest that it no longer needs.
        agenda.wake(&"a".into(), now);
        assert_eq!(agenda.due(now, 9, |_| true).len(), 1);
    }

    #[test]
    fn what_happens_meanwhile_is_not_forgotten() {
        let mut agenda = agenda(&["a"]);
        agenda.due(0, 9, |_| true);
        agenda.wake(&"a".into(), 5);
        assert!(agenda.due(5, 9, |_| true).is_empty(), "two at once");
        agenda.ended(&"a".into(), Ended::Settled, 9);
        assert_eq!(agenda.due(9, 9, |_| true).len(), 1);
    }
}
