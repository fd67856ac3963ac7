//! The result of extracting one chunk of a transcript: the extractions of all policies, merged, summarized and
//! redacted.

use std::time::Instant;

use anyhow::Result;

use throughline_model::contract::{Draft, Origin, Session, SessionNotes};
use throughline_privacy::Rules;
use throughline_sandbox::chain::{Extracted, Maker, Work};
use throughline_store::ExtractorState;
use throughline_store::journal::Seen;

/// The key of a session's summary among its drafts.
const SUMMARY_KEY: &str = "session-summary";

/// The contract's limits for a title (characters) and for content (bytes).
const MOST_TITLE: usize = 200;
const MOST_CONTENT: usize = 64 << 10;

/// The data that is about to be stored.
pub(super) struct Gathered {
    /// Names and digests of the policies. The first one is the primary policy, whose notes become the session's.
    pub makers: Vec<(String, String)>,
    /// Each draft with the index of its policy in `makers`.
    pub drafts: Vec<(usize, Draft)>,
    /// Keys of memories that are no longer valid.
    pub retracted: Vec<String>,
    /// The session's notes, including what additional policies contributed.
    pub notes: SessionNotes,
    /// The extractors' private states.
    pub states: Vec<ExtractorState>,
    /// The session's summary; empty if there is none.
    pub summary: String,
    /// The topics of the summary.
    pub topics: Vec<String>,
}

impl Gathered {
    /// Merges the extractions in `more` into `base`. `before` holds the states that the extractors were given; `to` is
    /// the offset up to which `base` has read.
    pub(super) fn new(base: Extracted, more: Vec<Extracted>, before: &[ExtractorState], to: u64) -> Self {
        let mut it = Self {
            makers: Vec::new(),
            drafts: Vec::new(),
            retracted: Vec::new(),
            notes: SessionNotes::default(),
            states: Vec::new(),
            summary: String::new(),
            topics: Vec::new(),
        };
        for Extracted { maker, extraction, .. } in std::iter::once(base).chain(more) {
            let place = it.makers.len();
            it.drafts.extend(extraction.drafts.into_iter().map(|draft| (place, with_own_key(draft, &maker))));
            it.retracted.extend(extraction.retracted.iter().map(|key| own_key(key, &maker)));
            if place == 0 {
                it.notes = extraction.notes;
            } else {
                add_notes(&mut it.notes, extraction.notes);
            }
            if let Some(before) = before.iter().find(|state| state.policy == maker.name) {
                // The primary extractor's position is the cursor's. An additional extractor has its own; the value it
                // reports is clamped.
                let read_to = (place > 0).then(|| extraction.consumed.clamp(before.read_to.unwrap_or(0).min(to), to));
                it.states.push(ExtractorState { state: extraction.state, read_to, ..before.clone() });
            }
            it.makers.push((maker.name, maker.digest));
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
    pub(super) fn leave_out(&mut self, rules: &Rules) {
        if rules.is_empty() {
            return;
        }
        let is_about = |file: &String| rules.names_path(file);
        self.drafts.retain(|(_, draft)| !draft.files.iter().any(is_about));
        self.notes.changes.retain(|change| !rules.names_path(&change.path));
        self.notes.discoveries.retain(|discovery| !rules.names_path(&discovery.file));
        clean(rules, self.texts());
    }

    /// Keeps only what a sub-agent learned: its prompts are its parent's words, and it makes no decisions for the user.
    /// The id is added to keys, so that several sub-agents do not collide.
    pub(super) fn of_sub_agent(&mut self, id: &str) {
        const OF_MAIN: [&str; 8] =
            ["compact_summary", "correction", "decision", "plan", "preference", "session_summary", "task", "turn"];
        let own = |key: &str| format!("sub-agent:{id}:{key}");
        self.drafts.retain(|(_, draft)| !OF_MAIN.contains(&draft.kind.as_str()));
        for (_, draft) in &mut self.drafts {
            draft.key = draft.key.as_deref().map(own);
        }
        for key in &mut self.retracted {
            *key = own(key);
        }
    }

    /// Summarizes the notes.
    pub(super) fn summarize(&mut self, work: &mut Work<'_>, session: &Session, until: Instant) -> Result<()> {
        match work.summarize(session, &self.notes, until)? {
            Some(summary) => {
                self.summary = summary.text;
                self.topics = summary.topics;
            }
            None => self.retracted.push(SUMMARY_KEY.into()),
        }
        Ok(())
    }

    /// Returns every text, including names and keys.
    fn texts(&mut self) -> Vec<&mut String> {
        let mut slots: Vec<&mut String> = vec![&mut self.summary];
        slots.extend(self.states.iter_mut().map(|state| &mut state.state));
        slots.extend(&mut self.topics);
        slots.extend(&mut self.retracted);
        for (_, draft) in &mut self.drafts {
            slots.extend(&mut draft.key);
            slots.extend([&mut draft.kind, &mut draft.title, &mut draft.content]);
            slots.extend(&mut draft.keywords);
            slots.extend(&mut draft.files);
            slots.extend(draft.attributes.iter_mut().flat_map(|(name, value)| [name, value]));
        }
        let notes = &mut self.notes;
        slots.extend([&mut notes.original_request, &mut notes.current_objective, &mut notes.outcome]);
        for list in [
            &mut notes.done,
            &mut notes.current,
            &mut notes.pending,
            &mut notes.learnings,
            &mut notes.preferences,
            &mut notes.commits,
            &mut notes.blockers,
            &mut notes.errors,
        ] {
            slots.extend(list);
        }
        for decision in &mut notes.decisions {
            slots.extend([&mut decision.what, &mut decision.why]);
            slots.extend(&mut decision.rejected);
        }
        slots.extend(notes.discoveries.iter_mut().flat_map(|d| [&mut d.file, &mut d.insight]));
        slots.extend(notes.changes.iter_mut().map(|change| &mut change.path));
        slots.extend(notes.attributes.iter_mut().flat_map(|(name, value)| [name, value]));
        slots
    }

    /// Passes every text, including names and keys, through the redactor, then makes the redacted summary a memory.
    pub(super) fn redact(&mut self, work: &mut Work<'_>, event: Option<&mut Seen>, until: Instant) -> Result<()> {
        let mut slots = self.texts();
        slots.extend(event.into_iter().flat_map(Seen::texts_mut));
        work.redact_in_place(slots, until)?;
        if !self.summary.is_empty() {
            // The draft is made only now, because a title cut before redaction differs from one cut after it.
            self.drafts.push((0, summary_draft(&self.summary, &self.topics, &self.notes)));
        }
        Ok(())
    }

    /// Returns the model, if the extractor found it in the transcript.
    pub(super) fn model(&self) -> Option<String> {
        self.notes.attributes.iter().find(|(name, _)| name == "model").map(|(_, value)| value.clone())
    }
}

fn summary_draft(text: &str, topics: &[String], notes: &SessionNotes) -> Draft {
    let title = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim();
    Draft {
        key: Some(SUMMARY_KEY.into()),
        kind: "session_summary".into(),
        title: title.chars().take(200).collect(),
        content: text.into(),
        keywords: topics.to_vec(),
        files: notes.changes.iter().map(|change| change.path.clone()).collect(),
        importance: 0.5,
        origin: Origin { line_uuid: None, at: notes.ended.or(notes.started) },
        attributes: Vec::new(),
    }
}

/// Removes text that the user excluded.
pub(super) fn clean(rules: &Rules, slots: Vec<&mut String>) {
    for slot in slots {
        if let Some(cleaned) = rules.clean(slot) {
            *slot = cleaned;
        }
    }
}

/// Makes a key unique to its policy. Policies do not know each other's keys, so the keys of all but the default get the
/// policy's name as prefix.
fn own_key(key: &str, maker: &Maker) -> String {
    if maker.is_default() { key.to_owned() } else { format!("{}:{key}", maker.name) }
}

/// Gives the draft a key unique to its policy, and cuts it to the contract's limits.
fn with_own_key(mut draft: Draft, maker: &Maker) -> Draft {
    draft.key = draft.key.map(|key| own_key(&key, maker));
    if let Some((end, _)) = draft.title.char_indices().nth(MOST_TITLE) {
        draft.title.truncate(end);
    }
    draft.content.truncate(draft.content.floor_char_boundary(MOST_CONTENT));
    draft
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
