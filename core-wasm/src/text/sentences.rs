//! The sentences of a text.

use super::cut::head;
use super::markdown::{plain, prose_lines};

/// Returns the sentences of Markdown prose, each on one line and without marks. Skips code blocks.
pub(crate) fn sentences(text: &str) -> Vec<String> {
    let mut all = Vec::new();
    lines_of_sentences(text).for_each(|line| push_sentences(&mut all, line));
    all
}

/// Returns the lines of Markdown prose that sentences stand on: no rows of tables.
fn lines_of_sentences(text: &str) -> impl Iterator<Item = &str> {
    prose_lines(text).filter(|line| !line.starts_with('|'))
}

/// Adds the sentences of one line.
fn push_sentences(all: &mut Vec<String>, line: &str) {
    let line = plain(line);
    let mut rest = line.as_str();
    while let Some(end) = sentence_end(rest) {
        push_sentence(all, &rest[..end]);
        rest = &rest[end..];
    }
    push_sentence(all, rest);
}

fn push_sentence(all: &mut Vec<String>, sentence: &str) {
    let sentence = sentence.trim();
    if sentence.chars().any(char::is_alphanumeric) {
        all.push(sentence.to_owned());
    }
}

/// Splits at full stops after which somebody who types fast goes on with a small letter.
pub(crate) fn typed_sentences(sentence: &str) -> Vec<&str> {
    let is_end = |at: usize| {
        let word = sentence[..at].rsplit(' ').next().unwrap_or_default();
        word.len() > 2 && word.bytes().all(|byte| byte.is_ascii_alphabetic())
    };
    let mut parts = Vec::new();
    let mut start = 0;
    for (at, _) in sentence.match_indices(". ").filter(|(at, _)| is_end(*at)) {
        parts.push(&sentence[start..=at]);
        start = at + 2;
    }
    parts.push(&sentence[start..]);
    parts
}

/// Returns the first sentence, or none if there is no prose.
pub(crate) fn first_sentence(text: &str) -> Option<String> {
    lines_of_sentences(text).find_map(|line| {
        let mut found = Vec::new();
        push_sentences(&mut found, line);
        found.into_iter().next()
    })
}

/// Returns the position just past the mark that closes the first sentence, or none if the line is a single sentence.
///
/// Marks inside backticks or a quotation, after a single letter (`e.g.`) and before a lower-case word do not close a sentence.
fn sentence_end(line: &str) -> Option<usize> {
    let mut code = false;
    let mut quoted_until = 0;
    for (at, mark) in line.char_indices() {
        match mark {
            _ if at < quoted_until => {}
            '`' => code = !code,
            '"' | '“' if !code && !line[..at].ends_with(char::is_alphanumeric) => {
                let inside = at + mark.len_utf8();
                quoted_until = quotation(&line[inside..]).map_or(0, |end| inside + end + 1);
            }
            '。' | '！' | '？' if !code => return Some(at + mark.len_utf8()),
            '.' | '!' | '?' if !code => {
                let next = line[at + 1..].chars().next();
                let abbreviation = mark == '.' && ends_in_abbreviation(&line[..at]);
                let continues = line[at + 1..].trim_start().chars().next().is_some_and(char::is_lowercase);
                if next.is_some_and(char::is_whitespace) && !abbreviation && !continues {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

/// Returns whether a text ends like a sentence. A closing quote, or the bracket of a sentence in brackets, may stand behind its end.
pub(crate) fn has_ended(said: &str) -> bool {
    let said = said.trim_end_matches(['"', '”']);
    if let Some(before) = said.strip_suffix(')') {
        // "(It rings.)" is a sentence, "(bells, lamps, etc.)" is none.
        let Some((outside, inside)) = before.rsplit_once('(') else { return false };
        let outside = outside.trim_end();
        return (outside.is_empty() || has_ended(outside)) && has_ended(inside);
    }
    said.ends_with(['.', '!', '?', '。', '！', '？']) && !said.ends_with("...")
}

/// Returns the length of what is quoted at the beginning of a text. None if it is long, or if nothing closes the quotation.
fn quotation(text: &str) -> Option<usize> {
    const MAX_QUOTED_BYTES: usize = 160;
    head(text, MAX_QUOTED_BYTES).find(['"', '”'])
}

fn ends_in_abbreviation(text: &str) -> bool {
    let word = text.rsplit(|c: char| c.is_whitespace() || c == '(').next().unwrap_or("");
    matches!(word, "e.g" | "i.e" | "etc" | "vs" | "cf" | "no" | "No") || word.len() == 1
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn sentences_keep_paths_versions_and_code_whole() {
        assert_eq!(
            sentences("Use `a. B` in v1.2.3, e.g. here. Then run src/main.rs! 끝났다. 終わり。次"),
            ["Use `a. B` in v1.2.3, e.g. here.", "Then run src/main.rs!", "끝났다.", "終わり。", "次"]
        );
    }

    #[test]
    fn a_quotation_is_not_divided() {
        let said = "It prints \"Already paid. All is well.\" and waits. The \"till\" rings.";
        assert_eq!(sentences(said), ["It prints \"Already paid. All is well.\" and waits.", "The \"till\" rings."]);
        assert_eq!(sentences("A 5\" drawer. It opens. It shuts."), ["A 5\" drawer.", "It opens.", "It shuts."]);
        assert_eq!(sentences("It says “Paid. Thanks.” then. It shuts."), ["It says “Paid. Thanks.” then.", "It shuts."]);
    }

    #[test]
    fn sentences_leave_out_code_and_marks() {
        assert_eq!(sentences("## Fix\n- **One** done\n```rust\nlet x = 1;\n```\n2. Two"), ["Fix", "One done", "Two"]);
    }

    #[test]
    fn a_sentence_in_brackets_has_ended() {
        for said in ["It rings.", "It says \"Paid.\"", "It rings. (Only at night.)", "(Only at night.)"] {
            assert!(has_ended(said), "{said}");
        }
        for said in ["It rings", "It takes coins (cents, etc.)", "It calls `ring(...)`", "Rings twice..."] {
            assert!(!has_ended(said), "{said}");
        }
    }

    proptest! {
        #[test]
        fn sentences_never_panic(text in any::<String>()) {
            sentences(&text);
            plain(&text);
        }
    }
}
