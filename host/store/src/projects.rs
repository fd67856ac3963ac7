//! Table `projects`.

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::{Result, Store, time, time_from_sql};
use throughline_model::project::Project;

/// A project, and how much is stored of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownProject {
    /// The project.
    pub project: Project,
    /// Sessions that were read.
    pub sessions: u64,
    /// Memories, without turns and without those that were folded into a digest.
    pub memories: u64,
    /// Turns, which only searches find, without those that were folded into a digest.
    pub turns: u64,
    /// When something of one of its sessions was stored last; none if nothing was.
    pub last_at: Option<u64>,
}

impl Store {
    /// Returns when the first project was seen, milliseconds since the Unix epoch.
    pub fn first_seen(&self) -> Result<Option<u64>> {
        self.explain(self.conn.query_row("SELECT min(created_at) FROM projects", [], |row| row.get(0)))
            .map(|at: Option<i64>| at.map(time_from_sql))
    }

    /// Returns all projects, in the order in which they were first seen.
    pub fn all_projects(&self) -> Result<Vec<Project>> {
        self.explain(
            self.conn
                .prepare_cached("SELECT id, identity, root FROM projects ORDER BY number")
                .and_then(|mut s| s.query_map([], from_row)?.collect()),
        )
    }

    /// Returns projects with their numbers of sessions and memories, the one with the latest session first. The pseudo-project of
    /// shared memories is not among them.
    pub fn known_projects(&self, limit: u32) -> Result<Vec<KnownProject>> {
        self.explain(
            self.conn
                .prepare_cached(&format!("{KNOWN} WHERE p.id <> ?1 ORDER BY last_at DESC, p.number LIMIT ?2"))
                .and_then(|mut s| s.query_map(params![Project::shared().id, limit], known_from_row)?.collect()),
        )
    }

    /// Returns one project with its numbers, or `None` if nothing is stored of it.
    pub fn known_project(&self, id: &str) -> Result<Option<KnownProject>> {
        self.explain(
            self.conn
                .prepare_cached(&format!("{KNOWN} WHERE p.id = ?1"))
                .and_then(|mut s| s.query_row([id], known_from_row).optional()),
        )
    }

    /// Returns the project that a session belongs to.
    pub fn project_of_session(&self, session: &str) -> Result<Option<Project>> {
        self.explain(
            self.conn
                .prepare_cached(
                    "SELECT p.id, p.identity, p.root FROM session_history h JOIN projects p ON p.id = h.project_id
                     WHERE h.session_id = ?1
                       AND NOT EXISTS (SELECT 1 FROM session_context c WHERE c.session_id = ?1 AND c.moment = 'import')",
                )
                .and_then(|mut s| s.query_row([session], from_row).optional()),
        )
    }
}

/// Selects projects with their numbers. Whole rows would have to be read to see which memories were folded into a digest: these
/// have an index.
const KNOWN: &str = "
    WITH folded AS (SELECT project, count(*) AS n, sum(type = 'turn') AS turns FROM memories WHERE digest IS NOT NULL
                    GROUP BY project)
    SELECT id, identity, root,
           (SELECT count(*) FROM session_history h WHERE h.project_id = p.id),
           (SELECT count(*) FROM memories m WHERE m.project = p.number)
               - COALESCE((SELECT n FROM folded WHERE folded.project = p.number), 0),
           (SELECT count(*) FROM memories m WHERE m.project = p.number AND m.type = 'turn')
               - COALESCE((SELECT turns FROM folded WHERE folded.project = p.number), 0),
           max(COALESCE((SELECT max(ended_at) FROM session_history h WHERE h.project_id = p.id), 0),
               COALESCE((SELECT max(timestamp) FROM events e WHERE e.project_id = p.id), 0)) AS last_at
    FROM projects p";

fn known_from_row(row: &Row<'_>) -> rusqlite::Result<KnownProject> {
    let turns = time_from_sql(row.get(5)?);
    Ok(KnownProject {
        project: from_row(row)?,
        sessions: time_from_sql(row.get(3)?),
        memories: time_from_sql(row.get(4)?).saturating_sub(turns),
        turns,
        last_at: Some(time_from_sql(row.get(6)?)).filter(|at| *at > 0),
    })
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
