//! Pages that are made from code, held against the code. `cargo xtask docs` writes them.

use fleet_model::{Bucket, Chip, Cloud, CloudFacts, Figure, SIGNALS, SignalRow, TokenRule};
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

/// Set by `cargo xtask docs`: write what differs instead of failing.
const WRITE: &str = "FLEET_WRITE_DOCS";

fn check(name: &str, text: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name);
    if std::fs::read_to_string(&file).is_ok_and(|there| there == text) {
        return;
    }
    assert!(std::env::var_os(WRITE).is_some(), "{name} is out of date; run `cargo xtask docs`");
    std::fs::write(&file, text).expect("the page can be written");
}

#[test]
fn spec_reference() {
    check("docs/spec.md", &fleet_spec::reference_markdown());
}

#[test]
fn json_schema() {
    let schema = serde_json::to_string_pretty(&fleet_spec::schema()).expect("a schema");
    check("docs/fleet.schema.json", &(schema + "\n"));
}

#[test]
fn metrics() {
    check_part("docs/metrics.md", "families", &fleet_controller::metrics::page());
}

#[test]
fn prices() {
    check("docs/prices.md", &fleet_money::extras::page());
}

/// Holds a part of a page against the code: what is between two lines that name it.
fn check_part(name: &str, part: &str, text: &str) {
    let (begin, end) = (format!("<!-- {part}: begin -->\n"), format!("<!-- {part}: end -->\n"));
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name);
    let page = std::fs::read_to_string(&file).expect("a page");
    let (before, rest) = page.split_once(&begin).expect("where the table begins");
    let (_, after) = rest.split_once(&end).expect("where it ends");
    check(name, &format!("{before}{begin}{text}{end}{after}"));
}

#[test]
fn accelerators() {
    let heads: Vec<String> = Figure::ALL.iter().map(|figure| format!("`{figure}`")).collect();
    let mut table = format!("| chip | {} | link | source, grade |\n", heads.join(" | "));
    let _ = writeln!(table, "|---|{}---|---|", "--:|".repeat(heads.len()));
    for chip in Chip::ALL {
        let figure =
            |figure: &Figure| chip.figure(*figure).map_or("–".into(), |it| it.to_string());
        let figures: Vec<String> = Figure::ALL.iter().map(figure).collect();
        let Chip { name, link, source, grade, .. } = chip;
        let grade = grade.as_str();
        let _ =
            writeln!(table, "| {name} | {} | {link} | {source}; {grade} |", figures.join(" | "));
    }
    check_part("docs/compare.md", "figures", &table);
}

#[test]
fn signals() {
    let mut table = String::from(
        "| signal | foretells | asked with | an answer holds | stands in for | the cloud's limit | \
         source | weight at first |\n|---|---|---|---|---|---|---|--:|\n",
    );
    for row in &SIGNALS {
        let SignalRow { name, says, asked, limit, limit_source, weight_percent, .. } = row;
        let held = |time_of: Duration| match time_of {
            Duration::ZERO => "not kept".to_owned(),
            days if days.as_secs().is_multiple_of(86_400) => {
                format!("{} d", days.as_secs() / 86_400)
            }
            other => time(other),
        };
        let (holds, stands_in) = (held(row.holds), held(row.stands_in));
        let says = says.as_str();
        writeln!(
            table,
            "| `{name}` | {says} | {asked} | {holds} | {stands_in} | {limit} | {limit_source} | \
             {weight_percent} % |"
        )
        .expect("text");
    }
    check_part("docs/placement.md", "signals", &table);
}

fn time(duration: Duration) -> String {
    match duration.as_secs() {
        0 => "at once".into(),
        seconds if seconds.is_multiple_of(3600) => format!("{} h", seconds / 3600),
        seconds if seconds.is_multiple_of(60) => format!("{} min", seconds / 60),
        seconds => format!("{seconds} s"),
    }
}

fn rate(Bucket { size, per_second }: Bucket) -> String {
    match per_second >= 1.0 {
        true => format!("{size:.0} at once, {per_second:.1} per second"),
        false => format!("{size:.0} at once, one in {:.0} s", 1.0 / per_second),
    }
}

/// A row of the table: what it tells, and the cloud's word.
type Fact = (&'static str, fn(&CloudFacts) -> String);

const FACTS: [Fact; 14] = [
    ("machines per launch", |facts| facts.machines_per_launch.to_string()),
    ("machines per change of labels", |facts| {
        facts.machines_per_relabel.map_or("cannot be changed".into(), |most| most.to_string())
    }),
    ("a launch sent twice is one because of", |facts| {
        let rule = match facts.token {
            TokenRule::ClientToken => "its client token",
            TokenRule::RequestId => "its request id",
            TokenRule::Name => "its name",
            TokenRule::None => "nothing: it is looked for first",
        };
        rule.into()
    }),
    ("chooses among pools of a region", |facts| yes(facts.chooses_among_pools)),
    ("one list shows a whole account", |facts| yes(facts.lists_whole_accounts)),
    ("may leave disks and interfaces behind", |facts| yes(facts.leaves_children)),
    ("notice before spot is taken back, at most", |facts| {
        facts.notice.map_or("sells no spot".into(), time)
    }),
    ("lists show what has ended for", |facts| time(facts.lists_ended_for)),
    ("a new machine may be unknown for", |facts| match facts.unknown_for {
        Duration::ZERO => "never".into(),
        long => time(long),
    }),
    ("calls a machine failed that never reports ready after", |facts| {
        facts.gives_up_after.map_or("never".into(), time)
    }),
    ("billed in steps of (at least)", |facts| {
        format!("{} ({})", time(facts.billing.step), time(facts.billing.least))
    }),
    ("looks", |facts| rate(facts.rates.look)),
    ("launches", |facts| match facts.rates.machines {
        None => rate(facts.rates.launch),
        Some(machines) => {
            format!("{}; machines: {}", rate(facts.rates.launch), rate(machines))
        }
    }),
    ("destroys", |facts| rate(facts.rates.destroy)),
];

fn yes(is_so: bool) -> String {
    if is_so { "yes".into() } else { "no".into() }
}

#[test]
fn cloud_facts() {
    let mut page = String::from(
        "# What is true of each cloud\n\nMade from `engine/model/src/facts.rs`, where the sources are. The \
         engine keeps these figures, and the\nsimulated clouds live by them. Rates are the clouds' own; what \
         `fleet` allows itself is in\n[0011](decisions/0011-pace.md).\n\n",
    );
    let titles: Vec<&str> = Cloud::ALL.iter().map(|cloud| cloud.facts().title).collect();
    let _ = writeln!(page, "| | {} |", titles.join(" | "));
    let _ = writeln!(page, "|---|{}", "---|".repeat(titles.len()));
    for (what, word) in FACTS {
        let words: Vec<String> = Cloud::ALL.iter().map(|cloud| word(cloud.facts())).collect();
        let _ = writeln!(page, "| {what} | {} |", words.join(" | "));
    }
    check("docs/clouds.md", &page);
}
