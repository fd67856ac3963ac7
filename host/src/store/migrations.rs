//! The schema's versions. Each migration is a file, applied as a whole or not at all; a released one is never edited.

use rusqlite::{Connection, TransactionBehavior};

use super::{Result, StoreError, index};

const MIGRATIONS: &[&str] = &[
    include_str!("migrations/0001_initial.sql"),
    include_str!("migrations/0002_extractors.sql"),
    include_str!("migrations/0003_observations.sql"),
    include_str!("migrations/0004_vectors.sql"),
    include_str!("migrations/0005_notes.sql"),
    include_str!("migrations/0006_makers.sql"),
    include_str!("migrations/0007_digests.sql"),
    include_str!("migrations/0008_smaller.sql"),
];

/// The newest schema that this program knows.
#[expect(clippy::cast_possible_truncation, reason = "a handful")]
pub const SCHEMA_VERSION: u32 = MIGRATIONS.len() as u32;

/// Brings the schema up to date.
pub(super) fn migrate(conn: &Connection) -> Result<()> {
    let found = version(conn)?;
    if found == SCHEMA_VERSION {
        return Ok(());
    }
    if found > SCHEMA_VERSION {
        return Err(StoreError::Newer { path: std::path::PathBuf::new(), found });
    }
    if found == 0 {
        // The mode lasts in the file; it cannot be set inside a transaction.
        conn.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
    }
    // A table that another one takes the place of is dropped, and what refers to it must stay. This, too, cannot be set inside.
    conn.execute_batch("PRAGMA foreign_keys = OFF")?;
    let tx = rusqlite::Transaction::new_unchecked(conn, TransactionBehavior::Immediate)?;
    // Another process may have been faster.
    let found = version(&tx)?;
    for (sql, version) in MIGRATIONS.iter().zip(1_u32..).skip(found as usize) {
        tx.execute_batch(sql)?;
        tx.pragma_update(None, "user_version", version)?;
    }
    if found == 0 {
        index::set_meta(&tx, index::INDEX_VERSION, &index::VERSION.to_string())?;
    }
    tx.commit()?;
    conn.execute_batch("PRAGMA foreign_keys = ON")?;
    Ok(())
}

fn version(conn: &Connection) -> Result<u32> {
    Ok(conn.query_row("PRAGMA user_version", [], |row| row.get(0))?)
}
