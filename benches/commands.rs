//! Whole commands of the real binary: time and memory, and how both grow.
//!
//! Prints `name time: [fastest median slowest]`, and the growth from each size to the next as a
//! ratio of medians taken in one run, which a busy machine disturbs less than the times.
#![expect(clippy::print_stdout, reason = "a benchmark's result is what it prints")]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const SIZES: [u32; 3] = [1_000, 10_000, 100_000];
const RUNS: usize = 9;

fn main() {
    let filter = std::env::args().skip(1).find(|arg| !arg.starts_with('-')).unwrap_or_default();
    let bench = Bench::new();
    if "plan".contains(&filter) || filter.contains("plan") {
        bench.plan();
    }
    if "apply".contains(&filter) || filter.contains("apply") {
        bench.apply();
    }
}

struct Bench {
    dir: tempfile::TempDir,
    catalog: Option<PathBuf>,
}

struct Sample {
    time: Duration,
    peak_kib: u64,
}

impl Bench {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a folder");
        let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/catalog");
        let catalog = dir.path().join("catalog.bin");
        let imported = fleet_catalog::import(&shared)
            .map(|(imported, _)| fleet_catalog::save(&imported, &catalog).expect("saved"));
        if imported.is_err() {
            println!("shared/data/catalog is not there: the embedded catalog stands in for it");
        }
        Bench { catalog: imported.is_ok().then_some(catalog), dir }
    }

    /// A fleet of any machine type, anywhere on four clouds.
    fn spec(&self, machines: u32) -> PathBuf {
        let path = self.dir.path().join(format!("any-{machines}.yaml"));
        let text = format!(
            "
apiVersion: fleet/v1
kind: Fleet
metadata: {{ name: any }}
spec:
  capacity: {{ unit: instances, target: {machines}, base: {{ onDemand: 20% }} }}
  placement: {{ spread: {{ maxSharePerPool: 5%, minZones: 6 }} }}
"
        );
        std::fs::write(&path, text).expect("written");
        path
    }

    /// The spec of the README, as it stands there.
    fn readme(&self) -> PathBuf {
        let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../README.md");
        let text = std::fs::read_to_string(readme).expect("a README");
        let spec = text.split("```yaml\n").nth(1).and_then(|rest| rest.split("```").next());
        let path = self.dir.path().join("readme.yaml");
        std::fs::write(&path, spec.expect("a spec")).expect("written");
        path
    }

    fn run(&self, state: &Path, args: &[&str]) -> Sample {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fleet"));
        command.args(args).args(["--sim", "--state"]).arg(state);
        match &self.catalog {
            Some(catalog) => command.arg("--catalog").arg(catalog),
            None => command.args(["--catalog", "embedded"]),
        };
        let command = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let started = Instant::now();
        let mut child = command.spawn().expect("fleet runs");
        let mut peak_kib = 0;
        let status = loop {
            // The kernel's high-water mark only rises, so the last look is the peak.
            peak_kib = peak_memory(child.id()).unwrap_or(peak_kib);
            if let Some(status) = child.try_wait().expect("a child") {
                break status;
            }
            std::thread::sleep(Duration::from_micros(500));
        };
        let time = started.elapsed();
        assert!(status.success(), "fleet {args:?}: {status}");
        Sample { time, peak_kib }
    }

    fn plan(&self) {
        let spec = self.readme();
        let state = self.dir.path().join("plan-readme");
        let plan = |_| self.run(&state, &["plan", spec.to_str().expect("a path")]);
        tell("plan/the README's spec", (0..RUNS).map(plan).collect());
        let mut medians = Vec::new();
        for machines in SIZES {
            let spec = self.spec(machines);
            let state = self.dir.path().join(format!("plan-{machines}"));
            let samples = (0..RUNS)
                .map(|_| self.run(&state, &["plan", spec.to_str().expect("a path")]))
                .collect();
            medians.push(tell(&format!("plan/{machines} machines"), samples));
        }
        tell_growth("plan", &medians);
    }

    fn apply(&self) {
        let mut medians = Vec::new();
        for machines in SIZES {
            let spec = self.spec(machines);
            let spec = spec.to_str().expect("a path");
            let runs = if machines > 10_000 { 1 } else { 3 };
            let samples = (0..runs)
                .map(|run| {
                    let state = self.dir.path().join(format!("apply-{machines}-{run}"));
                    self.run(&state, &["sim", "reset", "--preset", "calm"]);
                    self.run(&state, &["apply", "--yes", spec])
                })
                .collect();
            medians.push(tell(&format!("apply/{machines} machines"), samples));
        }
        tell_growth("apply", &medians);
    }
}

/// Prints times and memory; gives the median.
fn tell(name: &str, mut samples: Vec<Sample>) -> Duration {
    samples.sort_by_key(|sample| sample.time);
    let ms = |sample: &Sample| sample.time.as_secs_f64() * 1000.0;
    let median = &samples[samples.len() / 2];
    let (first, last) = (&samples[0], &samples[samples.len() - 1]);
    let peak = samples.iter().map(|sample| sample.peak_kib).max().unwrap_or_default();
    println!(
        "{name:24} time:   [{:.1} ms {:.1} ms {:.1} ms]   peak memory: {} MB",
        ms(first),
        ms(median),
        ms(last),
        peak / 1024
    );
    median.time
}

fn tell_growth(name: &str, medians: &[Duration]) {
    for (pair, sizes) in medians.windows(2).zip(SIZES.windows(2)) {
        let times = pair[1].as_secs_f64() / pair[0].as_secs_f64();
        println!("{name}: {} → {} machines takes {times:.1} × the time", sizes[0], sizes[1]);
    }
}

fn peak_memory(pid: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}
