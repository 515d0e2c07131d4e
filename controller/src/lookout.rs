//! What cannot wait for the next look: machines that will be taken back, or that ended without us.

use crate::Controller;
use fleet_model::{FleetName, MachineId, Scope};
use std::collections::BTreeSet;

impl Controller {
    /// Asks clouds for notices, for as long as this is polled.
    pub(crate) async fn watch_out(&self) {
        let mut told = BTreeSet::new();
        loop {
            tokio::time::sleep(self.alarms_every).await;
            self.alarms(&mut told).await;
        }
    }

    /// Asks once, and wakes the fleets of machines that nobody was alarmed about before.
    async fn alarms(&self, told: &mut BTreeSet<MachineId>) {
        let views = self.board.fleets().into_iter().filter(|(fleet, _)| self.is_mine(fleet));
        let views: Vec<_> = views.filter_map(|(fleet, known)| Some((fleet, known.view?))).collect();
        let scopes: BTreeSet<Scope> =
            views.iter().flat_map(|(_, view)| view.scopes.iter().cloned()).collect();
        if scopes.is_empty() {
            return;
        }
        let alarmed = self.engine.alarms(&scopes).await;
        let new: Vec<&MachineId> = alarmed.difference(told).collect();
        let troubled =
            views.iter().filter(|(_, view)| new.iter().any(|m| view.machines.contains(*m)));
        let fleets: Vec<FleetName> = troubled.map(|(fleet, _)| fleet.clone()).collect();
        for fleet in &fleets {
            tracing::info!(%fleet, "a machine is about to go, or is gone");
            self.look_at(fleet);
        }
        // Forgotten with their machines: the list stays as short as what clouds tell.
        *told = alarmed;
    }
}
