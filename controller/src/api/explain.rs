//! Why this pool, why not that one.

use super::ask::{Answered, Asked, Fleet, shown};
use crate::Controller;
use crate::refusal::Refusal;
use axum::extract::State;
use fleet_core::{explain_pools, explain_slots, plan, proven_gaps, relaxations};
use fleet_model::{Catalog, Inputs, PoolPattern, SlotName};
use fleet_words::output::explain::{Explain, FleetExplained};
use fleet_words::render::{explain, explain_json};
use schemars::JsonSchema;
use serde::Deserialize;
use std::sync::Arc;

/// Patterns are matched against every pool of the catalog.
const MOST_PATTERN: usize = 200;
/// And stars are what makes that slow.
const MOST_STARS: usize = 10;

/// What is to be explained.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct What {
    /// Pools, as `cloud/region/zone/type/market`; `*` stands for anything. Without it, the pools that the spec allows.
    #[serde(default)]
    #[schemars(length(min = 1, max = 200))]
    pool: Option<String>,
    /// A slot, such as `burst-3`. Not together with `pool`.
    #[serde(default)]
    #[schemars(regex(pattern = "^(base|burst)-[0-9]{1,9}$"))]
    slot: Option<String>,
}

/// Why each pool is used or not used.
pub(super) async fn explain(
    State(controller): State<Arc<Controller>>,
    fleet: Fleet,
    Asked(what): Asked<What>,
) -> Answered {
    let pool = what.pool.map(pattern).transpose()?;
    let slot = what.slot.map(|slot| slot.parse::<SlotName>());
    let slot =
        slot.transpose().map_err(|_| Refusal::bad("this is no slot; burst-3 is one", "slot"))?;
    if pool.is_some() && slot.is_some() {
        return Err(Refusal::bad("ask for a pool or for a slot", "pool, slot"));
    }
    let inputs = controller.inputs(fleet.desired.clone()).await?;
    let catalog = controller.engine.catalog().clone();
    let found = controller
        .by_hand(async move |_| explained(&inputs, &catalog, pool.as_ref(), slot))
        .await?;
    Ok(shown(Explain { fleets: vec![found?] }))
}

fn pattern(text: String) -> Result<PoolPattern, Refusal> {
    let stars = text.bytes().filter(|byte| *byte == b'*').count();
    if text.is_empty() || text.len() > MOST_PATTERN || stars > MOST_STARS {
        let what =
            format!("a pattern has 1 to {MOST_PATTERN} bytes and at most {MOST_STARS} stars");
        return Err(Refusal::bad(what, "pool"));
    }
    Ok(PoolPattern::new(text))
}

fn explained(
    inputs: &Inputs,
    catalog: &Catalog,
    pattern: Option<&PoolPattern>,
    slot: Option<SlotName>,
) -> Result<FleetExplained, Refusal> {
    let fleet = &inputs.desired.fleet;
    let mut slots = explain_slots(inputs);
    slots.retain(|one| slot.is_none_or(|name| name == one.slot.name));
    let mut pools = match (pattern, slot) {
        (_, Some(_)) => Vec::new(),
        (Some(pattern), None) => explain_pools(inputs, catalog, |pool| pattern.matches(pool)),
        (None, None) => explain_pools(inputs, catalog, |pool| {
            inputs.held_pools.contains_key(pool)
                || inputs.offerings.binary_search_by(|offer| offer.pool.cmp(pool)).is_ok()
        }),
    };
    explain::sort(&mut pools);
    if let Some(slot) = slot.filter(|_| slots.is_empty()) {
        let hint = "`GET /v1/fleets/{fleet}/machines` lists slots";
        return Err(Refusal::missing(
            format!("nothing fills slot {slot} of fleet `{fleet}`"),
            hint,
        ));
    }
    if let Some(pattern) = pattern.filter(|_| pools.is_empty()) {
        let hint =
            "a pool is cloud/region/zone/type/market, `*` allowed: aws/us-east-1/*/p5.*/spot";
        let what = format!("no pool of the catalog matches `{}`", pattern.as_str());
        return Err(Refusal::missing(what, hint));
    }
    let report = plan(inputs).report;
    let relaxed = relaxations(inputs, catalog);
    let found = (pools.as_slice(), slots.as_slice());
    Ok(explain_json::fleet(inputs, &report, found, &relaxed, proven_gaps(inputs)))
}
