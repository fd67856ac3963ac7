//! The query planner's statistics. Those of a small table are worse than none: with a count of two rows SQLite reads the whole
//! table for each lookup, and goes on doing so while the table grows to a hundred thousand. Without statistics it uses the index.

use rusqlite::Connection;

/// From how many rows on a table's statistics help.
const MIN_ROWS: u32 = 1_000;

/// Updates the statistics where SQLite thinks that they are out of date.
pub(super) fn update(conn: &Connection) -> rusqlite::Result<()> {
    conn.execute_batch("PRAGMA optimize")?;
    drop_small(conn)
}

/// Drops the statistics of small tables, and makes this connection forget them too.
pub(super) fn drop_small(conn: &Connection) -> rusqlite::Result<()> {
    let is_there = |name: &str| conn.prepare_cached("SELECT 1 FROM sqlite_schema WHERE name = ?1")?.exists([name]);
    if !is_there("sqlite_stat1")? {
        return Ok(());
    }
    let small = format!("SELECT tbl FROM sqlite_stat1 GROUP BY tbl HAVING max(CAST(stat AS INTEGER)) < {MIN_ROWS}");
    if !conn.prepare(&small)?.exists([])? {
        return Ok(());
    }
    let samples =
        if is_there("sqlite_stat4")? { format!("DELETE FROM sqlite_stat4 WHERE tbl IN ({small});") } else { String::new() };
    conn.execute_batch(&format!("{samples} DELETE FROM sqlite_stat1 WHERE tbl IN ({small}); ANALYZE sqlite_schema"))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use crate::tests::redacted;
    use crate::{Access, Store};
    use throughline_model::contract::Draft;
    use throughline_model::project::Project;

    fn plan(store: &Store, sql: &str) -> String {
        let mut select = store.conn.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
        let steps = select.query_map([], |row| row.get::<_, String>(3)).unwrap();
        steps.collect::<rusqlite::Result<Vec<_>>>().unwrap().join("; ")
    }

    const LOOKUP: &str = "SELECT rowid FROM memories WHERE project_id = 'x' AND content_hash = x'00'";

    #[test]
    fn a_lookup_uses_its_index_however_small_the_table_was_when_it_was_counted() {
        let dir = tempfile::tempdir().unwrap();
        let mut store = Store::open(&dir.path().join("t.db"), Access::Write, Duration::from_secs(1)).unwrap();
        let draft = |text: &str| {
            redacted(Draft { kind: "decision".into(), title: text.into(), content: text.into(), ..Draft::default() })
        };
        for text in ["one", "two"] {
            store.save_memory(&Project::named("otters"), "", &draft(text), 10).unwrap();
        }
        store.checkpoint().unwrap();
        let found = plan(&store, LOOKUP);
        assert!(!found.contains("SCAN"), "{found}");
        // A database that an earlier build has counted.
        store.conn.execute_batch("ANALYZE").unwrap();
        let found = plan(&store, LOOKUP);
        assert!(found.contains("SCAN"), "SQLite has changed, and this module may go: {found}");
        store.prepare_import().unwrap();
        let found = plan(&store, LOOKUP);
        assert!(!found.contains("SCAN"), "{found}");
        // Those of a large table stay.
        let number: i64 = store.conn.query_row("SELECT number FROM projects", [], |row| row.get(0)).unwrap();
        store
            .conn
            .execute_batch(&format!(
                "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 2000)
                 INSERT INTO sightings (session_id, key, memory) SELECT 's', n, ({number} << {}) | 1 FROM n; ANALYZE",
                crate::extent::ROW_BITS
            ))
            .unwrap();
        store.checkpoint().unwrap();
        let tables = "SELECT count(*) FILTER (WHERE tbl = 'sightings') > 0, count(*) FILTER (WHERE tbl = 'memories') FROM sqlite_stat1";
        let kept: (bool, u32) = store.conn.query_row(tables, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        assert_eq!(kept, (true, 0));
    }
}
