//! One vocabulary of accelerators for all clouds.
//!
//! Sources name the same chip differently, and the same word may mean two chips. A name here is
//! the maker's name for the chip, with the memory only where one chip was sold with two sizes:
//!
//! | name | also written |
//! |---|---|
//! | `H100` | `H100-MEGA`: the chip of Google's a3-megagpu; only the network around it differs |
//! | `A100`, `V100` | the first sizes, 40 and 16 GB; the others are `A100-80GB`, `V100-32GB` |
//! | `RTXPRO6000`, `RTXPRO4500` | `RTX PRO Server 6000`, `RTX PRO 4500` |
//! | `RTX6000` | the Turing card of 2018, 24 GB: not the one above |
//! | `V520`, `V620`, `MI25` | `Radeon Pro V520`, `Radeon Pro V620`, `Radeon MI25` |
//! | `VU47P` | `Virtex UltraScale+ (VU47P)` |
//! | `AI100` | `Qualcomm AI100` |
//! | `tpu-v5e`, `tpu-v6e`, … | `tpu-v5litepod-16` and its like: the slice is the machine type |
//!
//! A name that is not in the table is kept as the source writes it, without maker and memory.

use crate::{Accelerators, Maker};

struct Known {
    name: &'static str,
    also: &'static [&'static str],
    maker: Maker,
    /// Memory of one whole accelerator as clouds state it, in MiB.
    memory_mib: Option<u64>,
}

const fn known(
    name: &'static str,
    also: &'static [&'static str],
    maker: Maker,
    memory_gib: u64,
) -> Known {
    let memory_mib = if memory_gib == 0 { None } else { Some(memory_gib * 1024) };
    Known { name, also, maker, memory_mib }
}

/// Every accelerator we know. Memory 0 is unknown.
const KNOWN: &[Known] = &[
    known("A10", &[], Maker::Nvidia, 24),
    known("A100", &["A100-40GB"], Maker::Nvidia, 40),
    known("A100-80GB", &[], Maker::Nvidia, 80),
    known("A10G", &[], Maker::Nvidia, 24),
    known("A6000", &["RTXA6000"], Maker::Nvidia, 48),
    known("AI100", &["Qualcomm AI100"], Maker::Qualcomm, 16),
    known("B200", &[], Maker::Nvidia, 180),
    known("B300", &[], Maker::Nvidia, 268),
    known("GB200", &[], Maker::Nvidia, 0),
    known("GB300", &[], Maker::Nvidia, 0),
    known("GH200", &[], Maker::Nvidia, 96),
    known("H100", &["H100-80GB", "H100-MEGA", "H100-MEGA-80GB"], Maker::Nvidia, 80),
    known("H200", &["H200-141GB"], Maker::Nvidia, 141),
    known("Inferentia", &[], Maker::Amazon, 8),
    known("Inferentia2", &[], Maker::Amazon, 32),
    known("K80", &[], Maker::Nvidia, 12),
    known("L4", &[], Maker::Nvidia, 24),
    known("L40S", &[], Maker::Nvidia, 48),
    known("M60", &[], Maker::Nvidia, 8),
    known("MI25", &["Radeon MI25"], Maker::Amd, 16),
    known("MI300X", &[], Maker::Amd, 192),
    known("P100", &[], Maker::Nvidia, 16),
    known("P4", &[], Maker::Nvidia, 8),
    known("P40", &[], Maker::Nvidia, 24),
    known("RTX6000", &[], Maker::Nvidia, 24),
    known("RTXPRO4500", &["RTX PRO 4500"], Maker::Nvidia, 32),
    known("RTXPRO6000", &["RTX PRO 6000", "RTX PRO Server 6000"], Maker::Nvidia, 96),
    known("T4", &[], Maker::Nvidia, 16),
    known("T4g", &[], Maker::Nvidia, 16),
    known("Trainium", &[], Maker::Amazon, 32),
    known("Trainium2", &[], Maker::Amazon, 96),
    known("U250", &["Alveo U250"], Maker::Xilinx, 64),
    known("U30", &["Alveo U30"], Maker::Xilinx, 0),
    known("V100", &["V100-16GB"], Maker::Nvidia, 16),
    known("V100-32GB", &[], Maker::Nvidia, 32),
    known("V520", &["Radeon Pro V520"], Maker::Amd, 8),
    known("V620", &["Radeon Pro V620"], Maker::Amd, 32),
    known("VU47P", &["Virtex UltraScale+ (VU47P)"], Maker::Xilinx, 16),
    known("tpu-v2", &[], Maker::Google, 16),
    known("tpu-v3", &[], Maker::Google, 32),
    known("tpu-v4", &[], Maker::Google, 32),
    known("tpu-v5e", &[], Maker::Google, 16),
    known("tpu-v5p", &[], Maker::Google, 95),
    known("tpu-v6e", &[], Maker::Google, 32),
];

fn find(name: &str) -> Option<&'static Known> {
    let same = |other: &str| other.eq_ignore_ascii_case(name);
    KNOWN.iter().find(|known| same(known.name) || known.also.iter().any(|also| same(also)))
}

impl Accelerators {
    /// Whether a source's name is in the vocabulary.
    pub fn is_known(name: &str) -> bool {
        find(name).is_some()
    }

    /// Our name for what a source calls `name`.
    pub fn canonical(name: &str) -> &str {
        find(name).map_or(name, |known| known.name)
    }

    /// Our name for what a source calls `name` and says to have so much memory: clouds call both
    /// sizes of a chip `A100`.
    pub fn of_memory(name: &str, memory_mib: u64) -> &str {
        let Some(known) = find(name) else { return name };
        let sizes = KNOWN.iter().filter(|other| {
            other.name == known.name
                || other.name.strip_prefix(known.name).is_some_and(|size| size.starts_with('-'))
        });
        let off = |other: &&Known| other.memory_mib.unwrap_or(0).abs_diff(memory_mib);
        sizes.min_by_key(off).map_or(known.name, |nearest| nearest.name)
    }

    /// Accelerators by a source's name, `count_milli` thousandths of them.
    ///
    /// Less than one whole accelerator comes with that part of its memory: whoever asks for 24 GiB
    /// must not be given an eighth of it.
    pub fn named(name: &str, count_milli: u32) -> Self {
        let known = find(name);
        let slice = match count_milli {
            1..1000 => u64::from(count_milli),
            _ => 1000,
        };
        Accelerators {
            name: Some(Accelerators::canonical(name).to_owned()),
            count_milli,
            memory_mib: known.and_then(|known| known.memory_mib).map(|whole| whole * slice / 1000),
            maker: known.map(|known| known.maker),
        }
    }

    /// Accelerators of which only the existence is certain. A count of 0 fills no requirement.
    pub fn unknown() -> Self {
        Accelerators { name: None, count_milli: 0, memory_mib: None, maker: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_name_per_chip() {
        let check =
            |source: &str, expect: &str| assert_eq!(Accelerators::canonical(source), expect);
        check("H100-MEGA", "H100");
        check("RTX PRO Server 6000", "RTXPRO6000");
        check("RTX6000", "RTX6000");
        check("Radeon MI25", "MI25");
        check("A100-80GB", "A100-80GB");
        check("Quantum 9", "Quantum 9");
    }

    #[test]
    fn the_vocabulary_is_sorted_and_says_nothing_twice() {
        let mut names: Vec<&str> = KNOWN.iter().flat_map(|k| k.also.iter().copied()).collect();
        names.extend(KNOWN.iter().map(|k| k.name));
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        assert!(KNOWN.is_sorted_by_key(|k| k.name));
    }

    #[test]
    fn a_slice_has_a_slice_of_the_memory() {
        let eighth = Accelerators::named("L4", 125);
        assert_eq!((eighth.count_milli, eighth.memory_mib), (125, Some(3072)));
        assert_eq!(Accelerators::named("L4", 8000).memory_mib, Some(24 * 1024));
        assert_eq!(Accelerators::named("Quantum 9", 1000).memory_mib, None);
    }

    #[test]
    fn memory_tells_the_sizes_of_a_chip_apart() {
        let check = |name: &str, gib: u64, expect: &str| {
            assert_eq!(Accelerators::of_memory(name, gib * 1024), expect);
        };
        check("A100", 40, "A100");
        check("A100", 80, "A100-80GB");
        check("V100", 16, "V100");
        check("V100", 32, "V100-32GB");
        // What a cloud leaves of the memory is a little less than the chip has.
        check("L4", 22, "L4");
        check("T4", 16, "T4");
        check("Quantum 9", 7, "Quantum 9");
    }
}
