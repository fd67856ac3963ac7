//! One turn of the conversation as text to be found by: the prompt, the answer, and the work between in chunks.

use serde::{Deserialize, Serialize};

use super::clean;
use super::commands::{self, Class};
use super::kept::Place;
use super::labels::Labels;
use crate::bindings::throughline::policy::types::Draft;
use crate::text;

/// The prompt and the answer share the first draft; what does not fit goes on in the work.
const PROMPT: usize = 2800;
const ANSWER: usize = 2800;
/// One chunk of work, in bytes.
const CHUNK: usize = 5600;
/// Work up to this stands in the first draft too.
const INLINE: usize = 2400;
/// One piece of work, in bytes.
const PIECE: usize = 2400;
/// A prompt, in bytes; a longer one is no prompt but a document.
const LONGEST_PROMPT: usize = 12 * 1024;
/// An answer, in bytes.
const LONGEST_ANSWER: usize = 8 * 1024;
/// Files that a turn names.
const FILES: usize = 40;

/// The open turn.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Turn {
    /// Its prompt's line.
    pub place: Place,
    /// What the human said, in substance: one line.
    pub title: String,
    /// The prompt's first part.
    prompt: String,
    /// The agent's latest text: the answer, once the turn is over.
    pub answer: String,
    /// When and where that was said.
    pub answered: Place,
    /// The open chunk of work.
    work: String,
    /// How many chunks are closed.
    closed: u32,
    /// Files of the open chunk.
    files: Vec<String>,
    /// Whether it asks for something (a consent or "commit" does not).
    pub substantive: bool,
    /// Whether the agent changed files in it.
    pub edited: bool,
}

impl Turn {
    /// A turn that begins with a prompt. `prompt` is cleaned already.
    pub fn begin(
        place: Place,
        title: String,
        prompt: &str,
        substantive: bool,
        labels: &Labels,
        settled: &mut Vec<Draft>,
    ) -> Self {
        let prompt = text::clip_block(prompt, LONGEST_PROMPT);
        let mut turn = Turn {
            place,
            title,
            substantive,
            ..Turn::default()
        };
        let cut = if prompt.len() > PROMPT {
            text::natural_cut(&prompt, PROMPT)
        } else {
            prompt.len()
        };
        prompt[..cut].trim_end().clone_into(&mut turn.prompt);
        turn.add_long(&prompt[cut..], labels, settled);
        turn
    }

    /// The agent said something; what it said before becomes work.
    pub fn say(&mut self, said: &str, place: Place, labels: &Labels, settled: &mut Vec<Draft>) {
        let before = std::mem::take(&mut self.answer);
        self.add_long(&before, labels, settled);
        self.answer = text::clip_block(said, LONGEST_ANSWER).into_owned();
        self.answered = place;
    }

    /// Adds a text of any length to the work.
    pub fn add_long(&mut self, text: &str, labels: &Labels, settled: &mut Vec<Draft>) {
        let mut rest = text.trim();
        while !rest.is_empty() {
            let cut = if rest.len() > PIECE {
                text::natural_cut(rest, PIECE)
            } else {
                rest.len()
            };
            self.add(&rest[..cut], labels, settled);
            rest = rest[cut..].trim_start();
        }
    }

    /// Adds a piece of work: a few lines.
    pub fn add(&mut self, piece: &str, labels: &Labels, settled: &mut Vec<Draft>) {
        let piece = piece.trim();
        if piece.is_empty() {
            return;
        }
        if !self.work.is_empty() && self.work.len() + piece.len() > CHUNK {
            self.close_chunk(labels, settled);
        }
        if !self.work.is_empty() {
            self.work.push('\n');
        }
        self.work.push_str(piece);
    }

    /// Notes that the work touches a file.
    pub fn touch(&mut self, file: &str) {
        if self.files.len() < FILES && !self.files.iter().any(|known| known == file) {
            self.files.push(file.to_owned());
        }
    }

    fn close_chunk(&mut self, labels: &Labels, settled: &mut Vec<Draft>) {
        settled.push(self.work_draft(labels));
        self.closed += 1;
        self.work.clear();
        self.files.clear();
    }

    fn is_inline(&self) -> bool {
        self.closed == 0 && self.work.len() <= INLINE
    }

    /// What of the turn may still change: the first draft and the open chunk.
    pub fn open_drafts(&self, labels: &Labels) -> Vec<Draft> {
        if self.prompt.is_empty()
            && self.answer.is_empty()
            && self.work.is_empty()
            && self.closed == 0
        {
            return Vec::new();
        }
        let mut drafts = vec![self.first_draft(labels)];
        if !self.is_inline() && !self.work.is_empty() {
            drafts.push(self.work_draft(labels));
        }
        drafts
    }

    fn first_draft(&self, labels: &Labels) -> Draft {
        let mut content = String::new();
        section(&mut content, labels.asked, &self.prompt);
        section(
            &mut content,
            labels.answer,
            &text::clip_block(&self.answer, ANSWER),
        );
        if self.is_inline() {
            section(&mut content, labels.work, &self.work);
        }
        let files = if self.is_inline() {
            self.files.clone()
        } else {
            Vec::new()
        };
        self.draft(0, content, files)
    }

    fn work_draft(&self, labels: &Labels) -> Draft {
        let mut content = String::new();
        section(&mut content, labels.asked, &self.title);
        section(&mut content, labels.work, &self.work);
        self.draft(self.closed + 1, content, self.files.clone())
    }

    fn draft(&self, number: u32, content: String, files: Vec<String>) -> Draft {
        Draft {
            key: Some(format!("turn:{}:{number}", self.place.uuid)),
            kind: "turn".to_owned(),
            title: text::clip(&self.title, 160).into_owned(),
            content,
            keywords: Vec::new(),
            files,
            importance: 0.1,
            origin: self.place.origin(),
            attributes: Vec::new(),
        }
    }

    /// The end of a long answer that the first draft has no room for becomes work when the turn is over.
    pub fn finish(&mut self, labels: &Labels, settled: &mut Vec<Draft>) {
        if self.answer.len() > ANSWER {
            let rest =
                self.answer[text::natural_cut(&self.answer, ANSWER - '…'.len_utf8())..].to_owned();
            self.add_long(&rest, labels, settled);
        }
        settled.extend(self.open_drafts(labels));
    }
}

fn section(content: &mut String, label: &str, body: &str) {
    let body = body.trim();
    if body.is_empty() {
        return;
    }
    if !content.is_empty() {
        content.push_str("\n\n");
    }
    content.push_str("**");
    content.push_str(label);
    content.push_str(":** ");
    content.push_str(body);
}

/// A command as one line of work: what was run, and where that says something, what came of it.
pub fn command_piece(command: &str, outcome: &str) -> String {
    let command = text::one_line(command);
    let command = text::clip(&command, 400);
    if outcome.is_empty() {
        format!("- `{command}`")
    } else {
        format!("- `{command}` → {}", clean::line(outcome, 500))
    }
}

/// What came of a command, as far as it is worth finding again.
pub fn outcome(
    class: Class,
    output: &str,
    failed: bool,
    counts: Option<commands::Tests>,
) -> String {
    if failed {
        let telling = commands::error_lines(output, 4).join(" / ");
        return format!("✗ {telling}");
    }
    if let Some(counts) = counts {
        return format!("{} passed, {} failed", counts.passed, counts.failed);
    }
    match class {
        Class::Look => String::new(),
        _ => text::one_line(text::tail(output.trim(), 240)),
    }
}
