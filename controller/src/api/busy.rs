//! What machines say of themselves: how busy they are.
//!
//! Each says so once an hour, and a fleet may have thousands: what they say waits a few minutes here, so that a
//! journal gets a record now and then and not one for each machine. Nobody who says something waits for the fleet; a
//! replica that stops writes down what waits.

use super::acts::{Here, Who, holder, recorded};
use super::ask::{Answered, Fleet, body};
use super::notice::unknown;
use crate::Controller;
use crate::refusal::Refusal;
use axum::Extension;
use axum::body::Body;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::IntoResponse;
use fleet_model::{Busy, Event, FleetName, MachineId, Recorded, SlotState, Timestamp};
use fleet_words::exit::Exit;
use fleet_words::output::controller::Asked;
use fleet_words::output::document;
use fleet_words::output::words::Time;
use fleet_words::runs::failed;
use jiff::SignedDuration;
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// What was told waits so long for more.
const GATHER: SignedDuration = SignedDuration::from_mins(10);
/// So much is one record. Of one fleet twice as much waits at most; beyond that the oldest is dropped.
const MOST: usize = 10_000;
/// Of a day at most.
const LONGEST: u32 = 86_400;
const WHY: &str = "machines say how busy they are";
/// How often somebody looks whether it is time to write. Simulated time cannot be slept on.
const TICK: Duration = Duration::from_secs(1);
/// Somebody else who changes the fleet is waited for so long.
const WAIT: Duration = Duration::from_secs(5);

/// How busy a machine was.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Use {
    /// The cloud's name of the machine, as `GET /v1/fleets/{fleet}/machines` shows it.
    #[schemars(length(min = 1, max = 500))]
    machine: String,
    /// The mean use of what the fleet is bought for, in hundredths: of GPUs where there are some.
    #[schemars(range(min = 0, max = 100))]
    busy_percent: f64,
    /// Of so many seconds until now. Time that the machine told of before, or did not run in, is left out.
    #[schemars(range(min = 1, max = LONGEST))]
    seconds: f64,
}

/// What waits to be written, by fleet.
#[derive(Default)]
pub(crate) struct Waiting(Mutex<BTreeMap<FleetName, Told>>);

/// What machines of a fleet said.
struct Told {
    /// Since when something waits, or when it was last tried to write it.
    since: Timestamp,
    /// It was tried: however much there is, it is not tried again with each that comes.
    tried: bool,
    waits: Vec<Busy>,
    /// Until when each told of: the same time is not told again.
    until: BTreeMap<MachineId, Timestamp>,
}

impl Waiting {
    /// Takes in what a machine said.
    fn add(&self, fleet: &FleetName, busy: Busy, now: Timestamp) {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let told = waiting.entry(fleet.clone()).or_insert_with(|| Told {
            since: now,
            tried: false,
            waits: Vec::new(),
            until: BTreeMap::new(),
        });
        let from = told.until.get(&busy.machine).map_or(busy.from, |until| busy.from.max(*until));
        if from >= busy.to {
            return;
        }
        if told.waits.is_empty() {
            (told.since, told.tried) = (now, false);
        }
        told.until.insert(busy.machine.clone(), busy.to);
        told.waits.push(Busy { from, ..busy });
        let too_many = told.waits.len().saturating_sub(2 * MOST);
        told.waits.drain(..too_many);
    }

    /// What is to be written now: `all` of it, or what has waited for long enough or is enough.
    fn due(&self, now: Timestamp, all: bool) -> Vec<(FleetName, Vec<Busy>)> {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let day = SignedDuration::from_secs(LONGEST.into());
        waiting.retain(|_, told| {
            told.until.retain(|_, until| now.duration_since(*until) < day);
            !(told.waits.is_empty() && told.until.is_empty())
        });
        let due = |told: &&mut Told| {
            let long = now.duration_since(told.since) >= GATHER;
            let much = told.waits.len() >= MOST && !told.tried;
            !told.waits.is_empty() && (all || long || much)
        };
        let due = waiting.iter_mut().filter(|(_, told)| due(told));
        due.map(|(fleet, told)| (fleet.clone(), std::mem::take(&mut told.waits))).collect()
    }

    /// It could not be written: somebody else holds the fleet.
    fn put_back(&self, fleet: &FleetName, mut told: Vec<Busy>, now: Timestamp) {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(known) = waiting.get_mut(fleet) else { return };
        told.append(&mut known.waits);
        told.drain(..told.len().saturating_sub(2 * MOST));
        known.waits = told;
        (known.since, known.tried) = (now, true);
    }
}

impl Controller {
    /// Writes down what machines say of themselves, for ever.
    pub(crate) async fn write_use(self: &Arc<Self>) {
        loop {
            tokio::time::sleep(TICK).await;
            self.write_use_now(false).await;
        }
    }

    /// Writes down what has waited for long enough, or all of it.
    pub(crate) async fn write_use_now(self: &Arc<Self>, all: bool) {
        let specs = self.board.specs();
        for (fleet, told) in self.desk.busy.due(self.time(), all) {
            // Nobody asks what a fleet cost that no spec names any more.
            let Some((desired, _)) = specs.fleets.get(&fleet) else { continue };
            let (desired, wish) = (desired.clone(), Event::BusyTold { told: told.clone() });
            let holder = format!("{WHY}, replica {}", self.replica);
            let written = self.apart(async move |this| {
                this.ground.admit(&desired.fleet).await?;
                this.engine.wish(&desired, &holder, WAIT, wish, &|_| {}).await.map_err(failed)
            });
            if let Some(Err(why)) = written.await {
                tracing::debug!(%fleet, why = why.what, "what machines say of their use waits");
                self.desk.busy.put_back(&fleet, told, self.time());
            }
        }
    }
}

/// Takes in how busy a machine was, to be written down with what others say.
pub(super) async fn tell(
    State(controller): Here,
    Extension(caller): Who,
    fleet: Fleet,
    sent: Body,
) -> Answered {
    let Use { machine, busy_percent, seconds } = body(sent).await?;
    let machine = MachineId::new(machine);
    let now = controller.time();
    let who = holder(&controller, &caller, "use", WHY)?;
    let percent = within(busy_percent, 100.0, "busyPercent")?.round() as u8;
    let seconds = within(seconds, f64::from(LONGEST), "seconds")?.ceil().max(1.0) as i64;
    let known = recorded(&controller, &fleet).await?;
    let Some(launched_at) = launched_at(&known, &machine) else { return Err(unknown(&fleet)) };
    let from = now.saturating_sub(SignedDuration::from_secs(seconds)).unwrap_or(now);
    let busy = Busy { machine, from: from.max(launched_at), to: now, percent };
    controller.desk.busy.add(&fleet.name, busy, now);
    let asked = Asked { fleet: fleet.name.to_string(), who, at: Time(now) };
    Ok((StatusCode::ACCEPTED, axum::Json(document(Exit::Done, asked))).into_response())
}

/// When a machine on record was launched.
fn launched_at(recorded: &Recorded, id: &MachineId) -> Option<Timestamp> {
    recorded.slots.values().find_map(|record| match &record.state {
        SlotState::Filled { machine, launched_at, .. } if machine == id => Some(*launched_at),
        SlotState::Filled { .. } | SlotState::InDoubt { .. } | SlotState::Vacant => None,
    })
}

fn within(number: f64, most: f64, place: &str) -> Result<f64, Refusal> {
    match (0.0..=most).contains(&number) {
        true => Ok(number),
        false => Err(Refusal::bad(format!("write a number from 0 to {most}"), place)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(minutes: i64) -> Timestamp {
        Timestamp::UNIX_EPOCH + SignedDuration::from_mins(minutes)
    }

    fn busy(machine: &str, from: i64, to: i64) -> Busy {
        Busy { machine: MachineId::new(machine), from: at(from), to: at(to), percent: 1 }
    }

    /// What is written at a minute: from when to when each.
    fn due(waiting: &Waiting, now: i64, all: bool) -> Vec<(i64, i64)> {
        let minute = |time: Timestamp| time.as_second() / 60;
        let told = waiting.due(at(now), all).into_iter().flat_map(|(_, told)| told);
        told.map(|one| (minute(one.from), minute(one.to))).collect()
    }

    #[test]
    fn what_is_told_is_gathered_once_and_nothing_of_it_is_forgotten() {
        let (waiting, fleet) = (Waiting::default(), FleetName::new("f"));
        let add = |from, to| waiting.add(&fleet, busy("i-1", from, to), at(to));
        add(0, 5);
        // Some of it was told before; all of it was; nothing was.
        add(3, 7);
        add(4, 7);
        add(8, 9);
        assert_eq!(due(&waiting, 14, false), []);
        let all = [(0, 5), (5, 7), (8, 9)];
        assert_eq!(due(&waiting, 15, false), all);
        // It could not be written. Nobody tries again at once; a replica that stops does.
        let told = vec![busy("i-1", 0, 5), busy("i-1", 5, 7), busy("i-1", 8, 9)];
        waiting.put_back(&fleet, told.clone(), at(15));
        assert_eq!(due(&waiting, 24, false), []);
        assert_eq!(due(&waiting, 24, true), all);
        waiting.put_back(&fleet, told, at(24));
        assert_eq!(due(&waiting, 34, false), all);
        // What is written is not told again either.
        add(8, 40);
        assert_eq!(due(&waiting, 50, false), [(9, 40)]);
        assert_eq!(due(&waiting, 3_000, false), []);
        assert!(waiting.0.lock().expect("whole").is_empty());
    }

    #[test]
    fn so_much_waits_and_no_more() {
        let (waiting, fleet) = (Waiting::default(), FleetName::new("f"));
        let add = |count: usize| {
            for machine in 0..count {
                waiting.add(&fleet, busy(&format!("i-{machine}"), 0, 5), at(5));
            }
        };
        add(MOST - 1);
        assert_eq!(due(&waiting, 5, false).len(), 0);
        add(3 * MOST);
        let told = waiting.due(at(5), false).remove(0).1;
        assert_eq!(told.len(), 2 * MOST);
        // Nobody could write it: it is not tried again with each that comes.
        waiting.put_back(&fleet, told, at(5));
        assert_eq!(due(&waiting, 6, false).len(), 0);
        assert_eq!(due(&waiting, 15, false).len(), 2 * MOST);
    }
}
