//! Finds what sessions said about commits that were reverted later, and records that the revert likely changed it.

use anyhow::Result;

use throughline_model::contract::{Memory, SessionNotes};
use throughline_store::{MemoryFilter, Store};

/// How many sessions are looked at, the latest ones.
const MAX_SESSIONS: u32 = 2_000;

/// How many memories of a session are looked at.
const MAX_MEMORIES: u32 = 400;

/// Kinds that say what was made or decided, and those that repeat it.
const KINDS: [&str; 5] = ["result", "decision", "plan", "turn", "session_summary"];

/// By how much a memory may be younger than the commit that it is about, milliseconds: the agent answers after it committed.
const AFTER_COMMIT_MS: u64 = 60_000;

/// The attribute of a session's notes with the short hashes of its commits, in their order; `-` for one that is not known.
const HASHES: &str = "commit-hashes";

/// The shortest hash that names a commit: git's own shortest.
const MIN_HASH: usize = 7;

/// A commit that was reverted.
pub(super) struct Revert {
    /// The identifier of the reverted commit, in full.
    pub(super) commit: String,
    /// When that was made, milliseconds since the Unix epoch.
    pub(super) made_at: u64,
    /// The memory of the commit that reverts it.
    pub(super) by: String,
}

/// Links sessions' memories about reverted commits to the revert, so that they are told after it, as the earlier word. Returns
/// how many links are new.
pub(super) fn doubt_sessions(store: &mut Store, project: &str, reverts: &[Revert], now: u64) -> Result<u64> {
    if reverts.is_empty() {
        return Ok(0);
    }
    let sessions = store.sessions(project, "", MAX_SESSIONS)?;
    let mut doubted = 0;
    for revert in reverts {
        for session in &sessions {
            let Some(made) = session.notes.as_ref().and_then(|notes| Made::find(notes, &revert.commit)) else { continue };
            let filter = MemoryFilter {
                project: Some(project.to_owned()),
                session: Some(session.id.clone()),
                kinds: KINDS.map(str::to_owned).to_vec(),
                ..MemoryFilter::default()
            };
            let memories = store.in_learned_order(&filter, MAX_MEMORIES)?;
            let is_about = |it: &&Memory| it.created <= revert.made_at + AFTER_COMMIT_MS && made.is_about(it);
            let ids: Vec<&str> = memories.iter().filter(is_about).map(|it| it.id.as_str()).collect();
            doubted += store.doubt(&ids, &revert.by, now)?;
        }
    }
    Ok(doubted)
}

/// A commit that a session made.
struct Made<'a> {
    hash: &'a str,
    subject: &'a str,
    /// Whether the session made no other.
    is_only: bool,
}

impl<'a> Made<'a> {
    /// Returns the session's commit with this identifier, if it made it.
    fn find(notes: &'a SessionNotes, commit: &str) -> Option<Self> {
        let (_, hashes) = notes.attributes.iter().find(|(name, _)| name == HASHES)?;
        let mut pairs = hashes.split(' ').zip(&notes.commits);
        let (hash, subject) = pairs.find(|(hash, _)| hash.len() >= MIN_HASH && commit.starts_with(hash))?;
        Some(Self { hash, subject, is_only: notes.commits.len() == 1 })
    }

    /// Returns whether a memory of the session is about the commit. If the session made several, the memory must name it.
    fn is_about(&self, memory: &Memory) -> bool {
        self.is_only || memory.content.contains(self.hash) || memory.content.contains(self.subject)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_memory_is_about_a_commit_if_it_is_the_only_one_or_named() {
        let notes = |commits: &[&str], hashes: &str| SessionNotes {
            commits: commits.iter().map(|&it| it.to_owned()).collect(),
            attributes: vec![(HASHES.to_owned(), hashes.to_owned())],
            ..SessionNotes::default()
        };
        let says = |content: &str| Memory { content: content.to_owned(), ..Memory::default() };
        let id = "1a2b3c4d5e6f".repeat(3) + "0000";
        let one = notes(&["Retry uploads"], "1a2b3c4");
        assert!(Made::find(&one, &id).unwrap().is_about(&says("Uploads are tried for a day")));
        let two = notes(&["Round weights", "Retry uploads"], "- 1a2b3c4d5");
        let made = Made::find(&two, &id).unwrap();
        assert!(!made.is_about(&says("Weights are rounded up")));
        assert!(made.is_about(&says("Done, committed as 1a2b3c4d5")) && made.is_about(&says("Retry uploads: done")));
        for (hashes, why) in [("- -", "not known"), ("9f9f9f9 8e8e8e8", "others"), ("1a2 1a2", "too short"), ("", "none")] {
            assert!(Made::find(&notes(&["a", "b"], hashes), &id).is_none(), "{why}");
        }
    }
}
