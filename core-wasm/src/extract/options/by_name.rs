//! The user's choice of a thing that the answer only names in its prose: "put it in `till.rs`".

use super::resolution::Resolution;
use crate::extract::{human, prose, signs};
use crate::text;

/// The maximum length of such a choice, and of the sentence of the answer that is told with it, in characters.
const MAX_CHARS: usize = 120;
const MAX_TOLD_CHARS: usize = 130;
/// The least that this sentence says, in characters, and how far before the end of the answer it may stand, in bytes.
const MIN_TOLD_CHARS: usize = 24;
const MAX_TAIL_BYTES: usize = 1_500;
/// The maximum length of the label of an item, in characters.
const MAX_LABEL_CHARS: usize = 40;
/// Among how many words behind the verb the name stands.
const MAX_WORDS: usize = 4;

/// How somebody takes a thing by its name.
const TAKES: &[&str] = &[
    "choose",
    "pick",
    "put it in",
    "put it into",
    "put that in",
    "put this in",
    "put them in",
    "keep it in",
    "move it to",
    "move it into",
    "leave it in",
    "proceed with",
    "continue with",
    "go with",
    "let's go with",
    "lets go with",
    "let's use",
    "lets use",
    "let's do",
    "lets do",
    "i'd go with",
    "i prefer",
];

/// Returns the item of a list or a table that a prompt names by its label and nothing else, if the answer asks which of them somebody
/// wants.
pub(super) fn taken_by_label(prompt: &str, answer: &str) -> Option<Resolution> {
    let said = prompt.trim().trim_end_matches(['.', '!', '。']).to_lowercase();
    // A number or a letter is the label of many things.
    let is_name = said.chars().filter(|c| c.is_alphabetic()).count() > 1;
    if !is_name || said.chars().count() > MAX_LABEL_CHARS || human::is_consent(prompt) {
        return None;
    }
    let end = text::tail(answer, MAX_TAIL_BYTES);
    let asks = |it: &&String| it.ends_with(['?', '？']) && signs::asks_to_choose(&it.to_lowercase());
    let asked = text::sentences(end).iter().rfind(asks)?.clone();
    let lists = labelled_lists(end);
    let (list, at) = lists.iter().rev().find_map(|list| {
        let at = list.iter().position(|(label, _)| label.to_lowercase() == said)?;
        (list.len() >= 2).then_some((list, at))
    })?;
    let rejected = list.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, (label, _))| label.clone()).collect();
    let (what, why) = list[at].clone();
    Some(Resolution { asked, what, why, rejected, ..Resolution::default() })
}

/// Returns the lists and tables of a text: the label of each item, and what stands beside it.
fn labelled_lists(answer: &str) -> Vec<Vec<(String, String)>> {
    let mut lists: Vec<Vec<(String, String)>> = vec![Vec::new()];
    for line in answer.lines().map(str::trim) {
        let is_rule = line.starts_with('|') && line.contains("--");
        let item = if let Some(row) = line.strip_prefix('|').filter(|_| !is_rule) {
            row.split_once('|').map(|(label, rest)| (label, rest.trim_end_matches('|')))
        } else {
            let bare = line.strip_prefix(['-', '*', '•']).filter(|rest| rest.starts_with(' '));
            bare.and_then(|item| [" — ", " – ", ": ", " - "].iter().find_map(|mark| item.split_once(mark)))
        };
        let plain = |it: &str| text::plain(it).replace("**", "").trim().to_owned();
        match item {
            Some((label, rest)) => lists.last_mut().into_iter().for_each(|list| list.push((plain(label), plain(rest)))),
            // The head of a table is no row of it.
            None if is_rule => lists.last_mut().into_iter().for_each(Vec::clear),
            None => lists.push(Vec::new()),
        }
    }
    lists
}

/// Returns what a prompt takes by a name that the answer before it names, if that ends with a question.
pub(super) fn taken_by_name(prompt: &str, answer: &str) -> Option<Resolution> {
    let first = text::first_sentence(prompt).filter(|first| !first.contains(['?', '？']) && !human::is_paste(prompt))?;
    let said = first.trim_end_matches(['.', '!']);
    if said.chars().count() > MAX_CHARS || !text::tail(answer, 400).contains(['?', '？']) {
        return None;
    }
    let bare = human::without_consent(said);
    let lower = bare.to_ascii_lowercase();
    let opening = TAKES.iter().find(|opening| text::starts_with_words(&lower, opening))?;
    let name = name_in(&bare[opening.len()..])?;
    let sentences = text::sentences(text::tail(answer, MAX_TAIL_BYTES));
    let tells = |it: &&String| {
        it.chars().count() >= MIN_TOLD_CHARS
            && !it.ends_with([':', '：'])
            && text::contains_words(&text::plain(it), &name)
            && !prose::is_narration(it)
    };
    let told = sentences.iter().rfind(tells)?;
    let told = text::clip(told, MAX_TOLD_CHARS);
    Some(Resolution { what: format!("{told} → {said}"), is_own: true, ..Resolution::default() })
}

/// Returns the name with which a text begins, behind small words: "the `till.rs`", "Version B".
fn name_in(rest: &str) -> Option<String> {
    let words: Vec<&str> = rest.split_whitespace().take(MAX_WORDS).map(|word| word.trim_matches(is_mark)).collect();
    let at = words.iter().position(|word| is_name(word))?;
    // A letter or a number says which one it is.
    let next = words.get(at + 1).filter(|next| next.len() == 1 && next.bytes().all(|byte| byte.is_ascii_alphanumeric()));
    Some(next.map_or_else(|| words[at].to_owned(), |next| format!("{} {next}", words[at])))
}

/// Returns whether a word is written as names are.
fn is_name(word: &str) -> bool {
    let has_inner = word.chars().skip(1).any(|c| c.is_uppercase() || c.is_ascii_digit() || matches!(c, '_' | '/' | '.'));
    word.chars().count() > 3 && (has_inner || word.starts_with(char::is_uppercase))
}

fn is_mark(c: char) -> bool {
    !c.is_alphanumeric() && c != '_' && c != '/'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thing_is_taken_by_its_name() {
        let answer = "The sum is made twice.\n\nI'd suggest making it in `closeTill()`, where the slip is. Or we could \
                      rename both.\n\nWhat do you prefer?";
        let told = |said: &str| taken_by_name(said, answer).map(|it| it.what);
        let expected = "I'd suggest making it in `closeTill()`, where the slip is. → put it in closeTill";
        assert_eq!(told("put it in closeTill").as_deref(), Some(expected));
        for other in ["put it in the drawer", "put it in openTill", "closeTill is fine", "put it in closeTill?"] {
            assert_eq!(told(other), None, "{other}");
        }
        assert_eq!(
            taken_by_name("go with Version B", "So Version B of the till is right. It is done.").map(|it| it.what),
            None
        );
        let told = taken_by_name("ok go with Version B and go on", "So Version B of the till is right. Ready for the next?");
        assert!(told.is_some_and(|it| it.what == "So Version B of the till is right. → ok go with Version B and go on"));
    }
}
