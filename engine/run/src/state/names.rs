//! Names of a journal's records, listed while others may be written.
//!
//! A folder that is read while files come into it may show a later one and not an earlier one: POSIX leaves
//! open whether `readdir` shows what came after it began, and ext4 goes by hashes of names. A list with a gap is
//! therefore no proof that a record is missing. What a first list shows was there, and all before it, when a
//! second one begins: up to there the second one is whole.

use crate::state::store::{Store, StoreError};
use fleet_model::FleetName;

pub(super) fn journal_folder(fleet: &FleetName) -> String {
    format!("fleets/{fleet}/journal")
}

/// Names of the records after one, in order. A gap among them is a record that is missing.
pub(super) async fn record_names(
    store: &Store,
    fleet: &FleetName,
    after: u64,
) -> Result<Vec<String>, StoreError> {
    let (folder, offset) = (journal_folder(fleet), format!("{after:012}"));
    let list = || store.list(&folder, (after > 0).then_some(offset.as_str()));
    let first = list().await?;
    match has_gap(&first, after) {
        true => Ok(up_to(first.last(), list().await?)),
        false => Ok(first),
    }
}

/// Whether a number after `after` is left out.
pub(super) fn has_gap(names: &[String], after: u64) -> bool {
    (after + 1..).zip(names).any(|(expected, name)| name.parse() != Ok(expected))
}

/// A second list, up to where a first one went.
pub(super) fn up_to(last: Option<&String>, mut second: Vec<String>) -> Vec<String> {
    second.retain(|name| Some(name) <= last);
    second
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calls::SystemClock;
    use crate::state::journal::Journal;
    use crate::state::ledger::read_ledger;
    use crate::state::record::Record;
    use fleet_model::{Event, JOURNAL_FORMAT, Timestamp};
    use fleet_provider::Clock;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    #[test]
    fn gaps() {
        let names = |numbers: &[u64]| -> Vec<String> {
            numbers.iter().map(|number| format!("{number:012}")).collect()
        };
        assert!(
            !has_gap(&[], 0) && !has_gap(&names(&[1, 2, 3]), 0) && !has_gap(&names(&[8, 9]), 7)
        );
        assert!(has_gap(&names(&[2, 3]), 0) && has_gap(&names(&[1, 3]), 0));
        assert!(has_gap(&names(&[9]), 7));
        let (first, second) = (names(&[1, 3]), names(&[1, 2, 3, 5]));
        assert_eq!(up_to(first.last(), second), names(&[1, 2, 3]));
        assert!(up_to(None, names(&[1])).is_empty());
    }

    /// More records than one question to Linux shows (32 kB of names): a shorter list has no gaps.
    const BEFORE: u64 = 2500;

    fn epoch(number: u64) -> Vec<Event> {
        vec![Event::Epoch { epoch: number, holder: "me".into() }]
    }

    /// Reads a journal in a folder, in each way there is, while it is written.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_journal_is_read_while_it_grows() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::open(folder.path().to_str().expect("a path")).expect("a store");
        let fleet = FleetName::new("busy");
        let records = folder.path().join(journal_folder(&fleet));
        std::fs::create_dir_all(&records).expect("a folder");
        for seq in 1..=BEFORE {
            let at = Timestamp::UNIX_EPOCH;
            let record = Record { format: JOURNAL_FORMAT, seq, epoch: seq, at, events: epoch(seq) };
            let sealed = record.sealed().expect("a record");
            std::fs::write(records.join(format!("{seq:012}")), sealed).expect("written");
        }
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let journal = Journal::open(&store, &fleet, clock.clone()).await.expect("a journal");
        let done = Arc::new(AtomicBool::new(false));
        let writer = tokio::spawn({
            let done = done.clone();
            async move {
                for number in BEFORE + 1..=BEFORE + 300 {
                    journal.append(epoch(number)).await.expect("written");
                }
                done.store(true, Ordering::Relaxed);
            }
        });
        let mut last = 0;
        while !done.load(Ordering::Relaxed) {
            // As all three ways of reading list it.
            for _ in 0..10 {
                let names = record_names(&store, &fleet, 0).await.expect("a list");
                assert!(!has_gap(&names, 0), "after {last}");
                last = names.len();
            }
            read_ledger(&store, &fleet, |_, _| ()).await.expect("no gap");
        }
        writer.await.expect("written");
        let recorded = Journal::open(&store, &fleet, clock).await.expect("whole").recorded().await;
        assert_eq!(recorded.seq, BEFORE + 300);
    }
}
