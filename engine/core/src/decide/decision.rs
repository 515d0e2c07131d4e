//! A decision, as data.

use crate::budget::Allowance;
use crate::holdings::Inventory;
use crate::market::need::Portfolio;
use crate::offers::Candidate;
use crate::place::{Problem, Taken, Usage};
use fleet_model::{
    FallbackStep, Group, Hold, Inputs, Labelled, Moving, Orphans, PoolId, Relabel, RolloutNews,
    Saving, SlotName, Token, Units, Vacated, WhenDone, Why,
};
use std::collections::{BTreeMap, BTreeSet};

/// How many machines one plan may end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Consent {
    /// As many as the limits of the inputs say.
    Limited,
    /// As many as it asks for.
    Given,
}

/// What is decided from.
#[derive(Clone, Copy)]
pub(crate) struct Situation<'a> {
    pub(crate) inputs: &'a Inputs,
    pub(crate) problem: &'a Problem<'a>,
    pub(crate) inventory: &'a Inventory,
    pub(crate) allowance: &'a Allowance,
}

/// Everything that was decided, and what it was decided from.
pub(crate) struct Decision<'a> {
    pub(crate) inputs: &'a Inputs,
    pub(crate) inventory: Inventory,
    pub(crate) problem: Problem<'a>,
    pub(crate) choice: Choice,
    pub(crate) held: Vec<Hold>,
    /// Slots to be written down as free.
    pub(crate) vacate: Vec<Vacated>,
    /// What is to be cleared away.
    pub(crate) clear: Vec<Orphans>,
    /// Launches in doubt that are still wanted.
    pub(crate) resend: Vec<Token>,
    /// Labels to change in place.
    pub(crate) relabel: Vec<Relabel>,
    /// How far a change of template has come.
    pub(crate) rollout: Vec<RolloutNews>,
    /// Machines whose work is to end.
    pub(crate) drain: Vec<Labelled>,
    /// The end of the way, where this is a part of it.
    pub(crate) when_done: Option<WhenDone>,
    /// What may be paid per hour.
    pub(crate) allowance: Allowance,
}

impl<'a> Decision<'a> {
    /// The candidate at a position.
    pub(crate) fn candidate(&self, at: u32) -> &Candidate<'a> {
        &self.problem.candidates[at as usize]
    }
}

/// Machines that are to go and stay until their successors are up.
#[derive(Debug, Clone, Default)]
pub(crate) struct Outgoing {
    pub(crate) slots: Vec<SlotName>,
    /// Machines that are starting.
    pub(crate) starting: u32,
    /// Positions of those that stand in a pool that may not be used: they count until they go.
    pub(crate) misplaced: BTreeSet<usize>,
}

impl Outgoing {
    /// This, and that of another group.
    pub(crate) fn join(&mut self, other: Outgoing) {
        self.slots.extend(other.slots);
        self.starting += other.starting;
        self.misplaced.extend(other.misplaced);
    }
}

/// What to launch and what to end.
#[derive(Clone)]
pub(crate) struct Choice {
    /// Machines to launch, per group.
    pub(crate) taken: BTreeMap<Group, Taken>,
    /// Machines to end, by position in the inventory, and why.
    pub(crate) victims: BTreeMap<usize, Why>,
    /// Those of them whose place is taken by a launch of this very plan.
    pub(crate) replaced: BTreeSet<usize>,
    /// Machines that should be replaced, but for which no replacement was found.
    pub(crate) waiting: u32,
    pub(crate) outgoing: Outgoing,
    /// Capacity that is not launched yet, because too much would stand at once.
    pub(crate) surged: Units,
    pub(crate) usage: Usage,
    /// What is to be expected of the burst, if it is hedged.
    pub(crate) outlook: Option<Portfolio>,
    /// Whether on-demand takes the place of spot: what is new of that.
    pub(crate) fallback: Option<FallbackStep>,
    /// Pools whose machines are worth moving, where those are news.
    pub(crate) cheaper: Option<BTreeSet<PoolId>>,
    /// What moving machines to cheaper pools comes to.
    pub(crate) savings: Vec<Saving>,
    /// Machines that move: their successors are among what is launched.
    pub(crate) moving: Option<Moving>,
}

impl Choice {
    /// Nothing is launched and nothing is destroyed.
    pub(crate) fn keep_everything(usage: Usage) -> Choice {
        Choice {
            taken: BTreeMap::new(),
            victims: BTreeMap::new(),
            replaced: BTreeSet::new(),
            waiting: 0,
            outgoing: Outgoing::default(),
            surged: Units(0),
            usage,
            outlook: None,
            fallback: None,
            cheaper: None,
            savings: Vec::new(),
            moving: None,
        }
    }

    /// Whether anything is launched.
    pub(crate) fn buys(&self) -> bool {
        self.taken.values().any(|taken| !taken.counts.is_empty())
    }
}

/// The limits that a choice ran into.
#[derive(Default)]
pub(crate) struct Limited {
    /// Nothing is done at all.
    pub(crate) frozen: Option<Hold>,
    /// A person wants nothing to be done.
    pub(crate) by_hand: Option<Hold>,
    /// A change of template waits.
    pub(crate) rollout: Option<Hold>,
    /// Machines that may not be destroyed yet.
    pub(crate) destroy: Option<Hold>,
    /// The target does not fit the budget, and the spec says to wait.
    pub(crate) budget: Option<Hold>,
    /// The end of the way, where this choice is a part of it.
    pub(crate) when_done: Option<WhenDone>,
}
