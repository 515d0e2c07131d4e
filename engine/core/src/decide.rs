//! The decision: what to keep, what to launch, what to end.

use crate::bound::Certificate;
use crate::candidates::{Candidate, Ground, candidates};
use crate::hedge::{self, Hedged};
use crate::ledger::{Holding, Ledger, Standing, ledger};
use crate::market::portfolio::Portfolio;
use crate::order;
use crate::place::{Field, Taken, Usage};
use crate::report;
use fleet_model::{
    AtCap, Departure, Group, Hedge, Hold, Inputs, MicroUsd, Offering, Place, Plan, Rejection,
    Report, Spread, Units, Vacated, Why,
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
    pub(crate) usage: Usage,
    /// What is to be expected of the burst, if it is hedged.
    pub(crate) outlook: Option<Portfolio>,
}

/// Makes the decision and hands it on. (A closure, because a decision borrows its working set.)
pub(crate) fn with_decision<R>(inputs: &Inputs, then: impl FnOnce(&Decision<'_>) -> R) -> R {
    decide_and(inputs, false, then)
}

fn decide_and<R>(inputs: &Inputs, certify: bool, then: impl FnOnce(&Decision<'_>) -> R) -> R {
    let ledger = ledger(inputs);
    let ground = Ground::new(inputs, ledger.holdings.iter().map(|holding| &holding.pool));
    let (candidates, not_now) = candidates(inputs, &ground);
    let mut field = Field::new(inputs, &candidates, &ground);
    field.certify = certify;
    let mut held = gap_holds(inputs, &ledger);
    let unseen = unseen(inputs, &ledger);
    held.extend((unseen > 0).then_some(Hold::NotSeenYet { machines: unseen }));
    let mut vacate = ledger.vacate.clone();
    let choice = match frozen(inputs, &ledger) {
        Some(hold) => {
            held.push(hold);
            // What vanished stays on record until a person has looked: forgotten, it would be
            // replaced by the next round.
            vacate.retain(|vacated| vacated.how != Departure::Vanished);
            Choice::keep_everything(&field, &ledger)
        }
        None => within_limits(inputs, &field, &ledger, &mut held),
    };
    let (ledger, not_now) = (&ledger, not_now.as_slice());
    then(&Decision { inputs, ledger, field: &field, not_now, choice, held, vacate })
}

/// Many machines missing at once, and nobody said why: more likely a wrong account than a loss.
fn frozen(inputs: &Inputs, ledger: &Ledger) -> Option<Hold> {
    let namesakes = if inputs.recorded.uid.is_some() { 0 } else { namesakes(inputs) };
    if namesakes > 0 && inputs.limits.accept_loss != Some(namesakes) {
        return Some(Hold::JournalLost { machines: namesakes });
    }
    let (missing, of) = (ledger.vanished, ledger.recorded_live);
    let suspicious = missing > 3 && u64::from(missing) * 10 > u64::from(of) * 3;
    let accepted = inputs.limits.accept_loss == Some(missing);
    (suspicious && !accepted).then_some(Hold::Frozen { missing, of })
}

/// Live machines that carry the name of a fleet without a journal.
fn namesakes(inputs: &Inputs) -> u32 {
    let named = inputs.observed.machines.values().filter(|machine| {
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
    // Whoever lets a fleet go lets all of it go, now or when it is seen.
    let asked = free.victims.len() as u32 + unseen(inputs, ledger);
    let allowed = (ledger.recorded_live / 10).max(1).saturating_sub(limits.already_destroyed);
    let exact = limits.allow_destroy.map(|n| n.saturating_sub(limits.already_destroyed));
    let mut choice = if asked <= allowed || exact == Some(asked) {
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
    if choice.waiting > 0 {
        held.push(Hold::WaitingForReplacement { machines: choice.waiting });
    }
    choice
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
    let field_without = Field::new(&unlimited, field.candidates, field.ground);
    let needed = choose(&unlimited, &field_without, ledger, u32::MAX).usage.spend;
    *choice = Choice::keep_everything(field, ledger);
    held.push(Hold::Budget { limit, needed });
}

impl Choice {
    fn keep_everything(field: &Field<'_>, ledger: &Ledger) -> Choice {
        let mut usage = field.usage();
        for holding in ledger.holdings.iter().filter(|holding| holding.standing.counts()) {
            hold(field, &mut usage, holding);
        }
        Choice {
            taken: BTreeMap::new(),
            victims: BTreeMap::new(),
            replaced: BTreeSet::new(),
            waiting: 0,
            usage,
            outlook: None,
        }
    }
}

fn hold(field: &Field<'_>, usage: &mut Usage, holding: &Holding) {
    field.hold(usage, &holding.pool, holding.weight);
    usage.spend += holding.price.unwrap_or_default();
}

/// Chooses, ending at most `quota` machines.
fn choose(inputs: &Inputs, field: &Field<'_>, ledger: &Ledger, quota: u32) -> Choice {
    if inputs.limits.destroy_all {
        return destroy_all(field, ledger, quota);
    }
    let choice = choose_with(inputs, field, ledger, quota, Replace::Yes);
    // Money set free by a replacement that is then not found may be spent already. Without
    // replacements everything that stays is paid for before anything is bought.
    let over = inputs.desired.budget.hourly.is_some_and(|limit| choice.usage.spend > limit);
    let buys = choice.taken.values().any(|taken| !taken.counts.is_empty());
    if over && buys {
        return choose_with(inputs, field, ledger, quota, Replace::No);
    }
    choice
}

/// Whether machines that should stand elsewhere are replaced.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Replace {
    Yes,
    No,
}

fn choose_with(
    inputs: &Inputs,
    field: &Field<'_>,
    ledger: &Ledger,
    quota: u32,
    replace: Replace,
) -> Choice {
    let goal = inputs.desired.capacity;
    let mut work = Work { inputs, field, ledger, quota, victims: BTreeMap::new() };
    work.end_surplus(Group::Base, goal.on_demand);
    let hedge = inputs.desired.placement.hedge;
    if hedge.is_none() {
        work.end_surplus(Group::Burst, goal.spot);
    }
    work.shed_over_budget();
    let mut replaced = BTreeSet::new();
    if replace == Replace::Yes {
        work.replace_disallowed(&mut replaced);
        work.replace_over_caps(&mut replaced);
        work.replace_old_templates(&mut replaced);
    }
    let mut usage = work.hold_kept();

    let mut taken = BTreeMap::new();
    let mut waiting = 0;
    let (mut base_after, mut base_new) = (Units(0), Units(0));
    let mut outlook = None;
    for group in Group::ALL {
        let wanted = match group {
            Group::Base => goal.on_demand,
            // What the base gives beyond its share, the burst need not.
            Group::Burst => goal.spot.saturating_sub(base_after.saturating_sub(goal.on_demand)),
        };
        if let (Group::Burst, Some(rule)) = (group, hedge) {
            let hedged = work.hedge(&mut usage, wanted, rule, &mut replaced, &mut waiting);
            taken.insert(group, hedged.taken);
            outlook = Some(hedged.portfolio);
            continue;
        }
        let filled = loop {
            // Never past the target, whatever the mix: a tier grows as fast as the other shrinks.
            let all = work.kept(Group::Base) + work.kept(Group::Burst) + base_new;
            let room = goal.target.saturating_sub(all);
            let need = wanted.saturating_sub(work.kept(group)).min(room);
            let mut tried = usage.clone();
            let later = match group {
                Group::Base => goal.spot.saturating_sub(work.kept(Group::Burst)),
                Group::Burst => Units(0),
            };
            let filled = field.fill(&mut tried, group.market(), need, later);
            // A machine without a replacement stays, and then less is needed: fill anew.
            let stay = work.keep_unreplaced(group, &mut replaced, filled.short, &mut usage);
            waiting += stay;
            if stay == 0 {
                usage = tried;
                break filled;
            }
        };
        let launched: Units = filled
            .counts
            .iter()
            .map(|(at, n)| Units(field.candidates[*at as usize].weight.0 * u64::from(*n)))
            .sum();
        if group == Group::Base {
            base_after = work.kept(group) + launched;
            base_new = launched;
        }
        taken.insert(group, filled);
    }
    Choice { taken, victims: work.victims, replaced, waiting, usage, outlook }
}

fn destroy_all(field: &Field<'_>, ledger: &Ledger, quota: u32) -> Choice {
    let mut choice = Choice::keep_everything(field, ledger);
    let touchable = |holding: &Holding| match holding.standing {
        Standing::Good | Standing::Disallowed(_) | Standing::Interrupted => true,
        Standing::Fixed | Standing::Ending => false,
    };
    let holdings = ledger.holdings.iter().enumerate().filter(|(_, h)| touchable(h));
    let victims = holdings.take(quota as usize);
    choice.victims = victims.map(|(at, _)| (at, Why::FleetDestroyed)).collect();
    let gone = choice.victims.keys().map(|at| &ledger.holdings[*at]);
    let gone: MicroUsd =
        gone.filter(|holding| holding.standing.counts()).filter_map(|holding| holding.price).sum();
    choice.usage.spend = choice.usage.spend - gone;
    choice
}

/// The choice of victims, step by step.
struct Work<'a> {
    inputs: &'a Inputs,
    field: &'a Field<'a>,
    ledger: &'a Ledger,
    quota: u32,
    victims: BTreeMap<usize, Why>,
}

impl<'a> Work<'a> {
    fn group(&self, group: Group) -> impl Iterator<Item = (usize, &Holding)> {
        let numbered = self.ledger.holdings.iter().enumerate();
        numbered.filter(move |(_, h)| h.slot.name.group == group && h.standing.counts())
    }

    /// Capacity of a group that stays.
    fn kept(&self, group: Group) -> Units {
        self.group(group)
            .filter(|(at, _)| !self.victims.contains_key(at))
            .map(|(_, holding)| holding.weight)
            .sum()
    }

    fn end(&mut self, at: usize, why: Why) -> bool {
        let free = (self.victims.len() as u32) < self.quota;
        if free {
            self.victims.insert(at, why);
        }
        free
    }

    /// Holdings of a group that may be ended, worst first: asked to end before, not allowed, over
    /// a share limit, unpriced, dearest per unit, youngest.
    fn worst_first(&self, group: Group) -> Vec<usize> {
        let excess = self.over_caps();
        let mut order: Vec<(usize, &Holding)> = self
            .group(group)
            .filter(|(at, h)| h.standing != Standing::Fixed && !self.victims.contains_key(at))
            .collect();
        order.sort_by_cached_key(|(at, holding)| {
            let per_unit =
                holding.price.map(|p| u128::from(p.0) * 1000 / u128::from(holding.weight.0.max(1)));
            (
                !holding.ending,
                !matches!(holding.standing, Standing::Disallowed(_)),
                !excess.contains_key(at),
                !holding.old_template,
                per_unit.is_some(),
                std::cmp::Reverse(per_unit),
                std::cmp::Reverse(holding.launched_at),
                std::cmp::Reverse(holding.slot),
            )
        });
        order.into_iter().map(|(at, _)| at).collect()
    }

    fn end_surplus(&mut self, group: Group, wanted: Units) {
        let mut have = self.kept(group);
        if have <= wanted || self.rounding(group, have - wanted) {
            return;
        }
        let mut zones = self.zones();
        let least = self.inputs.desired.placement.spread.min_zones as usize;
        for at in self.worst_first(group) {
            let holding = &self.ledger.holdings[at];
            if holding.weight.is_zero() || have - holding.weight < wanted || have < holding.weight {
                continue;
            }
            // The last machine of a zone stays while the spec asks for that many zones.
            let standing = zones.get(&holding.pool.place).copied().unwrap_or_default();
            if standing == 1 && !wanted.is_zero() && zones.len() <= least {
                continue;
            }
            if standing == 1 {
                zones.remove(&holding.pool.place);
            } else {
                zones.insert(&holding.pool.place, standing.saturating_sub(1));
            }
            have = have - holding.weight;
            let why = match &holding.standing {
                Standing::Disallowed(because) => Why::PoolNotAllowed { because: because.clone() },
                _ => Why::AboveTarget { group },
            };
            self.end(at, why);
        }
    }

    /// Whether a surplus comes of whole machines alone: less than the largest is too much, and the
    /// fleet as a whole has no more than its target.
    fn rounding(&self, group: Group, surplus: Units) -> bool {
        let largest = self.group(group).map(|(_, holding)| holding.weight).max();
        let all = self.kept(Group::Base) + self.kept(Group::Burst);
        largest.is_some_and(|weight| surplus < weight) && all <= self.inputs.desired.capacity.target
    }

    /// Machines that stay, by zone.
    fn zones(&self) -> BTreeMap<&'a Place, u32> {
        let ledger: &'a Ledger = self.ledger;
        let mut zones = BTreeMap::new();
        for (at, holding) in ledger.holdings.iter().enumerate() {
            if holding.standing.counts() && !self.victims.contains_key(&at) {
                *zones.entry(&holding.pool.place).or_default() += 1;
            }
        }
        zones
    }

    /// Sheds burst, dearest first, until what is left fits the budget. Never the base.
    fn shed_over_budget(&mut self) {
        let budget = self.inputs.desired.budget;
        let (Some(limit), AtCap::ShrinkBurst) = (budget.hourly, budget.at_cap) else { return };
        let counted =
            self.ledger.holdings.iter().enumerate().filter(|(at, holding)| {
                holding.standing.counts() && !self.victims.contains_key(at)
            });
        let mut spend: MicroUsd = counted.filter_map(|(_, holding)| holding.price).sum();
        if spend <= limit {
            return;
        }
        for at in self.worst_first(Group::Burst) {
            if spend <= limit {
                break;
            }
            spend = spend - self.ledger.holdings[at].price.unwrap_or_default();
            self.end(at, Why::OverBudget { limit });
        }
    }

    /// Machines in pools that the spec no longer allows.
    fn replace_disallowed(&mut self, replaced: &mut BTreeSet<usize>) {
        for (at, holding) in self.ledger.holdings.iter().enumerate() {
            if let Standing::Disallowed(because) = &holding.standing
                && !self.victims.contains_key(&at)
                && self.end(at, Why::PoolNotAllowed { because: because.clone() })
            {
                replaced.insert(at);
            }
        }
    }

    /// What stays, in the order in which it is counted against the share limits: what cannot be
    /// moved first, then the base, then the oldest.
    fn kept_in_order(&self) -> Vec<usize> {
        let holdings = &self.ledger.holdings;
        let stays = |at: &usize| holdings[*at].standing.counts() && !self.victims.contains_key(at);
        let mut kept: Vec<usize> = (0..holdings.len()).filter(stays).collect();
        kept.sort_by_key(|at| {
            let holding = &holdings[*at];
            (holding.standing != Standing::Fixed, holding.slot.name.group, holding.launched_at, *at)
        });
        kept
    }

    /// What is over a share limit, and which.
    fn over_caps(&self) -> BTreeMap<usize, Rejection> {
        let mut over = BTreeMap::new();
        if self.inputs.desired.placement.spread == Spread::default() {
            return over;
        }
        let mut usage = self.field.usage();
        for at in self.kept_in_order() {
            let holding = &self.ledger.holdings[at];
            match self.field.holds_within_caps(&usage, &holding.pool, holding.weight) {
                Some(because) => {
                    over.insert(at, because);
                }
                None => hold(self.field, &mut usage, holding),
            }
        }
        over
    }

    /// Machines over a share limit.
    fn replace_over_caps(&mut self, replaced: &mut BTreeSet<usize>) {
        for (at, because) in self.over_caps() {
            let movable = self.ledger.holdings[at].standing == Standing::Good;
            if movable && self.end(at, Why::PoolNotAllowed { because }) {
                replaced.insert(at);
            }
        }
    }

    /// Machines made from an older template than the spec's, oldest first.
    fn replace_old_templates(&mut self, replaced: &mut BTreeSet<usize>) {
        let old = |at: &usize| {
            let holding = &self.ledger.holdings[*at];
            holding.old_template && holding.standing == Standing::Good
        };
        let mut old: Vec<usize> = self.kept_in_order().into_iter().filter(old).collect();
        old.sort_by_key(|at| self.ledger.holdings[*at].launched_at);
        for at in old {
            if self.end(at, Why::TemplateChanged) {
                replaced.insert(at);
            }
        }
    }

    /// Counts what stays against every limit.
    fn hold_kept(&self) -> Usage {
        let mut usage = self.field.usage();
        for at in self.kept_in_order() {
            hold(self.field, &mut usage, &self.ledger.holdings[at]);
        }
        usage
    }

    /// Spot, spares and on-demand in their place, by what it costs to be short.
    fn hedge(
        &mut self,
        usage: &mut Usage,
        wanted: Units,
        rule: Hedge,
        replaced: &mut BTreeSet<usize>,
        waiting: &mut u32,
    ) -> Hedged {
        let group = Group::Burst;
        let hedged = loop {
            let mut tried = usage.clone();
            let (inputs, field, ledger) = (self.inputs, self.field, self.ledger);
            let gone = |at: usize| self.victims.contains_key(&at);
            let ground = hedge::Ground { inputs, field, ledger, gone: &gone };
            let hedged = hedge::hedge(&ground, &mut tried, wanted, rule);
            let stay = self.keep_unreplaced(group, replaced, hedged.taken.short, usage);
            *waiting += stay;
            if stay == 0 {
                *usage = tried;
                break hedged;
            }
        };
        for &at in &hedged.ends {
            if self.end(at, Why::AboveTarget { group }) {
                let price = self.ledger.holdings[at].price.unwrap_or_default();
                usage.spend = usage.spend - price;
            }
        }
        hedged
    }

    /// Keeps machines that were to be replaced, until they make up for what is short. Returns how
    /// many stay.
    fn keep_unreplaced(
        &mut self,
        group: Group,
        replaced: &mut BTreeSet<usize>,
        mut short: Units,
        usage: &mut Usage,
    ) -> u32 {
        let mut kept = 0;
        let of_group = |at: &usize| self.ledger.holdings[*at].slot.name.group == group;
        let candidates: Vec<usize> = replaced.iter().copied().filter(of_group).rev().collect();
        for at in candidates {
            if short.is_zero() {
                break;
            }
            let holding = &self.ledger.holdings[at];
            replaced.remove(&at);
            self.victims.remove(&at);
            hold(self.field, usage, holding);
            short = short.saturating_sub(holding.weight);
            kept += 1;
        }
        kept
    }
}

impl<'a> Decision<'a> {
    /// The candidate at a position.
    pub(crate) fn candidate(&self, at: u32) -> &Candidate<'a> {
        &self.field.candidates[at as usize]
    }
}
