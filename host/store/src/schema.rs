//! Compares a database's schema with our own. A backup from elsewhere may hold a trigger that brings deleted memories
//! back, or a view in the place of a table; as SQLite would run it with every statement of ours, such a file is not
//! restored.

use std::collections::BTreeMap;
use std::path::Path;

use rusqlite::Connection;

use super::copy::{has_required_tables, writable};
use super::{Result, classify, foreign_limits, migrations, reindex};

/// The objects of a schema: kind and name, with the table and the tokens of the statement that makes it.
type Objects = BTreeMap<(String, String), (String, Option<Vec<String>>)>;

/// Returns how a database differs from the schema that this program makes for its version, or `None` if it does not, or
/// if it is a database of another program or of a newer version. Nothing of the database is run for that.
pub fn find_difference(file: &Path) -> Result<Option<String>> {
    let compared = (|| {
        let mut conn = writable(file)?;
        foreign_limits::limit(&mut conn)?;
        let version: u32 = conn.query_row("PRAGMA user_version", [], |row| row.get(0))?;
        if version > migrations::SCHEMA_VERSION || !has_required_tables(&conn)? {
            return Ok(None);
        }
        let mut found = objects(&conn)?;
        let own = Connection::open_in_memory()?;
        migrations::apply_up_to(&own, version)?;
        let expected = objects(&own)?;
        for (object, made) in &expected {
            match found.remove(object) {
                Some(other) if other == *made => {}
                Some(_) => return Ok(Some(describe("another", object))),
                None => return Ok(Some(describe("no", object))),
            }
        }
        // What a rebuild of the index and the query planner add.
        reindex::create_all_tables(&own)?;
        own.execute_batch("ANALYZE")?;
        let optional = objects(&own)?;
        found.retain(|object, made| optional.get(object) != Some(made));
        Ok(found.keys().next().map(|object| describe("a foreign", object)))
    })();
    compared.map_err(|error| classify(file, error))
}

fn describe(word: &str, (kind, name): &(String, String)) -> String {
    format!("it has {word} {kind} {name:?}")
}

fn objects(conn: &Connection) -> rusqlite::Result<Objects> {
    let mut select = conn.prepare("SELECT type, name, tbl_name, sql FROM sqlite_schema")?;
    let rows = select.query_map([], |row| {
        let sql: Option<String> = row.get(3)?;
        Ok(((row.get(0)?, row.get(1)?), (row.get(2)?, sql.map(|sql| tokens(&sql)))))
    })?;
    rows.collect()
}

/// Splits a statement into tokens, without comments, spaces and quotation marks: renaming a table changes how its name is
/// quoted, and a rebuilt table has no comments.
fn tokens(sql: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut rest = sql;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '-' if rest.starts_with("--") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest[2..].find("*/").map_or(rest.len(), |end| end + 4),
            '\'' | '"' | '`' => {
                let length = quoted_length(rest, first);
                tokens.push(rest[1..length].trim_end_matches(first).to_owned());
                length
            }
            _ if is_word(first) => {
                let length = rest.find(|char| !is_word(char)).unwrap_or(rest.len());
                tokens.push(rest[..length].to_owned());
                length
            }
            _ => {
                if !first.is_whitespace() {
                    tokens.push(first.to_string());
                }
                first.len_utf8()
            }
        };
        rest = &rest[length..];
    }
    tokens
}

fn is_word(char: char) -> bool {
    char.is_alphanumeric() || char == '_' || char == '$'
}

/// Returns the length of the quoted text at the start, with its quotation marks. A doubled mark is part of the text.
fn quoted_length(text: &str, mark: char) -> usize {
    let mut at = 1;
    while let Some(end) = text[at..].find(mark) {
        at += end + 1;
        if !text[at..].starts_with(mark) {
            return at;
        }
        at += 1;
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::{Access, RebuildStep, Store, index};
    use super::*;

    fn database(version: u32, sql: &str) -> (tempfile::TempDir, std::path::PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("backup.db");
        #[expect(clippy::disallowed_methods, reason = "it is a stranger's database")]
        let conn = Connection::open(&file).unwrap();
        migrations::apply_up_to(&conn, version).unwrap();
        conn.pragma_update(None, "user_version", version).unwrap();
        conn.execute_batch(sql).unwrap();
        drop(conn);
        (dir, file)
    }

    #[test]
    fn our_own_databases_of_every_version_are_accepted() {
        for version in 1..=migrations::SCHEMA_VERSION {
            let (_dir, file) = database(version, "ANALYZE");
            assert_eq!(find_difference(&file).unwrap(), None, "{version}");
        }
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("store.db");
        let mut store = Store::open(&file, Access::Write, Duration::ZERO).unwrap();
        store.begin_reindex(&index::local_model(), None).unwrap();
        drop(store);
        assert_eq!(find_difference(&file).unwrap(), None, "while the index is rebuilt");
        let mut store = Store::open(&file, Access::Existing, Duration::ZERO).unwrap();
        while store.rebuild_step(usize::MAX, Duration::from_secs(9)).unwrap() != RebuildStep::Nothing {}
        drop(store);
        assert_eq!(find_difference(&file).unwrap(), None, "after the index was rebuilt");
    }

    #[test]
    fn attack_a_backup_with_triggers_or_views() {
        for (attack, said) in [
            (
                "CREATE TRIGGER back AFTER DELETE ON memories BEGIN INSERT INTO tombstones VALUES (old.project_id, x'00', 1); END",
                "a foreign trigger \"back\"",
            ),
            ("DROP TRIGGER events_gone", "no trigger \"events_gone\""),
            (
                "DROP TRIGGER events_gone; CREATE TRIGGER events_gone AFTER DELETE ON events BEGIN SELECT 1; END",
                "another trigger \"events_gone\"",
            ),
            (
                "DROP TABLE session_history;
                 CREATE VIEW session_history AS WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n",
                "no index \"sessions_by_project\"",
            ),
            ("CREATE TABLE more (x CHECK (length(zeroblob(x)) > 0))", "a foreign table \"more\""),
            ("ALTER TABLE projects ADD COLUMN x BLOB AS (zeroblob(900000000))", "another table \"projects\""),
            ("CREATE INDEX slow ON memories (hex(zeroblob(importance)))", "a foreign index \"slow\""),
        ] {
            let (_dir, file) = database(migrations::SCHEMA_VERSION, attack);
            let found = find_difference(&file).unwrap().unwrap();
            assert!(found.contains(said), "{attack}: {found}");
        }
    }

    #[test]
    fn comments_hide_nothing() {
        assert_eq!(
            tokens("CREATE  TABLE \"a b\" (x, -- y\n /* z */ w)"),
            ["CREATE", "TABLE", "a b", "(", "x", ",", "w", ")"]
        );
        assert_eq!(tokens("a '--' b /* c"), ["a", "--", "b"]);
        assert_ne!(tokens("a '--' , b"), tokens("a -- , b"));
        assert_eq!(tokens("'it''s' x"), ["it''s", "x"]);
        assert_eq!(tokens("'open"), ["open"]);
    }
}
