//! Calendar dates as text.

use chrono::{DateTime, NaiveDateTime};

/// The nanoseconds since 1970 of a date of ISO 8601 with its time of day, such as
/// `2024-01-15 10:30:45.123456` (in UTC) or `2024-01-15T10:30:45,5+01:00`, and whether they
/// are exact; `None` for other text and for dates before 1970.
pub fn date_ns(text: &[u8]) -> Option<(u64, bool)> {
    let text = str::from_utf8(text).ok()?.replacen(',', ".", 1).replacen(' ', "T", 1);
    let (whole, decimals) = match text.split_once('.') {
        Some((_, decimals)) => (text.as_str(), decimals),
        None => (text.as_str(), ""),
    };
    let date = match DateTime::parse_from_str(whole, "%Y-%m-%dT%H:%M:%S%.f%#z") {
        Ok(date) => date.to_utc().naive_utc(),
        Err(_) => {
            let local = whole.strip_suffix(['Z', 'z']).unwrap_or(whole);
            NaiveDateTime::parse_from_str(local, "%Y-%m-%dT%H:%M:%S%.f").ok()?
        }
    };
    let digits = decimals.bytes().take_while(u8::is_ascii_digit);
    let whole = digits.skip(9).all(|digit| digit == b'0');
    let ns = date.and_utc().timestamp_nanos_opt()?;
    Some((u64::try_from(ns).ok()?, whole))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        // Seconds as `date -u -d DATE +%s` gives them.
        for (text, expected) in [
            ("2024-01-15 10:30:45.123456", Some((1_705_314_645_123_456_000, true))),
            ("2024-01-15T10:30:45Z", Some((1_705_314_645_000_000_000, true))),
            ("2024-01-15T11:30:45+01:00", Some((1_705_314_645_000_000_000, true))),
            ("2024-01-15 11:30:45,5+0100", Some((1_705_314_645_500_000_000, true))),
            ("2024-02-29 00:00:00.0000000019", Some((1_709_164_800_000_000_001, false))),
            ("1970-01-01T00:00:00", Some((0, true))),
            ("1969-12-31 23:59:59", None),
            ("2023-02-29 00:00:00", None),
            ("2024-01-15", None),
            ("1705314645.5", None),
            ("", None),
        ] {
            assert_eq!(date_ns(text.as_bytes()), expected, "{text}");
        }
    }
}
