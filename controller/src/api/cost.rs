//! What was spent.

use super::ask::{Answered, Asked, Fleet, shown};
use crate::Controller;
use crate::refusal::Refusal;
use axum::extract::State;
use fleet_model::{FleetName, Timestamp};
use fleet_money::calendar::{Calendar, Date};
use fleet_money::ledger::Ledger;
use fleet_money::report::{By, Question, Tally};
use fleet_run::read_ledger;
use fleet_words::fail::Failure;
use fleet_words::render::cost_json;
use fleet_words::runs::failed;
use schemars::JsonSchema;
use serde::Deserialize;
use std::sync::Arc;

/// What is shown unless somebody says otherwise.
const DAYS: i64 = 30;
/// Longer reports are for `fleet cost report`: they take time.
const MOST_DAYS: i64 = 400;
/// Groups within groups.
const MOST_GROUPS: usize = 3;
const DAY_MS: i64 = 86_400_000;

const MOMENT: &str = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?(Z|[+-][0-9]{2}:[0-9]{2}))?$";
const GROUPS: &str = "^(team|fleet|pool|type|market|provider|region|day|month|kind|label:[^,]+)(,(team|fleet|pool|type|market|provider|region|day|month|kind|label:[^,]+)){0,2}$";

/// Which report.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Which {
    /// From this day or moment on: `2026-11-01`, `2026-11-01T08:00:00Z`. Without it, 30 days before the end. A report
    /// spans at most 400 days.
    #[serde(default)]
    #[schemars(regex(pattern = MOMENT))]
    from: Option<String>,
    /// Until the end of this day, or until this moment; without it, until now.
    #[serde(default)]
    #[schemars(regex(pattern = MOMENT))]
    to: Option<String>,
    /// Groups, with commas between: team, fleet, pool, type, market, provider, region, day, month, kind or label:NAME; at
    /// most three. Without it, one line for the fleet.
    #[serde(default)]
    #[schemars(length(min = 1, max = 200), regex(pattern = GROUPS))]
    by: Option<String>,
    /// Where days begin and end, such as `Europe/Berlin`; without it, `UTC`.
    #[serde(default)]
    #[schemars(length(min = 1, max = 60))]
    time_zone: Option<String>,
}

/// What a fleet cost.
pub(super) async fn cost(
    State(controller): State<Arc<Controller>>,
    fleet: Fleet,
    Asked(which): Asked<Which>,
) -> Answered {
    let zone = which.time_zone.clone().unwrap_or_else(|| "UTC".into());
    let question = question(&which, &zone, controller.time())?;
    let name = fleet.name.clone();
    let report = controller
        .by_hand(async move |this| {
            let (tally, surplus) = read(&this, &name, question.clone()).await?;
            Ok::<_, Failure>(cost_json::document(&tally, &question, &zone, surplus))
        })
        .await?;
    Ok(shown(report?))
}

async fn read(
    on: &Controller,
    fleet: &FleetName,
    question: Question,
) -> Result<(Tally, u64), Failure> {
    let mut tally = Tally::new(question);
    tally.of_fleet(fleet.as_str());
    let mut ledger = Ledger::default();
    let take = |at, entry| ledger.take(entry, at, &mut tally);
    read_ledger(on.engine.store(), fleet, take).await.map_err(|cause| failed(cause.into()))?;
    ledger.accrued(on.time(), &mut tally);
    let surplus = ledger.surplus().len() as u64;
    Ok((tally, surplus))
}

fn question(which: &Which, zone: &str, now: Timestamp) -> Result<Question, Refusal> {
    let Some(known) = fleet_model::time_zone(zone) else {
        return Err(Refusal::bad("there is no time zone of that name", "timeZone")
            .hint("write Europe/Berlin or UTC"));
    };
    let calendar = Calendar::new(known);
    let by = which.by.as_deref().unwrap_or("fleet");
    let by: Result<Vec<By>, String> = by.split(',').map(str::parse).collect();
    let by = by.map_err(|cause| Refusal::bad(cause, "by"))?;
    if by.len() > MOST_GROUPS {
        return Err(Refusal::bad("there are at most three groups within each other", "by"));
    }
    let to = match which.to.as_deref().map(|to| moment(to, "to")).transpose()? {
        None => now.as_millisecond(),
        Some(Moment::At(at)) => at.as_millisecond(),
        Some(Moment::Day(day)) => day.tomorrow().map_or(i64::MAX, |next| calendar.begins(next)),
    };
    let from = match which.from.as_deref().map(|from| moment(from, "from")).transpose()? {
        None => to.saturating_sub(DAYS * DAY_MS),
        Some(Moment::At(at)) => at.as_millisecond(),
        Some(Moment::Day(day)) => calendar.begins(day),
    };
    if from >= to {
        return Err(Refusal::bad("the report ends before it begins", "from, to"));
    }
    if to.saturating_sub(from) > MOST_DAYS * DAY_MS {
        return Err(Refusal::bad(format!("a report spans at most {MOST_DAYS} days"), "from, to")
            .hint("ask for a part of it; `fleet cost report` makes longer ones"));
    }
    Ok(Question { by, from, to, calendar })
}

enum Moment {
    Day(Date),
    At(Timestamp),
}

fn moment(text: &str, place: &str) -> Result<Moment, Refusal> {
    // A date is also the beginning of a moment: what is longer comes first.
    let at = text.parse().map(Moment::At).ok();
    at.or_else(|| text.parse().map(Moment::Day).ok()).ok_or_else(|| {
        Refusal::bad(
            "this is neither a day such as 2026-11-01 nor a time such as 2026-11-01T08:00:00Z",
            place,
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_bounded() {
        let now: Timestamp = "2026-06-01T00:00:00Z".parse().expect("a time");
        let asked = |from: Option<&str>, to: Option<&str>, by: Option<&str>| {
            let own = |text: Option<&str>| text.map(str::to_owned);
            let which = Which { from: own(from), to: own(to), by: own(by), time_zone: None };
            question(&which, "UTC", now).map(|question| (question.to - question.from) / DAY_MS)
        };
        assert_eq!(asked(None, None, None).expect("a month"), 30);
        assert_eq!(asked(Some("2026-05-01"), Some("2026-05-01"), None).expect("a day"), 1);
        assert!(asked(Some("2020-01-01"), None, None).is_err());
        assert!(asked(Some("2026-05-02"), Some("2026-05-01"), None).is_err());
        assert!(asked(Some("yesterday"), None, None).is_err());
        assert!(asked(Some("-009999-01-01"), Some("9999-12-31"), None).is_err());
        assert!(asked(None, None, Some("colour")).is_err());
        assert!(asked(None, None, Some("day,type,market,region")).is_err());
    }
}
