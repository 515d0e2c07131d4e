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

use crate::calls::AccountLook;
use crate::engine::Engine;
use crate::observe::share::Share;
use fleet_model::{AccountKey, FleetName, Observed, Recorded, Scope};
use futures::future::join_all;
use futures::{StreamExt, stream};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Accounts asked at once.
const ASKED_AT_ONCE: usize = 32;

/// Who looks at clouds.
pub(crate) struct Looker<'a> {
    /// The fleet, which knows its machines by its name when its journal is lost. Without one, all machines are seen.
    pub(crate) fleet: Option<&'a FleetName>,
    /// Where to look.
    pub(crate) scopes: BTreeSet<Scope>,
    /// What the journal says.
    pub(crate) recorded: &'a Recorded,
}

impl Engine {
    /// Asks every scope for its machines, and for those of the journal that its list lacks.
    pub(crate) async fn observe(&self, looker: Looker<'_>) -> Observed {
        let mut observed = self.observe_all(vec![looker]).await;
        observed.pop().unwrap_or_else(|| Observed::nothing(self.clock.earliest()))
    }

    /// The same for several: each account is asked once for all of them.
    pub(crate) async fn observe_all(&self, lookers: Vec<Looker<'_>>) -> Vec<Observed> {
        // Before the first question: what is launched from here on may be missing from an answer.
        let taken_at = self.clock.earliest();
        let mut accounts: BTreeMap<AccountKey, BTreeSet<Scope>> = BTreeMap::new();
        for scope in lookers.iter().flat_map(|looker| &looker.scopes) {
            accounts.entry(AccountKey::of(scope)).or_default().insert(scope.clone());
        }
        let known = |key: &AccountKey, scopes: &BTreeSet<Scope>| {
            let here = lookers.iter().filter(|looker| !looker.scopes.is_disjoint(scopes));
            here.map(|looker| seams::known_account(looker.recorded, key).cloned()).collect()
        };
        let looks: Vec<Arc<AccountLook>> = stream::iter(accounts)
            .map(|(key, scopes)| {
                let known = known(&key, &scopes);
                let scopes: Vec<Scope> = scopes.into_iter().collect();
                async move {
                    let look = async |known| self.look_at_account(key, &scopes, known).await;
                    self.calls.turns.take(&scopes, known, look).await
                }
            })
            .buffer_unordered(ASKED_AT_ONCE)
            .collect()
            .await;
        let mut observed = vec![Observed::nothing(taken_at); lookers.len()];
        let share = Share::between(&lookers);
        for look in looks {
            let look = Arc::try_unwrap(look).unwrap_or_else(|look| share.copy_of(&look));
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
