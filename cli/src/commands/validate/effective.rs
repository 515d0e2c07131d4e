//! `fleet validate --show`: a fleet as if everything had been written out.

use crate::out::Out;
use crate::style::DIM;
use crate::text::{clean, clean_line};
use fleet_spec::{EffectiveLine, LoadedFleet};
use serde_json::{Value, json};

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
pub(super) fn json(fleet: &LoadedFleet) -> Value {
    let values = fleet.effective().into_iter().filter_map(|line| {
        let (path, value) = line.value?;
        Some(json!({
            "path": path,
            "value": value,
            "place": line.place,
            "isDefault": line.is_default,
            "variables": line.variables,
        }))
    });
    values.collect()
}
