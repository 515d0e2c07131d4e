//! What fleet says: sentences and screens for people, documents for programs. Commands, the HTTP API and the
//! pages of the controller say the same things, because they say them from here.

#![allow(
    missing_docs,
    reason = "fields are named as in the documents, and described there where need be"
)]

pub mod exit;
pub mod fail;
pub mod machines;
pub mod output;
pub mod render;
pub mod review;
pub mod rollouts;
pub mod runs;
pub mod sentences;
pub mod style;
pub mod text;
