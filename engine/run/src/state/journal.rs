//! The journal of one fleet: numbered records, each created once and never replaced.
//!
//! Creating record n + 1 is the only way to write, and only one writer can succeed: the journal is
//! its own fence. Concurrent appends of one writer share a record, so that ten thousand intents
//! are a few hundred objects.

use crate::calls::Appended;
use crate::state::names::{journal_folder, record_names};
use crate::state::record::{self, BadRecord, Record};
use crate::state::seams;
use crate::state::snapshot::{self, Found};
use crate::state::store::{Store, StoreError};
use fleet_core::fold;
use fleet_model::{Event, FleetName, FleetUid, JOURNAL_FORMAT, Recorded};
use fleet_provider::Clock;
use futures::{StreamExt, stream};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;
use tokio::sync::oneshot;

/// A snapshot is written when this many records would have to be replayed.
const SNAPSHOT_EVERY: u64 = 16;
/// Records read at once.
const READS_AT_ONCE: usize = 32;

/// Why the journal cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A record is damaged or missing.
    #[error("journal of fleet `{fleet}`, record {seq}: {why}")]
    Damaged {
        /// Which fleet.
        fleet: FleetName,
        /// Which record.
        seq: u64,
        /// What is wrong with it.
        why: String,
    },
    /// Part of a journal that moves from another name: the rest of it is there still.
    #[error("fleet `{from}` is being renamed to `{fleet}`, and that is not done yet")]
    Arriving {
        /// The name that it moves to.
        fleet: FleetName,
        /// The name that it moves from.
        from: FleetName,
    },
    /// Somebody else wrote the record that we were about to write.
    #[error("another run took over the journal of fleet `{fleet}` (epoch {epoch}); this one stops")]
    Fenced {
        /// Which fleet.
        fleet: FleetName,
        /// The epoch of the other writer.
        epoch: u64,
    },
}

/// The journal of one fleet.
pub struct Journal {
    store: Store,
    fleet: FleetName,
    clock: Arc<dyn Clock>,
    queue: Mutex<Vec<Waiting>>,
    /// Asked for before every request: not worth waiting for the writer.
    uid: Mutex<Option<FleetUid>>,
    writer: tokio::sync::Mutex<Writer>,
}

struct Waiting {
    events: Vec<Event>,
    done: oneshot::Sender<Result<(), Refusal>>,
}

/// Why an append of a whole batch failed: shared by everybody in it.
#[derive(Debug, Clone)]
enum Refusal {
    Fenced(u64),
    Failed(String),
}

struct Writer {
    recorded: Recorded,
    snapshot: u64,
    /// Snapshots that are of no use: the next one takes their place.
    useless: Vec<String>,
    broken: Option<Refusal>,
}

impl Journal {
    /// Replays the journal: the last snapshot, then every record after it.
    pub async fn open(
        store: &Store,
        fleet: &FleetName,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, JournalError> {
        let Replayed { recorded, snapshot, useless } = replay(store, fleet).await?;
        let uid = Mutex::new(recorded.uid.clone());
        let writer = Writer { recorded, snapshot, useless, broken: None };
        Ok(Journal {
            store: store.clone(),
            fleet: fleet.clone(),
            clock,
            queue: Mutex::new(Vec::new()),
            uid,
            writer: tokio::sync::Mutex::new(writer),
        })
    }

    /// Every record, oldest first.
    pub async fn history(store: &Store, fleet: &FleetName) -> Result<Vec<Record>, JournalError> {
        let names = record_names(store, fleet, 0).await?;
        read_records(store, fleet, names).await
    }

    /// Records that came after one that was read before; `None` if that one is there no more: this is another journal
    /// under the same name.
    pub async fn history_after(
        store: &Store,
        fleet: &FleetName,
        last: &Record,
    ) -> Result<Option<Vec<Record>>, JournalError> {
        let names = record_names(store, fleet, last.seq.saturating_sub(1)).await?;
        let mut records = read_records(store, fleet, names).await?;
        if records.first() != Some(last) {
            return Ok(None);
        }
        records.remove(0);
        Ok(Some(records))
    }

    /// What is recorded now.
    pub async fn recorded(&self) -> Recorded {
        self.writer.lock().await.recorded.clone()
    }

    /// Something of what is recorded, without a copy of the whole.
    pub(crate) async fn read<T>(&self, read: impl FnOnce(&Recorded) -> T) -> T {
        read(&self.writer.lock().await.recorded)
    }

    /// The fleet's identity, once it has one.
    pub(crate) fn recorded_uid(&self) -> Option<FleetUid> {
        self.uid.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Writes events down. When this returns, they are durable.
    pub async fn append(&self, events: Vec<Event>) -> Result<(), JournalError> {
        let (done, mut result) = oneshot::channel();
        self.queue.lock().unwrap_or_else(PoisonError::into_inner).push(Waiting { events, done });
        // Whoever gets the writer writes for everybody who waits; the others learn the result without
        // ever holding it, so that their next events are ready for the next record.
        let written = tokio::select! {
            biased;
            written = &mut result => written,
            mut writer = self.writer.lock() => {
                self.write_queue(&mut writer).await;
                drop(writer);
                result.await
            }
        };
        match written {
            Ok(Ok(())) => Ok(()),
            Ok(Err(refusal)) => Err(self.refused(refusal)),
            Err(_) => Err(self.refused(Refusal::Failed("the writer went away".into()))),
        }
    }

    /// Writes everything that waits as one record.
    async fn write_queue(&self, writer: &mut Writer) {
        let batch = std::mem::take(&mut *self.queue.lock().unwrap_or_else(PoisonError::into_inner));
        if batch.is_empty() {
            return;
        }
        let (events, waiting): (Vec<_>, Vec<_>) =
            batch.into_iter().map(|waiting| (waiting.events, waiting.done)).unzip();
        let written = self.write(writer, events.concat()).await;
        for done in waiting {
            // A receiver that is gone was cancelled; its events are written all the same.
            let _ = done.send(written.clone());
        }
    }

    fn refused(&self, refusal: Refusal) -> JournalError {
        let fleet = self.fleet.clone();
        match refusal {
            Refusal::Fenced(epoch) => JournalError::Fenced { fleet, epoch },
            Refusal::Failed(why) => JournalError::Damaged { fleet, seq: 0, why },
        }
    }

    async fn write(&self, writer: &mut Writer, events: Vec<Event>) -> Result<(), Refusal> {
        if let Some(broken) = &writer.broken {
            return Err(broken.clone());
        }
        let result = self.try_write(writer, events).await;
        if let Err(refusal) = &result {
            // After one failed append nothing more is written: order is everything.
            writer.broken = Some(refusal.clone());
        }
        result
    }

    async fn try_write(&self, writer: &mut Writer, events: Vec<Event>) -> Result<(), Refusal> {
        let failed = |error: &dyn std::fmt::Display| Refusal::Failed(error.to_string());
        let seq = writer.recorded.seq + 1;
        let epoch = events
            .iter()
            .find_map(|event| match event {
                Event::Epoch { epoch, .. } => Some(*epoch),
                _ => None,
            })
            .unwrap_or(writer.recorded.epoch);
        let at = self.clock.now();
        let record = Record { format: JOURNAL_FORMAT, seq, epoch, at, events };
        let body = record::seal(&record).map_err(|error| failed(&error))?;
        let name = record_name(&self.fleet, seq);
        let started = Instant::now();
        let created = self.store.create(&name, body.clone()).await;
        if !created.map_err(|error| failed(&error))? {
            // A lost answer to our own write looks the same as somebody else's record.
            let there = self.store.read(&name).await.map_err(|error| failed(&error))?;
            if !seams::is_ours(there.as_deref(), &body) {
                let other = there.and_then(|bytes| record::decode(&bytes).ok());
                return Err(Refusal::Fenced(other.map_or(0, |record| record.epoch)));
            }
        }
        self.store.measured.tell(|meter| {
            let (fleet, events, before) = (&self.fleet, &record.events, &writer.recorded);
            meter.appended(&Appended { fleet, events, before, took: started.elapsed() });
        });
        for event in &record.events {
            fold(&mut writer.recorded, event, at);
        }
        writer.recorded.seq = seq;
        *self.uid.lock().unwrap_or_else(PoisonError::into_inner) = writer.recorded.uid.clone();
        Ok(())
    }

    /// Writes a snapshot if many records have come since the last one. A shortcut, not a truth: it
    /// may be lost at any time.
    pub async fn snapshot(&self) -> Result<(), JournalError> {
        let mut writer = self.writer.lock().await;
        let seq = writer.recorded.seq;
        if seq < writer.snapshot + SNAPSHOT_EVERY {
            return Ok(());
        }
        let useless = std::mem::take(&mut writer.useless);
        snapshot::write(&self.store, &self.fleet, &writer.recorded, useless).await?;
        writer.snapshot = seq;
        Ok(())
    }
}

pub(super) fn record_name(fleet: &FleetName, seq: u64) -> String {
    format!("{}/{seq:012}", journal_folder(fleet))
}

/// What is recorded of a fleet.
struct Replayed {
    recorded: Recorded,
    /// The number of the snapshot that it was read from.
    snapshot: u64,
    /// Newer snapshots, which are of no use.
    useless: Vec<String>,
}

async fn replay(store: &Store, fleet: &FleetName) -> Result<Replayed, JournalError> {
    let Found { recorded, useless } = snapshot::last(store, fleet).await?;
    let mut recorded = recorded.unwrap_or_default();
    let snapshot = recorded.seq;
    if snapshot > 0 && store.read(&record_name(fleet, snapshot)).await?.is_none() {
        return Err(JournalError::Damaged {
            fleet: fleet.clone(),
            seq: snapshot,
            why: "it is missing, and a snapshot was made after it".into(),
        });
    }
    let names = record_names(store, fleet, snapshot).await?;
    let records = read_records(store, fleet, names).await?;
    if let Some(from) = arriving(fleet, snapshot, &records) {
        return Err(JournalError::Arriving { fleet: fleet.clone(), from });
    }
    for record in records {
        if !seams::is_next(record.seq, recorded.seq) {
            return Err(JournalError::Damaged {
                fleet: fleet.clone(),
                seq: recorded.seq + 1,
                why: format!("it is missing, and record {} is there", record.seq),
            });
        }
        for event in &record.events {
            fold(&mut recorded, event, record.at);
        }
        recorded.seq = record.seq;
    }
    Ok(Replayed { recorded, snapshot, useless })
}

/// Whence a journal moves here of which the first record has not come yet: it comes last.
fn arriving(fleet: &FleetName, snapshot: u64, records: &[Record]) -> Option<FleetName> {
    let begun = snapshot > 0 || records.first().is_none_or(|first| first.seq == 1);
    let last = records.last().filter(|_| !begun)?;
    last.events.iter().find_map(|event| match event {
        Event::Renamed { from, to } if to == fleet => Some(from.clone()),
        _ => None,
    })
}

async fn read_records(
    store: &Store,
    fleet: &FleetName,
    names: Vec<String>,
) -> Result<Vec<Record>, JournalError> {
    let damaged = |name: &str, why: String| JournalError::Damaged {
        fleet: fleet.clone(),
        seq: name.parse().unwrap_or_default(),
        why,
    };
    let read = |name: String| async move {
        let bytes = store.read(&format!("{}/{name}", journal_folder(fleet))).await?;
        let bytes = bytes.ok_or_else(|| damaged(&name, "it is missing".into()))?;
        let record: Result<Record, BadRecord> = record::decode(&bytes);
        record.map_err(|bad| damaged(&name, bad.to_string()))
    };
    seams::all_read(stream::iter(names).map(read).buffered(READS_AT_ONCE)).await
}
