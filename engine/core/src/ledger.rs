//! What we hold: the journal's word and the clouds' word, brought together.

use crate::remains::{self, Left};
use crate::{commitment, weight};
use fleet_model::bugs::{self, Bug};
use fleet_model::{
    Cloud, Commitment, Departure, Desired, Digest, Inputs, Machine, MachineId, MachineState,
    MicroUsd, Notice, NoticeKind, Offering, PoolId, Rejection, SlotId, SlotName, SlotState,
    Timestamp, Units, Vacated,
};
use std::collections::BTreeMap;

/// For this long after a launch, absence from a list proves nothing.
pub const SETTLE_WINDOW: std::time::Duration = std::time::Duration::from_secs(300);

/// A slot that is filled, or may be.
#[derive(Debug, Clone)]
pub(crate) struct Holding {
    pub(crate) slot: SlotId,
    /// `None` while the launch is in doubt.
    pub(crate) machine: Option<MachineId>,
    pub(crate) pool: PoolId,
    pub(crate) weight: Units,
    pub(crate) price: Option<MicroUsd>,
    /// Whether a commitment pays for it.
    pub(crate) covered: bool,
    pub(crate) launched_at: Timestamp,
    pub(crate) standing: Standing,
    pub(crate) old_template: bool,
    /// Its end was asked for before, and is not seen yet: first to be asked for again.
    pub(crate) ending: bool,
}

impl Holding {
    /// What it adds to the bill per hour.
    pub(crate) fn bill(&self) -> Option<MicroUsd> {
        if self.covered { Some(MicroUsd(0)) } else { self.price }
    }
}

/// What may be done with a holding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Standing {
    /// It counts, and may be ended if there is too much.
    Good,
    /// It counts, but the spec no longer allows its pool.
    Disallowed(Rejection),
    /// It counts and must not be touched: in doubt, in a gap, or its tags are lost.
    Fixed,
    /// The cloud is taking it back: it no longer counts.
    Interrupted,
    /// It is being ended: it no longer counts.
    Ending,
}

impl Standing {
    /// Whether it is part of the fleet's capacity.
    pub(crate) fn counts(&self) -> bool {
        match self {
            Standing::Good | Standing::Disallowed(_) | Standing::Fixed => true,
            Standing::Interrupted | Standing::Ending => false,
        }
    }
}

/// Everything held, and what was noticed on the way.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ledger {
    /// In the order of slots.
    pub(crate) holdings: Vec<Holding>,
    /// Slots whose machine is gone.
    pub(crate) vacate: Vec<Vacated>,
    /// What machines that are gone left behind. Their slots stay theirs.
    pub(crate) left: Vec<Left>,
    pub(crate) notices: Vec<Notice>,
    /// Machines recorded as live, and how many of them nobody can account for.
    pub(crate) recorded_live: u32,
    pub(crate) vanished: u32,
    /// Machines that are there, and that nobody sees yet.
    pub(crate) unseen: u32,
}

/// What is known of a pool that holds something.
struct PoolFacts {
    weight: Option<Units>,
    price: Option<MicroUsd>,
    rejection: Option<Rejection>,
}

/// Brings journal and clouds together.
pub(crate) fn ledger(inputs: &Inputs, commitments: &[Commitment]) -> Ledger {
    let mut ledger = Ledger::default();
    let templates = template_digests(&inputs.desired);
    let mut pools: BTreeMap<PoolId, PoolFacts> = BTreeMap::new();
    let mut unknown_types: BTreeMap<PoolId, u32> = BTreeMap::new();
    for (&name, record) in &inputs.recorded.slots {
        let slot = SlotId { name, generation: record.generation };
        let (machine, pool, launched_at, price, standing, old_template, ending) = match &record
            .state
        {
            SlotState::Vacant => continue,
            SlotState::InDoubt { .. } if bugs::on(Bug::DoubtNotCounted) => continue,
            SlotState::InDoubt { token } => {
                let Some(attempt) = inputs.recorded.in_doubt.get(token) else { continue };
                let pool = attempt.create.pool.clone();
                let create = &attempt.create;
                // Whichever pools the cloud chose, it is not more than this.
                let price = match bugs::on(Bug::DoubtCostsNothing) {
                    true => Some(MicroUsd(0)),
                    false => create.dearest(),
                };
                (None, pool, attempt.intended_at, price, Standing::Fixed, false, false)
            }
            SlotState::Filled { machine, pool, launched_at, price, template, ending } => {
                if !ending {
                    ledger.recorded_live += 1;
                }
                let seen = inputs.observed.machines.get(machine);
                let standing =
                    match standing(inputs, slot, machine, pool, *launched_at, *ending, seen) {
                        Found::Here(standing) => standing,
                        Found::Gone(how) => {
                            if how == Departure::Vanished {
                                ledger.vanished += 1;
                            }
                            let Some(remains) = remains::of_machine(inputs, machine, pool) else {
                                let machine = machine.clone();
                                ledger.vacate.push(Vacated { slot: name, machine, how });
                                continue;
                            };
                            ledger.left.push(Left { remains, how });
                            Standing::Ending
                        }
                    };
                let hidden = seen.is_none() && standing == Standing::Fixed;
                if hidden && !ending && inputs.observed.is_complete(&pool.place.scope()) {
                    ledger.unseen += 1;
                }
                let tags_lost = seen.is_some_and(|m| !owned(inputs, slot, m));
                if tags_lost {
                    let machine = machine.clone();
                    ledger.notices.push(Notice::TagsLost { machine, slot: name });
                }
                if let Some(notice) = seen.and_then(|machine| machine.notice)
                    && notice.kind == NoticeKind::Rebalance
                {
                    let machine = machine.clone();
                    ledger.notices.push(Notice::AtRisk { machine, slot: name });
                }
                let price = seen.and_then(|machine| machine.price).or(*price);
                let old = templates.get(&pool.place.cloud) != Some(template);
                let machine = Some(machine.clone());
                (machine, pool.clone(), *launched_at, price, standing, old, *ending)
            }
        };
        let facts = pools.entry(pool.clone()).or_insert_with(|| pool_facts(inputs, &pool));
        if facts.weight.is_none() {
            *unknown_types.entry(pool.clone()).or_default() += 1;
        }
        let standing = match (standing, &facts.rejection) {
            (Standing::Good, Some(rejection)) => Standing::Disallowed(rejection.clone()),
            (standing, _) => standing,
        };
        ledger.holdings.push(Holding {
            slot,
            machine,
            weight: facts.weight.unwrap_or_default(),
            price: price.or(facts.price),
            covered: false,
            pool,
            launched_at,
            standing,
            old_template,
            ending,
        });
    }
    commitment::cover(inputs, commitments, &mut ledger.holdings);
    ledger.left.extend(remains::of_doubts(inputs));
    notice_strangers(inputs, &mut ledger);
    ledger.notices.extend(
        unknown_types.into_iter().map(|(pool, machines)| Notice::UnknownType { pool, machines }),
    );
    ledger
}

/// The fingerprint of each cloud's template, computed once.
pub(crate) fn template_digests(desired: &Desired) -> BTreeMap<Cloud, Digest> {
    let of = |cloud| desired.templates.get(&cloud).cloned().unwrap_or_default().digest();
    Cloud::ALL.into_iter().map(|cloud| (cloud, of(cloud))).collect()
}

enum Found {
    Here(Standing),
    Gone(Departure),
}

fn standing(
    inputs: &Inputs,
    slot: SlotId,
    machine: &MachineId,
    pool: &PoolId,
    launched_at: Timestamp,
    ending: bool,
    seen: Option<&Machine>,
) -> Found {
    let complete = inputs.observed.is_complete(&pool.place.scope()) || bugs::on(Bug::GapsForgotten);
    let Some(seen) = seen else {
        let age = inputs.observed.taken_at.duration_since(launched_at);
        let settling = age < jiff_duration(SETTLE_WINDOW) && !bugs::on(Bug::YoungMachinesForgotten);
        // A machine that nobody has seen yet counts, and cannot be ended: its cloud may not know it.
        return match (complete && !settling, ending) {
            (false, _) => Found::Here(Standing::Fixed),
            (true, true) => Found::Gone(Departure::Ended),
            (true, false) => Found::Gone(Departure::Vanished),
        };
    };
    debug_assert_eq!(seen.id, *machine);
    match seen.state {
        MachineState::Terminated if ending => Found::Gone(Departure::Ended),
        MachineState::Terminated => Found::Gone(Departure::Terminated),
        _ if !complete || !owned(inputs, slot, seen) => Found::Here(Standing::Fixed),
        MachineState::Stopping if bugs::on(Bug::StoppingMachinesForgotten) => {
            Found::Gone(Departure::Ended)
        }
        MachineState::Stopping => Found::Here(Standing::Ending),
        MachineState::Failed | MachineState::Stopped => Found::Here(Standing::Good),
        // An end that was asked for and not obeyed is asked for again.
        MachineState::Pending | MachineState::Running
            if seen.notice.is_some_and(|notice| notice.kind == NoticeKind::Interruption) =>
        {
            Found::Here(Standing::Interrupted)
        }
        MachineState::Pending | MachineState::Running => Found::Here(Standing::Good),
    }
}

pub(crate) fn jiff_duration(duration: std::time::Duration) -> jiff::SignedDuration {
    jiff::SignedDuration::try_from(duration).unwrap_or(jiff::SignedDuration::MAX)
}

fn owned(inputs: &Inputs, slot: SlotId, machine: &Machine) -> bool {
    machine.owner.as_ref().is_some_and(|owner| owner.fleet == inputs.uid && owner.slot == slot)
}

/// The offering of a pool, if the spec allows it. Offerings are in the order of pool ids.
pub(crate) fn find_offering<'a>(inputs: &'a Inputs, pool: &PoolId) -> Option<&'a Offering> {
    let at = inputs.offerings.binary_search_by(|offering| offering.pool.cmp(pool)).ok()?;
    inputs.offerings.get(at)
}

fn pool_facts(inputs: &Inputs, pool: &PoolId) -> PoolFacts {
    if let Some(offering) = find_offering(inputs, pool) {
        return PoolFacts {
            weight: weight(&inputs.desired, &offering.kind),
            price: offering.price,
            rejection: None,
        };
    }
    let held = inputs.held_pools.get(pool).cloned().unwrap_or_default();
    PoolFacts {
        weight: held.kind.and_then(|kind| weight(&inputs.desired, &kind)),
        price: None,
        rejection: held.rejection,
    }
}

/// Machines that carry our tags and are not in the journal, and those that nobody asked for.
fn notice_strangers(inputs: &Inputs, ledger: &mut Ledger) {
    let recorded: BTreeMap<&MachineId, SlotName> = ledger
        .holdings
        .iter()
        .filter_map(|holding| Some((holding.machine.as_ref()?, holding.slot.name)))
        .collect();
    for machine in inputs.observed.machines.values().filter(|m| m.state.is_live()) {
        let ours = machine.owner.as_ref().is_some_and(|owner| owner.fleet == inputs.uid);
        if !ours || recorded.contains_key(&machine.id) {
            continue;
        }
        // A launch in doubt that did happen shows up here first: recovery settles it.
        let token = machine.owner.as_ref().map(|owner| &owner.token);
        if token.is_some_and(|token| inputs.recorded.in_doubt.contains_key(token)) {
            continue;
        }
        let id = machine.id.clone();
        ledger.notices.push(if inputs.recorded.surplus.contains(&id) {
            Notice::Surplus { machine: id }
        } else {
            Notice::NotRecorded { machine: id, pool: machine.pool() }
        });
    }
}
