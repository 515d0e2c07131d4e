//! A day in the life of a controller: `cargo xtask soak`.
//!
//! Replicas are processes of the real binary on one simulated world, whose clock this program moves. One of them
//! is killed every simulated half hour and comes back after some seconds, but for the first, whose memory is judged over
//! the whole time; every hour somebody commits a spec that nobody can use, and mends it ten minutes later. What the
//! clouds say in the end decides.

mod judge;
mod memory;
mod replicas;
mod specs;

use fleet_model::{FleetName, Machine, MachineId, MachineState, Market};
use fleet_sim::{Preset, Settings, Sim};
use judge::Judge;
use memory::Hours;
use replicas::{Ground, Replica};
use serde_json::{Value, json};
use specs::Specs;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

const USAGE: &str = "\
Usage: fleet-soak --fleet BINARY [--fleets N] [--machines N] [--hours N] [--replicas N] [--speed N] [--seed N] [--keep DIR]

  --speed N   simulated seconds per second (120)
  --keep DIR  keep state and logs there";

/// How often the clock moves and the clouds are looked at.
const TICK: Duration = Duration::from_millis(100);
const HOUR: u64 = 3600;
/// Notices that are given besides those of the market, every ten minutes.
const NOTICES: usize = 5;
/// Memory is judged if there are so many hours.
const FILLED: u64 = 12;
/// All machines are there after so long at the latest.
const SETTLED: Duration = Duration::from_secs(120);
/// A killed replica stays away for so long: longer than the others need to miss it.
const AWAY: Duration = Duration::from_secs(4);

struct Options {
    fleet: PathBuf,
    fleets: u32,
    machines: u32,
    hours: u64,
    replicas: usize,
    speed: u64,
    seed: u64,
    keep: Option<PathBuf>,
}

impl Options {
    fn read(mut words: impl Iterator<Item = String>) -> Option<Self> {
        let (mut fleet, mut keep) = (None, None);
        let mut numbers: BTreeMap<&str, u64> = [
            ("--fleets", 100),
            ("--machines", 50),
            ("--hours", 24),
            ("--replicas", 3),
            ("--speed", 120),
            ("--seed", 1),
        ]
        .into();
        while let Some(word) = words.next() {
            let value = words.next()?;
            match word.as_str() {
                "--fleet" => fleet = Some(PathBuf::from(value)),
                "--keep" => keep = Some(PathBuf::from(value)),
                other => *numbers.get_mut(other)? = value.parse().ok()?,
            }
        }
        Some(Options {
            fleet: fleet?,
            keep,
            fleets: u32::try_from(numbers["--fleets"]).ok()?,
            machines: u32::try_from(numbers["--machines"]).ok()?,
            hours: numbers["--hours"],
            replicas: usize::try_from(numbers["--replicas"]).ok()?,
            speed: numbers["--speed"],
            seed: numbers["--seed"],
        })
    }
}

fn main() -> ExitCode {
    let Some(options) = Options::read(std::env::args().skip(1)) else {
        let _ = writeln!(std::io::stderr(), "{USAGE}");
        return ExitCode::from(64);
    };
    let temporary = tempfile::tempdir().expect("a folder");
    let folder = options.keep.clone().unwrap_or_else(|| temporary.path().to_owned());
    let (figures, ok) = Soak::new(options, folder).run();
    let _ = writeln!(std::io::stdout(), "{figures}");
    if ok { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

struct Soak {
    options: Options,
    ground: Ground,
    specs: Specs,
    sim: Sim,
    replicas: Vec<Replica>,
    judge: Judge,
    /// Memory of the replica that is never killed.
    survivor: Hours,
    /// Memory of the others, at one age.
    young: Hours,
    kills: u64,
    bad_commits: u64,
    deaths: u64,
    chance: u64,
}

impl Soak {
    fn new(options: Options, folder: PathBuf) -> Self {
        let (state, logs) = (folder.join("state"), folder.join("logs"));
        std::fs::create_dir_all(&logs).expect("a folder");
        let specs = Specs::new(folder.join("repository"), options.fleets, options.machines);
        let settings =
            Settings { seed: options.seed, preset: Preset::Lifelike, ..Settings::default() };
        let catalog = Arc::new(fleet_catalog::embedded());
        let sim = Sim::create(&state.join("sim"), settings, catalog, true).expect("a world");
        let repository = specs.folder.clone();
        let ground = Ground { fleet: options.fleet.clone(), state, repository, logs };
        let replicas = (0..options.replicas).map(Replica::new).collect();
        let seed = options.seed;
        Soak {
            options,
            ground,
            specs,
            sim,
            replicas,
            judge: Judge::default(),
            survivor: Hours::default(),
            young: Hours::default(),
            kills: 0,
            bad_commits: 0,
            deaths: 0,
            chance: seed,
        }
    }

    fn run(mut self) -> (Value, bool) {
        let started = Instant::now();
        self.replicas.iter_mut().for_each(|replica| replica.start(&self.ground));
        self.settle_in();
        let begun = self.seconds();
        let mut away: Option<(usize, Instant)> = None;
        let (mut kill_at, mut break_at, mut mend_at) = (HOUR / 4, HOUR / 12, u64::MAX);
        let mut interrupt_at = HOUR / 2;
        loop {
            let tick = Instant::now();
            self.tick();
            let now = self.seconds() - begun;
            if now >= self.options.hours * HOUR {
                break;
            }
            self.measure(now / HOUR);
            if now >= kill_at && away.is_none() {
                // The first one lives through it all, if there are others.
                let mortal = self.replicas.len().saturating_sub(1).max(1);
                let victim = self.replicas.len() - 1 - self.kills as usize % mortal;
                self.replicas[victim].kill();
                away = Some((victim, Instant::now()));
                (self.kills, kill_at) = (self.kills + 1, kill_at + HOUR / 2);
            }
            if let Some((victim, since)) = away.filter(|(_, since)| since.elapsed() > AWAY) {
                let _ = since;
                self.replicas[victim].start(&self.ground);
                away = None;
            }
            if now >= interrupt_at {
                self.interrupt();
                interrupt_at += HOUR / 6;
            }
            let hour = u32::try_from(now / HOUR).unwrap_or_default();
            let (broken, other) = (hour % self.options.fleets, (hour + 7) % self.options.fleets);
            if now >= break_at {
                self.specs.break_one(broken);
                (self.bad_commits, break_at, mend_at) =
                    (self.bad_commits + 1, break_at + HOUR, now + HOUR / 6);
            }
            if now >= mend_at {
                self.specs.mend(broken, other);
                mend_at = u64::MAX;
            }
            for replica in &mut self.replicas {
                if replica.has_died() {
                    self.deaths += 1;
                    replica.kill();
                    replica.start(&self.ground);
                }
            }
            std::thread::sleep(TICK.saturating_sub(tick.elapsed()));
        }
        // The clock stands; what is under way comes to its end.
        let ended_well = self.replicas.iter_mut().all(Replica::stop);
        self.verdict(started.elapsed(), ended_well)
    }

    /// The hours count from when all machines are there: memory of an empty controller is no measure.
    fn settle_in(&mut self) {
        let wanted = (self.options.fleets * self.options.machines) as usize;
        let started = Instant::now();
        while started.elapsed() < SETTLED {
            let machines = self.tick();
            let living: usize = Judge::living(&machines).values().map(BTreeSet::len).sum();
            if living >= wanted {
                return;
            }
            std::thread::sleep(TICK);
        }
    }

    /// Moves the clock on, and looks at the clouds.
    fn tick(&mut self) -> Vec<Machine> {
        self.sim.advance(TICK * u32::try_from(self.options.speed).unwrap_or(1)).expect("time");
        let machines = self.sim.machines().expect("machines");
        self.judge.look(&machines, Instant::now());
        machines
    }

    /// Gives notice to some spot machines, besides those that the market takes.
    fn interrupt(&mut self) {
        let machines = self.sim.machines().expect("machines");
        let mut spot: Vec<&Machine> = machines
            .iter()
            .filter(|one| one.market == Market::Spot && one.state == MachineState::Running)
            .filter(|one| one.notice.is_none())
            .collect();
        for _ in 0..NOTICES {
            if spot.is_empty() {
                return;
            }
            // Knuth's constants: which ones is all the same, as long as it is the same each time.
            self.chance = self
                .chance
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let at = usize::try_from(self.chance >> 33).unwrap_or_default() % spot.len();
            self.sim.interrupt(spot.swap_remove(at).id.as_str(), 1).expect("a notice");
        }
    }

    fn seconds(&self) -> u64 {
        u64::try_from(self.sim.now().expect("time").as_second()).unwrap_or_default()
    }

    fn measure(&mut self, hour: u64) {
        if let [survivor, others @ ..] = &*self.replicas {
            self.survivor.saw(hour, survivor.memory());
            let young = others.iter().filter(|replica| replica.is_of_measured_age());
            self.young.saw(hour, young.filter_map(Replica::memory));
        }
    }

    fn verdict(mut self, took: Duration, ended_well: bool) -> (Value, bool) {
        let hours = self.options.hours;
        let once = self.json(&["controller", &self.repository(), "--path", "specs", "--once"]);
        let plan = self.json(&["plan", &self.folder()]);
        let status = self.json(&["status", &self.folder()]);
        let strays = self.json(&["sweep", &self.folder()]);
        let living = Judge::living(&self.sim.machines().expect("machines"));
        let mut recorded: BTreeMap<FleetName, BTreeSet<MachineId>> = BTreeMap::new();
        for fleet in status["fleets"].as_array().into_iter().flatten() {
            let name = FleetName::new(fleet["fleet"].as_str().unwrap_or_default());
            let machines = fleet["machines"].as_array().into_iter().flatten();
            let live =
                machines.filter(|one| one["state"] == "running" || one["state"] == "pending");
            let ids = live.filter_map(|one| one["id"].as_str()).map(MachineId::new);
            recorded.insert(name, ids.collect());
        }
        let lost: usize = living
            .iter()
            .map(|(fleet, machines)| match recorded.get(fleet) {
                Some(known) => machines.difference(known).count(),
                None => machines.len(),
            })
            .sum();
        let fleets = plan["fleets"].as_array().cloned().unwrap_or_default();
        let steps = |fleet: &Value| fleet["steps"].as_array().map_or(usize::MAX, Vec::len);
        let converged = fleets.iter().filter(|fleet| steps(fleet) == 0).count();
        let short =
            fleets.iter().filter(|f| f["unplaced"].as_array().is_some_and(|u| !u.is_empty()));
        let (short, strays) = (short.count(), strays["machines"].as_array().map_or(0, Vec::len));
        let last = hours.saturating_sub(1);
        let flat =
            hours < FILLED || (self.young.is_flat(0, last) && self.survivor.is_flat(0, last));
        let p99 = self.judge.answered_within(99);
        let doubled = self.judge.doubled.len();
        let ok = ended_well
            && doubled == 0
            && lost == 0
            && strays == 0
            && self.deaths == 0
            && converged == self.options.fleets as usize
            && flat
            && p99.is_some_and(|p99| p99 < 5000);
        let figures = json!({
            "command": "soak", "ok": ok, "fleets": self.options.fleets, "simulatedHours": hours,
            "replicas": self.options.replicas, "kills": self.kills, "badCommits": self.bad_commits,
            "launches": self.judge.launches, "livingMachines": living.values().map(BTreeSet::len).sum::<usize>(),
            "doubled": doubled, "lost": lost, "strays": strays, "replicasThatDied": self.deaths,
            "endedWell": ended_well, "converged": converged, "shortOfCapacity": short,
            "noticesAnswered": self.judge.answered.len(), "noticesUnanswered": self.judge.unanswered,
            "noticeToLaunchMs": { "p50": self.judge.answered_within(50), "p90": self.judge.answered_within(90), "p99": p99 },
            "memoryKiB": { "neverKilledByHour": self.survivor.told(), "atOneAgeByHour": self.young.told() },
            "lastLook": once["exitCode"], "wallSeconds": took.as_secs(),
        });
        self.replicas.clear();
        (figures, ok)
    }

    fn repository(&self) -> String {
        format!("file://{}", self.ground.repository.display())
    }

    fn folder(&self) -> String {
        self.ground.repository.join("specs").display().to_string()
    }

    /// What a command says.
    fn json(&self, arguments: &[&str]) -> Value {
        let answer =
            self.ground.command().args(["-o", "json"]).args(arguments).output().expect("fleet");
        serde_json::from_slice(&answer.stdout).unwrap_or_else(|_| {
            let said = String::from_utf8_lossy(&answer.stderr).into_owned();
            let _ = writeln!(std::io::stderr(), "{arguments:?}: {said}");
            Value::Null
        })
    }
}
