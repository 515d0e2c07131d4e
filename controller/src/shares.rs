//! Which replica looks after which fleet first.
//!
//! Rendezvous hashing: for each fleet every replica draws a number from both names, and the highest wins. A
//! replica that comes takes its share from all others alike; one that goes leaves its share to them. It is a
//! preference only: the holder of a fleet's lease changes it.

use fleet_model::{FleetName, digest};

/// The replica that a fleet prefers.
pub fn preferred<'a>(fleet: &FleetName, replicas: &'a [String]) -> Option<&'a str> {
    let drawn = |replica: &str| {
        let parts = [fleet.as_str().as_bytes(), replica.as_bytes()];
        digest("fleet/share/1", parts)
    };
    replicas.iter().map(String::as_str).max_by_key(|replica| drawn(replica))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replicas(count: usize) -> Vec<String> {
        (0..count).map(|nth| format!("replica-{nth}")).collect()
    }

    fn shares(count: usize) -> Vec<String> {
        let replicas = replicas(count);
        let fleets = (0..1000).map(|nth| FleetName::new(format!("fleet-{nth}")));
        fleets.map(|fleet| preferred(&fleet, &replicas).unwrap_or_default().to_owned()).collect()
    }

    #[test]
    fn shares_are_even() {
        let all = shares(4);
        for replica in replicas(4) {
            let share = all.iter().filter(|one| **one == replica).count();
            assert!((200..300).contains(&share), "{replica}: {share}");
        }
    }

    #[test]
    fn a_replica_that_comes_takes_its_share_and_nothing_else_moves() {
        let (before, after) = (shares(3), shares(4));
        let moved: Vec<_> = before.iter().zip(&after).filter(|(b, a)| b != a).collect();
        assert!((200..300).contains(&moved.len()), "{}", moved.len());
        assert!(moved.iter().all(|(_, to)| *to == "replica-3"));
    }

    #[test]
    fn nobody_is_preferred_where_nobody_is() {
        assert_eq!(preferred(&"a".into(), &[]), None);
    }
}
