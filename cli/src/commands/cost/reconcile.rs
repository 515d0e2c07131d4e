//! `fleet cost reconcile`: a bill of a cloud beside the journals.

use super::Journals;
use crate::args::{Format, ReconcileBillArgs};
use crate::context::Context;
use crate::exit::Exit;
use crate::fail::{Answer, Failure};
use crate::out::Out;
use crate::output::document;
use crate::render::bill;
use fleet_money::bill::{Bill, Machines, NanoUsd, compare};

/// Runs `fleet cost reconcile`.
pub(crate) async fn run(context: &Context, args: &ReconcileBillArgs, out: &mut Out) -> Answer {
    let name = args.bill.display();
    let file = std::fs::File::open(&args.bill)
        .map_err(|cause| Failure::new(format!("cannot read the bill: {cause}")).at(&name))?;
    let bill = Bill::read(std::io::BufReader::new(file)).map_err(|bad| {
        Failure::new(format!("this bill cannot be compared: {bad}")).at(&name).hint(
            "export CSV with a row for each resource and hour: AWS CUR 2.0 or FOCUS, BigQuery, \
             Azure cost details",
        )
    })?;
    let journals = Journals::open(context, &[]).await?;
    // Nothing is said of what the bill does not reach.
    let (from, to) = args.period.bounds(journals.latest().await?);
    let (from, to) = (from.max(bill.from), to.min(bill.to));
    let mut machines = Machines::new(&bill, from, to);
    let mut worst = Exit::Done;
    for fleet in &journals.fleets {
        machines.of_fleet(fleet.as_str());
        if let Err(failure) = journals.read(fleet, &mut machines).await {
            worst = worst.max(failure.exit);
            out.aside(failure);
        }
    }
    let tolerance = NanoUsd(i128::from(args.tolerance.0) * 1000);
    let found = compare(&bill, &machines, tolerance);
    let differs = !found.differ.is_empty()
        || !found.only_billed.is_empty()
        || !found.only_recorded.is_empty();
    let exit = if differs { worst.max(Exit::Changes) } else { worst };
    match context.global.output {
        Format::Json => out.json(&document(exit, bill::document(&bill, &found, from, to)))?,
        Format::Text | Format::Markdown => out.text(bill::text(&bill, &found, to).trim_end()),
    }
    Ok(exit)
}
