//! The decision: what to keep, what to launch, what to end.

use crate::bound::Certificate;
use crate::candidates::{Candidate, Ground, candidates};
use crate::commitment;
use crate::field::{Field, Taken, Usage};
use crate::guard;
use crate::labels;
use crate::ledger::{Holding, Ledger, Standing, ledger};
use crate::market::portfolio::Portfolio;
use crate::order;
use crate::remains::to_clear;
use crate::report;
use crate::resend;
use crate::victims::Work;
use fleet_model::bugs::{self, Bug};
use fleet_model::{
    AtCap, Departure, Group, Hold, Inputs, MicroUsd, Offering, Plan, Rejection, Relabel, Remains,
    Report, Token, Units, Vacated, Why,
};
use std::collections::{BTreeMap, BTreeSet};

/// A plan and what it means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Planned {
    /// What to do.
    pub plan: Plan,
    /// Why, at what price, and what is not done.
    pub report: Report,
}

/// Decides. Total: what cannot be done is in the report.
pub fn plan(inputs: &Inputs) -> Planned {
    with_decision(inputs, |decision| {
        let plan = order::order(decision);
        let report = report::report(decision, &plan);
        Planned { plan, report }
    })
}

/// How a fleet would stand, without the steps towards it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Placement {
    /// Machines launched.
    pub machines: u64,
    /// Price per hour of everything.
    pub hourly: MicroUsd,
    /// What could not be placed.
    pub short: Units,
    /// How good it is under its strategy, group by group, where that can be proven.
    pub certificates: [Option<Certificate>; 2],
}

/// Places, and nothing else: for benchmarks and tests of the optimiser. `certify` asks for a proof.
pub fn placement(inputs: &Inputs, certify: bool) -> Placement {
    decide_and(inputs, certify, |decision| {
        let certificate = |group| decision.choice.taken.get(&group).and_then(|t| t.certificate);
        let taken = decision.choice.taken.values();
        Placement {
            machines: taken.clone().flat_map(|t| t.counts.values()).map(|n| u64::from(*n)).sum(),
            hourly: decision.choice.usage.spend,
            short: taken.map(|t| t.short).sum(),
            certificates: Group::ALL.map(certificate),
        }
    })
}

/// Everything that was decided, and what it was decided from.
pub(crate) struct Decision<'a> {
    pub(crate) inputs: &'a Inputs,
    pub(crate) ledger: &'a Ledger,
    pub(crate) field: &'a Field<'a>,
    pub(crate) not_now: &'a [(&'a Offering, Rejection)],
    pub(crate) choice: Choice,
    pub(crate) held: Vec<Hold>,
    /// Slots to be written down as free.
    pub(crate) vacate: Vec<Vacated>,
    /// What is to be cleared away.
    pub(crate) clear: Vec<Remains>,
    /// Launches in doubt that are still wanted.
    pub(crate) resend: Vec<Token>,
    /// Labels to change in place.
    pub(crate) relabel: Vec<Relabel>,
}

/// What to launch and what to end.
#[derive(Clone)]
pub(crate) struct Choice {
    /// Machines to launch, per group.
    pub(crate) taken: BTreeMap<Group, Taken>,
    /// Machines to end, by position in the ledger, and why.
    pub(crate) victims: BTreeMap<usize, Why>,
    /// Those of them whose place is taken by a launch of this very plan.
    pub(crate) replaced: BTreeSet<usize>,
    /// Machines that should be replaced, but for which no replacement was found.
    pub(crate) waiting: u32,
    /// Capacity that is not launched yet, because too much would stand at once.
    pub(crate) surged: Units,
    pub(crate) usage: Usage,
    /// What is to be expected of the burst, if it is hedged.
    pub(crate) outlook: Option<Portfolio>,
}

/// Makes the decision and hands it on. (A closure, because a decision borrows its working set.)
pub(crate) fn with_decision<R>(inputs: &Inputs, then: impl FnOnce(&Decision<'_>) -> R) -> R {
    decide_and(inputs, false, then)
}

fn decide_and<R>(inputs: &Inputs, certify: bool, then: impl FnOnce(&Decision<'_>) -> R) -> R {
    let commitments = commitment::in_force(inputs);
    let ledger = ledger(inputs, &commitments);
    let ground = Ground::new(inputs, ledger.holdings.iter().map(|holding| &holding.pool));
    let (candidates, not_now) = candidates(inputs, &ground, &commitments);
    let mut field = Field::new(inputs, &candidates, &ground, &commitments);
    field.certify = certify;
    let mut held = gap_holds(inputs, &ledger);
    let unseen = unseen(inputs, &ledger);
    held.extend((unseen > 0).then_some(Hold::NotSeenYet { machines: unseen }));
    let mut vacate = ledger.vacate.clone();
    let frozen = frozen(inputs, &ledger);
    let clear = to_clear(&ledger.left, frozen.is_some());
    let choice = match frozen {
        Some(hold) => {
            held.push(hold);
            // What vanished stays on record until a person has looked: forgotten, it would be
            // replaced by the next round.
            vacate.retain(|vacated| vacated.how != Departure::Vanished);
            Choice::keep_everything(inputs, &field, &ledger)
        }
        None => within_limits(inputs, &field, &ledger, &mut held),
    };
    let (resend, relabel) = match held.iter().any(is_freeze) {
        true => (Vec::new(), Vec::new()),
        false => {
            (resend::wanted(inputs, &field, &ledger), labels::to_relabel(inputs, &ledger, &choice))
        }
    };
    let (ledger, not_now) = (&ledger, not_now.as_slice());
    let field = &field;
    then(&Decision { inputs, ledger, field, not_now, choice, held, vacate, clear, resend, relabel })
}

fn is_freeze(hold: &Hold) -> bool {
    matches!(hold, Hold::Frozen { .. } | Hold::JournalLost { .. })
}

/// Many machines missing at once, and nobody said why: more likely a wrong account than a loss.
fn frozen(inputs: &Inputs, ledger: &Ledger) -> Option<Hold> {
    let namesakes = if inputs.recorded.uid.is_some() { 0 } else { namesakes(inputs) };
    if namesakes > 0
        && !bugs::on(Bug::LostJournalIgnored)
        && inputs.limits.accept_loss != Some(namesakes)
    {
        return Some(Hold::JournalLost { machines: namesakes });
    }
    let (missing, of) = (ledger.vanished, ledger.recorded_live);
    let suspicious = missing > 3 && u64::from(missing) * 10 > u64::from(of) * 3;
    let accepted = inputs.limits.accept_loss == Some(missing);
    (suspicious && !accepted && !bugs::on(Bug::FreezeIgnored))
        .then_some(Hold::Frozen { missing, of })
}

/// Live machines that carry the name of a fleet without a journal. A list that is not whole is proof
/// enough of those that it shows: swarm seed 70005990.
fn namesakes(inputs: &Inputs) -> u32 {
    let seen = inputs.observed.machines.values().chain(inputs.observed.glimpsed.values());
    let named = seen.filter(|machine| {
        let owner = machine.owner.as_ref();
        machine.state.is_live() && owner.is_some_and(|o| o.name == inputs.desired.fleet)
    });
    named.count() as u32
}

fn gap_holds(inputs: &Inputs, ledger: &Ledger) -> Vec<Hold> {
    let inside = |scope| {
        ledger.holdings.iter().filter(|holding| holding.pool.place.scope() == scope).count() as u32
    };
    let gaps = inputs.observed.gaps.iter();
    gaps.map(|gap| Hold::Gap { scope: gap.scope.clone(), machines: inside(gap.scope.clone()) })
        .filter(|hold| !matches!(hold, Hold::Gap { machines: 0, .. }))
        .collect()
}

/// How many machines a fleet that is to go must wait for.
fn unseen(inputs: &Inputs, ledger: &Ledger) -> u32 {
    if inputs.limits.destroy_all { ledger.unseen } else { 0 }
}

/// Ends no more machines than one apply may, unless a person allowed the exact number.
fn within_limits(
    inputs: &Inputs,
    field: &Field<'_>,
    ledger: &Ledger,
    held: &mut Vec<Hold>,
) -> Choice {
    let limits = inputs.limits;
    let free = choose(inputs, field, ledger, u32::MAX);
    // All that the spec asks to destroy, also what has to wait for room.
    let idle = free.victims.is_empty() && free.taken.values().all(|taken| taken.counts.is_empty());
    let wanted = match idle || free.surged.is_zero() && free.waiting == 0 {
        true => free.victims.len(),
        false => {
            let all = choose_with(inputs, field, ledger, u32::MAX, Replace::AtOnce).victims.len();
            all.max(free.victims.len())
        }
    };
    // Whoever lets a fleet go lets all of it go, now or when it is seen.
    let asked = wanted as u32 + unseen(inputs, ledger);
    let allowed = (ledger.recorded_live / 10).max(1).saturating_sub(limits.already_destroyed);
    let exact = limits.allow_destroy.map(|n| n.saturating_sub(limits.already_destroyed));
    let unlimited = bugs::on(Bug::DestroyLimitIgnored);
    let mut choice = if asked <= allowed || exact == Some(asked) || unlimited {
        free
    } else {
        let choice = choose(inputs, field, ledger, allowed);
        let held_back = asked.saturating_sub(choice.victims.len() as u32);
        // Later rounds of the same apply count from what is left.
        let said = limits.allow_destroy.filter(|_| limits.already_destroyed == 0);
        held.push(Hold::DestroyLimit { allowed, wanted: asked, held: held_back, said });
        choice
    };
    if inputs.desired.budget.at_cap == AtCap::Hold {
        hold_at_cap(inputs, field, ledger, &mut choice, held);
    }
    let short = |group| choice.taken.contains_key(&group) && is_short(inputs, ledger, group);
    let resting = Group::ALL.into_iter().filter(|group| short(*group));
    held.extend(resting.filter_map(|group| guard::resting(inputs, ledger, group)));
    if !choice.surged.is_zero() {
        let work = Work { inputs, field, ledger, quota: 0, victims: BTreeMap::new() };
        let unit = inputs.desired.capacity.unit;
        held.push(Hold::Surge { missing: choice.surged, unit, surge: work.surge() });
    }
    if choice.waiting > 0 {
        held.push(Hold::WaitingForReplacement { machines: choice.waiting });
    }
    choice
}

/// Whether a group has less than its spec wants.
fn is_short(inputs: &Inputs, ledger: &Ledger, group: Group) -> bool {
    let goal = inputs.desired.capacity;
    let of_group = |holding: &&Holding| holding.slot.name.group == group;
    let counted = ledger.holdings.iter().filter(of_group).filter(|h| h.standing.counts());
    let wanted = match group {
        Group::Base => goal.on_demand,
        Group::Burst => goal.spot,
    };
    counted.map(|holding| holding.weight).sum::<Units>() < wanted
}

/// The spec says to wait until the whole target fits the budget.
fn hold_at_cap(
    inputs: &Inputs,
    field: &Field<'_>,
    ledger: &Ledger,
    choice: &mut Choice,
    held: &mut Vec<Hold>,
) {
    let Some(limit) = inputs.desired.budget.hourly else { return };
    let over = choice.usage.spend > limit;
    let capped = over
        || choice.taken.values().any(|taken| {
            taken.refused.keys().any(|reason| matches!(reason, Rejection::BudgetReached { .. }))
                && !taken.short.is_zero()
        });
    if !capped {
        return;
    }
    let mut unlimited = inputs.clone();
    unlimited.desired.budget.hourly = None;
    let field_without = Field::new(&unlimited, field.candidates, field.ground, field.commitments);
    let needed = choose(&unlimited, &field_without, ledger, u32::MAX).usage.spend;
    *choice = Choice::keep_everything(inputs, field, ledger);
    held.push(Hold::Budget { limit, needed });
}

impl Choice {
    fn keep_everything(inputs: &Inputs, field: &Field<'_>, ledger: &Ledger) -> Choice {
        let usage = Work { inputs, field, ledger, quota: 0, victims: BTreeMap::new() }.hold_kept();
        Choice {
            taken: BTreeMap::new(),
            victims: BTreeMap::new(),
            replaced: BTreeSet::new(),
            waiting: 0,
            surged: Units(0),
            usage,
            outlook: None,
        }
    }
}

/// What machines that stay take of every limit.
pub(crate) fn held<'h>(field: &Field<'_>, stay: impl Iterator<Item = &'h Holding>) -> Usage {
    let mut usage = field.usage();
    stay.for_each(|holding| hold(field, &mut usage, holding));
    usage
}

pub(crate) fn hold(field: &Field<'_>, usage: &mut Usage, holding: &Holding) {
    field.hold(usage, &holding.pool, holding.weight);
    field.pay(usage, &holding.pool, holding.price.unwrap_or_default());
}

/// Chooses, ending at most `quota` machines.
fn choose(inputs: &Inputs, field: &Field<'_>, ledger: &Ledger, quota: u32) -> Choice {
    if inputs.limits.destroy_all {
        return destroy_all(inputs, field, ledger, quota);
    }
    if bugs::on(Bug::SurgeUnbounded) {
        return choose_with(inputs, field, ledger, quota, Replace::AtOnce);
    }
    let choice = choose_with(inputs, field, ledger, quota, Replace::Surge);
    let choice = burst_first(inputs, field, ledger, quota, &choice).unwrap_or(choice);
    // Money set free by a replacement that is then not found may be spent already. Without
    // replacements everything that stays is paid for before anything is bought.
    let over = inputs.desired.budget.hourly.is_some_and(|limit| choice.usage.spend > limit);
    let buys = choice.taken.values().any(|taken| !taken.counts.is_empty());
    if over && buys {
        return choose_with(inputs, field, ledger, quota, Replace::No);
    }
    // The budget has no room for an old machine and its replacement at once.
    let surged = choice.surged;
    let waits = choice.waiting > 0 || !surged.is_zero();
    if waits && !buys && choice.victims.is_empty() {
        let room = make_room(inputs, field, ledger, quota);
        return room.map_or(choice, |room| Choice { surged, ..room });
    }
    choice
}

/// The other way round, if that places more: the base is placed first, and where it takes up the shares
/// of places that sell spot, the burst finds none, while others that sell on demand alone stay empty. The
/// base never has less for it.
fn burst_first(
    inputs: &Inputs,
    field: &Field<'_>,
    ledger: &Ledger,
    quota: u32,
    choice: &Choice,
) -> Option<Choice> {
    let short = |choice: &Choice, group| choice.taken.get(&group).map_or(Units(0), |t| t.short);
    let rules = &inputs.desired.placement;
    // A hedge chooses for both groups, and what is committed counts for either: those have an order.
    let ordered = rules.hedge.is_some() || !rules.commitments.is_empty();
    if short(choice, Group::Burst).is_zero() || ordered {
        return None;
    }
    let order = [Group::Burst, Group::Base];
    let other = choose_in(inputs, field, ledger, quota, Replace::Surge, order);
    let better = short(&other, Group::Burst) < short(choice, Group::Burst)
        && short(&other, Group::Base) <= short(choice, Group::Base);
    better.then_some(other)
}

/// Destroys some of the machines that are to be replaced before their replacements are launched: no
/// more than the surge would launch, and only if there are replacements that the budget then has
/// room for. The next round launches them.
fn make_room(inputs: &Inputs, field: &Field<'_>, ledger: &Ledger, quota: u32) -> Option<Choice> {
    // A few at a time: the budget may have room for one more, and not for all of them.
    let few = quota.min((ledger.recorded_live / 10).max(1));
    let wish = choose_with(inputs, field, ledger, few, Replace::AtOnce);
    let limit = inputs.desired.budget.hourly?;
    if wish.replaced.is_empty() || wish.usage.spend > limit {
        return None;
    }
    let mut choice = Choice::keep_everything(inputs, field, ledger);
    // The others wait for their turn.
    choice.waiting = 1;
    let work = Work { inputs, field, ledger, quota, victims: BTreeMap::new() };
    let mut room = work.surge();
    for at in wish.replaced {
        let holding = &ledger.holdings[at];
        // What is over a share limit would be launched in the same place again.
        let over_share = holding.standing == Standing::Good
            && !matches!(wish.victims[&at], Why::TemplateChanged);
        if holding.weight > room || !holding.standing.counts() || over_share {
            continue;
        }
        room = room - holding.weight;
        choice.usage.spend = choice.usage.spend - holding.bill().unwrap_or_default();
        choice.victims.insert(at, wish.victims[&at].clone());
    }
    (!choice.victims.is_empty()).then_some(choice)
}

/// Whether and how machines that should stand elsewhere are replaced.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Replace {
    /// Some at a time, so that no more than target and surge stand, within the budget.
    Surge,
    /// All of them, as if old and new never stood side by side: what the spec asks for in the end.
    AtOnce,
    /// None.
    No,
}

fn choose_with(
    inputs: &Inputs,
    field: &Field<'_>,
    ledger: &Ledger,
    quota: u32,
    replace: Replace,
) -> Choice {
    choose_in(inputs, field, ledger, quota, replace, Group::ALL)
}

/// Places groups in this order: what the first takes of a share, the second cannot have.
fn choose_in(
    inputs: &Inputs,
    field: &Field<'_>,
    ledger: &Ledger,
    quota: u32,
    replace: Replace,
    order: [Group; 2],
) -> Choice {
    let goal = inputs.desired.capacity;
    let mut work = Work { inputs, field, ledger, quota, victims: BTreeMap::new() };
    work.destroy_useless();
    work.end_surplus(Group::Base, goal.on_demand);
    let hedge = inputs.desired.placement.hedge;
    match hedge {
        None => work.end_surplus(Group::Burst, goal.spot),
        Some(rule) => work.end_committed_surplus(goal.spot, rule),
    }
    work.shed_over_budget();
    let mut replaced = BTreeSet::new();
    if replace != Replace::No {
        work.replace_disallowed(&mut replaced);
        work.replace_over_caps(&mut replaced);
        work.replace_old_templates(&mut replaced);
    }
    let mut usage = work.hold_kept();

    // What may be launched before something else is gone.
    let mut allowance = match replace {
        Replace::Surge | Replace::No => {
            (goal.target + work.surge()).saturating_sub(work.standing())
        }
        Replace::AtOnce => Units(u64::MAX),
    };
    let mut surged = Units(0);
    let mut taken = BTreeMap::new();
    let mut waiting = 0;
    let (mut base_after, mut new) = (Units(0), Units(0));
    let mut outlook = None;
    for group in order {
        let wanted = match group {
            Group::Base => goal.on_demand,
            // What the base gives beyond its share, the burst need not.
            Group::Burst => goal.spot.saturating_sub(base_after.saturating_sub(goal.on_demand)),
        };
        if guard::resting(inputs, ledger, group).is_some() {
            // Nothing is launched, so nothing is ended in favour of it either.
            let all = Units(u64::MAX);
            waiting += work.keep_unreplaced(group, &mut replaced, all, &mut usage);
            // What failed and nobody misses costs money all the same: swarm seed 950028891.
            let whole = work.kept(group) >= wanted;
            waiting += work.destroy_replaced_failures(group, Units(0), whole, &mut replaced);
            if group == Group::Base {
                base_after = work.kept(group);
            }
            taken.insert(group, Taken::default());
            continue;
        }
        if let (Group::Burst, Some(rule)) = (group, hedge) {
            let side_by_side = replace != Replace::AtOnce;
            work.bound_replacements(&mut replaced, &mut usage, side_by_side);
            let hedged =
                work.hedge(&mut usage, wanted, rule, &mut replaced, &mut waiting, side_by_side);
            let launched = field.units(&hedged.taken);
            let whole = hedged.taken.short.is_zero();
            waiting += work.destroy_replaced_failures(group, launched, whole, &mut replaced);
            taken.insert(group, hedged.taken);
            outlook = Some(hedged.portfolio);
            continue;
        }
        let mut later = Units(0);
        let mut kept_for_surge = 0;
        let filled = loop {
            // Never past the target, whatever the mix: a tier grows as fast as the other shrinks.
            let all = work.kept(Group::Base) + work.kept(Group::Burst) + new;
            let room = goal.target.saturating_sub(all);
            let full = wanted.saturating_sub(work.kept(group)).min(room);
            let need = full.min(allowance);
            let mut tried = usage.clone();
            // Old and new machines are paid for side by side.
            let leaving = match replace {
                Replace::Surge | Replace::No => work.leaving_bill(),
                Replace::AtOnce => MicroUsd(0),
            };
            tried.spend += leaving;
            let afterwards = match (group, group == order[0]) {
                (Group::Base, true) => goal.spot.saturating_sub(work.kept(Group::Burst)),
                (Group::Burst, true) => goal.on_demand.saturating_sub(work.kept(Group::Base)),
                (_, false) => Units(0),
            };
            let filled = field.fill(&mut tried, group.market(), need, afterwards);
            tried.spend = tried.spend - leaving;
            // A machine without a replacement stays, and then less is needed: fill anew.
            // If even less can be had than may stand, it is not the surge that stands in the way.
            let surge_binds = need < full && filled.short.is_zero();
            if surge_binds {
                later = later.max(full - need);
            }
            let short = filled.short + (full - need);
            let stay = work.keep_unreplaced(group, &mut replaced, short, &mut usage);
            if stay == 0 {
                usage = tried;
                break filled;
            }
            match surge_binds {
                true => kept_for_surge += stay,
                false => waiting += stay,
            }
        };
        let launched = field.units(&filled);
        if launched.is_zero() && !allowance.is_zero() {
            // There was room for some, and none was to be had.
            waiting += kept_for_surge;
        } else {
            surged += later;
        }
        allowance = allowance.saturating_sub(launched);
        let whole = work.kept(group) + launched >= wanted;
        waiting += work.destroy_replaced_failures(group, launched, whole, &mut replaced);
        if group == Group::Base {
            base_after = work.kept(group) + launched;
        }
        new += launched;
        taken.insert(group, filled);
    }
    Choice { taken, victims: work.victims, replaced, waiting, surged, usage, outlook }
}

fn destroy_all(inputs: &Inputs, field: &Field<'_>, ledger: &Ledger, quota: u32) -> Choice {
    let mut choice = Choice::keep_everything(inputs, field, ledger);
    let touchable = |holding: &Holding| match holding.standing {
        Standing::Good
        | Standing::Disallowed(_)
        | Standing::Failed(_)
        | Standing::Stopped
        | Standing::CameBack
        | Standing::Interrupted => true,
        Standing::Fixed | Standing::Ending => false,
    };
    let holdings = ledger.holdings.iter().enumerate().filter(|(_, h)| touchable(h));
    let victims = holdings.take(quota as usize);
    choice.victims = victims.map(|(at, _)| (at, Why::FleetDestroyed)).collect();
    let gone = choice.victims.keys().map(|at| &ledger.holdings[*at]);
    let gone: MicroUsd =
        gone.filter(|holding| holding.standing.stands()).filter_map(Holding::bill).sum();
    choice.usage.spend = choice.usage.spend - gone;
    choice
}

impl<'a> Decision<'a> {
    /// The candidate at a position.
    pub(crate) fn candidate(&self, at: u32) -> &Candidate<'a> {
        &self.field.candidates[at as usize]
    }
}
