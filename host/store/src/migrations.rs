//! The schema's versions. Each migration is a file, applied as a whole or not at all; a released one is never edited.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use super::{Result, StoreError, index, open_read_only};

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

/// From so many bytes on, bringing a database up to date is not left to a hook. A migration that makes the memories' table anew took
/// 18 ms a megabyte, and a hook inside the agent's loop has two seconds, on a disk that may be several times slower.
const LONG_BYTES: u64 = 16 << 20;

/// Whether a database is of an older schema, and so large that bringing it up to date takes long. Cheap where it is not: its first
/// bytes tell.
pub fn is_long_behind(database: &Path) -> bool {
    // https://sqlite.org/fileformat2.html#the_database_header
    const VERSION_AT: usize = 60;
    let header = || {
        let mut file = File::open(database).ok().filter(|file| file.metadata().is_ok_and(|it| it.len() >= LONG_BYTES))?;
        let mut header = [0; VERSION_AT + 4];
        file.read_exact(&mut header).ok()?;
        header.last_chunk().map(|version| u32::from_be_bytes(*version))
    };
    // The newest version may still stand in the WAL.
    let in_full = || version(&open_read_only(database).ok()?).ok();
    let is_older = |version: Option<u32>| version.is_some_and(|version| version < SCHEMA_VERSION);
    is_older(header()) && is_older(in_full())
}

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
