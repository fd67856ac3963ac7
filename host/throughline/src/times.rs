//! Says times to people and programs.

/// Formats a time as RFC 3339, UTC.
pub(crate) fn timestamp(at: u64) -> String {
    i64::try_from(at)
        .ok()
        .and_then(|at| jiff::Timestamp::from_millisecond(at).ok())
        .unwrap_or(jiff::Timestamp::MAX)
        .to_string()
}

/// Returns the day, UTC.
pub(crate) fn date(at: u64) -> String {
    timestamp(at).chars().take(10).collect()
}

/// Returns how long ago `then` was: `now`, `5 min`, `3 h`, `2 days`, `4 months`, `3 years`; for a time in the future,
/// the date.
pub(crate) fn ago(then: u64, now: u64) -> String {
    const MINUTE: u64 = 60;
    const HOUR: u64 = 60 * MINUTE;
    const DAY: u64 = 24 * HOUR;
    let Some(millis) = now.checked_sub(then) else {
        return date(then);
    };
    let seconds = millis / 1000;
    let of = |unit: u64, one: &str, many: &str| {
        let count = seconds / unit;
        format!("{count} {}", if count == 1 { one } else { many })
    };
    match seconds {
        0..MINUTE => "now".into(),
        MINUTE..HOUR => of(MINUTE, "min", "min"),
        HOUR..DAY => of(HOUR, "h", "h"),
        DAY..5_184_000 => of(DAY, "day", "days"),                 // two months
        5_184_000..63_072_000 => of(30 * DAY, "month", "months"), // two years
        _ => of(365 * DAY, "year", "years"),
    }
}
