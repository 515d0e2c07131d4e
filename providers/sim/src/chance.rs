//! Chance without a random source: everything is a hash of the seed and of what is asked.
//!
//! Splitmix rather than a cryptographic hash: quoting 190,000 pools must take milliseconds, and
//! nobody attacks a simulated cloud.

/// What splitmix64 adds from one number to the next.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// Numbers that repeat with their seed (splitmix64), for whoever drives a simulation.
#[derive(Debug, Clone)]
pub struct Chance(u64);

impl Chance {
    /// The numbers of a seed.
    pub fn new(seed: u64) -> Self {
        Chance(seed)
    }

    /// The next of them.
    pub fn draw(&mut self) -> u64 {
        let drawn = mix(self.0);
        self.0 = self.0.wrapping_add(STEP);
        drawn
    }

    /// A number below `limit`; 0 if there is none.
    pub fn below(&mut self, limit: u64) -> u64 {
        below(self.draw(), limit)
    }
}

/// Splitmix64's finaliser: a bijection, so different inputs never collide.
pub(crate) fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(STEP);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// The hash of a pair.
pub(crate) fn mix2(a: u64, b: u64) -> u64 {
    mix(a.rotate_left(23) ^ mix(b))
}

/// FNV-1a over bytes, going on from `from`.
pub(crate) fn bytes(from: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(from, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

/// The hash of a text.
pub(crate) fn text(text: &str) -> u64 {
    mix(bytes(0xcbf2_9ce4_8422_2325, text.as_bytes()))
}

/// A number below `n`, evenly spread.
pub(crate) fn below(hash: u64, n: u64) -> u64 {
    ((u128::from(hash) * u128::from(n)) >> 64) as u64
}

/// A value from 0 to 65,535 that wanders from bucket to bucket: seven parts slow drift over four
/// hours, three parts jump. Integers, so that every platform draws the same line.
pub(crate) fn wander(hash: u64, bucket: u64) -> u64 {
    const DRIFT: u64 = 8;
    let (at, part) = (bucket / DRIFT, bucket % DRIFT);
    let from = mix2(hash, at) & 0xffff;
    let to = mix2(hash, at + 1) & 0xffff;
    let drift = (from * (DRIFT - part) + to * part) / DRIFT;
    let jump = mix2(!hash, bucket) & 0xffff;
    (drift * 7 + jump * 3) / 10
}
