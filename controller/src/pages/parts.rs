//! Small parts that many pages are made of.

use fleet_model::{MicroUsd, Timestamp};
use fleet_words::render::attention::Item;
use fleet_words::text::{age, clean, thousands, when};
use maud::{Markup, html};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// What stands for itself in a path.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.');

/// Where a fleet's page is.
pub(super) fn fleet_path(fleet: &str) -> String {
    format!("/fleets/{}", encoded(fleet))
}

/// A text as a part of an address.
pub(super) fn encoded(text: &str) -> String {
    utf8_percent_encode(text, PLAIN).to_string()
}

/// An amount as people read it: cents, and more digits where cents say little.
pub(super) fn dollars(usd: f64) -> String {
    let sign = if usd < -0.000_05 { "−" } else { "" };
    let usd = usd.abs();
    let text = match usd {
        _ if !usd.is_finite() => return "unknown".into(),
        _ if usd >= 1000.0 => format!("${}", thousands(usd.round() as u64)),
        _ if usd < 0.005 && usd > 0.0 => format!("${usd:.4}"),
        _ => format!("${usd:.2}"),
    };
    format!("{sign}{text}")
}

/// The price of one machine: four digits, so that a column lines up.
pub(super) fn price(usd: Option<f64>) -> String {
    usd.map_or_else(|| "unpriced".into(), |usd| format!("${usd:.4}"))
}

/// A cost per month, as the commands say it.
pub(super) fn monthly(hourly_usd: f64) -> String {
    let micros = (hourly_usd.max(0.0) * 1e6).round();
    fleet_words::text::monthly(MicroUsd(micros as u64))
}

/// A capacity: whole where it is.
pub(super) fn amount(units: f64) -> String {
    if units.fract().abs() < 1e-9 && units >= 0.0 {
        thousands(units as u64)
    } else {
        format!("{units:.1}")
    }
}

/// A number that a column of numbers may hold; nothing is a dash that says so.
pub(super) fn number(some: u32) -> Markup {
    html! {
        @if some == 0 { span.nil { "0" } } @else { (thousands(u64::from(some))) }
    }
}

/// A moment, in words of its own.
pub(super) fn moment(at: Timestamp) -> Markup {
    html! { time datetime=(at.to_string()) { (when(at)) } }
}

/// How long ago a moment was, or how long it takes to it; the moment itself for those who point at it.
pub(super) fn ago(at: Timestamp, now: Timestamp) -> Markup {
    let said = match at.as_second() - now.as_second() {
        0 => "now".to_owned(),
        1.. => format!("in {}", age(now, at)),
        _ => format!("{} ago", age(at, now)),
    };
    html! { time datetime=(at.to_string()) title=(when(at)) { (said) } }
}

/// When a fleet is looked at next. A moment that is past is due.
pub(super) fn due(at: Timestamp, now: Timestamp) -> Markup {
    ago(at.max(now), now)
}

/// What is not as it should be, with what to do about it.
pub(super) fn items(items: &[&Item]) -> Markup {
    html! {
        ul.items {
            @for item in items {
                li class=(if item.label == "note" { "note" } else { "warn" }) {
                    span.label { (item.label) }
                    div {
                        p { (clean(&item.said.what)) }
                        @if !item.because.is_empty() {
                            ul.because {
                                @for because in item.because.iter().take(4) { li { (clean(because)) } }
                            }
                        }
                        @if let Some(next) = &item.said.next {
                            p.next { span aria-hidden="true" { "→ " } (clean(next)) }
                        }
                    }
                }
            }
        }
    }
}

/// A bar of parts of a whole. It is a picture of numbers that stand beside it, so nobody has to read it.
pub(super) fn bar(parts: &[(&'static str, f64)], whole: f64) -> Markup {
    const WIDE: f64 = 200.0;
    let whole = parts.iter().map(|(_, part)| part).sum::<f64>().max(whole).max(1e-9);
    let mut from = 0.0;
    let parts: Vec<(&str, f64, f64)> = parts
        .iter()
        .filter(|(_, part)| *part > 0.0)
        .map(|(class, part)| {
            let (start, wide) = (from, part / whole * WIDE);
            from += wide;
            (*class, start, wide)
        })
        .collect();
    html! {
        svg.bar viewBox="0 0 200 8" preserveAspectRatio="none" aria-hidden="true" {
            rect.whole width="200" height="8" {}
            @for (class, start, wide) in parts {
                rect class=(class) x=(format!("{start:.1}")) width=(format!("{wide:.1}")) height="8" {}
            }
        }
    }
}
