//! Clearing away what machines left behind.
//!
//! No event of its own is written: the machine's record, or the launch that is in doubt, stays until
//! nothing is left, and clearing away twice does no harm.

use crate::apply::sent::{NotSent, Sent};
use crate::apply::session::Session;
use crate::calls::Patience;
use crate::progress::Stop;
use fleet_model::{Operation, Orphans, Scope, digest};
use fleet_provider::ClearRequest;
use std::collections::BTreeMap;

/// Machines whose remains one request clears away.
const AT_ONCE: usize = 100;

impl Session<'_> {
    /// Clears away; of how many machines nothing is left. What stays is tried again by the next
    /// apply: nobody waits for it.
    pub(crate) async fn clear(&self, orphans: &[Orphans], stop: &Stop) -> u32 {
        let mut scopes: BTreeMap<&Scope, Vec<Orphans>> = BTreeMap::new();
        for left in orphans {
            scopes.entry(&left.scope).or_default().push(left.clone());
        }
        let mut cleared = 0;
        for (scope, orphans) in scopes {
            for some in orphans.chunks(AT_ONCE) {
                if !stop.asked() {
                    cleared += self.clear_some(scope, some).await;
                }
            }
        }
        cleared
    }

    async fn clear_some(&self, scope: &Scope, orphans: &[Orphans]) -> u32 {
        let engine = self.engine;
        let (Some(provider), Some(fleet)) =
            (engine.providers.get(&scope.cloud), self.journal.recorded_uid())
        else {
            return 0;
        };
        let request = ClearRequest { fleet: &fleet, scope, orphans };
        let seed = digest("clear/1", orphans.iter().map(|left| left.machine.as_str().as_bytes()));
        let answer = engine
            .calls
            .retrying(seed.as_u64(), Patience::Change, || async {
                engine.calls.limits.turn(scope, Operation::End).await;
                if !self.lease.is_held() {
                    return Ok(Err(NotSent::LeaseLost));
                }
                let asked = provider.clear(&request);
                let answer = engine.calls.measured.cloud(scope.cloud, "clear", asked).await;
                engine.calls.paced(scope, Operation::End, answer).map(Ok)
            })
            .await;
        match Sent::of(answer) {
            Sent::Answered(Ok(cleared)) => cleared,
            Sent::Answered(Err(error)) => {
                tracing::warn!(%scope, %error, "what machines left behind is still there");
                0
            }
            Sent::Not(_) => 0,
        }
    }
}
