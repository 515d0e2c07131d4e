//! `fleet cost …`: what was spent.

mod anomalies;
mod reconcile;

use crate::args::{CostCommand, CostFormat, Format, ReportArgs};
use crate::context::Context;
use crate::exit::Exit;
use crate::fail::{Answer, Failure, Place};
use crate::fleets::no_such_fleet;
use crate::out::Out;
use crate::output::document;
use crate::render::{cost, cost_chart, cost_commitments, cost_json};
use crate::runs::failed;
use fleet_model::{FleetName, Timestamp};
use fleet_money::focus::{self, FocusRows};
use fleet_money::ledger::{Ledger, Sink};
use fleet_money::report::{By, Question, Tally};
use fleet_run::{Engine, Origin, Store, read_ledger};
use fleet_sim::Sim;

/// Runs `fleet cost …`.
pub(crate) async fn run(context: &Context, command: &CostCommand, out: &mut Out) -> Answer {
    match command {
        CostCommand::Report(args) => report(context, args, out).await,
        CostCommand::Anomalies(args) => anomalies::run(context, args, out).await,
        CostCommand::Reconcile(args) => reconcile::run(context, args, out).await,
    }
}

/// Journals, and what time it is in each.
struct Journals {
    store: Store,
    engine: Engine,
    fleets: Vec<FleetName>,
    /// The time of the simulated clouds, if there are any.
    simulated: Option<Timestamp>,
}

impl Journals {
    async fn open(context: &Context, named: &[String]) -> Answer<Self> {
        let engine = context.journals()?;
        let known = engine.fleets().await.map_err(failed)?;
        let wanted: Vec<&String> = named.iter().chain(&context.global.fleet).collect();
        let is_known = |name: &str| known.iter().any(|fleet| fleet.as_str() == name);
        if let Some(missing) = wanted.iter().find(|name| !is_known(name)) {
            return Err(no_such_fleet(context, missing, &known));
        }
        let asked = |fleet: &FleetName| {
            wanted.is_empty() || wanted.iter().any(|name| *name == fleet.as_str())
        };
        let fleets = known.into_iter().filter(asked).collect();
        let simulated = match Sim::exists(&context.sim_folder()) {
            true => Some(context.sim(context.catalog()?)?.clock().now()),
            false => None,
        };
        Ok(Journals { store: context.store()?, engine, fleets, simulated })
    }

    /// What time it is for a fleet: simulated ones live in simulated time.
    async fn now(&self, fleet: &FleetName) -> Answer<Timestamp> {
        let origin = self.store.origin(fleet).await;
        let origin = origin.map_err(|cause| Failure::new(fleet_provider::with_causes(&cause)))?;
        Ok(match (origin, self.simulated) {
            (Origin::Simulated, Some(now)) => now,
            (Origin::Simulated | Origin::Real | Origin::None, _) => self.engine.now(),
        })
    }

    /// The latest of them.
    async fn latest(&self) -> Answer<Timestamp> {
        let mut latest = None;
        for fleet in &self.fleets {
            latest = latest.max(Some(self.now(fleet).await?));
        }
        Ok(latest.unwrap_or_else(|| self.engine.now()))
    }

    /// Reads a fleet's journal into a sink, up to now.
    async fn read<S: Sink + Send>(&self, fleet: &FleetName, sink: &mut S) -> Answer<Ledger> {
        let now = self.now(fleet).await?;
        let mut ledger = Ledger::default();
        let take = |at, entry| ledger.take(entry, at, sink);
        read_ledger(&self.store, fleet, take).await.map_err(|cause| failed(cause.into()))?;
        ledger.accrued(now, sink);
        Ok(ledger)
    }
}

async fn report(context: &Context, args: &ReportArgs, out: &mut Out) -> Answer {
    if args.format.is_some() && context.global.output == Format::Json {
        return Err(Failure::new("two formats are asked for: --format and -o json")
            .hint("leave one of them out")
            .exit(Exit::Usage));
    }
    if let Some(twice) = named_twice(&args.by) {
        return Err(Failure::new(format!("{} is named twice", twice.title()))
            .at("--by")
            .hint("name each group once")
            .exit(Exit::Usage));
    }
    let journals = Journals::open(context, &args.fleets).await?;
    let (from, to) = args.period.bounds(journals.latest().await?);
    in_order(from, to, "report")?;
    if journals.fleets.is_empty() {
        out.aside(format!("Nothing was applied with --state {} yet.", context.state()));
    }
    let calendar = args.period.time_zone.calendar.clone();
    let question = Question { by: args.by.clone(), from, to, calendar };
    if args.format == Some(CostFormat::Focus) {
        return focus_file(&journals, &question, args, out).await;
    }
    let mut total = Tally::new(question.clone());
    let mut worst = Exit::Done;
    let mut surplus = 0;
    for fleet in &journals.fleets {
        let mut one = Tally::new(question.clone());
        one.of_fleet(fleet.as_str());
        // One journal that cannot be read hides no other.
        match journals.read(fleet, &mut one).await {
            Ok(ledger) => {
                surplus += ledger.surplus().len() as u64;
                total.merge(one);
            }
            Err(failure) => {
                worst = worst.max(failure.exit);
                out.aside(failure);
            }
        }
    }
    let page = cost::Page { args, tally: &total, from, to, surplus };
    match (args.format, context.global.output) {
        (Some(CostFormat::Csv), _) => out.raw(cost::csv(&page).as_bytes()),
        (_, Format::Json) => {
            let zone = &args.period.time_zone.name;
            let report = cost_json::document(&total, &question, zone, surplus);
            out.json(&document(worst, report))?;
        }
        (_, Format::Text) => out.text(cost::text(&page).trim_end()),
        (_, Format::Markdown) => out.text(cost::markdown(&page).trim_end()),
    }
    if let Some(file) = &args.chart {
        std::fs::write(file, cost_chart::svg(&page))
            .or_fail("cannot write the chart", file.display())?;
        out.aside(format!("chart written to {}", file.display()));
    }
    if args.format.is_some() {
        cost::asides(&page).into_iter().for_each(|line| out.aside(line));
    }
    Ok(worst)
}

/// Refuses a stretch of time that ends before it begins.
fn in_order(from: i64, to: i64, what: &str) -> Answer<()> {
    if from < to || from == i64::MIN {
        return Ok(());
    }
    Err(Failure::new(format!("the {what} ends before it begins"))
        .at("--from, --to")
        .hint("--to names the last day, or a later moment")
        .exit(Exit::Usage))
}

/// A group that stands among the groups before it.
fn named_twice(by: &[By]) -> Option<&By> {
    by.iter().enumerate().find(|(at, one)| by[..*at].contains(one)).map(|(_, one)| one)
}

/// Writes a FOCUS file. What has no price has no row: FOCUS knows no unknown cost, and 0 would be wrong.
async fn focus_file(
    journals: &Journals,
    question: &Question,
    args: &ReportArgs,
    out: &mut Out,
) -> Answer {
    out.raw(focus::header().as_bytes());
    let mut worst = Exit::Done;
    let mut unpriced = Tally::new(question.clone());
    let mut unknown_ms = 0;
    for fleet in &journals.fleets {
        let mut rows =
            FocusRows::new(fleet.as_str(), question, args.rows == crate::args::Rows::Day);
        match journals.read(fleet, &mut rows).await {
            Ok(_) => {
                out.raw(rows.text.as_bytes());
                unpriced.unpriced.extend(rows.unpriced);
                for (what, ms) in rows.uncounted {
                    *unpriced.uncounted.entry(what).or_default() += ms;
                }
                unknown_ms += rows.unknown_ms;
            }
            Err(failure) => {
                worst = worst.max(failure.exit);
                out.aside(failure);
            }
        }
    }
    let (from, to) = (question.from, question.to);
    let page = cost::Page { args, tally: &unpriced, from, to, surplus: 0 };
    cost::asides(&page).into_iter().for_each(|line| out.aside(line));
    if unknown_ms > 0 {
        out.aside(cost_commitments::no_price_in_focus(unknown_ms));
    }
    Ok(worst)
}
