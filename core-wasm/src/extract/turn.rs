//! One turn of the conversation as one text to be found by: the whole prompt, all the agent said, and what it ran.
//!
//! Outputs, file contents and edit texts stay out: they make the turn harder to find, not easier.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::memories::LineRef;
use crate::bindings::throughline::policy::types::Draft;
use crate::text;

/// A turn's whole text, in characters.
const MAX_TURN_CHARS: usize = 12_000;
/// A prompt, in characters: what is longer is no prompt but a document, and the answer needs room too.
const MAX_PROMPT_CHARS: usize = 9_000;
/// A command, in characters.
const MAX_COMMAND_CHARS: usize = 300;
/// The head of a thought, in characters.
const MAX_THOUGHT_CHARS: usize = 500;
/// The latest answer, in bytes.
const MAX_ANSWER_BYTES: usize = 8 * 1024;
/// Files that a turn names.
const MAX_FILES: usize = 40;
/// Stands where the middle was left out.
const GAP: &str = "…";

/// The open turn.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Turn {
    /// Its prompt's line.
    pub source: LineRef,
    /// What the human said, in substance: one line.
    pub title: String,
    prompt: String,
    /// The agent's latest text: the answer, once the turn is over.
    pub answer: String,
    /// When and where that was said.
    pub answered: LineRef,
    /// What was said and run, in order: the beginning, until it is full.
    first: Vec<String>,
    /// And the newest of what came after.
    last: VecDeque<String>,
    /// Whether parts between the two were left out.
    gap: bool,
    files: Vec<String>,
    /// Whether it asks for something (a consent or "commit" does not).
    pub substantive: bool,
    /// Whether the agent changed files in it.
    pub edited: bool,
}

impl Turn {
    /// A turn that begins with a prompt. `prompt` is cleaned already.
    pub(super) fn begin(source: LineRef, title: String, prompt: &str, substantive: bool) -> Self {
        Turn {
            source,
            title,
            prompt: text::clip_block(prompt, byte_offset(prompt, MAX_PROMPT_CHARS)).into_owned(),
            substantive,
            ..Turn::default()
        }
    }

    /// The agent said something.
    pub(super) fn say(&mut self, said: &str, source: LineRef) {
        self.add(said);
        self.answer = text::clip_block(said, MAX_ANSWER_BYTES).into_owned();
        self.answered = source;
    }

    /// The agent thought something: how it begins.
    pub(super) fn think(&mut self, thought: &str) {
        self.add(&text::clip(thought, MAX_THOUGHT_CHARS));
    }

    /// The agent ran a command; `verdict` is what its tests counted, or empty. What the agent says of the command beside
    /// it only repeats the prose.
    pub(super) fn run(&mut self, command: &str, verdict: &str) {
        let command = text::one_line(command);
        let command = text::clip(&command, MAX_COMMAND_CHARS);
        self.add(&if verdict.is_empty() { format!("`{command}`") } else { format!("`{command}` — {verdict}") });
    }

    /// Adds a part. The beginning and the end of a turn say the most, so what has no room is left out between.
    pub(super) fn add(&mut self, part: &str) {
        let budget = MAX_TURN_CHARS.saturating_sub(self.prompt.chars().count()) / 2;
        let part = truncate_middle(part.trim(), budget);
        if part.is_empty() {
            return;
        }
        if self.last.is_empty() && size(&self.first) + part.chars().count() <= budget {
            self.first.push(part);
            return;
        }
        self.last.push_back(part);
        while size(&self.last) > budget {
            self.last.pop_front();
            self.gap = true;
        }
    }

    /// Notes that the work touches a file.
    pub(super) fn add_file(&mut self, file: &str) {
        if self.files.len() < MAX_FILES && !self.files.iter().any(|known| known == file) {
            self.files.push(file.to_owned());
        }
    }

    /// The turn as a memory; none where nothing was said.
    pub(super) fn draft(&self) -> Option<Draft> {
        let gap = self.gap.then_some(GAP);
        let parts: Vec<&str> = Some(self.prompt.as_str())
            .into_iter()
            .filter(|prompt| !prompt.is_empty())
            .chain(self.first.iter().map(String::as_str))
            .chain(gap)
            .chain(self.last.iter().map(String::as_str))
            .collect();
        if parts.is_empty() {
            return None;
        }
        let content = parts.join("\n\n");
        // A prompt of nothing but marks, such as a lone fence, has no line to be named by.
        let title = if self.title.trim().is_empty() { text::one_line(&content) } else { self.title.clone() };
        Some(Draft {
            key: Some(format!("turn:{}", self.source.uuid)),
            kind: "turn".to_owned(),
            title: text::clip(&title, 160).into_owned(),
            content,
            keywords: Vec::new(),
            files: self.files.clone(),
            importance: 0.1,
            origin: self.source.origin(),
            attributes: Vec::new(),
        })
    }
}

fn size<'a>(parts: impl IntoIterator<Item = &'a String>) -> usize {
    parts.into_iter().map(|part| part.chars().count()).sum()
}

/// The byte just past that many characters.
fn byte_offset(text: &str, chars: usize) -> usize {
    text.char_indices().nth(chars).map_or(text.len(), |(at, _)| at)
}

/// The text in at most `max` characters: its beginning and its end.
fn truncate_middle(text: &str, max: usize) -> String {
    let count = text.chars().count();
    if count <= max {
        return text.to_owned();
    }
    let half = max.saturating_sub(GAP.len() + 2) / 2;
    let end = &text[byte_offset(text, count - half)..];
    let start = text::clip_block(text, byte_offset(text, half));
    format!("{start}\n\n{end}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn content(turn: &Turn) -> String {
        turn.draft().map(|draft| draft.content).unwrap_or_default()
    }

    #[test]
    fn all_that_was_said_and_run_is_one_text_in_order() {
        let mut turn = Turn::begin(LineRef::default(), "fix it".to_owned(), "fix it, please", true);
        turn.think("The lexer drops a token.");
        turn.say("I look at the lexer.", LineRef::default());
        turn.run("cargo test", "7 pass, 0 fail");
        turn.say("Fixed.", LineRef::default());
        assert_eq!(
            content(&turn),
            "fix it, please\n\nThe lexer drops a token.\n\nI look at the lexer.\n\n`cargo test` — 7 pass, 0 fail\n\nFixed."
        );
        assert_eq!(turn.answer, "Fixed.");
    }

    #[test]
    fn the_middle_is_left_out_and_the_prompt_is_not() {
        let prompt = "word ".repeat(1500);
        let mut turn = Turn::begin(LineRef::default(), String::new(), &prompt, true);
        turn.say("the first words", LineRef::default());
        for number in 0..200 {
            turn.run(&format!("command {number} {}", "x".repeat(90)), "");
        }
        turn.say("the last words", LineRef::default());
        let content = content(&turn);
        assert!(content.starts_with(prompt.trim()));
        assert!(content.contains("the first words") && content.ends_with("the last words"));
        assert!(content.contains("command 3 ") && !content.contains("command 100 "));
    }

    #[test]
    fn a_prompt_of_marks_alone_is_named_by_its_text() {
        let mut turn = Turn::begin(LineRef::default(), String::new(), "```", false);
        turn.say("What do\nyou mean?", LineRef::default());
        assert_eq!(turn.draft().unwrap().title, "``` What do you mean?");
    }

    proptest! {
        #[test]
        fn it_is_bounded(prompt in "\\PC{0,60}", repeat in 1_usize..400, parts in prop::collection::vec(("\\PC{0,40}", 1_usize..300), 0..30)) {
            let mut turn = Turn::begin(LineRef::default(), String::new(), &prompt.repeat(repeat), true);
            for (part, times) in parts {
                turn.say(&part.repeat(times), LineRef::default());
            }
            // The blank lines between the parts come on top.
            let blanks = 2 * (turn.first.len() + turn.last.len() + 2);
            prop_assert!(content(&turn).chars().count() <= MAX_TURN_CHARS + blanks + GAP.len());
        }
    }
}
