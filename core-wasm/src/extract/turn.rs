//! One turn of the conversation as one searchable text: the whole prompt, everything the agent said, and the commands
//! it ran.
//!
//! Command outputs, file contents and edits are left out: they would make the turn harder to find.

mod acts;
mod announced;
mod replaced;
mod teammates;

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::human::{Confirmation, Denial};
use super::memories::LineRef;
use super::prose;
use super::signs;
use super::statement::{self, Form, Statement, Voice};
use crate::bindings::throughline::policy::types::Draft;
use crate::said_by::SaidBy;
use crate::text;
pub(super) use acts::{Acts, acting};
use replaced::ChangedLines;
use teammates::Status;

/// The maximum length of the prompt's first line, which the host records as an event, in characters.
const MAX_ASKED_CHARS: usize = 300;

/// The maximum length of a turn, in characters.
const MAX_TURN_CHARS: usize = 12_000;
/// The maximum length of a prompt, in characters. Longer text is a document, not a prompt, and the answer needs space
/// too.
const MAX_PROMPT_CHARS: usize = 9_000;
/// The maximum length of a command, in characters.
const MAX_COMMAND_CHARS: usize = 300;
/// How many characters of a thought are kept.
const MAX_THOUGHT_CHARS: usize = 500;
/// The maximum length of the latest answer, in bytes, and how many of them are its end.
const MAX_ANSWER_BYTES: usize = 16 * 1024;
const END_OF_ANSWER_BYTES: usize = 3 * 1024;
/// The maximum length of the part of a prompt that is split into statements, in bytes. Text after it is pasted.
const MAX_STATED_BYTES: usize = 3 * 1024;
/// The maximum number of statements of an open turn.
const MAX_STATEMENTS: usize = 200;
/// The maximum number of files of a turn.
const MAX_FILES: usize = 40;
/// The maximum number of headings of the documents of a turn that are known.
const MAX_HEADINGS: usize = 80;
/// The number of statements from which those that name a heading of a new document are its contents.
const MIN_CONTENTS: usize = 3;
/// Marks where the middle was left out.
const GAP: &str = "…";

/// The maximum number of remarks of the user that are kept of a turn.
const MAX_ADDED: usize = 8;

/// The open turn.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts, each a feature of its own")]
pub(super) struct Turn {
    /// The line of the prompt.
    pub source: LineRef,
    /// The essence of what the user said, in one line.
    pub title: String,
    /// All that the user said, if it is short and nobody else's words are in it. May be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub whole: String,
    /// What the prompt says against the success of the work before it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub denials: Vec<Denial>,
    /// What the prompt says for the success of the work before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirmation: Option<Confirmation>,
    prompt: String,
    /// The agent's latest text. It is the answer once the turn is over.
    pub answer: String,
    /// The line of the answer.
    pub answered: LineRef,
    /// What was said and run, in order, until half of the space is full.
    first: Vec<String>,
    /// The latest parts after `first`.
    last: VecDeque<String>,
    /// Whether parts between the two were dropped.
    gap: bool,
    pub(super) files: Vec<String>,
    /// What was stated so far, without the latest text of the agent.
    statements: Vec<Statement>,
    /// The length of the prompt, in characters.
    pub prompt_chars: u32,
    /// How many runs of the session came before the first and before the last change of code. None without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs: Option<(u32, u32)>,
    /// Whether the turn made a commit.
    pub committed: bool,
    /// Whether it pushed a branch, and whether it merged one or a pull request.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pushed: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub merged: bool,
    /// Whether a command or an edit failed.
    pub failed: bool,
    /// Whether the client reported something of its own since the agent's latest text.
    pub notified: bool,
    /// Whether the user interrupted the agent since its latest text.
    pub cut_off: bool,
    /// Whether the client stopped instead of an answer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_stopped: bool,
    /// Whether the agent ended its answer by itself, so that nothing is left to interrupt.
    #[serde(default)]
    pub has_ended: bool,
    /// Whether the prompt requests something. A consent or "commit" does not.
    pub substantive: bool,
    /// Whether the prompt asks to record or to continue the work before it.
    pub is_chore: bool,
    /// Whether the user refused the plan that the turn proposed.
    #[serde(default)]
    pub is_refused: bool,
    /// Whether the prompt asks to carry out a plan.
    #[serde(default)]
    pub carries_plan: bool,
    /// Whether a program wrote the prompt, and states a rule in it or speaks after a human: nobody asked for that.
    #[serde(default, alias = "is_rule_of_program")]
    pub is_unasked: bool,
    /// Whether the prompt agrees to what the answer before it offered.
    #[serde(default)]
    pub consents: bool,
    /// Whether the prompt names an item of the answer before it by its number.
    #[serde(default)]
    pub names_item: bool,
    /// Whether the agent changed files during the turn.
    pub edited: bool,
    /// Whether it changed a file that does not only describe something.
    #[serde(default)]
    pub built: bool,
    /// Whether it changed files after its latest text.
    edited_since: bool,
    /// Whether it used tools after its latest text.
    works: bool,
    /// Whether tests, a check or a build passed after its latest text, and nothing failed or was changed behind it.
    #[serde(default)]
    has_passed: bool,
    /// Whether the agent used tools at all.
    #[serde(default)]
    pub used_tools: bool,
    /// Whether it may have changed something beside files: a branch, an issue, a service.
    #[serde(default)]
    pub acted: bool,
    /// What it ran that may have changed something.
    #[serde(default, skip_serializing_if = "Acts::is_empty")]
    pub acts: Acts,
    /// Whether the prompt is nothing but pasted text, or takes back what was said.
    #[serde(default)]
    pub is_aside: bool,
    /// The hashes of the headings of the documents that the turn wrote.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    headings: Vec<u32>,
    /// The lines that the turn changed, by file, as long as they are few.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    changed_lines: Vec<ChangedLines>,
    /// What the user said while the agent worked, or on refusing a call, that nothing else records.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub added: Vec<String>,
    /// What was said since the latest message of a teammate.
    #[serde(default)]
    status: Status,
    /// The line at which a later part of the turn began, if an answer or another request of the user divided it.
    part: Option<LineRef>,
}

impl Turn {
    /// Starts a turn with a prompt. `prompt` must be cleaned already.
    pub(super) fn begin(source: LineRef, title: String, prompt: &str, substantive: bool) -> Self {
        Turn {
            source,
            title,
            prompt: text::clip_block(prompt, byte_offset(prompt, MAX_PROMPT_CHARS)).into_owned(),
            statements: statement::statements(text::head(prompt, MAX_STATED_BYTES), Voice::Human),
            prompt_chars: u32::try_from(prompt.chars().count()).unwrap_or(u32::MAX),
            substantive,
            ..Turn::default()
        }
    }

    /// Records that the prompt is a plan, and drops its statements. A plan says what was to be done and how it was before, not what was done.
    pub(super) fn take_plan(&mut self) {
        self.carries_plan = true;
        self.statements.clear();
    }

    /// Adds a text of the agent.
    pub(super) fn say(&mut self, said: &str, source: LineRef) {
        self.add(said);
        self.forget_status();
        (self.cut_off, self.is_stopped) = (false, false);
        (self.works, self.has_passed) = (false, false);
        // What the agent says to a report of the client ("that was the server, nothing to do") is not the answer to the
        // prompt.
        let is_aside = std::mem::take(&mut self.notified) && said.len() * 2 < self.answer.len();
        if is_aside || (said.len() < self.answer.len() && signs::reports_background(&said.to_lowercase())) {
            self.state(said, Voice::Work);
            return;
        }
        let earlier = std::mem::take(&mut self.answer);
        let first = self.statements.len();
        self.state(&earlier, Voice::Work);
        if std::mem::take(&mut self.edited_since) {
            let first = first.min(self.statements.len());
            self.statements[first..].iter_mut().for_each(|statement| statement.is_before_edit = true);
        }
        self.answer = text::clip_middle(said, MAX_ANSWER_BYTES, END_OF_ANSWER_BYTES).into_owned();
        self.answered = source;
    }

    /// Returns whether the agent has not said anything since the prompt.
    pub(super) fn is_silent(&self) -> bool {
        self.answer.is_empty()
    }

    /// Returns the prompt if the user interrupted the agent before it said or did anything. Otherwise an empty text.
    pub(super) fn unheard(&self) -> &str {
        if self.cut_off && self.is_silent() && !self.used_tools { &self.prompt } else { "" }
    }

    /// Returns what the user said if the agent neither said nor did anything at it, and not because the user stopped it.
    pub(super) fn left_unheard(&self) -> Option<&str> {
        let is_stopped_by_user = self.cut_off && !self.is_stopped;
        let is_left = self.prompt_chars > 0 && self.is_silent() && !self.used_tools && !is_stopped_by_user;
        let said = if self.whole.is_empty() { &self.title } else { &self.whole };
        (is_left && !said.is_empty() && !said.starts_with('/')).then_some(said)
    }

    /// Adds the statements of a text.
    pub(super) fn state(&mut self, said: &str, voice: Voice) {
        self.statements.extend(statement::statements(said, voice));
        let extra = self.statements.len().saturating_sub(MAX_STATEMENTS);
        self.statements.drain(..extra);
    }

    /// Returns the line that identifies the open part of the turn: that of the prompt, or of what divided the turn.
    pub(super) fn part(&self) -> &LineRef {
        self.part.as_ref().unwrap_or(&self.source)
    }

    /// Returns whether nothing divided the turn.
    pub(super) fn is_whole(&self) -> bool {
        self.part.is_none()
    }

    /// Begins another part of the turn at a line. What was stated belongs to the part before.
    pub(super) fn divide(&mut self, source: LineRef) {
        self.part = Some(source);
        self.statements.clear();
        self.answer.clear();
        self.status = Status::default();
        (self.edited, self.edited_since, self.built, self.acted) = (false, false, false, false);
        (self.committed, self.pushed, self.merged) = (false, false, false);
        (self.failed, self.works) = (false, false);
        self.runs = None;
        self.changed_lines.clear();
        self.added.clear();
        self.acts = Acts::default();
    }

    /// Records what the user said while the agent worked, in one line.
    pub(super) fn remarked(&mut self, said: &str) {
        if self.added.len() < MAX_ADDED {
            self.added.push(text::one_line(said));
        }
    }

    /// Records that the agent uses a tool.
    pub(super) fn uses_tool(&mut self) {
        (self.works, self.used_tools) = (true, true);
    }

    /// Records a commit. What the agent announced before it is done: "Let me prepare the commit".
    pub(super) fn committed(&mut self) {
        (self.committed, self.works) = (true, false);
        self.status.has_worked = true;
    }

    /// Records whether tests, a check or a build passed, or that something else failed or was changed.
    pub(super) fn checked(&mut self, has_passed: bool) {
        self.has_passed = has_passed;
    }

    /// Keeps what the agent stated so far for which `holds` returns true.
    pub(super) fn retain(&mut self, holds: impl Fn(&Statement) -> bool) {
        self.statements.retain(|statement| statement.voice == Voice::Human || holds(statement));
    }

    /// Forgets what the agent takes back, with the sentences that go on after it.
    pub(super) fn retract(&mut self, is_of: impl Fn(&Statement) -> bool) {
        statement::retract(&mut self.statements, is_of);
    }

    /// Returns everything that was stated, the answer included.
    pub(super) fn all_statements(&self) -> Vec<Statement> {
        let mut all = self.statements.clone();
        let mut answer = statement::statements(&self.answer, Voice::Answer);
        // What was listed to be mended is mended by the edits after it.
        if self.edited_since && text::sentences(&self.answer).pop().is_some_and(|last| signs::announces_mending(&last)) {
            answer.retain(|statement| statement.form != Form::Item);
        }
        all.extend(answer);
        all.extend(self.untold_changes());
        // A list of what a new document contains says nothing of the work. A single heading may be named for another reason.
        let is_of_agent = |it: &Statement| matches!(it.voice, Voice::Work | Voice::Answer);
        let is_listed: Vec<bool> = all.iter().map(|it| is_of_agent(it) && self.names_heading(&it.text)).collect();
        if is_listed.iter().filter(|is_listed| **is_listed).count() >= MIN_CONTENTS {
            let mut is_listed = is_listed.into_iter();
            all.retain(|_| !is_listed.next().unwrap_or(false));
        }
        all
    }

    /// Records the headings of a document that the turn wrote.
    pub(super) fn document_written(&mut self, document: &str) {
        // "Added", as in a changelog, is the heading of any document.
        let is_own = |line: &&str| line.starts_with('#') && !prose::is_generic_heading(line.trim_start_matches('#').trim());
        let headings = text::prose_lines(document).filter(is_own).filter_map(heading_hash);
        self.headings.extend(headings.take(MAX_HEADINGS.saturating_sub(self.headings.len())));
    }

    /// Returns whether a statement is a heading of such a document, or says little beside one: "Prices - the five kinds of discounts".
    fn names_heading(&self, said: &str) -> bool {
        const ENDS: [&str; 5] = [" - ", " — ", " – ", " (", " →"];
        const MAX_REST_CHARS: usize = 50;
        let weight = |rest: &str| rest.chars().map(|c| if c.is_ascii() { 1 } else { 2 }).sum::<usize>();
        let ends = ENDS.iter().filter_map(|end| said.find(end)).filter(|end| weight(&said[*end..]) <= MAX_REST_CHARS);
        let is_heading = |end: usize| heading_hash(&said[..end]).is_some_and(|hash| self.headings.contains(&hash));
        !self.headings.is_empty() && ends.chain([said.len()]).any(is_heading)
    }

    /// Records that the agent changed a file, and whether the file only describes something.
    pub(super) fn file_edited(&mut self, is_description: bool) {
        (self.edited, self.edited_since, self.has_passed) = (true, true, false);
        self.status.has_worked = true;
        self.built |= !is_description;
        for statement in self.statements.iter_mut().filter(|statement| statement.voice == Voice::Work) {
            statement.is_before_edit = true;
        }
    }

    /// Adds the beginning of a thought of the agent.
    pub(super) fn think(&mut self, thought: &str) {
        self.add(&text::clip(thought, MAX_THOUGHT_CHARS));
    }

    /// Adds a command that the agent ran. `verdict` contains its test counts, or is empty. The description that the
    /// agent gives of a command is left out because it only repeats the prose.
    pub(super) fn run(&mut self, command: &str, verdict: &str) {
        let command = text::one_line(command);
        let command = text::clip(&command, MAX_COMMAND_CHARS);
        self.add(&if verdict.is_empty() { format!("`{command}`") } else { format!("`{command}` — {verdict}") });
    }

    /// Adds a part. The beginning and the end of a turn say the most, so parts in the middle are dropped when space
    /// runs out.
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

    /// Records that the turn touches a file.
    pub(super) fn add_file(&mut self, file: &str) {
        if self.files.len() < MAX_FILES && !self.files.iter().any(|known| known == file) {
            self.files.push(file.to_owned());
        }
    }

    /// Returns the turn as a memory, or none if nothing was said.
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
        // A prompt of nothing but marks, such as a lone code fence, has no line that could serve as a title.
        let title = if self.title.trim().is_empty() { text::one_line(&content) } else { self.title.clone() };
        let mut attributes = vec![SaidBy::Agent.attribute()];
        let asked = self.prompt.lines().map(str::trim).find(|line| !line.is_empty());
        attributes.extend(asked.map(|line| ("prompt".to_owned(), text::clip(line, MAX_ASKED_CHARS).into_owned())));
        Some(Draft {
            key: Some(format!("turn:{}", self.source.uuid)),
            kind: "turn".to_owned(),
            title: text::clip(&title, 160).into_owned(),
            content,
            keywords: Vec::new(),
            files: self.files.clone(),
            importance: 0.1,
            origin: self.source.origin(),
            attributes,
        })
    }
}

/// Hashes a heading without its marks and its number. Returns none for one that is no more than that.
fn heading_hash(line: &str) -> Option<u32> {
    let lower = text::plain(line.trim_start_matches('#')).to_lowercase();
    let bare = lower.trim_start_matches(|c: char| c.is_ascii_digit() || !c.is_alphanumeric()).trim();
    (!bare.is_empty()).then(|| text::hash(bare))
}

fn size<'a>(parts: impl IntoIterator<Item = &'a String>) -> usize {
    parts.into_iter().map(|part| part.chars().count()).sum()
}

/// Returns the byte offset just past that many characters.
fn byte_offset(text: &str, chars: usize) -> usize {
    text.char_indices().nth(chars).map_or(text.len(), |(at, _)| at)
}

/// Shortens the text to at most `max` characters: its beginning and its end.
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
    fn a_word_on_what_ran_beside_the_work_is_no_answer() {
        let mut turn = Turn::begin(LineRef::default(), "open the till".to_owned(), "open the till", true);
        let answer = "The till opens now, and the drawer stays shut until the total of the cart is paid in cash or by card, with a slip.";
        turn.say(answer, LineRef::default());
        turn.say("The background server has finished. Ready.", LineRef::default());
        assert_eq!(turn.answer, answer);
        turn.say("The background of the till is blue.", LineRef::default());
        assert_ne!(turn.answer, answer);
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
    fn the_contents_of_a_new_document_are_not_stated() {
        let mut turn = Turn::begin(LineRef::default(), "write it".to_owned(), "write it", true);
        turn.document_written("# Till\n\n## Prices\n\n## 2. Slips\n\n## Taxes\n\ntext");
        let answer =
            "The manual is written.\n\n- **Prices** - five kinds\n- Slips (line 3)\n- Taxes\n- Till: opened by hand";
        turn.say(answer, LineRef::default());
        let told: Vec<String> = turn.all_statements().into_iter().map(|it| it.text).collect();
        assert_eq!(told, ["write it", "The manual is written.", "Till: opened by hand"]);
        turn.say("Slips now begin with the date.", LineRef::default());
        assert!(turn.all_statements().iter().any(|it| it.text.starts_with("Slips now")));
    }

    #[test]
    fn a_commit_ends_what_was_announced_before_it() {
        let mut turn = Turn::begin(LineRef::default(), "commit".to_owned(), "commit", false);
        turn.say("Let me prepare the commit.", LineRef::default());
        turn.uses_tool();
        assert!(turn.is_unfinished());
        turn.committed();
        assert!(!turn.is_unfinished());
    }

    #[test]
    fn a_heading_that_is_only_a_number_names_nothing() {
        let mut turn = Turn::begin(LineRef::default(), "write it".to_owned(), "write it", true);
        turn.document_written("# Till\n\n## Prices\n\n## Slips\n\n## 1.\n\ntext");
        turn.say("It is written.\n\n- Prices\n- Slips\n- 2 - the drawer opens", LineRef::default());
        assert!(turn.all_statements().iter().any(|it| it.text.ends_with("the drawer opens")));
    }

    #[test]
    fn statements_know_whether_files_were_changed_after_them() {
        let mut turn = Turn::begin(LineRef::default(), "fix it".to_owned(), "fix it", true);
        turn.say("The total is wrong.", LineRef::default());
        turn.say("The tax is missing.", LineRef::default());
        turn.file_edited(false);
        turn.say("Both are right now.", LineRef::default());
        turn.say("The menu is still slow.", LineRef::default());
        let before: Vec<bool> = turn.all_statements().iter().map(|statement| statement.is_before_edit).collect();
        assert_eq!(before, [false, true, true, false, false], "the prompt, two problems, and two texts after the change");
    }

    #[test]
    fn what_was_listed_to_be_mended_is_mended_by_the_edits_after_it() {
        let told = |said: &str, edits: bool| {
            let mut turn = Turn::begin(LineRef::default(), "review it".to_owned(), "review it", true);
            turn.say(said, LineRef::default());
            if edits {
                turn.file_edited(false);
            }
            turn.all_statements().iter().any(|it| it.text.contains("tax") || it.text.contains("税"))
        };
        let found = "指摘は2件です。\n\n1. 合計の丸めが抜けている\n2. レシートに税の列がない\n\n両方とも修正します。";
        assert!(!told(found, true) && told(found, false));
        let found = "Two findings:\n\n- the sum is rounded twice\n- the tax is missing on the receipt\n\nLet me fix both.";
        assert!(!told(found, true) && told(found, false));
        assert!(told("Done:\n\n- the sum is rounded once\n- the tax is on the receipt", true));
    }

    #[test]
    fn a_prompt_of_marks_is_titled_by_its_text() {
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
            // The blank lines between the parts are not counted.
            let blanks = 2 * (turn.first.len() + turn.last.len() + 2);
            prop_assert!(content(&turn).chars().count() <= MAX_TURN_CHARS + blanks + GAP.len());
        }
    }
}
