//! Tables `memories`, `sightings` (occurrences), `tombstones` and `shown`.
//!
//! An extractor is a fold over lines: the same lines in one call or in ten give the same memories. It may change its
//! mind, because the state at the end wins: an open failure gets its fix, a decision is taken back. So a draft has a
//! *key* within its session: a later draft with that key replaces it, and a *retraction* removes it.
//!
//! A memory is identified by project, kind and content (SHA-256, of which the row has the first half). Each place where
//! it was learned is a row of `sightings`, keyed by session and draft key. The same content from another session is the
//! same memory with a second occurrence, and weighs a little more. The copy of a line in a forked session has the same
//! uuid and is the same place. A memory whose last occurrence is retracted is removed. A memory that a person deletes
//! leaves a tombstone, so that reading the same lines again does not bring it back.

use std::ops::RangeInclusive;

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, OptionalExtension, Row, ToSql, params};

use super::extent::ROW_BITS;
use super::forgotten::{Fate, Forgotten};
use super::index::{index, unindex};
use super::marks::Marked;
use super::{Result, Store, digests, from_json_or_default, json, marks, projects, sharing, time, time_from_sql};
use throughline_model::contract::{Attribute, Draft, Memory, SessionNotes};
use throughline_model::digest::{hex, sha256_parts};
use throughline_model::project::Project;
use throughline_model::redacted::Redacted;
use throughline_model::said_by::{self, SaidBy};
use throughline_search::query::Query;

/// Kinds that apply to the project as a whole; the view `project_knowledge` lists them.
const KNOWLEDGE_KINDS: &[&str] = &["architecture", "pattern", "convention", "preference"];

/// What each further occurrence adds to a memory's weight, and how many occurrences count.
pub(super) const OCCURRENCE_WEIGHT: f64 = 0.05;
pub(super) const MAX_OCCURRENCES: u32 = 4;

/// The policy name and digest of memories that this program made itself.
pub(super) const OWN_POLICY: (&str, &str) = ("throughline", "");

/// The attribute of a memory that the user saved.
pub const SAVED: (&str, &str) = (said_by::SOURCE, said_by::SAVED);

/// The attribute of a memory that the agent saved on its own.
pub const SAVED_BY_AGENT: (&str, &str) = (said_by::SOURCE, said_by::SAVED_BY_AGENT);

/// The outcome of storing a draft.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PutOutcome {
    /// A new memory was stored.
    Stored,
    /// The same content was known from elsewhere.
    NewOccurrence,
    /// This occurrence was known already.
    Known,
    /// The user deleted this content; it stays deleted.
    Forgotten,
}

/// Which memories to list. Empty fields do not restrict.
#[derive(Debug, Clone, Default)]
pub struct MemoryFilter {
    /// One project.
    pub project: Option<String>,
    /// One session.
    pub session: Option<String>,
    /// Kinds; empty means all but `turn`.
    pub kinds: Vec<String>,
    /// Whether to include memories shared with all projects.
    pub shared: bool,
    /// Whether to leave out memories whose place a later one took.
    pub current: bool,
    /// What a person may have said of them.
    pub marked: Marked,
}

/// A memory with its context.
#[derive(Debug, Clone, PartialEq)]
pub struct MemoryRecord {
    /// The memory.
    pub memory: Memory,
    /// The root folder of its project.
    pub project: String,
    /// The policy that made it.
    pub policy: String,
    /// The digest of that policy.
    pub policy_digest: String,
    /// The transcript line where it was first learned.
    pub line_uuid: Option<String>,
    /// How often it was looked up or shown.
    pub access_count: u32,
    /// The memory digest that it was folded into.
    pub digest: Option<String>,
}

/// A memory that applies to a project as a whole.
#[derive(Debug, Clone, PartialEq)]
pub struct Knowledge {
    /// The kind: `convention`, `preference`, `architecture`, `pattern`, …
    pub kind: String,
    /// The file that it is about.
    pub file: Option<String>,
    /// One line.
    pub content: String,
    /// 0 to 1.
    pub importance: f32,
    /// When it was learned.
    pub updated: u64,
}

/// How much is stored.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Stats {
    /// Memories, without those that were folded into a digest.
    pub memories: u64,
    /// Memories that were folded into a digest.
    pub compressed: u64,
    /// Digests, which are memories too.
    pub digests: u64,
    /// Sessions.
    pub sessions: u64,
    /// Events.
    pub events: u64,
    /// Memories of each type, the most frequent first; in JSON an object.
    #[serde(serialize_with = "as_object")]
    #[cfg_attr(feature = "schema", schemars(with = "std::collections::BTreeMap<String, u64>"))]
    pub types: Vec<(String, u64)>,
    /// Projects.
    pub projects: u64,
    /// The size of the database without its WAL, in bytes.
    pub bytes: u64,
}

fn as_object<S: serde::Serializer>(types: &[(String, u64)], to: S) -> std::result::Result<S::Ok, S::Error> {
    to.collect_map(types.iter().map(|(kind, number)| (kind, number)))
}

pub(super) const COLUMNS: &str = "m.id, m.session_id, m.type, m.title, m.content, m.keywords, m.files, m.importance, m.created_at, \
                       m.seen_count, m.metadata";

pub(super) fn from_row(row: &Row<'_>) -> rusqlite::Result<Memory> {
    Ok(Memory {
        id: row.get(0)?,
        session_id: row.get(1)?,
        kind: row.get(2)?,
        title: row.get(3)?,
        content: row.get(4)?,
        keywords: from_json_or_default(&row.get::<_, String>(5)?),
        files: from_json_or_default(&row.get::<_, String>(6)?),
        #[expect(clippy::cast_possible_truncation, reason = "it was an f32 before it was stored")]
        importance: row.get::<_, f64>(7)? as f32,
        created: time_from_sql(row.get(8)?),
        seen: row.get(9)?,
        score: 0.0,
        attributes: from_json_or_default(&row.get::<_, String>(10)?),
    })
}

fn found_from_row(row: &Row<'_>) -> rusqlite::Result<MemoryRecord> {
    Ok(MemoryRecord {
        memory: from_row(row)?,
        project: row.get(11)?,
        policy: row.get(12)?,
        policy_digest: row.get(13)?,
        access_count: row.get(14)?,
        line_uuid: row.get(15)?,
        digest: row.get(16)?,
    })
}

/// Indexes identify a project by its number.
const OF_PROJECT: &str = "m.project = (SELECT number FROM projects WHERE id = ?)";

/// The conditions and parameters of a WHERE clause.
#[derive(Default)]
pub(super) struct Where {
    clauses: Vec<String>,
    params: Vec<Box<dyn ToSql>>,
}

impl Where {
    fn and(&mut self, clause: &str, value: impl ToSql + 'static) {
        self.params.push(Box::new(value));
        self.clauses.push(clause.replace('?', &format!("?{}", self.params.len())));
    }

    /// Matches memories that can be listed, which excludes those folded into a digest.
    fn listed() -> Self {
        Self { clauses: vec!["m.digest IS NULL".into()], params: Vec::new() }
    }

    pub(super) fn filter(filter: &MemoryFilter) -> Self {
        let mut it = Self::listed();
        if let Some(project) = &filter.project {
            it.and(OF_PROJECT, project.clone());
        }
        if let Some(session) = &filter.session {
            it.and("m.session_id = ?", session.clone());
        }
        if filter.current {
            it.clauses.push("m.superseded_by IS NULL".into());
        }
        it.clauses.push(filter.marked.sql().into());
        if filter.kinds.is_empty() {
            it.clauses.push("m.type <> 'turn'".into());
        } else {
            it.kinds(&filter.kinds);
        }
        it
    }

    fn kinds(&mut self, kinds: &[String]) {
        if kinds.is_empty() {
            return;
        }
        let marks: Vec<String> = kinds
            .iter()
            .map(|kind| {
                self.params.push(Box::new(kind.clone()));
                format!("?{}", self.params.len())
            })
            .collect();
        self.clauses.push(format!("m.type IN ({})", marks.join(", ")));
    }

    /// Adds the parts of a query that the database can check; [`Query::accepts`] checks the rest.
    pub(super) fn query(&mut self, query: &Query, project: Option<&str>, marked: Marked) {
        self.clauses.extend(Self::listed().clauses);
        self.clauses.push(marked.sql().into());
        if let Some(project) = project {
            self.and(OF_PROJECT, project.to_owned());
        }
        self.kinds(&query.kinds);
        if let Some(after) = query.after {
            self.and("m.created_at >= ?", after);
        }
        if let Some(before) = query.before {
            self.and("m.created_at < ?", before);
        }
    }

    pub(super) fn params(&self) -> &[Box<dyn ToSql>] {
        &self.params
    }

    pub(super) fn sql(&self) -> String {
        if self.clauses.is_empty() { "1".into() } else { self.clauses.join(" AND ") }
    }
}

impl Store {
    /// Returns the kinds of a project's memories except archived turns, with one index step each.
    pub(super) fn kinds(&self, project: &str) -> Result<Vec<String>> {
        self.explain((|| {
            let mut next = self
                .conn
                .prepare_cached("SELECT type FROM memories WHERE project = ?1 AND type > ?2 ORDER BY type LIMIT 1")?;
            let Some(project) = projects::number(&self.conn, project)? else { return Ok(Vec::new()) };
            let mut kinds: Vec<String> = Vec::new();
            let mut last = String::new();
            while let Some(kind) = next.query_row(params![project, last], |row| row.get::<_, String>(0)).optional()? {
                if kind != "turn" {
                    kinds.push(kind.clone());
                }
                last = kind;
            }
            Ok(kinds)
        })())
    }

    /// Returns the root folder of each memory's project, in the order of `memories`; empty if there is no such memory.
    pub fn project_roots(&self, memories: &[Memory]) -> Result<Vec<String>> {
        self.explain(
            self.conn
                .prepare_cached("SELECT p.root FROM memories m JOIN projects p ON p.id = m.project_id WHERE m.id = ?1")
                .and_then(|mut s| {
                    memories
                        .iter()
                        .map(|memory| Ok(s.query_row([&memory.id], |row| row.get(0)).optional()?.unwrap_or_default()))
                        .collect()
                }),
        )
    }

    /// Returns the memory whose identifier is `id` or begins with it; at most two, so that the caller can tell when the
    /// prefix is ambiguous. A memory whose text was purged gets its line in the digest as its title.
    pub fn memory(&self, id: &str, project: Option<&str>) -> Result<Vec<MemoryRecord>> {
        let mut all = self.memory_as_stored(id, project)?;
        for found in all.iter_mut().filter(|found| found.memory.title.is_empty() && found.digest.is_some()) {
            let line = self.explain(digests::line_of(&self.conn, &found.memory.id))?;
            found.memory.title = line.unwrap_or_default();
        }
        Ok(all)
    }

    fn memory_as_stored(&self, id: &str, project: Option<&str>) -> Result<Vec<MemoryRecord>> {
        self.explain(
            self.conn
                .prepare_cached(&format!(
                    "SELECT {COLUMNS}, p.root, a.policy, a.digest, m.access_count,
                            (SELECT line_uuid FROM sightings s WHERE s.memory = m.rowid AND line_uuid IS NOT NULL ORDER BY at LIMIT 1),
                            (SELECT id FROM memories d WHERE d.rowid = m.digest)
                     FROM memories m JOIN projects p ON p.id = m.project_id JOIN makers a ON a.number = m.maker
                     WHERE m.id >= ?1 AND m.id < ?1 || 'g' AND (?2 IS NULL OR m.project_id = ?2) LIMIT 2"
                ))
                .and_then(|mut s| s.query_map(params![id, project], found_from_row)?.collect()),
        )
    }

    /// Stores a memory that no policy made. Returns the outcome and its identifier, which is `None` if it was
    /// permanently deleted.
    pub fn save_memory(
        &mut self,
        project: &Project,
        session: &str,
        draft: &Redacted<Draft>,
        now: u64,
    ) -> Result<(PutOutcome, Option<String>)> {
        let draft: &Draft = draft;
        self.write(|tx| {
            projects::put(tx, project, now)?;
            // All memories without a session share one session name, in which a key names one memory, so include the
            // project.
            let key = draft.key.clone().unwrap_or_else(|| format!("saved:{}:{}", project.id, content_hash(draft).hex(16)));
            let put = put(tx, &project.id, session, &Draft { key: Some(key), ..draft.clone() }, OWN_POLICY, now)?;
            let id = tx
                .query_row(
                    "SELECT id FROM memories WHERE project_id = ?1 AND content_hash = ?2",
                    params![project.id, content_hash(draft)],
                    |row| row.get(0),
                )
                .optional()?;
            Ok((put, id))
        })
    }

    /// Permanently deletes a memory, so that reading the transcript again does not bring it back. Deleting a digest
    /// deletes its sources too, because the user does not want to see their content again.
    pub fn delete_memory(&mut self, id: &str, now: u64) -> Result<bool> {
        self.write(|tx| Ok(delete(tx, id, now)?.is_some()))
    }

    /// Deletes memories in one transaction, as [`Store::delete_memory`] does. Returns those that existed.
    pub fn delete_memories(&mut self, ids: &[String], now: u64, fate: Fate<'_>) -> Result<Forgotten> {
        self.delete_rows(now, fate, |tx| {
            let mut forgotten = Forgotten::default();
            for id in ids {
                if let Some(memory) = delete(tx, id, now)? {
                    forgotten.counts.memories += 1;
                    forgotten.memories.push(memory);
                }
            }
            Ok(forgotten)
        })
    }

    /// Deletes memories older than `before` that were not accessed since and have a low weight: beyond the `keep`
    /// weightiest of their project. Returns how many there are; without `really`, only counts them. What the user
    /// stated, pinned or marked wrong and what `project_knowledge` lists stays, and so do digests and their sources: see
    /// [`Store::purge`].
    pub fn collect_garbage(&mut self, before: u64, keep: u32, project: Option<&str>, really: bool) -> Result<u64> {
        let path = self.path.clone();
        let collected = (|| {
            let tx = self.conn.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
            let rows: Vec<i64> = tx
                .prepare(
                    "SELECT rowid FROM (
                         SELECT rowid, project_id, type, created_at, accessed_at, weight, pinned_at, wrong_at,
                                row_number() OVER (PARTITION BY project_id ORDER BY weight DESC, created_at DESC) AS place
                         FROM memories WHERE digest IS NULL)
                     WHERE (?1 IS NULL OR project_id = ?1) AND type NOT IN ('preference', 'correction', 'architecture', 'pattern', 'convention')
                       AND max(created_at, COALESCE(accessed_at, 0)) < ?2 AND place > ?3
                       AND pinned_at IS NULL AND wrong_at IS NULL AND rowid NOT IN (SELECT memory FROM digests)",
                )?
                .query_map(params![project, time(before), keep], |row| row.get(0))?
                .collect::<rusqlite::Result<_>>()?;
            if really {
                for rowid in &rows {
                    // A record that was not sent is deleted, because nobody could decide about it any more. Other records stay:
                    // the team may have use for them.
                    tx.prepare_cached(
                        "DELETE FROM team_records WHERE memory = ?1 AND state IN ('review', 'pending', 'dropped', 'refused')",
                    )?
                    .execute([rowid])?;
                    tx.prepare_cached("UPDATE team_records SET memory = NULL WHERE memory = ?1")?.execute([rowid])?;
                    remove(&tx, *rowid)?;
                }
                tx.commit()?;
            }
            Ok(rows.len() as u64)
        })();
        collected.map_err(|error| super::classify(&path, error))
    }

    /// Returns what applies to a project as a whole, newest first.
    pub fn knowledge(&self, project: &str, limit: u32) -> Result<Vec<Knowledge>> {
        let kinds = KNOWLEDGE_KINDS.iter().map(|&kind| kind.to_owned()).collect();
        let filter = MemoryFilter { project: Some(project.to_owned()), kinds, current: true, ..MemoryFilter::default() };
        let known = self.recent(&filter, limit)?;
        Ok(known
            .into_iter()
            .map(|mut memory| {
                memory.name_colleague();
                memory
            })
            .map(|memory| Knowledge {
                kind: memory.kind,
                file: memory.files.into_iter().next(),
                content: memory.title,
                importance: memory.importance,
                updated: memory.created,
            })
            .collect())
    }

    /// Records that memories were shown to a session, or looked up by the user (no session).
    pub fn mark_shown(&self, ids: &[String], session: Option<&str>, source: &str, now: u64) -> Result<()> {
        self.explain((|| {
            let tx = self.conn.unchecked_transaction()?;
            mark_shown(&tx, ids.iter().map(String::as_str), session, source, now)?;
            tx.commit()
        })())
    }

    /// Returns the memories that a session has been shown.
    pub fn shown(&self, session: &str) -> Result<Vec<String>> {
        self.explain(
            self.conn
                .prepare_cached("SELECT m.id FROM shown s JOIN memories m ON m.rowid = s.memory WHERE s.session_id = ?1")
                .and_then(|mut s| s.query_map([session], |row| row.get(0))?.collect()),
        )
    }

    /// Returns when a memory was told: the session, the moment (`startup`, `prompt`, …) and the time, the latest first.
    pub fn told(&self, id: &str, limit: u32) -> Result<Vec<(String, String, u64)>> {
        self.explain(
            self.conn
                .prepare_cached(
                    "SELECT s.session_id, s.source, s.at FROM shown s JOIN memories m ON m.rowid = s.memory
                     WHERE m.id = ?1 ORDER BY s.at DESC, s.session_id LIMIT ?2",
                )
                .and_then(|mut s| {
                    s.query_map(params![id, limit], |row| Ok((row.get(0)?, row.get(1)?, row.get(2).map(time_from_sql)?)))?
                        .collect()
                }),
        )
    }

    /// Returns how much is stored, in one project or in all.
    pub fn stats(&self, project: Option<&str>) -> Result<Stats> {
        self.explain((|| {
            let count = |sql: &str| -> rusqlite::Result<u64> {
                self.conn.query_row(sql, params![project], |row| row.get::<_, i64>(0)).map(time_from_sql)
            };
            // An unknown project has no memories.
            let number = project.map(|project| projects::number(&self.conn, project)).transpose()?.map(|it| it.unwrap_or(-1));
            let condition = if number.is_some() { "project = ?1" } else { "?1 IS NULL" };
            let mut types = count_kinds(&self.conn, condition, number)?;
            types.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
            Ok(Stats {
                memories: types.iter().map(|(_, number)| number).sum(),
                compressed: self
                    .conn
                    .query_row(
                        &format!("SELECT count(*) FROM memories WHERE digest IS NOT NULL AND {condition}"),
                        [number],
                        |row| row.get::<_, i64>(0),
                    )
                    .map(time_from_sql)?,
                digests: count(
                    "SELECT count(*) FROM digests d JOIN memories m ON m.rowid = d.memory WHERE ?1 IS NULL OR m.project_id = ?1",
                )?,
                sessions: count("SELECT count(*) FROM session_history WHERE ?1 IS NULL OR project_id = ?1")?,
                events: count("SELECT count(*) FROM events WHERE ?1 IS NULL OR project_id = ?1")?,
                projects: count("SELECT count(*) FROM projects WHERE ?1 IS NULL OR id = ?1")?,
                types,
                bytes: self
                    .conn
                    .query_row("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size", [], |row| {
                        row.get::<_, i64>(0)
                    })
                    .map(time_from_sql)?,
            })
        })())
    }

    /// Returns the kinds of the stored memories in alphabetic order: of one project and of shared memories, or of all projects.
    pub fn stored_kinds(&self, project: Option<&str>) -> Result<Vec<String>> {
        self.explain(
            self.conn
                .prepare_cached(
                    "SELECT DISTINCT type FROM memories WHERE ?1 IS NULL OR project_id IN (?1, ?2) ORDER BY type",
                )
                .and_then(|mut s| s.query_map(params![project, Project::shared().id], |row| row.get(0))?.collect()),
        )
    }

    /// Returns the notes of a session as they were last saved.
    pub fn notes(&self, session: &str) -> Result<Option<SessionNotes>> {
        self.explain(
            self.conn
                .prepare_cached("SELECT notes FROM session_context WHERE session_id = ?1")
                .and_then(|mut s| s.query_row([session], |row| row.get::<_, String>(0)).optional()),
        )?
        .map(|notes| {
            let mut notes = from_json_or_default(&notes);
            self.leave_out_wrong(session, &mut notes)?;
            Ok(notes)
        })
        .transpose()
    }
}

/// See [`Store::mark_shown`].
pub(super) fn mark_shown<'a>(
    tx: &Connection,
    ids: impl Iterator<Item = &'a str>,
    session: Option<&str>,
    source: &str,
    now: u64,
) -> rusqlite::Result<()> {
    for id in ids {
        tx.prepare_cached("UPDATE memories SET accessed_at = ?2, access_count = access_count + 1 WHERE id = ?1")?
            .execute(params![id, time(now)])?;
        if let Some(session) = session {
            tx.prepare_cached(
                "INSERT INTO shown (session_id, memory, source, at) SELECT ?1, rowid, ?2, ?3 FROM memories WHERE id = ?4
                 ON CONFLICT DO NOTHING",
            )?
            .execute(params![session, source, time(now), id])?;
        }
    }
    Ok(())
}

/// Deletes a memory and returns it.
pub(super) fn delete(tx: &Connection, id: &str, now: u64) -> rusqlite::Result<Option<Memory>> {
    let found = tx
        .prepare_cached(&format!("SELECT {COLUMNS}, m.rowid AS number FROM memories m WHERE m.id = ?1"))?
        .query_row([id], |row| Ok((from_row(row)?, row.get("number")?)))
        .optional()?;
    let Some((memory, rowid)): Option<(Memory, i64)> = found else { return Ok(None) };
    digests::delete_sources(tx, rowid, now)?;
    // A digest is deleted with its last source.
    if tx.prepare_cached("SELECT 1 FROM memories WHERE rowid = ?1")?.exists([rowid])? {
        digests::add_tombstone(tx, rowid, now)?;
        forget_in_notes(tx, rowid)?;
        remove(tx, rowid)?;
    }
    Ok(Some(memory))
}

/// Removes a memory from the notes of the sessions that learned it; otherwise the agent would still see it there.
pub(super) fn forget_in_notes(tx: &Connection, rowid: i64) -> rusqlite::Result<()> {
    let (title, content): (String, String) =
        tx.query_row("SELECT title, content FROM memories WHERE rowid = ?1", [rowid], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let sessions: Vec<(String, String)> = tx
        .prepare(
            "SELECT session_id, notes FROM session_context
             WHERE session_id IN (SELECT session_id FROM sightings WHERE memory = ?1)",
        )?
        .query_map([rowid], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    for (session, notes) in sessions {
        let mut notes: SessionNotes = from_json_or_default(&notes);
        drop_from_notes(&mut notes, &title, &content);
        tx.execute("UPDATE session_context SET notes = ?2 WHERE session_id = ?1", params![session, json(&notes)])?;
    }
    Ok(())
}

/// Removes from notes what a memory with this title and content says.
pub(super) fn drop_from_notes(notes: &mut SessionNotes, title: &str, content: &str) {
    let kept = |text: &String| text.trim() != title.trim() && text.trim() != content.trim();
    // The memory of a decision begins with what was chosen, followed by the reason and the rejected options.
    notes.decisions.retain(|decision| kept(&decision.what) && !begins(content, &decision.what));
    notes.discoveries.retain(|discovery| kept(&discovery.insight) && !begins(content, &discovery.insight));
    for list in [&mut notes.learnings, &mut notes.preferences, &mut notes.errors, &mut notes.blockers] {
        list.retain(kept);
    }
    for list in [&mut notes.done, &mut notes.current, &mut notes.pending] {
        list.retain(kept);
    }
}

fn begins(content: &str, text: &str) -> bool {
    !text.trim().is_empty() && content.trim_start().starts_with(text.trim())
}

/// Reads a memory's texts for indexing it again.
pub(super) fn draft(conn: &Connection, rowid: i64) -> rusqlite::Result<Draft> {
    conn.prepare_cached("SELECT title, content, keywords, files FROM memories WHERE rowid = ?1")?.query_row([rowid], |row| {
        Ok(Draft {
            title: row.get(0)?,
            content: row.get(1)?,
            keywords: from_json_or_default(&row.get::<_, String>(2)?),
            files: from_json_or_default(&row.get::<_, String>(3)?),
            ..Default::default()
        })
    })
}

/// The SHA-256 by which memories of a project are deduplicated. The database stores its first half.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ContentHash([u8; 32]);

impl ContentHash {
    /// How many bytes the database stores. That is enough: no two contents of a project collide by chance, and nobody
    /// has made two that do.
    const STORED: usize = 16;

    /// Hashes the parts of a text.
    pub(super) fn of(parts: &[&str]) -> Self {
        Self(sha256_parts(parts))
    }

    /// Returns the first `bytes` of all 32 in hexadecimal.
    pub(super) fn hex(&self, bytes: usize) -> String {
        hex(&self.0[..bytes])
    }
}

impl ToSql for ContentHash {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(ValueRef::Blob(&self.0[..Self::STORED])))
    }
}

/// Returns the hash by which memories are deduplicated.
pub(super) fn content_hash(draft: &Draft) -> ContentHash {
    let content = draft.content.trim();
    ContentHash::of(&[&draft.kind, if content.is_empty() { draft.title.trim() } else { content }])
}

/// Returns the number of memories of each kind, without those that were folded into a digest, in alphabetic order. The condition is
/// about the project's number `?1`.
pub(super) fn count_kinds(conn: &Connection, condition: &str, number: Option<i64>) -> rusqlite::Result<Vec<(String, u64)>> {
    // Whole rows would have to be read to see which memories were folded into a digest. These are few, and have an index.
    let sql = format!(
        "SELECT type, sum(n) FROM (
             SELECT type, count(*) AS n FROM memories WHERE {condition} GROUP BY type
             UNION ALL
             SELECT type, -count(*) FROM memories WHERE digest IS NOT NULL AND {condition} GROUP BY type)
         GROUP BY type HAVING sum(n) > 0 ORDER BY type"
    );
    let count = |row: &Row<'_>| Ok((row.get(0)?, time_from_sql(row.get(1)?)));
    conn.prepare_cached(&sql)?.query_map([number], count)?.collect()
}

/// Returns whether the user deleted what a draft says.
pub(super) fn is_forgotten(tx: &Connection, project: &str, draft: &Draft) -> rusqlite::Result<bool> {
    tx.prepare_cached("SELECT 1 FROM tombstones WHERE project_id = ?1 AND content_hash = ?2")?
        .exists(params![project, content_hash(draft)])
}

/// Stores a draft, or adds an occurrence to the memory that has its content.
pub(super) fn put(
    tx: &Connection,
    project: &str,
    session: &str,
    draft: &Draft,
    policy: (&str, &str),
    now: u64,
) -> rusqlite::Result<PutOutcome> {
    let hash = content_hash(draft);
    let key = draft.key.clone().unwrap_or_else(|| format!("content:{}", hash.hex(8)));
    let known: Option<i64> = tx
        .prepare_cached("SELECT rowid FROM memories WHERE project_id = ?1 AND content_hash = ?2")?
        .query_row(params![project, hash], |row| row.get(0))
        .optional()?;
    let before: Option<i64> = tx
        .prepare_cached("SELECT memory FROM sightings WHERE session_id = ?1 AND key = ?2")?
        .query_row([session, &key], |row| row.get(0))
        .optional()?;
    if let Some(memory) = before.filter(|_| before == known) {
        // The same content from the same place; the time may have changed with the session.
        tx.prepare_cached("UPDATE sightings SET line_uuid = ?3, at = ?4 WHERE session_id = ?1 AND key = ?2")?
            .execute(params![session, key, draft.origin.line_uuid, draft.origin.at.map(time)])?;
        recount(tx, memory)?;
        raise_said_by(tx, memory, draft)?;
        return Ok(PutOutcome::Known);
    }
    // A memory that replaces a shared or a pinned one is shared or pinned too.
    let is_shared = before.map_or(Ok(false), |before| sharing::is_shared(tx, before))?;
    let mut pinned_at = None;
    if let Some(before) = before {
        if is_only_occurrence(tx, before)? {
            pinned_at = marks::of(tx, before)?.pinned_at;
            marks::set_pinned(tx, before, None)?;
        }
        retract(tx, session, &key)?;
    }
    let created = draft.origin.at.unwrap_or(now);
    let (memory, put) = if let Some(memory) = known {
        raise_said_by(tx, memory, draft)?;
        (memory, PutOutcome::NewOccurrence)
    } else {
        if is_forgotten(tx, project, draft)? {
            return Ok(PutOutcome::Forgotten);
        }
        (insert(tx, project, session, draft, hash, None, policy, created)?.0, PutOutcome::Stored)
    };
    tx.prepare_cached("INSERT INTO sightings (session_id, key, memory, line_uuid, at) VALUES (?1, ?2, ?3, ?4, ?5)")?
        .execute(params![session, key, memory, draft.origin.line_uuid, draft.origin.at.map(time)])?;
    // A new memory was stored with the count of its one occurrence.
    if put == PutOutcome::NewOccurrence {
        let before = seen(tx, memory)?;
        recount(tx, memory)?;
        // An old memory became useful again. The copy of a line in a forked session is the same occurrence and restores
        // nothing.
        if seen(tx, memory)? > before {
            digests::revive(tx, memory, Some(draft))?;
        }
    }
    if is_shared {
        sharing::share(tx, memory, now)?;
    }
    if pinned_at.is_some() {
        marks::set_pinned(tx, memory, pinned_at)?;
    }
    Ok(put)
}

/// Records a more trusted speaker of a memory, or its speaker if there was none.
fn raise_said_by(tx: &Connection, memory: i64, draft: &Draft) -> rusqlite::Result<()> {
    let Some(said_by) = SaidBy::of(&draft.attributes) else { return Ok(()) };
    change_attributes(tx, memory, |attributes| {
        if SaidBy::of_stored(attributes) < Some(said_by) {
            said_by::set(attributes, Some(said_by));
        }
    })
}

/// Changes the attributes of a memory, if it exists.
pub(super) fn change_attributes(
    tx: &Connection,
    memory: i64,
    change: impl FnOnce(&mut Vec<Attribute>),
) -> rusqlite::Result<()> {
    let attributes: Option<String> = tx
        .prepare_cached("SELECT metadata FROM memories WHERE rowid = ?1")?
        .query_row([memory], |row| row.get(0))
        .optional()?;
    let Some(attributes) = attributes else { return Ok(()) };
    let before: Vec<Attribute> = from_json_or_default(&attributes);
    let mut attributes = before.clone();
    change(&mut attributes);
    if attributes == before {
        return Ok(());
    }
    tx.prepare_cached("UPDATE memories SET metadata = ?2 WHERE rowid = ?1")?.execute(params![memory, json(&attributes)])?;
    Ok(())
}

fn seen(tx: &Connection, memory: i64) -> rusqlite::Result<u32> {
    tx.prepare_cached("SELECT seen_count FROM memories WHERE rowid = ?1")?.query_row([memory], |row| row.get(0))
}

/// Returns the rows that memories of a project, or of all, can have, or `None` if the project is unknown.
pub(super) fn row_range(conn: &Connection, project: Option<&str>) -> rusqlite::Result<Option<RangeInclusive<i64>>> {
    let Some(project) = project else { return Ok(Some(0..=(1 << 54))) };
    Ok(projects::number(conn, project)?.map(|number| (number << ROW_BITS)..=(number << ROW_BITS | ((1 << ROW_BITS) - 1))))
}

/// Stores a new memory and returns its row and identifier. The identifier is `id` if that is given and free.
#[expect(clippy::too_many_arguments, reason = "what a row holds")]
pub(super) fn insert(
    tx: &Connection,
    project: &str,
    session: &str,
    draft: &Draft,
    hash: ContentHash,
    id: Option<&str>,
    policy: (&str, &str),
    created: u64,
) -> rusqlite::Result<(i64, String)> {
    let id = free_id(tx, project, hash, id)?;
    // Never reuse a row number: the full-text table keeps data of a deleted row for a while.
    let rowid: i64 = tx
        .prepare_cached(&format!(
            "UPDATE projects SET memories = memories + 1 WHERE id = ?1 RETURNING number << {ROW_BITS} | memories"
        ))?
        .query_row([project], |row| row.get(0))?;
    let importance = f64::from(if draft.importance.is_finite() { draft.importance.clamp(0.0, 1.0) } else { 0.0 });
    tx.prepare_cached(
        "INSERT INTO memories (id, project_id, session_id, type, title, content, content_hash, keywords, files, metadata,
                               importance, weight, maker, created_at, rowid)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?11, ?12, ?13, ?14)",
    )?
    .execute(params![
        id,
        project,
        session,
        draft.kind,
        draft.title,
        draft.content,
        hash,
        json(&draft.keywords),
        json(&draft.files),
        json(&draft.attributes),
        importance,
        policy_number(tx, policy)?,
        time(created),
        rowid,
    ])?;
    index(tx, rowid, draft)?;
    Ok((rowid, id))
}

/// Returns the number of a policy and its digest. Their texts would take a twentieth of the size of a memory.
fn policy_number(tx: &Connection, (policy, digest): (&str, &str)) -> rusqlite::Result<i64> {
    let known = tx
        .prepare_cached("SELECT number FROM makers WHERE policy = ?1 AND digest = ?2")?
        .query_row([policy, digest], |row| row.get(0))
        .optional()?;
    if let Some(number) = known {
        return Ok(number);
    }
    tx.prepare_cached("INSERT INTO makers (policy, digest) VALUES (?1, ?2) RETURNING number")?
        .query_row([policy, digest], |row| row.get(0))
}

/// Returns an identifier for a new memory. It is derived from project and content, so that reading the same sessions
/// again yields the same identifiers. It may be taken by a memory that was edited since.
fn free_id(tx: &Connection, project: &str, hash: ContentHash, wanted: Option<&str>) -> rusqlite::Result<String> {
    let mut taken = tx.prepare_cached("SELECT 1 FROM memories WHERE id = ?1")?;
    if let Some(id) = wanted.filter(|id| is_id(id))
        && !taken.exists([id])?
    {
        return Ok(id.to_owned());
    }
    let mut parts = vec![project.to_owned(), hash.hex(32)];
    loop {
        let texts: Vec<&str> = parts.iter().map(String::as_str).collect();
        let id = hex(&sha256_parts(&texts)[..6]);
        if !taken.exists([&id])? {
            return Ok(id);
        }
        parts.push(id);
    }
}

/// Returns whether a text has the form of our identifiers.
fn is_id(text: &str) -> bool {
    text.len() == 12 && text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

/// Replaces a memory's content but keeps its row and identifier. A tombstone keeps the old content from coming back
/// when the transcript is read again.
pub(super) fn rewrite(tx: &Connection, rowid: i64, project: &str, draft: &Draft, hash: ContentHash) -> rusqlite::Result<()> {
    unindex(tx, rowid)?;
    tx.prepare_cached(
        "INSERT OR IGNORE INTO tombstones (project_id, content_hash, deleted_at, by_file)
         SELECT project_id, content_hash, created_at, 1 FROM memories WHERE rowid = ?1 AND content_hash <> ?2",
    )?
    .execute(params![rowid, hash])?;
    tx.prepare_cached("DELETE FROM tombstones WHERE project_id = ?1 AND content_hash = ?2")?
        .execute(params![project, hash])?;
    // The rewritten text is another statement than the wrong one.
    let is_new = tx
        .prepare_cached("SELECT content_hash <> ?2 FROM memories WHERE rowid = ?1")?
        .query_row(params![rowid, hash], |row| row.get::<_, bool>(0))?;
    if is_new {
        marks::set_wrong(tx, rowid, None, None)?;
    }
    let because = marks::reason(tx, rowid)?;
    let attributes: Vec<Attribute> = draft.attributes.iter().cloned().chain(because).collect();
    tx.prepare_cached(
        "UPDATE memories SET type = ?2, title = ?3, content = ?4, content_hash = ?5, keywords = ?6, files = ?7, metadata = ?8,
                importance = ?9, weight = ?9, created_at = ?10, maker = ?11 WHERE rowid = ?1",
    )?
    .execute(params![
        rowid,
        draft.kind,
        draft.title,
        draft.content,
        hash,
        json(&draft.keywords),
        json(&draft.files),
        json(&attributes),
        f64::from(draft.importance),
        draft.origin.at.map(time),
        policy_number(tx, OWN_POLICY)?,
    ])?;
    index(tx, rowid, draft)
}

/// Recounts a memory's occurrences. The copy of a line in a forked session is the same occurrence.
pub(super) fn recount(tx: &Connection, memory: i64) -> rusqlite::Result<()> {
    tx.prepare_cached(
        "UPDATE memories SET (seen_count, session_id, created_at) = (
             SELECT count(DISTINCT COALESCE(line_uuid, session_id || ' ' || key)),
                    COALESCE((SELECT session_id FROM sightings WHERE memory = ?1 ORDER BY COALESCE(at, 0), session_id <> memories.session_id, session_id LIMIT 1), memories.session_id),
                    COALESCE(min(at), memories.created_at)
             FROM sightings WHERE memory = ?1)
         WHERE rowid = ?1",
    )?
    .execute([memory])?;
    tx.prepare_cached("UPDATE memories SET weight = importance + ?2 * min(seen_count - 1, ?3) WHERE rowid = ?1")?
        .execute(params![memory, OCCURRENCE_WEIGHT, MAX_OCCURRENCES])?;
    Ok(())
}

/// Returns whether a memory was learned in one place.
fn is_only_occurrence(tx: &Connection, memory: i64) -> rusqlite::Result<bool> {
    let places: u32 =
        tx.prepare_cached("SELECT count(*) FROM sightings WHERE memory = ?1")?.query_row([memory], |row| row.get(0))?;
    Ok(places == 1)
}

/// Takes back what a session learned under `key`, and removes the memory if that was its only occurrence. What a person
/// pinned or marked wrong stays, and the occurrence with it under another key.
pub(super) fn retract(tx: &Connection, session: &str, key: &str) -> rusqlite::Result<()> {
    let memory: Option<(i64, String)> = tx
        .prepare_cached(
            "SELECT m.rowid, m.id FROM sightings s JOIN memories m ON m.rowid = s.memory WHERE s.session_id = ?1 AND s.key = ?2
               AND (m.pinned_at IS NOT NULL OR m.wrong_at IS NOT NULL)",
        )?
        .query_row([session, key], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    if let Some((memory, id)) = memory
        && is_only_occurrence(tx, memory)?
    {
        tx.prepare_cached("UPDATE OR REPLACE sightings SET key = 'marked:' || ?3 WHERE session_id = ?1 AND key = ?2")?
            .execute([session, key, &id])?;
        return Ok(());
    }
    take_back(tx, session, key)
}

/// Removes what a session learned under `key`, and the memory with it if that was its only occurrence.
pub(super) fn take_back(tx: &Connection, session: &str, key: &str) -> rusqlite::Result<()> {
    let memory: Option<i64> = tx
        .prepare_cached("DELETE FROM sightings WHERE session_id = ?1 AND key = ?2 RETURNING memory")?
        .query_row([session, key], |row| row.get(0))
        .optional()?;
    let Some(memory) = memory else { return Ok(()) };
    if tx.prepare_cached("SELECT 1 FROM sightings WHERE memory = ?1")?.exists([memory])? {
        recount(tx, memory)
    } else {
        remove(tx, memory)
    }
}

pub(super) fn remove(tx: &Connection, rowid: i64) -> rusqlite::Result<()> {
    digests::prepare_deletion(tx, rowid)?;
    sharing::stop_sharing_deleted(tx, rowid)?;
    unindex(tx, rowid)?;
    tx.prepare_cached("DELETE FROM memories WHERE rowid = ?1")?.execute([rowid])?;
    Ok(())
}
