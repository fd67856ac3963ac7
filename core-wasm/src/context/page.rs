//! A page that is filled section by section. It contains nothing twice and fits the most important entries into the
//! budget.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::line::{self, MAX_DECISION_CHARS, MAX_END_CHARS, MAX_LINE_CHARS, MAX_RESULT_CHARS, TextKey};
use super::marks;
use crate::bindings::exports::throughline::policy::context_builder::Context;
use crate::bindings::throughline::policy::types::Memory;
use crate::extract::clean;
use crate::extract::course::ARROW;
use crate::extract::failures::ROUTINE;
use crate::extract::labels;
use crate::said_by::saved_by;
use crate::text;
use crate::transcript::user_text::INJECTED_HEADING;

/// How many tenths of its words a line about the session must have for a lesson to be told by it.
const REPEATED_TENTHS: usize = 9;
/// The number of words from which that is no accident.
const MIN_REPEATED_WORDS: usize = 8;
/// The minimum number of words of a decision that is looked for in the requests. Fewer occur by chance.
const MIN_ASKED_WORDS: usize = 4;
/// The length from which what was chosen is not in another line by accident, in characters: "At commit time" may be.
const MIN_CHOICE_CHARS: usize = 40;

/// The length that the marks of a line leave its text, in characters.
const MIN_MARKED_CHARS: usize = 150;

/// The most that a late place adds to the importance of a decision, in thousandths. It decides among those that weigh the same.
const MAX_RECENCY: u32 = 40;

/// The sections, in the order in which they appear.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SectionKind {
    /// Memories that a search found. This section has no heading.
    Found,
    LastSession,
    ThisSession,
    Progress,
    Decisions,
    WatchOut,
    Discoveries,
    Preferences,
    Topics,
    Knowledge,
    Other,
}

/// The kinds of what a session ran into.
pub(super) const LESSONS: [&str; 4] = ["error_fix", "failure", "learning", "correction"];

impl SectionKind {
    fn heading(self) -> &'static str {
        match self {
            Self::Found => "",
            Self::LastSession => "Last Session",
            Self::ThisSession => "This Session",
            Self::Progress => "Progress",
            Self::Decisions => "Key Decisions",
            Self::WatchOut => "Watch out",
            Self::Discoveries => "Discoveries",
            Self::Preferences => "Preferences",
            Self::Topics => "Recent Topics",
            Self::Knowledge => "Project Knowledge",
            Self::Other => "Other Memories",
        }
    }

    /// Returns the default maximum number of entries.
    fn max_entries(self) -> usize {
        match self {
            Self::LastSession | Self::ThisSession => 30,
            Self::Progress => 20,
            Self::Decisions => 14,
            Self::WatchOut => 10,
            Self::Topics => 9,
            Self::Found | Self::Other => 5,
            Self::Discoveries | Self::Preferences | Self::Knowledge => 8,
        }
    }

    /// Returns the section of a memory kind. None for kinds that the session's own lines cover.
    pub(super) fn of(kind: &str) -> Option<Self> {
        match kind {
            "decision" => Some(Self::Decisions),
            kind if LESSONS.contains(&kind) => Some(Self::WatchOut),
            "preference" => Some(Self::Preferences),
            "discovery" => Some(Self::Knowledge),
            // Commits are in the repository, turns and results are found by search, and summaries belong to their
            // sessions.
            "commit" | "turn" | "result" | "session_summary" | "compact_summary" => None,
            _ => Some(Self::Other),
        }
    }
}

/// The place of an entry: its section, and its number there.
type Place = (SectionKind, usize);

/// What is told of an entry where there is no room for its text.
#[derive(Clone, Debug)]
struct Short {
    text: String,
    /// Its weight in thousandths.
    weight: u32,
    /// The weight of the whole text then. None if that is the entry's own.
    whole_weight: Option<u32>,
}

/// The form in which an entry is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Whole,
    Short,
}

/// One line of a section.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    text: String,
    /// What follows the text in parentheses.
    marks: Vec<String>,
    /// The importance in thousandths.
    weight: u32,
    /// What is added for a place late among its like, in thousandths.
    recency: u32,
    /// The share of the weight that counts: less than 1 if the memory is doubtful.
    share: f32,
    ids: Vec<String>,
    keys: Vec<TextKey>,
    /// Whether this line is about the session as a whole. Such a line may cover a memory, but a memory never covers
    /// such a line.
    is_session_line: bool,
    /// Whether this is a choice between ways. A few of its words in another line do not tell it.
    is_choice: bool,
    /// What is told where there is no room for the text. None if the text is short.
    short: Option<Short>,
    /// The words of the text, once they were asked for.
    words: OnceCell<text::Features>,
}

impl Entry {
    /// Creates an entry with that importance, from 0 to 1.
    pub(super) fn new(raw: &str, importance: f32) -> Self {
        Self::within(raw, importance, MAX_LINE_CHARS)
    }

    /// Creates an entry that tells a decision.
    pub(super) fn decision(raw: &str, importance: f32) -> Self {
        Self::within(raw, importance, MAX_DECISION_CHARS)
    }

    fn within(raw: &str, importance: f32, max_chars: usize) -> Self {
        let text = line::fit_within(&line::sanitize(raw), max_chars);
        let keys = TextKey::new(&text).into_iter().collect();
        Self {
            text,
            marks: Vec::new(),
            weight: weight(importance),
            recency: 0,
            share: 1.0,
            ids: Vec::new(),
            keys,
            is_session_line: false,
            is_choice: false,
            short: None,
            words: OnceCell::new(),
        }
    }

    /// Turns the entry into a line about a session as a whole, which covers every entry that says no more than it does.
    pub(super) fn into_session_line(self) -> Self {
        Self { is_session_line: true, ..self }
    }

    /// Creates a line about the session as a whole: a label and its text.
    pub(super) fn session_line(label: &str, raw: &str, importance: f32) -> Self {
        Self::labelled(label, raw, importance, MAX_LINE_CHARS)
    }

    /// Creates a line that tells what a turn or the session gave.
    pub(super) fn result_line(label: &str, raw: &str, importance: f32) -> Self {
        Self::labelled(label, raw, importance, MAX_RESULT_CHARS)
    }

    /// Creates a line that tells how a session ended.
    pub(super) fn end_line(label: &str, raw: &str, importance: f32) -> Self {
        Self::labelled(label, raw, importance, MAX_END_CHARS)
    }

    fn labelled(label: &str, raw: &str, importance: f32, max_chars: usize) -> Self {
        let said = line::sanitize(raw);
        // The key is made of the text without its label. No text has no key.
        Self {
            text: line::truncate(&format!("{label}: {said}"), max_chars),
            marks: Vec::new(),
            weight: weight(importance),
            recency: 0,
            share: 1.0,
            ids: Vec::new(),
            keys: TextKey::new(&said).into_iter().collect(),
            is_session_line: true,
            is_choice: false,
            short: None,
            words: OnceCell::new(),
        }
    }

    /// Returns the same entry with this text in full, in at most `max_chars` characters.
    pub(super) fn with_whole_text(mut self, raw: &str, max_chars: usize) -> Self {
        self.text = line::truncate(&line::sanitize(raw), max_chars);
        self
    }

    /// Returns the same entry with what is told of it where there is no room for more, of that importance.
    pub(super) fn with_short(mut self, raw: &str, importance: f32) -> Self {
        let text = line::fit(&line::sanitize(raw));
        self.short = Some(Short { text, weight: weight(importance), whole_weight: None });
        self
    }

    /// Returns the text without its marks.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Returns the same entry with the weight of another one.
    pub(super) fn weighing_as(mut self, other: &Self) -> Self {
        self.weight = other.weight;
        self
    }

    /// Returns the same entry as one that says nothing beside its request: what was learned from that has a line of its own.
    pub(super) fn without_words(self) -> Self {
        Self { words: OnceCell::from(text::Features::default()), keys: Vec::new(), ..self }
    }

    /// Returns the same entry with what the tools say of it behind it.
    pub(super) fn with_record(mut self, record: &str) -> Self {
        // Nothing is told of the request itself.
        if self.text.trim_end().ends_with(':') {
            return self;
        }
        self.text.push_str(ARROW);
        self.text.push_str(record);
        self
    }

    /// Returns whether this line about the session tells a request.
    fn is_request(&self) -> bool {
        self.is_session_line && self.text.starts_with("Asked: ")
    }

    /// Returns the same entry, which tells a result, with what was asked before it. Where there is no room for more, at most `max_chars`
    /// characters of the result are told.
    pub(super) fn behind(mut self, asked: &str, label: Option<&str>, max_chars: usize) -> Self {
        let said = self.text.split_once(": ").map_or("", |(_, said)| said).to_owned();
        let label = label.map(|label| format!("{label}: ")).unwrap_or_default();
        let told = |said: &str| format!("{asked} → {label}{said}");
        let brief = line::brief(&said, max_chars);
        self.words = OnceCell::from(text::features(&said));
        self.text = told(&said);
        if brief != said {
            self.short = Some(Short { text: told(&brief), weight: self.rank(), whole_weight: Some(self.rank() / 10) });
        }
        self
    }

    /// Returns the same entry with only the beginning of its text, of at most `max_chars` characters, unless there is room left in the end.
    pub(super) fn shortened(mut self, max_chars: usize) -> Self {
        let text = line::brief(&self.text, max_chars);
        if text != self.text {
            self.short = Some(Short { text, weight: self.rank(), whole_weight: Some(self.rank() / 10) });
        }
        self
    }

    /// Returns the same entry as the one at that place among its like: the later ones stand closer to the work to come.
    pub(super) fn with_place(mut self, place: usize) -> Self {
        self.recency = u32::try_from(place).unwrap_or(u32::MAX).min(MAX_RECENCY);
        self
    }

    /// Returns the same entry as one that tells this memory.
    pub(super) fn with_id(mut self, id: &str) -> Self {
        self.ids.push(id.to_owned());
        self
    }

    /// Adds another wording, for comparisons.
    pub(super) fn with_key(mut self, raw: &str) -> Self {
        self.keys.extend(TextKey::new(raw));
        self
    }

    /// Creates an entry from a memory. Its importance, raised by how often the memory was seen, is multiplied by
    /// `factor`.
    pub(super) fn from_memory(memory: &Memory, said: &str, factor: f32) -> Self {
        let seen = u8::try_from(memory.seen.saturating_sub(1)).unwrap_or(u8::MAX).min(5);
        let max_chars = if memory.kind == "decision" { MAX_DECISION_CHARS } else { MAX_LINE_CHARS };
        let importance = (memory.importance + 0.02 * f32::from(seen)) * factor;
        let mut entry = Self::within(said, importance, max_chars).with_key(&memory.content);
        entry.ids.push(memory.id.clone());
        entry.marks = marks::of(memory);
        entry.share = marks::share(memory);
        // Two turns may start with the same words.
        if memory.kind == "turn" { entry } else { entry.with_key(&memory.title) }
    }

    /// Returns the text with its marks.
    fn line(&self) -> Cow<'_, str> {
        if self.marks.is_empty() {
            return Cow::Borrowed(&self.text);
        }
        let marks = marks::in_parentheses(&self.marks);
        let max = if self.text.chars().count() > MAX_LINE_CHARS { MAX_DECISION_CHARS } else { MAX_LINE_CHARS };
        let room = max.saturating_sub(marks.chars().count()).max(MIN_MARKED_CHARS);
        Cow::Owned(line::fit_within(&self.text, room) + &marks)
    }

    /// Returns the text in the form that has room.
    fn told(&self, form: Form) -> Cow<'_, str> {
        match &self.short {
            Some(short) if form == Form::Short => Cow::Borrowed(&short.text),
            _ => self.line(),
        }
    }

    /// Returns what the entry's place is decided by.
    fn rank(&self) -> u32 {
        weight(self.share * f32::from(u16::try_from(self.weight).unwrap_or(u16::MAX)) / 1000.0) + self.recency
    }

    /// Tells the memories of an entry too. If only the whole text says what it says, that is told before other things.
    fn absorb(&mut self, entry: &Self) {
        merge_ids(&mut self.ids, &entry.ids);
        self.weight = self.weight.max(entry.weight);
        if let Some(short) = &mut self.short
            && short.whole_weight.is_some()
        {
            let (own, words) = (text::features(&short.text), text::features(&entry.text));
            if words.iter().filter(|word| own.contains(word)).count() * 10 < words.len() * REPEATED_TENTHS {
                short.whole_weight = None;
            }
        }
    }

    /// Returns whether this line about the session says nearly all of an entry in other words or in another order.
    fn repeats(&self, words: &text::Features) -> bool {
        if !self.is_session_line {
            return false;
        }
        let own = self.words.get_or_init(|| text::features(&self.text));
        words.iter().filter(|word| own.contains(word)).count() * 10 >= words.len() * REPEATED_TENTHS
    }

    /// Returns whether it tells a request that has nearly all of these words.
    fn asks(&self, words: &text::Features) -> bool {
        let asked = self.text.strip_prefix("Asked: ").filter(|_| self.is_session_line);
        asked.is_some_and(|asked| {
            let own = text::features(asked.split_once(" → ").map_or(asked, |(asked, _)| asked));
            words.iter().filter(|word| own.contains(word)).count() * 10 >= words.len() * REPEATED_TENTHS
        })
    }

    /// Returns whether a line names a rejected option as well, so that it tells what was offered and not what was chosen.
    fn was_offered_in(&self, line: &TextKey) -> bool {
        let rejected = Some(&self.text).filter(|_| self.is_choice).map_or("", |text| line::rejected_in(text));
        rejected.split("; ").filter_map(TextKey::new).any(|option| option.is_within(line))
    }

    /// Returns whether it says of something that it was rejected, and so what was chosen: a commit that records a decision does.
    fn says_rejected(&self) -> bool {
        let lower = self.text.to_lowercase();
        line::LANGUAGES.into_iter().any(|language| lower.contains(&labels::labels(language).rejected.to_lowercase()))
    }

    fn covers(&self, other: &Self) -> bool {
        let pairs = || self.keys.iter().flat_map(|mine| other.keys.iter().map(move |theirs| (mine, theirs)));
        if self.is_session_line {
            let may_count = |theirs: &TextKey| !other.is_choice || theirs.chars() >= MIN_CHOICE_CHARS;
            pairs().any(|(mine, theirs)| {
                may_count(theirs) && theirs.is_within(mine) && (self.says_rejected() || !other.was_offered_in(mine))
            })
        } else {
            pairs().any(|(mine, theirs)| mine.is_same(theirs))
        }
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within 0 to 1000; not a number becomes 0")]
fn weight(importance: f32) -> u32 {
    (importance.clamp(0.0, 1.0) * 1000.0).round() as u32
}

/// Returns the text of a memory as it appears among others of its kind.
pub(super) fn memory_text(memory: &Memory) -> String {
    let content = text::one_line(&memory.content);
    let stands = match memory.kind.as_str() {
        // Their contents are whole documents.
        "plan" | "commit" => memory.title.is_empty(),
        // Their titles contain only the request.
        "turn" | "result" | "session_summary" => true,
        _ => memory.title.is_empty() || memory.title.ends_with('…') || content.chars().count() <= MAX_LINE_CHARS,
    };
    if stands && !content.is_empty() { content } else { memory.title.clone() }
}

#[derive(Debug, Default)]
struct Section {
    lead: String,
    max_entries: Option<usize>,
    entries: Vec<Entry>,
}

/// The sections of a context that is being built.
#[derive(Debug)]
pub(super) struct Page {
    root: String,
    sections: BTreeMap<SectionKind, Section>,
    /// Whether the store returned as many items as requested, so that there may be more.
    is_truncated: bool,
    /// Memories that were already added or left out. Several queries return the same memories.
    seen: HashSet<String>,
    /// How many memories were left out before they became entries.
    left_out: usize,
    /// Whether an entry says that the user did not say it.
    pub(super) is_marked: bool,
    /// Whether a line is marked that a later memory may have changed.
    pub(super) has_earlier: bool,
}

impl Page {
    /// Creates an empty page for the project at `root`.
    pub(super) fn new(root: &str) -> Self {
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
    pub(super) fn path(&self, path: &str) -> String {
        clean::path(path, &self.root)
    }

    /// Passes on an answer of the store, and records whether there may be more than `limit` items.
    pub(super) fn checked_for_more<T>(&mut self, answer: Vec<T>, limit: usize) -> Vec<T> {
        self.is_truncated |= answer.len() >= limit;
        answer
    }

    /// Sets a line that always comes first in a section. It does not make a section appear by itself.
    pub(super) fn lead(&mut self, kind: SectionKind, lead: String) {
        self.sections.entry(kind).or_default().lead = lead;
    }

    /// Limits a section to its most important entries.
    pub(super) fn limit(&mut self, kind: SectionKind, max_entries: usize) {
        self.sections.entry(kind).or_default().max_entries = Some(max_entries);
    }

    /// Adds the entry, or merges it into an entry that already covers it.
    pub(super) fn add(&mut self, kind: SectionKind, mut entry: Entry) {
        if entry.keys.is_empty() && !entry.is_request() {
            return;
        }
        entry.text = clean::relative_paths(&entry.text, &self.root);
        if let Some(short) = &mut entry.short {
            short.text = clean::relative_paths(&short.text, &self.root);
        }
        entry.is_choice = kind == SectionKind::Decisions && line::names_rejected(&entry.text);
        if kind == SectionKind::Decisions && self.merge_asked(&entry) {
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
    pub(super) fn add_memory(&mut self, memory: &Memory, factor: f32) {
        self.add_marked(memory, factor, String::new());
    }

    /// Does the same with a mark in parentheses behind the text, after who said it. An empty mark is none.
    pub(super) fn add_marked(&mut self, memory: &Memory, factor: f32, mark: String) {
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
        let mut entry = Entry::from_memory(memory, &said, factor);
        entry.marks.extend((!mark.is_empty()).then_some(mark));
        match SectionKind::of(&memory.kind) {
            Some(kind) => self.add(kind, entry),
            None => {
                self.merge_duplicate(None, &entry, true);
            }
        }
    }

    /// Says of the entry that tells this memory how many sessions had the same trouble, and adds to its weight.
    pub(super) fn came_back(&mut self, id: &str, sessions: u32, more: f32) {
        if let Some(entry) = self.entry_of(id).filter(|entry| !entry.is_session_line) {
            entry.marks.push(format!("in {sessions} sessions"));
            entry.weight = (entry.weight + weight(more)).min(1000);
        }
    }

    /// Adds a mark to the entry that tells this memory alone.
    pub(super) fn add_mark(&mut self, id: &str, mark: &str) {
        let mark = clean::relative_paths(mark, &self.root);
        if let Some(entry) = self.entry_of(id).filter(|entry| !entry.is_session_line) {
            entry.marks.push(mark);
        }
    }

    /// Records that the entry that tells this memory tells others too.
    pub(super) fn tells_all(&mut self, id: &str, others: &[&Memory]) {
        self.seen.extend(others.iter().map(|memory| memory.id.clone()));
        let ids: Vec<String> = others.iter().map(|memory| memory.id.clone()).collect();
        if let Some(entry) = self.entry_of(id) {
            merge_ids(&mut entry.ids, &ids);
        }
    }

    /// Returns whether a line among what to watch out for says what a memory says.
    pub(super) fn tells(&self, memory: &Memory) -> bool {
        let Some(key) = TextKey::new(&memory.content) else { return false };
        let section = self.sections.get(&SectionKind::WatchOut);
        section.is_some_and(|section| section.entries.iter().any(|entry| entry.keys.iter().any(|known| known.is_same(&key))))
    }

    /// Leaves a memory to the search.
    pub(super) fn leave_out(&mut self, memory: &Memory) {
        if self.seen.insert(memory.id.clone()) {
            self.left_out += 1;
        }
    }

    /// Passes over memories that are told only together with those of other sessions.
    pub(super) fn pass_over(&mut self, memories: &[&Memory]) {
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

    /// Merges a decision that is only the words of a request into the line that tells the request. Returns whether there is such a line.
    fn merge_asked(&mut self, entry: &Entry) -> bool {
        if entry.is_choice || entry.text.contains(" → ") {
            return false;
        }
        // What it is about, in parentheses, was asked in other requests.
        let said = entry.text.split_once(" (").map_or(&*entry.text, |(said, _)| said);
        let words = text::features(said);
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

    /// Renders the page in at most `budget` UTF-16 units. None if no entry fits.
    pub(super) fn render(mut self, intro: &str, budget: usize) -> Option<Context> {
        let all = self.left_out + self.sections.values().map(|section| section.entries.len()).sum::<usize>();
        self.limit_sections();
        let mut order: Vec<(Place, Form, u32)> = Vec::new();
        for (kind, section) in &self.sections {
            for (at, entry) in section.entries.iter().enumerate() {
                let whole = entry.short.as_ref().and_then(|short| short.whole_weight).unwrap_or(entry.rank());
                order.extend(entry.short.iter().map(|short| ((*kind, at), Form::Short, short.weight)));
                order.push(((*kind, at), Form::Whole, whole));
            }
        }
        // The sort is stable: entries of equal weight keep their order on the page.
        order.sort_by_key(|&(.., weight)| std::cmp::Reverse(weight));
        let mut entries = self.sections.values().flat_map(|section| &section.entries);
        let is_marked = !intro.contains(marks::MEANING) && entries.any(|entry| marks::name_speaker(&entry.marks));
        let head = format!("{INJECTED_HEADING}\n{intro}{}", if is_marked { marks::MEANING } else { "" });
        let available = budget.checked_sub(text::utf16_len(&head))?;
        let mut chosen = self.fit(&order, available);
        if chosen.len() < all {
            let available = available.checked_sub(text::utf16_len(&self.hint(all)))?;
            chosen = self.fit(&order, available);
        }
        if chosen.is_empty() {
            return None;
        }
        let (mut text, used) = self.write(head, &chosen);
        if chosen.len() < all {
            text.push_str(&self.hint(all - chosen.len()));
        }
        Some(Context { text, used })
    }

    /// Keeps only the most important entries of every section.
    fn limit_sections(&mut self) {
        for (kind, section) in &mut self.sections {
            let max_entries = section.max_entries.unwrap_or(kind.max_entries());
            let mut order: Vec<usize> = (0..section.entries.len()).collect();
            order.sort_by_key(|&at| std::cmp::Reverse(section.entries[at].rank()));
            order.truncate(max_entries);
            let mut at = 0..;
            section.entries.retain(|_| at.next().is_some_and(|at| order.contains(&at)));
        }
    }

    /// Selects the most important entries that fit together. A short form makes room for the whole one if that fits, too.
    fn fit(&self, order: &[(Place, Form, u32)], available: usize) -> BTreeMap<Place, Form> {
        let mut chosen: BTreeMap<Place, Form> = BTreeMap::new();
        let mut opened = BTreeSet::new();
        let mut units = 0;
        for &(place, form, _) in order {
            let (kind, at) = place;
            let length = |form: Form| text::utf16_len(&self.sections[&kind].entries[at].told(form));
            // "\n10. " is the longest mark of an entry.
            let mut cost = 5 + length(form);
            match chosen.get(&place) {
                Some(Form::Whole) => continue,
                Some(Form::Short) => cost = length(form).saturating_sub(length(Form::Short)),
                None if !opened.contains(&kind) => cost += text::utf16_len(&self.opening(kind)),
                None => {}
            }
            if units + cost <= available {
                units += cost;
                opened.insert(kind);
                chosen.insert(place, form);
            }
        }
        chosen
    }

    fn opening(&self, kind: SectionKind) -> String {
        let mut opening = String::from("\n");
        if !kind.heading().is_empty() {
            opening = format!("\n\n### {}", kind.heading());
        }
        let lead = &self.sections[&kind].lead;
        if !lead.is_empty() {
            opening.push_str("\n- ");
            opening.push_str(lead);
        }
        opening
    }

    fn write(&self, head: String, chosen: &BTreeMap<Place, Form>) -> (String, Vec<String>) {
        let (mut text, mut used) = (head, Vec::new());
        let mut current = None;
        let mut number = 0;
        for (&(kind, at), &form) in chosen {
            if current != Some(kind) {
                text.push_str(&self.opening(kind));
                current = Some(kind);
                number = 0;
            }
            number += 1;
            let entry = &self.sections[&kind].entries[at];
            let mark = if kind == SectionKind::Decisions { format!("{number}.") } else { "-".to_owned() };
            text.extend(["\n", &mark, " ", &entry.told(form)]);
            merge_ids(&mut used, &entry.ids);
        }
        (text, used)
    }

    fn hint(&self, left_out: usize) -> String {
        let least = if self.is_truncated { "At least " } else { "" };
        let noun = if left_out == 1 { "memory" } else { "memories" };
        format!("\n\n{least}{left_out} more {noun} left out; to find them: `throughline memory search \"…\"`")
    }
}

/// Returns whether a memory only counts failures of a tool of the agent's that say nothing of the project: edits, of which what they
/// teach together is a memory of its own, and names of skills that the client does not know.
pub(super) fn teaches_nothing(memory: &Memory) -> bool {
    let is_counted = memory.keywords.iter().any(|word| word == "failure");
    let is_edit = || ["`Edit ", "`MultiEdit ", "`Write ", "`NotebookEdit "].iter().any(|it| memory.content.starts_with(it));
    let is_skill = || memory.content.starts_with("`Skill") && memory.content.contains("Unknown skill");
    (is_counted && is_edit()) || is_skill()
}

/// Returns whether a memory is a failure that is no news in one session: it is told if it returns in others.
pub(super) fn is_routine(memory: &Memory) -> bool {
    memory.keywords.iter().any(|word| word == ROUTINE)
}

/// Returns whether a memory was saved on purpose: by a command, a note or a tool, and not found in a transcript.
pub(super) fn is_saved(memory: &Memory) -> bool {
    memory.session_id.is_empty() || saved_by(memory).is_some()
}

fn merge_ids(ids: &mut Vec<String>, more: &[String]) {
    for id in more {
        if !ids.contains(id) {
            ids.push(id.clone());
        }
    }
}

/// Returns an insight, prefixed with its file unless it names the file itself.
pub(super) fn discovery(file: &str, insight: &str) -> String {
    let name = file.rsplit('/').next().unwrap_or(file);
    if name.is_empty() || insight.contains(name) { insight.to_owned() } else { format!("`{file}`: {insight}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decision_that_is_only_a_request_is_told_with_it() {
        let told = |decision: &str| {
            let mut page = Page::new("");
            let asked =
                "Ring the night till twice instead of once → The night till rings twice; the drawer of the shop opens.";
            page.add(SectionKind::LastSession, Entry::result_line("Asked", asked, 1.0));
            page.add(SectionKind::Decisions, Entry::decision(decision, 0.6));
            page.render("", 9_500).is_some_and(|page| page.text.contains(decision))
        };
        assert!(!told("ok, ring the night till twice instead of once (About: the slips of the day before)"));
        assert!(told("Ring the night till twice (rejected: Ring it once)"));
        assert!(told("The drawer of the shop opens when it rings"));
        assert!(told("How often? → Ring the night till twice"));
    }

    #[test]
    fn a_decision_has_more_room_than_another_line() {
        let long = "The till rings twice ".repeat(18);
        assert!(Entry::decision(&long, 0.6).text().chars().count() > MAX_LINE_CHARS);
        assert!(Entry::new(&long, 0.6).text().chars().count() <= MAX_LINE_CHARS);
    }
}
