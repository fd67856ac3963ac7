//! Choices that the user declares, and whether a sentence can be understood alone.

use super::consent::normalize;
use super::correction::is_correction;
use super::dispute::is_hesitation;
use super::pasted::{looks_pasted, own_words};
use super::plan::plan;
use super::request::is_slash_command;
use super::rule::is_rule;
use super::undecided::asks_for_ideas;
use crate::text;

/// The length below which a request needs those before it, in characters.
const MIN_OWN_CHARS: usize = 24;

/// Returns whether a request says by itself what it asks for: it is long enough, or names something, and does not only ask back.
pub(in crate::extract) fn stands_alone(request: &str) -> bool {
    let lower = request.to_lowercase();
    let least = if request.is_ascii() { MIN_OWN_CHARS } else { MIN_OWN_CHARS / 2 };
    let has_names =
        request.split_whitespace().any(|word| word.chars().skip(1).any(|c| matches!(c, '.' | '/' | '_' | '-' | '#')));
    let asks_back = ["is there any", "are there any", "are you sure", "what about", "anything else", "did you", "have you"];
    request.chars().count() >= least
        && !is_path(request)
        && !is_hesitation(&lower)
        && !asks_back.iter().any(|opening| lower.starts_with(opening))
        && (has_names || request.split_whitespace().count() >= 6 || !request.is_ascii())
}

/// Returns whether a request is nothing but the path of a file, which may have blanks in its name.
fn is_path(request: &str) -> bool {
    let is_rooted = (request.starts_with('/') && !is_slash_command(request)) || request.starts_with("~/");
    let name = request.rsplit('/').next().unwrap_or_default();
    let has_ending = name.rsplit_once('.').is_some_and(|(_, ending)| ending.len() < 6 && ending.is_ascii());
    is_rooted && (has_ending || !request.contains(char::is_whitespace)) && !request.contains(": ")
}

/// Returns the sentences of a prompt in which a human settles how something is done by saying how it is not: "not X, just Y".
pub(in crate::extract) fn settled_in_passing(prompt: &str) -> Vec<String> {
    let is_short = prompt.chars().count() <= 1200;
    if plan(prompt).is_some() || is_slash_command(prompt) || !is_short || asks_for_ideas(prompt) {
        return Vec::new();
    }
    let own = own_words(prompt);
    let sentences = text::sentences(&own).into_iter();
    let settles = |it: &String| (sets_right(it) || leaves_or_keeps(it)) && !only_wants_answer(it);
    sentences.filter(|it| settles(it) && !looks_pasted(it) && !is_rule(it) && !is_correction(it)).take(2).collect()
}

/// Returns whether a sentence asks for an answer in the place of a change: "don't change anything, just let me know".
fn only_wants_answer(sentence: &str) -> bool {
    let lower = sentence.to_lowercase().replace('’', "'");
    text::contains_any_words(
        &lower,
        &[
            "let me know",
            "don't change anything",
            "dont change anything",
            "do not change anything",
            "don't fix anything",
            "do not fix anything",
        ],
    )
}

/// Returns the sentences of the reason for a refusal that say what is done or used in the place of what was refused.
pub(in crate::extract) fn steering(reason: &str) -> Vec<String> {
    let own = own_words(reason);
    let sentences = text::sentences(&own).into_iter();
    sentences.filter(|it| steers(it) && !looks_pasted(it) && !is_rule(it) && !is_correction(it)).take(2).collect()
}

/// Returns whether a sentence puts one thing in the place of another, or accepts one.
fn steers(sentence: &str) -> bool {
    const ACCEPTS: [&str; 8] = [
        "i'm fine with",
        "i'm ok with",
        "i'm okay with",
        "i am fine with",
        "i'd rather",
        "i would rather",
        "i prefer",
        "we prefer",
    ];
    const WIDE: [&str; 11] = [
        "말고",
        "대신",
        "로 하자",
        "로 가자",
        "으로 하자",
        "ではなく",
        "じゃなく",
        "代わりに",
        "にしよう",
        "改用",
        "而不是",
    ];
    let lower = sentence.to_lowercase().replace('’', "'").replace("lets ", "let's ").replace("im fine", "i'm fine");
    let least = if sentence.is_ascii() { 14 } else { 6 };
    if !(least..=300).contains(&sentence.chars().count()) || sentence.ends_with(['?', '？', ':', '：']) {
        return false;
    }
    let is_use =
        ["use ", "i use ", "we use ", "i'm using ", "we're using "].iter().any(|opening| lower.starts_with(opening));
    let replaces = lower.trim_end_matches(['.', '!']).ends_with(" instead") || lower.contains(" instead of ");
    (is_use && (lower.contains(" not ") || replaces))
        || (lower.starts_with("let's ") && replaces)
        || ACCEPTS.iter().any(|opening| text::starts_with_words(&lower, opening))
        || text::contains_any(&lower, &WIDE)
}

/// Returns whether a prompt in its first words takes up an option: "actually lets go with the second".
pub(in crate::extract) fn takes_option(prompt: &str) -> bool {
    const SIGNS: [&str; 12] = [
        "let's go with",
        "lets go with",
        "go with",
        "let's use",
        "lets use",
        "switch to",
        "use the",
        "instead",
        "rather use",
        "로 하자",
        "にしよう",
        "改用",
    ];
    let head = text::head(prompt, 200);
    let lower = head.to_lowercase().replace('’', "'");
    prompt.chars().count() <= 300 && !head.trim_end().ends_with(['?', '？']) && text::contains_any_words(&lower, &SIGNS)
}

/// Signs that the user leaves something as it is, or out.
const LEAVES: &[&str] = &[
    "let's leave",
    "let's skip",
    "let's stick to",
    "let's stick with",
    "let's keep",
    "let's drop",
    "let's table",
    "let's postpone",
    "let's defer",
    "we should stick to",
    "we should stick with",
    "빼자",
    "하지 말자",
    "미루자",
    "그대로 두자",
    "やめよう",
    "見送ろう",
    "後回しにしよう",
    "このままにしよう",
    "先不做",
    "暂时不做",
    "就保持",
];

/// Returns whether a sentence leaves something as it is, or out.
fn leaves_or_keeps(sentence: &str) -> bool {
    let lower = sentence.to_lowercase().replace('’', "'").replace("lets ", "let's ");
    let least = if sentence.is_ascii() { 24 } else { 8 };
    (least..=300).contains(&sentence.chars().count())
        && !sentence.contains(['?', '？'])
        && text::contains_any_words(&lower, LEAVES)
}

/// Returns whether a sentence denies one thing and then says what is so instead.
fn sets_right(sentence: &str) -> bool {
    let lower = sentence.to_lowercase().replace('’', "'");
    if !(30..=300).contains(&sentence.chars().count()) || sentence.ends_with(['?', '？', ':', '：']) {
        return false;
    }
    let clauses: Vec<&str> = lower.split([',', ';', '—', '–']).map(str::trim).collect();
    let denies =
        |clause: &str| text::contains_words(clause, "not") || clause.contains("n't ") || clause.contains("no longer");
    let is_doubt = [
        "don't know",
        "not sure",
        "don't think",
        "can't see",
        "don't see",
        "haven't seen",
        "didn't see",
        "don't understand",
        "doesn't work",
        "not working",
    ];
    let sets =
        |clause: &str| ["just ", "only ", "but only ", "but just ", "instead "].iter().any(|word| clause.starts_with(word));
    (1..clauses.len()).any(|at| sets(clauses[at]) && denies(clauses[at - 1])) && !text::contains_any(&lower, &is_doubt)
}

/// Returns whether a text has a word that points to something outside of it.
pub(in crate::extract) fn has_pointer(said: &str) -> bool {
    let pointers = ["it", "this", "that", "these", "those", "them", "there", "its", "thats"];
    normalize(said).split(' ').any(|word| pointers.contains(&word))
}

/// Words of other scripts that point to what was said or done before.
const WIDE_POINTERS: &[&str] = &["그거", "이거", "이건", "그건", "それ", "これ", "这个", "那个"];

/// Returns whether a remark refers to something said before it.
pub(in crate::extract) fn needs_context(said: &str) -> bool {
    points_back(said) || said.chars().count() < if said.is_ascii() { 50 } else { 20 }
}

/// Returns whether a remark points to something said or done before it, in any script.
pub(in crate::extract) fn points_back(said: &str) -> bool {
    has_pointer(said) || text::contains_any(said, WIDE_POINTERS)
}

/// Returns whether a remark stops what was proposed or begun just before and only points to it: "then drop that".
pub(in crate::extract) fn stops_what_was_proposed(said: &str) -> bool {
    const LEADS: [&str; 10] = ["no, ", "no ", "ok, ", "ok ", "okay, ", "then ", "please ", "let's ", "just ", "actually, "];
    const STOPS: [&str; 4] = ["drop that", "drop it", "forget that", "scrap that"];
    // In these languages the pointer stands right before its verb.
    const WIDE_STOPS: [&str; 8] = ["말고", "취소해", "취소하", "그만", "하지 말", "やめ", "なしで", "じゃなく"];
    // "Besides that", "not only that".
    const BESIDES: [&str; 3] = ["말고도", "じゃなくても", "やめない"];
    let first = text::first_sentence(said).unwrap_or_default().to_lowercase().replace('’', "'");
    let mut order = first.as_str();
    while let Some(rest) = LEADS.iter().find_map(|lead| order.strip_prefix(lead)) {
        order = rest;
    }
    let stops = |pointer: &&str| {
        let behind = first.split_once(*pointer).map_or("", |(_, behind)| behind);
        let behind = behind.trim_start_matches(['は', 'を', '는', '은', '을', '를', ' ']);
        WIDE_STOPS.iter().any(|stop| behind.starts_with(stop)) && !BESIDES.iter().any(|words| behind.starts_with(words))
    };
    STOPS.iter().any(|stop| text::starts_with_words(order, stop)) || WIDE_POINTERS.iter().any(stops)
}

/// The maximum length of a reminder that does not say of what, in characters.
const MAX_REMINDER_CHARS: usize = 40;

/// Returns whether a rule says nothing without what was said before it: it ends with a pointer, has one for its subject, or only
/// reminds in a few words.
pub(in crate::extract) fn rule_needs_context(rule: &str) -> bool {
    const ENDS: [&str; 6] = ["it", "that", "this", "them", "these", "those"];
    const WITHIN: [&str; 7] =
        ["the one here", "the ones here", "do the same", "this won t", "this should", "this will", "this needs"];
    let said = normalize(rule);
    let is_ended = said.split(' ').next_back().is_some_and(|word| ENDS.contains(&word));
    let is_reminder = said.starts_with("remember to ") && said.chars().count() <= MAX_REMINDER_CHARS && !rule.contains('`');
    is_ended || is_reminder || text::contains_any_words(&said, &WITHIN) || text::contains_any(rule, WIDE_POINTERS)
}
