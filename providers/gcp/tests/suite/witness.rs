//! Witnesses that nobody here wrote: Prism between client and fake, on Google's own description of
//! its API, which refuses any request or answer that the description does not allow; and Google's
//! own Python client, which drives the fake.
//!
//! `FLEET_WITNESSES` is the folder in which `cargo xtask test clouds` has installed both.

use crate::support::{
    ON_DEMAND, RealTime, SPOT, ask, client, create_from, destroy, pool, relabel, victims,
};
use fleet_fakes::gcp::{Fake, Faults};
use fleet_model::{OtherPool, Template};
use fleet_provider::{Listing, OfferingsRequest};
use fleet_testkit::told;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::{Child, Command};

pub(crate) fn tools() -> PathBuf {
    let folder = std::env::var_os("FLEET_WITNESSES");
    folder.expect("FLEET_WITNESSES: run `cargo xtask test clouds`").into()
}

/// Prism in front of a fake. Ends with this value.
struct Prism {
    port: u16,
    log: PathBuf,
    _folder: tempfile::TempDir,
    _child: Child,
}

impl Prism {
    async fn start(fake: &Fake) -> Self {
        let tools = tools();
        let folder = tempfile::tempdir().expect("a folder");
        let log = folder.path().join("prism.log");
        let free = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port");
        let port = free.local_addr().expect("an address").port();
        drop(free);
        let out = std::fs::File::create(&log).expect("a log");
        let child = Command::new("node")
            .arg(tools.join("node_modules/@stoplight/prism-cli/dist/index.js"))
            .args(["proxy", "--errors", "-h", "127.0.0.1", "-p", &port.to_string()])
            .arg(tools.join("openapi.json"))
            .arg(fake.url())
            .stdout(Stdio::from(out))
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .expect("node");
        for _ in 0..600 {
            if TcpStream::connect(("127.0.0.1", port)).await.is_ok() {
                return Prism { port, log, _folder: folder, _child: child };
            }
            tokio::time::sleep(Duration::from_millis(250)).await;
        }
        panic!("Prism does not answer");
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Lines of its log that speak of a violation. That a status other than 200 is not described is
    /// none: Google describes no other.
    fn violations(&self) -> Vec<String> {
        let log = std::fs::read_to_string(&self.log).unwrap_or_default();
        let bad = |line: &&str| {
            line.to_lowercase().contains("violation")
                && !line.contains("Unable to match the returned status code")
        };
        log.lines().filter(bad).map(str::to_owned).collect()
    }
}

/// A request written by hand, and the answer's status and body.
async fn raw(port: u16, method: &str, path: &str, body: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await.expect("a connection");
    let request = format!(
        "{method} {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await.expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("an answer");
    let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok());
    (status.expect("a status"), answer)
}

#[tokio::test]
#[ignore = "needs prism: cargo xtask test clouds"]
async fn nothing_that_we_send_or_the_fake_answers_is_refused_by_prism() {
    let fake = Fake::start().await.expect("a port");
    fake.set(Faults { operation_ms: 20, ..Faults::default() });
    let prism = Prism::start(&fake).await;
    let provider = client(prism.url(), Arc::new(RealTime));
    let template = Template {
        user_data: Some("#!/bin/sh\ntrue\n".into()),
        security_groups: vec!["web".into()],
        instance_role: Some("node@test-project.iam.gserviceaccount.com".into()),
        ..Template::default()
    };
    let pools = [
        ON_DEMAND,
        SPOT,
        "gcp/us-central1/us-central1-a/n1-standard-8+2xt4/spot",
        "gcp/us-central1/us-central1-a/a2-highgpu-1g/reserved",
        "gcp/us-central1/regional/n2-standard-8/spot",
    ];
    let ids: Vec<_> = pools.iter().map(|text| pool(text)).collect();
    let request = OfferingsRequest {
        pools: &ids,
        template: &template,
        goal: fleet_model::CapacityGoal::default(),
        ignore: fleet_model::SignalSet::default(),
    };
    let offered = provider.offerings(&request).await.expect("quotes");
    assert!(offered.quotes.iter().all(Option::is_some), "{offered:?}");
    assert!(!offered.quotas.is_empty(), "limits were refused");
    let chance = offered.quotes[1].as_ref().and_then(|quote| quote.signals.obtainability);
    assert!(chance.is_some(), "advice was refused");
    let mut machines = Vec::new();
    for (at, text) in pools.into_iter().enumerate() {
        for count in [1, 3] {
            let create = ask(text, &format!("{at}-{count}"), count);
            let created = create_from(&*provider, &create, &template).await;
            let created = created.unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!(created.machines.len(), count as usize);
            machines.extend(created.machines);
        }
    }
    let mut flexible = ask(ON_DEMAND, "flexible", 4);
    let other = pool("gcp/us-central1/us-central1-a/e2-standard-4/on-demand");
    flexible.others.push(OtherPool { pool: other, price: None, max_price: None });
    let created = create_from(&*provider, &flexible, &template).await.expect("a choice");
    machines.extend(created.machines);
    let room = [("us-central1-a/n2-standard-4".to_owned(), 1)].into();
    fake.set(Faults { operation_ms: 20, room, ..Faults::default() });
    let part = create_from(&*provider, &ask(ON_DEMAND, "part", 3), &template).await;
    let part = part.expect("one of three");
    assert_eq!(part.machines.len(), 1);
    machines.extend(part.machines);
    match provider.machines(&pool(ON_DEMAND).place.scope()).await {
        Ok(Listing::Complete(all)) => assert_eq!(all.len(), machines.len()),
        other => panic!("{other:?}"),
    }
    let labelled = relabel(&*provider, ("team", "shop"), &machines).await.expect("labels");
    assert_eq!(labelled.len(), machines.len());
    let destroyed = destroy(&*provider, &victims(&machines)).await.expect("ended");
    assert_eq!(destroyed.ended.len(), machines.len());
    assert_eq!(prism.violations(), Vec::<String>::new());

    // The check can fail, in both directions.
    let path = "/compute/v1/projects/test-project/zones/us-central1-a/instances";
    let wrong = r#"{"name":"x","scheduling":{"provisioningModel":"CHEAP"}}"#;
    let before = fake.calls("insert");
    let (status, body) = raw(prism.port, "POST", path, wrong).await;
    assert_eq!(status, 422, "{body}");
    assert_eq!(fake.calls("insert"), before, "a wrong request was let through");
    fake.set(Faults { misspeaks: true, ..Faults::default() });
    let (status, body) = raw(prism.port, "GET", path, "").await;
    assert_eq!(status, 500, "{body}");
    assert!(body.contains("VIOLATIONS"), "{body}");
}

#[tokio::test]
#[ignore = "needs Google's Python client: cargo xtask test clouds"]
async fn googles_own_client_is_content_with_the_fake() {
    let fake = Fake::start().await.expect("a port");
    fake.set(Faults { operation_ms: 20, ..Faults::default() });
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite/life.py");
    let mut python = Command::new(tools().join("bin/python"));
    let said = told(python.arg(script).arg(fake.url())).await;
    let said = said.unwrap_or_else(|error| panic!("{error}"));
    assert!(said.contains("content"), "{said}");
    assert_eq!(fake.count(), (0, 0), "machines or disks are left");
}
