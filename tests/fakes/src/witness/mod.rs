//! Witnesses that nobody here wrote: Prism, which holds every request and answer against the
//! cloud's official description, and the vendor's own Python client.

mod describe;
mod prism;
mod router;

pub use describe::{azure, lambda};
pub use prism::{NO_PRISM, Prism};
pub use router::Router;

use std::path::{Path, PathBuf};

/// Where the official descriptions lie: beside the repository, not in it.
pub fn descriptions() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/api");
    folder.is_dir().then_some(folder)
}

/// What a test says that cannot be made.
pub const NO_DESCRIPTIONS: &str =
    "skipped: the official API descriptions are not there (../shared/data/api)";
