//! Operations: waited for to their end, within a bound.

use crate::error::{Asked, is_missing, read, refused};
use crate::session::Clients;
use fleet_model::Timestamp;
use fleet_provider::{Class, Clock, Error};
use google_cloud_compute_v1::model::Operation;
use google_cloud_compute_v1::model::operation::Status;
use std::time::Duration;

/// A hundred machines take Google a minute or two. What is not over by then is not known.
const BOUND: Duration = Duration::from_secs(5 * 60);

/// Between two looks. `wait` itself holds its answer back, so this is for when it does not.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// Pages of operations that are read at the most: what they do not tell stays unknown.
const PAGES: usize = 10;

/// By how much the times of two operations may be out of order. A guess: Google does not say that
/// a launch is dated before its parts, and one clock of many may be behind.
const CLOCKS_DIFFER: Duration = Duration::from_secs(60);

/// Where an operation is to be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum At<'a> {
    Zone(&'a str),
    Region(&'a str),
}

/// Waits until an operation is over. A look that fails is no answer: the next one may be.
pub(crate) async fn ended(
    clients: &Clients,
    at: At<'_>,
    operation: Operation,
    clock: &dyn Clock,
) -> Result<Operation, Error> {
    let began = clock.now();
    let mut operation = operation;
    let mut pause = FIRST_PAUSE;
    while operation.status != Some(Status::Done) {
        let passed = Duration::try_from(clock.now().duration_since(began)).unwrap_or_default();
        let Some(name) = operation.name.clone().filter(|_| passed < BOUND) else {
            let words = "the operation has not ended; whether it will launch anything is not known";
            return Err(refused(Class::Unknown, "OperationStillRunning", words));
        };
        match wait(clients, at, &name).await {
            Ok(next) => operation = next,
            Err(error) if is_missing(&error) => {
                let words = "the operation is not known any more";
                return Err(refused(Class::Unknown, "OperationForgotten", words));
            }
            Err(error) => {
                let error = read(Asked::Read, &error);
                tracing::debug!(%error, "an operation was not seen");
            }
        }
        if operation.status != Some(Status::Done) {
            clock.sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }
    Ok(operation)
}

async fn wait(
    clients: &Clients,
    at: At<'_>,
    name: &str,
) -> Result<Operation, google_cloud_gax::error::Error> {
    let project = &clients.project;
    match at {
        At::Zone(zone) => {
            let asked = clients.zone_operations.wait().set_project(project).set_zone(zone);
            asked.set_operation(name).send().await
        }
        At::Region(region) => {
            let asked = clients.region_operations.wait().set_project(project).set_region(region);
            asked.set_operation(name).send().await
        }
    }
}

/// The operations that belong to one bulk launch in a zone that began at a time.
pub(crate) async fn of_group(
    clients: &Clients,
    zone: &str,
    group: &str,
    since: Timestamp,
) -> Result<Vec<Operation>, Error> {
    let all = since_then(clients, zone, since, |_| false).await?;
    let ours = |one: &Operation| one.operation_group_id.as_deref() == Some(group);
    Ok(all.into_iter().filter(ours).collect())
}

/// The operations of a zone since a time, the newest first, until there are enough or a bound.
///
/// By the time alone: a filter on any other field scans all operations of the project and counts
/// toward a limit that cannot be raised. What is wanted of them is picked out here.
pub(crate) async fn since_then(
    clients: &Clients,
    zone: &str,
    since: Timestamp,
    mut enough: impl FnMut(&[Operation]) -> bool,
) -> Result<Vec<Operation>, Error> {
    let since_surely = since.checked_sub(CLOCKS_DIFFER).unwrap_or(Timestamp::MIN);
    let mut all: Vec<Operation> = Vec::new();
    let mut token: Option<String> = None;
    for _ in 0..PAGES {
        let asked = clients.zone_operations.list().set_project(&clients.project).set_zone(zone);
        let asked = asked.set_filter(after(since)).set_order_by("creationTimestamp desc");
        let asked = asked.set_max_results(500_u32).set_or_clear_page_token(token.clone());
        let page = asked.send().await.map_err(|error| read(Asked::Read, &error))?;
        let older = page.items.last().and_then(inserted).is_some_and(|at| at < since_surely);
        all.extend(page.items);
        let next = page.next_page_token.filter(|next| !next.is_empty());
        if older || next.is_none() || next == token || enough(&all) {
            break;
        }
        token = next;
    }
    Ok(all)
}

/// Google writes times with a Pacific offset. Whether a filter compares them as times or as texts
/// is nowhere said: a day more makes both right.
fn after(since: Timestamp) -> String {
    let early = since.checked_sub(Duration::from_secs(24 * 3600)).unwrap_or(Timestamp::MIN);
    format!("insertTime > \"{}\"", early.strftime("%Y-%m-%dT%H:%M:%SZ"))
}

/// When an operation was asked for.
pub(crate) fn inserted(operation: &Operation) -> Option<Timestamp> {
    operation.insert_time.as_deref()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_range_begins_a_day_early() {
        let since: Timestamp = "2026-11-15T05:00:00.5Z".parse().expect("a time");
        assert_eq!(after(since), "insertTime > \"2026-11-14T05:00:00Z\"");
        let operation = Operation::new().set_insert_time("2026-11-14T21:00:00.500-08:00");
        assert_eq!(inserted(&operation), Some(since));
    }
}
