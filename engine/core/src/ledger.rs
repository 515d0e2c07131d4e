//! What we hold: the journal's word and the clouds' word, brought together.

use crate::remains::{self, Left};
use crate::{commitment, weight};
use fleet_model::bugs::{self, Bug};
use fleet_model::{
    Cause, CauseKind, Cloud, Commitment, Departed, Departure, Desired, Digest, FailedMachine,
    FleetUid, Inputs, Machine, MachineId, MachineState, Market, MicroUsd, NewMachine, Notice,
    NoticeKind, Offering, PoolId, Readopt, Rejection, SlotId, SlotName, SlotState, Timestamp,
    Units, Vacated,
};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// For this long after a launch, absence from a list proves nothing.
pub const SETTLE_WINDOW: Duration = Duration::from_secs(300);

/// A request leaves at most this long after the time in its record; a record that took longer to write
/// is written again.
pub const SENT_WITHIN: Duration = Duration::from_secs(30);

/// For this long after the time in the record of a launch, absence proves nothing: the request may
/// have left late, and its machines may be listed late.
pub const ABSENCE_PROVES: Duration = SETTLE_WINDOW.saturating_add(SENT_WITHIN);

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
    /// The version of its cloud's labels that it carries.
    pub(crate) labels: u32,
}

impl Holding {
    /// What it adds to the bill per hour.
    pub(crate) fn bill(&self) -> Option<MicroUsd> {
        // Of a machine that is shut down only the disk is paid, whose price nobody tells us.
        let free = self.covered || self.standing == Standing::Stopped;
        if free { Some(MicroUsd(0)) } else { self.price }
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
    /// It is there and paid for, and does not work: it is no capacity, and must go.
    Failed(CauseKind),
    /// It is shut down and still paid for: it is no capacity, and must go.
    Stopped,
    /// It was written down as gone, came back, and its slot has another machine: it must go.
    CameBack,
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
            Standing::Failed(_)
            | Standing::Stopped
            | Standing::CameBack
            | Standing::Interrupted
            | Standing::Ending => false,
        }
    }

    /// Whether it stands, and is paid for, until somebody destroys it. What its cloud takes back
    /// within minutes, and what is being destroyed, ends by itself.
    pub(crate) fn stands(&self) -> bool {
        match self {
            Standing::Good
            | Standing::Disallowed(_)
            | Standing::Fixed
            | Standing::Failed(_)
            | Standing::Stopped
            | Standing::CameBack => true,
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
    /// What their clouds say of machines that are gone.
    pub(crate) gone_words: BTreeMap<MachineId, String>,
    /// Machines that are seen to be failed for the first time.
    pub(crate) failed: Vec<FailedMachine>,
    /// Machines that were written down as gone and have their slot again.
    pub(crate) readopt: Vec<Readopt>,
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
        let (machine, pool, launched_at, price, standing, old_template, ending, labels) =
            match &record.state {
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
                    (None, pool, attempt.intended_at, price, Standing::Fixed, false, false, 0)
                }
                SlotState::Filled {
                    machine,
                    pool,
                    launched_at,
                    price,
                    template,
                    ending,
                    failed,
                    labels,
                } => {
                    if !ending {
                        ledger.recorded_live += 1;
                    }
                    let seen = inputs.observed.machines.get(machine);
                    let standing =
                        match standing(inputs, slot, machine, pool, *ending, *failed, seen) {
                            Found::Here(standing) => standing,
                            Found::Gone(how, cause) => {
                                if how == Departure::Vanished {
                                    ledger.vanished += 1;
                                }
                                if let Some(cause) = cause {
                                    let words = cause.words.escape_debug().to_string();
                                    ledger.gone_words.insert(machine.clone(), words);
                                }
                                let Some(remains) = remains::of_machine(inputs, machine, pool)
                                else {
                                    let machine = machine.clone();
                                    ledger.vacate.push(Vacated { slot: name, machine, how });
                                    continue;
                                };
                                ledger.left.push(Left { remains, how });
                                Standing::Ending
                            }
                        };
                    ledger.note_trouble(name, machine, &standing, *failed, seen);
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
                    (machine, pool.clone(), *launched_at, price, standing, old, *ending, *labels)
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
            labels,
        });
    }
    came_back(inputs, &mut ledger, &mut pools);
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

enum Found<'a> {
    Here(Standing),
    Gone(Departure, Option<&'a Cause>),
}

impl Ledger {
    /// Notes that a machine does not work or is shut down, and whether that is news.
    fn note_trouble(
        &mut self,
        slot: SlotName,
        machine: &MachineId,
        standing: &Standing,
        known: bool,
        seen: Option<&Machine>,
    ) {
        let cause = seen.and_then(|machine| machine.cause.clone());
        let words = cause.as_ref().map_or("", |cause| &cause.words).escape_debug().to_string();
        let machine = machine.clone();
        match standing {
            Standing::Failed(kind) => {
                if !known {
                    let cause = cause.unwrap_or_else(|| Cause::new(*kind, ""));
                    let machine = machine.clone();
                    self.failed.push(FailedMachine { slot, machine, cause });
                }
                self.notices.push(Notice::Failed { machine, slot, words });
            }
            Standing::Stopped => self.notices.push(Notice::Stopped { machine, slot, words }),
            Standing::Good
            | Standing::Disallowed(_)
            | Standing::Fixed
            | Standing::CameBack
            | Standing::Interrupted
            | Standing::Ending => {}
        }
    }
}

/// Machines that were written down as gone and are there after all. One whose slot is free has it
/// again; one whose slot has another machine by now is too many, and must go.
fn came_back(inputs: &Inputs, ledger: &mut Ledger, pools: &mut BTreeMap<PoolId, PoolFacts>) {
    let mut taken: BTreeSet<SlotName> = BTreeSet::new();
    for (id, departed) in &inputs.recorded.departed {
        let Some(seen) = inputs.observed.machines.get(id) else { continue };
        let Departed { slot, pool, launched_at, price, template, at: _ } = departed;
        let there = seen.state.is_live() && seen.state != MachineState::Stopping;
        let complete = inputs.observed.is_complete(&pool.place.scope());
        let notice = seen.notice.is_some_and(|notice| notice.kind == NoticeKind::Interruption);
        // An id may be given to another machine, and tags can be copied: the time of launch cannot.
        let same = owned(inputs, *slot, seen) && seen.launched_at == *launched_at;
        if !there || !complete || notice || !same {
            continue;
        }
        let record = inputs.recorded.slots.get(&slot.name);
        let free = record.is_none_or(|record| {
            record.state == SlotState::Vacant && record.generation <= slot.generation + 1
        });
        let vacating = ledger.vacate.iter().any(|vacated| vacated.slot == slot.name);
        let standing = if free && !vacating && taken.insert(slot.name) {
            ledger.readopt.push(Readopt {
                machine: NewMachine {
                    slot: *slot,
                    machine: id.clone(),
                    launched_at: *launched_at,
                    price: *price,
                    pool: Some(pool.clone()),
                },
                template: *template,
            });
            // It is on record from the next round on, and is judged then.
            Standing::Fixed
        } else {
            Standing::CameBack
        };
        ledger.notices.push(Notice::CameBack { machine: id.clone(), slot: slot.name });
        let facts = pools.entry(pool.clone()).or_insert_with(|| pool_facts(inputs, pool));
        ledger.holdings.push(Holding {
            slot: *slot,
            machine: Some(id.clone()),
            pool: pool.clone(),
            weight: facts.weight.unwrap_or_default(),
            price: seen.price.or(*price).or(facts.price),
            covered: false,
            launched_at: *launched_at,
            standing,
            old_template: false,
            ending: false,
            labels: 0,
        });
    }
}

fn standing<'a>(
    inputs: &'a Inputs,
    slot: SlotId,
    machine: &MachineId,
    pool: &PoolId,
    ending: bool,
    failed: bool,
    seen: Option<&'a Machine>,
) -> Found<'a> {
    let complete = inputs.observed.is_complete(&pool.place.scope());
    let forgotten = !complete && bugs::on(Bug::GapsForgotten);
    let Some(seen) = seen else {
        let asked = inputs.observed.gone.get(machine);
        let believed = (bugs::on(Bug::ListBelieved) || forgotten).then_some(&None);
        // A list proves nothing of what is not in it: a machine is gone when its cloud said so of
        // this very machine. Until then it counts, and cannot be destroyed.
        return match asked.or(believed).filter(|_| complete || forgotten) {
            Some(cause) => {
                Found::Gone(departure(pool, ending, failed, cause.as_ref()), cause.as_ref())
            }
            None => Found::Here(Standing::Fixed),
        };
    };
    debug_assert_eq!(seen.id, *machine);
    let interrupted = seen.notice.is_some_and(|notice| notice.kind == NoticeKind::Interruption);
    match seen.state {
        MachineState::Terminated => {
            let cause = seen.cause.as_ref();
            let how = match departure(pool, ending, failed, cause) {
                // It is listed as ended, so its cloud knows of it: no mystery.
                Departure::Vanished => Departure::Terminated,
                how => how,
            };
            Found::Gone(how, cause)
        }
        _ if !complete || !owned(inputs, slot, seen) => Found::Here(Standing::Fixed),
        MachineState::Stopping if bugs::on(Bug::StoppingMachinesForgotten) => {
            Found::Gone(Departure::Ended, None)
        }
        MachineState::Stopping => Found::Here(Standing::Ending),
        MachineState::Failed => {
            let kind = seen.cause.as_ref().map_or(CauseKind::Unwell, |cause| cause.kind);
            Found::Here(Standing::Failed(kind))
        }
        MachineState::Stopped => Found::Here(Standing::Stopped),
        MachineState::Pending | MachineState::Running if interrupted => {
            Found::Here(Standing::Interrupted)
        }
        // An end that was asked for and not obeyed is asked for again.
        MachineState::Pending | MachineState::Running => Found::Here(Standing::Good),
    }
}

/// How a machine went that is gone for certain.
fn departure(pool: &PoolId, ending: bool, failed: bool, cause: Option<&Cause>) -> Departure {
    if ending {
        return Departure::Ended;
    }
    match cause.map(|cause| cause.kind) {
        Some(CauseKind::Interrupted) => Departure::Interrupted,
        Some(CauseKind::Person | CauseKind::Guest) => Departure::EndedByOther,
        Some(CauseKind::Expired) => Departure::Expired,
        Some(CauseKind::LaunchFailed | CauseKind::NeverReady | CauseKind::Unwell) => {
            Departure::Failed
        }
        None if failed => Departure::Failed,
        // Spot that its cloud confirms to be gone was taken back: that is what spot is.
        None if pool.market == Market::Spot && !bugs::on(Bug::VanishedSpotFrozen) => {
            Departure::Interrupted
        }
        None => Departure::Vanished,
    }
}

pub(crate) fn jiff_duration(duration: Duration) -> jiff::SignedDuration {
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
    let mut namesakes: BTreeMap<&FleetUid, u32> = BTreeMap::new();
    for machine in inputs.observed.machines.values().filter(|m| m.state.is_live()) {
        let Some(owner) = &machine.owner else { continue };
        if owner.fleet != inputs.uid {
            if owner.name == inputs.desired.fleet && inputs.recorded.uid.is_some() {
                *namesakes.entry(&owner.fleet).or_default() += 1;
            }
            continue;
        }
        if recorded.contains_key(&machine.id) {
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
    let others = namesakes.into_iter();
    ledger
        .notices
        .extend(others.map(|(uid, machines)| Notice::Namesakes { machines, uid: uid.clone() }));
}
