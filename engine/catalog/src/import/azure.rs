//! Microsoft's names: `Standard_E16-4ads_v5` is family `E`, 16 vCPUs of which 4 are enabled,
//! features `ads`, version 5. The list knows no zones.

use super::ImportError;
use super::collect::Collect;
use super::report::Finding;
use super::table::Table;
use fleet_model::{Accelerators, Architecture, Resources, Zone};

/// The accelerators of sizes where the list is wrong or silent, and of their siblings, in
/// thousandths, from Microsoft's own pages. 0: which is certain, how many is not.
///
/// The list gives `ND96isr_H100_v5` twelve H100s where there are eight, and every `NVas_v4` a
/// whole MI25 where the smaller ones share it.
const ACCELERATORS: &[(&str, &str, u32)] = &[
    ("NC8ads_A10_v4", "A10", 0),
    ("NC16ads_A10_v4", "A10", 0),
    ("NC32ads_A10_v4", "A10", 0),
    ("NC40ads_H100_v5", "H100", 1000),
    ("NC80adis_H100_v5", "H100", 2000),
    ("NCC40ads_H100_v5", "H100", 1000),
    ("ND96isr_H100_v5", "H100", 8000),
    ("ND96isr_H200_v5", "H200", 8000),
    ("ND96isr_MI300X_v5", "MI300X", 8000),
    ("NG8ads_V620_v1", "V620", 250),
    ("NG16ads_V620_v1", "V620", 500),
    ("NG32ads_V620_v1", "V620", 1000),
    ("NG32adms_V620_v1", "V620", 1000),
    ("NP10s", "U250", 1000),
    ("NP20s", "U250", 2000),
    ("NP40s", "U250", 4000),
    ("NV4as_v4", "MI25", 125),
    ("NV8as_v4", "MI25", 250),
    ("NV16as_v4", "MI25", 500),
    ("NV32as_v4", "MI25", 1000),
    ("NV6ads_A10_v5", "A10", 167),
    ("NV12ads_A10_v5", "A10", 333),
    ("NV18ads_A10_v5", "A10", 500),
];

/// The `NC` sizes carry the H100 NVL with 94 GiB.
const H100_NVL_MIB: u64 = 94 * 1024;

pub(super) fn read(table: Table, collect: &mut Collect<'_>) -> Result<(), ImportError> {
    table.each(|line| {
        collect.line();
        let kind = collect.kind(&line, |collect| {
            let name = Name::of(line.kind);
            let stated = collect.stated(&line);
            let accelerated = name.family.starts_with('N') || name.family == "PB";
            let mut vcpus = line.vcpus;
            if name.enabled.is_some() && name.enabled != vcpus {
                collect.found(Finding::VcpusCorrected);
                vcpus = name.enabled;
            }
            Resources {
                vcpus,
                memory_mib: line.memory_mib,
                architecture: name.architecture(),
                accelerators: collect.settle(stated, certain(line.kind), accelerated),
                local_disk: name.local_disk(),
                generation: name.version,
            }
        });
        let (on_demand, spot) = (collect.price(line.on_demand), collect.price(line.spot));
        let zone = if line.zone.is_empty() { Zone::REGIONAL } else { line.zone };
        collect.offer(kind, line.region, zone, on_demand, spot);
    })
}

/// Our table's entry for a type.
fn certain(kind: &str) -> Option<Accelerators> {
    let size = kind.strip_prefix("Standard_")?;
    let (_, name, count) = ACCELERATORS.iter().find(|(known, ..)| *known == size)?;
    let mut accelerators = Accelerators::named(name, *count);
    if size.starts_with("NC") && *name == "H100" {
        accelerators.memory_mib = Some(H100_NVL_MIB);
    }
    Some(accelerators)
}

/// A size's name, taken apart.
pub(crate) struct Name<'a> {
    /// The capital letters in front: `E`, `NC`, `DS`.
    pub(crate) family: &'a str,
    /// The vCPUs that are enabled, where that is fewer than the machine has.
    pub(crate) enabled: Option<u32>,
    /// The small letters after the size: `ads`.
    features: &'a str,
    /// The number after `_v`.
    pub(crate) version: Option<u16>,
    /// Whether it is one of the first sizes, before names had a system.
    basic: bool,
    grace: bool,
}

impl<'a> Name<'a> {
    pub(crate) fn of(kind: &'a str) -> Self {
        let (tier, rest) = kind.split_once('_').unwrap_or(("", kind));
        let (size, tail) = rest.split_once('_').unwrap_or((rest, ""));
        let letters = size.find(|c: char| !c.is_ascii_uppercase()).unwrap_or(size.len());
        let (family, size) = size.split_at(letters);
        let features = size.trim_start_matches(|c: char| c.is_ascii_digit() || c == '-');
        let numbers = &size[..size.len() - features.len()];
        let version = tail.rsplit('_').find_map(|part| part.strip_prefix('v')?.parse().ok());
        Name {
            family,
            enabled: numbers.split_once('-').and_then(|(_, enabled)| enabled.parse().ok()),
            features,
            version,
            basic: tier == "Basic",
            grace: tail.contains("GB200") || tail.contains("GB300"),
        }
    }

    /// Feature `p` is Arm; the Grace machines do not say so.
    fn architecture(&self) -> Architecture {
        if self.features.contains('p') || self.grace {
            Architecture::Arm64
        } else {
            Architecture::X86_64
        }
    }

    /// Feature `d`, which became necessary with version 4 (for `B`, version 2): until then every
    /// size came with a disk. Storage, GPU and HPC families have one in every version.
    fn local_disk(&self) -> Option<bool> {
        if self.features.contains('d') || self.basic {
            return Some(true);
        }
        match (self.family, self.version) {
            ("L", _) => Some(true),
            (family, _) if family.starts_with(['N', 'H']) => Some(true),
            ("A" | "G" | "GS" | "DS" | "B" | "M", None) => Some(true),
            ("D" | "DS" | "E" | "F" | "A", None | Some(1..=3)) => Some(true),
            ("DC", Some(2)) => Some(true),
            ("D" | "E" | "F" | "B" | "DC" | "EC", Some(_)) => Some(false),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_a_machine_is() {
        let check = |kind: &str, version, enabled, arm: bool, disk: Option<bool>| {
            let name = Name::of(kind);
            assert_eq!((name.version, name.enabled), (version, enabled), "{kind}");
            assert_eq!(name.architecture() == Architecture::Arm64, arm, "{kind}");
            assert_eq!(name.local_disk(), disk, "{kind}");
        };
        check("Standard_D8s_v5", Some(5), None, false, Some(false));
        check("Standard_D8ds_v5", Some(5), None, false, Some(true));
        check("Standard_D8_v3", Some(3), None, false, Some(true));
        check("Standard_D8pls_v5", Some(5), None, true, Some(false));
        check("Standard_E16-4ads_v5", Some(5), Some(4), false, Some(true));
        check("Standard_DS12-1_v2", Some(2), Some(1), false, Some(true));
        check("Standard_ND96isr_H100_v5", Some(5), None, false, Some(true));
        check("Standard_ND128isr_NDR_GB200_v6", Some(6), None, true, Some(true));
        check("Standard_NC24r_Promo", None, None, false, Some(true));
        check("Standard_B2pts_v2", Some(2), None, true, Some(false));
        check("Standard_B2ms", None, None, false, Some(true));
        check("Standard_F8s_v2", Some(2), None, false, Some(true));
        check("Standard_M416s_8_v2", Some(2), None, false, None);
        check("Basic_A0", None, None, false, Some(true));
        check("", None, None, false, None);
        check("Standard_", None, None, false, None);
    }

    #[test]
    fn our_table_overrules_the_list() {
        let of = |kind| certain(kind).map(|found| (found.count_milli, found.memory_mib));
        assert_eq!(of("Standard_ND96isr_H100_v5"), Some((8000, Some(80 * 1024))));
        assert_eq!(of("Standard_NC40ads_H100_v5"), Some((1000, Some(94 * 1024))));
        assert_eq!(of("Standard_NV4as_v4"), Some((125, Some(2 * 1024))));
        assert_eq!(of("Standard_NC6"), None);
    }
}
