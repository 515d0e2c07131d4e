//! A bill beside a ledger.

use super::{Bill, Billed, BilledMachine, NanoUsd, Window, same_name};
use crate::Spend;
use crate::ledger::{Lost, Sink};
use crate::meter::Charge;
use fleet_model::{Cloud, CostKind, Labels};
use std::collections::BTreeMap;

/// Times that differ by less are rounding.
const SECONDS_APART: u64 = 60_000;

/// What journals say of machines, in the hours or days of a bill.
#[derive(Debug, Clone)]
pub struct Machines {
    grain: i64,
    window: Window,
    fleet: String,
    found: BTreeMap<String, Recorded>,
    /// What came beside machines: no bill says of which machine a disk or an address was.
    beside: BTreeMap<(Cloud, CostKind), Spend>,
}

#[derive(Debug, Clone)]
struct Recorded {
    name: String,
    fleet: String,
    cloud: Cloud,
    unpriced: bool,
    /// Nothing for a machine that ran at other times alone: it is known, whatever the bill says of it.
    times: BTreeMap<i64, (u64, Spend)>,
}

impl Machines {
    /// None yet; only what is in a stretch of time.
    pub fn new(bill: &Bill, window: Window) -> Self {
        Machines {
            grain: bill.grain,
            window,
            fleet: String::new(),
            found: BTreeMap::new(),
            beside: BTreeMap::new(),
        }
    }

    /// What comes next is of this fleet.
    pub fn of_fleet(&mut self, fleet: &str) {
        self.fleet = fleet.into();
    }
}

impl Sink for Machines {
    fn charge(&mut self, charge: Charge<'_>, _: Option<&Labels>) {
        if !charge.is_machine() {
            let inside = charge.split_at(self.window.from).1;
            let inside = inside.and_then(|charge| charge.split_at(self.window.to).0);
            if let Some((charge, amount)) = inside.and_then(|one| Some((one, one.amount()?))) {
                let key = (charge.life.pool.place.cloud, charge.kind);
                *self.beside.entry(key).or_default() += amount;
            }
            return;
        }
        let name = charge.machine().as_str();
        let machine = self.found.entry(same_name(name)).or_insert_with(|| Recorded {
            name: name.into(),
            fleet: self.fleet.clone(),
            cloud: charge.life.pool.place.cloud,
            unpriced: false,
            times: BTreeMap::new(),
        });
        let Some(charge) = charge.split_at(self.window.from).1 else { return };
        let Some(mut charge) = charge.split_at(self.window.to).0.filter(|charge| charge.ms() > 0)
        else {
            return;
        };
        loop {
            let begins = charge.from.div_euclid(self.grain) * self.grain;
            let (now, later) = charge.split_at(begins + self.grain);
            if let Some(now) = now {
                let (ms, spent) = machine.times.entry(begins).or_default();
                match now.amount() {
                    Some(amount) => *spent += amount,
                    None => machine.unpriced = true,
                }
                // What is free is on no bill.
                *ms += if now.waived { 0 } else { now.ms() };
            }
            match later {
                Some(later) => charge = later,
                None => return,
            }
        }
    }

    fn lost(&mut self, _: &Lost, _: i64, _: Option<&Labels>) {}
}

/// What differs first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// How long it ran.
    Quantity,
    /// What it cost per hour.
    Price,
    /// What it cost; the bill does not tell how long it ran.
    Cost,
}

/// A machine on which bill and journal differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Differs {
    /// As the journal names it.
    pub machine: String,
    /// Its fleet.
    pub fleet: String,
    /// What differs.
    pub what: What,
    /// The beginning of the hour or day in which it first does.
    pub first: i64,
    /// What the bill says.
    pub billed: Billed,
    /// What the journal says.
    pub ms: u64,
    /// What the journal says.
    pub spent: Spend,
}

/// What came of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Comparison {
    /// Machines on which both agree.
    pub agree: u64,
    /// What the bill asks for machines that the journals know.
    pub billed: NanoUsd,
    /// What the journals say of them.
    pub spent: Spend,
    /// Those on which they do not.
    pub differ: Vec<Differs>,
    /// Machines on the bill that carry a fleet's tag and that no journal knows.
    pub only_billed: Vec<BilledMachine>,
    /// Machines on the bill that are nobody's fleet.
    pub of_others: u64,
    /// Machines in journals that are not on the bill: name, fleet, milliseconds, cost.
    pub only_recorded: Vec<(String, String, u64, Spend)>,
    /// Machines in journals without a price.
    pub unpriced: u64,
    /// Machines in journals of clouds that the bill is not of.
    pub elsewhere: BTreeMap<Cloud, u64>,
    /// Disks, addresses and traffic, each in one sum: no difference of a machine, whatever they say.
    pub beside: Vec<ComparedBeside>,
}

/// What bill and journals say of all that is of one kind and came beside machines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ComparedBeside {
    /// What.
    pub kind: CostKind,
    /// What the bill asks in rows with a fleet's tag; `None`: it has no such row.
    pub billed: Option<NanoUsd>,
    /// What the journals say.
    pub spent: Spend,
}

impl Comparison {
    /// Whether bill and journals differ.
    pub fn differs(&self) -> bool {
        !(self.differ.is_empty() && self.only_billed.is_empty() && self.only_recorded.is_empty())
    }
}

/// Compares.
pub fn compare(bill: &Bill, machines: &Machines, tolerance: NanoUsd) -> Comparison {
    let mut out = Comparison::default();
    let apart = |billed: NanoUsd, spent: Spend| (billed.0 - NanoUsd::from(spent).0).abs();
    let billed = bill.machines.iter();
    let billed: BTreeMap<&String, BilledMachine> =
        billed.filter_map(|(key, one)| Some((key, one.within(&machines.window)?))).collect();
    for (key, billed) in &billed {
        let Some(ours) = machines.found.get(*key) else {
            match billed.fleet {
                Some(_) => out.only_billed.push(billed.clone()),
                None => out.of_others += 1,
            }
            continue;
        };
        if ours.unpriced {
            out.unpriced += 1;
            continue;
        }
        let theirs = billed.total();
        let (ms, spent) = total(ours);
        out.billed.0 += theirs.cost.0;
        out.spent += spent;
        if apart(theirs.cost, spent) <= tolerance.0 {
            out.agree += 1;
            continue;
        }
        let what = match theirs.ms {
            Some(billed) if billed.abs_diff(ms) > SECONDS_APART => What::Quantity,
            Some(_) => What::Price,
            None => What::Cost,
        };
        let first = first_apart(billed, ours, what, tolerance);
        let (machine, fleet) = (ours.name.clone(), ours.fleet.clone());
        out.differ.push(Differs { machine, fleet, what, first, billed: theirs, ms, spent });
    }
    for (key, ours) in &machines.found {
        let (ms, spent) = total(ours);
        let costs = ours.unpriced || spent > Spend::default();
        if billed.contains_key(key) || !costs {
            continue;
        }
        if !bill.clouds.contains(&ours.cloud) {
            *out.elsewhere.entry(ours.cloud).or_default() += 1;
        } else if ours.unpriced {
            out.unpriced += 1;
        } else {
            out.only_recorded.push((ours.name.clone(), ours.fleet.clone(), ms, spent));
        }
    }
    out.beside =
        CostKind::BESIDE.into_iter().filter_map(|kind| beside(bill, machines, kind)).collect();
    let dearest = |differs: &Differs| std::cmp::Reverse(apart(differs.billed.cost, differs.spent));
    out.differ.sort_by_key(dearest);
    out.only_billed.sort_by_key(|one| std::cmp::Reverse(one.total().cost));
    out.only_recorded.sort_by_key(|one| std::cmp::Reverse(one.3));
    out
}

/// The sums of a kind; `None` if there is nothing of it on either side.
fn beside(bill: &Bill, machines: &Machines, kind: CostKind) -> Option<ComparedBeside> {
    let inside = |(begins, cost): (&i64, &NanoUsd)| machines.window.has(*begins).then_some(*cost);
    let rows = bill.beside.get(&kind).into_iter().flatten().filter_map(inside);
    let billed = rows.reduce(|a, b| NanoUsd(a.0 + b.0));
    let ours = machines.beside.iter();
    let ours = ours.filter(|((cloud, of), _)| *of == kind && bill.clouds.contains(cloud));
    let spent: Spend = ours.map(|(_, spent)| *spent).sum();
    let some = billed.is_some() || spent > Spend::default();
    some.then_some(ComparedBeside { kind, billed, spent })
}

fn total(machine: &Recorded) -> (u64, Spend) {
    let add = |(ms, spent): (u64, Spend), (more, cost): &(u64, Spend)| (ms + more, spent + *cost);
    machine.times.values().fold((0, Spend::default()), add)
}

/// The first hour or day in which they differ.
fn first_apart(billed: &BilledMachine, ours: &Recorded, what: What, tolerance: NanoUsd) -> i64 {
    let mut times: Vec<i64> = billed.times.keys().chain(ours.times.keys()).copied().collect();
    times.sort_unstable();
    let differs = |at: &i64| {
        let theirs = billed.times.get(at).copied().unwrap_or_default();
        let (ms, spent) = ours.times.get(at).copied().unwrap_or_default();
        match what {
            What::Quantity => theirs.ms.unwrap_or_default().abs_diff(ms) > SECONDS_APART,
            What::Price | What::Cost => {
                (theirs.cost.0 - NanoUsd::from(spent).0).abs() > tolerance.0.min(1_000_000)
            }
        }
    };
    let first = times.iter().copied().find(differs);
    first.or(times.first().copied()).unwrap_or_default()
}

#[cfg(test)]
#[path = "compare_tests.rs"]
mod tests;
