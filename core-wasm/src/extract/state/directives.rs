//! The user's standing rules and corrections.

use std::borrow::Cow;

use super::State;
use crate::bindings::throughline::policy::types::Draft;
use crate::extract::clean;
use crate::extract::human;
use crate::extract::labels::Labels;
use crate::extract::memories::{LineRef, REMARK_KEY, SessionMemory};
use crate::extract::options;
use crate::extract::prose;
use crate::said_by::SaidBy;
use crate::text;

/// The length of a correction together with what it is about, the most and the least of the latter, in characters.
const MAX_CORRECTION_CHARS: usize = 280;
pub(super) const MAX_ABOUT_CHARS: usize = 160;
const MIN_ABOUT_CHARS: usize = 40;
/// The maximum length of a correction that only points to a call that was stopped, in characters.
const MAX_POINTING_CHARS: usize = 40;
/// The maximum length of a correction together with what the agent says when it takes it up, in characters.
const MAX_TAKEN_UP_CHARS: usize = 400;
/// The maximum length of a note that the user had the client keep, in characters.
const MAX_NOTE_CHARS: usize = 400;

impl State {
    /// Records standing rules and corrections. `about` is what was asked for before.
    pub(super) fn record_directives(&mut self, prompt: &str, about: &str, source: &LineRef, settled: &mut Vec<Draft>) {
        let refused = std::mem::take(&mut self.refused);
        let was_interrupted = std::mem::take(&mut self.interrupted);
        self.question_deferred = false;
        self.awaited.vague_correction.clear();
        let after_work = self.turns > 1 || !self.turn.answer.is_empty();
        let word = human::directives(prompt, after_work);
        for (number, rule) in word.rules.iter().enumerate() {
            let memory = SessionMemory {
                key: format!("rule:{}:{number}", source.uuid),
                kind: "preference".to_owned(),
                title: rule.clone(),
                content: self.rule_in_context(rule, about),
                importance: 90,
                source: source.clone(),
                said_by: SaidBy::Human,
                ..SessionMemory::default()
            };
            self.memories.add(memory, settled);
        }
        if word.rules.is_empty() {
            self.ban_repeated(prompt, source, settled);
        }
        // Other words after a refusal steer one step.
        let Some(said) = word.correction.filter(|_| word.rules.is_empty()) else {
            return;
        };
        let said = prose::strip_interjection(&said).to_owned();
        // Whoever interrupts a call may mean another thing than the call that happened to run.
        let points = said.chars().count() <= MAX_POINTING_CHARS && human::points_back(&said);
        let is_of_call = !was_interrupted || points || shares_word(&said, &refused);
        let refused = if is_of_call { refused } else { String::new() };
        // What only has something changed is over with the change, and so is what holds it back. A refusal steers what comes after it.
        let is_over = human::holds_back(&said) || (refused.is_empty() && !human::outlasts_change(&said));
        let kind = if is_over { REMARK_KEY } else { "correction:" };
        // As the answer to a question it was told with the question.
        let answers = |memory: &SessionMemory| {
            memory.kind == "decision" && memory.source.uuid == source.uuid && memory.title.ends_with(&said)
        };
        if self.memories.live().any(answers) {
            return;
        }
        let proposed = Some(&self.last_answer).filter(|_| human::stops_what_was_proposed(&said));
        let proposed = proposed.and_then(|answer| prose::recommended(answer));
        let proposed = proposed.map(|said| format!("{}: {said}", SaidBy::Agent.word()));
        let about = proposed.map_or_else(|| self.about(&said, prompt, about), Cow::Owned);
        if human::points_back(&said) {
            self.awaited.vague_correction.clone_from(&source.uuid);
        }
        let memory = SessionMemory {
            key: format!("{kind}{}", source.uuid),
            kind: "correction".to_owned(),
            content: correction_text(&said, &refused, &word.quoted, &about, self.labels()),
            title: said,
            importance: if refused.is_empty() { 65 } else { 70 },
            source: source.clone(),
            said_by: SaidBy::Human,
            ..SessionMemory::default()
        };
        self.memories.add(memory, settled);
    }

    /// Records a short ban that an earlier prompt gave in the same words: whoever repeats an order means it for the next time, too.
    fn ban_repeated(&mut self, prompt: &str, source: &LineRef, settled: &mut Vec<Draft>) {
        const MAX_BANS: usize = 24;
        let mut new = Vec::new();
        for ban in human::short_bans(prompt) {
            let hash = text::hash(&ban);
            if !self.bans.contains(&hash) {
                new.push(hash);
                continue;
            }
            let memory = SessionMemory {
                key: format!("rule:ban:{hash:08x}"),
                kind: "preference".to_owned(),
                title: ban,
                importance: 85,
                source: source.clone(),
                said_by: SaidBy::Human,
                ..SessionMemory::default()
            };
            self.memories.add(memory, settled);
        }
        self.bans.extend(new);
        let extra = self.bans.len().saturating_sub(MAX_BANS);
        self.bans.drain(..extra);
    }

    /// Records a note that the user had the client keep: it holds for later sessions too.
    pub(super) fn user_noted(&mut self, note: &str, source: &LineRef, settled: &mut Vec<Draft>) {
        let memory = SessionMemory {
            key: format!("rule:{}:0", source.uuid),
            kind: "preference".to_owned(),
            title: text::clip(&clean::clean(note), MAX_NOTE_CHARS).into_owned(),
            importance: 90,
            source: source.clone(),
            said_by: SaidBy::Human,
            ..SessionMemory::default()
        };
        self.memories.add(memory, settled);
    }

    /// Returns what a part of a prompt is about: an option of the answer before it that it speaks of, what that answer proposes if the
    /// prompt agrees to it, or else `request`, what was asked for before.
    pub(super) fn about<'r>(&self, said: &str, prompt: &str, request: &'r str) -> Cow<'r, str> {
        // What the prompt itself asks for first.
        let own = || {
            let first = text::first_sentence(prompt)?;
            let is_other = !said.contains(first.as_str()) && !first.contains(said);
            (is_other && human::stands_alone(&first) && !human::is_consent(&first)).then_some(first)
        };
        let proposed = || {
            let question = prose::closing_question(&self.last_answer).filter(|_| human::begins_with_consent(prompt))?;
            Some(format!("{}: {question}", SaidBy::Agent.word()))
        };
        options::meant(said, &self.last_answer).or_else(proposed).or_else(own).map_or(Cow::Borrowed(request), Cow::Owned)
    }

    /// Keeps what the user says against the work, unless it was recorded in another way. It corrects if the agent gives in.
    pub(super) fn await_concession(&mut self, prompt: &str, about: &str, source: &LineRef) {
        let Some(said) = human::objection(prompt).filter(|_| !self.is_recorded(source, false)) else { return };
        let about = self.about(&said, prompt, about);
        self.awaited.objection = Some(SessionMemory {
            key: format!("{}{}", if human::outlasts_change(&said) { "correction:" } else { REMARK_KEY }, source.uuid),
            kind: "correction".to_owned(),
            content: correction_text(&said, "", "", &about, self.labels()),
            title: said,
            importance: 60,
            source: source.clone(),
            said_by: SaidBy::Human,
            ..SessionMemory::default()
        });
    }

    /// Records what the user said against the work, now that the agent gives in. What the agent says then tells what was meant.
    pub(super) fn objection_conceded(&mut self, said: &str, settled: &mut Vec<Draft>) {
        // "Good catch" mostly thanks for a fault that is mended next.
        let only_thanks = text::contains_any(&text::head(said, 40).to_lowercase(), &["catch"]);
        let Some(memory) = self.awaited.objection.take().filter(|_| !only_thanks) else { return };
        self.awaited.vague_correction.clone_from(&memory.source.uuid);
        self.memories.add(memory, settled);
    }

    /// Adds to a correction that only points to something what the agent says when it takes the correction up.
    pub(super) fn correction_taken_up(&mut self, said: &str, settled: &mut Vec<Draft>) {
        let uuid = std::mem::take(&mut self.awaited.vague_correction);
        let is_of = |memory: &&SessionMemory| memory.kind == "correction" && memory.source.uuid == uuid;
        let Some(known) = self.memories.live().find(is_of).filter(|_| !uuid.is_empty()) else { return };
        let Some(taken_up) = prose::acknowledged(said) else { return };
        let mut memory = known.clone();
        // What the agent says tells better than the request before it what the correction is about.
        let is_asked = memory.content.contains(&format!("({}: ", self.labels().about));
        let before = if is_asked { &memory.title } else { &memory.content };
        // It stays the human's word, so what the agent says is marked as the agent's.
        let understood = format!("{before} ({}: {taken_up})", self.labels().understood);
        memory.content = text::clip(&understood, MAX_TAKEN_UP_CHARS).into_owned();
        self.memories.add(memory, settled);
    }

    /// Returns a rule with what the user asked for before, if it points there. Empty if the rule says everything.
    fn rule_in_context(&self, rule: &str, about: &str) -> String {
        let room = MAX_CORRECTION_CHARS.saturating_sub(rule.chars().count()).min(MAX_ABOUT_CHARS);
        // Another sentence of the prompt may say it already.
        let is_alone = human::rule_needs_context(rule) && text::sentences(rule).len() == 1;
        if about.is_empty() || !is_alone || room < MIN_ABOUT_CHARS {
            return String::new();
        }
        format!("{rule} ({}: {})", self.labels().about, text::clip(about, room))
    }
}

/// Returns whether two texts have a word in common.
fn shares_word(one: &str, other: &str) -> bool {
    !text::features(one).is_disjoint(&text::features(other))
}

/// Returns a correction with what it is about: what was refused, or what it quotes, or what was asked for before it. The last three may
/// be empty.
fn correction_text(said: &str, refused: &str, quoted: &str, about: &str, labels: &Labels) -> String {
    let room = MAX_CORRECTION_CHARS.saturating_sub(said.chars().count());
    if !refused.is_empty() {
        format!("{said} ({})", labels.refused.replace("{}", refused))
    } else if room < MIN_ABOUT_CHARS {
        said.to_owned()
    } else if !quoted.is_empty() {
        format!("{said} ({}: \"{}\")", labels.about, text::clip(quoted, room))
    } else if !about.is_empty() && human::needs_context(said) {
        format!("{said} ({}: {})", labels.about, text::clip(about, room.min(MAX_ABOUT_CHARS)))
    } else {
        said.to_owned()
    }
}
