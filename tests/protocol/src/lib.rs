//! The lease and the journal as a model: two appliers, three slots, one journal, one cloud.
//!
//! What `engine/run` does in `lease`, `journal`, `session`, `apply` and `recover`, reduced to what
//! safety depends on. Every step of every applier is an action of its own, so that each may be
//! paused between any two of them for as long as the others like.
//!
//! - **Lease**: whoever creates the next epoch's object holds it. It runs out if its holder does not
//!   beat; others may take it then, and the holder's own check says no from then on, however long it
//!   slept. (A holder counts on it for less time than others wait.)
//! - **Journal**: record n + 1 can be created once. A writer knows the records it has read and those
//!   that it wrote; if the number is taken it stops.
//! - **Launch**: append the intent, check the lease, send, append the outcome. The answer may be
//!   lost, whether machines were made or not.
//! - **Recovery**: look; what is there is written down; what is absent a settle window after the
//!   request was last sent never happened. Where the cloud takes tokens the same request may be sent
//!   again instead.

mod properties;
mod protocol;

pub use protocol::{
    APPLIERS, Act, Applier, Attempt, Broken, Pc, Protocol, Rec, SLOTS, Slot, State, What,
};
