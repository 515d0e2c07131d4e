//! Lambda Cloud behind the [`Provider`](fleet_provider::Provider) trait.
//!
//! Its API takes no token: asked again, it launches again. So launches go one at a time, each
//! after a look for what an earlier one may have made, and what is not known is looked for and
//! never sent again.

mod api;
mod doctor;
mod error;
mod launch;
mod machines;
mod offerings;
mod pace;
mod prices;
mod provider;
mod regional;
mod session;
mod tags;
mod terminate;
mod trace;
mod wire;

pub use provider::Lambda;
pub use session::LambdaSettings;
