//! The tables of docs/tasks/guards.md, from the code that prints the messages.

use crate::exit::Exit;
use crate::output::reasons::{self, Said};
use crate::runs::failed;
use crate::sentences;
use fleet_core::{Stale, Violation};
use fleet_model::{
    Cap, Cloud, Gap, GapCause, Group, HaltCause, Hold, MicroUsd, RolloutWait, Scope, SlotName,
    Timestamp, Unit, Units,
};
use fleet_run::{JournalError, LeaseError, RunError};
use std::fmt::Write as _;
use std::path::Path;

/// Set by `cargo xtask docs`: write what differs instead of failing.
const WRITE: &str = "FLEET_WRITE_DOCS";

fn noon() -> Timestamp {
    "2026-11-17T12:00:00Z".parse().expect("a time")
}

fn region() -> Scope {
    Scope { cloud: Cloud::Aws, region: "us-east-1".into() }
}

fn holds() -> Vec<Hold> {
    let slot = SlotName { group: Group::Base, ordinal: 0 };
    let dollars = MicroUsd::dollars;
    vec![
        Hold::DestroyLimit { allowed: 4, wanted: 20, held: 16, said: None, lowered: 0 },
        Hold::DestroyLimit { allowed: 4, wanted: 30, held: 26, said: None, lowered: 30 },
        Hold::DestroyLimit { allowed: 4, wanted: 20, held: 16, said: Some(21), lowered: 0 },
        Hold::DestroyLimit { allowed: 0, wanted: 16, held: 16, said: None, lowered: 0 },
        Hold::ManyUnhealthy { unhealthy: 4, of: 12 },
        Hold::Rollout {
            updated: 1,
            left: 59,
            waits: RolloutWait::Halt {
                why: HaltCause {
                    failed: 1,
                    slot: Some(slot),
                    words: "it did not come up in time".into(),
                },
            },
        },
        Hold::WaitingForReplacement { machines: 2 },
        Hold::SuccessorsNotUp { slots: vec![slot], starting: 1 },
        Hold::Surge { missing: Units::whole(6), unit: Unit::Vcpus, surge: Units::whole(4) },
        Hold::Frozen { missing: 4, of: 10 },
        Hold::ByHand { reason: "audit".into(), until: Some(noon()), launches: 2, destroys: 0 },
        Hold::JournalLost { machines: 8 },
        Hold::AttemptLimit { slot, tries: 60, until: noon() },
        Hold::BootFailures { group: Group::Base, failures: 3, until: noon() },
        Hold::Budget { limit: dollars(1), needed: dollars(6), cap: Cap::Hourly },
        Hold::NotSeenYet { machines: 2 },
        Hold::Gap { scope: region(), machines: 3 },
    ]
}

fn why_held(hold: &Hold) -> &'static str {
    match hold {
        Hold::DestroyLimit { said: Some(_), .. } => {
            "a number that does not match means that the plan is not the one somebody has read"
        }
        Hold::DestroyLimit { lowered: 1.., .. } => {
            "a target of 10 where 100 was meant must not pass a pipeline unseen"
        }
        Hold::DestroyLimit { allowed: 0, .. } => {
            "the limit holds for one apply, over all its rounds"
        }
        Hold::DestroyLimit { .. } => {
            "a typing error in a target, or a spec that lost a line, must not destroy a fleet"
        }
        Hold::ManyUnhealthy { .. } => {
            "a bad template or a check that lies must not replace a fleet that works"
        }
        Hold::Rollout { .. } => "a template that does not work must not reach the whole fleet",
        Hold::WaitingForReplacement { .. } => "capacity is replaced before it is taken away",
        Hold::SuccessorsNotUp { .. } => {
            "a machine that is to be replaced serves until its successor does"
        }
        Hold::Surge { .. } => "a change of every machine must not double the fleet and its cost",
        Hold::Frozen { .. } => {
            "when much of a fleet vanishes, the view is more likely wrong than the machines; \
             launching them again would double the fleet"
        }
        Hold::ByHand { .. } => "a person said so, and said why",
        Hold::JournalLost { .. } => {
            "without its journal a fleet cannot tell its own machines from those of another state"
        }
        Hold::AttemptLimit { .. } => "a pool that never has capacity must not be asked without end",
        Hold::BootFailures { .. } => "a template that does not boot must not cost money all night",
        Hold::Budget { .. } => "the spec says `atCap: hold`: all of the target, or nothing more",
        Hold::NotSeenYet { .. } => {
            "what its cloud does not list yet cannot be destroyed for certain"
        }
        Hold::Gap { .. } => "a region that does not answer is not an empty region",
    }
}

/// When a hold comes into force.
fn when_held(hold: &Hold) -> &'static str {
    match hold {
        Hold::DestroyLimit { said: Some(_), .. } => "--allow-destroy names another number",
        Hold::DestroyLimit { lowered: 1.., .. } => {
            "the target was lowered by more than half of the fleet, or than a policy's `maxDestroyPerApply`"
        }
        Hold::DestroyLimit { allowed: 0, .. } => "after an apply that destroyed as many as it may",
        Hold::DestroyLimit { .. } => {
            "an apply would destroy more than one machine in ten, and more than one"
        }
        Hold::ManyUnhealthy { .. } => {
            "two machines or more, and more than one in five, are not ready in time, fail their checks, or \
             are failed by their cloud's word"
        }
        Hold::Rollout { .. } => {
            "the template changed, and a wave is not ready, pauses, waits for its window, or failed"
        }
        Hold::WaitingForReplacement { .. } => "a replacement is launched and does not run yet",
        Hold::SuccessorsNotUp { .. } => {
            "`fleet replace`, or a pool that the spec no longer allows, while successors are starting"
        }
        Hold::Surge { .. } => "many machines are to be replaced at once",
        Hold::Frozen { .. } => {
            "more than three machines, and more than 30 %, are missing and their clouds do not say why"
        }
        Hold::ByHand { .. } => {
            "`fleet freeze`, until its end or `fleet thaw`, while there is something to change"
        }
        Hold::JournalLost { .. } => "machines carry the fleet's name, and there is no journal",
        Hold::AttemptLimit { .. } => {
            "a slot was tried 60 times within an hour, or refused 40 times for want of capacity and \
             nothing of its group was launched since: then it is tried once every three minutes"
        }
        Hold::BootFailures { .. } => {
            "three machines of a group in a row never came up or failed soon after launch, or three \
             on-demand machines in a row were gone within ten minutes of it; the group launches \
             nothing for half an hour"
        }
        Hold::Budget { .. } => {
            "the target does not fit into the budget. Requests in doubt count at the highest price \
             that they may cost"
        }
        Hold::NotSeenYet { .. } => "a destroy right after a launch",
        Hold::Gap { .. } => "a region with machines of the fleet does not answer in full",
    }
}

fn gaps() -> Vec<GapCause> {
    vec![
        GapCause::Unreachable,
        GapCause::PartialList,
        GapCause::NoCredentials,
        GapCause::NotAllowed,
        GapCause::Throttled,
        GapCause::BreakerOpen,
        GapCause::ListWrong,
        GapCause::OtherAccount,
    ]
}

fn why_gap(cause: GapCause) -> &'static str {
    match cause {
        GapCause::Unreachable => "nobody knows what is there",
        GapCause::PartialList => "what is missing from a part of a list is not gone",
        GapCause::NoCredentials => "nothing can be asked, and nothing is guessed",
        GapCause::NotAllowed => "the account may not list; machines may be there all the same",
        GapCause::Throttled => "asking more would make it worse",
        GapCause::BreakerOpen => {
            "three requests in a row failed without a usable answer; the region gets a rest"
        }
        GapCause::ListWrong => {
            "a list without machines that were there a moment ago is not believed"
        }
        GapCause::OtherAccount => "another account has other machines: the fleet would look empty",
    }
}

fn stale() -> Vec<Stale> {
    let (planned, now) = (MicroUsd::dollars(2), MicroUsd::dollars(3));
    vec![
        Stale::Engine { planned: "0.1.0".into(), now: "0.2.0".into() },
        Stale::Expired { at: noon() },
        Stale::Fleet,
        Stale::Spec,
        Stale::Journal { planned: 7, now: 9 },
        Stale::Observation,
        Stale::Prices { planned, now },
        Stale::Unavailable {
            pool: "aws/us-east-1/use1-az4/m6i.xlarge/spot".parse().expect("a pool"),
        },
        Stale::Decision,
    ]
}

fn refusals() -> Vec<RunError> {
    let fleet = || "web".into();
    let holder = "you on laptop, process 14516, fleet apply".to_owned();
    let why = "its digest does not fit".to_owned();
    let mut all = vec![
        RunError::Lease(LeaseError::Held { fleet: fleet(), holder }),
        RunError::Journal(JournalError::Damaged { fleet: fleet(), seq: 12, why }),
        RunError::Journal(JournalError::Fenced { fleet: fleet(), epoch: 4 }),
        RunError::NoProvider { fleet: fleet(), cloud: Cloud::Gcp },
        RunError::Unsound { fleet: fleet(), violations: vec![Violation::Cycle] },
        RunError::Leaving { fleet: "web".into(), to: "shop".into() },
        RunError::Journal(JournalError::Arriving { fleet: "shop".into(), from: fleet() }),
        RunError::NoSuchFleet { fleet: fleet() },
        RunError::NameTaken { fleet: fleet() },
        RunError::InDoubt { fleet: fleet(), requests: 2 },
    ];
    all.extend(stale().into_iter().map(RunError::Stale));
    all
}

fn why_refused(cause: &RunError) -> &'static str {
    match cause {
        RunError::Lease(_) => "two applies at once would launch twice",
        RunError::Journal(JournalError::Fenced { .. }) => {
            "a run that was thought dead must not write after the one that replaced it"
        }
        RunError::Leaving { .. } | RunError::Journal(JournalError::Arriving { .. }) => {
            "a fleet under two names would launch twice"
        }
        RunError::NoSuchFleet { .. } => "a name that nobody knows is a mistake",
        RunError::NameTaken { .. } => "two journals cannot become one",
        RunError::InDoubt { .. } => {
            "what may have been launched must be found under the name that it was launched with"
        }
        RunError::Journal(_) | RunError::Store(_) => {
            "a journal with a hole cannot say which machines are ours"
        }
        RunError::NoProvider { .. } => "a cloud that cannot be asked is not an empty cloud",
        RunError::Unsound { .. } => {
            "the engine checks each plan against its own rules before sending"
        }
        RunError::Stale(stale) => match stale {
            Stale::Engine { .. } => "another version may decide otherwise",
            Stale::Expired { .. } => "a plan is valid for an hour: prices and capacity move",
            Stale::Fleet => "a fleet that was destroyed and made anew shares only its name",
            Stale::Spec => "what was reviewed is not what the spec says now",
            Stale::Journal { .. } => "what was planned upon has changed",
            Stale::Observation => "machines came or went since somebody looked",
            Stale::Prices { .. } => "somebody agreed to another price",
            Stale::Unavailable { .. } => "the plan would launch what nobody sells now",
            Stale::Decision => "a file that was edited is not a plan",
        },
    }
}

/// A table without line breaks and stray bars in its cells.
fn table(heads: &[&str], rows: Vec<Vec<String>>) -> String {
    let cell = |text: &String| text.replace('|', "\\|").replace('\n', " ");
    let mut out = format!("| {} |\n|{}\n", heads.join(" | "), "---|".repeat(heads.len()));
    for row in rows {
        let cells: Vec<String> = row.iter().map(cell).collect();
        // Writing to a String cannot fail.
        let _ = writeln!(out, "| {} |", cells.join(" | "));
    }
    out
}

fn holds_table() -> String {
    let row = |hold: &Hold| {
        let said: Said<reasons::Hold> = hold.into();
        let json = serde_json::to_value(said).expect("JSON");
        let said = sentences::hold(hold);
        let is = json["is"].as_str().expect("a kind").to_owned();
        let next = said.next.unwrap_or_default();
        vec![format!("`{is}`"), when_held(hold).into(), said.what, why_held(hold).into(), next]
    };
    let heads = ["JSON", "when", "message", "why it exists", "way out"];
    table(&heads, holds().iter().map(row).collect())
}

fn gaps_table() -> String {
    let row = |cause: &GapCause| {
        let gap = match cause {
            GapCause::NoCredentials => {
                let scope = Scope { cloud: Cloud::Lambda, ..region() };
                Gap { scope, cause: *cause, detail: "set LAMBDA_API_KEY".into() }
            }
            _ => Gap { scope: region(), cause: *cause, detail: String::new() },
        };
        let said = sentences::gaps(&[gap]).remove(0);
        let is = serde_json::to_value(cause).expect("a word");
        let is = is.as_str().expect("a word").to_owned();
        let next = said.next.unwrap_or_default();
        vec![format!("`{is}`"), said.what, why_gap(*cause).into(), next]
    };
    table(&["`cause`", "message", "why it exists", "way out"], gaps().iter().map(row).collect())
}

fn refusals_table() -> String {
    let row = |cause: RunError| {
        let why = why_refused(&cause);
        let failure = failed(cause);
        let code = failure.exit.code();
        vec![code.to_string(), failure.what, why.into(), failure.hint.unwrap_or_default()]
    };
    let rows = refusals().into_iter().map(row).collect();
    table(&["exit code", "message", "why it exists", "way out"], rows)
}

/// A refusal that a command makes on its own.
struct Early {
    /// The code that makes it, in which its words must stand.
    source: &'static str,
    exit: Exit,
    words: &'static str,
    why: &'static str,
    way_out: &'static str,
}

const EARLY: [Early; 7] = [
    Early {
        source: include_str!("../simulated.rs"),
        exit: Exit::Failed,
        words: "fleet `{fleet}` stands on simulated clouds",
        why: "simulated machines would look lost to a real cloud, and real ones would be launched",
        way_out: "add --sim, or use another --state for real clouds",
    },
    Early {
        source: include_str!("../simulated.rs"),
        exit: Exit::Failed,
        words: "fleet `{fleet}` does not stand on simulated clouds",
        why: "a simulation must not write into the journal of real machines",
        way_out: "leave --sim out, or use another --state to simulate",
    },
    Early {
        source: include_str!("../ask.rs"),
        exit: Exit::Failed,
        words: "there is no terminal to ask for confirmation",
        why: "nobody said yes",
        way_out: "--yes, after a look at the plan",
    },
    Early {
        source: include_str!("../saved.rs"),
        exit: Exit::PlanStale,
        words: "the plan is stale: the file was altered after it was saved",
        why: "what was reviewed is what is applied, byte for byte",
        way_out: "make a new plan: `fleet plan SPEC --out FILE`",
    },
    Early {
        source: include_str!("../sign.rs"),
        exit: Exit::PlanStale,
        words: "the plan is not signed",
        why: "--require-signature: only a plan that a known key has signed is applied",
        way_out: "sign it where it is made: `fleet plan SPEC --out FILE --sign KEY`",
    },
    Early {
        source: include_str!("../sign.rs"),
        exit: Exit::PlanStale,
        words: "the plan is not signed by a key that --require-signature names",
        why: "somebody else made it",
        way_out: "make a new plan and sign it with the right key; do not apply this one",
    },
    Early {
        source: include_str!("../commands/apply.rs"),
        exit: Exit::PlanStale,
        words: "a signature is required, and this is no saved plan",
        why: "a spec cannot be signed, a plan can",
        way_out: "`fleet plan SPEC --out FILE --sign KEY`, and apply that",
    },
];

fn early_table() -> String {
    let row = |Early { exit, words, why, way_out, .. }: &Early| {
        let words = words.replace("{fleet}", "web");
        vec![exit.code().to_string(), words, (*why).into(), (*way_out).into()]
    };
    let heads = ["exit code", "message", "why it exists", "way out"];
    table(&heads, EARLY.iter().map(row).collect())
}

#[test]
fn early_refusals_are_in_the_code() {
    for Early { source, words, .. } in &EARLY {
        assert!(source.contains(words), "no command says `{words}` any more");
    }
}

/// The page with a table between its marks.
fn with(page: &str, name: &str, table: &str) -> String {
    let (begin, end) = (format!("<!-- {name}: begin -->\n"), format!("<!-- {name}: end -->"));
    let (head, rest) = page.split_once(&begin).expect("a beginning");
    let (_, tail) = rest.split_once(&end).expect("an end");
    format!("{head}{begin}{table}{end}{tail}")
}

#[test]
fn the_page_has_every_guard() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/tasks/guards.md");
    let page = std::fs::read_to_string(&file).expect("the page");
    let mut now = with(&page, "holds", &holds_table());
    now = with(&now, "gaps", &gaps_table());
    now = with(&now, "refusals", &refusals_table());
    now = with(&now, "early", &early_table());
    if std::env::var_os(WRITE).is_some() {
        std::fs::write(&file, now).expect("the page can be written");
        return;
    }
    assert!(page == now, "docs/tasks/guards.md is out of date; run `cargo xtask docs`");
}

/// The variants of an enum, as its source lists them.
fn variants(source: &str, name: &str) -> Vec<String> {
    let (_, body) = source.split_once(&format!("pub enum {name} {{\n")).expect("the enum");
    let (body, _) = body.split_once("\n}").expect("its end");
    let own = |line: &&str| {
        let inside = line.strip_prefix("    ").unwrap_or_default();
        inside.starts_with(|char: char| char.is_ascii_uppercase())
    };
    let word = |line: &str| {
        line.trim().chars().take_while(char::is_ascii_alphanumeric).collect::<String>()
    };
    body.lines().filter(own).map(word).collect()
}

/// `match` finds a reason that has no words; this finds one that no row shows.
#[test]
fn no_kind_is_missing_from_the_samples() {
    let check = |source: &str, name: &str, shown: Vec<String>| {
        let all = variants(source, name);
        assert!(all.len() > 4, "{name}: {all:?}");
        for variant in all {
            let there = shown.iter().any(|one| one.starts_with(&variant));
            assert!(there, "{name}::{variant} is in no table of docs/tasks/guards.md");
        }
    };
    check(
        include_str!("../../../engine/model/src/reason.rs"),
        "Hold",
        holds().iter().map(|one| format!("{one:?}")).collect(),
    );
    check(
        include_str!("../../../engine/model/src/machine.rs"),
        "GapCause",
        gaps().iter().map(|one| format!("{one:?}")).collect(),
    );
    check(
        include_str!("../../../engine/core/src/plan/staleness.rs"),
        "Stale",
        stale().iter().map(|one| format!("{one:?}")).collect(),
    );
}
