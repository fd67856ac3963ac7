//! What a text states that can be compared: its sentences, words, identifiers, numbers, and values given to identifiers.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use regex::Regex;

/// A number and its unit; the unit is empty if none is recognized.
pub(super) type Value = (String, &'static str);

/// The numbers given to each identifier.
pub(super) type Assignments = BTreeMap<String, BTreeSet<String>>;

/// Number words that people write instead of digits.
const NUMBER_WORDS: [(&str, &str); 25] = [
    ("one", "1"),
    ("two", "2"),
    ("three", "3"),
    ("four", "4"),
    ("five", "5"),
    ("six", "6"),
    ("seven", "7"),
    ("eight", "8"),
    ("nine", "9"),
    ("ten", "10"),
    ("twelve", "12"),
    ("once", "1"),
    ("twice", "2"),
    ("hourly", "60"),
    ("하루", "1"),
    ("한", "1"),
    ("두", "2"),
    ("세", "3"),
    ("네", "4"),
    ("다섯", "5"),
    ("여섯", "6"),
    ("일곱", "7"),
    ("여덟", "8"),
    ("열", "10"),
    ("한달", "31"),
];

/// The beginnings of units, each with the name that stands for all its spellings.
const UNITS: [(&str, &str); 44] = [
    ("ms", "ms"),
    ("sec", "s"),
    ("초", "s"),
    ("min", "m"),
    ("분", "m"),
    ("hour", "h"),
    ("hr", "h"),
    ("시간", "h"),
    ("day", "d"),
    ("일", "d"),
    ("week", "w"),
    ("주", "w"),
    ("month", "mo"),
    ("개월", "mo"),
    ("달", "mo"),
    ("year", "y"),
    ("년", "y"),
    ("%", "%"),
    ("percent", "%"),
    ("kb", "kb"),
    ("mb", "mb"),
    ("gb", "gb"),
    ("tb", "tb"),
    ("px", "px"),
    ("회", "times"),
    ("번", "times"),
    ("times", "times"),
    ("tries", "times"),
    ("attempt", "times"),
    ("명", "people"),
    ("만", "10000"),
    ("원", "won"),
    ("자", "characters"),
    ("char", "characters"),
    ("digit", "characters"),
    ("秒", "s"),
    ("分", "m"),
    ("時間", "h"),
    ("日", "d"),
    ("週", "w"),
    ("か月", "mo"),
    ("年", "y"),
    ("回", "times"),
    ("文字", "characters"),
];

/// Words that say nothing about a text's subject.
const STOP_WORDS: &str = " the a an and or of to in on at for with from by is are was were be been it its this that these those as \
    not no so if then than there here which who what when where how why i we you they he she our your their them us me my have \
    has had do does did will would can could should may might must just also only now new one two all any both each more most \
    some such very same other into over out up down off about after before while because but ";

#[expect(clippy::expect_used, reason = "the patterns are constants, and a test compiles all of them")]
pub(super) fn compiled(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a valid pattern")
}

/// Code in back quotes, names with `_`, `.` or `/`, camel case, tickets.
static IDENTIFIER: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"`[^`\n]{2,80}`|\b[A-Za-z]+[_./][A-Za-z0-9_./-]*[A-Za-z0-9_]|\b[a-z]+[A-Z][A-Za-z0-9_]+|\b[A-Z][a-z]+[A-Z][A-Za-z0-9_]+|\b[A-Z]{2,}-[0-9]+|#[0-9]{2,}",
    )
});
static WORD: LazyLock<Regex> = LazyLock::new(|| {
    compiled(r"[A-Za-z_$@][A-Za-z0-9_./$@-]*|[가-힣]+|[\p{Han}\p{Hiragana}\p{Katakana}ー]+|[0-9][0-9.,:_]*[0-9]|[0-9]|%")
});
/// An identifier, a linking word or sign, and a number: "`SLOT_MINUTES` is now 6".
static ASSIGNMENT: LazyLock<Regex> = LazyLock::new(|| {
    compiled(concat!(
        r"`?([A-Za-z_][A-Za-z0-9_./-]*[A-Za-z0-9_])`?(?::\s*u32)?\s*",
        r"(?:==|=|:|is now|is at|is|are|to|at|stands at|→|は|を|が|은|는|를|을|이|가|값을|값이|값은|은 이제|는 이제|기본값이|기본값을|now)",
        r#"\s*(?:이제|now|at|to|set to)?\s*[`"']?(?:[a-z]+@)?([0-9][0-9.,_]*[0-9]|[0-9])"#
    ))
});
/// A name and the word given to it, in back quotes.
static SETTING: LazyLock<Regex> = LazyLock::new(|| {
    compiled(r#"`(?:[A-Za-z]+ )?([A-Za-z_][A-Za-z0-9_.-]{2,40})\s*[=:]\s*["']?([A-Za-z@/][A-Za-z0-9_.:/@+-]*)["']?`"#)
});
static PATH: LazyLock<Regex> = LazyLock::new(|| compiled(r"[A-Za-z0-9_.-]+(?:/[A-Za-z0-9_.-]+)+"));

/// Returns the sentences of a text, without surrounding white space. A sentence ends at a line break, at `。`, `！` or
/// `？`, or at `.`, `!`, `?` or `;` before white space.
pub(super) fn sentences(text: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    let mut from = 0;
    for (at, character) in text.char_indices() {
        let next = text[at + character.len_utf8()..].chars().next().unwrap_or(' ');
        let is_end = "\n。！？".contains(character) || (".!?;".contains(character) && matches!(next, ' ' | '\n'));
        if is_end {
            sentences.extend(Some(text[from..at].trim()).filter(|it| !it.is_empty()));
            from = at + character.len_utf8();
        }
    }
    sentences.extend(Some(text[from..].trim()).filter(|it| !it.is_empty()));
    sentences
}

/// Returns whether a word is Korean, Japanese or Chinese.
fn is_east_asian(word: &str) -> bool {
    word.chars().next().is_some_and(|first| matches!(first, '가'..='힣' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}'))
}

/// Returns the words of a text in lower case, without stop words and endings; of a Korean, Japanese or Chinese word, its pairs
/// of characters.
pub(super) fn words(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for word in WORD.find_iter(text) {
        let word = word.as_str().to_lowercase();
        let word = word.trim_end_matches(['.', '/', '-']);
        if word.is_empty() || word == "%" {
            continue;
        }
        if is_east_asian(word) {
            let syllables: Vec<char> = word.chars().collect();
            if syllables.len() <= 2 {
                found.insert(word.to_owned());
            } else {
                found.extend(syllables.windows(2).map(String::from_iter));
            }
        } else if word.starts_with(|first: char| first.is_ascii_digit()) {
            found.insert(word.replace([',', '_'], ""));
        } else if !STOP_WORDS.contains(&format!(" {word} ")) {
            let is_plain = word.len() > 4 && word.bytes().all(|byte| byte.is_ascii_lowercase());
            let stem = ["ing", "ed", "es", "s"].iter().filter(|_| is_plain).find_map(|ending| word.strip_suffix(ending));
            found.insert(stem.unwrap_or(word).to_owned());
        }
    }
    found
}

/// Returns the identifiers, tickets and file names of a text, in lower case; of a path, its last part.
pub(super) fn identifiers(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for piece in IDENTIFIER.find_iter(text) {
        for part in piece.as_str().split(|it: char| it.is_whitespace() || "=()<>,;:|`{}[]\"'".contains(it)) {
            let part = part.to_lowercase();
            let part = part.trim_matches('.');
            let is_number = part.chars().all(|it| it.is_ascii_digit() || ".,_".contains(it));
            if part.chars().count() > 2 && !is_number {
                let last = part.rsplit('/').next().filter(|last| !last.is_empty()).unwrap_or(part);
                found.insert(last.to_owned());
            }
        }
    }
    found
}

/// Returns a number without separators and without zeros at the end of a fraction.
pub(super) fn number(digits: &str) -> String {
    let digits = digits.replace([',', '_'], "");
    let digits = digits.trim_end_matches(['.', ':']);
    if digits.contains('.') && digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        return digits.trim_end_matches('0').trim_end_matches('.').to_owned();
    }
    digits.to_owned()
}

/// Returns the name that stands for all spellings of a unit; an empty text if the word is none.
pub(super) fn unit(word: &str) -> &'static str {
    let word = word.to_lowercase();
    match word.as_str() {
        "s" => "s",
        "h" => "h",
        "d" => "d",
        "m" => "m",
        _ => UNITS.iter().find(|(beginning, _)| word.starts_with(beginning)).map_or("", |(_, unit)| unit),
    }
}

/// Returns the numbers of a text with their units. Number words count.
pub(super) fn values(text: &str) -> BTreeSet<Value> {
    let words: Vec<&str> = WORD.find_iter(text).map(|word| word.as_str()).collect();
    let mut found = BTreeSet::new();
    for (at, word) in words.iter().enumerate() {
        let value = if word.starts_with(|first: char| first.is_ascii_digit()) {
            Some(number(word))
        } else {
            let lower = word.to_lowercase();
            NUMBER_WORDS.iter().find(|(name, _)| *name == lower).map(|(_, value)| (*value).to_owned())
        };
        found.extend(value.map(|value| (value, words.get(at + 1).map_or("", |next| unit(next)))));
    }
    found
}

/// Returns whether a name is one of code: with a sign in it or, if it was not put in lower case, in camel case or capitals.
pub(super) fn is_key(name: &str) -> bool {
    let is_camel = name.as_bytes().windows(2).any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase());
    let is_upper = name.len() > 1
        && name.bytes().any(|byte| byte.is_ascii_uppercase())
        && !name.bytes().any(|byte| byte.is_ascii_lowercase());
    name.contains(['_', '.', '/']) || is_camel || is_upper
}

/// Returns what a text gives to identifiers: numbers, and in code also words.
pub(super) fn assignments(text: &str) -> Assignments {
    let mut found = settings(text);
    for sentence in sentences(text) {
        for assignment in ASSIGNMENT.captures_iter(sentence) {
            let (name, value) = (&assignment[1], &assignment[2]);
            if is_key(name) {
                found.entry(name.to_lowercase()).or_default().insert(number(value));
            }
        }
    }
    found
}

/// Returns the words that code in back quotes gives to names, as in `` `mode: strict` ``.
fn settings(text: &str) -> Assignments {
    let mut found = Assignments::new();
    for setting in SETTING.captures_iter(text) {
        found.entry(setting[1].to_lowercase()).or_default().insert(setting[2].to_lowercase());
    }
    found
}

/// Returns the paths of a text, in lower case.
pub(super) fn paths(text: &str) -> BTreeSet<String> {
    PATH.find_iter(text).map(|path| path.as_str().to_lowercase()).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn list(found: &BTreeSet<String>) -> Vec<&str> {
        found.iter().map(String::as_str).collect()
    }

    #[test]
    fn identifiers_are_recognized_by_their_form_or_by_back_quotes() {
        let found =
            identifiers("Set `retry` in app/config.toml, where MAX_TRIES and maxWait are; ABC-12, the rest is fine.");
        assert_eq!(list(&found), ["abc-12", "config.toml", "max_tries", "maxwait", "retry"]);
    }

    #[test]
    fn numbers_have_units() {
        let found = values("five minutes, 1,500 ms and 30 %; 20분 뒤 3회, 7.50");
        let found: Vec<(&str, &str)> = found.iter().map(|(value, unit)| (value.as_str(), *unit)).collect();
        assert_eq!(found, [("1500", "ms"), ("20", "m"), ("3", "times"), ("30", "%"), ("5", "m"), ("7.5", "")]);
    }

    #[test]
    fn assignments_are_found_in_both_languages() {
        let found = assignments("`POOL_MAX = 12` in services/a/app.yaml. `poolWait`는 이제 40입니다. Lines are 7.");
        assert_eq!(found.keys().collect::<Vec<_>>(), ["pool_max", "poolwait"]);
        assert_eq!(list(&found["poolwait"]), ["40"]);
    }

    #[test]
    fn code_gives_words_to_names() {
        let found = assignments("`MODE=strict` in `run.yaml`, where `color: 'red'` is; `a::b` and https://c.d/e are none.");
        assert_eq!(found.keys().collect::<Vec<_>>(), ["color", "mode"]);
        assert_eq!(list(&found["mode"]), ["strict"]);
    }

    #[test]
    fn japanese_has_sentences_words_and_units() {
        assert_eq!(sentences("上限は三つ。次も同じ！ok"), ["上限は三つ", "次も同じ", "ok"]);
        assert_eq!(list(&words("同じです")), ["じで", "です", "同じ"]);
        assert!(values("20 分たつと").contains(&("20".into(), "m")));
    }

    #[test]
    fn words_lose_endings_and_stop_words() {
        assert_eq!(list(&words("The retried jobs were waiting 슬롯을")), ["jobs", "retri", "wait", "롯을", "슬롯"]);
    }

    #[test]
    fn all_patterns_compile() {
        assert!(IDENTIFIER.is_match("a_b") && WORD.is_match("a") && PATH.is_match("a/b"));
        assert!(ASSIGNMENT.is_match("A_B = 1"));
    }

    proptest! {
        #[test]
        fn any_text_can_be_read(text in "\\PC{0,200}") {
            let _ = (sentences(&text), words(&text), identifiers(&text), values(&text), assignments(&text), paths(&text));
        }
    }
}
