//! `fleet cost anomalies`: what is odd about the cost of fleets, and which apply caused it.

use super::Journals;
use crate::args::{AnomaliesArgs, Format};
use crate::context::Context;
use crate::exit::Exit;
use crate::fail::Answer;
use crate::out::Out;
use crate::output::document;
use crate::render::anomalies::{self, Odd};
use crate::review::family_of;
use crate::runs::failed;
use fleet_model::{FleetName, PoolId};
use fleet_money::anomaly::{Told, Watch, Window};
use fleet_money::ledger::Ledger;
use fleet_run::Journal;

/// Runs `fleet cost anomalies`.
pub(crate) async fn run(context: &Context, args: &AnomaliesArgs, out: &mut Out) -> Answer {
    let journals = Journals::open(context, &args.fleets).await?;
    let mut worst = Exit::Done;
    let (mut odd, mut told) = (Vec::new(), Told::default());
    for fleet in &journals.fleets {
        // One journal that cannot be read hides no other.
        match of_fleet(&journals, fleet, args).await {
            Ok((found, of)) => {
                odd.extend(found);
                told += of;
            }
            Err(failure) => {
                worst = worst.max(failure.exit);
                out.aside(failure);
            }
        }
    }
    let now = journals.latest().await?;
    let (days, fleets) = (args.days, &journals.fleets);
    let page = anomalies::Page { odd: &odd, days, fleets, now, told };
    match context.global.output {
        Format::Json => out.json(&document(worst, anomalies::document(&page)))?,
        Format::Text => out.text(anomalies::text(&page).trim_end()),
        Format::Markdown => out.text(anomalies::markdown(&page).trim_end()),
    }
    Ok(worst)
}

async fn of_fleet(
    journals: &Journals,
    fleet: &FleetName,
    args: &AnomaliesArgs,
) -> Answer<(Vec<Odd>, Told)> {
    let now = journals.now(fleet).await?;
    let to = now.as_millisecond();
    let window = Window { from: to - i64::from(args.days) * 86_400_000, to };
    let history = Journal::history(&journals.store, fleet).await;
    let history = history.map_err(|cause| failed(cause.into()))?;
    let mut ledger = Ledger::default();
    let mut watch = Watch::new(window, &args.label, family);
    for record in &history {
        for event in &record.events {
            watch.take(&mut ledger, event, record.at);
        }
    }
    let (found, told) = watch.found(&ledger, now);
    let odd = |(anomaly, cause)| Odd { fleet: fleet.clone(), anomaly, cause };
    Ok((found.into_iter().map(odd).collect(), told))
}

fn family(pool: &PoolId) -> String {
    family_of(pool.place.cloud, &pool.instance_type).to_owned()
}
