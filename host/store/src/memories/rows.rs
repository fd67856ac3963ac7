//! Writes the rows of memories.

use rusqlite::{Connection, OptionalExtension, params};
use throughline_model::contract::{Attribute, Draft};
use throughline_model::digest::{hex, sha256_parts};

use super::hash::ContentHash;
use crate::extent::ROW_BITS;
use crate::index::{index, unindex};
use crate::{from_json_or_default, json, marks, time};

/// The policy name and digest of memories that this program made itself.
pub(crate) const OWN_POLICY: (&str, &str) = ("throughline", "");

/// Stores a new memory and returns its row and identifier. The identifier is `id` if that is given and free.
#[expect(clippy::too_many_arguments, reason = "what a row holds")]
pub(crate) fn insert(
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
pub(crate) fn rewrite(tx: &Connection, rowid: i64, project: &str, draft: &Draft, hash: ContentHash) -> rusqlite::Result<()> {
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

/// Changes the attributes of a memory, if it exists.
pub(crate) fn change_attributes(
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
