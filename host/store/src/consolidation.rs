//! The input of a consolidator, and the transaction that stores its output: new memories under the keys of the memories that
//! they replace, and links from older memories to newer ones.

use rusqlite::{Connection, OptionalExtension, params};

use super::memories::{COLUMNS, PutOutcome, content_hash, from_row, put};
use super::{Result, Store, json, projects, supersessions};
use throughline_model::contract::{Draft, Memory};
use throughline_model::project::Project;
use throughline_model::redacted::{Redacted, Texts};
use throughline_search::supersession::Relation;

/// A memory as a session learned it.
#[derive(Debug, Clone, PartialEq)]
pub struct SourceMemory {
    /// The memory.
    pub memory: Memory,
    /// The key under which the session learned it.
    pub key: String,
    /// The transcript line where it did.
    pub line_uuid: Option<String>,
    /// Whether a person pinned it.
    pub is_pinned: bool,
}

/// What a consolidator returned and the host accepted.
#[derive(Debug, Clone, Default)]
pub struct ConsolidatedMemories {
    /// New memories.
    pub memories: Vec<NewMemory>,
    /// Pairs of identifiers of stored memories of which the second takes the place of the first.
    pub superseded: Vec<(String, String)>,
}

/// A new memory.
#[derive(Debug, Clone, Default)]
pub struct NewMemory {
    /// The memory, with its key.
    pub draft: Draft,
    /// Further keys of the session whose memories it takes the place of.
    pub retracted: Vec<String>,
    /// Identifiers of memories of the project that it supersedes.
    pub supersedes: Vec<String>,
    /// Identifiers of the memories that it takes the place of, in whatever way.
    pub replaced: Vec<String>,
    /// Identifiers of the memories that it was made of.
    pub sources: Vec<String>,
    /// Whether its content is the session's summary.
    pub is_summary: bool,
}

impl Texts for ConsolidatedMemories {
    fn texts_mut(&mut self) -> Vec<&mut String> {
        // Identifiers are the host's own, and so are the keys of stored memories.
        self.memories.iter_mut().flat_map(|memory| memory.draft.texts_mut()).collect()
    }
}

impl Store {
    /// Returns what one session of a project learned and what holds, in order, with its archived turns. Digests, what was folded
    /// into one, and what was superseded or marked wrong are left out.
    pub fn session_sources(&self, project: &str, session: &str) -> Result<Vec<SourceMemory>> {
        self.explain(
            self.conn
                .prepare_cached(&format!(
                    "SELECT {COLUMNS}, s.key, s.line_uuid, m.pinned_at IS NOT NULL FROM sightings s JOIN memories m ON m.rowid = s.memory
                     WHERE s.session_id = ?1 AND m.project_id = ?2 AND m.digest IS NULL
                       AND m.wrong_at IS NULL AND m.superseded_by IS NULL
                       AND m.rowid NOT IN (SELECT memory FROM digests)
                     ORDER BY COALESCE(s.at, m.created_at), m.rowid"
                ))
                .and_then(|mut s| {
                    s.query_map([session, project], |row| {
                        Ok(SourceMemory {
                            memory: from_row(row)?,
                            key: row.get(11)?,
                            line_uuid: row.get(12)?,
                            is_pinned: row.get(13)?,
                        })
                    })?
                    .collect()
                }),
        )
    }

    /// Stores what a consolidator made of a session's memories, or of a project's, in one transaction. Returns how many new
    /// memories are stored, and how many were superseded.
    ///
    /// What a person said while the model worked takes precedence. A new memory is left out if one of its sources is gone by then,
    /// superseded or marked wrong. It is also left out if a memory that it would replace is pinned by then, or if `may_replace`
    /// refuses that memory.
    pub fn commit_consolidation(
        &mut self,
        project: &Project,
        session: &str,
        made: &Redacted<ConsolidatedMemories>,
        policy: (&str, &str),
        may_replace: impl Fn(&Memory) -> bool,
        now: u64,
    ) -> Result<(u32, u32)> {
        self.write(|tx| {
            let (mut stored, mut links) = (0, Vec::new());
            projects::put(tx, project, now)?;
            let may_go = |id: &String| {
                let found = row_that_holds(tx, &project.id, id)?;
                Ok::<_, rusqlite::Error>(found.is_some_and(|(memory, is_pinned)| !is_pinned && may_replace(&memory)))
            };
            // Before anything is stored, because a new memory takes the place of a source.
            let mut present = Vec::with_capacity(made.memories.len());
            for new in &made.memories {
                let mut is_present = true;
                for id in &new.sources {
                    is_present &= row_that_holds(tx, &project.id, id)?.is_some();
                }
                for id in &new.replaced {
                    is_present &= may_go(id)?;
                }
                present.push(is_present);
            }
            for (older, newer) in &made.superseded {
                if may_go(older)? && row_that_holds(tx, &project.id, newer)?.is_some() {
                    links.push((older.clone(), newer.clone()));
                }
            }
            for new in made.memories.iter().zip(present).filter_map(|(new, is_present)| is_present.then_some(new)) {
                let outcome = put(tx, &project.id, session, &new.draft, policy, now)?;
                if outcome == PutOutcome::Forgotten {
                    continue;
                }
                stored += u32::from(outcome == PutOutcome::Stored);
                for key in new.retracted.iter().filter(|key| Some(*key) != new.draft.key.as_ref()) {
                    super::memories::retract(tx, session, key)?;
                }
                if new.is_summary {
                    tx.prepare_cached(
                        "UPDATE session_history SET summary = ?3, topics = CASE WHEN ?4 = '[]' THEN topics ELSE ?4 END
                         WHERE session_id = ?1 AND project_id = ?2",
                    )?
                    .execute(params![
                        session,
                        project.id,
                        new.draft.content,
                        json(&new.draft.keywords)
                    ])?;
                }
                if let Some(id) = id_of(tx, &project.id, &new.draft)? {
                    links.extend(
                        new.supersedes.iter().filter(|older| **older != id).map(|older| (older.clone(), id.clone())),
                    );
                }
            }
            let mut superseded = 0;
            for (older, newer) in &links {
                superseded += u32::from(supersessions::link(tx, older, newer, Relation::Amends, now)?);
            }
            Ok((stored, superseded))
        })
    }
}

/// Returns a memory of the project if it is there and holds, and whether it is pinned.
fn row_that_holds(tx: &Connection, project: &str, id: &str) -> rusqlite::Result<Option<(Memory, bool)>> {
    tx.prepare_cached(&format!(
        "SELECT {COLUMNS}, m.pinned_at IS NOT NULL FROM memories m
         WHERE m.project_id = ?1 AND m.id = ?2 AND m.wrong_at IS NULL AND m.superseded_by IS NULL"
    ))?
    .query_row([project, id], |row| Ok((from_row(row)?, row.get(11)?)))
    .optional()
}

fn id_of(tx: &Connection, project: &str, draft: &Draft) -> rusqlite::Result<Option<String>> {
    tx.prepare_cached("SELECT id FROM memories WHERE project_id = ?1 AND content_hash = ?2")?
        .query_row(params![project, content_hash(draft)], |row| row.get(0))
        .optional()
}
