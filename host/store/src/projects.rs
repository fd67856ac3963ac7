//! Table `projects`.

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::{Result, Store, time};
use throughline_model::project::Project;

impl Store {
    /// Records that the project exists.
    pub fn put_project(&self, project: &Project, now: u64) -> Result<()> {
        self.explain(put(&self.conn, project, now))
    }

    /// Returns all projects, in the order in which they were first seen.
    pub fn all_projects(&self) -> Result<Vec<Project>> {
        self.explain(
            self.conn
                .prepare_cached("SELECT id, identity, root FROM projects ORDER BY number")
                .and_then(|mut s| s.query_map([], from_row)?.collect()),
        )
    }

    /// Returns the project that a session belongs to.
    pub fn project_of_session(&self, session: &str) -> Result<Option<Project>> {
        self.explain(
            self.conn
                .prepare_cached(
                    "SELECT p.id, p.identity, p.root FROM session_history h JOIN projects p ON p.id = h.project_id
                     WHERE h.session_id = ?1",
                )
                .and_then(|mut s| s.query_row([session], from_row).optional()),
        )
    }
}

fn from_row(row: &Row<'_>) -> rusqlite::Result<Project> {
    Ok(Project { id: row.get(0)?, identity: row.get(1)?, root: row.get::<_, String>(2)?.into() })
}

/// Returns the project's number, which prefixes its memories' row numbers, or `None` if the project is unknown.
pub(super) fn number(conn: &Connection, id: &str) -> rusqlite::Result<Option<i64>> {
    conn.prepare_cached("SELECT number FROM projects WHERE id = ?1")?.query_row([id], |row| row.get(0)).optional()
}

pub(super) fn put(conn: &Connection, project: &Project, now: u64) -> rusqlite::Result<()> {
    conn.prepare_cached(
        "INSERT INTO projects (id, identity, root, created_at) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING",
    )?
    .execute(params![project.id, project.identity, project.root.to_string_lossy(), time(now)])?;
    Ok(())
}
