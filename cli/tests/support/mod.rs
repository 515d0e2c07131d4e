//! A folder with a state and simulated clouds, the real binary, and a look at the clouds' truth.
#![allow(dead_code, reason = "each test file uses its part")]

pub(crate) mod judge;
pub(crate) mod server;

use fleet_model::{Catalog, FleetUid, Machine, SlotId};
use fleet_sim::{Preset, Settings, Sim};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

pub(crate) static CATALOG: LazyLock<Arc<Catalog>> =
    LazyLock::new(|| Arc::new(fleet_catalog::embedded()));

/// The repository's root.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().expect("the root")
}

pub(crate) struct Place {
    dir: tempfile::TempDir,
    pub(crate) sim: Sim,
    state: String,
    env: Vec<(String, String)>,
}

impl Place {
    /// A new world.
    pub(crate) fn new(seed: u64, preset: Preset, latency: Duration) -> Self {
        let dir = tempfile::tempdir().expect("a folder");
        let settings = Settings { seed, preset, latency };
        let sim = Sim::create(&dir.path().join("state/sim"), settings, CATALOG.clone(), false)
            .expect("a world");
        let state = dir.path().join("state").to_str().expect("a path").to_owned();
        Place { dir, sim, state, env: Vec::new() }
    }

    /// The same world with its state elsewhere.
    pub(crate) fn with_state(self, state: String, env: Vec<(String, String)>) -> Self {
        Place { state, env, ..self }
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.dir.path().join(name);
        std::fs::write(&path, text).expect("written");
        path
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fleet"));
        command
            // First: what comes after `--` is not for us.
            .args(["--sim", "--catalog", "embedded", "--state", &self.state])
            .args(args)
            .current_dir(self.dir.path())
            .env_remove("FLEET_STATE")
            .env("FLEET_SIM_DIR", self.dir.path().join("state/sim"))
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .env("NO_COLOR", "1")
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Output {
        let output = self.command(args).output().expect("fleet runs");
        judge::judge(args, &output);
        output
    }

    /// Runs a command that must end with a code; gives its standard output.
    pub(crate) fn expect(&self, code: i32, args: &[&str]) -> String {
        let output = self.run(args);
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        assert_eq!(output.status.code(), Some(code), "fleet {args:?}\n{out}\n{err}");
        out
    }

    /// Runs a command on a terminal of its own, with answers typed into it; what it showed.
    pub(crate) fn on_a_terminal(
        &self,
        args: &[&str],
        env: &[(&str, &str)],
        answers: &str,
    ) -> String {
        let fleet = self.command(args);
        let words: Vec<String> = std::iter::once(fleet.get_program())
            .chain(fleet.get_args())
            .map(|word| format!("'{}'", word.to_str().expect("text")))
            .collect();
        let mut script = Command::new("script");
        script.args(["-qec", &words.join(" "), "/dev/null"]).current_dir(self.dir.path());
        script.envs(fleet.get_envs().filter_map(|(name, value)| Some((name, value?))));
        script.env_remove("COLUMNS").envs(env.iter().copied());
        script.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut script = script.spawn().expect("script, of util-linux");
        script.stdin.take().expect("a pipe").write_all(answers.as_bytes()).expect("answers");
        text(&script.wait_with_output().expect("an end").stdout)
    }

    pub(crate) fn start(&self, args: &[&str]) -> Child {
        let mut command = self.command(args);
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("fleet starts")
    }

    /// Machines that cost money, whether the clouds list them yet or not.
    pub(crate) fn live(&self) -> Vec<Machine> {
        let machines = self.sim.machines().expect("the truth");
        machines.into_iter().filter(|machine| machine.state.is_live()).collect()
    }

    /// Never more than wanted, but for the surge: a machine that its cloud is taking back may stand
    /// beside its replacement for as long as the notice lasts.
    pub(crate) fn assert_not_too_many(&self, wanted: usize) {
        let live = self.live();
        let leaving = live.iter().filter(|machine| machine.notice.is_some()).count();
        let most = wanted + leaving;
        assert!(live.len() <= most, "{} machines, {wanted} wanted, {leaving} leaving", live.len());
    }

    /// No slot has two live machines.
    pub(crate) fn assert_one_per_slot(&self) {
        let mut slots: BTreeMap<(FleetUid, SlotId), Vec<String>> = BTreeMap::new();
        for machine in self.live() {
            let owner = machine.owner.expect("all are ours");
            slots.entry((owner.fleet, owner.slot)).or_default().push(machine.id.to_string());
        }
        slots.retain(|_, machines| machines.len() > 1);
        assert!(slots.is_empty(), "slots with more than one machine: {slots:?}");
    }
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A fleet spread over clouds with different habits: batches with tokens (AWS), operations (GCP,
/// Azure), one machine per request and no token at all (Lambda).
pub(crate) const MORTAL: &str = "\
apiVersion: fleet/v1
kind: Fleet
metadata: { name: mortal }
spec:
  capacity: { unit: instances, target: 48, base: { onDemand: 16 } }
  instances: { families: [m6i, n2, Standard_D2s_v5, Standard_D4s_v5, Standard_D8s_v5, cpu_4x] }
  placement:
    strategy: prioritized
    priorities: [cpu_4x, Standard_D*, n2, m6i]
    clouds:
      - { provider: aws, regions: [us-east-1] }
      - { provider: gcp, regions: [us-central1] }
      - { provider: azure, regions: [eastus] }
      - { provider: lambda, regions: [us-*] }
    spread: { maxSharePerPool: 10%, maxSharePerProvider: 30% }
";

/// The spec that the project must always accept as it stands.
pub(crate) const TRAIN: &str = include_str!("../../../engine/spec/tests/suite/train.yaml");
