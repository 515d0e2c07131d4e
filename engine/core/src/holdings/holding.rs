//! What is held, as data.

use crate::holdings::leftovers::Leftover;
use crate::holdings::standing::Standing;
use fleet_model::{
    FailedMachine, MachineId, MicroUsd, Notice, PoolId, Readopt, SlotId, Timestamp, Units, Vacated,
};
use std::collections::BTreeMap;

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
    /// It was launched, and nobody saw it up yet.
    pub(crate) starting: bool,
}

impl Holding {
    /// What it adds to the bill per hour.
    pub(crate) fn bill(&self) -> Option<MicroUsd> {
        // Of a machine that is shut down only the disk is paid, whose price nobody tells us.
        let free = self.covered || self.standing == Standing::Stopped;
        if free { Some(MicroUsd(0)) } else { self.price }
    }
}

/// Everything held, and what was noticed on the way.
#[derive(Debug, Clone, Default)]
pub(crate) struct Inventory {
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
    pub(crate) leftovers: Vec<Leftover>,
    pub(crate) notices: Vec<Notice>,
    /// Machines recorded as live, and how many of them nobody can account for.
    pub(crate) recorded_live: u32,
    pub(crate) vanished: u32,
    /// Machines that are there, and that nobody sees yet.
    pub(crate) unseen: u32,
}
