//! The memories that a session has produced so far, deduplicated and bounded.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::clean;
use crate::bindings::throughline::policy::types::{Draft, Origin};
use crate::said_by::SaidBy;
use crate::text;

/// The maximum size of all texts together, in bytes.
const MAX_BYTES: usize = 48 * 1024;
/// The maximum number of memories.
const MAX_MEMORIES: usize = 160;
/// How many memories found only in prose are shown. The rest remain candidates.
const MAX_PROSE_SHOWN: usize = 8;
/// The maximum number of such candidates.
const MAX_PROSE_CANDIDATES: usize = 32;
/// The similarity at which two memories count as duplicates.
const DUPLICATE_SIMILARITY: f32 = 0.75;
/// The same threshold if one of the two was found only in prose.
const DUPLICATE_PROSE_SIMILARITY: f32 = 0.6;

/// The beginning of the key of what a document or a report found.
pub(super) const FINDING_KEY: &str = "finding:";
/// The beginning of the key of a correction that has something changed.
pub(super) const REMARK_KEY: &str = "remark:";
/// The beginning of the key of what the user settles in passing.
pub(super) const RULING_KEY: &str = "ruling:";

/// A reference to the transcript line where something was learned.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct LineRef {
    /// The identifier of the line.
    pub uuid: String,
    /// Milliseconds since the epoch.
    pub at: Option<u64>,
}

impl LineRef {
    /// Converts the reference to the contract's type.
    pub(super) fn origin(&self) -> Origin {
        Origin { line_uuid: (!self.uuid.is_empty()).then(|| self.uuid.clone()), at: self.at }
    }
}

/// One memory of the session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct SessionMemory {
    /// The identity within the session.
    pub key: String,
    /// The contract's kind.
    pub kind: String,
    /// One line that can be understood on its own.
    pub title: String,
    /// What the user said beside a choice, as it is told behind the title. It names nothing that was chosen.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub beside: String,
    /// The reason, for decisions.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
    /// The rejected options, for decisions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rejected: Vec<String>,
    /// The whole memory. Empty if the title says everything.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub content: String,
    /// Words by which it is found, besides its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keywords: Vec<String>,
    /// The files that the memory is about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// The importance in hundredths.
    pub importance: u8,
    /// Where the memory was learned.
    pub source: LineRef,
    /// Who said it.
    #[serde(default)]
    pub said_by: SaidBy,
    /// The number of the turn, if what it says ends with the code that it speaks of. Otherwise 0.
    #[serde(default)]
    pub turn: u32,
    /// Whether the memory was found only in prose. It is shown only if it is among the best.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub from_prose: bool,
}

impl SessionMemory {
    fn bytes(&self) -> usize {
        let rejected: usize = self.rejected.iter().map(String::len).sum();
        let files: usize = self.files.iter().map(String::len).sum();
        200 + self.title.len() + self.beside.len() + self.why.len() + self.content.len() + rejected + files
    }

    /// Converts the memory to the contract's type.
    pub(super) fn draft(&self) -> Draft {
        Draft {
            key: Some(self.key.clone()),
            kind: self.kind.clone(),
            title: text::clip(&format!("{}{}", self.told(&self.title), self.beside), 200).into_owned(),
            content: self.told(if self.content.is_empty() { &self.title } else { &self.content }).into_owned(),
            keywords: self.keywords.clone(),
            files: self.files.clone(),
            importance: f32::from(self.importance) / 100.0,
            origin: self.source.origin(),
            attributes: vec![self.said_by.attribute()],
        }
    }

    /// Returns its title or its content as it is told: what the agent said of the code without the numbers of lines, which move.
    pub(super) fn told<'a>(&self, said: &'a str) -> Cow<'a, str> {
        let is_of_agent = self.from_prose || self.key.starts_with(FINDING_KEY);
        // Lines and code blocks stay as they are.
        if is_of_agent && !said.contains('\n') { clean::without_positions(said) } else { Cow::Borrowed(said) }
    }

    /// Returns whether it says the same as another memory, which has these features.
    fn is_duplicate_of(&self, other: &SessionMemory, features: &text::Features) -> bool {
        // Commits and plans are separate facts, even if their texts are similar to others.
        let own = |memory: &SessionMemory| matches!(memory.kind.as_str(), "commit" | "plan");
        let min_similarity =
            if self.from_prose || other.from_prose { DUPLICATE_PROSE_SIMILARITY } else { DUPLICATE_SIMILARITY };
        // What is ruled with a refusal says in parentheses what was refused, which is the same for several of them.
        if self.key.starts_with(RULING_KEY)
            && other.key.starts_with(RULING_KEY)
            && let Some((said, refused)) = self.title.rsplit_once(" (")
            && let Some((also_said, _)) = other.title.rsplit_once(" (").filter(|(_, also_refused)| *also_refused == refused)
        {
            return text::similarity(&text::features(said), &text::features(also_said)) >= min_similarity;
        }
        !own(self) && !own(other) && text::similarity(&self.features(), features) >= min_similarity
    }

    fn features(&self) -> text::Features {
        let mut set = text::features(&self.title);
        // What a correction is about is the same for all corrections of one request.
        if self.kind == "correction" {
            return set;
        }
        set.extend(text::features(&self.content));
        set
    }
}

/// All memories of the session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct SessionMemories {
    all: Vec<SessionMemory>,
}

impl SessionMemories {
    /// Adds a memory. A duplicate of an existing memory is dropped, unless it is more important or has the same key;
    /// then it replaces the existing one.
    ///
    /// Memories that have to leave for it go to `settled` and do not change any more.
    pub(super) fn add(&mut self, memory: SessionMemory, settled: &mut Vec<Draft>) {
        if let Some(same) = self.all.iter_mut().find(|known| known.key == memory.key) {
            *same = memory;
            return;
        }
        let features = memory.features();
        let is_duplicate: Vec<bool> = self.all.iter().map(|known| known.is_duplicate_of(&memory, &features)).collect();
        let mut duplicates = self.all.iter().zip(&is_duplicate).filter(|(_, is_duplicate)| **is_duplicate);
        if duplicates.any(|(known, _)| known.importance >= memory.importance) {
            return;
        }
        let mut is_duplicate = is_duplicate.into_iter();
        self.all.retain(|_| is_duplicate.next() != Some(true));
        self.all.push(memory);
        self.enforce_limits(settled);
    }

    /// Removes every memory for which `test` returns true.
    pub(super) fn forget(&mut self, test: impl Fn(&SessionMemory) -> bool) {
        self.all.retain(|memory| !test(memory));
    }

    /// Changes memories where they stand.
    pub(super) fn change(&mut self, change: impl FnMut(&mut SessionMemory)) {
        self.all.iter_mut().for_each(change);
    }

    fn enforce_limits(&mut self, settled: &mut Vec<Draft>) {
        while self.all.iter().filter(|memory| memory.from_prose).count() > MAX_PROSE_CANDIDATES {
            let ranked = self.ranked_prose();
            self.all.remove(ranked[ranked.len() - 1]);
        }
        while self.all.len() > MAX_MEMORIES || self.all.iter().map(SessionMemory::bytes).sum::<usize>() > MAX_BYTES {
            let shown = self.shown()[0];
            let oldest = self.all.remove(0);
            if shown {
                settled.push(oldest.draft());
            }
        }
    }

    /// Returns the indexes of memories found only in prose, best first. Among equals, the older one comes first.
    fn ranked_prose(&self) -> Vec<usize> {
        let mut ranked: Vec<usize> = (0..self.all.len()).filter(|&at| self.all[at].from_prose).collect();
        ranked.sort_by_key(|&at| std::cmp::Reverse(self.all[at].importance));
        ranked
    }

    fn shown(&self) -> Vec<bool> {
        let mut shown: Vec<bool> = self.all.iter().map(|memory| !memory.from_prose).collect();
        for at in self.ranked_prose().into_iter().take(MAX_PROSE_SHOWN) {
            shown[at] = true;
        }
        shown
    }

    /// Returns the memories that currently hold, oldest first.
    pub(super) fn live(&self) -> impl Iterator<Item = &SessionMemory> {
        self.all.iter().zip(self.shown()).filter_map(|(memory, shown)| shown.then_some(memory))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(key: &str, title: &str, importance: u8, from_prose: bool) -> SessionMemory {
        SessionMemory {
            key: key.to_owned(),
            kind: "learning".to_owned(),
            title: title.to_owned(),
            importance,
            from_prose,
            ..SessionMemory::default()
        }
    }

    #[test]
    fn what_the_agent_said_is_told_without_numbers_of_lines() {
        let said = "The total at line 12 of `cart.ts` is rounded (lines 30, 42).".to_owned();
        let prose = SessionMemory { title: said.clone(), from_prose: true, ..SessionMemory::default() };
        assert_eq!(prose.draft().content, "The total in `cart.ts` is rounded.");
        let own = SessionMemory { title: said.clone(), ..SessionMemory::default() };
        assert_eq!(own.draft().content, said);
    }

    #[test]
    fn the_more_important_duplicate_is_kept() {
        let (mut memories, mut settled) = (SessionMemories::default(), Vec::new());
        memories.add(memory("a", "the parser rejects empty input lines", 40, true), &mut settled);
        memories.add(memory("b", "the parser rejects empty input lines today", 60, false), &mut settled);
        memories.add(memory("c", "parser rejects empty input", 50, true), &mut settled);
        let keys: Vec<&str> = memories.live().map(|memory| memory.key.as_str()).collect();
        assert_eq!(keys, ["b"]);
    }

    #[test]
    fn two_rulings_on_one_edit_are_kept() {
        let (mut memories, mut settled) = (SessionMemories::default(), Vec::new());
        let refused = "(The user refused: Edit src/drawer/of/the/night/till.rs)";
        memories.add(memory("ruling:1", &format!("why not print it at noon? {refused}"), 60, false), &mut settled);
        memories.add(memory("ruling:2", &format!("use the list of carts {refused}"), 60, false), &mut settled);
        assert_eq!(memories.live().count(), 2);
    }

    #[test]
    fn only_the_best_prose_memories_are_shown() {
        let (mut memories, mut settled) = (SessionMemories::default(), Vec::new());
        for word in ["alpha", "bravo", "charlie", "delta", "echoes", "foxtrot", "golf", "hotel", "india"] {
            memories.add(memory(word, word, if word == "alpha" { 10 } else { 50 }, true), &mut settled);
        }
        assert_eq!(memories.live().count(), MAX_PROSE_SHOWN);
        assert!(memories.live().all(|memory| memory.key != "alpha"));
    }

    #[test]
    fn memories_dropped_at_the_limit_are_settled() {
        let (mut memories, mut settled) = (SessionMemories::default(), Vec::new());
        for number in 0..=MAX_MEMORIES {
            memories.add(memory(&number.to_string(), &format!("word{number}"), 50, false), &mut settled);
        }
        assert_eq!(settled.len(), 1);
        assert_eq!(settled[0].key.as_deref(), Some("0"));
    }
}
