//! Retry timing: the wait between attempts, and the `Retry-After` headers.

use std::time::{Duration, SystemTime};

/// The longest wait between two attempts, however many have failed.
const MAX_DELAY: Duration = Duration::from_mins(1);

/// The longest wait that a server can ask for; longer values are not meant seriously.
const MAX_RETRY_AFTER: Duration = Duration::from_hours(24);

/// Returns how long to wait after attempt number `tried` (the first is 1). The wait doubles with each attempt. `dice`
/// (0 to 1) picks a point in its upper half, so that many clients that failed together do not retry together. The
/// result is at least what the server asked for.
pub(crate) fn backoff_delay(tried: u32, backoff: Duration, asked: Option<Duration>, dice: f64) -> Duration {
    let factor = 1_u32.checked_shl(tried.saturating_sub(1)).unwrap_or(u32::MAX);
    let full = backoff.saturating_mul(factor).min(MAX_DELAY);
    full.mul_f64(0.5 + dice.clamp(0.0, 1.0) / 2.0).max(asked.unwrap_or_default())
}

/// Returns a random number from 0 to 1, or 1 if no randomness is available.
pub(crate) fn random_fraction() -> f64 {
    getrandom::u32().map_or(1.0, |number| f64::from(number) / f64::from(u32::MAX))
}

/// Returns how long a server asks clients to wait. `millis` is the value of `retry-after-ms`, which OpenAI sends;
/// `after` is that of `Retry-After`, in seconds or as a date. Returns `None` if neither can be parsed.
pub(crate) fn parse_retry_after(millis: Option<&str>, after: Option<&str>, now: SystemTime) -> Option<Duration> {
    parse_delay(millis, after, now).map(|wait| wait.min(MAX_RETRY_AFTER))
}

fn parse_delay(millis: Option<&str>, after: Option<&str>, now: SystemTime) -> Option<Duration> {
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|number| *number >= 0.0);
    if let Some(millis) = millis.and_then(number) {
        return Duration::try_from_secs_f64(millis / 1_000.0).ok();
    }
    let after = after?;
    if let Some(seconds) = number(after) {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let at = SystemTime::from(jiff::fmt::rfc2822::parse(after.trim()).ok()?.timestamp());
    Some(at.duration_since(now).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn it_doubles_and_has_an_end() {
        assert_eq!(backoff_delay(1, SECOND, None, 1.0), SECOND);
        assert_eq!(backoff_delay(3, SECOND, None, 1.0), 4 * SECOND);
        assert_eq!(backoff_delay(3, SECOND, None, 0.0), 2 * SECOND);
        assert_eq!(backoff_delay(90, SECOND, None, 1.0), MAX_DELAY);
        assert_eq!(backoff_delay(1, SECOND, Some(5 * SECOND), 0.3), 5 * SECOND);
        assert!((0.0..=1.0).contains(&random_fraction()));
    }

    #[test]
    fn what_servers_say() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_445_412_470);
        assert_eq!(parse_retry_after(None, Some("7"), now), Some(7 * SECOND));
        assert_eq!(parse_retry_after(Some("250"), Some("7"), now), Some(Duration::from_millis(250)));
        assert_eq!(parse_retry_after(None, Some("Wed, 21 Oct 2015 07:28:00 GMT"), now), Some(10 * SECOND));
        assert_eq!(parse_retry_after(None, Some("Tue, 20 Oct 2015 07:28:00 GMT"), now), Some(Duration::ZERO));
        assert_eq!(parse_retry_after(None, Some("10000000000000000000"), now), Some(MAX_RETRY_AFTER));
        assert_eq!(parse_retry_after(None, Some("Tue, 31 Dec 2999 23:59:59 GMT"), now), Some(MAX_RETRY_AFTER));
        for nonsense in ["", "soon", "-1", "NaN", "inf", "1e400", "Wed, 99 Oct"] {
            assert_eq!(parse_retry_after(None, Some(nonsense), now), None, "{nonsense}");
        }
    }

    proptest! {
        #[test]
        fn any_header_is_a_time_or_nothing(millis in any::<Option<String>>(), after in any::<Option<String>>()) {
            let _ = parse_retry_after(millis.as_deref(), after.as_deref(), SystemTime::UNIX_EPOCH);
        }

        #[test]
        fn no_wait_overflows(tried in any::<u32>(), backoff in any::<u64>(), dice in any::<f64>()) {
            prop_assert!(backoff_delay(tried, Duration::from_millis(backoff), None, dice) <= MAX_DELAY);
        }
    }
}
