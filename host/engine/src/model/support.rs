//! Checks that a statement of a model is supported by the lines that it cites. A model may leave out and put in other words, but it
//! must not add: names, numbers and identifiers must stand in the cited lines, and so must a part of the words.

use std::collections::BTreeSet;

/// The share of a statement's words that must stand in the cited lines. Statements that put a line in other words share about half
/// of theirs with it.
const MIN_SHARE: (usize, usize) = (1, 3);

/// Words of fewer letters than this say little, and are not counted.
const MIN_LETTERS: usize = 4;

/// Two words count as the same if they begin with the same letters: an ending is left out.
const STEM_LETTERS: usize = 5;

/// Returns whether the lines say what the statement says.
pub fn is_supported(statement: &str, cited: &[&str]) -> bool {
    if statement.trim().is_empty() || cited.is_empty() {
        return false;
    }
    let lines = cited.join("\n").to_lowercase();
    if !literals(statement).all(|literal| stands_alone(&lines, &literal.to_lowercase())) {
        return false;
    }
    let known: BTreeSet<String> = stems(&lines).collect();
    let asked: BTreeSet<String> = stems(&statement.to_lowercase()).collect();
    let found = asked.iter().filter(|stem| known.contains(*stem)).count();
    // A statement of nothing but literals is supported by them.
    (asked.is_empty() && literals(statement).next().is_some())
        || found * MIN_SHARE.1 >= asked.len() * MIN_SHARE.0 && found > 0
}

/// Returns whether the lines have the literal, and not only as a part of another one: 5 is no part of 50, and 1.2 none of 1.2.7.
fn stands_alone(lines: &str, literal: &str) -> bool {
    // A script without spaces begins a word of its own: particles follow names.
    let is_letter = |letter: char| letter.is_alphanumeric() && !is_without_spaces(letter);
    let joins = |sign: Option<char>, next: Option<char>| {
        matches!(sign, Some('.' | ',')) && next.is_some_and(|next| next.is_ascii_digit())
    };
    let (first, last) = (literal.chars().next(), literal.chars().next_back());
    let is_digit = |letter: Option<char>| letter.is_some_and(|letter| letter.is_ascii_digit());
    lines.match_indices(literal).any(|(at, _)| {
        let mut before = lines[..at].chars().rev();
        let mut after = lines[at + literal.len()..].chars();
        let (left, right) = (before.next(), after.next());
        let starts_inside = first.is_some_and(is_letter) && left.is_some_and(is_letter);
        let ends_inside = last.is_some_and(is_letter) && right.is_some_and(is_letter);
        let is_tail = is_digit(first) && joins(left, before.next());
        let is_head = is_digit(last) && joins(right, after.next());
        !(starts_inside || ends_inside || is_tail || is_head)
    })
}

/// Returns the parts that the lines must contain literally: numbers, paths, identifiers, names.
fn literals(statement: &str) -> impl Iterator<Item = &str> {
    let is_edge = |c: char| !c.is_alphanumeric();
    statement.split_whitespace().enumerate().filter_map(move |(place, word)| {
        // `a/b` and `a.b` are one literal, and so is a version.
        let word = word.trim_matches(is_edge);
        let starts_sentence = place == 0 || ends_sentence_before(statement, word);
        let has_digit = word.contains(|c: char| c.is_ascii_digit());
        let has_sign = word.trim_matches(is_edge).contains(['_', '/', ':', '\\', '=', '#', '@'])
            || word.split('.').filter(|part| !part.is_empty()).count() > 1;
        let has_inner_capital = word.chars().skip(1).any(char::is_uppercase);
        let is_name = word.starts_with(char::is_uppercase) && !starts_sentence;
        let is_literal = !word.is_empty() && (has_digit || has_sign || has_inner_capital || is_name);
        is_literal.then_some(word)
    })
}

/// Returns whether the word is the first of a sentence, where a capital says nothing.
fn ends_sentence_before(statement: &str, word: &str) -> bool {
    let at = word.as_ptr() as usize - statement.as_ptr() as usize;
    let before = statement[..at].trim_end_matches(|c: char| c.is_whitespace() || "\"'`(*“‘".contains(c));
    before.is_empty() || before.ends_with(['.', '!', '?', ':', '。', '！', '？'])
}

/// Returns the beginnings of the words; of a script without spaces, pairs of letters.
fn stems(lowercase: &str) -> impl Iterator<Item = String> {
    lowercase.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).flat_map(|word| {
        let letters: Vec<char> = word.chars().collect();
        if letters.iter().any(|letter| is_without_spaces(*letter)) {
            return letters.windows(2).map(|pair| pair.iter().collect()).collect::<Vec<String>>();
        }
        if letters.len() < MIN_LETTERS {
            return Vec::new();
        }
        vec![letters.iter().take(STEM_LETTERS).collect()]
    })
}

/// Whether the letter belongs to a script whose words are written together, or take endings that change them: Chinese, Japanese, Thai, Korean.
fn is_without_spaces(letter: char) -> bool {
    matches!(u32::from(letter), 0x0e00..=0x0e7f | 0x1100..=0x11ff | 0x3040..=0x30ff | 0x3400..=0x9fff | 0xac00..=0xd7af)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_what_the_lines_say_is_supported() {
        let line = "We keep the export queue in SQLite because Redis lost jobs in 3 of 200 runs; see src/queue.rs";
        for statement in [
            "The export queue is kept in SQLite.",
            "Redis lost jobs in 3 of 200 runs, so the queue moved to SQLite.",
            "The queue is in `src/queue.rs`.",
            "SQLite",
        ] {
            assert!(is_supported(statement, &[line]), "{statement}");
        }
        for statement in [
            "The export queue is kept in Postgres.",
            "The export queue is kept in SQLite and Kafka.",
            "Redis lost jobs in 4 of 200 runs.",
            "The queue is in `src/jobs.rs`.",
            "Deployments happen every morning before breakfast.",
            "It must retryCount.",
            "",
            "...",
        ] {
            assert!(!is_supported(statement, &[line]), "{statement}");
        }
        for (statement, line, is_said) in [
            ("The limit is 5 jobs.", "The limit is 50 jobs", false),
            ("The limit is 50 jobs.", "The limit is 50 jobs.", true),
            ("The limit is 5 jobs.", "The limit is 50 jobs, and was 5.", true),
            ("It listens on port 80.", "It listens on port 8080", false),
            ("We use version 1.2 of the library.", "We use version 1.2.7 of the library", false),
            ("We use version 1.2.7 of the library.", "We use version 1.2.7 of the library", true),
            ("The queue holds 10 rows.", "The queue holds 10,000 rows", false),
            ("The queue uses Post.", "The queue uses Postgres", false),
            ("The function is retryCount.", "The function is maxRetryCount", false),
        ] {
            assert_eq!(is_supported(statement, &[line]), is_said, "{statement} / {line}");
        }
        assert!(!is_supported("The export queue is kept in SQLite.", &[]));
        assert!(is_supported("내보내기 대기열은 SQLite에 보관한다.", &["내보내기 대기열을 SQLite에 보관하기로 했다"]));
        assert!(!is_supported("결제는 매일 아침에 확인한다.", &["내보내기 대기열을 SQLite에 보관하기로 했다"]));
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(statement in "\\PC{0,120}", line in "\\PC{0,120}") {
            let _ = is_supported(&statement, &[&line]);
        }

        #[test]
        fn a_line_supports_itself(line in "[a-z]{4,9}( [a-zA-Z0-9/_.]{1,9}){0,8}") {
            prop_assert!(is_supported(&line, &[&line]));
        }
    }
}
