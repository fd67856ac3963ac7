//! A prompt that opens with words of the agent, or with pasted ones, between backticks and goes on with the user's own.

use crate::text;

/// The length from which words between backticks are a quotation and no name or code, in characters.
const MIN_QUOTE_CHARS: usize = 30;
/// The length of what is told of a quotation, in characters.
const MAX_QUOTE_CHARS: usize = 80;
/// How many letters the user says at least behind it.
const MIN_OWN_LETTERS: usize = 4;

/// Returns the quotation with which a prompt opens, without its marks, and what the user says behind it: "`The drawer is locked.` Open it".
pub(super) fn quoted_first(prompt: &str) -> Option<(&str, &str)> {
    if let Some(rest) = prompt.trim_start().strip_prefix("```") {
        let (quote, own) = rest.rsplit_once("```")?;
        let is_long = quote.chars().count() >= MIN_QUOTE_CHARS;
        return own_words(own).filter(|_| is_long).map(|own| (quote.trim(), own));
    }
    let rest = prompt.trim_start().strip_prefix('`').filter(|rest| !rest.starts_with('`'))?;
    // In a quotation, code may stand between marks of its own: what goes on with a letter opens such code.
    let closes = |&(at, _): &(usize, &str)| {
        let next = rest[at + 1..].chars().next();
        let opens = |next: char| next.is_ascii_alphanumeric() || matches!(next, '`' | '/' | '.' | '_' | '-' | '@' | '<');
        !next.is_some_and(opens) && rest[..at].matches('`').count().is_multiple_of(2)
    };
    let is_prose = |quote: &str| quote.chars().count() >= MIN_QUOTE_CHARS && quote.contains(char::is_whitespace);
    let (end, _) = rest.match_indices('`').find(closes).filter(|(end, _)| is_prose(&rest[..*end]))?;
    own_words(&rest[end + 1..]).map(|own| (rest[..end].trim(), own))
}

/// Returns what the user says behind a quotation, if that says something.
fn own_words(behind: &str) -> Option<&str> {
    let own = behind.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, ',' | '、' | '。' | '.')).trim_end();
    (own.chars().filter(|c| c.is_alphanumeric()).count() >= MIN_OWN_LETTERS).then_some(own)
}

/// Returns the user's words with what they quote behind them: "Open it ("The drawer is locked.")". At most `max` characters.
pub(super) fn with_quotation(own: &str, quote: &str, max: usize) -> String {
    let told = format!("{own} ({})", text::quoted(&text::clip(&text::one_line(quote), MAX_QUOTE_CHARS)));
    if told.chars().count() <= max { told } else { own.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_behind_a_quotation_is_the_users() {
        let quote = "The drawer is locked, and the bell rings twice:\n- at noon\n- at night";
        assert_eq!(quoted_first(&format!("`{quote}` open it")), Some((quote, "open it")));
        let code = "引き出し `drawer` は閉じたままで、 鐘は二回鳴ります。 直しますか？";
        assert_eq!(quoted_first(&format!("`{code}`　これをお願いします")), Some((code, "これをお願いします")));
        for other in ["`drawer` is locked, open it please", "`The drawer is locked, and the bell rings` ok", "open `it`"] {
            assert_eq!(quoted_first(other), None, "{other}");
        }
        let pasted = "```The drawer is locked:\n- at noon\n- at night\n``` open it";
        assert_eq!(quoted_first(pasted), Some(("The drawer is locked:\n- at noon\n- at night", "open it")));
        assert_eq!(quoted_first("```\nThe drawer is locked, and the bell rings\n```"), None);
    }

    #[test]
    fn a_quotation_stands_behind_the_users_words() {
        assert_eq!(with_quotation("open it", "The drawer\nis locked.", 80), "open it (\"The drawer is locked.\")");
        assert_eq!(with_quotation("open it", "The drawer is locked.", 20), "open it");
    }
}
