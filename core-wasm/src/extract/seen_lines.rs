//! Remembers which lines were already folded. Forks, re-appended history and replaced files repeat lines.

use std::collections::{HashSet, VecDeque};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::text;

/// How many of the newest lines are remembered.
const MAX_LINES: usize = 8192;

/// Hashes of the identifiers of the newest lines, oldest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct SeenLines {
    ring: VecDeque<u32>,
    set: HashSet<u32>,
}

impl SeenLines {
    /// Records a line and returns whether it is new.
    pub(super) fn insert(&mut self, identifier: &str) -> bool {
        let hash = text::hash(identifier);
        if !self.set.insert(hash) {
            return false;
        }
        self.ring.push_back(hash);
        if self.ring.len() > MAX_LINES
            && let Some(oldest) = self.ring.pop_front()
        {
            self.set.remove(&oldest);
        }
        true
    }

    /// Returns whether a half can be dropped.
    pub(super) fn can_shrink(&self) -> bool {
        self.ring.len() > 1
    }

    /// Drops the older half.
    pub(super) fn halve(&mut self) {
        for oldest in self.ring.drain(..self.ring.len() / 2) {
            self.set.remove(&oldest);
        }
    }
}

impl Serialize for SeenLines {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(&self.ring)
    }
}

impl<'de> Deserialize<'de> for SeenLines {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let ring = VecDeque::<u32>::deserialize(deserializer)?;
        let set = ring.iter().copied().collect();
        Ok(SeenLines { ring, set })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_newest_are_known() {
        let mut seen = SeenLines::default();
        assert!(seen.insert("first"));
        assert!(!seen.insert("first"));
        for number in 0..MAX_LINES {
            seen.insert(&number.to_string());
        }
        assert!(seen.insert("first"));
        assert_eq!(seen.ring.len(), MAX_LINES);
    }
}
