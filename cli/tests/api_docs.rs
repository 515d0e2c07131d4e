//! docs/api.md is true: every example is sent to a controller, every route has one, every flag exists.

mod support;

use fleet_sim::Preset;
use serde_json::Value;
use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::time::Duration;
use support::server::{Reply, Server, reply};
use support::{Place, root, text};

/// A request, and what it says comes back.
struct Example {
    method: String,
    path: String,
    body: String,
    status: u16,
    kind: String,
}

fn examples(page: &str) -> Vec<Example> {
    let blocks =
        page.split("```http\n").skip(1).map(|rest| rest.split("```").next().expect("an end"));
    blocks
        .map(|block| {
            let (asked, told) = block.split_once("→ ").expect("an answer");
            let (line, body) = asked.split_once('\n').expect("a line");
            let (method, path) = line.split_once(' ').expect("a request");
            let (status, kind) = told.trim().split_once(' ').expect("a status and a kind");
            Example {
                method: method.into(),
                path: path.into(),
                body: body.trim().into(),
                status: status.parse().expect("a number"),
                kind: kind.into(),
            }
        })
        .collect()
}

/// The head of an answer that does not end.
fn head(server: &Server, path: &str) -> Reply {
    let mut stream = server.connect();
    let ask = format!("GET {path} HTTP/1.1\r\nhost: {}\r\n\r\n", server.address);
    stream.write_all(ask.as_bytes()).expect("a request");
    let mut heard = Vec::new();
    let mut byte = [0];
    while !heard.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).expect("a byte");
        heard.push(byte[0]);
    }
    reply(&heard).expect("an answer")
}

#[test]
fn examples_are_true_and_every_route_has_one() {
    let page = std::fs::read_to_string(root().join("docs/api.md")).expect("a page");
    let place = Place::new(7, Preset::Calm, Duration::ZERO);
    let specs = root().join("fleet-specs/quickstart.yaml");
    let server = Server::start(&place, &specs, &["--speed", "0"]);
    server.settled(&[]);
    let mut shown: BTreeSet<(String, String)> = BTreeSet::new();
    for example in examples(&page) {
        let Example { method, path, body, status, kind } = &example;
        let json = [("content-type", "application/json")];
        let headers = if body.is_empty() { &json[..0] } else { &json[..] };
        let reply = match kind.as_str() {
            "stream" => head(&server, path),
            _ => server.send(method, path, headers, body),
        };
        assert_eq!(reply.status, *status, "{method} {path}: {}", text(&reply.body));
        match kind.as_str() {
            "stream" => {
                assert_eq!(reply.header("content-type"), Some("text/event-stream"), "{path}")
            }
            "openapi" => assert_eq!(
                text(&reply.body),
                std::fs::read_to_string(root().join("docs/openapi.json")).expect("a file")
            ),
            kind => assert_eq!(reply.document()["kind"], kind, "{method} {path}"),
        }
        let plain = path.split('?').next().expect("a path").replace("/quickstart", "/{fleet}");
        shown.insert((method.to_lowercase(), plain));
    }
    let description: Value =
        serde_json::from_slice(&server.get("/v1/openapi.json").body).expect("JSON");
    let described =
        description["paths"].as_object().expect("paths").iter().flat_map(|(path, methods)| {
            let methods =
                methods.as_object().expect("methods").keys().filter(|key| *key != "parameters");
            methods.map(|method| (method.clone(), path.clone()))
        });
    assert_eq!(shown, described.collect());
}

#[test]
fn every_flag_of_the_page_exists() {
    let page = std::fs::read_to_string(root().join("docs/api.md")).expect("a page");
    let place = Place::new(7, Preset::Calm, Duration::ZERO);
    let help =
        place.expect(0, &["controller", "--help"]) + &place.expect(0, &["token", "new", "--help"]);
    let flags: BTreeSet<String> = page
        .split(|c: char| c.is_whitespace() || c == '`')
        .filter(|word| word.starts_with("--"))
        .map(|word| word.trim_end_matches([',', '.', ':', ')']).to_owned())
        .collect();
    assert!(flags.len() >= 8, "{flags:?}");
    let missing: Vec<_> = flags.iter().filter(|flag| !help.contains(flag.as_str())).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
