//! Makes a session's notes from the text that another memory system stored: the headings and labels say what was asked, what is
//! done and what is open.

use super::markdown::{self, Section};
use crate::text::{one_line, truncate_chars};
use throughline_model::contract::{Decision, SessionNotes};

/// The longest item of a list, characters. Longer ones are cut: the memory itself has the whole text.
const MAX_ITEM_CHARS: usize = 400;

/// The most items of one list.
const MAX_ITEMS: usize = 12;

/// What a section of a session's text is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// What was asked.
    Goal,
    /// How things stand.
    State,
    /// What was done.
    Done,
    /// What is being done.
    Current,
    /// What is left.
    Pending,
    /// What fails or blocks.
    Issues,
    /// What was decided.
    Decisions,
}

/// Words in headings and labels, in English and Korean. The first that fits decides, so that `Current state` is a state.
const WORDS: &[(Part, &[&str])] = &[
    (Part::Goal, &["goal", "objective", "request", "목표", "요청"]),
    (Part::Decisions, &["decision", "decided", "결정"]),
    (
        Part::Pending,
        &[
            "pending",
            "next",
            "todo",
            "to do",
            "remaining",
            "left undone",
            "open end",
            "대기",
            "다음",
            "할 일",
            "남은",
            "미완",
        ],
    ),
    (Part::Issues, &["issue", "problem", "blocker", "error", "문제", "이슈", "오류", "장애"]),
    (Part::State, &["state", "status", "outcome", "result", "summary", "상태", "결과", "요약"]),
    (Part::Current, &["in progress", "진행 중"]),
    (Part::Done, &["done", "completed", "progress", "recent", "changes", "context", "완료", "진행", "최근", "작업"]),
];

impl Part {
    /// Returns what a heading or a label is about.
    pub(super) fn of(heading: &str) -> Option<Self> {
        let heading = heading.to_lowercase();
        WORDS.iter().find(|(_, words)| words.iter().any(|word| heading.contains(word))).map(|(part, _)| *part)
    }
}

/// Returns the items of a section: its list items and paragraphs, each on one line and without its mark.
pub(super) fn items(body: &str) -> Vec<String> {
    let mut items: Vec<String> = Vec::new();
    let mut is_open = false;
    for line in body.lines() {
        let text = line.trim();
        let marked =
            ["- ", "* ", "+ ", "• "].iter().find_map(|mark| text.strip_prefix(mark)).or_else(|| without_number(text));
        match (text.is_empty() || text.starts_with('#'), marked, items.last_mut().filter(|_| is_open)) {
            (true, ..) => is_open = false,
            (_, None, Some(last)) => {
                last.push(' ');
                last.push_str(text);
            }
            (_, marked, _) => {
                items.push(marked.unwrap_or(text).trim().to_owned());
                is_open = true;
            }
        }
    }
    items.retain(|item| !item.is_empty());
    items
}

/// Returns the text of a line such as `2. text`.
fn without_number(text: &str) -> Option<&str> {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    (rest.len() < text.len()).then(|| rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") "))).flatten()
}

/// Adds the items of a section to the notes.
pub(super) fn add(notes: &mut SessionNotes, part: Part, items: Vec<String>) {
    let mut items: Vec<String> = items.into_iter().map(|item| cut(&item)).collect();
    let one = |slot: &mut String, items: Vec<String>| {
        if slot.is_empty() {
            *slot = cut(&items.join(" "));
        }
    };
    items.truncate(MAX_ITEMS);
    match part {
        Part::Goal => one(&mut notes.original_request, items),
        Part::State => one(&mut notes.outcome, items),
        Part::Done => notes.done.extend(items),
        Part::Current => notes.current.extend(items),
        Part::Pending => notes.pending.extend(items),
        Part::Issues => notes.errors.extend(items),
        Part::Decisions => {
            let decision = |what| Decision { what, why: String::new(), rejected: Vec::new() };
            notes.decisions.extend(items.into_iter().map(decision));
        }
    }
}

fn cut(text: &str) -> String {
    truncate_chars(&one_line(text), MAX_ITEM_CHARS)
}

/// Returns the notes that a text makes: its sections by their headings, and in a text without headings its lines by their labels. What is
/// under no known heading is how the session ended.
pub(super) fn notes_of(text: &str) -> SessionNotes {
    let mut notes = SessionNotes::default();
    let mut rest = Vec::new();
    for Section { heading, body, .. } in markdown::sections(text, 4) {
        if let Some(part) = Part::of(&heading) {
            add(&mut notes, part, items(&body));
            continue;
        }
        for item in items(&body) {
            // `Pending: deploy it`
            let label = item.trim_start_matches('*').split_once(':').filter(|(label, _)| label.chars().count() <= 24);
            match label.and_then(|(label, text)| Some((Part::of(label)?, text.trim_matches(['*', ' ']).to_owned()))) {
                Some((part, text)) if !text.is_empty() => add(&mut notes, part, vec![text]),
                _ => rest.push(item),
            }
        }
    }
    if !rest.is_empty() {
        add(&mut notes, Part::State, rest);
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_and_labels_say_what_a_text_is_about() {
        let notes = notes_of(
            "# Session\n\n## Goal\nMend the otter door\n\n## What was done\n- The hinge is new\n- It was\n  painted\n\n## 남은 일\n1. 배포하기\n\n\
             ## Known Issues\n- It squeaks\n",
        );
        assert_eq!(notes.original_request, "Mend the otter door");
        assert_eq!(notes.done, ["The hinge is new", "It was painted"]);
        assert_eq!((notes.pending, notes.errors), (vec!["배포하기".to_owned()], vec!["It squeaks".to_owned()]));
        let notes = notes_of("The door is mended.\n\n- **Next:** oil it\n- **Decision**: hinges of brass");
        assert_eq!(notes.outcome, "The door is mended.");
        assert_eq!((notes.pending, notes.decisions[0].what.as_str()), (vec!["oil it".to_owned()], "hinges of brass"));
        assert_eq!(Part::of("Current State"), Some(Part::State));
        assert_eq!(Part::of("Otters"), None);
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        let notes = notes_of(&format!("## 상태\n{}", "수달 ".repeat(1000)));
        assert!(notes.outcome.ends_with('…') && notes.outcome.chars().count() <= MAX_ITEM_CHARS + 1);
        assert_eq!(notes_of(""), SessionNotes::default());
    }
}
