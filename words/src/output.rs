//! What `-o json` prints: one type per document, and the schema that is made from it.
//!
//! The contract: every document begins with the [`Head`]; fleets stand in `fleets`, also if there is one;
//! what is unknown is `null`, and no key is ever left out; money is in dollars, under keys that end in
//! `Usd`; shares are in per cent, under keys that end in `Percent`; times are RFC 3339 in UTC.

pub mod adopt;
pub mod apply;
pub mod catalog;
pub mod common;
pub mod compare;
pub mod controller;
pub mod cost;
pub mod doctor;
pub mod error;
pub mod explain;
pub mod history;
pub mod other;
pub mod plan;
pub mod plan_cost;
pub mod reach;
pub mod reasons;
pub mod review;
pub mod rollout;
pub mod schema;
pub mod simulate;
pub mod status;
pub mod sweep;
pub mod validate;
pub mod words;

use crate::exit::Exit;
use schemars::JsonSchema;
use serde::Serialize;

/// Format number of every document.
pub const FORMAT_VERSION: u32 = 1;

/// What every document begins with.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Head {
    /// Format of the document. Keys may be added under the same number; a change of what is there raises
    /// it.
    pub format_version: u32,
    /// What the document is: `fleet schema KIND` prints its schema.
    pub kind: &'static str,
    /// The command that printed it, such as `plan` or `catalog list`; `fleet` if the command line names none
    /// that makes sense.
    pub command: &'static str,
    /// The exit code of the command; in a line of `reconcile`, of its fleet.
    pub exit_code: u8,
}

/// A body that a command prints.
pub trait Body: Serialize + JsonSchema {
    /// The name of the document and of its schema.
    const KIND: &'static str;
    /// The command that prints it.
    const COMMAND: &'static str;
}

/// A whole document.
#[derive(Debug, Serialize)]
pub struct Document<B> {
    #[serde(flatten)]
    head: Head,
    #[serde(flatten)]
    body: B,
}

/// A body under its head.
pub fn document<B: Body>(exit: Exit, body: B) -> Document<B> {
    titled(B::COMMAND, exit, body)
}

/// A body that several commands print, under the head of one of them.
pub fn titled<B: Body>(command: &'static str, exit: Exit, body: B) -> Document<B> {
    let exit_code = exit.code();
    Document {
        head: Head { format_version: FORMAT_VERSION, kind: B::KIND, command, exit_code },
        body,
    }
}

/// Names the documents that types are the bodies of.
macro_rules! bodies {
    ($($body:ty: $kind:literal, $command:literal;)*) => {$(
        impl $crate::output::Body for $body {
            const KIND: &'static str = $kind;
            const COMMAND: &'static str = $command;
        }
    )*};
}
pub(crate) use bodies;
