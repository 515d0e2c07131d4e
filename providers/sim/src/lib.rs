//! Four simulated clouds with the habits of the real ones, for tests, demonstrations and plans
//! that cost nothing.
//!
//! The clouds are one pure value, the [world](Sim): a fold over events, with a stepped clock and
//! seeded chance. The same seed and the same calls give the same world, byte for byte. On disk
//! it is a log of events that several processes share, and that outlives a `kill -9` of any of
//! them: a cloud does not die when its customer does.
//!
//! There are two layers. The raw clouds keep machines, tokens, limits and quotas, and answer in
//! each cloud's own codes. The adapters, one [`Provider`](fleet_provider::Provider) per cloud,
//! do what an adapter of the real cloud must do: poll operations, look before a launch where
//! there are no tokens, and say of every code what the caller can do about it.

mod address;
mod bill;
mod chance;
mod classify;
mod clock;
mod cloud;
mod event;
mod fault;
mod handover;
mod index;
mod inject;
mod life;
mod limit;
mod line;
mod pools;
mod prices;
mod provider;
mod quote;
mod readings;
mod settings;
mod sim;
mod spells;
mod store;
mod tariff;
#[cfg(test)]
mod tests;
mod tides;
mod time;
mod tx;
mod vm;
mod world;

pub use bill::Billed;
pub use chance::Chance;
pub use fault::{Area, Fault};
pub use life::Life;
pub use settings::{Preset, Settings};
pub use sim::Sim;
pub use store::SimError;
pub use tides::Tides;
