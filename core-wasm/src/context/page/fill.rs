//! A page while it is filled: what is added to it, and what is merged into an entry that says it already.

use std::collections::{BTreeMap, HashSet};

use super::entry::{Entry, merge_ids, weight};
use super::memory::{discovery, memory_text, teaches_nothing};
use super::section::SectionKind;
use crate::bindings::throughline::policy::types::Memory;
use crate::context::line::{self, TextKey};
use crate::extract::clean;
use crate::extract::labels;
use crate::text;

/// What a section holds.
#[derive(Debug, Default)]
pub(super) struct Section {
    pub(super) lead: String,
    pub(super) max_entries: Option<usize>,
    pub(super) entries: Vec<Entry>,
}

/// The number of words from which that is no accident.
const MIN_REPEATED_WORDS: usize = 8;

/// The minimum number of words of a decision that is looked for in the requests. Fewer occur by chance.
const MIN_ASKED_WORDS: usize = 4;

/// The sections of a context that is being built.
#[derive(Debug)]
pub(in crate::context) struct Page {
    pub(super) root: String,
    pub(super) sections: BTreeMap<SectionKind, Section>,
    /// Whether the store returned as many items as requested, so that there may be more.
    pub(super) is_truncated: bool,
    /// Memories that were already added or left out. Several queries return the same memories.
    seen: HashSet<String>,
    /// How many memories were left out before they became entries.
    pub(super) left_out: usize,
    /// Whether an entry says that the user did not say it.
    pub(in crate::context) is_marked: bool,
    /// Whether a line is marked that a later memory may have changed.
    pub(in crate::context) has_earlier: bool,
}

impl Page {
    /// Creates an empty page for the project at `root`.
    pub(in crate::context) fn new(root: &str) -> Self {
        Self {
            root: root.to_owned(),
            sections: BTreeMap::new(),
            is_truncated: false,
            seen: HashSet::new(),
            left_out: 0,
            is_marked: false,
            has_earlier: false,
        }
    }

    /// Returns a path relative to the project's root if it is inside.
    pub(in crate::context) fn path(&self, path: &str) -> String {
        clean::path(path, &self.root)
    }

    /// Passes on an answer of the store, and records whether there may be more than `limit` items.
    pub(in crate::context) fn checked_for_more<T>(&mut self, answer: Vec<T>, limit: usize) -> Vec<T> {
        self.is_truncated |= answer.len() >= limit;
        answer
    }

    /// Sets a line that always comes first in a section. It does not make a section appear by itself.
    pub(in crate::context) fn lead(&mut self, kind: SectionKind, lead: String) {
        self.sections.entry(kind).or_default().lead = lead;
    }

    /// Limits a section to its most important entries.
    pub(in crate::context) fn limit(&mut self, kind: SectionKind, max_entries: usize) {
        self.sections.entry(kind).or_default().max_entries = Some(max_entries);
    }

    /// Adds the entry, or merges it into an entry that already covers it.
    pub(in crate::context) fn add(&mut self, kind: SectionKind, mut entry: Entry) {
        if entry.keys.is_empty() && !entry.is_request() {
            return;
        }
        entry.text = clean::paths_as_told(&entry.text, &self.root);
        if let Some(short) = &mut entry.short {
            short.text = clean::paths_as_told(&short.text, &self.root);
        }
        entry.parts = entry.parts.into_iter().map(|part| part.relative_to(&self.root)).collect();
        entry.is_choice = kind == SectionKind::Decisions && line::names_rejected(&entry.text);
        let may_repeat = kind == SectionKind::Decisions || (entry.is_correction && !tells_answer(&entry.text));
        if may_repeat && self.merge_asked(&entry) {
            return;
        }
        if matches!(kind, SectionKind::WatchOut | SectionKind::Knowledge | SectionKind::Discoveries)
            && self.merge_repeated(&entry)
        {
            return;
        }
        // A rule must have its own line, even if the session's own lines contain its words.
        if !self.merge_duplicate(Some(kind), &entry, kind != SectionKind::Preferences) {
            self.sections.entry(kind).or_default().entries.push(entry);
        }
    }

    /// Adds a memory to the section of its kind, with its importance multiplied by `factor`.
    pub(in crate::context) fn add_memory(&mut self, memory: &Memory, factor: f32) {
        self.add_marked(memory, factor, String::new());
    }

    /// Does the same with a mark in parentheses behind the text, after who said it. An empty mark is none.
    pub(in crate::context) fn add_marked(&mut self, memory: &Memory, factor: f32, mark: String) {
        if !self.seen.insert(memory.id.clone()) || teaches_nothing(memory) {
            return;
        }
        let said = match (memory.kind.as_str(), memory.files.first()) {
            ("discovery", Some(file)) => discovery(&self.path(file), &memory_text(memory)),
            ("decision", _) => {
                let content = if memory.content.is_empty() { &memory.title } else { &memory.content };
                let (what, why, rejected) = line::parse_decision(content);
                line::decision_line(what, why, rejected)
            }
            _ => memory_text(memory),
        };
        let mut entry = Entry::from_memory(memory, &said, factor).of_correction(memory.kind == "correction");
        entry.marks.extend((!mark.is_empty()).then_some(mark));
        match SectionKind::of(&memory.kind) {
            Some(kind) => self.add(kind, entry),
            None => {
                self.merge_duplicate(None, &entry, true);
            }
        }
    }

    /// Says of the entry that tells this memory how many sessions had the same trouble, and adds to its weight.
    pub(in crate::context) fn came_back(&mut self, id: &str, sessions: u32, more: f32) {
        if let Some(entry) = self.entry_of(id).filter(|entry| !entry.is_session_line) {
            entry.marks.push(format!("in {sessions} sessions"));
            entry.weight = (entry.weight + weight(more)).min(1000);
        }
    }

    /// Adds a mark to the entry that tells this memory alone.
    pub(in crate::context) fn add_mark(&mut self, id: &str, mark: &str) {
        let mark = clean::paths_as_told(mark, &self.root);
        if let Some(entry) = self.entry_of(id).filter(|entry| !entry.is_session_line) {
            entry.marks.push(mark);
        }
    }

    /// Records that the entry that tells this memory tells others too.
    pub(in crate::context) fn tells_all(&mut self, id: &str, others: &[&Memory]) {
        self.seen.extend(others.iter().map(|memory| memory.id.clone()));
        let ids: Vec<String> = others.iter().map(|memory| memory.id.clone()).collect();
        if let Some(entry) = self.entry_of(id) {
            merge_ids(&mut entry.ids, &ids);
        }
    }

    /// Returns whether a line among what to watch out for says what a memory says.
    pub(in crate::context) fn tells(&self, memory: &Memory) -> bool {
        let Some(key) = TextKey::new(&memory.content) else { return false };
        let section = self.sections.get(&SectionKind::WatchOut);
        section.is_some_and(|section| section.entries.iter().any(|entry| entry.keys.iter().any(|known| known.is_same(&key))))
    }

    /// Leaves a memory to the search.
    pub(in crate::context) fn leave_out(&mut self, memory: &Memory) {
        if self.seen.insert(memory.id.clone()) {
            self.left_out += 1;
        }
    }

    /// Passes over memories that are told only together with those of other sessions.
    pub(in crate::context) fn pass_over(&mut self, memories: &[&Memory]) {
        self.seen.extend(memories.iter().map(|memory| memory.id.clone()));
    }

    fn entry_of(&mut self, id: &str) -> Option<&mut Entry> {
        let mut entries = self.sections.values_mut().flat_map(|section| section.entries.iter_mut());
        entries.find(|entry| entry.ids.iter().any(|known| known == id))
    }

    /// Merges an entry into a line about the session that says nearly all of it. Returns whether there is such a line.
    fn merge_repeated(&mut self, entry: &Entry) -> bool {
        let words = text::features(&entry.text);
        if words.len() < MIN_REPEATED_WORDS {
            return false;
        }
        let mut entries = self.sections.values_mut().flat_map(|section| section.entries.iter_mut());
        let Some(known) = entries.find(|known| known.repeats(&words)) else { return false };
        known.absorb(entry);
        true
    }

    /// Merges a decision or a correction that is only the words of a request into the line that tells the request. Returns whether there is
    /// such a line.
    fn merge_asked(&mut self, entry: &Entry) -> bool {
        if entry.is_choice || entry.text.contains(" → ") {
            return false;
        }
        // What it is about, in parentheses, was asked in other requests.
        let words = text::features(without_subject(&entry.text));
        if words.len() < MIN_ASKED_WORDS {
            return false;
        }
        let mut entries = self.sections.values_mut().flat_map(|section| section.entries.iter_mut());
        let Some(known) = entries.find(|known| known.asks(&words)) else { return false };
        known.absorb(entry);
        true
    }

    /// Merges the entry of the section `kind` into one that covers it: adds its memories, and keeps the higher weight.
    /// Returns whether there is such an entry.
    fn merge_duplicate(&mut self, kind: Option<SectionKind>, entry: &Entry, into_session_lines: bool) -> bool {
        let entries =
            self.sections.iter_mut().flat_map(|(of, section)| section.entries.iter_mut().map(move |known| (*of, known)));
        let covering = entries.filter(|(_, known)| (into_session_lines || !known.is_session_line) && known.covers(entry));
        // A line about the session as a whole may have the words too, but the line that says just this is of the entry's section.
        let is_of_notes = |of: SectionKind, known: &Entry| kind == Some(of) && !known.is_session_line;
        let known = covering.min_by_key(|(of, known)| !is_of_notes(*of, known));
        let Some((of, known)) = known else { return false };
        // A session's notes do not say who said it. The memory that was stored with them does.
        if is_of_notes(of, known) && known.ids.is_empty() {
            known.marks.clone_from(&entry.marks);
            known.share = entry.share;
        }
        known.absorb(entry);
        true
    }
}

/// Returns a text without what it is about, in parentheses at its end. The user's own parentheses stay.
fn without_subject(said: &str) -> &str {
    let opening = |language| format!(" ({}: ", labels::labels(language).about);
    let at = line::LANGUAGES.into_iter().filter_map(|language| said.find(&opening(language))).min();
    at.map_or(said, |at| &said[..at])
}

/// Returns whether a correction says more than the user's words: what was refused with them, or how the agent understood them.
fn tells_answer(said: &str) -> bool {
    line::LANGUAGES.map(labels::labels).into_iter().any(|labels| {
        let refused = labels.refused.split("{}").next().unwrap_or_default();
        [refused, labels.understood].iter().any(|words| said.contains(&format!(" ({words}")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::page::Label;

    #[test]
    fn a_decision_or_correction_that_is_only_a_request_is_told_with_it() {
        let told_in = |kind: SectionKind, said: &str| {
            let mut page = Page::new("");
            let asked =
                "Ring the night till twice instead of once → The night till rings twice; the drawer of the shop opens.";
            page.add(SectionKind::LastSession, Entry::result_line(Label::Asked, asked, 1.0));
            page.add(kind, Entry::decision(said, 0.6).of_correction(kind == SectionKind::WatchOut));
            page.render("", 9_500).is_some_and(|page| page.text.contains(said))
        };
        let told = |decision: &str| told_in(SectionKind::Decisions, decision);
        assert!(!told("ok, ring the night till twice instead of once (About: the slips of the day before)"));
        assert!(!told("ring the (night) till twice instead of once (About: the slips of the day before)"));
        assert!(told("Ring the night till twice (rejected: Ring it once)"));
        assert!(told("The drawer of the shop opens when it rings"));
        assert!(told("How often? → Ring the night till twice"));
        assert!(!told_in(
            SectionKind::WatchOut,
            "ring the night till twice instead of once (About: the slips of the day before)"
        ));
        for said in [
            "ring the night till twice instead of once (The user refused: `ring --once`)",
            "\"the night till rings twice\": the bell (of brass) is bent",
        ] {
            assert!(told_in(SectionKind::WatchOut, said), "{said}");
        }
    }
}
