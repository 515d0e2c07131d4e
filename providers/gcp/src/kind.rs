//! What Google's names of machine types say.
//!
//! A type is a machine type (`n2-standard-4`, `a2-highgpu-1g`), an `n1` with accelerators attached
//! (`n1-standard-8+2xt4`, a name of ours: Google has none for the pair), or a TPU slice
//! (`tpu-v6e-8`, see [`tpu`]).

use crate::tpu;
use fleet_model::Architecture;

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
    }

    /// The disk that it boots from unless the spec says otherwise.
    pub(crate) fn disk(&self) -> &'static str {
        if HYPERDISK.contains(&self.series()) { "hyperdisk-balanced" } else { "pd-balanced" }
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
    fn what_a_series_needs() {
        let of = |text| Kind::read(text).expect("a type");
        assert_eq!(of("t2a-standard-4").architecture(), Architecture::Arm64);
        assert_eq!(of("n2-standard-4").architecture(), Architecture::X86_64);
        assert_eq!(of("c4-standard-8").disk(), "hyperdisk-balanced");
        assert_eq!(of("n2-standard-4").disk(), "pd-balanced");
        assert_eq!(of("tpu-v6e-1").disk(), "hyperdisk-balanced");
        assert_eq!(of("tpu-v5p-8").disk(), "pd-balanced");
    }
}
