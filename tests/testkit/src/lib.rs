//! What the tests of several crates share: an HTTP server on loopback, clocks, requests to providers,
//! and other programs to run.

mod clock;
mod http;
mod listen;
mod requests;
mod script;
mod shared;

pub use clock::{RealClock, SteppedClock};
pub use http::{Answer, Request, relay};
pub use listen::{Listener, free_port, listening, start_quietly};
pub use requests::{Asks, ask, victims};
pub use script::{fleet, say, told, witnesses};
pub use shared::{shared_data, skipped};
