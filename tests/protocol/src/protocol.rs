//! States, actions and what each does.

use stateright::{Model, Property};

/// Appliers that work on one fleet.
pub const APPLIERS: usize = 2;
/// Slots of the fleet.
pub const SLOTS: usize = 3;
/// Tries of one slot that are followed.
const TRIES: usize = 3;

/// A try of a slot: each has its own token.
pub type Attempt = u8;

/// A part of the protocol that is left out, to see that the model can fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Broken {
    /// A new holder writes no epoch record.
    NoEpochRecord,
    /// An append replaces a record that is there already.
    AppendNotConditional,
    /// The lease is not checked before a request is sent.
    LeaseNotChecked,
    /// Absence is taken as proof at once.
    NoSettleWindow,
}

/// The world to explore.
#[derive(Debug, Clone, Copy)]
pub struct Protocol {
    /// Whether the cloud makes one set of machines per token, however often it is asked.
    pub tokens: bool,
    /// Whether a request may reach the cloud later than a settle window after it was last written
    /// down: its holder was paused between check and send. Everywhere else pauses are unbounded.
    pub long_pauses: bool,
    /// What is left out.
    pub broken: Option<Broken>,
    /// How many troubles there are: crashes, leases that run out under a living holder, requests
    /// that are refused or whose answer is lost.
    pub troubles: u8,
}

/// One journal record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Rec {
    /// Who wrote it.
    pub by: u8,
    /// Under which epoch of the journal.
    pub epoch: u8,
    /// What it says.
    pub what: What,
}

/// What a record says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum What {
    /// A new writer begins.
    Epoch,
    /// A slot is about to be filled.
    Intent(u8),
    /// The request for a slot is about to be sent again.
    Resent(u8),
    /// A machine fills the slot.
    Filled(u8),
    /// It is proven that the last try made nothing.
    Dead(u8),
    /// Nobody knows what became of the last try.
    Unknown(u8),
}

/// How a slot stands, by the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Slot {
    /// Free; the number of its next try.
    Vacant(Attempt),
    /// A try is in doubt.
    InDoubt(Attempt),
    /// Filled by a try.
    Filled(Attempt),
}

/// Where an applier is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Pc {
    /// Not running.
    Idle,
    /// Has seen a free lease and its epoch.
    Saw(u8),
    /// Holds the lease; the journal is not read.
    Open,
    /// Decides what to do next.
    Work,
    /// A look said something of a slot that is to be written down.
    Looked(u8, bool),
    /// The intent is written down.
    Intended(u8),
    /// The lease was checked.
    Checked(u8),
    /// The request was answered: made, refused, or nobody knows.
    Answered(u8, Option<bool>),
    /// The check said no, which is to be written down.
    LeaseLost(u8),
}

/// One applier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Applier {
    /// Where it is.
    pub pc: Pc,
    /// Records of the journal that it knows.
    pub seen: u8,
    /// Its epoch in the journal; 0 before its first record.
    pub epoch: u8,
}

/// The lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Lease {
    epoch: u8,
    holder: Option<u8>,
    /// Whether it has not run out.
    valid: bool,
}

/// Everything there is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct State {
    /// The appliers.
    pub appliers: [Applier; APPLIERS],
    lease: Lease,
    /// The journal.
    pub journal: Vec<Rec>,
    /// Live machines per slot and try.
    pub cloud: [[u8; TRIES]; SLOTS],
    /// Whether a settle window has passed since the slot's try was last sent.
    settled: [bool; SLOTS],
    /// Troubles left.
    troubles: u8,
    /// Appends that were accepted.
    pub accepted: u8,
    /// A request was sent that its sender had not written down.
    pub unrecorded: bool,
    /// A request arrived after its settle window, when its try may have been given up for dead.
    pub late: bool,
}

/// A step of somebody.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Act {
    /// An applier takes its only next step.
    Step(u8),
    /// It looks at the cloud for a slot in doubt, and sees it or not.
    Look(u8, u8),
    /// It sends a request in doubt again.
    Resend(u8, u8),
    /// Its request is answered: made or not, and whether the answer arrives.
    Answer {
        /// Whose request.
        by: u8,
        /// Whether machines were made.
        made: bool,
        /// Whether the answer is lost.
        lost: bool,
    },
    /// It dies.
    Crash(u8),
    /// Its lease runs out.
    Lapse(u8),
    /// A settle window passes.
    Settle(u8),
}

impl Protocol {
    fn is(&self, broken: Broken) -> bool {
        self.broken == Some(broken)
    }
}

/// Where a try is counted. More tries than are followed exist only where the protocol is broken.
fn try_of(attempt: Attempt) -> usize {
    (attempt as usize).min(TRIES - 1)
}

/// How each slot stands after some records.
pub(crate) fn fold(journal: &[Rec]) -> [Slot; SLOTS] {
    let mut slots = [Slot::Vacant(0); SLOTS];
    for record in journal {
        let (slot, next): (u8, fn(Attempt) -> Slot) = match record.what {
            What::Epoch | What::Resent(_) | What::Unknown(_) => continue,
            What::Intent(slot) => (slot, Slot::InDoubt),
            What::Filled(slot) => (slot, Slot::Filled),
            What::Dead(slot) => (slot, |attempt| Slot::Vacant(attempt + 1)),
        };
        let at = &mut slots[slot as usize];
        let (Slot::Vacant(attempt) | Slot::InDoubt(attempt) | Slot::Filled(attempt)) = *at;
        *at = next(attempt);
    }
    slots
}

impl State {
    /// What an applier knows of a slot.
    fn known(&self, by: u8, slot: u8) -> Slot {
        let seen = (self.appliers[by as usize].seen as usize).min(self.journal.len());
        fold(&self.journal[..seen])[slot as usize]
    }

    fn holds(&self, by: u8) -> bool {
        self.lease.valid && self.lease.holder == Some(by)
    }

    fn stop(&mut self, by: u8) {
        self.appliers[by as usize] = Applier { pc: Pc::Idle, seen: 0, epoch: 0 };
    }

    /// Creates the next record, or finds that somebody else did, and stops.
    fn append(&mut self, protocol: &Protocol, by: u8, what: What, then: Pc) {
        let applier = &mut self.appliers[by as usize];
        let seen = applier.seen as usize;
        let taken = self.journal.len() > seen;
        if taken && !protocol.is(Broken::AppendNotConditional) {
            return self.stop(by);
        }
        let current = self.journal[..seen].iter().map(|record| record.epoch).max().unwrap_or(0);
        if what == What::Epoch {
            applier.epoch = current + 1;
        } else if protocol.is(Broken::NoEpochRecord) {
            applier.epoch = current.max(1);
        }
        let record = Rec { by, epoch: applier.epoch, what };
        if taken {
            self.journal[seen] = record;
        } else {
            self.journal.push(record);
        }
        applier.seen += 1;
        applier.pc = then;
        self.accepted += 1;
        if let What::Intent(slot) | What::Resent(slot) = what {
            self.settled[slot as usize] = false;
        }
    }

    /// The request for a slot reaches the cloud.
    fn arrive(&mut self, protocol: &Protocol, by: u8, slot: u8, made: bool) {
        let known = self.known(by, slot);
        let (Slot::Vacant(attempt) | Slot::InDoubt(attempt) | Slot::Filled(attempt)) = known;
        self.unrecorded |= !matches!(known, Slot::InDoubt(_));
        let truth = fold(&self.journal)[slot as usize];
        let moved_on = truth != Slot::InDoubt(attempt) && truth != Slot::Filled(attempt);
        self.late |= moved_on || self.settled[slot as usize];
        let machines = &mut self.cloud[slot as usize][try_of(attempt)];
        if made {
            *machines = if protocol.tokens { 1 } else { (*machines + 1).min(2) };
        }
    }

    /// The only next step of an applier, if it has one of its own.
    fn step(&mut self, protocol: &Protocol, by: u8) -> Option<()> {
        let applier = self.appliers[by as usize];
        match applier.pc {
            Pc::Idle => {
                let free = self.lease.holder.is_none() || !self.lease.valid;
                let idle = fold(&self.journal).iter().all(|slot| matches!(slot, Slot::Filled(_)));
                if !free || idle {
                    return None;
                }
                self.appliers[by as usize].pc = Pc::Saw(self.lease.epoch);
            }
            Pc::Saw(epoch) if self.lease.epoch == epoch => {
                self.lease = Lease { epoch: epoch + 1, holder: Some(by), valid: true };
                self.appliers[by as usize].pc = Pc::Open;
            }
            Pc::Saw(_) => self.stop(by),
            Pc::Open => {
                let seen = self.journal.len() as u8;
                self.appliers[by as usize] = Applier { pc: Pc::Work, seen, epoch: 0 };
            }
            Pc::Work => return self.work(protocol, by),
            Pc::Looked(slot, there) => {
                let what = if there { What::Filled(slot) } else { What::Dead(slot) };
                self.append(protocol, by, what, Pc::Work);
            }
            Pc::Intended(slot) => {
                let goes = self.holds(by) || protocol.is(Broken::LeaseNotChecked);
                let pc = if goes { Pc::Checked(slot) } else { Pc::LeaseLost(slot) };
                self.appliers[by as usize].pc = pc;
            }
            Pc::Checked(_) => return None,
            Pc::Answered(slot, made) => {
                let what = match made {
                    Some(true) => What::Filled(slot),
                    Some(false) => What::Dead(slot),
                    None => What::Unknown(slot),
                };
                self.append(protocol, by, what, Pc::Work);
            }
            Pc::LeaseLost(slot) => {
                // Only a first sending proves that nothing was sent.
                let resent = self.journal.iter().any(|record| record.what == What::Resent(slot));
                if resent {
                    self.stop(by);
                } else {
                    self.append(protocol, by, What::Dead(slot), Pc::Work);
                    if self.appliers[by as usize].pc == Pc::Work {
                        self.stop(by);
                    }
                }
            }
        }
        Some(())
    }

    fn work(&mut self, protocol: &Protocol, by: u8) -> Option<()> {
        let applier = self.appliers[by as usize];
        if !self.holds(by) {
            self.stop(by);
            return Some(());
        }
        let slots: Vec<Slot> = (0..SLOTS as u8).map(|slot| self.known(by, slot)).collect();
        if slots.iter().all(|slot| matches!(slot, Slot::Filled(_))) {
            self.lease.holder = None;
            self.stop(by);
            return Some(());
        }
        if applier.epoch == 0 && !protocol.is(Broken::NoEpochRecord) {
            self.append(protocol, by, What::Epoch, Pc::Work);
            return Some(());
        }
        // What is in doubt is settled first, by looks and resends of its own.
        if slots.iter().any(|slot| matches!(slot, Slot::InDoubt(_))) {
            return None;
        }
        let free =
            |slot: &Slot| matches!(slot, Slot::Vacant(attempt) if (*attempt as usize) < TRIES);
        let slot = slots.iter().position(free)? as u8;
        self.append(protocol, by, What::Intent(slot), Pc::Intended(slot));
        Some(())
    }
}

impl Model for Protocol {
    type State = State;
    type Action = Act;

    fn init_states(&self) -> Vec<State> {
        vec![State {
            appliers: [Applier { pc: Pc::Idle, seen: 0, epoch: 0 }; APPLIERS],
            lease: Lease { epoch: 0, holder: None, valid: false },
            journal: Vec::new(),
            cloud: [[0; TRIES]; SLOTS],
            settled: [false; SLOTS],
            troubles: self.troubles,
            accepted: 0,
            unrecorded: false,
            late: false,
        }]
    }

    fn actions(&self, state: &State, acts: &mut Vec<Act>) {
        let trouble = state.troubles > 0;
        for (by, applier) in (0u8..).zip(&state.appliers) {
            acts.push(Act::Step(by));
            let begun = applier.epoch > 0 || self.is(Broken::NoEpochRecord);
            if applier.pc == Pc::Work && begun && state.holds(by) {
                for slot in 0..SLOTS as u8 {
                    if matches!(state.known(by, slot), Slot::InDoubt(_)) {
                        acts.push(Act::Look(by, slot));
                        if self.tokens {
                            acts.push(Act::Resend(by, slot));
                        }
                    }
                }
            }
            if matches!(applier.pc, Pc::Checked(_)) {
                acts.push(Act::Answer { by, made: true, lost: false });
                if trouble {
                    acts.push(Act::Answer { by, made: true, lost: true });
                    acts.push(Act::Answer { by, made: false, lost: true });
                    acts.push(Act::Answer { by, made: false, lost: false });
                }
            }
            // A store whose answer is lost stops its writer: the same as a crash after the append.
            if trouble && applier.pc != Pc::Idle {
                acts.push(Act::Crash(by));
            }
            // A dead holder's lease runs out of itself; a living one's is a trouble.
            let dead = applier.pc == Pc::Idle;
            if state.holds(by) && (dead || trouble) {
                acts.push(Act::Lapse(by));
            }
        }
        acts.extend((0..SLOTS as u8).map(Act::Settle));
    }

    fn next_state(&self, last: &State, act: Act) -> Option<State> {
        let mut state = last.clone();
        match act {
            Act::Step(by) => state.step(self, by)?,
            Act::Look(by, slot) => {
                let Slot::InDoubt(attempt) = state.known(by, slot) else { return None };
                let there = state.cloud[slot as usize][try_of(attempt)] > 0;
                let proven = state.settled[slot as usize] || self.is(Broken::NoSettleWindow);
                if !there && !proven {
                    return None;
                }
                state.appliers[by as usize].pc = Pc::Looked(slot, there);
            }
            Act::Resend(by, slot) => {
                state.append(self, by, What::Resent(slot), Pc::Intended(slot));
            }
            Act::Answer { by, made, lost } => {
                let Pc::Checked(slot) = state.appliers[by as usize].pc else { return None };
                state.arrive(self, by, slot, made);
                // A refusal of a second sending says nothing of the first.
                let again = state.journal.iter().any(|record| record.what == What::Resent(slot));
                let answer = (!lost && (made || !again)).then_some(made);
                state.appliers[by as usize].pc = Pc::Answered(slot, answer);
                state.troubles -= u8::from(lost || !made);
            }
            Act::Crash(by) => {
                state.stop(by);
                state.troubles -= 1;
            }
            Act::Lapse(by) => {
                if state.appliers[by as usize].pc != Pc::Idle {
                    state.troubles -= 1;
                }
                state.lease.valid = false;
            }
            Act::Settle(slot) => {
                let doubt = matches!(fold(&state.journal)[slot as usize], Slot::InDoubt(_));
                // A holder that is not paused is quick, and one that is paused loses its lease.
                let on_its_way = |(by, applier): (u8, &Applier)| {
                    applier.pc == Pc::Checked(slot)
                        || applier.pc == Pc::Intended(slot) && state.holds(by)
                };
                let bound = !self.long_pauses && (0..).zip(&state.appliers).any(on_its_way);
                if !doubt || bound || state.settled[slot as usize] {
                    return None;
                }
                state.settled[slot as usize] = true;
            }
        }
        Some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        crate::properties::properties()
    }
}
