//! Looking: every scope is asked, and answers in full or is a gap.
//!
//! A list proves nothing of what is not in it. Machines of the journal that a list lacks are asked for
//! one by one before anybody takes them for gone.

mod addresses;
mod gather;
mod look;
mod namesakes;
mod seams;
mod share;
mod sweep;
mod trace;

pub use sweep::{Orphan, Stray, Sweep};

use crate::engine::Engine;
use crate::observe::share::Share;
use fleet_model::{AccountKey, FleetName, Observed, Recorded, Scope};
use futures::future::join_all;
use futures::{StreamExt, stream};
use look::AccountLook;
use std::collections::{BTreeMap, BTreeSet};

/// Accounts asked at once.
const ASKED_AT_ONCE: usize = 32;

/// A fleet that looks at clouds.
pub(crate) struct Looker<'a> {
    /// Its name, by which it knows its machines when its journal is lost.
    pub(crate) fleet: Option<&'a FleetName>,
    /// Where its machines may be.
    pub(crate) scopes: BTreeSet<Scope>,
    /// What its journal says.
    pub(crate) recorded: &'a Recorded,
}

impl Engine {
    /// Asks every scope for its machines, and for those of the journal that its list lacks.
    pub(crate) async fn observe(&self, scopes: BTreeSet<Scope>, recorded: &Recorded) -> Observed {
        let looker = Looker { fleet: None, scopes, recorded };
        let mut observed = self.observe_all(vec![looker]).await;
        observed.pop().unwrap_or_else(|| Observed::nothing(self.clock.earliest()))
    }

    /// The same for several fleets: each account is asked once for all of them.
    pub(crate) async fn observe_all(&self, lookers: Vec<Looker<'_>>) -> Vec<Observed> {
        // Before the first question: what is launched from here on may be missing from an answer.
        let taken_at = self.clock.earliest();
        let mut accounts: BTreeMap<AccountKey, BTreeSet<Scope>> = BTreeMap::new();
        for scope in lookers.iter().flat_map(|looker| &looker.scopes) {
            accounts.entry(AccountKey::of(scope)).or_default().insert(scope.clone());
        }
        let known = |key: &AccountKey, scopes: &BTreeSet<Scope>| {
            let here = lookers.iter().filter(|looker| !looker.scopes.is_disjoint(scopes));
            here.map(|looker| seams::known_account(looker.recorded, key)).collect::<Vec<_>>()
        };
        let looks: Vec<AccountLook> = stream::iter(accounts)
            .map(|(key, scopes)| {
                let known = known(&key, &scopes);
                self.look_at_account(key, scopes.into_iter().collect(), known)
            })
            .buffer_unordered(ASKED_AT_ONCE)
            .collect()
            .await;
        let mut observed = vec![Observed::nothing(taken_at); lookers.len()];
        let share = Share::between(&lookers);
        for look in looks {
            share.hand_out(look, &mut observed);
        }
        let traced = lookers.iter().zip(&mut observed).map(|(looker, observed)| async {
            self.trace_missing(observed, looker.recorded).await;
            observed.gaps.sort_by(|a, b| a.scope.cmp(&b.scope));
        });
        join_all(traced).await;
        observed
    }
}
