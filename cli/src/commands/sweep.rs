//! `fleet sweep`: machines that nobody accounts for. Reads only.

use crate::args::{Format, SpecArgs};
use crate::context::Context;
use crate::exit::Exit;
use crate::fail::Answer;
use crate::out::Out;
use crate::render::columns::{Columns, left, right};
use crate::render::{place, plan_json};
use crate::runs::failed;
use crate::style::{ADD, DIM, HINT, WARN};
use crate::text::{clean_line, count, markdown, price, when};
use fleet_run::{Orphan, Sweep};
use serde_json::{Value, json};

/// Runs `fleet sweep`. Every region of every cloud is asked, whatever the specs say: an orphan
/// stands where nobody expects it.
pub(crate) async fn run(context: &Context, args: &SpecArgs, out: &mut Out) -> Answer {
    let catalog = context.catalog()?;
    let fleets = if args.specs.is_empty() { None } else { Some(context.specs(&args.specs)?) };
    let desired = fleets.iter().flat_map(|loaded| loaded.fleets.iter().map(|one| &one.desired));
    let engine = context.engine(catalog, desired)?;
    let sweep = engine.sweep().await.map_err(failed)?;
    match context.global.output {
        Format::Json => out.json(&document(&sweep))?,
        Format::Text => text(&sweep, out),
        Format::Markdown => {
            out.text(format!("{} found", count(sweep.orphans.len() as u64, "orphan")));
            for Orphan { machine } in &sweep.orphans {
                let pool = markdown(&machine.pool().to_string());
                out.text(format!("- `{}` in {pool}", clean_line(machine.id.as_str())));
            }
        }
    }
    Ok(if sweep.orphans.is_empty() { Exit::Done } else { Exit::Unsettled })
}

fn text(sweep: &Sweep, out: &mut Out) {
    let looked = format!(
        "{} with our tags in {}",
        count(sweep.seen as u64, "machine"),
        count(sweep.scopes as u64, "region")
    );
    if sweep.orphans.is_empty() {
        out.text(format!("{ADD}no orphans{ADD:#}: {looked}, every one in a journal"));
    } else {
        let orphans = count(sweep.orphans.len() as u64, "orphan");
        out.text(format!("{WARN}{orphans}{WARN:#}: {looked}, these in no journal here\n"));
        let mut table = Columns::default();
        let heads = ["machine", "type", "where", "market", "launched", "fleet identity"];
        table.styled(DIM, heads.map(left).into_iter().chain([right("$/h")]));
        for Orphan { machine } in &sweep.orphans {
            let owner = machine.owner.as_ref().map_or("", |owner| owner.fleet.as_str());
            table.row([
                left(clean_line(machine.id.as_str())),
                left(clean_line(machine.instance_type.as_str())),
                left(place(&machine.place)),
                left(machine.market.as_str()),
                left(when(machine.launched_at)),
                left(clean_line(owner)),
                right(price(machine.price)),
            ]);
        }
        out.text(table.render("  ").trim_end());
        out.text(format!(
            "\n{HINT}→{HINT:#} they may belong to fleets with another --state; if not, end them by hand"
        ));
    }
    for gap in &sweep.gaps {
        let (scope, cause) = (&gap.scope, gap.cause);
        out.text(format!("{WARN}gap{WARN:#}  {scope} {cause}: orphans may hide there"));
    }
}

fn document(sweep: &Sweep) -> Value {
    let one = |Orphan { machine }: &Orphan| {
        json!({
            "id": machine.id,
            "provider": machine.place.cloud,
            "region": machine.place.region,
            "zone": machine.place.zone,
            "type": machine.instance_type,
            "market": machine.market,
            "state": machine.state,
            "launchedAt": machine.launched_at,
            "usdPerHour": machine.price.map(|price| price.as_f64()),
            "fleetUid": machine.owner.as_ref().map(|owner| &owner.fleet),
            "slot": machine.owner.as_ref().map(|owner| owner.slot),
        })
    };
    json!({
        "formatVersion": 1,
        "orphans": sweep.orphans.iter().map(one).collect::<Vec<_>>(),
        "gaps": plan_json::gaps(&sweep.gaps),
        "regions": sweep.scopes,
        "machines": sweep.seen,
    })
}
