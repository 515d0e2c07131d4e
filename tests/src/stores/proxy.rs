//! What goes wrong between a client and its store.

use super::Kind;
use crate::http::{Answer, Body, Message, relay, reply};
use fleet_fakes::Listener;
use std::io::Result;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::net::TcpStream;

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
        let serve = move |stream| {
            let state = shared.clone();
            async move { serve(stream, server, kind, &state).await }
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
fn fault(request: &Message, state: &Mutex<State>) -> Option<Fault> {
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

async fn serve(mut stream: TcpStream, server: u16, kind: Kind, state: &Mutex<State>) -> Result<()> {
    let mut request = Message::read(&mut stream, Body::OfRequest).await?;
    if kind == Kind::Gcs {
        translate(&mut request);
    }
    match fault(&request, state) {
        None => pass(server, kind, &request).await?.write(&mut stream).await,
        Some(Fault::AnswerLost) => pass(server, kind, &request).await.map(drop),
        Some(Fault::AnswerBroken) => {
            pass(server, kind, &request).await?;
            reply(&mut stream, &error(500, "InternalError")).await
        }
        Some(Fault::Conflict) => {
            reply(&mut stream, &error(409, "ConditionalRequestConflict")).await
        }
        Some(Fault::Busy) => reply(&mut stream, &error(503, "SlowDown")).await,
        Some(Fault::Denied) => reply(&mut stream, &error(403, "AccessDenied")).await,
    }
}

async fn pass(server: u16, kind: Kind, request: &Message) -> Result<Message> {
    let alone = kind != Kind::Azure && is_write(request);
    let _one = if alone { Some(WRITES.lock().await) } else { None };
    relay(server, request).await
}

fn is_write(request: &Message) -> bool {
    request.first.starts_with("PUT ")
}

fn error(status: u16, code: &str) -> Answer {
    let body =
        format!("<Error><Code>{code}</Code><Message>As the test wants it.</Message></Error>");
    Answer { status, kind: "application/xml".into(), body: body.into_bytes() }
}

/// Google's "only if there is no generation" in the words of S3.
fn translate(request: &mut Message) {
    for (name, value) in &mut request.headers {
        if name.eq_ignore_ascii_case("x-goog-if-generation-match") && value == "0" {
            (*name, *value) = ("If-None-Match".into(), "*".into());
        }
    }
}
