//! What machines say of themselves: that they are taken back. Some clouds tell the machine first, or alone.

use super::acts::{Here, MOST_WAIT, Who, holder, look_now, recorded, wait, whole, write};
use super::ask::{Answered, Fleet, body};
use crate::refusal::Refusal;
use axum::Extension;
use axum::body::Body;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::IntoResponse;
use fleet_model::{Event, InterruptionNotice, MachineId, NoticeKind, PoolId, Recorded, Timestamp};
use fleet_words::exit::Exit;
use fleet_words::output::controller::Asked;
use fleet_words::output::document;
use fleet_words::output::words::Time;
use jiff::SignedDuration;
use schemars::JsonSchema;
use serde::Deserialize;
use std::time::Duration;

/// Nobody knows so long before.
const SOONEST: SignedDuration = SignedDuration::from_hours(1);
/// What was told so lately, of the same time, need not be written down again.
const SAME: SignedDuration = SignedDuration::from_mins(5);
/// Where a cloud does not say how long before it tells.
const WARNING: Duration = Duration::from_secs(30);

/// A machine is taken back.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct TakenBack {
    /// The cloud's name of the machine, as `GET /v1/fleets/{fleet}/machines` shows it.
    #[schemars(length(min = 1, max = 500))]
    machine: String,
    /// When; without it, as soon as the cloud may.
    #[serde(default)]
    #[schemars(extend("format" = "date-time"))]
    at: Option<String>,
    /// How long to wait for somebody else who changes the fleet; without it, 10 seconds.
    #[serde(default, deserialize_with = "whole")]
    #[schemars(range(min = 0, max = MOST_WAIT))]
    wait_seconds: Option<u16>,
}

/// Writes a notice down, and looks after the fleet at once. Telling it again changes nothing.
pub(super) async fn notice(
    State(controller): Here,
    Extension(caller): Who,
    fleet: Fleet,
    sent: Body,
) -> Answered {
    let TakenBack { machine, at, wait_seconds } = body(sent).await?;
    let machine = MachineId::new(machine);
    let now = controller.time();
    let holder = holder(&controller, &caller, "notice", "a machine is taken back")?;
    let known = recorded(&controller, &fleet).await?;
    let Some(pool) = stands_in(&known, &machine) else {
        return Err(unknown(&fleet));
    };
    let warning = pool.place.cloud.facts().notice.unwrap_or(WARNING);
    let at = moment(at, now, warning)?;
    let same = |told: &InterruptionNotice| at.duration_since(told.at).abs() < SAME;
    if !known.told.get(&machine).is_some_and(same) {
        let notice = InterruptionNotice { at, kind: NoticeKind::Interruption };
        let wish = Event::NoticeTold { machine, notice };
        let what = ("notice", "a machine is taken back", wait_seconds);
        write(&controller, &caller, &fleet, what, wish).await?;
        look_now(&controller, &fleet, holder.clone(), wait(wait_seconds)?).await?;
    }
    let asked = Asked { fleet: fleet.name.to_string(), who: holder, at: Time(now) };
    Ok((StatusCode::ACCEPTED, axum::Json(document(Exit::Done, asked))).into_response())
}

/// A name that no machine of the fleet has.
pub(super) fn unknown(fleet: &Fleet) -> Refusal {
    Refusal::missing(
        format!("no machine of fleet `{}` is on record under this name", fleet.name),
        "`fleet status --machines` shows how they are called",
    )
}

/// The pool that a machine on record was taken from.
pub(super) fn stands_in<'a>(recorded: &'a Recorded, machine: &MachineId) -> Option<&'a PoolId> {
    recorded.machines().find(|one| one.machine == machine).map(|one| one.pool)
}

fn moment(at: Option<String>, now: Timestamp, warning: Duration) -> Result<Timestamp, Refusal> {
    let Some(at) = at else { return Ok(now.saturating_add(warning).unwrap_or(now)) };
    let at: Timestamp =
        at.parse().map_err(|_| Refusal::bad("write a time such as 2026-12-01T08:00:00Z", "at"))?;
    match at.duration_since(now).abs() <= SOONEST {
        true => Ok(at),
        false => Err(Refusal::bad("a notice is of this hour", "at")),
    }
}
