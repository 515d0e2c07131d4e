//! What befalls machines of Azure and Google behind the engine's back, through the binary.

use async_trait::async_trait;
use fleet_fakes::Server;
use fleet_fakes::azure::{AzureCloud, GROUP, SUBSCRIPTIONS, TOKEN};
use fleet_fakes::gcp::Fake;
use fleet_model::Timestamp;
use fleet_provider::Clock;
use fleet_testkit::{fleet, say};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tempfile::TempDir;
use tokio::process::Command;

/// A clock so far behind: what is made by it has long been there.
struct Behind(Duration);

#[async_trait]
impl Clock for Behind {
    fn now(&self) -> Timestamp {
        Timestamp::now().checked_sub(self.0).unwrap_or_default()
    }

    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}

/// Longer than a machine may take to come up.
const LONG_AGO: Duration = Duration::from_secs(3 * 3600);

fn azure_spec(target: u32, market: &str) -> String {
    let subscription = SUBSCRIPTIONS[0];
    let subnet = |region: &str| {
        format!(
            "/subscriptions/{subscription}/resourceGroups/net/providers/Microsoft.Network\
             /virtualNetworks/net-{region}/subnets/default"
        )
    };
    format!(
        "
apiVersion: fleet/v1
kind: Fleet
metadata: {{ name: hapless }}
spec:
  capacity: {{ unit: instances, target: {target}, {market} }}
  instances: {{ types: [Standard_D2s_v5, Standard_D4s_v5] }}
  placement:
    clouds: [{{ provider: azure, regions: [eastus, westus2], accounts: [{subscription}] }}]
    spread: {{ maxSharePerPool: 50% }}
  budget: {{ hourlyUsd: 100 }}
  template:
    key: {{ azure: laptop }}
    subnets: {{ azure: [{}, {}] }}
",
        subnet("eastus"),
        subnet("westus2")
    )
}

fn google_spec(target: u32, market: &str) -> String {
    format!(
        "
apiVersion: fleet/v1
kind: Fleet
metadata: {{ name: hapless }}
spec:
  capacity: {{ unit: instances, target: {target}, {market} }}
  instances: {{ types: [n2-standard-4, e2-standard-4] }}
  placement:
    clouds: [{{ provider: gcp, regions: [us-central1, us-east1] }}]
    spread: {{ maxSharePerPool: 50% }}
  budget: {{ hourlyUsd: 100 }}
"
    )
}

const ON_DEMAND: &str = "base: { onDemand: 100% }";
const SPOT: &str = "base: { onDemand: 0 }, burst: { spot: 100% }";

/// The binary in a folder of its own.
struct Run {
    folder: TempDir,
    variables: Vec<(&'static str, String)>,
}

impl Run {
    fn new(spec: &str, variables: Vec<(&'static str, String)>) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("fleet.yaml"), spec).expect("a spec");
        Run { folder, variables }
    }

    fn azure(spec: &str, endpoint: &str) -> Self {
        let variables = vec![
            ("FLEET_AZURE_ENDPOINT", endpoint.to_owned()),
            ("FLEET_AZURE_PRICES_ENDPOINT", endpoint.to_owned()),
            ("FLEET_AZURE_TOKEN", TOKEN.to_owned()),
            ("FLEET_AZURE_RESOURCE_GROUP", GROUP.to_owned()),
        ];
        Run::new(spec, variables)
    }

    fn google(spec: &str, endpoint: &str) -> Self {
        let variables = vec![
            ("FLEET_GCP_ENDPOINT", endpoint.to_owned()),
            ("FLEET_GCP_PROJECT", "test-project".to_owned()),
        ];
        Run::new(spec, variables)
    }

    /// Its exit code, and all that it said.
    async fn said(&self, args: &[&str]) -> (i32, String, String) {
        let mut command = Command::new(fleet());
        command.args(args).current_dir(self.folder.path()).env_clear();
        command.env("HOME", self.folder.path()).envs(self.variables.iter().cloned());
        let output = command.output().await.expect("fleet");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code().unwrap_or(-1), text(&output.stdout), text(&output.stderr))
    }

    async fn done(&self, args: &[&str]) {
        let (code, out, errors) = self.said(args).await;
        assert_eq!(code, 0, "{args:?}: {out}\n{errors}");
    }

    async fn reconcile(&self) -> Value {
        let (code, out, errors) = self.said(&["reconcile"]).await;
        let line: Value = serde_json::from_str(out.trim()).unwrap_or_default();
        assert_eq!(line["exitCode"], code, "{out}\n{errors}");
        line
    }

    /// How likely one more machine of each spot pool is believed to last a day, in per cent.
    async fn lives(&self) -> BTreeMap<String, f64> {
        let (code, out, errors) = self.said(&["explain", "--top", "1000", "-o", "json"]).await;
        assert_eq!(code, 0, "{out}\n{errors}");
        let explained: Value = serde_json::from_str(&out).expect("JSON");
        let pools = explained["fleets"][0]["pools"].as_array().cloned().unwrap_or_default();
        let day = |pool: &Value| {
            let lasts = pool["odds"]["lasts"].as_array()?.last()?["percent"].as_f64()?;
            Some((pool["pool"].as_str()?.to_owned(), lasts))
        };
        pools.iter().filter_map(day).collect()
    }

    /// The interruptions that are written down of each pool, in millionths.
    fn interruptions(&self) -> BTreeMap<String, u64> {
        let folder = self.folder.path().join(".fleet/beliefs/hapless");
        let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let newest = files.map(|file| file.path()).max().expect("beliefs");
        let beliefs: BTreeMap<String, Value> =
            serde_json::from_slice(&std::fs::read(newest).expect("beliefs")).expect("JSON");
        let count = |belief: &Value| belief["interruptionsPpm"].as_u64().unwrap_or_default();
        beliefs.iter().map(|(pool, belief)| (pool.clone(), count(belief))).collect()
    }
}

fn holds(line: &Value) -> BTreeSet<String> {
    let held = line["fleets"][0]["held"].as_array().cloned().unwrap_or_default();
    held.iter().filter_map(|hold| hold["is"].as_str().map(str::to_owned)).collect()
}

/// Ids of machines that stand. What is being deleted is on its way out.
fn standing(server: &Server<AzureCloud>) -> BTreeSet<String> {
    let state = server.state();
    let live = state["live"].as_array().cloned().unwrap_or_default();
    let stays = |vm: &&Value| vm["properties"]["provisioningState"] != "Deleting";
    let id = |vm: &Value| vm["properties"]["vmId"].as_str().map(str::to_owned);
    live.iter().filter(stays).filter_map(id).collect()
}

/// The most that stood at once, looked at all the time.
struct Watch {
    most: Arc<AtomicUsize>,
    looking: tokio::task::JoinHandle<()>,
}

impl Watch {
    fn start(server: &Arc<Server<AzureCloud>>) -> Self {
        let (most, server) = (Arc::new(AtomicUsize::new(0)), server.clone());
        let seen = most.clone();
        let looking = tokio::spawn(async move {
            loop {
                seen.fetch_max(standing(&server).len(), Ordering::Relaxed);
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        });
        Watch { most, looking }
    }

    fn end(self) -> usize {
        self.looking.abort();
        self.most.load(Ordering::Relaxed)
    }
}

async fn azure(clock: Behind) -> Arc<Server<AzureCloud>> {
    let server = Server::start(AzureCloud::quick(), Arc::new(clock), 0).await;
    Arc::new(server.expect("a port"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs the fleet binary: cargo xtask test clouds"]
async fn machines_that_fail_while_they_run_are_replaced_one_by_one() {
    let server = azure(Behind(LONG_AGO)).await;
    let run = Run::azure(&azure_spec(10, ON_DEMAND), &server.url());
    run.done(&["apply", "--yes"]).await;
    let first = standing(&server);
    assert_eq!(first.len(), 10);
    server.meddle(|world| world.sicken(2, "VMExtensionProvisioningError"));
    let watch = Watch::start(&server);
    let mut left = Vec::new();
    for _ in 0..20 {
        let line = run.reconcile().await;
        assert!(!holds(&line).contains("frozen"), "{line}");
        left.push(standing(&server).intersection(&first).count());
    }
    let most = watch.end();
    say(&format!("first machines left after each of 20 rounds: {left:?}; at most {most} at once"));
    assert!(most <= 11, "{most} machines stood at once");
    assert!(left.is_sorted_by(|a, b| a >= b), "{left:?}");
    assert_eq!((left.last(), standing(&server).len()), (Some(&8), 10));

    // All at once is no matter of single machines: a policy of the subscription, say.
    server.meddle(|world| world.sicken(usize::MAX, "VMExtensionProvisioningError"));
    let before = standing(&server);
    for _ in 0..3 {
        let line = run.reconcile().await;
        assert!(holds(&line).contains("manyUnhealthy"), "{line}");
    }
    assert_eq!(standing(&server), before);
    run.done(&["destroy", "--yes"]).await;
    assert_eq!(server.state()["live"].as_array().map(Vec::len), Some(0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs the fleet binary: cargo xtask test clouds"]
async fn replacements_that_never_come_up_are_tried_three_times() {
    let server = azure(Behind(LONG_AGO)).await;
    let run = Run::azure(&azure_spec(10, ON_DEMAND), &server.url());
    run.done(&["apply", "--yes"]).await;
    let first = standing(&server);
    server.meddle(|world| world.sicken(2, "VMExtensionProvisioningError"));
    let watch = Watch::start(&server);
    let (mut made, mut held) = (Vec::new(), BTreeSet::new());
    for _ in 0..10 {
        held = holds(&run.reconcile().await);
        made.push(server.state()["made"].as_u64().unwrap_or_default() - 10);
        server.meddle(|world| world.sicken_since(10, "OSProvisioningTimedOut"));
    }
    let (most, after) = (watch.end(), standing(&server));
    let old = after.intersection(&first).count();
    say(&format!("launches after each of 10 rounds: {made:?}; at most {most} at once; {old} old"));
    assert!(most <= 11, "{most} machines stood at once");
    assert_eq!(made.last(), Some(&3), "{made:?}");
    assert!(held.contains("bootFailures"), "{held:?}");
    // What worked once goes on until something works in its place, and what never did is gone.
    assert_eq!((old >= 8, after.len()), (true, old), "{after:?}");
    run.done(&["destroy", "--yes"]).await;
}

/// A whole fleet that does not come up: ten machines, and not ten more in every round.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs the fleet binary: cargo xtask test clouds"]
async fn a_fleet_that_never_comes_up_rests() {
    let server = azure(Behind(Duration::ZERO)).await;
    let run = Run::azure(&azure_spec(10, ON_DEMAND), &server.url());
    let watch = Watch::start(&server);
    let (mut made, mut held) = (Vec::new(), BTreeSet::new());
    for _ in 0..8 {
        held = holds(&run.reconcile().await);
        made.push(server.state()["made"].as_u64().unwrap_or_default());
        server.meddle(|world| world.sicken_since(0, "OSProvisioningTimedOut"));
    }
    let (most, after) = (watch.end(), standing(&server).len());
    say(&format!(
        "launches after each of 8 rounds: {made:?}; at most {most} at once, {after} left"
    ));
    assert!(most <= 11, "{most} machines stood at once");
    assert_eq!(made.last(), Some(&10), "{made:?}");
    assert!(held.contains("bootFailures"), "{held:?}");
    run.done(&["destroy", "--yes"]).await;
    assert_eq!(server.state()["live"].as_array().map(Vec::len), Some(0));
}

/// What a storm leaves behind in the books: pools that lost machines are trusted less than before,
/// and no pool more.
async fn judge(run: &Run, before: &BTreeMap<String, f64>, line: &Value, lost: u64) -> String {
    assert_eq!(line["fleets"][0]["created"], lost, "{line}");
    assert_eq!(holds(line), BTreeSet::new(), "{line}");
    assert_eq!(line["exitCode"], 0, "{line}");
    let after = run.lives().await;
    let struck: Vec<(String, u64)> =
        run.interruptions().into_iter().filter(|(_, count)| *count > 0).collect();
    assert!(!struck.is_empty(), "nothing is written down");
    let mut told = Vec::new();
    for (pool, count) in &struck {
        let lives = [before.get(pool), after.get(pool)];
        told.push(format!("{pool}: {count} ppm, lasts a day: {lives:?} %"));
        let [Some(was), Some(is)] = lives else { panic!("{told:?}") };
        assert!(is < was, "{told:?}");
    }
    run.done(&["plan", "--detailed-exitcode"]).await;
    told.join("; ")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs the fleet binary: cargo xtask test clouds"]
async fn a_spot_storm_on_azure_is_answered_by_one_reconcile() {
    let server = azure(Behind(LONG_AGO)).await;
    let run = Run::azure(&azure_spec(20, SPOT), &server.url());
    run.done(&["apply", "--yes"]).await;
    let (first, before) = (standing(&server), run.lives().await);
    assert_eq!(first.len(), 20);
    assert_eq!(server.meddle(|world| world.evict(8, false)), 8);
    let line = run.reconcile().await;
    let after = standing(&server);
    assert_eq!((after.len(), after.intersection(&first).count()), (20, 12), "{line}");
    let told = judge(&run, &before, &line, 8).await;
    say(&format!("azure: 8 of 20 taken back, 8 launched by one reconcile; {told}"));
    run.done(&["destroy", "--yes"]).await;
    assert_eq!(server.state()["live"].as_array().map(Vec::len), Some(0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs the fleet binary: cargo xtask test clouds"]
async fn a_spot_storm_on_google_is_answered_by_one_reconcile() {
    let fake = Fake::start().await.expect("a port");
    let run = Run::google(&google_spec(20, SPOT), &fake.url());
    run.done(&["apply", "--yes"]).await;
    let (first, before) = (fake.names(), run.lives().await);
    assert_eq!(first.len(), 20);
    first.iter().take(8).for_each(|name| fake.preempt(name));
    fake.advance(Duration::from_secs(31));
    assert_eq!(fake.count().0, 12);
    let line = run.reconcile().await;
    assert_eq!(fake.count().0, 20, "{line}");
    let told = judge(&run, &before, &line, 8).await;
    say(&format!("gcp: 8 of 20 taken back, 8 launched by one reconcile; {told}"));
    run.done(&["destroy", "--yes"]).await;
    assert_eq!(fake.count(), (0, 0));
}
