//! Schema migrations. Each migration is a file that is applied as a whole or not at all; a released one is never
//! edited.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use super::columns::open_read_only;
use super::error::{Result, StoreError};
use super::index;

const MIGRATIONS: &[&str] = &[
    include_str!("migrations/0001_initial.sql"),
    include_str!("migrations/0002_extractors.sql"),
    include_str!("migrations/0003_observations.sql"),
    include_str!("migrations/0004_vectors.sql"),
    include_str!("migrations/0005_notes.sql"),
    include_str!("migrations/0006_makers.sql"),
    include_str!("migrations/0007_digests.sql"),
    include_str!("migrations/0008_smaller.sql"),
    include_str!("migrations/0009_attacks.sql"),
    include_str!("migrations/0010_supersessions.sql"),
    include_str!("migrations/0011_revisits.sql"),
    include_str!("migrations/0012_marks.sql"),
    include_str!("migrations/0013_team.sql"),
    include_str!("migrations/0014_file_anchors.sql"),
    include_str!("migrations/0015_team_items.sql"),
    include_str!("migrations/0016_team_sealed.sql"),
    include_str!("migrations/0017_large_rows.sql"),
    include_str!("migrations/0018_superseded.sql"),
];

/// The newest schema version that this program knows.
#[expect(clippy::cast_possible_truncation, reason = "a handful")]
pub const SCHEMA_VERSION: u32 = MIGRATIONS.len() as u32;

/// The database size, in bytes, from which on a hook does not run migrations. A migration that rebuilt the memories
/// table took 18 ms per megabyte, and a hook inside the agent's loop has two seconds, on a disk that may be several
/// times slower.
const LONG_MIGRATION_BYTES: u64 = 16 << 20;

/// Returns whether a database has an older schema and is so large that migrating it takes long. Usually cheap, because
/// the file header decides.
pub fn needs_long_migration(database: &Path) -> bool {
    // https://sqlite.org/fileformat2.html#the_database_header
    const VERSION_AT: usize = 60;
    let header = || {
        let mut file =
            File::open(database).ok().filter(|file| file.metadata().is_ok_and(|it| it.len() >= LONG_MIGRATION_BYTES))?;
        let mut header = [0; VERSION_AT + 4];
        file.read_exact(&mut header).ok()?;
        header.last_chunk().map(|version| u32::from_be_bytes(*version))
    };
    // The newest version may still be in the WAL.
    let in_full = || version(&open_read_only(database).ok()?).ok();
    let is_older = |version: Option<u32>| version.is_some_and(|version| version < SCHEMA_VERSION);
    is_older(header()) && is_older(in_full())
}

/// Migrates the schema to the newest version.
pub(super) fn migrate(conn: &Connection) -> Result<()> {
    let found = version(conn)?;
    if found == SCHEMA_VERSION {
        return Ok(());
    }
    if found > SCHEMA_VERSION {
        return Err(StoreError::Newer { path: std::path::PathBuf::new(), found });
    }
    if found == 0 {
        // The journal mode is stored in the file. It cannot be set inside a transaction.
        conn.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
    }
    // A migration that replaces a table drops the old one, and rows that refer to it must stay. This cannot be set
    // inside a transaction either.
    conn.execute_batch("PRAGMA foreign_keys = OFF")?;
    let tx = rusqlite::Transaction::new_unchecked(conn, TransactionBehavior::Immediate)?;
    // Another process may have migrated it first.
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

/// Makes the schema of a version in an empty database, for comparison.
pub(super) fn apply_up_to(conn: &Connection, version: u32) -> rusqlite::Result<()> {
    conn.execute_batch("PRAGMA foreign_keys = OFF")?;
    MIGRATIONS.iter().take(version as usize).try_for_each(|sql| conn.execute_batch(sql))
}

fn version(conn: &Connection) -> Result<u32> {
    Ok(conn.query_row("PRAGMA user_version", [], |row| row.get(0))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_rows_are_kept_when_they_get_row_numbers() {
        let conn = Connection::open_in_memory().unwrap();
        apply_up_to(&conn, 16).unwrap();
        conn.execute_batch(
            "PRAGMA user_version = 16;
             INSERT INTO session_history (session_id, project_id, cwd, agent, turns, summary, policy, policy_digest)
                 VALUES ('s', 'p', '/p', 'a', 7, 'the total', 'default', 'd');
             INSERT INTO session_context VALUES ('s', 3, 'stop', '{}');
             INSERT INTO extractor_states VALUES ('s', 'default', 'state', NULL, 2);",
        )
        .unwrap();
        migrate(&conn).unwrap();
        let row = |sql: &str| conn.query_row(sql, [], |row| row.get::<_, String>(0)).unwrap();
        assert_eq!(
            row("SELECT session_id || turns || summary || policy_digest FROM session_history WHERE rowid = 1"),
            "s7the totald"
        );
        assert_eq!(row("SELECT session_id || saved_at || moment || notes FROM session_context WHERE rowid = 1"), "s3stop{}");
        assert_eq!(
            row("SELECT session_id || policy || state || version FROM extractor_states WHERE rowid = 1"),
            "sdefaultstate2"
        );
        // Nobody has two rows of one session.
        assert!(conn.execute("INSERT INTO session_context VALUES ('s', 4, 'stop', '{}')", []).is_err());
    }
}
