//! Notifications reach a receiver: signed, once, again after a failure, and again after a crash.

mod support;

use fleet_sim::Preset;
use fleet_testkit::{Answer, Listener, Request};
use std::io::Write;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use support::{Place, root, text};

const SECRET: &str = "correct-horse";
const PATIENCE: Duration = Duration::from_secs(90);

/// Answers with what it is told to, in turn, and then always with 200.
struct Receiver {
    listener: Listener,
    taken: Arc<Mutex<Vec<Request>>>,
}

impl Receiver {
    async fn start(answers: &[u16]) -> Self {
        let taken = Arc::new(Mutex::new(Vec::new()));
        let (kept, answers) = (taken.clone(), answers.to_vec());
        let listener = Listener::start(0, move |request: Request| {
            let mut kept = kept.lock().expect("a list");
            let status = answers.get(kept.len()).copied().unwrap_or(200);
            kept.push(request);
            let answer = Answer::empty(status).header("location", "http://127.0.0.1:9/elsewhere");
            async move { Some(answer) }
        });
        Receiver { listener: listener.await.expect("a port"), taken }
    }

    fn requests(&self) -> Vec<Request> {
        self.taken.lock().expect("a list").clone()
    }

    async fn wait_for(&self, count: usize) -> Vec<Request> {
        let start = Instant::now();
        while self.requests().len() < count {
            assert!(start.elapsed() < PATIENCE, "{} of {count} came", self.requests().len());
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        self.requests()
    }
}

struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn place(url: &str, more: &str) -> Place {
    let place = Place::new(11, Preset::Calm, Duration::ZERO);
    std::fs::create_dir_all(place.path("specs")).expect("a folder");
    let quickstart = root().join("fleet-specs/quickstart.yaml");
    std::fs::copy(quickstart, place.path("specs/quickstart.yaml")).expect("a spec");
    let policy = format!(
        "apiVersion: fleet/v1\nkind: Policy\nmetadata: {{ name: house }}\nspec:\n  notify:\n    \
         - {{ name: on-call, url: \"{url}/hook\", secretFrom: {{ env: HOOK_SECRET }}{more} }}\n"
    );
    place.write("specs/policy.yaml", &policy);
    place
}

/// Starts a controller, and waits until its specs are in force: rules come with them.
fn start(place: &Place) -> Running {
    let _ = std::fs::remove_file(place.path("log"));
    let mut command = place.command(&["controller", "specs", "--listen", "none"]);
    let log = std::fs::File::options().create(true).append(true).open(place.path("log"));
    let command = command.env("HOOK_SECRET", SECRET).stdout(Stdio::null());
    let running = Running(command.stderr(log.expect("a log")).spawn().expect("fleet"));
    let (begun, log) = (Instant::now(), || std::fs::read_to_string(place.path("log")));
    while !log().is_ok_and(|log| log.contains("specs are in force")) {
        assert!(begun.elapsed() < PATIENCE, "{:?}", log());
        std::thread::sleep(Duration::from_millis(50));
    }
    running
}

fn break_the_specs(place: &Place) {
    place.write("specs/bad.yaml", "kind: Fleet\nnonsense: true\n");
}

/// The signature by somebody else's hand.
fn openssl(payload: &[u8]) -> String {
    let mut command = Command::new("openssl");
    command.args(["dgst", "-sha256", "-hmac", SECRET, "-r"]);
    let mut openssl =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("openssl");
    openssl.stdin.take().expect("a pipe").write_all(payload).expect("read");
    let said = text(&openssl.wait_with_output().expect("an end").stdout);
    said.split_whitespace().next().expect("a digest").to_owned()
}

fn verify(request: &Request) {
    let header = request.header("fleet-signature").expect("a signature");
    let (time, signature) = header.split_once(",v1=").expect("two parts");
    let time = time.strip_prefix("t=").expect("a time");
    let payload = [time.as_bytes(), b".", &request.body].concat();
    assert_eq!(openssl(&payload), signature);
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("now");
    let age = now.as_secs().abs_diff(time.parse().expect("seconds"));
    assert!(age < 120, "{age} s");
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_are_signed_retried_and_told_once() {
    // A failure, and a way elsewhere that is not taken.
    let receiver = Receiver::start(&[500, 302]).await;
    let place = place(&receiver.listener.url(), ", events: [specs-refused]");
    let _running = start(&place);
    break_the_specs(&place);
    let requests = receiver.wait_for(3).await;
    for request in &requests {
        verify(request);
        assert_eq!((request.method.as_str(), request.path.as_str()), ("POST", "/hook"));
    }
    let ids: Vec<_> = requests.iter().map(|one| one.header("fleet-notification-id")).collect();
    assert!(ids[0].is_some() && ids.iter().all(|id| *id == ids[0]), "{ids:?}");
    let body = requests[2].json().expect("JSON");
    assert_eq!(
        (&body["event"], &body["policy"], &body["rule"]),
        (&"specs-refused".into(), &"house".into(), &"on-call".into())
    );
    assert!(body["text"].as_str().expect("words").contains("bad.yaml"), "{body}");
    // The same thing is told once.
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!(receiver.requests().len(), 3);
    // Another thing is told.
    place.write("specs/bad.yaml", "kind: Fleet\nother: true\nmetadata: 3\n");
    let requests = receiver.wait_for(4).await;
    assert_ne!(requests[3].header("fleet-notification-id"), ids[0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crash_between_sends_again_with_the_same_id() {
    let nowhere = Receiver::start(&[503; 1000]).await;
    let place = place(&nowhere.listener.url(), ", events: [specs-refused]");
    let running = start(&place);
    break_the_specs(&place);
    let first = nowhere.wait_for(1).await;
    // Killed as hard as can be: what was written down is all that is left.
    drop(running);
    std::fs::remove_file(place.path("specs/bad.yaml")).expect("mended");
    let before = nowhere.requests().len();
    let _running = start(&place);
    let again = nowhere.wait_for(before + 1).await;
    let id = |request: &Request| request.header("fleet-notification-id").map(str::to_owned);
    assert_eq!(id(&again[before]), id(&first[0]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fleet_that_is_held_is_told_to_those_who_want_to_know() {
    let receiver = Receiver::start(&[]).await;
    let rule = ", events: [held], fleets: [\"quick*\"], format: slack";
    let place = place(&receiver.listener.url(), rule);
    place.expect(0, &["apply", "--yes", "specs/quickstart.yaml"]);
    place.expect(0, &["sim", "outage", "us-central1"]);
    let _running = start(&place);
    let requests = receiver.wait_for(1).await;
    verify(&requests[0]);
    let body = requests[0].json().expect("JSON");
    let said = body["text"].as_str().expect("words");
    assert!(said.contains("quickstart") && said.contains("us-central1"), "{body}");
    assert_eq!(body["blocks"][0]["text"]["type"], "mrkdwn");
}

#[test]
fn rules_that_cannot_be_are_refused_with_their_place() {
    let check = |more: &str, said: &str| {
        let place = place("https://hooks.example.org", more);
        let output = place.run(&["validate", "specs"]);
        let err = text(&output.stderr) + &text(&output.stdout);
        assert_eq!(output.status.code(), Some(4), "{err}");
        assert!(err.contains(said) && err.contains("policy.yaml:6:"), "{said}\n{err}");
    };
    check(", events: [nonsense]", "nonsense");
    check(", urlFrom: { env: X }", "`url` or `urlFrom`");
    check(", secret: abc", "unknown field");
    check(", repeatEvery: 3s", "out of range");
}
