//! What is said when a command cannot go on.

use crate::exit::Exit;
use crate::style;
use crate::text::{clean, count};
use fleet_provider::with_causes;
use fleet_spec::Diagnostics;
use std::fmt;
use std::path::{Path, PathBuf};

/// A failure: what happened, where, and what to do next. Causes are said once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
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
pub type Answer<T = Exit> = Result<T, Failure>;

impl Failure {
    /// Something failed.
    pub fn new(what: impl Into<String>) -> Self {
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
    pub fn invalid(problems: &Diagnostics) -> Self {
        Failure {
            exit: Exit::SpecInvalid,
            rendered: true,
            diagnostics: problems.clone(),
            ..Failure::new(problems.render(true))
        }
    }

    /// Says where.
    pub fn at(mut self, place: impl fmt::Display) -> Self {
        self.place = Some(place.to_string());
        self
    }

    /// Says what to do next.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// For programs: what happened in one sentence, where, and what to do next. Of many problems with
    /// specs, the first.
    pub fn told(&self) -> (String, Option<String>, Option<String>) {
        let problems = &self.diagnostics;
        let Some(first) = problems.errors().next().filter(|_| self.rendered) else {
            return (self.what.clone(), self.place.clone(), self.hint.clone());
        };
        let more = match problems.errors().count() - 1 {
            0 => String::new(),
            more => format!(" (and {})", count(more as u64, "more error")),
        };
        let file = first.file.display();
        let place = match (first.line, first.column) {
            (0, _) => file.to_string(),
            (line, column) => format!("{file}:{line}:{column}"),
        };
        let place = Some(place).filter(|place| !place.is_empty());
        (format!("{}{more}", first.message), place, first.hint.clone())
    }

    /// The same, with files named from a folder on: where that stands is of no use to anybody.
    pub fn within(mut self, root: &Path) -> Self {
        for one in &mut self.diagnostics.0 {
            one.file = within(root, &one.file);
        }
        if self.rendered {
            self.what = self.diagnostics.render(true);
        }
        self.place = self.place.map(|place| within(root, Path::new(&place)).display().to_string());
        self
    }

    /// Ends the command with this code.
    pub fn exit(mut self, exit: Exit) -> Self {
        self.exit = exit;
        self
    }
}

/// A file as it is called from a folder on, if it lies there.
pub fn within(root: &Path, file: &Path) -> PathBuf {
    file.strip_prefix(root).unwrap_or(file).to_owned()
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
pub trait Place<T> {
    /// `what` is a phrase such as "cannot write the plan".
    fn or_fail(self, what: &str, place: impl fmt::Display) -> Answer<T>;
}

impl<T, E: std::error::Error> Place<T> for Result<T, E> {
    fn or_fail(self, what: &str, place: impl fmt::Display) -> Answer<T> {
        self.map_err(|cause| Failure::new(format!("{what}: {}", with_causes(&cause))).at(place))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fleet_spec::Diagnostic;

    #[test]
    fn files_are_named_from_a_folder_on() {
        let mut failure = Failure::invalid(&Diagnostics(vec![
            Diagnostic::about_file("cache/tree/specs/a.yaml", "this is wrong", None),
            Diagnostic::about_file("elsewhere/b.yaml", "this too", None),
        ]));
        failure.place = Some("cache/tree/specs/a.yaml:17:13".into());
        let failure = failure.within(Path::new("cache/tree"));
        assert_eq!(failure.place.as_deref(), Some("specs/a.yaml:17:13"));
        assert_eq!(failure.told().1.as_deref(), Some("specs/a.yaml"));
        assert!(!failure.what.contains("cache"), "{}", failure.what);
        assert!(failure.what.contains("elsewhere/b.yaml"), "{}", failure.what);
    }
}
