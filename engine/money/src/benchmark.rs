//! Results of the benchmark in examples/benchmark: what one accelerator of a machine was seen to do.

use fleet_model::{Accelerators, Catalog, Chip, Figure, InstanceKind, Timestamp, Units};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The format of a result.
pub const RESULT_FORMAT: u32 = 1;

/// What a run of the benchmark prints. Fields that nobody here needs are kept as they are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BenchmarkResult {
    /// The format.
    pub format_version: u32,
    /// `benchmark`.
    pub kind: String,
    /// When it ran.
    pub at: Timestamp,
    /// The machine type, if whoever ran it said so.
    #[serde(rename = "type")]
    pub instance_type: Option<String>,
    /// What it ran on.
    pub machine: Machine,
    /// Names and versions of what it ran with.
    #[serde(default)]
    pub software: BTreeMap<String, Option<String>>,
    /// TFLOPS of matrix products, by precision.
    #[serde(default)]
    pub matrix_product: BTreeMap<String, Product>,
    /// Speed of the accelerator's memory.
    #[serde(default)]
    pub memory: Option<Memory>,
    /// A transformer in training.
    #[serde(default)]
    pub training: Option<Training>,
    /// Everything else.
    #[serde(flatten)]
    pub rest: BTreeMap<String, serde_json::Value>,
}

/// What a benchmark ran on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// Its accelerators; `None`: the CPUs were measured.
    pub accelerator: Option<Measured>,
    /// Everything else.
    #[serde(flatten)]
    pub rest: BTreeMap<String, serde_json::Value>,
}

/// Accelerators by their driver's word.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// `NVIDIA H100 80GB HBM3`.
    pub name: String,
    /// How many the machine has. One is measured.
    pub count: u32,
    /// What the driver says of its memory.
    #[serde(rename = "memoryGiB")]
    pub memory_gib: f64,
}

/// A matrix product.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Product {
    /// Its speed.
    pub tflops: f64,
    /// Everything else.
    #[serde(flatten)]
    pub rest: BTreeMap<String, serde_json::Value>,
}

/// A copy within the memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Memory {
    /// Reads and writes.
    #[serde(rename = "copyGBps")]
    pub copy_gbps: f64,
}

/// A transformer in training.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Training {
    /// How fast it learns.
    pub tokens_per_second: f64,
    /// Everything else.
    #[serde(flatten)]
    pub rest: BTreeMap<String, serde_json::Value>,
}

/// What of a result is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metric {
    /// What is published as well: products in a precision, the memory's bandwidth.
    Figure(Figure),
    /// Tokens a second in training.
    Training,
}

/// Why a result cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ResultError {
    /// It is not the JSON of a result.
    #[error("it is not a benchmark result: {0}")]
    Unreadable(String),
    /// It is the document of something else.
    #[error("it is a document of kind `{0}`, not a benchmark result")]
    OtherKind(String),
    /// It was written by a newer program.
    #[error("its format is {0}, and this program reads {RESULT_FORMAT}")]
    OtherFormat(u32),
    /// A figure is no speed.
    #[error("its {what} is {value}, which no machine does")]
    Nonsense {
        /// Which figure.
        what: String,
        /// What it says.
        value: String,
    },
    /// The CPUs were measured.
    #[error("it was measured on CPUs, and accelerators are compared")]
    NoAccelerator,
    /// Nobody knows what it is about.
    #[error("it does not say its machine type, and the accelerator `{0}` is not known here")]
    Unnamed(String),
}

/// Why a result cannot be of the type that it names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WrongType {
    /// The catalog does not know the type.
    Unknown,
    /// The type has no accelerator.
    NoAccelerator,
    /// The type has another accelerator.
    Other {
        /// What was measured.
        measured: &'static str,
        /// What the type has.
        has: String,
    },
}

impl BenchmarkResult {
    /// Reads a result.
    pub fn parse(text: &str) -> Result<Self, ResultError> {
        let value: serde_json::Value = serde_json::from_str(text.trim())
            .map_err(|cause| ResultError::Unreadable(cause.to_string()))?;
        let kind = value.get("kind").and_then(|kind| kind.as_str()).unwrap_or_default();
        if kind != "benchmark" && !kind.is_empty() {
            return Err(ResultError::OtherKind(kind.chars().take(40).collect()));
        }
        let version = value.get("formatVersion").and_then(|version| version.as_u64());
        if let Some(other) = version.filter(|version| *version != u64::from(RESULT_FORMAT)) {
            return Err(ResultError::OtherFormat(u32::try_from(other).unwrap_or(u32::MAX)));
        }
        let result: BenchmarkResult = serde_json::from_value(value)
            .map_err(|cause| ResultError::Unreadable(cause.to_string()))?;
        result.check()?;
        Ok(result)
    }

    fn check(&self) -> Result<(), ResultError> {
        let products = self.matrix_product.iter().map(|(name, one)| (name.as_str(), one.tflops));
        let memory = self.memory.iter().map(|memory| ("copyGBps", memory.copy_gbps));
        let training = self.training.iter().map(|one| ("tokensPerSecond", one.tokens_per_second));
        for (what, value) in products.chain(memory).chain(training) {
            if !(value.is_finite() && value > 0.0 && value < 1e9) {
                let what = what.chars().take(40).collect();
                return Err(ResultError::Nonsense { what, value: value.to_string() });
            }
        }
        let Some(accelerator) = &self.machine.accelerator else {
            return Err(ResultError::NoAccelerator);
        };
        if self.instance_type.is_none() && self.chip().is_none() {
            return Err(ResultError::Unnamed(accelerator.name.chars().take(60).collect()));
        }
        Ok(())
    }

    /// The chip that was measured, by its driver's word.
    pub fn chip(&self) -> Option<&'static Chip> {
        let accelerator = self.machine.accelerator.as_ref()?;
        chip_by_driver(&accelerator.name, accelerator.memory_gib)
    }

    /// What it is a result of: the type, else the chip.
    pub fn subject(&self) -> String {
        let chip = || self.chip().map(|chip| chip.name.to_owned());
        self.instance_type.clone().or_else(chip).unwrap_or_else(|| "unknown".into())
    }

    /// Holds its type against what a catalog says of it.
    pub fn check_type(&self, catalog: &Catalog) -> Result<(), WrongType> {
        let Some(name) = self.instance_type.as_deref() else { return Ok(()) };
        let named = |kind: &&Arc<InstanceKind>| kind.name.as_str().eq_ignore_ascii_case(name);
        let kind = catalog.kinds.iter().find(named).ok_or(WrongType::Unknown)?;
        let accelerators = kind.resources.accelerators.as_ref();
        let accelerators = accelerators.ok_or(WrongType::NoAccelerator)?;
        // Where either side is not known here, nothing speaks against it.
        let (Some(measured), Some(has)) = (self.chip(), accelerators.name.clone()) else {
            return Ok(());
        };
        match Chip::of(kind) {
            Some(sold) if sold == measured => Ok(()),
            Some(sold) => Err(WrongType::Other { measured: measured.name, has: sold.name.into() }),
            None => Err(WrongType::Other { measured: measured.name, has: has.to_string() }),
        }
    }

    /// What one accelerator did; `None` if that was not measured.
    pub fn metric(&self, metric: Metric) -> Option<f64> {
        let product = |name: &str| self.matrix_product.get(name).map(|one| one.tflops);
        match metric {
            Metric::Training => self.training.as_ref().map(|one| one.tokens_per_second),
            Metric::Figure(Figure::Bandwidth) => self.memory.as_ref().map(|one| one.copy_gbps),
            Metric::Figure(Figure::Memory) => {
                self.machine.accelerator.as_ref().map(|one| one.memory_gib)
            }
            Metric::Figure(Figure::Fp32) => product("fp32"),
            Metric::Figure(Figure::Tf32) => product("tf32"),
            Metric::Figure(Figure::Bf16) => product("bf16"),
            Metric::Figure(Figure::Fp16) => product("fp16"),
            Metric::Figure(Figure::Fp8) => product("fp8"),
            Metric::Figure(Figure::Int8) => product("int8"),
        }
    }

    /// Whether it speaks of a kind of machine, and how closely: by its type, or by its chip.
    fn speaks_of(&self, kind: &InstanceKind) -> Option<Closeness> {
        match &self.instance_type {
            Some(name) if name.eq_ignore_ascii_case(kind.name.as_str()) => Some(Closeness::Type),
            _ if self.chip().is_some() && self.chip() == Chip::of(kind) => Some(Closeness::Chip),
            _ => None,
        }
    }
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Closeness {
    Chip,
    Type,
}

/// The result that says most of a kind of machine, and what all accelerators of one do by it: that of the
/// same type before that of the same chip, the newest of either.
pub fn best<'a>(
    results: &'a [BenchmarkResult],
    kind: &InstanceKind,
    metric: Metric,
) -> Option<(&'a BenchmarkResult, Units)> {
    let count = kind.resources.accelerators.as_ref()?.count_milli;
    let fitting = results.iter().filter_map(|result| {
        let close = result.speaks_of(kind)?;
        let value = result.metric(metric)?;
        Some((close, result.at, result, value))
    });
    let (_, _, result, value) = fitting.max_by(|a, b| (&a.0, a.1).cmp(&(&b.0, b.1)))?;
    let units = Units((value * f64::from(count)).round() as u64);
    (!units.is_zero()).then_some((result, units))
}

/// The chip that a driver calls so: `NVIDIA A100-SXM4-80GB`, `NVIDIA H100 PCIe`, `Tesla T4`.
fn chip_by_driver(name: &str, memory_gib: f64) -> Option<&'static Chip> {
    let upper = name.to_uppercase();
    let words: Vec<&str> = upper.split([' ', '-', '_']).filter(|word| !word.is_empty()).collect();
    let has = |word: &str| words.contains(&word);
    let joined = words.join("");
    // RTX PRO 6000 and its like are several words.
    let rtx = ["RTXPRO6000", "RTXPRO4500", "RTX6000"].into_iter().find(|rtx| joined.contains(rtx));
    let rtx = rtx.or_else(|| joined.contains("RTXA6000").then_some("A6000"));
    let plain = words.iter().copied().find(|word| Accelerators::is_known(word));
    let found = Accelerators::canonical(rtx.or(plain)?);
    let sized = Accelerators::of_memory(found, (memory_gib * 1024.0) as u64);
    let variant = match sized {
        "H100" if has("NVL") => "H100-NVL",
        "H100" if has("PCIE") => "H100-PCIE",
        "A100-80GB" if has("PCIE") => "A100-80GB-PCIE",
        other => other,
    };
    Chip::named(variant)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::kind;

    const H200: &str = include_str!("../../../examples/benchmark/results/h200.json");

    #[test]
    fn our_own_result_is_read_and_kept_whole() {
        let result = BenchmarkResult::parse(H200).expect("a result");
        assert_eq!(result.subject(), "H200");
        let bf16 = Metric::Figure(Figure::Bf16);
        assert_eq!(result.metric(bf16), Some(672.46));
        assert_eq!(result.metric(Metric::Training), Some(100_030.0));
        assert_eq!(result.metric(Metric::Figure(Figure::Int8)), None);
        let written = serde_json::to_string(&result).expect("JSON");
        assert_eq!(BenchmarkResult::parse(&written).as_ref(), Ok(&result));
        let kept = ["samplesPerSecond", "watts", "gpuPercent", "parameters", "cpus", "driver"];
        assert!(kept.iter().all(|field| written.contains(field)), "{written}");
        let results = [result];
        let found = best(&results, &kind("p5en.48xlarge", "H200", 8), bf16);
        assert_eq!(found.map(|(_, units)| units), Some(Units(5_379_680)));
        assert!(best(&results, &kind("p5.48xlarge", "H100", 8), bf16).is_none());
    }

    #[test]
    fn a_result_of_the_same_type_is_nearer_and_newer_is_better() {
        let of = |kind: Option<&str>, at: &str, tflops: f64| {
            let mut result = BenchmarkResult::parse(H200).expect("a result");
            result.instance_type = kind.map(str::to_owned);
            result.at = at.parse().expect("a time");
            result.matrix_product.get_mut("bf16").expect("bf16").tflops = tflops;
            result
        };
        let results = [
            of(None, "2026-03-01T00:00:00Z", 1.0),
            of(Some("p5en.48xlarge"), "2026-01-01T00:00:00Z", 2.0),
            of(Some("p5en.48xlarge"), "2026-02-01T00:00:00Z", 3.0),
        ];
        let bf16 = Metric::Figure(Figure::Bf16);
        let units =
            |name: &str| best(&results, &kind(name, "H200", 1), bf16).map(|(_, units)| units);
        assert_eq!(units("p5en.48xlarge"), Some(Units(3000)));
        assert_eq!(units("a3-ultragpu-8g"), Some(Units(1000)));
    }

    #[test]
    fn a_result_is_of_the_accelerator_that_its_type_has() {
        let (p5, p5en) = (kind("p5.48xlarge", "H100", 8), kind("p5en.48xlarge", "H200", 8));
        let catalog = Catalog {
            source: "a test".into(),
            as_of: Timestamp::UNIX_EPOCH,
            kinds: vec![p5.into(), p5en.into()],
            places: Vec::new(),
            rows: Vec::new(),
        };
        let check = |name: Option<&str>, expect: Result<(), WrongType>| {
            let mut result = BenchmarkResult::parse(H200).expect("a result");
            result.instance_type = name.map(str::to_owned);
            assert_eq!(result.check_type(&catalog), expect, "{name:?}");
        };
        check(None, Ok(()));
        check(Some("P5EN.48xlarge"), Ok(()));
        let other = WrongType::Other { measured: "H200", has: "H100".into() };
        check(Some("p5.48xlarge"), Err(other));
        check(Some("p5em.48xlarge"), Err(WrongType::Unknown));
    }

    #[test]
    fn drivers_have_their_own_names() {
        let check = |name: &str, gib: f64, expect: Option<&str>| {
            assert_eq!(chip_by_driver(name, gib).map(|chip| chip.name), expect, "{name}");
        };
        check("NVIDIA H200", 139.8, Some("H200"));
        check("NVIDIA H100 80GB HBM3", 79.2, Some("H100"));
        check("NVIDIA H100 PCIe", 79.2, Some("H100-PCIE"));
        check("NVIDIA H100 NVL", 93.1, Some("H100-NVL"));
        check("NVIDIA A100-SXM4-40GB", 39.4, Some("A100"));
        check("NVIDIA A100-SXM4-80GB", 79.2, Some("A100-80GB"));
        check("NVIDIA A100 80GB PCIe", 79.2, Some("A100-80GB-PCIE"));
        check("NVIDIA A10G", 22.5, Some("A10G"));
        check("NVIDIA L4", 22.5, Some("L4"));
        check("Tesla T4", 14.6, Some("T4"));
        check("Tesla V100-SXM2-32GB", 31.7, Some("V100-32GB"));
        check("NVIDIA RTX A6000", 47.5, Some("A6000"));
        check("NVIDIA RTX PRO 6000 Blackwell Server Edition", 95.0, Some("RTXPRO6000"));
        check("Quantum 9", 7.0, None);
    }

    #[test]
    fn what_is_no_result_is_refused() {
        let check = |text: &str, says: &str| {
            let error = BenchmarkResult::parse(text).expect_err(says).to_string();
            assert!(error.contains(says), "{text}: {error}");
        };
        check("", "not a benchmark result");
        check("[]", "not a benchmark result");
        check("{\"kind\":\"plan\"}", "kind `plan`");
        check(&H200.replacen("\"formatVersion\": 1", "\"formatVersion\": 2", 1), "format is 2");
        check(&H200.replace("672.46", "-1"), "bf16 is -1");
        check(&H200.replace("NVIDIA H200", "Quantum 9"), "does not say its machine type");
        check(&H200.replace("\"accelerator\": {", "\"accelerator\": null, \"x\": {"), "CPUs");
    }
}
