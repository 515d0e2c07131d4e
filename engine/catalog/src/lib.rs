//! The catalog: which types exist, where, and what they cost.

mod accelerators;
mod assemble;
mod import;
mod snapshot;
mod stored;
#[cfg(test)]
mod testing;
mod validate;

pub use import::{CloudReport, Finding, ImportError, ImportReport, import};
pub use snapshot::{
    SNAPSHOT_SOURCE, SnapshotError, embedded, parse_snapshot, snapshot_as_of, write_snapshot,
};
pub use stored::{Damage, StoreError, load, save};
pub use validate::{Flaw, validate};
