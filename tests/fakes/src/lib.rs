//! Twins of clouds that speak the real wire format on loopback, keep state, and go wrong on demand.
//!
//! A fake is a world behind a small HTTP server. Tests in the same process set its faults directly
//! and step its clock; programs outside set them with `PUT /fake/faults` and ask for the truth with
//! `GET /fake/state`, whatever faults there are.

pub mod azure;
mod clock;
mod faults;
mod http;
pub mod lambda;
mod listen;
mod script;
mod server;
mod support;
pub mod witness;

pub use clock::{RealClock, SteppedClock};
pub use faults::{Faults, Refusal};
pub use http::{Answer, Request};
pub use listen::{Listener, bad, free_port, listening, read_head, start_quietly};
pub use script::{fleet, say, told, witnesses};
pub use server::{Fake, Server, World};
pub use support::{Asks, ask, victims};
