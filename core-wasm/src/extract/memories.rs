//! The memories that a session has given so far: each stated once, and bounded.

use serde::{Deserialize, Serialize};

use crate::bindings::throughline::policy::types::{Draft, Origin};
use crate::text;

/// The texts of all kept memories together, in bytes.
const MAX_BYTES: usize = 48 * 1024;
/// How many there may be.
const MAX_MEMORIES: usize = 160;
/// How many memories that only prose speaks for are shown; the rest wait as candidates.
const MAX_PROSE_SHOWN: usize = 8;
/// How many such candidates are held.
const MAX_PROSE_CANDIDATES: usize = 32;
/// From which likeness on two memories say the same.
const DUPLICATE_SIMILARITY: f32 = 0.75;
/// The same where only prose speaks for one of them.
const DUPLICATE_PROSE_SIMILARITY: f32 = 0.6;

/// Where something was learned, as the state holds it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct LineRef {
    /// The line's identifier.
    pub uuid: String,
    /// Milliseconds since the epoch.
    pub at: Option<u64>,
}

impl LineRef {
    /// As the contract has it.
    pub(super) fn origin(&self) -> Origin {
        Origin { line_uuid: (!self.uuid.is_empty()).then(|| self.uuid.clone()), at: self.at }
    }
}

/// One memory of the session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct SessionMemory {
    /// Identity within the session.
    pub key: String,
    /// The contract's kind.
    pub kind: String,
    /// One line that stands alone.
    pub title: String,
    /// The reason, for decisions.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
    /// The options not taken, for decisions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rejected: Vec<String>,
    /// The whole memory; empty where the title is all.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub content: String,
    /// What it is about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// In hundredths.
    pub importance: u8,
    /// Where it was learned.
    pub source: LineRef,
    /// Only prose speaks for it: shown when among the best.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub from_prose: bool,
}

impl SessionMemory {
    fn bytes(&self) -> usize {
        let rejected: usize = self.rejected.iter().map(String::len).sum();
        let files: usize = self.files.iter().map(String::len).sum();
        200 + self.title.len() + self.why.len() + self.content.len() + rejected + files
    }

    /// As the contract has it.
    pub(super) fn draft(&self) -> Draft {
        Draft {
            key: Some(self.key.clone()),
            kind: self.kind.clone(),
            title: text::clip(&self.title, 200).into_owned(),
            content: if self.content.is_empty() { self.title.clone() } else { self.content.clone() },
            keywords: Vec::new(),
            files: self.files.clone(),
            importance: f32::from(self.importance) / 100.0,
            origin: self.source.origin(),
            attributes: Vec::new(),
        }
    }

    fn is_duplicate_of(&self, other: &SessionMemory) -> bool {
        // Commits and plans are facts of their own, however much else they say.
        let own = |memory: &SessionMemory| matches!(memory.kind.as_str(), "commit" | "plan");
        let min_similarity =
            if self.from_prose || other.from_prose { DUPLICATE_PROSE_SIMILARITY } else { DUPLICATE_SIMILARITY };
        !own(self) && !own(other) && text::similarity(&self.features(), &other.features()) >= min_similarity
    }

    fn features(&self) -> text::Features {
        let mut set = text::features(&self.title);
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
    /// Adds a memory. One that says the same as an earlier one gives way to it, unless it is weightier or replaces it by key.
    ///
    /// What has to leave for it is settled: it goes to `settled` and is not changed any more.
    pub(super) fn add(&mut self, memory: SessionMemory, settled: &mut Vec<Draft>) {
        if let Some(same) = self.all.iter_mut().find(|known| known.key == memory.key) {
            *same = memory;
            return;
        }
        if self.all.iter().any(|known| known.importance >= memory.importance && known.is_duplicate_of(&memory)) {
            return;
        }
        self.all.retain(|known| !known.is_duplicate_of(&memory));
        self.all.push(memory);
        self.enforce_limits(settled);
    }

    /// Forgets every memory that `test` names.
    pub(super) fn forget(&mut self, test: impl Fn(&SessionMemory) -> bool) {
        self.all.retain(|memory| !test(memory));
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

    /// Indexes of memories that only prose speaks for, best first; the older of two equals is the better.
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

    /// The memories that hold now, oldest first.
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
    fn the_same_is_said_once_by_the_weightier() {
        let (mut memories, mut settled) = (SessionMemories::default(), Vec::new());
        memories.add(memory("a", "the parser rejects empty input lines", 40, true), &mut settled);
        memories.add(memory("b", "the parser rejects empty input lines today", 60, false), &mut settled);
        memories.add(memory("c", "parser rejects empty input", 50, true), &mut settled);
        let keys: Vec<&str> = memories.live().map(|memory| memory.key.as_str()).collect();
        assert_eq!(keys, ["b"]);
    }

    #[test]
    fn only_the_best_of_what_prose_says_is_shown() {
        let (mut memories, mut settled) = (SessionMemories::default(), Vec::new());
        for word in ["alpha", "bravo", "charlie", "delta", "echoes", "foxtrot", "golf", "hotel", "india"] {
            memories.add(memory(word, word, if word == "alpha" { 10 } else { 50 }, true), &mut settled);
        }
        assert_eq!(memories.live().count(), MAX_PROSE_SHOWN);
        assert!(memories.live().all(|memory| memory.key != "alpha"));
    }

    #[test]
    fn what_leaves_for_want_of_room_is_settled() {
        let (mut memories, mut settled) = (SessionMemories::default(), Vec::new());
        for number in 0..=MAX_MEMORIES {
            memories.add(memory(&number.to_string(), &format!("word{number}"), 50, false), &mut settled);
        }
        assert_eq!(settled.len(), 1);
        assert_eq!(settled[0].key.as_deref(), Some("0"));
    }
}
