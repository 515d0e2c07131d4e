//! Why a file is no bill that can be compared.

use super::Form;
use std::fmt;

/// Why a file is no bill that can be compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BadBill {
    /// Its columns are those of none that we know.
    NotABill {
        /// The first of them.
        columns: Vec<String>,
    },
    /// It is one, and lacks a column.
    Lacks {
        /// Of which form.
        form: Form,
        /// Which, in words.
        column: &'static str,
    },
    /// A row cannot be read.
    Row {
        /// Which line of the file.
        line: u64,
        /// What is wrong with it.
        why: BadRow,
    },
}

/// What is wrong with a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BadRow {
    /// It is not UTF-8.
    NotText,
    /// It is not CSV, or the file cannot be read.
    Broken(String),
    /// It has not as many cells as the header.
    Cells {
        /// How many it has.
        found: usize,
        /// How many the header has.
        header: usize,
    },
    /// A cell holds no number.
    NoNumber(String),
    /// A number that no machine comes to, or none that is finite.
    TooLarge(String),
    /// A cell holds no time.
    NoTime(String),
    /// A charge ends before it begins.
    EndsFirst,
    /// The cost is not in dollars.
    Currency(String),
}

impl BadBill {
    /// What its owner can do.
    pub fn hint(&self) -> &'static str {
        match self {
            BadBill::NotABill { .. } | BadBill::Lacks { .. } => {
                "export CSV with a row for each resource and hour: AWS CUR 2.0 or FOCUS, BigQuery, \
                 Azure cost details"
            }
            BadBill::Row { why, .. } => why.hint(),
        }
    }
}

impl BadRow {
    fn hint(&self) -> &'static str {
        match self {
            BadRow::NotText | BadRow::Broken(_) => "export the bill again, as CSV in UTF-8",
            BadRow::Cells { .. } => {
                "the file may be cut off, or a cell with a comma lacks its quotes; export it again"
            }
            BadRow::NoNumber(_) | BadRow::TooLarge(_) | BadRow::NoTime(_) | BadRow::EndsFirst => {
                "see whether the cells of this line are in the columns of the header"
            }
            BadRow::Currency(_) => {
                "journals are in US dollars, and no rate of exchange is made up; export the bill in USD"
            }
        }
    }
}

impl fmt::Display for BadBill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BadBill::NotABill { columns } => {
                write!(f, "its columns are those of no bill that is known: {}", columns.join(", "))
            }
            BadBill::Lacks { form, column } => write!(f, "this is {form}, and it has no {column}"),
            BadBill::Row { line, why } => write!(f, "line {line}: {why}"),
        }
    }
}

impl fmt::Display for BadRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BadRow::NotText => f.write_str("it is not text in UTF-8"),
            BadRow::Broken(why) => f.write_str(why),
            BadRow::Cells { found, header } => {
                write!(f, "it has {found} cells, and the header has {header}")
            }
            BadRow::NoNumber(text) => write!(f, "`{}` is no number", text.escape_debug()),
            BadRow::TooLarge(text) => {
                write!(f, "`{}` is more than any machine comes to", text.escape_debug())
            }
            BadRow::NoTime(text) => write!(f, "`{}` is no time", text.escape_debug()),
            BadRow::EndsFirst => f.write_str("a charge ends before it begins"),
            BadRow::Currency(code) => {
                write!(f, "its cost is in {}, not in USD", code.escape_debug())
            }
        }
    }
}
