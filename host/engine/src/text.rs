//! Texts on one line, and cut to a length.

/// Puts a text on one line: each run of white space becomes one space.
pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns a text of at most `most` characters: the text itself, or its beginning up to the end of a word with an ellipsis.
pub(crate) fn within_chars(text: &str, most: usize) -> String {
    if text.char_indices().nth(most).is_none() {
        return text.to_owned();
    }
    let start = text.char_indices().nth(most.saturating_sub(1)).map_or(text, |(end, _)| &text[..end]);
    // At the end of a word, unless that would remove much: scripts without spaces are cut at the limit.
    let end = start.rfind(char::is_whitespace).filter(|end| *end > start.len() / 2).unwrap_or(start.len());
    format!("{}…", start[..end].trim_end())
}

/// Returns the first `most` characters of a text, and an ellipsis if there are more.
pub(crate) fn truncate_chars(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_is_cut_ends_with_a_word_and_an_ellipsis() {
        assert_eq!(within_chars("one two three", 13), "one two three");
        assert_eq!(within_chars("one two three", 12), "one two…");
        assert_eq!(within_chars("한국어한국어", 4), "한국어…");
        assert_eq!(within_chars("one two three", 5), "one…");
    }
}
