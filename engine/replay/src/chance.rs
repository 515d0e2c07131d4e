//! Numbers that repeat with their seed (splitmix64).

/// A sequence of them.
#[derive(Debug, Clone)]
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Chance(seed)
    }

    fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    /// Another sequence, which has nothing to do with this one.
    pub(crate) fn fork(&mut self) -> Chance {
        Chance(self.draw())
    }

    /// From nought up to, not including, one.
    pub(crate) fn share(&mut self) -> f64 {
        (self.draw() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Between two numbers.
    pub(crate) fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.share()
    }

    /// A whole number from `low` to `high`, both included.
    pub(crate) fn whole(&mut self, low: u32, high: u32) -> u32 {
        low + (self.share() * f64::from(high - low + 1)) as u32
    }

    /// A waiting time with a mean.
    pub(crate) fn wait(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.share()).ln()
    }

    /// A time of at least `least`; the lower the shape, the heavier the tail.
    pub(crate) fn heavy(&mut self, least: f64, shape: f64) -> f64 {
        least * (1.0 - self.share()).powf(-1.0 / shape)
    }
}
