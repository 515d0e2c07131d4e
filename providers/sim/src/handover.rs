//! Machines that change hands, as the engine asks for it. Sent again without harm: what is not answered is
//! asked once more.

use crate::classify::Asked;
use crate::cloud;
use crate::provider::SimProvider;
use async_trait::async_trait;
use fleet_model::{Machine, MachineId, Scope};
use fleet_provider::{DisownRequest, Error, Handover, OwnRequest, RenameRequest, TagFilter};

#[async_trait]
impl Handover for SimProvider {
    async fn unowned(&self, scope: &Scope, tag: &TagFilter) -> Result<Vec<Machine>, Error> {
        self.check_scope(scope)?;
        self.call(Asked::Read, |tx| cloud::unowned(tx, scope, tag)).await
    }

    async fn own(&self, request: &OwnRequest<'_>) -> Result<Vec<MachineId>, Error> {
        self.check_scope(request.scope)?;
        self.call(Asked::Read, |tx| cloud::own(tx, request)).await
    }

    async fn disown(&self, request: &DisownRequest<'_>) -> Result<Vec<MachineId>, Error> {
        self.check_scope(request.scope)?;
        self.call(Asked::Read, |tx| cloud::disown(tx, request)).await
    }

    async fn rename(&self, request: &RenameRequest<'_>) -> Result<Vec<MachineId>, Error> {
        self.check_scope(request.scope)?;
        self.call(Asked::Read, |tx| cloud::rename(tx, request)).await
    }
}
