//! A real Prometheus scrapes a running controller: every query of the board and every alert is put to it.
//! Run by `cargo xtask test metrics`, which unpacks Debian's `prometheus` and sets `FLEET_WITNESSES`.

mod support;

use fleet_sim::Preset;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use support::{Place, root, text};

/// How long something may take that takes seconds.
const PATIENCE: Duration = Duration::from_secs(120);

fn debian(program: &str) -> PathBuf {
    let witnesses = std::env::var("FLEET_WITNESSES").expect("FLEET_WITNESSES");
    let path = Path::new(&witnesses).join("debian/usr/bin").join(program);
    assert!(
        path.exists(),
        "{} is not there: `cargo xtask test metrics` unpacks it",
        path.display()
    );
    path
}

fn promtool(args: &[&str], stdin: &str) -> Output {
    let mut command = Command::new(debian("promtool"));
    command.args(args).current_dir(root().join("examples/grafana"));
    let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut promtool = pipes.spawn().expect("promtool");
    promtool.stdin.take().expect("a pipe").write_all(stdin.as_bytes()).expect("read");
    promtool.wait_with_output().expect("an end")
}

fn content(output: &Output) {
    let said = text(&output.stdout) + &text(&output.stderr);
    assert!(output.status.success(), "{said}");
}

/// Ends with the test, whatever becomes of it.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The whole answer, whatever it says.
fn ask(port: u16, target: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.set_read_timeout(Some(Duration::from_secs(20)))?;
    let request = format!("GET {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes())?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}

fn get(port: u16, target: &str) -> String {
    let answer = ask(port, target).expect("an answer");
    let (head, body) = answer.split_once("\r\n\r\n").expect("a body");
    assert!(head.starts_with("HTTP/1.1 200"), "{target}: {answer}");
    if !head.to_ascii_lowercase().contains("transfer-encoding: chunked") {
        return body.to_owned();
    }
    let (mut whole, mut rest) = (String::new(), body);
    while let Some((length, after)) = rest.split_once("\r\n") {
        let length = usize::from_str_radix(length.trim(), 16).expect("a length");
        whole.push_str(&after[..length]);
        rest = after[length..].trim_start_matches("\r\n");
    }
    whole
}

fn encoded(query: &str) -> String {
    query.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(start.elapsed() < PATIENCE, "{what}: not in {PATIENCE:?}");
        std::thread::sleep(Duration::from_millis(250));
    }
}

struct Prometheus {
    port: u16,
    _running: Running,
}

impl Prometheus {
    /// Scrapes a port every second, with the rules of the examples. Alerts do not wait here: that they wait as
    /// long as they say is tested with `promtool test rules`.
    fn scraping(place: &Place, scraped: u16) -> Self {
        let rules = std::fs::read_to_string(root().join("examples/grafana/fleet.rules.yml"));
        let rules = rules.expect("the rules");
        let at_once = rules.lines().filter(|line| !line.trim_start().starts_with("for: "));
        place.write("rules.yml", &at_once.map(|line| format!("{line}\n")).collect::<String>());
        let config = format!(
            "global: {{ scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s }}\n\
             rule_files: [rules.yml]\n\
             scrape_configs:\n\
             - {{ job_name: fleet, static_configs: [{{ targets: ['127.0.0.1:{scraped}'] }}] }}\n"
        );
        let config = place.write("prometheus.yml", &config);
        let port = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr());
        let port = port.expect("a port").port();
        let log = std::fs::File::create(place.path("prometheus.log")).expect("a log");
        let running = Command::new(debian("prometheus"))
            .arg(format!("--config.file={}", config.display()))
            .arg(format!("--storage.tsdb.path={}", place.path("tsdb").display()))
            .arg(format!("--web.listen-address=127.0.0.1:{port}"))
            .args(["--log.level=warn", "--enable-feature=exemplar-storage"])
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .expect("prometheus");
        let prometheus = Prometheus { port, _running: Running(running) };
        // It listens before it answers questions.
        let ready = |answer: &String| answer.starts_with("HTTP/1.1 200");
        until("prometheus is up", || ask(port, "/-/ready").ok().filter(ready));
        prometheus
    }

    fn api(&self, path: &str) -> Value {
        let answer: Value = serde_json::from_str(&get(self.port, path)).expect("JSON");
        assert_eq!(answer["status"], "success", "{path}: {answer}");
        answer["data"].clone()
    }

    fn query(&self, query: &str) -> Vec<Value> {
        let data = self.api(&format!("/api/v1/query?query={}", encoded(query)));
        data["result"].as_array().expect("series").clone()
    }

    fn wait_for(&self, query: &str) -> Vec<Value> {
        until(query, || Some(self.query(query)).filter(|series| !series.is_empty()))
    }

    fn wait_for_alert(&self, alert: &str) {
        self.wait_for(&format!("ALERTS{{alertname=\"{alert}\",alertstate=\"firing\"}}"));
    }
}

/// A controller of the quickstart fleet, and the port that it serves at.
fn controller(place: &Place) -> (Running, u16) {
    let specs = place.path("specs");
    std::fs::create_dir_all(&specs).expect("a folder");
    let quickstart = root().join("fleet-specs/quickstart.yaml");
    std::fs::copy(quickstart, specs.join("quickstart.yaml")).expect("a spec");
    let mut command = place.command(&["controller", "specs", "--listen", "127.0.0.1:0"]);
    let mut child = command.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().expect("fleet");
    let mut lines = BufReader::new(child.stderr.take().expect("a log")).lines();
    let port = loop {
        let line = lines.next().expect("it listens").expect("text");
        if line.contains("listening") {
            let event: Value = serde_json::from_str(&line).expect("a line of JSON");
            let address = event["address"].as_str().expect("an address").to_owned();
            break address.rsplit(':').next().and_then(|port| port.parse().ok()).expect("a port");
        }
    };
    // A log that nobody reads would stop the process once the pipe is full.
    std::thread::spawn(move || lines.for_each(drop));
    (Running(child), port)
}

/// Every query of the board, with its variables filled in. Fresh servers have no history, so that what looks
/// back an hour looks back some seconds.
fn board() -> Vec<String> {
    let board = std::fs::read_to_string(root().join("examples/grafana/fleet.json"));
    let board: Value = serde_json::from_str(&board.expect("the board")).expect("JSON");
    let panels = board["panels"].as_array().expect("panels");
    let targets = panels.iter().flat_map(|panel| panel["targets"].as_array().expect("targets"));
    let queries = targets.map(|target| target["expr"].as_str().expect("a query").to_owned());
    let filled = queries.map(|query| {
        query.replace("$fleet", ".*").replace("$__rate_interval", "2m").replace("1h", "5s")
    });
    filled.collect()
}

#[test]
#[ignore = "needs Debian's prometheus; `cargo xtask test metrics` runs it"]
fn rules_are_sound_and_every_alert_is_tested() {
    content(&promtool(&["check", "rules", "fleet.rules.yml"], ""));
    content(&promtool(&["test", "rules", "fleet.rules.test.yml"], ""));
    let read = |name: &str| std::fs::read_to_string(root().join("examples/grafana").join(name));
    let (rules, tests) =
        (read("fleet.rules.yml").expect("rules"), read("fleet.rules.test.yml").expect("tests"));
    let alerts = rules.lines().filter_map(|line| line.trim().strip_prefix("- alert: "));
    let alerts: Vec<&str> = alerts.collect();
    assert!(alerts.len() >= 8, "{alerts:?}");
    for alert in alerts {
        assert!(tests.contains(&format!("alertname: {alert}\n        exp_alerts:\n")), "{alert}");
    }
    // It bites.
    let wrong = promtool(&["check", "metrics"], "# TYPE fleet_x counter\nfleet_x 1\n");
    assert!(!wrong.status.success());
}

#[test]
#[ignore = "needs Debian's prometheus; `cargo xtask test metrics` runs it"]
fn prometheus_answers_every_query_of_the_board_and_every_alert() {
    let place = Place::new(7, Preset::Lifelike, Duration::ZERO);
    let (running, port) = controller(&place);
    let prometheus = Prometheus::scraping(&place, port);
    prometheus.wait_for(r#"fleet_units{kind="have"} >= ignoring(kind) fleet_units{kind="wanted"}"#);
    // `increase` needs to have seen the counter before it rises.
    prometheus.wait_for("count_over_time(fleet_interruptions_total[1m]) > 2");

    place.expect(0, &["sim", "exhaust", "*/on-demand"]);
    place.expect(0, &["sim", "interrupt", "aws/*/spot", "--count", "2"]);
    let base = place.live().into_iter().find(|one| one.market == fleet_model::Market::OnDemand);
    place.expect(0, &["sim", "reclaim", base.expect("a base").id.as_str()]);
    prometheus.wait_for("fleet_pool_blocked");
    place.expect(0, &["sim", "outage", "us-central1"]);

    for query in board() {
        prometheus.wait_for(&query);
    }
    content(&promtool(&["check", "metrics"], &get(port, "/metrics")));
    prometheus.wait_for_alert("FleetBaseBelowTarget");
    place.write("specs/bad.yaml", "kind: Fleet\nnonsense: true\n");
    prometheus.wait_for_alert("FleetSpecsRefused");

    let rules = prometheus.api("/api/v1/rules");
    let rules = rules["groups"][0]["rules"].as_array().expect("rules").clone();
    for rule in &rules {
        assert_eq!(rule["health"], "ok", "{rule}");
        prometheus.query(rule["query"].as_str().expect("a query"));
    }
    let gone = "ALERTS{alertname=\"FleetControllerGone\"}";
    assert!(prometheus.query(gone).is_empty(), "the controller is there");
    let target = prometheus.api("/api/v1/targets");
    assert_eq!(target["activeTargets"][0]["health"], "up", "{target}");
    drop(running);
    prometheus.wait_for_alert("FleetControllerGone");
}

#[test]
#[ignore = "needs Debian's prometheus; `cargo xtask test metrics` runs it"]
fn the_textfile_is_what_collectors_read() {
    let place = Place::new(3, Preset::Calm, Duration::ZERO);
    let spec = root().join("fleet-specs/quickstart.yaml");
    let spec = spec.to_str().expect("a path");
    let file = place.path("fleet.prom");
    let run = || {
        let args = ["reconcile", spec, "--metrics-textfile", file.to_str().expect("a path")];
        place.expect(0, &args);
        std::fs::read_to_string(&file).expect("the file")
    };
    let first = run();
    content(&promtool(&["check", "metrics"], &first));
    let value = |text: &str, start: &str| -> f64 {
        let lines = text.lines().filter(|line| line.starts_with(start));
        lines
            .map(|line| line.rsplit(' ').next().expect("a value").parse::<f64>().expect("it"))
            .sum()
    };
    assert!(value(&first, "fleet_launch_total{") > 0.0, "{first}");
    assert_eq!(value(&first, "fleet_reconcile_total{"), 1.0);
    assert!(value(&first, "fleet_last_reconcile_timestamp_seconds{") > 1.7e9);
    let second = run();
    assert_eq!(value(&second, "fleet_reconcile_total{"), 2.0, "{second}");
    assert_eq!(value(&second, "fleet_launch_total{"), value(&first, "fleet_launch_total{"));
    let left = std::fs::read_dir(place.path("")).expect("a folder");
    let left =
        left.flatten().filter(|one| one.file_name().to_string_lossy().starts_with(".fleet-"));
    assert_eq!(left.count(), 0, "a temporary file is left");
    let nowhere = place.path("no/such/folder/fleet.prom");
    let args = ["reconcile", spec, "--metrics-textfile", nowhere.to_str().expect("a path")];
    place.expect(1, &args);
}
