//! Reads memories, what applies to a project as a whole, and how much is stored.

use rusqlite::{Connection, OptionalExtension, Row, params};
use throughline_model::contract::{Memory, SessionNotes};
use throughline_model::project::Project;

use super::filter::MemoryFilter;
use super::record::{COLUMNS, Knowledge, MemoryRecord, record_from_row};
use crate::{Result, Store, digests, from_json_or_default, projects, time_from_sql};

/// Kinds that apply to the project as a whole; the view `project_knowledge` lists them.
const KNOWLEDGE_KINDS: &[&str] = &["architecture", "pattern", "convention", "preference"];

/// How much is stored.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Stats {
    /// Memories, without those that were folded into a digest.
    pub memories: u64,
    /// Memories that were folded into a digest.
    pub compressed: u64,
    /// Digests, which are memories too.
    pub digests: u64,
    /// Sessions.
    pub sessions: u64,
    /// Events.
    pub events: u64,
    /// Memories of each type, the most frequent first; in JSON an object.
    #[serde(serialize_with = "as_object")]
    #[cfg_attr(feature = "schema", schemars(with = "std::collections::BTreeMap<String, u64>"))]
    pub types: Vec<(String, u64)>,
    /// Projects.
    pub projects: u64,
    /// The size of the database without its WAL, in bytes.
    pub bytes: u64,
}

fn as_object<S: serde::Serializer>(types: &[(String, u64)], to: S) -> std::result::Result<S::Ok, S::Error> {
    to.collect_map(types.iter().map(|(kind, number)| (kind, number)))
}

impl Store {
    /// Returns the kinds of a project's memories except archived turns, with one index step each.
    pub(crate) fn kinds(&self, project: &str) -> Result<Vec<String>> {
        self.explain((|| {
            let mut next = self
                .conn
                .prepare_cached("SELECT type FROM memories WHERE project = ?1 AND type > ?2 ORDER BY type LIMIT 1")?;
            let Some(project) = projects::number(&self.conn, project)? else { return Ok(Vec::new()) };
            let mut kinds: Vec<String> = Vec::new();
            let mut last = String::new();
            while let Some(kind) = next.query_row(params![project, last], |row| row.get::<_, String>(0)).optional()? {
                if kind != "turn" {
                    kinds.push(kind.clone());
                }
                last = kind;
            }
            Ok(kinds)
        })())
    }

    /// Returns the kinds of the stored memories in alphabetic order: of one project and of shared memories, or of all projects.
    pub fn stored_kinds(&self, project: Option<&str>) -> Result<Vec<String>> {
        self.explain(
            self.conn
                .prepare_cached(
                    "SELECT DISTINCT type FROM memories WHERE ?1 IS NULL OR project_id IN (?1, ?2) ORDER BY type",
                )
                .and_then(|mut s| s.query_map(params![project, Project::shared().id], |row| row.get(0))?.collect()),
        )
    }

    /// Returns the root folder of each memory's project, in the order of `memories`; empty if there is no such memory.
    pub fn project_roots(&self, memories: &[Memory]) -> Result<Vec<String>> {
        self.explain(
            self.conn
                .prepare_cached("SELECT p.root FROM memories m JOIN projects p ON p.id = m.project_id WHERE m.id = ?1")
                .and_then(|mut s| {
                    memories
                        .iter()
                        .map(|memory| Ok(s.query_row([&memory.id], |row| row.get(0)).optional()?.unwrap_or_default()))
                        .collect()
                }),
        )
    }

    /// Returns the memory whose identifier is `id` or begins with it; at most two, so that the caller can tell when the
    /// prefix is ambiguous. A memory whose text was purged gets its line in the digest as its title.
    pub fn memory(&self, id: &str, project: Option<&str>) -> Result<Vec<MemoryRecord>> {
        let mut all = self.memory_as_stored(id, project)?;
        for found in all.iter_mut().filter(|found| found.memory.title.is_empty() && found.digest.is_some()) {
            let line = self.explain(digests::line_of(&self.conn, &found.memory.id))?;
            found.memory.title = line.unwrap_or_default();
        }
        Ok(all)
    }

    fn memory_as_stored(&self, id: &str, project: Option<&str>) -> Result<Vec<MemoryRecord>> {
        self.explain(
            self.conn
                .prepare_cached(&format!(
                    "SELECT {COLUMNS}, p.root, a.policy, a.digest, m.access_count,
                            (SELECT line_uuid FROM sightings s WHERE s.memory = m.rowid AND line_uuid IS NOT NULL ORDER BY at LIMIT 1),
                            (SELECT id FROM memories d WHERE d.rowid = m.digest)
                     FROM memories m JOIN projects p ON p.id = m.project_id JOIN makers a ON a.number = m.maker
                     WHERE m.id >= ?1 AND m.id < ?1 || 'g' AND (?2 IS NULL OR m.project_id = ?2) LIMIT 2"
                ))
                .and_then(|mut s| s.query_map(params![id, project], record_from_row)?.collect()),
        )
    }

    /// Returns what applies to a project as a whole, newest first.
    pub fn knowledge(&self, project: &str, limit: u32) -> Result<Vec<Knowledge>> {
        let kinds = KNOWLEDGE_KINDS.iter().map(|&kind| kind.to_owned()).collect();
        let filter = MemoryFilter { project: Some(project.to_owned()), kinds, current: true, ..MemoryFilter::default() };
        let known = self.recent(&filter, limit)?;
        Ok(known
            .into_iter()
            .map(|mut memory| {
                memory.name_colleague();
                memory
            })
            .map(|memory| Knowledge {
                kind: memory.kind,
                file: memory.files.into_iter().next(),
                content: memory.title,
                importance: memory.importance,
                updated: memory.created,
            })
            .collect())
    }

    /// Returns the notes of a session as they were last saved.
    pub fn notes(&self, session: &str) -> Result<Option<SessionNotes>> {
        self.explain(
            self.conn
                .prepare_cached("SELECT notes FROM session_context WHERE session_id = ?1")
                .and_then(|mut s| s.query_row([session], |row| row.get::<_, String>(0)).optional()),
        )?
        .map(|notes| {
            let mut notes = from_json_or_default(&notes);
            self.leave_out_wrong(session, &mut notes)?;
            Ok(notes)
        })
        .transpose()
    }

    /// Returns how much is stored, in one project or in all.
    pub fn stats(&self, project: Option<&str>) -> Result<Stats> {
        self.explain((|| {
            let count = |sql: &str| -> rusqlite::Result<u64> {
                self.conn.query_row(sql, params![project], |row| row.get::<_, i64>(0)).map(time_from_sql)
            };
            // An unknown project has no memories.
            let number = project.map(|project| projects::number(&self.conn, project)).transpose()?.map(|it| it.unwrap_or(-1));
            let condition = if number.is_some() { "project = ?1" } else { "?1 IS NULL" };
            let mut types = count_kinds(&self.conn, condition, number)?;
            types.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
            Ok(Stats {
                memories: types.iter().map(|(_, number)| number).sum(),
                compressed: self
                    .conn
                    .query_row(
                        &format!("SELECT count(*) FROM memories WHERE digest IS NOT NULL AND {condition}"),
                        [number],
                        |row| row.get::<_, i64>(0),
                    )
                    .map(time_from_sql)?,
                digests: count(
                    "SELECT count(*) FROM digests d JOIN memories m ON m.rowid = d.memory WHERE ?1 IS NULL OR m.project_id = ?1",
                )?,
                sessions: count("SELECT count(*) FROM session_history WHERE ?1 IS NULL OR project_id = ?1")?,
                events: count("SELECT count(*) FROM events WHERE ?1 IS NULL OR project_id = ?1")?,
                projects: count("SELECT count(*) FROM projects WHERE ?1 IS NULL OR id = ?1")?,
                types,
                bytes: self
                    .conn
                    .query_row("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size", [], |row| {
                        row.get::<_, i64>(0)
                    })
                    .map(time_from_sql)?,
            })
        })())
    }
}

/// Returns the number of memories of each kind, without those that were folded into a digest, in alphabetic order. The condition is
/// about the project's number `?1`.
pub(crate) fn count_kinds(conn: &Connection, condition: &str, number: Option<i64>) -> rusqlite::Result<Vec<(String, u64)>> {
    // Whole rows would have to be read to see which memories were folded into a digest. These are few, and have an index.
    let sql = format!(
        "SELECT type, sum(n) FROM (
             SELECT type, count(*) AS n FROM memories WHERE {condition} GROUP BY type
             UNION ALL
             SELECT type, -count(*) FROM memories WHERE digest IS NOT NULL AND {condition} GROUP BY type)
         GROUP BY type HAVING sum(n) > 0 ORDER BY type"
    );
    let count = |row: &Row<'_>| Ok((row.get(0)?, time_from_sql(row.get(1)?)));
    conn.prepare_cached(&sql)?.query_map([number], count)?.collect()
}
