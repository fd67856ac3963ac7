//! What the user settles in passing, while the agent works, or by refusing something.

use std::borrow::Cow;

use super::State;
use super::decisions::{MAX_CHOICE_CHARS, decision};
use super::directives::MAX_ABOUT_CHARS;
use crate::bindings::throughline::policy::types::Draft;
use crate::extract::human;
use crate::extract::labels::Labels;
use crate::extract::memories::{LineRef, RULING_KEY, SessionMemory};
use crate::said_by::SaidBy;
use crate::text;

/// The maximum length of what a ruling is about, in characters.
pub(super) const MAX_RULING_ABOUT: usize = 100;

/// What the user answers with a ruling.
#[derive(Clone, Copy)]
pub(super) enum Answers<'a> {
    /// Nothing but the work.
    Work,
    /// The question with which the agent ended right before.
    Question(&'a str),
    /// A call that the user refused. `is_text` says whether it is an edit or a plan.
    Refused { what: &'a str, is_text: bool },
}

impl State {
    /// Records what the user settles in passing, with what was asked for before if it only points there.
    pub(super) fn record_settled(&mut self, prompt: &str, about: &str, source: &LineRef, settled: &mut Vec<Draft>) {
        let labels = self.labels();
        for said in human::settled_in_passing(prompt) {
            // As the answer to a question it was told with the question.
            let bare = said.trim_end_matches(['.', '!']);
            let answers =
                |memory: &SessionMemory| memory.source.uuid == source.uuid && memory.title.ends_with(&format!(" → {bare}"));
            if self.memories.live().any(answers) {
                continue;
            }
            // Behind another sentence it points there.
            let is_first = text::first_sentence(prompt).is_some_and(|first| first == said);
            let said = if !about.is_empty() && is_first && human::points_back(&said) {
                format!("{said} ({}: {})", labels.about, text::clip(about, MAX_ABOUT_CHARS))
            } else {
                said
            };
            self.record_decided("settled", said, SaidBy::Human, 70, source, settled);
        }
    }

    /// Records what the user wants in the place of what was refused: that steers the rest of the work.
    pub(super) fn record_steering(&mut self, reason: &str, refused: &str, source: &LineRef, settled: &mut Vec<Draft>) {
        let about = self.labels().refused.replace("{}", &text::clip(refused, MAX_CHOICE_CHARS));
        for said in human::steering(reason) {
            let said = if refused.is_empty() { said } else { format!("{said} ({about})") };
            self.record_decided("steered", said, SaidBy::Human, 75, source, settled);
        }
    }

    /// Records what the user settles while the agent works. What is put as a question waits until the agent changes files.
    pub(super) fn record_rulings(
        &mut self,
        said: &str,
        about: &str,
        answers: Answers<'_>,
        source: &LineRef,
        settled: &mut Vec<Draft>,
    ) {
        let labels = self.labels();
        let (refused, is_text) = match answers {
            Answers::Refused { what, is_text } => (what, is_text),
            _ => ("", false),
        };
        // What was taken from the same words in another way tells them better.
        let of_words = |memory: &&SessionMemory| memory.source.uuid == source.uuid;
        if self.memories.live().filter(of_words).any(|memory| memory.kind == "decision") {
            return;
        }
        for ruling in rulings_in(said, refused, is_text) {
            // What is done once it is done binds nobody.
            if ruling.asks && refused.is_empty() && !human::asks_to_stay(&ruling.said) {
                continue;
            }
            // A correction goes on after it.
            let goes_on = |memory: &SessionMemory| memory.kind == "correction" && memory.title.contains(&ruling.said);
            if self.memories.live().filter(of_words).any(goes_on) {
                continue;
            }
            let key = format!("{RULING_KEY}{:08x}", text::hash(&ruling.said));
            let about = match answers {
                Answers::Question(question) if is_first(&ruling.said, said) => {
                    Cow::Owned(format!("{}: {question}", SaidBy::Agent.word()))
                }
                _ => self.about(&ruling.said, said, about),
            };
            let about = Some(about).filter(|about| !about.is_empty() && ruling.points);
            let what = ruled(&ruling.said, refused, about.as_deref(), labels);
            let memory = SessionMemory {
                key,
                title: what.clone(),
                content: what,
                importance: 60,
                said_by: SaidBy::Human,
                turn: self.turns,
                ..decision(source)
            };
            if ruling.asks {
                self.asked_rulings.push(memory);
            } else {
                self.memories.add(memory, settled);
            }
        }
    }

    /// Records what the user asked to be so, now that the agent changed files for it.
    pub(super) fn rulings_followed(&mut self, settled: &mut Vec<Draft>) {
        for memory in std::mem::take(&mut self.asked_rulings) {
            self.memories.add(memory, settled);
        }
    }
}

/// Returns what a text settles. `refused` is the call that it was said to instead of an answer, and `is_text` says whether that call
/// writes a text. What is said to another call mostly is the next step.
fn rulings_in(said: &str, refused: &str, is_text: bool) -> Vec<human::Ruling> {
    let mut rulings = human::rulings(said);
    if rulings.is_empty() && !refused.is_empty() {
        rulings.extend(human::replacement(said));
        if rulings.is_empty() && is_text {
            rulings.extend(human::wishes(said));
        }
        if rulings.is_empty() {
            rulings.extend(human::proposed_instead(said));
        }
    }
    rulings
}

/// Returns a ruling with what it is about: the call that it was said to, which says which part of the work it is about, or else the
/// subject of the work.
fn ruled(said: &str, refused: &str, about: Option<&str>, labels: &Labels) -> String {
    let is_record = refused.starts_with('`') && human::speaks_of_recording(refused);
    match about {
        _ if !refused.is_empty() && !is_record && said.chars().count() <= MAX_ABOUT_CHARS => {
            format!("{said} ({})", labels.refused.replace("{}", &text::clip(refused, MAX_RULING_ABOUT)))
        }
        Some(about) => format!("{said} ({}: {})", labels.about, text::clip(about, MAX_RULING_ABOUT)),
        None => said.to_owned(),
    }
}

/// Returns whether what is said stands first in a prompt.
fn is_first(said: &str, prompt: &str) -> bool {
    text::first_sentence(prompt).is_some_and(|first| first.starts_with(said) || said.starts_with(&first))
}
