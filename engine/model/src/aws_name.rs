//! Amazon's names: `m6gd.4xlarge` is family `m`, generation 6, attributes `gd`, size `4xlarge`.

use crate::{Accelerators, Architecture};

/// Accelerators that the list leaves out, from Amazon's own pages.
const ACCELERATORS: &[(&str, &str, u32)] = &[
    ("trn2.3xlarge", "Trainium2", 1000),
    ("trn2.48xlarge", "Trainium2", 16_000),
    ("trn2u.48xlarge", "Trainium2", 16_000),
    ("vt1.3xlarge", "U30", 1000),
    ("vt1.6xlarge", "U30", 2000),
    ("vt1.24xlarge", "U30", 8000),
];

/// Families whose every type has accelerators.
const ACCELERATED: &[&str] = &["dl", "f", "g", "gr", "inf", "p", "trn", "vt"];

/// A type's name, taken apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AwsName<'a> {
    whole: &'a str,
    /// The letters before the generation: `m`, `inf`, `u`.
    family: &'a str,
    generation: Option<u16>,
    /// The letters after the generation: `gd`.
    attributes: &'a str,
    /// What follows a dash: `flex`, `b200`, `12tb`.
    variant: &'a str,
}

impl<'a> AwsName<'a> {
    /// Takes a name apart; one that follows no rule has empty parts.
    pub fn of(kind: &'a str) -> Self {
        let series = kind.split('.').next().unwrap_or(kind);
        let (head, variant) = series.split_once('-').unwrap_or((series, ""));
        let digits = head.find(|c: char| c.is_ascii_digit()).unwrap_or(head.len());
        let (family, rest) = head.split_at(digits);
        let letters = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let (generation, attributes) = rest.split_at(letters);
        AwsName { whole: kind, family, generation: generation.parse().ok(), attributes, variant }
    }

    /// The letters before the generation: `m`, `inf`, `u`.
    pub fn family(&self) -> &'a str {
        self.family
    }

    /// Amazon's own count: 5 for `m5`.
    pub fn generation(&self) -> Option<u16> {
        self.generation
    }

    /// The class of families that shares limits with this one, from the Service Quotas console. A
    /// family that we do not know shares with nobody.
    pub fn limit_class(&self) -> &'a str {
        match self.family {
            "a" | "c" | "d" | "h" | "i" | "im" | "is" | "m" | "mac" | "r" | "t" | "z" => "standard",
            "g" | "gr" | "vt" => "g",
            other => other,
        }
    }

    /// Whether the family surely has accelerators.
    pub fn is_accelerated(&self) -> bool {
        ACCELERATED.contains(&self.family)
    }

    /// Accelerators that lists leave out and Amazon's own pages state.
    pub fn accelerators(&self) -> Option<Accelerators> {
        let (_, name, count) = ACCELERATORS.iter().find(|(kind, ..)| *kind == self.whole)?;
        Some(Accelerators::named(name, *count))
    }

    /// The instruction set.
    pub fn architecture(&self) -> Architecture {
        let arm = match self.family {
            "a" => true,
            // Apple silicon, except the first generation.
            "mac" => self.generation != Some(1),
            _ => self.attributes.contains('g') || self.variant.starts_with("gb"),
        };
        if arm { Architecture::Arm64 } else { Architecture::X86_64 }
    }

    /// Attribute `d`, or a family that has disks without saying so.
    pub fn local_disk(&self) -> Option<bool> {
        if self.attributes.contains('d') {
            return Some(true);
        }
        let generation = self.generation.unwrap_or(0);
        match (self.family, generation, self.attributes) {
            // Storage families; Amazon's first generations of everything came with disks.
            ("d" | "h" | "i" | "im" | "is" | "f" | "trn", ..) => Some(true),
            ("c" | "m" | "r" | "g" | "cc" | "cr", 1..=3, _) => {
                Some(generation < 3 || self.family != "g")
            }
            ("x", 1, _) => Some(true),
            // Networked disks only.
            ("g", 5, "g") | ("inf" | "vt", ..) => Some(false),
            ("g" | "gr", 5..=6, "" | "e") | ("g", 7, "e") | ("p", 4.., _) => Some(true),
            // Not stated anywhere we trust.
            ("g" | "gr" | "dl" | "mac", ..) => None,
            _ => Some(false),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_a_machine_is() {
        let check = |kind: &str, generation: Option<u16>, arm: bool, disk: Option<bool>| {
            let name = AwsName::of(kind);
            assert_eq!(name.generation, generation, "{kind}");
            assert_eq!(name.architecture() == Architecture::Arm64, arm, "{kind}");
            assert_eq!(name.local_disk(), disk, "{kind}");
        };
        check("m5.large", Some(5), false, Some(false));
        check("m6gd.4xlarge", Some(6), true, Some(true));
        check("c7i-flex.large", Some(7), false, Some(false));
        check("a1.medium", Some(1), true, Some(false));
        check("g5.xlarge", Some(5), false, Some(true));
        check("g5g.xlarge", Some(5), true, Some(false));
        check("g6.xlarge", Some(6), false, Some(true));
        check("im4gn.large", Some(4), true, Some(true));
        check("is4gen.large", Some(4), true, Some(true));
        check("p4de.24xlarge", Some(4), false, Some(true));
        check("p5.48xlarge", Some(5), false, Some(true));
        check("p6-b200.48xlarge", Some(6), false, Some(true));
        check("p6e-gb200.36xlarge", Some(6), true, Some(true));
        check("inf2.xlarge", Some(2), false, Some(false));
        check("trn1n.32xlarge", Some(1), false, Some(true));
        check("m3.large", Some(3), false, Some(true));
        check("m4.large", Some(4), false, Some(false));
        check("t1.micro", Some(1), false, Some(false));
        check("u-6tb1.112xlarge", None, false, Some(false));
        check("u7i-12tb.224xlarge", Some(7), false, Some(false));
        check("mac1.metal", Some(1), false, None);
        check("mac-m4.metal", None, true, None);
        check("g6f.large", Some(6), false, None);
        check("", None, false, Some(false));
    }
}
