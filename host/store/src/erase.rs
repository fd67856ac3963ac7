//! Removal of stored data. Only tombstones remain; no byte of deleted data remains in any page, index or log of the
//! database.
//!
//! Forgetting deletes what was derived from the same lines and leaves tombstones, which are hashes, so that reading the
//! lines again does not bring it back. What is deleted can be kept in another file for a while ([`super::kept`]). Then
//! it rewrites the database: `secure_delete`, `optimize` of the full-text index,
//! `VACUUM`, and a truncated WAL. It reaches both sets of index tables, the former set, and the embedding cache, which
//! it clears as a whole. An embedding of texts that were read before an erasure is not kept after it.

use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};

use super::forgotten::{Fate, Forgotten, ForgottenSession, KeptFile, MAX_LISTED};
use super::memories::{COLUMNS, ContentHash, forget_in_notes, from_row, recount, remove};
use super::text::folded;
use super::{Result, Store, StoreError, classify, from_json_or_default, json, time};
use super::{digests, embedding_queue, kept, marks, reindex, replies, team, tombstones};
use throughline_model::contract::{Memory, SessionNotes};
use throughline_model::digest::{hex, sha256_parts};

/// What to forget: everything that matches all fields that are set.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// A project's identifier.
    pub project: Option<String>,
    /// A session's identifier.
    pub session: Option<String>,
    /// Learned at or after this time, in milliseconds since the Unix epoch.
    pub after: Option<u64>,
    /// Learned before this time, in milliseconds since the Unix epoch.
    pub before: Option<u64>,
    /// Words that the text must all contain, ignoring case; see [`folded`].
    pub words: Vec<String>,
}

impl Selection {
    /// Returns whether everything of the selected project or session is meant, and not only certain times or words.
    fn is_whole(&self) -> bool {
        self.after.is_none() && self.before.is_none() && self.words.is_empty()
    }

    fn holds(&self, text: &str) -> bool {
        let text = folded(text);
        !self.words.is_empty() && self.words.iter().all(|word| text.contains(word.as_str()))
    }
}

/// Returns the tombstone hash of an entry in a session's notes, or of its summary.
fn note_hash(text: &str) -> ContentHash {
    ContentHash::of(&["note", text.trim()])
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
}

fn strings(tx: &Connection, sql: &str, params: impl rusqlite::Params) -> rusqlite::Result<Vec<String>> {
    tx.prepare(sql)?.query_map(params, |row| row.get(0))?.collect()
}

/// Returns the parameters 1 to 4 of the statements below: project, session, before and after.
fn bounds(selection: &Selection) -> impl rusqlite::Params {
    let Selection { project, session, after, before, .. } = selection;
    (project.clone(), session.clone(), before.map(time), after.map(time))
}

fn forget(tx: &Connection, selection: &Selection, now: u64) -> rusqlite::Result<Forgotten> {
    let mut forgotten = Forgotten::default();
    let Selection { project, session, after, before, words } = selection;
    let (after, before) = (after.map(time), before.map(time));
    let rows: Vec<(i64, String, String)> = tx
        .prepare(
            "SELECT rowid, id, title || char(10) || content || char(10) || keywords || char(10) || files || char(10) || metadata ||
                    COALESCE((SELECT char(10) || stem || char(10) || tags || char(10) || related || char(10) || extra
                              FROM notes n WHERE n.memory = m.rowid), '')
             FROM memories m
             WHERE (?1 IS NULL OR project_id = ?1) AND (?2 IS NULL OR created_at < ?2)
               AND (?4 IS NULL OR created_at >= ?4
                    -- It tells a fix that is younger than itself.
                    OR EXISTS (SELECT 1 FROM failures f WHERE f.memory = m.rowid AND f.fixed_at >= ?4
                               AND (?2 IS NULL OR f.fixed_at < ?2)))
               AND (?3 IS NULL OR session_id = ?3 OR EXISTS (SELECT 1 FROM sightings s WHERE s.memory = m.rowid AND s.session_id = ?3))
               AND NOT EXISTS (SELECT 1 FROM digests d WHERE d.memory = m.rowid)
             ORDER BY created_at DESC, id",
        )?
        .query_map(params![project, before, session, after], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
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
    let Selection { project, session, .. } = selection;
    let mut sessions = strings(
        tx,
        "SELECT session_id FROM session_history WHERE (?1 IS NULL OR project_id = ?1) AND (?2 IS NULL OR session_id = ?2)
           AND (?3 IS NULL OR COALESCE(ended_at, started_at, 0) < ?3) AND (?4 IS NULL OR COALESCE(started_at, ended_at, 0) >= ?4)",
        bounds(selection),
    )?;
    forgotten.counts.sessions += sessions.len() as u64;
    for id in sessions.iter().take(MAX_LISTED) {
        forgotten.sessions.push(ForgottenSession { id: id.clone(), title: session_title(tx, id)? });
    }
    // A session may have nothing stored but a state.
    sessions.extend(session.iter().filter(|_| project.is_none() && selection.is_whole()).cloned());
    for session in &sessions {
        for table in ["session_context", "extractor_states", "sightings", "file_anchors", "shown", "session_history"] {
            tx.execute(&format!("DELETE FROM {table} WHERE session_id = ?1"), [session])?;
        }
    }
    forget_ends(tx, selection, forgotten)?;
    let events = tx.execute(
        "DELETE FROM events WHERE (?1 IS NULL OR project_id = ?1) AND (?2 IS NULL OR session_id = ?2)
           AND (?3 IS NULL OR timestamp < ?3) AND (?4 IS NULL OR timestamp >= ?4)",
        bounds(selection),
    )?;
    forgotten.counts.events += events as u64;
    // Delete failures that no event reports any more.
    tx.execute(
        "DELETE FROM failures WHERE (?1 IS NULL OR project_id = ?1)
           AND number NOT IN (SELECT failure FROM failure_sightings)",
        params![project],
    )?;
    if let (Some(project), None, true) = (project, session, selection.is_whole()) {
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

/// Forgets the notes, summary and state of sessions that began before the selected time and went on in it, and the fixes that
/// were found in it: nothing says which of their words are older.
fn forget_ends(tx: &Connection, selection: &Selection, forgotten: &mut Forgotten) -> rusqlite::Result<()> {
    if selection.after.is_none() {
        return Ok(());
    }
    let sessions = strings(
        tx,
        "SELECT session_id FROM session_history WHERE (?1 IS NULL OR project_id = ?1) AND (?2 IS NULL OR session_id = ?2)
           AND (?3 IS NULL OR COALESCE(started_at, 0) < ?3) AND COALESCE(ended_at, started_at, 0) >= ?4",
        bounds(selection),
    )?;
    for session in &sessions {
        let title = session_title(tx, session)?;
        forgotten.counts.notes += u64::from(!title.is_empty());
        forgotten.notes.extend(Some(title).filter(|title| !title.is_empty()));
        for table in ["session_context", "extractor_states"] {
            tx.execute(&format!("DELETE FROM {table} WHERE session_id = ?1"), [session])?;
        }
        tx.execute(
            "UPDATE session_history SET summary = '', topics = '[]', files_modified = '[]' WHERE session_id = ?1",
            [session],
        )?;
    }
    tx.execute(
        "UPDATE failures SET fix = NULL, fixed_at = NULL WHERE (?1 IS NULL OR project_id = ?1)
           AND (?2 IS NULL OR EXISTS (SELECT 1 FROM failure_sightings s WHERE s.failure = number AND s.session_id = ?2))
           AND (?3 IS NULL OR fixed_at < ?3) AND fixed_at >= ?4",
        bounds(selection),
    )?;
    Ok(())
}

fn forget_words(tx: &Connection, selection: &Selection, now: u64, forgotten: &mut Forgotten) -> rusqlite::Result<()> {
    let sessions: Vec<SessionTexts> = tx
        .prepare(
            "SELECT h.session_id, h.project_id, h.summary, h.topics, h.files_modified, c.notes
             FROM session_history h LEFT JOIN session_context c USING (session_id)
             WHERE (?1 IS NULL OR project_id = ?1) AND (?2 IS NULL OR session_id = ?2)
               AND (?3 IS NULL OR COALESCE(started_at, ended_at, 0) < ?3)
               AND (?4 IS NULL OR COALESCE(ended_at, started_at, 0) >= ?4)",
        )?
        .query_map(bounds(selection), |row| {
            let (summary, topics, files, notes) = (row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?);
            Ok(SessionTexts { session: row.get(0)?, project: row.get(1)?, summary, topics, files, notes })
        })?
        .collect::<rusqlite::Result<_>>()?;
    for of in sessions {
        forget_words_of(tx, selection, of, now, forgotten)?;
    }
    forgotten.counts.events += delete_where(
        tx,
        selection,
        "SELECT event_id, payload_json FROM events
         WHERE (?1 IS NULL OR project_id = ?1) AND (?2 IS NULL OR session_id = ?2) AND (?3 IS NULL OR timestamp < ?3)
           AND (?4 IS NULL OR timestamp >= ?4)",
        "DELETE FROM events WHERE event_id = ?1",
        |event| tombstones::bury_calls(tx, event, now),
    )?;
    delete_where(
        tx,
        selection,
        "SELECT number, concat_ws(char(10), signature, subject, error, files, fix) FROM failures f
         WHERE (?1 IS NULL OR project_id = ?1) AND (?3 IS NULL OR last_at < ?3)
           AND (?4 IS NULL OR max(last_at, COALESCE(fixed_at, 0)) >= ?4)
           AND (?2 IS NULL OR EXISTS (SELECT 1 FROM failure_sightings s WHERE s.failure = f.number AND s.session_id = ?2))",
        "DELETE FROM failures WHERE number = ?1",
        |_| Ok(()),
    )?;
    // A text in a team's outbox may say what its memory does not.
    forgotten.counts.notes += team::forget_in_outbox(tx, selection.project.as_deref(), |text| selection.holds(text))?;
    Ok(())
}

/// What is stored of a session as a whole.
struct SessionTexts {
    session: String,
    project: String,
    summary: String,
    topics: String,
    files: String,
    notes: Option<String>,
}

/// Removes the entries of a session's notes, summary and states that hold the words.
fn forget_words_of(
    tx: &Connection,
    selection: &Selection,
    of: SessionTexts,
    now: u64,
    forgotten: &mut Forgotten,
) -> rusqlite::Result<()> {
    let SessionTexts { session, project, summary, topics, files, notes } = of;
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
        return Ok(());
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
    let mut rows = rows.query(bounds(selection))?;
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
