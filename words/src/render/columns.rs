//! Hand-aligned columns: no borders, two spaces between, colours that do not count.

use crate::style::PLAIN;
use crate::text::{clean, screen_width};
use anstyle::Style;

/// One cell.
#[derive(Debug, Clone)]
pub struct Cell {
    text: String,
    style: Style,
    right: bool,
    /// Runs into the columns after it, and is the last of its row.
    runs_on: bool,
}

/// A cell, aligned to the left.
pub fn left(text: impl AsRef<str>) -> Cell {
    Cell { text: visible(text.as_ref()), style: PLAIN, right: false, runs_on: false }
}

/// The last cell of a row, over all columns that are left: it makes none of them wider.
pub fn across(text: impl AsRef<str>) -> Cell {
    Cell { runs_on: true, ..left(text) }
}

/// A cell, aligned to the right: numbers.
pub fn right(text: impl AsRef<str>) -> Cell {
    Cell { text: visible(text.as_ref()), style: PLAIN, right: true, runs_on: false }
}

/// Cells hold names from clouds, catalogs and files: none of them may steer the terminal.
fn visible(text: &str) -> String {
    clean(text).replace('\n', " ")
}

impl Cell {
    /// Whether it says nothing.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// The same in a colour.
    pub fn style(mut self, style: Style) -> Self {
        self.style = style;
        self
    }
}

/// Rows of cells.
#[derive(Debug, Default)]
pub struct Columns {
    rows: Vec<Vec<Cell>>,
    /// Headings of columns that a narrow screen can do without, the least important first.
    least: &'static [&'static str],
}

/// What a column of words is shortened to before columns are dropped.
const WORDS: usize = 24;
/// What any other column of text is shortened to at the end.
const LEAST: usize = 6;
/// Between two columns.
const GAP: usize = 2;

impl Columns {
    /// A table that may lose columns on a narrow screen, the least important first.
    pub fn without(least: &'static [&'static str]) -> Self {
        Columns { rows: Vec::new(), least }
    }

    /// A row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// A row in one colour, such as a heading.
    pub fn styled(&mut self, style: Style, cells: impl IntoIterator<Item = Cell>) {
        self.row(cells.into_iter().map(|cell| cell.style(style)));
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The rows as text, each indented, each ended by a newline. No row is wider than the screen.
    pub fn render(&self, indent: &str) -> String {
        self.fitted(indent, screen_width())
    }

    /// Columns that are empty throughout take no room. `None`: as wide as it gets.
    fn fitted(&self, indent: &str, screen: Option<usize>) -> String {
        let widths =
            self.widths(screen.map(|screen| screen.saturating_sub(indent.chars().count())));
        let mut out = String::new();
        for row in &self.rows {
            let mut line = String::from(indent);
            // Spaces owed before the next visible cell; never written at the end of a line.
            let (mut owed, mut used) = (0, indent.chars().count());
            for (cell, &full) in
                row.iter().zip(&widths).filter(|(cell, full)| **full > 0 || cell.runs_on)
            {
                let rest = || screen.map_or(usize::MAX, |screen| screen.saturating_sub(used));
                let full = if cell.runs_on { rest() } else { full };
                let text = shortened(&cell.text, full);
                let long = text.chars().count();
                let pad = if cell.runs_on { 0 } else { full - long };
                let (before, after) = if cell.right { (pad, 0) } else { (0, pad) };
                used += long + pad + GAP;
                if text.is_empty() {
                    owed += pad + GAP;
                    continue;
                }
                line.extend(std::iter::repeat_n(' ', owed + before));
                let style = cell.style;
                line.push_str(&format!("{style}{text}{style:#}"));
                owed = after + GAP;
            }
            out.push_str(&line);
            out.push('\n');
        }
        out
    }

    /// The width of each column; 0 for one that is not shown.
    fn widths(&self, room: Option<usize>) -> Vec<usize> {
        let count = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let widest = |at: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(at));
            cells
                .filter(|cell| !cell.runs_on)
                .map(|cell| cell.text.chars().count())
                .max()
                .unwrap_or(0)
        };
        let mut widths: Vec<usize> = (0..count).map(widest).collect();
        let Some(room) = room else { return widths };
        let numbers =
            |at: usize| self.rows.iter().filter_map(|row| row.get(at)).any(|cell| cell.right);
        // Words first: what they end with is the least loss.
        if let Some(last) = widths.iter().rposition(|width| *width > 0).filter(|at| !numbers(*at)) {
            let floor = widths[last].min(WORDS);
            widths[last] = widths[last].saturating_sub(excess(&widths, room)).max(floor);
        }
        let natural: Vec<usize> = (0..count).map(widest).collect();
        for name in self.least {
            let named = |at: &usize| self.rows[0].get(*at).is_some_and(|cell| cell.text == *name);
            if excess(&widths, room) > 0
                && let Some(at) = (0..count).find(named)
            {
                widths[at] = 0;
            }
        }
        // Text that is still too wide, the widest first. Numbers are never cut.
        while excess(&widths, room) > 0 {
            let text = (0..count).filter(|at| !numbers(*at) && widths[*at] > LEAST);
            let Some(at) = text.max_by_key(|at| widths[*at]) else { break };
            widths[at] -= 1;
        }
        // What a dropped column left over goes to the words.
        if let Some(last) = widths.iter().rposition(|width| *width > 0) {
            let free = room.saturating_sub(total(&widths));
            widths[last] = natural[last].min(widths[last] + free);
        }
        // At the end, from the right: a row is never wider than the screen.
        while excess(&widths, room) > 0 {
            let Some(at) = widths.iter().rposition(|width| *width > 0).filter(|at| *at > 0) else {
                break;
            };
            widths[at] = 0;
        }
        widths
    }
}

fn total(widths: &[usize]) -> usize {
    let shown = widths.iter().filter(|width| **width > 0).count();
    widths.iter().sum::<usize>() + GAP * shown.saturating_sub(1)
}

fn excess(widths: &[usize], room: usize) -> usize {
    total(widths).saturating_sub(room)
}

/// At most so many characters, the last of them an ellipsis where some are missing.
fn shortened(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let kept: String = text.chars().take(width.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
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

    fn pools() -> Columns {
        let mut table = Columns::without(&["saves", "market"]);
        table.row([
            left("type"),
            left("where"),
            left("market"),
            right("each/h"),
            right("saves"),
            left("why"),
        ]);
        let why = "no pool comes before it in the order of the strategy";
        for place in ["aws us-east-1a", "aws us-west-2b"] {
            let cells = [
                left("p5.48xlarge"),
                left(place),
                left("spot"),
                right("$20.74"),
                right("62%"),
                left(why),
            ];
            table.row(cells);
        }
        table
    }

    /// Words are shortened, then columns go in their order, then names are shortened. Never a wider row.
    #[test]
    fn narrow_screens_lose_the_least_important_first() {
        let full = pools().fitted("  ", None);
        for screen in 1..120 {
            let shown = pools().fitted("  ", Some(screen));
            assert_eq!(shown.lines().count(), 3);
            let widest = shown.lines().map(|line| line.chars().count()).max().unwrap_or(0);
            // Two columns are left at the very end: indent, six characters.
            assert!(widest <= screen.max(8), "{screen}:\n{shown}");
        }
        assert_eq!(pools().fitted("  ", Some(200)), full);
        let eighty = pools().fitted("  ", Some(80));
        assert!(eighty.contains("62%") && eighty.contains('…'), "{eighty}");
        let seventy = pools().fitted("  ", Some(72));
        assert!(!seventy.contains("62%") && seventy.contains("market"), "{seventy}");
        let fifty = pools().fitted("  ", Some(56));
        assert!(!fifty.contains("market") && fifty.contains("$20.74"), "{fifty}");
        assert!(fifty.contains("p5.48xlarge"), "{fifty}");
    }
}
