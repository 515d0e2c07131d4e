//! The server.

use crate::answer::Answer;
use crate::fault::Faults;
use crate::http::{Request, reply};
use crate::route::{Called, call};
use crate::world::World;
use serde_json::json;
use std::collections::BTreeMap;
use std::io::Result;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::net::{TcpListener, TcpStream};

#[derive(Debug, Default)]
struct State {
    world: World,
    faults: Faults,
    calls: BTreeMap<&'static str, u64>,
}

/// A Compute Engine of one's own. Ends with this value.
#[derive(Debug)]
pub struct Fake {
    port: u16,
    state: Arc<Mutex<State>>,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for Fake {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Fake {
    /// Starts one on a free port.
    pub async fn start() -> Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let port = listener.local_addr()?.port();
        let state: Arc<Mutex<State>> = Arc::default();
        let task = tokio::spawn(listen(listener, state.clone()));
        Ok(Fake { port, state, task })
    }

    /// Its address.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Its port.
    pub fn port(&self) -> u16 {
        self.port
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

    /// How many machines and how many disks there are.
    pub fn count(&self) -> (usize, usize) {
        let mut state = lock(&self.state);
        state.world.settle(Instant::now());
        (state.world.machines.len(), state.world.disks.len())
    }

    /// The names of all machines, in order.
    pub fn names(&self) -> Vec<String> {
        lock(&self.state).world.machines.keys().map(|(_, _, name)| name.clone()).collect()
    }

    /// Sets a label of a machine behind everybody's back, or takes it away.
    pub fn relabel(&self, name: &str, key: &str, value: Option<&str>) {
        let mut state = lock(&self.state);
        let named = state.world.machines.iter_mut().filter(|((_, _, other), _)| other == name);
        for (_, vm) in named {
            if let Some(labels) = vm.body["labels"].as_object_mut() {
                match value {
                    Some(value) => labels.insert(key.to_owned(), json!(value)),
                    None => labels.remove(key),
                };
            }
        }
    }
}

/// Serves on a port until the program ends.
pub async fn serve_on(port: u16) -> Result<()> {
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    listen(listener, Arc::default()).await;
    Ok(())
}

async fn listen(listener: TcpListener, state: Arc<Mutex<State>>) {
    while let Ok((stream, _)) = listener.accept().await {
        let state = state.clone();
        // A connection that fails concerns nobody but its client.
        tokio::spawn(async move { drop(serve(stream, &state).await) });
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn serve(mut stream: TcpStream, state: &Mutex<State>) -> Result<()> {
    let request = Request::read(&mut stream).await?;
    if let Some(answer) = control(&request, state) {
        return send(&mut stream, &answer).await;
    }
    let latency = Duration::from_millis(lock(state).faults.latency_ms);
    tokio::time::sleep(latency / 2).await;
    let (called, faults) = {
        let mut state = lock(state);
        let now = Instant::now();
        state.world.settle(now);
        let State { world, faults, calls } = &mut *state;
        let called = if faults.throttled {
            turned_away(Answer::throttled())
        } else if faults.outage {
            turned_away(Answer::broken("Backend Error"))
        } else {
            call(world, faults, &request, now)
        };
        *calls.entry(called.name).or_default() += 1;
        (called, faults.clone())
    };
    tokio::time::sleep(latency / 2).await;
    let Called { changes, answer, .. } = called;
    if changes && faults.answers_lost {
        return Ok(());
    }
    if changes && faults.answers_broken && answer.status == 200 {
        // With the words of a refusal: they must not be believed.
        return send(&mut stream, &Answer::broken("ZONE_RESOURCE_POOL_EXHAUSTED")).await;
    }
    if faults.misspeaks && answer.status == 200 {
        let mut wrong = answer;
        wrong.body["id"] = json!({ "not": "a number" });
        return send(&mut stream, &wrong).await;
    }
    send(&mut stream, &answer).await
}

fn turned_away(answer: Answer) -> Called {
    Called { name: "turned away", changes: false, answer }
}

/// What is asked of the fake itself and not of Google.
fn control(request: &Request, state: &Mutex<State>) -> Option<Answer> {
    match (request.method.as_str(), request.path.as_str()) {
        ("GET", "/fake/state") => {
            let mut state = lock(state);
            let now = Instant::now();
            state.world.settle(now);
            Some(Answer::ok(crate::route::state(&state.world, now)))
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

async fn send(stream: &mut TcpStream, answer: &Answer) -> Result<()> {
    reply(stream, answer.status, answer.body.to_string().as_bytes()).await
}
