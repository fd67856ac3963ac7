//! Table `projects`.

use rusqlite::params;

use super::{Result, Store, time};
use crate::project::Project;

impl Store {
    /// Notes that the project exists.
    pub fn put_project(&self, project: &Project, now: u64) -> Result<()> {
        self.explain(put(&self.conn, project, now))
    }

    /// The root folder of a project, by its identifier.
    pub fn project_root(&self, id: &str) -> Result<Option<String>> {
        use rusqlite::OptionalExtension;
        self.explain(
            self.conn
                .prepare_cached("SELECT root FROM projects WHERE id = ?1")
                .and_then(|mut s| s.query_row([id], |row| row.get(0)).optional()),
        )
    }
}

pub(super) fn put(conn: &rusqlite::Connection, project: &Project, now: u64) -> rusqlite::Result<()> {
    conn.prepare_cached(
        "INSERT INTO projects (id, identity, root, created_at) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING",
    )?
    .execute(params![project.id, project.identity, project.root.to_string_lossy(), time(now)])?;
    Ok(())
}
