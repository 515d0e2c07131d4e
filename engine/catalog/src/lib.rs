//! The catalog: which types exist, where, and what they cost.
//!
//! A catalog comes from one of three places, and is the same value from each:
//! - [`import`] reads the clouds' price lists from CSV files, with all their faults;
//! - [`save`] and [`load`] keep an imported one in a form that loads in milliseconds;
//! - [`embedded`] is a snapshot inside the program, so that everything works without an import.
//!
//! [`merge`] puts a cloud's present list into a catalog. [`source`] chooses between the last two. [`list`] and [`show`] answer people's questions.

mod assemble;
mod import;
mod merge;
mod query;
mod show;
mod snapshot;
mod stored;
#[cfg(test)]
mod testing;
mod validate;

pub use import::{CloudReport, Finding, ImportError, ImportReport, import, import_all};
pub use merge::{Merged, Sold, merge};
pub use query::{Listed, Query, Range, Sort, list};
pub use show::{Offer, Shown, UnknownType, accelerator_names, region_names, show, similar};
pub use snapshot::{
    SNAPSHOT_LISTS, SNAPSHOT_SOURCE, SnapshotError, embedded, parse_snapshot, snapshot_as_of,
    write_snapshot,
};
pub use stored::{Damage, StoreError, load, save};
pub use validate::{Flaw, validate};

use fleet_model::Catalog;
use std::path::Path;

/// The imported catalog if there is one at `path`, else the embedded one.
///
/// One that is there and cannot be used is an error: prices that silently change to those of the
/// snapshot would be worse than a command that stops.
pub fn source(path: Option<&Path>) -> Result<Catalog, StoreError> {
    match path.map(load) {
        None => Ok(embedded()),
        Some(Err(StoreError::Read { source, .. }))
            if source.kind() == std::io::ErrorKind::NotFound =>
        {
            Ok(embedded())
        }
        Some(loaded) => loaded,
    }
}
