//! What a person at a terminal sees: screens that fit, and Ctrl-C.
#![cfg(target_os = "linux")]

mod support;

use fleet_sim::Preset;
use std::process::{Command, Stdio};
use std::time::Duration;
use support::{MORTAL, Place};

fn place(latency: Duration) -> Place {
    let place = Place::new(5, Preset::Calm, latency);
    place.write("fleet.yaml", MORTAL);
    place
}

/// What is left on the screen: a spinner erases its line.
fn left_on_screen(shown: &str) -> String {
    let left = |line: &str| line.rsplit("\u{1b}[2K").next().unwrap_or(line).trim_end().to_owned();
    shown.lines().map(left).collect::<Vec<_>>().join("\n")
}

/// The widest row. Rows have gaps; sentences have none, and a terminal wraps those.
fn widest(screen: &str) -> usize {
    let rows = screen.lines().filter(|line| line.trim_start().contains("  "));
    rows.map(|line| line.chars().count()).max().unwrap_or(0)
}

#[test]
fn no_row_is_wider_than_the_terminal() {
    let place = place(Duration::ZERO);
    place.expect(0, &["apply", "--yes"]);
    let commands: [&[&str]; 7] = [
        &["plan"],
        &["status"],
        &["status", "--machines"],
        &["explain"],
        &["history"],
        &["catalog", "list", "--gpu", "*"],
        &["sim", "show"],
    ];
    for args in commands {
        let full = place.expect(0, args);
        for columns in ["66", "80", "120"] {
            let shown = place.on_a_terminal(args, &[("COLUMNS", columns)], "");
            let shown = left_on_screen(&shown);
            let limit: usize = columns.parse().expect("a number");
            assert!(
                widest(&shown) <= limit,
                "{args:?} at {columns}, {} wide:\n{shown}",
                widest(&shown)
            );
            // Rows are cut, not lost.
            let rows = |text: &str, name: &str| text.matches(name).count();
            for name in ["base-", "+ ", "= "] {
                if args[0] == "status" {
                    assert_eq!(rows(&shown, name), rows(&full, name), "{args:?} at {columns}");
                }
            }
        }
        // A wide terminal shows what a pipe gets.
        let wide = left_on_screen(&place.on_a_terminal(args, &[("COLUMNS", "500")], ""));
        assert_eq!(wide.trim_end(), left_on_screen(&full).trim_end(), "{args:?}");
    }
}

#[test]
fn nothing_is_cut_in_a_pipe() {
    let place = place(Duration::ZERO);
    let mut command = place.command(&["explain"]);
    let output = command.env("COLUMNS", "40").output().expect("fleet runs");
    assert_eq!(support::text(&output.stdout), place.expect(0, &["explain"]));
}

/// The first Ctrl-C lets requests in flight finish; the second does not wait for them.
#[test]
fn the_second_signal_ends_at_once() {
    let place = place(Duration::from_millis(1500));
    let mut apply = place.command(&["apply", "--yes"]);
    let mut apply =
        apply.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("fleet starts");
    // A request is in flight once its intent is in the journal.
    let intended = || {
        let history = place.run(&["history", "-o", "json"]);
        support::text(&history.stdout).contains("launchIntended")
    };
    while !intended() {
        assert_eq!(apply.try_wait().expect("a child"), None, "it ended too early");
        std::thread::sleep(Duration::from_millis(50));
    }
    let interrupt = || {
        let kill = Command::new("kill").args(["-INT", &apply.id().to_string()]).status();
        assert!(kill.expect("kill").success());
    };
    interrupt();
    std::thread::sleep(Duration::from_millis(100));
    interrupt();
    let output = apply.wait_with_output().expect("an end");
    assert_eq!(output.status.code(), Some(130));
    assert!(support::text(&output.stderr).contains("interrupt again to stop at once"));
}
