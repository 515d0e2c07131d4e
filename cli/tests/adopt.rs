//! Fleets that get another name, machines that are let go, and machines that are taken in.

mod support;

use fleet_model::Machine;
use fleet_sim::Preset;
use serde_json::{Value, json};
use std::process::Stdio;
use std::time::Duration;
use support::{Place, text};

fn spec(name: &str, target: u32, more: &str) -> String {
    format!(
        "apiVersion: fleet/v1\nkind: Fleet\nmetadata: {{ name: {name}, labels: {{ team: research }} }}\nspec:\n  \
         capacity: {{ target: {target}, base: {{ onDemand: 2 }} }}\n  instances: {{ families: [m6i] }}\n  \
         placement: {{ clouds: [{{ provider: aws, regions: [us-east-1] }}] }}\n{more}"
    )
}

/// One fleet, `old`, of two machines on demand and two of spot.
fn place() -> Place {
    let place = Place::new(1, Preset::Calm, Duration::ZERO);
    std::fs::create_dir(place.path("fleets")).expect("a folder");
    place.write("fleets/old.yaml", &spec("old", 4, ""));
    place.expect(0, &["apply", "--yes", "fleets"]);
    place.sim.advance(Duration::from_secs(600)).expect("time");
    place
}

fn rename_spec(place: &Place) {
    std::fs::remove_file(place.path("fleets/old.yaml")).expect("a file");
    place.write("fleets/new.yaml", &spec("new", 4, ""));
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// What a command that fails says, in one line.
fn refused(place: &Place, code: i32, args: &[&str]) -> String {
    let output = place.run(args);
    assert_eq!(output.status.code(), Some(code), "{args:?}: {}", text(&output.stderr));
    text(&output.stderr).split_whitespace().collect::<Vec<_>>().join(" ")
}

fn ids(place: &Place) -> Vec<String> {
    let mut ids: Vec<String> = place.live().iter().map(|machine| machine.id.to_string()).collect();
    ids.sort();
    ids
}

fn names(place: &Place) -> Vec<String> {
    let name = |machine: Machine| machine.owner.map(|owner| owner.name.to_string());
    place.live().into_iter().map(|machine| name(machine).unwrap_or_default()).collect()
}

fn assert_empty_plan(place: &Place, args: &[&str]) {
    let args = [&["plan", "--detailed-exitcode", "-o", "json"], args].concat();
    let document = json(&place.expect(0, &args));
    assert_eq!(document["fleets"][0]["steps"], json!([]), "{document:#}");
    assert_eq!(document["fleets"][0]["notices"], json!([]), "{document:#}");
}

#[test]
fn a_renamed_fleet_is_recognised_and_no_machine_is_touched() {
    let place = place();
    rename_spec(&place);
    let before = ids(&place);
    let said = text(&place.run(&["plan", "fleets"]).stderr);
    assert!(said.contains("If it is called `new` now: `fleet rename old new`."), "{said}");
    let said = text(&place.run(&["plan", "fleets/new.yaml"]).stderr);
    assert!(said.contains("`fleet rename old new`"), "{said}");
    let said = place.expect(0, &["rename", "old", "new"]);
    assert_eq!(said.trim(), "Fleet old is now called new. Its 4 machines stay as they are.");
    assert_empty_plan(&place, &["fleets"]);
    assert_eq!(ids(&place), before);
    assert_eq!(names(&place), ["new"; 4]);
    let said = refused(&place, 4, &["status", "--fleet", "old"]);
    assert!(said.contains("there is no fleet `old`") || said.contains("old"), "{said}");
    let known = refused(&place, 4, &["freeze", "old", "--reason", "x"]);
    assert!(known.contains("fleets here: new"), "{known}");
    assert!(!place.path("state/fleets/old").exists());
    let history = place.expect(0, &["history", "new"]);
    assert!(history.contains("from old to new") && history.contains("launched"), "{history}");
    let document = json(&place.expect(0, &["history", "new", "-o", "json"]));
    let kinds = document["fleets"][0]["events"].as_array().expect("events").iter();
    assert_eq!(kinds.filter(|event| event["kind"] == "renamed").count(), 1);
    // It goes on as before: the next apply of the new name keeps, replaces and grows.
    place.write("fleets/new.yaml", &spec("new", 6, ""));
    place.expect(0, &["apply", "--yes", "fleets"]);
    assert_eq!(ids(&place).len(), 6);
    place.assert_one_per_slot();
    // Saying it once more changes nothing, and so does the way back and forth.
    let document = json(&place.expect(0, &["rename", "old", "new", "-o", "json"]));
    assert_eq!((&document["machines"], &document["retagged"]), (&json!(6), &json!(6)));
    place.expect(0, &["rename", "new", "old"]);
    place.expect(0, &["rename", "old", "new"]);
    assert_empty_plan(&place, &["fleets"]);
}

#[test]
fn the_old_name_is_free_for_another_fleet() {
    let place = place();
    rename_spec(&place);
    // The tags tell the old name: no cloud is asked to change them here.
    place.sim.outage("aws".parse().expect("an area"), None).expect("out");
    let output = place.run(&["rename", "old", "new"]);
    assert_eq!(output.status.code(), Some(0));
    let said = text(&output.stderr);
    assert!(said.contains("the tags of 4 machines tell the old name still"), "{said}");
    place.sim.heal().expect("healed");
    assert_eq!(names(&place), ["old"; 4]);
    assert_empty_plan(&place, &["fleets"]);
    // Machines that tell its name do not stop it: they are known to be another's.
    place.write("fleets/old.yaml", &spec("old", 2, ""));
    place.expect(0, &["apply", "--yes", "fleets"]);
    assert_eq!(ids(&place).len(), 6);
    place.assert_one_per_slot();
    for file in ["fleets/old.yaml", "fleets/new.yaml", "fleets"] {
        assert_empty_plan(&place, &[file]);
    }
    place.expect(0, &["destroy", "--yes", "--fleet", "old", "fleets"]);
    assert_eq!(ids(&place).len(), 4, "the others are not touched");
}

#[test]
fn a_rename_that_cannot_be_says_why_and_changes_nothing() {
    let place = place();
    place.write("web.yaml", &spec("web", 2, ""));
    place.expect(0, &["apply", "--yes", "web.yaml"]);
    for (code, args, words) in [
        (4, ["none", "new"], "there is no fleet `none`"),
        (64, ["old", "old"], "fleet `old` has that name already"),
        (64, ["old", "web"], "there is a fleet `web` already"),
        (64, ["old", "New"], "`New` cannot be a fleet's name"),
        (64, ["../old", "new"], "`../old` cannot be a fleet's name"),
        (64, ["old", ""], "`` cannot be a fleet's name"),
    ] {
        let said = refused(&place, code, &["rename", args[0], args[1]]);
        assert!(said.contains(words), "{args:?}: {said}");
    }
    // Nobody knows what became of a launch: to ask again it has to carry the old name.
    place.sim.lose_answers("aws".parse().expect("a cloud"), 100).expect("lossy");
    let hour = Duration::from_secs(3600);
    place.sim.delay_visibility("aws".parse().expect("a cloud"), hour).expect("late");
    place.write("fleets/old.yaml", &spec("old", 8, ""));
    place.run(&["apply", "--yes", "fleets"]);
    let said = refused(&place, 3, &["rename", "old", "new"]);
    assert!(
        said.contains("nobody knows yet what became of") && said.contains("fleet apply"),
        "{said}"
    );
    let said = refused(&place, 3, &["release", "old", "--yes"]);
    assert!(said.contains("nobody knows yet what became of"), "{said}");
    place.sim.heal().expect("healed");
    let known = refused(&place, 4, &["freeze", "new", "--reason", "x"]);
    assert!(known.contains("fleets here: old, web"), "nothing is left of a new name: {known}");
    place.sim.advance(hour).expect("time");
    place.expect(0, &["apply", "--yes", "fleets"]);
    assert_eq!(ids(&place).len(), 10);
    place.assert_one_per_slot();
}

/// The files of the journals, with what is in them.
fn journals(place: &Place) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    for fleet in ["old", "new"] {
        let folder = place.path(&format!("state/fleets/{fleet}/journal"));
        let Ok(entries) = std::fs::read_dir(folder) else { continue };
        for entry in entries {
            let path = entry.expect("an entry").path();
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            files.push((format!("{fleet}/journal/{name}"), std::fs::read(path).expect("bytes")));
        }
    }
    files.sort();
    files
}

fn restore(place: &Place, files: &[(String, Vec<u8>)]) {
    for fleet in ["old", "new"] {
        let _ = std::fs::remove_dir_all(place.path(&format!("state/fleets/{fleet}")));
    }
    for (name, bytes) in files {
        let path = place.path(&format!("state/fleets/{name}"));
        let folder = path.parent().expect("a folder");
        std::fs::create_dir_all(folder).expect("a folder");
        std::fs::write(folder.parent().expect("a folder").join("simulated"), "").expect("a mark");
        std::fs::write(path, bytes).expect("a file");
    }
}

/// A run may die between any two writes. Whatever it leaves, nothing can be launched under either name, and
/// a second run ends it.
#[test]
fn a_rename_that_died_anywhere_is_ended_by_a_second_one() {
    let place = place();
    rename_spec(&place);
    let before = journals(&place);
    let machines = ids(&place);
    place.expect(0, &["rename", "old", "new"]);
    let after = journals(&place);
    let of = |n: usize, fleet: &str| {
        let (name, bytes) = &after[n];
        (name.replace("new/", &format!("{fleet}/")), bytes.clone())
    };
    let count = after.len();
    assert_eq!(count, before.len() + 1, "one record more");
    let old: Vec<_> = (0..count).map(|n| of(n, "old")).collect();
    let mut left = Vec::new();
    // Copied from the last record on, the first one at the end.
    for copied in 0..=count {
        left.push([&old[..], &after[count - copied..]].concat());
    }
    // Then removed, the last one at the end.
    for removed in 1..=count {
        left.push([&old[removed..], &after[..]].concat());
    }
    for (nth, files) in left.iter().enumerate() {
        restore(&place, files);
        let whole = nth >= count;
        if nth > 0 && !whole {
            let said = refused(&place, 1, &["apply", "--yes", "fleets/new.yaml"]);
            assert!(said.contains("is being renamed to `new`"), "{nth}: {said}");
            assert!(said.contains("`fleet rename old new` ends it"), "{nth}: {said}");
        }
        if nth < count {
            place.write("old.yaml", &spec("old", 9, ""));
            let said = refused(&place, 1, &["apply", "--yes", "old.yaml"]);
            assert!(said.contains("fleet `old` is being renamed to `new`"), "{nth}: {said}");
            let other = refused(
                &place,
                if nth == 0 { 64 } else { 1 },
                match nth {
                    0 => &["rename", "old", "old"],
                    _ => &["rename", "old", "other"],
                },
            );
            assert!(nth == 0 || other.contains("is being renamed to `new`"), "{nth}: {other}");
        }
        place.expect(0, &["rename", "old", "new"]);
        assert_eq!(journals(&place), after, "{nth}");
        assert_empty_plan(&place, &["fleets"]);
        assert_eq!(ids(&place), machines, "{nth}");
    }
}

/// The same with a process that is really killed, at moments that nobody chose.
#[test]
fn a_rename_may_be_killed() {
    for micros in (0..20).map(|n| n * 1500) {
        let place = place();
        rename_spec(&place);
        let machines = ids(&place);
        let mut child = place
            .command(&["rename", "old", "new"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("fleet starts");
        std::thread::sleep(Duration::from_micros(micros));
        child.kill().expect("killed");
        child.wait().expect("an end");
        place.expect(0, &["rename", "old", "new"]);
        assert_empty_plan(&place, &["fleets"]);
        assert_eq!(ids(&place), machines, "{micros}");
    }
}

#[test]
fn released_machines_run_on_and_are_nobodys() {
    let place = place();
    let before = ids(&place);
    let said = refused(&place, 1, &["release", "old"]);
    assert!(said.contains("no terminal to ask for the fleet's name"), "{said}");
    let said = refused(&place, 64, &["release", "old", "--yes", "--machines", "base-7"]);
    assert!(said.contains("fleet `old` has no machine `base-7`"), "{said}");
    let said = refused(&place, 4, &["release", "none", "--yes"]);
    assert!(said.contains("there is no fleet `none`"), "{said}");
    place.expect(0, &["freeze", "old", "--reason", "audit"]);
    let said = refused(&place, 3, &["release", "old", "--yes"]);
    assert!(said.contains("fleet `old` is frozen by hand (audit)"), "{said}");
    place.expect(0, &["thaw", "old"]);
    place.sim.outage("aws/us-east-1".parse().expect("an area"), None).expect("out");
    let said = refused(&place, 3, &["release", "old", "--yes"]);
    assert!(said.contains("aws/us-east-1 does not answer"), "{said}");
    place.sim.heal().expect("healed");
    let shown = place.on_a_terminal(&["release", "old"], &[], "no\n");
    assert!(
        shown.contains("lets go of 4 machines") && shown.contains("Nothing was changed"),
        "{shown}"
    );
    assert_eq!(names(&place), ["old"; 4]);
    // One, by its slot.
    let document =
        json(&place.expect(0, &["release", "old", "--yes", "--machines", "burst-1", "-o", "json"]));
    assert_eq!(document["released"].as_array().map(Vec::len), Some(1), "{document:#}");
    assert_eq!(document["released"][0]["slot"], "burst-1.1");
    assert_eq!(ids(&place), before);
    // All the others, by name.
    let shown = place.on_a_terminal(&["release", "old"], &[], "old\n");
    assert!(shown.contains("Fleet old let go of 3 machines: they run on."), "{shown}");
    assert_eq!(ids(&place), before, "nothing is destroyed");
    assert_eq!(names(&place), [""; 4]);
    let status = json(&place.expect(0, &["status", "--fleet", "old", "-o", "json"]));
    assert_eq!(status["fleets"][0]["machines"], json!([]));
    assert_eq!(status["fleets"][0]["notices"], json!([]));
    let said = place.expect(0, &["release", "old", "--yes"]);
    assert_eq!(said.trim(), "Fleet old has no machines to release.");
    place.expect(0, &["destroy", "--yes", "--fleet", "old", "fleets"]);
    assert_eq!(ids(&place), before, "what was let go is not destroyed");
    place.expect(0, &["sweep"]);
    let history = place.expect(0, &["history", "old"]);
    assert!(history.contains("released"), "{history}");
}

/// Lambda cannot take tags off. The journal alone says that machines are let go, and everybody obeys it.
#[test]
fn where_tags_stay_the_journal_says_who_is_let_go() {
    let place = Place::new(1, Preset::Calm, Duration::ZERO);
    place.write(
        "fleet.yaml",
        "apiVersion: fleet/v1\nkind: Fleet\nmetadata: { name: gpus }\nspec:\n  \
         capacity: { target: 2, base: { onDemand: 100% } }\n  instances: { families: [cpu_4x] }\n  \
         placement: { clouds: [{ provider: lambda, regions: [us-*] }] }\n",
    );
    place.expect(0, &["apply", "--yes"]);
    place.sim.advance(Duration::from_secs(600)).expect("time");
    let output = place.run(&["release", "gpus", "--yes"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(text(&output.stderr).contains("2 machines keep our tags"), "{}", text(&output.stderr));
    let status = json(&place.expect(0, &["status", "-o", "json"]));
    assert_eq!(status["fleets"][0]["machines"], json!([]));
    place.expect(0, &["sweep"]);
    place.expect(0, &["destroy", "--yes"]);
    assert_eq!(place.live().len(), 2);
    let args = ["import", "fleet.yaml", "--provider", "lambda", "--filter", "tag:a=b", "--yes"];
    let said = refused(&place, 64, &args);
    assert!(
        said.contains("machines of lambda cannot be taken in: Lambda takes tags with a launch"),
        "{said}"
    );
    // A name of before stays as well.
    place.expect(0, &["apply", "--yes"]);
    let output = place.run(&["rename", "gpus", "lab"]);
    assert!(text(&output.stderr).contains("the tags of 2 machines tell the old name still"));
    let status = json(&place.expect(0, &["status", "--fleet", "lab", "-o", "json"]));
    assert_eq!(status["fleets"][0]["machines"].as_array().map(Vec::len), Some(2));
}

const IMPORT: [&str; 5] = ["import", "lab.yaml", "--provider", "aws", "--filter"];
const RESEARCH: &str = "tag:team=research";

fn import(more: &[&'static str]) -> Vec<&'static str> {
    [&IMPORT[..], &[RESEARCH], more].concat()
}

#[test]
fn what_one_fleet_lets_go_another_takes_in() {
    let place = place();
    let before = ids(&place);
    place.expect(0, &["release", "old", "--yes"]);
    place.write("lab.yaml", &spec("lab", 4, "  template: { tags: { owner: ada } }\n"));
    // Listing changes nothing.
    let shown = place.expect(0, &import(&["--list"]));
    assert!(shown.contains("4 machines to take in; the plan is empty afterwards."), "{shown}");
    assert!(shown.contains("m6i.large") && shown.contains("burst-1"), "{shown}");
    assert_eq!(names(&place), [""; 4]);
    let listed = json(&place.expect(0, &import(&["--list", "-o", "json"])));
    let machines = listed["machines"].as_array().expect("machines");
    assert!(machines.iter().all(|one| one["taken"] == false && one["slot"].is_string()));
    assert!(machines.iter().all(|one| one["hourlyUsd"].is_number()), "{listed:#}");
    let shown = place.on_a_terminal(&import(&[]), &[], "n\n");
    assert!(shown.contains("Take 4 machines") && shown.contains("Nothing was changed"), "{shown}");
    let said = place.expect(0, &import(&["--yes"]));
    assert!(said.contains("Fleet lab has 4 machines more."), "{said}");
    assert_eq!(names(&place), ["lab"; 4]);
    assert_eq!(ids(&place), before);
    place.assert_one_per_slot();
    assert_empty_plan(&place, &["lab.yaml"]);
    // Nobody is left to take in.
    let said = place.expect(0, &import(&["--yes"]));
    assert!(said.contains("No machine without an owner carries this tag."), "{said}");
    let history = place.expect(0, &["history", "lab"]);
    assert!(history.contains("taken in"), "{history}");
    // They are machines of the fleet like any others: replaced, interrupted, destroyed.
    place.expect(0, &["replace", "lab.yaml", "base-0", "--yes"]);
    place.sim.interrupt("aws/*/spot", 1).expect("interrupted");
    place.expect(0, &["apply", "--yes", "lab.yaml"]);
    assert_empty_plan(&place, &["lab.yaml"]);
    place.expect(0, &["destroy", "--yes", "lab.yaml"]);
    place.sim.advance(Duration::from_secs(600)).expect("time");
    assert_eq!(place.live().len(), 0);
}

/// The same fleet takes them back: other generations of the same slots.
#[test]
fn a_fleet_takes_back_what_it_let_go() {
    let place = place();
    place.expect(0, &["release", "old", "--yes", "--machines", "base-1,burst-0"]);
    place.write("lab.yaml", &spec("old", 4, ""));
    let document = json(&place.expect(0, &import(&["--yes", "-o", "json"])));
    let slots: Vec<&str> = document["machines"]
        .as_array()
        .expect("machines")
        .iter()
        .map(|one| one["slot"].as_str().expect("a slot"))
        .collect();
    assert_eq!(slots, ["base-1.2", "burst-0.2"]);
    assert_empty_plan(&place, &["lab.yaml"]);
    place.assert_one_per_slot();
}

#[test]
fn what_a_plan_would_destroy_is_not_taken_in() {
    let place = place();
    place.expect(0, &["release", "old", "--yes"]);
    place.write("lab.yaml", &spec("lab", 3, ""));
    let said = refused(&place, 3, &import(&["--yes"]));
    assert!(said.contains("the next apply of `lab` would destroy 1 machine"), "{said}");
    assert!(said.contains("nothing was changed"), "{said}");
    assert_eq!(names(&place), [""; 4]);
    // Another family: each is told why, and nothing is taken in.
    place.write("lab.yaml", &spec("lab", 4, "").replace("m6i", "m7i"));
    let output = place.run(&import(&["--yes"]));
    let said = text(&output.stdout);
    assert!(said.contains("the spec does not allow it"), "{said}");
    assert!(said.contains("0 machines to take in"), "{said}");
    assert_eq!(names(&place), [""; 4]);
    // One that is shut down is no capacity.
    place.write("lab.yaml", &spec("lab", 4, ""));
    let stopped = place.live().remove(0).id;
    place.sim.stop(&stopped).expect("stopped");
    let shown = place.expect(0, &import(&["--yes"]));
    assert!(shown.contains("none: it is stopped"), "{shown}");
    assert_eq!(names(&place).iter().filter(|name| *name == "lab").count(), 3);
}

#[test]
fn an_import_that_cannot_be_says_why() {
    let place = place();
    place.write("lab.yaml", &spec("lab", 4, ""));
    let azure = ["import", "lab.yaml", "--provider", "azure", "--filter", RESEARCH, "--yes"];
    for (code, args, words) in [
        (64, &azure[..], "fleet `lab` uses no region of azure"),
        (
            64,
            &import(&["--yes", "--region", "eu-west-1"]),
            "fleet `lab` does not use eu-west-1 of aws",
        ),
        (64, &[&IMPORT[..], &["team=research", "--yes"]].concat(), "write tag:KEY=VALUE"),
        (64, &[&IMPORT[..], &["tag:=x", "--yes"]].concat(), "write tag:KEY=VALUE"),
        (1, &import(&[]), "no terminal to ask for confirmation"),
    ] {
        let said = refused(&place, code, args);
        assert!(said.contains(words), "{args:?}: {said}");
    }
    // Machines of a fleet are never listed, whatever they carry.
    let said = place.expect(0, &import(&["--yes"]));
    assert!(said.contains("No machine without an owner carries this tag."), "{said}");
    place.expect(0, &["release", "old", "--yes"]);
    place.sim.outage("aws/us-east-1".parse().expect("an area"), None).expect("out");
    let said = refused(&place, 1, &import(&["--yes"]));
    assert!(said.contains("no region of aws answered"), "{said}");
}

/// Journal first, tags second. Between the two nothing is done to the machines, and the same command ends it.
#[test]
fn an_import_that_died_is_ended_by_a_second_one() {
    let place = place();
    place.expect(0, &["release", "old", "--yes"]);
    place.write("lab.yaml", &spec("lab", 4, ""));
    place.expect(0, &import(&["--yes"]));
    // As if it had died before it wrote the tags of two.
    for machine in place.live().iter().take(2) {
        place.sim.strip_tags(&machine.id).expect("stripped");
    }
    let before = ids(&place);
    place.expect(0, &["apply", "--yes", "lab.yaml"]);
    assert_eq!(ids(&place), before, "they count, and are left alone");
    let document = json(&place.expect(0, &import(&["--yes", "-o", "json"])));
    assert_eq!(document["machines"].as_array().map(Vec::len), Some(2), "{document:#}");
    assert_eq!(names(&place), ["lab"; 4]);
    assert_empty_plan(&place, &["lab.yaml"]);
    place.assert_one_per_slot();
}

/// Answers that are lost leave nothing behind that a second run does not end.
#[test]
fn a_hand_over_without_an_answer_is_ended_by_a_second_one() {
    let place = place();
    place.sim.lose_answers("aws".parse().expect("a cloud"), 100).expect("lossy");
    place.run(&["release", "old", "--yes"]);
    place.sim.heal().expect("healed");
    place.expect(0, &["release", "old", "--yes"]);
    assert_eq!(names(&place), [""; 4]);
    place.write("lab.yaml", &spec("lab", 4, ""));
    place.sim.lose_answers("aws".parse().expect("a cloud"), 100).expect("lossy");
    let output = place.run(&import(&["--yes"]));
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    assert!(
        text(&output.stderr).contains("The same command finds out"),
        "{}",
        text(&output.stderr)
    );
    place.sim.heal().expect("healed");
    place.expect(0, &import(&["--yes"]));
    assert_eq!(names(&place), ["lab"; 4]);
    assert_empty_plan(&place, &["lab.yaml"]);
}

#[test]
fn on_google_and_azure_as_well() {
    for (provider, region, family) in
        [("gcp", "us-central1", "n2"), ("azure", "eastus", "Standard_D2s_v5")]
    {
        let place = Place::new(1, Preset::Lifelike, Duration::ZERO);
        let spec = |name: &str| {
            spec(name, 3, "")
                .replace("aws", provider)
                .replace("us-east-1", region)
                .replace("m6i", family)
        };
        place.write("one.yaml", &spec("one"));
        place.write("two.yaml", &spec("two"));
        place.run(&["apply", "--yes", "one.yaml"]);
        place.sim.advance(Duration::from_secs(900)).expect("time");
        place.expect(0, &["apply", "--yes", "one.yaml"]);
        let before = ids(&place);
        place.expect(0, &["release", "one", "--yes"]);
        let args = ["import", "two.yaml", "--provider", provider, "--filter", RESEARCH, "--yes"];
        place.expect(0, &args);
        assert_eq!(ids(&place), before, "{provider}");
        assert_eq!(names(&place), vec!["two"; before.len()], "{provider}");
        let plan = json(&place.expect(0, &["plan", "two.yaml", "-o", "json"]));
        assert_eq!(plan["summary"]["create"], 0, "{provider}: {plan:#}");
        assert_eq!(plan["summary"]["destroy"], 0, "{provider}: {plan:#}");
        place.expect(0, &["rename", "two", "three"]);
        assert_eq!(names(&place), vec!["three"; before.len()], "{provider}");
    }
}
