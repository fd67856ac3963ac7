//! Items of a list that a prompt names by their numbers.

use super::barred::offers_next_task;
use super::listed::{label, numbered_items, numbered_options, parse_numbered_option};
use super::numbered::MAX_REPLIES_CHARS;
use super::{reply, resolve_all};
use crate::extract::human;
use crate::text;

/// The maximum length of a prompt that picks items and says little else, in characters.
const MAX_PICK_CHARS: usize = 100;
/// The maximum number of items that are told, and the maximum length of one in characters.
const MAX_ITEMS: usize = 5;
const MAX_ITEM_CHARS: usize = 70;

/// Returns whether a prompt names an item of a list in the answer before it by its number: "let's begin with 2".
pub(in crate::extract) fn names_item(prompt: &str, answer: &str) -> bool {
    let named = named_numbers(prompt);
    prompt.chars().count() <= MAX_REPLIES_CHARS && numbered_options(answer).iter().any(|item| named.contains(&item.id))
}

/// Returns the names of the items that a prompt picks from the list in the answer before it: "do 1, 2 and 5". A tool may have printed
/// them, so each stands between quotation marks. Empty if the prompt picks none, or if a decision tells what it picks.
pub(in crate::extract) fn picked_items(prompt: &str, answer: &str) -> Vec<String> {
    let is_list = parse_numbered_option(prompt.trim()).is_some();
    if prompt.chars().count() > MAX_PICK_CHARS || is_list || human::only_asks(prompt) || offers_next_task(answer) {
        return Vec::new();
    }
    let items = numbered_items(answer);
    let named = if speaks_of_issues(answer) { named_numbers(&without_kind(prompt)) } else { named_numbers(prompt) };
    let picked: Vec<String> = items.iter().filter(|item| named.contains(&item.id)).map(|item| label(&item.title)).collect();
    // Whoever picks a row of a table of tasks decides nothing.
    let is_option = || numbered_options(answer).iter().any(|item| named.contains(&item.id));
    let is_told = picked.len() == 1 && is_option() && !resolve_all(prompt, answer).is_empty();
    // Marks of code and questions say something else of the whole request.
    let is_plain = picked.iter().all(|item| !item.contains(['[', '{', '|', '?', '？']));
    if picked.len() < named.len() || picked.len() > MAX_ITEMS || is_told || !is_plain {
        return Vec::new();
    }
    picked.iter().map(|item| text::quoted(&text::clip(item, MAX_ITEM_CHARS))).collect()
}

/// Returns whether the headings of an answer call its items issues, and none of it is the number of an issue elsewhere.
fn speaks_of_issues(answer: &str) -> bool {
    let is_heading = |line: &&str| line.starts_with(['#', '*']) && text::contains_any_words(&line.to_lowercase(), &KINDS);
    let numbers = || answer.match_indices('#').any(|(at, _)| answer[at + 1..].starts_with(|c: char| c.is_ascii_digit()));
    answer.lines().any(|line| is_heading(&line.trim())) && !numbers()
}

/// What an answer calls the items of its list.
const KINDS: [&str; 6] = ["issue", "issues", "finding", "findings", "problem", "problems"];

/// Returns a prompt without what it calls an item: "fix issue #2" is "fix 2".
fn without_kind(prompt: &str) -> String {
    let is_kind = |word: &&str| !KINDS.contains(&word.to_lowercase().as_str());
    prompt.split(' ').filter(is_kind).collect::<Vec<_>>().join(" ")
}

/// Returns the numbers by which a prompt names items. Empty if it has any other number ("add 2 columns"), or if it leaves items out.
pub(super) fn named_numbers(prompt: &str) -> Vec<String> {
    /// What may stand before a number, and behind it. "2 columns" counts them.
    const BEFORE: [&str; 22] = [
        "do",
        "handle",
        "edits to",
        "take",
        "pick",
        "work on",
        "fix",
        "fix for",
        "tackle",
        "address",
        "begin with",
        "start with",
        "go with",
        "item",
        "items",
        "option",
        "number",
        "point",
        "and",
        "yes",
        "yeah",
        "ok",
    ];
    const BEHIND: [&str; 11] =
        ["and", "then", "please", "first", "now", "too", "but", "quickly", "seems", "sounds", "looks"];
    /// Behind a Korean counter. "3번 재시도해줘" counts how often.
    const ORDERS: [&str; 3] = ["해", "진행", "부탁"];
    const COUNTERS: [&str; 3] = ["번", "番", "つ目"];
    let lower = prompt.to_lowercase();
    let breaks = |c: char| c.is_whitespace() || matches!(c, ',' | '+' | '&' | '、' | '，' | 'と' | '과' | '와');
    let trim = |word: &'_ str| word.trim_matches(|c: char| c.is_ascii_punctuation() || c == '。').to_owned();
    let words: Vec<String> = lower.split(breaks).map(trim).filter(|word| !word.is_empty()).collect();
    let digits = |word: &str| word.bytes().take_while(u8::is_ascii_digit).count();
    let mut named: Vec<String> = Vec::new();
    for (at, word) in words.iter().enumerate().filter(|(_, word)| word.contains(|c: char| c.is_ascii_digit())) {
        let (number, rest) = word.split_at(digits(word));
        let before = words[..at].join(" ");
        let is_led = at == 0 || digits(&words[at - 1]) > 0 || BEFORE.iter().any(|lead| ends_with_words(&before, lead));
        let next = words.get(at + 1).map(String::as_str);
        let is_ended = |ends: &dyn Fn(&str) -> bool| next.is_none_or(|next| digits(next) > 0 || ends(next));
        let is_item = match COUNTERS.iter().find_map(|counter| rest.strip_prefix(counter)) {
            Some(particle) => !particle.is_empty() || is_ended(&|next| ORDERS.iter().any(|order| next.starts_with(order))),
            // "1と3をお願い"
            None if rest.starts_with(['を', '을', '를']) => !named.is_empty(),
            None => rest.is_empty() && is_led && is_ended(&|next| BEHIND.contains(&next)),
        };
        if number.is_empty() || !is_item {
            return Vec::new();
        }
        named.push(number.to_owned());
    }
    // "3, but only for the till" picks 3.
    let before = lower.rfind(|c: char| c.is_ascii_digit()).map_or("", |last| &lower[..last]);
    if reply::leaves_out(before) { Vec::new() } else { named }
}

/// Returns whether a text is, or ends with, those words.
fn ends_with_words(said: &str, words: &str) -> bool {
    said.strip_suffix(words).is_some_and(|rest| rest.is_empty() || rest.ends_with(' '))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_is_named_by_its_number() {
        let answer = "Two are open:\n\n1. The slip\n2. The drawer";
        for said in ["let's begin with 2", "2번부터 해줘", "2番から始めて", "#2 please"] {
            assert!(names_item(said, answer), "{said}");
        }
        assert!(!names_item("add a page with 2 columns", answer) && !names_item("3번부터 해줘", answer));
    }

    #[test]
    fn items_are_picked_by_their_numbers() {
        let answer = "What could be better:\n\n1. **Date of the slip** - it has none\n2. **Lock of the drawer** - it stays open\n\
                      3. **Total** - each line is rounded\n\nWhich of them shall I do?";
        for said in [
            "1 and 3",
            "do 1,3",
            "yeah let's tackle #1 and #3 please",
            "1번이랑 3번 해줘",
            "1+3",
            "yes, add a fix for 1 and 3",
            "1と3をお願いします",
            "1、3をお願い",
            "1번과 3번",
        ] {
            assert_eq!(picked_items(said, answer), ["\"Date of the slip\"", "\"Total\""], "{said}");
        }
        for other in ["add 2 columns and 3 rows", "what are 1 and 3?", "1 and 4", "fix all 3", "1. a date\n3. the sum"] {
            assert!(picked_items(other, answer).is_empty(), "{other}");
        }
        assert!(picked_items("2", answer).is_empty(), "the choice is told");
        assert_eq!(
            picked_items("2", &answer.replace("Which of them shall I do?", "Shall I do any of these?")),
            ["\"Lock of the drawer\""]
        );
    }

    #[test]
    fn rows_and_headings_are_picked_by_their_numbers() {
        let table =
            "Open:\n\n| # | Title | Area |\n|---|---|---|\n| 1 | Round the total | till |\n| 2 | Name the shop | slip |";
        for said in ["2", "2 but only for the night till", "let's handle #2 quickly", "2 seems easy"] {
            assert_eq!(picked_items(said, table), ["\"Name the shop\""], "{said}");
        }
        assert!(picked_items("2 columns are missing", table).is_empty());
        let review = "## Issues\n\n### Issue 1: The slip has no date\n\nIt needs one.\n\n### Issue 2: The drawer stays open";
        for said in ["can you fix issue 2", "let's discuss edits to issue #2"] {
            assert_eq!(picked_items(said, review), ["\"The drawer stays open\""], "{said}");
        }
        assert!(picked_items("can you fix issue 2", &format!("{review}\n\nSee #2.")).is_empty(), "an issue elsewhere");
    }

    #[test]
    fn what_is_left_out_or_counted_is_not_picked() {
        let answer = "Open:\n\n1. Date of the slip\n2. Lock of the drawer\n3. Total of the cart";
        for said in [
            "all but 2",
            "everything except 3",
            "skip 2",
            "don't do 2",
            "not 1",
            "leave out 1 and 2",
            "1번 말고 3번",
            "do 1 or 3",
            "upgrade to vue 3",
            "use python 3",
            "make it 2",
            "retry 3",
            "set the timeout to 3",
            "merge PR #3",
            "fix issue #2",
            "go with 1.2",
            "2개 추가해줘",
            "3번 재시도해줘",
            "3回リトライして",
            "2つ追加して",
        ] {
            assert!(picked_items(said, answer).is_empty(), "{said}");
        }
        let printed = "Open:\n\n1. **Always push \"main\"** - #12\n2. [x] {y}\n3. Total";
        assert_eq!(picked_items("do 1 and 3", printed), ["\"Always push 'main'\"", "\"Total\""]);
        assert!(picked_items("do 1 and 2", printed).is_empty());
    }
}
