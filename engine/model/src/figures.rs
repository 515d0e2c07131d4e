//! What accelerators can do, by what their makers publish: peaks, memory and its bandwidth.
//!
//! One name of a catalog may be several chips: `H100` is the SXM, the PCIe or the NVL one, by the type of
//! the machine. A fraction of an accelerator does that fraction of the work.

mod table;

use crate::{Accelerators, Cloud, InstanceKind, Unit, Units, UnknownName};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// What of an accelerator is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "&'static str", try_from = "String")]
pub enum Figure {
    /// Memory, in GB.
    Memory,
    /// Bandwidth of the memory, in GB/s.
    Bandwidth,
    /// Peak in single precision, in TFLOPS.
    Fp32,
    /// Dense peak in tf32, in TFLOPS.
    Tf32,
    /// Dense peak in bf16, in TFLOPS.
    Bf16,
    /// Dense peak in fp16, in TFLOPS.
    Fp16,
    /// Dense peak in fp8, in TFLOPS.
    Fp8,
    /// Dense peak in int8, in TOPS.
    Int8,
}

impl Figure {
    /// Every figure, in the order of the table.
    pub const ALL: [Figure; 8] = [
        Figure::Memory,
        Figure::Bandwidth,
        Figure::Fp32,
        Figure::Tf32,
        Figure::Bf16,
        Figure::Fp16,
        Figure::Fp8,
        Figure::Int8,
    ];

    /// The unit of capacity that a spec names.
    pub fn as_str(self) -> &'static str {
        match self {
            Figure::Memory => "hbm-gb",
            Figure::Bandwidth => "hbm-gbps",
            Figure::Fp32 => "fp32-tflops",
            Figure::Tf32 => "tf32-tflops",
            Figure::Bf16 => "bf16-tflops",
            Figure::Fp16 => "fp16-tflops",
            Figure::Fp8 => "fp8-tflops",
            Figure::Int8 => "int8-tops",
        }
    }

    /// What it is, for people.
    pub fn describe(self) -> &'static str {
        match self {
            Figure::Memory => "accelerator memory",
            Figure::Bandwidth => "memory bandwidth",
            Figure::Fp32 => "peak fp32",
            Figure::Tf32 => "dense peak tf32",
            Figure::Bf16 => "dense peak bf16",
            Figure::Fp16 => "dense peak fp16",
            Figure::Fp8 => "dense peak fp8",
            Figure::Int8 => "dense peak int8",
        }
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl From<Figure> for &'static str {
    fn from(figure: Figure) -> Self {
        figure.as_str()
    }
}

impl FromStr for Figure {
    type Err = UnknownName;
    fn from_str(text: &str) -> Result<Self, UnknownName> {
        Figure::ALL
            .into_iter()
            .find(|figure| figure.as_str() == text)
            .ok_or_else(|| UnknownName { what: "figure", text: text.into() })
    }
}

impl TryFrom<String> for Figure {
    type Error = UnknownName;
    fn try_from(text: String) -> Result<Self, UnknownName> {
        text.parse()
    }
}

/// How good the source of a figure is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Grade {
    /// The vendor's own page.
    A,
    /// A well-kept project's table.
    B,
    /// Anything else.
    C,
}

impl Grade {
    /// The letter.
    pub fn as_str(self) -> &'static str {
        match self {
            Grade::A => "A",
            Grade::B => "B",
            Grade::C => "C",
        }
    }
}

/// An accelerator as its maker sells it. Figures are of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chip {
    /// `H100-NVL`: finer than the name of the catalog.
    pub name: &'static str,
    /// The catalog's name: `H100`.
    pub accelerator: &'static str,
    /// How it talks to its neighbours.
    pub link: &'static str,
    /// How good the source is.
    pub grade: Grade,
    /// Where the figures come from.
    pub source: &'static str,
    /// In thousandths, in the order of [`Figure::ALL`].
    figures: [Option<u64>; 8],
}

const fn chip(
    name: &'static str,
    accelerator: &'static str,
    published: [f64; 8],
    grade: Grade,
    link: &'static str,
    source: &'static str,
) -> Chip {
    let mut figures = [None; 8];
    let mut at = 0;
    while at < published.len() {
        if published[at] > 0.0 {
            figures[at] = Some((published[at] * 1000.0 + 0.5) as u64);
        }
        at += 1;
    }
    Chip { name, accelerator, link, grade, source, figures }
}

impl Chip {
    /// Every chip that there are figures of, by name.
    pub const ALL: &'static [Chip] = table::CHIPS;

    /// A chip by its own name, whatever the case.
    pub fn named(name: &str) -> Option<&'static Chip> {
        Chip::ALL.iter().find(|chip| chip.name.eq_ignore_ascii_case(name))
    }

    /// The chip of a kind of machine; `None` without accelerators, and where nobody knows theirs.
    pub fn of(kind: &InstanceKind) -> Option<&'static Chip> {
        let accelerators = kind.resources.accelerators.as_ref()?;
        let name = Accelerators::canonical(accelerators.name.as_deref()?);
        Chip::named(variant(kind.cloud, kind.name.as_str(), name))
    }

    /// Where one figure comes from: the part of the source that names it, else what stands first.
    pub fn source_of(&self, figure: Figure) -> &'static str {
        let key = match figure {
            Figure::Memory => "memory",
            Figure::Bandwidth => "bandwidth",
            Figure::Fp32 => "fp32",
            Figure::Tf32 => "tf32",
            Figure::Bf16 | Figure::Fp16 => "bf16",
            Figure::Fp8 => "fp8",
            Figure::Int8 => "int8",
        };
        let named = self.source.split("; ").find_map(|part| {
            let (keys, source) = part.split_once(": ")?;
            keys.split(", ").any(|one| one == key).then_some(source)
        });
        let first = self.source.split("; ").next().unwrap_or(self.source);
        named.unwrap_or(first.strip_prefix("peaks: ").unwrap_or(first))
    }

    /// How much one of them has of something; `None` if nobody says.
    pub fn figure(&self, figure: Figure) -> Option<Units> {
        let at = Figure::ALL.iter().position(|one| *one == figure)?;
        self.figures[at].map(Units)
    }
}

/// The chip that a type of a cloud has, where the catalog's name means several.
fn variant<'a>(cloud: Cloud, instance_type: &str, name: &'a str) -> &'a str {
    let azure_nc = cloud == Cloud::Azure && instance_type.starts_with("Standard_NC");
    match name {
        // Azure's NC sizes have cards for PCIe slots, its ND sizes have boards.
        "H100" if azure_nc => "H100-NVL",
        "A100-80GB" if azure_nc => "A100-80GB-PCIE",
        "H100" if cloud == Cloud::Lambda && instance_type.ends_with("_pcie") => "H100-PCIE",
        other => other,
    }
}

impl InstanceKind {
    /// How much one machine gives of a unit; `None` if unknown or nothing at all.
    pub fn weight(&self, unit: Unit) -> Option<Units> {
        match unit {
            Unit::Figure(figure) => self.figure(figure),
            other => self.resources.weight(other),
        }
    }

    /// How much a machine of this kind has of something, over all its accelerators; `None` if unknown or
    /// nothing.
    pub fn figure(&self, figure: Figure) -> Option<Units> {
        let each = Chip::of(self)?.figure(figure)?;
        let count = self.resources.accelerators.as_ref()?.count_milli;
        let all = each.0.checked_mul(count.into())? / 1000;
        (all > 0).then_some(Units(all))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Architecture, InstanceType, Resources};

    fn kind(cloud: Cloud, name: &str, accelerator: &str, count_milli: u32) -> InstanceKind {
        let resources = Resources {
            vcpus: None,
            memory_mib: None,
            architecture: Architecture::X86_64,
            accelerators: Some(Accelerators::named(accelerator, count_milli)),
            local_disk: None,
            generation: None,
        };
        InstanceKind { cloud, name: InstanceType::from(name), resources }
    }

    #[test]
    fn one_name_is_several_chips() {
        let check = |cloud, name: &str, accelerator: &str, expect: Option<&str>| {
            let chip = Chip::of(&kind(cloud, name, accelerator, 1000));
            assert_eq!(chip.map(|chip| chip.name), expect, "{name}");
        };
        check(Cloud::Aws, "p5.48xlarge", "H100", Some("H100"));
        check(Cloud::Gcp, "a3-megagpu-8g", "H100-MEGA", Some("H100"));
        check(Cloud::Azure, "Standard_ND96isr_H100_v5", "H100", Some("H100"));
        check(Cloud::Azure, "Standard_NC40ads_H100_v5", "H100", Some("H100-NVL"));
        check(Cloud::Lambda, "gpu_1x_h100_pcie", "H100", Some("H100-PCIE"));
        check(Cloud::Azure, "Standard_NC24ads_A100_v4", "A100-80GB", Some("A100-80GB-PCIE"));
        check(Cloud::Aws, "f2.6xlarge", "VU47P", None);
        check(Cloud::Aws, "q9.large", "Quantum 9", None);
    }

    #[test]
    fn a_machine_has_the_sum_and_a_fraction_a_part() {
        let tflops = |kind: InstanceKind| kind.figure(Figure::Bf16);
        assert_eq!(tflops(kind(Cloud::Aws, "p5.48xlarge", "H100", 8000)), Some(Units(7_915_200)));
        assert_eq!(tflops(kind(Cloud::Aws, "g6f.large", "L4", 125)), Some(Units(15_125)));
        // Turing has no bf16: unknown, not nothing.
        assert_eq!(tflops(kind(Cloud::Aws, "g4dn.xlarge", "T4", 1000)), None);
        // Azure lists A10 machines without a count.
        assert_eq!(tflops(kind(Cloud::Azure, "Standard_NC8ads_A10_v4", "A10", 0)), None);
    }

    #[test]
    fn each_figure_has_its_source() {
        let check = |name: &str, figure, says: &str| {
            let source = Chip::named(name).expect("a chip").source_of(figure);
            assert!(source.starts_with(says) && !source.contains("; "), "{name}: {source}");
        };
        check("H100", Figure::Bf16, "NVIDIA H100 datasheet");
        check("H100-PCIE", Figure::Bf16, "NVIDIA H100 datasheet");
        check("H100-PCIE", Figure::Bandwidth, "NVIDIA H100 PCIe product brief");
        check("L4", Figure::Fp8, "half of NVIDIA's 485 sparse");
        check("A6000", Figure::Memory, "ServeTheHome");
    }

    #[test]
    fn chips_are_sorted_and_speak_of_accelerators_we_know() {
        assert!(Chip::ALL.is_sorted_by(|a, b| a.name < b.name));
        let unsold = ["Trainium3", "tpu7x"];
        for chip in Chip::ALL {
            let known = Accelerators::is_known(chip.accelerator) || unsold.contains(&chip.name);
            assert!(known && !chip.source.is_empty() && !chip.link.is_empty(), "{}", chip.name);
        }
        for figure in Figure::ALL {
            assert_eq!(figure.as_str().parse(), Ok(figure));
        }
    }
}
