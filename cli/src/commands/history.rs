//! `fleet history`: the journal, read aloud.

use crate::args::{Format, HistoryArgs};
use crate::context::Context;
use crate::exit::Exit;
use crate::fail::{Answer, Failure};
use crate::out::Out;
use crate::render::history;
use crate::runs::failed;
use fleet_model::FleetName;
use serde_json::json;

/// Runs `fleet history`.
pub(crate) async fn run(context: &Context, args: &HistoryArgs, out: &mut Out) -> Answer {
    let engine = context.journals()?;
    let known = engine.fleets().await.map_err(failed)?;
    let mut wanted: Vec<&str> =
        args.fleets.iter().chain(&context.global.fleet).map(|s| s.as_str()).collect();
    if wanted.is_empty() {
        wanted = known.iter().map(FleetName::as_str).collect();
    }
    if wanted.is_empty() {
        return Err(Failure::new(format!("there is no journal in {}", context.state()))
            .hint("nothing was applied with this --state yet"));
    }
    let mut documents = Vec::new();
    for (nth, name) in wanted.iter().enumerate() {
        if !known.iter().any(|fleet| fleet.as_str() == *name) {
            let known: Vec<&str> = known.iter().map(FleetName::as_str).collect();
            return Err(Failure::new(format!(
                "fleet `{name}` has no journal in {}",
                context.state()
            ))
            .hint(format!("fleets here: {}", known.join(", "))));
        }
        let records = engine.history(&FleetName::new(*name)).await.map_err(failed)?;
        let from = args.last.map_or(0, |last| records.len().saturating_sub(last));
        let records = &records[from..];
        match context.global.output {
            Format::Json => {
                documents.push(json!({ "fleet": name, "records": history::json(records) }))
            }
            Format::Text => {
                let gap = if nth > 0 { "\n" } else { "" };
                out.text(format!("{gap}{}", history::text(name, records).trim_end()));
            }
            Format::Markdown => out.text(history::markdown(name, records).trim_end()),
        }
    }
    if context.global.output == Format::Json {
        out.json(&json!({ "formatVersion": 1, "fleets": documents }))?;
    }
    Ok(Exit::Done)
}
