//! `fleet controller` through the real binary: it looks after fleets by itself, alone or with others.

mod support;

use fleet_sim::Preset;
use serde_json::Value;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use support::{Place, text};

const PATIENCE: Duration = Duration::from_secs(60);

fn spec(name: &str, target: u32) -> String {
    format!(
        "apiVersion: fleet/v1\nkind: Fleet\nmetadata: {{ name: {name} }}\nspec:\n  \
         capacity: {{ target: {target}, base: {{ onDemand: 1 }}, burst: {{ spot: 100% }} }}\n  \
         instances: {{ families: [m6i] }}\n  \
         placement: {{ clouds: [{{ provider: aws, regions: [us-east-1] }}] }}\n"
    )
}

const BROKEN: &str =
    "apiVersion: fleet/v1\nkind: Fleet\nmetadata: { name: web }\nspec: { capacity: 7 }\n";

fn place() -> Place {
    let place = Place::new(1, Preset::Calm, Duration::ZERO);
    std::fs::create_dir(place.path("fleets")).expect("a folder");
    place.write("fleets/web.yaml", &spec("web", 4));
    place
}

fn once(place: &Place, code: i32, source: &str) -> Value {
    let document = place.expect(code, &["controller", source, "--once"]);
    serde_json::from_str(&document).unwrap_or_else(|error| panic!("{error}: {document}"))
}

/// A controller in the background, ended with the test.
struct Running(Child);

impl Running {
    fn start(place: &Place, source: &str, more: &[&str]) -> Self {
        let log =
            std::fs::File::create(place.path(&format!("log-{}", more.join("")))).expect("a log");
        let mut command = place.command(&["controller", source, "--listen", "none"]);
        command.args(["--notices-every", "200ms", "--fetch-every", "500ms"]).args(more);
        Running(command.stdout(Stdio::null()).stderr(log).spawn().expect("a controller"))
    }

    fn stop(mut self) -> Option<i32> {
        let asked = Command::new("kill").arg("-TERM").arg(self.0.id().to_string()).status();
        assert!(asked.expect("kill").success());
        self.0.wait().expect("an end").code()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < PATIENCE, "not within a minute: {what}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

fn git(folder: &Path, arguments: &[&str]) {
    let mut git = Command::new("git");
    git.args(["-c", "user.name=a", "-c", "user.email=a@example.org"]).args(arguments);
    assert!(git.current_dir(folder).status().expect("git").success(), "{arguments:?}");
}

#[test]
fn once_makes_fleets_what_their_specs_say_and_then_does_nothing() {
    let place = place();
    let first = once(&place, 0, "fleets");
    assert_eq!(first["fleets"][0]["launched"], 4);
    assert_eq!(first["fleets"][0]["standing"], "settled");
    let history = place.expect(0, &["history", "web"]);
    assert!(history.contains("fleet controller, replica"), "{history}");
    let before = place.live();
    assert_eq!(once(&place, 0, "fleets")["fleets"][0]["launched"], 0);
    assert_eq!(place.live(), before);
    assert_eq!(
        place.expect(0, &["history", "web"]),
        history,
        "a look that changes nothing writes nothing"
    );
}

#[test]
fn a_dry_run_decides_and_does_nothing() {
    let place = place();
    let text = place.expect(0, &["controller", "fleets", "--once", "--dry-run"]);
    let seen: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!((&seen["acts"], &seen["fleets"][0]["machines"]), (&false.into(), &0.into()));
    assert!(place.live().is_empty());
}

#[test]
fn bad_specs_change_nothing_and_say_where() {
    let place = place();
    once(&place, 0, "fleets");
    let before = place.live();
    place.write("fleets/api.yaml", &spec("api", 2));
    place.write("fleets/web.yaml", BROKEN);
    let refused = once(&place, 4, "fleets");
    let place_named = refused["source"]["refused"]["place"].as_str().expect("a place");
    assert!(place_named.contains("web.yaml:4:"), "{place_named}");
    assert_eq!(place.live(), before, "the good one among them waits as well");
}

#[test]
fn a_changed_folder_is_noticed_and_a_bad_one_is_not_obeyed() {
    let place = place();
    let controller = Running::start(&place, "fleets", &["--replica", "one"]);
    until("four machines", || place.live().len() == 4);
    place.write("fleets/web.yaml", BROKEN);
    std::thread::sleep(Duration::from_secs(2));
    assert_eq!(place.live().len(), 4);
    place.write("fleets/web.yaml", &spec("web", 6));
    until("six machines", || place.live().len() == 6);
    assert_eq!(controller.stop(), Some(0));
    // Its lease is given back.
    place.expect(0, &["apply", "--yes", "fleets"]);
}

#[test]
fn a_machine_with_a_notice_is_replaced_before_it_is_gone() {
    let place = place();
    let _controller = Running::start(&place, "fleets", &["--speed", "1"]);
    until("four machines", || place.live().len() == 4);
    place.sim.advance(Duration::from_secs(60)).expect("time");
    let taken = place.sim.interrupt("*/spot", 1).expect("a notice");
    until("a fifth machine", || place.live().len() == 5);
    // Two minutes at one second per second are not over.
    let there = place.sim.machines().expect("machines").into_iter();
    assert!(there.into_iter().any(|machine| machine.id == taken[0] && machine.notice.is_some()));
}

/// A fleet that is looked at once in thirty days unless something wakes it.
const SELDOM: [&str; 6] = ["--every", "720h", "--market-every", "200ms", "--speed", "0"];

#[test]
fn a_fleet_is_woken_when_its_machines_become_dearer() {
    let place = Place::new(1, Preset::Lifelike, Duration::ZERO);
    std::fs::create_dir(place.path("fleets")).expect("a folder");
    place.write("fleets/web.yaml", &spec("web", 12));
    let _controller = Running::start(&place, "fleets", &SELDOM);
    until("twelve machines", || place.live().len() == 12);
    let log =
        || std::fs::read_to_string(place.path(&format!("log-{}", SELDOM.join("")))).expect("a log");
    until("a price that rose", || {
        place.sim.advance(Duration::from_secs(3600)).expect("time");
        log().contains("machines of the fleet became dearer")
    });
}

#[test]
fn a_fleet_that_lacks_machines_is_woken_when_there_is_room() {
    let place = Place::new(1, Preset::Calm, Duration::ZERO);
    std::fs::create_dir(place.path("fleets")).expect("a folder");
    place.write(
        "fleets/gpu.yaml",
        "apiVersion: fleet/v1\nkind: Fleet\nmetadata: { name: gpu }\nspec:\n  \
         capacity: { target: 2, base: { onDemand: 100% } }\n  instances: { types: [gpu_1x_a10] }\n  \
         placement: { clouds: [{ provider: lambda }] }\n",
    );
    place.sim.exhaust("lambda", None).expect("a fault");
    // A pool that refused rests for minutes, whatever its cloud says: a later look finds that over.
    let seldom = ["--every", "1h", "--market-every", "200ms", "--speed", "0"];
    let _controller = Running::start(&place, "fleets", &seldom);
    let log =
        || std::fs::read_to_string(place.path(&format!("log-{}", seldom.join("")))).expect("a log");
    until("specs", || log().contains("specs are in force"));
    std::thread::sleep(Duration::from_secs(3));
    assert_eq!(place.live().len(), 0);
    place.sim.heal().expect("no fault");
    until("room", || log().contains("a pool that could fill a gap has room again"));
    until("two machines", || {
        place.sim.advance(Duration::from_secs(600)).expect("time");
        place.live().len() == 2
    });
}

#[test]
fn a_branch_is_followed_and_a_restart_on_a_bad_commit_begins_with_the_last_good_one() {
    let place = place();
    let repository = place.path("repository");
    std::fs::create_dir_all(repository.join("specs")).expect("a folder");
    git(&repository, &["init", "--quiet", "--initial-branch=main", "."]);
    git(&repository, &["config", "uploadpack.allowAnySHA1InWant", "true"]);
    let write = |text: &str, message: &str| {
        std::fs::write(repository.join("specs/web.yaml"), text).expect("a file");
        git(&repository, &["add", "--all"]);
        git(&repository, &["commit", "--quiet", "-m", message]);
    };
    write(&spec("web", 3), "three");
    let address = format!("file://{}", repository.display());
    let run = |code: i32| {
        let text = place.expect(code, &["controller", &address, "--path", "specs", "--once"]);
        serde_json::from_str::<Value>(&text).expect("JSON")
    };
    let first = run(0);
    assert_eq!(first["fleets"][0]["launched"], 3);
    let good = first["source"]["commit"].clone();
    assert!(
        place
            .expect(0, &["history", "web"])
            .contains(&format!("commit {}", good.as_str().expect("one")))
    );
    write(BROKEN, "a slip of the pen");
    // Somebody ends a machine meanwhile: the fleet is looked after all the same.
    let lost = place.live().pop().expect("a machine");
    place.sim.reclaim(&lost.id).expect("gone");
    place.sim.advance(Duration::from_secs(600)).expect("time");
    let second = run(4);
    assert_eq!(second["source"]["commit"], good);
    assert_ne!(second["source"]["refused"]["commit"], good);
    assert_eq!(second["fleets"][0]["launched"], 1, "{second}");
    write(&spec("web", 5), "five");
    assert_eq!(run(0)["fleets"][0]["have"], 5.0);
}

#[test]
fn no_such_source_is_an_error_with_a_hint() {
    let place = place();
    let said = text(&place.run(&["controller", "no-such-folder", "--once"]).stderr);
    assert!(said.contains("no address of a repository"), "{said}");
    let nowhere = format!("file://{}", place.path("nowhere").display());
    let output = place.run(&["controller", &nowhere, "--once"]);
    let document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let error = document["source"]["refused"]["error"].as_str().expect("an error");
    assert!(error.starts_with("git says:"), "{error}");
}

#[test]
fn replicas_and_a_person_share_a_fleet_and_one_acts_at_a_time() {
    let place = Place::new(1, Preset::Calm, Duration::from_millis(300));
    std::fs::create_dir(place.path("fleets")).expect("a folder");
    let write = |target: u32| {
        for nth in 0..4 {
            place.write(&format!("fleets/f{nth}.yaml"), &spec(&format!("f{nth}"), target));
        }
    };
    let all_have = |target: u32| place.live().len() == 4 * target as usize;
    let mut target = 4;
    write(target);
    let one = Running::start(&place, "fleets", &["--replica", "one"]);
    let _two = Running::start(&place, "fleets", &["--replica", "two"]);
    // Calls take their time, so a person meets a controller at work, and is told who that is. Whoever comes when
    // all is done gives them more to do.
    let mut told = false;
    until("somebody is told who is at work", || {
        if all_have(target) {
            target += 1;
            write(target);
        }
        for nth in 0..4 {
            let output = place.run(&["apply", "--yes", &format!("fleets/f{nth}.yaml")]);
            told |= output.status.code() == Some(6)
                && text(&output.stderr).contains("fleet controller, replica");
        }
        told
    });
    until("every machine", || all_have(target));
    // One dies; the other takes its fleets.
    drop(one);
    write(target + 1);
    until("one more of each fleet, by the other one", || all_have(target + 1));
    let histories: Vec<String> =
        (0..4).map(|nth| place.expect(0, &["history", &format!("f{nth}")])).collect();
    assert!(histories.iter().all(|history| history.contains("replica two")), "{histories:?}");
}

#[test]
fn fleets_without_a_spec_go_if_a_policy_says_so() {
    let place = place();
    place.write("fleets/old.yaml", &spec("old", 2));
    once(&place, 0, "fleets");
    std::fs::remove_file(place.path("fleets/old.yaml")).expect("a file");
    place.sim.advance(Duration::from_secs(600)).expect("time");
    once(&place, 0, "fleets");
    assert_eq!(place.live().len(), 6, "unmanaged fleets stay");
    let policy =
        "apiVersion: fleet/v1\nkind: Policy\nmetadata: { name: all }\nspec: { prune: true }\n";
    place.write("fleets/policy.yaml", policy);
    for _ in 0..4 {
        once(&place, 0, "fleets");
        place.sim.advance(Duration::from_secs(600)).expect("time");
    }
    assert_eq!(place.live().len(), 4);
}
