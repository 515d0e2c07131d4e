//! Amazon EC2 behind the [`Provider`](fleet_provider::Provider) trait.
//!
//! One file per noun of the cloud. Requests are built purely and answers read purely; names that a
//! spec uses (zones, images, subnets) are looked up in between, once per run. The SDK's retries
//! are off: the engine has the only layer that asks again.

mod blocks;
mod choice;
mod create_fleet;
mod doctor;
mod error;
mod events;
mod handover;
mod image;
mod launch;
mod launch_template;
mod machines;
mod network;
mod offerings;
mod pages;
mod policy;
mod price_list;
mod prices;
mod provider;
mod quota;
mod relabel;
mod scores;
mod session;
mod spot_advisor;
mod spot_cache;
mod status;
mod tags;
mod terminate;
#[cfg(test)]
mod testing;
mod trace;
mod types;
mod user_data;
mod zones;

pub use provider::Aws;
pub use session::AwsSettings;
