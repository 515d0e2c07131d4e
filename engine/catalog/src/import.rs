//! Reading price lists in the SkyPilot layout: `DIR/{aws,gcp,azure,lambda}/vms.csv`.
//!
//! Real lists have real faults. Each has one deliberate treatment, and each occurrence is counted
//! in the [`ImportReport`]; see [`Finding`] for the whole list.

mod aws;
mod azure;
mod collect;
mod gcp;
mod lambda;
mod report;
mod table;
#[cfg(test)]
mod tests;

pub(crate) use azure::Name as AzureName;
pub use report::{CloudReport, Finding, ImportReport};

use crate::assemble::Assembly;
use collect::Collect;
use fleet_model::{Catalog, Cloud, Timestamp};
use std::path::{Path, PathBuf};
use table::Table;

/// Where an imported catalog says it comes from.
const SOURCE: &str = "CSV in the SkyPilot catalog layout";

/// Why a folder could not be imported.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// None of the clouds' files is there.
    #[error("`{0}` holds no catalog: expected aws/vms.csv, gcp/vms.csv, azure/vms.csv or lambda/vms.csv", dir.display())]
    Nothing {
        /// The folder searched.
        dir: PathBuf,
    },
    /// A file is there and cannot be read.
    #[error("cannot read `{0}`", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A file is not a table.
    #[error("`{0}` is not a table", path.display())]
    Table {
        /// The file.
        path: PathBuf,
        /// What is wrong, and in which line.
        source: csv::Error,
    },
    /// A column that must be there is not.
    #[error("`{0}` has no column `{column}`", path.display())]
    Column {
        /// The file.
        path: PathBuf,
        /// The column.
        column: &'static str,
    },
    /// A value that cannot be what its column says. Nothing is guessed: a list damaged in one
    /// place is not to be trusted in the next.
    #[error("{0}:{line}: `{text}` is not a value for {column}", path.display())]
    Value {
        /// The file.
        path: PathBuf,
        /// The line in it.
        line: u64,
        /// The column.
        column: &'static str,
        /// The text found.
        text: String,
    },
}

/// Reads every cloud's price list under `dir`. A cloud without one is left out.
///
/// The lists carry no date: the catalog is as of the newest file's last change.
pub fn import(dir: &Path) -> Result<(Catalog, ImportReport), ImportError> {
    import_all(&[dir])
}

/// The same from several folders: the lists of one cloud count as one list, so that a type without a
/// spot price in the one is sold as spot, at a price not known, if the other has a price for it.
pub fn import_all(dirs: &[&Path]) -> Result<(Catalog, ImportReport), ImportError> {
    let mut assembly = Assembly::default();
    let mut report = ImportReport::default();
    let mut as_of = Timestamp::UNIX_EPOCH;
    for cloud in Cloud::ALL {
        let mut tables = Vec::new();
        for dir in dirs {
            let path = dir.join(cloud.as_str()).join("vms.csv");
            tables.extend(Table::open(&path)?);
        }
        if tables.is_empty() {
            continue;
        }
        let mut collect = Collect::new(cloud, &mut assembly);
        for (table, changed) in tables {
            as_of = as_of.max(changed);
            match cloud {
                Cloud::Aws => aws::read(table, &mut collect)?,
                Cloud::Gcp => gcp::read(table, &mut collect)?,
                Cloud::Azure => azure::read(table, &mut collect)?,
                Cloud::Lambda => lambda::read(table, &mut collect)?,
            }
        }
        report.clouds.push(collect.finish());
    }
    if report.clouds.is_empty() {
        let dir = dirs.first().map_or_else(PathBuf::new, |dir| dir.to_path_buf());
        return Err(ImportError::Nothing { dir });
    }
    let (catalog, _) = assembly.finish(SOURCE.to_owned(), as_of);
    Ok((catalog, report))
}
