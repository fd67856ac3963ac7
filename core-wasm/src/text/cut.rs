//! How long a text is, and where it is cut.

use std::borrow::Cow;

/// Returns the length in UTF-16 code units, the unit in which the agent measures its context.
pub(crate) fn utf16_len(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

/// Returns the length of a text in characters, of which one of Korean, Japanese or Chinese counts for one and a half, because it says
/// more.
pub(crate) fn width(text: &str) -> usize {
    text.chars().map(|c| if c < '\u{2e80}' { 2 } else { 3 }).sum::<usize>() / 2
}

/// Returns the first `max` bytes of the text at most, cut at a character boundary.
pub(crate) fn head(text: &str, max: usize) -> &str {
    &text[..text.floor_char_boundary(max)]
}

/// Returns the last `max` bytes of the text at most, cut at a character boundary.
pub(crate) fn tail(text: &str, max: usize) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(max))..]
}

/// Returns the text in at most `max` characters. A longer text is cut at the end of a word and ends in `…`.
pub(crate) fn clip(text: &str, max: usize) -> Cow<'_, str> {
    let text = text.trim();
    let Some((cut, _)) = text.char_indices().nth(max) else {
        return Cow::Borrowed(text);
    };
    // The ellipsis takes one character of the budget.
    let cut = text[..cut].char_indices().next_back().map_or(0, |(at, _)| at);
    let word = text[..cut].rfind(char::is_whitespace).unwrap_or(cut);
    // Long words and scripts without spaces are cut exactly at the limit.
    let cut = if word * 3 >= cut * 2 { word } else { cut };
    Cow::Owned(format!("{}…", text[..cut].trim_end()))
}

/// Returns the text in at most `max` bytes. A longer text is cut at the end of a paragraph, line or sentence if one is
/// near, and ends in `…`.
pub(crate) fn clip_block(text: &str, max: usize) -> Cow<'_, str> {
    let text = text.trim();
    if text.len() <= max {
        return Cow::Borrowed(text);
    }
    let cut = natural_cut(text, max.saturating_sub('…'.len_utf8()));
    Cow::Owned(format!("{}…", text[..cut].trim_end()))
}

/// Returns the text in at most `max` bytes. A longer text loses its middle: a beginning that is cut as [`clip_block`] does, and whole
/// lines of the last `end` bytes.
pub(crate) fn clip_middle(text: &str, max: usize, end: usize) -> Cow<'_, str> {
    let text = text.trim();
    if text.len() <= max {
        return Cow::Borrowed(text);
    }
    let last = tail(text, end);
    let last = last.split_once('\n').map_or("", |(_, whole)| whole).trim();
    let first = clip_block(text, max.saturating_sub(last.len() + 2));
    Cow::Owned(format!("{first}\n\n{last}").trim_end().to_owned())
}

/// Returns where to cut a text that is longer than `max` bytes: the last natural boundary in the second half of the
/// window.
fn natural_cut(text: &str, max: usize) -> usize {
    let window = head(text, max);
    let least = window.len() / 2;
    for border in ["\n\n", "\n", ". ", "。", " "] {
        if let Some(at) = window.rfind(border)
            && at >= least
        {
            return at + border.len();
        }
    }
    window.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn clips_at_a_word_and_counts_characters() {
        assert_eq!(clip("fix the crash", 20), "fix the crash");
        assert_eq!(clip("fix the crash in the runner", 14), "fix the crash…");
        assert_eq!(clip("언어정책을추가한다", 5), "언어정책…");
    }

    #[test]
    fn a_long_text_keeps_its_end() {
        let text = format!("The till opens.\n{}It rings once.\nThe drawer is shut.", "One slip.\n".repeat(40));
        let cut = clip_middle(&text, 100, 40);
        assert!(
            cut.starts_with("The till opens.\nOne slip.") && cut.ends_with("…\n\nIt rings once.\nThe drawer is shut."),
            "{cut}"
        );
        assert_eq!(clip_middle("It rings.", 100, 40), "It rings.");
    }

    proptest! {
        #[test]
        fn clipping_never_panics_and_keeps_its_bound(text in "\\PC{0,200}", max in 1_usize..100) {
            prop_assert!(clip(&text, max).chars().count() <= max);
            prop_assert!(clip_block(&text, max + 3).len() <= max + 3);
            prop_assert!(clip_middle(&text, max + 5, max / 2).len() <= max + 5);
            prop_assert!(head(&text, max).len() <= max);
            prop_assert!(tail(&text, max).len() <= max);
        }
    }
}
