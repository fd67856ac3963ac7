//! The page that is filled section by section: nothing stands on it twice, and what matters most fits into the budget.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::line::{self, Key, LINE};
use crate::bindings::exports::throughline::policy::context_builder::Context;
use crate::bindings::throughline::policy::types::Memory;
use crate::extract::clean;
use crate::text;
use crate::transcript::said::INJECTED_HEADING;

/// The sections, in the order in which they stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// Memories that a search found; without a heading.
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

impl Part {
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

    /// How many entries it has where nothing else is asked for.
    fn most(self) -> usize {
        match self {
            Self::LastSession | Self::ThisSession => 12,
            Self::Progress => 20,
            Self::WatchOut => 10,
            Self::Topics => 6,
            Self::Found | Self::Other => 5,
            Self::Decisions | Self::Discoveries | Self::Preferences | Self::Knowledge => 8,
        }
    }

    /// Where a memory of that kind stands; none for those that are told by their session.
    pub fn of(kind: &str) -> Option<Self> {
        match kind {
            "decision" => Some(Self::Decisions),
            "error_fix" | "failure" | "learning" | "correction" => Some(Self::WatchOut),
            "preference" => Some(Self::Preferences),
            "discovery" => Some(Self::Knowledge),
            // Commits are the repository's to tell; turns are found by search; summaries are the sessions'.
            "commit" | "turn" | "session_summary" | "compact_summary" => None,
            _ => Some(Self::Other),
        }
    }
}

/// One line of a section.
#[derive(Clone, Debug)]
pub struct Entry {
    text: String,
    /// Thousandths of importance.
    weight: u32,
    ids: Vec<String>,
    keys: Vec<Key>,
    /// A line about the session as a whole: it may say what a memory says, but never the other way round.
    whole: bool,
}

impl Entry {
    /// An entry of that importance, 0 to 1.
    pub fn new(raw: &str, importance: f32) -> Self {
        let text = line::fitted(&line::safe(raw));
        let keys = Key::new(&text).into_iter().collect();
        Self { text, weight: weight(importance), ids: Vec::new(), keys, whole: false }
    }

    /// A line about a session as a whole: it takes in what says no more than it does.
    pub fn whole(self) -> Self {
        Self { whole: true, ..self }
    }

    /// A line about the session as a whole: what it is, then what it says.
    pub fn labelled(label: &str, raw: &str, importance: f32) -> Self {
        let said = line::safe(raw);
        let mut entry = Self::new(&said, importance);
        entry.text = line::cut(&format!("{label}: {said}"), LINE);
        if said.is_empty() {
            entry.keys.clear();
        }
        entry.whole()
    }

    /// The same entry with that importance, 0 to 1.
    pub fn weighing(self, importance: f32) -> Self {
        Self { weight: weight(importance), ..self }
    }

    /// Another wording of the same.
    pub fn also(mut self, raw: &str) -> Self {
        self.keys.extend(Key::new(raw));
        self
    }

    /// What a memory says, in one line, as heavy as `share` of its importance and how often it was seen.
    pub fn of(memory: &Memory, said: &str, share: f32) -> Self {
        let seen = u8::try_from(memory.seen.saturating_sub(1)).unwrap_or(u8::MAX).min(5);
        let mut entry = Self::new(said, (memory.importance + 0.02 * f32::from(seen)) * share).also(&memory.content);
        entry.ids.push(memory.id.clone());
        // Two turns may begin with the same words.
        if memory.kind == "turn" { entry } else { entry.also(&memory.title) }
    }

    fn says(&self, other: &Self) -> bool {
        let pairs = || self.keys.iter().flat_map(|mine| other.keys.iter().map(move |theirs| (mine, theirs)));
        if self.whole {
            pairs().any(|(mine, theirs)| theirs.within(mine))
        } else {
            pairs().any(|(mine, theirs)| mine.same(theirs))
        }
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within 0 to 1000; not a number becomes 0")]
fn weight(importance: f32) -> u32 {
    (importance.clamp(0.0, 1.0) * 1000.0).round() as u32
}

/// What a memory says where it stands among others of its kind.
pub fn said(memory: &Memory) -> String {
    let content = text::one_line(&memory.content);
    let stands = match memory.kind.as_str() {
        // Their contents are whole documents.
        "plan" | "commit" => memory.title.is_empty(),
        // Its title is only what was asked.
        "turn" => true,
        _ => memory.title.is_empty() || memory.title.ends_with('…') || content.chars().count() <= LINE,
    };
    if stands && !content.is_empty() { content } else { memory.title.clone() }
}

#[derive(Debug, Default)]
struct Section {
    lead: String,
    most: Option<usize>,
    entries: Vec<Entry>,
}

/// The sections of a context under way.
#[derive(Debug)]
pub struct Page {
    root: String,
    sections: BTreeMap<Part, Section>,
    /// An answer of the store was as long as was asked for: there may be more.
    more: bool,
    /// Memories that were looked at: several questions to the store give the same.
    seen: HashSet<String>,
}

impl Page {
    /// An empty page for the project at `root`.
    pub fn new(root: &str) -> Self {
        Self { root: root.to_owned(), sections: BTreeMap::new(), more: false, seen: HashSet::new() }
    }

    /// A path, relative to the project's root where inside it.
    pub fn path(&self, path: &str) -> String {
        clean::path(path, &self.root)
    }

    /// What the store answered, noting whether there may be more than the `limit`.
    pub fn counted<T>(&mut self, answer: Vec<T>, limit: usize) -> Vec<T> {
        self.more |= answer.len() >= limit;
        answer
    }

    /// A line that always stands first in that part and makes no part by itself.
    pub fn lead(&mut self, part: Part, lead: String) {
        self.sections.entry(part).or_default().lead = lead;
    }

    /// At most so many entries in that part, the weightiest.
    pub fn limit(&mut self, part: Part, most: usize) {
        self.sections.entry(part).or_default().most = Some(most);
    }

    /// Adds the entry, or marks what says the same already.
    pub fn add(&mut self, part: Part, mut entry: Entry) {
        if entry.keys.is_empty() {
            return;
        }
        entry.text = clean::inside(&entry.text, &self.root);
        // A rule must stand by itself even where the session's own lines hold its words.
        if !self.fold(&entry, part != Part::Preferences) {
            self.sections.entry(part).or_default().entries.push(entry);
        }
    }

    /// Adds a memory to the part of its kind, as heavy as `share` of its importance.
    pub fn remember(&mut self, memory: &Memory, share: f32) {
        if !self.seen.insert(memory.id.clone()) {
            return;
        }
        let said = match (memory.kind.as_str(), memory.files.first()) {
            ("discovery", Some(file)) => discovery(&self.path(file), &said(memory)),
            ("decision", _) => {
                let content = if memory.content.is_empty() { &memory.title } else { &memory.content };
                let (what, why, rejected) = line::decision(content);
                line::decided(what, why, rejected)
            }
            _ => said(memory),
        };
        let entry = Entry::of(memory, &said, share);
        match Part::of(&memory.kind) {
            Some(part) => self.add(part, entry),
            None => {
                self.fold(&entry, true);
            }
        }
    }

    /// Whether the entry is said already; its memories then stand there, with the greater weight of the two.
    fn fold(&mut self, entry: &Entry, by_whole_lines: bool) -> bool {
        let known = self
            .sections
            .values_mut()
            .flat_map(|section| &mut section.entries)
            .find(|known| (by_whole_lines || !known.whole) && known.says(entry));
        let Some(known) = known else { return false };
        merge(&mut known.ids, &entry.ids);
        known.weight = known.weight.max(entry.weight);
        true
    }

    /// The page in at most `budget` UTF-16 units; none where no entry has room.
    pub fn render(mut self, intro: &str, budget: usize) -> Option<Context> {
        let all: usize = self.sections.values().map(|section| section.entries.len()).sum();
        self.thin();
        let mut order: Vec<(Part, usize, u32)> = Vec::new();
        for (part, section) in &self.sections {
            order.extend(section.entries.iter().enumerate().map(|(at, entry)| (*part, at, entry.weight)));
        }
        // Stable: what weighs the same keeps its order on the page.
        order.sort_by_key(|&(_, _, weight)| std::cmp::Reverse(weight));
        let head = format!("{INJECTED_HEADING}\n{intro}");
        let room = budget.checked_sub(text::utf16_len(&head))?;
        let mut kept = self.fit(&order, room);
        if kept.len() < all {
            let room = room.checked_sub(text::utf16_len(&self.hint(all)))?;
            kept = self.fit(&order, room);
        }
        if kept.is_empty() {
            return None;
        }
        let (mut text, used) = self.write(head, &kept);
        if kept.len() < all {
            text.push_str(&self.hint(all - kept.len()));
        }
        Some(Context { text, used })
    }

    /// Leaves in every part its weightiest entries.
    fn thin(&mut self) {
        for (part, section) in &mut self.sections {
            let most = section.most.unwrap_or(part.most());
            let mut order: Vec<usize> = (0..section.entries.len()).collect();
            order.sort_by_key(|&at| std::cmp::Reverse(section.entries[at].weight));
            order.truncate(most);
            let mut at = 0..;
            section.entries.retain(|_| at.next().is_some_and(|at| order.contains(&at)));
        }
    }

    /// The weightiest entries that fit together.
    fn fit(&self, order: &[(Part, usize, u32)], room: usize) -> BTreeSet<(Part, usize)> {
        let mut kept = BTreeSet::new();
        let mut begun = BTreeSet::new();
        let mut units = 0;
        for &(part, at, _) in order {
            // "\n10. " is the widest mark that an entry has.
            let mut cost = 5 + text::utf16_len(&self.sections[&part].entries[at].text);
            if !begun.contains(&part) {
                cost += text::utf16_len(&self.opening(part));
            }
            if units + cost <= room {
                units += cost;
                begun.insert(part);
                kept.insert((part, at));
            }
        }
        kept
    }

    fn opening(&self, part: Part) -> String {
        let mut opening = String::from("\n");
        if !part.heading().is_empty() {
            opening = format!("\n\n### {}", part.heading());
        }
        let lead = &self.sections[&part].lead;
        if !lead.is_empty() {
            opening.push_str("\n- ");
            opening.push_str(lead);
        }
        opening
    }

    fn write(&self, head: String, kept: &BTreeSet<(Part, usize)>) -> (String, Vec<String>) {
        let (mut text, mut used) = (head, Vec::new());
        let mut current = None;
        let mut number = 0;
        for &(part, at) in kept {
            if current != Some(part) {
                text.push_str(&self.opening(part));
                current = Some(part);
                number = 0;
            }
            number += 1;
            let entry = &self.sections[&part].entries[at];
            let mark = if part == Part::Decisions { format!("{number}.") } else { "-".to_owned() };
            text.extend(["\n", &mark, " ", &entry.text]);
            merge(&mut used, &entry.ids);
        }
        (text, used)
    }

    fn hint(&self, left_out: usize) -> String {
        let least = if self.more { "At least " } else { "" };
        let noun = if left_out == 1 { "memory" } else { "memories" };
        format!("\n\n{least}{left_out} more {noun} left out; to find them: `throughline memory search \"…\"`")
    }
}

fn merge(ids: &mut Vec<String>, more: &[String]) {
    for id in more {
        if !ids.contains(id) {
            ids.push(id.clone());
        }
    }
}

/// An insight with the file that it is about, where it does not name it.
pub fn discovery(file: &str, insight: &str) -> String {
    let name = file.rsplit('/').next().unwrap_or(file);
    if name.is_empty() || insight.contains(name) { insight.to_owned() } else { format!("`{file}`: {insight}") }
}
