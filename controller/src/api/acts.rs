//! What changes something: each in the journal, with who and why.

use super::ask::{Answered, Fleet, body, shown};
use crate::Controller;
use crate::door::Caller;
use crate::refusal::Refusal;
use axum::Extension;
use axum::body::Body;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::IntoResponse;
use fleet_model::{Event, Recorded, RolloutNews, Timestamp};
use fleet_words::exit::Exit;
use fleet_words::fail::Failure;
use fleet_words::output::controller::Asked;
use fleet_words::output::document;
use fleet_words::output::other::Freeze;
use fleet_words::output::words::Time;
use fleet_words::rollouts;
use fleet_words::runs::failed;
use fleet_words::text::when;
use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;

/// Somebody else who changes the fleet is waited for so long, unless the request says otherwise.
const WAIT: u16 = 10;
pub(super) const MOST_WAIT: u16 = 60;
/// Journals keep it for ever.
const MOST_REASON: usize = 500;

/// Something to read, and nothing that moves a cursor.
const ONE_LINE: &str = "^[^\\u0000-\\u001f\\u007f-\\u009f]*[^\\s\\u0000-\\u001f\\u007f-\\u009f][^\\u0000-\\u001f\\u007f-\\u009f]*$";

pub(super) type Here = State<Arc<Controller>>;
pub(super) type Who = Extension<Caller>;

/// Why something is to be done.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Why {
    /// Why, for everybody who reads the journal: one line.
    #[schemars(length(min = 1, max = 500), regex(pattern = ONE_LINE))]
    reason: String,
    /// How long to wait for somebody else who changes the fleet; without it, 10 seconds.
    #[serde(default, deserialize_with = "whole")]
    #[schemars(range(min = 0, max = 60))]
    wait_seconds: Option<u16>,
}

/// A fleet is to stay as it is.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Keep {
    /// Why, for everybody who meets it: one line.
    #[schemars(length(min = 1, max = 500), regex(pattern = ONE_LINE))]
    reason: String,
    /// Until when; without it, until it is thawed.
    #[serde(default)]
    #[schemars(extend("format" = "date-time"))]
    until: Option<String>,
    /// How long to wait for somebody else who changes the fleet; without it, 10 seconds.
    #[serde(default, deserialize_with = "whole")]
    #[schemars(range(min = 0, max = 60))]
    wait_seconds: Option<u16>,
}

/// What is to become of a rollout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) enum Wish {
    /// Begin no further wave.
    Pause,
    /// Go on, also after a stop, and also with a template that was undone.
    Resume,
    /// Return to the last template that the whole fleet was ready with.
    Undo,
}

/// A say in a rollout.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Say {
    /// What is to become of it.
    action: Wish,
    /// Why, for everybody who reads the journal: one line.
    #[schemars(length(min = 1, max = 500), regex(pattern = ONE_LINE))]
    reason: String,
    /// How long to wait for somebody else who changes the fleet; without it, 10 seconds.
    #[serde(default, deserialize_with = "whole")]
    #[schemars(range(min = 0, max = 60))]
    wait_seconds: Option<u16>,
}

/// A whole number, also if it is written as `10.0`: to JSON that is the same.
pub(super) fn whole<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u16>, D::Error> {
    let number = Option::<f64>::deserialize(from)?;
    let fits = |number: f64| number.fract() == 0.0 && (0.0..=f64::from(u16::MAX)).contains(&number);
    match number {
        None => Ok(None),
        Some(number) if fits(number) => Ok(Some(number as u16)),
        Some(number) => Err(D::Error::custom(format!("{number} is no number of seconds"))),
    }
}

/// Looks after a fleet now.
pub(super) async fn reconcile(
    State(controller): Here,
    Extension(caller): Who,
    fleet: Fleet,
    sent: Body,
) -> Answered {
    let Why { reason, wait_seconds } = body(sent).await?;
    let wait = wait(wait_seconds)?;
    let holder = holder(&controller, &caller, "reconcile", &reason)?;
    look_now(&controller, &fleet, holder.clone(), wait).await?;
    let asked = Asked { fleet: fleet.name.to_string(), who: holder, at: Time(controller.time()) };
    Ok((StatusCode::ACCEPTED, axum::Json(document(Exit::Done, asked))).into_response())
}

/// Begins to look after a fleet, and waits until that is in the journal.
pub(super) async fn look_now(
    controller: &Arc<Controller>,
    fleet: &Fleet,
    holder: String,
    wait: Duration,
) -> Result<(), Refusal> {
    let (tell, told) = oneshot::channel();
    let (this, desired) = (controller.clone(), fleet.desired.clone());
    // It goes on when the caller is gone: it is in the journal.
    tokio::spawn(async move {
        this.apart(async move |this| this.look_after_now(&desired, holder, wait, tell).await).await
    });
    match told.await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(failure)) => Err(failure.into()),
        Err(_) => Err(Failure::new("the look broke off").into()),
    }
}

/// Keeps a fleet as it is.
pub(super) async fn freeze(
    State(controller): Here,
    Extension(caller): Who,
    fleet: Fleet,
    sent: Body,
) -> Answered {
    let Keep { reason, until, wait_seconds } = body(sent).await?;
    let until = until.map(|until| until.parse::<Timestamp>()).transpose();
    let until =
        until.map_err(|_| Refusal::bad("write a time such as 2026-12-01T08:00:00Z", "until"))?;
    if let Some(until) = until.filter(|until| *until <= controller.time()) {
        return Err(Refusal::bad(format!("{} is over", when(until)), "until"));
    }
    let wish = Event::Frozen { reason: reason.clone(), until };
    let recorded =
        write(&controller, &caller, &fleet, ("freeze", &reason, wait_seconds), wish).await?;
    Ok(shown(Freeze::of(fleet.name.as_str(), &recorded)))
}

/// Lets a fleet change again.
pub(super) async fn thaw(
    State(controller): Here,
    Extension(caller): Who,
    fleet: Fleet,
    sent: Body,
) -> Answered {
    let Why { reason, wait_seconds } = body(sent).await?;
    let what = ("thaw", reason.as_str(), wait_seconds);
    let recorded = write(&controller, &caller, &fleet, what, Event::Thawed).await?;
    controller.look_at(&fleet.name);
    Ok(shown(Freeze::of(fleet.name.as_str(), &recorded)))
}

/// How far a rollout has come.
pub(super) async fn rollout_status(State(controller): Here, fleet: Fleet) -> Answered {
    let recorded = recorded(&controller, &fleet).await?;
    Ok(shown(rollouts::body(fleet.name.as_str(), &recorded)))
}

/// A say in a rollout.
pub(super) async fn rollout(
    State(controller): Here,
    Extension(caller): Who,
    fleet: Fleet,
    sent: Body,
) -> Answered {
    let Say { action, reason, wait_seconds } = body(sent).await?;
    let (command, news) = match action {
        Wish::Pause => ("rollout pause", RolloutNews::Paused),
        Wish::Resume => ("rollout resume", RolloutNews::Resumed),
        Wish::Undo => ("rollout undo", RolloutNews::Undone),
    };
    let before = recorded(&controller, &fleet).await?;
    rollouts::may(fleet.name.as_str(), &before, &news).map_err(Refusal::conflict)?;
    let what = (command, reason.as_str(), wait_seconds);
    let recorded = write(&controller, &caller, &fleet, what, Event::Rollout { news }).await?;
    controller.look_at(&fleet.name);
    Ok(shown(rollouts::body(fleet.name.as_str(), &recorded)))
}

pub(super) async fn recorded(
    controller: &Arc<Controller>,
    fleet: &Fleet,
) -> Result<Recorded, Refusal> {
    let name = fleet.name.clone();
    let recorded = controller.by_hand(async move |this| this.engine.recorded(&name).await).await?;
    Ok(recorded.map_err(failed)?)
}

/// Writes a wish down, under the lease.
pub(super) async fn write(
    controller: &Arc<Controller>,
    caller: &Caller,
    fleet: &Fleet,
    (command, reason, wait_seconds): (&str, &str, Option<u16>),
    wish: Event,
) -> Result<Recorded, Refusal> {
    let wait = wait(wait_seconds)?;
    let holder = holder(controller, caller, command, reason)?;
    if recorded(controller, fleet).await?.epoch == 0 {
        return Err(Refusal::conflict(
            Failure::new(format!("nothing was done to fleet `{}` yet", fleet.name))
                .hint("wait for the first look at it")
                .exit(Exit::Unsettled),
        ));
    }
    let desired = fleet.desired.clone();
    let written = controller
        .by_hand(async move |this| {
            this.ground.admit(&desired.fleet).await?;
            this.engine.wish(&desired, &holder, wait, wish, &|_| {}).await.map_err(failed)
        })
        .await?;
    Ok(written?)
}

pub(super) fn wait(seconds: Option<u16>) -> Result<Duration, Refusal> {
    match seconds.unwrap_or(WAIT) {
        seconds if seconds <= MOST_WAIT => Ok(Duration::from_secs(seconds.into())),
        _ => Err(Refusal::bad(format!("at most {MOST_WAIT} seconds"), "waitSeconds")),
    }
}

/// Who does what and why, for journals and for those who wait.
pub(super) fn holder(
    on: &Controller,
    caller: &Caller,
    command: &str,
    reason: &str,
) -> Result<String, Refusal> {
    let length = reason.chars().count();
    if reason.trim().is_empty() || length > MOST_REASON || reason.chars().any(char::is_control) {
        let what = format!("a reason is one line of 1 to {MOST_REASON} characters");
        return Err(Refusal::bad(what, "reason"));
    }
    if !on.acts {
        return Err(Refusal::conflict(
            Failure::new("this controller looks and never acts")
                .hint("it was started with --dry-run")
                .exit(Exit::Unsettled),
        ));
    }
    Ok(format!("{}, {command} over HTTP ({reason}), replica {}", caller.name, on.replica))
}
