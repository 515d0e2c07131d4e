//! Where seeded bugs enter what outlives a run, so that store, journal and lease are written once.
//! Without the feature `bugs` each of these does what its first line says.

use fleet_model::bugs::{self, Bug};
use futures::{Stream, StreamExt, TryStreamExt};
use object_store::PutMode;

/// How an object is written: created, never replaced.
pub(super) fn put_mode() -> PutMode {
    if bugs::on(Bug::RecordsOverwritten) { PutMode::Overwrite } else { PutMode::Create }
}

/// Whether an object is the one that we meant to write: if it has the same bytes.
pub(super) fn is_ours(there: Option<&[u8]>, ours: &[u8]) -> bool {
    there == Some(ours) || bugs::on(Bug::FenceIgnored)
}

/// Whether a stored checksum vouches for a body: if it is the body's own.
pub(super) fn vouches(stored: &[u8], own: &[u8]) -> bool {
    stored == own || bugs::on(Bug::ChecksumNotCompared)
}

/// Whether no record is missing between two: if the later number is the next one.
pub(super) fn is_next(seq: u64, after: u64) -> bool {
    seq == after + 1 || bugs::on(Bug::MissingRecordPassedOver)
}

/// Every record, or what is wrong with the first that cannot be read.
pub(super) async fn all_read<T, E>(records: impl Stream<Item = Result<T, E>>) -> Result<Vec<T>, E> {
    if bugs::on(Bug::TornTailPassedOver) {
        let all: Vec<Result<T, E>> = records.collect().await;
        return Ok(all.into_iter().map_while(Result::ok).collect());
    }
    records.try_collect().await
}

/// Whether a lease lets us send: if it is still held.
pub(super) fn may_send(held: bool) -> bool {
    held || bugs::on(Bug::LeaseNotChecked)
}

/// Whether a lease can be had without waiting for its holder to be dead: if it was given back.
pub(super) fn is_free_at_once(released: bool) -> bool {
    released || bugs::on(Bug::LeaseTakenAtOnce)
}

/// Whether a lease that was just taken is ours: if nobody else stirred meanwhile.
pub(super) fn stays_taken(unopposed: bool) -> bool {
    unopposed || bugs::on(Bug::LeaseTakenAtOnce)
}

/// Whether the lease of one epoch ends that of another: if it is later.
pub(super) fn supersedes(epoch: u64, ours: u64) -> bool {
    epoch > ours && !bugs::on(Bug::LeaseRevived)
}
