//! What machines say of themselves: how busy they are.
//!
//! Each says so once an hour, and a fleet may have thousands: what they say waits a few minutes here, so that a
//! journal gets a record now and then and not one for each machine. What waits is lost with the process.

use super::acts::{Here, MOST_WAIT, Who, holder, recorded, whole, write};
use super::ask::{Answered, Fleet, body};
use super::notice::{stands_in, unknown};
use crate::refusal::Refusal;
use axum::Extension;
use axum::body::Body;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::IntoResponse;
use fleet_model::{Busy, Event, FleetName, MachineId, Timestamp};
use fleet_words::exit::Exit;
use fleet_words::output::controller::Asked;
use fleet_words::output::document;
use fleet_words::output::words::Time;
use jiff::SignedDuration;
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// What was told waits so long for more.
const GATHER: SignedDuration = SignedDuration::from_mins(10);
/// Of one fleet; beyond it the oldest is dropped.
const MOST: usize = 20_000;
/// Of a day at most.
const LONGEST: u32 = 86_400;
const WHY: &str = "machines say how busy they are";

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
    /// Of so many seconds until now.
    #[schemars(range(min = 1, max = LONGEST))]
    seconds: f64,
    /// How long to wait for somebody else who changes the fleet; without it, 10 seconds.
    #[serde(default, deserialize_with = "whole")]
    #[schemars(range(min = 0, max = MOST_WAIT))]
    wait_seconds: Option<u16>,
}

/// What waits to be written, by fleet, and since when.
#[derive(Default)]
pub(crate) struct Waiting(Mutex<BTreeMap<FleetName, (Timestamp, Vec<Busy>)>>);

impl Waiting {
    /// Takes in what a machine said. What is to be written now, if that time has come.
    fn add(&self, fleet: &FleetName, busy: Busy, now: Timestamp) -> Option<Vec<Busy>> {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (since, told) = waiting.entry(fleet.clone()).or_insert_with(|| (now, Vec::new()));
        told.push(busy);
        if now.duration_since(*since) < GATHER {
            return None;
        }
        waiting.remove(fleet).map(|(_, told)| told)
    }

    /// Somebody else holds the fleet: it waits for the next one who says something.
    fn put_back(&self, fleet: &FleetName, mut told: Vec<Busy>, now: Timestamp) {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (_, newer) = waiting.remove(fleet).unwrap_or((now, Vec::new()));
        told.extend(newer);
        told.drain(..told.len().saturating_sub(MOST));
        waiting.insert(fleet.clone(), (now.saturating_sub(GATHER).unwrap_or(now), told));
    }
}

/// Writes down how busy a machine was, now or with what others say soon.
pub(super) async fn tell(
    State(controller): Here,
    Extension(caller): Who,
    fleet: Fleet,
    sent: Body,
) -> Answered {
    let Use { machine, busy_percent, seconds, wait_seconds } = body(sent).await?;
    let machine = MachineId::new(machine);
    let now = controller.time();
    let who = holder(&controller, &caller, "use", WHY)?;
    let percent = within(busy_percent, 100.0, "busyPercent")?.round() as u8;
    let seconds = within(seconds, f64::from(LONGEST), "seconds")?.ceil().max(1.0) as i64;
    let known = recorded(&controller, &fleet).await?;
    if stands_in(&known, &machine).is_none() {
        return Err(unknown(&fleet));
    }
    let from = now.saturating_sub(SignedDuration::from_secs(seconds)).unwrap_or(now);
    let busy = Busy { machine, from, to: now, percent };
    if let Some(told) = controller.desk.busy.add(&fleet.name, busy, now) {
        let wish = Event::BusyTold { told: told.clone() };
        let written = write(&controller, &caller, &fleet, ("use", WHY, wait_seconds), wish).await;
        if let Err(refusal) = written {
            controller.desk.busy.put_back(&fleet.name, told, now);
            return Err(refusal);
        }
    }
    let asked = Asked { fleet: fleet.name.to_string(), who, at: Time(now) };
    Ok((StatusCode::ACCEPTED, axum::Json(document(Exit::Done, asked))).into_response())
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

    #[test]
    fn what_is_told_is_gathered_and_nothing_of_it_is_forgotten() {
        let (waiting, fleet) = (Waiting::default(), FleetName::new("f"));
        let at = |minutes: i64| Timestamp::UNIX_EPOCH + SignedDuration::from_mins(minutes);
        let busy = |minutes: i64| Busy {
            machine: MachineId::new("i-1"),
            from: Timestamp::UNIX_EPOCH,
            to: at(minutes),
            percent: 1,
        };
        let add = |minutes| waiting.add(&fleet, busy(minutes), at(minutes)).map(|told| told.len());
        assert_eq!((add(0), add(9), add(10)), (None, None, Some(3)));
        assert_eq!((add(11), add(20)), (None, None));
        // It could not be written: the next one brings it along.
        waiting.put_back(&fleet, vec![busy(1); 3], at(20));
        assert_eq!(add(21), Some(6));
        waiting.put_back(&fleet, vec![busy(1); MOST + 5], at(30));
        assert_eq!(add(31), Some(MOST + 1));
    }
}
