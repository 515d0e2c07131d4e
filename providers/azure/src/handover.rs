//! Machines that are let go, or whose fleet has another name: tags of ours are taken off, or rewritten.
//!
//! None can be taken in. A machine of ours is known by its name, which follows from the launch that made it;
//! tags alone can be copied.

use crate::api::{Api, COMPUTE};
use crate::names::MACHINES;
use crate::provider::Azure;
use crate::relabel::patch;
use crate::tags;
use crate::wire::Vm;
use async_trait::async_trait;
use fleet_model::{Cloud, Machine, MachineId, Scope};
use fleet_provider::{
    DisownRequest, Error, Handover, OwnRequest, RenameRequest, TagFilter, no_handover,
};
use std::collections::BTreeMap;

const NAMES_PROVE: &str =
    "on Azure the name of a machine proves whose it is, and that cannot be changed";

/// A machine and the path of its tags; `None` if it is not there.
async fn find(api: &Api, id: &MachineId) -> Result<Option<(String, Vm)>, Error> {
    let path = api.group()?.at(MACHINES, id.as_str());
    let vm = api.find::<Vm>(&path, COMPUTE).await?;
    Ok(vm.map(|vm| (path, vm)))
}

#[async_trait]
impl Handover for Azure {
    async fn unowned(&self, _: &Scope, _: &TagFilter) -> Result<Vec<Machine>, Error> {
        Err(no_handover(Cloud::Azure, NAMES_PROVE))
    }

    async fn own(&self, _: &OwnRequest<'_>) -> Result<Vec<MachineId>, Error> {
        Err(no_handover(Cloud::Azure, NAMES_PROVE))
    }

    async fn disown(&self, request: &DisownRequest<'_>) -> Result<Vec<MachineId>, Error> {
        let mut done = Vec::new();
        for one in request.machines {
            let Some((path, vm)) = find(self.api(), &one.machine).await? else { continue };
            match tags::get(&vm, tags::UID) {
                Some(uid) if uid == request.fleet.as_str() => {
                    patch(self.api(), &path, "Delete", tags::ours(&vm)).await?;
                }
                // Done before.
                None => {}
                Some(_) => continue,
            }
            done.push(one.machine.clone());
        }
        Ok(done)
    }

    async fn rename(&self, request: &RenameRequest<'_>) -> Result<Vec<MachineId>, Error> {
        let mut done = Vec::new();
        for one in request.machines {
            let Some((path, vm)) = find(self.api(), &one.machine).await? else { continue };
            if tags::get(&vm, tags::UID) != Some(request.fleet.as_str()) {
                continue;
            }
            let name = BTreeMap::from([(tags::NAME.to_owned(), request.name.to_string())]);
            patch(self.api(), &path, "Merge", name).await?;
            done.push(one.machine.clone());
        }
        Ok(done)
    }
}
