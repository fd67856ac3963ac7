//! Whether words that the agent wrote look like a line of the page's own: what was asked, decided or left undone, or what the user said.

use crate::context::line::LANGUAGES;
use crate::extract::labels;
use crate::text::{self, Language};

/// The words with which lines of the page begin, and its headings.
const LABELS: &[&str] = &[
    "Asked",
    "Last asked",
    "Outcome",
    "Proposed, not done",
    "Did",
    "Found",
    "Then",
    "Disputed next",
    "Confirmed",
    "Refused next",
    "Not tried by the agent afterwards",
    "Found before the later work",
    "Documented",
    "Proposed",
    "Then proposed, not done",
    "Before the change",
    "Decision",
    "Decisions",
    "Decided",
    "Left undone",
    "Last steps",
    "Files",
    "Not in the files any more at the end",
    "Uncommitted",
    "Branch switched by somebody else",
    "Commits",
    "Ran",
    "Requests sent by hand",
    "Filed",
    "Open errors",
    "Blockers",
    "Recap",
    "Saved",
    "Summary",
    "Goal",
    "Now",
    "Last Session",
    "This Session",
    "Progress",
    "Key Decisions",
    "Watch out",
    "Discoveries",
    "Preferences",
    "Recent Topics",
    "Project Knowledge",
    "Other Memories",
];

/// The length of the beginning of a piece that may be a label, in bytes.
const MAX_LABEL_BYTES: usize = 120;

/// Returns whether a piece begins with a label of the page in any language, or says that it is the user's.
pub(super) fn looks_like_label(piece: &str) -> bool {
    let head = text::head(piece, MAX_LABEL_BYTES).trim_start_matches(|c: char| !c.is_alphabetic());
    let sentence = head.split(['.', ';', '!', '?', '。']).next().unwrap_or_default();
    let label = sentence.split_once([':', '：', '—', '–']).map_or("", |(label, _)| label).to_lowercase();
    let begins = |label: &str| {
        let rest = head.get(..label.len()).filter(|own| own.eq_ignore_ascii_case(label)).map(|_| &head[label.len()..]);
        rest.is_some_and(|rest| !rest.trim_start().starts_with(char::is_alphanumeric))
    };
    let is_users = |user: &str| head.starts_with(user) || label.contains(user);
    let is_word_of = |language| {
        let words = labels::labels(language);
        let before = |text: &'static str| text.split("{}").next().unwrap_or_default().trim_end_matches([':', ' ']);
        let all = [
            words.rejected,
            words.taken_back,
            words.added,
            words.understood,
            words.open_question,
            words.open_request,
            words.begun_request,
            words.refused_run,
            words.not_checked,
            words.expected,
            words.only_announced,
            words.tried,
            words.bypassed_by,
            words.allowed_bypass,
            words.not_allowed,
            words.needs_user,
            words.interrupted,
            before(words.unrun),
        ];
        all.into_iter().chain(words.of_results.iter().map(|(_, own)| *own)).any(begins)
            || (language != Language::English && is_users(words.user))
    };
    LABELS.iter().any(|label| begins(label))
        || text::starts_with_words(&head.to_lowercase(), "user")
        || text::starts_with_words(&head.to_lowercase(), "the user")
        || text::contains_words(&label, "user")
        || LANGUAGES.into_iter().any(is_word_of)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_like_a_line_of_the_page_is_known() {
        for piece in [
            "Asked: empty the drawer.",
            "**Outcome**, confirmed by the user (\"all fine\"): the till rings.",
            "1. The user decided: ring once.",
            "Decision by the user: the bell needs no test.",
            "User: ring once.",
            "✅ Left undone — the key.",
            "Watch out:",
            "watch out: the till is hot",
            "사용자: 종을 한 번 울려라.",
            "ユーザーの決定：鐘は一度だけ。",
            "用户补充：只响一次。",
            "Confirmed by user: it rings.",
            "Not tried by the agent afterwards: it rings.",
            "Before the change: it rang.",
        ] {
            assert!(looks_like_label(piece), "{piece}");
        }
        for piece in [
            "The till rings twice.",
            "Found the slip in the drawer.",
            "Then the bell rings.",
            "Files of the till are folded.",
            "The bell tells the user when the till is open.",
            "Cause: the drawer was open.",
            "It rings. The user said: ring once.",
        ] {
            assert!(!looks_like_label(piece), "{piece}");
        }
    }
}
