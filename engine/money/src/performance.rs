//! A user's own figures: how much work a machine of a type, or an accelerator, does.
//!
//! Two forms, told apart by the first character. CSV has one line for each name, `p5.48xlarge,3100`, with
//! an optional heading and comments after `#`. JSON is one object, `{"H100": 395, "p5.48xlarge": 3100}`.
//! A name of an accelerator is the figure of one accelerator; any other name is a type, or a pattern over
//! types, and the figure of a whole machine.

use fleet_model::{Accelerators, Chip, InstanceKind, Pattern, Units, Weight, WeightOf};
use serde::de::{Deserializer, MapAccess, Visitor};
use std::fmt;

/// The most rows that a table may have.
const MOST_ROWS: usize = 10_000;
/// The largest figure: what is larger does not fit into a fleet's capacity.
const MOST: f64 = 1e9;

/// Why a table cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct TableError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong there.
    pub what: String,
    /// What to do about it.
    pub hint: &'static str,
}

/// A user's table, in the order of the file. The first row that names a machine holds; rows of types come
/// before rows of accelerators.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Table {
    /// The rows.
    pub rows: Vec<Weight>,
}

impl Table {
    /// Reads a table.
    pub fn parse(text: &str) -> Result<Table, TableError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let named = if text.trim_start().starts_with('{') { json(text)? } else { csv(text)? };
        if named.is_empty() {
            return Err(TableError { line: 1, what: "the table has no rows".into(), hint: ROW });
        }
        let mut rows: Vec<Weight> = Vec::with_capacity(named.len());
        for Named { line, name, value } in named {
            if name.is_empty() {
                return Err(TableError { line, what: "a row has no name".into(), hint: ROW });
            }
            let units = units(line, &name, value)?;
            let of = meant(&name);
            if rows.iter().any(|row| row.types.as_str().eq_ignore_ascii_case(&name)) {
                let what = format!("`{}` has two figures", shown(&name));
                return Err(TableError { line, what, hint: "keep one of them" });
            }
            rows.push(Weight { types: Pattern::new(name), units, of });
        }
        rows.sort_by_key(|row| row.of == WeightOf::Accelerator);
        Ok(Table { rows })
    }

    /// How much work a machine of a kind does; `None` if no row names it.
    pub fn of(&self, kind: &InstanceKind) -> Option<Units> {
        self.rows.iter().find_map(|row| row.of_kind(kind)).filter(|units| !units.is_zero())
    }
}

const ROW: &str =
    "write one name and one number in a line, such as `H100,395` or `p5.48xlarge,3100`";

struct Named {
    line: usize,
    name: String,
    value: f64,
}

/// A name of a chip or an accelerator means one of them, everything else a type.
fn meant(name: &str) -> WeightOf {
    if Chip::named(name).is_some() || Accelerators::is_known(name) {
        WeightOf::Accelerator
    } else {
        WeightOf::Machine
    }
}

fn units(line: usize, name: &str, value: f64) -> Result<Units, TableError> {
    let milli = (value * 1000.0).round();
    if value.is_finite() && milli >= 1.0 && value <= MOST {
        return Ok(Units(milli as u64));
    }
    let what = format!("`{}` has the figure {value}", shown(name));
    Err(TableError { line, what, hint: "figures are numbers from 0.001 to 1,000,000,000" })
}

fn shown(name: &str) -> String {
    name.chars().take(60).collect()
}

fn csv(text: &str) -> Result<Vec<Named>, TableError> {
    let mut rows = Vec::new();
    let mut first = true;
    for (at, whole) in text.lines().enumerate() {
        let line = at + 1;
        let row = whole.split('#').next().unwrap_or_default().trim();
        if row.is_empty() {
            continue;
        }
        let cells: Vec<&str> = row.split([',', ';', '\t']).map(unquoted).collect();
        let heading = std::mem::take(&mut first);
        match cells[..] {
            [name, value] => match value.parse::<f64>() {
                Ok(value) => rows.push(Named { line, name: name.to_owned(), value }),
                Err(_) if heading && is_heading(name) => {}
                Err(_) => {
                    let what = format!("`{}` is not a number", shown(value));
                    return Err(TableError { line, what, hint: ROW });
                }
            },
            _ => {
                let what = format!("the row has {} cells, not 2", cells.len());
                return Err(TableError { line, what, hint: ROW });
            }
        }
        if rows.len() > MOST_ROWS {
            let what = format!("the table has more than {MOST_ROWS} rows");
            return Err(TableError { line, what, hint: "use patterns over types, such as p5.*" });
        }
    }
    Ok(rows)
}

/// What the first column is called, where the first row says what the columns are. Anything else is a name, and
/// its figure a slip of the pen: `H100,3O5`.
fn is_heading(first: &str) -> bool {
    const NAMES: [&str; 14] = [
        "name",
        "type",
        "instancetype",
        "instance",
        "machinetype",
        "machine",
        "vmtype",
        "accelerator",
        "acceleratortype",
        "gpu",
        "gputype",
        "chip",
        "model",
        "pattern",
    ];
    let letters = |c: &char| c.is_ascii_alphabetic();
    let name: String = first.chars().filter(letters).collect::<String>().to_ascii_lowercase();
    first.chars().all(|c| c.is_ascii_alphabetic() || matches!(c, ' ' | '_' | '-'))
        && NAMES.contains(&name.strip_suffix('s').unwrap_or(&name))
}

fn unquoted(cell: &str) -> &str {
    let cell = cell.trim();
    cell.strip_prefix('"').and_then(|cell| cell.strip_suffix('"')).unwrap_or(cell).trim()
}

/// Pairs in their order: a map would silently keep the last of two.
struct Pairs;

impl<'de> Visitor<'de> for Pairs {
    type Value = Vec<(String, f64)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of names and numbers")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut pairs = Vec::new();
        while let Some(pair) = map.next_entry()? {
            if pairs.len() >= MOST_ROWS {
                return Err(serde::de::Error::custom(format!("more than {MOST_ROWS} rows")));
            }
            pairs.push(pair);
        }
        Ok(pairs)
    }
}

fn json(text: &str) -> Result<Vec<Named>, TableError> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let read = reader.deserialize_map(Pairs).and_then(|pairs| reader.end().map(|()| pairs));
    let pairs = read.map_err(|cause| {
        let what = cause.to_string();
        // The place is said beside it.
        let what = what.split(" at line ").next().unwrap_or_default().to_owned();
        let hint = "write one object of names and numbers: {\"H100\": 395}";
        TableError { line: cause.line().max(1), what, hint }
    })?;
    // JSON does not say where a key stands; the first line that holds it in quotes is where people look.
    let line = |name: &str| {
        let quoted = format!("\"{name}\"");
        text.lines().position(|line| line.contains(&quoted)).map_or(1, |at| at + 1)
    };
    Ok(pairs.into_iter().map(|(name, value)| Named { line: line(&name), name, value }).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::kind;

    #[test]
    fn both_forms_say_the_same() {
        let csv =
            "name,tokens per second\n# measured\nH100, 395.5\n\"p5.48xlarge\",3100 # with EFA\n";
        let json = "{\"H100\": 395.5,\n \"p5.48xlarge\": 3100}";
        let table = Table::parse(csv).expect("a table");
        assert_eq!(Ok(&table), Table::parse(json).as_ref());
        // The machine's own row is nearer than that of its accelerators, wherever it stands.
        assert_eq!(table.of(&kind("p5.48xlarge", "H100", 8)), Some(Units::whole(3100)));
        assert_eq!(table.of(&kind("p5.4xlarge", "H100", 1)), Some(Units(395_500)));
        assert_eq!(table.of(&kind("g6.xlarge", "L4", 1)), None);
        assert_eq!(Table::parse("\u{feff}A100;2\n").map(|table| table.rows.len()), Ok(1));
    }

    #[test]
    fn bad_tables_say_where() {
        let check = |text: &str, line: usize, what: &str| match Table::parse(text) {
            Err(error) => {
                assert_eq!(error.line, line, "{text:?}: {error}");
                assert!(error.what.contains(what), "{text:?}: {error}");
            }
            Ok(table) => panic!("{text:?}: {table:?}"),
        };
        check("", 1, "no rows");
        check("name,value\n", 1, "no rows");
        check("Instance Types;figure\n", 1, "no rows");
        check("H100,3O5\nA100,2\n", 1, "`3O5` is not a number");
        check("# mine\np5.48xlarge,many\n", 2, "`many` is not a number");
        check("H100,1\nA100,fast\n", 2, "`fast` is not a number");
        check("H100,1\nA100\n", 2, "1 cells");
        check("H100,1\n\nA100,2,3\n", 3, "3 cells");
        check("H100,1\nA100,0\n", 2, "figure 0");
        check("H100,-4\n", 1, "figure -4");
        check("H100,NaN\n", 1, "figure NaN");
        check("H100,inf\n", 1, "figure inf");
        check("H100,1\nh100,2\n", 2, "two figures");
        check(",1\n", 1, "no name");
        check("{\"H100\": 1,\n\"H100\": 2}", 1, "two figures");
        check("{\"H100\": 1,\n\"A100\": \"x\"}", 2, "invalid type");
        check("{\"H100\": 1", 1, "EOF");
        check("{\"H100\": 1} trailing", 1, "trailing");
        check("{\"H100\": 1e400}", 1, "out of range");
    }
}
