//! The proxy.

use super::ec2::{Call, empty_page, error, ids, without};
use super::http::{Answer, Message, forward, reply};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Result;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::net::{TcpListener, TcpStream};

/// What goes wrong between a client and EC2.
#[derive(Debug, Clone, Default)]
pub struct Faults {
    /// Instance types without room, by zone name (`us-east-1d`) and type.
    pub full: BTreeSet<(String, String)>,
    /// Regions where nothing gets in.
    pub out: BTreeSet<String>,
    /// An action that the account has no right to.
    pub denied: Option<String>,
    /// Every call is turned away.
    pub throttled: bool,
    /// Changes are carried out, and the connection closes without an answer.
    pub answers_lost: bool,
    /// Changes are carried out, and the answer is that something broke.
    pub answers_broken: bool,
    /// Pages of lists hold no more launches than this.
    pub page: Option<u32>,
    /// The second page of a list does not come.
    pub page_lost: bool,
    /// New machines stay out of the lists for this long.
    pub hidden_for: Duration,
    /// What EC2 takes its time for, half of it before the deed and half after.
    pub latency: Duration,
}

/// A launch that was carried out.
#[derive(Debug, Clone)]
struct Launched {
    request: BTreeMap<String, String>,
    answer: Answer,
    ids: BTreeSet<String>,
}

/// One token in one zone. Whoever launches holds it, so that the same request at the same time
/// waits for the answer of the first.
type Entry = Arc<tokio::sync::Mutex<Option<Launched>>>;

#[derive(Debug, Default)]
struct State {
    faults: Faults,
    tokens: BTreeMap<(String, String, String), Entry>,
    ended: BTreeSet<String>,
    hidden: BTreeMap<String, Instant>,
    calls: BTreeMap<String, u64>,
}

/// A proxy in front of moto. Ends with this value.
#[derive(Debug)]
pub struct Proxy {
    port: u16,
    state: Arc<Mutex<State>>,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Proxy {
    /// Starts one on a free port.
    pub async fn start(moto: u16) -> Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let port = listener.local_addr()?.port();
        let state: Arc<Mutex<State>> = Arc::default();
        let shared = state.clone();
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let state = shared.clone();
                // A connection that fails concerns nobody but its client.
                tokio::spawn(async move { drop(serve(stream, moto, &state).await) });
            }
        });
        Ok(Proxy { port, state, task })
    }

    /// Its address.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Replaces the faults.
    pub fn set(&self, faults: Faults) {
        lock(&self.state).faults = faults;
    }

    /// How often an action was asked for, answered or not.
    pub fn calls(&self, action: &str) -> u64 {
        lock(&self.state).calls.get(action).copied().unwrap_or_default()
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn serve(mut stream: TcpStream, moto: u16, state: &Mutex<State>) -> Result<()> {
    let request = Message::read(&mut stream, false).await?;
    let call = Call::read(&request);
    let faults = {
        let mut state = lock(state);
        *state.calls.entry(call.action().to_owned()).or_default() += 1;
        state.faults.clone()
    };
    tokio::time::sleep(faults.latency / 2).await;
    let answer = if faults.throttled {
        error(503, "RequestLimitExceeded", "Request limit exceeded.")
    } else if faults.denied.as_deref() == Some(call.action()) {
        error(403, "UnauthorizedOperation", "You are not authorized to perform this operation.")
    } else if faults.out.contains(&call.region) {
        error(503, "Unavailable", "The service is unavailable.")
    } else {
        match call.action() {
            "RunInstances" => launch(moto, &request, &call, &faults, state).await?,
            "DescribeInstances" => list(moto, &request, &call, &faults, state).await?,
            "TerminateInstances" => end(moto, &request, &call, state).await?,
            _ => forward(moto, &request).await?,
        }
    };
    tokio::time::sleep(faults.latency / 2).await;
    let change = matches!(call.action(), "RunInstances" | "TerminateInstances");
    if change && faults.answers_lost {
        return Ok(());
    }
    if change && faults.answers_broken && answer.status == 200 {
        // With the words of a refusal: they must not be believed.
        let words = "InsufficientInstanceCapacity";
        return reply(&mut stream, &error(503, words, "An internal error has occurred")).await;
    }
    reply(&mut stream, &answer).await
}

async fn launch(
    moto: u16,
    request: &Message,
    call: &Call,
    faults: &Faults,
    state: &Mutex<State>,
) -> Result<Answer> {
    let zone = call.get("Placement.AvailabilityZone").to_owned();
    let key = (call.region.clone(), zone.clone(), call.get("ClientToken").to_owned());
    let entry = lock(state).tokens.entry(key).or_default().clone();
    let mut launched = entry.lock().await;
    if let Some(before) = &*launched {
        if before.request != call.form {
            let words = "Arguments on this idempotent request are inconsistent with arguments used \
                         in previous request(s).";
            return Ok(error(400, "IdempotentParameterMismatch", words));
        }
        if before.ids.iter().any(|id| lock(state).ended.contains(id)) {
            let words = "The client token was used by instances that are terminated.";
            return Ok(error(400, "IdempotentInstanceTerminated", words));
        }
        return Ok(before.answer.clone());
    }
    if faults.full.contains(&(zone, call.get("InstanceType").to_owned())) {
        let words = "We currently do not have sufficient capacity in the Availability Zone.";
        return Ok(error(400, "InsufficientInstanceCapacity", words));
    }
    let answer = forward(moto, request).await?;
    if answer.status == 200 {
        let ids = ids(&answer);
        let until = Instant::now() + faults.hidden_for;
        lock(state).hidden.extend(ids.iter().map(|id| (id.clone(), until)));
        *launched = Some(Launched { request: call.form.clone(), answer: answer.clone(), ids });
    }
    Ok(answer)
}

async fn list(
    moto: u16,
    request: &Message,
    call: &Call,
    faults: &Faults,
    state: &Mutex<State>,
) -> Result<Answer> {
    if faults.page_lost {
        return Ok(match call.get("NextToken") {
            "" => empty_page(),
            _ => error(500, "InternalError", "An internal error has occurred"),
        });
    }
    let mut request = request.clone();
    if let Some(page) = faults.page {
        let asked = format!("MaxResults={}", call.get("MaxResults"));
        let body = String::from_utf8_lossy(&request.body);
        request.body = body.replace(&asked, &format!("MaxResults={page}")).into_bytes();
    }
    let answer = forward(moto, &request).await?;
    let now = Instant::now();
    let hidden: BTreeSet<String> = {
        let mut state = lock(state);
        state.hidden.retain(|_, until| *until > now);
        state.hidden.keys().cloned().collect()
    };
    Ok(if hidden.is_empty() { answer } else { without(answer, &hidden) })
}

async fn end(moto: u16, request: &Message, call: &Call, state: &Mutex<State>) -> Result<Answer> {
    let answer = forward(moto, request).await?;
    if answer.status == 200 {
        lock(state).ended.extend(call.instances().cloned());
    }
    Ok(answer)
}
