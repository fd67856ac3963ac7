//! Counts how often a memory was learned.

use rusqlite::{Connection, params};

/// What each further occurrence adds to a memory's weight, and how many occurrences count.
pub(crate) const OCCURRENCE_WEIGHT: f64 = 0.05;
pub(crate) const MAX_OCCURRENCES: u32 = 4;

/// Recounts a memory's occurrences. The copy of a line in a forked session is the same occurrence.
pub(crate) fn recount(tx: &Connection, memory: i64) -> rusqlite::Result<()> {
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
pub(super) fn is_only_occurrence(tx: &Connection, memory: i64) -> rusqlite::Result<bool> {
    let places: u32 =
        tx.prepare_cached("SELECT count(*) FROM sightings WHERE memory = ?1")?.query_row([memory], |row| row.get(0))?;
    Ok(places == 1)
}

/// Returns how often a memory was learned, as it was last counted.
pub(super) fn seen(tx: &Connection, memory: i64) -> rusqlite::Result<u32> {
    tx.prepare_cached("SELECT seen_count FROM memories WHERE rowid = ?1")?.query_row([memory], |row| row.get(0))
}
