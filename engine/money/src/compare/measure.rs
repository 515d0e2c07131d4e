//! What a machine is worth: how much useful work it does in an hour, and who says so.

use crate::benchmark::{self, BenchmarkResult, Metric};
use crate::performance::Table;
use fleet_model::{Chip, Figure, InstanceKind, Timestamp, Units};

/// What useful work is.
#[derive(Debug, Clone, PartialEq)]
pub enum Measure {
    /// What makers publish.
    Published(Figure),
    /// A user's table.
    Own(Table),
    /// What a benchmark saw; where it saw nothing, what is published of the same.
    Measured(Metric, Vec<BenchmarkResult>),
}

/// How much useful work a machine does.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Useful {
    /// How much, in the measure's unit.
    pub units: Units,
    /// Who says so.
    pub basis: Basis,
}

/// Who says how much work a machine does.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Basis {
    /// Its maker.
    Published(&'static Chip),
    /// The user's table.
    Own,
    /// A benchmark of one accelerator, at a time.
    Measured(Timestamp),
    /// Its maker, because no benchmark was run on one.
    NotMeasured(&'static Chip),
}

/// A unit that prices are told in: so many of the measure's own units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    /// `PFLOPS-h`.
    pub name: &'static str,
    /// Units of the measure times hours, in one of them.
    pub holds: f64,
}

impl Measure {
    /// How much useful work a machine of a kind does; `None` if nobody says.
    pub fn of(&self, kind: &InstanceKind) -> Option<Useful> {
        let published = |figure| Some((Chip::of(kind)?, kind.figure(figure)?));
        match self {
            Measure::Published(figure) => {
                let (chip, units) = published(*figure)?;
                Some(Useful { units, basis: Basis::Published(chip) })
            }
            Measure::Own(table) => Some(Useful { units: table.of(kind)?, basis: Basis::Own }),
            Measure::Measured(metric, results) => {
                if let Some((result, units)) = benchmark::best(results, kind, *metric) {
                    return Some(Useful { units, basis: Basis::Measured(result.at) });
                }
                let Metric::Figure(figure) = metric else { return None };
                let (chip, units) = published(*figure)?;
                Some(Useful { units, basis: Basis::NotMeasured(chip) })
            }
        }
    }

    /// What prices of work are told in.
    pub fn scale(&self) -> Scale {
        let figure = match self {
            Measure::Own(_) => return Scale { name: "unit-h", holds: 1.0 },
            Measure::Measured(Metric::Training, _) => {
                return Scale { name: "M tokens", holds: 1e6 / 3600.0 };
            }
            Measure::Published(figure) | Measure::Measured(Metric::Figure(figure), _) => *figure,
        };
        let name = match figure {
            Figure::Memory => "TB-h",
            Figure::Bandwidth => "TB/s-h",
            Figure::Int8 => "POPS-h",
            Figure::Fp32 | Figure::Tf32 | Figure::Bf16 | Figure::Fp16 | Figure::Fp8 => "PFLOPS-h",
        };
        Scale { name, holds: 1000.0 }
    }
}
