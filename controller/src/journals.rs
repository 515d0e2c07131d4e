//! Journals that were read lately. Records never change, so only those that are new are read again: in an object store each
//! is a request.

use fleet_model::FleetName;
use fleet_run::{Engine, Record, RunError};
use std::sync::{Arc, Mutex, PoisonError};

/// Fleets whose journals are kept.
const FLEETS: usize = 8;
/// Events that are kept in all: tens of megabytes.
const EVENTS: usize = 100_000;

/// Journals that were read lately, the latest first.
#[derive(Debug, Default)]
pub(crate) struct Journals(Mutex<Vec<(FleetName, Arc<Vec<Record>>)>>);

impl Journals {
    /// Every record of a fleet's journal, oldest first.
    pub(crate) async fn read(
        &self,
        engine: &Engine,
        fleet: &FleetName,
    ) -> Result<Arc<Vec<Record>>, RunError> {
        let known = self.take(fleet);
        let last = known.as_ref().and_then(|known| known.last());
        let new = match last {
            Some(last) => engine.history_after(fleet, last).await?,
            None => None,
        };
        let records = match (known, new) {
            (Some(known), Some(new)) if new.is_empty() => known,
            (Some(mut known), Some(new)) => {
                Arc::make_mut(&mut known).extend(new);
                known
            }
            _ => Arc::new(engine.history(fleet).await?),
        };
        self.keep(fleet, &records);
        Ok(records)
    }

    /// Takes a journal out: while it is read on, nobody else needs it to stay as it is.
    fn take(&self, fleet: &FleetName) -> Option<Arc<Vec<Record>>> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = kept.iter().position(|(of, _)| of == fleet)?;
        Some(kept.remove(at).1)
    }

    fn keep(&self, fleet: &FleetName, records: &Arc<Vec<Record>>) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|(of, _)| of != fleet);
        kept.insert(0, (fleet.clone(), records.clone()));
        kept.truncate(FLEETS);
        let mut events = 0;
        kept.retain(|(_, records)| {
            events += records.iter().map(|record| record.events.len()).sum::<usize>();
            events <= EVENTS
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fleet_model::{Event, JOURNAL_FORMAT, Timestamp};

    fn journal(records: u64, events: usize) -> Arc<Vec<Record>> {
        let record = |seq| Record {
            format: JOURNAL_FORMAT,
            seq,
            epoch: 1,
            at: Timestamp::UNIX_EPOCH,
            events: vec![Event::Thawed; events],
        };
        Arc::new((1..=records).map(record).collect())
    }

    #[test]
    fn few_are_kept_and_the_latest_of_them() {
        let journals = Journals::default();
        for nth in 0..FLEETS + 1 {
            journals.keep(&FleetName::new(format!("fleet-{nth}")), &journal(1, 1));
        }
        assert!(journals.take(&"fleet-0".into()).is_none());
        assert!(journals.take(&"fleet-1".into()).is_some());
        assert!(journals.take(&"fleet-1".into()).is_none(), "taken");
    }

    #[test]
    fn a_long_one_is_read_anew() {
        let journals = Journals::default();
        journals.keep(&"short".into(), &journal(10, 10));
        journals.keep(&"long".into(), &journal(2, EVENTS));
        assert!(journals.take(&"long".into()).is_none());
    }
}
