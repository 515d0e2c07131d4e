//! Machines that change hands, in the account that they stand in.

use super::{Accounts, bare_scope, named_machines};
use crate::{DisownRequest, Error, Handover, OwnRequest, RenameRequest, TagFilter};
use async_trait::async_trait;
use fleet_model::{Machine, MachineId, Scope};

#[async_trait]
impl Handover for Accounts {
    async fn unowned(&self, scope: &Scope, tag: &TagFilter) -> Result<Vec<Machine>, Error> {
        let account = scope.region.account();
        let provider = self.of(account);
        let mut found = provider.handover()?.unowned(&bare_scope(scope), tag).await?;
        named_machines(&mut found, account);
        Ok(found)
    }

    async fn own(&self, request: &OwnRequest<'_>) -> Result<Vec<MachineId>, Error> {
        let scope = bare_scope(request.scope);
        let provider = self.of(request.scope.region.account());
        provider.handover()?.own(&OwnRequest { scope: &scope, ..*request }).await
    }

    async fn disown(&self, request: &DisownRequest<'_>) -> Result<Vec<MachineId>, Error> {
        let scope = bare_scope(request.scope);
        let provider = self.of(request.scope.region.account());
        provider.handover()?.disown(&DisownRequest { scope: &scope, ..*request }).await
    }

    async fn rename(&self, request: &RenameRequest<'_>) -> Result<Vec<MachineId>, Error> {
        let scope = bare_scope(request.scope);
        let provider = self.of(request.scope.region.account());
        provider.handover()?.rename(&RenameRequest { scope: &scope, ..*request }).await
    }
}
