//! C: one writer at a time. Records are created once, epochs only rise, every writer begins with
//! its epoch, and nobody sends without holding the lease.

use super::Judge;
use fleet_model::Event;
use fleet_run::Record;

impl Judge {
    pub(super) fn check_write(
        &mut self,
        process: u32,
        path: &str,
        record: Option<&Record>,
        overwrites: bool,
    ) {
        if overwrites {
            self.fail('C', format!("p{process} overwrites {path}"));
        }
        if let Some((_, beat)) = path.split_once("/lease/") {
            let epoch: u64 = beat.split('-').next().and_then(|e| e.parse().ok()).unwrap_or(0);
            let held = self.leases.entry(process).or_default();
            *held = epoch.max(*held);
        }
        let Some(record) = record else { return };
        self.acts(process);
        if record.seq != self.book.seq + 1 {
            let (seq, last) = (record.seq, self.book.seq);
            self.fail('C', format!("p{process} writes record {seq} after {last}"));
        }
        self.book.seq = record.seq;
        let opens = record.events.iter().find_map(|event| match event {
            Event::Epoch { epoch, .. } => Some(*epoch),
            _ => None,
        });
        match opens {
            Some(epoch) if epoch <= self.book.epoch => {
                self.fail('C', format!("epoch {epoch} comes after {}", self.book.epoch));
            }
            None if record.epoch != self.book.epoch => {
                let (epoch, now) = (record.epoch, self.book.epoch);
                self.fail('C', format!("p{process} writes in epoch {epoch}, and it is {now}"));
            }
            Some(_) | None => {}
        }
        let first = self.processes.get_mut(&process).is_some_and(|facts| {
            let first = !facts.wrote;
            facts.wrote = true;
            first
        });
        if first && opens.is_none() {
            self.fail('C', format!("p{process} writes without an epoch of its own"));
        }
    }

    /// Asked at the very moment of sending: what comes between the last look at the lease and the
    /// send is no longer ours to promise.
    ///
    /// A taker that wrote its first beat and then found the holder alive gives way again: whoever
    /// has not acted on a lease has not got it.
    pub(super) fn check_holder(&mut self, process: u32) {
        let ours = self.leases.get(&process).copied().unwrap_or_default();
        if let Some((epoch, holder)) = self.acted
            && epoch > ours
        {
            self.fail('C', format!("p{process} sends, and p{holder} took the lease ({epoch})"));
        }
        self.acts(process);
    }

    /// A process opens the journal, which it does as soon as the lease is its own.
    pub(crate) fn opens(&mut self, process: u32) {
        self.acts(process);
    }

    /// A process makes use of its lease.
    fn acts(&mut self, process: u32) {
        let epoch = self.leases.get(&process).copied().unwrap_or_default();
        if self.acted.is_none_or(|(last, _)| epoch > last) {
            self.acted = Some((epoch, process));
        }
    }
}
