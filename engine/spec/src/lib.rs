//! The spec language `fleet/v1`: YAML → validated fleets, all errors at once, each with its place
//! and a hint; policies; the JSON Schema and the reference page.
//!
//! ```
//! let text = "{ apiVersion: fleet/v1, kind: Fleet, metadata: { name: web },
//!   spec: { capacity: { target: 3 } } }";
//! let loaded = fleet_spec::load_str("web.yaml", text).expect("a valid spec");
//! assert_eq!(loaded.fleets[0].desired.fleet.as_str(), "web");
//!
//! let wrong = text.replace("target", "targt");
//! let errors = fleet_spec::load_str("web.yaml", &wrong).unwrap_err();
//! assert_eq!(errors.0[0].hint.as_deref(), Some("did you mean `target`?"));
//! ```
//!
//! *Invariant*: no input makes this crate panic, hang, or read more than it must: sizes, depths
//! and counts are checked before the work they would cause.
//!
//! *Invariant*: user data appears in no message.

mod beside;
mod canonical;
mod ceiling;
mod diagnostic;
mod enforce;
mod fleet;
mod input;
mod layers;
mod load;
mod number;
mod places;
mod policy;
mod reader;
mod reference;
mod scalar;
mod schema;
mod source;
mod total;
mod user_data;
mod variables;
mod wire;
mod wire_scalar;
mod words;
mod yaml;

pub use ceiling::{Ceiling, LabelCeiling};
pub use diagnostic::{Diagnostic, Diagnostics, Severity};
pub use load::{
    Broken, EffectiveLine, LoadOptions, Loaded, LoadedFleet, load, load_bytes, load_sound, load_str,
};
pub use places::Location;
pub use policy::{ApprovalRule, Kept, NotifyEvent, NotifyFormat, NotifyRule, Policy};
pub use reference::reference_markdown;
pub use schema::schema;
pub use variables::{GivenBy, Used, Values};
