//! Tables `failures` and `failure_sightings`: what went wrong, how often, and what fixed it.
//!
//! A failure has a signature: what was tried, and the error's line without paths, numbers and hashes. The policy makes
//! the signature; the store counts it. A later success of the same subject in the session ends the failure, and what
//! was edited and run in between is the fix. From the second time on, a failure is a memory (`error_fix`, or `failure`
//! if nothing has helped yet), which is found and shown like any other. Whenever it happens again the agent is told at
//! once, which is when it can use the fix.

use rusqlite::{Connection, OptionalExtension, Row, params};
use serde::Serialize;

use super::memories::{OWN_POLICY, put, remove};
use super::{Result, Store, from_json_or_default, json, sharing, time, time_from_sql};
use crate::journal::{EventPayload, JournalRecord};
use throughline_model::contract::{Draft, Origin};
use throughline_model::digest::sha256_hex;

/// From this count on, a failure is a pattern and becomes a memory.
const PATTERN_COUNT: u32 = 2;

/// How many steps between a failure and the success that ended it are kept, the last ones.
const MAX_STEPS: u32 = 3;

/// Failures with the same signature.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// Its number.
    pub id: i64,
    /// What was tried.
    pub subject: String,
    /// The line that says what is wrong.
    pub error: String,
    /// What distinguishes it from other failures.
    pub signature: String,
    /// The files involved.
    pub files: Vec<String>,
    /// How often it occurred.
    pub count: u32,
    /// The number of sessions in which it occurred.
    pub sessions: u32,
    /// The number of sessions in which its error occurred, whatever was tried. Only lists count it: [`Store::failure`] gives
    /// `sessions` here.
    pub error_sessions: u32,
    /// The first time, in milliseconds since the Unix epoch.
    pub first_at: u64,
    /// The last time.
    pub last_at: u64,
    /// What was done between the failure and the success.
    pub fix: Option<String>,
    /// When it was last fixed.
    pub fixed_at: Option<u64>,
    /// The root folder of its project.
    pub project: String,
}

/// All columns of a failure but the last one: [`ERROR_SESSIONS`], or `f.sessions` in its place.
const COLUMNS: &str =
    "f.number, f.subject, f.error, f.signature, f.files, f.count, f.sessions, f.first_at, f.last_at, f.fix, f.fixed_at,
     COALESCE((SELECT root FROM projects p WHERE p.id = f.project_id), '')";

/// Reads all failures of the project, which hooks do not need.
const ERROR_SESSIONS: &str =
    "(SELECT count(DISTINCT s.session_id) FROM failures o JOIN failure_sightings s ON s.failure = o.number
      WHERE o.project_id = f.project_id AND o.error = f.error)";

fn from_row(row: &Row<'_>) -> rusqlite::Result<Failure> {
    Ok(Failure {
        id: row.get(0)?,
        subject: row.get(1)?,
        error: row.get(2)?,
        signature: row.get(3)?,
        files: from_json_or_default(&row.get::<_, String>(4)?),
        count: row.get(5)?,
        sessions: row.get(6)?,
        first_at: time_from_sql(row.get(7)?),
        last_at: time_from_sql(row.get(8)?),
        fix: row.get(9)?,
        fixed_at: row.get::<_, Option<i64>>(10)?.map(time_from_sql),
        project: row.get(11)?,
        error_sessions: row.get(12)?,
    })
}

impl Failure {
    /// Returns whether nothing has fixed it yet, or it came back after the fix.
    pub fn is_open(&self) -> bool {
        self.fixed_at.is_none_or(|fixed| fixed < self.last_at)
    }

    /// Describes in one line what fails, and what fixed it.
    pub fn line(&self) -> String {
        let fixed = self.fix.as_ref().map_or_else(String::new, |fix| format!(". Fixed by: {fix}"));
        format!("`{}` fails: {}{fixed}", self.subject, self.error)
    }
}

impl Store {
    /// Returns the failure of a project with this signature.
    pub fn failure(&self, project: &str, signature: &str) -> Result<Option<Failure>> {
        self.explain(
            self.conn
                .prepare_cached(&format!(
                    "SELECT {COLUMNS}, f.sessions FROM failures f WHERE f.project_id = ?1 AND f.signature = ?2"
                ))
                .and_then(|mut s| s.query_row([project, signature], from_row).optional()),
        )
    }

    /// Returns failures, the most frequent first. With `session`, only those of sessions whose identifier begins with
    /// it; with `open`, only those not fixed since they last occurred.
    pub fn failures(&self, project: Option<&str>, session: Option<&str>, open: bool, limit: u32) -> Result<Vec<Failure>> {
        self.failures_from(project, session, open, 0, limit)
    }

    /// Does the same, and skips the first ones.
    pub fn failures_from(
        &self,
        project: Option<&str>,
        session: Option<&str>,
        open: bool,
        skip: u32,
        limit: u32,
    ) -> Result<Vec<Failure>> {
        self.explain(
            self.conn
                .prepare_cached(&format!(
                    "SELECT {COLUMNS}, {ERROR_SESSIONS} FROM failures f
                     WHERE (?1 IS NULL OR f.project_id = ?1) AND (?3 = 0 OR f.fixed_at IS NULL OR f.fixed_at < f.last_at)
                       AND (?2 IS NULL OR EXISTS (SELECT 1 FROM failure_sightings s
                            WHERE s.failure = f.number AND substr(s.session_id, 1, length(?2)) = ?2))
                     ORDER BY f.count DESC, f.last_at DESC, f.number LIMIT ?4 OFFSET ?5"
                ))
                .and_then(|mut s| s.query_map(params![project, session, open, limit, skip], from_row)?.collect()),
        )
    }
}

/// Records what a tool use says about failures: that one occurred, or that one is over.
pub(super) fn note(tx: &Connection, project: &str, event: i64, record: &JournalRecord, now: u64) -> rusqlite::Result<()> {
    let seen = &record.seen;
    let Some(subject) = seen.attribute("subject").filter(|subject| !subject.is_empty()) else { return Ok(()) };
    let touched = match seen.attribute("signature") {
        Some(signature) if seen.failed && !seen.interrupted => vec![count(tx, project, event, record, subject, signature)?],
        _ if !seen.failed => resolve(tx, event, record, subject)?,
        _ => Vec::new(),
    };
    for number in touched {
        remember(tx, project, &record.session, number, now)?;
    }
    Ok(())
}

fn count(
    tx: &Connection,
    project: &str,
    event: i64,
    record: &JournalRecord,
    subject: &str,
    signature: &str,
) -> rusqlite::Result<i64> {
    let seen = &record.seen;
    let error = seen.attribute("error").unwrap_or(&seen.summary);
    let at = time(record.at);
    let number: i64 = tx
        .prepare_cached(
            "INSERT INTO failures (project_id, signature, subject, error, files, count, first_at, last_at)
             VALUES (?1, ?2, ?3, ?4, ?5, 1, ?6, ?6)
             ON CONFLICT (project_id, signature) DO UPDATE SET count = count + 1, last_at = max(last_at, ?6), error = ?4, files = ?5
             RETURNING number",
        )?
        .query_row(params![project, signature, subject, error, json(&seen.files), at], |row| row.get(0))?;
    tx.prepare_cached(
        "INSERT OR IGNORE INTO failure_sightings (event_id, failure, session_id, subject) VALUES (?1, ?2, ?3, ?4)",
    )?
    .execute(params![event, number, record.session, subject])?;
    tx.prepare_cached(
        "UPDATE failures SET sessions = max(sessions, (SELECT count(DISTINCT session_id) FROM failure_sightings WHERE failure = ?1))
         WHERE number = ?1",
    )?
    .execute([number])?;
    Ok(number)
}

/// A success ends the session's open failures of the same subject; the steps in between are the fix.
fn resolve(tx: &Connection, event: i64, record: &JournalRecord, subject: &str) -> rusqlite::Result<Vec<i64>> {
    let open: Vec<(i64, i64)> = tx
        .prepare_cached(
            "SELECT failure, max(event_id) FROM failure_sightings WHERE session_id = ?1 AND subject = ?2 AND resolved = 0 GROUP BY failure",
        )?
        .query_map(params![record.session, subject], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    if open.is_empty() {
        return Ok(Vec::new());
    }
    for (number, failed) in &open {
        let mut steps: Vec<String> = tx
            .prepare_cached(
                "SELECT payload_json FROM events
                 WHERE session_id = ?1 AND event_id > ?2 AND event_id < ?3 AND failed = 0 AND event_type = 'tool_observation'
                   AND tool IN ('Edit', 'Write', 'MultiEdit', 'NotebookEdit', 'Bash')
                 ORDER BY event_id DESC LIMIT 12",
            )?
            .query_map(params![record.session, failed, event], |row| row.get::<_, String>(0))?
            .filter_map(|payload| step(&from_json_or_default(&payload.ok()?)))
            .collect();
        steps.dedup();
        steps.truncate(MAX_STEPS as usize);
        steps.reverse();
        // No steps in between: the same thing was tried in another way.
        if steps.is_empty() {
            steps.extend(record.seen.attribute("command").map(|command| format!("`{}`", command.trim())));
        }
        let fix = if steps.is_empty() { record.seen.summary.clone() } else { steps.join("; ") };
        tx.prepare_cached("UPDATE failures SET fix = ?2, fixed_at = ?3 WHERE number = ?1")?.execute(params![
            number,
            fix,
            time(record.at)
        ])?;
    }
    tx.prepare_cached("UPDATE failure_sightings SET resolved = 1 WHERE session_id = ?1 AND subject = ?2 AND resolved = 0")?
        .execute(params![record.session, subject])?;
    Ok(open.into_iter().map(|(number, _)| number).collect())
}

/// Describes a tool use that may have contributed to a success; commands that only look return `None`.
fn step(seen: &EventPayload) -> Option<String> {
    const LOOKS: [&str; 14] = [
        "ls",
        "cat",
        "head",
        "tail",
        "grep",
        "rg",
        "find",
        "pwd",
        "echo",
        "which",
        "wc",
        "git status",
        "git diff",
        "git log",
    ];
    match seen.attribute("command") {
        Some(command) => {
            let command = command.trim();
            let looks = LOOKS.iter().any(|look| {
                command.strip_prefix(look).is_some_and(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace))
            });
            (!looks).then(|| format!("`{}`", command.chars().take(160).collect::<String>()))
        }
        None if seen.tool == "Bash" => None,
        None => Some(seen.summary.clone()),
    }
}

/// Makes a recurring failure a memory, so that it is found, shown and forgotten like any other.
fn remember(tx: &Connection, project: &str, session: &str, number: i64, now: u64) -> rusqlite::Result<()> {
    let (failure, memory): (Failure, Option<i64>) = tx
        .prepare_cached(&format!("SELECT {COLUMNS}, f.sessions, f.memory FROM failures f WHERE f.number = ?1"))?
        .query_row([number], |row| Ok((from_row(row)?, row.get(13)?)))?;
    if failure.count < PATTERN_COUNT {
        return Ok(());
    }
    let content = failure.line();
    let known: Option<(i64, String)> = match memory {
        Some(memory) => tx
            .prepare_cached("SELECT rowid, content FROM memories WHERE rowid = ?1")?
            .query_row([memory], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?,
        None => None,
    };
    let mut is_shared = false;
    if let Some((rowid, before)) = known
        && before != content
    {
        is_shared = sharing::is_shared(tx, rowid)?;
        remove(tx, rowid)?;
    }
    let key = format!("failure:{}", &sha256_hex(failure.signature.as_bytes())[..16]);
    let draft = Draft {
        key: Some(key.clone()),
        kind: if failure.fix.is_some() { "error_fix" } else { "failure" }.into(),
        title: content.chars().take(200).collect(),
        content,
        keywords: vec!["failure".into()],
        files: failure.files.clone(),
        importance: 0.7,
        origin: Origin { line_uuid: None, at: Some(failure.last_at) },
        attributes: Vec::new(),
    };
    put(tx, project, session, &draft, OWN_POLICY, now)?;
    tx.prepare_cached(
        "UPDATE failures SET memory = (SELECT memory FROM sightings WHERE session_id = ?2 AND key = ?3) WHERE number = ?1",
    )?
    .execute(params![number, session, key])?;
    let memory: Option<i64> =
        tx.prepare_cached("SELECT memory FROM failures WHERE number = ?1")?.query_row([number], |row| row.get(0))?;
    if let Some(memory) = memory.filter(|_| is_shared) {
        sharing::share(tx, memory, now)?;
    }
    Ok(())
}
