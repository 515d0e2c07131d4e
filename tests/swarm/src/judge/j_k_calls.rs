//! J: how often a process asks. K: who said no is not asked again before its time.

use super::Judge;
use fleet_model::{Create, Scope};
use fleet_provider::{Class, Error, Listing};
use std::collections::BTreeSet;

/// What a process asked so far.
#[derive(Debug, Default)]
pub(super) struct Calls {
    all: u64,
    again: u64,
    /// Scopes whose last answer was "later".
    later: BTreeSet<Scope>,
    tokens: BTreeSet<fleet_model::Token>,
}

/// Retries that a short run may make whatever it asks, and the share of calls beyond: twice what the
/// engine allows itself, because a new look at a scope that said "later" cannot be told from a retry.
const FREE_RETRIES: u64 = 40;
const CALLS_PER_RETRY: u64 = 5;

impl Judge {
    /// A process asks a scope for its machines.
    pub(crate) fn asks(&mut self, process: u32, scope: &Scope) {
        self.counts_call(process);
        self.looks(process);
        if let Some(facts) = self.processes.get_mut(&process) {
            facts.calls.again += u64::from(facts.calls.later.contains(scope));
        }
        self.check_retries(process);
    }

    pub(super) fn counts_answer(
        &mut self,
        process: u32,
        scope: &Scope,
        answer: &Result<Listing, Error>,
    ) {
        let Some(facts) = self.processes.get_mut(&process) else { return };
        match answer {
            Err(Error { class: Class::Retry { .. }, .. }) => {
                facts.calls.later.insert(scope.clone());
            }
            Ok(_) | Err(_) => {
                facts.calls.later.remove(scope);
            }
        }
    }

    pub(super) fn counts_create(&mut self, process: u32, create: &Create) {
        self.counts_call(process);
        if let Some(facts) = self.processes.get_mut(&process) {
            let again = !facts.calls.tokens.insert(create.token.clone());
            facts.calls.again += u64::from(again);
        }
        self.check_retries(process);
    }

    pub(super) fn counts_call(&mut self, process: u32) {
        if let Some(facts) = self.processes.get_mut(&process) {
            facts.calls.all += 1;
        }
    }

    /// A process waits until machines are ready: it looks again and again, and nobody can tell its looks
    /// from retries.
    pub(crate) fn waits(&mut self, process: u32) {
        if let Some(facts) = self.processes.get_mut(&process) {
            facts.waits = true;
        }
    }

    fn check_retries(&mut self, process: u32) {
        let Some(facts) = self.processes.get(&process) else { return };
        let (all, again) = (facts.calls.all, facts.calls.again);
        if again > FREE_RETRIES + all / CALLS_PER_RETRY && !facts.waits {
            self.fail('J', format!("p{process} asked {all} times, {again} of them again"));
        }
    }

    /// A launch is sent, and its pool may have said no before it was written down. Sending again
    /// what may have arrived asks for nothing new, whatever was said since.
    pub(super) fn check_not_blocked(&mut self, create: &Create) {
        let Some(intent) = self.book.intents.get(&create.token) else { return };
        if let Some(block) = self.book.blocked(create, intent.at) {
            let what =
                format!("{} is asked, and said {} until {}", create.pool, block.code, block.until);
            self.fail('K', what);
        }
    }
}
