//! `fleet sweep`: machines that nobody accounts for. Reads only.

use crate::args::{Format, SpecArgs};
use crate::context::Context;
use crate::exit::Exit;
use crate::fail::{Answer, Failure};
use crate::out::Out;
use crate::output::common::gaps;
use crate::output::document;
use crate::output::sweep::{self as output, Because};
use crate::output::words::{Time, usd};
use crate::render::columns::{Columns, left, right};
use crate::render::place;
use crate::runs::failed;
use crate::sentences;
use crate::style::{ADD, DIM, HINT, WARN};
use crate::text::{clean_line, count, markdown, price, when};
use fleet_model::{Cloud, Gap, GapCause};
use fleet_run::{Orphan, Stray, Sweep};
use std::collections::BTreeMap;

/// Runs `fleet sweep`. Every region of every cloud is asked, whatever the specs say: an orphan
/// stands where nobody expects it.
pub(crate) async fn run(context: &Context, args: &SpecArgs, out: &mut Out) -> Answer {
    let catalog = context.catalog()?;
    let fleets = if args.specs.is_empty() { None } else { Some(context.specs(&args.specs)?) };
    let desired = fleets.iter().flat_map(|loaded| loaded.fleets.iter().map(|one| &one.desired));
    let engine = context.engine(catalog, desired)?;
    let sweep = engine.sweep().await.map_err(failed)?;
    let exit = match (sweep.scopes == 0 && !sweep.gaps.is_empty(), sweep.orphans.is_empty()) {
        // Who was not answered at all has swept nothing.
        (true, _) => Exit::Failed,
        (false, true) => Exit::Done,
        (false, false) => Exit::Unsettled,
    };
    match context.global.output {
        Format::Json => out.json(&document(exit, body(&sweep)))?,
        Format::Text => text(&sweep, out),
        Format::Markdown => {
            out.text(format!("{} found", count(sweep.orphans.len() as u64, "orphan")));
            for Orphan { machine, stray } in &sweep.orphans {
                let pool = markdown(&machine.pool().to_string());
                let (id, why) = (clean_line(machine.id.as_str()), markdown(&why(stray)));
                out.text(format!("- `{id}` in {pool}: {why}"));
            }
        }
    }
    if exit == Exit::Failed {
        out.aside(
            Failure::new("no cloud answered, so nothing was swept")
                .hint("`fleet doctor` shows what is missing"),
        );
    }
    Ok(exit)
}

fn text(sweep: &Sweep, out: &mut Out) {
    let looked = format!(
        "{} with our tags in {}",
        count(sweep.seen as u64, "machine"),
        count(sweep.scopes as u64, "region")
    );
    if sweep.scopes == 0 && sweep.orphans.is_empty() {
        // There is nothing to say of what was not seen.
    } else if sweep.orphans.is_empty() {
        out.text(format!("{ADD}no orphans{ADD:#}: {looked}, every one in a journal"));
    } else {
        let orphans = count(sweep.orphans.len() as u64, "orphan");
        out.text(format!("{WARN}{orphans}{WARN:#}: {looked}, these in no journal here\n"));
        let mut table = Columns::without(&["launched", "market", "$/h", "where"]);
        let heads = ["machine", "type", "where", "market", "launched", "fleet"];
        let last = [right("$/h"), left("why")];
        table.styled(DIM, heads.map(left).into_iter().chain(last));
        for Orphan { machine, stray } in &sweep.orphans {
            let owner = machine.owner.as_ref().map_or("", |owner| owner.name.as_str());
            table.row([
                left(clean_line(machine.id.as_str())),
                left(clean_line(machine.instance_type.as_str())),
                left(place(&machine.place)),
                left(machine.market.as_str()),
                left(when(machine.launched_at)),
                left(clean_line(owner)),
                right(price(machine.price)),
                left(why(stray)),
            ]);
        }
        out.text(table.render("  ").trim_end());
        let copies = |orphan: &&Orphan| matches!(orphan.stray, Stray::CopyOf(_));
        let copied = sweep.orphans.iter().filter(copies).count();
        if copied < sweep.orphans.len() {
            out.text(format!(
                "\n{HINT}→{HINT:#} the fleet may be recorded in another --state; terminate by hand what nobody needs"
            ));
        }
        if copied > 0 {
            out.text(format!(
                "\n{HINT}→{HINT:#} a copy belongs to whoever launched it from one of ours: ask before you end it, \
                 and take our tags (fleet-*) off it"
            ));
        }
    }
    for (whose, regions, gap) in by_cause(&sweep.gaps) {
        let (cause, next) = (gap.cause, sentences::gap_next(gap.cause));
        out.text(format!("{WARN}gap{WARN:#}  {whose} {cause} ({regions}): orphans may hide there"));
        out.text(format!("     {}", clean_line(&gap.detail)));
        out.text(format!("     {HINT}→{HINT:#} {next}"));
    }
}

/// Why nobody accounts for a machine, in words.
fn why(stray: &Stray) -> String {
    match stray {
        Stray::UnknownFleet => "no journal here is of its fleet".into(),
        Stray::NotRecorded => "its fleet's journal does not know it".into(),
        Stray::Surplus => "a launch made one too many".into(),
        Stray::CopyOf(original) => {
            format!("a copy: its tags are those of {}", clean_line(original.as_str()))
        }
    }
}

/// Gaps of one cloud that have one cause are one line: who has no credentials has none in forty
/// regions.
fn by_cause(gaps: &[Gap]) -> Vec<(String, String, &Gap)> {
    let mut groups: BTreeMap<(Cloud, GapCause), Vec<&Gap>> = BTreeMap::new();
    for gap in gaps {
        groups.entry((gap.scope.cloud, gap.cause)).or_default().push(gap);
    }
    let mut lines = Vec::new();
    for ((cloud, _), gaps) in groups {
        lines.push(match gaps[..] {
            [one] => (one.scope.to_string(), "1 region".into(), one),
            _ => (cloud.to_string(), count(gaps.len() as u64, "region"), gaps[0]),
        });
    }
    lines
}

fn body(sweep: &Sweep) -> output::Sweep {
    output::Sweep {
        orphans: sweep.orphans.iter().map(orphan).collect(),
        gaps: gaps(&sweep.gaps),
        regions: sweep.scopes as u64,
        machines: sweep.seen as u64,
    }
}

fn orphan(Orphan { machine, stray }: &Orphan) -> output::Orphan {
    let (because, copy_of) = match stray {
        Stray::UnknownFleet => (Because::UnknownFleet, None),
        Stray::NotRecorded => (Because::NotRecorded, None),
        Stray::Surplus => (Because::Surplus, None),
        Stray::CopyOf(original) => (Because::Copy, Some(original.to_string())),
    };
    let owner = machine.owner.as_ref();
    output::Orphan {
        id: machine.id.to_string(),
        because,
        copy_of,
        fleet: owner.map(|owner| owner.name.to_string()),
        fleet_uid: owner.map(|owner| owner.fleet.to_string()),
        slot: owner.map(|owner| owner.slot.to_string()),
        provider: machine.place.cloud.into(),
        region: machine.place.region.to_string(),
        zone: machine.place.zone.to_string(),
        r#type: machine.instance_type.to_string(),
        market: machine.market.into(),
        state: Some(machine.state).into(),
        launched_at: Time(machine.launched_at),
        hourly_usd: machine.price.map(usd),
    }
}
