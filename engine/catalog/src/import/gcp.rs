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

mod names;

use super::ImportError;
use super::collect::Collect;
use super::report::Finding;
use super::table::{Line, Table};
use fleet_model::{Accelerators, Architecture, MicroUsd, Resources, Zone};
use names::{built_in, generation, is_accelerated, local_disk, tpu};
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
    let certain = built_in(line.kind).map(|(name, count)| Accelerators::named(name, count));
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

fn slice(chip: &str, chips_milli: u32) -> Resources {
    Resources {
        vcpus: None,
        memory_mib: None,
        architecture: Architecture::X86_64,
        accelerators: Some(match chips_milli {
            0 => Accelerators::unknown(),
            _ => Accelerators::named(chip, chips_milli),
        }),
        local_disk: None,
        generation: generation(chip.trim_start_matches("tpu-")),
    }
}
