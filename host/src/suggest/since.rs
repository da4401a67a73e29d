//! How far back: an age or a point in time.

use jiff::{SignedDuration, Timestamp};

/// A text that is neither.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "'{}' is neither an age nor a time: write an age such as 90m, 24h, 7d or 2w, or a time such as \
     2026-01-31T08:00:00Z",
    .0.escape_debug()
)]
pub struct SinceError(String);

/// The point in time that a text means: an age (`s`, `m`, `h`, `d` of 24 hours, `w`) before `now`, or a time by RFC 3339.
///
/// # Errors
/// [`SinceError`].
pub fn since(text: &str, now: Timestamp) -> Result<Timestamp, SinceError> {
    let wrong = || SinceError(text.chars().take(100).collect());
    if let Ok(time) = text.parse::<Timestamp>() {
        return Ok(time);
    }
    let seconds = [
        ("s", 1),
        ("m", 60),
        ("h", 3_600),
        ("d", 86_400),
        ("w", 604_800),
    ]
    .into_iter()
    .find_map(|(unit, seconds)| Some((text.strip_suffix(unit)?, seconds)))
    .filter(|(digits, _)| digits.chars().all(|c| c.is_ascii_digit()))
    .and_then(|(digits, seconds)| digits.parse::<i64>().ok()?.checked_mul(seconds))
    .ok_or_else(wrong)?;
    // Older than time itself is everything.
    Ok(now
        .checked_sub(SignedDuration::from_secs(seconds))
        .unwrap_or(Timestamp::MIN))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_and_times_are_understood() {
        let now: Timestamp = "2026-02-10T12:00:00Z".parse().unwrap();
        for (text, time) in [
            ("90s", "2026-02-10T11:58:30Z"),
            ("90m", "2026-02-10T10:30:00Z"),
            ("24h", "2026-02-09T12:00:00Z"),
            ("7d", "2026-02-03T12:00:00Z"),
            ("2w", "2026-01-27T12:00:00Z"),
            ("0h", "2026-02-10T12:00:00Z"),
            ("2026-01-31T08:00:00Z", "2026-01-31T08:00:00Z"),
            ("2026-01-31T08:00:00+02:00", "2026-01-31T06:00:00Z"),
        ] {
            assert_eq!(since(text, now).unwrap().to_string(), time, "{text}");
        }
        assert_eq!(since("9999999999d", now).unwrap(), Timestamp::MIN);
    }

    #[test]
    fn anything_else_is_refused_with_what_would_be_right() {
        let now = Timestamp::UNIX_EPOCH;
        for text in [
            "",
            "h",
            "7",
            "-1h",
            "+1h",
            "1y",
            "1.5h",
            "yesterday",
            "99999999999999w",
            "7 d",
        ] {
            let error = since(text, now).unwrap_err().to_string();
            assert!(error.contains("24h, 7d"), "{text}: {error}");
        }
    }
}
