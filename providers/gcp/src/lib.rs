//! Google Compute Engine behind the [`Provider`](fleet_provider::Provider) trait.
//!
//! One file per noun of the cloud. Requests are built purely and answers read purely. A launch is
//! an operation that ends later, and what went wrong is inside it: whoever reads only the status
//! of the first answer takes a zone without room for a success. The SDK's retries are off: the
//! engine has the only layer that asks again.

mod advice;
mod choice;
mod doctor;
mod error;
mod handover;
mod image;
mod kind;
mod labels;
mod launch;
mod machines;
mod name;
mod offerings;
mod operations;
mod prices;
mod provider;
mod quota;
mod relabel;
mod request;
mod reservation;
mod role;
mod session;
mod terminate;
mod tpu;
mod trace;

pub use provider::Gcp;
pub use session::GcpSettings;
