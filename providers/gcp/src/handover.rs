//! Machines that are let go, or whose fleet has another name: labels of ours are taken off, or rewritten.
//!
//! None can be taken in. A machine of ours is known by its name, which follows from the launch that made it;
//! labels alone can be copied.

use crate::labels;
use crate::machines::{get, read_id, region_of};
use crate::provider::Gcp;
use crate::relabel::set_labels;
use async_trait::async_trait;
use fleet_model::{Cloud, FleetUid, Machine, MachineId, Scope};
use fleet_provider::{
    DisownRequest, Error, Handover, OwnRequest, RenameRequest, TagFilter, no_handover,
};
use std::collections::HashMap;

const NAMES_PROVE: &str =
    "on Google Cloud the name of a machine proves whose it is, and that cannot be changed";

/// Labels of a machine, by key.
type Labels = HashMap<String, String>;

impl Gcp {
    /// Changes labels of a machine that carries those of a fleet, or none of ours: `change` is told which.
    /// Says whether it carries what it should.
    async fn change_labels(
        &self,
        fleet: &FleetUid,
        (scope, id): (&Scope, &MachineId),
        change: &(dyn Fn(&Labels) -> Labels + Sync),
        unlabelled_is_done: bool,
    ) -> Result<bool, Error> {
        let clients = self.clients().await?;
        let here = |(zone, _): &(&str, &str)| region_of(zone) == Some(scope.region.as_str());
        let Some((zone, number)) = read_id(id).filter(here) else { return Ok(false) };
        let Some(instance) = get(clients, zone, number).await? else { return Ok(false) };
        match labels::uid(&instance.labels) {
            Some(uid) if uid == *fleet => {}
            None => return Ok(unlabelled_is_done),
            Some(_) => return Ok(false),
        }
        let labels = change(&instance.labels);
        set_labels(clients, (zone, number), instance, labels, self.clock()).await
    }
}

#[async_trait]
impl Handover for Gcp {
    async fn unowned(&self, _: &Scope, _: &TagFilter) -> Result<Vec<Machine>, Error> {
        Err(no_handover(Cloud::Gcp, NAMES_PROVE))
    }

    async fn own(&self, _: &OwnRequest<'_>) -> Result<Vec<MachineId>, Error> {
        Err(no_handover(Cloud::Gcp, NAMES_PROVE))
    }

    async fn disown(&self, request: &DisownRequest<'_>) -> Result<Vec<MachineId>, Error> {
        let mut done = Vec::new();
        for one in request.machines {
            let at = (request.scope, &one.machine);
            if self.change_labels(request.fleet, at, &labels::without_ours, true).await? {
                done.push(one.machine.clone());
            }
        }
        Ok(done)
    }

    async fn rename(&self, request: &RenameRequest<'_>) -> Result<Vec<MachineId>, Error> {
        let rename = |now: &HashMap<String, String>| labels::renamed(now, request.name);
        let mut done = Vec::new();
        for one in request.machines {
            let at = (request.scope, &one.machine);
            if self.change_labels(request.fleet, at, &rename, false).await? {
                done.push(one.machine.clone());
            }
        }
        Ok(done)
    }
}
