//! What happens to machines without anybody here asking for it.

use crate::gcp::server::Fake;
use crate::gcp::world::Key;
use serde_json::json;
use std::time::Duration;

/// From the first sign of an interruption until the machine is gone: its shutdown period.
const SHUTDOWN: Duration = Duration::from_secs(30);

/// A person with the right to do so.
const SOMEBODY: &str = "somebody@example.com";

impl Fake {
    /// Lets time pass.
    pub fn advance(&self, time: Duration) {
        self.change(|state| state.ahead += time);
    }

    /// Takes a machine back: stopping for its shutdown period, and then gone from every list.
    /// An operation tells of it, unless events are lost.
    pub fn preempt(&self, name: &str) {
        let words = "Instance was preempted.";
        self.happens(name, "compute.instances.preempted", "system", Some(words), Some(SHUTDOWN));
    }

    /// A machine shuts itself down. It stays, stopped.
    pub fn shut_down(&self, name: &str) {
        let words = "Instance terminated by guest OS shutdown.";
        self.happens(name, "compute.instances.guestTerminate", "system", Some(words), None);
    }

    /// A person stops a machine. It stays, stopped.
    pub fn stop(&self, name: &str) {
        self.happens(name, "stop", SOMEBODY, None, None);
    }

    /// A person deletes a machine.
    pub fn delete(&self, name: &str) {
        self.happens(name, "delete", SOMEBODY, None, Some(Duration::ZERO));
    }

    /// Machines of a project that nobody launched, each with these labels.
    pub fn fill(&self, project: &str, zones: &[String], each: usize, labels: &[(&str, &str)]) {
        let labels: serde_json::Map<_, _> =
            labels.iter().map(|(key, value)| ((*key).to_owned(), json!(value))).collect();
        self.change(|state| {
            let now = state.now();
            for zone in zones {
                for at in 0..each {
                    state.world.put(project, zone, &format!("filler-{at}"), &labels, now);
                }
            }
        });
    }

    fn happens(
        &self,
        name: &str,
        kind: &str,
        user: &str,
        words: Option<&str>,
        gone: Option<Duration>,
    ) {
        self.change(|state| {
            let now = state.now();
            let named = state.world.machines.keys().filter(|(_, _, other)| other == name);
            let keys: Vec<Key> = named.cloned().collect();
            for key in keys {
                if !state.faults.events_lost {
                    state.world.happened(&key, kind, user, words);
                }
                if let Some(vm) = state.world.machines.get_mut(&key) {
                    match gone {
                        Some(after) => vm.gone_at = Some(now + after),
                        None => vm.stopped = true,
                    }
                }
            }
            state.world.settle(now);
        });
    }
}
