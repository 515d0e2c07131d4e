//! Who takes up how much: connections, and streams that stay open. Nobody gets more than half.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

/// A number of seats, shared by everybody who comes.
#[derive(Debug, Clone)]
pub struct Seats<K: Eq + Hash + Clone> {
    most: usize,
    taken: Arc<Mutex<HashMap<K, usize>>>,
}

/// A seat; free again when dropped.
#[derive(Debug)]
pub struct Seat<K: Eq + Hash + Clone> {
    who: K,
    taken: Arc<Mutex<HashMap<K, usize>>>,
}

impl<K: Eq + Hash + Clone> Seats<K> {
    /// So many in all.
    pub fn new(most: usize) -> Self {
        Seats { most, taken: Arc::default() }
    }

    /// A seat for somebody; `None` if all are taken, or too many by them.
    pub fn take(&self, who: K) -> Option<Seat<K>> {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let all: usize = taken.values().sum();
        let own = taken.get(&who).copied().unwrap_or_default();
        if all >= self.most || own >= self.most.div_ceil(2) {
            return None;
        }
        *taken.entry(who.clone()).or_default() += 1;
        drop(taken);
        Some(Seat { who, taken: self.taken.clone() })
    }

    /// How many are taken.
    pub fn taken(&self) -> usize {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner).values().sum()
    }
}

impl<K: Eq + Hash + Clone> Drop for Seat<K> {
    fn drop(&mut self) {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = taken.get_mut(&self.who) {
            *count -= 1;
            if *count == 0 {
                taken.remove(&self.who);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_gets_half_and_all_get_all() {
        let seats = Seats::new(4);
        let first = [seats.take("a"), seats.take("a")];
        assert!(first.iter().all(Option::is_some));
        assert!(seats.take("a").is_none());
        let second = [seats.take("b"), seats.take("b")];
        assert!(second.iter().all(Option::is_some));
        assert!(seats.take("c").is_none());
        drop(first);
        assert!(seats.take("c").is_some());
        drop(second);
        assert_eq!(seats.taken(), 0);
    }
}
