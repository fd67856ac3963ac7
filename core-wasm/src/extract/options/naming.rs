//! How a prompt names an option: by its number, its letter, its place or its title.

use super::behind::{VERDICTS, contains_id, follows_choice};
use super::listed::ProposedOption;
use crate::extract::human;
use crate::text;

/// How much of the end of an answer may ask which option is wanted, in bytes.
pub(super) const MAX_QUESTION_TAIL: usize = 400;

/// Returns whether a text in lower case calls something an option.
pub(super) fn calls_option(lower: &str) -> bool {
    text::contains_any_words(lower, &["option", "approach", "옵션", "방법", "案", "方案"])
}

/// Returns whether a short prompt picks an option by its letter: "or no, do c".
pub(super) fn picks_letter(prompt: &str, letter: &str) -> bool {
    let lower = prompt.trim().to_lowercase();
    let bare = lower.trim_end_matches(['.', '!', ' ', ')']);
    let picks = ["do", "with", "pick", "take", "choose", "try", "use", "option", "for"];
    let last =
        |words: &str| bare.ends_with(words) && bare[..bare.len() - words.len()].chars().next_back().is_none_or(|c| c == ' ');
    bare == letter
        || bare == format!("({letter}")
        || (bare.chars().count() <= 40
            && picks.iter().any(|verb| last(&format!("{verb} {letter}")) || last(&format!("{verb} ({letter}"))))
        || (letter != "a" && ["let's do ", "lets do "].iter().any(|lead| bare.starts_with(&format!("{lead}{letter} "))))
}

/// A prompt that may name options, read once for all of them.
pub(super) struct Naming<'a> {
    prompt: &'a str,
    lower: String,
    /// Its sentences in lower case.
    sentences: Vec<String>,
    /// The prompt in lower case without the sentences that only ask about what they name. None if there are no such sentences.
    stated: Option<String>,
}

impl<'a> Naming<'a> {
    pub(super) fn of(prompt: &'a str) -> Self {
        let sentences: Vec<String> = text::sentences(prompt).iter().map(|said| said.to_lowercase()).collect();
        let stated: Vec<&str> = sentences.iter().map(String::as_str).filter(|said| !asks_about(said)).collect();
        let stated = (stated.len() < sentences.len()).then(|| stated.join(" "));
        Self { prompt, lower: prompt.to_lowercase(), sentences, stated }
    }

    /// Returns whether the prompt refers to that option: `방법 1로`, `option 2`, `2번`, `B`, `the second`, or its title.
    pub(super) fn refers_to(&self, option: &ProposedOption) -> bool {
        let (lower, id) = (self.lower.as_str(), option.id.as_str());
        let stated = self.stated.as_deref().unwrap_or(lower);
        let has_title = || {
            let title = option.title.to_lowercase();
            title.chars().count() >= MIN_TITLE_CHARS && lower.contains(&title)
        };
        (!option.name.is_empty() && contains_id(stated, &option.name.to_lowercase()))
            || names_number(stated, id)
            || names_place(stated, id)
            || begins_with_id(lower, id)
            || names_letter(self.prompt, id)
            || takes_by_particle(self.prompt, id)
            || self.sentences.iter().any(|sentence| accepts(sentence, id))
            || says_little_else(lower, id)
            || has_title()
    }
}

/// Returns whether a sentence in lower case only asks about what it names, or says that it is not understood: "isn't number 4 covered
/// already?", "I don't understand the third step". "Can we do option 2?" takes it.
fn asks_about(lower: &str) -> bool {
    const ASKS: [&str; 17] = [
        "is", "isn't", "isnt", "are", "aren't", "arent", "does", "doesn't", "doesnt", "was", "wasn't", "why", "what", "how",
        "where", "when", "who",
    ];
    const UNCLEAR: [&str; 11] = [
        "don't understand",
        "dont understand",
        "do not understand",
        "didn't understand",
        "没明白",
        "不明白",
        "没懂",
        "이해가 안",
        "이해 못",
        "わからない",
        "分からない",
    ];
    // "Quick: isn't …"
    const MAX_LEAD_WORDS: usize = 1;
    let lower = lower.replace('’', "'");
    let asks = |word: &str| ASKS.contains(&word.trim_matches(|c: char| !c.is_alphanumeric() && c != '\''));
    let is_question = lower.trim_end().ends_with(['?', '？']) && lower.split_whitespace().take(MAX_LEAD_WORDS + 1).any(asks);
    is_question || text::contains_any(&lower, &UNCLEAR)
}

/// The minimum length of a title by which an option is known, in characters.
const MIN_TITLE_CHARS: usize = 6;

/// The maximum length of a prompt that refers to an option by its place in the list, in characters.
const MAX_PLACE_CHARS: usize = 60;

/// The maximum length of what follows a number or a letter with which a prompt begins, in characters.
const MAX_AFTER_ID: usize = 160;

/// The maximum length of a prompt that says little else than a number, in characters.
const MAX_BARE_CHARS: usize = 24;

/// Returns whether a text in lower case has the number or letter with a word for options: "option 2", "2번", "(b)".
pub(super) fn names_number(lower: &str, id: &str) -> bool {
    const WORDS: [&str; 13] =
        ["option", "options", "number", "no.", "#", "approach", "method", "plan", "方案", "案", "选", "방법", "옵션"];
    let is_behind = |word: &&str| contains_id(lower, &format!("{word} {id}")) || contains_id(lower, &format!("{word}{id}"));
    let forms = [format!("{id}번"), format!("{id}番"), format!("第{id}"), format!("({id})"), format!("{id}안")];
    WORDS.iter().any(is_behind) || forms.iter().any(|form| lower.contains(form.as_str()))
}

/// Returns whether a short text in lower case names the place of the number or letter: "the second one".
fn names_place(lower: &str, id: &str) -> bool {
    // "The first two" are no option.
    const COUNTS: [&str; 8] = ["two", "three", "four", "few", "2", "3", "4", "half"];
    let ordinals: &[&str] = match id {
        "1" | "a" => {
            &["the first", "first one", "첫 번째", "첫번째", "첫째", "一つ目", "1つ目", "一番目", "最初の案", "第一"]
        }
        "2" | "b" => &["the second", "second one", "두 번째", "두번째", "둘째", "二つ目", "2つ目", "二番目", "第二"],
        "3" | "c" => &["the third", "third one", "세 번째", "세번째", "셋째", "三つ目", "3つ目", "三番目", "第三"],
        _ => &[],
    };
    let names_one = |word: &&str| {
        let behind = lower.split_once(*word).map(|(_, behind)| behind.trim_start());
        behind.is_some_and(|rest| !COUNTS.iter().any(|count| text::starts_with_words(rest, count)))
    };
    lower.chars().count() <= MAX_PLACE_CHARS && ordinals.iter().any(names_one)
}

/// Returns whether a text in lower case begins with the number or letter: "1 does seem like a decent path".
fn begins_with_id(lower: &str, id: &str) -> bool {
    // "A" alone is mostly an article.
    let marks: &[char] = if id == "a" { &['.', ')'] } else { &[' ', '.', ',', ')'] };
    let is_short = |rest: &str| rest.chars().count() <= MAX_AFTER_ID;
    lower.strip_prefix(id).is_some_and(|rest| rest.starts_with(marks) && is_short(rest) && follows_choice(rest))
}

/// Returns whether a short prompt begins with the letter and a particle or an ending with which Korean and Japanese take something:
/// "Aにしよう", "B로 가자".
fn takes_by_particle(prompt: &str, id: &str) -> bool {
    const BEHIND: [&str; 16] = [
        "で",
        "にし",
        "にする",
        "がいい",
        "が良",
        "案で",
        "案に",
        "案が",
        "を採用",
        "の方で",
        "のほうで",
        "로",
        "으로",
        "안으로",
        "안 으로",
        "가 좋",
    ];
    let said = human::without_lead(prompt.trim());
    let is_short = said.chars().count() <= MAX_BARE_CHARS && !said.contains(['?', '？']);
    let is_letter = id.len() == 1 && id.bytes().all(|byte| byte.is_ascii_lowercase());
    let rest = said.strip_prefix(id.to_ascii_uppercase().as_str()).filter(|_| is_short && is_letter);
    rest.is_some_and(|rest| BEHIND.iter().any(|behind| rest.trim_start().starts_with(behind)))
}

/// Returns which of two options a short prompt takes: the former or the latter.
pub(super) fn names_one_of_two(prompt: &str) -> Option<usize> {
    const FORMER: [&str; 3] = ["the former", "전자", "前者"];
    const LATTER: [&str; 3] = ["the latter", "후자", "後者"];
    let lower = prompt.trim().to_lowercase();
    let said = human::without_lead(&lower);
    if said.chars().count() > MAX_BARE_CHARS || said.contains(['?', '？']) {
        return None;
    }
    [FORMER, LATTER].iter().position(|words| words.iter().any(|word| said.starts_with(word)))
}

/// Returns whether a text in lower case is the number or letter, or is short and has the number.
fn says_little_else(lower: &str, id: &str) -> bool {
    let bare = lower.trim().trim_end_matches(['.', '!', ' ', ')']);
    let is_number = id.bytes().all(|byte| byte.is_ascii_digit());
    let is_short = bare.chars().count() <= MAX_BARE_CHARS && !bare.contains("ok");
    let is_short = is_short && bare.strip_prefix(id).is_none_or(follows_choice);
    bare == id || (is_short && is_number && contains_id(bare, id))
}

/// Returns whether a prompt takes an option by its letter, in upper case: "I think B, it leaves us room", "let's go with A".
pub(super) fn names_letter(prompt: &str, id: &str) -> bool {
    const BEFORE: [&str; 16] = [
        "think", "with", "for", "option", "pick", "prefer", "do", "choose", "like", "take", "yes", "ok", "okay", "yeah",
        "say", "vote",
    ];
    let letter = id.to_ascii_uppercase();
    if id.len() != 1 || !id.bytes().all(|byte| byte.is_ascii_lowercase()) || prompt.contains(['?', '？']) {
        return false;
    }
    let words: Vec<&str> = prompt.split_whitespace().collect();
    (0..words.len()).any(|at| {
        let before = at.checked_sub(1).map(|at| words[at].to_lowercase());
        // "Yes to A": nothing else has the letter there.
        let is_agreed =
            at == 2 && words[1] == "to" && ["yes", "ok", "okay", "yeah"].contains(&words[0].to_lowercase().as_str());
        let is_taken =
            is_agreed || before.is_none_or(|it| BEFORE.contains(&it.trim_matches(|c: char| !c.is_alphanumeric())));
        // "A" and "I" alone are mostly other words.
        let is_ended = words[at].ends_with([',', '.', ')', '!', ':']) || (at + 1 == words.len() && at > 0);
        let is_word = matches!(id, "a" | "i");
        let behind = || words.get(at + 1..).map(|rest| format!(" {}", rest.join(" "))).unwrap_or_default();
        let is_taken = is_taken && (is_ended || follows_choice(&behind()));
        is_taken && (is_ended || is_agreed || !is_word) && words[at].trim_matches(|c: char| !c.is_alphanumeric()) == letter
    })
}

/// Returns whether a sentence in lower case says of the option with this number or letter that it is the one: "1 is correct", "I think
/// 2 is the right way".
fn accepts(lower: &str, id: &str) -> bool {
    const LEADS: [&str; 12] = [
        "yes",
        "yeah",
        "ok",
        "okay",
        "but",
        "and",
        "to answer your question",
        "i think",
        "i guess",
        "i feel",
        "i'd say",
        "i would say",
    ];
    const WHOLE_VERDICTS: [&str; 7] =
        ["is the right", "is the best", "is ok", "is okay", "sounds like a good", "looks like a good", "seems like a good"];
    const ENDS: [&str; 14] = [
        "way", "approach", "option", "choice", "one", "idea", "call", "path", "solution", "for", "to me", "here", "since",
        "because",
    ];
    let mut said = lower;
    while let Some(lead) = LEADS.iter().find(|lead| text::starts_with_words(said, lead)) {
        said = said[lead.len()..].trim_start_matches([' ', ',']);
    }
    let Some(rest) = said.strip_prefix(id) else { return false };
    let is_marked = rest.starts_with(')');
    // "A" alone is mostly an article.
    let rest = rest.trim_start_matches(')').strip_prefix(' ').filter(|_| is_marked || id != "a").unwrap_or_default();
    let all = VERDICTS.iter().chain(&WHOLE_VERDICTS);
    let verdict = all.filter(|verdict| text::starts_with_words(rest, verdict)).max_by_key(|verdict| verdict.len());
    let Some(behind) = verdict.map(|verdict| rest[verdict.len()..].trim_start()) else { return false };
    // "Is better left out" and "is the right number of tills" take nothing.
    !behind.starts_with(char::is_alphanumeric) || ENDS.iter().any(|word| text::starts_with_words(behind, word))
}
