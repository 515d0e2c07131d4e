//! Words of clouds that would play tricks on a terminal, or on a reader.

mod support;

use fleet_model::{Block, BlockScope, Event, FleetName, Timestamp};
use fleet_run::{Journal, Store, SystemClock};
use fleet_sim::Preset;
use std::sync::Arc;
use std::time::Duration;
use support::{MORTAL, Place, text};

/// Red, a title for the window, backwards, nul, a new line with an error of its own, a bell, markup.
const HOSTILE: &str =
    "no\u{1b}[31m \u{1b}]0;x\u{7}\u{202e}kcab\u{0}\r\nerror: fake\u{200b}@all|<b>";

fn is_harmless(c: char) -> bool {
    !c.is_control() && !matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}') || c == '\n'
}

#[tokio::test]
async fn words_of_clouds_are_shown_as_escapes() {
    let place = Place::new(3, Preset::Calm, Duration::ZERO);
    let spec = place.write("spec.yaml", MORTAL);
    let spec = spec.to_str().expect("a path");
    place.expect(0, &["apply", "--yes", spec]);

    // A cloud's refusal in its own words, and a machine with such an id.
    let folder = place.path("state");
    let store = Store::open(folder.to_str().expect("a path")).expect("a store");
    let fleet = FleetName::new("mortal");
    let journal = Journal::open(&store, &fleet, Arc::new(SystemClock)).await.expect("a journal");
    let machine = place.live().remove(0);
    let scope = BlockScope::Pool { pool: machine.pool() };
    let until: Timestamp = "2999-01-01T00:00:00Z".parse().expect("a time");
    let token = machine.owner.expect("ours").token;
    let events = vec![
        Event::Epoch { epoch: 99, holder: HOSTILE.into() },
        Event::CreateRefused { token, code: HOSTILE.into(), no_room: false },
        Event::Blocked { block: Block { scope, until, code: HOSTILE.into() } },
    ];
    journal.append(events).await.expect("written");

    let commands: &[&[&str]] = &[
        &["history"],
        &["plan", spec],
        &["status", "--machines", spec],
        &["explain", "--top", "500", spec],
        &["sweep", spec],
        &["reconcile", spec],
    ];
    let mut shown = false;
    for args in commands {
        for format in ["text", "markdown", "json"] {
            let args = [*args, &["-o", format, "--log", "trace"]].concat();
            let output = place.run(&args);
            let said = text(&output.stdout) + &text(&output.stderr);
            let bad = said.chars().find(|c| !is_harmless(*c));
            assert_eq!(bad, None, "{args:?}: {said:?}");
            assert!(!said.lines().any(|line| line.starts_with("error: fake")), "{args:?}: {said}");
            shown |= said.contains("kcab");
        }
    }
    assert!(shown, "nothing showed the words at all");
}
