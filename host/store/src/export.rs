//! Iterates over all memories of one project or of all, in chronological order.

use std::collections::HashMap;

use rusqlite::params;

use super::marks::{self, Marks};
use super::memories::{COLUMNS, from_row};
use super::supersessions::{self, StatedLink};
use super::{Result, Store};
use throughline_model::contract::Memory;
use throughline_model::digest::sha256_parts;
use throughline_model::project::Project;

/// Which memories are exported, as a condition on `memories m`: the sources of digests rather than the digests, since
/// both would be duplicates; for digests with purged sources, the digest.
pub(super) const EXPORTED: &str = "
    NOT EXISTS (SELECT 1 FROM digests d WHERE d.memory = m.digest AND d.purged_at IS NOT NULL)
    AND NOT EXISTS (SELECT 1 FROM digests d WHERE d.memory = m.rowid AND d.purged_at IS NULL)";

impl Store {
    /// Passes each memory to `each`, oldest first, until it returns false. With each memory come its project, a person's marks, and
    /// its links to earlier memories that were stated or undone. Memories that others write meanwhile are not included.
    ///
    /// Memories with the same time are ordered by their content rather than by when they were stored, so that two
    /// stores with the same memories produce the same order. Memory use is 24 bytes per memory, plus one memory.
    pub fn each_memory(
        &self,
        project: Option<&str>,
        mut each: impl FnMut(&Memory, &Project, Marks, &[StatedLink]) -> bool,
    ) -> Result<()> {
        let projects: HashMap<String, Project> =
            self.all_projects()?.into_iter().map(|project| (project.id.clone(), project)).collect();
        self.explain((|| {
            let tx = self.conn.unchecked_transaction()?;
            let mut order: Vec<(i64, u64, i64)> = Vec::new();
            let mut select = tx.prepare(&format!(
                "SELECT rowid, created_at, project_id, type, title, content FROM memories m
                 WHERE (?1 IS NULL OR project_id = ?1) AND {EXPORTED}"
            ))?;
            let mut rows = select.query(params![project])?;
            while let Some(row) = rows.next()? {
                let text = |column: usize| -> rusqlite::Result<&str> { Ok(row.get_ref(column)?.as_str()?) };
                // Titles of earlier versions may end with white space, which an export leaves out.
                let hash = sha256_parts(&[text(2)?, text(5)?, text(4)?.trim(), text(3)?]);
                let tie = hash.iter().take(8).fold(0, |tie, byte| tie << 8 | u64::from(*byte));
                order.push((row.get(1)?, tie, row.get(0)?));
            }
            order.sort_unstable();
            let mut select = tx.prepare(&format!("SELECT {COLUMNS}, m.project_id FROM memories m WHERE m.rowid = ?1"))?;
            for (_, _, rowid) in order {
                let (memory, of) = select.query_row([rowid], |row| Ok((from_row(row)?, row.get::<_, String>(11)?)))?;
                // Without its project, which `verify` reports as missing, nobody could say where the memory belongs.
                let Some(project) = projects.get(&of) else { continue };
                if !each(&memory, project, marks::of(&tx, rowid)?, &supersessions::stated(&tx, rowid)?) {
                    break;
                }
            }
            Ok(())
        })())
    }
}
