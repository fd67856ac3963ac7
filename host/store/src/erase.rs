//! Removal of stored data: forgets it permanently, or redacts it again. Only tombstones remain; no byte of deleted data
//! remains in any page, index or log of the database.
//!
//! Forgetting deletes what was derived from the same lines and leaves tombstones, which are hashes, so that reading the
//! lines again does not bring it back. What is deleted can be kept in another file for a while ([`super::kept`]). Then
//! it rewrites the database: `secure_delete`, `optimize` of the full-text index,
//! `VACUUM`, and a truncated WAL. It reaches both sets of index tables, the former set, and the embedding cache, which
//! it clears as a whole. An embedding of texts that were read before an erasure is not kept after it.

use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};
use serde_json::Value;

use super::forgotten::{Fate, Forgotten, ForgottenSession, KeptFile, MAX_LISTED};
use super::index::{index, unindex};
use super::memories::{COLUMNS, ContentHash, content_hash, forget_in_notes, from_row, recount, remove};
use super::text::folded;
use super::{Result, Store, StoreError, classify, from_json_or_default, json, time};
use super::{digests, embedding_queue, events, kept, marks, reindex, replies, sharing, team, tombstones};
use throughline_model::contract::{Draft, Memory, SessionNotes};
use throughline_model::digest::{hex, sha256_parts};
use throughline_model::redacted::TextRedactor;

/// How many rows are redacted per transaction. A kill can undo at most this many.
const ROWS: u32 = 100;

/// What to forget: everything that matches all fields that are set.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// A project's identifier.
    pub project: Option<String>,
    /// A session's identifier.
    pub session: Option<String>,
    /// Learned before this time, in milliseconds since the Unix epoch.
    pub before: Option<u64>,
    /// Words that the text must all contain, ignoring case; see [`folded`].
    pub words: Vec<String>,
}

impl Selection {
    fn holds(&self, text: &str) -> bool {
        let text = folded(text);
        !self.words.is_empty() && self.words.iter().all(|word| text.contains(word.as_str()))
    }
}

/// Returns the tombstone hash of an entry in a session's notes, or of its summary.
fn note_hash(text: &str) -> ContentHash {
    ContentHash::of(&["note", text.trim()])
}

/// Why texts could not be redacted in the database.
#[derive(Debug)]
pub enum ScrubError<E> {
    /// The store failed.
    Store(StoreError),
    /// The redactor failed.
    Redactor(E),
}

impl<E> From<StoreError> for ScrubError<E> {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl<E> From<rusqlite::Error> for ScrubError<E> {
    fn from(error: rusqlite::Error) -> Self {
        Self::Store(error.into())
    }
}

impl Store {
    /// Forgets the selection. [`Store::erase`] must follow if rows were deleted.
    pub fn forget(&mut self, selection: &Selection, now: u64, fate: Fate<'_>) -> Result<Forgotten> {
        self.delete_rows(now, fate, |tx| forget(tx, selection, now))
    }

    /// Runs a deletion in one transaction, and does with the deleted rows what `fate` says.
    pub(super) fn delete_rows(
        &mut self,
        now: u64,
        fate: Fate<'_>,
        delete: impl FnOnce(&Connection) -> rusqlite::Result<Forgotten>,
    ) -> Result<Forgotten> {
        let path = self.path.clone();
        let file = match fate {
            Fate::Kept(KeptFile { folder, note }) => {
                let created = kept::create(folder, now);
                Some((created.map_err(|error| StoreError::ReadOnly(folder.to_path_buf(), error.to_string()))?, note))
            }
            Fate::Shown | Fate::Erased => None,
        };
        let mut is_used = false;
        let outcome = (|| {
            self.conn.execute_batch("PRAGMA secure_delete = ON; PRAGMA recursive_triggers = ON")?;
            let tx = self.conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
            if file.is_some() {
                kept::record(&tx)?;
            }
            let mut forgotten = delete(&tx)?;
            if let Some((file, note)) = &file {
                // The file comes first: after a kill between the two, it only has rows that are still in the database.
                is_used = kept::write(&tx, file, note, &forgotten, now)?;
                forgotten.kept = Some(file.clone()).filter(|_| is_used);
            }
            if fate.deletes() {
                tx.commit()?;
            }
            Ok(forgotten)
        })();
        if let Some((file, _)) = file.filter(|_| !is_used || outcome.is_err()) {
            let _ = std::fs::remove_file(file);
        }
        outcome.map_err(|error| classify(&path, error))
    }

    /// Erases deleted rows from the full-text index, free pages and the WAL. Returns false if another process is using
    /// the WAL; then it must be run again.
    pub fn erase(&self) -> Result<bool> {
        replies::clear(&self.path);
        self.explain((|| {
            self.conn.execute_batch(
                "PRAGMA secure_delete = ON;
                 INSERT INTO memories_fts (memories_fts) VALUES ('optimize');
                 INSERT INTO events_fts (events_fts) VALUES ('optimize');",
            )?;
            // Use one transaction, because another process may be swapping the tables.
            let tx = Transaction::new_unchecked(&self.conn, TransactionBehavior::Immediate)?;
            embedding_queue::clear_cache(&tx)?;
            reindex::delete_former_index(&tx)?;
            if reindex::is_begun(&tx)? {
                tx.execute_batch("INSERT INTO memories_fts_next (memories_fts_next) VALUES ('optimize')")?;
            }
            tx.commit()?;
            self.conn.execute_batch("VACUUM")?;
            let busy: i64 = self.conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))?;
            Ok(busy == 0)
        })())
    }

    /// Returns the identifiers and roots of all projects.
    pub fn projects(&self) -> Result<Vec<(String, String)>> {
        self.explain(
            self.conn
                .prepare("SELECT id, root FROM projects ORDER BY number")
                .and_then(|mut s| s.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()),
        )
    }

    /// Redacts all texts of a project again, in transactions of a few rows; without `really`, writes nothing. If it is
    /// interrupted, finished rows stay redacted, and running it again changes nothing more. Returns how many rows
    /// changed.
    pub fn scrub<R: TextRedactor>(
        &mut self,
        project: &str,
        redactor: &mut R,
        now: u64,
        really: bool,
    ) -> std::result::Result<u64, ScrubError<R::Error>> {
        self.conn.execute_batch("PRAGMA secure_delete = ON")?;
        // First, because a memory that changes drops its texts in the outbox, too.
        let mut changed = self.team_scrub_outbox(project, redactor, really)?;
        let mut after = i64::MIN;
        loop {
            let tx = self.conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let Some((last, rows)) = scrub_memories(&tx, project, after, redactor, now)? else { break };
            if really {
                tx.commit()?;
            }
            changed += rows;
            after = last;
        }
        for table in TABLES {
            let mut after = String::new();
            loop {
                let tx = self.conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
                let Some((last, rows)) = scrub_table(&tx, table, project, &after, redactor)? else { break };
                if really {
                    tx.commit()?;
                }
                changed += rows;
                after = last;
            }
        }
        Ok(changed)
    }
}

fn strings(tx: &Connection, sql: &str, params: impl rusqlite::Params) -> rusqlite::Result<Vec<String>> {
    tx.prepare(sql)?.query_map(params, |row| row.get(0))?.collect()
}

fn forget(tx: &Connection, selection: &Selection, now: u64) -> rusqlite::Result<Forgotten> {
    let mut forgotten = Forgotten::default();
    let Selection { project, session, before, words } = selection;
    let before = before.map(time);
    let rows: Vec<(i64, String, String)> = tx
        .prepare(
            "SELECT rowid, id, title || char(10) || content || char(10) || keywords || char(10) || files || char(10) || metadata ||
                    COALESCE((SELECT char(10) || stem || char(10) || tags || char(10) || related || char(10) || extra
                              FROM notes n WHERE n.memory = m.rowid), '')
             FROM memories m
             WHERE (?1 IS NULL OR project_id = ?1) AND (?2 IS NULL OR created_at < ?2)
               AND (?3 IS NULL OR session_id = ?3 OR EXISTS (SELECT 1 FROM sightings s WHERE s.memory = m.rowid AND s.session_id = ?3))
               AND NOT EXISTS (SELECT 1 FROM digests d WHERE d.memory = m.rowid)
             ORDER BY created_at DESC, id",
        )?
        .query_map(params![project, before, session], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
        .collect::<rusqlite::Result<_>>()?;
    // Digests are not matched themselves: each only repeats its sources and is rewritten when one of them goes.
    for (rowid, id, mut text) in rows {
        if !words.is_empty()
            && let Some(line) = digests::line_of(tx, &id)?
        {
            text.push('\n');
            text.push_str(&line);
        }
        if !words.is_empty() && !selection.holds(&text) {
            continue;
        }
        let elsewhere = tx
            .prepare_cached("SELECT 1 FROM sightings WHERE memory = ?1 AND session_id <> ?2")?
            .exists(params![rowid, session.as_deref().unwrap_or_default()])?;
        if session.is_some() && words.is_empty() && elsewhere {
            // Other sessions learned it too.
            tx.execute("DELETE FROM sightings WHERE memory = ?1 AND session_id = ?2", params![rowid, session])?;
            recount(tx, rowid)?;
            continue;
        }
        list(tx, rowid, &mut forgotten.memories)?;
        if marks::of(tx, rowid)?.pinned_at.is_some() {
            forgotten.pinned.push(id);
        }
        digests::add_tombstone(tx, rowid, now)?;
        forget_in_notes(tx, rowid)?;
        remove(tx, rowid)?;
        forgotten.counts.memories += 1;
    }
    if words.is_empty() {
        forget_sessions(tx, selection, &mut forgotten)?;
    } else {
        forget_words(tx, selection, now, &mut forgotten)?;
    }
    forgotten.notes.truncate(MAX_LISTED);
    Ok(forgotten)
}

/// Adds a memory to the list of deletions, unless the list is full.
pub(super) fn list(tx: &Connection, rowid: i64, listed: &mut Vec<Memory>) -> rusqlite::Result<()> {
    if listed.len() >= MAX_LISTED {
        return Ok(());
    }
    let mut memory =
        tx.prepare_cached(&format!("SELECT {COLUMNS} FROM memories m WHERE m.rowid = ?1"))?.query_row([rowid], from_row)?;
    if memory.title.is_empty() && memory.content.is_empty() {
        memory.title = digests::line_of(tx, &memory.id)?.unwrap_or_default();
    }
    listed.push(memory);
    Ok(())
}

/// Returns what a session was about.
fn session_title(tx: &Connection, session: &str) -> rusqlite::Result<String> {
    let (summary, notes): (String, Option<String>) = tx
        .prepare_cached(
            "SELECT h.summary, c.notes FROM session_history h LEFT JOIN session_context c USING (session_id) WHERE h.session_id = ?1",
        )?
        .query_row([session], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?
        .unwrap_or_default();
    let notes: SessionNotes = notes.as_deref().map(from_json_or_default).unwrap_or_default();
    let texts = [notes.current_objective, notes.original_request, summary];
    Ok(texts.into_iter().find(|text| !text.trim().is_empty()).unwrap_or_default())
}

fn forget_sessions(tx: &Connection, selection: &Selection, forgotten: &mut Forgotten) -> rusqlite::Result<()> {
    let Selection { project, session, before, .. } = selection;
    let before = before.map(time);
    let mut sessions = strings(
        tx,
        "SELECT session_id FROM session_history WHERE (?1 IS NULL OR project_id = ?1) AND (?2 IS NULL OR session_id = ?2)
           AND (?3 IS NULL OR COALESCE(ended_at, started_at, 0) < ?3)",
        params![project, session, before],
    )?;
    forgotten.counts.sessions += sessions.len() as u64;
    for id in sessions.iter().take(MAX_LISTED) {
        forgotten.sessions.push(ForgottenSession { id: id.clone(), title: session_title(tx, id)? });
    }
    // A session may have nothing stored but a state.
    sessions.extend(session.iter().filter(|_| project.is_none() && before.is_none()).cloned());
    for session in &sessions {
        for table in ["session_context", "extractor_states", "sightings", "file_anchors", "shown", "session_history"] {
            tx.execute(&format!("DELETE FROM {table} WHERE session_id = ?1"), [session])?;
        }
    }
    let events = tx.execute(
        "DELETE FROM events WHERE (?1 IS NULL OR project_id = ?1) AND (?2 IS NULL OR session_id = ?2) AND (?3 IS NULL OR timestamp < ?3)",
        params![project, session, before],
    )?;
    forgotten.counts.events += events as u64;
    // Delete failures that no event reports any more.
    tx.execute(
        "DELETE FROM failures WHERE (?1 IS NULL OR project_id = ?1)
           AND number NOT IN (SELECT failure FROM failure_sightings)",
        params![project],
    )?;
    if let (Some(project), None, None) = (project, session, before) {
        for session in &sessions {
            tx.execute("DELETE FROM transcripts WHERE session_id = ?1", [session])?;
        }
        // Digests went with their sources, except damaged ones.
        let left = tx
            .prepare("SELECT rowid FROM memories WHERE project = (SELECT number FROM projects WHERE id = ?1)")?
            .query_map([project], |row| row.get(0))?
            .collect::<rusqlite::Result<Vec<i64>>>()?;
        left.into_iter().try_for_each(|rowid| remove(tx, rowid))?;
        tx.execute("DELETE FROM note_files WHERE project_id = ?1", [project])?;
        tx.execute("DELETE FROM projects WHERE id = ?1", [project])?;
    }
    Ok(())
}

fn forget_words(tx: &Connection, selection: &Selection, now: u64, forgotten: &mut Forgotten) -> rusqlite::Result<()> {
    let sessions: Vec<(String, String, String, String, String, Option<String>)> = tx
        .prepare(
            "SELECT h.session_id, h.project_id, h.summary, h.topics, h.files_modified, c.notes
             FROM session_history h LEFT JOIN session_context c USING (session_id)
             WHERE (?1 IS NULL OR project_id = ?1) AND (?2 IS NULL OR session_id = ?2)
               AND (?3 IS NULL OR COALESCE(started_at, ended_at, 0) < ?3)",
        )?
        .query_map(params![selection.project, selection.session, selection.before.map(time)], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?))
        })?
        .collect::<rusqlite::Result<_>>()?;
    for (session, project, summary, topics, files, notes) in sessions {
        let mut gone = Vec::new();
        let mut holds = |text: &str| {
            let holds = selection.holds(text);
            if holds {
                gone.push(note_hash(text));
                forgotten.notes.push(text.to_owned());
            }
            holds
        };
        let summary = if holds(&summary) { String::new() } else { summary };
        let mut lists = [from_json_or_default::<Vec<String>>(&topics), from_json_or_default::<Vec<String>>(&files)];
        for list in &mut lists {
            list.retain(|text| !holds(text));
        }
        let mut kept: SessionNotes = notes.as_deref().map(from_json_or_default).unwrap_or_default();
        retain(&mut kept, &mut |text| !holds(text));
        let states = strings(tx, "SELECT policy FROM extractor_states WHERE session_id = ?1", [&session])?;
        for policy in states {
            let state: String = tx.query_row(
                "SELECT state FROM extractor_states WHERE session_id = ?1 AND policy = ?2",
                [&session, &policy],
                |row| row.get(0),
            )?;
            if selection.holds(&state) {
                tx.execute("DELETE FROM extractor_states WHERE session_id = ?1 AND policy = ?2", [&session, &policy])?;
                forgotten.counts.notes += 1;
            }
        }
        for key in strings(tx, "SELECT key FROM sightings WHERE session_id = ?1", [&session])? {
            if selection.holds(&key) {
                let other = format!("forgotten:{}", hex(&sha256_parts(&[&key])[..16]));
                tx.execute(
                    "UPDATE OR REPLACE sightings SET key = ?3 WHERE session_id = ?1 AND key = ?2",
                    params![session, key, other],
                )?;
            }
        }
        if gone.is_empty() {
            continue;
        }
        forgotten.counts.notes += gone.len() as u64;
        for hash in gone {
            tx.execute(
                "INSERT OR IGNORE INTO tombstones (project_id, content_hash, deleted_at) VALUES (?1, ?2, ?3)",
                params![project, hash, time(now)],
            )?;
        }
        tx.execute(
            "UPDATE session_history SET summary = ?2, topics = ?3, files_modified = ?4 WHERE session_id = ?1",
            params![session, summary, json(&lists[0]), json(&lists[1])],
        )?;
        tx.execute("UPDATE session_context SET notes = ?2 WHERE session_id = ?1", params![session, json(&kept)])?;
    }
    forgotten.counts.events += delete_where(
        tx,
        selection,
        "SELECT event_id, payload_json FROM events
         WHERE (?1 IS NULL OR project_id = ?1) AND (?2 IS NULL OR session_id = ?2) AND (?3 IS NULL OR timestamp < ?3)",
        "DELETE FROM events WHERE event_id = ?1",
        |event| tombstones::bury_calls(tx, event, now),
    )?;
    delete_where(
        tx,
        selection,
        "SELECT number, concat_ws(char(10), signature, subject, error, files, fix) FROM failures f
         WHERE (?1 IS NULL OR project_id = ?1) AND (?3 IS NULL OR last_at < ?3)
           AND (?2 IS NULL OR EXISTS (SELECT 1 FROM failure_sightings s WHERE s.failure = f.number AND s.session_id = ?2))",
        "DELETE FROM failures WHERE number = ?1",
        |_| Ok(()),
    )?;
    // A text in a team's outbox may say what its memory does not.
    forgotten.counts.notes += team::forget_in_outbox(tx, selection.project.as_deref(), |text| selection.holds(text))?;
    Ok(())
}

/// Deletes rows whose text matches the selection, each after a call of `before`. The first statement returns their numbers and texts.
fn delete_where(
    tx: &Connection,
    selection: &Selection,
    select: &str,
    delete: &str,
    before: impl Fn(i64) -> rusqlite::Result<()>,
) -> rusqlite::Result<u64> {
    let mut rows = tx.prepare(select)?;
    let mut rows = rows.query(params![selection.project, selection.session, selection.before.map(time)])?;
    let mut gone = Vec::new();
    while let Some(row) = rows.next()? {
        if selection.holds(&row.get::<_, String>(1)?) {
            gone.push(row.get::<_, i64>(0)?);
        }
    }
    for number in &gone {
        before(*number)?;
        tx.prepare_cached(delete)?.execute([number])?;
    }
    Ok(gone.len() as u64)
}

/// Keeps only the entries of the notes that `keep` accepts.
fn retain(notes: &mut SessionNotes, keep: &mut dyn FnMut(&str) -> bool) {
    for text in [&mut notes.original_request, &mut notes.current_objective, &mut notes.outcome] {
        if !keep(text) {
            text.clear();
        }
    }
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
        list.retain(|text| keep(text));
    }
    notes.decisions.retain(|it| keep(&format!("{}\n{}\n{}", it.what, it.why, it.rejected.join("\n"))));
    notes.discoveries.retain(|it| keep(&format!("{}\n{}", it.file, it.insight)));
    notes.changes.retain(|it| keep(&it.path));
    notes.attributes.retain(|(name, value)| keep(&format!("{name}\n{value}")));
}

/// Removes forgotten entries from notes, summary and topics, so that reading the same lines again does not bring them back,
/// nor a session that was continued under another identifier and has copies of them.
pub(super) fn leave_out_forgotten(
    tx: &Connection,
    project: &str,
    notes: &mut SessionNotes,
    summary: &mut String,
    topics: &mut Vec<String>,
) -> rusqlite::Result<()> {
    if !tombstones::has_any(tx, project)? {
        return Ok(());
    }
    let mut statement = tx.prepare_cached("SELECT 1 FROM tombstones WHERE project_id = ?1 AND content_hash = ?2")?;
    let mut failed = None;
    let mut keep = |text: &str| match statement.exists(params![project, note_hash(text)]) {
        Ok(forgotten) => !forgotten,
        Err(error) => {
            failed = Some(error);
            false
        }
    };
    retain(notes, &mut keep);
    if !keep(summary) {
        summary.clear();
    }
    topics.retain(|text| keep(text));
    failed.map_or(Ok(()), Err)
}

/// Redacts the next rows of `memories`, except digests that are rewritten when their sources change. Returns the last
/// row and how many changed, or `None` if there are no more.
fn scrub_memories<R: TextRedactor>(
    tx: &Connection,
    project: &str,
    after: i64,
    redactor: &mut R,
    now: u64,
) -> std::result::Result<Option<(i64, u64)>, ScrubError<R::Error>> {
    type Stored = (i64, String, String, String, String, String, String);
    let rows: Vec<Stored> = tx
        .prepare_cached(
            "SELECT rowid, type, title, content, keywords, files, metadata FROM memories
             WHERE project_id = ?1 AND rowid > ?2
               AND NOT EXISTS (SELECT 1 FROM digests d WHERE d.memory = memories.rowid AND d.purged_at IS NULL)
             ORDER BY rowid LIMIT ?3",
        )?
        .query_map(params![project, after, ROWS], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?, row.get(6)?))
        })?
        .collect::<rusqlite::Result<_>>()?;
    let Some((last, ..)) = rows.last() else { return Ok(None) };
    let last = *last;
    let mut drafts: Vec<(i64, Draft)> = rows
        .into_iter()
        .map(|(rowid, kind, title, content, keywords, files, attributes)| {
            let attributes = from_json_or_default(&attributes);
            let (keywords, files) = (from_json_or_default(&keywords), from_json_or_default(&files));
            (rowid, Draft { kind, title, content, keywords, files, attributes, ..Draft::default() })
        })
        .collect();
    let before = drafts.clone();
    let mut slots: Vec<&mut String> = Vec::new();
    for (_, draft) in &mut drafts {
        slots.extend([&mut draft.title, &mut draft.content]);
        slots.extend(&mut draft.keywords);
        slots.extend(&mut draft.files);
        slots.extend(draft.attributes.iter_mut().flat_map(|(name, value)| [name, value]));
    }
    redactor.redact_texts(slots).map_err(ScrubError::Redactor)?;
    let mut changed = 0;
    for ((rowid, draft), _) in drafts.iter().zip(&before).filter(|(after, before)| after != before) {
        replace(tx, project, *rowid, draft, now)?;
        changed += 1;
    }
    Ok(Some((last, changed)))
}

/// Replaces a memory's texts. If another memory of the project already has the new texts, the two are merged.
fn replace(tx: &Connection, project: &str, rowid: i64, draft: &Draft, now: u64) -> rusqlite::Result<()> {
    // The copy has the old texts and refers to the old identifier.
    let is_shared = sharing::is_shared(tx, rowid)?;
    sharing::stop_sharing_deleted(tx, rowid)?;
    let rowid = replace_one(tx, project, rowid, draft)?;
    if is_shared {
        sharing::share(tx, rowid, now)?;
    }
    Ok(())
}

/// Replaces the texts and returns the row that has them afterwards.
fn replace_one(tx: &Connection, project: &str, rowid: i64, draft: &Draft) -> rusqlite::Result<i64> {
    let hash = content_hash(draft);
    let other: Option<i64> = tx
        .query_row("SELECT rowid FROM memories WHERE project_id = ?1 AND content_hash = ?2", params![project, hash], |row| {
            row.get(0)
        })
        .optional()?;
    if let Some(other) = other.filter(|other| *other != rowid) {
        let was_folded = digests::is_source(tx, rowid)?;
        tx.execute("UPDATE OR IGNORE sightings SET memory = ?2 WHERE memory = ?1", [rowid, other])?;
        remove(tx, rowid)?;
        if !was_folded {
            digests::revive(tx, other, Some(draft))?;
        }
        recount(tx, other)?;
        return Ok(other);
    }
    let before: (String, Option<i64>) =
        tx.query_row("SELECT id, digest FROM memories WHERE rowid = ?1", [rowid], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let id = hex(&sha256_parts(&[project, &hash.hex(32)])[..6]);
    unindex(tx, rowid)?;
    tx.execute(
        "UPDATE memories SET id = ?2, title = ?3, content = ?4, content_hash = ?5, keywords = ?6, files = ?7, metadata = ?8 WHERE rowid = ?1",
        params![rowid, id, draft.title, draft.content, hash, json(&draft.keywords), json(&draft.files), json(&draft.attributes)],
    )?;
    match before {
        (_, None) => index(tx, rowid, draft)?,
        (id, Some(digest)) => digests::refresh(tx, digest, &id)?,
    }
    Ok(rowid)
}

/// A table, other than memories, with texts to redact. Its rows are identified by a text, in order.
struct Table {
    name: &'static str,
    /// An SQL expression for the text that identifies a row.
    key: &'static str,
    /// The columns, and whether each contains JSON.
    columns: &'static [(&'static str, bool)],
    /// An SQL condition that a row belongs to project `?1`.
    of_project: &'static str,
}

const OF_SESSION: &str = "session_id IN (SELECT session_id FROM session_history WHERE project_id = ?1)";

const TABLES: &[Table] = &[
    Table { name: "sightings", key: "session_id || char(31) || key", columns: &[("key", false)], of_project: OF_SESSION },
    Table {
        name: "session_history",
        key: "session_id",
        columns: &[("summary", false), ("topics", true), ("files_modified", true), ("end_reason", false), ("model", false)],
        of_project: "project_id = ?1",
    },
    Table {
        name: "notes",
        key: "printf('%020d', memory)",
        columns: &[
            ("stem", false),
            ("tags", true),
            ("keywords", true),
            ("description", false),
            ("related", true),
            ("extra", false),
        ],
        of_project: "project_id = ?1",
    },
    Table { name: "session_context", key: "session_id", columns: &[("notes", true)], of_project: OF_SESSION },
    Table {
        name: "extractor_states",
        key: "session_id || char(31) || policy",
        columns: &[("state", false)],
        of_project: OF_SESSION,
    },
    Table {
        name: "events",
        key: "printf('%020d', event_id)",
        columns: &[("payload_json", true), ("tool", false)],
        of_project: "project_id = ?1",
    },
    Table {
        name: "failures",
        key: "printf('%020d', number)",
        columns: &[("signature", false), ("subject", false), ("error", false), ("files", true), ("fix", false)],
        of_project: "project_id = ?1",
    },
    Table {
        name: "failure_sightings",
        key: "printf('%020d', event_id)",
        columns: &[("subject", false)],
        of_project: "failure IN (SELECT number FROM failures WHERE project_id = ?1)",
    },
];

/// The columns of `memories` that [`scrub_memories`] redacts.
#[cfg(test)]
pub(crate) const MEMORY_COLUMNS: &[&str] = &["title", "content", "keywords", "files", "metadata"];

/// The columns with text that a scrub leaves alone, each with the reason. A test compares all three lists with the
/// schema, so that every new column needs a decision.
#[cfg(test)]
pub(crate) const NOT_SCRUBBED: &[(&str, &[&str], &str)] = &[
    ("meta", &["key", "value"], "the host's own settings"),
    ("projects", &["id", "identity", "root"], "identifies the project; a redacted path would name another"),
    ("memories", &["id", "project_id", "session_id", "type"], "identifiers, and the type, which is one word"),
    ("sightings", &["session_id", "line_uuid"], "identifies a line"),
    ("session_history", &["session_id", "project_id", "cwd", "agent", "policy", "policy_digest"], "identifiers and a path"),
    ("session_context", &["session_id", "moment"], "identifiers and a word of the host"),
    ("extractor_states", &["session_id", "policy"], "identifiers"),
    ("transcripts", &["path", "session_id", "last_uuid"], "identifies the file and a line"),
    ("events", &["session_id", "project_id", "event_type"], "identifiers and a word of the host"),
    ("event_keys", &["session_id", "key"], "the agent's own identifiers"),
    ("event_files", &["path"], "an index of `events`, made anew when the event changes"),
    ("failures", &["project_id"], "identifies the project"),
    ("failure_sightings", &["session_id"], "identifies the session"),
    ("notes", &["project_id", "uid", "type"], "identifiers, and the type, which is one word"),
    ("note_files", &["project_id", "folder", "path", "uid"], "identifies the file"),
    ("makers", &["policy", "digest"], "names a policy"),
    ("event_uses", &["session_id"], "identifies the session"),
    ("shown", &["session_id", "source"], "identifiers and a word of the host"),
    ("supersessions", &["relation"], "a word of the host"),
    ("file_anchors", &["session_id"], "identifies the session"),
    ("embedding_cache", &["model", "provider"], "names a model; the texts are hashed"),
    ("tombstones", &["project_id"], "identifies the project"),
    (
        "team_records",
        &["hash", "item", "kind", "state", "target", "device", "author", "project_id", "body", "sealed", "reason"],
        "hashes, identifiers and words of the host; `team/scrub.rs` drops a body that the redactor changes, and `sealed` goes with it",
    ),
    ("team_replaced", &["item", "hash", "by"], "hashes and identifiers"),
    ("team_series", &["device", "kind", "member", "name"], "identifiers, and names that the server's rules allow"),
    ("team_projects", &["project_id", "key", "rules"], "identifies the project"),
    ("team_waiting", &["device", "kind", "what"], "identifiers"),
    ("team_unopened", &["hash", "device", "kind"], "hashes and identifiers"),
    ("team_mutes", &["what"], "a person's settings"),
];

/// The scrubbed columns of all tables but `memories`.
#[cfg(test)]
pub(crate) fn scrubbed_columns() -> impl Iterator<Item = (&'static str, &'static str)> {
    TABLES.iter().flat_map(|table| table.columns.iter().map(|(column, _)| (table.name, *column)))
}

/// Redacts the next rows of a table; see [`scrub_memories`].
fn scrub_table<R: TextRedactor>(
    tx: &Connection,
    table: &Table,
    project: &str,
    after: &str,
    redactor: &mut R,
) -> std::result::Result<Option<(String, u64)>, ScrubError<R::Error>> {
    let Table { name, key, columns, of_project } = table;
    let selected = columns.iter().map(|(column, _)| format!("COALESCE({column}, '')")).collect::<Vec<_>>().join(", ");
    let mut rows: Vec<(String, Vec<Value>)> = tx
        .prepare_cached(&format!(
            "SELECT {key}, {selected} FROM {name} WHERE {of_project} AND {key} > ?2 ORDER BY 1 LIMIT {ROWS}"
        ))?
        .query_map([project, after], |row| {
            let values = columns.iter().enumerate().map(|(at, (_, is_json))| {
                let text: String = row.get(at + 1)?;
                Ok(if *is_json { serde_json::from_str(&text).unwrap_or(Value::String(text)) } else { Value::String(text) })
            });
            Ok((row.get(0)?, values.collect::<rusqlite::Result<_>>()?))
        })?
        .collect::<rusqlite::Result<_>>()?;
    let Some((last, _)) = rows.last() else { return Ok(None) };
    let last = last.clone();
    let before: Vec<Vec<Value>> = rows.iter().map(|(_, values)| values.clone()).collect();
    let mut slots = Vec::new();
    rows.iter_mut().flat_map(|(_, values)| values).for_each(|value| texts_of(value, &mut slots));
    redactor.redact_texts(slots).map_err(ScrubError::Redactor)?;
    let mut changed = 0;
    for ((row, after), before) in rows.iter().zip(&before).filter(|((_, after), before)| after != *before) {
        for (((column, is_json), after), before) in columns.iter().zip(after).zip(before) {
            let text = match after {
                Value::String(text) if !is_json => text.clone(),
                other => other.to_string(),
            };
            if after != before {
                tx.execute(&format!("UPDATE OR REPLACE {name} SET {column} = ?2 WHERE {key} = ?1"), [row, &text])?;
                if *name == "events" {
                    events::reindex(tx, row.parse().unwrap_or_default(), &text)?;
                }
            }
        }
        changed += 1;
    }
    Ok(Some((last, changed)))
}

fn texts_of<'a>(value: &'a mut Value, into: &mut Vec<&'a mut String>) {
    match value {
        Value::String(text) => into.push(text),
        Value::Array(items) => items.iter_mut().for_each(|item| texts_of(item, into)),
        Value::Object(fields) => fields.values_mut().for_each(|item| texts_of(item, into)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
