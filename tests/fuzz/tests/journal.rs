//! Journals: what was written is read, and whatever else is there is refused.

use fleet_fuzz::{corpus, fuzz};
use fleet_model::FleetName;
use fleet_run::{Journal, JournalError, Record, Store};
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{ObjectStoreExt, PutPayload};
use std::sync::Arc;

/// Reads bytes as the first record of a journal.
fn read(bytes: &[u8]) -> Result<Vec<Record>, JournalError> {
    let objects = Arc::new(InMemory::new());
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(async {
        let path = Path::from("fleets/fuzz/journal/000000000001");
        objects.put(&path, PutPayload::from(bytes.to_vec())).await.expect("put");
        Journal::history(&Store::over(objects.clone()), &FleetName::new("fuzz")).await
    })
}

fn assert_refused(bytes: &[u8]) {
    match read(bytes) {
        Err(JournalError::Damaged { seq: 1, why, .. }) => assert!(!why.is_empty()),
        other => panic!("{other:?}"),
    }
}

fn seeds() -> Vec<Vec<u8>> {
    corpus("journal").into_iter().map(|(_, bytes)| bytes).collect()
}

#[test]
fn fuzz_journal() {
    let seeds = seeds();
    fuzz("journal", &seeds, |input| {
        if seeds.iter().any(|seed| seed == input) {
            assert_eq!(read(input).expect("a record").len(), 1);
        } else {
            assert_refused(input);
        }
    });
}

#[test]
fn every_flipped_bit_of_a_record_is_found() {
    for record in seeds() {
        for at in 0..record.len() * 8 {
            let mut damaged = record.clone();
            damaged[at / 8] ^= 1 << (at % 8);
            assert_refused(&damaged);
        }
    }
}
