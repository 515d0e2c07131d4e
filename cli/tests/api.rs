//! The controller's API, through a real socket: what it answers, whom, and what it does with hostile input.

mod support;

use fleet_model::{Machine, Market};
use fleet_sim::Preset;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::time::{Duration, Instant};
use support::server::{Server, reply};
use support::{Place, root};

const FLEET: &str = "/v1/fleets/quickstart";

fn settled() -> (Place, Server) {
    let (place, specs) = Server::ground();
    let server = Server::start(&place, &specs, &["--speed", "0", "--rate", "100000"]);
    server.settled(&[]);
    (place, server)
}

/// Every record of the fleet's journal.
fn journal(place: &Place) -> BTreeMap<String, Vec<u8>> {
    let folder = place.path("state/fleets/quickstart/journal");
    let files = std::fs::read_dir(folder).expect("a journal").map(|file| file.expect("a file"));
    files
        .map(|file| {
            (
                file.file_name().to_string_lossy().into_owned(),
                std::fs::read(file.path()).expect("a record"),
            )
        })
        .collect()
}

#[test]
fn answers_are_documents() {
    let (_place, server) = settled();
    let check = |path: &str, kind: &str| {
        let reply = server.get(path);
        let document = reply.document();
        assert_eq!(
            (reply.status, document["kind"].as_str()),
            (200, Some(kind)),
            "{path}: {document:#}"
        );
        assert_eq!(
            reply.header("cache-control"),
            path.starts_with("/v1").then_some("no-store"),
            "{path}"
        );
        assert_eq!(reply.header("x-content-type-options"), Some("nosniff"), "{path}");
        document
    };
    check("/healthz", "health");
    assert_eq!(check("/readyz", "health")["ready"], true);
    let overview = check("/v1/fleets", "overview");
    assert_eq!(overview["fleets"][0]["machines"], 7);
    let fleet = check(FLEET, "fleet");
    assert_eq!(fleet["status"]["machines"].as_array().map(Vec::len), Some(7));
    let machines = check(&format!("{FLEET}/machines"), "machines");
    assert_eq!(machines["machines"], fleet["status"]["machines"]);
    assert_eq!(check(&format!("{FLEET}/plan"), "plan")["summary"]["keep"], 7);
    assert_eq!(check(&format!("{FLEET}/rollout"), "rollout")["is"], "none");
    let slot = check(&format!("{FLEET}/explain?slot=burst-1"), "explain");
    assert_eq!(slot["fleets"][0]["slots"].as_array().map(Vec::len), Some(1));
    let pools = check(&format!("{FLEET}/explain?pool=aws/*/*/m6i.xlarge/spot"), "explain");
    let pools = pools["fleets"][0]["pools"].as_array().expect("pools");
    assert!(
        !pools.is_empty()
            && pools
                .iter()
                .all(|pool| pool["pool"].as_str().expect("a name").contains("m6i.xlarge"))
    );
    let cost = check(&format!("{FLEET}/cost?by=type,market&from=2025-12-31"), "cost-report");
    assert_eq!(cost["by"], json!(["type", "market"]));
    for (path, status) in [
        ("/v1/fleets/nope", 404),
        ("/v1/nope", 404),
        ("/v1/fleets/quickstart/explain?slot=burst-999", 404),
        ("/v1/fleets/quickstart/explain?pool=mars/*", 404),
        ("/v1/fleets/quickstart/explain?pool=aws&slot=burst-1", 400),
        ("/v1/fleets/quickstart/history?limit=0", 400),
        ("/v1/fleets/quickstart/history?limt=1", 400),
        ("/v1/fleets/quickstart/cost?from=2020-01-01", 400),
        ("/v1/fleets/quickstart/freeze", 405),
    ] {
        let reply = server.get(path);
        assert_eq!(reply.status, status, "{path}");
        assert!(!reply.error().is_empty());
    }
}

#[test]
fn history_comes_in_pages() {
    let (place, server) = settled();
    let mut all: Vec<Value> = Vec::new();
    let mut next = format!("{FLEET}/history?after=0&limit=3");
    for _ in 0..1000 {
        let reply = server.get(&next);
        let events = reply.document()["fleets"][0]["events"].as_array().cloned().expect("events");
        if events.is_empty() {
            assert_eq!(reply.header("link"), None);
            break;
        }
        all.extend(events);
        let link = reply.header("link").expect("a next page");
        next = link.trim_start_matches('<').split_once('>').expect("a link").0.to_owned();
    }
    let told: Value =
        serde_json::from_str(&place.expect(0, &["history", "quickstart", "-o", "json"]))
            .expect("JSON");
    assert_eq!(Some(&all), told["fleets"][0]["events"].as_array());
    let last = server.get(&format!("{FLEET}/history?limit=1")).document();
    assert_eq!(last["fleets"][0]["events"].as_array().and_then(|some| some.last()), all.last());
}

#[test]
fn what_is_done_is_in_the_journal_with_who_and_why() {
    let (place, server) = settled();
    let frozen = server
        .post(&format!("{FLEET}/freeze"), &json!({ "reason": "we look into costs" }))
        .document();
    assert_eq!(
        (&frozen["frozen"], &frozen["reason"]),
        (&json!(true), &json!("we look into costs"))
    );
    server.post(&format!("{FLEET}/reconcile"), &json!({ "reason": "is it seen" }));
    let until = Instant::now() + Duration::from_secs(60);
    while server.get(FLEET).document()["overview"]["frozen"] != true {
        assert!(Instant::now() < until, "nobody sees that it is frozen");
        std::thread::sleep(Duration::from_millis(100));
    }
    let home = support::text(&server.get("/").body);
    assert!(home.contains("frozen") && !home.contains("as wanted"), "{home}");
    let thawed =
        server.post(&format!("{FLEET}/thaw"), &json!({ "reason": "all is well" })).document();
    assert_eq!(thawed["frozen"], false);
    let reply = server.post(&format!("{FLEET}/reconcile"), &json!({ "reason": "a page woke me" }));
    assert_eq!((reply.status, reply.document()["kind"].as_str()), (202, Some("asked")));
    let rollout =
        server.post(&format!("{FLEET}/rollout"), &json!({ "reason": "x", "action": "pause" }));
    assert_eq!(
        (rollout.status, rollout.error().as_str()),
        (409, "no rollout of quickstart is under way")
    );
    let told = place.expect(0, &["history", "quickstart"]);
    for words in [
        "freeze over HTTP (we look into costs)",
        "thaw over HTTP (all is well)",
        "reconcile over HTTP (a page woke me)",
        "somebody at 127.0.0.1",
    ] {
        assert!(told.contains(words), "{words}: {told}");
    }
    let before = journal(&place);
    for (path, body) in [
        ("freeze", json!({})),
        ("freeze", json!({ "reason": "" })),
        ("freeze", json!({ "reason": "two\nlines" })),
        ("freeze", json!({ "reason": "x".repeat(501) })),
        ("freeze", json!({ "reason": "x", "until": "2000-01-01T00:00:00Z" })),
        ("freeze", json!({ "reason": "x", "until": "soon" })),
        ("freeze", json!({ "reason": "x", "untl": "2030-01-01T00:00:00Z" })),
        ("thaw", json!({ "reason": "x", "waitSeconds": 1_000_000_000_000_u64 })),
        ("thaw", json!({ "reason": "x", "waitSeconds": -1 })),
        ("rollout", json!({ "reason": "x", "action": "explode" })),
        ("reconcile", json!("reason")),
    ] {
        let reply = server.post(&format!("{FLEET}/{path}"), &body);
        assert_eq!(reply.status, 400, "{path} {body}: {}", reply.error());
    }
    assert_eq!(journal(&place), before);
}

#[test]
fn a_machine_that_says_it_is_taken_back_gets_a_successor() {
    let (place, server) = settled();
    place.sim.advance(Duration::from_secs(120)).expect("time");
    let spot = |machine: &&Machine| machine.market == Market::Spot;
    let taken = place.live().iter().find(spot).expect("a spot machine").id.to_string();
    let notice = |body: Value| server.post(&format!("{FLEET}/notice"), &body);
    let before = journal(&place);
    for (body, status) in [
        (json!({}), 400),
        (json!({ "machine": taken, "at": "soon" }), 400),
        (json!({ "machine": taken, "at": "2001-01-01T00:00:00Z" }), 400),
        (json!({ "machine": taken, "why": "x" }), 400),
        (json!({ "machine": "i-none" }), 404),
    ] {
        let reply = notice(body);
        assert_eq!(reply.status, status, "{}", reply.error());
    }
    assert_eq!(journal(&place), before);
    assert_eq!(notice(json!({ "machine": taken })).status, 202);
    let until = Instant::now() + Duration::from_secs(60);
    while place.live().len() < 8 {
        assert!(Instant::now() < until, "no successor: {:?}", place.live().len());
        std::thread::sleep(Duration::from_millis(100));
    }
    let told = place.expect(0, &["history", "quickstart"]);
    assert!(told.contains(&format!("{taken} says that it is taken back at ")), "{told}");
    // Once more: it is known. (A look of the controller's own may write down what else it sees.)
    let notices = || {
        let records = journal(&place);
        records.values().filter(|one| String::from_utf8_lossy(one).contains("noticeTold")).count()
    };
    assert_eq!((notice(json!({ "machine": taken })).status, notices()), (202, 1));
    // A person with a laptop sees it, too.
    let status = place.expect(0, &["status", "quickstart"]);
    assert!(status.contains("interrupted") || status.contains("taken back"), "{status}");
}

#[test]
fn machines_that_say_they_are_idle_cost_something() {
    let (place, server) = settled();
    place.sim.advance(Duration::from_secs(3600)).expect("time");
    let machine = place.live().first().expect("a machine").id.to_string();
    let said = |body: Value| server.post(&format!("{FLEET}/use"), &body);
    let told = || {
        let records = journal(&place);
        records.values().filter(|one| String::from_utf8_lossy(one).contains("busyTold")).count()
    };
    let one = |percent: f64, seconds: u32| json!({ "machine": machine, "busyPercent": percent, "seconds": seconds });
    for (body, status) in [
        (json!({}), 400),
        (one(101.0, 60), 400),
        (one(-1.0, 60), 400),
        (one(1.0, 86_401), 400),
        (json!({ "machine": "i-none", "busyPercent": 1, "seconds": 60 }), 404),
        (one(2.0, 1800), 202),
        // The same once more: nothing of it is counted twice.
        (one(2.0, 1800), 202),
    ] {
        let reply = said(body.clone());
        assert_eq!(reply.status, status, "{body}: {}", reply.error());
    }
    assert_eq!(told(), 0, "it waits for more");
    place.sim.advance(Duration::from_secs(1800)).expect("time");
    assert_eq!(said(one(80.0, 1800)).status, 202);
    let written =
        || place.expect(0, &["history", "quickstart"]).contains(&format!("{machine} 80 %"));
    // The controller writes it by itself: at once, or, if it wrote the others just before this came, in ten minutes.
    let until = Instant::now() + Duration::from_secs(60);
    while !written() {
        assert!(Instant::now() < until, "nobody writes it down");
        if told() == 1 {
            place.sim.advance(Duration::from_secs(700)).expect("time");
        }
        std::thread::sleep(Duration::from_millis(200));
    }
    let text = place.expect(0, &["cost", "anomalies", "quickstart"]);
    assert!(text.contains("1 machine had nothing to do for 0.5 machine-hours"), "{text}");
    assert!(text.contains("is known of 1.0 of"), "{text}");
    let report = place.expect(0, &["cost", "anomalies", "quickstart", "-o", "json"]);
    let report: Value = serde_json::from_str(&report).expect("JSON");
    let idle = &report["anomalies"].as_array().expect("a list")[0];
    assert_eq!((&idle["is"], &idle["machineHours"]), (&json!("idle"), &json!(0.5)));
    assert!(idle["costUsd"].as_f64().is_some_and(|cost| cost > 0.03), "{idle}");
    let history = place.expect(0, &["history", "quickstart"]);
    assert!(history.contains(&format!("{machine} 2 %")), "{history}");
}

#[test]
fn strangers_and_viewers_change_nothing() {
    let (place, specs) = Server::ground();
    let file = place.path("tokens");
    let file = file.to_str().expect("a path");
    let make = |name: &str, role: &str| {
        place.expect(0, &["token", "new", name, "--role", role, "--tokens", file]).trim().to_owned()
    };
    let (ada, bob) = (make("ada", "operator"), make("bob", "viewer"));
    let machines = make("machines", "agent");
    let server =
        Server::start(&place, &specs, &["--speed", "0", "--tokens", file, "--rate", "1000"]);
    let bearer = |token: &str| format!("Bearer {token}");
    let (operator, viewer) = (bearer(&ada), bearer(&bob));
    server.settled(&[("authorization", &viewer)]);
    let before = journal(&place);
    let json = ("content-type", "application/json");
    let body = json!({ "reason": "x", "action": "pause" }).to_string();
    let reason = json!({ "reason": "x" }).to_string();
    for path in ["freeze", "thaw", "reconcile", "rollout"] {
        let body = if path == "rollout" { &body } else { &reason };
        let path = format!("{FLEET}/{path}");
        let unknown = server.send("POST", &path, &[json], body);
        assert_eq!(
            (unknown.status, unknown.header("www-authenticate")),
            (401, Some("Bearer realm=\"fleet\""))
        );
        assert_eq!(
            server.send("POST", &path, &[json, ("authorization", "Bearer fleet_0")], body).status,
            401
        );
        let looks = server.send("POST", &path, &[json, ("authorization", &viewer)], body);
        assert_eq!(
            (looks.status, looks.error().as_str()),
            (403, "token bob may look, and not act")
        );
        let form = ("content-type", "application/x-www-form-urlencoded");
        assert_eq!(
            server.send("POST", &path, &[form, ("authorization", &operator)], "reason=x").status,
            415
        );
        let other =
            [json, ("authorization", operator.as_str()), ("origin", "https://evil.example")];
        assert_eq!(server.send("POST", &path, &other, body).status, 403);
    }
    let agent = bearer(&machines);
    for path in ["/v1/fleets", FLEET, "/v1/events", "/v1/openapi.json", "/"] {
        assert_eq!(server.get(path).status, 401, "{path}");
        let agent = server.send("GET", path, &[("authorization", &agent)], "");
        assert_eq!(agent.status, 403, "{path}: an agent does not look");
    }
    for path in ["freeze", "reconcile"] {
        let headers = [json, ("authorization", agent.as_str())];
        let refused = server.send("POST", &format!("{FLEET}/{path}"), &headers, &reason);
        assert_eq!(
            (refused.status, refused.error().as_str()),
            (403, "token machines may tell of machines, taken back or busy, and nothing else")
        );
    }
    let nobody = json!({ "machine": "i-none" }).to_string();
    let path = format!("{FLEET}/notice");
    for (who, status) in [(&viewer, 403), (&agent, 404), (&operator, 404)] {
        let headers = [json, ("authorization", who.as_str())];
        assert_eq!(server.send("POST", &path, &headers, &nobody).status, status, "{who}");
    }
    assert_eq!(server.get("/healthz").status, 200);
    assert_eq!(journal(&place), before, "the journal is as it was");
    let path = format!("{FLEET}/freeze");
    assert_eq!(
        server.send("POST", &path, &[json, ("authorization", &operator)], &reason).status,
        200
    );
    assert!(
        place.expect(0, &["history", "quickstart"]).contains("token ada, freeze over HTTP (x)")
    );
    // Guessing is slowed down, for everybody.
    let statuses: Vec<u16> = (0..40)
        .map(|nth| {
            server.send("GET", FLEET, &[("authorization", &format!("Bearer {nth}"))], "").status
        })
        .collect();
    assert!(
        statuses.iter().all(|status| matches!(status, 401 | 429)) && statuses.contains(&429),
        "{statuses:?}"
    );
}

#[test]
fn pages_of_other_sites_and_other_names_get_nothing() {
    let (place, server) = settled();
    let before = journal(&place);
    let json = ("content-type", "application/json");
    let body = json!({ "reason": "x" }).to_string();
    let freeze = format!("{FLEET}/freeze");
    for host in ["evil.example", "127.0.0.1.evil.example", "[::1", "localhost@evil.example"] {
        assert_eq!(server.send("GET", "/v1/fleets", &[("host", host)], "").status, 403, "{host}");
        assert_eq!(
            server.send("POST", &freeze, &[("host", host), json], &body).status,
            403,
            "{host}"
        );
    }
    assert_eq!(server.send("GET", "/v1/fleets", &[("host", "localhost:1")], "").status, 200);
    for kind in ["text/plain", "multipart/form-data", "application/x-www-form-urlencoded"] {
        assert_eq!(
            server.send("POST", &freeze, &[("content-type", kind)], &body).status,
            415,
            "{kind}"
        );
    }
    assert_eq!(
        server.send("POST", &freeze, &[json, ("sec-fetch-site", "cross-site")], &body).status,
        403
    );
    // Where nothing takes a `POST`, that is what is said.
    for path in ["/v1/fleets", FLEET, "/v1/events"] {
        assert_eq!(server.send("POST", path, &[("content-type", "text/plain")], &body).status, 405);
    }
    assert_eq!(journal(&place), before);
}

#[test]
fn addresses_that_others_reach_need_tokens() {
    let (place, specs) = Server::ground();
    let specs = specs.to_str().expect("a path");
    for address in ["0.0.0.0:0", "[::]:0"] {
        let output = place.run(&["controller", specs, "--listen", address]);
        let said = support::text(&output.stderr);
        assert_eq!(output.status.code(), Some(64), "{said}");
        assert!(said.contains("anybody who reaches this address could change fleets"), "{said}");
        assert!(said.contains("--tokens FILE"), "{said}");
    }
    let output =
        place.run(&["controller", specs, "--listen", "127.0.0.1:0", "--tokens", "nowhere"]);
    assert_eq!(output.status.code(), Some(1), "{}", support::text(&output.stderr));
    let output = place.run(&["token", "new", "a b", "--role", "viewer", "--tokens", "tokens"]);
    assert_eq!(output.status.code(), Some(64));
}

#[test]
fn too_often_is_told_when_to_come_back() {
    let (place, specs) = Server::ground();
    let server = Server::start(&place, &specs, &["--speed", "0", "--rate", "2"]);
    let replies: Vec<_> = (0..12).map(|_| server.get("/v1/fleets")).collect();
    let refused = replies.iter().find(|reply| reply.status == 429).expect("too many");
    assert_eq!(refused.header("retry-after"), Some("1"));
    assert!(refused.error().contains("too many requests"));
    std::thread::sleep(Duration::from_secs(2));
    assert_eq!(server.get("/v1/fleets").status, 200);
}

#[test]
fn hostile_bytes_get_an_answer_or_nothing() {
    let (place, server) = settled();
    let before = journal(&place);
    let host = format!("host: {}\r\n", server.address);
    let line = |line: &str| format!("{line}\r\n{host}connection: close\r\n\r\n").into_bytes();
    let long = "a".repeat(100_000);
    let mut many = format!("GET /v1/fleets HTTP/1.1\r\n{host}");
    (0..500).for_each(|nth| many.push_str(&format!("x-{nth}: 1\r\n")));
    let huge = format!(
        "POST {FLEET}/freeze HTTP/1.1\r\n{host}content-type: application/json\r\nconnection: close\r\ncontent-length: 300000\r\n\r\n{{\"reason\":\"{}\"}}",
        "x".repeat(300_000)
    );
    let deep = format!("{}{}", "[".repeat(30_000), "]".repeat(30_000));
    let nested = format!(
        "POST {FLEET}/freeze HTTP/1.1\r\n{host}content-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{deep}",
        deep.len()
    );
    let cases: Vec<Vec<u8>> = vec![
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03".to_vec(),
        vec![0; 4096],
        (0..=255).cycle().take(70_000).collect(),
        b"GET\r\n\r\n".to_vec(),
        b"GET / HTTP/9.9\r\n\r\n".to_vec(),
        line(&format!("GET /{long} HTTP/1.1")),
        line(&format!("GET /v1/fleets?{long} HTTP/1.1")),
        format!("GET /v1/fleets HTTP/1.1\r\n{host}x: {long}\r\n\r\n").into_bytes(),
        format!("{many}\r\n").into_bytes(),
        huge.into_bytes(),
        nested.into_bytes(),
        line("GET /v1/fleets/../../etc/passwd HTTP/1.1"),
        line("GET /v1/fleets/..%2f..%2f..%2fetc%2fpasswd/history HTTP/1.1"),
        line("GET /v1/fleets/%00/history HTTP/1.1"),
        line("GET /v1/fleets/%ff%fe/plan HTTP/1.1"),
        line("GET /v1/fleets/%1b[2J%0d%0a/plan HTTP/1.1"),
        line("GET /v1/fleets/quickstart/history?limit=99999999999999999999999999 HTTP/1.1"),
        line("GET /v1/fleets/quickstart/history?after=-1 HTTP/1.1"),
        line("GET /v1/fleets/quickstart/history?limit=1&limit=2 HTTP/1.1"),
        line("GET /v1/fleets/quickstart/cost?from=999999999-01-01 HTTP/1.1"),
        line("GET /v1/fleets/quickstart/cost?from=-009999-01-01&to=9999-12-31 HTTP/1.1"),
        line("GET /v1/fleets/quickstart/cost?timeZone=../../etc/passwd HTTP/1.1"),
        line(&format!("GET /v1/fleets/quickstart/explain?pool={} HTTP/1.1", "*".repeat(150))),
        line("GET /v1/fleets/quickstart/explain?slot=burst-99999999999999999999 HTTP/1.1"),
        line("GET http://evil.example/v1/fleets HTTP/1.1"),
        line("CONNECT evil.example:443 HTTP/1.1"),
        line("TRACE /v1/fleets HTTP/1.1"),
        line("BREW /v1/fleets HTTP/1.1"),
        format!("POST {FLEET}/freeze HTTP/1.1\r\n{host}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\nGET /v1/fleets HTTP/1.1\r\n{host}\r\n").into_bytes(),
        format!("POST {FLEET}/freeze HTTP/1.1\r\n{host}content-type: application/json\r\ncontent-length: 99999999999999999999\r\n\r\n{{}}").into_bytes(),
        format!("POST {FLEET}/freeze HTTP/1.1\r\n{host}content-type: application/json\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\nfffffffffffffffff\r\n").into_bytes(),
        format!("GET /v1/fleets HTTP/1.1\r\n{host}{host}connection: close\r\n\r\n").into_bytes(),
        format!("GET /v1/fleets HTTP/1.1\r\n{host}authorization: Basic {long}\r\n\r\n").into_bytes(),
    ];
    for case in cases {
        let shown = String::from_utf8_lossy(&case[..case.len().min(80)]).into_owned();
        if let Some(reply) = reply(&server.raw(&case)) {
            assert!(
                reply.status < 500,
                "{shown:?}: {} {}",
                reply.status,
                String::from_utf8_lossy(&reply.body)
            );
            assert!(!String::from_utf8_lossy(&reply.body).contains('\u{1b}'), "{shown:?}");
        }
        assert_eq!(server.get("/healthz").status, 200, "{shown:?}");
    }
    let large = server.post(&format!("{FLEET}/freeze"), &json!({ "reason": "x".repeat(70_000) }));
    assert_eq!(large.status, 413);
    assert_eq!(journal(&place), before);
}

#[test]
fn who_is_slow_is_let_go_and_keeps_nobody_waiting() {
    let (_place, server) = settled();
    let mut slow = Vec::new();
    for _ in 0..50 {
        let mut stream = server.connect();
        stream.write_all(b"GET /v1/fleets HTTP/1.1\r\nhost: local").expect("a start");
        slow.push(stream);
    }
    // A body that never comes.
    let mut body = server.connect();
    let head = format!(
        "POST {FLEET}/freeze HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{{",
        server.address
    );
    body.write_all(head.as_bytes()).expect("a start");
    let start = Instant::now();
    assert_eq!(server.get("/v1/fleets").status, 200);
    assert!(start.elapsed() < Duration::from_secs(2), "others wait: {:?}", start.elapsed());
    let mut answer = Vec::new();
    let mut buffer = [0; 4096];
    while !answer.ends_with(b"}") {
        match body.read(&mut buffer) {
            Ok(read) if read > 0 => answer.extend_from_slice(&buffer[..read]),
            _ => break,
        }
    }
    assert_eq!(reply(&answer).expect("an answer").status, 408);
    for mut stream in slow {
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest);
        assert!(
            start.elapsed() < Duration::from_secs(40),
            "still there after {:?}",
            start.elapsed()
        );
    }
}

/// Two replicas, a person with `fleet apply`, and somebody who holds the lease.
#[test]
fn one_acts_at_a_time_and_the_others_say_who() {
    let place = Place::new(11, Preset::Calm, Duration::from_millis(3));
    let specs = place.path("specs");
    std::fs::create_dir(&specs).expect("a folder");
    let text = std::fs::read_to_string(root().join("fleet-specs/quickstart.yaml")).expect("a spec");
    let spec = specs.join("quickstart.yaml");
    let set = |target: u32| {
        let text = text
            .replace("target: 48", &format!("target: {target}"))
            .replace("hourlyUsd: 3 ", "hourlyUsd: 30 ");
        std::fs::write(&spec, text).expect("a spec");
    };
    set(48);
    let [a, b] = ["a", "b"].map(|name| {
        Server::start(
            &place,
            &specs,
            &["--replica", name, "--every", "1s", "--speed", "0", "--rate", "100000"],
        )
    });
    let mut refused = 0;
    for round in 0..12_u32 {
        set(40 + 8 * (round % 3));
        let output =
            place.run(&["apply", "--yes", "--allow-destroy", "9", spec.to_str().expect("a path")]);
        let said = support::text(&output.stderr) + &support::text(&output.stdout);
        match output.status.code() {
            Some(6) => {
                refused += 1;
                assert!(said.contains("another run is changing fleet `quickstart`:"), "{said}");
                assert!(said.contains("fleet controller, replica "), "{said}");
            }
            Some(0 | 3) => {}
            other => panic!("{other:?}: {said}"),
        }
        place.assert_one_per_slot();
    }
    fleet_testkit::say(&format!("of 12 applies {refused} were told that a replica was at work"));
    // The journal is one line of runs: nobody wrote in another's.
    let told: Value =
        serde_json::from_str(&place.expect(0, &["history", "quickstart", "-o", "json"]))
            .expect("JSON");
    let events = told["fleets"][0]["events"].as_array().expect("events").clone();
    let runs: Vec<u64> =
        events.iter().map(|event| event["run"].as_u64().expect("a number")).collect();
    assert!(runs.is_sorted(), "{runs:?}");
    let who = |part: &str| {
        events.iter().any(|event| event["who"].as_str().is_some_and(|who| who.contains(part)))
    };
    assert!(who("fleet apply") && (who("replica a") || who("replica b")));

    // Whoever holds the lease is named to everybody.
    let lock = place.path("state/fleets/quickstart/lock");
    let mut lock = std::fs::OpenOptions::new().read(true).write(true).open(lock).expect("a lock");
    lock.lock().expect("the lease");
    lock.set_len(0).expect("empty");
    lock.write_all(b"ada on laptop, process 7, fleet apply\n").expect("a name");
    let body = json!({ "reason": "x", "waitSeconds": 0 });
    for server in [&a, &b] {
        for path in ["freeze", "thaw", "reconcile"] {
            let reply = server.post(&format!("{FLEET}/{path}"), &body);
            assert_eq!(reply.status, 409, "{path}: {}", reply.error());
            assert!(reply.error().contains("ada on laptop"), "{}", reply.error());
            assert!(reply.header("retry-after").is_some());
        }
    }
    let output = place.run(&["apply", "--yes", spec.to_str().expect("a path")]);
    assert_eq!(output.status.code(), Some(6));
    assert!(support::text(&output.stderr).contains("ada on laptop"));
    // The replica that looks after the fleet says so, too; the other says which one that is.
    set(32);
    let until = Instant::now() + Duration::from_secs(20);
    loop {
        let said: Vec<String> = [&a, &b]
            .map(|server| {
                server.get(FLEET).document()["overview"]["said"]
                    .as_str()
                    .unwrap_or_default()
                    .to_owned()
            })
            .into();
        if said.iter().any(|said| said.contains("ada on laptop"))
            && said.iter().any(|said| said.contains("looks after it"))
        {
            break;
        }
        assert!(Instant::now() < until, "{said:?}");
        std::thread::sleep(Duration::from_millis(200));
    }
    // Every replica answers for every fleet.
    for server in [&a, &b] {
        let machines = server.get(&format!("{FLEET}/machines")).document();
        assert_eq!(machines["machines"].as_array().map(Vec::len), Some(place.live().len()));
    }
}
