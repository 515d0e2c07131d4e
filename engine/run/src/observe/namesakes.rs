//! Machines that tell our name and are another fleet's.
//!
//! A fleet that is renamed leaves its old name on machines whose cloud cannot change tags. Identity counts: as
//! long as a journal here knows the fleet that they are of, they are none of ours, whatever they are called.

use crate::engine::Engine;
use crate::state::Journal;
use fleet_model::{FleetName, FleetUid, Machine, MachineId, Observed, Recorded};
use futures::{StreamExt, stream};
use std::collections::BTreeSet;

/// Journals read at once.
const READ_AT_ONCE: usize = 32;

impl Engine {
    /// Leaves machines of other fleets out that carry the name of this one. A journal that cannot be read
    /// vouches for nobody.
    pub(super) async fn leave_others_out(
        &self,
        fleet: &FleetName,
        recorded: &Recorded,
        observed: &mut Observed,
    ) {
        let namesake = |machine: &Machine| {
            let owner = machine.owner.as_ref()?;
            let other = owner.name == *fleet && recorded.uid.as_ref() != Some(&owner.fleet);
            other.then(|| owner.fleet.clone())
        };
        let seen = observed.machines.values().chain(observed.glimpsed.values());
        let others: BTreeSet<FleetUid> = seen.filter_map(namesake).collect();
        if others.is_empty() {
            return;
        }
        let known = self.identities_beside(fleet).await;
        let ours: BTreeSet<&MachineId> = recorded.machines().map(|one| one.machine).collect();
        let stays = |machine: &Machine| {
            ours.contains(&machine.id) || namesake(machine).is_none_or(|uid| !known.contains(&uid))
        };
        observed.machines.retain(|_, machine| stays(machine));
        observed.glimpsed.retain(|_, machine| stays(machine));
    }

    /// The identities of the other fleets here.
    async fn identities_beside(&self, fleet: &FleetName) -> BTreeSet<FleetUid> {
        let others = self.fleets().await.unwrap_or_default().into_iter();
        let read = stream::iter(others.filter(|other| other != fleet)).map(|other| async move {
            let journal = Journal::open(&self.store, &other, self.clock.clone()).await.ok()?;
            journal.recorded().await.uid
        });
        read.buffered(READ_AT_ONCE).filter_map(std::future::ready).collect().await
    }
}
