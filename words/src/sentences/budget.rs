//! Sentences on what may be spent.

use crate::text::{count, when};
use fleet_model::{BudgetLine, Cap, MicroUsd, Timestamp};

/// In micro-dollars.
const CENT: u64 = 10_000;

/// Why burst machines are destroyed for money.
pub(super) fn over(limit: MicroUsd, cap: Cap) -> String {
    match cap {
        Cap::Hourly => format!("the fleet costs more than its {limit}/h budget"),
        Cap::CalendarMonth => {
            format!("this month's budget is nearly used up: it allows {limit}/h from here on")
        }
        Cap::Lifetime => {
            format!(
                "the fleet's lifetime budget is nearly used up: it allows {limit}/h from here on"
            )
        }
    }
}

/// What the budget is.
pub(super) fn is(limit: MicroUsd, cap: Cap) -> String {
    match cap {
        Cap::Hourly => format!("the budget is {limit}/h"),
        Cap::CalendarMonth => format!("this month's budget allows {limit}/h"),
        Cap::Lifetime => format!("the lifetime budget allows {limit}/h"),
    }
}

/// Why no more is launched.
pub(super) fn reached(limit: MicroUsd, cap: Cap) -> String {
    match cap {
        Cap::Hourly => format!("the budget of {limit}/h is used up"),
        Cap::CalendarMonth => {
            format!("what is left of this month's budget allows {limit}/h at the dearest")
        }
        Cap::Lifetime => {
            format!("what is left of the lifetime budget allows {limit}/h at the dearest")
        }
    }
}

/// How far a limit on what is spent reaches.
pub fn line(line: &BudgetLine, now: Timestamp) -> String {
    let BudgetLine {
        cap,
        limit,
        spent,
        spent_on,
        set_aside,
        until,
        forecast,
        used_up_at,
        hourly_limit: _,
    } = line;
    let of = match cap {
        Cap::Hourly => "per hour",
        Cap::CalendarMonth => "this month",
        Cap::Lifetime => "in all",
    };
    let mut out = format!("{spent} of {limit} spent {of}");
    let named: Vec<String> = spent_on
        .each()
        .into_iter()
        .filter(|(_, amount)| *amount > MicroUsd(0))
        .map(|(kind, amount)| match amount {
            // There is something, and nobody asks for hundredths of a cent of what was spent.
            MicroUsd(..CENT) => format!("{kind} <$0.01"),
            amount => format!("{kind} {amount}"),
        })
        .collect();
    if named.len() > 1 {
        out.push_str(&format!(" ({})", named.join(", ")));
    }
    if *set_aside > MicroUsd(0) {
        out.push_str(&format!(", {set_aside} set aside for the base"));
    }
    let end = match cap {
        Cap::Hourly | Cap::CalendarMonth => "the month ends at",
        Cap::Lifetime => "the fleet ends at",
    };
    if spent >= limit {
        out.push_str("; nothing is left");
    } else if let Some(at) = used_up_at {
        let days = u64::try_from(at.duration_since(now).as_hours() / 24).unwrap_or(0);
        let away = match days {
            0 => String::new(),
            days => format!(" (in {})", count(days, "day")),
        };
        let whom = if *set_aside > MicroUsd(0) { "for the burst " } else { "" };
        let at = when(*at);
        out.push_str(&format!("; at this rate nothing is left {whom}from {at} on{away}"));
    } else if let (Some(forecast), Some(_)) = (forecast, until) {
        out.push_str(&format!("; at this rate {end} {forecast}"));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use fleet_model::ByKind;

    #[test]
    fn what_is_next_to_nothing_is_said_in_cents() {
        let spent_on = ByKind {
            machine: MicroUsd::dollars(5),
            disk: MicroUsd(100),
            egress: MicroUsd(20_000),
            ..ByKind::default()
        };
        let spent = BudgetLine {
            cap: Cap::CalendarMonth,
            limit: MicroUsd::dollars(100),
            spent: spent_on.total(),
            spent_on,
            set_aside: MicroUsd(0),
            until: None,
            forecast: None,
            used_up_at: None,
            hourly_limit: MicroUsd(0),
        };
        assert_eq!(
            line(&spent, Timestamp::UNIX_EPOCH),
            "$5.0201 of $100.00 spent this month (machines $5.00, disks <$0.01, traffic $0.02)"
        );
    }
}
