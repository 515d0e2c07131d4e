//! Numbers as people write them in YAML, exactly: no `f64` between the file and the plan.

/// Why a text is not a usable number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotANumber {
    /// Not a decimal number at all.
    Text,
    /// Below zero.
    Negative,
    /// `.nan`, `.inf`.
    NotFinite,
    /// More digits after the point than we keep.
    TooFine,
    /// More than fits.
    TooLarge,
}

/// A decimal number times ten to the power of `places`.
pub(crate) fn decimal(text: &str, places: u32) -> Result<u64, NotANumber> {
    let (negative, body) = match text.strip_prefix('-') {
        Some(body) => (true, body),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if matches!(body.to_ascii_lowercase().as_str(), ".inf" | ".nan" | "inf" | "nan" | "infinity") {
        return Err(NotANumber::NotFinite);
    }
    let (mantissa, exponent) = match body.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent_of(exponent)?),
        None => (body, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = || whole.bytes().chain(fraction.bytes());
    if digits().next().is_none() || digits().any(|byte| !byte.is_ascii_digit()) {
        return Err(NotANumber::Text);
    }
    // Zeros at the end of the fraction say nothing; a number of a thousand digits says too much.
    let fraction = fraction.trim_end_matches('0');
    let mut value: u128 = 0;
    for byte in whole.bytes().chain(fraction.bytes()) {
        value = value
            .checked_mul(10)
            .and_then(|value| value.checked_add(u128::from(byte - b'0')))
            .ok_or(if fraction.len() > 12 { NotANumber::TooFine } else { NotANumber::TooLarge })?;
    }
    if value == 0 {
        return Ok(0);
    }
    if negative {
        return Err(NotANumber::Negative);
    }
    let fraction = i64::try_from(fraction.len()).map_err(|_| NotANumber::TooFine)?;
    let shift = exponent + i64::from(places) - fraction;
    let power = |shift: u64| u32::try_from(shift).ok().and_then(|shift| 10u128.checked_pow(shift));
    let scaled = if shift >= 0 {
        let factor = power(shift.unsigned_abs()).ok_or(NotANumber::TooLarge)?;
        value.checked_mul(factor).ok_or(NotANumber::TooLarge)?
    } else {
        match power(shift.unsigned_abs()) {
            Some(divisor) if value.is_multiple_of(divisor) => value / divisor,
            _ => return Err(NotANumber::TooFine),
        }
    };
    u64::try_from(scaled).map_err(|_| NotANumber::TooLarge)
}

fn exponent_of(text: &str) -> Result<i64, NotANumber> {
    let digits = text.trim_start_matches(['+', '-']);
    if digits.is_empty() || digits.bytes().any(|byte| !byte.is_ascii_digit()) {
        return Err(NotANumber::Text);
    }
    // An exponent that does not fit is as good as the largest that does.
    let size = digits.parse::<i64>().unwrap_or(i64::MAX).min(1_000_000);
    Ok(if text.starts_with('-') { -size } else { size })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_exact() {
        let check = |text: &str, expect: Result<u64, NotANumber>| {
            assert_eq!(decimal(text, 3), expect, "{text}");
        };
        check("64", Ok(64_000));
        check("0.125", Ok(125));
        check("+1.50000000000000000000", Ok(1500));
        check("1e3", Ok(1_000_000));
        check("2500e-3", Ok(2500));
        check("-0", Ok(0));
        check(".5", Ok(500));
        check("-1", Err(NotANumber::Negative));
        check("0.0001", Err(NotANumber::TooFine));
        check("1e999", Err(NotANumber::TooLarge));
        check("1e99999999999999999999", Err(NotANumber::TooLarge));
        check("1e-99999999999999999999", Err(NotANumber::TooFine));
        check(&"9".repeat(400), Err(NotANumber::TooLarge));
        check(&format!("0.{}", "9".repeat(400)), Err(NotANumber::TooFine));
        check(".nan", Err(NotANumber::NotFinite));
        check("-.inf", Err(NotANumber::NotFinite));
        for text in ["", ".", "e", "1e", "0x10", "1_000", "64GiB", "1,5", "--1", "1.2.3", "१"] {
            check(text, Err(NotANumber::Text));
        }
    }
}
