//! Repairs what `verify.rs` finds, in transactions that each leave the database in better order than before.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, params};

use super::extent::ROW_BITS;
use super::index::{self, LIVE};
use super::memories::{draft, recount};
use super::transcripts::reset_cursor;
use super::verify::{
    LISTS, StoreCheck, UNDERCOUNTED, find_index_mismatches, references, stale_counters_sql, wrong_counts_sql,
};
use super::{RebuildStep, Result, Store, digests, events, index::unindex, sharing, vectors};
use throughline_model::project::Project;

/// How many memories are indexed again per transaction.
const BATCH: usize = 200;

/// How long one transaction of a full rebuild may take.
const STEP: Duration = Duration::from_secs(1);

impl Store {
    /// Repairs what these checks found; what others write meanwhile is kept.
    pub fn repair(&mut self, checks: &BTreeSet<StoreCheck>, now: u64) -> Result<()> {
        if checks.contains(&StoreCheck::Indexes) {
            self.write(|tx| tx.execute_batch("REINDEX"))?;
        }
        // Restore projects first: rows that belong to a restored project are no orphans.
        if checks.contains(&StoreCheck::Projects) {
            self.write(|tx| make_projects(tx, now))?;
        }
        if checks.contains(&StoreCheck::Orphans) {
            self.write(remove_orphans)?;
        }
        if checks.contains(&StoreCheck::Digests) {
            self.write(|tx| digests::repair(tx, now))?;
        }
        if checks.contains(&StoreCheck::Lists) {
            self.write(|tx| {
                for (table, column) in LISTS {
                    tx.execute(&format!("UPDATE {table} SET {column} = '[]' WHERE NOT json_valid({column})"), [])?;
                }
                Ok(())
            })?;
        }
        if checks.contains(&StoreCheck::Counters) {
            self.write(|tx| {
                tx.execute_batch(&format!(
                    "UPDATE projects SET memories = b.most FROM ({}) b WHERE b.number = projects.number",
                    stale_counters_sql()
                ))
            })?;
        }
        if checks.contains(&StoreCheck::WordTable) {
            self.rebuild_index()?;
        } else if checks.contains(&StoreCheck::Index) {
            self.repair_index()?;
        }
        if checks.contains(&StoreCheck::EventWordTable) || checks.contains(&StoreCheck::EventIndex) {
            let is_damaged = checks.contains(&StoreCheck::EventWordTable);
            self.write(|tx| repair_events(tx, is_damaged))?;
        }
        if checks.contains(&StoreCheck::Occurrences) {
            self.write(|tx| {
                for rowid in numbers(tx, &wrong_counts_sql())? {
                    recount(tx, rowid)?;
                }
                Ok(())
            })?;
        }
        if checks.contains(&StoreCheck::Shared) {
            self.write(sharing::remove_orphans)?;
        }
        if checks.contains(&StoreCheck::Failures) {
            self.write(|tx| {
                tx.execute_batch(&format!(
                    "UPDATE failures SET count = u.came FROM ({UNDERCOUNTED}) u WHERE u.number = failures.number"
                ))
            })?;
        }
        Ok(())
    }

    /// Copies the database's pages, whatever they contain, into a new file that only this user can read: a backup from
    /// before the repair.
    pub fn copy_unvalidated(&self, file: &Path) -> Result<()> {
        super::copy::copy_pages(&self.conn, &self.path, file)
    }

    /// Resets these transcripts so that they are read from their beginning. Reading a line twice stores nothing twice.
    pub fn reset_transcripts(&mut self, paths: &[String], now: u64) -> Result<()> {
        self.write(|tx| paths.iter().try_for_each(|path| reset_cursor(tx, path, now)))
    }

    /// Rebuilds the whole index beside the damaged one, with the vectors of the same model.
    fn rebuild_index(&mut self) -> Result<()> {
        let state = self.index_state()?;
        self.begin_reindex(&state.model, state.asked.as_deref())?;
        while self.rebuild_step(usize::MAX, STEP)? != RebuildStep::Nothing {}
        Ok(())
    }

    fn repair_index(&mut self) -> Result<()> {
        let found = self.explain(find_index_mismatches(&self.conn))?;
        let dims = index::dims(&self.explain(index::live_model(&self.conn))?);
        let orphans: Vec<i64> = found.orphans.into_iter().collect();
        let blocks: Vec<i64> = found.blocks.into_iter().collect();
        let memories: Vec<i64> = found.words.union(&found.vectors).copied().collect();
        for some in orphans.chunks(BATCH) {
            self.write(|tx| some.iter().try_for_each(|rowid| unindex(tx, *rowid)))?;
        }
        for some in blocks.chunks(BATCH) {
            self.write(|tx| some.iter().try_for_each(|block| vectors::rebuild_block(tx, &LIVE, *block, dims)))?;
        }
        for some in memories.chunks(BATCH) {
            self.write(|tx| {
                for rowid in some {
                    // Another process may have deleted it meanwhile.
                    let Some(draft) = rusqlite::OptionalExtension::optional(draft(tx, *rowid))? else { continue };
                    unindex(tx, *rowid)?;
                    index::index(tx, *rowid, &draft)?;
                }
                Ok(())
            })?;
        }
        Ok(())
    }
}

fn numbers(tx: &Connection, sql: &str) -> rusqlite::Result<Vec<i64>> {
    tx.prepare(sql)?.query_map([], |row| row.get(0))?.collect()
}

/// Restores projects that are referenced but missing: from the working folder of one of their sessions if that yields
/// the same project, or else under a name that says that it was lost.
fn make_projects(tx: &Connection, now: u64) -> rusqlite::Result<()> {
    let mut missing: BTreeSet<String> = BTreeSet::new();
    for reference in references(tx)?.iter().filter(|reference| reference.parent == "projects") {
        let sql = format!("SELECT DISTINCT {} FROM {} WHERE {}", reference.column, reference.table, reference.is_orphan());
        missing.extend(tx.prepare(&sql)?.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<Vec<String>>>()?);
    }
    for id in missing {
        let folders: Vec<String> = tx
            .prepare("SELECT DISTINCT cwd FROM session_history WHERE project_id = ?1 ORDER BY started_at DESC")?
            .query_map([&id], |row| row.get(0))?
            .collect::<rusqlite::Result<_>>()?;
        let known = folders.iter().map(|folder| Project::discover(Path::new(folder))).find(|project| project.id == id);
        let project = known.unwrap_or_else(|| Project {
            identity: format!("lost:{id}"),
            root: folders.first().cloned().unwrap_or_else(|| id.clone()).into(),
            id: id.clone(),
        });
        // Use the number in its memories' rows, unless another project took it since.
        tx.execute(
            &format!(
                "INSERT INTO projects (number, id, identity, root, memories, created_at)
                 SELECT (SELECT rowid >> {ROW_BITS} FROM memories WHERE project_id = ?1
                         AND NOT EXISTS (SELECT 1 FROM projects WHERE number = rowid >> {ROW_BITS}) LIMIT 1),
                        ?1, ?2, ?3, COALESCE((SELECT max(rowid & ?4) FROM memories WHERE project_id = ?1), 0), ?5"
            ),
            params![id, project.identity, project.root.to_string_lossy(), (1_i64 << ROW_BITS) - 1, super::time(now)],
        )?;
    }
    Ok(())
}

fn remove_orphans(tx: &Connection) -> rusqlite::Result<()> {
    // A deleted row may be the parent of others.
    loop {
        let mut changed = 0;
        for reference in references(tx)? {
            let (table, column) = (&reference.table, &reference.column);
            let is_orphan = reference.is_orphan();
            if reference.is_emptied {
                changed += tx.execute(&format!("UPDATE {table} SET {column} = NULL WHERE {is_orphan}"), [])?;
            } else if reference.is_deleted {
                changed += tx.execute(&format!("DELETE FROM {table} WHERE {is_orphan}"), [])?;
            }
        }
        if changed == 0 {
            return Ok(());
        }
    }
}

fn repair_events(tx: &Connection, is_damaged: bool) -> rusqlite::Result<()> {
    if is_damaged {
        tx.execute_batch("INSERT INTO events_fts (events_fts) VALUES ('delete-all')")?;
    }
    let orphans = "SELECT id FROM events_fts_docsize d WHERE NOT EXISTS (SELECT 1 FROM events e WHERE e.event_id = d.id)";
    for id in numbers(tx, orphans)? {
        tx.execute("DELETE FROM events_fts WHERE rowid = ?1", [id])?;
    }
    let missing =
        "SELECT event_id FROM events e WHERE NOT EXISTS (SELECT 1 FROM events_fts_docsize d WHERE d.id = e.event_id)";
    for id in numbers(tx, missing)? {
        let payload: String = tx.query_row("SELECT payload_json FROM events WHERE event_id = ?1", [id], |row| row.get(0))?;
        events::reindex(tx, id, &payload)?;
    }
    Ok(())
}
