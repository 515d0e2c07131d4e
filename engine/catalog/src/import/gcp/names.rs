//! What Google's names say: `c3d-standard-8-lssd` is series `c3d`, class `standard`, 8 vCPUs and
//! disks of its own; `a2-highgpu-4g` has four accelerators.

/// The accelerators that come with a type, as the list names them, in thousandths.
pub(super) fn built_in(kind: &str) -> Option<(&'static str, u32)> {
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
pub(super) fn is_accelerated(kind: &str) -> bool {
    matches!(kind.split('-').next(), Some("a2" | "a3" | "a4" | "a4x" | "g2" | "g4"))
}

/// `e2` is 2, `c3d` is 3.
pub(super) fn generation(series: &str) -> Option<u16> {
    let digits = series.trim_matches(|c: char| c.is_ascii_alphabetic());
    digits.parse().ok()
}

/// Disks that come with the type. Those that one may attach on request do not count: a machine
/// made by its type's name has none.
pub(super) fn local_disk(kind: &str, series: &str) -> Option<bool> {
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
pub(super) fn tpu(name: &str) -> Option<(&'static str, u32)> {
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
