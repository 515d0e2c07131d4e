//! Where machines may stand and how pools are chosen.

use super::{commitments, reach, traffic};
use crate::reader::{Field, Object, Reader};
use crate::scalar::Number;
use crate::wire;
use crate::words::{CLOUDS, FULFILMENTS, SIGNALS, STRATEGIES, TOGETHER};
use crate::yaml::Kind;
use fleet_model::{
    CapacityGoal, Cloud, CloudRule, Fulfilment, Hedge, InstanceRules, MaxSpotPrice, Pattern,
    PlacementRules, Share, SignalSet, Spread, Strategy, Together, Weight, WeightOf,
};

pub(super) fn read(
    reader: &mut Reader<'_>,
    spec: Option<&Object<'_>>,
    instances: &InstanceRules,
    capacity: &CapacityGoal,
    hedge: Option<Hedge>,
) -> PlacementRules {
    let mut rules = PlacementRules {
        // The order of writing is the order of wanting, unless the spec says otherwise.
        priorities: instances.families.iter().chain(&instances.types).cloned().collect(),
        hedge,
        ..PlacementRules::anywhere(Cloud::ALL)
    };
    let object = spec
        .and_then(|spec| spec.get(reader, "placement"))
        .and_then(|field| reader.object(&field, wire::Placement::FIELDS));
    let Some(object) = object else {
        return rules;
    };
    if let Some(field) = object.get(reader, "strategy") {
        let strategy = reader.word(&field, "strategy", STRATEGIES);
        rules.strategy = strategy.unwrap_or(rules.strategy);
    }
    order_of_spot(reader, &object, &rules, capacity);
    let clouds_at = object.get(reader, "clouds");
    if let Some(field) = &clouds_at {
        let clouds = reader.list(field, cloud);
        rules.clouds = if clouds.is_empty() { rules.clouds } else { clouds };
    }
    if let Some(field) = object.get(reader, "priorities") {
        rules.priorities = reader.patterns(&field);
        let looks_at_them = matches!(
            rules.strategy,
            Strategy::Prioritized | Strategy::CapacityOptimizedPrioritized
        );
        if !looks_at_them && !is_weighed(&rules, capacity) {
            let message =
                format!("strategy `{}` does not look at priorities", rules.strategy.as_str());
            let hint = "use prioritized or capacity-optimized-prioritized, or remove priorities";
            reader.warn(&field, message, Some(hint.into()));
        }
    }
    if let Some(field) = object.get(reader, "weights") {
        rules.weights = reader.list(&field, weight);
    }
    if let Some(field) = object.get(reader, "commitments") {
        rules.commitments = commitments::read(reader, &field);
    }
    if let Some(field) = object.get(reader, "maxSpotPrice") {
        rules.max_spot_price = max_spot_price(reader, &field);
    }
    rules.traffic = traffic::read(reader, &object);
    if let Some(field) = object.get(reader, "fulfilment") {
        let fulfilment = reader.word(&field, "fulfilment", FULFILMENTS);
        rules.fulfilment = fulfilment.unwrap_or_default();
        let able = rules.clouds.iter().any(|rule| rule.cloud.chooses_among_pools());
        if rules.fulfilment == Fulfilment::Flexible && !able {
            let message = "no cloud of this spec chooses among pools: every launch is exact".into();
            let hint = "remove fulfilment, or allow aws under placement.clouds";
            reader.warn(&field, message, Some(hint.into()));
        }
    }
    if let Some(field) = object.get(reader, "ignoreSignals") {
        rules.ignore_signals = ignored(reader, &field, &rules.clouds);
    }
    if let Some(field) = object.get(reader, "spread") {
        rules.spread = spread(reader, &field);
        // What can be reached is known only if everything could be read.
        let errors = reader.broken();
        let broken = |path: &str| errors.iter().any(|error| error.starts_with(path));
        if !broken("spec.placement") && !broken("spec.instances") {
            reach::check(reader, &field, &rules, instances, capacity);
        }
    }
    if let Some(field) = object.get(reader, "together") {
        rules.together = reader.word(&field, "together", TOGETHER);
        if let Some(together) = rules.together {
            torn_apart(reader, &field, together, rules.spread);
        }
    }
    rules
}

/// An error where `together` and `spread` cannot both be had.
fn torn_apart(reader: &mut Reader<'_>, field: &Field<'_>, together: Together, spread: Spread) {
    let part = |share: Option<Share>| share.is_some_and(|share| share != Share::ALL);
    let clash = if together == Together::Zone && spread.min_zones > 1 {
        Some("minZones")
    } else if together == Together::Zone && part(spread.max_share_per_zone) {
        Some("maxSharePerZone")
    } else if together != Together::Provider && part(spread.max_share_per_region) {
        Some("maxSharePerRegion")
    } else if part(spread.max_share_per_provider) {
        Some("maxSharePerProvider")
    } else {
        None
    };
    if let Some(limit) = clash {
        let message =
            format!("together: {} and spread.{limit} cannot both be had", together.as_str());
        reader.error(field, message, Some(format!("remove one of them: together or {limit}")));
    }
}

/// Signals that nobody wants.
fn ignored(reader: &mut Reader<'_>, field: &Field<'_>, clouds: &[CloudRule]) -> SignalSet {
    let read = |reader: &mut Reader<'_>, item: &Field<'_>| {
        let source = reader.word(item, "signal", SIGNALS)?;
        let cloud = source.row().cloud;
        if !clouds.iter().any(|rule| rule.cloud == cloud) {
            let message = format!("no cloud of this spec gives `{source}`: {cloud} is not allowed");
            reader.warn(item, message, Some("remove it, or allow the cloud".into()));
        }
        Some(source)
    };
    reader.list(field, read).into_iter().collect()
}

fn cloud(reader: &mut Reader<'_>, item: &Field<'_>) -> Option<CloudRule> {
    if let Kind::Scalar { text, .. } = &item.node.kind {
        let message = format!("a cloud must be a mapping, found `{}`", crate::source::quote(text));
        reader.error(item, message, Some(format!("write {{ provider: {text} }}")));
        return None;
    }
    let object = reader.object(item, wire::CloudRule::FIELDS)?;
    let cloud = object
        .require(reader, "provider")
        .and_then(|field| reader.word(&field, "provider", CLOUDS));
    let regions = object.get(reader, "regions").map(|field| any_or(reader, &field));
    let zones_at = object.get(reader, "zones");
    let zones = zones_at.as_ref().map(|field| any_or(reader, field)).unwrap_or_default();
    if let (Some(Cloud::Lambda), Some(field), false) = (cloud, &zones_at, zones.is_empty()) {
        let message = "lambda has no zones to choose from".into();
        reader.error(field, message, Some("remove zones; choose regions instead".into()));
    }
    let accounts_at = object.get(reader, "accounts");
    let accounts: Vec<String> =
        accounts_at.as_ref().map(|field| reader.list(field, account)).unwrap_or_default();
    if let (Some(cloud), Some(field), false) = (cloud, &accounts_at, accounts.is_empty())
        && cloud == Cloud::Lambda
    {
        let message = "lambda has one account, that of the key".into();
        let hint = "remove accounts; LAMBDA_API_KEY says whose it is";
        reader.error(field, message, Some(hint.into()));
    }
    Some(CloudRule { cloud: cloud?, regions: regions.unwrap_or_default(), zones, accounts })
}

/// An account id, project or subscription.
fn account(reader: &mut Reader<'_>, field: &Field<'_>) -> Option<String> {
    let text = reader.text(field)?;
    let plain = |char: char| char.is_ascii_alphanumeric() || matches!(char, '-' | '_' | '.' | ':');
    if text.is_empty() || text.len() > 64 || !text.chars().all(plain) {
        let message = format!("`{}` is not an account", crate::source::quote(&text));
        let hint = "name an AWS account id, in quotes: \"111122223333\", a Google project or an Azure subscription";
        reader.error(field, message, Some(hint.into()));
        return None;
    }
    Some(text)
}

/// A list of names or patterns; empty for `any`.
fn any_or(reader: &mut Reader<'_>, field: &Field<'_>) -> Vec<Pattern> {
    match &field.node.kind {
        Kind::Scalar { text, .. } if text == "any" => Vec::new(),
        Kind::Scalar { text, .. } if matches!(text.as_str(), "all" | "ANY" | "Any" | "*") => {
            let message = format!("`{}` must be a list or `any`, found `{text}`", field.name());
            reader.error(field, message, Some("did you mean `any`?".into()));
            Vec::new()
        }
        Kind::Scalar { .. } | Kind::List(_) | Kind::Map(_) => reader.patterns(field),
    }
}

fn weight(reader: &mut Reader<'_>, item: &Field<'_>) -> Option<Weight> {
    const UNITS: Number = Number { min: 1, ..Number::MILLI };
    let object = reader.object(item, wire::Weight::FIELDS)?;
    let types = object.require(reader, "types").and_then(|field| reader.pattern(&field));
    let units = object.require(reader, "units").and_then(|field| reader.number(&field, UNITS));
    Some(Weight { types: types?, units: fleet_model::Units(units?), of: WeightOf::Machine })
}

/// Whether spot pools are chosen by what they are expected to cost, and not in an order.
fn is_weighed(rules: &PlacementRules, capacity: &CapacityGoal) -> bool {
    rules.hedge.is_some() && !capacity.spot.is_zero()
}

/// Who writes an order of pools wants it to be kept. The two strategies that weigh capacity want what a hedge
/// does anyway, and a place for all is chosen by any of them.
fn order_of_spot(
    reader: &mut Reader<'_>,
    object: &Object<'_>,
    rules: &PlacementRules,
    capacity: &CapacityGoal,
) {
    let placed = object.get(reader, "together").is_some();
    if placed || !is_weighed(rules, capacity) {
        return;
    }
    let is_order =
        !matches!(rules.strategy, Strategy::CapacityOptimized | Strategy::PriceCapacityOptimized);
    let name = rules.strategy.as_str();
    let written = [
        ("strategy", is_order, format!("strategy `{name}` does")),
        ("priorities", true, "priorities do".to_owned()),
    ];
    for (key, says_order, does) in written {
        let field = object.get(reader, key).filter(|_| says_order);
        let Some(field) = field else { continue };
        let message = format!(
            "{does} not choose spot pools here: with availability or penalty they are chosen by expected cost"
        );
        let hint = format!(
            "remove {key}, or remove availability and penalty; instances.types lists the only types allowed"
        );
        reader.warn(&field, message, Some(hint));
    }
}

fn max_spot_price(reader: &mut Reader<'_>, field: &Field<'_>) -> Option<MaxSpotPrice> {
    if !Reader::is_share(field) {
        return reader.usd(field).map(MaxSpotPrice::Hourly);
    }
    let share = reader.share(field)?;
    if share == Share::NONE {
        let hint = "raise it; for no spot at all, set capacity.burst.spot: 0%";
        reader.error(field, "no spot is sold at 0%".into(), Some(hint.into()));
        return None;
    }
    Some(MaxSpotPrice::ShareOfOnDemand(share))
}

fn spread(reader: &mut Reader<'_>, field: &Field<'_>) -> Spread {
    let Some(object) = reader.object(field, wire::Spread::FIELDS) else {
        return Spread::default();
    };
    let share = |reader: &mut Reader<'_>, name: &str| {
        let field = object.get(reader, name)?;
        let share = reader.share(&field)?;
        if share == Share::NONE {
            let message = format!("`{name}` of 0% leaves room for nothing");
            reader.error(&field, message, Some("raise it, or remove it".into()));
            return None;
        }
        Some(share)
    };
    let max_share_per_pool = share(reader, "maxSharePerPool");
    let max_share_per_zone = share(reader, "maxSharePerZone");
    let max_share_per_region = share(reader, "maxSharePerRegion");
    let max_share_per_provider = share(reader, "maxSharePerProvider");
    let min_zones = object
        .get(reader, "minZones")
        .and_then(|field| reader.number(&field, Number::whole(0, 1000)));
    Spread {
        min_zones: min_zones.and_then(|zones| u32::try_from(zones).ok()).unwrap_or_default(),
        max_share_per_pool,
        max_share_per_zone,
        max_share_per_region,
        max_share_per_provider,
    }
}
