//! Rules of `--fail-if`: what a change may not do without a person.

use super::change::unpriced;
use crate::sentences;
use crate::text::{clean, count, first_of, growth, month_change, monthly};
use fleet_model::{CostKind, MicroUsd, Uncounted};
use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

/// A rule: what would break it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// As the user writes it.
    pub text: String,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Increase(Per, Limit),
    Above(Per, MicroUsd),
    NewFamily,
    NewRegion,
    NewCloud,
    Destroys(u64),
    Unplaced,
    Unpriced,
    Uncounted,
}

/// The time that an amount is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Per {
    Hour,
    Month,
}

/// The most that something may grow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Limit {
    Usd(MicroUsd),
    /// In millionths of what it was.
    Share(u64),
}

/// How a rule is written: its name, and what follows.
const RULES: [(&str, &str); 11] = [
    ("monthly-increase", ">500usd or >10%"),
    ("hourly-increase", ">2.50usd or >10%"),
    ("monthly", ">10000usd"),
    ("hourly", ">15usd"),
    ("new-family", ""),
    ("new-region", ""),
    ("new-cloud", ""),
    ("destroys", ">3"),
    ("unplaced", ""),
    ("unpriced", ""),
    ("uncounted", ""),
];

/// What a limit alone is about, such as `>10%`: the bill.
const BARE: &str = "monthly-increase";

/// What is wrong with a rule, and where in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleError {
    text: String,
    /// The first character, and how many.
    at: (usize, usize),
    what: String,
}

impl std::error::Error for RuleError {}

impl fmt::Display for RuleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (start, length) = self.at;
        let (space, mark) = (" ".repeat(start), "^".repeat(length.max(1)));
        // What is wrong comes first: programs read one line.
        write!(f, "{}\n    {}\n    {space}{mark}", self.what, clean(&self.text))
    }
}

impl FromStr for Rule {
    type Err = RuleError;

    fn from_str(text: &str) -> Result<Self, RuleError> {
        let wrong = |at: (usize, usize), what: String| RuleError { text: text.into(), at, what };
        let chars = |part: &str| part.chars().count();
        let (name, limit) = match text.split_once('>') {
            Some((name, limit)) => (name, Some(limit)),
            None => (text, None),
        };
        let meant = match (name.trim(), limit) {
            ("", Some(_)) => BARE,
            (name, _) => name,
        };
        let Some((known, form)) = RULES.iter().find(|(known, _)| *known == meant) else {
            return Err(wrong((0, chars(name)), unknown(name.trim())));
        };
        let after = chars(name) + 1;
        let value = limit.map(str::trim);
        let place = (after, limit.map_or(0, chars));
        let bad = |what: &str| wrong(place, format!("{what}; write {known}{form}"));
        let kind = match (*known, value) {
            (_, None) if !form.is_empty() => {
                return Err(wrong(
                    (0, chars(text)),
                    format!("there is no limit; write {known}{form}"),
                ));
            }
            (_, Some(_)) if form.is_empty() => {
                return Err(wrong(
                    (chars(name), chars(text) - chars(name)),
                    "it has no limit".into(),
                ));
            }
            ("new-family", _) => Kind::NewFamily,
            ("new-region", _) => Kind::NewRegion,
            ("new-cloud", _) => Kind::NewCloud,
            ("unplaced", _) => Kind::Unplaced,
            ("unpriced", _) => Kind::Unpriced,
            ("uncounted", _) => Kind::Uncounted,
            ("destroys", Some(value)) => {
                let most = value.parse().map_err(|_| bad("this is not a number of machines"))?;
                Kind::Destroys(most)
            }
            (_, Some(value)) => {
                let per = if known.starts_with("monthly") { Per::Month } else { Per::Hour };
                let limit = amount(value).ok_or_else(|| bad("this is not an amount"))?;
                match (known.ends_with("-increase"), limit) {
                    (true, limit) => Kind::Increase(per, limit),
                    (false, Limit::Usd(limit)) => Kind::Above(per, limit),
                    (false, Limit::Share(_)) => return Err(bad("a share of what?")),
                }
            }
            (_, None) => return Err(bad("there is no limit")),
        };
        Ok(Rule { text: text.trim().into(), kind })
    }
}

fn unknown(name: &str) -> String {
    let names = RULES.map(|(name, _)| name);
    match fleet_catalog::similar(name, names).first() {
        Some(near) => format!("there is no such rule; did you mean `{near}`?"),
        None => format!("there is no such rule; rules are {}", names.join(", ")),
    }
}

/// `500usd`, `$500`, `1,000.50 usd`, `10%`. A bare number is neither.
fn amount(text: &str) -> Option<Limit> {
    let text = text.trim();
    if let Some(number) = text.strip_suffix('%') {
        let MicroUsd(micros) = number.trim().parse().ok()?;
        return Some(Limit::Share(micros / 100));
    }
    let lower = text.to_ascii_lowercase();
    let number = lower.strip_suffix("usd").or_else(|| lower.strip_prefix('$'))?;
    let number = number.trim().trim_start_matches('$').replace(',', "");
    number.parse().ok().map(Limit::Usd)
}

/// What rules are held against.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Measures {
    /// Per hour before the change; `None`: not known.
    pub before: Option<MicroUsd>,
    /// Per hour after it; `None`: not known.
    pub after: Option<MicroUsd>,
    /// Of that, what machines of fleets without a spec go on to cost.
    pub remains: MicroUsd,
    /// What nobody can price, before and after.
    pub uncounted: (Vec<Uncounted>, Vec<Uncounted>),
    /// Families that are used after and not before, as `aws p5`; `None`: not known.
    pub families: Option<Vec<String>>,
    /// The same of regions.
    pub regions: Option<Vec<String>>,
    /// The same of clouds.
    pub clouds: Option<Vec<String>>,
    /// Machines that the plan, and those that follow it, destroy.
    pub destroys: u64,
    /// Fleets of which a part cannot be placed.
    pub unplaced: Vec<String>,
    /// What "before" is, as a phrase: `what the specs at origin/main ask for`.
    pub against: String,
}

/// What became of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// The rule, as the user writes it.
    pub rule: String,
    /// How it stands.
    pub is: Standing,
    /// The figure, in a sentence.
    pub why: String,
    /// How to get past it; `None` where it holds.
    pub next: Option<String>,
}

/// How a rule stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It holds.
    Kept,
    /// It does not.
    Broken,
    /// Nobody can say. Unknown is not "holds".
    Unknown,
}

/// Holds rules against what a change does.
pub fn judge(rules: &[Rule], measures: &Measures) -> Vec<Verdict> {
    rules.iter().map(|rule| rule.judge(measures)).collect()
}

impl Rule {
    fn judge(&self, measures: &Measures) -> Verdict {
        let Measures { uncounted, families, regions, clouds, destroys, unplaced, .. } = measures;
        let (is, why) = match self.kind {
            Kind::Increase(per, limit) => increase(per, limit, measures),
            Kind::Above(per, limit) => above(per, limit, measures),
            Kind::NewFamily => new(families.as_deref(), "family", "families", measures),
            Kind::NewRegion => new(regions.as_deref(), "region", "regions", measures),
            Kind::NewCloud => new(clouds.as_deref(), "cloud", "clouds", measures),
            Kind::Destroys(most) => {
                let machines = count(*destroys, "machine");
                (broken(*destroys > most), format!("{machines} to destroy"))
            }
            Kind::Unplaced if unplaced.is_empty() => (Standing::Kept, "all is placed".into()),
            Kind::Unplaced => {
                (Standing::Broken, format!("not all can be placed of {}", first_of(unplaced)))
            }
            Kind::Unpriced => {
                listed(&without_price(&uncounted.1), "nothing is without a known price")
            }
            Kind::Uncounted => listed(&uncounted.1, "nothing is left out of the cost"),
        };
        let next = (is != Standing::Kept).then(|| match self.kind {
            Kind::Unpriced => ways_to_count(&without_price(&uncounted.1)),
            Kind::Uncounted => ways_to_count(&uncounted.1),
            Kind::Increase(..)
            | Kind::Above(..)
            | Kind::NewFamily
            | Kind::NewRegion
            | Kind::NewCloud
            | Kind::Destroys(_)
            | Kind::Unplaced => self.way_past(is).to_owned(),
        });
        Verdict { rule: self.text.clone(), is, why, next }
    }

    /// How to get past a rule that does not hold.
    fn way_past(&self, is: Standing) -> &'static str {
        match (self.kind, is) {
            (
                Kind::Increase(..) | Kind::NewFamily | Kind::NewRegion | Kind::NewCloud,
                Standing::Unknown,
            ) => "mend what is not known, or run this plan without the rule",
            (_, Standing::Unknown) => "mend what is not known",
            (Kind::Increase(..) | Kind::Above(..), _) => {
                "ask for less, or raise the limit of --fail-if where the plan is run"
            }
            (Kind::NewFamily | Kind::NewRegion | Kind::NewCloud, _) => {
                "leave it out of the spec, or run this plan without the rule"
            }
            (Kind::Destroys(_), _) => {
                "lower the target in steps, or raise the limit of --fail-if where the plan is run"
            }
            (Kind::Unplaced, _) => "`fleet explain` says what stands in the way",
            (Kind::Unpriced | Kind::Uncounted, _) => "run this plan without the rule",
        }
    }
}

/// What of it has no price at all.
fn without_price(uncounted: &[Uncounted]) -> Vec<Uncounted> {
    uncounted.iter().filter(|one| one.because.is_unpriced()).copied().collect()
}

/// A rule that is broken by what is listed.
fn listed(found: &[Uncounted], nothing: &str) -> (Standing, String) {
    match found {
        [] => (Standing::Kept, nothing.to_owned()),
        found => (Standing::Broken, sentences::uncounted(found).join("; ")),
    }
}

/// How each of these would get a price.
fn ways_to_count(found: &[Uncounted]) -> String {
    let ways: BTreeSet<&str> =
        found.iter().map(|one| sentences::way_to_a_price(one.because)).collect();
    ways.into_iter().collect::<Vec<_>>().join("; ")
}

fn broken(is: bool) -> Standing {
    if is { Standing::Broken } else { Standing::Kept }
}

fn per(per: Per, hourly: MicroUsd) -> (String, &'static str) {
    match per {
        Per::Hour => (hourly.to_string(), "per hour"),
        Per::Month => (monthly(hourly), "per month"),
    }
}

/// An amount for its time, exactly.
fn exact(per: Per, hourly: MicroUsd) -> MicroUsd {
    match per {
        Per::Hour => hourly,
        Per::Month => hourly.per_month(),
    }
}

/// What keeps an amount from being known.
fn unknown_cost(measures: &Measures) -> Option<String> {
    if measures.after.is_none() {
        return Some("what it will cost is not known".into());
    }
    let (before, after) = &measures.uncounted;
    let (before, after) = (unpriced(before), unpriced(after));
    let more = after.into_iter().filter_map(|(kind, after)| {
        let more = after.saturating_sub(before.get(&kind).copied().unwrap_or(0));
        let machines = count(more, "more machine");
        (more > 0).then(|| match kind {
            CostKind::Machine => machines,
            CostKind::Disk | CostKind::Address | CostKind::Egress => {
                format!("{kind} of {machines}")
            }
        })
    });
    let more: Vec<String> = more.collect();
    let more = more.join(", ");
    (!more.is_empty()).then(|| format!("{more} without a known price, so the cost is not known"))
}

fn increase(time: Per, limit: Limit, measures: &Measures) -> (Standing, String) {
    let against = &measures.against;
    let Some(before) = measures.before else {
        return (Standing::Unknown, format!("{against} is not known"));
    };
    let after = measures.after.unwrap_or_default();
    let more = after.saturating_sub(before);
    let (before_words, unit) = per(time, before);
    let more_words = match time {
        Per::Hour => format!("+{more}"),
        Per::Month => month_change(before, before + more),
    };
    let over = match limit {
        Limit::Usd(most) => exact(time, more) > most,
        Limit::Share(most) => {
            u128::from(more.0) * 1_000_000 > u128::from(before.0) * u128::from(most)
        }
    };
    // What is known is too much already, whatever the rest costs.
    if let (Some(unknown), false) = (unknown_cost(measures), over) {
        return (Standing::Unknown, unknown);
    }
    let share = growth(before, after).map(|share| format!(", {share}"));
    let why = match (more, before) {
        (MicroUsd(0), _) => format!("no more than {against}, {before_words} {unit}"),
        (_, MicroUsd(0)) => format!("{more_words} {unit}; {against} costs nothing"),
        _ => format!(
            "{more_words} {unit}{} over {against}, {before_words}",
            share.unwrap_or_default()
        ),
    };
    (broken(over), why + &remains(time, measures))
}

/// That a part of the cost is for fleets whose spec is gone and whose machines are not.
fn remains(time: Per, measures: &Measures) -> String {
    if measures.remains == MicroUsd(0) {
        return String::new();
    }
    let (words, unit) = per(time, measures.remains);
    format!("; counts {words} {unit} of removed fleets that still run")
}

fn above(time: Per, limit: MicroUsd, measures: &Measures) -> (Standing, String) {
    let after = measures.after.unwrap_or_default();
    let over = exact(time, after) > limit;
    let after_alone = (Vec::new(), measures.uncounted.1.clone());
    let unknown = unknown_cost(&Measures { uncounted: after_alone, ..measures.clone() });
    if let (Some(unknown), false) = (unknown, over) {
        return (Standing::Unknown, unknown);
    }
    let (words, unit) = per(time, after);
    (broken(over), format!("{words} {unit}{}", remains(time, measures)))
}

fn new(found: Option<&[String]>, one: &str, many: &str, measures: &Measures) -> (Standing, String) {
    match found {
        None => (Standing::Unknown, format!("{} is not known", measures.against)),
        Some([]) => (Standing::Kept, format!("no new {one}")),
        Some([name]) => (Standing::Broken, format!("a new {one}: {name}")),
        Some(names) => (Standing::Broken, format!("new {many}: {}", first_of(names))),
    }
}

#[cfg(test)]
#[path = "rules_tests.rs"]
mod tests;
