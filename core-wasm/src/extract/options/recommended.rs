//! The option that the agent itself recommends.

use super::behind::contains_id;
use super::listed::ProposedOption;
use super::naming::MAX_QUESTION_TAIL;
use crate::text;

/// Returns the place of the option that an answer recommends, or of which it says that it is the better one.
pub(super) fn recommended(options: &[ProposedOption], answer: &str) -> Option<usize> {
    let lower = answer.to_lowercase();
    let signs = ["recommend", "추천", "권장", "おすすめ", "推奨", "推荐", "建议"];
    let named =
        |text: &str| options.iter().position(|option| !option.name.is_empty() && text.contains(&option.name.to_lowercase()));
    options
        .iter()
        .position(|option| {
            let title = option.title.to_lowercase();
            !title.contains("not recommended") && signs.iter().any(|sign| title.contains(sign))
        })
        .or_else(|| signs.iter().filter_map(|sign| lower.rfind(sign)).find_map(|at| named(text::head(&lower[at..], 200))))
        .or_else(|| signs.iter().find_map(|sign| lettered(options, answer, lower.rfind(sign)?)))
        .or_else(|| praised(options, answer))
}

/// Returns the place of the option whose letter is the first one behind a recommendation at that place in lower case: "My recommendation:
/// **B** (a second bell)". "I recommend A till" names none.
fn lettered(options: &[ProposedOption], answer: &str, at: usize) -> Option<usize> {
    const MAX_BETWEEN_BYTES: usize = 40;
    // Lower case may have other places than the text itself.
    let behind = text::head(answer.get(at..)?, MAX_BETWEEN_BYTES);
    let is_outside = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
    let (place, letter) = behind.char_indices().find(|&(place, c)| {
        let rest = &behind[place + c.len_utf8()..];
        c.is_ascii_uppercase() && is_outside(behind[..place].chars().next_back()) && is_outside(rest.chars().next())
    })?;
    let rest = behind[place + 1..].trim_start_matches([' ']);
    let is_marked = !rest.starts_with(char::is_alphanumeric);
    let id = letter.to_ascii_lowercase().to_string();
    options.iter().position(|option| is_marked && option.id == id)
}

/// Returns the one option of which the end of an answer says that it is the better one: "Option 1 is cleaner".
fn praised(options: &[ProposedOption], answer: &str) -> Option<usize> {
    const PRAISES: [&str; 14] = [
        "is cleaner",
        "is the cleanest",
        "is simpler",
        "is the simplest",
        "is better",
        "is the better",
        "is best",
        "is the best",
        "is safer",
        "is the safest",
        "makes more sense",
        "makes the most sense",
        "seems better",
        "seems cleaner",
    ];
    // "Option 1 is simpler, but it loses cents" recommends nothing, and neither does "if speed matters, …".
    const DOUBTS: [&str; 9] = ["but", "if", "though", "although", "however", "unless", "only", "except", "while"];
    const TAKES: [&str; 8] = ["go with", "prefer", "pick", "choose", "rather", "lean", "suggest", "vote"];
    let tail = text::tail(answer, MAX_QUESTION_TAIL);
    let sentences: Vec<String> = text::sentences(tail).iter().map(|said| said.to_lowercase()).collect();
    let names: Vec<String> = options
        .iter()
        .map(|it| if it.name.is_empty() { format!("option {}", it.id) } else { it.name.to_lowercase() })
        .collect();
    let is_praised_in = |said: &String, name: &String| {
        let follows = |(at, _): (usize, &str)| said[at + name.len()..].trim_start();
        let mut behind = said.match_indices(name.as_str()).map(follows);
        !text::contains_any_words(said, &DOUBTS)
            && behind.any(|rest| PRAISES.iter().any(|praise| text::starts_with_words(rest, praise)))
    };
    let mut praised = (0..names.len()).filter(|at| sentences.iter().any(|said| is_praised_in(said, &names[*at])));
    let at = praised.next().filter(|_| praised.next().is_none())?;
    let takes_other = |said: &String| {
        let has_other = || names.iter().enumerate().any(|(other, name)| other != at && contains_id(said, name));
        text::contains_any_words(said, &TAKES) && has_other()
    };
    (!sentences.iter().any(takes_other)).then_some(at)
}
