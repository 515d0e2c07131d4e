//! What cells of a bill hold: amounts, moments, tags.

use super::NanoUsd;
use super::bad::BadRow;
use fleet_model::Timestamp;

/// Whole dollars, or hours, that no row about a machine comes to. Sums of as many rows as a file can have fit
/// into what counts them.
const TOO_LARGE: i128 = 1_000_000_000;

/// The fleet that tags name, in whatever way they are written: JSON, a map of Athena, `"a": "b"` pairs.
pub(super) fn fleet_of(tags: &str) -> Option<String> {
    let keys = ["fleet:name", "user_fleet_name", "fleet-name", "fleet_name", "\"fleet\""];
    let (key, at) = keys.iter().find_map(|key| Some((key, tags.find(key)?)))?;
    let rest = tags[at + key.len()..].trim_start_matches(['"', '\'', ':', '=', ' ', '\\']);
    let end = rest.find(['"', ',', '}', '\'', ';', '\\']).unwrap_or(rest.len());
    // BigQuery writes labels as a list of {"key": …, "value": …}.
    let name = rest[..end].trim();
    if name.is_empty() {
        let value = rest.split("\"value\"").nth(1)?;
        return value.split('"').nth(1).map(str::to_owned);
    }
    Some(name.to_owned())
}

/// Billionths, exactly. What is not finite or absurdly large is refused: no sum of it means anything.
pub(super) fn amount(text: &str) -> Result<NanoUsd, BadRow> {
    if text.is_empty() {
        return Ok(NanoUsd(0));
    }
    let nano = match text.parse::<f64>() {
        Err(_) => return Err(BadRow::NoNumber(text.to_owned())),
        Ok(number) if number.is_nan() || number.abs() > TOO_LARGE as f64 => {
            return Err(BadRow::TooLarge(text.to_owned()));
        }
        // In floating point as it is written.
        Ok(number) if text.contains(['e', 'E']) => (number * 1e9).round() as i128,
        Ok(_) => exactly(text).ok_or_else(|| BadRow::NoNumber(text.to_owned()))?,
    };
    Ok(NanoUsd(nano))
}

/// Billionths of a decimal number without an exponent, rounded at the tenth place.
fn exactly(text: &str) -> Option<i128> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    let whole: i128 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let nine: String = part.chars().chain(std::iter::repeat('0')).take(9).collect();
    let up = i128::from(part.as_bytes().get(9).is_some_and(|digit| *digit >= b'5'));
    let nano: i128 = nine.parse().ok()?;
    Some(sign * (whole * 1_000_000_000 + nano + up))
}

/// A moment as bills write it: RFC 3339, with a space and UTC as BigQuery does, a day, or a day as Azure
/// writes it.
pub(super) fn moment(text: &str) -> Result<i64, BadRow> {
    let bad = || BadRow::NoTime(text.to_owned());
    let plain = text.trim_end_matches(" UTC").trim_end_matches('Z').replacen(' ', "T", 1);
    if let Ok(at) = text.parse::<Timestamp>() {
        return Ok(at.as_millisecond());
    }
    if let Ok(at) = plain.parse::<jiff::civil::DateTime>() {
        return Ok(at
            .to_zoned(jiff::tz::TimeZone::UTC)
            .map_err(|_| bad())?
            .timestamp()
            .as_millisecond());
    }
    let day: Vec<i16> = text.split('/').filter_map(|part| part.parse().ok()).collect();
    let &[month, day, year] = day.as_slice() else { return Err(bad()) };
    let (month, day) =
        (i8::try_from(month).map_err(|_| bad())?, i8::try_from(day).map_err(|_| bad())?);
    let date = jiff::civil::Date::new(year, month, day).map_err(|_| bad())?;
    Ok(date.to_zoned(jiff::tz::TimeZone::UTC).map_err(|_| bad())?.timestamp().as_millisecond())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_exact() {
        let check = |text: &str, nano: i128| assert_eq!(amount(text), Ok(NanoUsd(nano)), "{text}");
        check("0.1", 100_000_000);
        check("-0.0000000015", -2);
        check("12", 12_000_000_000);
        check("+12", 12_000_000_000);
        check(".5", 500_000_000);
        check("1e-3", 1_000_000);
        check("1000000000", 1_000_000_000_000_000_000);
        check("", 0);
        for bad in ["1.2.3", "$1", "1,5", "-", ".", "+-1", "1e", "e", "٣", "1 000"] {
            assert_eq!(amount(bad), Err(BadRow::NoNumber(bad.into())), "{bad}");
        }
    }

    #[test]
    fn amounts_that_mean_nothing_are_refused() {
        let digits = "9".repeat(400);
        for bad in ["1e300", "-1e300", "1e999", "NaN", "inf", "-Infinity", "1000000001", &digits] {
            assert_eq!(amount(bad), Err(BadRow::TooLarge(bad.into())), "{bad}");
        }
    }
}
