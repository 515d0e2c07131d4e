//! What a market carries: as recorded, or in answer to what a policy does.

use crate::trace::Trace;

/// A market in front of a policy. Prices, zones and times are those of a [`Trace`].
pub trait World {
    /// How many machines each zone carries from this sample on, given how many the policy holds there.
    fn carries(&mut self, sample: usize, held: &[u32], carries: &mut [u32]);

    /// The same of a later sample, where that is settled already. Only what is can be announced.
    fn foretold(&self, sample: usize) -> Option<&[u32]>;
}

/// A recording: it carries what it carried, whoever asks.
#[derive(Debug, Clone, Copy)]
pub struct Recorded<'a>(pub &'a Trace);

impl World for Recorded<'_> {
    fn carries(&mut self, sample: usize, _: &[u32], carries: &mut [u32]) {
        carries.copy_from_slice(&self.0.capacity[sample]);
    }

    fn foretold(&self, sample: usize) -> Option<&[u32]> {
        self.0.capacity.get(sample).map(Vec::as_slice)
    }
}
