//! What a decision means, for people and programs.

use crate::budget;
use crate::clock;
use crate::decide::{Decision, by_hand, stuck};
use crate::holdings::{Holding, Standing, template_digests};
use crate::offers::trust::Trust;
use crate::offers::{Covered, find_offering};
use crate::record::undone_since;
use crate::report::budgets::budgets;
use crate::report::cost::{Money, money};
use crate::report::fallback::fallback;
use crate::report::outlook::outlook;
use crate::report::pool_reasons::pool_reasons;
use crate::report::range::range;
use fleet_model::{
    Action, Cloud, Digest, Freeze, Group, GroupLine, Hold, InDoubt, Inputs, MicroUsd, Notice, Plan,
    PoolId, PoolLine, Rejection, Report, Share, Shortfall, SlotState, TemplateChange, Timestamp,
    Units,
};
use std::collections::{BTreeMap, BTreeSet};

/// How many reasons of a shortfall are listed.
const REASONS: usize = 5;

/// A price that is not older needs no word about its age.
const FRESH_SECONDS: u64 = 60;

/// Explains a plan.
pub(crate) fn report(decision: &Decision<'_>, plan: &Plan) -> Report {
    let inputs = decision.inputs;
    let Money { mut cost, lines: cost_lines, uncounted, uncounted_before } = money(decision);
    let mut notices = decision.inventory.notices.clone();
    notices.extend(decision.vacate.iter().map(|vacated| Notice::Gone {
        machine: vacated.machine.clone(),
        slot: vacated.slot,
        how: vacated.how,
        words: decision.inventory.gone_words.get(&vacated.machine).cloned().unwrap_or_default(),
    }));
    notices.extend(decision.inventory.leftovers.iter().map(|left| Notice::LeftBehind {
        machine: left.orphans.machine.clone(),
        scope: left.orphans.scope.clone(),
    }));
    let stays = |at: &usize| !decision.choice.victims.contains_key(at);
    let holdings = decision.inventory.holdings.iter().enumerate();
    let old = holdings.filter(|(at, h)| h.old_template && h.standing.counts() && stays(at));
    let rolling = decision.held.iter().any(|hold| matches!(hold, Hold::Rollout { .. }));
    match old.count() as u32 {
        _ if rolling => {}
        0 => {}
        machines => notices.push(Notice::OldTemplate { machines }),
    }
    let strategy = inputs.desired.placement.strategy;
    if let Some(from) = inputs.recorded.strategy.filter(|from| *from != strategy) {
        notices.push(Notice::StrategyChanged { from, to: strategy });
    }
    let says_so = decision.held.iter().any(|hold| matches!(hold, Hold::ByHand { .. }));
    notices.extend(by_hand(inputs).filter(|_| !says_so).map(|freeze| {
        let Freeze { reason, since, until } = freeze.clone();
        Notice::ByHand { reason, since, until }
    }));
    if !inputs.limits.destroy_all {
        notices.extend(clock::notices(&inputs.desired, inputs.now));
        let undone = undone_since(&inputs.desired, &inputs.recorded);
        notices.extend(undone.map(|since| Notice::Undone { since }));
    }
    notices.extend(fallback(decision));
    notices.extend(Group::ALL.into_iter().filter_map(|group| oversized(decision, group)));
    notices.extend(stuck(inputs, &decision.inventory, &decision.choice.victims));
    notices.extend(old_prices(inputs));
    notices.extend(unused_commitments(decision));
    notices.extend(inputs.rejected.iter().filter_map(|(why, pools)| unapproved(why, *pools)));
    if cost.unpriced > 0 {
        notices.push(Notice::UnpricedMachines { machines: cost.unpriced });
    }
    let zones = decision.problem.zones_used(&decision.choice.usage) as u32;
    let wanted = inputs.desired.placement.spread.min_zones;
    let empty = inputs.desired.capacity.target.is_zero() || inputs.limits.destroy_all;
    if zones < wanted && !empty && !decision.choice.taken.is_empty() {
        notices.push(Notice::FewerZones { zones, wanted });
    }
    let mut pools = pool_lines(decision);
    let (outlook, expected) = outlook(decision, &mut pools, cost.hourly_after).unzip();
    cost.range = expected.map(|expected| range(decision, &pools, &cost, expected));
    Report {
        unit: inputs.desired.capacity.unit,
        groups: Group::ALL.into_iter().map(|group| group_line(decision, plan, group)).collect(),
        pools,
        cost,
        cost_lines,
        uncounted,
        uncounted_before,
        held: decision.held.clone(),
        unplaced: Group::ALL.into_iter().filter_map(|g| shortfall(decision, g)).collect(),
        in_doubt: in_doubt(decision),
        gaps: inputs.observed.gaps.clone(),
        answered: inputs.observed.complete.len() as u32,
        notices,
        candidates: inputs.offerings.len() as u32,
        rejected: inputs.rejected.clone(),
        template_changes: template_changes(inputs),
        outlook,
        budgets: budgets(decision),
        budget_uncounted: budget::uncounted(decision.inputs),
    }
}

/// A group that holds a quarter more than it should, in machines of which none can be spared. Spares of
/// a hedge, and what is held back, have words of their own.
fn oversized(decision: &Decision<'_>, group: Group) -> Option<Notice> {
    let (inputs, choice) = (decision.inputs, &decision.choice);
    let goal = inputs.desired.capacity;
    let wanted = goal.of(group);
    let holdings = decision.inventory.holdings.iter().enumerate();
    let kept: Vec<&Holding> = holdings
        .filter(|(at, held)| held.slot.name.group == group && !choice.victims.contains_key(at))
        .map(|(_, held)| held)
        .filter(|held| held.standing == Standing::Good)
        .collect();
    let have: Units = kept.iter().map(|held| held.weight).sum();
    let surplus = have.saturating_sub(wanted);
    let largest = kept.iter().max_by_key(|held| (held.weight, std::cmp::Reverse(held.slot)))?;
    let spare = kept.iter().any(|held| held.weight <= surplus);
    let small = surplus.0.saturating_mul(4) < wanted.0 || surplus.is_zero() || wanted.is_zero();
    let hedged = inputs.desired.placement.hedge.is_some();
    let told = !small && !spare && !hedged && decision.held.is_empty();
    let (unit, slot) = (goal.unit, largest.slot.name);
    told.then_some(Notice::Oversized { group, surplus, unit, slot })
}

/// What the template sets otherwise than those that machines on record were made from.
fn template_changes(inputs: &Inputs) -> Vec<TemplateChange> {
    let digests = template_digests(&inputs.desired);
    let mut found = BTreeSet::new();
    let filled = inputs.recorded.slots.values().filter_map(|record| match &record.state {
        SlotState::Filled { pool, template, .. } => Some((pool.place.cloud, template)),
        SlotState::InDoubt { .. } | SlotState::Vacant => None,
    });
    let old = filled.filter(|(cloud, template)| digests.get(cloud) != Some(template));
    let old: BTreeSet<(Cloud, &Digest)> = old.collect();
    for (cloud, template) in old {
        let Some(before) = inputs.recorded.templates.get(template) else { continue };
        let now = inputs.desired.templates.get(&cloud).cloned().unwrap_or_default().fields();
        let names: BTreeSet<&String> = before.keys().chain(now.keys()).collect();
        for field in names.into_iter().filter(|name| before.get(*name) != now.get(*name)) {
            let (from, to) = (before.get(field).cloned(), now.get(field).cloned());
            found.insert(TemplateChange { cloud, field: field.clone(), from, to });
        }
    }
    found.into_iter().collect()
}

/// Pools that the spec allows and nobody approved.
fn unapproved(why: &Rejection, pools: u32) -> Option<Notice> {
    let Rejection::NeedsApproval { policy, label, value, message } = why else { return None };
    let (policy, label) = (policy.clone(), label.clone());
    let (value, message) = (value.clone(), message.clone());
    Some(Notice::NeedsApproval { policy, label, value, message, pools })
}

/// What is paid for and will not run.
fn unused_commitments(decision: &Decision<'_>) -> impl Iterator<Item = Notice> {
    let left = decision.choice.usage.committed.iter().map(Covered::left);
    let commitments =
        decision.problem.commitments.iter().zip(left).filter(|(_, unused)| *unused > 0);
    commitments.map(|(one, unused)| Notice::CommitmentUnused {
        cloud: one.cloud,
        region: one.region.clone(),
        instance_type: one.instance_type.clone(),
        count: one.count,
        unused,
    })
}

/// Clouds whose prices are not of this minute, each with its oldest.
fn old_prices(inputs: &Inputs) -> Vec<Notice> {
    let mut oldest: BTreeMap<Cloud, u64> = BTreeMap::new();
    for offering in &inputs.offerings {
        let Some(as_of) = offering.signals.price_as_of else { continue };
        let age = inputs.now.as_second().saturating_sub(as_of.as_second());
        let age = u64::try_from(age).unwrap_or(0);
        if age > FRESH_SECONDS {
            let known = oldest.entry(offering.pool.place.cloud).or_default();
            *known = age.max(*known);
        }
    }
    oldest.into_iter().map(|(cloud, seconds)| Notice::OldPrices { cloud, seconds }).collect()
}

fn group_line(decision: &Decision<'_>, plan: &Plan, group: Group) -> GroupLine {
    let spec = decision.inputs.desired.capacity.of(group);
    let wanted = if decision.inputs.limits.destroy_all { Units(0) } else { spec };
    let mut line = GroupLine {
        group,
        wanted,
        before: Units(0),
        after: Units(0),
        doubt: Units(0),
        keep: 0,
        create: 0,
        destroy: 0,
    };
    for (at, holding) in decision.inventory.holdings.iter().enumerate() {
        if holding.slot.name.group != group {
            continue;
        }
        if holding.standing == Standing::ToReplace {
            // It serves until its successor does.
            line.before += holding.weight;
        }
        if !holding.standing.counts() {
            continue;
        }
        line.before += holding.weight;
        if holding.machine.is_none() {
            line.doubt += holding.weight;
        }
        if decision.choice.outgoing.misplaced.contains(&at) {
            continue;
        }
        if !decision.choice.victims.contains_key(&at) {
            line.after += holding.weight;
            line.keep += u32::from(holding.machine.is_some());
        }
    }
    for step in &plan.steps {
        match &step.action {
            Action::Create(create) if create.slots[0].name.group == group => {
                line.create += create.slots.len() as u32;
            }
            Action::Destroy(destroy) => {
                let of_group = destroy.victims.iter().filter(|v| v.slot.name.group == group);
                line.destroy += of_group.count() as u32;
            }
            Action::Create(_) => {}
        }
    }
    if let Some(taken) = decision.choice.taken.get(&group) {
        line.after += decision.problem.units(taken);
    }
    line
}

fn pool_lines(decision: &Decision<'_>) -> Vec<PoolLine> {
    let mut lines: BTreeMap<PoolId, PoolLine> = BTreeMap::new();
    let trust = Trust::of(decision.inputs);
    let line = |pool: &PoolId, weight: Units| {
        let offering = find_offering(decision.inputs, pool);
        PoolLine {
            pool: pool.clone(),
            weight,
            keep: 0,
            create: 0,
            destroy: 0,
            kept_hourly: MicroUsd(0),
            ended_hourly: MicroUsd(0),
            price: offering.and_then(|offering| offering.price),
            on_demand: offering.and_then(|offering| offering.on_demand),
            obtainability: offering.and_then(|offering| offering.signals.obtainability),
            signals: offering.map_or_else(Vec::new, |o| trust.heeded(&o.signals)),
            share: Share::NONE,
            committed: 0,
            chance: None,
            reason: None,
        }
    };
    for (at, holding) in decision.inventory.holdings.iter().enumerate() {
        let gone = decision.choice.victims.contains_key(&at);
        // What is in doubt is told as that: nobody knows whether there is anything to keep.
        if !gone && (!holding.standing.counts() || holding.machine.is_none()) {
            continue;
        }
        let line = lines
            .entry(holding.pool.clone())
            .or_insert_with(|| line(&holding.pool, holding.weight));
        line.price = line.price.or(holding.price);
        let billed = holding.own_bill().unwrap_or_default();
        if gone {
            line.destroy += 1;
            line.ended_hourly += billed;
        } else {
            line.keep += 1;
            line.kept_hourly += billed;
        }
    }
    // As the plan means it. Where a cloud may choose, it may choose otherwise.
    for taken in decision.choice.taken.values() {
        for (&at, &count) in &taken.counts {
            let candidate = decision.candidate(at);
            let pool = &candidate.offering.pool;
            let line = lines.entry(pool.clone()).or_insert_with(|| line(pool, candidate.weight));
            line.create += count;
        }
    }
    let target = decision.inputs.desired.capacity.target.0.max(1);
    let mut lines: Vec<PoolLine> = lines.into_values().collect();
    for line in &mut lines {
        let units = line.weight.0 * u64::from(line.keep + line.create);
        let ppm = (units.saturating_mul(1_000_000) / target).min(1_000_000);
        line.share = Share::from_ppm(ppm as u32).unwrap_or(Share::ALL);
    }
    mark_committed(decision, &mut lines);
    let mut reasons = pool_reasons(decision);
    for line in &mut lines {
        line.reason = reasons.remove(&line.pool);
    }
    lines
}

/// Tells how many machines of each pool are paid for: the dearest first, as everywhere.
fn mark_committed(decision: &Decision<'_>, lines: &mut [PoolLine]) {
    for commitment in &decision.problem.commitments {
        let mut left = commitment.count;
        let mut ours: Vec<&mut PoolLine> =
            lines.iter_mut().filter(|line| commitment.is_for(&line.pool)).collect();
        ours.sort_by_key(|line| std::cmp::Reverse(line.price));
        for line in ours {
            line.committed = left.min(line.keep + line.create);
            left -= line.committed;
        }
    }
}

fn shortfall(decision: &Decision<'_>, group: Group) -> Option<Shortfall> {
    let taken = decision.choice.taken.get(&group)?;
    let rests = tried_too_often(decision, group);
    let missing = if rests { missing(decision, group) } else { taken.short };
    if missing.is_zero() {
        return None;
    }
    let not_now = decision.problem.not_now.iter().filter(|(o, _)| o.pool.market == group.market());
    let refused = taken.refused.iter().map(|(reason, pools)| (reason, *pools));
    let mut because = tally(refused.chain(not_now.map(|(_, reason)| (reason, 1))));
    if because.is_empty() && !rests {
        // Nothing was even a candidate: the spec's own filters are the reason.
        because = decision.inputs.rejected.clone();
    }
    because.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    because.truncate(REASONS);
    let unit = decision.inputs.desired.capacity.unit;
    Some(Shortfall { group, missing, unit, because })
}

/// Whether a group launches nothing because it was tried so often. Then no pool was asked for anything, and it
/// is missing all the same.
fn tried_too_often(decision: &Decision<'_>, group: Group) -> bool {
    let of_group =
        |hold: &Hold| matches!(hold, Hold::AttemptLimit { slot, .. } if slot.group == group);
    decision.held.iter().any(of_group)
}

/// What a group has less than its spec wants.
fn missing(decision: &Decision<'_>, group: Group) -> Units {
    let stands = |holding: &&Holding| holding.slot.name.group == group && holding.standing.counts();
    let standing = decision.inventory.holdings.iter().filter(stands);
    let have: Units = standing.map(|holding| holding.weight).sum();
    decision.inputs.desired.capacity.of(group).saturating_sub(have)
}

/// Counts reasons. Blocks differ by pool and by time, and a person asks for neither: those of one
/// code are one reason, with the time at which the first of them ends.
fn tally<'a>(reasons: impl Iterator<Item = (&'a Rejection, u32)>) -> Vec<(Rejection, u32)> {
    let mut exact: BTreeMap<&Rejection, u32> = BTreeMap::new();
    let mut blocked: BTreeMap<&str, (&Rejection, Timestamp, u32)> = BTreeMap::new();
    for (reason, pools) in reasons {
        if let Rejection::Blocked { until, code, .. } = reason {
            let entry = blocked.entry(code).or_insert((reason, *until, 0));
            entry.2 += pools;
            if *until < entry.1 {
                *entry = (reason, *until, entry.2);
            }
        } else {
            *exact.entry(reason).or_default() += pools;
        }
    }
    let blocked = blocked.into_values().map(|(reason, _, pools)| (reason, pools));
    exact.into_iter().chain(blocked).map(|(reason, pools)| (reason.clone(), pools)).collect()
}

fn in_doubt(decision: &Decision<'_>) -> Vec<InDoubt> {
    let recorded = &decision.inputs.recorded;
    let attempts = recorded.in_doubt.iter();
    attempts
        .map(|(token, attempt)| InDoubt {
            token: token.clone(),
            pool: attempt.create.pool.clone(),
            slots: attempt
                .create
                .slots
                .iter()
                .map(|slot| slot.name)
                .filter(|name| {
                    recorded.slots.get(name).is_some_and(|record| {
                        matches!(&record.state, SlotState::InDoubt { token: of } if of == token)
                    })
                })
                .collect(),
            since: attempt.intended_at,
        })
        .collect()
}
