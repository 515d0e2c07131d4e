//! What a watcher is told while a round runs, and how it asks to stop.

use crate::state::Waiting;
use fleet_model::{PoolId, SlotName, StepId};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// News of a running apply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Progress {
    /// Another run holds the lease, and we wait for it.
    Waiting(Waiting),
    /// Requests of an earlier run whose outcome is not known are being settled.
    Recovering {
        /// How many.
        requests: usize,
    },
    /// A round begins.
    RoundStarted {
        /// Counted from 1.
        round: u32,
        /// Machines to launch.
        create: u32,
        /// Machines to end.
        destroy: u32,
    },
    /// A step ended.
    StepEnded {
        /// Which.
        step: StepId,
        /// Its pool.
        pool: PoolId,
        /// Machines launched by it.
        created: u32,
        /// Machines ended by it.
        destroyed: u32,
        /// How it ended.
        result: StepResult,
    },
    /// A round ended.
    RoundEnded,
    /// Machines are to be replaced, and their successors are not up yet.
    Starting {
        /// The slots of the machines that stay until then.
        slots: Vec<SlotName>,
    },
    /// A change of template waits for machines to be ready, or for its pause to pass.
    Rolling {
        /// Machines that have the new template.
        updated: u32,
        /// Machines that do not.
        left: u32,
    },
}

/// How a step ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StepResult {
    /// All of it was done.
    Done,
    /// The cloud did less or nothing, and said why.
    Refused(String),
    /// Nobody knows.
    Unknown(String),
}

/// A request to stop: steps that are under way are finished, no new ones are started.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Asks to stop.
    pub fn ask(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// Whether somebody asked.
    pub fn asked(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}
