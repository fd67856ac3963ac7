//! Plans that a user hands over or approves: their title and the reason that they give.

use crate::extract::prose;
use crate::text;

/// Openings of prompts that the client writes around a plan.
const PLAN_OPENINGS: &[&str] = &[
    "Implement the following plan:",
    "Please implement this plan:",
    "Please implement the following plan:",
    "Execute the following plan:",
];

/// Returns the plan that a prompt asks the agent to carry out, without the text that the client adds. None for every
/// other prompt.
pub(in crate::extract) fn plan(prompt: &str) -> Option<&str> {
    let rest = PLAN_OPENINGS.iter().find_map(|opening| prompt.trim_start().strip_prefix(opening))?;
    let end = rest.find("If you need specific details from before exiting plan mode").unwrap_or(rest.len());
    Some(rest[..end].trim())
}

/// Returns the first heading of a document.
pub(super) fn heading(document: &str) -> Option<String> {
    let heading = document.lines().map(str::trim).find(|line| line.starts_with('#'))?;
    Some(text::plain(heading)).filter(|heading| !heading.is_empty())
}

/// Returns the title of a plan or another document.
pub(in crate::extract) fn title(document: &str) -> Option<String> {
    heading(document).map(|heading| without_label(&heading)).filter(|title| !title.is_empty())
}

/// Returns the title of a plan, or its first sentence if it has no heading.
pub(in crate::extract) fn plan_title(plan: &str) -> Option<String> {
    title(plan).or_else(|| text::first_sentence(plan).map(|first| without_label(&first)))
}

/// Returns a title without the word that says that it is one of a plan.
fn without_label(title: &str) -> String {
    title.strip_prefix("Plan:").unwrap_or(title).trim().to_owned()
}

/// Headings of a plan below which its reason stands, the most telling first.
const REASON_HEADINGS: &[&[&str]] = &[
    &["root cause", "cause", "원인", "原因"],
    &["problem", "issue", "bug", "문제", "問題", "问题"],
    &["context", "background", "motivation", "why", "배경", "背景", "動機", "동기"],
];

/// Words of a sentence that says what is wrong, and words that do so only beside others.
const WRONG: &[&str] = &[
    "but",
    "however",
    "no",
    "not",
    "never",
    "wrong",
    "fails",
    "fail",
    "missing",
    "dropped",
    "lost",
    "skipped",
    "ignored",
    "broken",
    "doesn't",
    "don't",
    "isn't",
    "aren't",
    "cannot",
    "can't",
    "still",
    "even when",
    "even though",
    "wins",
    "problem",
    "incorrectly",
    "하지만",
    "지만",
    "않",
    "없",
    "しかし",
    "ない",
    "但",
    "没有",
    "不",
];
const HINTS: &[&str] = &["currently", "only", "even", "instead", "현재", "現在", "目前"];

/// The maximum length of a plan's reason, in characters.
const MAX_REASON_CHARS: usize = 280;

/// Returns the sentence of a plan that says best what is wrong: why it is to be carried out.
pub(in crate::extract) fn plan_reason(plan: &str) -> Option<String> {
    let mut best: Option<((usize, u8), String)> = None;
    let (mut rank, mut level) = (None, 0);
    for line in text::prose_lines(plan) {
        let is_heading = line.starts_with('#') || (line.starts_with("**") && line.trim_end_matches(':').ends_with("**"));
        if is_heading {
            let heading = line.to_lowercase();
            let is_of = |words: &&[&str]| text::contains_any_words(&heading, words);
            // The title names the subject, and not a section. What stands deeper belongs to its section.
            let depth = line.bytes().take_while(|byte| *byte == b'#').count();
            let is_title = depth == 1;
            if rank.is_some() && (depth == 0 || depth > level) {
                continue;
            }
            level = if depth == 0 { usize::MAX } else { depth };
            rank = REASON_HEADINGS.iter().position(is_of).filter(|_| !is_title).map(|at| REASON_HEADINGS.len() - at);
            continue;
        }
        let is_prose = line.starts_with(|c: char| c.is_alphabetic() || matches!(c, '`' | '*' | '"'));
        let Some(rank) = rank.filter(|_| is_prose) else { continue };
        for sentence in text::sentences(line) {
            let lower = sentence.to_lowercase();
            let length = sentence.chars().count();
            let least = if sentence.is_ascii() { 40 } else { 20 };
            if !(least..=MAX_REASON_CHARS).contains(&length)
                || sentence.ends_with(['?', '？', ':', '：'])
                || prose::is_pointer(&lower)
                || ["instead", "then ", "so ", "therefore", "line", "also", "problem 2", "problem 3", "second,", "secondly"]
                    .iter()
                    .any(|it| lower.starts_with(it))
                || prose::is_narration(&sentence)
            {
                continue;
            }
            let count = |words: &[&str]| {
                let found = words.iter().filter(|word| text::contains_words(&lower, word)).count();
                u8::try_from(found.min(2)).unwrap_or(2)
            };
            let score = 3 * count(WRONG) + 2 * count(HINTS).min(1) + prose::signs(&lower).0.min(4);
            // A section about the subject as a whole also says how it is.
            let least = if rank == 1 { 3 } else { 2 };
            if score >= least && best.as_ref().is_none_or(|(known, _)| (rank, score) > *known) {
                let sentence = ["Additionally, ", "Currently, ", "Root cause: ", "Problem: ", "Cause: "]
                    .iter()
                    .fold(sentence.as_str(), |it, word| it.strip_prefix(word).unwrap_or(it));
                best = Some(((rank, score), sentence.to_owned()));
            }
        }
    }
    best.map(|(_, sentence)| sentence)
}
