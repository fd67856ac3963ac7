//! Memories that the user shared with all projects: copies in a special project without a folder, each learned from its
//! origin.
//!
//! That a copy was learned from an origin is an occurrence like any other, with no session and the origin's identifier
//! as its key. So a copy with two origins is one memory, and a copy that loses its last origin is removed: deleting,
//! forgetting or retracting a memory also removes its shared copy.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension, params};
use serde::Serialize;

use super::memories::{self, COLUMNS, Knowledge, OWN_POLICY, PutOutcome, from_row, take_back};
use super::{Result, Store, digests, from_json_or_default, json, projects};
use throughline_model::contract::{Attribute, Draft, Memory, Origin};
use throughline_model::project::Project;

/// The attribute that names the memory that this one was copied from.
pub const SHARED_FROM: &str = "shared-from";

/// The key prefix of copies' occurrences, which have no session; the origin's identifier follows.
const KEY: &str = "shared:";

/// How many projects must have learned something before sharing it is suggested.
pub(crate) const MIN_PROJECTS_TO_SUGGEST: usize = 3;

/// Something that several projects learned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Suggestion {
    /// The memory to share.
    pub id: String,
    /// The kind: `failure`, `error_fix` or `preference`.
    #[serde(rename = "type")]
    pub kind: String,
    /// What it says.
    pub title: String,
    /// The root folders of the projects that learned it.
    pub projects: Vec<String>,
}

impl Store {
    /// Shares a memory with all projects. Returns the copy's identifier, or `None` if there is no such memory or it is
    /// itself a copy.
    pub fn share(&mut self, id: &str, now: u64) -> Result<Option<String>> {
        self.write(|tx| {
            let origin: Option<i64> = tx
                .query_row(
                    "SELECT rowid FROM memories WHERE id = ?1 AND project_id <> ?2",
                    [id, &Project::shared().id],
                    |row| row.get(0),
                )
                .optional()?;
            origin.map(|origin| share(tx, origin, now)).transpose()
        })
    }

    /// Stops sharing a memory; `id` is the origin's or the copy's. Returns false if it was not shared.
    pub fn unshare(&mut self, id: &str) -> Result<bool> {
        self.write(|tx| {
            let keys: Vec<String> = tx
                .prepare(
                    "SELECT s.key FROM sightings s JOIN memories m ON m.rowid = s.memory
                     WHERE s.session_id = '' AND m.project_id = ?2 AND (s.key = ?3 || ?1 OR m.id = ?1)",
                )?
                .query_map([id, &Project::shared().id, KEY], |row| row.get(0))?
                .collect::<rusqlite::Result<_>>()?;
            keys.iter().try_for_each(|key| remove_copy(tx, key))?;
            Ok(!keys.is_empty())
        })
    }

    /// Returns whether a memory is shared with all projects; `id` is the origin's or the copy's.
    pub fn is_shared(&self, id: &str) -> Result<bool> {
        self.explain(
            self.conn
                .prepare_cached(
                    "SELECT 1 FROM memories m WHERE m.id = ?1 AND (m.project_id = ?2
                       OR EXISTS (SELECT 1 FROM sightings s WHERE s.session_id = '' AND s.key = ?3 || m.id))",
                )
                .and_then(|mut s| s.exists([id, &Project::shared().id, KEY])),
        )
    }

    /// Returns what several projects learned separately and nobody has shared yet: failures with one signature, and
    /// preferences with the same text, ignoring case, white space and punctuation.
    pub fn suggestions(&self) -> Result<Vec<Suggestion>> {
        self.explain(suggestions(&self.conn))
    }

    /// Drops shared memories that the project also has as its own.
    pub(super) fn shared_of(&self, memories: Vec<Memory>, project: &str) -> Result<Vec<Memory>> {
        self.explain(
            memories
                .into_iter()
                .filter_map(|copy| match is_known(&self.conn, &copy.id, project) {
                    Ok(true) => None,
                    Ok(false) => Some(Ok(copy)),
                    Err(error) => Some(Err(error)),
                })
                .collect(),
        )
    }

    /// Returns what applies to a project as a whole, including shared memories, newest first.
    pub fn knowledge_with_shared(&self, project: &str, limit: u32) -> Result<Vec<Knowledge>> {
        let mut known = self.knowledge(project, limit)?;
        for shared in self.knowledge(&Project::shared().id, limit)? {
            if !known.iter().any(|own| own.content == shared.content) {
                known.push(shared);
            }
        }
        known.sort_by_key(|known| std::cmp::Reverse(known.updated));
        known.truncate(limit as usize);
        Ok(known)
    }
}

/// Returns whether the project has the content of the copy as its own memory.
pub(super) fn is_known(conn: &Connection, copy: &str, project: &str) -> rusqlite::Result<bool> {
    // A note's hash differs from its copy's, because it includes the title.
    conn.prepare_cached(
        "SELECT 1 FROM memories c JOIN memories o ON o.content_hash = c.content_hash WHERE c.id = ?1 AND o.project_id = ?2 AND o.digest IS NULL
         UNION ALL
         SELECT 1 FROM memories c JOIN sightings s ON s.memory = c.rowid AND s.session_id = '' AND s.key LIKE 'shared:%'
                  JOIN memories o ON o.id = substr(s.key, 8) WHERE c.id = ?1 AND o.project_id = ?2",
    )?
    .exists([copy, project])
}

/// Makes a copy of a memory, or adds the memory as another origin of an existing copy.
pub(super) fn share(tx: &Connection, origin: i64, now: u64) -> rusqlite::Result<String> {
    // A shared memory must be searchable.
    digests::revive(tx, origin, None)?;
    let memory =
        tx.prepare_cached(&format!("SELECT {COLUMNS} FROM memories m WHERE m.rowid = ?1"))?.query_row([origin], from_row)?;
    let project = Project::shared();
    projects::put(tx, &project, now)?;
    let draft = Draft {
        key: Some(format!("{KEY}{}", memory.id)),
        kind: memory.kind,
        title: memory.title,
        content: memory.content,
        keywords: memory.keywords,
        files: memory.files,
        importance: memory.importance,
        origin: Origin { line_uuid: None, at: Some(memory.created) },
        attributes: memory.attributes,
    };
    let hash = memories::content_hash(&draft);
    // Sharing overrides an earlier deletion of the copy.
    tx.execute("DELETE FROM tombstones WHERE project_id = ?1 AND content_hash = ?2", params![project.id, hash])?;
    let put = memories::put(tx, &project.id, "", &draft, OWN_POLICY, now)?;
    debug_assert_ne!(put, PutOutcome::Forgotten);
    let (copy, id): (i64, String) = tx.query_row(
        "SELECT rowid, id FROM memories WHERE project_id = ?1 AND content_hash = ?2",
        params![project.id, hash],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    name_origins(tx, copy)?;
    Ok(id)
}

/// Returns whether the memory is shared.
pub(super) fn is_shared(tx: &Connection, origin: i64) -> rusqlite::Result<bool> {
    tx.prepare_cached(
        "SELECT 1 FROM memories m JOIN sightings s ON s.session_id = '' AND s.key = ?2 || m.id WHERE m.rowid = ?1",
    )?
    .exists(params![origin, KEY])
}

/// Stops sharing a memory that is about to be deleted.
pub(super) fn stop_sharing_deleted(tx: &Connection, origin: i64) -> rusqlite::Result<()> {
    let key: Option<String> = tx
        .prepare_cached(
            "SELECT s.key FROM memories m JOIN sightings s ON s.session_id = '' AND s.key = ?2 || m.id WHERE m.rowid = ?1",
        )?
        .query_row(params![origin, KEY], |row| row.get(0))
        .optional()?;
    key.map_or(Ok(()), |key| remove_copy(tx, &key))
}

fn remove_copy(tx: &Connection, key: &str) -> rusqlite::Result<()> {
    let copy: Option<i64> = tx
        .prepare_cached("SELECT memory FROM sightings WHERE session_id = '' AND key = ?1")?
        .query_row([key], |row| row.get(0))
        .optional()?;
    take_back(tx, "", key)?;
    copy.map_or(Ok(()), |copy| name_origins(tx, copy))
}

/// Writes a copy's origins into its attributes.
fn name_origins(tx: &Connection, copy: i64) -> rusqlite::Result<()> {
    let attributes: Option<String> = tx
        .prepare_cached("SELECT metadata FROM memories WHERE rowid = ?1")?
        .query_row([copy], |row| row.get(0))
        .optional()?;
    // The copy may have been removed with its last origin.
    let Some(attributes) = attributes else { return Ok(()) };
    let mut attributes: Vec<Attribute> = from_json_or_default(&attributes);
    attributes.retain(|(name, _)| name != SHARED_FROM);
    let origins: Vec<String> = tx
        .prepare_cached(
            "SELECT substr(key, length(?2) + 1) FROM sightings WHERE memory = ?1 AND session_id = '' ORDER BY key",
        )?
        .query_map(params![copy, KEY], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    attributes.extend(origins.into_iter().map(|id| (SHARED_FROM.to_owned(), id)));
    tx.execute("UPDATE memories SET metadata = ?2 WHERE rowid = ?1", params![copy, json(&attributes)])?;
    Ok(())
}

/// The keys of copies whose origins are gone, which only damage can cause.
pub(super) const ORPHANED_COPIES_SQL: &str = "SELECT s.key FROM sightings s JOIN memories c ON c.rowid = s.memory
     JOIN projects p ON p.id = c.project_id AND p.identity = 'shared:'
     WHERE s.session_id = '' AND s.key LIKE 'shared:%'
       AND NOT EXISTS (SELECT 1 FROM memories o WHERE o.id = substr(s.key, 8))";

/// Removes such copies.
pub(super) fn remove_orphans(tx: &Connection) -> rusqlite::Result<()> {
    let keys: Vec<String> =
        tx.prepare(ORPHANED_COPIES_SQL)?.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    keys.iter().try_for_each(|key| remove_copy(tx, key))
}

fn suggestions(conn: &Connection) -> rusqlite::Result<Vec<Suggestion>> {
    /// Maps a normalized text to the projects that learned it, each with its root and the memory.
    type Groups = BTreeMap<String, BTreeMap<String, (String, Suggestion)>>;
    let mut groups = Groups::new();
    let mut select = conn.prepare(
        "SELECT 'failure ' || f.signature, m.id, m.type, m.title, p.id, p.root
         FROM failures f JOIN memories m ON m.rowid = f.memory JOIN projects p ON p.id = f.project_id
         UNION ALL
         SELECT 'preference', m.id, m.type, m.title, p.id, p.root
         FROM memories m JOIN projects p ON p.id = m.project_id
         WHERE m.type = 'preference' AND p.identity <> 'shared:'
         ORDER BY 2",
    )?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        let mut key: String = row.get(0)?;
        let suggestion = Suggestion { id: row.get(1)?, kind: row.get(2)?, title: row.get(3)?, projects: Vec::new() };
        if suggestion.kind == "preference" {
            key.push(' ');
            key.push_str(&plain(&suggestion.title));
        }
        groups.entry(key).or_default().entry(row.get(4)?).or_insert((row.get(5)?, suggestion));
    }
    let mut found = Vec::new();
    for (_, group) in groups.into_iter().filter(|(_, group)| group.len() >= MIN_PROJECTS_TO_SUGGEST) {
        let mut is_new = true;
        for (_, of) in group.values() {
            is_new &= !conn
                .prepare_cached("SELECT 1 FROM sightings WHERE session_id = '' AND key = ?2 || ?1")?
                .exists([&of.id, KEY])?;
        }
        let mut projects: Vec<String> = group.values().map(|(root, _)| root.clone()).collect();
        projects.sort();
        // Prefer a failure that says how it was fixed.
        let best = group.into_values().map(|(_, of)| of).max_by_key(|of| of.kind == "error_fix");
        found.extend(best.filter(|_| is_new).map(|of| Suggestion { projects, ..of }));
    }
    found.sort_by(|a, b| b.projects.len().cmp(&a.projects.len()).then_with(|| a.id.cmp(&b.id)));
    Ok(found)
}

/// Returns the words of a text in lower case.
fn plain(text: &str) -> String {
    let text = super::text::folded(text);
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}
