//! The judge: sees everything that happens, knows the clouds' own truth, and says which promise
//! is broken. One file per family of promises, named by the letters of docs/safety.md.

mod a_b_launches;
mod book;
mod c_writers;
mod d_e_records;
mod f_g_ends;
mod h_i_amounts;
mod j_k_calls;
mod j_rates;
mod k_failures;
mod m_children;
mod p_labels;
mod q_health;
mod q_rollouts;
mod r_clock;

use book::Book;
use fleet_model::{
    Desired, Event, Limits, Machine, MachineId, MachineState, Orphans, Scope, SlotId, SlotName,
    Timestamp, Token, Units,
};
use fleet_run::Record;
use r_clock::Goals;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// A broken promise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Its letter.
    pub class: char,
    /// What happened.
    pub what: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.class, self.what)
    }
}

/// A machine that one of our requests made, as it was born.
#[derive(Debug, Clone)]
pub(crate) struct Birth {
    pub(crate) slot: SlotId,
    pub(crate) token: Token,
    /// The cloud made it beyond what was asked for.
    pub(crate) surplus: bool,
}

/// What is known of one process.
pub(crate) struct Facts {
    pub(crate) desired: Desired,
    pub(crate) limits: Limits,
    /// The last answer to each look.
    looks: BTreeMap<Scope, Look>,
    /// Machines that its requests ended.
    ended: BTreeSet<MachineId>,
    /// Whether it works towards less than the fleet was meant to hold at some moment of its life.
    lowered: bool,
    /// The most machines that were on record and not ending while it ran.
    most_live: u32,
    /// Capacity that stood or was under way when it began, and what stood.
    held_before: Units,
    stood_before: Units,
    /// When that was, truly.
    began: Timestamp,
    /// What was on record then.
    changes: u64,
    wrote: bool,
    calls: j_k_calls::Calls,
    /// It waits until machines are ready.
    waits: bool,
    rates: j_rates::Rates,
    /// The last that was heard of it before its present look began, and whether that goes on: what it knows
    /// and means is no older.
    looked_from: Timestamp,
    looking: bool,
    heard_of: Timestamp,
    /// Whether it may destroy the fleet because no spec names it; `None`: it has a spec.
    prunes: Option<bool>,
    /// What answers said that their launch made.
    heard: BTreeMap<Token, Vec<MachineId>>,
}

/// What a scope answered.
struct Look {
    complete: bool,
    /// It also said what disks and interfaces there are.
    children: bool,
}

impl Look {
    /// Whether it answered in full.
    fn is_whole(&self) -> bool {
        self.complete && self.children
    }
}

/// Sees, remembers, judges.
pub(crate) struct Judge {
    pub(crate) violations: Vec<Violation>,
    pub(crate) book: Book,
    /// Machines that requests of ours made.
    pub(crate) births: BTreeMap<MachineId, Birth>,
    /// Machines that their clouds call failed, and since when.
    failed: BTreeMap<MachineId, Timestamp>,
    /// Machines whose tags others changed, or that others launched.
    pub(crate) touched: BTreeSet<MachineId>,
    /// The true time, at the last look.
    pub(crate) now: Timestamp,
    /// Everything the clouds have, at the last look.
    pub(crate) truth: Vec<Machine>,
    /// What machines that are gone left behind, at the last look.
    orphans: Vec<Orphans>,
    processes: BTreeMap<u32, Facts>,
    /// The last epoch of the lease that each process took.
    leases: BTreeMap<u32, u64>,
    /// The last one that somebody acted on, and who.
    acted: Option<(u64, u32)>,
    /// Lists lacked machines and called themselves whole, or a clock was set: nobody knows which
    /// machines a process took for failed, and when.
    pub(crate) blurred: bool,
    /// Whether prices stand still, so that money can be checked to the cent.
    fixed_prices: bool,
    rollouts: q_rollouts::Rollouts,
    health: q_health::Health,
    frozen: Option<r_clock::Frozen>,
}

impl Judge {
    pub(crate) fn new(fixed_prices: bool) -> Self {
        Judge {
            violations: Vec::new(),
            book: Book::default(),
            births: BTreeMap::new(),
            failed: BTreeMap::new(),
            touched: BTreeSet::new(),
            now: Timestamp::UNIX_EPOCH,
            truth: Vec::new(),
            orphans: Vec::new(),
            processes: BTreeMap::new(),
            leases: BTreeMap::new(),
            acted: None,
            blurred: false,
            fixed_prices,
            rollouts: q_rollouts::Rollouts::default(),
            health: q_health::Health::default(),
            frozen: None,
        }
    }

    /// Something is wrong.
    pub(crate) fn fail(&mut self, class: char, what: impl Into<String>) {
        self.violations.push(Violation { class, what: what.into() });
    }

    /// A process begins to work towards something.
    pub(crate) fn begins(&mut self, process: u32, desired: &Desired, limits: Limits) {
        let (held_before, stood_before) = (self.held(desired), self.stands(desired));
        let goals = Goals::between(desired, self.now, self.now, self.blurred);
        let facts = Facts {
            desired: desired.clone(),
            limits,
            looks: BTreeMap::new(),
            ended: BTreeSet::new(),
            lowered: self.book.is_lowered_by(goals.least),
            most_live: self.book.live(),
            held_before,
            stood_before,
            began: self.now,
            changes: self.book.changes,
            wrote: false,
            calls: j_k_calls::Calls::default(),
            waits: false,
            rates: j_rates::Rates::default(),
            looked_from: self.now,
            looking: false,
            heard_of: self.now,
            prunes: None,
            heard: BTreeMap::new(),
        };
        self.processes.insert(process, facts);
    }

    /// The limits of a process are others now: a person said a number.
    pub(crate) fn allows(&mut self, process: u32, limits: Limits) {
        if let Some(facts) = self.processes.get_mut(&process) {
            facts.limits = limits;
        }
    }

    /// A process begins to look, or goes on with it.
    pub(super) fn looks(&mut self, process: u32) {
        if let Some(facts) = self.processes.get_mut(&process)
            && !facts.looking
        {
            (facts.looking, facts.looked_from) = (true, facts.heard_of);
        }
    }

    /// A process has looked at everything.
    pub(crate) fn looked(&mut self, process: u32) {
        let now = self.now;
        if let Some(facts) = self.processes.get_mut(&process) {
            (facts.looking, facts.heard_of) = (false, now);
        }
    }

    /// The clouds' own truth, after something happened.
    pub(crate) fn look(
        &mut self,
        now: Timestamp,
        truth: &[Machine],
        surplus: &[MachineId],
        orphans: Vec<Orphans>,
    ) {
        self.now = now;
        self.truth = truth.to_vec();
        self.orphans = orphans;
        self.note_failures();
        self.note_running();
        self.check_births(surplus);
        self.check_one_per_slot();
    }

    /// An object was written by a process.
    pub(crate) fn written(
        &mut self,
        process: u32,
        path: &str,
        record: Option<Record>,
        overwrites: bool,
    ) {
        self.check_write(process, path, record.as_ref(), overwrites);
        let Some(record) = record else { return };
        for event in &record.events {
            self.check_event(process, event);
            self.check_wishes(process, event);
            self.check_rollouts(process, event, record.at);
            self.book.fold(process, event, record.at, self.now);
            self.tell_twins_apart(event);
            self.check_amounts(process, event);
            self.check_resends(process, event);
        }
        let live = self.book.live();
        let (now, blurred) = (self.now, self.blurred);
        for facts in self.processes.values_mut() {
            let goals = Goals::between(&facts.desired, facts.looked_from, now, blurred);
            facts.lowered |= self.book.is_lowered_by(goals.least);
        }
        if let Some(facts) = self.processes.get_mut(&process) {
            facts.most_live = facts.most_live.max(live);
            facts.heard_of = now;
        }
    }

    fn check_event(&mut self, process: u32, event: &Event) {
        match event {
            Event::CreateIntended { create } => {
                self.check_intent(create);
                self.check_works(process, create);
                self.check_complete(process, &create.pool.place.scope(), "launches in");
            }
            Event::Created { token, machines, surplus, .. } => {
                let ids = machines.iter().map(|new| &new.machine).chain(surplus);
                let ids: BTreeSet<MachineId> = ids.cloned().collect();
                self.check_all_heard(process, token, &ids);
            }
            Event::CreateRefused { token, code, .. } => {
                self.check_refusal(process, token, code);
                self.check_writes_off(token);
            }
            Event::DestroyIntended { pool, slots } => {
                self.check_complete(process, &pool.place.scope(), "ends machines in");
                self.check_known_victims(slots);
            }
            Event::Vacated { gone } => {
                self.check_forgets(process, gone);
                self.check_buries(gone);
            }
            Event::Opened { .. }
            | Event::AccountSeen { .. }
            | Event::LabelsMeant { .. }
            | Event::TemplateMeant { .. }
            | Event::Relabelled { .. }
            | Event::NoticeTold { .. }
            | Event::BusyTold { .. }
            | Event::ReplaceAsked { .. }
            | Event::ReplaceWithdrawn { .. }
            | Event::Frozen { .. }
            | Event::Thawed
            | Event::HealthSeen { .. }
            | Event::Rollout { .. }
            | Event::Drained { .. }
            | Event::Renamed { .. }
            | Event::Adopted { .. }
            | Event::Released { .. }
            | Event::Fallback { .. }
            | Event::Cheaper { .. }
            | Event::Priced { .. }
            | Event::Moving { .. }
            | Event::Failed { .. }
            | Event::Readopted { .. }
            | Event::Epoch { .. }
            | Event::RoundStarted { .. }
            | Event::CreateResent { .. }
            | Event::CreateUnknown { .. }
            | Event::DestroyRefused { .. }
            | Event::DestroyUnknown { .. }
            | Event::Blocked { .. }
            | Event::RoundEnded { .. } => {}
        }
    }

    /// Machines that requests of ours made and that nobody else laid hands on, live in truth.
    pub(crate) fn ours(&self) -> impl Iterator<Item = (&Machine, &Birth)> {
        self.truth.iter().filter_map(|machine| {
            let birth = self.births.get(&machine.id)?;
            let ours = machine.state.is_live() && !self.touched.contains(&machine.id);
            ours.then_some((machine, birth))
        })
    }

    /// Of two machines that a cloud made for one slot of one launch the one on record fills it,
    /// whichever was seen first. The other is what nobody asked for.
    fn tell_twins_apart(&mut self, event: &Event) {
        let Event::Created { machines, .. } = event else { return };
        for new in machines {
            let Some(Birth { slot, token, surplus: true }) = self.births.get(&new.machine).cloned()
            else {
                continue;
            };
            for (id, twin) in &mut self.births {
                if twin.token == token && twin.slot == slot {
                    twin.surplus = *id != new.machine;
                }
            }
        }
    }

    /// Machines that nobody asked for.
    pub(crate) fn surplus(&self) -> Vec<MachineId> {
        let surplus = self.births.iter().filter(|(_, birth)| birth.surplus);
        surplus.map(|(id, _)| id.clone()).collect()
    }

    /// Whether a machine is the one that fills its slot. Of two that one launch made for the same
    /// slot either may be: the journal says which.
    fn fills(&self, machine: &Machine, birth: &Birth) -> bool {
        let on_record = |filled: &book::Filled| filled.machine == machine.id;
        if self.book.filled.get(&birth.slot.name).is_some_and(on_record) {
            return true;
        }
        !birth.surplus && !self.book.surplus.contains(&machine.id)
    }

    /// Whether a machine is there to stay, as far as its cloud says.
    fn stays(machine: &Machine) -> bool {
        let up = matches!(machine.state, MachineState::Pending | MachineState::Running);
        up && machine.notice.is_none()
    }

    /// The live machine of ours that fills a slot.
    fn filler(&self, slot: SlotName) -> Option<&Machine> {
        let mut ours = self.ours().filter(|(machine, birth)| self.fills(machine, birth));
        ours.find(|(_, birth)| birth.slot.name == slot).map(|(machine, _)| machine)
    }
}
