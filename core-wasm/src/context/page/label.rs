//! The labels with which lines of the page begin, and whether words that the agent wrote look like such a line: what was asked, decided
//! or left undone, or what the user said.

use std::borrow::Cow;

use super::section::SectionKind;
use crate::context::line::LANGUAGES;
use crate::extract::labels;
use crate::text::{self, Language};

/// Declares the labels once: the variants, all of them in a list, and their texts.
macro_rules! labels {
    ($($name:ident = $text:literal,)+) => {
        /// What a line of the page begins with.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(in crate::context) enum Label { $($name,)+ }

        impl Label {
            const ALL: &[Self] = &[$(Self::$name,)+];

            pub(in crate::context) const fn text(self) -> &'static str {
                match self { $(Self::$name => $text,)+ }
            }
        }
    };
}

labels! {
    // What was asked, and what came of it.
    Goal = "Goal",
    Now = "Now",
    Asked = "Asked",
    LastAsked = "Last asked",
    Did = "Did",
    Found = "Found",
    Then = "Then",
    ThenProposed = "Then proposed, not done",
    Proposed = "Proposed, not done",
    Documented = "Documented",
    FoundBeforeWork = "Found before the later work",
    Untried = "Not tried by the agent afterwards",
    RefusedNext = "Refused next",
    DisputedNext = "Disputed next",
    ConfirmedNext = "Confirmed next by the user",
    // How it ended.
    Outcome = "Outcome",
    SoFar = "So far",
    Summary = "Summary",
    Recap = "Recap",
    Saved = "Saved",
    LeftUndone = "Left undone",
    LastSteps = "Last steps",
    OpenErrors = "Open errors",
    Blockers = "Blockers",
    Done = "Done",
    InProgress = "In progress",
    Pending = "Pending",
    // What was done to files, and elsewhere.
    Files = "Files",
    LostFiles = "Not in the files any more at the end",
    CommittedByCommand = "Committed, by no edit of the agent",
    CommittedToo = "Committed, not edited by the agent",
    Uncommitted = "Uncommitted, not edited by the agent",
    BranchSwitched = "Branch switched by somebody else",
    Commits = "Commits",
    Ran = "Ran",
    Requests = "Requests sent by hand",
    Filed = "Filed",
}

impl Label {
    /// Returns the label with something behind it: in what state the files are, or what the user said of a result.
    pub(in crate::context) fn with(self, more: &str) -> LineLabel {
        LineLabel(format!("{}{more}", self.text()).into())
    }

    /// Returns the line that begins with the label.
    pub(in crate::context) fn line(self, said: &str) -> String {
        format!("{}: {said}", self.text())
    }

    /// Returns what a line says behind the label. None if it begins with something else.
    pub(in crate::context) fn said_in(self, line: &str) -> Option<&str> {
        line.strip_prefix(self.text())?.strip_prefix(": ")
    }
}

/// A label as it stands before a line. It is only made of a [`Label`], so that the page has no other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::context) struct LineLabel(Cow<'static, str>);

impl LineLabel {
    pub(in crate::context) fn text(&self) -> &str {
        &self.0
    }
}

impl From<Label> for LineLabel {
    fn from(label: Label) -> Self {
        Self(label.text().into())
    }
}

/// Words that are no labels of the page, but would pass for one.
const LIKE_LABELS: [&str; 6] = ["Decision", "Decisions", "Decided", "Confirmed", "Proposed", "Uncommitted"];

/// Labels that any list of the agent may begin with. They only stand before tasks, of which the page says what it knows by itself.
const PLAIN_LABELS: [Label; 1] = [Label::Done];

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
            words.before_change,
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
    let of_page = Label::ALL.iter().filter(|label| !PLAIN_LABELS.contains(label)).map(|label| label.text());
    let headings = SectionKind::ALL.iter().map(|kind| kind.heading()).filter(|heading| !heading.is_empty());
    of_page.chain(headings).chain(LIKE_LABELS).any(begins)
        || text::starts_with_words(&head.to_lowercase(), "user")
        || text::starts_with_words(&head.to_lowercase(), "the user")
        || text::contains_words(&label, "user")
        || LANGUAGES.into_iter().any(is_word_of)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_label_that_the_page_writes_is_known() {
        for label in Label::ALL.iter().filter(|label| !PLAIN_LABELS.contains(label)) {
            assert!(looks_like_label(&label.line("the till rings.")), "{label:?}");
            assert!(looks_like_label(&format!("{}: it rings.", label.with(" (\"at night\")").text())), "{label:?}");
        }
        for kind in SectionKind::ALL.into_iter().filter(|kind| !kind.heading().is_empty()) {
            assert!(looks_like_label(&format!("### {}", kind.heading())), "{kind:?}");
        }
    }

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
