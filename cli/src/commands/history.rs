//! `fleet history`: the journal, read aloud.

use crate::args::{Format, HistoryArgs};
use crate::context::Context;
use crate::exit::Exit;
use crate::fail::Answer;
use crate::fleets::no_such_fleet;
use crate::out::Out;
use crate::output::document;
use crate::output::history::History;
use crate::render::{history, history_json};
use crate::runs::failed;
use fleet_model::FleetName;
use fleet_run::Record;

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
        let fleet = FleetName::new(*name);
        let all = match engine.history(&fleet).await.map_err(failed) {
            Ok(all) => all,
            Err(failure) => {
                worst = worst.max(failure.exit);
                out.aside(failure);
                continue;
            }
        };
        let since = args.since.map(|since| since.moment(now));
        let early = |record: &Record| since.is_some_and(|since| record.at < since);
        let from = all.partition_point(early);
        let from = args.last.map_or(from, |last| from.max(all.len().saturating_sub(last)));
        let records = &all[from..];
        match context.global.output {
            Format::Json => documents.push(history_json::fleet(&fleet, &all, from)),
            Format::Text => {
                let gap = if nth > 0 { "\n" } else { "" };
                out.text(format!("{gap}{}", history::text(name, records).trim_end()));
            }
            Format::Markdown => out.text(history::markdown(name, records).trim_end()),
        }
    }
    if context.global.output == Format::Json {
        out.json(&document(worst, History { fleets: documents }))?;
    }
    Ok(worst)
}
