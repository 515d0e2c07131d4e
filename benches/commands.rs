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
    if "ledger".contains(&filter) || filter.contains("ledger") {
        bench.ledger();
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

impl Bench {
    /// `cost report` over journals of so many events.
    fn ledger(&self) {
        for (events, per_record) in [(10_000, 20), (100_000, 20), (1_000_000, 20), (1_000_000, 5)] {
            let state = self.dir.path().join(format!("ledger-{events}-{per_record}"));
            journal::write(&state.join("fleets/year/journal"), events, per_record);
            let report = |_| self.run(&state, &["cost", "report", "--by", "team,day"]);
            let name = format!("ledger/{events} events, {per_record} a record");
            tell(&name, (0..RUNS).map(report).collect());
        }
    }
}

/// Journals as fleets write them, of any length.
mod journal {
    use fleet_model::{
        Cloud, Create, Departure, Event, Group, JOURNAL_FORMAT, MicroUsd, NewMachine, PoolId,
        PriceStep, SlotId, SlotName, Timestamp, Token, Vacated, Worth, digest,
    };
    use fleet_run::Record;
    use std::path::Path;

    /// 2026-01-01.
    const BEGINS: i64 = 1_767_225_600_000;

    pub(super) fn write(folder: &Path, events: u64, per_record: usize) {
        std::fs::create_dir_all(folder).expect("a folder");
        let (mut seq, mut pending, mut left) = (0, Vec::new(), events);
        // A year, however many events.
        let step = 365 * 86_400_000 / (events as i64 / 5).max(1);
        let labels = [("team".to_owned(), "research".to_owned())].into();
        pending.push(Event::LabelsMeant { cloud: Cloud::Aws, labels });
        let mut at = BEGINS;
        for life in 0u32.. {
            if left == 0 {
                break;
            }
            at += step;
            for event in one_life(life, at) {
                pending.push(event);
                left = left.saturating_sub(1);
                if pending.len() == per_record || left == 0 {
                    seq += 1;
                    save(folder, seq, at, std::mem::take(&mut pending));
                }
                if left == 0 {
                    break;
                }
            }
        }
    }

    /// A machine from launch to end, beside two hundred others.
    fn one_life(life: u32, at: i64) -> Vec<Event> {
        let stamp = |ms: i64| Timestamp::from_millisecond(ms).expect("a moment");
        let pool: PoolId =
            format!("aws/us-east-1/use1-az{}/m7i.2xlarge/spot", life % 6).parse().expect("a pool");
        let slot = SlotId {
            name: SlotName { group: Group::Burst, ordinal: life % 200 },
            generation: life / 200 + 1,
        };
        let token = Token::new(format!("f-{life:032x}"));
        let machine = |life: u32| format!("i-0{life:016x}").as_str().into();
        let price = MicroUsd(150_000 + u64::from(life % 1000));
        let mut events = Vec::new();
        // The one that had the slot before.
        if let Some(before) = life.checked_sub(200) {
            let how =
                if life.is_multiple_of(3) { Departure::Interrupted } else { Departure::Ended };
            events.push(Event::DestroyIntended {
                pool: pool.clone(),
                slots: vec![SlotId { generation: slot.generation - 1, ..slot }],
            });
            let (slot, machine) = (slot.name, machine(before));
            let gone = Vacated {
                slot,
                machine,
                how,
                started: None,
                at: Some(stamp(at)),
                deleted: Some(stamp(at)),
            };
            events.push(Event::Vacated { gone: vec![gone] });
        }
        if life.is_multiple_of(10) {
            // A disk, an address, and a share of traffic.
            let extras = fleet_model::Extras {
                disk: fleet_model::Extra::About(MicroUsd(10_959)),
                address: fleet_model::Extra::Hourly(MicroUsd(5_000)),
                egress: fleet_model::Extra::Hourly(MicroUsd(2_250)),
            };
            let worth = Worth {
                pool: pool.clone(),
                on_demand: Some(MicroUsd(400_000)),
                units: Some(fleet_model::Units::whole(8)),
                unit: "vcpus".into(),
                extras: Some(extras),
            };
            events.push(Event::RoundStarted {
                spec: digest("bench/1", []),
                create: 1,
                destroy: 1,
                hourly_after: price,
                heard: Vec::new(),
                worth: vec![worth],
            });
            let since = stamp(at);
            events.push(Event::Priced {
                prices: vec![PriceStep { pool: pool.clone(), since, price }],
                commitments: None,
                extras: Vec::new(),
            });
        }
        events.push(Event::CreateIntended {
            create: Create {
                pool,
                others: Vec::new(),
                slots: vec![slot],
                token: token.clone(),
                price: Some(price),
                max_price: None,
                template: digest("bench/1", []),
                image: None,
            },
        });
        let new = NewMachine {
            slot,
            machine: machine(life),
            launched_at: stamp(at),
            price: Some(price),
            pool: None,
        };
        let (machines, missing, surplus) = (vec![new], Vec::new(), Vec::new());
        events.push(Event::Created { token, machines, missing, surplus, no_room: false });
        events
    }

    fn save(folder: &Path, seq: u64, at: i64, events: Vec<Event>) {
        let at = Timestamp::from_millisecond(at).expect("a moment");
        let record = Record { format: JOURNAL_FORMAT, seq, epoch: 1, at, events };
        let bytes = record.sealed().expect("JSON");
        std::fs::write(folder.join(format!("{seq:012}")), bytes).expect("written");
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
