//! The burst of a hedged fleet: what is paid for, then spot, spares and on-demand in their place.

use crate::decide::removals::Removals;
use crate::holdings::{Holding, Inventory, Standing, cover};
use crate::market::{HedgeInputs, Hedged, enough_without, hedge, is_ready};
use crate::place::{Need, Problem, Usage};
use fleet_model::{Group, Hedge, Inputs, Market, MicroUsd, SlotId, SlotName, Units, Why};
use std::collections::BTreeSet;

/// Times that a decision is held against what would be decided once it is carried out.
const LOOKS: usize = 8;

impl Removals<'_> {
    /// Decides the burst by what it costs to be short.
    pub(crate) fn hedge(
        &mut self,
        usage: &mut Usage,
        wanted: Units,
        rule: Hedge,
        replaced: &mut BTreeSet<usize>,
        waiting: &mut u32,
        side_by_side: bool,
    ) -> Hedged {
        let group = Group::Burst;
        let hedged = loop {
            // Old and new machines are paid for side by side.
            let leaving = if side_by_side { self.leaving_bill() } else { MicroUsd(0) };
            let mut paid = usage.clone();
            paid.spend += leaving;
            let gone: BTreeSet<usize> = self.victims.keys().copied().collect();
            let (inputs, problem, inventory) = (self.inputs, self.problem, self.inventory);
            let burst = Burst { inputs, problem, inventory, gone, wanted, rule };
            let mut tried = paid.clone();
            let mut hedged = burst.decide(&mut tried);
            for _ in 0..LOOKS {
                if !burst.look_again(&paid, &mut tried, &mut hedged) {
                    break;
                }
            }
            tried.spend = tried.spend - leaving;
            let stay = self.keep_unreplaced(group, replaced, hedged.taken.short, usage);
            *waiting += stay;
            if stay == 0 {
                *usage = tried;
                break hedged;
            }
        };
        let mut asked = self.asked_off(group);
        for &at in &hedged.ends {
            let holding = &self.inventory.holdings[at];
            let why = self.too_many(group, holding.weight, &mut asked);
            if self.end(at, why) {
                usage.spend = usage.spend - holding.bill();
            }
        }
        hedged
    }

    /// Keeps machines of the burst that are to be replaced until their replacements may stand beside
    /// them: a hedged fleet has spares, so the surge is counted from what it holds.
    pub(crate) fn bound_replacements(
        &mut self,
        replaced: &mut BTreeSet<usize>,
        usage: &mut Usage,
        side_by_side: bool,
    ) {
        if !side_by_side {
            return;
        }
        let of_burst = |at: &usize| self.inventory.holdings[*at].slot.name.group == Group::Burst;
        let mut room = self.surge();
        let burst: Vec<usize> = replaced.iter().copied().filter(of_burst).collect();
        for at in burst {
            let holding = &self.inventory.holdings[at];
            if holding.weight <= room {
                room = room - holding.weight;
                continue;
            }
            replaced.remove(&at);
            self.victims.remove(&at);
            self.problem.hold(usage, holding);
        }
    }

    /// Ends what is paid for and not needed: it costs nothing, and is too much. Those go first whose checks
    /// fail, then the youngest.
    pub(crate) fn end_committed_surplus(&mut self, wanted: Units, rule: Hedge) {
        let paid_for =
            |(at, holding): &(usize, &Holding)| holding.covered && !self.victims.contains_key(at);
        let held: Vec<(usize, &Holding)> = self.group(Group::Burst).filter(paid_for).collect();
        let mut have: Units = held.iter().map(|(_, holding)| holding.weight).sum();
        // Less than the largest is what whole machines come to.
        let largest = held.iter().map(|(_, holding)| holding.weight).max().unwrap_or_default();
        if have < wanted + largest {
            return;
        }
        // It costs nothing to wait until what was launched a moment ago is of use.
        let ready = |holding: &Holding| is_ready(self.inputs, holding, rule);
        let settled = |holding: &Holding| ready(holding) || holding.failing;
        let serving = held.iter().filter(|(_, h)| ready(h));
        let mut serving: Units = serving.map(|(_, holding)| holding.weight).sum();
        let movable = held.iter().filter(|(_, h)| h.standing != Standing::Fixed && settled(h));
        let mut order: Vec<usize> = movable.map(|(at, _)| *at).collect();
        order.sort_by_key(|&at| {
            let holding = &self.inventory.holdings[at];
            std::cmp::Reverse((holding.failing, holding.launched_at, at))
        });
        let mut zones = self.zones();
        let mut asked = self.asked_off(Group::Burst);
        for at in order {
            let holding = &self.inventory.holdings[at];
            let spare = have >= wanted + holding.weight && !holding.weight.is_zero();
            let enough = enough_without(self.inputs, holding, rule, (wanted, serving));
            if spare && enough && zones.leave(&holding.pool.place) {
                have = have - holding.weight;
                if ready(holding) {
                    serving = serving - holding.weight;
                }
                let why = self.too_many(Group::Burst, holding.weight, &mut asked);
                self.end(at, why);
            }
        }
    }
}

/// What the burst is decided from.
struct Burst<'a> {
    inputs: &'a Inputs,
    problem: &'a Problem<'a>,
    inventory: &'a Inventory,
    /// Machines that end for other reasons.
    gone: BTreeSet<usize>,
    wanted: Units,
    rule: Hedge,
}

impl Burst<'_> {
    /// What is paid for already comes first; the rest is hedged.
    fn decide(&self, usage: &mut Usage) -> Hedged {
        let stays = |(at, holding): &(usize, &Holding)| {
            holding.slot.name.group == Group::Burst
                && holding.standing.counts()
                && !self.gone.contains(at)
        };
        let held: Vec<&Holding> =
            self.inventory.holdings.iter().enumerate().filter(stays).map(|(_, h)| h).collect();
        let standing: Units = held.iter().map(|holding| holding.weight).sum();
        let paid: Units = held.iter().filter(|h| h.covered).map(|holding| holding.weight).sum();
        let room = (self.wanted + self.wanted).saturating_sub(standing);
        let wanted = self.wanted.saturating_sub(paid);
        let need = Need { now: wanted.min(room), later: Units(0) };
        let paid_for = self.problem.fill_committed(usage, Market::Spot, need);
        let wanted = wanted.saturating_sub(self.problem.units(&paid_for));
        let given = HedgeInputs::new(self.inputs, self.problem, self.inventory, &self.gone);
        let mut hedged = hedge(&given, usage, wanted, self.rule);
        hedged.taken.join(paid_for);
        hedged
    }

    /// Decides once more, as if all launches had been granted. What would change then is changed at
    /// once, so that a plan is not the first of several. Says whether anything did.
    fn look_again(&self, before: &Usage, usage: &mut Usage, hedged: &mut Hedged) -> bool {
        // What ends takes its time, and nothing is to be launched in its place before.
        if hedged.taken.counts.is_empty() || !hedged.ends.is_empty() {
            return false;
        }
        let (inventory, launched) = self.granted(hedged);
        let mut then = before.clone();
        self.problem.take_all(&mut then, &hedged.taken);
        let after = Burst { inventory: &inventory, gone: BTreeSet::new(), ..*self };
        let next = after.decide(&mut then);
        if next.taken.counts.is_empty() && next.ends.is_empty() {
            return false;
        }
        let known = self.inventory.holdings.len();
        for at in next.ends {
            match at.checked_sub(known) {
                None => {
                    hedged.ends.insert(at);
                }
                Some(nth) => {
                    if let Some(count) = hedged.taken.counts.get_mut(&launched[nth]) {
                        *count -= 1;
                    }
                }
            }
        }
        hedged.taken.counts.retain(|_, count| *count > 0);
        hedged.taken.short = next.taken.short;
        hedged.taken.join(next.taken);
        hedged.portfolio = next.portfolio;
        *usage = before.clone();
        self.problem.take_all(usage, &hedged.taken);
        true
    }

    /// What would be held once all launches are granted, and from which candidate each new machine
    /// came.
    fn granted(&self, hedged: &Hedged) -> (Inventory, Vec<u32>) {
        let mut inventory = self.inventory.clone();
        let mut launched = Vec::new();
        for (&at, &count) in &hedged.taken.counts {
            let candidate = &self.problem.candidates[at as usize];
            let there = inventory.holdings.iter().find(|h| h.pool == candidate.offering.pool);
            let nth_pool = there.map_or(inventory.pools, |holding| holding.nth_pool);
            inventory.pools = inventory.pools.max(nth_pool + 1);
            for _ in 0..count {
                let ordinal = u32::MAX - launched.len() as u32;
                launched.push(at);
                inventory.holdings.push(Holding {
                    slot: SlotId { name: SlotName { group: Group::Burst, ordinal }, generation: 1 },
                    machine: None,
                    pool: candidate.offering.pool.clone(),
                    nth_pool,
                    weight: candidate.weight,
                    price: candidate.offering.price,
                    extras: candidate.offering.extras,
                    covered: false,
                    launched_at: self.inputs.now,
                    standing: Standing::Good,
                    old_template: false,
                    ending: false,
                    labels: 0,
                    starting: true,
                    failing: false,
                    unseen: true,
                    leaving: Why::Requested,
                    template: None,
                });
            }
        }
        for (at, holding) in inventory.holdings.iter_mut().enumerate() {
            holding.covered = false;
            if self.gone.contains(&at) {
                holding.standing = Standing::Ending;
            }
        }
        cover(self.inputs, &self.problem.commitments, &mut inventory.holdings);
        (inventory, launched)
    }
}
