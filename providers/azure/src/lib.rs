//! Azure virtual machines behind the [`Provider`](fleet_provider::Provider) trait.
//!
//! One file per noun of the cloud. Bodies of Azure Resource Manager are built and read purely and
//! sent in one place; names that a spec uses (subnets, keys) are looked up in between. Microsoft's
//! own crates give the credentials. Nothing is sent again here but reads of operations under way:
//! the engine has the only layer that asks again.

mod addresses;
mod api;
mod children;
mod create;
mod credential;
mod doctor;
mod error;
mod evictions;
mod handover;
mod image;
mod launch;
mod machines;
mod names;
mod network;
mod offerings;
mod operation;
mod power;
mod prices;
mod provider;
mod quotas;
mod relabel;
#[doc(hidden)]
pub mod replay;
mod scores;
mod session;
mod skus;
mod tags;
mod terminate;
mod trace;
mod wire;

pub use provider::Azure;
pub use session::AzureSettings;
