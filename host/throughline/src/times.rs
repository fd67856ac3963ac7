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

/// The most columns that [`ago`] needs, for `59 min ago` or a date.
pub(crate) const AGO_COLUMNS: usize = 10;

/// Returns how long ago `then` was: `just now`, `5 min ago`, `3 h ago`, `2 days ago`; from a week on, and for a time in the
/// future, the date: in a list of "9 months ago" nobody sees an order.
pub(crate) fn ago(then: u64, now: u64) -> String {
    const MINUTE: u64 = 60;
    const HOUR: u64 = 60 * MINUTE;
    const DAY: u64 = 24 * HOUR;
    const WEEK: u64 = 7 * DAY;
    let Some(millis) = now.checked_sub(then) else {
        return date(then);
    };
    let seconds = millis / 1000;
    let of = |unit: u64, one: &str, many: &str| {
        let count = seconds / unit;
        format!("{count} {} ago", if count == 1 { one } else { many })
    };
    match seconds {
        0..MINUTE => "just now".into(),
        MINUTE..HOUR => of(MINUTE, "min", "min"),
        HOUR..DAY => of(HOUR, "h", "h"),
        DAY..WEEK => of(DAY, "day", "days"),
        _ => date(then),
    }
}
