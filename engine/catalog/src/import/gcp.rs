//! Google's lists: machines, accelerators and TPU slices in one table.
//!
//! A machine with built-in accelerators (`a2`, `a3`, `a4`, `g2`, `g4`) is listed as its host
//! alone; the accelerators have lines of their own, without an instance type, one per zone and
//! count, with the price of that count. What a user pays is the sum. Where Google bills the
//! machine as one (`a4`), the host's price is zero and the accelerators' line has it all.
//!
//! TPU slices become kinds of their own, named as in the list: `tpu-v5litepod-16`. What their
//! hosts have is not known. Up to v5p the number in the name counts cores, two per chip; later
//! ones count chips. We count chips.

use super::ImportError;
use super::collect::Collect;
use super::report::Finding;
use super::table::{Line, Table};
use crate::accelerators::{accelerators, unknown};
use fleet_model::{Architecture, MicroUsd, Resources, Zone};
use std::collections::{BTreeMap, HashMap};

/// What can be attached to `n1` hosts of any size.
const ATTACHABLE: &[&str] = &["K80", "P100", "P4", "T4", "V100"];

type Prices = (Option<MicroUsd>, Option<MicroUsd>);

/// Accelerator prices by the list's name, zone and count.
#[derive(Default)]
struct Apart(HashMap<String, HashMap<String, BTreeMap<u32, Prices>>>);

impl Apart {
    fn add(&mut self, line: &Line<'_>) {
        let zones = self.0.entry(line.accelerator.to_owned()).or_default();
        let counts = zones.entry(line.zone.to_owned()).or_default();
        let prices = counts.entry(line.count_milli.unwrap_or(0)).or_default();
        prices.0 = prices.0.max(line.on_demand);
        prices.1 = prices.1.max(line.spot);
    }

    /// The price of so many in a zone: of their own line, else in proportion to one.
    fn prices(&self, name: &str, zone: &str, count_milli: u32) -> Prices {
        let Some(counts) = self.0.get(name).and_then(|zones| zones.get(zone)) else {
            return (None, None);
        };
        if let Some(prices) = counts.get(&count_milli) {
            return *prices;
        }
        let (on_demand, spot) = counts.get(&1000).copied().unwrap_or_default();
        let times = |one: MicroUsd| MicroUsd((one * u64::from(count_milli)).0 / 1000);
        (on_demand.map(times), spot.map(times))
    }
}

/// An offer whose price waits for the accelerators' lines further down the list.
struct Host {
    kind: u32,
    region: String,
    zone: String,
    accelerator: Option<(&'static str, u32)>,
    prices: Prices,
}

/// A TPU slice in one zone, waiting for its siblings.
struct Slice {
    kind: u32,
    chips_milli: u32,
    region: String,
    prices: Prices,
}

pub(super) fn read(table: Table, collect: &mut Collect<'_>) -> Result<(), ImportError> {
    let mut apart = Apart::default();
    let mut hosts = Vec::new();
    let mut slices: BTreeMap<(&'static str, String), Vec<Slice>> = BTreeMap::new();
    table.each(|line| {
        collect.line();
        if line.kind.is_empty() {
            if let Some((name, chips_milli)) = tpu(line.accelerator) {
                let line = Line { kind: line.accelerator, ..line };
                let slice = Slice {
                    kind: collect.kind(&line, |_| slice(name, chips_milli)),
                    chips_milli,
                    region: line.region.to_owned(),
                    prices: (line.on_demand, line.spot),
                };
                slices.entry((name, line.zone.to_owned())).or_default().push(slice);
            } else if ATTACHABLE.contains(&line.accelerator) {
                collect.found(Finding::Attachable);
            } else if line.accelerator.is_empty() {
                collect.found(Finding::Nameless);
            } else {
                collect.found(Finding::Folded);
                apart.add(&line);
            }
        } else if line.kind.ends_with("-tpu") {
            collect.found(Finding::TpuHost);
        } else if is_accelerated(line.kind) && line.accelerator.is_empty() {
            hosts.push(Host {
                kind: collect.kind(&line, |collect| resources(&line, collect)),
                region: line.region.to_owned(),
                zone: line.zone.to_owned(),
                accelerator: built_in(line.kind),
                prices: (line.on_demand, line.spot),
            });
        } else {
            let kind = collect.kind(&line, |collect| resources(&line, collect));
            let zone = if line.zone.is_empty() { Zone::REGIONAL } else { line.zone };
            let (on_demand, spot) = (collect.price(line.on_demand), collect.price(line.spot));
            collect.offer(kind, line.region, zone, on_demand, spot);
        }
    })?;
    for host in hosts {
        price_host(host, &apart, collect);
    }
    for ((_, zone), slices) in slices {
        price_slices(&zone, slices, collect);
    }
    Ok(())
}

/// Host plus accelerators, in each market; without the one or the other, unpriced.
fn price_host(host: Host, apart: &Apart, collect: &mut Collect<'_>) {
    let (on_demand, spot) = host
        .accelerator
        .map(|(name, count)| apart.prices(name, &host.zone, count))
        .unwrap_or_default();
    let both = |host: Option<MicroUsd>, more: Option<MicroUsd>| {
        Some(host? + more.filter(|price| price.0 > 0)?)
    };
    let prices = (both(host.prices.0, on_demand), both(host.prices.1, spot));
    collect.found(match prices.0 {
        Some(_) => Finding::HostPlusAccelerators,
        None => Finding::AcceleratorsUnpriced,
    });
    collect.offer(host.kind, &host.region, &host.zone, prices.0, prices.1);
}

/// A slice that costs no less than a larger one in the same zone has a placeholder for a price:
/// the list gives $700 for 1 and for 256 chips alike where Google sells neither.
fn price_slices(zone: &str, mut slices: Vec<Slice>, collect: &mut Collect<'_>) {
    slices.sort_by_key(|slice| slice.chips_milli);
    let placeholder = |price: Option<MicroUsd>, of: fn(&Slice) -> Option<MicroUsd>, me: &Slice| {
        let clash = |other: &Slice| other.chips_milli != me.chips_milli && of(other) == price;
        price.is_some() && slices.iter().any(clash)
    };
    for slice in &slices {
        let fake = placeholder(slice.prices.0, |s| s.prices.0, slice)
            || placeholder(slice.prices.1, |s| s.prices.1, slice);
        let prices = if fake {
            collect.found(Finding::Placeholder);
            (None, None)
        } else {
            (collect.price(slice.prices.0), collect.price(slice.prices.1))
        };
        collect.offer(slice.kind, &slice.region, zone, prices.0, prices.1);
    }
}

fn resources(line: &Line<'_>, collect: &mut Collect<'_>) -> Resources {
    let series = line.kind.split('-').next().unwrap_or("");
    let certain = built_in(line.kind).map(|(name, count)| accelerators(name, count));
    let stated = collect.stated(line);
    // A host's accelerators are listed apart: nothing was missing, nothing is filled in.
    let accelerators = match (&stated, certain) {
        (None, Some(certain)) => Some(certain),
        (_, certain) => collect.settle(stated, certain, is_accelerated(line.kind)),
    };
    Resources {
        vcpus: line.vcpus,
        memory_mib: line.memory_mib,
        architecture: match series {
            "t2a" | "c4a" | "n4a" | "a4x" => Architecture::Arm64,
            _ => Architecture::X86_64,
        },
        accelerators,
        local_disk: local_disk(line.kind, series),
        generation: generation(series),
    }
}

/// The accelerators that come with a type, as the list names them, in thousandths.
fn built_in(kind: &str) -> Option<(&'static str, u32)> {
    let mut parts = kind.split('-');
    let (series, class, size) = (parts.next()?, parts.next()?, parts.next()?);
    let name = match (series, class) {
        ("a2", "highgpu" | "megagpu") => "A100",
        ("a2", "ultragpu") => "A100-80GB",
        ("a3", "highgpu" | "edgegpu") => "H100",
        ("a3", "megagpu") => "H100-MEGA",
        ("a3", "ultragpu") => "H200",
        ("a4", "highgpu") => "B200",
        ("a4x", "highgpu") => "GB200",
        ("a4x", "maxgpu") => "GB300",
        ("g2", "standard") => {
            let count = match size {
                "4" | "8" | "12" | "16" | "32" => 1000,
                "24" => 2000,
                "48" => 4000,
                "96" => 8000,
                _ => return None,
            };
            return Some(("L4", count));
        }
        ("g4", "standard") => {
            // 48 vCPUs each; the smaller sizes share one.
            let count = match size {
                "6" => 125,
                "12" => 250,
                "24" => 500,
                "48" => 1000,
                "96" => 2000,
                "192" => 4000,
                "384" => 8000,
                _ => return None,
            };
            return Some(("RTXPRO6000", count));
        }
        _ => return None,
    };
    let count: u32 = size.strip_suffix('g')?.parse().ok()?;
    Some((name, count.checked_mul(1000)?))
}

/// Whether the family surely has accelerators built in.
fn is_accelerated(kind: &str) -> bool {
    matches!(kind.split('-').next(), Some("a2" | "a3" | "a4" | "a4x" | "g2" | "g4"))
}

/// `e2` is 2, `c3d` is 3.
fn generation(series: &str) -> Option<u16> {
    let digits = series.trim_matches(|c: char| c.is_ascii_alphabetic());
    digits.parse().ok()
}

/// Disks that come with the type. Those that one may attach on request do not count: a machine
/// made by its type's name has none.
fn local_disk(kind: &str, series: &str) -> Option<bool> {
    if kind.ends_with("-nolssd") {
        return Some(false);
    }
    match series {
        "a3" | "a4" | "a4x" | "z3" => Some(true),
        "g4" => None,
        _ => Some(kind.ends_with("lssd") || kind.starts_with("a2-ultragpu-")),
    }
}

/// The chips of a TPU slice, in thousandths.
fn tpu(name: &str) -> Option<(&'static str, u32)> {
    let (version, number) = name.strip_prefix("tpu-")?.rsplit_once('-')?;
    let (chip, per_chip) = match version {
        "v2" => ("tpu-v2", 2),
        "v3" => ("tpu-v3", 2),
        "v4" => ("tpu-v4", 2),
        "v5p" => ("tpu-v5p", 2),
        "v5litepod" | "v5e" => ("tpu-v5e", 1),
        "v6e" => ("tpu-v6e", 1),
        _ => return None,
    };
    let number: u32 = number.parse().ok()?;
    Some((chip, number.checked_mul(1000)? / per_chip))
}

fn slice(chip: &str, chips_milli: u32) -> Resources {
    Resources {
        vcpus: None,
        memory_mib: None,
        architecture: Architecture::X86_64,
        accelerators: Some(match chips_milli {
            0 => unknown(),
            _ => accelerators(chip, chips_milli),
        }),
        local_disk: None,
        generation: generation(chip.trim_start_matches("tpu-")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_accelerators() {
        let check = |kind: &str, expect| assert_eq!(built_in(kind), expect, "{kind}");
        check("a2-highgpu-4g", Some(("A100", 4000)));
        check("a2-megagpu-16g", Some(("A100", 16_000)));
        check("a2-ultragpu-8g", Some(("A100-80GB", 8000)));
        check("a3-edgegpu-8g-nolssd", Some(("H100", 8000)));
        check("a3-megagpu-8g", Some(("H100-MEGA", 8000)));
        check("g2-standard-24", Some(("L4", 2000)));
        check("g4-standard-6", Some(("RTXPRO6000", 125)));
        check("a2-highgpu-99999999999g", None);
        check("g2-standard-5", None);
        check("n1-standard-8", None);
        check("", None);
    }

    #[test]
    fn slices_count_chips() {
        let check = |name: &str, expect| assert_eq!(tpu(name), expect, "{name}");
        check("tpu-v3-8", Some(("tpu-v3", 4000)));
        check("tpu-v5p-128", Some(("tpu-v5p", 64_000)));
        check("tpu-v5litepod-16", Some(("tpu-v5e", 16_000)));
        check("tpu-v6e-1", Some(("tpu-v6e", 1000)));
        check("tpu-v9-1", None);
        check("T4", None);
    }

    #[test]
    fn names_say_what_a_machine_is() {
        let disk = |kind: &str| local_disk(kind, kind.split('-').next().unwrap_or(""));
        assert_eq!(disk("c3-standard-22-lssd"), Some(true));
        assert_eq!(disk("z3-highmem-14-standardlssd"), Some(true));
        assert_eq!(disk("a3-ultragpu-8g-nolssd"), Some(false));
        assert_eq!(disk("a2-ultragpu-1g"), Some(true));
        assert_eq!(disk("a2-highgpu-1g"), Some(false));
        assert_eq!(disk("n2-standard-4"), Some(false));
        assert_eq!(generation("c3d"), Some(3));
        assert_eq!(generation("v5p"), Some(5));
        assert_eq!(generation("x"), None);
    }
}
