//! TPU slices, by the names of Google's price list (`tpu-v6e-8`).
//!
//! A slice of one host is a machine of Compute Engine like any other, with a machine type of its
//! own. A slice of several hosts is a managed group there, and slices of the oldest chips exist
//! only in the Cloud TPU API, which Google no longer develops: both are priced and planned with,
//! and not launched.

/// Slices of one host: the list's name, Google's machine type.
const ONE_HOST: &[(&str, &str)] = &[
    ("tpu-v5litepod-1", "ct5lp-hightpu-1t"),
    ("tpu-v5litepod-4", "ct5lp-hightpu-4t"),
    ("tpu-v5litepod-8", "ct5lp-hightpu-8t"),
    ("tpu-v5p-8", "ct5p-hightpu-4t"),
    ("tpu-v6e-1", "ct6e-standard-1t"),
    ("tpu-v6e-4", "ct6e-standard-4t"),
    ("tpu-v6e-8", "ct6e-standard-8t"),
];

/// The image with the drivers of all of them.
pub(crate) const IMAGE: &str = "projects/ubuntu-os-accelerator-images/global/images/family/\
                                ubuntu-accel-2204-amd64-tpu-v5e-v5p-v6e";

/// Whether a type is a slice, launched by us or not.
pub(crate) fn is_slice(name: &str) -> bool {
    name.starts_with("tpu-")
}

/// The machine type of a slice of one host.
pub(crate) fn machine(slice: &str) -> Option<&'static str> {
    ONE_HOST.iter().find(|(ours, _)| *ours == slice).map(|(_, google)| *google)
}

/// The slice that a machine type is.
pub(crate) fn slice(machine: &str) -> Option<&'static str> {
    ONE_HOST.iter().find(|(_, google)| *google == machine).map(|(ours, _)| *ours)
}

/// Whether a series is one of TPU hosts.
pub(crate) fn is_series(series: &str) -> bool {
    ONE_HOST.iter().any(|(_, google)| google.split('-').next() == Some(series))
}

/// Why a slice cannot be launched. `None`: it can, or is none.
pub(crate) fn refusal(name: &str) -> Option<String> {
    if !is_slice(name) || machine(name).is_some() {
        return None;
    }
    let known: Vec<&str> = ONE_HOST.iter().map(|(ours, _)| *ours).collect();
    let old = ["tpu-v2-", "tpu-v3-", "tpu-v4-"].iter().any(|start| name.starts_with(start));
    let why = match old {
        true => "TPU slices of v2, v3 and v4 are not machines of Compute Engine",
        false => "TPU slices of more than one host are not launched yet",
    };
    Some(format!("{why}; what can be launched: {}", known.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_of_one_host_are_machines_and_the_others_say_why_not() {
        for (ours, google) in ONE_HOST {
            assert_eq!((machine(ours), slice(google)), (Some(*google), Some(*ours)));
            assert_eq!(refusal(ours), None);
            assert!(is_series(google.split('-').next().unwrap_or_default()), "{google}");
        }
        let check = |name: &str, words: &str| {
            assert_eq!(machine(name), None);
            assert!(refusal(name).is_some_and(|why| why.contains(words)), "{name}");
        };
        check("tpu-v6e-16", "more than one host");
        check("tpu-v3-8", "not machines of Compute Engine");
        assert_eq!(refusal("n2-standard-4"), None);
    }
}
