//! `fleet explain`: why this pool, why not that one.

use crate::args::{ExplainArgs, Format};
use crate::context::Context;
use crate::exit::Exit;
use crate::fail::{Answer, Failure};
use crate::out::Out;
use crate::output::document;
use crate::output::explain::{Explain, FleetExplained};
use crate::render::explain as render;
use crate::render::explain_json;
use crate::runs::failed;
use fleet_core::{
    PoolVerdict, explain_moves, explain_pools, explain_slots, plan, proven_gaps, relaxations,
};
use fleet_model::{Catalog, Desired, Inputs, Limits};

/// Runs `fleet explain`.
pub(crate) async fn run(context: &Context, args: &ExplainArgs, out: &mut Out) -> Answer {
    let catalog = context.catalog()?;
    let (context, specs) = &context.named(&args.specs);
    let loaded = context.specs(specs)?;
    let engine =
        context.engine(catalog.clone(), loaded.fleets.iter().map(|fleet| &fleet.desired))?;
    let fleets: Vec<&Desired> = loaded.fleets.iter().map(|fleet| &fleet.desired).collect();
    context.same_kinds(&fleets).await?;
    let asking = context.board(fleets.len(), false).asking(&fleets);
    let gathered = engine.gather_all(&fleets, Limits::default()).await;
    drop(asking);
    let mut documents = Vec::new();
    for (nth, inputs) in gathered.into_iter().enumerate() {
        let inputs = inputs.map_err(failed)?;
        if nth > 0 && context.global.output != Format::Json {
            out.text("");
        }
        if let Some(document) = one(context, args, &catalog, &inputs, out)? {
            documents.push(document);
        }
    }
    if context.global.output == Format::Json {
        out.json(&document(Exit::Done, Explain { fleets: documents }))?;
    }
    Ok(Exit::Done)
}

/// One fleet; the document if JSON is asked for.
fn one(
    context: &Context,
    args: &ExplainArgs,
    catalog: &Catalog,
    inputs: &Inputs,
    out: &mut Out,
) -> Answer<Option<FleetExplained>> {
    let report = plan(inputs).report;
    let slots: Vec<_> = explain_slots(inputs)
        .into_iter()
        .filter(|slot| args.slot.is_none_or(|name| name == slot.slot.name))
        .collect();
    let mut pools = if args.slot.is_some() { Vec::new() } else { verdicts(args, catalog, inputs) };
    render::sort(&mut pools);
    nothing(args, inputs, pools.is_empty(), slots.is_empty())?;
    match (context.global.output, args.slot, &args.pool) {
        (Format::Json, ..) => {
            let relaxed = relaxations(inputs, catalog);
            let gaps = proven_gaps(inputs);
            let found = (pools.as_slice(), slots.as_slice());
            return Ok(Some(explain_json::fleet(inputs, &report, found, &relaxed, gaps)));
        }
        (Format::Markdown, ..) => out.text(render::table(inputs, &pools, args.top).trim_end()),
        (Format::Text, Some(_), _) => {
            slots.iter().for_each(|slot| out.text(render::slot(slot).trim_end()));
        }
        (Format::Text, None, Some(_)) if pools.len() <= 3 => {
            pools.iter().for_each(|pool| out.text(render::pool(pool).trim_end()));
        }
        (Format::Text, None, Some(_)) => {
            out.text(render::pools(inputs, &pools, args.top).trim_end());
        }
        (Format::Text, None, None) => {
            out.text(render::text(inputs, &report, &pools, args.top).trim_end());
            let relaxed = render::relaxed(&relaxations(inputs, catalog));
            let moves = render::moves(&explain_moves(inputs));
            for more in [moves, relaxed, render::gaps(proven_gaps(inputs))] {
                if !more.is_empty() {
                    out.text(more.trim_end());
                }
            }
        }
    }
    Ok(None)
}

/// Without a pattern only the pools that the spec allows: the others are counted by reason.
fn verdicts(args: &ExplainArgs, catalog: &Catalog, inputs: &Inputs) -> Vec<PoolVerdict> {
    match &args.pool {
        Some(pattern) => explain_pools(inputs, catalog, |pool| pattern.matches(pool)),
        None => explain_pools(inputs, catalog, |pool| {
            inputs.held_pools.contains_key(pool)
                || inputs.offerings.binary_search_by(|offer| offer.pool.cmp(pool)).is_ok()
        }),
    }
}

fn nothing(args: &ExplainArgs, inputs: &Inputs, no_pools: bool, no_slots: bool) -> Answer<()> {
    let fleet = &inputs.desired.fleet;
    if let Some(slot) = args.slot
        && no_slots
    {
        return Err(Failure::new(format!("nothing fills slot {slot} of fleet `{fleet}`"))
            .hint("`fleet status --machines` lists slots"));
    }
    if let Some(pattern) = &args.pool
        && no_pools
    {
        return Err(Failure::new(format!("no pool of the catalog matches `{pattern}`")).hint(
            "a pool is cloud/region/zone/type/market, `*` allowed: 'aws/us-east-1/*/p5.*/spot'",
        ));
    }
    Ok(())
}
