//! Reasons as JSON: `is` names the reason, money is in dollars, shares are in per cent, `why` is
//! the sentence people read.

use crate::sentences;
use crate::text::clean_line;
use fleet_model::{
    BlockScope, Hold, MicroUsd, Notice, PoolReason, Rejection, Share, Shortfall, Why,
};
use serde_json::{Map, Value, json};

fn usd(amount: MicroUsd) -> Value {
    json!(amount.as_f64())
}

fn percent(share: Share) -> Value {
    json!(f64::from(share.ppm()) / 10_000.0)
}

/// Adds sentences to the fields of a reason.
fn with(mut fields: Value, sentences: [(&str, Option<String>); 2]) -> Value {
    if let Value::Object(map) = &mut fields {
        for (key, text) in sentences {
            if let Some(text) = text {
                map.insert(key.into(), json!(text));
            }
        }
    }
    fields
}

/// A reason of a step, without its sentence: that stands beside it.
pub(crate) fn why(why: &Why) -> Value {
    match why {
        Why::BelowTarget { group } => json!({ "is": "belowTarget", "group": group }),
        Why::ReplaceInterrupted { group } => json!({ "is": "replaceInterrupted", "group": group }),
        Why::ReplaceDisallowed { group } => json!({ "is": "replaceDisallowed", "group": group }),
        Why::AboveTarget { group } => json!({ "is": "aboveTarget", "group": group }),
        Why::PoolNotAllowed { because } => {
            json!({ "is": "poolNotAllowed", "because": rejection(because) })
        }
        Why::OverBudget { limit } => json!({ "is": "overBudget", "limitUsdPerHour": usd(*limit) }),
        Why::TemplateChanged => json!({ "is": "templateChanged" }),
        Why::ReplaceRequested { group } => json!({ "is": "replaceRequested", "group": group }),
        Why::Requested => json!({ "is": "requested" }),
        Why::ReplaceOldTemplate { group } => {
            json!({ "is": "replaceOldTemplate", "group": group })
        }
        Why::Failed { kind } => json!({ "is": "failed", "kind": kind }),
        Why::Stopped => json!({ "is": "stopped" }),
        Why::CameBack => json!({ "is": "cameBack" }),
        Why::FleetDestroyed => json!({ "is": "fleetDestroyed" }),
    }
}

/// What is held, with its sentence and what lets it go.
pub(crate) fn hold(hold: &Hold) -> Value {
    let said = sentences::hold(hold);
    let fields = match hold {
        Hold::DestroyLimit { allowed, wanted, held, said } => {
            json!({ "is": "destroyLimit", "allowed": allowed, "wanted": wanted, "held": held, "said": said })
        }
        Hold::JournalLost { machines } => json!({ "is": "journalLost", "machines": machines }),
        Hold::WaitingForReplacement { machines } => {
            json!({ "is": "waitingForReplacement", "machines": machines })
        }
        Hold::SuccessorsNotUp { slots, starting } => {
            json!({ "is": "successorsNotUp", "slots": slots, "starting": starting })
        }
        Hold::NotSeenYet { machines } => json!({ "is": "notSeenYet", "machines": machines }),
        Hold::Surge { missing, unit, surge } => json!({
            "is": "surge", "missing": missing, "unit": unit, "surge": surge,
        }),
        Hold::Frozen { missing, of } => json!({ "is": "frozen", "missing": missing, "of": of }),
        Hold::AttemptLimit { slot, tries, until } => {
            json!({ "is": "attemptLimit", "slot": slot, "tries": tries, "until": until })
        }
        Hold::BootFailures { group, failures, until } => {
            json!({ "is": "bootFailures", "group": group, "failures": failures, "until": until })
        }
        Hold::Budget { limit, needed } => json!({
            "is": "budget", "limitUsdPerHour": usd(*limit), "neededUsdPerHour": usd(*needed),
        }),
        Hold::Gap { scope, machines } => {
            json!({ "is": "gap", "scope": scope.to_string(), "machines": machines })
        }
    };
    with(fields, [("why", Some(said.what)), ("next", said.next)])
}

/// What could not be placed, with everything that stood in the way.
pub(crate) fn shortfall(short: &Shortfall) -> Value {
    let said = sentences::shortfall(short);
    let fields = json!({
        "group": short.group,
        "missing": short.missing.as_f64(),
        "unit": short.unit,
        "because": counted(&short.because),
    });
    with(fields, [("why", Some(said.what)), ("next", said.next)])
}

/// Rejections, each with the number of pools.
pub(crate) fn counted(rejections: &[(Rejection, u32)]) -> Vec<Value> {
    let one = |(reason, pools): &(Rejection, u32)| {
        let mut fields = Map::new();
        fields.insert("pools".into(), json!(pools));
        if let Value::Object(more) = rejection(reason) {
            fields.extend(more);
        }
        Value::Object(fields)
    };
    rejections.iter().map(one).collect()
}

/// Why a pool is not used, with its sentence.
pub(crate) fn rejection(rejection: &Rejection) -> Value {
    let fields = match rejection {
        Rejection::CloudNotAllowed { cloud } => json!({ "is": "cloudNotAllowed", "cloud": cloud }),
        Rejection::RegionNotAllowed => json!({ "is": "regionNotAllowed" }),
        Rejection::ZoneNotAllowed => json!({ "is": "zoneNotAllowed" }),
        Rejection::NeedsOptIn => json!({ "is": "needsOptIn" }),
        Rejection::NotByDefault { rule } => json!({ "is": "notByDefault", "default": rule }),
        Rejection::Apart { together, place } => {
            json!({ "is": "apart", "together": together, "place": place })
        }
        Rejection::FamilyNotAllowed => json!({ "is": "familyNotAllowed" }),
        Rejection::Excluded { pattern } => json!({ "is": "excluded", "pattern": pattern }),
        Rejection::OutOfBounds { requirement, has, wants } => {
            let show =
                |value: Option<u64>| value.map(|v| v as f64 / sentences::divisor(requirement));
            json!({
                "is": "outOfBounds", "requirement": requirement, "has": show(*has),
                "min": show(wants.min), "max": show(wants.max),
            })
        }
        Rejection::ArchitectureNotAllowed => json!({ "is": "architectureNotAllowed" }),
        Rejection::AcceleratorNotAllowed { has } => {
            json!({ "is": "acceleratorNotAllowed", "has": has })
        }
        Rejection::LocalDisk => json!({ "is": "localDisk" }),
        Rejection::NoWeight { unit } => json!({ "is": "noWeight", "unit": unit }),
        Rejection::NotSold { market } => json!({ "is": "notSold", "market": market }),
        Rejection::Unpriced => json!({ "is": "unpriced" }),
        Rejection::AboveMaxSpotPrice { limit } => {
            json!({ "is": "aboveMaxSpotPrice", "limitUsdPerHour": usd(*limit) })
        }
        Rejection::SpotNotCheaper => json!({ "is": "spotNotCheaper" }),
        Rejection::Blocked { scope, until, code } => json!({
            "is": "blocked", "scope": block_scope(scope), "until": until, "code": clean_line(code),
        }),
        Rejection::InGap { scope } => json!({ "is": "inGap", "scope": scope.to_string() }),
        Rejection::ShareReached { of, limit } => {
            json!({ "is": "shareReached", "of": of, "limitPercent": percent(*limit) })
        }
        Rejection::LargerThanShare { of, limit, weight } => json!({
            "is": "largerThanShare", "of": of, "limitPercent": percent(*limit),
            "weight": weight.as_f64(),
        }),
        Rejection::CannotLaunch { why } => json!({ "is": "cannotLaunch", "why": why }),
        Rejection::QuotaReached { region, name, limit, unit } => {
            json!({ "is": "quotaReached", "region": region, "name": name, "limit": limit,
                "unit": unit })
        }
        Rejection::NotCommitted => json!({ "is": "notCommitted" }),
        Rejection::BudgetReached { limit } => {
            json!({ "is": "budgetReached", "limitUsdPerHour": usd(*limit) })
        }
        Rejection::Outranked { by } => json!({ "is": "outranked", "by": by }),
    };
    with(
        fields,
        [("why", Some(sentences::rejection(rejection))), ("next", sentences::relax(rejection))],
    )
}

/// Why machines are launched in one pool and not in another.
pub(crate) fn pool_reason(reason: &PoolReason) -> Value {
    let fields = match reason {
        PoolReason::PaidFor => json!({ "is": "paidFor" }),
        PoolReason::Best { strategy } => json!({ "is": "best", "strategy": strategy }),
        PoolReason::OthersFull { because } => {
            json!({ "is": "othersFull", "because": rejection(because) })
        }
        PoolReason::OthersCrowded => json!({ "is": "othersCrowded" }),
        PoolReason::AnotherZone => json!({ "is": "anotherZone" }),
        PoolReason::Even => json!({ "is": "even" }),
        PoolReason::Size => json!({ "is": "size" }),
        PoolReason::Hedge => json!({ "is": "hedge" }),
        PoolReason::InPlaceOfSpot => json!({ "is": "inPlaceOfSpot" }),
    };
    with(fields, [("why", Some(sentences::pool_reason(reason))), ("next", None)])
}

/// Something to know.
pub(crate) fn notice(notice: &Notice) -> Value {
    let said = sentences::notice(notice);
    let fields = match notice {
        Notice::NotRecorded { machine, pool } => {
            json!({ "is": "notRecorded", "machine": machine, "pool": pool })
        }
        Notice::CommitmentUnused { cloud, region, instance_type, count, unused } => json!({
            "is": "commitmentUnused", "provider": cloud, "region": region, "type": instance_type,
            "count": count, "unused": unused,
        }),
        Notice::AtRisk { machine, slot } => {
            json!({ "is": "atRisk", "machine": machine, "slot": slot })
        }
        Notice::TagsLost { machine, slot } => {
            json!({ "is": "tagsLost", "machine": machine, "slot": slot })
        }
        Notice::Gone { machine, slot, how, words } => json!({
            "is": "gone", "machine": machine, "slot": slot, "how": how, "words": words,
        }),
        Notice::Namesakes { machines, uid } => {
            json!({ "is": "namesakes", "machines": machines, "uid": uid })
        }
        Notice::Failed { machine, slot, words } => {
            json!({ "is": "failed", "machine": machine, "slot": slot, "words": words })
        }
        Notice::Stopped { machine, slot, words } => {
            json!({ "is": "stopped", "machine": machine, "slot": slot, "words": words })
        }
        Notice::CameBack { machine, slot } => {
            json!({ "is": "cameBack", "machine": machine, "slot": slot })
        }
        Notice::LeftBehind { machine, scope } => {
            let (cloud, region) = (scope.cloud, &scope.region);
            json!({ "is": "leftBehind", "machine": machine, "provider": cloud, "region": region })
        }
        Notice::OldLabels { cloud, machines } => {
            json!({ "is": "oldLabels", "cloud": cloud, "machines": machines })
        }
        Notice::OldTemplate { machines } => json!({ "is": "oldTemplate", "machines": machines }),
        Notice::FewerZones { zones, wanted } => {
            json!({ "is": "fewerZones", "zones": zones, "wanted": wanted })
        }
        Notice::Surplus { machine } => json!({ "is": "surplus", "machine": machine }),
        Notice::UnknownType { pool, machines } => {
            json!({ "is": "unknownType", "pool": pool, "machines": machines })
        }
        Notice::OldPrices { cloud, seconds } => {
            json!({ "is": "oldPrices", "provider": cloud, "seconds": seconds })
        }
        Notice::UnpricedMachines { machines } => {
            json!({ "is": "unpricedMachines", "machines": machines })
        }
    };
    with(fields, [("why", Some(said.what)), ("next", said.next)])
}

fn block_scope(scope: &BlockScope) -> Value {
    match scope {
        BlockScope::Pool { pool } => json!({ "is": "pool", "pool": pool }),
        BlockScope::Quota { cloud, region, market } => {
            json!({ "is": "quota", "cloud": cloud, "region": region, "market": market })
        }
        BlockScope::Class { cloud, region, market, class } => json!({
            "is": "class", "cloud": cloud, "region": region, "market": market, "class": class,
        }),
        BlockScope::Zone { place } => {
            json!({ "is": "zone", "cloud": place.cloud, "region": place.region, "zone": place.zone })
        }
        BlockScope::Region { cloud, region } => {
            json!({ "is": "region", "cloud": cloud, "region": region })
        }
        BlockScope::Account { cloud, account, market, class } => json!({
            "is": "account", "cloud": cloud, "account": account, "market": market, "class": class,
        }),
        BlockScope::Cloud { cloud } => json!({ "is": "cloud", "cloud": cloud }),
        BlockScope::Breaker { cloud, region, operation } => json!({
            "is": "breaker", "cloud": cloud, "region": region, "operation": operation,
        }),
    }
}
