//! Marks in a text the words that a search found.

use serde::Serialize;

use throughline_search::tokens;

/// How many characters of a text are shown of a result.
const MAX_EXCERPT: usize = 320;

/// How many characters before the first match are shown.
const BEFORE: usize = 60;

/// A part of a text, and whether it was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Part {
    text: String,
    found: bool,
}

/// Splits a text into parts that were found and the text between them. `words` are tokens of the index.
pub(super) fn parts(text: &str, words: &[String]) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let mut push = |text: &str, found: bool| match parts.last_mut() {
        Some(last) if last.found == found => last.text.push_str(text),
        _ => parts.push(Part { text: text.to_owned(), found }),
    };
    for run in runs(text) {
        if !is_word(run) {
            push(run, false);
        } else if is_found(run, words) && !run.is_ascii() && run.chars().count() > 2 {
            // A run of characters without spaces holds several words.
            let marks = found_characters(run, words);
            let all = marks.iter().all(|mark| !mark);
            for (character, mark) in run.chars().zip(marks) {
                push(character.encode_utf8(&mut [0; 4]), mark || all);
            }
        } else {
            push(run, is_found(run, words));
        }
    }
    parts
}

/// Returns the part of a text around its first match.
pub(super) fn excerpt(text: &str, words: &[String]) -> Vec<Part> {
    let all = parts(text, words);
    let before: usize = all.iter().take_while(|part| !part.found).map(|part| part.text.chars().count()).sum();
    let begin = if all.iter().any(|part| part.found) { before.saturating_sub(BEFORE) } else { 0 };
    let mut left = MAX_EXCERPT;
    let mut skip = begin;
    let mut shown: Vec<Part> = Vec::new();
    for part in all {
        let length = part.text.chars().count();
        let text: String = part.text.chars().skip(skip).take(left).collect();
        skip = skip.saturating_sub(length);
        left -= text.chars().count();
        if !text.is_empty() {
            shown.push(Part { text, found: part.found });
        }
    }
    let ellipsis = |found| Part { text: "…".into(), found };
    if begin > 0 {
        shown.insert(0, ellipsis(false));
    }
    if left == 0 {
        shown.push(ellipsis(false));
    }
    shown
}

fn is_word(run: &str) -> bool {
    run.starts_with(char::is_alphanumeric)
}

/// Splits a text where letters and digits begin and end.
fn runs(text: &str) -> Vec<&str> {
    let mut runs = Vec::new();
    let mut begin = 0;
    let mut last = None;
    for (at, character) in text.char_indices() {
        let kind = character.is_alphanumeric() || character == '_';
        if last.is_some_and(|last| last != kind) {
            runs.push(&text[begin..at]);
            begin = at;
        }
        last = Some(kind);
    }
    runs.push(&text[begin..]);
    runs
}

fn is_found(run: &str, words: &[String]) -> bool {
    let tokens = tokens::index_text(run);
    tokens.split(' ').any(|token| words.iter().any(|word| word == token))
}

/// Returns, for each character, whether it belongs to a pair that was found.
fn found_characters(run: &str, words: &[String]) -> Vec<bool> {
    let characters: Vec<char> = run.chars().collect();
    let mut marks = vec![false; characters.len()];
    for (at, pair) in characters.windows(2).enumerate() {
        if is_found(&pair.iter().collect::<String>(), words) {
            marks[at] = true;
            marks[at + 1] = true;
        }
    }
    marks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(text: &str, words: &[&str]) -> String {
        let words: Vec<String> = words.iter().map(|word| tokens::index_text(word)).collect();
        let words: Vec<String> = words.iter().flat_map(|words| words.split(' ').map(str::to_owned)).collect();
        let all = parts(text, &words);
        assert_eq!(all.iter().map(|part| part.text.as_str()).collect::<String>(), text);
        all.iter().map(|part| if part.found { format!("[{}]", part.text) } else { part.text.clone() }).collect()
    }

    #[test]
    fn words_are_marked_in_every_form_and_script() {
        assert_eq!(
            marked("The caches are flushed, the cache too.", &["cache"]),
            "The [caches] are flushed, the [cache] too."
        );
        assert_eq!(marked("<b>cache</b>", &["cache"]), "<b>[cache]</b>");
        assert_eq!(marked("nothing here", &["cache"]), "nothing here");
        assert_eq!(marked("", &["cache"]), "");
        let korean = marked("토큰을 새로 고친다", &["토큰"]);
        assert!(korean.starts_with("[토큰"), "{korean}");
        let japanese = marked("次の設定を変更する", &["設定"]);
        assert!(japanese.contains("[設定]"), "{japanese}");
    }

    #[test]
    fn an_excerpt_begins_near_the_first_match() {
        let text = format!("{} needle {}", "hay ".repeat(100), "hay ".repeat(100));
        let shown: String =
            excerpt(&text, &["needl".into(), "needle".into()]).iter().map(|part| part.text.as_str()).collect();
        assert!(shown.starts_with('…') && shown.ends_with('…') && shown.contains("needle"), "{shown}");
        assert!(shown.chars().count() <= MAX_EXCERPT + 2);
        let short: String = excerpt("short", &[]).iter().map(|part| part.text.as_str()).collect();
        assert_eq!(short, "short");
    }
}
