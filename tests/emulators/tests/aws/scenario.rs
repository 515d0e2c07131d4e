//! The whole command against moto, looked at from outside by Amazon's own Python client.

use crate::support::script;
use fleet_emulators::aws::{Faults, Moto, Proxy};
use fleet_testkit::{fleet, say};
use std::time::Duration;
use tokio::process::Command;

#[tokio::test]
#[ignore = "needs moto: cargo xtask test aws"]
async fn a_hundred_machines_in_three_regions_come_and_go() {
    let moto = Moto::start().await.expect("moto");
    script("scenario.py", &moto, &moto.url(), &[]).await;
}

#[tokio::test]
#[ignore = "needs moto: cargo xtask test aws"]
async fn a_flexible_fleet_goes_around_a_pool_that_is_full() {
    let moto = Moto::start().await.expect("moto");
    let proxy = Proxy::start(moto.port()).await.expect("a proxy");
    // The first that a plan asks: the cheapest, in the first zone.
    let full = [("us-east-1b".to_owned(), "c5.large".to_owned())].into();
    proxy.set(Faults { full, ..Faults::default() });
    script("flexible.py", &moto, &proxy.url(), &["--full", "use1-az1/c5.large"]).await;
    assert!(proxy.calls("CreateFleet") > 0 && proxy.calls("RunInstances") == 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs moto: cargo xtask test aws"]
async fn killed_and_resumed_flexible_fleets_have_no_duplicates_and_no_orphans() {
    kill_and_resume("flexible", 9).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs moto: cargo xtask test aws"]
async fn killed_and_resumed_there_are_no_duplicates_and_no_orphans() {
    kill_and_resume("exact", 21).await;
}

/// Some fleets at a time, each on a server of its own: a round is mostly waiting.
async fn kill_and_resume(fulfilment: &'static str, rounds: u32) {
    const LANES: u32 = 3;
    let asked = std::env::var("FLEET_ROUNDS").ok().and_then(|rounds| rounds.parse().ok());
    let rounds = asked.unwrap_or(rounds).div_ceil(LANES).to_string();
    let lane = |seed: u32, rounds: String| async move {
        let moto = Moto::start().await.expect("moto");
        let proxy = Proxy::start(moto.port()).await.expect("a proxy");
        proxy.set(Faults { latency: Duration::from_millis(150), ..Faults::default() });
        let seed = seed.to_string();
        let more = ["--rounds", &rounds, "--fulfilment", fulfilment, "--seed", &seed];
        script("rounds.py", &moto, &proxy.url(), &more).await;
    };
    let mut lanes = tokio::task::JoinSet::new();
    for seed in 1..=LANES {
        lanes.spawn(lane(seed, rounds.clone()));
    }
    lanes.join_all().await;
}

/// The rates that EC2 documents for launches: at once, and per second after that.
const LAUNCHES: (f64, f64) = (5.0, 2.0);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs moto: cargo xtask test aws"]
async fn a_thousand_machines_are_paced_by_the_clouds_own_limits() {
    let moto = Moto::start().await.expect("moto");
    let proxy = Proxy::start(moto.port()).await.expect("a proxy");
    proxy.set(Faults { limited: true, ..Faults::default() });
    script("pace.py", &moto, &proxy.url(), &[]).await;
    let (took, launches) = proxy.launching();
    let least = (launches as f64 - LAUNCHES.0) / LAUNCHES.1;
    let over = took.as_secs_f64() / least;
    say(&format!("{launches} launches in {took:.1?}; the buckets allow {least:.1} s: x{over:.3}"));
    assert!(launches >= 100, "{launches} launches are no test");
    assert!(over <= 1.05, "{took:?} for {launches} launches");
    assert_eq!(proxy.turned_away(), 0, "and never too fast");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs moto: cargo xtask test aws"]
async fn a_storm_of_throttling_is_answered_with_little_more() {
    let calm = {
        let moto = Moto::start().await.expect("moto");
        let proxy = Proxy::start(moto.port()).await.expect("a proxy");
        script("storm.py", &moto, &proxy.url(), &["--target", "400"]).await;
        proxy.all_calls()
    };
    let moto = Moto::start().await.expect("moto");
    let proxy = std::sync::Arc::new(Proxy::start(moto.port()).await.expect("a proxy"));
    let weather = proxy.clone();
    // From the tenth launch on, for half a minute, every call is turned away.
    let storm = tokio::spawn(async move {
        while weather.calls("RunInstances") < 10 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        weather.set(Faults { throttled: true, ..Faults::default() });
        tokio::time::sleep(Duration::from_secs(30)).await;
        weather.set(Faults::default());
    });
    script("storm.py", &moto, &proxy.url(), &["--target", "400"]).await;
    storm.await.expect("it passed");
    let (calls, away) = (proxy.all_calls(), proxy.turned_away());
    let amplification = calls as f64 / calm as f64;
    say(&format!(
        "{calm} calls in calm, {calls} in the storm, {away} turned away: x{amplification:.2}"
    ));
    assert!(away >= 5, "there was a storm: {away}");
    assert!(amplification <= 1.2, "{calls} calls for {calm}");
}

#[tokio::test]
#[ignore = "needs moto: cargo xtask test aws"]
async fn a_fleets_life_up_down_another_template_and_an_interruption() {
    let moto = Moto::start().await.expect("moto");
    script("life.py", &moto, &moto.url(), &[]).await;
}

#[tokio::test]
#[ignore = "needs moto: cargo xtask test aws"]
async fn one_fleet_stands_in_two_accounts() {
    let moto = Moto::start().await.expect("moto");
    script("accounts.py", &moto, &moto.url(), &[]).await;
}

/// The pool that a plan asks first, as moto and as a spec call it.
const FIRST: [&str; 3] = ["us-east-1b", "c5.large", "use1-az1/c5.large"];

#[tokio::test]
#[ignore = "needs moto: cargo xtask test aws"]
async fn a_full_pool_says_so_with_500_and_the_fleet_stands_elsewhere() {
    let moto = Moto::start().await.expect("moto");
    let proxy = Proxy::start(moto.port()).await.expect("a proxy");
    let full = [(FIRST[0].to_owned(), FIRST[1].to_owned())].into();
    proxy.set(Faults { full, ..Faults::default() });
    let words = ["--pool", FIRST[2], "--status", "500", "--code", "InsufficientInstanceCapacity"];
    script("refused.py", &moto, &proxy.url(), &words).await;
}

#[tokio::test]
#[ignore = "needs moto: cargo xtask test aws"]
async fn a_pool_that_refuses_in_words_nobody_knows_is_gone_around() {
    let moto = Moto::start().await.expect("moto");
    let proxy = Proxy::start(moto.port()).await.expect("a proxy");
    let pool = (FIRST[0].to_owned(), FIRST[1].to_owned());
    for status in [400, 404, 422] {
        let code = format!("Unheard{status}");
        let strange = [(pool.clone(), (status, code.clone()))].into();
        proxy.set(Faults { strange, ..Faults::default() });
        let words = ["--pool", FIRST[2], "--status", &status.to_string(), "--code", &code];
        script("refused.py", &moto, &proxy.url(), &words).await;
    }
}

#[tokio::test]
#[ignore = "needs moto: cargo xtask test aws"]
async fn stopped_machines_are_replaced_and_ended() {
    let moto = Moto::start().await.expect("moto");
    let proxy = Proxy::start(moto.port()).await.expect("a proxy");
    script("stopped.py", &moto, &proxy.url(), &[]).await;
}

#[tokio::test]
#[ignore = "needs moto: cargo xtask test aws"]
async fn another_template_stays_inside_budget_and_surge_at_every_moment() {
    let moto = Moto::start().await.expect("moto");
    let proxy = Proxy::start(moto.port()).await.expect("a proxy");
    script("change.py", &moto, &proxy.url(), &[]).await;
}

#[tokio::test]
#[ignore = "needs moto: cargo xtask test aws"]
async fn a_rollout_of_sixty_is_never_short_and_stops_at_a_bad_canary() {
    let moto = Moto::start().await.expect("moto");
    let proxy = Proxy::start(moto.port()).await.expect("a proxy");
    script("rollout.py", &moto, &proxy.url(), &[]).await;
}

#[tokio::test]
#[ignore = "needs moto: cargo xtask test aws"]
async fn other_labels_reach_machines_that_run() {
    let moto = Moto::start().await.expect("moto");
    let proxy = Proxy::start(moto.port()).await.expect("a proxy");
    script("labels.py", &moto, &proxy.url(), &[]).await;
}

const THREE: &str = "
apiVersion: fleet/v1
kind: Fleet
metadata: { name: three }
spec:
  capacity: { unit: instances, target: 3, base: { onDemand: 100% } }
  instances: { types: [m5.large] }
  placement: { clouds: [{ provider: aws, regions: [us-east-1], zones: [use1-az4] }] }
";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs moto: cargo xtask test aws"]
async fn a_broken_answer_freezes_its_slots_and_is_told() {
    let moto = Moto::start().await.expect("moto");
    let proxy = Proxy::start(moto.port()).await.expect("a proxy");
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("fleet.yaml"), THREE).expect("a spec");
    let run = async |args: &[&str]| {
        let mut command = Command::new(fleet());
        command.args(args).current_dir(folder.path());
        command.env("AWS_ENDPOINT_URL", proxy.url()).env("HOME", folder.path());
        let output = command.output().await.expect("fleet");
        let said = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8_lossy(&said).into_owned())
    };
    let refused = [("RunInstances".to_owned(), "InternalError".to_owned())].into();
    proxy.set(Faults { refused, ..Faults::default() });
    let (exit, said) = run(&["apply", "--yes"]).await;
    assert_ne!(exit, Some(0), "{said}");
    assert!(said.contains("InternalError"), "{said}");
    let sent = proxy.calls("RunInstances");
    let (_, status) = run(&["status", "-o", "json"]).await;
    assert!(!status.contains("\"inDoubt\": []"), "{status}");
    // Nothing else fills the slots meanwhile; the same request with the same token settles it.
    proxy.set(Faults::default());
    let (exit, said) = run(&["apply", "--yes"]).await;
    assert_eq!(exit, Some(0), "{said}");
    assert_eq!(proxy.calls("RunInstances"), sent + 1, "sent again once");
    let (exit, said) = run(&["plan", "--detailed-exitcode"]).await;
    assert_eq!(exit, Some(0), "{said}");
}

#[tokio::test]
#[ignore = "needs moto: cargo xtask test aws"]
async fn an_account_is_looked_over_and_its_price_list_read() {
    let moto = Moto::start().await.expect("moto");
    script("doctor.py", &moto, &moto.url(), &[]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs moto: cargo xtask test aws"]
async fn a_right_that_is_missing_is_named() {
    let moto = Moto::start().await.expect("moto");
    let proxy = Proxy::start(moto.port()).await.expect("a proxy");
    for action in ["RunInstances", "DescribeInstances"] {
        let refused = [(action.to_owned(), "UnauthorizedOperation".to_owned())].into();
        proxy.set(Faults { refused, ..Faults::default() });
        let named = format!("ec2:{action}");
        script("doctor.py", &moto, &proxy.url(), &["--refused", &named]).await;
    }
}
