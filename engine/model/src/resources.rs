//! What a machine has.

use crate::capacity::{Unit, Units};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// What a machine of some type has. Unknown is `None`: it satisfies no requirement.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Resources {
    /// Virtual CPUs.
    pub vcpus: Option<u32>,
    /// Memory in MiB.
    pub memory_mib: Option<u64>,
    /// Instruction set.
    pub architecture: Architecture,
    /// GPUs, TPUs and their like.
    pub accelerators: Option<Accelerators>,
    /// Whether there is a disk in the machine itself.
    pub local_disk: Option<bool>,
    /// The generation in the cloud's own count: 5 for `m5` and `Standard_D8s_v5`.
    pub generation: Option<u16>,
}

impl Resources {
    /// How much one machine gives of a unit; `None` if unknown or nothing at all. What an accelerator can
    /// do is not among the resources: [`InstanceKind::weight`](crate::InstanceKind::weight) knows it.
    pub fn weight(&self, unit: Unit) -> Option<Units> {
        let weight = match unit {
            Unit::Instances => Units::whole(1),
            Unit::Vcpus => Units::whole(self.vcpus?.into()),
            Unit::Gpus => Units(self.accelerators.as_ref()?.count_milli.into()),
            Unit::MemoryGib => Units(self.memory_mib? * 1000 / 1024),
            Unit::Figure(_) | Unit::Work => return None,
        };
        (!weight.is_zero()).then_some(weight)
    }
}

/// The accelerators of a machine.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Accelerators {
    /// `H100`, `A100-80GB`; `None` where the source gives a count and no name.
    pub name: Option<String>,
    /// How many, in thousandths: some types hold an eighth of a GPU.
    pub count_milli: u32,
    /// Memory of one accelerator in MiB.
    pub memory_mib: Option<u64>,
    /// Who made them.
    pub maker: Option<Maker>,
}

/// Instruction sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Architecture {
    /// 64-bit x86.
    X86_64,
    /// 64-bit Arm.
    Arm64,
}

impl fmt::Display for Architecture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Architecture::X86_64 => "x86_64",
            Architecture::Arm64 => "arm64",
        })
    }
}

/// Makers of accelerators.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names are the documentation")]
pub enum Maker {
    Nvidia,
    Amd,
    Google,
    Amazon,
    Intel,
    Xilinx,
    Qualcomm,
}

impl Maker {
    /// Every maker.
    pub const ALL: [Maker; 7] = [
        Maker::Nvidia,
        Maker::Amd,
        Maker::Google,
        Maker::Amazon,
        Maker::Intel,
        Maker::Xilinx,
        Maker::Qualcomm,
    ];

    /// The maker's name as users write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Maker::Nvidia => "nvidia",
            Maker::Amd => "amd",
            Maker::Google => "google",
            Maker::Amazon => "amazon",
            Maker::Intel => "intel",
            Maker::Xilinx => "xilinx",
            Maker::Qualcomm => "qualcomm",
        }
    }
}

impl fmt::Display for Maker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Maker {
    type Err = crate::UnknownName;
    fn from_str(text: &str) -> Result<Self, crate::UnknownName> {
        Maker::ALL
            .into_iter()
            .find(|maker| maker.as_str().eq_ignore_ascii_case(text))
            .ok_or_else(|| crate::UnknownName { what: "accelerator maker", text: text.into() })
    }
}
