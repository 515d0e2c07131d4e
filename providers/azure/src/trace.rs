//! Machines that a list lacks, asked for by name. A list may lack what is there for half an hour; a
//! question by name is answered right, but for two cases that are told apart here.

use crate::api::{Api, COMPUTE};
use crate::error::Asked;
use crate::machines::{looks_gone, machine};
use crate::names::{Group, MACHINES};
use crate::wire::Vm;
use fleet_model::{Cause, CauseKind, Machine, Market, SETTLE_WINDOW, Timestamp};
use fleet_provider::{CreateRequest, Error, Missing, TraceRequest, Traced};
use futures::future::join_all;
use reqwest::Method;
use std::time::Duration;

/// Right after its launch a machine that lives may be unknown for a moment.
const YOUNG: Duration = Duration::from_secs(120);

/// `x-ms-failure-cause: gateway` means that Resource Manager answered from its own cache, which is
/// the normal form for something that was deleted long ago, and may be wrong about something new.
const YOUNG_TO_GATEWAY: Duration = SETTLE_WINDOW;

/// How many are asked for at a time.
const AT_A_TIME: usize = 20;

/// What a question by name found.
#[derive(Debug)]
pub(crate) enum Seen {
    There(Box<Vm>),
    /// Gone, and whether Compute itself said so. What the platform takes back is answered that way
    /// (recorded); what was deleted through Resource Manager is answered by its gateway.
    Gone {
        by_compute: bool,
    },
    Unclear,
}

/// Asks for one machine. Not with what it does now: that may be missing for a machine that is there.
pub(crate) async fn seek(
    api: &Api,
    group: &Group,
    name: &str,
    launched_at: Timestamp,
) -> Result<Seen, Error> {
    let query = [("api-version", COMPUTE)];
    let path = group.at(MACHINES, name);
    let answer = api.send(Asked::Read, Method::GET, &path, &query, None).await?;
    match answer.status {
        200 => Ok(Seen::There(answer.json(Asked::Read)?)),
        404 if looks_gone(&answer.error(Asked::Read)) => {
            let gateway = answer.header("x-ms-failure-cause") == Some("gateway");
            let age = api.clock.now().duration_since(launched_at).unsigned_abs();
            Ok(absent(gateway, age))
        }
        _ => Err(answer.error(Asked::Read)),
    }
}

fn absent(gateway: bool, age: Duration) -> Seen {
    let young = if gateway { YOUNG_TO_GATEWAY } else { YOUNG };
    if age < young { Seen::Unclear } else { Seen::Gone { by_compute: !gateway } }
}

/// Asks for each machine that a list lacks.
pub(crate) async fn trace(api: &Api, request: &TraceRequest<'_>) -> Result<Vec<Traced>, Error> {
    let group = api.group()?;
    let (mut traced, mut failed, mut answered) = (Vec::new(), None, false);
    for some in request.missing.chunks(AT_A_TIME) {
        let asked = some
            .iter()
            .map(|missing| seek(api, &group, missing.machine.as_str(), missing.launched_at));
        for (missing, seen) in some.iter().zip(join_all(asked).await) {
            match seen {
                Ok(seen) => {
                    answered = true;
                    traced.push(read(missing, &seen));
                }
                Err(error) => {
                    failed = failed.or(Some(error));
                    traced.push(Traced::Unknown);
                }
            }
        }
        // A cloud that answers nothing is not asked a thousand times.
        if let Some(error) = failed.take_if(|error| !answered || error.throttled) {
            return Err(error);
        }
    }
    Ok(traced)
}

/// The machine of a launch, by the name that follows from it.
pub(crate) async fn made(api: &Api, request: &CreateRequest<'_>) -> Result<Vec<Machine>, Error> {
    let token = &request.create.token;
    let name = crate::names::machine(token.as_str());
    // Long ago, or nobody would ask: what is not there now will not come.
    let seen = seek(api, &api.group()?, &name, Timestamp::UNIX_EPOCH).await?;
    let ours = |machine: &Machine| machine.owner.as_ref().is_some_and(|o| o.token == *token);
    Ok(match seen {
        Seen::There(vm) => machine(&vm).filter(ours).into_iter().collect(),
        Seen::Gone { .. } | Seen::Unclear => Vec::new(),
    })
}

fn read(missing: &Missing, seen: &Seen) -> Traced {
    match seen {
        Seen::There(vm) => {
            machine(vm).map_or(Traced::Unknown, |machine| Traced::There(Box::new(machine)))
        }
        Seen::Gone { by_compute: true } if missing.pool.market == Market::Spot => {
            let words = "a spot machine that Compute itself no longer knows";
            Traced::Gone(Some(Cause::new(CauseKind::Interrupted, words)))
        }
        Seen::Gone { .. } => Traced::Gone(None),
        Seen::Unclear => Traced::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absence_proves_something_only_after_a_while() {
        let check = |gateway, seconds, expect: Option<bool>| {
            let found = match absent(gateway, Duration::from_secs(seconds)) {
                Seen::Gone { by_compute } => Some(by_compute),
                Seen::There(_) | Seen::Unclear => None,
            };
            assert_eq!(found, expect, "{gateway} {seconds}");
        };
        check(false, 60, None);
        check(false, 180, Some(true));
        check(true, 180, None);
        check(true, 1800, Some(false));
    }
}
