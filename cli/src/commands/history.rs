//! `fleet history`: the journal, read aloud.

use crate::args::{Format, HistoryArgs};
use crate::context::Context;
use crate::exit::Exit;
use crate::fail::Answer;
use crate::fleets::no_such_fleet;
use crate::out::Out;
use crate::render::history;
use crate::runs::failed;
use fleet_model::FleetName;
use fleet_run::Record;
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
    if let Some(missing) = wanted.iter().find(|name| !known.iter().any(|k| k.as_str() == **name)) {
        return Err(no_such_fleet(context, missing, &known));
    }
    if wanted.is_empty() {
        out.aside(format!("Nothing was applied with --state {} yet.", context.state()));
    }
    // Simulated fleets live in simulated time.
    let now = match (args.since, context.global.sim) {
        (Some(_), true) => context.sim(context.catalog()?)?.clock().now(),
        _ => engine.now(),
    };
    let mut documents = Vec::new();
    let mut worst = Exit::Done;
    for (nth, name) in wanted.iter().enumerate() {
        // One journal that cannot be read hides no other.
        let records = match engine.history(&FleetName::new(*name)).await.map_err(failed) {
            Ok(records) => records,
            Err(failure) => {
                worst = worst.max(failure.exit);
                out.aside(failure);
                continue;
            }
        };
        let since = args.since.map(|since| since.moment(now));
        let early = |record: &Record| since.is_some_and(|since| record.at < since);
        let records = &records[records.partition_point(early)..];
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
    Ok(worst)
}
