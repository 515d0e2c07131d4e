//! The proxy.

use super::buckets::Buckets;
use super::ec2::{Call, empty_page, error, evident, ids, quotas, scores, spot_requests, without};
use super::fleet;
use fleet_provider::evidence::Call::{End, Launch, Look};
use fleet_testkit::{Answer, Listener, Request, relay};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Result;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What goes wrong between a client and EC2.
#[derive(Debug, Clone, Default)]
pub struct Faults {
    /// Instance types without room, by zone name (`us-east-1d`) and type.
    pub full: BTreeSet<(String, String)>,
    /// Pools, by zone name and type, whose launches are refused with a status and a code that stand in
    /// no table.
    pub strange: BTreeMap<(String, String), (u16, String)>,
    /// How many machines one `CreateFleet` gets of a type in a zone; of others, all it asks for.
    pub room: BTreeMap<(String, String), u32>,
    /// Regions where nothing gets in.
    pub out: BTreeSet<String>,
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
    /// Rates are kept as EC2 documents them: what is too much is turned away.
    pub limited: bool,
    /// Actions that are refused, each with a code that the table of evidence knows; its status is
    /// the one that was seen with it.
    pub refused: BTreeMap<String, String>,
    /// Machines that EC2 will not end: they fail the whole call.
    pub protected: BTreeSet<String>,
    /// Words of spot requests whose machines are to be taken, by instance.
    pub taken: BTreeMap<String, String>,
    /// Limits of the account, by quota code. moto has none for EC2.
    pub quotas: BTreeMap<String, u64>,
    /// Placement scores by zone id, all in one region. moto has none.
    pub scores: BTreeMap<String, u32>,
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
    turned_away: u64,
    buckets: Buckets,
    /// When launches came that were let in.
    launches: Vec<Instant>,
}

/// A proxy in front of moto. Ends with this value.
#[derive(Debug)]
pub struct Proxy {
    listener: Listener,
    state: Arc<Mutex<State>>,
}

impl Proxy {
    /// Starts one on a free port.
    pub async fn start(moto: u16) -> Result<Self> {
        let state: Arc<Mutex<State>> = Arc::default();
        let shared = state.clone();
        let serve = move |request| {
            let state = shared.clone();
            // moto that does not answer is a cloud that does not answer.
            async move { serve(&request, moto, &state).await.ok().flatten() }
        };
        Ok(Proxy { listener: Listener::start(0, serve).await?, state })
    }

    /// Its address.
    pub fn url(&self) -> String {
        self.listener.url()
    }

    /// Replaces the faults.
    pub fn set(&self, faults: Faults) {
        lock(&self.state).faults = faults;
    }

    /// Lists everything from now on.
    pub fn show_hidden(&self) {
        lock(&self.state).hidden.clear();
    }

    /// How many calls were turned away for being too many.
    pub fn turned_away(&self) -> u64 {
        lock(&self.state).turned_away
    }

    /// All calls, answered or not.
    pub fn all_calls(&self) -> u64 {
        lock(&self.state).calls.values().sum()
    }

    /// Every action that was asked for.
    pub fn asked(&self) -> Vec<String> {
        lock(&self.state).calls.keys().cloned().collect()
    }

    /// The time between the first launch that was let in and the last, and how many there were.
    pub fn launching(&self) -> (Duration, usize) {
        let state = lock(&self.state);
        let ends = state.launches.first().zip(state.launches.last());
        (ends.map_or(Duration::ZERO, |(first, last)| *last - *first), state.launches.len())
    }

    /// How often an action was asked for, answered or not.
    pub fn calls(&self, action: &str) -> u64 {
        lock(&self.state).calls.get(action).copied().unwrap_or_default()
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn serve(request: &Request, moto: u16, state: &Mutex<State>) -> Result<Option<Answer>> {
    let call = Call::read(request);
    let faults = {
        let mut state = lock(state);
        *state.calls.entry(call.action().to_owned()).or_default() += 1;
        state.faults.clone()
    };
    tokio::time::sleep(faults.latency / 2).await;
    let too_many = faults.throttled || (faults.limited && !let_in(&call, state));
    let answer = if too_many {
        lock(state).turned_away += 1;
        evident(kind(&call), "RequestLimitExceeded", "Request limit exceeded.")
    } else if let Some(code) = faults.refused.get(call.action()) {
        evident(kind(&call), code, "You are not authorized, or something is wrong.")
    } else if faults.out.contains(&call.region) {
        evident(kind(&call), "Unavailable", "The service is unavailable.")
    } else {
        match call.action() {
            "RunInstances" => launch(moto, request, &call, &faults, state).await?,
            "CreateFleet" => choose(moto, request, &call, &faults, state).await?,
            "DescribeInstances" => list(moto, request, &call, &faults, state).await?,
            "TerminateInstances" => end(moto, request, &call, &faults, state).await?,
            "DescribeSpotInstanceRequests" if !faults.taken.is_empty() => {
                spot_requests(&faults.taken)
            }
            "GetSpotPlacementScores" if !faults.scores.is_empty() => {
                scores(&call.region, &faults.scores)
            }
            "ListServiceQuotas" if !faults.quotas.is_empty() => quotas(&faults.quotas),
            _ => relay(moto, request).await?,
        }
    };
    tokio::time::sleep(faults.latency / 2).await;
    let change = matches!(call.action(), "RunInstances" | "CreateFleet" | "TerminateInstances");
    if change && faults.answers_lost {
        return Ok(None);
    }
    if change && faults.answers_broken && answer.status == 200 {
        // With the words of a refusal: from a 503 they must not be believed.
        let words = "InsufficientInstanceCapacity";
        return Ok(Some(error(503, words, "An internal error has occurred")));
    }
    Ok(Some(answer))
}

/// Whether a call is within what EC2 documents.
fn let_in(call: &Call, state: &Mutex<State>) -> bool {
    let now = Instant::now();
    let mut state = lock(state);
    let machines = match call.action() {
        "CreateFleet" => f64::from(fleet::wanted(call)),
        _ => call.get("MinCount").parse().unwrap_or(1.0),
    };
    let free = state.buckets.take(&call.region, call.action(), machines, now);
    if free && call.action() == "RunInstances" {
        state.launches.push(now);
    }
    free
}

async fn launch(
    moto: u16,
    request: &Request,
    call: &Call,
    faults: &Faults,
    state: &Mutex<State>,
) -> Result<Answer> {
    let zone = call.get("Placement.AvailabilityZone").to_owned();
    let key = (call.region.clone(), zone.clone(), call.get("ClientToken").to_owned());
    let entry = lock(state).tokens.entry(key).or_default().clone();
    let mut launched = entry.lock().await;
    // A refused launch binds its token as well. Whether the same request under it is tried again or
    // refused again is not known: it is tried, which is the harder case.
    if let Some(before) = &*launched {
        if before.request != call.form {
            let words = "Arguments on this idempotent request are inconsistent with arguments used \
                         in previous request(s).";
            return Ok(evident(Launch, "IdempotentParameterMismatch", words));
        }
        if before.ids.iter().any(|id| lock(state).ended.contains(id)) {
            let words = "The client token was used by instances that are terminated.";
            return Ok(evident(Launch, "IdempotentInstanceTerminated", words));
        }
        if before.answer.status == 200 {
            return Ok(before.answer.clone());
        }
    }
    let pool = (zone, call.get("InstanceType").to_owned());
    let refusal = if faults.full.contains(&pool) {
        let words = "We currently do not have sufficient capacity in the Availability Zone.";
        Some(evident(Launch, "InsufficientInstanceCapacity", words))
    } else {
        let strange = faults.strange.get(&pool);
        strange.map(|(status, code)| error(*status, code, "Something nobody has heard of."))
    };
    if let Some(answer) = refusal {
        let (request, ids) = (call.form.clone(), BTreeSet::new());
        *launched = Some(Launched { request, answer: answer.clone(), ids });
        return Ok(answer);
    }
    let answer = relay(moto, request).await?;
    if answer.status == 200 {
        let ids = ids(&answer);
        let until = Instant::now() + faults.hidden_for;
        lock(state).hidden.extend(ids.iter().map(|id| (id.clone(), until)));
        *launched = Some(Launched { request: call.form.clone(), answer: answer.clone(), ids });
    }
    Ok(answer)
}

/// Pool after pool, in the order of the request, until there are enough.
async fn choose(
    moto: u16,
    request: &Request,
    call: &Call,
    faults: &Faults,
    state: &Mutex<State>,
) -> Result<Answer> {
    let key = (call.region.clone(), "fleet".to_owned(), call.get("ClientToken").to_owned());
    let entry = lock(state).tokens.entry(key).or_default().clone();
    let mut launched = entry.lock().await;
    if let Some(before) = &*launched {
        if before.request != call.form {
            let words = "Arguments on this idempotent request are inconsistent.";
            return Ok(evident(Launch, "IdempotentParameterMismatch", words));
        }
        return Ok(before.answer.clone());
    }
    let subnets = fleet::subnets(&relay(moto, &fleet::ask_for_subnets(request)).await?);
    let mut left = fleet::wanted(call);
    let (mut machines, mut errors) = (String::new(), String::new());
    for pool in fleet::asked(call) {
        if left == 0 {
            break;
        }
        let place = (pool.zone(&subnets), pool.kind.clone());
        let room =
            if faults.full.contains(&place) { Some(0) } else { faults.room.get(&place).copied() };
        let given = room.unwrap_or(left).min(left);
        if given > 0 {
            let part = fleet::part(request, call, &pool, given, &subnets);
            let answer = relay(moto, &part).await?;
            if answer.status != 200 {
                return Ok(answer);
            }
            machines.push_str(&fleet::machines(&answer));
        }
        if given < left {
            errors.push_str(&fleet::no(&pool));
        }
        left -= given;
    }
    let answer = fleet::answer(&machines, &errors);
    let ids = fleet::ids(&machines);
    let until = Instant::now() + faults.hidden_for;
    lock(state).hidden.extend(ids.iter().map(|id| (id.clone(), until)));
    *launched = Some(Launched { request: call.form.clone(), answer: answer.clone(), ids });
    Ok(answer)
}

async fn list(
    moto: u16,
    request: &Request,
    call: &Call,
    faults: &Faults,
    state: &Mutex<State>,
) -> Result<Answer> {
    if faults.page_lost {
        return Ok(match call.get("NextToken") {
            "" => empty_page(),
            _ => evident(Look, "InternalError", "An internal error has occurred"),
        });
    }
    let mut request = request.clone();
    if let Some(page) = faults.page {
        let asked = format!("MaxResults={}", call.get("MaxResults"));
        let body = String::from_utf8_lossy(&request.body);
        request.body = body.replace(&asked, &format!("MaxResults={page}")).into_bytes();
    }
    let answer = relay(moto, &request).await?;
    let now = Instant::now();
    let hidden: BTreeSet<String> = {
        let mut state = lock(state);
        state.hidden.retain(|_, until| *until > now);
        state.hidden.keys().cloned().collect()
    };
    Ok(if hidden.is_empty() { answer } else { without(answer, &hidden) })
}

async fn end(
    moto: u16,
    request: &Request,
    call: &Call,
    faults: &Faults,
    state: &Mutex<State>,
) -> Result<Answer> {
    if let Some(id) = call.instances().find(|id| faults.protected.contains(*id)) {
        let words = format!(
            "The instance '{id}' may not be terminated. Modify its 'disableApiTermination' \
             instance attribute and try again."
        );
        return Ok(evident(End, "OperationNotPermitted", &words));
    }
    let answer = relay(moto, request).await?;
    if answer.status == 200 {
        lock(state).ended.extend(call.instances().cloned());
    }
    Ok(answer)
}

/// What a call is, for the table of evidence.
fn kind(call: &Call) -> fleet_provider::evidence::Call {
    match call.action() {
        "RunInstances" | "CreateFleet" => Launch,
        "TerminateInstances" => End,
        _ => Look,
    }
}
