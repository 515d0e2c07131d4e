//! A comparison with another commit, and the rules that were held against it, for people.

use super::columns::{Cell, Columns, left, right};
use crate::review::{
    Comparison, Edit, FieldEdit, FleetEdit, Review, Side, Standing, families, regions,
};
use crate::style::{ADD, BOLD, DIM, ERROR, PLAIN, REMOVE, WARN};
use crate::text::{Hourly, clean_line, count, first_of, growth, month_change, signed, wrap};
use anstyle::Style;

/// Edited values of a fleet that are listed; a rewritten spec has hundreds.
pub const FIELDS: usize = 12;

/// Fleets that one kind of remark is made about; of a thousand fleets, nobody reads a thousand.
const REMARKS: usize = 5;

/// Everything that a review adds to a screen; nothing without one.
pub fn render(review: &Review) -> String {
    let mut out = String::new();
    if let Some(all) = &review.comparison {
        out.push_str(&compared(all));
    }
    if !review.verdicts.is_empty() {
        out.push_str(&rules(review));
    }
    out.trim_end().to_owned()
}

/// What a reader should know of the base, a sentence each.
pub fn remarks(all: &Comparison) -> Vec<String> {
    let mut said = all.problems.clone();
    let reference = &all.reference;
    if all.is_ahead {
        said.push(format!(
            "{reference} has commits that this branch does not have; their changes count as undone here. Merge \
             or rebase first, or compare with $(git merge-base {reference} HEAD)"
        ));
    }
    if !all.known {
        said.push(format!("what the specs at {reference} ask for is not known in full"));
    }
    if !all.whole {
        said.push("fleets without a plan are not counted".into());
    }
    let mut drifted = Vec::new();
    let mut stay = Vec::new();
    for one in &all.fleets {
        let Some(now) = one.now.as_ref() else { continue };
        let machines = count(now.machines, "machine");
        let stands = format!("{machines}, {} per month", now.cost().per_month());
        let name = &one.fleet;
        if one.edit == Edit::Removed {
            if now.machines > 0 && !one.pruned {
                stay.push(format!(
                    "{name} has {stands}: they stay and cost money until it is destroyed or pruned"
                ));
            }
        } else if one.drift {
            drifted.push(format!(
                "{name} is not as {reference} asks for, whatever becomes of this change: it has {stands}"
            ));
        }
    }
    for mut remarks in [stay, drifted] {
        let more = remarks.len().saturating_sub(REMARKS);
        remarks.truncate(REMARKS);
        said.extend(remarks);
        if more > 0 {
            said.push(format!("and {more} more fleets like these"));
        }
    }
    said
}

/// Families, regions and clouds that the base does not use, as phrases.
pub fn news(all: &Comparison) -> Vec<String> {
    let phrase = |names: Option<Vec<String>>, one: &str, many: &str| {
        let names = names.filter(|names| !names.is_empty())?;
        let what = if names.len() == 1 { one } else { many };
        Some(format!("{what} {}", first_of(&names)))
    };
    [
        phrase(all.new_clouds(), "cloud", "clouds"),
        phrase(all.new_names(regions), "region", "regions"),
        phrase(all.new_names(families), "family", "families"),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// `8 → 16 gpus`: what is asked for.
pub fn capacity(one: &FleetEdit) -> String {
    let side =
        |side: &Side| side.capacity.map(|(units, unit)| (units.to_string(), unit.to_string()));
    let before = one.before.as_ref().and_then(side);
    match (before, side(&one.after)) {
        (Some((before, was)), Some((after, unit))) if was == unit => {
            format!("{} {unit}", arrow(before, after))
        }
        (Some((before, was)), Some((after, unit))) => format!("{before} {was} → {after} {unit}"),
        (None, Some((units, unit))) | (Some((units, unit)), None) => format!("{units} {unit}"),
        (None, None) => String::new(),
    }
}

/// `1 → 2`, or one of them where they are the same.
pub fn arrow(before: String, after: String) -> String {
    if before == after { after } else { format!("{before} → {after}") }
}

/// `+$366, +39 %`; `?` where it is not known.
pub fn difference(before: Option<Hourly>, after: Hourly) -> String {
    let (Some(before), Some(after)) = (before.and_then(Hourly::whole), after.whole()) else {
        return "?".into();
    };
    if before == after {
        return String::new();
    }
    let share = growth(before, after).map_or_else(String::new, |share| format!(", {share}"));
    format!("{}{share}", month_change(before, after))
}

/// What to say of a spec that asks for something else although no value of it was edited.
pub fn elsewhere(one: &FleetEdit) -> Option<&'static str> {
    (one.edit == Edit::Changed && one.fields.is_empty())
        .then_some("no value of its own: a policy, user data, or a variable changed")
}

/// An edited value: `spec.capacity.target: 8 → 16`.
pub fn field(edit: &FieldEdit) -> (String, String, String) {
    let value =
        |value: &Option<String>| value.as_deref().map_or_else(|| "not set".into(), clean_line);
    (clean_line(&edit.field), value(&edit.from), value(&edit.to))
}

fn compared(all: &Comparison) -> String {
    let reference = clean_line(&all.reference);
    let mut out = format!(
        "\n{BOLD}Compared with the specs at {reference}{BOLD:#} {DIM}({}){DIM:#}, bought anew at the prices of now:\n",
        all.commit
    );
    let mut columns = Columns::without(&["per hour", "capacity", "machines"]);
    let headings = ["", "fleet", "capacity", "machines", "per hour", "per month", ""];
    let numbers = 3..6;
    let heading = |(at, name)| if numbers.contains(&at) { right(name) } else { left(name) };
    columns.styled(DIM, headings.into_iter().enumerate().map(heading));
    for one in all.fleets.iter().filter(|one| one.edit != Edit::Same) {
        let (mark, style) = mark(one.edit);
        let before = one.before.as_ref().map(|side| (side.machines, side.cost()));
        let names = [left(mark).style(style), left(one.fleet.as_str()), left(capacity(one))];
        columns
            .row(names.into_iter().chain(amounts(before, (one.after.machines, one.after.cost()))));
    }
    if all.fleets.len() > 1 {
        let before = all.before().map(|sum| (sum.machines, sum.cost()));
        let after = all.after();
        let names = [left(""), left("all"), left("")];
        columns.row(names.into_iter().chain(amounts(before, (after.machines, after.cost()))));
    }
    out.push('\n');
    if all.fleets.iter().any(|one| one.edit != Edit::Same) {
        out.push_str(&columns.render("  "));
    }
    match all.count(Edit::Same) {
        0 => {}
        same => out.push_str(&format!("  {} as before\n", count(same, "fleet"))),
    }
    let news = news(all);
    if !news.is_empty() {
        out.push_str(&format!("{}\n", wrap("  new: ", &news.join("; "))));
    }
    for one in all.fleets.iter().filter(|one| one.edit == Edit::Changed) {
        out.push_str(&format!("\n  {}\n", one.fleet));
        out.extend(elsewhere(one).map(|said| format!("    {said}\n")));
        for (name, from, to) in one.fields.iter().take(FIELDS).map(field) {
            out.push_str(&format!("{}\n", wrap("    ", &format!("{name}: {from} → {to}"))));
        }
        if let Some(more) = one.fields.len().checked_sub(FIELDS).filter(|more| *more > 0) {
            out.push_str(&format!("    {} more\n", more));
        }
    }
    for remark in remarks(all) {
        let text = wrap("        ", &remark);
        out.push_str(&format!("\n  {WARN}note{WARN:#}  {}", text.trim_start()));
    }
    out.push('\n');
    out
}

/// Machines and money before and after.
fn amounts(before: Option<(u32, Hourly)>, after: (u32, Hourly)) -> [Cell; 4] {
    let was = before.map(|(_, hourly)| hourly);
    [
        right(numbers(before.map(|(machines, _)| machines), after.0)),
        right(per_hour(was, after.1)),
        right(money(was, after.1)),
        left(difference(was, after.1)).style(BOLD),
    ]
}

fn mark(edit: Edit) -> (&'static str, Style) {
    match edit {
        Edit::Added => ("+", ADD),
        Edit::Changed => ("~", WARN),
        Edit::Removed => ("-", REMOVE),
        Edit::Unknown => ("?", WARN),
        Edit::Same => ("=", PLAIN),
    }
}

/// Machines before and after; `?` where it is not known.
pub fn numbers(before: Option<u32>, after: u32) -> String {
    arrow(before.map_or_else(|| "?".into(), |before| before.to_string()), after.to_string())
}

/// Money per hour before and after; `?` where it is not known.
pub fn per_hour(before: Option<Hourly>, after: Hourly) -> String {
    arrow(before.map_or_else(|| "?".into(), Hourly::per_hour), after.per_hour())
}

/// Money per month before and after; `?` where it is not known.
pub fn money(before: Option<Hourly>, after: Hourly) -> String {
    arrow(before.map_or_else(|| "?".into(), Hourly::per_month), after.per_month())
}

fn rules(review: &Review) -> String {
    let mut out = format!("\n{BOLD}Rules{BOLD:#}\n");
    for verdict in &review.verdicts {
        let (word, style) = match verdict.is {
            Standing::Kept => ("kept   ", ADD),
            Standing::Broken => ("broken ", ERROR),
            Standing::Unknown => ("unknown", ERROR),
        };
        let text = wrap("           ", &format!("{}: {}", verdict.rule, verdict.why));
        out.push_str(&format!("  {style}{word}{style:#}  {}\n", text.trim_start()));
        if let Some(next) = &verdict.next {
            out.push_str(&format!("{}\n", wrap("           → ", next)));
        }
    }
    out
}

/// A change in one line, for the first line of a comment.
pub fn headline(all: &Comparison) -> String {
    let [added, removed, unknown] =
        [Edit::Added, Edit::Removed, Edit::Unknown].map(|edit| all.count(edit));
    let kinds = [(added, "new"), (removed, "removed"), (unknown, "not known before")];
    let kinds: Vec<String> = kinds
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    let kinds = if kinds.is_empty() { String::new() } else { format!(" ({})", kinds.join(", ")) };
    let mut parts = vec![match added + removed + unknown + all.count(Edit::Changed) {
        0 => "no change".to_owned(),
        1 => format!("1 fleet changes{kinds}"),
        n => format!("{n} fleets change{kinds}"),
    }];
    let after = all.after();
    match all.before() {
        Some(before) => {
            if before.machines != after.machines {
                let one = before.machines.abs_diff(after.machines) == 1;
                let word = if one { "machine" } else { "machines" };
                parts.push(format!("{} {word}", signed(before.machines, after.machines)));
            }
            parts.push(cost(before.cost(), after.cost()));
        }
        None => parts.push(format!("{} per month, before not known", after.cost().per_month())),
    }
    parts.join(", ")
}

/// What it costs per month, and what that is more; nothing of the latter where it is not known.
pub fn cost(before: Hourly, after: Hourly) -> String {
    let money = money(Some(before), after);
    match difference(Some(before), after) {
        same if same.is_empty() || same == "?" => format!("{money} per month"),
        change => format!("{money} per month ({change})"),
    }
}
