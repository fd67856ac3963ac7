//! The merge of a reading: the answers of all extractors become one result, with a summary.

use std::time::Instant;

use anyhow::Result;

use super::extract::Answer;
use crate::hooks::journal_writer;
use crate::text::within_chars;
use throughline_model::contract::{Draft, Origin, Session, SessionNotes};
use throughline_model::redacted::Texts;
use throughline_model::said_by::SaidBy;
use throughline_privacy::ExclusionRules;
use throughline_sandbox::chain::{PolicyId, Work};
use throughline_store::journal::EventPayload;
use throughline_store::{ExtractorState, Learned, SessionUpdate};

/// The key of a session's summary among its drafts.
const SUMMARY_KEY: &str = "session-summary";

/// The contract's limits for a title (characters) and for content (bytes).
const MAX_TITLE: usize = 200;
const MAX_CONTENT: usize = 64 << 10;

/// The limits of a session's summary: its text (bytes), and the number and length (characters) of its topics. The default
/// policy stays far below them.
const MAX_SUMMARY: usize = 16 << 10;
const MAX_TOPICS: usize = 64;
const MAX_TOPIC: usize = 200;

/// The attribute of a draft with the first line of the prompt that it begins with.
const PROMPT_ATTRIBUTE: &str = "prompt";

/// A prompt that a transcript records.
pub(super) struct RecordedPrompt {
    /// Its first line.
    pub(super) text: String,
    /// The identifier of its line in the transcript.
    pub(super) line: String,
    /// When it was written, milliseconds since the Unix epoch.
    pub(super) at: u64,
}

/// What all extractors found in one chunk.
#[derive(Default)]
pub(super) struct ExtractionResult {
    /// Names and digests of the policies. The first one is the primary policy, whose notes become the session's.
    policies: Vec<(String, String)>,
    /// Each draft with the index of its policy in `policies`.
    drafts: Vec<(usize, Draft)>,
    /// Keys of memories that are no longer valid.
    retracted: Vec<String>,
    /// The session's notes, including what additional policies contributed.
    notes: SessionNotes,
    /// The extractors' private states.
    states: Vec<ExtractorState>,
    /// The session's summary; empty if there is none.
    summary: String,
    /// The topics of the summary.
    topics: Vec<String>,
}

impl ExtractionResult {
    /// Merges the answers, the primary extractor's first. `to` is the offset up to which it has read.
    pub(super) fn merge(answers: Vec<Answer>, to: u64) -> Self {
        let mut it = Self::default();
        for (place, Answer { policy_id, extraction, before }) in answers.into_iter().enumerate() {
            it.drafts.extend(extraction.drafts.into_iter().map(|draft| {
                let key = draft.key.as_deref().map(|key| own_key(key, &policy_id));
                (place, bounded(Draft { key, ..draft }))
            }));
            it.retracted.extend(extraction.retracted.iter().map(|key| own_key(key, &policy_id)));
            if place == 0 {
                it.notes = extraction.notes;
            } else {
                add_notes(&mut it.notes, extraction.notes);
            }
            // The primary extractor's position is the cursor's. An additional extractor has its own; the value it
            // reports is clamped.
            let read_to = (place > 0).then(|| extraction.consumed.clamp(before.read_to.unwrap_or(0).min(to), to));
            it.states.push(ExtractorState { state: extraction.state, read_to, ..before });
            it.policies.push((policy_id.name, policy_id.digest));
        }
        // If a policy does not say when something was learned, the session's last moment is a better guess than the
        // current time: the transcript may be a year old.
        for (_, draft) in &mut it.drafts {
            draft.origin.at = draft.origin.at.or(it.notes.ended);
        }
        it
    }

    /// Removes everything about files that the user excluded. Their lines were never given to the extractors, but an
    /// extractor may know of such files from earlier, or from the user's words.
    pub(super) fn leave_out(&mut self, rules: &ExclusionRules) {
        if rules.is_empty() {
            return;
        }
        let is_about = |file: &String| rules.names_excluded_path(file);
        self.drafts.retain(|(_, draft)| !draft.files.iter().any(is_about));
        self.notes.changes.retain(|change| !rules.names_excluded_path(&change.path));
        self.notes.discoveries.retain(|discovery| !rules.names_excluded_path(&discovery.file));
        clean(rules, self.notes.texts_mut());
        clean(rules, self.drafts.iter_mut().flat_map(|(_, draft)| draft.texts_mut()).collect());
        clean(rules, self.retracted.iter_mut().chain(self.states.iter_mut().map(|state| &mut state.state)).collect());
    }

    /// Keeps only what a sub-agent learned: its prompts are its parent's words, and it makes no decisions for the user.
    /// The id is added to keys, so that several sub-agents do not collide.
    pub(super) fn keep_sub_agent(&mut self, id: &str) {
        const OF_MAIN: [&str; 9] =
            ["compact_summary", "correction", "decision", "plan", "preference", "result", "session_summary", "task", "turn"];
        let own = |key: &str| format!("sub-agent:{id}:{key}");
        self.drafts.retain(|(_, draft)| !OF_MAIN.contains(&draft.kind.as_str()));
        for (_, draft) in &mut self.drafts {
            draft.key = draft.key.as_deref().map(own);
        }
        for key in &mut self.retracted {
            *key = own(key);
        }
    }

    /// Takes the prompts that drafts begin with, each with its time and the identifier of its line.
    pub(super) fn take_prompts(&mut self) -> Vec<RecordedPrompt> {
        let mut prompts = Vec::new();
        for (_, draft) in &mut self.drafts {
            let Some(place) = draft.attributes.iter().position(|(name, _)| name == PROMPT_ATTRIBUTE) else { continue };
            let (_, text) = draft.attributes.remove(place);
            if let Origin { line_uuid: Some(line), at: Some(at) } = &draft.origin
                && !text.trim().is_empty()
            {
                prompts.push(RecordedPrompt { text, line: line.clone(), at: *at });
            }
        }
        prompts
    }

    /// Summarizes the notes.
    pub(super) fn summarize(&mut self, work: &mut Work<'_>, session: &Session, until: Instant) -> Result<()> {
        match work.summarize(session, &self.notes, until)? {
            Some(summary) => {
                self.summary = summary.text;
                cut_far_beyond(&mut self.summary, MAX_SUMMARY);
                self.topics = summary.topics;
                self.topics.truncate(MAX_TOPICS);
                self.topics.iter_mut().for_each(|topic| cut_far_beyond(topic, MAX_TOPIC));
            }
            None => self.retracted.push(SUMMARY_KEY.into()),
        }
        Ok(())
    }

    /// Returns the names and digests of the policies, which a person or an administrator chose.
    pub(super) fn take_policies(&mut self) -> Vec<(String, String)> {
        std::mem::take(&mut self.policies)
    }

    /// Returns what is to be redacted and stored. `update` says what else is known of the session; it is stored if the
    /// transcript holds anything of a conversation.
    pub(super) fn into_learned(self, update: Option<SessionUpdate>, event: Option<(&'static str, EventPayload)>) -> Learned {
        let is_worth =
            self.notes.turns > 0 || !self.drafts.is_empty() || !self.summary.is_empty() || !self.notes.changes.is_empty();
        // The extractor may have found the model in the transcript.
        let model = self.notes.attributes.iter().find(|(name, _)| name == "model").map(|(_, value)| value.clone());
        let session = update.filter(|_| is_worth).map(|update| SessionUpdate {
            model: update.model.or(model),
            notes: self.notes,
            summary: self.summary,
            topics: self.topics,
            ..update
        });
        Learned { session, drafts: self.drafts, retracted: self.retracted, states: self.states, event, calls: Vec::new() }
    }
}

fn bounded(mut draft: Draft) -> Draft {
    cut_far_beyond(&mut draft.title, MAX_TITLE);
    cut_far_beyond(&mut draft.content, MAX_CONTENT);
    draft
}

/// Cuts a text to several times its limit, so that what no limit would let through is not redacted either. The last word goes
/// too: it may be half a secret.
fn cut_far_beyond(text: &mut String, most: usize) {
    const TIMES: usize = 4;
    if text.len() > TIMES * most {
        text.truncate(text.floor_char_boundary(TIMES * most));
        text.truncate(text.rfind(char::is_whitespace).unwrap_or(0));
    }
}

/// Cuts redacted texts to their limits, validates kinds and keys, and makes the summary a memory. This happens only now, because half a secret is
/// not recognized.
pub(super) fn within_limits(mut learned: Learned) -> Learned {
    for (_, draft) in &mut learned.drafts {
        draft.validate_identity();
        draft.validate_said_by();
        if let Some((end, _)) = draft.title.char_indices().nth(MAX_TITLE) {
            draft.title.truncate(end);
        }
        // An export leaves the white space at the end out, and the next reader would have another title.
        draft.title.truncate(draft.title.trim_end().len());
        draft.content.truncate(draft.content.floor_char_boundary(MAX_CONTENT));
    }
    if let Some(session) = &mut learned.session {
        session.summary.truncate(session.summary.floor_char_boundary(MAX_SUMMARY));
        for topic in &mut session.topics {
            *topic = topic.chars().take(MAX_TOPIC).collect();
        }
    }
    if let Some(session) = learned.session.as_ref().filter(|session| !session.summary.is_empty()) {
        learned.drafts.push((0, summary_draft(&session.summary, &session.topics, &session.notes)));
    }
    if let Some((_, seen)) = &mut learned.event {
        journal_writer::enforce_limits(seen);
    }
    for record in &mut learned.calls {
        journal_writer::enforce_limits(&mut record.seen);
    }
    learned
}

fn summary_draft(text: &str, topics: &[String], notes: &SessionNotes) -> Draft {
    let title = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim();
    Draft {
        key: Some(SUMMARY_KEY.into()),
        kind: "session_summary".into(),
        title: within_chars(title, MAX_TITLE),
        content: text.into(),
        keywords: topics.to_vec(),
        files: notes.changes.iter().map(|change| change.path.clone()).collect(),
        importance: 0.5,
        origin: Origin { line_uuid: None, at: notes.ended.or(notes.started) },
        attributes: vec![SaidBy::Agent.attribute()],
    }
}

/// Removes text that the user excluded.
pub(super) fn clean(rules: &ExclusionRules, slots: Vec<&mut String>) {
    for slot in slots {
        if let Some(cleaned) = rules.clean(slot) {
            *slot = cleaned;
        }
    }
}

/// Makes a key unique to its policy. Policies do not know each other's keys, so the keys of all but the default get the
/// policy's name as prefix.
fn own_key(key: &str, policy_id: &PolicyId) -> String {
    if policy_id.is_default() { key.to_owned() } else { format!("{}:{key}", policy_id.name) }
}

/// Appends another extractor's notes to those already there, without duplicates.
fn add_notes(notes: &mut SessionNotes, more: SessionNotes) {
    fn add<T: PartialEq>(list: &mut Vec<T>, more: Vec<T>) {
        for item in more {
            if !list.contains(&item) {
                list.push(item);
            }
        }
    }
    for (text, more) in [
        (&mut notes.original_request, more.original_request),
        (&mut notes.current_objective, more.current_objective),
        (&mut notes.outcome, more.outcome),
    ] {
        if text.is_empty() {
            *text = more;
        }
    }
    add(&mut notes.done, more.done);
    add(&mut notes.current, more.current);
    add(&mut notes.pending, more.pending);
    add(&mut notes.decisions, more.decisions);
    add(&mut notes.discoveries, more.discoveries);
    add(&mut notes.learnings, more.learnings);
    add(&mut notes.preferences, more.preferences);
    add(&mut notes.commits, more.commits);
    add(&mut notes.blockers, more.blockers);
    add(&mut notes.errors, more.errors);
    add(&mut notes.attributes, more.attributes);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attack_a_summary_without_end() {
        let text = "word ".repeat(1 << 20);
        let mut summary = text.clone();
        cut_far_beyond(&mut summary, MAX_SUMMARY);
        assert!(summary.len() <= 4 * MAX_SUMMARY && summary.ends_with("word"));
        let session = SessionUpdate { summary: text.clone(), topics: vec![text], ..SessionUpdate::default() };
        let learned = within_limits(Learned { session: Some(session), ..Learned::default() });
        let session = learned.session.as_ref().unwrap();
        assert_eq!((session.summary.len(), session.topics[0].len()), (MAX_SUMMARY, MAX_TOPIC));
        let (_, draft) = &learned.drafts[0];
        assert!(draft.content.len() <= MAX_SUMMARY && draft.title.chars().count() <= MAX_TITLE);
        assert!(draft.title.ends_with("word…"), "{:?}", draft.title);
    }
}
