//! `fleet validate --show`: a fleet as if everything had been written out.

use crate::out::Out;
use crate::output::validate::{EffectiveValue, Place, UsedVariable};
use crate::style::DIM;
use crate::text::{clean, clean_line};
use fleet_spec::{EffectiveLine, LoadedFleet, Location};

/// Comments begin here, unless a line is longer.
const COMMENTS_AT: usize = 48;

/// Every fleet as a YAML document, with the origin of each value as a comment.
pub(super) fn text(fleets: &[LoadedFleet], out: &mut Out) {
    for (at, fleet) in fleets.iter().enumerate() {
        if at > 0 {
            out.text("---");
        }
        for line in fleet.effective() {
            let text = clean(&line.text);
            if line.value.is_none() {
                out.text(text);
                continue;
            }
            let gap = COMMENTS_AT.saturating_sub(text.chars().count());
            let origin = clean_line(&origin(&line));
            out.text(format!("{text}{}  {DIM}# {origin}{DIM:#}", " ".repeat(gap)));
        }
    }
}

/// Where a value comes from, in words.
fn origin(line: &EffectiveLine) -> String {
    let place = &line.place;
    let mut origin = format!("{}:{}", place.file.display(), place.line);
    if line.is_default {
        origin.push_str(" (defaults)");
    }
    for variable in &line.variables {
        origin.push_str(&format!(", {variable}"));
    }
    origin
}

/// Every value of a fleet, for programs. User data is `null`.
pub(super) fn values(fleet: &LoadedFleet) -> Vec<EffectiveValue> {
    let values = fleet.effective().into_iter().filter_map(|line| {
        let (path, value) = line.value?;
        let variables = line.variables.iter().map(|used| UsedVariable {
            name: used.name.clone(),
            given_by: used.given_by.into(),
            declared: place(&used.declared),
        });
        Some(EffectiveValue {
            path,
            value,
            place: place(&line.place),
            is_default: line.is_default,
            variables: variables.collect(),
        })
    });
    values.collect()
}

fn place(at: &Location) -> Place {
    Place { file: at.file.display().to_string(), line: at.line, column: at.column }
}
