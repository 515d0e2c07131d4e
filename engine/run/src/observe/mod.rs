//! Looking: every scope is asked, and answers in full or is a gap.
//!
//! A list proves nothing of what is not in it. Machines of the journal that a list lacks are asked for
//! one by one before anybody takes them for gone.

mod look;
mod seams;
mod sweep;
mod trace;

pub use sweep::{Orphan, Stray, Sweep};

use crate::engine::Engine;
use fleet_model::{AccountKey, Machine, Observed, Recorded, Scope};
use futures::{StreamExt, stream};
use look::{AccountLook, Unseen};
use std::collections::{BTreeMap, BTreeSet};

/// Accounts asked at once.
const ASKED_AT_ONCE: usize = 32;

impl Engine {
    /// Asks every scope for its machines, and for those of the journal that its list lacks.
    pub(crate) async fn observe(&self, scopes: BTreeSet<Scope>, recorded: &Recorded) -> Observed {
        // Before the first question: what is launched from here on may be missing from an answer.
        let taken_at = self.clock.earliest();
        let mut observed = Observed {
            taken_at,
            machines: BTreeMap::new(),
            complete: BTreeSet::new(),
            gaps: Vec::new(),
            glimpsed: BTreeMap::new(),
            gone: BTreeMap::new(),
            accounts: BTreeMap::new(),
            orphans: BTreeMap::new(),
        };
        let mut accounts: BTreeMap<AccountKey, Vec<Scope>> = BTreeMap::new();
        for scope in scopes {
            accounts.entry(AccountKey::of(&scope)).or_default().push(scope);
        }
        let looks: Vec<AccountLook> = stream::iter(accounts)
            .map(|(key, scopes)| self.look_at_account(key, scopes, recorded))
            .buffer_unordered(ASKED_AT_ONCE)
            .collect()
            .await;
        let by_id = |machine: Machine| (machine.id.clone(), machine);
        for AccountLook { key, account, scopes } in looks {
            observed.accounts.extend(account.map(|account| (key, account)));
            for (scope, answer) in scopes {
                match answer {
                    Ok((machines, orphans)) => {
                        observed.complete.insert(scope);
                        observed.machines.extend(machines.into_iter().map(by_id));
                        let orphans = orphans.into_iter().map(|left| (left.machine.clone(), left));
                        observed.orphans.extend(orphans);
                    }
                    Err(Unseen { gap, glimpsed }) => {
                        observed.gaps.push(gap);
                        observed.glimpsed.extend(glimpsed.into_iter().map(by_id));
                    }
                }
            }
        }
        self.trace_missing(&mut observed, recorded).await;
        observed.gaps.sort_by(|a, b| a.scope.cmp(&b.scope));
        observed
    }
}
