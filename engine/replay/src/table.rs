//! The CSV files of a recording. Columns are found by the names in the header, never by their position.

use crate::trace::{TraceError, format_error, read};
use std::fmt::Display;
use std::path::Path;
use std::str::FromStr;

/// A file with one column for each of some names.
pub(crate) struct Table<'a> {
    path: &'a Path,
    names: &'a [&'a str],
    /// Which column each of the names has.
    columns: Vec<usize>,
    records: Vec<csv::StringRecord>,
}

/// A row below the header.
pub(crate) struct Row<'a> {
    table: &'a Table<'a>,
    record: &'a csv::StringRecord,
}

impl<'a> Table<'a> {
    /// Reads a file that has a column for each of these names, in any order, and no other column.
    pub(crate) fn read(path: &'a Path, names: &'a [&'a str]) -> Result<Self, TraceError> {
        let text = read(path)?;
        let reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .trim(csv::Trim::All)
            .from_reader(text.trim_start_matches('\u{feff}').as_bytes());
        let records: Result<Vec<csv::StringRecord>, _> = reader.into_records().collect();
        let mut records =
            records.map_err(|e| format_error(path, e.to_string(), "save it as plain CSV"))?;
        if records.is_empty() {
            return Err(format_error(path, "the file is empty", &columns_are(names)));
        }
        let header = records.remove(0);
        let columns = columns(path, names, &header)?;
        Ok(Table { path, names, columns, records })
    }

    /// The rows below the header.
    pub(crate) fn rows(&'a self) -> impl Iterator<Item = Result<Row<'a>, TraceError>> {
        self.records.iter().map(|record| {
            let row = Row { table: self, record };
            let (found, wanted) = (record.len(), self.names.len());
            if found == wanted {
                return Ok(row);
            }
            let what = format!("this row has {found} columns, the header has {wanted}");
            Err(row.error(what, "give every row a value in each column"))
        })
    }
}

impl Row<'_> {
    /// What stands in the column of a name. `what` says what it should be.
    pub(crate) fn cell<T: FromStr>(&self, name: usize, what: &str) -> Result<T, TraceError> {
        let text = self.record.get(self.table.columns[name]).unwrap_or_default();
        text.parse().map_err(|_| self.wrong(name, text, what))
    }

    /// A cell that is not what it should be.
    pub(crate) fn wrong(&self, name: usize, found: impl Display, what: &str) -> TraceError {
        let (found, column) = (short(&found.to_string()), self.table.names[name]);
        self.error(
            format!("`{found}` in column `{column}` is not {what}"),
            &format!("write {what}"),
        )
    }

    /// Something else that is wrong with this row.
    pub(crate) fn error(&self, what: impl Into<String>, hint: &str) -> TraceError {
        format_error(self.table.path, what, hint).on_line(line(self.record))
    }
}

fn line(record: &csv::StringRecord) -> u64 {
    record.position().map_or(1, csv::Position::line)
}

/// The column of each name. A file whose header says something else would be read as another market.
fn columns(
    path: &Path,
    names: &[&str],
    header: &csv::StringRecord,
) -> Result<Vec<usize>, TraceError> {
    let error =
        |what: String| Err(format_error(path, what, &columns_are(names)).on_line(line(header)));
    let foreign = header.iter().position(|cell| !names.contains(&cell));
    if foreign.is_some() && header.iter().all(|cell| cell.parse::<f64>().is_ok()) {
        return error("the header is missing: the first row holds numbers".into());
    }
    if let Some(at) = foreign {
        return error(format!("column {}, `{}`, has no place here", at + 1, short(&header[at])));
    }
    for (at, cell) in header.iter().enumerate() {
        if let Some(first) = header.iter().take(at).position(|other| other == cell) {
            return error(format!(
                "columns {} and {} are both `{}`",
                first + 1,
                at + 1,
                short(cell)
            ));
        }
    }
    let mut columns = Vec::with_capacity(names.len());
    for name in names {
        match header.iter().position(|cell| cell == *name) {
            Some(at) => columns.push(at),
            None => return error(format!("there is no column `{}`", short(name))),
        }
    }
    Ok(columns)
}

/// What a header has to name.
fn columns_are(names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| short(name)).collect();
    format!("the header names these columns and no others, in any order: {}", names.join(","))
}

/// Text of a file, short enough for a message.
pub(crate) fn short(text: &str) -> String {
    const LONGEST: usize = 40;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
