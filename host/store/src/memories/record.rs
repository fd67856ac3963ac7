//! Reads memories from rows: memories themselves, with their context, and as drafts.

use rusqlite::{Connection, Row};
use throughline_model::contract::{Draft, Memory};
use throughline_model::said_by;

use crate::{from_json_or_default, time_from_sql};

/// The attribute of a memory that the user saved.
pub const SAVED: (&str, &str) = (said_by::SOURCE, said_by::SAVED);

/// The attribute of a memory that the agent saved on its own.
pub const SAVED_BY_AGENT: (&str, &str) = (said_by::SOURCE, said_by::SAVED_BY_AGENT);

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

/// The columns of a memory, with `m` for the table.
pub(crate) const COLUMNS: &str = "m.id, m.session_id, m.type, m.title, m.content, m.keywords, m.files, m.importance, m.created_at, \
                       m.seen_count, m.metadata";

/// Reads a memory from [`COLUMNS`].
pub(crate) fn from_row(row: &Row<'_>) -> rusqlite::Result<Memory> {
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

/// Reads a memory with its context: [`COLUMNS`], and those that [`Store::memory`](crate::Store::memory) adds.
pub(super) fn record_from_row(row: &Row<'_>) -> rusqlite::Result<MemoryRecord> {
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

/// Reads a memory's texts for indexing it again.
pub(crate) fn draft(conn: &Connection, rowid: i64) -> rusqlite::Result<Draft> {
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
