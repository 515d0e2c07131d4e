//! What is described goes through Prism, the rest straight to the fake; refusals are kept.

use fleet_testkit::{Answer, Listener, Request, relay};
use std::io::Result;
use std::sync::{Arc, Mutex, PoisonError};

/// How Prism's own errors can be told from those of the cloud.
const MARK: &str = "stoplight.io/prism/errors";

/// What went through Prism.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Seen {
    passed: u64,
    refused: Vec<String>,
}

/// A router. Ends with this value.
#[derive(Debug)]
pub struct Router {
    listener: Listener,
    seen: Arc<Mutex<Seen>>,
}

impl Router {
    /// Starts one. `described` says whether a path is in the description.
    pub async fn start(prism: u16, fake: u16, described: fn(&str) -> bool) -> Result<Self> {
        let seen: Arc<Mutex<Seen>> = Arc::default();
        let shared = seen.clone();
        let serve = move |request: Request| {
            let seen = shared.clone();
            let through = described(&request.path);
            async move {
                let answer = relay(if through { prism } else { fake }, &request).await.ok()?;
                if through {
                    note(&request, &answer, &seen);
                }
                Some(answer)
            }
        };
        Ok(Router { listener: Listener::start(0, serve).await?, seen })
    }

    /// Its address.
    pub fn url(&self) -> String {
        self.listener.url()
    }

    /// How many exchanges Prism found in order.
    pub fn passed(&self) -> u64 {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).passed
    }

    /// What Prism refused, with its reasons.
    pub fn refused(&self) -> Vec<String> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).refused.clone()
    }
}

fn note(request: &Request, answer: &Answer, seen: &Mutex<Seen>) {
    let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let has_mark = |text: &str| text.contains(MARK);
    let marked = answer.headers.iter().any(|(_, value)| has_mark(value));
    if marked || has_mark(&text(&answer.body)) {
        let Answer { headers, body, .. } = answer;
        let Request { method, target, .. } = request;
        seen.refused.push(format!("{method} {target}: {headers:?} {}", text(body)));
    } else {
        seen.passed += 1;
    }
}
