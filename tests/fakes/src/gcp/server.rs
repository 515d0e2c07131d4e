//! The server.

use crate::gcp::answer::Answer;
use crate::gcp::fault::Faults;
use crate::gcp::route::{Called, call};
use crate::gcp::world::World;
use fleet_testkit::{Listener, Request};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Result;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) world: World,
    pub(crate) faults: Faults,
    calls: BTreeMap<&'static str, u64>,
    /// How far its clock is ahead.
    pub(crate) ahead: Duration,
}

impl State {
    pub(crate) fn now(&self) -> Instant {
        Instant::now() + self.ahead
    }
}

/// A Compute Engine of one's own. Ends with this value.
#[derive(Debug)]
pub struct Fake {
    listener: Listener,
    state: Arc<Mutex<State>>,
}

impl Fake {
    /// Starts one on a free port.
    pub async fn start() -> Result<Self> {
        let state: Arc<Mutex<State>> = Arc::default();
        Ok(Fake { listener: listen(0, state.clone()).await?, state })
    }

    /// Its address.
    pub fn url(&self) -> String {
        self.listener.url()
    }

    /// Its port.
    pub fn port(&self) -> u16 {
        self.listener.port()
    }

    /// Changes what there is behind everybody's back.
    pub(crate) fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut lock(&self.state));
    }

    /// Replaces the faults.
    pub fn set(&self, faults: Faults) {
        lock(&self.state).faults = faults;
    }

    /// How often a call was made, answered or not: `insert`, `bulkInsert`, `delete`, …
    pub fn calls(&self, name: &str) -> u64 {
        lock(&self.state).calls.get(name).copied().unwrap_or_default()
    }

    /// Everything that was asked for.
    pub fn asked(&self) -> Vec<String> {
        lock(&self.state).calls.keys().map(|name| (*name).to_owned()).collect()
    }

    /// What advice was asked for: vCPUs of a type, and how many machines of it.
    pub fn advised(&self) -> BTreeSet<(u32, u64)> {
        lock(&self.state).world.advised.clone()
    }

    /// How many machines and how many disks there are.
    pub fn count(&self) -> (usize, usize) {
        let mut state = lock(&self.state);
        let now = state.now();
        state.world.settle(now);
        (state.world.machines.len(), state.world.disks.len())
    }

    /// The names of all machines, in order.
    pub fn names(&self) -> Vec<String> {
        lock(&self.state).world.machines.keys().map(|(_, _, name)| name.clone()).collect()
    }

    /// The labels of the machine with a number.
    pub fn labels(&self, number: &str) -> BTreeMap<String, String> {
        let state = lock(&self.state);
        let mut machines = state.world.machines.values();
        let vm = machines.find(|vm| vm.body["id"].as_str() == Some(number));
        let labels = vm.and_then(|vm| vm.body["labels"].as_object());
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        labels.into_iter().flatten().map(|(key, value)| (key.clone(), text(value))).collect()
    }

    /// Sets a label of a machine behind everybody's back, or takes it away. Its fingerprint changes.
    pub fn relabel(&self, name: &str, key: &str, value: Option<&str>) {
        lock(&self.state).world.label(name, key, value);
    }
}

/// Serves on a port until the program ends.
pub async fn serve_on(port: u16) -> Result<()> {
    listen(port, Arc::default()).await?.for_ever().await;
    Ok(())
}

async fn listen(port: u16, state: Arc<Mutex<State>>) -> Result<Listener> {
    let serve = move |request| {
        let state = state.clone();
        async move { Some(wire(&serve(&request, &state).await?)) }
    };
    Listener::start(port, serve).await
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn serve(request: &Request, state: &Mutex<State>) -> Option<Answer> {
    if let Some(answer) = control(request, state) {
        return Some(answer);
    }
    let latency = Duration::from_millis(lock(state).faults.latency_ms);
    tokio::time::sleep(latency / 2).await;
    let (called, faults) = {
        let mut state = lock(state);
        let now = state.now();
        state.world.settle(now);
        let State { world, faults, calls, .. } = &mut *state;
        let called = if faults.throttled {
            turned_away(Answer::throttled())
        } else if faults.outage {
            turned_away(Answer::broken("Backend Error"))
        } else {
            call(world, faults, request, now)
        };
        *calls.entry(called.name).or_default() += 1;
        (called, faults.clone())
    };
    tokio::time::sleep(latency / 2).await;
    let Called { changes, answer, .. } = called;
    if changes && faults.answers_lost {
        return None;
    }
    if changes && faults.answers_broken && answer.status == 200 {
        // With the words of a refusal: they must not be believed.
        return Some(Answer::broken("ZONE_RESOURCE_POOL_EXHAUSTED"));
    }
    if faults.misspeaks && answer.status == 200 {
        let mut wrong = answer;
        wrong.body["id"] = json!({ "not": "a number" });
        return Some(wrong);
    }
    Some(answer)
}

fn turned_away(answer: Answer) -> Called {
    Called { name: "turned away", changes: false, answer }
}

/// What is asked of the fake itself and not of Google.
fn control(request: &Request, state: &Mutex<State>) -> Option<Answer> {
    match (request.method.as_str(), request.path.as_str()) {
        ("GET", "/fake/state") => {
            let mut state = lock(state);
            let now = state.now();
            state.world.settle(now);
            Some(Answer::ok(crate::gcp::route::state(&state.world, now)))
        }
        ("POST", "/fake/faults") => Some(match serde_json::from_slice(&request.body) {
            Ok(faults) => {
                lock(state).faults = faults;
                Answer::ok(json!({}))
            }
            Err(error) => Answer::invalid(error.to_string()),
        }),
        _ => None,
    }
}

fn wire(answer: &Answer) -> fleet_testkit::Answer {
    fleet_testkit::Answer::json(answer.status, answer.body.clone())
}
