//! The script for machines, with a metadata service and a controller: what a cloud tells a machine reaches the fleet.

mod support;

use fleet_model::{Cloud, MachineId, Market};
use fleet_sim::Preset;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Command, Output, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use support::server::Server;
use support::{Place, root};

fn spec(cloud: &str, place: &str) -> String {
    format!(
        "apiVersion: fleet/v1\nkind: Fleet\nmetadata: {{ name: work }}\nspec:\n  \
         capacity: {{ target: 2, burst: {{ spot: 100% }} }}\n  \
         instances: {{ vcpus: {{ min: 4, max: 4 }} }}\n  \
         placement: {{ clouds: [{{ provider: {cloud}, regions: [{place}] }}] }}\n"
    )
}

/// A metadata service that answers some paths, and 404 to others.
fn metadata(answers: Vec<(String, String)>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let _ = answer(stream, &answers);
        }
    });
    address
}

fn answer(mut stream: TcpStream, answers: &[(String, String)]) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    let first = lines.next().transpose()?.unwrap_or_default();
    while lines.next().transpose()?.is_some_and(|line| !line.is_empty()) {}
    let path = first.split(' ').nth(1).unwrap_or_default();
    let path = path.split('?').next().unwrap_or_default();
    let found = answers.iter().find(|(known, _)| known == path);
    let (status, body) = found.map_or(("404 Not Found", ""), |(_, body)| ("200 OK", body));
    write!(
        stream,
        "HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// What the metadata service of a machine that is taken back says.
fn said(cloud: Cloud, machine: &MachineId, at: &str) -> Vec<(String, String)> {
    let id = machine.as_str();
    let answers = match cloud {
        Cloud::Aws => vec![
            ("/latest/api/token", "session".to_owned()),
            ("/latest/meta-data/instance-id", id.to_owned()),
            (
                "/latest/meta-data/spot/instance-action",
                format!("{{\"action\": \"terminate\", \"time\": \"{at}\"}}"),
            ),
        ],
        Cloud::Gcp => vec![
            ("/computeMetadata/v1/instance/zone", "projects/1/zones/us-central1-a".to_owned()),
            ("/computeMetadata/v1/instance/id", id.to_owned()),
            ("/computeMetadata/v1/instance/preempted", "TRUE".to_owned()),
        ],
        Cloud::Azure | Cloud::Lambda => vec![
            ("/metadata/instance/compute/name", id.to_ascii_uppercase()),
            (
                "/metadata/scheduledevents",
                "{\"DocumentIncarnation\":1,\"Events\":[{\"EventType\":\"Preempt\"}]}".to_owned(),
            ),
        ],
    };
    answers.into_iter().map(|(path, body)| (path.to_owned(), body)).collect()
}

/// Runs the script to its end.
fn script(
    place: &Place,
    cloud: Cloud,
    answers: Vec<(String, String)>,
    controller: SocketAddr,
) -> Output {
    Command::new("sh")
        .arg(root().join("examples/agent/fleet-notice"))
        .env("FLEET_URL", format!("http://{controller}"))
        .env("FLEET_NAME", "work")
        .env("FLEET_CLOUD", cloud.as_str())
        .env("FLEET_TOKEN", place.path("token"))
        .env("METADATA", format!("http://{}", metadata(answers)))
        .env("EVERY", "1")
        .output()
        .expect("sh")
}

fn has_curl() -> bool {
    let there = Command::new("curl").arg("--version").stdout(Stdio::null()).status().is_ok();
    if !there {
        fleet_testkit::skipped("curl is not installed");
    }
    there
}

/// A machine of a cloud hears that it is taken back, and its successor is launched.
fn told(cloud: Cloud, region: &str) {
    if !has_curl() {
        return;
    }
    let place = Place::new(3, Preset::Calm, Duration::ZERO);
    std::fs::create_dir(place.path("fleets")).expect("a folder");
    place.write("fleets/work.yaml", &spec(cloud.as_str(), region));
    let tokens = place.path("tokens");
    let file = tokens.to_str().expect("a path");
    let token = place.expect(0, &["token", "new", "machines", "--role", "agent", "--tokens", file]);
    place.write("token", &token);
    let viewer = place.expect(0, &["token", "new", "eve", "--role", "viewer", "--tokens", file]);
    let server = Server::start(&place, &place.path("fleets"), &["--speed", "0", "--tokens", file]);
    server.settled(&[("authorization", &format!("Bearer {}", viewer.trim()))]);
    place.sim.advance(Duration::from_secs(300)).expect("time");
    let live = place.live();
    let taken = live.iter().find(|machine| machine.market == Market::Spot).expect("a machine");
    // Real clouds and a simulated one live at different times: the script takes what its cloud says.
    let at = place.sim.now().expect("the time") + Duration::from_secs(110);
    let answers = said(cloud, &taken.id, &at.to_string());
    let agent = script(&place, cloud, answers, server.address);
    assert!(agent.status.success(), "{agent:?}");
    let words = String::from_utf8_lossy(&agent.stdout);
    assert!(words.contains("is taken back"), "{words}");
    let until = Instant::now() + Duration::from_secs(60);
    while place.live().len() < 3 {
        assert!(Instant::now() < until, "no successor");
        std::thread::sleep(Duration::from_millis(100));
    }
    let history = place.expect(0, &["history", "work"]);
    assert!(history.contains("token machines, notice over HTTP"), "{history}");
}

#[test]
fn a_machine_on_aws_is_heard() {
    told(Cloud::Aws, "us-east-1");
}

/// A machine on Lambda, which has no metadata service, tells how busy its processors are.
#[test]
fn a_machine_says_how_busy_it_is() {
    if !has_curl() {
        return;
    }
    let place = Place::new(3, Preset::Calm, Duration::ZERO);
    place.write("token", "fleet_1\n");
    let (controller, heard) = listen();
    let mut agent = Command::new("sh")
        .arg(root().join("examples/agent/fleet-notice"))
        .env("FLEET_URL", format!("http://{controller}"))
        .env("FLEET_NAME", "work")
        .env("FLEET_CLOUD", "lambda")
        .env("FLEET_MACHINE", "0920582c")
        .env("FLEET_TOKEN", place.path("token"))
        .envs([("USE", "cpu"), ("USE_EVERY", "2"), ("EVERY", "1")])
        .spawn()
        .expect("sh");
    let heard = heard.join().expect("a request");
    agent.kill().expect("it runs");
    agent.wait().expect("it is gone");
    assert!(heard.starts_with("POST /v1/fleets/work/use HTTP/1.1"), "{heard}");
    let (_, body) = heard.split_once("\r\n\r\n").expect("a body");
    let body: serde_json::Value = serde_json::from_str(body).expect("JSON");
    assert_eq!(body["machine"], "0920582c");
    assert!(body["busyPercent"].as_u64().is_some_and(|percent| percent <= 100), "{body}");
    assert!(body["seconds"].as_u64().is_some_and(|seconds| seconds >= 2), "{body}");
}

/// The twin's machines have other names than real ones, so what the script says is looked at, and nothing more.
#[test]
fn a_machine_on_google_cloud_says_its_zone_and_number() {
    if !has_curl() {
        return;
    }
    let place = Place::new(3, Preset::Calm, Duration::ZERO);
    place.write("token", "fleet_1\n");
    let (controller, heard) = listen();
    let answers = said(Cloud::Gcp, &MachineId::new("4711"), "");
    assert!(script(&place, Cloud::Gcp, answers, controller).status.success());
    let heard = heard.join().expect("a request");
    assert!(heard.starts_with("POST /v1/fleets/work/notice HTTP/1.1"), "{heard}");
    assert!(heard.contains("Authorization: Bearer fleet_1\r\n"), "{heard}");
    assert!(heard.ends_with("{\"machine\": \"us-central1-a/4711\"}"), "{heard}");
}

/// In the place of a controller: hears one request.
fn listen() -> (SocketAddr, JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let controller = listener.local_addr().expect("an address");
    let heard = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a connection");
        let mut heard = Vec::new();
        let mut some = [0; 1024];
        while !heard.ends_with(b"}") {
            let read = stream.read(&mut some).expect("bytes");
            assert!(read > 0, "{}", String::from_utf8_lossy(&heard));
            heard.extend_from_slice(&some[..read]);
        }
        write!(stream, "HTTP/1.1 202 Accepted\r\nconnection: close\r\ncontent-length: 0\r\n\r\n")
            .expect("an answer");
        String::from_utf8(heard).expect("UTF-8")
    });
    (controller, heard)
}

#[test]
fn a_machine_on_azure_is_heard() {
    told(Cloud::Azure, "eastus");
}
