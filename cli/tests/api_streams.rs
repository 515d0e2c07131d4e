//! A thousand listeners at once.

mod support;

use serde_json::json;
use std::time::{Duration, Instant};
use support::server::Server;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const LISTENERS: usize = 1000;
/// Time in which nothing happens, to see what listeners cost then.
const QUIET: Duration = Duration::from_secs(3);

/// How many files this process may open.
fn files() -> usize {
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let line = limits.lines().find(|line| line.starts_with("Max open files"));
    line.and_then(|line| line.split_whitespace().nth(3)?.parse().ok()).unwrap_or(usize::MAX)
}

/// Memory in KiB, and milliseconds of work, of a process.
fn cost(pid: u32) -> (u64, u64) {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("a process");
    let line = status.lines().find(|line| line.starts_with("VmRSS")).expect("memory");
    let memory = line.split_whitespace().nth(1).expect("a number").parse().expect("a number");
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).expect("a process");
    let after_name = stat.rsplit_once(')').expect("a name").1;
    let words: Vec<u64> =
        after_name.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    // Without the name and the state, user and system time are the 11th and 12th, in hundredths of a second.
    (memory, (words[10] + words[11]) * 10)
}

async fn listen(server: &Server) -> TcpStream {
    let mut stream = TcpStream::connect(server.address).await.expect("a connection");
    let ask = format!("GET /v1/events HTTP/1.1\r\nhost: {}\r\n\r\n", server.address);
    stream.write_all(ask.as_bytes()).await.expect("a request");
    let head = until(&mut stream, "\r\n\r\n").await;
    assert!(head.starts_with("HTTP/1.1 200") && head.contains("text/event-stream"), "{head}");
    stream
}

/// Reads until some words came.
async fn until(stream: &mut TcpStream, words: &str) -> String {
    let mut heard = String::new();
    let mut buffer = [0; 1024];
    while !heard.contains(words) {
        let read = stream.read(&mut buffer).await.expect("bytes");
        assert!(read > 0, "it ended: {heard}");
        heard.push_str(&String::from_utf8_lossy(&buffer[..read]));
    }
    heard
}

#[test]
fn a_thousand_listeners_hear_all_news() {
    if files() < LISTENERS + 200 {
        fleet_testkit::skipped("a process may open too few files here: ulimit -n 4096");
        return;
    }
    let (place, specs) = Server::ground();
    let server = Server::start(&place, &specs, &["--speed", "0", "--rate", "100000"]);
    server.settled(&[]);
    let (memory, _) = cost(server.pid());
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.expect("a runtime").block_on(async {
        let mut listeners = Vec::new();
        for _ in 0..LISTENERS {
            listeners.push(listen(&server).await);
        }
        let (with, busy) = cost(server.pid());
        tokio::time::sleep(QUIET).await;
        let quiet = cost(server.pid()).1 - busy;
        let start = Instant::now();
        let path = "/v1/fleets/quickstart/reconcile";
        assert_eq!(server.post(path, &json!({ "reason": "news for all" })).status, 202);
        let heard = listeners.into_iter().map(|mut listener| {
            tokio::spawn(async move {
                let heard = until(&mut listener, "event: looked").await;
                assert!(!heard.contains("event: reload"), "{heard}");
                listener
            })
        });
        let heard = tokio::time::timeout(Duration::from_secs(30), futures::future::join_all(heard)).await;
        let heard = heard.expect("all hear it");
        assert!(heard.iter().all(Result::is_ok));
        let took = start.elapsed();
        fleet_testkit::say(&format!(
            "{LISTENERS} listeners: {} KiB each, {quiet} ms of work in {QUIET:?} of quiet, all news within {took:?}",
            with.saturating_sub(memory) / LISTENERS as u64
        ));
        // A listener costs its buffers and no more.
        assert!(with.saturating_sub(memory) < 100 * LISTENERS as u64, "{memory} KiB before, {with} KiB with them");
        assert!(quiet < 1500, "{quiet} ms of work for nothing");
        // There is room for others beside them, and when they are gone.
        assert_eq!(server.get("/v1/fleets").status, 200);
        drop(heard);
        drop(listen(&server).await);
    });
}
