//! Tables `session_history` and `session_context`, and the transaction that stores what was extracted from a stretch of
//! transcript.

use std::collections::BTreeSet;

use rusqlite::{Connection, OptionalExtension, Row, TransactionBehavior, params};

use super::events::{PROMPT, RECORDED_PROMPT};
use super::memories::{OWN_POLICY, PutOutcome, is_forgotten, put, retract};
use throughline_model::cursor::Cursor;

use super::{
    ExtractorState, FileAnchor, Result, Store, StoreError, erase, events, file_anchors, from_json_or_default, json,
    projects, time, time_from_sql, tombstones, transcripts,
};
use crate::journal::{EventPayload, JournalRecord};
use throughline_model::contract::{Draft, SessionNotes, SessionRecord};
use throughline_model::project::Project;
use throughline_model::redacted::{Redacted, Texts};

/// What is known of a session besides its memories.
#[derive(Debug, Clone, Default)]
pub struct SessionUpdate {
    /// The agent's identifier for the session.
    pub id: String,
    /// The agent's working folder.
    pub cwd: String,
    /// The agent: `claude-code`, …
    pub agent: String,
    /// The model, if known.
    pub model: Option<String>,
    /// Why the session ended, if it did.
    pub end_reason: Option<String>,
    /// The notes.
    pub notes: SessionNotes,
    /// The summarizer's text.
    pub summary: String,
    /// The summarizer's topics.
    pub topics: Vec<String>,
}

/// Everything that one extraction changes.
pub struct CommitBatch<'a> {
    /// The project.
    pub project: &'a Project,
    /// The session in which the memories were learned.
    pub session_id: &'a str,
    /// What was learned.
    pub learned: &'a Redacted<Learned>,
    /// Names and digests of the policies. The first one is recorded with the session.
    pub policies: &'a [(String, String)],
    /// The key under which extractors keep their states: the session, or one of its sub-agents.
    pub reader: &'a str,
    /// Where the next reading starts, or `None` if no transcript was read.
    pub cursor: Option<&'a Cursor>,
    /// How the files are that the memories of the session are about.
    pub anchors: &'a [FileAnchor],
    /// Why the host read the transcript: `stop`, `compact`, …
    pub moment: &'a str,
    /// The current time.
    pub now: u64,
}

/// Everything in a [`CommitBatch`] that comes from a transcript or a policy.
#[derive(Debug, Clone, Default)]
pub struct Learned {
    /// The session, or `None` if the transcript contains nothing of a main conversation.
    pub session: Option<SessionUpdate>,
    /// New or changed memories, each with the index of its policy in [`CommitBatch::policies`].
    pub drafts: Vec<(usize, Draft)>,
    /// Keys of memories of the session that are no longer valid.
    pub retracted: Vec<String>,
    /// The states that extractors save.
    pub states: Vec<ExtractorState>,
    /// An event to store in the same transaction, with its kind.
    pub event: Option<(&'static str, EventPayload)>,
    /// Tool calls and prompts that the transcript records, in order. Those that a hook has recorded are not stored again.
    pub calls: Vec<JournalRecord>,
}

impl Texts for SessionUpdate {
    fn texts_mut(&mut self) -> Vec<&mut String> {
        let mut texts = vec![&mut self.summary];
        texts.extend(&mut self.model);
        texts.extend(&mut self.end_reason);
        texts.extend(&mut self.topics);
        texts.extend(self.notes.texts_mut());
        texts
    }
}

impl Texts for Learned {
    fn texts_mut(&mut self) -> Vec<&mut String> {
        let mut texts: Vec<&mut String> = self.session.iter_mut().flat_map(SessionUpdate::texts_mut).collect();
        texts.extend(self.drafts.iter_mut().flat_map(|(_, draft)| draft.texts_mut()));
        texts.extend(&mut self.retracted);
        texts.extend(self.states.iter_mut().map(|state| &mut state.state));
        texts.extend(self.event.iter_mut().flat_map(|(_, seen)| seen.texts_mut()));
        texts.extend(self.calls.iter_mut().flat_map(JournalRecord::texts_mut));
        texts
    }
}

/// What a batch did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CommitCounts {
    /// The number of new memories.
    pub stored: u32,
    /// The number of known memories that were learned once more.
    pub seen_again: u32,
    /// The number of tool calls that no hook had recorded.
    pub calls: u64,
}

/// The attribute of notes in whose place a later session's stand. The default policy leaves them out of the recent topics.
const SUPERSEDED: &str = "superseded";

const COLUMNS: &str = "h.session_id, h.started_at, h.ended_at, h.summary, h.topics, h.files_modified, c.notes";

fn from_row(row: &Row<'_>) -> rusqlite::Result<SessionRecord> {
    Ok(SessionRecord {
        id: row.get(0)?,
        started: row.get::<_, Option<i64>>(1)?.map(time_from_sql),
        ended: row.get::<_, Option<i64>>(2)?.map(time_from_sql),
        summary: row.get(3)?,
        topics: from_json_or_default(&row.get::<_, String>(4)?),
        files: from_json_or_default(&row.get::<_, String>(5)?),
        notes: row.get::<_, Option<String>>(6)?.and_then(|notes| serde_json::from_str(&notes).ok()),
    })
}

/// A session, combined from its history and its events.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct KnownSession {
    /// The session as policies see it.
    pub record: SessionRecord,
    /// The project's identifier.
    pub project: String,
    /// The root folder of its project.
    pub root: String,
    /// The agent's working folder; empty if unknown.
    pub cwd: String,
    /// The agent: `claude-code`, …; empty if unknown.
    pub agent: String,
    /// The model, if known.
    pub model: Option<String>,
    /// Why it ended; `None` while it runs.
    pub end_reason: Option<String>,
    /// The number of prompts by the user.
    pub turns: u32,
    /// The time of its last activity.
    pub last_at: u64,
    /// The first line of its first prompt.
    pub first_prompt: Option<String>,
}

/// Selects sessions from `ids`. An end that was followed by further events does not count. Tool calls do not matter for that: those of a
/// transcript may be stored after the end.
const KNOWN: &str = "
    SELECT ids.id, COALESCE(h.started_at, (SELECT timestamp FROM events e WHERE e.session_id = ids.id ORDER BY event_id LIMIT 1)),
           h.ended_at, COALESCE(h.summary, ''), COALESCE(h.topics, '[]'), COALESCE(h.files_modified, '[]'), c.notes,
           COALESCE(p.id, ''), COALESCE(p.root, ''), COALESCE(h.cwd, ''), COALESCE(h.agent, ''), h.model,
           CASE COALESCE((SELECT event_type FROM events e WHERE e.session_id = ids.id AND event_type <> 'tool_observation'
                         ORDER BY event_id DESC LIMIT 1), 'session_end')
               WHEN 'session_end' THEN h.end_reason END,
           max(COALESCE(h.turns, 0), (SELECT count(*) FROM events e WHERE e.session_id = ids.id AND event_type = 'user_prompt')),
           max(COALESCE(h.ended_at, 0),
               COALESCE((SELECT timestamp FROM events e WHERE e.session_id = ids.id ORDER BY event_id DESC LIMIT 1), 0)) AS last_at,
           (SELECT payload_json ->> '$.summary' FROM events e WHERE e.session_id = ids.id AND event_type = 'user_prompt'
            ORDER BY event_id LIMIT 1)
    FROM ids LEFT JOIN session_history h ON h.session_id = ids.id LEFT JOIN session_context c ON c.session_id = ids.id
    LEFT JOIN projects p ON p.id = COALESCE(h.project_id,
        (SELECT project_id FROM events e WHERE e.session_id = ids.id ORDER BY event_id LIMIT 1))";

/// All sessions. The recursive query skips from session to session along an index, however many events each has.
pub(super) const EVERY: &str = "
    WITH RECURSIVE seen (id) AS (
        SELECT min(session_id) FROM events
        UNION ALL SELECT (SELECT min(session_id) FROM events WHERE session_id > seen.id) FROM seen WHERE seen.id IS NOT NULL),
    every (id) AS (SELECT session_id FROM session_history UNION SELECT id FROM seen WHERE id IS NOT NULL)";

/// The project of a session from `every`.
pub(super) const PROJECT: &str = "COALESCE((SELECT project_id FROM session_history h WHERE h.session_id = every.id),
    (SELECT project_id FROM events e WHERE e.session_id = every.id ORDER BY event_id LIMIT 1))";

/// The time of its last activity.
const LAST: &str = "max(COALESCE((SELECT ended_at FROM session_history h WHERE h.session_id = every.id), 0),
    COALESCE((SELECT timestamp FROM events e WHERE e.session_id = every.id ORDER BY event_id DESC LIMIT 1), 0))";

fn known_from_row(row: &Row<'_>) -> rusqlite::Result<KnownSession> {
    Ok(KnownSession {
        record: from_row(row)?,
        project: row.get(7)?,
        root: row.get(8)?,
        cwd: row.get(9)?,
        agent: row.get(10)?,
        model: row.get(11)?,
        end_reason: row.get(12)?,
        turns: row.get(13)?,
        last_at: time_from_sql(row.get(14)?),
        first_prompt: row.get(15)?,
    })
}

impl Store {
    /// Stores the results of one extraction together with the cursor, or nothing at all.
    pub fn commit(&mut self, batch: &CommitBatch<'_>) -> Result<CommitCounts> {
        let path = self.path.clone();
        let tx = self
            .conn
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(|error| super::classify(&path, error))?;
        let committed = write(&tx, batch)?;
        tx.commit().map_err(|error| super::classify(&path, error))?;
        Ok(committed)
    }

    /// Returns sessions of a project, newest first, without `except`.
    pub fn sessions(&self, project: &str, except: &str, limit: u32) -> Result<Vec<SessionRecord>> {
        let mut sessions: Vec<SessionRecord> = self.explain(
            self.conn
                .prepare_cached(&format!(
                    "SELECT {COLUMNS} FROM session_history h LEFT JOIN session_context c USING (session_id)
                     WHERE h.project_id = ?1 AND h.session_id <> ?2 ORDER BY h.ended_at DESC, h.session_id LIMIT ?3"
                ))
                .and_then(|mut s| s.query_map(params![project, except, limit], from_row)?.collect()),
        )?;
        for session in &mut sessions {
            self.without_wrong(session)?;
            self.mark_superseded(session)?;
        }
        Ok(sessions)
    }

    /// Adds the attribute `superseded` to the notes of a session in whose place a later one stands.
    fn mark_superseded(&self, session: &mut SessionRecord) -> Result<()> {
        let Some(notes) = &mut session.notes else { return Ok(()) };
        let is_superseded: bool = self.explain(
            self.conn
                .prepare_cached(
                    "SELECT EXISTS (SELECT 1 FROM memories m WHERE m.session_id = ?1 AND m.type = 'session_summary'
                                    AND m.superseded_by IS NOT NULL)",
                )
                .and_then(|mut s| s.query_row([&session.id], |row| row.get(0))),
        )?;
        if is_superseded {
            notes.attributes.push((SUPERSEDED.to_owned(), "yes".to_owned()));
        }
        Ok(())
    }

    /// Removes from a session's notes what was marked wrong.
    fn without_wrong(&self, session: &mut SessionRecord) -> Result<()> {
        match &mut session.notes {
            Some(notes) => self.leave_out_wrong(&session.id, notes),
            None => Ok(()),
        }
    }

    /// Returns up to five sessions of any project whose identifier begins with `beginning`, an exact match first.
    /// Includes sessions that have only events so far.
    pub fn sessions_named(&self, beginning: &str) -> Result<Vec<String>> {
        self.explain(
            self.conn
                .prepare_cached(
                    "SELECT session_id FROM (
                         SELECT session_id FROM session_history WHERE session_id >= ?1 AND session_id < ?1 || char(1114111)
                         UNION SELECT session_id FROM extractor_states WHERE session_id >= ?1 AND session_id < ?1 || char(1114111)
                         UNION SELECT session_id FROM memories WHERE session_id >= ?1 AND session_id < ?1 || char(1114111)
                         UNION SELECT session_id FROM events WHERE session_id >= ?1 AND session_id < ?1 || char(1114111))
                     ORDER BY session_id <> ?1, session_id LIMIT 5",
                )
                .and_then(|mut s| s.query_map([beginning], |row| row.get(0))?.collect()),
        )
    }

    /// Returns the shortest beginning of a session's identifier that no other session has, of at least eight characters.
    /// Sessions that began in the same minute may differ only late.
    pub fn session_prefix(&self, session: &str) -> Result<String> {
        const MIN_CHARS: usize = 8;
        let neighbours: [Option<String>; 4] = self.explain(
            self.conn
                .prepare_cached(
                    "SELECT (SELECT max(session_id) FROM session_history WHERE session_id < ?1),
                            (SELECT min(session_id) FROM session_history WHERE session_id > ?1),
                            (SELECT max(session_id) FROM events WHERE session_id < ?1),
                            (SELECT min(session_id) FROM events WHERE session_id > ?1)",
                )
                .and_then(|mut s| s.query_row([session], |row| Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?]))),
        )?;
        let in_common = |other: &String| session.chars().zip(other.chars()).take_while(|(a, b)| a == b).count();
        let longest = neighbours.iter().flatten().map(in_common).max().unwrap_or(0);
        Ok(session.chars().take(MIN_CHARS.max(longest + 1)).collect())
    }

    /// Returns sessions of one project or of all, the most recently active first. Includes sessions that have only
    /// events so far.
    pub fn known_sessions(&self, project: Option<&str>, limit: u32) -> Result<Vec<KnownSession>> {
        self.known_sessions_from(project, 0, limit)
    }

    /// Does the same, and skips the first ones.
    pub fn known_sessions_from(&self, project: Option<&str>, skip: u32, limit: u32) -> Result<Vec<KnownSession>> {
        // Only the sessions that are wanted are put together from their parts.
        let mut sessions: Vec<KnownSession> = self.explain(
            self.conn
                .prepare_cached(&format!(
                    "{EVERY}, ids (id, last) AS (SELECT id, {LAST} AS last FROM every WHERE ?1 IS NULL OR ?1 = {PROJECT}
                                                 ORDER BY last DESC, id LIMIT ?2 OFFSET ?3)
                     {KNOWN} ORDER BY ids.last DESC, ids.id"
                ))
                .and_then(|mut s| s.query_map(params![project, limit, skip], known_from_row)?.collect()),
        )?;
        sessions.iter_mut().try_for_each(|session| self.without_wrong(&mut session.record))?;
        Ok(sessions)
    }

    /// Returns one session of any project.
    pub fn known_session(&self, id: &str) -> Result<Option<KnownSession>> {
        let mut session: Option<KnownSession> = self.explain(
            self.conn
                .prepare_cached(&format!(
                    "WITH ids (id) AS (SELECT ?1 WHERE EXISTS (SELECT 1 FROM session_history WHERE session_id = ?1)
                                                   OR EXISTS (SELECT 1 FROM events WHERE session_id = ?1)) {KNOWN}"
                ))
                .and_then(|mut s| s.query_row([id], known_from_row).optional()),
        )?;
        session.iter_mut().try_for_each(|session| self.without_wrong(&mut session.record))?;
        Ok(session)
    }

    /// Returns when something was last stored of a session of a project, other than `except`, or `None` if nothing was.
    pub fn last_session_at(&self, project: &str, except: &str) -> Result<Option<u64>> {
        self.explain(
            self.conn
                .prepare_cached(
                    // A project has hundreds of sessions, and nearly all have ended: of those, the index tells the last one.
                    "SELECT max(at) FROM (
                         SELECT * FROM (SELECT ended_at AS at FROM session_history
                                        WHERE project_id = ?1 AND session_id <> ?2 AND ended_at IS NOT NULL
                                        ORDER BY ended_at DESC LIMIT 1)
                         UNION ALL
                         SELECT max(COALESCE(c.saved_at, h.started_at)) FROM session_history h
                         LEFT JOIN session_context c USING (session_id)
                         WHERE h.project_id = ?1 AND h.session_id <> ?2 AND h.ended_at IS NULL)",
                )
                .and_then(|mut s| s.query_row([project, except], |row| row.get::<_, Option<i64>>(0)))
                .map(|at| at.map(time_from_sql)),
        )
    }

    /// Returns all sessions of a project with their approximate start times, in that order.
    pub fn session_times(&self, project: &str) -> Result<Vec<(String, u64)>> {
        self.explain(
            self.conn
                .prepare_cached(
                    "SELECT h.session_id, COALESCE(h.started_at, h.ended_at, c.saved_at, 0) AS began
                     FROM session_history h LEFT JOIN session_context c USING (session_id)
                     WHERE h.project_id = ?1 ORDER BY began, h.session_id",
                )
                .and_then(|mut s| s.query_map([project], |row| Ok((row.get(0)?, time_from_sql(row.get(1)?))))?.collect()),
        )
    }

    /// Returns when the notes of a session were last saved.
    pub fn saved_at(&self, session: &str) -> Result<Option<u64>> {
        self.explain(
            self.conn
                .prepare_cached("SELECT saved_at FROM session_context WHERE session_id = ?1")
                .and_then(|mut s| s.query_row([session], |row| row.get(0).map(time_from_sql)).optional()),
        )
    }

    /// Returns one session of a project.
    pub fn session(&self, project: &str, id: &str) -> Result<Option<SessionRecord>> {
        let mut session: Option<SessionRecord> = self.explain(
            self.conn
                .prepare_cached(&format!(
                    "SELECT {COLUMNS} FROM session_history h LEFT JOIN session_context c USING (session_id)
                     WHERE h.project_id = ?1 AND h.session_id = ?2"
                ))
                .and_then(|mut s| s.query_row([project, id], from_row).optional()),
        )?;
        session.iter_mut().try_for_each(|session| self.without_wrong(session))?;
        Ok(session)
    }
}

/// The moment of sessions that came from another memory.
const IMPORTED: &str = "import";

impl Store {
    /// Stores a session that another memory kept, unless this program has recorded or read it. Returns whether it is stored.
    pub fn import_session(&mut self, project: &Project, session: &Redacted<SessionUpdate>, now: u64) -> Result<bool> {
        let nothing = Redacted::default();
        let path = self.path.clone();
        let tx = self
            .conn
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(|error| super::classify(&path, error))?;
        delete_imported(&tx, &session.id)?;
        if tx.prepare_cached("SELECT 1 FROM session_history WHERE session_id = ?1")?.exists([&session.id])? {
            return Ok(false);
        }
        projects::put(&tx, project, now)?;
        let batch = CommitBatch {
            project,
            session_id: &session.id,
            learned: &nothing,
            policies: &[(OWN_POLICY.0.to_owned(), OWN_POLICY.1.to_owned())],
            reader: "",
            cursor: None,
            anchors: &[],
            moment: IMPORTED,
            now,
        };
        put_session(&tx, &batch, session)?;
        tx.commit().map_err(|error| super::classify(&path, error))?;
        Ok(true)
    }
}

/// Deletes a session that came from another memory, because a better source is about to be stored.
fn delete_imported(tx: &Connection, session: &str) -> Result<()> {
    for table in ["session_history", "session_context"] {
        tx.prepare_cached(&format!(
            "DELETE FROM {table} WHERE session_id = ?1
               AND EXISTS (SELECT 1 FROM session_context c WHERE c.session_id = ?1 AND c.moment = ?2)"
        ))?
        .execute([session, IMPORTED])?;
    }
    Ok(())
}

fn write(tx: &Connection, batch: &CommitBatch<'_>) -> Result<CommitCounts> {
    let mut committed = CommitCounts::default();
    projects::put(tx, batch.project, batch.now)?;
    if let Some(cursor) = batch.cursor {
        transcripts::put_cursor(tx, cursor, batch.now)?;
    }
    let learned = batch.learned;
    for state in &learned.states {
        transcripts::put_state(tx, batch.reader, state)?;
    }
    // They come before the event, which may be the end of the session.
    let forgotten = forgotten_prompts(tx, batch)?;
    let calls: Vec<&JournalRecord> = learned.calls.iter().filter(|record| !forgotten.contains(&record.key)).collect();
    committed.calls = events::put_calls(tx, batch.project, &calls, batch.now)?;
    if let Some((kind, seen)) = &learned.event {
        events::put(tx, kind, batch.session_id, &batch.project.id, batch.now, seen)?;
    }
    if let Some(session) = &learned.session {
        delete_imported(tx, batch.session_id)?;
        put_session(tx, batch, session)?;
    }
    for key in &learned.retracted {
        retract(tx, batch.session_id, key)?;
    }
    for (maker, draft) in &learned.drafts {
        let (policy, digest) = batch.policies.get(*maker).map_or(("", ""), |(name, digest)| (name, digest));
        match put(tx, &batch.project.id, batch.session_id, draft, (policy, digest), batch.now)? {
            PutOutcome::Stored => committed.stored += 1,
            PutOutcome::NewOccurrence => committed.seen_again += 1,
            PutOutcome::Known | PutOutcome::Forgotten => {}
        }
    }
    file_anchors::put(tx, batch.session_id, batch.anchors)?;
    Ok(committed)
}

/// Returns the keys of the prompts that begin a memory which the user deleted.
fn forgotten_prompts(tx: &Connection, batch: &CommitBatch<'_>) -> Result<BTreeSet<String>> {
    let mut forgotten = BTreeSet::new();
    if !batch.learned.calls.iter().any(|record| record.kind == PROMPT) || !tombstones::has_any(tx, &batch.project.id)? {
        return Ok(forgotten);
    }
    for (_, draft) in &batch.learned.drafts {
        if let Some(line) = &draft.origin.line_uuid
            && is_forgotten(tx, &batch.project.id, draft)?
        {
            forgotten.insert(format!("{RECORDED_PROMPT}{line}"));
        }
    }
    Ok(forgotten)
}

/// Stores a session. A session stays in the project in which it began, because nothing said in one project may be shown
/// in another.
fn put_session(tx: &Connection, batch: &CommitBatch<'_>, session: &SessionUpdate) -> Result<()> {
    let (mut notes, mut summary, mut topics) = (session.notes.clone(), session.summary.clone(), session.topics.clone());
    erase::leave_out_forgotten(tx, &batch.project.id, &mut notes, &mut summary, &mut topics)?;
    let notes = &notes;
    let files: Vec<&str> = notes.changes.iter().map(|change| change.path.as_str()).collect();
    let written = tx.prepare_cached(
        "INSERT INTO session_history (session_id, project_id, cwd, agent, model, started_at, ended_at, end_reason, turns, summary,
                                      topics, files_modified, policy, policy_digest)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)
         ON CONFLICT (session_id) DO UPDATE SET model = COALESCE(?5, model), started_at = ?6, ended_at = ?7,
             end_reason = COALESCE(?8, end_reason), turns = ?9, summary = ?10, topics = ?11, files_modified = ?12,
             policy = ?13, policy_digest = ?14
         WHERE project_id = ?2",
    )?
    .execute(params![
        session.id,
        batch.project.id,
        session.cwd,
        session.agent,
        session.model,
        notes.started.map(time),
        notes.ended.map(time),
        session.end_reason,
        notes.turns,
        summary,
        json(&topics),
        json(&files),
        batch.policies.first().map(|(name, _)| name),
        batch.policies.first().map(|(_, digest)| digest),
    ])?;
    if written == 0 {
        return Err(StoreError::Conflict);
    }
    tx.prepare_cached(
        "INSERT INTO session_context (session_id, saved_at, moment, notes) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (session_id) DO UPDATE SET saved_at = ?2, moment = ?3, notes = ?4",
    )?
    .execute(params![session.id, time(batch.now), batch.moment, json(notes)])?;
    Ok(())
}
