//! Redaction of what is stored: runs a redactor over every text of the database again.
//!
//! Each column with text is either in a list here or has a reason not to be; a test compares the lists with the schema.

use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};
use serde_json::Value;

use super::index::{index, unindex};
use super::memories::{content_hash, recount, remove};
use super::{Store, StoreError, digests, events, from_json_or_default, json, sharing};
use throughline_model::contract::Draft;
use throughline_model::digest::{hex, sha256_parts};
use throughline_model::redacted::TextRedactor;

/// How many rows are redacted per transaction. A kill can undo at most this many.
const ROWS: u32 = 100;

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
