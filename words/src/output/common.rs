//! What several documents have in common.

pub use super::plan_cost::{Cost, total};
use super::reasons::{Counted, Said, counted};
use super::words::{GapCause, Group, Provider, Severity, Time, Unit, names};
use crate::fail::Failure;
use crate::sentences;
use crate::text::clean_line;
use fleet_model as model;
use fleet_spec::{Broken, Diagnostics};
use schemars::JsonSchema;
use serde::Serialize;

/// Something that is wrong with a spec.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// The file; `null` if it is about none.
    pub file: Option<String>,
    /// Line, from 1; `null` if it is about the file as a whole.
    pub line: Option<u32>,
    /// Column in characters, from 1; `null` if it is about the file as a whole.
    pub column: Option<u32>,
    /// How many characters are meant.
    pub length: u32,
    /// The field, such as `spec.capacity.target`; `null` if it is about none.
    pub path: Option<String>,
    /// The line of the file, safe to print: a part of a long line, and user data masked.
    pub text: String,
    /// Characters of the line before `text`.
    pub text_skipped: u32,
}

/// What is wrong with specs.
pub fn diagnostics(problems: &Diagnostics) -> Vec<Diagnostic> {
    let one = |problem: &fleet_spec::Diagnostic| {
        let fleet_spec::Diagnostic {
            severity,
            file,
            line,
            column,
            length,
            message,
            text,
            text_skipped,
            hint,
            path,
        } = problem.clone();
        Diagnostic {
            severity: severity.into(),
            message,
            hint,
            file: Some(file.display().to_string()).filter(|file| !file.is_empty()),
            line: Some(line).filter(|line| *line > 0),
            column: Some(column).filter(|column| *column > 0),
            length,
            path: Some(path).filter(|path| !path.is_empty()),
            text,
            text_skipped,
        }
    };
    problems.0.iter().map(one).collect()
}

/// A fleet with machines that no spec of the folder names.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Unmanaged {
    /// Which fleet.
    pub fleet: String,
    /// How many machines it has, as far as the journal knows.
    pub machines: u64,
}

/// A fleet that the command could not do its work for.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LeftOut {
    /// Which fleet; `null` if its file cannot be read that far.
    pub fleet: Option<String>,
    /// The exit code that this fleet alone would have given.
    pub exit_code: u8,
    /// What happened. Of many problems with its spec, the first.
    pub error: String,
    /// Where: a file, a URL, a flag.
    pub place: Option<String>,
    /// What to do about it.
    pub hint: Option<String>,
    /// What is wrong with its spec.
    pub diagnostics: Vec<Diagnostic>,
}

impl LeftOut {
    /// A fleet that something happened to.
    pub fn failed(fleet: &model::FleetName, failure: &Failure) -> Self {
        LeftOut::new(Some(fleet), failure)
    }

    /// A fleet whose spec is invalid.
    pub fn broken(broken: &Broken) -> Self {
        LeftOut::new(broken.fleet.as_ref(), &Failure::invalid(&broken.problems))
    }

    fn new(fleet: Option<&model::FleetName>, failure: &Failure) -> Self {
        let (error, place, hint) = failure.told();
        LeftOut {
            fleet: fleet.map(ToString::to_string),
            exit_code: failure.exit.code(),
            error,
            place,
            hint,
            diagnostics: diagnostics(&failure.diagnostics),
        }
    }
}

/// A region that could not be seen, or only in part.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Gap {
    /// The cloud.
    pub provider: Provider,
    /// The region.
    pub region: String,
    /// Why.
    pub cause: GapCause,
    /// What happened, in words.
    pub detail: String,
    /// What to do about it.
    pub next: String,
}

/// Regions that could not be seen.
pub fn gaps(gaps: &[model::Gap]) -> Vec<Gap> {
    let one = |gap: &model::Gap| Gap {
        provider: gap.scope.cloud.into(),
        region: gap.scope.region.to_string(),
        cause: gap.cause.into(),
        detail: clean_line(&gap.detail),
        next: sentences::gap_next(gap.cause).to_string(),
    };
    gaps.iter().map(one).collect()
}

/// A launch whose outcome is not known. Its slots wait until it is.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InDoubt {
    /// The token of the request.
    pub token: String,
    /// The pool that it was sent to.
    pub pool: String,
    /// The slots that wait for it.
    pub slots: Vec<String>,
    /// Since when.
    pub since: Time,
}

/// Launches in doubt.
pub fn in_doubt(doubts: &[model::InDoubt]) -> Vec<InDoubt> {
    let one = |doubt: &model::InDoubt| {
        let model::InDoubt { token, pool, slots, since } = doubt;
        InDoubt {
            token: token.to_string(),
            pool: pool.to_string(),
            slots: names(slots),
            since: Time(*since),
        }
    };
    doubts.iter().map(one).collect()
}

/// Capacity that could not be placed.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Unplaced {
    /// The part of the fleet that is short.
    pub group: Group,
    /// By how much.
    pub missing: f64,
    /// In what unit.
    pub unit: Unit,
    /// What rules pools out, most pools first.
    pub because: Vec<Counted>,
    /// The same in a sentence.
    pub why: String,
    /// What would change it.
    pub next: Option<String>,
}

/// Capacity that could not be placed, with everything that stood in the way.
pub fn unplaced(shortfalls: &[model::Shortfall]) -> Vec<Unplaced> {
    let one = |short: &model::Shortfall| {
        let said = sentences::shortfall(short);
        Unplaced {
            group: short.group.into(),
            missing: short.missing.as_f64(),
            unit: short.unit.into(),
            because: counted(&short.because),
            why: said.what,
            next: said.next,
        }
    };
    shortfalls.iter().map(one).collect()
}

/// Reasons of one kind, each with its sentence.
pub fn said<'a, M: 'a, R>(all: &'a [M]) -> Vec<Said<R>>
where
    Said<R>: From<&'a M>,
{
    all.iter().map(Said::from).collect()
}

/// Numbers of machines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    /// To launch.
    pub create: u32,
    /// To destroy.
    pub destroy: u32,
    /// To keep.
    pub keep: u32,
}

impl Summary {
    /// The summary of a report.
    pub fn of(report: &model::Report) -> Self {
        report.pools.iter().fold(Summary::default(), |sum, pool| Summary {
            create: sum.create + pool.create,
            destroy: sum.destroy + pool.destroy,
            keep: sum.keep + pool.keep,
        })
    }

    /// Both together.
    pub fn and(self, other: Self) -> Self {
        Summary {
            create: self.create + other.create,
            destroy: self.destroy + other.destroy,
            keep: self.keep + other.keep,
        }
    }
}
