//! The end of the work on machines: before their cloud takes them, and before we replace them.

use crate::apply::session::Session;
use crate::error::RunError;
use crate::hooks::HookTarget;
use fleet_model::{Event, Inputs, Labelled, MachineId, SlotId, SlotState};
use futures::future::join_all;

impl Session<'_> {
    /// Asks the work on machines to end and waits for it, once for each. It is written down first: a
    /// program that ends work twice would end the work of somebody else.
    pub(crate) async fn drain(
        &self,
        inputs: &Inputs,
        machines: &[Labelled],
    ) -> Result<(), RunError> {
        let asked: Vec<&Labelled> = match inputs.desired.interruption.drain.is_empty() {
            true => Vec::new(),
            false => machines.iter().filter(|one| !is_drained(inputs, one)).collect(),
        };
        if asked.is_empty() {
            return Ok(());
        }
        let slots: Vec<SlotId> = asked.iter().map(|one| one.slot).collect();
        self.journal.append(vec![Event::Drained { slots }]).await?;
        let drained = asked.into_iter().map(|one| self.drain_one(inputs, &one.machine, one.slot));
        join_all(drained).await;
        Ok(())
    }

    async fn drain_one(&self, inputs: &Inputs, id: &MachineId, slot: SlotId) {
        let Some(machine) = inputs.observed.machines.get(id) else { return };
        let (fleet, interruption) = (&inputs.desired.fleet, &inputs.desired.interruption);
        let target = HookTarget { fleet, slot, machine };
        if let Err(words) = self.engine.hooks.drain(target, interruption).await {
            // The machine goes all the same: its cloud, or a successor, does not wait.
            tracing::warn!(%fleet, slot = %slot.name, %words, "the work on a machine did not end well");
        }
    }
}

fn is_drained(inputs: &Inputs, one: &Labelled) -> bool {
    let record = inputs.recorded.slots.get(&one.slot.name);
    record.is_some_and(|record| {
        matches!(&record.state, SlotState::Filled { machine, drained: true, .. } if *machine == one.machine)
    })
}
