//! Labels of machines that run. Google takes all labels at once, with a fingerprint of those that they
//! take the place of: if somebody else changed them meanwhile, they are read again.

use crate::error::{Asked, is_missing, of_operation, read, refused};
use crate::labels;
use crate::machines::{get, machine, read_id, region_of};
use crate::operations::{At, ended};
use crate::session::Clients;
use fleet_model::MachineId;
use fleet_provider::{Class, Clock, Error, RelabelRequest};
use google_cloud_compute_v1::model::{Instance, InstancesSetLabelsRequest};
use std::collections::HashMap;

/// Changes the labels of those machines that are there and of this fleet.
pub(crate) async fn relabel(
    clients: &Clients,
    request: &RelabelRequest<'_>,
    clock: &dyn Clock,
) -> Result<Vec<MachineId>, Error> {
    let mut done = Vec::new();
    for one in request.machines {
        if relabel_one(clients, request, &one.machine, clock).await? {
            done.push(one.machine.clone());
        }
    }
    Ok(done)
}

async fn relabel_one(
    clients: &Clients,
    request: &RelabelRequest<'_>,
    id: &MachineId,
    clock: &dyn Clock,
) -> Result<bool, Error> {
    let here = |(zone, _): &(&str, &str)| region_of(zone) == Some(request.scope.region.as_str());
    let Some((zone, number)) = read_id(id).filter(here) else { return Ok(false) };
    let Some(instance) = get(clients, zone, number).await? else { return Ok(false) };
    let owner = machine(&instance).and_then(|machine| machine.owner);
    if owner.is_none_or(|owner| owner.fleet != *request.fleet) {
        return Ok(false);
    }
    let labels = labels::changed(&instance.labels, request);
    set_labels(clients, (zone, number), instance, labels, clock).await
}

/// Gives a machine all its labels; whether it is there.
pub(crate) async fn set_labels(
    clients: &Clients,
    (zone, number): (&str, &str),
    instance: Instance,
    labels: HashMap<String, String>,
    clock: &dyn Clock,
) -> Result<bool, Error> {
    if labels == instance.labels {
        return Ok(true);
    }
    if labels.len() > labels::MOST {
        let words =
            format!("{} labels are more than the {} of a machine", labels.len(), labels::MOST);
        return Err(refused(Class::Invalid, "TooManyLabels", words));
    }
    let body = InstancesSetLabelsRequest::new()
        .set_labels(labels)
        .set_or_clear_label_fingerprint(instance.label_fingerprint);
    let call = clients.instances.set_labels().set_project(&clients.project).set_zone(zone);
    // By its number: its name may be another machine's by the time the request arrives.
    match call.set_instance(number).set_body(body).send().await {
        Ok(operation) => {
            let operation = ended(clients, At::Zone(zone), operation, clock).await?;
            of_operation(Asked::Read, &operation).map_or(Ok(true), Err)
        }
        Err(error) if is_missing(&error) => Ok(false),
        Err(error) => Err(read(Asked::Read, &error)),
    }
}
