//! A prompt that opens with words of the agent, or with pasted ones, between backticks and goes on with the user's own.

use crate::text;

/// The length from which words between backticks are a quotation and no name or code, in characters.
const MIN_QUOTE_CHARS: usize = 30;
/// The length of what is told of a quotation, in characters.
const MAX_QUOTE_CHARS: usize = 80;
/// How many letters the user says at least behind it.
const MIN_OWN_LETTERS: usize = 4;

/// Returns the quotation with which a prompt opens, without its marks, and what the user says behind it: "`The drawer is locked.` Open
/// this". None if the prompt has another block: the user's words may stand between the two.
pub(super) fn quoted_first(prompt: &str) -> Option<(&str, &str)> {
    if let Some(rest) = prompt.trim_start().strip_prefix("```") {
        let (quote, own) = rest.split_once("```").filter(|(_, own)| !own.contains("```"))?;
        let is_long = quote.chars().count() >= MIN_QUOTE_CHARS;
        return own_words(own).filter(|_| is_long).map(|own| (quote.trim(), own));
    }
    let rest = prompt.trim_start().strip_prefix('`').filter(|rest| !rest.contains("``"))?;
    // In a quotation, code may stand between marks of its own: what goes on with a letter opens such code.
    let closes = |&(number, (at, _)): &(usize, (usize, &str))| {
        let next = rest[at + 1..].chars().next();
        let opens = |next: char| next.is_ascii_alphanumeric() || matches!(next, '/' | '.' | '_' | '-' | '@' | '<');
        !next.is_some_and(opens) && number % 2 == 0
    };
    let is_prose = |quote: &str| quote.chars().count() >= MIN_QUOTE_CHARS && quote.contains(char::is_whitespace);
    let (_, (end, _)) = rest.match_indices('`').enumerate().find(closes)?;
    own_words(&rest[end + 1..]).filter(|_| is_prose(&rest[..end])).map(|own| (rest[..end].trim(), own))
}

/// Returns what the user says behind a quotation, if that says something by itself: it stands on a line of its own, or points back. Other words
/// may go on with the quotation: "`…` is what he wrote".
fn own_words(behind: &str) -> Option<&str> {
    const POINTERS: [&str; 8] = ["this", "that", "これ", "ここ", "それ", "이거", "이것", "这"];
    let own = behind.trim();
    let is_apart = behind.trim_start_matches([' ', '\r', '\t']).starts_with('\n');
    let points = POINTERS.iter().any(|word| text::starts_with_words(&own.to_lowercase(), word));
    let says = own.chars().filter(|c| c.is_alphanumeric()).count() >= MIN_OWN_LETTERS;
    (says && (is_apart || points)).then_some(own)
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
        assert_eq!(quoted_first(&format!("`{quote}`\nopen it")), Some((quote, "open it")));
        assert_eq!(quoted_first(&format!("`{quote}` this is to be mended")), Some((quote, "this is to be mended")));
        let code = "引き出し `drawer` は閉じたままで、 鐘は二回鳴ります。 直しますか？";
        assert_eq!(quoted_first(&format!("`{code}`　これをお願いします")), Some((code, "これをお願いします")));
        for other in ["`drawer` is locked, open it please", "`The drawer is locked, and the bell rings`\nok", "open `it`"] {
            assert_eq!(quoted_first(other), None, "{other}");
        }
        let pasted = "```The drawer is locked:\n- at noon\n- at night\n```\nopen it";
        assert_eq!(quoted_first(pasted), Some(("The drawer is locked:\n- at noon\n- at night", "open it")));
        assert_eq!(quoted_first("```\nThe drawer is locked, and the bell rings\n```"), None);
    }

    #[test]
    fn words_between_two_blocks_or_in_one_sentence_with_a_quotation_are_no_quotation() {
        let log = "```\nThe drawer is locked, and the bell rings twice\n```";
        assert_eq!(quoted_first(&format!("{log}\nNever touch the bell.\n{log}\nthanks a lot")), None);
        for behind in ["is what the vendor wrote. Answer him.", "was your last idea. Leave it.", "という提案をやめて"]
        {
            assert_eq!(quoted_first(&format!("`The drawer is locked, and the bell rings` {behind}")), None, "{behind}");
        }
    }

    #[test]
    fn many_marks_are_read_once() {
        let prompt = format!("`x {} open it", "`a` ".repeat(200_000));
        let began = std::time::Instant::now();
        assert_eq!(quoted_first(&prompt), None);
        assert!(began.elapsed().as_secs() < 2);
    }

    #[test]
    fn a_quotation_stands_behind_the_users_words() {
        assert_eq!(with_quotation("open it", "The drawer\nis locked.", 80), "open it (\"The drawer is locked.\")");
        assert_eq!(with_quotation("open it", "The drawer is locked.", 20), "open it");
    }
}
