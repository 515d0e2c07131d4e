//! What an OpenTelemetry collector gets: spans as protobuf over HTTP, read here by hand.

mod support;

use fleet_sim::Preset;
use fleet_testkit::{Answer, Listener, Request};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use support::{Place, root};

/// A span, as far as the tests look at it.
#[derive(Debug, Clone, Default)]
struct Span {
    trace: Vec<u8>,
    id: Vec<u8>,
    parent: Vec<u8>,
    name: String,
    attributes: BTreeMap<String, String>,
}

/// The fields of a protobuf message that hold bytes: number and content.
fn fields(mut message: &[u8]) -> Vec<(u64, &[u8])> {
    fn number(message: &mut &[u8]) -> u64 {
        let (mut value, mut shift) = (0, 0);
        while let Some((byte, rest)) = message.split_first() {
            *message = rest;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                break;
            }
            shift += 7;
        }
        value
    }
    let mut found = Vec::new();
    while !message.is_empty() {
        let key = number(&mut message);
        let skipped = match key & 7 {
            0 => {
                number(&mut message);
                continue;
            }
            1 => 8,
            2 => {
                let length = number(&mut message) as usize;
                let (content, rest) = message.split_at(length);
                found.push((key >> 3, content));
                message = rest;
                continue;
            }
            5 => 4,
            kind => panic!("field of kind {kind}"),
        };
        message = &message[skipped..];
    }
    found
}

fn inside(message: &[u8], wanted: u64) -> impl Iterator<Item = &[u8]> {
    fields(message).into_iter().filter(move |(number, _)| *number == wanted).map(|(_, it)| it)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("text")
}

/// As opentelemetry/proto/trace/v1/trace.proto numbers them.
fn spans(request: &[u8]) -> Vec<Span> {
    let all = inside(request, 1).flat_map(|resource| inside(resource, 2).collect::<Vec<_>>());
    let all = all.flat_map(|scope| inside(scope, 2).collect::<Vec<_>>());
    let read = all.map(|message| {
        let mut span = Span::default();
        for (number, content) in fields(message) {
            match number {
                1 => span.trace = content.to_vec(),
                2 => span.id = content.to_vec(),
                4 => span.parent = content.to_vec(),
                5 => span.name = text(content),
                9 => {
                    let key = inside(content, 1).next().map(text).unwrap_or_default();
                    let value = inside(content, 2).next().unwrap_or_default();
                    let value = inside(value, 1).next().map(text).unwrap_or_default();
                    span.attributes.insert(key, value);
                }
                _ => {}
            }
        }
        span
    });
    read.collect()
}

struct Collector {
    listener: Listener,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl Collector {
    async fn start() -> Self {
        let requests = Arc::new(Mutex::new(Vec::new()));
        let kept = requests.clone();
        let listener = Listener::start(0, move |request: Request| {
            kept.lock().expect("a list").push(request);
            async { Some(Answer::new(200, "application/x-protobuf", Vec::new())) }
        });
        Collector { listener: listener.await.expect("a port"), requests }
    }

    fn spans(&self) -> Vec<Span> {
        let requests = self.requests.lock().expect("a list");
        for request in &*requests {
            assert_eq!(request.path, "/v1/traces");
            assert_eq!(request.header("content-type"), Some("application/x-protobuf"));
        }
        requests.iter().flat_map(|request| spans(&request.body)).collect()
    }
}

fn ancestor<'a>(all: &'a [Span], span: &'a Span) -> &'a Span {
    match all.iter().find(|other| other.id == span.parent) {
        Some(parent) => ancestor(all, parent),
        None => span,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_trace_per_reconcile_with_a_span_per_call() {
    let collector = Collector::start().await;
    let place = Place::new(5, Preset::Calm, Duration::ZERO);
    let specs = place.path("specs");
    std::fs::create_dir_all(&specs).expect("a folder");
    let quickstart = std::fs::read_to_string(root().join("fleet-specs/quickstart.yaml"));
    let quickstart = quickstart.expect("a spec");
    for name in ["one", "two"] {
        let spec = quickstart.replace("name: quickstart", &format!("name: {name}"));
        place.write(&format!("specs/{name}.yaml"), &spec);
    }
    let url = collector.listener.url();
    let args = ["controller", "specs", "--once", "--otlp", &url];
    let done = place.command(&args).output().expect("fleet");
    assert!(done.status.success(), "{}", text(&done.stderr));
    let all = collector.spans();
    let roots: Vec<&Span> = all.iter().filter(|span| span.parent.is_empty()).collect();
    let fleets: Vec<_> = roots.iter().map(|root| root.attributes["fleet"].as_str()).collect();
    assert_eq!(
        {
            let mut fleets = fleets.clone();
            fleets.sort();
            fleets
        },
        ["one", "two"],
        "{all:#?}"
    );
    for root in &roots {
        assert_eq!(
            (root.name.as_str(), root.attributes["result"].as_str()),
            ("reconcile", "settled")
        );
        assert_eq!(root.trace.len(), 16);
    }
    assert_ne!(roots[0].trace, roots[1].trace);
    // Every launch is in the trace of its fleet, and every span leads to a root of its own trace.
    for span in &all {
        assert_eq!(ancestor(&all, span).trace, span.trace, "{span:?}");
        assert!(ancestor(&all, span).parent.is_empty(), "{span:?}");
    }
    for root in &roots {
        let calls: Vec<&Span> = all.iter().filter(|span| span.trace == root.trace).collect();
        let named = |name: &str| calls.iter().filter(|span| span.name == name).count();
        assert!(named("aws create") + named("gcp create") > 1, "{calls:#?}");
        assert!(named("store create") > 1, "{calls:#?}");
        let launch = calls.iter().find(|span| span.name == "aws create").expect("a launch");
        let said = |key: &str| launch.attributes[key].as_str();
        assert_eq!((said("provider"), said("operation"), said("outcome")), ("aws", "create", "ok"));
    }
    let looks = all.iter().filter(|span| span.name == "aws list").count();
    assert!(looks > 0, "{all:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_standard_variable_is_enough_and_a_deaf_collector_does_no_harm() {
    let collector = Collector::start().await;
    let place = Place::new(5, Preset::Calm, Duration::ZERO);
    let spec = root().join("fleet-specs/quickstart.yaml");
    let spec = spec.to_str().expect("a path");
    let mut command = place.command(&["reconcile", spec]);
    let command = command.env("OTEL_EXPORTER_OTLP_ENDPOINT", collector.listener.url());
    assert!(command.output().expect("fleet").status.success());
    let all = collector.spans();
    let root = all.iter().find(|span| span.parent.is_empty()).expect("a root");
    assert_eq!(root.name, "reconcile");
    assert!(all.iter().any(|span| span.name == "aws create"), "{all:#?}");
    assert!(all.iter().all(|span| span.trace == root.trace), "{all:#?}");
    // Nobody listens there.
    let mut command = place.command(&["reconcile", spec, "--otlp", "http://127.0.0.1:9"]);
    assert!(command.output().expect("fleet").status.success());
    let mut command = place.command(&["reconcile", spec, "--otlp", "nonsense"]);
    assert_eq!(command.output().expect("fleet").status.code(), Some(64));
}
