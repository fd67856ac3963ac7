//! What looks like the choice of an option and is none: a question, a remark, a step, the next task.

use super::listed::{OPTION_WORDS, ProposedOption, label, parse_numbered_option};
use super::naming::MAX_QUESTION_TAIL;
use super::offer::MIN_SHARED;
use crate::extract::{human, prose, standing};
use crate::text;

/// Returns whether the items of a list are findings: most of them have a grade, two have the same title, or most name a line of a file.
pub(super) fn are_findings(items: &[ProposedOption]) -> bool {
    let titles: Vec<String> = items.iter().map(|item| label(&item.title).to_lowercase()).collect();
    let is_graded = |item: &ProposedOption| standing::is_graded_finding(&item.title.to_lowercase());
    2 * items.iter().filter(|item| is_graded(item)).count() > items.len()
        || (0..titles.len()).any(|at| titles[..at].contains(&titles[at]))
        || 2 * items.iter().filter(|item| names_line_of_file(&item.title)).count() > items.len()
}

/// Returns whether a text names a line of a file: `till.rs:12`.
fn names_line_of_file(said: &str) -> bool {
    said.split([' ', '`', '(', ')', ',', '[', ']']).any(|word| {
        let Some((path, line)) = word.split_once(':') else { return false };
        let extension = path.rsplit_once('.').map_or("", |(_, extension)| extension);
        line.starts_with(|c: char| c.is_ascii_digit()) && extension.starts_with(|c: char| c.is_ascii_alphabetic())
    })
}

/// Returns whether a prompt wants to talk about something before anything is chosen: "let's discuss the second one".
pub(super) fn wants_to_discuss(prompt: &str) -> bool {
    let lower = prompt.to_lowercase();
    text::contains_any_words(&lower, &["discuss", "talk about", "talk through", "tell me more about"])
}

/// Returns whether a prompt is an item of another list than the option's: it begins with the same number, and shares no word with the
/// option if the answer ends without a question, or less than half of its words if the answer offers nothing at all.
pub(super) fn lists_another(prompt: &str, option: &ProposedOption, answer: &str) -> bool {
    let Some(own) = parse_numbered_option(prompt.trim()).filter(|own| own.id == option.id) else { return false };
    let words = text::features(&own.title);
    let shared = words.intersection(&text::features(&option.title)).count();
    let asks = |said: &str| said.contains(['?', '？']);
    let is_other = shared == 0 && !asks(text::tail(answer, MAX_QUESTION_TAIL));
    words.len() >= MIN_SHARED && (is_other || (2 * shared < words.len() && !asks(answer) && !offers("", answer)))
}

/// Returns whether a prompt quotes an option, and beside that only asks something.
pub(super) fn only_wonders_about(prompt: &str, option: &ProposedOption) -> bool {
    let said = text::one_line(prompt);
    let Some((before, after)) = said.split_once(option.title.as_str()) else { return false };
    let rest = after.trim_start_matches(|c: char| !c.is_alphanumeric());
    let is_quoted = option.title.chars().count() >= MIN_QUOTED_CHARS && before.chars().count() <= MAX_BEFORE_QUOTE;
    is_quoted && rest.ends_with(['?', '？']) && human::only_asks(rest)
}

/// The minimum length of an option that somebody quotes, and the maximum length of what stands before it, in characters.
const MIN_QUOTED_CHARS: usize = 16;
const MAX_BEFORE_QUOTE: usize = 12;

/// Returns whether an answer ends with a question that no option answers: what is to be done next, or how much of something.
pub(super) fn asks_for_no_option(answer: &str) -> bool {
    const ASKS: [&str; 12] = [
        "any of these",
        "any of them",
        "some of these",
        "do next",
        "tackle next",
        "work on next",
        "what's next",
        "what next",
        "다음으로 무엇",
        "다음에 무엇",
        "次に何",
        "接下来做什么",
    ];
    const TASKS: [&str; 5] = ["next task", "다음 작업", "다음 단계", "次の作業", "次のタスク"];
    // "For the next task, which one do you want?" asks for an option.
    const WHICH: [&str; 5] = ["which", "어느", "어떤", "どちら", "どれ"];
    const COUNTS: [&str; 5] = ["how many", "how much", "몇 ", "何回", "いくつ"];
    let sentences = text::sentences(text::tail(answer, MAX_QUESTION_TAIL));
    let last =
        sentences.iter().rev().find(|said| said.ends_with(['?', '？'])).map(|said| said.to_lowercase().replace('’', "'"));
    last.is_some_and(|last| {
        let is_of_task = text::contains_any_words(&last, &TASKS) && !text::contains_any(&last, &WHICH);
        is_of_task || text::contains_any_words(&last, &ASKS) || text::contains_any(&last, &COUNTS)
    })
}

/// Returns whether the options of an answer, of which `first` is the first, stand below a heading for what may be done next.
pub(super) fn is_of_next_steps(answer: &str, first: &ProposedOption) -> bool {
    const HEADINGS: [&str; 6] = ["next step", "what's next", "다음 단계", "次のステップ", "次の作業", "下一步"];
    let lines: Vec<&str> = answer.lines().map(str::trim).collect();
    let place = lines.iter().position(|line| first.is_on(line));
    let heading = lines[..place.unwrap_or_default()].iter().rev().find(|line| prose::is_heading(line));
    heading.is_some_and(|heading| text::contains_any(&heading.to_lowercase().replace('’', "'"), &HEADINGS))
}

/// Returns whether an answer ends with the offer to go on with the next task. A number then names one of the tasks, and not an item of
/// this answer: "Shall I move on to the next task?"
pub(super) fn offers_next_task(answer: &str) -> bool {
    const TASKS: [&str; 8] =
        ["next task", "next item", "next step", "다음 작업", "다음 단계", "次の作業", "次のタスク", "下一个任务"];
    const MOVES: [&str; 9] = ["move on", "continue", "proceed", "go on", "넘어갈까", "진행할까", "進み", "進め", "继续"];
    let sentences = text::sentences(text::tail(answer, MAX_QUESTION_TAIL));
    let last = sentences.last().map(|said| said.to_lowercase()).filter(|said| said.ends_with(['?', '？']));
    last.is_some_and(|last| text::contains_any(&last, &TASKS) && text::contains_any(&last, &MOVES))
}

/// Returns whether a prompt in lower case says with which of several items the work begins. The others come later. What it says of the
/// beginning beside the number of an item is of something else.
pub(super) fn says_order(lower: &str) -> bool {
    const BEGINS: [&str; 4] = ["start with", "begin with", "starting with", "beginning with"];
    const WIDE: [&str; 5] = ["번부터", "부터 시작", "から始め", "から進め", "から着手"];
    let sentences = text::sentences(lower);
    let says = |said: &str| text::contains_any_words(said, &BEGINS) || text::contains_any(said, &WIDE);
    sentences.iter().any(|said| says(said) && (sentences.len() == 1 || said.contains(|c: char| c.is_ascii_digit())))
}

/// Returns whether a prompt in lower case says of an option that it is none.
pub(super) fn denies_option(lower: &str) -> bool {
    const DENIALS: [&str; 16] = [
        "does not work",
        "doesnt work",
        "will not work",
        "wont work",
        "cannot work",
        "cant work",
        "would not work",
        "wouldnt work",
        "is wrong",
        "is not possible",
        "is not an option",
        "isnt an option",
        "안 돼",
        "안돼",
        "안 되",
        "使えない",
    ];
    let lower = lower.replace(['\'', '’'], "");
    let first = text::first_sentence(&lower).unwrap_or(lower);
    text::contains_any_words(&first, &DENIALS)
}

/// Returns whether an answer calls something what a prompt in lower case calls it ("option 2"), speaks of several ways, or ends with a
/// question.
pub(super) fn offers(lower: &str, answer: &str) -> bool {
    let said = answer.to_lowercase();
    let is_named = |word: &str| text::contains_words(&said, word) || text::contains_words(&said, &format!("{word}s"));
    text::contains_any_words(&said, &["ways", "choices", "options"])
        || OPTION_WORDS.iter().any(|word| text::contains_words(lower, word) && is_named(word))
        || text::tail(answer, MAX_QUESTION_TAIL).contains(['?', '？'])
}
