//! What the steps of one round share.

use crate::apply::seams;
use crate::calls::Open;
use crate::progress::StepResult;
use fleet_model::{BlockScope, Cloud, Create};
use fleet_provider::{Class, Error};
use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How one step ended.
pub(super) struct Ended {
    pub(super) created: u32,
    pub(super) destroyed: u32,
    pub(super) perhaps_destroyed: u32,
    pub(super) result: StepResult,
}

impl Ended {
    pub(super) fn launch(created: u32, result: StepResult) -> Self {
        Ended { created, destroyed: 0, perhaps_destroyed: 0, result }
    }

    pub(super) fn end(destroyed: u32, result: StepResult) -> Self {
        Ended { created: 0, destroyed, perhaps_destroyed: 0, result }
    }
}

/// What said no in this round, known to all its steps at once: one that waits for its turn while
/// another is refused does not ask the same pool again.
#[derive(Default)]
pub(crate) struct Blocked(Mutex<BTreeSet<BlockScope>>);

impl Blocked {
    pub(super) fn lock(&self) -> MutexGuard<'_, BTreeSet<BlockScope>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a launch would ask again what was refused in this round.
    pub(super) fn said_no(&self, create: &Create) -> bool {
        let covers = |scope: &BlockScope| create.pools().any(|pool| scope.covers(pool));
        seams::heeds(self.lock().iter().any(covers))
    }

    /// Neither written down nor sent: a breaker is open.
    pub(super) fn not_asked(&self, open: Open) -> Ended {
        self.lock().insert(open.scope);
        Ended::end(0, StepResult::Refused(open.words))
    }
}

/// A cloud that nobody can ask.
pub(super) fn no_provider(cloud: Cloud) -> Error {
    Error::new(cloud, Class::Auth, "NoProvider", "no provider is configured")
}
