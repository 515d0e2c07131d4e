//! Markup in every field that somebody else writes: pages show it as text.

use crate::pages::{history, home, machines, map, parts, table};
use fleet_model::{Event, FleetName, Timestamp};
use fleet_run::Record;
use fleet_words::output::common::{Diagnostic, Gap};
use fleet_words::output::controller::{FleetOverview, RefusedSpecs, Standing};
use fleet_words::output::reach::Access;
use fleet_words::output::status::Machine;
use fleet_words::output::words::{GapCause, Group, Market, Provider, Severity, State, Time, Unit};
use fleet_words::render::attention::Item;
use fleet_words::sentences::Said;

/// What breaks a page that forgets to escape: a tag, an attribute, an entity, a text that runs backwards.
const HOSTILE: &str = "<img src=x onerror=alert(1)>\"'><script>&amp;\u{202e}\u{1b}[31m";

fn hostile() -> String {
    HOSTILE.to_owned()
}

fn now() -> Timestamp {
    "2026-01-01T12:00:00Z".parse().expect("a time")
}

/// Nothing of it is left as markup, and something of it is left as text.
fn check(page: maud::Markup) {
    let page = page.into_string();
    assert!(!page.contains("<img") && !page.contains("<script"), "{page}");
    assert!(!page.contains("\"'>"), "an attribute ends: {page}");
    assert!(!page.contains('\u{1b}') && !page.contains("&amp;amp;amp;"), "{page}");
    assert!(page.contains("&lt;img"), "not shown at all: {page}");
}

fn machine() -> Machine {
    Machine {
        id: hostile(),
        provider: Provider::Aws,
        region: hostile(),
        zone: hostile(),
        r#type: hostile(),
        market: Market::Spot,
        state: State::Running,
        slot: hostile(),
        group: Group::Burst,
        hourly_usd: None,
        launched_at: Time(now()),
        interruption_at: Some(Time(now())),
        access: Access {
            public_ip: None,
            private_ip: None,
            dns_name: None,
            ssh_user: None,
            ssh_user_from: None,
            ssh_key: None,
        },
    }
}

fn overview() -> FleetOverview {
    FleetOverview {
        fleet: hostile(),
        file: hostile(),
        standing: Standing::Failed,
        said: Some(hostile()),
        hint: Some(hostile()),
        replica: Some(hostile()),
        looked_at: Some(Time(now())),
        next_look_at: None,
        unit: Unit::Vcpus,
        wanted: 4.0,
        have: f64::NAN,
        machines: 1,
        ready: 1,
        launching: 0,
        on_fallback: 0,
        interrupted: 0,
        held: 0,
        frozen: false,
        unplaced: 0.0,
        in_doubt: 0,
        gaps: 0,
        hourly_usd: f64::INFINITY,
        monthly_usd: 0.0,
        saved_hourly_usd: 0.0,
        launched: 0,
        destroyed: 0,
    }
}

#[test]
fn machines_and_their_places() {
    check(machines::by_pool(HOSTILE, &[machine()], &[], now()));
    let gap = Gap {
        provider: Provider::Gcp,
        region: hostile(),
        cause: GapCause::Unreachable,
        detail: hostile(),
        next: hostile(),
    };
    check(map::map(&[machine()], &[gap]));
}

#[test]
fn what_is_wrong_and_what_to_do() {
    let said = Said { what: hostile(), next: Some(hostile()) };
    let item = Item { label: "held", said, because: vec![hostile()] };
    check(parts::items(&[&item]));
    check(home::card(&overview(), &[item]));
    check(table::row(&overview(), now(), false));
}

#[test]
fn refused_specs_show_the_line() {
    let problem = Diagnostic {
        severity: Severity::Error,
        message: hostile(),
        hint: Some(hostile()),
        file: Some(hostile()),
        line: Some(3),
        column: Some(5),
        length: 4,
        path: Some(hostile()),
        text: hostile(),
        text_skipped: 2,
    };
    let refused = |diagnostics| RefusedSpecs {
        commit: Some(hostile()),
        since: Time(now()),
        error: hostile(),
        place: Some(hostile()),
        hint: Some(hostile()),
        diagnostics,
    };
    // A place outside of the line is no reason to fail.
    let far = Diagnostic { column: Some(u32::MAX), length: u32::MAX, ..problem.clone() };
    check(home::refusal(&refused(vec![problem, far]), now()));
    check(home::refusal(&refused(Vec::new()), now()));
}

#[test]
fn the_journal_is_text() {
    let events = vec![
        Event::Opened { fleet: FleetName::new(HOSTILE), uid: HOSTILE.into() },
        Event::Frozen { reason: hostile(), until: None },
    ];
    let record = Record { format: 1, seq: 1, epoch: 1, at: now(), events };
    check(history::list(std::slice::from_ref(&record), now(), 9));
    check(history::table(&[&record], false));
}

#[test]
fn names_are_addresses() {
    assert_eq!(parts::fleet_path("a/../<b>?c#d"), "/fleets/a%2F..%2F%3Cb%3E%3Fc%23d");
}
