//! A market that takes back what is chosen.

use crate::chance::Chance;
use crate::trace::Trace;
use crate::world::World;

/// Some zones, the cheapest among them, are good until they are chosen: where the policy holds most, for
/// as long as the zone is patient, everything is taken back. The others keep what they carry, so there is
/// something to learn.
#[derive(Debug)]
pub(crate) struct Reacting<'a> {
    trace: &'a Trace,
    /// Samples that each zone waits; `None` if it never reacts.
    patience: Vec<Option<usize>>,
    /// Samples that it then carries nothing.
    sulks: usize,
    /// Samples for which each zone was the one that held most.
    chosen: Vec<usize>,
    /// The sample from which each zone carries something again.
    back: Vec<usize>,
}

impl<'a> Reacting<'a> {
    /// The same zones react for the same seed.
    pub(crate) fn new(trace: &'a Trace, seed: u64) -> Self {
        let mut chance = Chance::new(!seed);
        let samples = |hours: f64| (hours / trace.hours()).ceil() as usize;
        let mut order: Vec<usize> = (0..trace.zones.len()).collect();
        order.sort_by(|a, b| trace.price[0][*a].total_cmp(&trace.price[0][*b]));
        let traps = &order[..order.len().div_ceil(2)];
        let mut patience = |zone| traps.contains(&zone).then(|| samples(chance.between(0.4, 1.5)));
        Reacting {
            trace,
            patience: (0..order.len()).map(&mut patience).collect(),
            sulks: samples(chance.between(0.5, 2.0)),
            chosen: vec![0; order.len()],
            back: vec![0; order.len()],
        }
    }
}

impl World for Reacting<'_> {
    fn carries(&mut self, sample: usize, held: &[u32], carries: &mut [u32]) {
        carries.copy_from_slice(&self.trace.capacity[sample]);
        let most = held.iter().copied().max().unwrap_or_default().max(1);
        for (zone, carries) in carries.iter_mut().enumerate() {
            let chosen = &mut self.chosen[zone];
            *chosen = if held[zone] == most { *chosen + 1 } else { 0 };
            if self.patience[zone].is_some_and(|patience| *chosen > patience) {
                self.back[zone] = sample + self.sulks;
                *chosen = 0;
            }
            if sample < self.back[zone] {
                *carries = 0;
            }
        }
    }

    fn foretold(&self, _: usize) -> Option<&[u32]> {
        None
    }
}
