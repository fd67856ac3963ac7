//! Table `events` and the tables derived from it: an append-only record of what happened in sessions, mostly tool uses.
//!
//! An observation has one line, at most 10 KiB and 100 lines of detail, and at most 64 files. The details of a session
//! have 16 MiB; beyond that the oldest observations keep only their line. Repeated reads of a file are one event with a
//! count, and of a listing a sample is kept. An event lives for 30 days unless it is used, by other sessions too: each
//! use can promote it to a longer retention tier ([`Store::promote_events`]; the tiers are configuration).

use std::collections::{BTreeMap, BTreeSet, HashSet};

use rusqlite::types::ToSql;
use rusqlite::{Connection, OptionalExtension, Row, TransactionBehavior, params, params_from_iter};
use serde::Serialize;

use super::{
    Result, Store, classify, failures, from_json_or_default, json, memories, projects, time, time_from_sql, tombstones,
};
use crate::journal::{self, EventPayload, JournalRecord};
use throughline_model::lines::DERIVED_ID;
use throughline_model::project::Project;
use throughline_model::redacted::Redacted;
use throughline_search::query::{FilterableFields, Query};
use throughline_search::tokens;

/// The event type of a tool use, as the design names it.
pub const OBSERVATION: &str = "tool_observation";
/// The event type of a prompt.
pub const PROMPT: &str = "user_prompt";

/// What the key of a prompt begins with that a hook saw.
pub const SEEN_PROMPT: &str = "prompt:";

/// What the key of a prompt begins with that was read from a transcript. Its line's identifier follows.
pub const RECORDED_PROMPT: &str = "line:";

/// The maximum size of a session's details, in bytes; the oldest events keep only their summaries.
const MAX_DETAIL_BYTES: i64 = 16 << 20;

/// Every how many events the size of a session's details is computed, which reads all of its rows. An event has at most some 10 KiB, so
/// that many more exceed the maximum by 2.5 MiB.
const EVENTS_BETWEEN_CHECKS: i64 = 256;

/// By how many days observations age between two runs of [`Store::promote_events`] at most. A run is due once a day, so somebody
/// who comes back from a long absence loses nothing by it but a few days.
const MAX_AGING_DAYS: u64 = 8;

/// A day in milliseconds.
const DAY_MS: u64 = 86_400_000;

/// The entry of `meta` with the time up to which observations have aged, in milliseconds since the Unix epoch.
const RETENTION_CLOCK: &str = "retention_clock";

/// The maximum number of query words to search for.
const MAX_QUERY_TERMS: usize = 24;

/// A stored event.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StoredEvent {
    /// Its number.
    pub id: i64,
    /// The type: `tool_observation`, `user_prompt`, `stop`, …
    #[serde(rename = "type")]
    pub kind: String,
    /// The session.
    pub session_id: String,
    /// The time, in milliseconds since the Unix epoch.
    pub at: u64,
    /// How often it occurred in a row.
    pub times: u32,
    /// The retention tier, 0 to 4.
    pub level: u8,
    /// The event's payload.
    #[serde(flatten)]
    pub seen: EventPayload,
}

/// Which events to return. Empty fields do not restrict.
#[derive(Debug, Clone, Default)]
pub struct EventFilter {
    /// One project.
    pub project: Option<String>,
    /// Sessions whose identifier begins with this.
    pub session: Option<String>,
    /// Names of tools.
    pub tools: Vec<String>,
    /// Types of events.
    pub kinds: Vec<String>,
    /// A file: its whole path, or the end of it from a folder on.
    pub file: Option<String>,
    /// Failures only.
    pub failed: bool,
    /// Words to search for.
    pub words: String,
    /// Older than this event, given as its time and number. Not to be combined with words, which use another order.
    pub before: Option<(u64, i64)>,
}

/// A summary of a turn, from its prompt until now.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Turn {
    /// When its prompt came.
    pub began: Option<u64>,
    /// The number of tools used.
    pub tools: u32,
    /// How many of them failed.
    pub failed: u32,
    /// Files that were changed.
    pub files: Vec<String>,
}

/// What became of records.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RecordCounts {
    /// New events.
    pub stored: u64,
    /// Records that only repeat the event before them.
    pub merged: u64,
    /// Records that were stored already.
    pub known: u64,
}

/// A step from one retention tier to the next, by which observations that are used are promoted.
#[derive(Debug, Clone, PartialEq, serde::Deserialize, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RetentionStep {
    /// How often the observation must have been accessed.
    pub access: u32,
    /// The minimum confidence: 0.5, plus bonuses for signs that it matters. See [`Store::promote_events`].
    pub confidence: f64,
    /// How many other sessions must have used it.
    pub sessions: u32,
    /// How many days it is kept in the tier that it reaches, counted from the last access.
    pub days: u32,
}

/// What promoting and expiring observations did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RetentionOutcome {
    /// The number of observations promoted.
    pub raised: u64,
    /// The number of observations deleted.
    pub dropped: u64,
}

pub(super) const COLUMNS: &str = "e.event_id, e.event_type, e.session_id, e.timestamp, e.times, e.level, e.payload_json";

pub(super) fn from_row(row: &Row<'_>) -> rusqlite::Result<StoredEvent> {
    Ok(StoredEvent {
        id: row.get(0)?,
        kind: row.get(1)?,
        session_id: row.get(2)?,
        at: time_from_sql(row.get(3)?),
        times: row.get(4)?,
        level: row.get(5)?,
        seen: from_json_or_default(&row.get::<_, String>(6)?),
    })
}

impl Store {
    /// Returns which of these keys are those of stored events of the session.
    pub fn known_events(&self, session: &str, keys: &[&str]) -> Result<HashSet<String>> {
        self.explain(
            self.conn
                .prepare_cached(
                    "SELECT k.key FROM json_each(?2) wanted CROSS JOIN event_keys k ON k.session_id = ?1 AND k.key = wanted.value",
                )
                .and_then(|mut s| s.query_map(params![session, json(&keys)], |row| row.get(0))?.collect()),
        )
    }

    /// Returns whether a tool of the session reported between these times, milliseconds since the Unix epoch.
    pub fn was_working(&self, session: &str, from: u64, to: u64) -> Result<bool> {
        self.explain(
            self.conn
                .prepare_cached(
                    "SELECT 1 FROM events WHERE session_id = ?1 AND event_type = ?2 AND timestamp BETWEEN ?3 AND ?4 LIMIT 1",
                )
                .and_then(|mut s| s.exists(params![session, OBSERVATION, time(from), time(to)])),
        )
    }

    /// Returns whether a hook saw a prompt of the session.
    pub fn has_seen_prompts(&self, session: &str) -> Result<bool> {
        self.explain(
            self.conn
                .prepare_cached(
                    // Found by the key alone: a long session has thousands of events, and each is a large row.
                    "SELECT 1 FROM event_keys WHERE session_id = ?1 AND key >= ?2 AND key < ?2 || char(1114111)",
                )
                .and_then(|mut s| s.exists(params![session, SEEN_PROMPT])),
        )
    }

    /// Returns the type of the session's last event.
    pub fn last_event(&self, session: &str) -> Result<Option<String>> {
        self.explain(
            self.conn
                .prepare_cached("SELECT event_type FROM events WHERE session_id = ?1 ORDER BY event_id DESC LIMIT 1")
                .and_then(|mut s| s.query_row([session], |row| row.get(0)).optional()),
        )
    }

    /// Returns when the session was last compacted.
    pub fn compacted_at(&self, session: &str) -> Result<Option<u64>> {
        self.explain(
            self.conn
                .prepare_cached("SELECT max(timestamp) FROM events WHERE session_id = ?1 AND event_type = 'post_compact'")
                .and_then(|mut s| s.query_row([session], |row| row.get::<_, Option<i64>>(0))),
        )
        .map(|at| at.map(time_from_sql))
    }

    /// Stores journal records, all or none.
    pub fn put_records(&mut self, project: &Project, records: &[Redacted<JournalRecord>], now: u64) -> Result<RecordCounts> {
        let path = self.path.clone();
        let noted = (|| {
            let tx = self.conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
            projects::put(&tx, project, now)?;
            let mut noted = RecordCounts::default();
            let sessions: BTreeSet<&str> = records.iter().map(|record| record.session.as_str()).collect();
            let before =
                sessions.into_iter().map(|it| Ok((it, last_number(&tx, it)?))).collect::<rusqlite::Result<Vec<_>>>()?;
            for record in records {
                put_record(&tx, project, record, now, &mut noted)?;
            }
            for (session, before) in before {
                bound_details(&tx, session, before)?;
            }
            tx.commit()?;
            Ok(noted)
        })();
        noted.map_err(|error| classify(&path, error))
    }

    /// Returns the session's current turn.
    pub fn turn(&self, session: &str) -> Result<Turn> {
        self.explain((|| {
            let began: Option<(i64, i64)> = self
                .conn
                .prepare_cached(
                    "SELECT event_id, timestamp FROM events WHERE session_id = ?1 AND event_type = ?2 ORDER BY event_id DESC LIMIT 1",
                )?
                .query_row(params![session, PROMPT], |row| Ok((row.get(0)?, row.get(1)?)))
                .optional()?;
            let (from, since) = began.unwrap_or((0, 0));
            let (tools, failed) = self
                .conn
                .prepare_cached(
                    "SELECT COALESCE(sum(times), 0), COALESCE(sum(failed), 0) FROM events
                     WHERE session_id = ?1 AND event_id > ?2 AND event_type = ?3 AND timestamp >= ?4",
                )?
                .query_row(params![session, from, OBSERVATION, since], |row| Ok((row.get(0)?, row.get(1)?)))?;
            let files = self
                .conn
                .prepare_cached(
                    "SELECT f.path FROM events e JOIN event_files f USING (event_id)
                     WHERE e.session_id = ?1 AND e.event_id > ?2 AND e.failed = 0 AND e.timestamp >= ?3
                       AND e.tool IN ('Edit', 'Write', 'MultiEdit', 'NotebookEdit')
                     GROUP BY f.path ORDER BY max(e.event_id) LIMIT 50",
                )?
                .query_map(params![session, from, since], |row| row.get(0))?
                .collect::<rusqlite::Result<_>>()?;
            Ok(Turn { began: began.map(|(_, at)| time_from_sql(at)), tools, failed, files })
        })())
    }

    /// Returns the agent's last message in this session, from the end of its last turn.
    pub fn last_answer(&self, session: &str) -> Result<Option<String>> {
        let payload: Option<String> = self.explain(
            self.conn
                .prepare_cached(
                    "SELECT payload_json FROM events WHERE session_id = ?1 AND event_type = 'stop' ORDER BY event_id DESC LIMIT 1",
                )
                .and_then(|mut s| s.query_row([session], |row| row.get(0)).optional()),
        )?;
        Ok(payload.map(|payload| from_json_or_default::<EventPayload>(&payload).detail).filter(|text| !text.is_empty()))
    }

    /// Returns events, newest first; with words, best match first. Filters within the words apply too: see [`Query`].
    pub fn events(&self, wanted: &EventFilter, limit: u32) -> Result<Vec<StoredEvent>> {
        let mut clauses = vec!["1".to_owned()];
        let mut values: Vec<Box<dyn ToSql>> = Vec::new();
        let mut and = |clause: &str, value: Box<dyn ToSql>| {
            values.push(value);
            clauses.push(clause.replace('?', &format!("?{}", values.len())));
        };
        if let Some(project) = &wanted.project {
            and("e.project_id = ?", Box::new(project.clone()));
        }
        if let Some(session) = &wanted.session {
            // Use a range, which the index supports: no character sorts after U+10FFFF.
            and("e.session_id >= ? AND e.session_id < ? || char(1114111)", Box::new(session.clone()));
        }
        let list = |names: &[String]| json(&names.iter().map(String::as_str).collect::<Vec<_>>());
        if !wanted.tools.is_empty() {
            and("e.tool COLLATE NOCASE IN (SELECT value FROM json_each(?))", Box::new(list(&wanted.tools)));
        }
        if !wanted.kinds.is_empty() {
            and("e.event_type IN (SELECT value FROM json_each(?))", Box::new(list(&wanted.kinds)));
        }
        if let Some(file) = &wanted.file {
            let file = file.trim_start_matches("./").trim_end_matches('/').to_owned();
            and(
                "EXISTS (SELECT 1 FROM event_files f WHERE f.event_id = e.event_id
                         AND (f.path = ? OR substr(f.path, -length(?) - 1) = '/' || ? OR substr(f.path, 1, length(?) + 1) = ? || '/'))",
                Box::new(file),
            );
        }
        if let Some((at, id)) = wanted.before {
            and("(e.timestamp, e.event_id) < (? ->> 0, ? ->> 1)", Box::new(json(&(time(at), id))));
        }
        let query = Query::parse(&wanted.words, &jiff::Zoned::now());
        if query.is_empty() && !wanted.words.trim().is_empty() {
            return Ok(Vec::new());
        }
        let mut from = "events e";
        let mut order = "e.timestamp DESC, e.event_id DESC";
        if let Some(expression) = query.fts5_expression(MAX_QUERY_TERMS) {
            and("events_fts MATCH ?", Box::new(expression));
            from = "events_fts JOIN events e ON e.event_id = events_fts.rowid";
            order = "bm25(events_fts, 2.0, 2.0, 1.0), e.event_id DESC";
        }
        if wanted.failed {
            clauses.push("e.failed".into());
        }
        // Filters beyond words can only be checked once the event is loaded.
        let bound = if query.has_filters() { String::new() } else { format!("LIMIT {limit}") };
        let sql = format!("SELECT {COLUMNS} FROM {from} WHERE {} ORDER BY {order} {bound}", clauses.join(" AND "));
        self.explain((|| {
            let mut statement = self.conn.prepare_cached(&sql)?;
            let mut events = Vec::new();
            for event in statement.query_map(params_from_iter(&values), from_row)? {
                let event = event?;
                if events.len() >= limit as usize {
                    break;
                }
                if accepts(&query, &event) {
                    events.push(event);
                }
            }
            Ok(events)
        })())
    }

    /// Returns events by number, of one project or of all; missing ones are left out.
    pub fn events_by_id(&self, ids: &[i64], project: Option<&str>) -> Result<Vec<StoredEvent>> {
        self.explain((|| {
            let mut statement = self.conn.prepare_cached(&format!(
                "SELECT {COLUMNS} FROM events e WHERE e.event_id = ?1 AND (?2 IS NULL OR e.project_id = ?2)"
            ))?;
            let mut events = Vec::new();
            for id in ids {
                events.extend(statement.query_row(params![id, project], from_row).optional()?);
            }
            Ok(events)
        })())
    }

    /// Returns the events of the same session around an event, in order: at most `reach` before it and `reach` after
    /// it.
    pub fn around(&self, event: &StoredEvent, reach: u32) -> Result<Vec<StoredEvent>> {
        self.explain((|| {
            let half = |condition: &str, order: &str| -> rusqlite::Result<Vec<StoredEvent>> {
                self.conn
                    .prepare_cached(&format!(
                        "SELECT {COLUMNS} FROM events e WHERE e.session_id = ?1 AND e.event_id {condition} ?2
                         ORDER BY e.event_id {order} LIMIT ?3"
                    ))?
                    .query_map(params![event.session_id, event.id, reach], from_row)?
                    .collect()
            };
            let mut events = half("<", "DESC")?;
            events.reverse();
            events.push(event.clone());
            events.extend(half(">", "ASC")?);
            Ok(events)
        })())
    }

    /// Returns what was done to which files, most recent first, of one project or of all, and of sessions whose
    /// identifier begins with `session`.
    pub fn files(&self, project: Option<&str>, session: Option<&str>, limit: u32) -> Result<Vec<FileUse>> {
        self.explain(
            self.conn
                .prepare_cached(
                    "SELECT f.path, max(e.timestamp),
                            sum(CASE WHEN e.tool IN ('Edit', 'Write', 'MultiEdit', 'NotebookEdit') THEN 0 ELSE e.times END),
                            sum(CASE WHEN e.tool IN ('Edit', 'Write', 'MultiEdit', 'NotebookEdit') AND e.failed = 0 THEN e.times ELSE 0 END),
                            count(DISTINCT e.session_id), sum(e.failed),
                            COALESCE((SELECT root FROM projects p WHERE p.id = e.project_id), '')
                     FROM event_files f JOIN events e USING (event_id)
                     WHERE e.event_type = 'tool_observation' AND (?1 IS NULL OR e.project_id = ?1)
                       AND (?2 IS NULL OR substr(e.session_id, 1, length(?2)) = ?2)
                     GROUP BY e.project_id, f.path ORDER BY 2 DESC, 1, 7 LIMIT ?3",
                )
                .and_then(|mut s| {
                    s.query_map(params![project, session, limit], |row| {
                        Ok(FileUse {
                            path: row.get(0)?,
                            last_at: time_from_sql(row.get(1)?),
                            looked_at: row.get(2)?,
                            changed: row.get(3)?,
                            sessions: row.get(4)?,
                            failed: row.get(5)?,
                            project: row.get(6)?,
                        })
                    })?
                    .collect()
                }),
        )
    }

    /// Returns the root folder of each event's project, in the order of `events`; empty if it is unknown.
    pub fn roots_of_events(&self, events: &[StoredEvent]) -> Result<Vec<String>> {
        self.explain(
            self.conn
                .prepare_cached("SELECT p.root FROM events e JOIN projects p ON p.id = e.project_id WHERE e.event_id = ?1")
                .and_then(|mut s| {
                    events
                        .iter()
                        .map(|event| Ok(s.query_row([event.id], |row| row.get(0)).optional()?.unwrap_or_default()))
                        .collect()
                }),
        )
    }

    /// Records that events were accessed, by a session if one asked.
    pub fn mark_used(&self, ids: &[i64], session: Option<&str>, now: u64) -> Result<()> {
        self.explain((|| {
            let tx = self.conn.unchecked_transaction()?;
            for id in ids {
                tx.prepare_cached("UPDATE events SET accessed_at = ?2, access_count = access_count + 1 WHERE event_id = ?1")?
                    .execute(params![id, time(now)])?;
                if let Some(session) = session {
                    tx.prepare_cached(
                        "INSERT OR IGNORE INTO event_uses SELECT event_id, ?2 FROM events WHERE event_id = ?1 AND session_id <> ?2",
                    )?
                    .execute(params![id, session])?;
                }
            }
            tx.commit()
        })())
    }

    /// Promotes used observations and deletes expired ones. `tiers` has one step from each tier to the next; the last
    /// tier is permanent. `days` is how long observations in the first tier are kept. The confidence of an observation
    /// is 0.5, plus 0.1 for each access, 0.15 for each other session that accessed it, and 0.2 if it changed something
    /// or failed; at most 1.
    ///
    /// A clock that is wrong must not delete everything at once: between two runs, observations age by
    /// [`MAX_AGING_DAYS`] at most.
    pub fn promote_events(
        &mut self,
        tiers: &[RetentionStep],
        days: u32,
        now: u64,
        really: bool,
    ) -> Result<RetentionOutcome> {
        let path = self.path.clone();
        let aged = (|| {
            let tx = self.conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let age_now = retention_now(&tx, now)?;
            let mut aged = RetentionOutcome::default();
            let mut raised = BTreeSet::new();
            for (level, step) in (0_u8..).zip(tiers) {
                let mut raise = tx.prepare_cached(
                    "UPDATE events SET level = ?1 + 1
                     WHERE event_type = 'tool_observation' AND level = ?1 AND access_count >= ?2
                       AND (SELECT count(*) FROM event_uses u WHERE u.event_id = events.event_id) >= ?4
                       AND min(1.0, 0.5 + 0.1 * access_count
                               + 0.15 * (SELECT count(*) FROM event_uses u WHERE u.event_id = events.event_id)
                               + CASE WHEN failed OR tool IN ('Edit', 'Write', 'MultiEdit', 'NotebookEdit') THEN 0.2 ELSE 0 END) >= ?3
                     RETURNING event_id",
                )?;
                for id in raise
                    .query_map(params![level, step.access, step.confidence, step.sessions], |row| row.get::<_, i64>(0))?
                {
                    raised.insert(id?);
                }
            }
            // One observation may be promoted several times at once.
            aged.raised = raised.len() as u64;
            let kept = std::iter::once(days).chain(tiers.iter().map(|step| step.days));
            for (level, days) in (0_u8..).zip(kept).take(tiers.len()) {
                let before = age_now.saturating_sub(u64::from(days) * DAY_MS);
                aged.dropped += tx.execute(
                    "DELETE FROM events WHERE event_type = 'tool_observation' AND level = ?1
                       AND max(timestamp, COALESCE(accessed_at, 0)) < ?2",
                    params![level, time(before)],
                )? as u64;
            }
            if really {
                for (key, at) in [("graduated_at", now), (RETENTION_CLOCK, age_now)] {
                    tx.execute(
                        "INSERT INTO meta (key, value) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = ?2",
                        [key, &at.to_string()],
                    )?;
                }
                tx.commit()?;
            }
            Ok(aged)
        })();
        aged.map_err(|error| classify(&path, error))
    }

    /// Returns when [`Store::promote_events`] last ran, or 0 if never.
    pub fn promoted_at(&self) -> Result<u64> {
        let value: Option<String> = self.explain(
            self.conn.query_row("SELECT value FROM meta WHERE key = 'graduated_at'", [], |row| row.get(0)).optional(),
        )?;
        Ok(value.and_then(|value| value.parse().ok()).unwrap_or(0))
    }
}

/// Returns the time by which observations are judged: `now`, unless the clock has jumped ahead since the last run. Before the
/// first run, the newest event counts as the last run.
fn retention_now(tx: &Connection, now: u64) -> rusqlite::Result<u64> {
    let last: Option<String> =
        tx.query_row("SELECT value FROM meta WHERE key = ?1", [RETENTION_CLOCK], |row| row.get(0)).optional()?;
    let last = match last.and_then(|last| last.parse().ok()) {
        Some(last) => Some(last),
        None => {
            tx.query_row("SELECT max(timestamp) FROM events", [], |row| row.get::<_, Option<i64>>(0))?.map(time_from_sql)
        }
    };
    Ok(last.map_or(now, |last| now.min(last.saturating_add(MAX_AGING_DAYS * DAY_MS))))
}

/// What was done to a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileUse {
    /// The path, relative to the project's root if inside it.
    pub path: String,
    /// The time of the last use.
    pub last_at: u64,
    /// How often it was read or found.
    pub looked_at: u32,
    /// How often it was changed.
    pub changed: u32,
    /// The number of sessions that used it.
    pub sessions: u32,
    /// How often a use of it failed.
    pub failed: u32,
    /// The root folder of its project.
    pub project: String,
}

/// Returns whether the event satisfies the query's filters; its words do not count.
fn accepts(query: &Query, event: &StoredEvent) -> bool {
    let seen = &event.seen;
    query.accepts(&FilterableFields {
        kind: &event.kind,
        session: &event.session_id,
        created: time(event.at),
        title: &seen.summary,
        content: &named(seen),
        keywords: &seen.tool,
        files: &seen.files,
        tools: &[&seen.tool],
    })
}

pub(super) fn put(
    conn: &Connection,
    kind: &str,
    session: &str,
    project: &str,
    at: u64,
    seen: &EventPayload,
) -> rusqlite::Result<i64> {
    conn.prepare_cached(
        "INSERT INTO events (event_type, session_id, project_id, timestamp, payload_json, tool, failed)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?
    .execute(params![kind, session, project, time(at), json(seen), seen.tool, seen.failed])?;
    let id = conn.last_insert_rowid();
    index(conn, id, seen)?;
    Ok(id)
}

fn put_record(
    tx: &Connection,
    project: &Project,
    record: &JournalRecord,
    now: u64,
    noted: &mut RecordCounts,
) -> rusqlite::Result<()> {
    match record.kind.as_str() {
        journal::SHOWN => {
            let ids = record.seen.detail.lines();
            return memories::mark_shown(tx, ids, Some(&record.session), &record.seen.summary, record.at);
        }
        journal::SHOWN_NOTHING => {
            tx.prepare_cached("DELETE FROM shown WHERE session_id = ?1")?.execute([&record.session])?;
            return Ok(());
        }
        _ => {}
    }
    if is_known(tx, &record.session, &record.key)? {
        noted.known += 1;
        return Ok(());
    }
    let is_observation = record.kind == OBSERVATION;
    if is_observation && let Some(id) = reported_by_other_side(tx, record)? {
        noted.known += 1;
        return put_key(tx, record, id);
    }
    let repeated = if is_observation { repeated(tx, record)? } else { None };
    let id = if let Some(id) = repeated {
        tx.prepare_cached("UPDATE events SET times = times + 1, timestamp = max(timestamp, ?2) WHERE event_id = ?1")?
            .execute(params![id, time(record.at)])?;
        noted.merged += 1;
        id
    } else {
        let id = put(tx, &record.kind, &record.session, &project.id, record.at, &record.seen)?;
        noted.stored += 1;
        id
    };
    put_key(tx, record, id)?;
    if is_observation {
        failures::note(tx, &project.id, id, record, now)?;
    }
    Ok(())
}

/// How far the times of a call and of its copy may be apart, in milliseconds. A hook sees a call a moment after it was written.
const MAX_COPY_GAP_MS: i64 = 10_000;

/// Returns the session of which this one is a copy: a fork repeats the lines of its original, with the agent's identifiers of the calls.
/// Looking for an identifier in all sessions takes long, so this is done once for all records.
fn fork_of(tx: &Connection, project: &Project, first: &JournalRecord) -> rusqlite::Result<Option<String>> {
    tx.prepare_cached(
        "SELECT k.session_id FROM event_keys k JOIN events e USING (event_id)
         WHERE k.key = ?1 AND k.session_id <> ?2 AND e.project_id = ?3 AND e.tool = ?4 AND abs(e.timestamp - ?5) <= ?6 LIMIT 1",
    )?
    .query_row(
        params![first.key, first.session, project.id, first.seen.tool, time(first.at), MAX_COPY_GAP_MS],
        |row| row.get(0),
    )
    .optional()
}

fn is_known(tx: &Connection, session: &str, key: &str) -> rusqlite::Result<bool> {
    tx.prepare_cached("SELECT 1 FROM event_keys WHERE session_id = ?1 AND key = ?2")?.exists([session, key])
}

fn put_key(tx: &Connection, record: &JournalRecord, id: i64) -> rusqlite::Result<()> {
    tx.prepare_cached("INSERT INTO event_keys (session_id, key, event_id) VALUES (?1, ?2, ?3)")?
        .execute(params![record.session, record.key, id])
        .map(drop)
}

/// Stores the tool calls and prompts that a transcript records, except those that are stored or were forgotten. Returns how many calls
/// are new. So that what was read in today can be used, its retention begins today.
pub(super) fn put_calls(tx: &Connection, project: &Project, records: &[&JournalRecord], now: u64) -> rusqlite::Result<u64> {
    let Some(first) = records.iter().find(|record| record.kind == OBSERVATION).or(records.first()) else { return Ok(0) };
    let (mut noted, mut prompts) = (RecordCounts::default(), RecordCounts::default());
    let before: i64 = tx.prepare_cached("SELECT COALESCE(max(event_id), 0) FROM events")?.query_row([], |row| row.get(0))?;
    let before_in_session = last_number(tx, &first.session)?;
    let are_forgotten = tombstones::has_any(tx, &project.id)?;
    let original = fork_of(tx, project, first)?;
    for record in records {
        if let Some(original) = &original
            && is_known(tx, original, &record.key)?
        {
            continue;
        }
        if !are_forgotten || !tombstones::is_forgotten_call(tx, &project.id, &record.session, &record.key)? {
            let noted = if record.kind == OBSERVATION { &mut noted } else { &mut prompts };
            put_record(tx, project, record, now, noted)?;
        }
    }
    tx.prepare_cached("UPDATE events SET accessed_at = ?2 WHERE event_id > ?1 AND timestamp < ?2 - ?3")?
        .execute(params![before, time(now), time(DAY_MS)])?;
    bound_details(tx, &first.session, before_in_session)?;
    Ok(noted.stored + noted.merged)
}

/// Returns the event of the same call if hook and transcript call it by different identifiers: an observation with the same tool and
/// summary that only the other side has reported so far.
fn reported_by_other_side(tx: &Connection, record: &JournalRecord) -> rusqlite::Result<Option<i64>> {
    let is_derived = record.key.starts_with(DERIVED_ID);
    if !is_derived {
        let mut has_derived =
            tx.prepare_cached("SELECT 1 FROM event_keys WHERE session_id = ?1 AND key >= ?2 AND key < ?2 || char(1114111)")?;
        if !has_derived.exists([record.session.as_str(), DERIVED_ID])? {
            return Ok(None);
        }
    }
    // Each event has a key for every time it was reported. Other agents' keys are never derived, so nothing is found for them.
    tx.prepare_cached(
        "SELECT e.event_id FROM events e
         WHERE e.session_id = ?1 AND e.event_type = 'tool_observation' AND e.tool = ?2 AND e.payload_json ->> '$.summary' = ?3
           AND (SELECT sum(CASE WHEN (k.key >= ?4 AND k.key < ?4 || char(1114111)) = ?5 THEN -1 ELSE 1 END)
                FROM event_keys k WHERE k.event_id = e.event_id) > 0
         ORDER BY abs(e.timestamp - ?6), e.event_id LIMIT 1",
    )?
    .query_row(
        params![record.session, record.seen.tool, record.seen.summary, DERIVED_ID, is_derived, time(record.at)],
        |row| row.get(0),
    )
    .optional()
}

/// Returns the event that this one only repeats: a read of a file that this session has read before and not touched
/// since.
fn repeated(tx: &Connection, record: &JournalRecord) -> rusqlite::Result<Option<i64>> {
    let seen = &record.seen;
    let [file] = seen.files.as_slice() else { return Ok(None) };
    if seen.failed || seen.tool != "Read" {
        return Ok(None);
    }
    let last: Option<(i64, String, String)> = tx
        .prepare_cached(
            "SELECT e.event_id, e.tool, e.payload_json FROM events e JOIN event_files f USING (event_id)
             WHERE f.path = ?1 AND e.session_id = ?2 ORDER BY e.event_id DESC LIMIT 1",
        )?
        .query_row(params![file, record.session], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .optional()?;
    Ok(last
        .filter(|(_, tool, payload)| tool == "Read" && from_json_or_default::<EventPayload>(payload).summary == seen.summary)
        .map(|(id, ..)| id))
}

/// Returns the attributes that are searchable.
fn named(seen: &EventPayload) -> String {
    ["command", "url", "error"].iter().filter_map(|name| seen.attribute(name)).collect::<Vec<_>>().join("\n")
}

/// Adds an event to the search tables.
fn index(tx: &Connection, id: i64, seen: &EventPayload) -> rusqlite::Result<()> {
    for file in &seen.files {
        tx.prepare_cached("INSERT OR IGNORE INTO event_files (path, event_id) VALUES (?1, ?2)")?
            .execute(params![file, id])?;
    }
    tx.prepare_cached("INSERT INTO events_fts (rowid, summary, files, command) VALUES (?1, ?2, ?3, ?4)")?.execute(
        params![
            id,
            tokens::index_text(&seen.summary),
            tokens::index_text(&seen.files.join("\n")),
            tokens::index_text(&named(seen))
        ],
    )?;
    Ok(())
}

/// Rebuilds an event's search entries from another payload.
pub(super) fn reindex(tx: &Connection, id: i64, payload: &str) -> rusqlite::Result<()> {
    tx.execute("DELETE FROM events_fts WHERE rowid = ?1", [id])?;
    tx.execute("DELETE FROM event_files WHERE event_id = ?1", [id])?;
    index(tx, id, &from_json_or_default(payload))
}

/// Returns the number of a session's last event; 0 if it has none.
fn last_number(tx: &Connection, session: &str) -> rusqlite::Result<i64> {
    tx.prepare_cached("SELECT COALESCE(max(event_id), 0) FROM events WHERE session_id = ?1")?
        .query_row([session], |row| row.get(0))
}

/// Keeps the details of a session within [`MAX_DETAIL_BYTES`], and a little more between two checks. `before` is the number of the
/// session's last event before the new ones.
fn bound_details(tx: &Connection, session: &str, before: i64) -> rusqlite::Result<()> {
    if before / EVENTS_BETWEEN_CHECKS == last_number(tx, session)? / EVENTS_BETWEEN_CHECKS {
        return Ok(());
    }
    let total: i64 = tx
        .prepare_cached("SELECT COALESCE(sum(length(payload_json)), 0) FROM events WHERE session_id = ?1")?
        .query_row([session], |row| row.get(0))?;
    if total <= MAX_DETAIL_BYTES {
        return Ok(());
    }
    tx.execute(
        "UPDATE events SET payload_json = json_remove(payload_json, '$.detail')
         WHERE event_type = 'tool_observation' AND event_id IN (
             SELECT event_id FROM (
                 SELECT event_id, sum(length(payload_json)) OVER (ORDER BY event_id DESC) AS newer
                 FROM events WHERE session_id = ?1)
             WHERE newer > ?2)",
        params![session, MAX_DETAIL_BYTES / 2],
    )?;
    Ok(())
}

impl Store {
    /// Returns uses and failures by tool, of a project or of a session.
    pub fn tool_counts(&self, project: Option<&str>, session: Option<&str>) -> Result<BTreeMap<String, (u64, u64)>> {
        self.explain(
            self.conn
                .prepare_cached(
                    "SELECT tool, sum(times), sum(failed) FROM events
                     WHERE event_type = 'tool_observation' AND (?1 IS NULL OR project_id = ?1) AND (?2 IS NULL OR session_id = ?2)
                     GROUP BY tool",
                )
                .and_then(|mut s| {
                    s.query_map(params![project, session], |row| {
                        Ok((row.get(0)?, (time_from_sql(row.get(1)?), time_from_sql(row.get(2)?))))
                    })?
                    .collect()
                }),
        )
    }
}
