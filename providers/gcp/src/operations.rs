//! Operations: waited for to their end, within a bound.

use crate::error::{Asked, is_missing, read, refused};
use crate::session::Clients;
use fleet_provider::{Class, Clock, Error};
use google_cloud_compute_v1::model::Operation;
use google_cloud_compute_v1::model::operation::Status;
use std::time::Duration;

/// A hundred machines take Google a minute or two. What is not over by then is not known.
const BOUND: Duration = Duration::from_secs(5 * 60);

/// Between two looks. `wait` itself holds its answer back, so this is for when it does not.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

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

/// The operations that belong to one bulk launch in a zone.
pub(crate) async fn of_group(
    clients: &Clients,
    zone: &str,
    group: &str,
) -> Result<Vec<Operation>, Error> {
    let asked = clients.zone_operations.list().set_project(&clients.project).set_zone(zone);
    let asked = asked.set_filter(format!("operationGroupId={group}")).set_max_results(500_u32);
    let answer = asked.send().await.map_err(|error| read(Asked::Read, &error))?;
    Ok(answer.items)
}
