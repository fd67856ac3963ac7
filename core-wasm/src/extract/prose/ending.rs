//! How an answer ends: what was checked, what blocks, what is admitted to be open, and what is asked.

use std::borrow::Cow;

use super::narration::is_narration;
use super::open_points::DONE;
use crate::extract::signs;
use crate::text;

/// Returns the sentence of an answer that says what was checked.
pub(crate) fn checked(answer: &str) -> Option<String> {
    let signs = [
        "tests pass",
        "test pass",
        "tests passed",
        "tests passing",
        "typecheck",
        "lint",
        "all pass",
        "build succeeds",
        "build passes",
        "builds clean",
        "테스트",
        "テスト",
        "测试",
    ];
    text::sentences(answer).into_iter().rfind(|sentence| {
        let lower = text::lower(sentence);
        text::contains_any(&lower, &signs)
            && !is_narration(sentence)
            && !sentence.ends_with(['?', '？', ':', '：'])
            && (12..200).contains(&sentence.chars().count())
    })
}

/// Returns the sentences of an answer that say what blocks the work.
pub(in crate::extract) fn blockers(answer: &str) -> Vec<String> {
    let signs = [
        "blocked by",
        "blocked on",
        "is blocked",
        "i can't proceed",
        "cannot proceed",
        "can't continue",
        "unable to",
        "needs your",
        "waiting for you",
        "i don't have access",
        "i do not have access",
        "requires manual",
        "수 없습니다",
        "할 수 없",
        "できません",
        "できない",
        "无法",
        "需要你",
        "需要您",
    ];
    text::sentences(answer)
        .into_iter()
        .filter(|sentence| {
            let lower = text::lower(sentence);
            text::contains_any(&lower, &signs)
                && !lower.starts_with("nothing")
                && !lower.starts_with("no ")
                && !text::contains_any(&lower, &["n't be blocked", "not be blocked", "no longer blocked", "not blocked"])
                && !sentence.ends_with(['?', '？'])
                && (16..300).contains(&sentence.chars().count())
        })
        .take(3)
        .collect()
}

/// Signs with which the agent admits what it did not check, or could not.
const ADMISSIONS: &[&str] = &[
    "not verified",
    "n't verified",
    "not been verified",
    "unverified",
    "could not verify",
    "couldn't verify",
    "can't verify",
    "cannot verify",
    "not tested",
    "n't tested",
    "not been tested",
    "untested",
    "could not test",
    "couldn't test",
    "can't test",
    "cannot test",
    "unable to test",
    "unable to verify",
    "unable to reproduce",
    "could not reproduce",
    "couldn't reproduce",
    "can't reproduce",
    "not reproducible",
    "did not run",
    "didn't run",
    "could not run",
    "couldn't run",
    "not end-to-end",
    "next time it fails",
    "확인하지 못",
    "검증하지 못",
    "테스트하지 못",
    "재현하지 못",
    "확인되지 않",
    "未確認",
    "未検証",
    "確認できていま",
    "検証できていま",
    "テストできていま",
    "再現できま",
    "未验证",
    "无法验证",
    "没有测试",
    "无法复现",
];

/// Headings above what an answer leaves open.
const OPEN_HEADINGS: &[&str] = &[
    "loose ends",
    "not verified",
    "not tested",
    "not done",
    "left undone",
    "still open",
    "open items",
    "remaining work",
    "남은 작업",
    "미완료",
    "残作業",
    "残りの作業",
    "残課題",
    "残タスク",
    "次のステップ",
    "今後の課題",
    "今後の対応",
    "다음 단계",
    "남은 과제",
    "향후 과제",
    "향후 작업",
    "추후 작업",
    "未対応",
    "剩余工作",
    "未完成",
];

/// Returns the sentences of an answer that admit what was not checked, whole, and the first sentence of each item that
/// it lists as open.
pub(in crate::extract) fn admissions(answer: &str) -> Vec<String> {
    const MAX: usize = 4;
    let mut all: Vec<String> = Vec::new();
    let (mut is_below, mut has_items) = (false, false);
    for line in text::prose_lines(answer) {
        let is_heading = line.starts_with('#') || (line.starts_with("**") && line.trim_end_matches(':').ends_with("**"));
        if is_heading {
            (is_below, has_items) = (is_open_heading(line), false);
            continue;
        }
        // A paragraph ends the list below the heading.
        let is_item = line.starts_with(['-', '*', '•', '+']) || line.starts_with(|c: char| c.is_ascii_digit());
        has_items |= is_below && is_item;
        is_below &= is_item || !has_items;
        for (at, sentence) in text::sentences(line).into_iter().enumerate() {
            let is_told = !sentence.ends_with(['?', '？', ':', '：']) && (16..400).contains(&sentence.chars().count());
            if is_told && (admits(&sentence.to_lowercase()) || (is_below && at == 0)) && all.len() < MAX {
                all.push(sentence);
            }
        }
    }
    all
}

/// Returns whether a heading stands above what is left open.
pub(in crate::extract) fn is_open_heading(heading: &str) -> bool {
    let heading = heading.to_lowercase();
    text::contains_any(&heading, OPEN_HEADINGS) && !heading.contains(DONE)
}

/// Returns whether a sentence in lower case says that something was not checked, or only in part.
fn admits(lower: &str) -> bool {
    // What stands in parentheses behind what was done is told with it.
    let lower = &without_parentheses(lower);
    let is_partly = |verb: &str| lower.find(verb).is_some_and(|at| lower[at..].contains(", not "));
    text::contains_any(lower, ADMISSIONS) || is_partly("verified") || is_partly("tested ") || denies_check(lower)
}

/// Returns whether a sentence in lower case says that the agent made no check, or that checks were not run: "I haven't actually run it".
fn denies_check(lower: &str) -> bool {
    const OWN: [&str; 8] =
        ["i haven't", "i have not", "i've not", "i didn't", "i did not", "we haven't", "i couldn't", "i could not"];
    const OF_CHECKS: [&str; 6] =
        ["was not run", "were not run", "wasn't run", "weren't run", "was never run", "were never run"];
    const VERBS: [&str; 16] = [
        "run",
        "ran",
        "tested",
        "test",
        "verified",
        "verify",
        "checked",
        "check",
        "tried",
        "try",
        "exercised",
        "measured",
        "confirmed",
        "playtested",
        "benchmarked",
        "validated",
    ];
    const CHECKS: [&str; 8] = ["test", "tests", "lint", "build", "check", "checks", "suite", "typecheck"];
    let lower = lower.replace('’', "'");
    let denies = |(_, rest): (&str, &str)| rest.split_whitespace().take(2).any(|word| VERBS.contains(&word));
    OWN.iter().any(|words| lower.split_once(words).is_some_and(denies))
        || OF_CHECKS
            .iter()
            .any(|words| lower.split_once(words).is_some_and(|(subject, _)| text::contains_any_words(subject, &CHECKS)))
}

/// Returns a text without what stands in parentheses, unless that is all of it.
fn without_parentheses(said: &str) -> Cow<'_, str> {
    let (Some(open), Some(close)) = (said.find('('), said.rfind(')')) else { return Cow::Borrowed(said) };
    if open == 0 || close < open {
        return Cow::Borrowed(said);
    }
    Cow::Owned(format!("{}{}", &said[..open], &said[close + 1..]))
}

/// Returns what the agent proposes or asks at the end of its answer. None if the answer only reports.
pub(in crate::extract) fn closing_question(answer: &str) -> Option<String> {
    let end = without_cut_code(text::tail(answer, 1500));
    let asks = |said: &str| {
        let said = said.trim_end_matches(['*', '"', ' ', ')']);
        said.ends_with(['?', '？']) || ["까요.", "ますか。", "しょうか。", "吗。"].iter().any(|end| said.ends_with(end))
    };
    let lines: Vec<&str> = text::prose_lines(end).collect();
    let is_item = |line: &str| {
        line.starts_with(['-', '*', '•']) || line.trim_start_matches("**").starts_with(|c: char| c.is_ascii_digit())
    };
    // A question with its options: the line that leads to them, and the list.
    let options = lines.iter().rev().take_while(|line| is_item(line)).count();
    if (1..=MAX_OPTIONS).contains(&options) && options < lines.len() {
        let items = &lines[lines.len() - options..];
        let lead = text::sentences(lines[lines.len() - options - 1]).into_iter().next_back().unwrap_or_default();
        let is_question = asks(&lead) || (lead.ends_with([':', '：']) && asks_to_choose(&lead));
        if is_question || items.iter().all(|item| asks(item)) {
            let items: Vec<String> = items.iter().map(|item| text::plain(item)).collect();
            return Some(text::clip(&format!("{lead} {}", items.join(" / ")), MAX_QUESTION_CHARS).into_owned());
        }
    }
    let said = text::sentences(end);
    // "Paint it red? I'll begin once you say so." asks, too.
    let is_behind = |it: &&String| !asks(it) && signs::is_intent(&it.to_lowercase());
    let behind = said.iter().rev().take_while(is_behind).count().min(1);
    let last = said.into_iter().nth_back(behind)?;
    // "Want me to?" asks nothing that can be understood alone.
    let is_courtesy = ["anything else", "did you have", "in mind"].iter().any(|words| last.to_lowercase().contains(words));
    (asks(&last) && !is_courtesy && (!last.is_ascii() || text::features(&last).len() >= MIN_QUESTION_WORDS)).then_some(last)
}

/// Returns whether an answer ends with a list and the question which of its items somebody wants.
pub(in crate::extract) fn ends_with_choice(answer: &str) -> bool {
    let lines: Vec<&str> = text::prose_lines(without_cut_code(text::tail(answer, 1500))).collect();
    let [.., item, last] = lines.as_slice() else { return false };
    let is_item = item.starts_with(['-', '*', '•', '|']) || item.starts_with(|c: char| c.is_ascii_digit());
    let asks = last.trim_end_matches(['*', ' ']).ends_with(['?', '？']);
    is_item && asks && text::sentences(last).len() == 1 && signs::asks_to_choose(&last.to_lowercase())
}

/// Returns the end of a text from behind the block of code in which it was cut.
fn without_cut_code(end: &str) -> &str {
    const FENCE: &str = "```";
    if end.lines().filter(|line| line.trim_start().starts_with(FENCE)).count() % 2 == 0 {
        return end;
    }
    end.split_once(FENCE).map_or(end, |(_, rest)| rest)
}

/// The number of words from which an English question can be understood alone.
const MIN_QUESTION_WORDS: usize = 2;

/// The maximum number of options below a closing question. A longer list is not a choice.
const MAX_OPTIONS: usize = 5;

/// The maximum length of a closing question with its options, in characters.
const MAX_QUESTION_CHARS: usize = 360;

/// Returns whether a line that leads to a list asks to choose from it.
fn asks_to_choose(lead: &str) -> bool {
    let lower = lead.to_lowercase();
    text::contains_any(&lower, &["would you like", "do you want", "should i", "shall i", "which", "want me to", "prefer"])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_before_the_question_which_one_is_a_choice() {
        let list = "The till has three faults. Some ways:\n\n1. Mend all now\n2. Mend the drawer first\n\n";
        assert!(ends_with_choice(&format!("{list}What do you prefer?")));
        assert!(!ends_with_choice(&format!("{list}Shall I commit?")) && !ends_with_choice(list));
        assert!(!ends_with_choice("1. Mended the till\n\nThe drawer rings. Which one do you prefer?"));
    }

    #[test]
    fn a_question_is_found_behind_a_block_of_code_in_which_the_end_is_cut() {
        let asked = "A few points:\n\n1. Who prints the slip?\n2. Should the till keep a copy?";
        let code = "let slip = till.slip();\n".repeat(80);
        let answer = format!("The till:\n\n```\n{code}```\n\nIt prints one slip.\n\n{asked}");
        let question = closing_question(&answer).unwrap_or_default();
        assert!(question.contains("Who prints the slip? / ") && question.contains("keep a copy?"), "{question}");
    }

    #[test]
    fn a_question_before_what_the_agent_does_then_is_the_closing_one() {
        let question = "Shall I paint the drawer of the till red?";
        assert_eq!(closing_question(&format!("It is old. {question} I'll begin then.")).as_deref(), Some(question));
        assert_eq!(closing_question(&format!("{question} It is old.")), None);
    }
}
