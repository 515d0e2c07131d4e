//! What a journal says of the past of a fleet: capacity, cost, launches, losses and refusals over time. Pure.

use fleet_model::{Departure, Event, Labels, Timestamp};
use fleet_money::entry::Entry;
use fleet_money::ledger::{Ledger, Lost, Sink};
use fleet_money::meter::Charge;
use fleet_run::Record;
use std::collections::BTreeMap;

const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;

/// How far back a page looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Range {
    #[default]
    Day,
    Week,
    Month,
}

impl Range {
    pub(super) const ALL: [Range; 3] = [Range::Day, Range::Week, Range::Month];

    /// As an address has it; anything else is a day.
    pub(super) fn named(name: &str) -> Self {
        Range::ALL.into_iter().find(|range| range.name() == name).unwrap_or_default()
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Range::Day => "24h",
            Range::Week => "7d",
            Range::Month => "30d",
        }
    }

    pub(super) fn words(self) -> &'static str {
        match self {
            Range::Day => "24 hours",
            Range::Week => "7 days",
            Range::Month => "30 days",
        }
    }

    /// How long a step is, and in words. There are about a hundred.
    pub(super) fn step(self) -> (i64, &'static str) {
        match self {
            Range::Day => (15 * MINUTE, "15 minutes"),
            Range::Week => (2 * HOUR, "2 hours"),
            Range::Month => (8 * HOUR, "8 hours"),
        }
    }

    fn steps(self) -> usize {
        match self {
            Range::Day => 96,
            Range::Week => 84,
            Range::Month => 90,
        }
    }

    /// How many steps a line of a table is made of: a dozen lines or so.
    pub(super) fn steps_per_line(self) -> usize {
        match self {
            Range::Day => 8,
            Range::Week => 12,
            Range::Month => 9,
        }
    }
}

/// What happened in one step.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Step {
    /// When it began, in milliseconds since 1970.
    pub(super) at: i64,
    /// Whether the fleet was there.
    pub(super) known: bool,
    /// The least capacity in it: a dip is not averaged away.
    pub(super) least: f64,
    /// What was paid per hour, on the average.
    pub(super) hourly: f64,
    pub(super) launched: u32,
    /// Machines that went, and nobody here had ended them.
    pub(super) lost: u32,
    /// Launches that clouds refused.
    pub(super) refused: u32,
}

/// The past of a fleet, step by step.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Past {
    pub(super) steps: Vec<Step>,
    /// The share of time with the wanted capacity; `None` without a past.
    pub(super) at_target: Option<f64>,
    /// Dollars spent in it, on machines and what comes beside them.
    pub(super) spent: f64,
    pub(super) launched: u32,
    pub(super) lost: u32,
    pub(super) refused: u32,
}

/// Levels that change at moments, as differences.
#[derive(Default)]
struct Levels {
    capacity: BTreeMap<i64, f64>,
    hourly: BTreeMap<i64, f64>,
}

impl Sink for Levels {
    fn charge(&mut self, charge: Charge<'_>, _: Option<&Labels>) {
        if charge.to <= charge.from {
            return;
        }
        let add = |to: &mut BTreeMap<i64, f64>, amount: f64| {
            *to.entry(charge.from).or_default() += amount;
            *to.entry(charge.to).or_default() -= amount;
        };
        // A machine of a journal from before units were written down counts as one.
        if charge.is_machine() {
            add(&mut self.capacity, charge.life.units.map_or(1.0, |units| units.as_f64()));
        }
        let hourly = charge.hourly.filter(|_| !charge.waived);
        add(&mut self.hourly, hourly.map_or(0.0, |hourly| hourly.as_f64()));
    }

    fn lost(&mut self, _: &Lost, _: i64, _: Option<&Labels>) {}
}

/// Reads a journal: the last steps before `now`.
pub(super) fn past(records: &[Record], now: Timestamp, range: Range, wanted: f64) -> Past {
    let (step, count) = (range.step().0, range.steps());
    let now = now.as_millisecond();
    let from = now - step * count as i64;
    let began = records.first().map_or(i64::MAX, |record| record.at.as_millisecond());
    let mut past = Past {
        steps: (0..count)
            .map(|nth| from + step * nth as i64)
            .map(|at| Step { at, known: at + step > began, ..Step::default() })
            .collect(),
        ..Past::default()
    };
    let (mut ledger, mut levels) = (Ledger::default(), Levels::default());
    for record in records {
        for event in &record.events {
            ledger.take(Entry::from(event), record.at, &mut levels);
            happened(&mut past, event, record.at.as_millisecond(), from, step);
        }
    }
    ledger.accrued(Timestamp::from_millisecond(now).unwrap_or_default(), &mut levels);
    let start = from.max(began);
    if start >= now {
        return past;
    }
    for piece in pieces(&levels.hourly, start, now, step, from) {
        let share = piece.ms() / step as f64;
        past.spent += piece.level * piece.ms() / HOUR as f64;
        if let Some(step) = past.steps.get_mut(piece.nth) {
            step.hourly += piece.level * share;
        }
    }
    let mut enough = 0.0;
    let mut seen = vec![false; count];
    for piece in pieces(&levels.capacity, start, now, step, from) {
        enough += if piece.level + 1e-6 >= wanted { piece.ms() } else { 0.0 };
        if let Some(step) = past.steps.get_mut(piece.nth) {
            step.least = if seen[piece.nth] { step.least.min(piece.level) } else { piece.level };
            seen[piece.nth] = true;
        }
    }
    past.at_target = Some(enough / (now - start) as f64);
    past
}

fn happened(past: &mut Past, event: &Event, at: i64, from: i64, step: i64) {
    let number = |some: usize| u32::try_from(some).unwrap_or(u32::MAX);
    let (launched, lost, refused) = match event {
        Event::Created { machines, .. } => (number(machines.len()), 0, 0),
        Event::Vacated { gone } => {
            let lost = gone.iter().filter(|one| one.how != Departure::Ended);
            (0, number(lost.count()), 0)
        }
        Event::CreateRefused { .. } => (0, 0, 1),
        _ => return,
    };
    let nth = usize::try_from((at - from).div_euclid(step));
    let Some(step) = nth.ok().and_then(|nth| {
        // What happened in this very moment belongs to the last step.
        let last = past.steps.len().checked_sub(1)?;
        past.steps.get_mut(if nth == last + 1 { last } else { nth })
    }) else {
        return;
    };
    (step.launched, step.lost, step.refused) =
        (step.launched + launched, step.lost + lost, step.refused + refused);
    past.launched += launched;
    past.lost += lost;
    past.refused += refused;
}

/// A stretch of time within one step, at one level.
struct Piece {
    nth: usize,
    from: i64,
    to: i64,
    level: f64,
}

impl Piece {
    fn ms(&self) -> f64 {
        (self.to - self.from) as f64
    }
}

/// Cuts levels at their changes and at steps.
fn pieces(changes: &BTreeMap<i64, f64>, from: i64, to: i64, step: i64, origin: i64) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut level: f64 = changes.range(..=from).map(|(_, change)| change).sum();
    let mut at = from;
    let mut next = changes.range(from + 1..).peekable();
    while at < to {
        let nth = (at - origin).div_euclid(step);
        let edge = (origin + step * (nth + 1)).min(to);
        let (until, change) = match next.peek() {
            Some((moment, change)) if **moment <= edge => (**moment, Some(**change)),
            _ => (edge, None),
        };
        if until > at {
            let nth = usize::try_from(nth).unwrap_or_default();
            pieces.push(Piece { nth, from: at, to: until, level: level.max(0.0) });
        }
        if let Some(change) = change {
            level += change;
            next.next();
        }
        at = until;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().expect("a time")
    }

    fn record(seq: u64, moment: &str, events: &str) -> Record {
        let events = serde_json::from_str(events).expect("events");
        Record { format: 1, seq, epoch: 1, at: at(moment), events }
    }

    /// Two machines of 4 at noon; one is interrupted an hour later, and replaced half an hour after that.
    fn journal() -> Vec<Record> {
        let launch = |token: &str, slots: &str, machines: &str| {
            format!(
                r#"[{{"event":"roundStarted","spec":"00000000000000000000000000000000","create":1,"destroy":0,
                "hourlyAfter":5,"worth":[{{"pool":"aws/r/z/t/spot","onDemand":9000000,"units":4000,"unit":"vcpus"}}]}},
                {{"event":"createIntended","create":{{"pool":"aws/r/z/t/spot","slots":{slots},"token":"{token}",
                "price":2000000,"maxPrice":null,"template":"00000000000000000000000000000000"}}}},
                {{"event":"created","token":"{token}","machines":[{machines}],"missing":[],"surplus":[]}}]"#
            )
        };
        let machine = |slot: &str, id: &str, when: &str| {
            format!(r#"{{"slot":"{slot}","machine":"{id}","launchedAt":"{when}","price":2000000}}"#)
        };
        let noon = "2026-01-01T12:00:00Z";
        let (one, two) = (machine("burst-0.1", "i-1", noon), machine("burst-1.1", "i-2", noon));
        let three = machine("burst-0.2", "i-3", "2026-01-01T13:30:00Z");
        vec![
            record(1, noon, &launch("a", r#"["burst-0.1","burst-1.1"]"#, &format!("{one},{two}"))),
            record(
                2,
                "2026-01-01T13:00:00Z",
                r#"[{"event":"vacated","gone":[{"slot":"burst-0","machine":"i-1","how":"interrupted",
                "at":"2026-01-01T13:00:00Z"}]},{"event":"createRefused","token":"x","code":"no"}]"#,
            ),
            record(3, "2026-01-01T13:30:00Z", &launch("b", r#"["burst-0.2"]"#, &three)),
        ]
    }

    #[test]
    fn capacity_cost_and_events_of_a_day() {
        let past = past(&journal(), at("2026-01-01T14:00:00Z"), Range::Day, 8.0);
        let known: Vec<&Step> = past.steps.iter().filter(|step| step.known).collect();
        assert_eq!(known.len(), 8, "two hours of quarters");
        let least: Vec<f64> = known.iter().map(|step| step.least).collect();
        assert_eq!(least, [8.0, 8.0, 8.0, 8.0, 4.0, 4.0, 8.0, 8.0]);
        let hourly: Vec<f64> = known.iter().map(|step| step.hourly).collect();
        assert_eq!(hourly, [4.0, 4.0, 4.0, 4.0, 2.0, 2.0, 4.0, 4.0]);
        assert_eq!((past.launched, past.lost, past.refused), (3, 1, 1));
        assert_eq!(known[4].lost, 1);
        assert!((past.at_target.expect("a past") - 0.75).abs() < 1e-9);
        assert!((past.spent - 7.0).abs() < 1e-6, "{}", past.spent);
    }

    #[test]
    fn what_is_older_than_the_window_still_counts_as_a_level() {
        let past = past(&journal(), at("2026-01-09T14:00:00Z"), Range::Day, 8.0);
        assert!(past.steps.iter().all(|step| step.known && step.least == 8.0));
        assert_eq!((past.launched, past.at_target), (0, Some(1.0)));
        assert!((past.spent - 96.0).abs() < 1e-6);
    }

    #[test]
    fn no_journal_is_no_past() {
        let past = past(&[], at("2026-01-01T14:00:00Z"), Range::Month, 8.0);
        assert!(past.steps.iter().all(|step| !step.known));
        assert_eq!(past.at_target, None);
    }
}
