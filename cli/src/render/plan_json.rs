//! A plan as JSON: the contract that other programs rely on.

use super::reasons_json;
use crate::sentences;
use crate::text::clean_line;
use fleet_model::{
    Action, Cost, Gap, InDoubt, MachineId, Outlook, Plan, PoolChance, PoolLine, Relabel, Report,
    Share, Step,
};
use serde::Serialize;
use serde_json::{Value, json};

/// Format number of JSON on stdout.
pub(crate) const OUTPUT_FORMAT: u32 = 1;

/// Machines launched, ended and kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Summary {
    /// To launch.
    pub create: u32,
    /// To end.
    pub destroy: u32,
    /// To keep.
    pub keep: u32,
}

impl Summary {
    /// The summary of a report.
    pub(crate) fn of(report: &Report) -> Self {
        report.pools.iter().fold(Summary::default(), |sum, pool| Summary {
            create: sum.create + pool.create,
            destroy: sum.destroy + pool.destroy,
            keep: sum.keep + pool.keep,
        })
    }

    /// Both together.
    pub(crate) fn and(self, other: Self) -> Self {
        Summary {
            create: self.create + other.create,
            destroy: self.destroy + other.destroy,
            keep: self.keep + other.keep,
        }
    }
}

/// Money in dollars.
pub(crate) fn cost(cost: &Cost) -> Value {
    let Cost {
        hourly_before,
        hourly_after,
        hourly_at_present,
        hourly_on_demand,
        hourly_limit,
        unpriced,
        committed,
        when_done,
    } = cost;
    json!({
        "hourlyBefore": hourly_before.as_f64(),
        "hourlyAfter": hourly_after.as_f64(),
        "monthlyBefore": hourly_before.per_month().as_f64(),
        "monthlyAfter": hourly_after.per_month().as_f64(),
        "hourlyAtPresentPrices": hourly_at_present.as_f64(),
        "hourlyOnDemand": hourly_on_demand.as_f64(),
        "hourlyLimit": hourly_limit.map(|limit| limit.as_f64()),
        "unpricedMachines": unpriced,
        "committedMachines": committed,
        "whenDone": when_done.map(|done| json!({
            "hourly": done.hourly.as_f64(),
            "monthly": done.hourly.per_month().as_f64(),
            "applies": done.applies,
            "allowDestroy": done.allow_destroy,
        })),
    })
}

/// One fleet's plan, without the format number.
pub(crate) fn fleet(plan: &Plan, report: &Report) -> Value {
    let Report {
        unit,
        groups,
        pools,
        cost: money,
        held,
        unplaced,
        in_doubt: doubts,
        gaps: silent,
        answered,
        notices,
        candidates,
        rejected,
        outlook: expected,
    } = report;
    let groups: Vec<Value> = groups
        .iter()
        .map(|line| {
            json!({
                "group": line.group,
                "wanted": line.wanted.as_f64(),
                "before": line.before.as_f64(),
                "after": line.after.as_f64(),
                "keep": line.keep, "create": line.create, "destroy": line.destroy,
            })
        })
        .collect();
    let document = json!({
        "fleet": plan.fleet,
        "uid": plan.uid,
        "unit": unit,
        // Whoever saw nothing cannot say that nothing changes.
        "changes": (!report.is_blind()).then(|| plan.acts() || !doubts.is_empty()),
        "resend": plan.resend,
        "relabel": plan.relabel.iter().map(relabel).collect::<Vec<_>>(),
        "summary": Summary::of(report),
        "steps": plan.steps.iter().map(step).collect::<Vec<_>>(),
        "cost": cost(money),
        "unplaced": unplaced.iter().map(reasons_json::shortfall).collect::<Vec<_>>(),
        "held": held.iter().map(reasons_json::hold).collect::<Vec<_>>(),
        "inDoubt": in_doubt(doubts),
        "gaps": gaps(silent),
        "answered": answered,
        "notices": notices.iter().map(reasons_json::notice).collect::<Vec<_>>(),
        "groups": groups,
        "pools": pools.iter().map(pool).collect::<Vec<_>>(),
        "candidates": candidates,
        "rejected": reasons_json::counted(rejected),
        "decidedAt": plan.premises.decided_at,
        "expiresAt": plan.premises.expires_at,
    });
    match expected {
        Some(expected) => merge(document, json!({ "outlook": outlook(expected) })),
        None => document,
    }
}

/// Labels that change in place in one scope.
fn relabel(one: &Relabel) -> Value {
    let machines: Vec<&MachineId> = one.machines.iter().map(|one| &one.machine).collect();
    json!({ "scope": one.scope, "set": one.set, "remove": one.remove, "machines": machines })
}

/// The whole document: the fields of the one fleet at top level, or several fleets and their sum.
pub(crate) fn document(fleets: &[(&Plan, &Report)]) -> Value {
    let mut document = match fleets {
        [(plan, report)] => fleet(plan, report),
        _ => {
            let sum = fleets.iter().fold(Summary::default(), |s, (_, r)| s.and(Summary::of(r)));
            json!({
                "summary": sum,
                "cost": cost(&total(fleets.iter().map(|(_, report)| &report.cost))),
                "fleets": fleets.iter().map(|(p, r)| fleet(p, r)).collect::<Vec<_>>(),
            })
        }
    };
    if let Value::Object(fields) = &mut document {
        fields.insert("formatVersion".into(), json!(OUTPUT_FORMAT));
    }
    document
}

/// The sum of several costs. There is a limit for all only if there is one for each.
pub(crate) fn total<'a>(costs: impl Iterator<Item = &'a Cost>) -> Cost {
    let zero = Cost {
        hourly_before: Default::default(),
        hourly_after: Default::default(),
        hourly_at_present: Default::default(),
        hourly_on_demand: Default::default(),
        hourly_limit: Some(Default::default()),
        unpriced: 0,
        committed: 0,
        when_done: None,
    };
    costs.fold(zero, |sum, cost| Cost {
        hourly_before: sum.hourly_before + cost.hourly_before,
        hourly_after: sum.hourly_after + cost.hourly_after,
        hourly_at_present: sum.hourly_at_present + cost.hourly_at_present,
        hourly_on_demand: sum.hourly_on_demand + cost.hourly_on_demand,
        hourly_limit: sum.hourly_limit.zip(cost.hourly_limit).map(|(a, b)| a + b),
        unpriced: sum.unpriced + cost.unpriced,
        committed: sum.committed + cost.committed,
        // Each fleet has an end of its own, and a number of its own to allow.
        when_done: None,
    })
}

fn step(step: &Step) -> Value {
    let common = json!({
        "id": step.id,
        "action": match step.action { Action::Create(_) => "create", Action::Destroy(_) => "destroy" },
        "pool": step.action.pool(),
        "count": step.action.count(),
        "why": sentences::why(&step.why),
        "reason": reasons_json::why(&step.why),
        "after": step.after,
    });
    let more = match &step.action {
        Action::Create(create) => json!({
            "others": create.others.iter().map(|other| &other.pool).collect::<Vec<_>>(),
            "slots": create.slots,
            "usdPerHour": create.price.map(|price| price.as_f64()),
            "maxUsdPerHour": create.max_price.map(|price| price.as_f64()),
            "image": create.image,
        }),
        Action::Destroy(destroy) => json!({
            "slots": destroy.victims.iter().map(|victim| victim.slot).collect::<Vec<_>>(),
            "machines": destroy.victims.iter().map(|victim| &victim.machine).collect::<Vec<_>>(),
        }),
    };
    merge(common, more)
}

fn pool(line: &PoolLine) -> Value {
    let PoolLine {
        pool,
        weight,
        keep,
        create,
        destroy,
        kept_hourly,
        ended_hourly,
        price,
        on_demand,
        obtainability,
        share,
        committed,
        chance,
        reason,
    } = line;
    let believed = chance.map(|PoolChance { fill, life_minutes }| {
        json!({
            "fillPercent": f64::from(fill.ppm()) / 10_000.0,
            "lifeMinutes": life_minutes,
        })
    });
    let common = json!({
        "pool": pool,
        "provider": pool.place.cloud, "region": pool.place.region, "zone": pool.place.zone,
        "type": pool.instance_type, "market": pool.market,
        "keep": keep, "create": create, "destroy": destroy, "committed": committed,
        "weight": weight.as_f64(),
        "usdPerHour": price.map(|price| price.as_f64()),
        "keptUsdPerHour": kept_hourly.as_f64(), "destroyedUsdPerHour": ended_hourly.as_f64(),
        "onDemandUsdPerHour": on_demand.map(|price| price.as_f64()),
        "obtainability": obtainability,
        "sharePercent": f64::from(share.ppm()) / 10_000.0,
    });
    let common = match believed {
        Some(belief) => merge(common, json!({ "belief": belief })),
        None => common,
    };
    match reason {
        Some(reason) => merge(common, json!({ "reason": reasons_json::pool_reason(reason) })),
        None => common,
    }
}

/// What is to be expected of the spot part.
fn outlook(outlook: &Outlook) -> Value {
    let Outlook {
        fill,
        interruptions_per_day_milli,
        hourly_p10,
        hourly_p50,
        hourly_p90,
        whole,
        at_target_every_five_minutes,
        at_target_nightly,
    } = outlook;
    let percent = |share: &Share| f64::from(share.ppm()) / 10_000.0;
    json!({
        "fillPercent": percent(fill),
        "wholePercent": whole.as_ref().map(percent),
        "atTargetPercent": {
            "everyFiveMinutes": percent(at_target_every_five_minutes),
            "nightly": percent(at_target_nightly),
        },
        "interruptionsPerDay": *interruptions_per_day_milli as f64 / 1000.0,
        "hourlyUsd": {
            "p10": hourly_p10.as_f64(), "p50": hourly_p50.as_f64(), "p90": hourly_p90.as_f64(),
        },
    })
}

/// Requests in doubt.
pub(crate) fn in_doubt(doubts: &[InDoubt]) -> Vec<Value> {
    let one = |doubt: &InDoubt| {
        let InDoubt { token, pool, slots, since } = doubt;
        json!({ "token": token, "pool": pool, "slots": slots, "since": since })
    };
    doubts.iter().map(one).collect()
}

/// Scopes that did not answer.
pub(crate) fn gaps(gaps: &[Gap]) -> Vec<Value> {
    let one = |gap: &Gap| {
        json!({
            "provider": gap.scope.cloud, "region": gap.scope.region,
            "cause": gap.cause,
            "detail": clean_line(&gap.detail),
            "next": sentences::gap_next(gap.cause),
        })
    };
    gaps.iter().map(one).collect()
}

/// One object with the fields of both.
pub(crate) fn merge(mut into: Value, from: Value) -> Value {
    if let (Value::Object(into), Value::Object(from)) = (&mut into, from) {
        into.extend(from);
    }
    into
}
