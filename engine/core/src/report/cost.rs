//! Money of a decision: totals, and the lines that add up to them.

use crate::decide::Decision;
use crate::holdings::{Holding, Standing};
use crate::offers::{Covered, commitment_for, find_offering};
use fleet_model::{
    Change, Cloud, Cost, CostKind, CostLine, Extra, Extras, MicroUsd, NoPrice, PoolId, Tier,
    Uncounted, Units,
};
use std::collections::BTreeMap;

/// What a fleet costs, in all and line by line.
pub(crate) struct Money {
    pub(crate) cost: Cost,
    pub(crate) lines: Vec<CostLine>,
    pub(crate) uncounted: Vec<Uncounted>,
    pub(crate) uncounted_before: Vec<Uncounted>,
}

/// What the fleet costs before and after.
pub(crate) fn money(decision: &Decision<'_>) -> Money {
    let mut bill = Bill::default();
    let (mut uncounted, mut uncounted_before) = (Uncountable::new(), Uncountable::new());
    let target = decision.inputs.desired.capacity.target;
    let (standing, stays) = sharing(decision);
    for holding in &decision.inventory.holdings {
        if holding.standing != Standing::Ending {
            let mut machine = Machines::of(holding);
            machine.extras.egress = machine.extras.egress.shared(target, standing);
            let price = holding.own_bill().unwrap_or_default();
            bill.add(&machine, price, |change| &mut change.before);
            leave_out(&mut uncounted_before, &machine);
        }
    }
    for (mut machines, price) in after(decision) {
        machines.extras.egress = machines.extras.egress.shared(target, stays);
        bill.add(&machines, price, |change| &mut change.after);
        leave_out(&mut uncounted, &machines);
    }
    let mut total = Change::default();
    for (change, _) in bill.lines.values() {
        total.before += change.before;
        total.after += change.after;
    }
    let cost = totals(decision, total);
    let line =
        |((tier, pool, kind), (change, about)): ((Tier, PoolId, CostKind), (Change, bool))| {
            CostLine { tier, pool, kind, change, about }
        };
    Money {
        cost,
        lines: bill.lines.into_iter().map(line).collect(),
        uncounted: listed(uncounted),
        uncounted_before: listed(uncounted_before),
    }
}

/// Machines that are alike.
#[derive(Clone)]
struct Machines<'a> {
    tier: Tier,
    pool: &'a PoolId,
    count: u32,
    /// Whether the price of one is known.
    priced: bool,
    extras: Extras,
}

impl<'a> Machines<'a> {
    fn of(holding: &'a Holding) -> Self {
        Machines {
            tier: Tier::of(holding.slot.name.group, holding.pool.market),
            pool: &holding.pool,
            count: 1,
            priced: holding.own_bill().is_some(),
            extras: holding.extras(),
        }
    }
}

/// Everything that stands after the plan, with what is paid for the machines themselves.
fn after<'a>(decision: &'a Decision<'_>) -> Vec<(Machines<'a>, MicroUsd)> {
    let mut all: Vec<(Machines<'a>, MicroUsd)> = Vec::new();
    // Machines that a commitment may pay for: the dearest are covered, as on a bill.
    let mut committed: BTreeMap<u32, Vec<(Machines<'a>, MicroUsd)>> = BTreeMap::new();
    let commitments = &decision.problem.commitments;
    for (at, holding) in decision.inventory.holdings.iter().enumerate() {
        if !holding.standing.stands() || decision.choice.victims.contains_key(&at) {
            continue;
        }
        let machine = Machines::of(holding);
        let price = holding.price.unwrap_or_default();
        match commitment_for(commitments, &holding.pool) {
            Some(commitment) if holding.standing.counts() => {
                committed.entry(commitment).or_default().push((machine, price));
            }
            _ => all.push((machine, holding.own_bill().unwrap_or_default())),
        }
    }
    for (group, taken) in &decision.choice.taken {
        for (&at, &count) in &taken.counts {
            let candidate = decision.candidate(at);
            let machines = Machines {
                tier: Tier::of(*group, candidate.offering.pool.market),
                pool: &candidate.offering.pool,
                count,
                priced: candidate.offering.price.is_some(),
                extras: candidate.offering.extras,
            };
            let price = candidate.offering.price.unwrap_or_default();
            match candidate.commitment {
                Some(commitment) => {
                    committed.entry(commitment).or_default().push((machines, price))
                }
                None => all.push((machines, price * u64::from(count))),
            }
        }
    }
    for (commitment, mut machines) in committed {
        let mut free = commitments.get(commitment as usize).map_or(0, |one| one.count);
        machines.sort_by_key(|(_, price)| std::cmp::Reverse(*price));
        for (machines, price) in machines {
            let covered = free.min(machines.count);
            free -= covered;
            let rest = u64::from(machines.count - covered);
            all.push((machines, price * rest));
        }
    }
    all
}

/// What shares in the traffic now, and afterwards. Where that is more than the target, as long as machines that are
/// too many stand, each sends less: the spec expects so much of the fleet and not of each machine.
fn sharing(decision: &Decision<'_>) -> (Units, Units) {
    let (mut standing, mut stays) = (0, 0);
    for (at, holding) in decision.inventory.holdings.iter().enumerate() {
        let sends = |is: bool| u64::from(is && holding.standing != Standing::Stopped);
        standing += holding.weight.0 * sends(holding.standing != Standing::Ending);
        let is_kept = holding.standing.stands() && !decision.choice.victims.contains_key(&at);
        stays += holding.weight.0 * sends(is_kept);
    }
    let taken = decision.choice.taken.values().flat_map(|taken| &taken.counts);
    let new = taken.map(|(&at, &count)| decision.candidate(at).weight.0 * u64::from(count));
    (Units(standing), Units(stays + new.sum::<u64>()))
}

/// Lines under construction.
#[derive(Default)]
struct Bill {
    lines: BTreeMap<(Tier, PoolId, CostKind), (Change, bool)>,
}

impl Bill {
    fn add(
        &mut self,
        machines: &Machines<'_>,
        price: MicroUsd,
        side: impl Fn(&mut Change) -> &mut MicroUsd,
    ) {
        let Machines { tier, pool, count, extras, priced } = machines;
        let key = |kind| (*tier, (*pool).clone(), kind);
        if *priced {
            let (change, _) = self.lines.entry(key(CostKind::Machine)).or_default();
            *side(change) += price;
        }
        for (kind, extra) in extras.each() {
            let Some(price) = extra.hourly().filter(|price| *price > MicroUsd(0)) else { continue };
            let (change, about) = self.lines.entry(key(kind)).or_default();
            *side(change) += price * u64::from(*count);
            *about |= extra.is_about();
        }
    }
}

/// Machines by what of them has no price, why, and where.
type Uncountable = BTreeMap<(CostKind, NoPrice, Cloud), u32>;

/// Counts what has no price.
fn leave_out(uncounted: &mut Uncountable, machines: &Machines<'_>) {
    let Machines { pool, count, extras, priced, .. } = machines;
    let machine = if *priced { Extra::default() } else { Extra::Unknown(NoPrice::Machine) };
    for (kind, extra) in [(CostKind::Machine, machine)].into_iter().chain(extras.each()) {
        if let Some(because) = extra.unknown() {
            *uncounted.entry((kind, because, pool.place.cloud)).or_default() += count;
        }
    }
}

fn listed(uncounted: Uncountable) -> Vec<Uncounted> {
    let one = |((kind, because, cloud), machines)| Uncounted { kind, because, cloud, machines };
    uncounted.into_iter().map(one).collect()
}

fn totals(decision: &Decision<'_>, total: Change) -> Cost {
    let mut on_demand = MicroUsd(0);
    let mut dearer = MicroUsd(0);
    let mut cheaper = MicroUsd(0);
    let mut unpriced = 0;
    for (at, holding) in decision.inventory.holdings.iter().enumerate() {
        let stays = holding.standing.counts() && !decision.choice.victims.contains_key(&at);
        if stays {
            unpriced += u32::from(holding.price.is_none());
            let offering = find_offering(decision.inputs, &holding.pool);
            let list = offering.and_then(|o| o.on_demand);
            on_demand += list.or(holding.price).unwrap_or_default() + holding.beside();
            let billed = holding.own_bill().unwrap_or_default();
            let present = offering.and_then(|o| o.price).filter(|_| billed > MicroUsd(0));
            let present = present.unwrap_or(billed);
            dearer += present.saturating_sub(billed);
            cheaper += billed.saturating_sub(present);
        }
    }
    for taken in decision.choice.taken.values() {
        for (&at, &count) in &taken.counts {
            let candidate = decision.candidate(at);
            let offering = candidate.offering;
            if offering.price.is_none() {
                unpriced += count;
            }
            let list = offering.on_demand.or(offering.price).unwrap_or_default();
            on_demand += (list + candidate.beside) * u64::from(count);
        }
    }
    // The choice counts each machine as one of a fleet that stands as it is meant.
    let twice = decision.choice.usage.spend.saturating_sub(total.after);
    Cost {
        hourly_before: total.before,
        hourly_after: total.after,
        hourly_at_present: (total.after + dearer).saturating_sub(cheaper),
        hourly_on_demand: on_demand.saturating_sub(twice),
        hourly_limit: decision.inputs.desired.budget.hourly,
        unpriced,
        committed: decision.choice.usage.committed.iter().map(Covered::used).sum(),
        when_done: decision.when_done,
        range: None,
    }
}
