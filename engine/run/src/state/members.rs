//! Replicas that share a state: who is there.
//!
//! Each one creates an object now and then, named by a counter, and removes the one before. Who added none for
//! a while is gone. Nothing depends on it but who looks after which fleet first: the lease of a fleet is what
//! keeps two from changing it.

use crate::state::store::{Store, StoreError};
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::time::Instant;

const FOLDER: &str = "controller/replicas";

/// How often replicas say that they are there, and after how long without a word one is taken for dead. A local
/// folder costs nothing; of a store that is far away every word is a request that somebody pays for.
const NEAR: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(2));
const FAR: (Duration, Duration) = (Duration::from_secs(3), Duration::from_secs(10));

/// Replicas of a controller, as one of them sees them.
#[derive(Debug)]
pub struct Members {
    store: Store,
    me: String,
    beats: u64,
    /// The last beat of each, and when we first saw it.
    heard: BTreeMap<String, (u64, Instant)>,
}

impl Members {
    /// One of them. Its name is its own: letters, digits and hyphens.
    pub fn new(store: Store, me: impl Into<String>) -> Self {
        Members { store, me: me.into(), beats: 0, heard: BTreeMap::new() }
    }

    /// How often to say that we are there.
    pub fn every(&self) -> Duration {
        self.times().0
    }

    fn times(&self) -> (Duration, Duration) {
        if self.store.local_folder().is_some() { NEAR } else { FAR }
    }

    /// Says that we are there, and who else is. Sorted.
    pub async fn beat(&mut self) -> Result<Vec<String>, StoreError> {
        // A name may have been used before, by a process that is dead: count on from there.
        let seen = self.read().await?;
        let last = seen.get(&self.me).copied().unwrap_or_default().max(self.beats);
        self.beats = last + 1;
        self.store.create(&self.name(self.beats), Vec::new()).await?;
        self.store.remove(&self.name(last)).await?;
        let (_, life) = self.times();
        let now = Instant::now();
        self.heard.retain(|name, _| seen.contains_key(name));
        for (name, beat) in seen {
            let heard = self.heard.entry(name.clone()).or_insert((beat, now));
            // An older one may be left behind by a process that died: it is no news.
            if beat > heard.0 {
                *heard = (beat, now);
            } else if heard.1.elapsed() > 100 * life {
                // Long dead: its last word need not be read for ever.
                self.store.remove(&format!("{FOLDER}/{name}.{beat}")).await?;
            }
        }
        self.heard.insert(self.me.clone(), (self.beats, now));
        let alive = self.heard.iter().filter(|(_, (_, at))| at.elapsed() < life);
        Ok(alive.map(|(name, _)| name.clone()).collect())
    }

    /// Says that we are gone, so that nobody waits for us.
    pub async fn leave(self) -> Result<(), StoreError> {
        self.store.remove(&self.name(self.beats)).await
    }

    fn name(&self, beat: u64) -> String {
        format!("{FOLDER}/{}.{beat}", self.me)
    }

    async fn read(&self) -> Result<BTreeMap<String, u64>, StoreError> {
        let mut newest = BTreeMap::new();
        for name in self.store.list(FOLDER, None).await? {
            if let Some((who, beat)) = name.rsplit_once('.')
                && let Ok(beat) = beat.parse::<u64>()
            {
                let known = newest.entry(who.to_owned()).or_insert(beat);
                *known = beat.max(*known);
            }
        }
        Ok(newest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_dead_are_missed_and_the_living_are_not() {
        let store = Store::in_memory();
        let mut one = Members::new(store.clone(), "one");
        let mut two = Members::new(store.clone(), "two");
        assert_eq!(one.beat().await.expect("a beat"), ["one"]);
        assert_eq!(two.beat().await.expect("a beat"), ["one", "two"]);
        for _ in 0..5 {
            tokio::time::sleep(FAR.0).await;
            one.beat().await.expect("a beat");
        }
        // The second one died. Nothing but time says so.
        assert_eq!(one.beat().await.expect("a beat"), ["one"]);
        let mut again = Members::new(store.clone(), "two");
        assert!(again.beat().await.expect("a beat").contains(&"two".to_owned()));
        assert_eq!(one.beat().await.expect("a beat"), ["one", "two"]);
        again.leave().await.expect("a farewell");
        tokio::time::sleep(FAR.1).await;
        assert_eq!(one.beat().await.expect("a beat"), ["one"]);
    }
}
