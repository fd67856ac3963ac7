//! Which memories of a project are new since it was last looked through for what is shared.

use rusqlite::{Connection, OptionalExtension, params};

use crate::memories::{COLUMNS, from_row};
use crate::supersessions::stated_by;
use crate::{Result, Store, projects, time, time_from_sql};
use throughline_model::contract::Memory;

/// How a project is recognized on other machines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TeamProject {
    /// The project's identifier.
    pub project: String,
    /// Its key; empty if it cannot be recognized elsewhere.
    pub key: String,
    /// When that was looked up.
    pub checked_at: u64,
    /// The rules that it was looked through with; empty if it was not.
    pub rules: String,
}

/// A memory that could be shared.
#[derive(Debug, Clone, PartialEq)]
pub struct Shareable {
    /// The memory.
    pub memory: Memory,
    /// The item and the revisions that it continues, if an earlier text of it was shared.
    pub continues: Option<(String, Vec<String>)>,
    /// Whether a person had edited the text that was shared.
    pub was_edited: bool,
    /// The items of memories that a person or an agent said it replaces, and how.
    pub supersedes: Vec<(String, String)>,
}

impl Store {
    /// Returns how the projects are recognized on other machines.
    pub fn team_projects(&self) -> Result<Vec<TeamProject>> {
        self.explain(self.conn.prepare_cached("SELECT project_id, key, checked_at, rules FROM team_projects").and_then(
            |mut s| {
                s.query_map([], |row| {
                    Ok(TeamProject {
                        project: row.get(0)?,
                        key: row.get(1)?,
                        checked_at: row.get(2).map(time_from_sql)?,
                        rules: row.get(3)?,
                    })
                })?
                .collect()
            },
        ))
    }

    /// Records how projects are recognized. What waited for one of them is read again.
    pub fn put_team_projects(&mut self, known: &[TeamProject], is_for: impl Fn(&str) -> bool) -> Result<()> {
        self.write(|tx| {
            for it in known {
                tx.prepare_cached(
                    "INSERT INTO team_projects (project_id, key, checked_at) VALUES (?1, ?2, ?3)
                     ON CONFLICT (project_id) DO UPDATE SET key = ?2, checked_at = ?3",
                )?
                .execute(params![it.project, it.key, time(it.checked_at)])?;
            }
            super::incoming::read_again(tx, |what| is_for(what))
        })
    }

    /// Returns up to `limit` memories of a project that were stored since it was last looked through with these rules, and
    /// those whose shared text changed, and the mark for [`Store::team_stage`]. Rows that came from the team are not
    /// among them.
    pub fn team_shareable(&self, project: &str, rules: &str, limit: u32) -> Result<(Vec<Shareable>, i64)> {
        self.explain(shareable(&self.conn, project, rules, limit))
    }
}

fn shareable(conn: &Connection, project: &str, rules: &str, limit: u32) -> rusqlite::Result<(Vec<Shareable>, i64)> {
    let Some(number) = projects::number(conn, project)? else { return Ok((Vec::new(), 0)) };
    let first = number << crate::extent::ROW_BITS;
    let scanned: Option<i64> = conn
        .prepare_cached("SELECT scanned FROM team_projects WHERE project_id = ?1 AND rules = ?2")?
        .query_row([project, rules], |row| row.get(0))
        .optional()?;
    let scanned = scanned.unwrap_or(0).max(first);
    let mut found = Vec::new();
    let mut mark = scanned;
    let mut select = conn.prepare_cached(&format!(
        "SELECT {COLUMNS}, m.rowid FROM memories m
         WHERE m.rowid > ?1 AND m.rowid <= ?2 AND m.digest IS NULL
           AND NOT EXISTS (SELECT 1 FROM digests d WHERE d.memory = m.rowid)
           AND NOT EXISTS (SELECT 1 FROM team_records r WHERE r.memory = m.rowid)
         ORDER BY m.rowid LIMIT ?3"
    ))?;
    let rows = select.query_map(params![scanned, first | ((1 << crate::extent::ROW_BITS) - 1), limit], |row| {
        Ok((from_row(row)?, row.get::<_, i64>(11)?))
    })?;
    for row in rows {
        let (memory, rowid) = row?;
        mark = rowid;
        found.push(Shareable { supersedes: superseded_items(conn, rowid)?, memory, continues: None, was_edited: false });
    }
    let mut select = conn.prepare_cached(&format!(
        "SELECT {COLUMNS}, m.rowid, r.item, max(r.edited) FROM team_records r JOIN memories m ON m.rowid = r.memory
         WHERE r.changed AND r.project_id = ?1 AND r.state <> 'dropped' GROUP BY m.rowid, r.item"
    ))?;
    let rows = select.query_map([project], |row| {
        Ok((from_row(row)?, row.get::<_, i64>(11)?, row.get::<_, String>(12)?, row.get::<_, bool>(13)?))
    })?;
    for row in rows {
        let (memory, rowid, item, was_edited) = row?;
        let replaces = conn
            .prepare_cached(
                "SELECT hash FROM team_records WHERE memory = ?1 AND item = ?2 AND state IN ('queued', 'sent') ORDER BY number",
            )?
            .query_map(params![rowid, item], |row| row.get(0))?
            .collect::<rusqlite::Result<_>>()?;
        let supersedes = superseded_items(conn, rowid)?;
        found.push(Shareable { memory, continues: Some((item, replaces)), was_edited, supersedes });
    }
    Ok((found, mark))
}

/// Returns the items of the memories that somebody said this one replaces.
fn superseded_items(conn: &Connection, rowid: i64) -> rusqlite::Result<Vec<(String, String)>> {
    let mut items = Vec::new();
    for (older, relation) in stated_by(conn, rowid)? {
        let mut select = conn.prepare_cached("SELECT DISTINCT item FROM team_records WHERE memory = ?1")?;
        for item in select.query_map([older], |row| row.get::<_, String>(0))? {
            items.push((item?, relation.clone()));
        }
    }
    Ok(items)
}
