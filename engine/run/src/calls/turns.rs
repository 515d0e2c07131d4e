//! Looks at the same scopes share an answer, instead of asking side by side.
//!
//! When many fleets are interrupted at once, each wants to look. Lists of whole accounts that are asked for at the
//! same time wear out a cloud's limits, and each of them is held in memory. So a few looks go on at once, and all who
//! come meanwhile wait for the next one together. It begins after they came, so it shows whatever they did before.

use crate::calls::answer::AccountLook;
use fleet_model::Scope;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Semaphore;

/// Looks at the same scopes that go on at once. Two: who comes just after a slow one began need not wait for it.
const AT_ONCE: usize = 2;

/// Accounts in which those who look have machines, if any.
pub(crate) type Known = Vec<Option<String>>;

/// Who waits to look where.
#[derive(Default)]
pub(crate) struct Turns(Mutex<BTreeMap<Vec<Scope>, Arc<Queue>>>);

struct Queue {
    free: Semaphore,
    /// Those who wait. The next look is theirs.
    next: Mutex<Arc<Party>>,
}

/// Those who share a look.
#[derive(Default)]
struct Party {
    known: Mutex<Known>,
    /// Held by the one who looks for all.
    answer: tokio::sync::Mutex<Option<Arc<AccountLook>>>,
}

impl Turns {
    /// Looks, or waits for a look at the same scopes that begins from here on.
    pub(crate) async fn take(
        &self,
        scopes: &[Scope],
        known: Known,
        look: impl AsyncFnOnce(Known) -> AccountLook,
    ) -> Arc<AccountLook> {
        let queue = self.queue(scopes);
        let party = queue.join(known);
        let mut answer = party.answer.lock().await;
        if let Some(answer) = &*answer {
            return answer.clone();
        }
        // An error would say that nobody can look any more; nothing closes it.
        let _turn = queue.free.acquire().await;
        let seen = Arc::new(look(queue.leave(&party)).await);
        // One that is alone gets the only copy, and copies no machines.
        if Arc::strong_count(&party) > 1 {
            *answer = Some(seen.clone());
        }
        seen
    }

    fn queue(&self, scopes: &[Scope]) -> Arc<Queue> {
        let mut queues = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        queues.retain(|_, queue| Arc::strong_count(queue) > 1);
        queues.entry(scopes.to_vec()).or_default().clone()
    }
}

impl Default for Queue {
    fn default() -> Self {
        Queue { free: Semaphore::new(AT_ONCE), next: Mutex::default() }
    }
}

impl Queue {
    fn join(&self, known: Known) -> Arc<Party> {
        let next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        next.known.lock().unwrap_or_else(PoisonError::into_inner).extend(known);
        next.clone()
    }

    /// Nobody joins the party from here on. It may have left before: if the one who looked gave up, another does.
    fn leave(&self, party: &Arc<Party>) -> Known {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        if Arc::ptr_eq(&next, party) {
            *next = Arc::default();
        }
        party.known.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fleet_model::{AccountKey, Cloud, PoolId};
    use futures::FutureExt;
    use futures::future::join_all;
    use std::cell::Cell;
    use std::time::Duration;

    fn scope(region: &str) -> Scope {
        let pool: PoolId = format!("aws/{region}/a/m6i.large/spot").parse().expect("a pool");
        pool.place.scope()
    }

    async fn slow(looks: &Cell<u32>, known: Known) -> AccountLook {
        looks.set(looks.get() + 1);
        tokio::time::sleep(Duration::from_secs(1)).await;
        let key = AccountKey { cloud: Cloud::Aws, account: None };
        AccountLook { key, account: Some(known.len().to_string()), scopes: Vec::new() }
    }

    #[tokio::test(start_paused = true)]
    async fn who_comes_while_two_look_shares_the_next_look() {
        let (turns, looks, scopes) = (Turns::default(), Cell::new(0), [scope("us-east-1")]);
        let look = |_| turns.take(&scopes, vec![None], async |known| slow(&looks, known).await);
        let seen = join_all((0..10).map(look)).await;
        assert_eq!(looks.get(), 3, "two at once, and one for the other eight");
        assert!(seen[2..].iter().all(|one| Arc::ptr_eq(one, &seen[2])));
        assert_eq!(seen[2].account.as_deref(), Some("8"), "all eight are asked for");
        let after = look(10).await;
        assert_eq!(looks.get(), 4, "a look that is over answers nobody who comes later");
        assert_eq!(Arc::strong_count(&after), 1, "one that is alone copies nothing");
    }

    #[tokio::test(start_paused = true)]
    async fn who_gives_up_takes_nobody_with_it() {
        let (turns, looks, scopes) = (Turns::default(), Cell::new(0), [scope("us-east-1")]);
        let look = || turns.take(&scopes, vec![None], async |known| slow(&looks, known).await);
        let (first, second) = (look(), look());
        let (mut third, fourth) = (Box::pin(look()), look());
        let rest = async {
            // The third waits for all who come after the first two, begins, and gives up.
            let patience = tokio::time::sleep(Duration::from_millis(1500));
            tokio::select! { _ = &mut third => panic!("too soon"), () = patience => {} }
            drop(third);
        };
        let (_, _, _, seen) = tokio::join!(first, second, rest, fourth);
        assert_eq!(looks.get(), 4);
        assert!(seen.account.is_some());
    }

    #[tokio::test]
    async fn other_scopes_wait_for_nobody() {
        let (turns, looks) = (Turns::default(), Cell::new(0));
        let (here, elsewhere) = ([scope("us-east-1")], [scope("us-west-2")]);
        let look = |scopes| turns.take(scopes, vec![], async |known| slow(&looks, known).await);
        let mut waiting: Vec<_> = (0..3).map(|_| Box::pin(look(&here))).collect();
        waiting.iter_mut().for_each(|one| assert!(one.now_or_never().is_none()));
        let mut other = Box::pin(look(&elsewhere));
        assert!((&mut other).now_or_never().is_none());
        assert_eq!(looks.get(), 3, "two here, one there");
    }
}
