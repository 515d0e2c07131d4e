//! Witnesses that nobody here wrote: Prism, which holds every request and answer against the
//! cloud's official description, and the vendor's own Python client.

mod describe;
mod prism;
mod router;

pub use describe::{azure, lambda};
pub use prism::{NO_PRISM, Prism};
pub use router::Router;

use std::path::PathBuf;

/// Where the official descriptions lie: beside the repository, not in it.
pub fn descriptions() -> Option<PathBuf> {
    fleet_testkit::shared_data("api")
}
