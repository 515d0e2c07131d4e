//! What cannot wait for the next look: machines that will be taken back, or that ended without us; prices and room
//! that changed.

use crate::Controller;
use crate::board::FleetView;
use crate::market::Stir;
use fleet_model::{FleetName, MachineId, MicroUsd, PoolId, Scope};
use std::collections::BTreeSet;
use std::sync::Arc;

/// A change of the market that a fleet was woken for.
type Told = (FleetName, PoolId, Stir, Option<MicroUsd>);

impl Controller {
    /// Asks clouds for what cannot wait, for as long as this is polled.
    pub(crate) async fn watch_out(&self) {
        tokio::join!(self.watch_for_notices(), self.watch_the_market());
    }

    async fn watch_for_notices(&self) {
        let mut told = BTreeSet::new();
        loop {
            tokio::time::sleep(self.alarms_every).await;
            self.alarms(&mut told).await;
        }
    }

    async fn watch_the_market(&self) {
        let mut told = BTreeSet::new();
        loop {
            tokio::time::sleep(self.market_every).await;
            self.stirs(&mut told).await;
        }
    }

    /// The fleets that this replica looks after, as they were seen last.
    fn seen(&self) -> Vec<(FleetName, Arc<FleetView>)> {
        let fleets = self.board.fleets().into_iter().filter(|(fleet, _)| self.is_mine(fleet));
        fleets.filter_map(|(fleet, known)| Some((fleet, known.view?))).collect()
    }

    /// Asks once, and wakes the fleets of machines that nobody was alarmed about before.
    async fn alarms(&self, told: &mut BTreeSet<MachineId>) {
        let views = self.seen();
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

    /// Asks once, and wakes the fleets whose market changed since their last look. Each change wakes a fleet once,
    /// whatever comes of it: one that fails keeps its rest.
    async fn stirs(&self, told: &mut BTreeSet<Told>) {
        let views = self.seen();
        let pools: BTreeSet<PoolId> =
            views.iter().flat_map(|(_, view)| view.watched.keys().cloned()).collect();
        if pools.is_empty() {
            return;
        }
        let market = self.engine.market(&pools).await;
        let mut stirred = BTreeSet::new();
        for (fleet, view) in &views {
            for (pool, watched) in &view.watched {
                let Some(now) = market.get(pool) else { continue };
                let Some(stir) = watched.stirred(now) else { continue };
                stirred.insert((fleet.clone(), pool.clone(), stir, now.price));
            }
        }
        let new: Vec<&Told> = stirred.difference(told).collect();
        for (nth, (fleet, pool, stir, _)) in new.iter().enumerate() {
            // They are in the order of fleets, and one change is enough to look.
            if nth == 0 || new[nth - 1].0 != *fleet {
                tracing::info!(%fleet, %pool, "{}", stir.as_str());
                self.look_at(fleet);
            }
        }
        *told = stirred;
    }
}
