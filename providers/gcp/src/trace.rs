//! What became of machines that a list lacks.
//!
//! Google lists nothing of a machine that is gone: a spot machine that was taken back, one whose
//! time was over and one that a person deleted look the same. Each is asked for by its number,
//! and only "not found" is believed, also of young ones. Why it is gone then stands in the
//! operations of its zone, for an hour at least. That list is not complete in large projects: an
//! event in it proves something, its absence nothing.

use crate::error::{Asked, of_operation};
use crate::kind::Kind;
use crate::machines::{get, machine, read_id, region_of};
use crate::operations::{inserted, since_then};
use crate::session::Clients;
use fleet_model::{Cause, CauseKind, Market, Timestamp};
use fleet_provider::{Missing, TraceRequest, Traced};
use futures::future::join_all;
use google_cloud_compute_v1::model::Operation;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Machines that one call asks for. The others are unknown for now and asked for at the next look.
const MOST: usize = 500;

/// Looks at once.
const AT_ONCE: usize = 20;

/// Google keeps operations for no longer.
const KEPT: Duration = Duration::from_secs(14 * 24 * 3600);

/// Google may delete a machine a little before its time by our clock.
const EARLY: Duration = Duration::from_secs(120);

/// What is known besides what Google says.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Known<'a> {
    pub(crate) now: Timestamp,
    /// The account that we act as, if we know it.
    pub(crate) account: Option<&'a str>,
    /// On-demand machines with accelerators run for so many hours.
    pub(crate) flex_start_hours: Option<u64>,
}

/// One answer per machine, in order.
pub(crate) async fn trace(
    clients: &Clients,
    request: &TraceRequest<'_>,
    known: Known<'_>,
) -> Vec<Traced> {
    let mut answers = vec![Traced::Unknown; request.missing.len()];
    let here = |(zone, _): &(&str, &str)| region_of(zone) == Some(request.scope.region.as_str());
    let asked: Vec<(usize, &str, &str)> = request
        .missing
        .iter()
        .enumerate()
        .filter_map(|(at, missing)| {
            read_id(&missing.machine).filter(here).map(|(zone, number)| (at, zone, number))
        })
        .take(MOST)
        .collect();
    let mut gone: BTreeMap<&str, Vec<(usize, u64)>> = BTreeMap::new();
    for some in asked.chunks(AT_ONCE) {
        let looks = some.iter().map(|(_, zone, number)| get(clients, zone, number));
        for ((at, zone, number), look) in some.iter().zip(join_all(looks).await) {
            match (look, number.parse()) {
                (Ok(Some(instance)), _) => {
                    if let Some(found) = machine(&instance) {
                        answers[*at] = Traced::There(Box::new(found));
                    }
                }
                (Ok(None), Ok(number)) => gone.entry(*zone).or_default().push((*at, number)),
                (Ok(None), Err(_)) => {}
                (Err(error), _) => tracing::debug!(%error, "a machine was not asked for"),
            }
        }
    }
    let zones = gone.into_iter().map(|(zone, lost)| async move {
        let since = lost.iter().map(|(at, _)| request.missing[*at].launched_at).min();
        let events = events(clients, zone, since, &lost, known.now).await;
        (lost, events)
    });
    for (lost, events) in join_all(zones).await {
        for (at, number) in lost {
            let told = cause(&events, number, &request.missing[at], known);
            answers[at] = Traced::Gone(told);
        }
    }
    answers
}

/// The operations of a zone that may tell why machines are gone. None of them is no reason to
/// doubt that they are.
async fn events(
    clients: &Clients,
    zone: &str,
    launched: Option<Timestamp>,
    lost: &[(usize, u64)],
    now: Timestamp,
) -> Vec<Operation> {
    let oldest = now.checked_sub(KEPT).unwrap_or(Timestamp::MIN);
    let since = launched.map_or(oldest, |launched| launched.max(oldest));
    let wanted: BTreeSet<u64> = lost.iter().map(|(_, number)| *number).collect();
    let all_told = |seen: &[Operation]| {
        let told = seen.iter().filter(|one| is_end(one)).filter_map(|one| one.target_id);
        wanted.is_subset(&told.collect())
    };
    match since_then(clients, zone, since, all_told).await {
        Ok(all) => all,
        Err(error) => {
            tracing::debug!(%error, zone, "why machines are gone was not seen");
            Vec::new()
        }
    }
}

/// Whether an operation says all there is to say. A deletion by the system follows from something
/// that is older, and so on a later page.
fn is_end(operation: &Operation) -> bool {
    let kind = operation.operation_type.as_deref().unwrap_or_default();
    let by_somebody = operation.user.as_deref().is_some_and(|user| user != "system");
    (kind == "delete" && by_somebody) || event(kind).is_some()
}

/// What an event of the system means for its machine. Those that leave it running are no end.
fn event(kind: &str) -> Option<CauseKind> {
    match kind.strip_prefix("compute.instances.")? {
        "preempted" | "baremetalCaretakerPreempted" | "terminateOnHostMaintenance" => {
            Some(CauseKind::Interrupted)
        }
        "guestTerminate" => Some(CauseKind::Guest),
        "hostError" | "kmsKeyError" => Some(CauseKind::Unwell),
        _ => None,
    }
}

/// Why a machine is gone, as far as operations tell.
fn cause(events: &[Operation], number: u64, missing: &Missing, known: Known<'_>) -> Option<Cause> {
    let own: Vec<&Operation> = events.iter().filter(|one| one.target_id == Some(number)).collect();
    let insert = own.iter().find(|one| one.operation_type.as_deref() == Some("insert"));
    // The last of them: what happened before is over, or it would not have been there to delete.
    let ends = own.iter().filter(|one| is_end(one) && one.error.is_none());
    let Some(last) = ends.max_by_key(|one| inserted(one)) else {
        let failed = insert.and_then(|one| of_operation(Asked::Launch, one));
        let words = failed.map(|error| format!("{}: {}", error.code, error.message));
        let failed = words.map(|words| Cause::new(CauseKind::LaunchFailed, words));
        return failed.or_else(|| expired(missing, known));
    };
    let kind = last.operation_type.as_deref().unwrap_or_default();
    if let Some(meaning) = event(kind) {
        let words = last.status_message.as_deref().unwrap_or(kind);
        return Some(Cause::new(meaning, words));
    }
    let by = last.user.as_deref();
    let maker = insert.and_then(|one| one.user.as_deref());
    // If it was us, the journal knows more than Google.
    let by = by.filter(|_| by != known.account && by != maker)?;
    Some(Cause::new(CauseKind::Person, format!("deleted by {by}")))
}

/// Whether a machine's time was limited from the start and is over. Google deletes all machines of
/// a flex-start launch in the same minute, and says nothing.
fn expired(missing: &Missing, known: Known<'_>) -> Option<Cause> {
    let hours = known.flex_start_hours?;
    let kind = Kind::read(missing.pool.instance_type.as_str())?;
    let limited = missing.pool.market == Market::OnDemand && kind.is_accelerated();
    let lifetime = Duration::from_secs(hours.saturating_mul(3600)).saturating_sub(EARLY);
    let over = missing.launched_at.checked_add(lifetime).ok()?;
    let words = format!("its {hours} hours of flex-start are over");
    (limited && known.now >= over).then(|| Cause::new(CauseKind::Expired, words))
}

#[cfg(test)]
#[path = "trace_tests.rs"]
mod tests;
