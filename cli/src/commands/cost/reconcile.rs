//! `fleet cost reconcile`: a bill of a cloud beside the journals.

use super::{Journals, in_order};
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
        let hint = bad.hint();
        Failure::new(format!("this bill cannot be compared: {bad}")).at(&name).hint(hint)
    })?;
    let journals = Journals::open(context, &[]).await?;
    let now = journals.latest().await?;
    let (from, to) = args.period.bounds(now);
    // Without --to the end is now, and of a time that is yet to come there is nothing to compare.
    if args.period.to.is_some() {
        in_order(from, to, "comparison")?;
    }
    let window = bill.window(from, to, now.as_millisecond());
    let mut machines = Machines::new(&bill, window);
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
    let exit = if found.differs() { worst.max(Exit::Changes) } else { worst };
    let page = bill::Page { bill: &bill, found: &found, window };
    match context.global.output {
        Format::Json => out.json(&document(exit, bill::document(&page)))?,
        Format::Text => out.text(bill::text(&page).trim_end()),
        Format::Markdown => out.text(bill::markdown(&page).trim_end()),
    }
    Ok(exit)
}
