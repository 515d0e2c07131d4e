//! What the durable journal says, read by the judge in its own words: no code of the engine folds
//! it, so that a mistake there is not a mistake here.

use fleet_model::{
    Block, BlockScope, CapacityGoal, Cloud, Create, Event, MachineId, Operation, PoolId, SlotName,
    Timestamp, Token,
};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// A launch that was written down.
#[derive(Debug, Clone)]
pub(crate) struct Intent {
    pub(crate) create: Create,
    /// When it was written down, by the clock of the writer.
    pub(crate) at: Timestamp,
    /// When it was last written down that it is sent.
    pub(crate) sent: Timestamp,
    /// Who wrote last that it is about to be sent.
    pub(crate) sender: u32,
    /// Whether its outcome is on record.
    pub(crate) settled: bool,
}

/// A machine on record.
#[derive(Debug, Clone)]
pub(crate) struct Filled {
    pub(crate) machine: MachineId,
    pub(crate) pool: PoolId,
    pub(crate) ending: bool,
}

/// The journal, read by the judge.
#[derive(Debug, Default)]
pub(crate) struct Book {
    pub(crate) intents: BTreeMap<Token, Intent>,
    pub(crate) filled: BTreeMap<SlotName, Filled>,
    pub(crate) surplus: BTreeSet<MachineId>,
    /// Machines that do not work, whatever their cloud says.
    pub(crate) failed: BTreeSet<MachineId>,
    /// With the time at which they were written down, by the clock of the writer.
    pub(crate) blocks: Vec<(Timestamp, Block)>,
    /// The true time at which the last of them was.
    pub(crate) last_block: Timestamp,
    /// Clouds of which the fleet's account is on record.
    pub(crate) accounts: BTreeSet<Cloud>,
    pub(crate) seq: u64,
    pub(crate) epoch: u64,
    /// Events that changed what is on record.
    pub(crate) changes: u64,
    /// What the fleet was last meant to hold, when it held no more.
    pub(crate) reached: Option<CapacityGoal>,
}

impl Book {
    /// Whether a spec asks for less than the fleet was meant to hold.
    pub(crate) fn is_lowered_by(&self, now: CapacityGoal) -> bool {
        self.reached.is_some_and(|was| was.unit == now.unit && now.target < was.target)
    }

    /// Machines on record whose end nobody asked for.
    pub(crate) fn live(&self) -> u32 {
        self.filled.values().filter(|filled| !filled.ending).count() as u32
    }

    /// Launches whose outcome is not on record.
    pub(crate) fn open(&self) -> impl Iterator<Item = &Intent> {
        self.intents.values().filter(|intent| !intent.settled)
    }

    /// Until when nobody can say how old some records are: a clock that was ahead wrote them.
    pub(crate) fn ahead_until(&self, now: Timestamp) -> Option<Timestamp> {
        let settle = Duration::from_secs(330);
        let doubts = self.open().map(|intent| intent.sent).filter(|sent| *sent > now);
        let doubts = doubts.map(|sent| sent.checked_add(settle).unwrap_or(Timestamp::MAX));
        let blocks = self.blocks.iter().filter(|(heard, _)| *heard > now);
        doubts.chain(blocks.map(|(_, block)| block.until)).max()
    }

    /// Who forbids a launch to be sent now. A word that came while it was on its way to the journal
    /// does not count: it is known to the process for as long as a slow store takes.
    pub(crate) fn blocked(&self, create: &Create, at: Timestamp) -> Option<&Block> {
        let known = |heard: Timestamp| at.duration_since(heard).as_secs() > 45;
        let mut blocks = self.blocks.iter().filter(|(heard, b)| known(*heard) && b.until > at);
        let covers = |block: &Block| match &block.scope {
            // Looks and ends that failed say nothing of launches.
            BlockScope::Breaker { operation: Operation::Look | Operation::End, .. } => false,
            scope => create.pools().any(|pool| scope.covers(pool)),
        };
        blocks.find(|(_, block)| covers(block)).map(|(_, block)| block)
    }

    pub(crate) fn fold(&mut self, process: u32, event: &Event, at: Timestamp, truly: Timestamp) {
        let news = !matches!(
            event,
            Event::Epoch { .. }
                | Event::RoundStarted { .. }
                | Event::RoundEnded { .. }
                | Event::HealthSeen { .. }
                | Event::Priced { .. }
        );
        self.changes += u64::from(news);
        match event {
            Event::Epoch { epoch, .. } => self.epoch = *epoch,
            Event::CreateIntended { create } => {
                let create = create.clone();
                let token = create.token.clone();
                let intent = Intent { create, at, sent: at, sender: process, settled: false };
                self.intents.insert(token, intent);
            }
            Event::CreateResent { token } => {
                if let Some(intent) = self.intents.get_mut(token) {
                    intent.sender = process;
                    intent.sent = at;
                }
            }
            Event::Created { token, machines, surplus, .. } => {
                let Some(intent) = self.intents.get_mut(token) else { return };
                intent.settled = true;
                for new in machines {
                    let pool = new.pool.clone().unwrap_or_else(|| intent.create.pool.clone());
                    let filled = Filled { machine: new.machine.clone(), pool, ending: false };
                    self.filled.insert(new.slot.name, filled);
                }
                self.surplus.extend(surplus.iter().cloned());
            }
            Event::CreateRefused { token, .. } => {
                if let Some(intent) = self.intents.get_mut(token) {
                    intent.settled = true;
                }
            }
            Event::DestroyIntended { slots, .. } => {
                for slot in slots {
                    if let Some(filled) = self.filled.get_mut(&slot.name) {
                        filled.ending = true;
                    }
                }
            }
            Event::DestroyRefused { slots, .. } => {
                for slot in slots {
                    if let Some(filled) = self.filled.get_mut(&slot.name) {
                        filled.ending = false;
                    }
                }
            }
            Event::Vacated { gone } => {
                for vacated in gone {
                    let this = self.filled.get(&vacated.slot);
                    if this.is_some_and(|filled| filled.machine == vacated.machine) {
                        self.filled.remove(&vacated.slot);
                    }
                }
            }
            Event::Blocked { block } => {
                self.blocks.push((at, block.clone()));
                self.last_block = truly;
            }
            Event::Readopted { machine: new, .. } => {
                if let Some(pool) = new.pool.clone() {
                    let filled = Filled { machine: new.machine.clone(), pool, ending: false };
                    self.filled.entry(new.slot.name).or_insert(filled);
                }
            }
            Event::Adopted { machines, .. } => {
                for new in machines {
                    if let Some(pool) = new.pool.clone() {
                        let filled = Filled { machine: new.machine.clone(), pool, ending: false };
                        self.filled.entry(new.slot.name).or_insert(filled);
                    }
                }
            }
            Event::Released { machines } => {
                for gone in machines {
                    let this = self.filled.get(&gone.slot);
                    if this.is_some_and(|filled| filled.machine == gone.machine) {
                        self.filled.remove(&gone.slot);
                    }
                }
            }
            Event::AccountSeen { key, .. } => {
                self.accounts.insert(key.cloud);
            }
            Event::Failed { failed } => {
                self.failed.extend(failed.iter().map(|one| one.machine.clone()));
            }
            Event::Opened { .. }
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
            | Event::Fallback { .. }
            | Event::Cheaper { .. }
            | Event::Priced { .. }
            | Event::Moving { .. }
            | Event::RoundStarted { .. }
            | Event::CreateUnknown { .. }
            | Event::DestroyUnknown { .. } => {}
            Event::RoundEnded { reached, .. } => self.reached = reached.or(self.reached),
        }
    }
}
