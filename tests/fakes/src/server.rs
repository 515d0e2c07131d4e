//! The server around a world: faults that all clouds share are dealt with here.

use crate::Faults;
use fleet_model::Timestamp;
use fleet_provider::Clock;
use fleet_testkit::{Answer, Listener, Request};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Result;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A cloud's state and habits.
pub trait World: Send + 'static {
    /// Answers a request; faults that concern deeds themselves are its own.
    fn answer(&mut self, request: &Request, faults: &Faults, now: Timestamp) -> Answer;

    /// Whether a request changes something: its answer may get lost.
    fn is_change(&self, request: &Request) -> bool;

    /// An error of the whole service: throttled, or broken.
    fn failure(&self, throttled: bool) -> Answer;

    /// What a request is counted as.
    fn name(&self, request: &Request) -> String;

    /// The truth, for whoever looks from outside.
    fn state(&mut self, now: Timestamp) -> Value;
}

struct State<W> {
    world: W,
    faults: Faults,
    calls: BTreeMap<String, u64>,
}

/// A fake cloud: a world, and a clock that it lives by.
pub struct Fake<W> {
    state: Arc<Mutex<State<W>>>,
    clock: Arc<dyn Clock>,
}

impl<W> Clone for Fake<W> {
    fn clone(&self) -> Self {
        Fake { state: self.state.clone(), clock: self.clock.clone() }
    }
}

/// A fake cloud that listens. Ends with this value.
pub struct Server<W> {
    fake: Fake<W>,
    listener: Listener,
}

impl<W: World> Server<W> {
    /// Starts one; port 0 is any that is free.
    pub async fn start(world: W, clock: Arc<dyn Clock>, port: u16) -> Result<Self> {
        let state = State { world, faults: Faults::default(), calls: BTreeMap::new() };
        let fake = Fake { state: Arc::new(Mutex::new(state)), clock };
        let shared = fake.clone();
        let serve = move |request| {
            let fake = shared.clone();
            async move { fake.serve(&request).await }
        };
        Ok(Server { fake, listener: Listener::start(port, serve).await? })
    }

    /// Its address.
    pub fn url(&self) -> String {
        self.listener.url()
    }

    /// Its port.
    pub fn port(&self) -> u16 {
        self.listener.port()
    }

    /// Replaces the faults.
    pub fn set(&self, faults: Faults) {
        self.fake.lock().faults = faults;
    }

    /// How often something was asked for, answered or not.
    pub fn calls(&self, name: &str) -> u64 {
        self.fake.lock().calls.get(name).copied().unwrap_or_default()
    }

    /// Everything that was asked for.
    pub fn asked(&self) -> Vec<String> {
        self.fake.lock().calls.keys().cloned().collect()
    }

    /// The truth.
    pub fn state(&self) -> Value {
        let now = self.fake.clock.now();
        self.fake.lock().world.state(now)
    }

    /// Changes the world behind everybody's back.
    pub fn meddle<T>(&self, deed: impl FnOnce(&mut W) -> T) -> T {
        deed(&mut self.fake.lock().world)
    }
}

impl<W: World> Fake<W> {
    fn lock(&self) -> MutexGuard<'_, State<W>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn serve(&self, request: &Request) -> Option<Answer> {
        if let Some(answer) = self.control(request) {
            return Some(answer);
        }
        let latency = Duration::from_millis(self.lock().faults.latency);
        tokio::time::sleep(latency / 2).await;
        let (answer, faults, change) = {
            let state = &mut *self.lock();
            let faults = state.faults.clone();
            let name = state.world.name(request);
            *state.calls.entry(name).or_default() += 1;
            let answer = if faults.throttled {
                state.world.failure(true)
            } else if faults.out {
                state.world.failure(false)
            } else {
                state.world.answer(request, &faults, self.clock.now())
            };
            (answer, faults, state.world.is_change(request))
        };
        tokio::time::sleep(latency / 2).await;
        if change && faults.answers_lost {
            return None;
        }
        if change && faults.answers_broken && answer.status < 400 {
            return Some(self.lock().world.failure(false));
        }
        Some(answer)
    }

    /// Questions of whoever runs the test, not of a client.
    fn control(&self, request: &Request) -> Option<Answer> {
        let what = request.path.strip_prefix("/fake/")?;
        let mut state = self.lock();
        Some(match (request.method.as_str(), what) {
            ("GET", "state") => Answer::json(200, state.world.state(self.clock.now())),
            ("GET", "calls") => Answer::json(200, json!(state.calls)),
            ("PUT", "faults") => match serde_json::from_slice(&request.body) {
                Ok(faults) => {
                    state.faults = faults;
                    Answer::json(200, json!({}))
                }
                Err(cause) => Answer::json(400, json!({ "error": cause.to_string() })),
            },
            _ => Answer::json(404, json!({ "error": "no such control" })),
        })
    }
}
