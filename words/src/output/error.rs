//! The document of a command that failed.

use super::bodies;
use super::common::{Diagnostic, diagnostics};
use crate::fail::Failure;
use schemars::JsonSchema;
use serde::Serialize;

/// Why a command failed. Nothing else is printed then.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ErrorReport {
    /// What happened. Of many problems with specs, the first.
    pub error: String,
    /// Where: a file, a URL, a flag.
    pub place: Option<String>,
    /// What to do about it.
    pub hint: Option<String>,
    /// What is wrong with specs.
    pub diagnostics: Vec<Diagnostic>,
}

bodies! { ErrorReport: "error", ""; }

impl From<&Failure> for ErrorReport {
    fn from(failure: &Failure) -> Self {
        let (error, place, hint) = failure.told();
        ErrorReport { error, place, hint, diagnostics: diagnostics(&failure.diagnostics) }
    }
}
