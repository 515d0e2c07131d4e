//! Small helpers for text that people read.

pub use fleet_model::thousands;
use fleet_model::{MicroUsd, Timestamp, Uncounted};
use std::borrow::Cow;
use std::sync::OnceLock;
use std::time::Duration;

static SCREEN: OnceLock<usize> = OnceLock::new();

/// Says how wide the screen is, once, before anything is laid out.
pub fn set_screen_width(columns: usize) {
    // A second word changes nothing: a screen is laid out for one width.
    let _ = SCREEN.set(columns);
}

/// How wide the screen is; `None` where nobody looks, such as a pipe or a file: nothing is cut there.
pub fn screen_width() -> Option<usize> {
    SCREEN.get().copied()
}

/// Text from outside, made harmless: what could move the cursor, change colours or turn the
/// reading direction is shown as its escape.
pub fn clean(text: &str) -> Cow<'_, str> {
    if !text.contains(harmful) {
        return Cow::Borrowed(text);
    }
    let escape = |c: char| {
        if harmful(c) { c.escape_unicode().to_string() } else { c.to_string() }
    };
    Cow::Owned(text.chars().map(escape).collect())
}

/// The same for a JSON document, in JSON's own escapes: such characters stand in strings only.
pub fn clean_json(document: &str) -> Cow<'_, str> {
    if !document.contains(harmful) {
        return Cow::Borrowed(document);
    }
    let mut out = String::new();
    for c in document.chars() {
        if harmful(c) {
            let mut units = [0; 2];
            c.encode_utf16(&mut units).iter().for_each(|unit| out += &format!("\\u{unit:04x}"));
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// What could move the cursor, change colours, turn the reading direction or hide. Lines may end.
fn harmful(c: char) -> bool {
    (c.is_control() && c != '\n')
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}')
}

/// The same on one line, for table cells and list items.
pub fn clean_line(text: &str) -> String {
    clean(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// `1 machine`, `3 machines`.
pub fn count(number: impl Into<u64>, one: &str) -> String {
    let number = number.into();
    if number == 1 { format!("1 {one}") } else { format!("{} {one}s", thousands(number)) }
}

/// A list of which a person reads the beginning: `a, b, c and 12 more`.
pub fn first_of(names: &[String]) -> String {
    const SHOWN: usize = 10;
    match names.split_at_checked(SHOWN) {
        Some((shown, more @ [_, ..])) => format!("{} and {} more", shown.join(", "), more.len()),
        _ => names.join(", "),
    }
}

/// A price per hour, or the word for not knowing it.
pub fn price(price: Option<MicroUsd>) -> String {
    price.map_or_else(|| "unpriced".into(), |price| price.to_string())
}

/// A month's cost, in whole dollars: cents of an estimate are noise.
pub fn monthly(hourly: MicroUsd) -> String {
    let MicroUsd(micros) = hourly.per_month();
    if micros < 100_000_000 {
        return hourly.per_month().to_string();
    }
    format!("${}", thousands(micros.saturating_add(500_000) / 1_000_000))
}

/// A cost per hour, and whether something is left out because nobody knows its price.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hourly {
    /// What is known of it.
    pub known: MicroUsd,
    /// Whether that is all.
    pub is_whole: bool,
}

impl Hourly {
    /// What is known of a cost from which something is left out.
    pub fn of(known: MicroUsd, uncounted: &[Uncounted]) -> Self {
        Hourly { known, is_whole: !uncounted.iter().any(|one| one.because.is_unpriced()) }
    }

    /// Two costs together.
    pub fn and(self, other: Self) -> Self {
        let (known, is_whole) = (self.known + other.known, self.is_whole && other.is_whole);
        Hourly { known, is_whole }
    }

    /// All of it; `None` if that is not known.
    pub fn whole(self) -> Option<MicroUsd> {
        self.is_whole.then_some(self.known)
    }

    /// `$0.38`, `at least $0.38`, or `?` where nothing of it is known.
    pub fn per_hour(self) -> String {
        self.shown(|known| known.to_string())
    }

    /// The same for a month.
    pub fn per_month(self) -> String {
        self.shown(monthly)
    }

    fn shown(self, show: fn(MicroUsd) -> String) -> String {
        match self.known {
            known if self.is_whole => show(known),
            MicroUsd(0) => "?".to_owned(),
            known => format!("at least {}", show(known)),
        }
    }
}

/// What a month's cost is shown as, as an amount.
fn shown_month(hourly: MicroUsd) -> MicroUsd {
    match hourly.per_month() {
        MicroUsd(micros) if micros < 100_000_000 => MicroUsd(micros),
        MicroUsd(micros) => MicroUsd::dollars(micros.saturating_add(500_000) / 1_000_000),
    }
}

/// How a cost per month changes: `+$366`, `−$40.20`. The difference of what is shown, so that a reader who
/// adds it up finds it right.
pub fn month_change(before: MicroUsd, after: MicroUsd) -> String {
    let (before, after) = (shown_month(before), shown_month(after));
    let (sign, less) = match before.cmp(&after) {
        std::cmp::Ordering::Less => ("+", after - before),
        std::cmp::Ordering::Equal => return "±$0".into(),
        std::cmp::Ordering::Greater => ("−", before - after),
    };
    let whole = less.0 >= 100_000_000 || less.0.is_multiple_of(1_000_000);
    let dollars = less.0.saturating_add(500_000) / 1_000_000;
    if whole { format!("{sign}${}", thousands(dollars)) } else { format!("{sign}{less}") }
}

/// By how much an amount grew or shrank: `+39 %`, `−0.4 %`. `None` where it was nothing, or stays.
pub fn growth(before: MicroUsd, after: MicroUsd) -> Option<String> {
    if before == MicroUsd(0) || before == after {
        return None;
    }
    let sign = if after > before { '+' } else { '−' };
    let change = u128::from(after.0.abs_diff(before.0));
    let tenths = (change * 2000 + u128::from(before.0)) / (u128::from(before.0) * 2);
    let text = match tenths {
        0..100 => format!("{}.{}", tenths / 10, tenths % 10),
        _ => thousands(u64::try_from((tenths + 5) / 10).unwrap_or(u64::MAX)),
    };
    Some(format!("{sign}{} %", text.trim_end_matches(".0")))
}

/// A change of a number: `+12`, `−3`, `±0`.
pub fn signed(before: u32, after: u32) -> String {
    match i64::from(after) - i64::from(before) {
        0 => "±0".into(),
        more @ 1.. => format!("+{}", thousands(more.unsigned_abs())),
        less => format!("−{}", thousands(less.unsigned_abs())),
    }
}

/// A moment, to the minute, in UTC.
pub fn when(at: Timestamp) -> String {
    at.strftime("%Y-%m-%d %H:%M UTC").to_string()
}

/// The time from `since` to `now` in its two largest units: `3d 4h`, `2h 5m`, `40s`.
pub fn age(since: Timestamp, now: Timestamp) -> String {
    let seconds = u64::try_from(now.as_second().saturating_sub(since.as_second())).unwrap_or(0);
    span(Duration::from_secs(seconds))
}

/// A duration in its two largest units.
pub fn span(duration: Duration) -> String {
    let s = duration.as_secs();
    match (s / 86_400, s / 3600 % 24, s / 60 % 60, s % 60) {
        (0, 0, 0, s) => format!("{s}s"),
        (0, 0, m, _) => format!("{m}m"),
        (0, h, m, _) => format!("{h}h {m:02}m"),
        (d, h, ..) => format!("{d}d {h:02}h"),
    }
}

/// Wraps a sentence, made harmless: the first line is indented by `first`, the others by as many spaces.
pub fn wrap(first: &str, sentence: &str) -> String {
    const WIDTH: usize = 96;
    const NARROW: usize = 40;
    let width = screen_width().map_or(WIDTH, |screen| screen.clamp(NARROW, WIDTH));
    let others = " ".repeat(first.chars().count());
    let options = textwrap::Options::new(width)
        .initial_indent(first)
        .subsequent_indent(&others)
        .break_words(false)
        .word_splitter(textwrap::WordSplitter::NoHyphenation);
    let words: Vec<String> = clean(sentence).split_whitespace().map(str::to_owned).collect();
    textwrap::fill(&words.join(" "), options)
}

/// Text inside a Markdown table or list: nothing in it is markup, mentions nobody, breaks no line.
pub fn markdown(text: &str) -> String {
    let mut out = String::new();
    for c in clean_line(text).chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            // What names a person or an issue tells them so; an invisible joiner keeps it a word.
            '@' => out.push_str("@\u{2060}"),
            '#' => out.push_str("\\#\u{2060}"),
            '\\' | '|' | '*' | '_' | '[' | ']' | '`' | '~' => {
                out.push('\\');
                out.push(c);
            }
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_text_is_shown_as_escapes() {
        assert_eq!(clean("no \u{1b}[31mred\u{202e}"), "no \\u{1b}[31mred\\u{202e}");
        assert_eq!(clean_line("a\n b\r"), "a b\\u{d}");
        assert_eq!(clean("plain — ü ×"), "plain — ü ×");
        let hostile = "\u{202e}a\u{7f}\u{e0041}";
        let json = serde_json::to_string(hostile).expect("JSON");
        let cleaned = clean_json(&json);
        assert_eq!(cleaned, "\"\\u202ea\\u007f\\udb40\\udc41\"");
        assert_eq!(serde_json::from_str::<String>(&cleaned).expect("the same text"), hostile);
        assert!(!markdown("@team <b>|").contains("@team"));
        assert!(!markdown("#12").contains("#12"));
    }

    #[test]
    fn changes_of_money() {
        let month = |dollars: u64| MicroUsd(dollars * 1_000_000 / 730);
        let check = |before: u64, after: u64, change: &str, share: Option<&str>| {
            assert_eq!(month_change(month(before), month(after)), change);
            assert_eq!(growth(month(before), month(after)).as_deref(), share);
        };
        check(944, 1310, "+$366", Some("+39 %"));
        check(1310, 944, "−$366", Some("−28 %"));
        check(1000, 1004, "+$4", Some("+0.4 %"));
        check(0, 600, "+$600", None);
        check(600, 600, "±$0", None);
        check(2000, 50_000, "+$48,000", Some("+2,400 %"));
        assert_eq!(growth(MicroUsd(1_000_000), MicroUsd(1_000_001)).as_deref(), Some("+0 %"));
        assert_eq!([signed(3, 12), signed(12, 3), signed(1, 1)], ["+9", "−9", "±0"]);
    }

    #[test]
    fn what_is_left_out_is_said() {
        let show =
            |known: u64, is_whole: bool| Hourly { known: MicroUsd(known), is_whole }.per_hour();
        assert_eq!(show(380_000, true), "$0.38");
        assert_eq!(show(380_000, false), "at least $0.38");
        assert_eq!(show(0, false), "?");
        assert_eq!(show(0, true), "$0.00");
    }

    #[test]
    fn spans_and_counts() {
        assert_eq!(span(Duration::from_secs(42)), "42s");
        assert_eq!(span(Duration::from_secs(7_500)), "2h 05m");
        assert_eq!(span(Duration::from_secs(273_600)), "3d 04h");
        assert_eq!(count(1u32, "machine"), "1 machine");
        assert_eq!(count(12_000u32, "machine"), "12,000 machines");
        assert_eq!(monthly(MicroUsd::dollars(400)), "$292,000");
        assert_eq!(wrap("  - ", &"word ".repeat(30)).lines().count(), 2);
    }
}
