//! Items of a list that a prompt names by their numbers.

use super::{MAX_REPLIES_CHARS, label, numbered_options, parse_numbered_option, resolve_all};
use crate::extract::human;
use crate::text;

/// The maximum length of a prompt that picks items and says little else, in characters.
const MAX_PICK_CHARS: usize = 100;
/// The maximum number of items that are told, and the maximum length of one in characters.
const MAX_ITEMS: usize = 5;
const MAX_ITEM_CHARS: usize = 70;

/// Returns whether a prompt names an item of a list in the answer before it by its number: "let's begin with 2".
pub(in crate::extract) fn names_item(prompt: &str, answer: &str) -> bool {
    /// "Add a page with 2 columns" has a number too.
    const BEFORE: [&str; 7] = ["option", "item", "number", "point", "issue", "and", "address"];
    const COUNTERS: [&str; 3] = ["번", "番", "つ目"];
    let ids: Vec<String> = numbered_options(answer).into_iter().map(|option| option.id).collect();
    let lower = prompt.to_lowercase();
    let words: Vec<&str> = lower.split(|c: char| c.is_whitespace() || matches!(c, ',' | '.' | ')' | ':')).collect();
    let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
    let names = |(at, word): (usize, &&str)| {
        // "2번부터": a counter and a particle stand behind it.
        let number = word.trim_start_matches('#');
        let number = COUNTERS.iter().find_map(|counter| number.split_once(counter)).map_or(number, |(number, _)| number);
        let stands_so = at == 0 || at + 1 == words.len() || number.len() < word.len() || BEFORE.contains(&words[at - 1]);
        stands_so && ids.iter().any(|id| id == number)
    };
    prompt.chars().count() <= MAX_REPLIES_CHARS && words.iter().enumerate().any(names)
}

/// Returns the names of the items that a prompt picks from the list in the answer before it: "do 1, 2 and 5". Empty if it picks none, or
/// if a decision tells what it picks.
pub(in crate::extract) fn picked_items(prompt: &str, answer: &str) -> Vec<String> {
    /// What may stand behind a number. "2 columns" counts them.
    const BEHIND: [&str; 8] = ["and", "or", "then", "please", "first", "now", "too", "as"];
    let is_list = parse_numbered_option(prompt.trim()).is_some();
    if prompt.chars().count() > MAX_PICK_CHARS || is_list || human::only_asks(prompt) {
        return Vec::new();
    }
    let lower = prompt.to_lowercase();
    let breaks = |c: char| c.is_whitespace() || (c.is_ascii_punctuation() && c != '-' && c != '_');
    let words: Vec<&str> = lower.split(breaks).filter(|word| !word.is_empty()).collect();
    let digits = |word: &str| word.bytes().take_while(u8::is_ascii_digit).count();
    let mut named: Vec<&str> = Vec::new();
    for (at, word) in words.iter().enumerate().filter(|(_, word)| digits(word) > 0) {
        let (number, rest) = word.split_at(digits(word));
        let is_ended = words.get(at + 1).is_none_or(|next| digits(next) > 0 || BEHIND.contains(next));
        let is_count = at > 0 && words[at - 1] == "all";
        // "1번이랑", "2番から": a counter and a particle.
        let has_counter = rest.starts_with(|c: char| !c.is_ascii());
        if is_count || !(has_counter || (rest.is_empty() && is_ended)) {
            return Vec::new();
        }
        named.push(number);
    }
    let items = numbered_options(answer);
    let picked: Vec<String> = items
        .iter()
        .filter(|item| named.contains(&item.id.as_str()))
        .map(|item| text::clip(&label(&item.title), MAX_ITEM_CHARS).into_owned())
        .collect();
    let is_told = picked.len() == 1 && !resolve_all(prompt, answer).is_empty();
    if picked.len() < named.len() || picked.len() > MAX_ITEMS || is_told { Vec::new() } else { picked }
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
        for said in ["1 and 3", "do 1,3", "yeah let's tackle #1 and #3 please", "1번이랑 3번 해줘", "1+3"] {
            assert_eq!(picked_items(said, answer), ["Date of the slip", "Total"], "{said}");
        }
        for other in ["add 2 columns and 3 rows", "what are 1 and 3?", "1 and 4", "fix all 3", "1. a date\n3. the sum"] {
            assert!(picked_items(other, answer).is_empty(), "{other}");
        }
        assert!(picked_items("2", answer).is_empty(), "the choice is told");
        assert_eq!(
            picked_items("2", &answer.replace("Which of them shall I do?", "Shall I do any of these?")),
            ["Lock of the drawer"]
        );
    }
}
