//! The checks of a whole fleet in one look.

use crate::apply::session::Session;
use crate::hooks::HookTarget;
use fleet_model::{Inputs, Machine, MachineId, MachineState, OnRecord, Probed, SlotId};
use futures::{StreamExt, stream};

/// Machines checked at once.
const CHECKED_AT_ONCE: usize = 256;

impl Session<'_> {
    /// Makes the checks of every machine that is up.
    pub(crate) async fn probe(&self, inputs: &mut Inputs) {
        let health = inputs.desired.health.clone();
        if health.probes.is_empty() {
            return;
        }
        let silent = self.engine.add_addresses(std::slice::from_mut(inputs)).await;
        for (cloud, error) in silent {
            tracing::warn!(%cloud, %error, "addresses are not known; checks may fail for want of them");
        }
        let up: Vec<(SlotId, &Machine)> = running(inputs).collect();
        let fleet = &inputs.desired.fleet;
        let checked = stream::iter(up).map(|(slot, machine)| {
            let health = &health;
            async move {
                let target = HookTarget { fleet, slot, machine };
                (machine.id.clone(), self.engine.hooks.check(target, health).await)
            }
        });
        let said: Vec<(MachineId, Probed)> =
            checked.buffer_unordered(CHECKED_AT_ONCE).collect().await;
        if let Some((_, Probed::NotMade { words })) =
            said.iter().find(|(_, one)| matches!(one, Probed::NotMade { .. }))
        {
            tracing::warn!(%words, "a check could not be made; what is known of health stands");
        }
        inputs.observed.probed = said.into_iter().collect();
    }
}

/// Machines on record that are up.
fn running(inputs: &Inputs) -> impl Iterator<Item = (SlotId, &Machine)> {
    inputs.recorded.machines().filter_map(|OnRecord { slot, machine, .. }| {
        let seen = inputs.observed.machines.get(machine)?;
        (seen.state == MachineState::Running).then_some((slot, seen))
    })
}
