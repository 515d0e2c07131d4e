//! P: labels are changed by the holder of the lease, where everything answered; at rest every machine
//! carries those of the spec, where its cloud can change them.

use super::Judge;
use fleet_model::{Labels, Machine, MachineId, MachineState};
use fleet_provider::RelabelRequest;

impl Judge {
    /// Somebody changes labels.
    pub(crate) fn sends_relabel(&mut self, process: u32, request: &RelabelRequest<'_>) {
        self.counts_call(process);
        self.check_complete(process, request.scope, "changes labels in");
        self.check_holder(process);
    }

    /// When all is calm and nothing is left to do.
    pub(crate) fn check_labels(
        &mut self,
        wanted: &Labels,
        carried: impl Fn(&MachineId) -> Option<Labels>,
    ) {
        let recorded: Vec<MachineId> =
            self.book.filled.values().map(|filled| filled.machine.clone()).collect();
        // What does not work waits for its replacement as it is, and what is taken back goes as it is.
        let works = |machine: &&Machine| match machine.state {
            // It did not come up in time, and that is on record.
            MachineState::Pending if self.book.failed.contains(&machine.id) => false,
            MachineState::Pending | MachineState::Running => machine.notice.is_none(),
            MachineState::Stopped
            | MachineState::Failed
            | MachineState::Stopping
            | MachineState::Terminated => false,
        };
        let ours = self.ours().map(|(machine, _)| machine).filter(works);
        let ours = ours.filter(|machine| {
            let id = &machine.id;
            machine.place.cloud.relabels() && recorded.contains(id) && !self.touched.contains(id)
        });
        let wrong = ours.map(|machine| (machine.id.clone(), carried(&machine.id)));
        let wrong: Vec<_> = wrong.filter(|(_, labels)| labels.as_ref() != Some(wanted)).collect();
        if let Some((id, labels)) = wrong.first() {
            let count = wrong.len();
            self.fail('P', format!("{count} carry other labels; {id} {labels:?}, not {wanted:?}"));
        }
    }
}
