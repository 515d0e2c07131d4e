//! Changes of template through the program: a canary, waves, a stop, a pause, the way back.

mod support;

use fleet_sim::Preset;
use serde_json::Value;
use std::time::Duration;
use support::{Place, text};

fn spec(image: &str, more: &str) -> String {
    format!(
        "apiVersion: fleet/v1\nkind: Fleet\nmetadata: {{ name: web }}\nspec:\n  \
         capacity: {{ target: 20, base: {{ onDemand: 100% }} }}\n  instances: {{ families: [m6i] }}\n  \
         placement: {{ clouds: [{{ provider: aws, regions: [us-east-1] }}] }}\n  \
         template: {{ image: {image} }}\n{more}"
    )
}

/// A check that a file on this computer decides: machines in slots that it names fail.
const CHECKED: &str = "  health:\n    command: [sh, -c, '! grep -qx \"$FLEET_SLOT\" bad']\n    \
                       readyWithin: 2m\n    unhealthyAfter: 60s\n";

fn place(more: &str) -> Place {
    let place = Place::new(1, Preset::Lifelike, Duration::ZERO);
    place.write("bad", "");
    place.write("web.yaml", &spec("ami-one", more));
    place.expect(0, &["apply", "--yes", "web.yaml"]);
    place.sim.advance(Duration::from_secs(600)).expect("time");
    place.expect(0, &["apply", "--yes", "web.yaml"]);
    place
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Machines of the fleet by image: what stands, and what is running of it.
fn images(place: &Place) -> Vec<(String, usize)> {
    let rollout = json(&place.expect(0, &["rollout", "status", "web", "-o", "json"]));
    let number = |key: &str| rollout[key].as_u64().unwrap_or_default() as usize;
    vec![("new".to_owned(), number("updated")), ("old".to_owned(), number("left"))]
}

fn running(place: &Place) -> usize {
    let status = json(&place.expect(0, &["status", "web.yaml", "-o", "json"]));
    let machines = status["fleets"][0]["machines"].as_array().expect("machines");
    machines.iter().filter(|machine| machine["state"] == "running").count()
}

#[test]
fn a_change_of_template_goes_through_with_one_apply() {
    let place = place("");
    place.write("web.yaml", &spec("ami-two", ""));
    let plan = place.expect(0, &["plan", "web.yaml"]);
    assert!(plan.contains("image ami-one → ami-two"), "{plan}");
    assert!(plan.contains("rollout: 0 machines have the new template, 20 to go"), "{plan}");
    let applied = place.expect(0, &["apply", "--yes", "web.yaml"]);
    assert!(applied.contains("20 launched, 20 destroyed"), "{applied}");
    assert_eq!(images(&place), [("new".to_owned(), 20), ("old".to_owned(), 0)]);
    let plan = place.expect(0, &["plan", "web.yaml"]);
    assert!(plan.contains("No changes"), "{plan}");
    let history = place.expect(0, &["history", "web"]);
    for words in ["rollout    began on aws", "rollout    replaces 1 machine", "rollout    done"] {
        assert!(history.contains(words), "{words}: {history}");
    }
    let status = place.expect(0, &["rollout", "status", "web"]);
    assert!(status.contains("is done: 20 machines have the new template"), "{status}");
    assert!(status.contains("image: ami-one → ami-two"), "{status}");
}

#[test]
fn tags_and_wider_rules_replace_nothing() {
    let place = place("");
    let wider = spec("ami-one", "").replace("[m6i]", "[m6i, m5]").replace(
        "template: { image: ami-one }",
        "template: { image: ami-one, sshUser: admin, tags: { team: research } }",
    );
    place.write("web.yaml", &wider);
    let plan = place.expect(0, &["plan", "web.yaml"]);
    assert!(plan.contains("0 to launch, 0 to destroy") || plan.contains("relabel"), "{plan}");
    let applied = json(&place.expect(0, &["apply", "--yes", "web.yaml", "-o", "json"]));
    let rounds = applied["fleets"][0]["rounds"].as_array().expect("rounds").clone();
    let sum = |key: &str| rounds.iter().filter_map(|round| round[key].as_u64()).sum::<u64>();
    assert_eq!((sum("created"), sum("destroyed"), sum("relabelled")), (0, 0, 20));
    assert!(place.expect(0, &["rollout", "status", "web"]).contains("has had no rollout"));
}

#[test]
fn a_canary_that_is_never_ready_stops_it_and_undo_and_a_mended_template_end_it() {
    let place = place(CHECKED);
    // The canary's successor takes the next free slot.
    place.write("bad", "base-20\n");
    place.write("web.yaml", &spec("ami-two", CHECKED));
    let applied = place.run(&["apply", "--yes", "web.yaml"]);
    let said = text(&applied.stdout) + &text(&applied.stderr);
    assert_eq!(applied.status.code(), Some(3), "{said}");
    let words: Vec<&str> = said.split_whitespace().collect();
    let words = words.join(" ");
    assert!(words.contains("stopped: 1 new machine failed, base-20 for one"), "{said}");
    assert_eq!(images(&place), [("new".to_owned(), 0), ("old".to_owned(), 20)]);
    assert_eq!(running(&place), 20, "nothing else was touched");
    let status = place.expect(0, &["rollout", "status", "web"]);
    assert!(status.contains("stopped: 1 new machine failed"), "{status}");
    // It stays so, whoever reconciles.
    place.run(&["reconcile", "web.yaml"]);
    assert_eq!(images(&place), [("new".to_owned(), 0), ("old".to_owned(), 20)]);
    // Undone, the same spec is at rest.
    let undone = place.expect(0, &["rollout", "undo", "web"]);
    assert!(undone.contains("was undone at"), "{undone}");
    let plan = place.expect(0, &["plan", "--detailed-exitcode", "web.yaml"]);
    assert!(plan.contains("No changes"), "{plan}");
    assert!(plan.contains("the spec's template was undone by hand"), "{plan}");
    let again = place.run(&["rollout", "undo", "web"]);
    assert_eq!(again.status.code(), Some(64));
    assert!(text(&again.stderr).contains("is undone already"));
    // Another template is a new word.
    place.write("bad", "");
    place.write("web.yaml", &spec("ami-three", CHECKED));
    place.expect(0, &["apply", "--yes", "web.yaml"]);
    assert_eq!(images(&place), [("new".to_owned(), 20), ("old".to_owned(), 0)]);
}

#[test]
fn undo_after_the_end_returns_to_the_template_before() {
    let place = place("");
    place.write("web.yaml", &spec("ami-two", ""));
    place.expect(0, &["apply", "--yes", "web.yaml"]);
    place.expect(0, &["rollout", "undo", "web"]);
    let applied = place.expect(0, &["apply", "--yes", "web.yaml"]);
    assert!(applied.contains("20 launched, 20 destroyed"), "{applied}");
    let shown = place.expect(0, &["sim", "show"]);
    assert!(!shown.contains("ami-two"), "{shown}");
    let plan = place.expect(0, &["plan", "--detailed-exitcode", "web.yaml"]);
    assert!(plan.contains("No changes"), "{plan}");
    // Whoever wants it after all says so.
    place.expect(0, &["rollout", "resume", "web"]);
    let plan = place.expect(0, &["plan", "web.yaml"]);
    assert!(plan.contains("rollout: 0 machines have the new template, 20 to go"), "{plan}");
}

#[test]
fn a_pause_a_window_and_reconcile_a_wave_at_a_time() {
    let windows =
        "  updates:\n    maxSurge: 50%\n    windows: [{ cron: '0 2 * * *', lasts: 1h }]\n";
    let place = place(windows);
    place.write("web.yaml", &spec("ami-two", windows));
    let out = place.run(&["apply", "--yes", "web.yaml"]);
    assert_eq!(out.status.code(), Some(3));
    let said = text(&out.stdout) + &text(&out.stderr);
    assert!(said.contains("the next window opens at 2026-01-01 02:00"), "{said}");
    assert_eq!(images(&place)[1], ("old".to_owned(), 20));
    place.sim.advance(Duration::from_secs(2 * 3600 - 600)).expect("time");
    // Each reconcile does what can be done now, and waits for nothing.
    place.run(&["reconcile", "web.yaml"]);
    place.sim.advance(Duration::from_secs(300)).expect("time");
    place.expect(0, &["rollout", "pause", "web"]);
    place.run(&["reconcile", "web.yaml"]);
    place.run(&["reconcile", "web.yaml"]);
    assert_eq!(images(&place), [("new".to_owned(), 1), ("old".to_owned(), 19)]);
    let twice = place.run(&["rollout", "pause", "web"]);
    assert_eq!(twice.status.code(), Some(64));
    place.expect(0, &["rollout", "resume", "web"]);
    place.run(&["reconcile", "web.yaml"]);
    assert_eq!(images(&place), [("new".to_owned(), 11), ("old".to_owned(), 19)], "side by side");
    // The window closes: the wave under way is finished, and the rest waits for tomorrow.
    place.sim.advance(Duration::from_secs(3600)).expect("time");
    place.run(&["reconcile", "web.yaml"]);
    place.run(&["reconcile", "web.yaml"]);
    assert_eq!(images(&place), [("new".to_owned(), 11), ("old".to_owned(), 9)]);
    place.sim.advance(Duration::from_secs(23 * 3600 + 600)).expect("time");
    place.expect(0, &["apply", "--yes", "web.yaml"]);
    assert_eq!(images(&place), [("new".to_owned(), 20), ("old".to_owned(), 0)]);
}

#[test]
fn recreate_destroys_all_first() {
    let recreate = "  updates: { strategy: recreate }\n";
    let place = place(recreate);
    place.write("web.yaml", &spec("ami-two", recreate));
    let applied = place.expect(0, &["apply", "--yes", "web.yaml"]);
    assert!(applied.contains("20 launched, 20 destroyed"), "{applied}");
    assert_eq!(images(&place), [("new".to_owned(), 20), ("old".to_owned(), 0)]);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let place = place("");
    for (args, words) in [
        (vec!["rollout", "pause", "web"], "no rollout of web is under way"),
        (vec!["rollout", "resume", "web"], "no rollout of web is paused, stopped or undone"),
        (vec!["rollout", "undo", "web"], "web has no rollout to undo"),
        (vec!["rollout", "status", "wob"], "wob"),
    ] {
        let out = place.run(&args);
        assert_ne!(out.status.code(), Some(0), "{args:?}");
        let said = text(&out.stderr);
        assert!(said.contains(words), "{args:?}: {said}");
    }
    for (more, words) in [
        ("  updates: { maxSurge: 0 }\n", "nothing could ever be replaced"),
        ("  updates: { windows: [{ cron: '0 2 * *', lasts: 1h }] }\n", "is not a cron time"),
        ("  updates: { windows: [{ cron: '0 2 * * *' }] }\n", "lasts"),
        ("  health: { http: { path: x, port: 80 } }\n", "is not a path"),
        ("  health: { tcp: { port: 70000 } }\n", "too large"),
        ("  health: { command: [] }\n", "empty list"),
        ("  health: { readyWithin: 1s }\n", "out of range"),
        ("  interruption: { onNotice: drain }\n", "needs `drain`"),
        ("  interruption: { drain: [./drain.sh] }\n", "needs `graceSeconds`"),
    ] {
        place.write("web.yaml", &spec("ami-one", more));
        let out = place.run(&["validate", "web.yaml"]);
        let said = text(&out.stdout) + &text(&out.stderr);
        assert_eq!(out.status.code(), Some(4), "{more}: {said}");
        assert!(said.contains(words), "{more}: {said}");
    }
}
