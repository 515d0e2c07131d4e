//! `fleet ui`: the pages on the local state, over HTTP and in a real browser.

mod support;

use fleet_sim::{Area, Preset};
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use support::{Place, root, text};

const MINUTE: Duration = Duration::from_secs(60);

/// `fleet ui` at work. Ends with this value.
struct Ui {
    child: Child,
    address: String,
}

impl Drop for Ui {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Ui {
    fn start(place: &Place, args: &[&str]) -> Self {
        let mut all = vec!["ui", "--no-open"];
        all.extend(args);
        let mut child = place
            .command(&all)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("fleet starts");
        let mut line = String::new();
        let out = child.stdout.take().expect("a pipe");
        BufReader::new(out).read_line(&mut line).expect("an address");
        let address = line.trim().trim_start_matches("http://").trim_end_matches('/').to_owned();
        assert!(address.starts_with("127.0.0.1:"), "{line}");
        Ui { child, address }
    }

    fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Head and body of a page.
    fn get(&self, path: &str) -> (String, String) {
        let mut stream = TcpStream::connect(&self.address).expect("it listens");
        let ask = format!(
            "GET {path} HTTP/1.1\r\nhost: {}\r\naccept: text/html\r\nconnection: close\r\n\r\n",
            self.address
        );
        stream.write_all(ask.as_bytes()).expect("sent");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).expect("an answer");
        let answer = text(&answer);
        let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
        (head.to_lowercase(), body.to_owned())
    }

    /// Waits until a page says something.
    fn until(&self, path: &str, says: &str) -> String {
        let begun = Instant::now();
        loop {
            let (_, body) = self.get(path);
            if body.contains(says) {
                return body;
            }
            assert!(begun.elapsed() < 2 * MINUTE, "{path} never says {says:?}:\n{body}");
            std::thread::sleep(Duration::from_millis(200));
        }
    }
}

fn quickstart() -> String {
    std::fs::read_to_string(root().join("fleet-specs/quickstart.yaml")).expect("a spec")
}

/// A fleet in a folder, applied.
fn applied() -> Place {
    let place = Place::new(1, Preset::Lifelike, Duration::ZERO);
    std::fs::create_dir(place.path("specs")).expect("a folder");
    place.write("specs/quickstart.yaml", &quickstart());
    place.expect(0, &["apply", "--yes", "specs"]);
    // Machines start in simulated time.
    place.sim.advance(10 * MINUTE).expect("time passes");
    place
}

#[test]
fn a_newcomer_sees_the_quickstart_fleet() {
    let place = applied();
    let ui = Ui::start(&place, &["specs"]);
    let home = ui.until("/", "as wanted");
    assert!(home.contains("48 of 48 vcpus"), "{home}");
    let (head, fleet) = ui.get("/fleets/quickstart");
    assert!(head.starts_with("http/1.1 200"), "{head}");
    assert!(head.contains("content-security-policy: default-src 'self'"), "{head}");
    assert!(!head.contains("unsafe"), "{head}");
    assert!(fleet.contains("m6i.2xlarge") && fleet.contains("Launches, losses"), "{fleet}");
    for (path, says) in [
        ("/fleets/quickstart/plan", "The fleet is as the spec asks"),
        ("/fleets/quickstart/explain?pool=us-west-2", "us-west-2/usw2-az"),
        ("/fleets/quickstart/explain?slot=base-0", "base-0"),
        ("/fleets/quickstart/explain?pool=%3Cscript%3E", "No pool of the catalog matches"),
        ("/fleets/quickstart/history", "launched"),
        ("/fleets/quickstart/history?show=trouble&before=3", "History"),
        ("/fleets/quickstart?range=30d", "30 days"),
        ("/?q=%3Cscript%3E", "No fleet has “&lt;script&gt;”"),
    ] {
        let (head, body) = ui.get(path);
        assert!(head.starts_with("http/1.1 200"), "{path}: {head}");
        assert!(body.contains(says) && !body.contains("<script>"), "{path}: {body}");
    }
    let (head, body) = ui.get("/fleets/%3Cimg%20src=x%3E");
    assert!(head.starts_with("http/1.1 404") && body.contains("&lt;img src=x&gt;"), "{body}");
    let (head, _) = ui.get("/nothing");
    assert!(head.starts_with("http/1.1 404"), "{head}");
    let (head, body) = ui.get("/fleets/quickstart/history?before=%3Cb%3E");
    assert!(head.starts_with("http/1.1 400") && head.contains("text/html"), "{head}");
    assert!(body.contains("This address makes no sense") && !body.contains("<b>"), "{body}");
    assert!(body.contains("href=\"/fleets/quickstart/history\""), "{body}");
}

#[test]
fn it_looks_and_changes_nothing() {
    let place = applied();
    let before = place.expect(0, &["history", "-o", "json"]);
    let machines = place.live().len();
    let ui = Ui::start(&place, &["specs"]);
    ui.until("/", "as wanted");
    let taken = place.sim.interrupt("aws/*/spot", 1).expect("interrupted");
    assert_eq!(taken.len(), 1);
    ui.until("/", "interrupted");
    // Specs that break later change nothing, and are shown with their place.
    place.write("specs/bad.yaml", &quickstart().replace("target: 48", "target: <b>48</b>"));
    let home = ui.until("/", "The latest specs are refused");
    assert!(home.contains("specs/bad.yaml:") && home.contains("44 of 48 vcpus"), "{home}");
    assert!(!home.contains("<b>"), "{home}");
    drop(ui);
    assert_eq!(place.live().len(), machines);
    assert_eq!(place.expect(0, &["history", "-o", "json"]), before, "the journal grew");
    assert!(!place.path("state/replicas").exists(), "it takes a share of the fleets");
}

#[test]
fn journals_are_enough() {
    let place = applied();
    let ui = Ui::start(&place, &[]);
    let home = ui.until("/", "8 instances");
    assert!(home.contains("no spec") && home.contains("$1.33"), "{home}");
    let (_, fleet) = ui.get("/fleets/quickstart");
    assert!(fleet.contains("Only the journal knows this fleet"), "{fleet}");
    let (_, plan) = ui.get("/fleets/quickstart/plan");
    assert!(plan.contains("no plan") && !plan.contains("to destroy"), "{plan}");
}

#[test]
fn where_nothing_is_it_says_how_to_begin() {
    let place = Place::new(1, Preset::Lifelike, Duration::ZERO);
    let output = place.run(&["ui", "--no-open"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let said = text(&output.stderr);
    assert!(said.contains("fleet init") && said.contains("fleet ui --demo"), "{said}");
}

/// Runs the browser over pages; what it found is in what it says.
fn browse(ui: &Ui, place: &Place, plan: &serde_json::Value) {
    let witnesses = std::env::var("FLEET_WITNESSES").expect("FLEET_WITNESSES");
    let chromium = Command::new("which").arg("chromium").stdout(Stdio::null()).status();
    if !chromium.is_ok_and(|found| found.success()) {
        fleet_testkit::skipped("chromium is not installed");
        return;
    }
    let file = place.write("browse.json", &plan.to_string());
    let output = Command::new("node")
        .arg(root().join("tests/scripts/pages/check.mjs"))
        .arg(format!("{witnesses}/node_modules"))
        .arg(ui.url())
        .arg(file)
        .output()
        .expect("node runs");
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    fleet_testkit::say(&format!("pages: {}", out.lines().last().unwrap_or_default()));
    assert!(output.status.success(), "{out}\n{err}");
}

/// Where pictures of the documentation go, if they are to be made.
fn picture(name: &str) -> serde_json::Value {
    match std::env::var_os("FLEET_WRITE_DOCS") {
        Some(_) => {
            let file = root().join(format!("docs/images/dashboard-{name}.png"));
            serde_json::json!(file.display().to_string())
        }
        None => serde_json::Value::Null,
    }
}

/// Three fleets with a day behind them.
fn with_a_past() -> Place {
    let place = applied();
    for name in ["batch-spot.yaml", "inference.yaml"] {
        let spec = std::fs::read_to_string(root().join("fleet-specs").join(name)).expect("a spec");
        place.write(&format!("specs/{name}"), &spec);
    }
    for hour in 0..12 {
        place.sim.advance(118 * MINUTE).expect("time passes");
        // Where no spot machine stands just now, none can be taken.
        let _ = place.sim.interrupt("*/spot", 1 + hour % 3);
        place.sim.advance(2 * MINUTE).expect("time passes");
        place.run(&["reconcile", "specs"]);
    }
    place
}

#[test]
#[ignore = "needs the witnesses and chromium; `cargo xtask test` runs it"]
fn in_a_browser() {
    let place = with_a_past();
    let ui = Ui::start(&place, &["specs"]);
    ui.until("/", "400 of 400 vcpus");
    let (fleet, phone) = ("/fleets/inference", 390);
    let plan = serde_json::json!([
        { "path": fleet, "says": ["Machines by pool", "Capacity"], "picture": picture("fleet") },
        { "path": fleet, "width": phone, "picture": picture("phone-fleet"), "height": 1400 },
        { "path": fleet, "scheme": "dark", "picture": picture("dark"), "height": 900 },
        { "path": format!("{fleet}?range=30d") },
        { "path": format!("{fleet}?range=7d"), "script": false, "says": ["Machines by pool"] },
        { "path": "/fleets/batch", "scheme": "dark", "width": phone },
        { "path": "/fleets/quickstart/explain", "picture": picture("explain"), "height": 900 },
        { "path": "/fleets/quickstart/explain?pool=aws/*/*/m7i.2xlarge/spot", "width": phone },
        { "path": "/fleets/quickstart/explain?slot=base-0", "scheme": "dark" },
        { "path": "/fleets/inference/history", "picture": picture("history"), "height": 900 },
        { "path": "/fleets/inference/history?show=trouble", "width": phone },
        { "path": "/fleets/nobody", "status": 404, "picture": picture("error"), "height": 420 },
        { "path": "/nothing", "status": 404, "width": phone, "scheme": "dark" },
        { "path": "/", "paint": true },
    ]);
    browse(&ui, &place, &plan);
    // Trouble: a region is silent, machines are taken back, somebody commits nonsense.
    let silent: Area = "gcp/us-central1".parse().expect("an area");
    place.sim.outage(silent, None).expect("an outage");
    place.sim.interrupt("*/spot", 5).expect("interrupted");
    place.sim.advance(MINUTE).expect("time passes");
    place.write("specs/quickstart.yaml", &quickstart().replace("target: 48", "targt: 48"));
    ui.until("/", "The latest specs are refused");
    ui.until("/", "region silent");
    let plan = serde_json::json!([
        { "path": "/", "says": ["did you mean", "Needs attention"], "picture": picture("home") },
        { "path": "/", "scheme": "dark" },
        { "path": "/", "width": phone, "picture": picture("phone"), "height": 1100 },
        { "path": "/", "script": false, "says": ["Needs attention"] },
        { "path": "/fleets/batch/plan", "picture": picture("plan"), "says": ["As fleet plan"] },
        { "path": "/fleets/batch/plan", "width": phone, "scheme": "dark" },
        { "path": "/fleets/batch", "says": ["silent"] },
    ]);
    browse(&ui, &place, &plan);
}

/// First paint and weight where there is much to show.
#[test]
#[ignore = "needs the witnesses and chromium; `cargo xtask test` runs it"]
fn a_hundred_fleets_of_fifty() {
    let place = Place::new(1, Preset::Calm, Duration::ZERO);
    let mut all = String::new();
    for nth in 0..100 {
        let spec = quickstart()
            .replace("name: quickstart", &format!("name: team-{nth:03}"))
            .replace("unit: vcpus", "unit: instances")
            .replace("target: 48", "target: 50")
            .replace("budget: { hourlyUsd: 3 }", "budget: { hourlyUsd: 300 }");
        let _ = write!(all, "---\n{spec}\n");
    }
    place.write("many.yaml", &all);
    place.expect(0, &["apply", "--yes", "many.yaml"]);
    assert_eq!(place.live().len(), 5000);
    let ui = Ui::start(&place, &["many.yaml", "--every", "10m"]);
    let begun = Instant::now();
    while !ui.get("/").1.contains("5,000</dd>") && !ui.get("/").1.contains("5,000<small>") {
        assert!(begun.elapsed() < 5 * MINUTE, "{}", ui.get("/").1);
        std::thread::sleep(Duration::from_millis(500));
    }
    // What it says is told, and judged only if somebody wants that: machines that run tests are busy.
    let most: Option<u32> = std::env::var("FLEET_PAINT_MS").ok().and_then(|ms| ms.parse().ok());
    let plan = serde_json::json!([
        { "path": "/", "paint": true, "paintMs": most, "says": ["100 fleets", "1–40 of 100"] },
        { "path": "/?page=3", "says": ["team-099", "81–100 of 100"] },
        { "path": "/", "width": 390 },
        { "path": "/fleets/team-050", "paint": true, "paintMs": most },
    ]);
    browse(&ui, &place, &plan);
}
