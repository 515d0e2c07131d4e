//! Reading single values: text, words, numbers, shares, money, bounds and lists of them.

use crate::number::{NotANumber, decimal};
use crate::reader::{Field, Reader, near};
use crate::source::quote;
use crate::wire;
use crate::words::{MEANT, Words, names};
use crate::yaml::{Kind, Style};
use fleet_model::{Bounds, MicroUsd, Pattern, Share, Timestamp};
use std::ops::RangeInclusive;

/// What a number may be.
#[derive(Clone, Copy)]
pub(crate) struct Number {
    /// Digits after the point that are kept; the value is times ten to this power.
    pub(crate) places: u32,
    pub(crate) min: u64,
    pub(crate) max: u64,
}

impl Number {
    /// Whole, from `min` to `max`.
    pub(crate) const fn whole(min: u64, max: u64) -> Self {
        Number { places: 0, min, max }
    }

    /// In thousandths, up to a billion.
    pub(crate) const MILLI: Number = Number { places: 3, min: 0, max: 1_000_000_000_000 };

    fn least(self) -> String {
        match (self.min, self.places) {
            (1, 1..) => "more than 0".into(),
            _ => format!("{} or more", self.show(self.min)),
        }
    }

    fn show(self, value: u64) -> String {
        let power = 10u64.saturating_pow(self.places);
        match value % power {
            0 => (value / power).to_string(),
            rest => {
                let digits = format!("{rest:0width$}", width = self.places as usize);
                format!("{}.{}", value / power, digits.trim_end_matches('0'))
            }
        }
    }
}

/// Items of one list. Every offering is held against every item, so a list must not be a catalog.
pub(crate) const MAX_ITEMS: usize = 1000;

/// Dollars: micro-dollars up to a billion.
const USD: Number = Number { places: 6, min: 1, max: 1_000_000_000_000_000 };
/// Gibibytes in millionths, up to a billion.
const GIB: Number = Number { places: 6, min: 0, max: 1_000_000_000_000_000 };

impl Reader<'_> {
    /// A scalar as it was written: `1.10` stays `1.10`.
    pub(crate) fn text(&mut self, field: &Field<'_>) -> Option<String> {
        let Kind::Scalar { text, .. } = &field.node.kind else {
            let found = field.node.describe();
            let message = format!("`{}` must be text, found {found}", field.name());
            self.error(field, message, Some("write one word, or text in quotes".into()));
            return None;
        };
        if text.trim().is_empty() {
            let message = format!("`{}` is empty", field.name());
            self.error(field, message, Some("give it a value, or remove it".into()));
            return None;
        }
        Some(text.clone())
    }

    /// One of a closed set of words.
    pub(crate) fn word<T: Copy>(
        &mut self,
        field: &Field<'_>,
        what: &str,
        words: Words<T>,
    ) -> Option<T> {
        let text = self.text(field)?;
        if let Some((_, value)) = words.iter().find(|(name, _)| *name == text) {
            return Some(*value);
        }
        let names = names(words);
        let lower = text.to_lowercase();
        let meant = MEANT.iter().filter(|(said, _)| *said == lower).map(|(_, meant)| *meant);
        let meant = near(&text, &names).or(meant.into_iter().find(|name| names.contains(name)));
        let hint = match meant {
            Some(name) => format!("did you mean `{name}`?"),
            None => format!("known: {}", names.join(", ")),
        };
        self.error(field, format!("unknown {what} `{}`", quote(&text)), Some(hint));
        None
    }

    /// `true` or `false`.
    pub(crate) fn flag(&mut self, field: &Field<'_>) -> Option<bool> {
        match &field.node.kind {
            Kind::Scalar { text, style } if *style != Style::Quoted && text == "true" => {
                return Some(true);
            }
            Kind::Scalar { text, style } if *style != Style::Quoted && text == "false" => {
                return Some(false);
            }
            Kind::Scalar { .. } | Kind::List(_) | Kind::Map(_) => {}
        }
        let found = field.node.describe();
        let message = format!("`{}` must be true or false, found {found}", field.name());
        self.error(field, message, Some("write true or false, without quotes".into()));
        None
    }

    /// A number, times ten to the power of its places.
    pub(crate) fn number(&mut self, field: &Field<'_>, rule: Number) -> Option<u64> {
        let name = field.name().to_owned();
        let (text, plain) = match &field.node.kind {
            Kind::Scalar { text, style } => (text.as_str(), *style != Style::Quoted),
            Kind::List(_) | Kind::Map(_) => {
                let message = format!("`{name}` must be a number, found {}", field.node.describe());
                self.error(field, message, Some("write one number, such as 8".into()));
                return None;
            }
        };
        let value = decimal(text, rule.places);
        if !plain {
            let hint = match value {
                Ok(_) => format!("remove the quotes: {name}: {text}"),
                Err(_) => match leading_number(text) {
                    Some(number) => format!("write {name}: {number}"),
                    None => "write a number without quotes".into(),
                },
            };
            let message = format!("`{name}` must be a number, found the text \"{}\"", quote(text));
            self.error(field, message, Some(hint));
            return None;
        }
        let (what, hint) = match value {
            Ok(value) if (rule.min..=rule.max).contains(&value) => return Some(value),
            Ok(value) if value > rule.max => (
                format!("`{name}` is too large: {}", quote(text)),
                format!("{} is the most", rule.show(rule.max)),
            ),
            Ok(0) => (
                format!("`{name}` must be more than 0"),
                format!("remove it, or write {}", rule.least()),
            ),
            Ok(_) => (
                format!("`{name}` is too small: {}", quote(text)),
                format!("{} is the least", rule.show(rule.min)),
            ),
            Err(error) => self.not_a_number(&name, text, rule, error),
        };
        self.error(field, what, Some(hint));
        None
    }

    fn not_a_number(
        &self,
        name: &str,
        text: &str,
        rule: Number,
        error: NotANumber,
    ) -> (String, String) {
        let least = rule.least();
        let shown = quote(text);
        match error {
            NotANumber::Negative => {
                (format!("`{name}` is below zero: {shown}"), format!("write {least}"))
            }
            NotANumber::NotFinite => {
                (format!("`{name}` is not a number: {shown}"), format!("write {least}"))
            }
            NotANumber::TooLarge => (
                format!("`{name}` is too large: {shown}"),
                format!("{} is the most", rule.show(rule.max)),
            ),
            NotANumber::TooFine if rule.places == 0 => (
                format!("`{name}` must be a whole number, found {shown}"),
                "round it up or down".into(),
            ),
            NotANumber::TooFine => (
                format!("`{name}` has more than {} digits after the point", rule.places),
                "round it".into(),
            ),
            NotANumber::Text => {
                let hint = match leading_number(text) {
                    Some(_) if text.trim_end().ends_with('%') => {
                        "a share of something has no meaning here; write an amount".into()
                    }
                    Some(number) => format!("write the number alone: {number}"),
                    None => "write a decimal number, such as 8".into(),
                };
                (format!("`{name}` must be a number, found `{shown}`"), hint)
            }
        }
    }

    /// Dollars, more than none.
    pub(crate) fn usd(&mut self, field: &Field<'_>) -> Option<MicroUsd> {
        self.number(field, USD).map(MicroUsd)
    }

    /// The first moment of a day, or any moment.
    pub(crate) fn moment(&mut self, field: &Field<'_>) -> Option<Timestamp> {
        let text = self.text(field)?;
        let day = || format!("{text}T00:00:00Z").parse().ok();
        let found = text.parse().ok().or_else(day);
        if found.is_none() {
            let message = format!("`{}` is not a date", quote(&text));
            let hint = "write 2027-03-01, or 2027-03-01T11:30:00Z";
            self.error(field, message, Some(hint.into()));
        }
        found
    }

    /// A span of time, in seconds: `30s`, `10m`, `1h30m`, `1d`.
    pub(crate) fn span(&mut self, field: &Field<'_>, within: RangeInclusive<u32>) -> Option<u32> {
        let name = field.name().to_owned();
        let hint = "write a span of time, such as 30s, 10m, 1h30m or 1d";
        let Kind::Scalar { text, .. } = &field.node.kind else {
            let message =
                format!("`{name}` must be a span of time, found {}", field.node.describe());
            self.error(field, message, Some(hint.into()));
            return None;
        };
        let plain = text.bytes().all(|byte| byte.is_ascii_digit() || b"dhms".contains(&byte));
        let parsed = plain.then(|| text.parse::<jiff::Span>().ok()).flatten();
        let whole_days = jiff::SpanRelativeTo::days_are_24_hours();
        let seconds = parsed.and_then(|span| Some(span.to_duration(whole_days).ok()?.as_secs()));
        let Some(seconds) = seconds else {
            let message = format!("`{name}` is not a span of time: `{}`", quote(text));
            self.error(field, message, Some(hint.into()));
            return None;
        };
        let found = u32::try_from(seconds).ok().filter(|seconds| within.contains(seconds));
        if found.is_none() {
            let shown = |seconds: &u32| {
                format!("{:#}", jiff::SignedDuration::from_secs(i64::from(*seconds)))
            };
            let (least, most) = (shown(within.start()), shown(within.end()));
            let message = format!("`{name}` is out of range: `{}`", quote(text));
            self.error(field, message, Some(format!("write {least} to {most}")));
        }
        found
    }

    /// Whether a value is written as a share.
    pub(crate) fn is_share(field: &Field<'_>) -> bool {
        matches!(&field.node.kind, Kind::Scalar { text, .. } if text.trim_end().ends_with('%'))
    }

    /// A share: `25%`.
    pub(crate) fn share(&mut self, field: &Field<'_>) -> Option<Share> {
        let name = field.name().to_owned();
        let Kind::Scalar { text, .. } = &field.node.kind else {
            let message = format!("`{name}` must be a share, found {}", field.node.describe());
            self.error(field, message, Some("write a share, such as 25%".into()));
            return None;
        };
        let shown = quote(text);
        let Some(percent) = text.trim().strip_suffix('%') else {
            let hint = match decimal(text, 6) {
                Ok(millionths @ 1..1_000_000) => {
                    format!("write {}%", Number { places: 4, min: 0, max: 0 }.show(millionths))
                }
                Ok(_) => format!("write {shown}%"),
                Err(_) => "write a share, such as 25%".into(),
            };
            self.error(
                field,
                format!("`{name}` must be a share in per cent, found `{shown}`"),
                Some(hint),
            );
            return None;
        };
        let ppm = decimal(percent.trim(), 4);
        let share = ppm.ok().and_then(|ppm| u32::try_from(ppm).ok()).and_then(Share::from_ppm);
        if share.is_some() {
            return share;
        }
        let (what, hint) = match ppm {
            Ok(_) | Err(NotANumber::TooLarge) => ("is over 100 %", "100% is the most"),
            Err(NotANumber::Negative) => ("is below zero", "write 0% or more"),
            Err(NotANumber::TooFine) => ("has more than 4 digits after the point", "round it"),
            Err(NotANumber::NotFinite | NotANumber::Text) => {
                ("is not a share", "write a share, such as 25%")
            }
        };
        self.error(field, format!("`{name}` {what}: {shown}"), Some(hint.into()));
        None
    }

    /// A name or glob.
    pub(crate) fn pattern(&mut self, field: &Field<'_>) -> Option<Pattern> {
        const LONGEST: usize = 128;
        let text = self.text(field)?;
        let odd = |char: char| !(char.is_ascii_alphanumeric() || "*?-_.:+".contains(char));
        if text.len() > LONGEST || text.contains(odd) {
            let message = format!("`{}` is not a name or pattern", quote(&text));
            let hint = "use letters, digits, `-`, `_`, `.`, and the wildcards `*` and `?`";
            self.error(field, message, Some(hint.into()));
            return None;
        }
        Some(Pattern::new(text))
    }

    /// A list with at least one item. Items that cannot be read are left out and reported.
    pub(crate) fn list<'n, T>(
        &mut self,
        field: &Field<'n>,
        mut read: impl FnMut(&mut Self, &Field<'n>) -> Option<T>,
    ) -> Vec<T> {
        let name = field.name().to_owned();
        match &field.node.kind {
            Kind::List(items) if items.len() > MAX_ITEMS => {
                let message = format!("`{name}` has {} items", items.len());
                let hint = format!("{MAX_ITEMS} are the most; use patterns such as `p5*`");
                self.error(field, message, Some(hint));
                return Vec::new();
            }
            Kind::List(items) if !items.is_empty() => {}
            Kind::List(_) => {
                let message = format!("`{name}` is an empty list");
                self.error(field, message, Some("add an item, or remove the field".into()));
            }
            Kind::Scalar { .. } | Kind::Map(_) => {
                let found = field.node.describe();
                let hint = match &field.node.kind {
                    Kind::Scalar { text, .. } => format!("write {name}: [{}]", quote(text)),
                    Kind::List(_) | Kind::Map(_) => "write each item on a line with `- `".into(),
                };
                self.error(field, format!("`{name}` must be a list, found {found}"), Some(hint));
            }
        }
        let mut values = Vec::new();
        for item in field.items() {
            if item.node.is_null() {
                let message = format!("`{}` has no value", item.name());
                self.error(&item, message, Some("give it a value, or remove it".into()));
            } else if let Some(value) = read(self, &item) {
                values.push(value);
            }
        }
        values
    }

    /// A list of names or globs, each once.
    pub(crate) fn patterns(&mut self, field: &Field<'_>) -> Vec<Pattern> {
        let mut seen = std::collections::BTreeSet::new();
        self.list(field, |reader, item| {
            let pattern = reader.pattern(item)?;
            if !seen.insert(pattern.as_str().to_ascii_lowercase()) {
                let message = format!("`{pattern}` is listed twice");
                reader.warn(item, message, Some("remove one".into()));
            }
            Some(pattern)
        })
    }

    /// `{ min, max }` of a number.
    pub(crate) fn bounds(&mut self, field: &Field<'_>, rule: Number) -> Bounds {
        if let Kind::Scalar { text, style: Style::Plain } = &field.node.kind
            && decimal(text, rule.places).is_ok()
        {
            let message = format!("`{}` must be a mapping with min and max", field.name());
            let hint = format!("write {{ min: {text} }} or {{ min: {text}, max: {text} }}");
            self.error(field, message, Some(hint));
            return Bounds::default();
        }
        let Some(object) = self.object(field, wire::Range::FIELDS) else {
            return Bounds::default();
        };
        let (min_at, max_at) = (object.get(self, "min"), object.get(self, "max"));
        if field.entries().next().is_none() {
            let message = format!("`{}` sets neither min nor max", field.name());
            self.error(field, message, Some("set one of them, or remove the field".into()));
        }
        let min = min_at.as_ref().and_then(|min| self.number(min, rule));
        let max = max_at.as_ref().and_then(|max| self.number(max, rule));
        if let (Some(least), Some(most), Some(at)) = (min, max, &min_at)
            && least > most
        {
            let (least, most) = (rule.show(least), rule.show(most));
            let message = format!("`{}`: min {least} is above max {most}", field.name());
            self.error(at, message, Some(format!("lower min to {most} or less")));
        }
        Bounds { min, max }
    }

    /// `{ min, max }` in GiB, as MiB.
    pub(crate) fn gib_bounds(&mut self, field: &Field<'_>) -> Bounds {
        let mib = |gib: u64| (gib.saturating_mul(1024) + 500_000) / 1_000_000;
        let Bounds { min, max } = self.bounds(field, GIB);
        Bounds { min: min.map(mib), max: max.map(mib) }
    }
}

/// The number at the start of a text such as `64GiB`, `$400` or `1,200`.
fn leading_number(text: &str) -> Option<String> {
    let text = text.trim_start_matches(['$', '€', '~', '<', '>', '=', ' ']);
    let end = text.find(|char: char| !(char.is_ascii_digit() || ".,_".contains(char)));
    let number = text.get(..end.unwrap_or(text.len()))?.trim_end_matches(['.', ',', '_']);
    let number = number.replace([',', '_'], "");
    // `0x40` does not mean 0.
    let based = text.starts_with("0x") || text.starts_with("0o") || text.starts_with("0b");
    (!number.is_empty() && !based).then_some(number)
}
