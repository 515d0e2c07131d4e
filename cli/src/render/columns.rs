//! Hand-aligned columns: no borders, two spaces between, colours that do not count.

use crate::style::PLAIN;
use crate::text::clean;
use anstyle::Style;

/// One cell.
#[derive(Debug, Clone)]
pub(crate) struct Cell {
    text: String,
    style: Style,
    right: bool,
}

/// A cell, aligned to the left.
pub(crate) fn left(text: impl AsRef<str>) -> Cell {
    Cell { text: visible(text.as_ref()), style: PLAIN, right: false }
}

/// A cell, aligned to the right: numbers.
pub(crate) fn right(text: impl AsRef<str>) -> Cell {
    Cell { text: visible(text.as_ref()), style: PLAIN, right: true }
}

/// Cells hold names from clouds, catalogs and files: none of them may steer the terminal.
fn visible(text: &str) -> String {
    clean(text).replace('\n', " ")
}

impl Cell {
    /// The same in a colour.
    pub(crate) fn style(mut self, style: Style) -> Self {
        self.style = style;
        self
    }
}

/// Rows of cells.
#[derive(Debug, Default)]
pub(crate) struct Columns {
    rows: Vec<Vec<Cell>>,
}

impl Columns {
    /// A row.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// A row in one colour, such as a heading.
    pub(crate) fn styled(&mut self, style: Style, cells: impl IntoIterator<Item = Cell>) {
        self.row(cells.into_iter().map(|cell| cell.style(style)));
    }

    /// Whether there is no row.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The rows as text, each indented, each ended by a newline. Columns that are empty
    /// throughout take no room.
    pub(crate) fn render(&self, indent: &str) -> String {
        let wide = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |cell: &Cell| cell.text.chars().count();
        let widths: Vec<usize> = (0..wide)
            .map(|at| self.rows.iter().filter_map(|row| row.get(at)).map(width).max().unwrap_or(0))
            .collect();
        let mut out = String::new();
        for row in &self.rows {
            let mut line = String::from(indent);
            // Spaces owed before the next visible cell; never written at the end of a line.
            let mut owed = 0;
            for (cell, &full) in row.iter().zip(&widths).filter(|(_, full)| **full > 0) {
                let pad = full - width(cell);
                let (before, after) = if cell.right { (pad, 0) } else { (0, pad) };
                if cell.text.is_empty() {
                    owed += full + 2;
                    continue;
                }
                line.extend(std::iter::repeat_n(' ', owed + before));
                let style = cell.style;
                line.push_str(&format!("{style}{}{style:#}", cell.text));
                owed = after + 2;
            }
            out.push_str(&line);
            out.push('\n');
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_and_empty_ones_vanish() {
        let mut columns = Columns::default();
        columns.row([left("type"), right("n"), left(""), left("note")]);
        columns.row([left("p5.48xlarge"), right("12"), left(""), left("")]);
        columns.row([left(""), right("3"), left(""), left("last")]);
        assert_eq!(
            columns.render("  "),
            "  type          n  note\n  p5.48xlarge  12\n                3  last\n"
        );
    }
}
