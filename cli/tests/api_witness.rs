//! What others make of the API's description: a validator, a generator of clients, and a fuzzer that nobody here wrote.
//! `cargo xtask test` and `cargo xtask api` install them and run this.

mod support;

use std::path::{Path, PathBuf};
use std::process::Command;
use support::server::Server;
use support::{Place, root, text};

/// Where `cargo xtask` has installed them.
fn tool(name: &str) -> PathBuf {
    let folder =
        std::env::var_os("FLEET_API_TOOLS").expect("FLEET_API_TOOLS: run `cargo xtask api`");
    Path::new(&folder).join("bin").join(name)
}

fn run(command: &mut Command) -> String {
    // The generator calls a formatter that lies beside it.
    let path = std::env::var("PATH").unwrap_or_default();
    let beside = tool("");
    command.env("PATH", format!("{}:{path}", beside.display()));
    let output = command.output().expect("it runs");
    let said = text(&output.stdout) + &text(&output.stderr);
    assert!(output.status.success(), "{command:?}\n{said}");
    said
}

fn description() -> PathBuf {
    root().join("docs/openapi.json")
}

fn world() -> (Place, Server) {
    let (place, specs) = Server::ground();
    let server = Server::start(&place, &specs, &["--speed", "0", "--rate", "1000000"]);
    server.settled(&[]);
    (place, server)
}

#[test]
#[ignore = "needs openapi-spec-validator: `cargo xtask api`"]
fn the_description_is_openapi() {
    let said = run(Command::new(tool("openapi-spec-validator"))
        .arg("--schema")
        .arg("3.1")
        .arg(description()));
    assert!(said.contains("OK"), "{said}");
}

#[test]
#[ignore = "needs openapi-python-client: `cargo xtask api`"]
fn a_generated_client_drives_it() {
    let (place, server) = world();
    let client = place.path("client");
    run(Command::new(tool("openapi-python-client"))
        .args(["generate", "--meta", "none", "--fail-on-warning", "--path"])
        .arg(description())
        .arg("--output-path")
        .arg(client.join("fleet_client")));
    let said = run(Command::new(tool("python"))
        .arg(root().join("tests/scripts/api/client.py"))
        .arg(format!("http://{}", server.address))
        .env("PYTHONPATH", client));
    assert!(said.contains("listed, planned, frozen and thawed"), "{said}");
    let told = place.expect(0, &["history", "quickstart"]);
    assert!(told.contains("freeze over HTTP (a generated client)"), "{told}");
}

/// So many requests at least, unless `FLEET_API_REQUESTS` says otherwise.
const REQUESTS: u64 = 2000;

#[test]
#[ignore = "needs schemathesis: `cargo xtask api`"]
fn no_request_breaks_it() {
    let wanted = std::env::var("FLEET_API_REQUESTS")
        .ok()
        .and_then(|number| number.parse().ok())
        .unwrap_or(REQUESTS);
    let (place, server) = world();
    let config =
        place.write("schemathesis.toml", "[parameters]\n\"path.fleet\" = \"quickstart\"\n");
    let (mut sent, mut runs) = (0, 0);
    while sent < wanted {
        assert!(runs <= 50, "{sent} requests in {runs} runs");
        sent += std::thread::scope(|scope| {
            let fuzzers: Vec<_> = (1..=AT_ONCE)
                .map(|number| {
                    let (config, server) = (&config, &server);
                    let home = place.path(".");
                    scope.spawn(move || fuzz(config, server, &home, runs + number))
                })
                .collect();
            fuzzers.into_iter().map(|fuzzer| fuzzer.join().expect("a count")).sum::<u64>()
        });
        runs += AT_ONCE;
        assert_eq!(server.get("/healthz").status, 200);
    }
    fleet_testkit::say(&format!(
        "schemathesis: {sent} requests in {runs} runs, none with an answer that is not described"
    ));
}

/// So many fuzzers send at once, each a process: before 3.11.8, threads of one Python that compile code at the same
/// time fail with "AST constructor recursion depth mismatch" (python/cpython#106905), and schemathesis compiles a lot.
const AT_ONCE: u64 = 2;

/// Lets the fuzzer loose on `server`. How many requests it sent.
fn fuzz(config: &Path, server: &Server, home: &Path, seed: u64) -> u64 {
    let said = run(Command::new(tool("schemathesis"))
        .arg("--config-file")
        .arg(config)
        .arg("run")
        .arg(description())
        .args(["--url", &format!("http://{}", server.address)])
        .args(["--seed", &seed.to_string(), "--max-examples", "100"])
        .args(["--workers", "1", "--no-color", "--continue-on-failure"])
        // Streams do not end. A date may be one and be over: no schema can say that.
        .args(["--exclude-path-regex", "events$"])
        .args(["--exclude-checks", "positive_data_acceptance"])
        .args(["--request-timeout", "60", "--generation-database", "none"])
        .current_dir(home));
    let line = said.lines().find(|line| line.contains(" generated")).expect("a count");
    let number = line.split_whitespace().next().and_then(|word| word.parse().ok());
    number.expect("a number")
}
