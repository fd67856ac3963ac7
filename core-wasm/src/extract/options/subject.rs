//! What a choice is about: the question that an answer asks before its options, or behind them.

use super::listed::ProposedOption;
use crate::text;

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
    "왜",
    "なぜ",
    "哪个",
    "哪种",
];
/// How questions begin that no choice answers.
const NO_CHOICE: &[&str] = &["why", "did", "does"];
/// How a question behind the options begins that names what is chosen: "Which rounding do you prefer?"
const ASKING: &[&str] = &["which", "what", "how", "where", "when"];

/// Returns the question to which the options of an answer belong, of which `first` is the first. Empty if there is none that says what
/// is chosen.
pub(super) fn question(answer: &str, first: &ProposedOption) -> String {
    let Some(place) = answer.lines().position(|line| first.is_on(line)) else { return String::new() };
    let before: Vec<&str> = answer.lines().take(place).map(str::trim).collect();
    // Only a table's head or a line such as "Options:" may stand between the question and the options.
    let is_lead = |line: &str| line.starts_with('|') || line.trim_end_matches('*').ends_with([':', '：']);
    let leads = before.iter().rev().skip_while(|line| line.is_empty() || is_lead(line));
    let mut is_above = false;
    let leads = leads.take_while(|line| !std::mem::replace(&mut is_above, line.starts_with('#')) && !line.is_empty());
    let last = || {
        let asked = answer.lines().skip(place).filter_map(question_at_end).last()?;
        let lower = asked.to_lowercase();
        let is_asking = ASKING.iter().any(|word| text::starts_with_words(&lower, word));
        (is_asking && says_what(&asked) && !has_pointer(&asked)).then_some(asked)
    };
    let asked = leads.copied().filter_map(question_at_end).find(|said| says_what(said));
    asked.or_else(last).or_else(|| before.iter().rev().find_map(|line| topic(line))).unwrap_or_default()
}

/// Returns what a question of an interview is about, if its line begins with its number: "Question 2 of 4: The name of the till. There are
/// three ways".
fn topic(line: &str) -> Option<String> {
    const MAX_LABEL_BYTES: usize = 24;
    const MAX_TOPIC_CHARS: usize = 80;
    let plain = text::plain(line.trim_start_matches(['#', '-', '*', ' '])).replace("**", "");
    let (label, rest) = plain.split_once([':', '：'])?;
    let is_number = is_numbered_question(label) && label.len() <= MAX_LABEL_BYTES;
    let said = text::first_sentence(rest.trim()).filter(|_| is_number)?;
    let said = said.trim_end_matches(['.', '。']);
    let is_topic = said.chars().count() <= MAX_TOPIC_CHARS && said.contains(' ') && !said.contains([':', '：']);
    is_topic.then(|| said.to_owned())
}

/// Returns whether a text begins with the number of a question: "Question 2 of 4", "Q3".
pub(in crate::extract) fn is_numbered_question(said: &str) -> bool {
    let lower = text::head(said, 16).to_lowercase();
    let number = lower.strip_prefix("question ").or_else(|| lower.strip_prefix('q')).or_else(|| lower.strip_prefix("질문 "));
    number.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// Returns the question at the end of a line, without a lead such as "First question:". What is quoted asks for no choice.
fn question_at_end(line: &str) -> Option<String> {
    let line = line.trim();
    if line.starts_with('>') {
        return None;
    }
    let plain = text::plain(line.trim_start_matches(['#', '-', '*', ' '])).replace("**", "");
    let asked = text::sentences(&plain).pop().filter(|sentence| sentence.ends_with(['?', '？']))?;
    match asked.split_once(": ") {
        Some((lead, rest)) if lead.to_lowercase().ends_with("question") => Some(rest.to_owned()),
        _ => Some(asked),
    }
}

/// Returns whether a question says what is chosen, and not only that something is.
fn says_what(question: &str) -> bool {
    let is_short = question.chars().count() <= MAX_CHARS;
    if !question.is_ascii() && text::language(question) != text::Language::English {
        return is_short && text::width(question) >= MIN_WIDE_WIDTH && !text::contains_any(question, WIDE_GENERIC);
    }
    let lower = question.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric() && c != '_');
    let is_choice = !NO_CHOICE.iter().any(|word| text::starts_with_words(&lower, word));
    is_short && is_choice && words.filter(|word| word.len() > 2 && !GENERIC.contains(word)).count() >= MIN_WORDS
}

/// Returns whether a text points to something that another text names.
pub(super) fn has_pointer(text: &str) -> bool {
    let lower = text.to_lowercase();
    lower
        .split(|c: char| !c.is_alphanumeric())
        .any(|word| matches!(word, "it" | "this" | "that" | "these" | "those" | "them"))
        || text::contains_any(&lower, &["이대로", "그렇게", "이렇게", "これ", "この", "こちら", "这样"])
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
        assert_eq!(of(&format!("**{whole}**"), "Which option do you want?"), whole);
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
    #[test]
    fn what_asks_for_no_choice_is_no_subject() {
        let options = "1. **Round the sum** - simple\n2. **Round each line** - exact\n\nWhich one?";
        for before in [
            "Why did the nightly export tests fail? The lock was stale.",
            "Why did the nightly export tests fail?",
            "Did the tax module change since the release? No.",
            "Did the tax module change since the release?",
            "> What happens to old slips on import?",
            "What happens to old slips on import?\n\nThey stay. There are two ways.",
        ] {
            assert_eq!(asked(&format!("{before}\n\n{options}")), "", "{before}");
        }
    }
}
