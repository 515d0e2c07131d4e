//! Controllers as processes: started, killed, measured.

use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A process takes memory while it warms up, whatever the age of its fleets: replicas that are killed are measured at
/// this age, in the first hour as in the last.
const MEASURED: Range<Duration> = Duration::from_secs(10)..Duration::from_secs(20);

/// One replica, alive or not.
pub(crate) struct Replica {
    pub(crate) name: String,
    process: Option<Child>,
    started: Instant,
}

/// What every replica is started with.
pub(crate) struct Ground {
    pub(crate) fleet: PathBuf,
    pub(crate) state: PathBuf,
    pub(crate) repository: PathBuf,
    pub(crate) logs: PathBuf,
}

impl Ground {
    /// A `fleet` command on this ground.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(&self.fleet);
        command.arg("--sim").arg("--state").arg(&self.state).args(["--catalog", "embedded"]);
        command
    }
}

impl Replica {
    pub(crate) fn new(number: usize) -> Self {
        Replica { name: format!("replica-{number}"), process: None, started: Instant::now() }
    }

    pub(crate) fn start(&mut self, ground: &Ground) {
        let log = ground.logs.join(format!("{}.log", self.name));
        let log = File::options().create(true).append(true).open(log).expect("a log");
        let mut command = ground.command();
        command
            .arg("controller")
            .arg(format!("file://{}", ground.repository.display()))
            .args(["--path", "specs", "--listen", "none", "--speed", "0", "--replica", &self.name])
            .args(["--every", "10m", "--notices-every", "500ms", "--fetch-every", "2s"])
            .stdin(Stdio::null())
            .stdout(log.try_clone().expect("a log"))
            .stderr(log);
        self.process = Some(command.spawn().expect("a replica"));
        self.started = Instant::now();
    }

    /// As a power cut does it.
    pub(crate) fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            let _ = process.kill();
            let _ = process.wait();
        }
    }

    /// As systemd does it: asks, and waits. `false`: it did not end well.
    pub(crate) fn stop(&mut self) -> bool {
        let Some(mut process) = self.process.take() else { return true };
        let asked = Command::new("kill").arg("-TERM").arg(process.id().to_string()).status();
        asked.is_ok_and(|asked| asked.success()) && process.wait().is_ok_and(|end| end.success())
    }

    /// Whether it runs, though nobody ended it.
    pub(crate) fn has_died(&mut self) -> bool {
        self.process.as_mut().is_some_and(|process| !matches!(process.try_wait(), Ok(None)))
    }

    pub(crate) fn is_of_measured_age(&self) -> bool {
        MEASURED.contains(&self.started.elapsed())
    }

    /// Memory in use, in KiB.
    pub(crate) fn memory(&self) -> Option<u64> {
        let process = self.process.as_ref()?;
        let path = Path::new("/proc").join(process.id().to_string()).join("status");
        let status = std::fs::read_to_string(path).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        line.trim().trim_end_matches("kB").trim().parse().ok()
    }
}

impl Drop for Replica {
    fn drop(&mut self) {
        self.kill();
    }
}
