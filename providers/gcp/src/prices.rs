//! Everything that Google sells and for how much, for `fleet catalog refresh`.
//!
//! Google prices parts, not machines: a core, a GiB of memory, an accelerator, a GiB of local
//! disk, each per region and market, each a line of a list with ten thousand lines. A machine
//! costs the sum of its parts. If one part has no line, the machine is unpriced, not cheap.

use crate::error::{Asked, read, refused};
use crate::kind::{Kind, attachable};
use crate::machines::{last, region_of};
use crate::session::Clients;
use fleet_model::{
    Accelerators, Architecture, Cloud, InstanceKind, Maker, MicroUsd, Pattern, Place, Resources,
};
use fleet_provider::{Class, Error, Listed, PriceListRequest};
use google_cloud_billing_v1::model::Sku;
use google_cloud_compute_v1::model::MachineType;
use google_cloud_compute_v1::model::machine_type;
use std::collections::BTreeMap;

/// Compute Engine in the billing catalog.
const SERVICE: &str = "services/6F81-5844-456A";

/// Rows and pages: far more than there are.
const PAGES: usize = 400;
const SKUS: i32 = 5000;
const TYPES: u32 = 500;

/// One partition of local disk, in GiB.
const PARTITION: u64 = 375;

/// Hours in a month, as Google counts them.
const HOURS: u64 = 730;

/// How lines name the cores and the memory of a series, or of the types of a series that have
/// lines of their own.
const PARTS: &[(&str, &str)] = &[
    ("a2", "A2 Instance"),
    ("a3-megagpu", "A3Plus Instance"),
    ("a3-ultragpu", "A3Ultra Instance"),
    ("a3", "A3 Instance"),
    ("c2", "Compute optimized"),
    ("c2d", "C2D AMD Instance"),
    ("c3", "C3 Instance"),
    ("c3d", "C3D Instance"),
    ("c4", "C4 Instance"),
    ("c4a", "C4A Arm Instance"),
    ("c4d", "C4D Instance"),
    ("e2", "E2 Instance"),
    ("g2", "G2 Instance"),
    ("g4", "G4 Instance"),
    ("m1", "Memory-optimized Instance"),
    ("m3", "M3 Memory-optimized Instance"),
    ("n1", "N1 Predefined Instance"),
    ("n2", "N2 Instance"),
    ("n2d", "N2D AMD Instance"),
    ("n4", "N4 Instance"),
    ("t2a", "T2A Arm Instance"),
    ("t2d", "T2D AMD Instance"),
];

/// Accelerators: Google's name, how lines name it, ours, and the memory of one in GiB.
const CHIPS: &[(&str, &str, &str, u64)] = &[
    ("nvidia-tesla-t4", "Nvidia Tesla T4 GPU", "T4", 16),
    ("nvidia-tesla-v100", "Nvidia Tesla V100 GPU", "V100", 16),
    ("nvidia-tesla-p100", "Nvidia Tesla P100 GPU", "P100", 16),
    ("nvidia-tesla-p4", "Nvidia Tesla P4 GPU", "P4", 8),
    ("nvidia-l4", "Nvidia L4 GPU", "L4", 24),
    ("nvidia-tesla-a100", "Nvidia Tesla A100 GPU", "A100", 40),
    ("nvidia-a100-80gb", "Nvidia Tesla A100 80GB GPU", "A100-80GB", 80),
    ("nvidia-h100-80gb", "Nvidia H100 80GB GPU", "H100", 80),
    ("nvidia-h100-mega-80gb", "Nvidia H100 80GB Mega GPU", "H100", 80),
    ("nvidia-h200-141gb", "Nvidia H200 141GB GPU", "H200", 141),
    ("nvidia-b200", "Nvidia B200 (1 gpu slice)", "B200", 180),
    ("nvidia-rtx-pro-6000", "RTX 6000 96GB", "RTX-PRO-6000", 96),
];

/// Other words for the same accelerator: they differ by region.
const SAME: &[(&str, &str)] = &[
    ("Nvidia H100 Mega 80GB GPU", "Nvidia H100 80GB Mega GPU"),
    ("Nvidia H100 80GB Plus GPU", "Nvidia H100 80GB Mega GPU"),
    ("RTX 6000 96GB GPU", "RTX 6000 96GB"),
    ("Nvidia RTX 6000 96GB", "RTX 6000 96GB"),
    ("Nvidia RTX 6000 96GB GPU", "RTX 6000 96GB"),
];

/// Accelerators whose price is the whole machine's.
const WITH_HOST: &[&str] = &["nvidia-b200"];

/// How many can be attached to an `n1`, and to how many vCPUs at the most.
const ATTACHED: &[(&str, &[(u32, u32)])] = &[
    ("t4", &[(1, 48), (2, 48), (4, 96)]),
    ("v100", &[(1, 12), (2, 24), (4, 48), (8, 96)]),
    ("p100", &[(1, 16), (2, 32), (4, 96)]),
    ("p4", &[(1, 24), (2, 48), (4, 96)]),
];

/// A part that has a price.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Core(&'static str),
    Memory(&'static str),
    Chip(&'static str),
    Disk,
}

/// Prices in nano-dollars an hour, by region, part and whether it is spot.
type Book = BTreeMap<(String, Part, bool), u64>;

/// Everything that is sold in some regions.
pub(crate) async fn list(
    clients: &Clients,
    request: &PriceListRequest<'_>,
) -> Result<Vec<Listed>, Error> {
    let mut book = Book::new();
    for sku in skus(clients).await? {
        enter(&mut book, &sku);
    }
    let wanted = |zone: &str| {
        let region = region_of(zone).unwrap_or_default();
        let regions: &[Pattern] = request.regions;
        regions.is_empty() || regions.iter().any(|pattern| pattern.matches(region))
    };
    let types = machine_types(clients).await?;
    Ok(types
        .iter()
        .filter(|(zone, _)| wanted(zone))
        .flat_map(|(zone, kind)| listed(zone, kind, &book))
        .collect())
}

async fn skus(clients: &Clients) -> Result<Vec<Sku>, Error> {
    let mut all = Vec::new();
    let mut token = String::new();
    for _ in 0..PAGES {
        let asked = clients.catalog.list_skus().set_parent(SERVICE).set_page_size(SKUS);
        let asked = asked.set_page_token(&token).set_currency_code("USD");
        let answer = asked.send().await.map_err(|error| read(Asked::Read, &error))?;
        all.extend(answer.skus);
        token = answer.next_page_token;
        if token.is_empty() {
            return Ok(all);
        }
    }
    Err(refused(Class::Retry { after: None }, "EndlessList", "the price list has no end"))
}

/// Every machine type with its zone. A zone that does not answer makes the list fail: a catalog
/// with a hole would be taken for "not sold there".
async fn machine_types(clients: &Clients) -> Result<Vec<(String, MachineType)>, Error> {
    let mut all = Vec::new();
    let mut token: Option<String> = None;
    for _ in 0..PAGES {
        let asked = clients.machine_types.aggregated_list().set_project(&clients.project);
        let asked = asked.set_max_results(TYPES).set_or_clear_page_token(token);
        let page = asked.send().await.map_err(|error| read(Asked::Read, &error))?;
        if let Some(zone) = page.unreachables.first() {
            let words = format!("{zone} does not answer");
            return Err(refused(Class::Retry { after: None }, "Unreachable", words));
        }
        for (scope, items) in page.items {
            let zone = last(&scope).to_owned();
            all.extend(items.machine_types.into_iter().map(|kind| (zone.clone(), kind)));
        }
        token = page.next_page_token.filter(|token| !token.is_empty());
        if token.is_none() {
            all.sort_by(|(zone, kind), (other, twin)| (zone, &kind.name).cmp(&(other, &twin.name)));
            return Ok(all);
        }
    }
    Err(refused(Class::Retry { after: None }, "EndlessList", "the list of types has no end"))
}

/// Writes a line of the price list into the book, if it is one that we understand.
fn enter(book: &mut Book, sku: &Sku) {
    let Some(category) = &sku.category else { return };
    let spot = match category.usage_type.as_str() {
        // Some spot lines call themselves on demand.
        "OnDemand" => sku.description.contains("Spot Preemptible"),
        "Preemptible" => true,
        _ => return,
    };
    let Some(part) = part(&sku.description) else { return };
    let Some(nanos) = nanos(sku, &part) else { return };
    for region in &sku.service_regions {
        let price = book.entry((region.clone(), part.clone(), spot)).or_default();
        // Of two prices the dearer holds: a plan may turn out cheaper than it said, not dearer.
        *price = (*price).max(nanos);
    }
}

/// What a line is about, by its words. Commitments, sole tenancy and custom machines have other
/// words and are passed over.
fn part(description: &str) -> Option<Part> {
    let text = description.strip_prefix("Spot Preemptible ").unwrap_or(description);
    let (what, _) = text.split_once(" running in ").or_else(|| text.split_once(" in "))?;
    let what = what.strip_suffix(" attached to Spot Preemptible VMs").unwrap_or(what);
    if what == "SSD backed Local Storage" {
        return Some(Part::Disk);
    }
    let what = SAME.iter().find(|(other, _)| *other == what).map_or(what, |(_, name)| *name);
    if let Some((_, name, ..)) = CHIPS.iter().find(|(_, name, ..)| *name == what) {
        return Some(Part::Chip(name));
    }
    let series = |words: &str| PARTS.iter().find(|(_, name)| *name == words).map(|(key, _)| *key);
    match what.rsplit_once(' ')? {
        (words, "Core") => series(words).map(Part::Core),
        (words, "Ram") => series(words).map(Part::Memory),
        _ => None,
    }
}

/// The price of a line, in nano-dollars an hour.
fn nanos(sku: &Sku, part: &Part) -> Option<u64> {
    let expression = sku.pricing_info.last()?.pricing_expression.as_ref()?;
    let rate = expression.tiered_rates.last()?.unit_price.as_ref()?;
    if rate.currency_code != "USD" {
        return None;
    }
    let units = u64::try_from(rate.units).ok()?.checked_mul(1_000_000_000)?;
    let nanos = units.checked_add(u64::try_from(rate.nanos).ok()?)?;
    let expected = match part {
        Part::Core(_) | Part::Chip(_) => "h",
        Part::Memory(_) => "GiBy.h",
        Part::Disk => "GiBy.mo",
    };
    (expression.usage_unit == expected).then_some(match part {
        Part::Disk => nanos / HOURS,
        Part::Core(_) | Part::Memory(_) | Part::Chip(_) => nanos,
    })
}

/// A machine type in a zone, and with each accelerator that can be attached to it.
fn listed(zone: &str, kind: &MachineType, book: &Book) -> Vec<Listed> {
    let Some(host) = Host::read(zone, kind) else { return Vec::new() };
    let mut all = vec![host.listed(book, None)];
    if host.name.starts_with("n1-standard-") || host.name.starts_with("n1-highmem-") {
        for (chip, counts) in ATTACHED {
            let fits = counts.iter().filter(|(_, most)| host.vcpus <= *most);
            let with = fits.map(|(count, _)| host.listed(book, Some((chip, *count))));
            // A region without a price for the chip does not have it.
            all.extend(with.filter(|listed| listed.on_demand.is_some()));
        }
    }
    all
}

/// A machine type in a zone.
struct Host<'a> {
    name: &'a str,
    series: &'a str,
    zone: &'a str,
    region: &'a str,
    vcpus: u32,
    /// Cores that are paid for, in thousandths: small ones share.
    cores_milli: u64,
    memory_mib: u64,
    architecture: Architecture,
    built_in: Option<(&'a str, u32)>,
    partitions: u64,
}

impl<'a> Host<'a> {
    fn read(zone: &'a str, kind: &'a MachineType) -> Option<Self> {
        let name = kind.name.as_deref()?;
        let series = Kind::read(name)?.series();
        let vcpus = u32::try_from(kind.guest_cpus?).ok()?;
        let cores_milli = match (kind.is_shared_cpu, name) {
            (Some(true), "e2-micro") => 250,
            (Some(true), "e2-small") => 500,
            (Some(true), "e2-medium") => 1000,
            _ => u64::from(vcpus) * 1000,
        };
        let built_in = kind.accelerators.first().and_then(|one| {
            let count = u32::try_from(one.guest_accelerator_count?).ok()?;
            Some((one.guest_accelerator_type.as_deref()?, count))
        });
        let disks = kind.bundled_local_ssds.as_ref().and_then(|disks| disks.partition_count);
        Some(Host {
            name,
            series,
            zone,
            region: region_of(zone)?,
            vcpus,
            cores_milli,
            memory_mib: u64::try_from(kind.memory_mb?).ok()?,
            architecture: match &kind.architecture {
                Some(machine_type::Architecture::Arm64) => Architecture::Arm64,
                _ => Architecture::X86_64,
            },
            built_in,
            partitions: disks.and_then(|count| u64::try_from(count).ok()).unwrap_or(0),
        })
    }

    /// Google's name of its accelerators, and how many.
    fn chips(&self, attached: Option<(&str, u32)>) -> Option<(&str, u32)> {
        match attached {
            None => self.built_in,
            Some((chip, count)) => {
                let google = attachable().iter().find(|(ours, _)| *ours == chip);
                google.map(|(_, google)| (*google, count))
            }
        }
    }

    /// The sum of its parts, in nano-dollars an hour.
    fn nanos(&self, book: &Book, spot: bool, attached: Option<(&str, u32)>) -> Option<u64> {
        let price = |part: Part| book.get(&(self.region.to_owned(), part, spot)).copied();
        let with_host = self.chips(attached).is_some_and(|(chip, _)| WITH_HOST.contains(&chip));
        let mut sum = 0;
        if !with_host {
            let kind = self.name.rsplit_once('-').map_or(self.name, |(kind, _)| kind);
            let own = |words: &str| PARTS.iter().find(|(known, _)| *known == words);
            let (series, _) = own(kind).or_else(|| own(self.series))?;
            sum += price(Part::Core(series))?.checked_mul(self.cores_milli)? / 1000;
            sum += price(Part::Memory(series))?.checked_mul(self.memory_mib)? / 1024;
        }
        if let Some((google, count)) = self.chips(attached) {
            let (_, name, ..) = CHIPS.iter().find(|(known, ..)| *known == google)?;
            sum += price(Part::Chip(name))?.checked_mul(u64::from(count))?;
        }
        if self.partitions > 0 && !with_host {
            sum += price(Part::Disk)?.checked_mul(self.partitions * PARTITION)?;
        }
        Some(sum)
    }

    fn listed(&self, book: &Book, attached: Option<(&str, u32)>) -> Listed {
        let name = match attached {
            None => self.name.to_owned(),
            Some((chip, count)) => format!("{}+{count}x{chip}", self.name),
        };
        let accelerators = self.chips(attached).map(|(google, count)| {
            let known = CHIPS.iter().find(|(known, ..)| *known == google);
            Accelerators {
                name: known.map(|(_, _, ours, _)| (*ours).to_owned()),
                count_milli: count.saturating_mul(1000),
                memory_mib: known.map(|(.., gib)| gib * 1024),
                maker: google.starts_with("nvidia").then_some(Maker::Nvidia),
            }
        });
        let digits = self.series.trim_matches(|c: char| c.is_ascii_alphabetic());
        let micro = |spot| {
            let nanos = self.nanos(book, spot, attached)?;
            Some(MicroUsd((nanos + 500) / 1000)).filter(|price| price.0 > 0)
        };
        let spot = micro(true);
        Listed {
            kind: InstanceKind {
                cloud: Cloud::Gcp,
                name: name.as_str().into(),
                resources: Resources {
                    vcpus: Some(self.vcpus),
                    memory_mib: Some(self.memory_mib),
                    architecture: self.architecture,
                    accelerators,
                    local_disk: Some(self.partitions > 0),
                    generation: digits.parse().ok(),
                },
            },
            place: Place { cloud: Cloud::Gcp, region: self.region.into(), zone: self.zone.into() },
            on_demand: micro(false),
            spot,
            has_spot: spot.is_some(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_by_their_words() {
        let check = |text: &str, expect: Option<Part>| assert_eq!(part(text), expect, "{text}");
        check("N2 Instance Core running in Americas", Some(Part::Core("n2")));
        check("Spot Preemptible N2D AMD Instance Ram running in Iowa", Some(Part::Memory("n2d")));
        check("Compute optimized Core running in Iowa", Some(Part::Core("c2")));
        check("Nvidia L4 GPU running in Iowa", Some(Part::Chip("Nvidia L4 GPU")));
        let spot = "Nvidia Tesla T4 GPU attached to Spot Preemptible VMs running in Iowa";
        check(spot, Some(Part::Chip("Nvidia Tesla T4 GPU")));
        check("SSD backed Local Storage in Iowa", Some(Part::Disk));
        check("A3Plus Instance Core running in Iowa", Some(Part::Core("a3-megagpu")));
        check("A3Ultra Instance Ram running in Iowa", Some(Part::Memory("a3-ultragpu")));
        for mega in ["H100 80GB Mega", "H100 Mega 80GB", "H100 80GB Plus"] {
            let line = format!("Nvidia {mega} GPU running in Iowa");
            check(&line, Some(Part::Chip("Nvidia H100 80GB Mega GPU")));
        }
        let slice = "Nvidia B200 (1 gpu slice)";
        check(&format!("{slice} running in Iowa"), Some(Part::Chip(slice)));
        check("DWS Defined Duration A3 Instance Core running in Iowa", None);
        check("N2 Custom Instance Core running in Iowa", None);
        check("Commitment v1: N2 Cpu in Iowa for 1 Year", None);
        check("N2 Sole Tenancy Instance Core running in Iowa", None);
        check("", None);
    }

    #[test]
    fn a_machine_costs_the_sum_of_its_parts_or_nothing_is_known() {
        let region = || "us-central1".to_owned();
        let mut book = Book::from([
            ((region(), Part::Core("n1"), false), 31_611_000),
            ((region(), Part::Memory("n1"), false), 4_237_000),
        ]);
        let kind =
            MachineType::new().set_name("n1-standard-4").set_guest_cpus(4).set_memory_mb(15_360);
        let prices = |book: &Book| -> Vec<(String, Option<u64>)> {
            let all = listed("us-central1-a", &kind, book);
            all.into_iter()
                .map(|one| (one.kind.name.to_string(), one.on_demand.map(|price| price.0)))
                .collect()
        };
        assert_eq!(prices(&book), [("n1-standard-4".to_owned(), Some(189_999))]);
        book.insert((region(), Part::Chip("Nvidia Tesla T4 GPU"), false), 350_000_000);
        let with = prices(&book);
        assert_eq!(with.len(), 4, "{with:?}");
        assert_eq!(with[2], ("n1-standard-4+2xt4".to_owned(), Some(889_999)));
        book.remove(&(region(), Part::Memory("n1"), false));
        assert_eq!(prices(&book), [("n1-standard-4".to_owned(), None)]);
    }

    /// Types of one series have lines of their own, and some accelerators bring their host.
    #[test]
    fn each_kind_of_accelerator_has_its_own_lines() {
        let line = |words: &str, usage: &str, unit: &str, dollars: i64| -> Sku {
            let rate =
                serde_json::json!({ "unitPrice": { "currencyCode": "USD", "units": dollars } });
            serde_json::from_value(serde_json::json!({
                "description": format!("{words} running in Iowa"),
                "category": { "usageType": usage },
                "serviceRegions": ["us-central1"],
                "pricingInfo": [{ "pricingExpression": { "usageUnit": unit, "tieredRates": [rate] } }],
            }))
            .expect("a line")
        };
        let mut book = Book::new();
        for sku in [
            line("A3 Instance Core", "OnDemand", "h", 1),
            line("A3 Instance Ram", "OnDemand", "GiBy.h", 1),
            line("A3Plus Instance Core", "OnDemand", "h", 2),
            line("A3Plus Instance Ram", "OnDemand", "GiBy.h", 2),
            line("Nvidia H100 80GB GPU", "OnDemand", "h", 10),
            line("Nvidia H100 80GB Plus GPU", "OnDemand", "h", 20),
            line("Nvidia B200 (1 gpu slice)", "OnDemand", "h", 30),
            line("Spot Preemptible Nvidia B200 (1 gpu slice)", "OnDemand", "h", 3),
        ] {
            enter(&mut book, &sku);
        }
        let check = |name: &str, chip: &str, expect: (Option<u64>, Option<u64>)| {
            let chips = machine_type::Accelerators::new()
                .set_guest_accelerator_type(chip)
                .set_guest_accelerator_count(8);
            let kind = MachineType::new().set_name(name).set_guest_cpus(4).set_memory_mb(8192);
            let all = listed("us-central1-a", &kind.set_accelerators([chips]), &book);
            let dollars = |price: Option<MicroUsd>| price.map(|price| price.0 / 1_000_000);
            assert_eq!((dollars(all[0].on_demand), dollars(all[0].spot)), expect, "{name}");
        };
        check("a3-highgpu-8g", "nvidia-h100-80gb", (Some(4 + 8 + 80), None));
        check("a3-megagpu-8g", "nvidia-h100-mega-80gb", (Some(8 + 16 + 160), None));
        // No line of its own: unpriced, not the price of its sister.
        check("a3-ultragpu-8g", "nvidia-h200-141gb", (None, None));
        check("a4-highgpu-8g", "nvidia-b200", (Some(240), Some(24)));
    }
}
