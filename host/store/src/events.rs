//! Table `events` and the tables derived from it: an append-only record of what happened in sessions, mostly tool uses.
//!
//! An observation has one line, at most 10 KiB and 100 lines of detail, and at most 64 files. The details of a session
//! have 16 MiB; beyond that the oldest observations keep only their line. Repeated reads of a file are one event with a
//! count, and of a listing a sample is kept. An event lives for 30 days unless it is used, by other sessions too: each
//! use can promote it to a longer retention tier ([`Store::promote_events`]; the tiers are configuration).

mod recording;
mod retention;

use std::collections::{BTreeMap, HashSet};

use rusqlite::types::ToSql;
use rusqlite::{OptionalExtension, Row, params, params_from_iter};
use serde::Serialize;

use super::{Result, Store, from_json_or_default, json, time, time_from_sql};
use crate::journal::EventPayload;
use throughline_search::query::{FilterableFields, Query};

pub(super) use recording::{put, put_calls, reindex};
pub use retention::{RetentionOutcome, RetentionStep};

/// The event type of a tool use, as the design names it.
pub const OBSERVATION: &str = "tool_observation";
/// The event type of a prompt.
pub const PROMPT: &str = "user_prompt";

/// What the key of a prompt begins with that a hook saw.
pub const SEEN_PROMPT: &str = "prompt:";

/// What the key of a prompt begins with that was read from a transcript. Its line's identifier follows.
pub const RECORDED_PROMPT: &str = "line:";

/// A day in milliseconds.
const DAY_MS: u64 = 86_400_000;

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

/// Returns the attributes that are searchable.
fn named(seen: &EventPayload) -> String {
    ["command", "url", "error"].iter().filter_map(|name| seen.attribute(name)).collect::<Vec<_>>().join("\n")
}
