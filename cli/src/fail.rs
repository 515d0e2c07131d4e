//! What is said when a command cannot go on.

use crate::exit::Exit;
use crate::render::plan_json::OUTPUT_FORMAT;
use crate::style;
use crate::text::clean;
use fleet_model::FleetName;
use fleet_provider::with_causes;
use fleet_spec::Diagnostics;
use serde_json::{Value, json};
use std::fmt;

/// A failure: what happened, where, and what to do next. Causes are said once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    /// How the command ends.
    pub exit: Exit,
    /// What happened.
    pub what: String,
    /// Where: `file:line:column`, a URL, a flag.
    pub place: Option<String>,
    /// What to do next.
    pub hint: Option<String>,
    /// Already laid out for people; printed as it stands, instead of all the above.
    pub rendered: bool,
    /// What is wrong with specs, for programs.
    pub diagnostics: Diagnostics,
}

/// What every command answers.
pub(crate) type Answer<T = Exit> = Result<T, Failure>;

impl Failure {
    /// Something failed.
    pub(crate) fn new(what: impl Into<String>) -> Self {
        Failure {
            exit: Exit::Failed,
            what: what.into(),
            place: None,
            hint: None,
            rendered: false,
            diagnostics: Diagnostics::default(),
        }
    }

    /// Specs that cannot be used. What is wrong with them has its own layout.
    pub(crate) fn invalid(problems: &Diagnostics) -> Self {
        Failure {
            exit: Exit::SpecInvalid,
            rendered: true,
            diagnostics: problems.clone(),
            ..Failure::new(problems.render(true))
        }
    }

    /// Says where.
    pub(crate) fn at(mut self, place: impl fmt::Display) -> Self {
        self.place = Some(place.to_string());
        self
    }

    /// Says what to do next.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The whole answer of a command that failed, for programs.
    pub(crate) fn document(&self) -> Value {
        let error = if self.rendered { "the spec is invalid" } else { self.what.as_str() };
        json!({
            "formatVersion": OUTPUT_FORMAT,
            "exitCode": self.exit.code(),
            "error": error,
            "place": self.place,
            "hint": self.hint,
            "diagnostics": self.diagnostics,
        })
    }

    /// For programs: what happened to a fleet, and what to do next.
    pub(crate) fn json(&self, fleet: Option<&FleetName>) -> Value {
        json!({ "fleet": fleet, "error": self.what, "place": self.place, "hint": self.hint })
    }

    /// Ends the command with this code.
    pub(crate) fn exit(mut self, exit: Exit) -> Self {
        self.exit = exit;
        self
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.rendered {
            return f.write_str(self.what.trim_end());
        }
        let (error, dim, hint) = (style::ERROR, style::DIM, style::HINT);
        write!(f, "{error}error:{error:#} {}", clean(&self.what))?;
        if let Some(place) = &self.place {
            write!(f, "\n  {dim}-->{dim:#} {}", clean(place))?;
        }
        if let Some(text) = &self.hint {
            write!(f, "\n{hint}hint:{hint:#} {}", clean(text))?;
        }
        Ok(())
    }
}

/// Puts a file or URL to an IO error.
pub(crate) trait Place<T> {
    /// `what` is a phrase such as "cannot write the plan".
    fn or_fail(self, what: &str, place: impl fmt::Display) -> Answer<T>;
}

impl<T, E: std::error::Error> Place<T> for Result<T, E> {
    fn or_fail(self, what: &str, place: impl fmt::Display) -> Answer<T> {
        self.map_err(|cause| Failure::new(format!("{what}: {}", with_causes(&cause))).at(place))
    }
}
