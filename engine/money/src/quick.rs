//! Tables that are asked a million times a second.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A table with a quick hash. For what our own journals say: nobody chooses keys there that collide.
pub(crate) type QuickMap<K, V> = HashMap<K, V, BuildHasherDefault<Quick>>;

/// Multiplies and turns, eight bytes at a time, as rustc's own tables do.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Quick(u64);

impl Quick {
    fn mix(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
}

impl Hasher for Quick {
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.mix(u64::from_le_bytes(*word));
        }
        if !rest.is_empty() {
            let mut word = [0; 8];
            word[..rest.len()].copy_from_slice(rest);
            self.mix(u64::from_le_bytes(word));
        }
    }

    fn write_u8(&mut self, byte: u8) {
        self.mix(u64::from(byte));
    }

    fn write_u64(&mut self, word: u64) {
        self.mix(word);
    }

    fn write_usize(&mut self, word: usize) {
        self.mix(word as u64);
    }

    fn finish(&self) -> u64 {
        // Tables look at the top bits and at the low ones; multiplication leaves the low ones poor.
        self.0 ^ (self.0 >> 32)
    }
}
