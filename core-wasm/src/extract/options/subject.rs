//! What a choice is about: the question that an answer asks before its options, or behind them.

use super::{ProposedOption, first_cell, has_pointer, parse_named_option, parse_numbered_option};
use crate::text;

/// How many lines before the first option may hold the question.
const MAX_LINES_BEFORE: usize = 8;
/// The maximum length of a question, in characters. A longer one explains.
const MAX_CHARS: usize = 120;
/// How many words a question has beside those that any choice is put with.
const MIN_WORDS: usize = 2;
/// The minimum width of a question in another script.
const MIN_WIDE_WIDTH: usize = 24;

/// Words of questions about any options.
const GENERIC: &[&str] = &[
    "which",
    "what",
    "how",
    "would",
    "should",
    "could",
    "you",
    "want",
    "like",
    "prefer",
    "think",
    "approach",
    "approaches",
    "option",
    "options",
    "choose",
    "choice",
    "pick",
    "these",
    "thoughts",
    "one",
    "best",
    "proceed",
    "sound",
    "sounds",
    "right",
    "good",
    "work",
    "works",
    "direction",
    "your",
];
/// The same in other scripts.
const WIDE_GENERIC: &[&str] = &[
    "어떤 방식",
    "어떤 방법",
    "어느 것",
    "어느 쪽",
    "진행할까",
    "どちら",
    "どれ",
    "どの案",
    "どの方法",
    "いかが",
    "哪个",
    "哪种",
];
/// How a question behind the options begins that names what is chosen: "Which rounding do you prefer?"
const ASKING: &[&str] = &["which", "what", "how", "where", "when"];

/// Returns the question to which the options of an answer belong, of which `first` is the first. Empty if there is none that says what
/// is chosen.
pub(super) fn question(answer: &str, first: &ProposedOption) -> String {
    let is_first = |line: &&str| {
        let cell = first_cell(line.trim());
        [parse_named_option(cell), parse_numbered_option(cell)].into_iter().flatten().any(|option| option.is(first))
    };
    let before: Vec<&str> =
        answer.lines().take_while(|line| !is_first(line)).filter(|line| !line.trim().is_empty()).collect();
    let has_first = answer.lines().any(|line| is_first(&line));
    // What stands above the heading of the options is about something else.
    let heading = before.iter().rev().position(|line| line.starts_with('#')).map_or(MAX_LINES_BEFORE, |at| at + 1);
    let leads = before.iter().rev().take(heading.min(MAX_LINES_BEFORE)).flat_map(|line| questions(line).into_iter().rev());
    let leads = leads.filter(|_| has_first).find(|said| says_what(said));
    let last = || {
        let asked = answer.lines().skip_while(|line| !is_first(line)).flat_map(questions).last()?;
        let lower = asked.to_lowercase();
        let is_asking = ASKING.iter().any(|word| text::starts_with_words(&lower, word));
        (is_asking && says_what(&asked) && !has_pointer(&asked)).then_some(asked)
    };
    leads.or_else(last).unwrap_or_default()
}

/// Returns the questions of a part of an answer, without a lead such as "First question:".
fn questions(said: &str) -> Vec<String> {
    let plain = text::plain(said.trim().trim_start_matches(['#', '>', '-', '*', ' '])).replace("**", "");
    let asks = text::sentences(&plain).into_iter().filter(|sentence| sentence.ends_with(['?', '？']));
    let bare = |asked: String| match asked.split_once(": ") {
        Some((lead, rest)) if lead.to_lowercase().ends_with("question") => rest.to_owned(),
        _ => asked,
    };
    asks.map(bare).collect()
}

/// Returns whether a question says what is chosen, and not only that something is.
fn says_what(question: &str) -> bool {
    let is_short = question.chars().count() <= MAX_CHARS;
    if !question.is_ascii() && text::language(question) != text::Language::English {
        return is_short && text::width(question) >= MIN_WIDE_WIDTH && !text::contains_any(question, WIDE_GENERIC);
    }
    let lower = question.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric() && c != '_');
    is_short && words.filter(|word| word.len() > 2 && !GENERIC.contains(word)).count() >= MIN_WORDS
}

#[cfg(test)]
mod tests {
    use crate::extract::options::resolve;

    fn asked(answer: &str) -> String {
        resolve("option 1", answer).unwrap().asked
    }

    #[test]
    fn a_choice_is_told_with_the_question_before_its_options() {
        let options = "1. **Round the sum** - simple\n2. **Round each line** - exact\n\n";
        let of = |before: &str, behind: &str| asked(&format!("{before}\n\n{options}{behind}"));
        let whole = "How should the total of the cart be rounded?";
        assert_eq!(of(&format!("**First question:** {whole}\n\nOptions:"), "Which one?"), whole);
        assert_eq!(of(&format!("## {whole}"), "Which option do you want?"), whole);
        assert_eq!(of(&format!("## {whole}\nIn one place.\n## The fix"), ""), "");
        let table =
            format!("{whole}\n\n| Option | |\n|---|---|\n| **1. The sum** | Simple. |\n| **2. Each line** | Exact. |");
        assert_eq!(asked(&table), whole);
        assert_eq!(
            of("There are two ways.", "Which rounding of totals do you prefer?"),
            "Which rounding of totals do you prefer?"
        );
        for behind in ["Which approach do you prefer?", "Want me to change the slips for this?", "What do you think?"] {
            assert_eq!(of("There are two ways.", behind), "", "{behind}");
        }
        assert_eq!(
            of("영수증의 합계를 어디에서 반올림할까요?", "어떤 방식으로 진행할까요?"),
            "영수증의 합계를 어디에서 반올림할까요?"
        );
        assert_eq!(of("二つあります。", "どちらにしますか？"), "");
    }
}
