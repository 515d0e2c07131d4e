//! Killed amid launches. These wait the longest, so their module comes early in the alphabet, which
//! is the order in which tests start.

use crate::support::script;
use fleet_emulators::aws::{Faults, Moto, Proxy};
use std::time::Duration;

/// Side by side: what is not sent again is waited for until its absence is proof, five minutes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs moto: cargo xtask test aws"]
async fn launches_in_doubt_that_nobody_wants_any_more_are_not_sent_again() {
    let fewer = |share| ["--share", share, "--target", "4", "--budget", "100", "--wanted", "4"];
    let cheaper = |share| ["--share", share, "--target", "12", "--budget", "0.11", "--wanted", "1"];
    let mut lanes = tokio::task::JoinSet::new();
    for share in ["34", "100"] {
        lanes.spawn(crash(true, fewer(share)));
        lanes.spawn(crash(true, cheaper(share)));
    }
    lanes.join_all().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs moto: cargo xtask test aws"]
async fn launches_whose_answers_are_lost_are_found_and_not_added_to() {
    crash(false, ["--share", "34", "--target", "4", "--budget", "100", "--wanted", "4"]).await;
    crash(false, ["--share", "34", "--target", "12", "--budget", "0.11", "--wanted", "1"]).await;
}

/// Killed while launches are on their way, which get in or not, and then another spec.
async fn crash(lost: bool, then: [&'static str; 8]) {
    let moto = Moto::start().await.expect("moto");
    let proxy = Proxy::start(moto.port()).await.expect("a proxy");
    let before = Proxy::start(moto.port()).await.expect("a proxy");
    let broken = ("RunInstances".to_owned(), "InternalError".to_owned());
    let refused = Some(broken).filter(|_| lost).into_iter().collect();
    before.set(Faults { refused, latency: Duration::from_secs(2), ..Faults::default() });
    let url = before.url();
    let mut words = vec!["--before", &url];
    words.extend(then);
    words.extend(lost.then_some("--lost"));
    script("crash.py", &moto, &proxy.url(), &words).await;
}
