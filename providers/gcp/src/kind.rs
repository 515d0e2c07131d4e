//! What Google's names of machine types say.
//!
//! A type is a machine type (`n2-standard-4`, `a2-highgpu-1g`), an `n1` with accelerators attached
//! (`n1-standard-8+2xt4`, a name of ours: Google has none for the pair), or a TPU slice
//! (`tpu-v6e-8`, see [`tpu`]).

use crate::tpu;
use fleet_model::{Architecture, Market};

/// Accelerators that can be attached to `n1`: our name, Google's.
const ATTACHABLE: &[(&str, &str)] = &[
    ("t4", "nvidia-tesla-t4"),
    ("v100", "nvidia-tesla-v100"),
    ("p100", "nvidia-tesla-p100"),
    ("p4", "nvidia-tesla-p4"),
];

/// Every series that we know.
const SERIES: &[&str] = &[
    "a2", "a3", "a4", "a4x", "c2", "c2d", "c3", "c3d", "c4", "c4a", "c4d", "e2", "f1", "g1", "g2",
    "g4", "h3", "h4d", "m1", "m2", "m3", "m4", "n1", "n2", "n2d", "n4", "n4a", "n4d", "t2a", "t2d",
    "x4", "z3",
];

/// Series with accelerators built in.
const ACCELERATED: &[&str] = &["a2", "a3", "a4", "a4x", "g2", "g4"];

/// Series of Arm processors.
const ARM: &[&str] = &["t2a", "c4a", "n4a", "a4x"];

/// Series that take no disks but Hyperdisk.
const HYPERDISK: &[&str] =
    &["a4", "a4x", "c4", "c4a", "c4d", "ct6e", "g4", "h4d", "m4", "n4", "n4a", "n4d", "x4"];

/// How a type can be had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sold {
    /// In every market.
    Everywhere,
    /// Not on demand, and not out of reservations.
    SpotOrFlexStart,
    /// Not on demand; out of reservations that it is bound to.
    NotOnDemand,
    /// Only out of reservations that it is bound to.
    Reserved,
}

/// Types that cannot be had in every market, by how their names begin. "Accelerator-optimized
/// machine family", Google's documentation; dstackai/dstack#3100, #3162.
const SOLD: &[(&str, Sold)] = &[
    ("a3-highgpu-1g", Sold::SpotOrFlexStart),
    ("a3-highgpu-2g", Sold::SpotOrFlexStart),
    ("a3-highgpu-4g", Sold::SpotOrFlexStart),
    ("a3-ultragpu-", Sold::NotOnDemand),
    ("a4-", Sold::NotOnDemand),
    ("a4x-", Sold::Reserved),
];

/// A type that Compute Engine can launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Kind<'a> {
    /// Google's machine type.
    pub(crate) machine: &'a str,
    /// Accelerators to attach: Google's name and how many.
    pub(crate) attached: Option<(&'static str, u32)>,
}

impl<'a> Kind<'a> {
    /// Reads a type. `None`: of no series that we know, or not to be launched.
    pub(crate) fn read(name: &'a str) -> Option<Self> {
        if tpu::is_slice(name) {
            return tpu::machine(name).map(|machine| Kind { machine, attached: None });
        }
        let (machine, attached) = match name.split_once('+') {
            None => (name, None),
            Some((machine, accelerators)) => {
                let (count, chip) = accelerators.split_once('x')?;
                let (_, google) = ATTACHABLE.iter().find(|(ours, _)| *ours == chip)?;
                let count: u32 = count.parse().ok().filter(|count| (1..=8).contains(count))?;
                (machine, Some((*google, count)))
            }
        };
        let series = series(machine);
        let whole = SERIES.contains(&series) && machine.len() > series.len();
        (whole && (attached.is_none() || series == "n1")).then_some(Kind { machine, attached })
    }

    pub(crate) fn series(&self) -> &'a str {
        series(self.machine)
    }

    /// Whether there is an accelerator in it: such machines cannot be moved while they run.
    pub(crate) fn is_accelerated(&self) -> bool {
        self.attached.is_some() || self.is_tpu() || ACCELERATED.contains(&self.series())
    }

    pub(crate) fn is_tpu(&self) -> bool {
        tpu::is_series(self.series())
    }

    pub(crate) fn architecture(&self) -> Architecture {
        if ARM.contains(&self.series()) { Architecture::Arm64 } else { Architecture::X86_64 }
    }

    /// Whether machines of both may come of one request that differs in nothing but the type.
    pub(crate) fn starts_like(&self, other: Kind<'_>) -> bool {
        let plain = |kind: Kind<'_>| kind.attached.is_none() && !kind.is_tpu();
        plain(*self)
            && plain(other)
            && self.is_accelerated() == other.is_accelerated()
            && self.architecture() == other.architecture()
            && self.disk() == other.disk()
            && self.is_bound() == other.is_bound()
    }

    /// The disk that it boots from unless the spec says otherwise.
    pub(crate) fn disk(&self) -> &'static str {
        if self.takes_only_hyperdisk() { "hyperdisk-balanced" } else { "pd-balanced" }
    }

    /// Whether it boots from nothing but Hyperdisk. A3 Ultra differs from the rest of its series.
    pub(crate) fn takes_only_hyperdisk(&self) -> bool {
        HYPERDISK.contains(&self.series()) || self.machine.starts_with("a3-ultragpu-")
    }

    fn sold(&self) -> Sold {
        let known = SOLD.iter().find(|(start, _)| self.machine.starts_with(start));
        known.map_or(Sold::Everywhere, |(_, sold)| *sold)
    }

    /// Whether its reservations are dense ones, which machines are bound to.
    pub(crate) fn is_bound(&self) -> bool {
        matches!(self.sold(), Sold::NotOnDemand | Sold::Reserved)
    }

    /// Why it cannot be had in a market. On demand may mean flex-start.
    pub(crate) fn not_sold(&self, market: Market, flex_start: bool) -> Option<String> {
        let bare_metal = self.machine.ends_with("-metal");
        let how = match (self.sold(), market) {
            (Sold::Everywhere, Market::Spot) if bare_metal => "bare metal is not sold as spot",
            (Sold::Everywhere, Market::OnDemand | Market::Spot | Market::Reserved) => return None,
            (Sold::SpotOrFlexStart, Market::Spot) => return None,
            (Sold::SpotOrFlexStart | Sold::NotOnDemand, Market::OnDemand) if flex_start => {
                return None;
            }
            (Sold::SpotOrFlexStart, Market::OnDemand | Market::Reserved) => {
                "sold only as spot or flex-start (FLEET_GCP_FLEX_START_HOURS)"
            }
            (Sold::NotOnDemand, Market::Spot | Market::Reserved) => return None,
            (Sold::NotOnDemand, Market::OnDemand) => {
                "not sold on demand: only as spot, flex-start (FLEET_GCP_FLEX_START_HOURS) or out \
                 of a reservation"
            }
            (Sold::Reserved, Market::Reserved) => return None,
            (Sold::Reserved, Market::OnDemand | Market::Spot) => "sold only out of a reservation",
        };
        Some(format!("{}: {how}", self.machine))
    }
}

fn series(machine: &str) -> &str {
    machine.split('-').next().unwrap_or_default()
}

/// The name of a machine type with what is attached to it, as it was asked for. Accelerators that
/// come with the type are listed on its machines as well; they are in the name already.
pub(crate) fn name(machine: &str, attached: &[(&str, i32)]) -> String {
    let short = |google: &str| {
        let known = ATTACHABLE.iter().find(|(_, name)| *name == google);
        known.map_or_else(|| google.to_owned(), |(ours, _)| (*ours).to_owned())
    };
    match attached {
        [(google, count)] if series(machine) == "n1" => {
            format!("{machine}+{count}x{}", short(google))
        }
        _ => tpu::slice(machine).unwrap_or(machine).to_owned(),
    }
}

/// Every accelerator that can be attached: our name, Google's.
pub(crate) fn attachable() -> &'static [(&'static str, &'static str)] {
    ATTACHABLE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_read() {
        let check = |text: &str, machine: &str, attached, accelerated| {
            let kind = Kind::read(text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!((kind.machine, kind.attached), (machine, attached), "{text}");
            assert_eq!(kind.is_accelerated(), accelerated, "{text}");
        };
        check("n2-standard-4", "n2-standard-4", None, false);
        check("a2-highgpu-1g", "a2-highgpu-1g", None, true);
        check("tpu-v6e-8", "ct6e-standard-8t", None, true);
        check("n1-standard-8+2xt4", "n1-standard-8", Some(("nvidia-tesla-t4", 2)), true);
        let none = [
            "",
            "n2",
            "no-such-type",
            "tpu-v5litepod-16",
            "ct6e-standard-8t",
            "n2-standard-4+1xt4",
            "n1-standard-8+t4",
            "n1-standard-8+0xt4",
            "n1-standard-8+1xh100",
        ];
        for bad in none {
            assert_eq!(Kind::read(bad), None, "{bad}");
        }
    }

    #[test]
    fn names_are_made_of_what_machines_have() {
        assert_eq!(name("n1-standard-8", &[("nvidia-tesla-t4", 2)]), "n1-standard-8+2xt4");
        assert_eq!(name("n1-standard-8", &[]), "n1-standard-8");
        assert_eq!(name("a2-highgpu-1g", &[("nvidia-tesla-a100", 1)]), "a2-highgpu-1g");
        assert_eq!(name("ct6e-standard-8t", &[("ct6e", 8)]), "tpu-v6e-8");
        assert_eq!(name("n1-standard-8", &[("new", 1)]), "n1-standard-8+1xnew");
    }

    #[test]
    fn types_are_refused_where_they_are_not_sold() {
        let check = |text: &str, market, flex_start, expect: bool| {
            let found = Kind::read(text).expect("a type").not_sold(market, flex_start);
            assert_eq!(found.is_none(), expect, "{text} {market}: {found:?}");
        };
        for (text, on_demand, flex_start, spot, reserved) in [
            ("n2-standard-4", true, true, true, true),
            ("a3-highgpu-8g", true, true, true, true),
            ("a3-highgpu-1g", false, true, true, false),
            ("a3-ultragpu-8g", false, true, true, true),
            ("a4-highgpu-8g", false, true, true, true),
            ("a4x-highgpu-4g", false, false, false, true),
            ("c3-highmem-192-metal", true, true, false, true),
        ] {
            check(text, Market::OnDemand, false, on_demand);
            check(text, Market::OnDemand, true, flex_start);
            check(text, Market::Spot, false, spot);
            check(text, Market::Reserved, false, reserved);
        }
    }

    #[test]
    fn what_a_series_needs() {
        let of = |text| Kind::read(text).expect("a type");
        assert_eq!(of("t2a-standard-4").architecture(), Architecture::Arm64);
        assert_eq!(of("n2-standard-4").architecture(), Architecture::X86_64);
        assert_eq!(of("c4-standard-8").disk(), "hyperdisk-balanced");
        assert_eq!(of("n2-standard-4").disk(), "pd-balanced");
        assert_eq!(of("a3-ultragpu-8g").disk(), "hyperdisk-balanced");
        assert_eq!(of("a3-highgpu-8g").disk(), "pd-balanced");
        assert_eq!(of("tpu-v6e-1").disk(), "hyperdisk-balanced");
        assert_eq!(of("tpu-v5p-8").disk(), "pd-balanced");
    }
}
