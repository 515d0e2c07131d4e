//! What goes wrong between a client and its store.

use super::Kind;
use fleet_testkit::{Answer, Listener, Request, relay};
use std::io::Result;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A fault of one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The write is carried out, and the connection closes without an answer.
    AnswerLost,
    /// The write is carried out, and the answer is that something broke.
    AnswerBroken,
    /// The write is refused because another one is under way.
    Conflict,
    /// The request is turned away for being one too many.
    Busy,
    /// The request is not allowed.
    Denied,
}

/// Which requests go wrong.
#[derive(Debug, Clone, Copy, Default)]
pub struct Faults {
    /// How.
    pub fault: Option<Fault>,
    /// Every so many-th one that can go wrong in this way.
    pub every: u32,
}

/// Writes to moto pass one by one. It looks whether an object is there and writes it some moments
/// later, so that of two requests at the same time both may win; a store does it in one step.
/// Azurite does, too.
static WRITES: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

#[derive(Debug, Default)]
struct State {
    faults: Faults,
    requests: u32,
    gone_wrong: u32,
}

/// The proxy. Ends with this value.
#[derive(Debug)]
pub(super) struct Proxy {
    listener: Listener,
    state: Arc<Mutex<State>>,
}

impl Proxy {
    pub(super) async fn start(server: u16, kind: Kind) -> Result<Self> {
        let state: Arc<Mutex<State>> = Arc::default();
        let shared = state.clone();
        let serve = move |request| {
            let state = shared.clone();
            async move { serve(request, server, kind, &state).await.ok().flatten() }
        };
        Ok(Proxy { listener: Listener::start(0, serve).await?, state })
    }

    pub(super) fn port(&self) -> u16 {
        self.listener.port()
    }

    pub(super) fn set(&self, faults: Faults) {
        *lock(&self.state) = State { faults, ..State::default() };
    }

    pub(super) fn faults(&self) -> u32 {
        lock(&self.state).gone_wrong
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The fault of this request, if it has one.
fn fault(request: &Request, state: &Mutex<State>) -> Option<Fault> {
    let mut state = lock(state);
    let fault = state.faults.fault?;
    let any = matches!(fault, Fault::Busy | Fault::Denied);
    if !any && !is_write(request) {
        return None;
    }
    state.requests += 1;
    if !state.requests.is_multiple_of(state.faults.every.max(1)) {
        return None;
    }
    state.gone_wrong += 1;
    Some(fault)
}

async fn serve(
    mut request: Request,
    server: u16,
    kind: Kind,
    state: &Mutex<State>,
) -> Result<Option<Answer>> {
    if kind == Kind::Gcs {
        translate(&mut request);
    }
    Ok(match fault(&request, state) {
        None => Some(pass(server, kind, &request).await?),
        Some(Fault::AnswerLost) => {
            pass(server, kind, &request).await?;
            None
        }
        Some(Fault::AnswerBroken) => {
            pass(server, kind, &request).await?;
            Some(error(500, "InternalError"))
        }
        Some(Fault::Conflict) => Some(error(409, "ConditionalRequestConflict")),
        Some(Fault::Busy) => Some(error(503, "SlowDown")),
        Some(Fault::Denied) => Some(error(403, "AccessDenied")),
    })
}

async fn pass(server: u16, kind: Kind, request: &Request) -> Result<Answer> {
    let alone = kind != Kind::Azure && is_write(request);
    let _one = if alone { Some(WRITES.lock().await) } else { None };
    relay(server, request).await
}

fn is_write(request: &Request) -> bool {
    request.method == "PUT"
}

fn error(status: u16, code: &str) -> Answer {
    let body =
        format!("<Error><Code>{code}</Code><Request>As the test wants it.</Request></Error>");
    Answer::new(status, "application/xml", body)
}

/// Google's "only if there is no generation" in the words of S3.
fn translate(request: &mut Request) {
    for (name, value) in &mut request.headers {
        if name.eq_ignore_ascii_case("x-goog-if-generation-match") && value == "0" {
            (*name, *value) = ("If-None-Match".into(), "*".into());
        }
    }
}
