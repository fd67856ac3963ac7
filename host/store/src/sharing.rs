//! Memories that a person shared with all projects: copies in a project of no folder, each learned from its origin.
//!
//! That a copy was learned from an origin is a sighting like any other, of no session and under the origin's identifier. So a
//! copy with two origins is one memory, and one that loses its last origin is gone: whoever deletes, forgets or retracts a memory
//! does so with what was shared of it.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension, params};
use serde::Serialize;

use super::memories::{self, COLUMNS, Knowledge, Put, from_row, retract};
use super::{Result, Store, digests, json, projects, unjson};
use crate::failures::MAKER;
use throughline_model::contract::{Attribute, Draft, Memory, Origin};
use throughline_model::project::Project;

/// The attribute that names the memory of which this one is a copy.
pub const SHARED_FROM: &str = "shared-from";

/// The sightings of copies have no session, and this before the origin's identifier as their key.
const KEY: &str = "shared:";

/// How many projects must have seen something before it is suggested.
pub const SUGGESTED_FROM: usize = 3;

/// Something that several projects learned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Suggestion {
    /// The memory to share.
    pub id: String,
    /// `failure`, `error_fix` or `preference`.
    #[serde(rename = "type")]
    pub kind: String,
    /// What it says.
    pub title: String,
    /// The root folders of the projects that learned it.
    pub projects: Vec<String>,
}

impl Store {
    /// Shares a memory with all projects. Returns the copy's identifier; none where there is no such memory, or it is a copy.
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

    /// Takes back that a memory was shared; `id` is the origin's or the copy's. False: it was not.
    pub fn unshare(&mut self, id: &str) -> Result<bool> {
        self.write(|tx| {
            let keys: Vec<String> = tx
                .prepare(
                    "SELECT s.key FROM sightings s JOIN memories m ON m.rowid = s.memory
                     WHERE s.session_id = '' AND m.project_id = ?2 AND (s.key = ?3 || ?1 OR m.id = ?1)",
                )?
                .query_map([id, &Project::shared().id, KEY], |row| row.get(0))?
                .collect::<rusqlite::Result<_>>()?;
            keys.iter().try_for_each(|key| take_back(tx, key))?;
            Ok(!keys.is_empty())
        })
    }

    /// What several projects learned, each by itself, and nobody shared yet: failures of one signature, and preferences that say
    /// the same, the case of letters, white space and punctuation aside.
    pub fn suggestions(&self) -> Result<Vec<Suggestion>> {
        self.explain(suggestions(&self.conn))
    }

    /// What holds for all projects because somebody shared it.
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

    /// What holds for a project as a whole, and what was shared with it, newest first.
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

/// Whether the project knows what the copy says by itself.
pub(super) fn is_known(conn: &Connection, copy: &str, project: &str) -> rusqlite::Result<bool> {
    // A note's hash is not that of its copy: its title counts too.
    conn.prepare_cached(
        "SELECT 1 FROM memories c JOIN memories o ON o.content_hash = c.content_hash WHERE c.id = ?1 AND o.project_id = ?2 AND o.digest IS NULL
         UNION ALL
         SELECT 1 FROM memories c JOIN sightings s ON s.memory = c.rowid AND s.session_id = '' AND s.key LIKE 'shared:%'
                  JOIN memories o ON o.id = substr(s.key, 8) WHERE c.id = ?1 AND o.project_id = ?2",
    )?
    .exists([copy, project])
}

/// Makes the copy of a memory, or counts the memory as another origin of it.
pub(super) fn share(tx: &Connection, origin: i64, now: u64) -> rusqlite::Result<String> {
    // Whoever shares it wants it to be found.
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
    // Whoever shares it wants it, though the copy was deleted once.
    tx.execute("DELETE FROM tombstones WHERE project_id = ?1 AND content_hash = ?2", params![project.id, hash])?;
    let put = memories::put(tx, &project.id, "", &draft, MAKER, now)?;
    debug_assert_ne!(put, Put::Forgotten);
    let (copy, id): (i64, String) = tx.query_row(
        "SELECT rowid, id FROM memories WHERE project_id = ?1 AND content_hash = ?2",
        params![project.id, hash],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    name_origins(tx, copy)?;
    Ok(id)
}

/// Whether the memory is shared.
pub(super) fn is_shared(tx: &Connection, origin: i64) -> rusqlite::Result<bool> {
    tx.prepare_cached(
        "SELECT 1 FROM memories m JOIN sightings s ON s.session_id = '' AND s.key = ?2 || m.id WHERE m.rowid = ?1",
    )?
    .exists(params![origin, KEY])
}

/// Takes back what was shared of a memory that is about to go.
pub(super) fn origin_goes(tx: &Connection, origin: i64) -> rusqlite::Result<()> {
    let key: Option<String> = tx
        .prepare_cached(
            "SELECT s.key FROM memories m JOIN sightings s ON s.session_id = '' AND s.key = ?2 || m.id WHERE m.rowid = ?1",
        )?
        .query_row(params![origin, KEY], |row| row.get(0))
        .optional()?;
    key.map_or(Ok(()), |key| take_back(tx, &key))
}

fn take_back(tx: &Connection, key: &str) -> rusqlite::Result<()> {
    let copy: Option<i64> = tx
        .prepare_cached("SELECT memory FROM sightings WHERE session_id = '' AND key = ?1")?
        .query_row([key], |row| row.get(0))
        .optional()?;
    retract(tx, "", key)?;
    copy.map_or(Ok(()), |copy| name_origins(tx, copy))
}

/// Writes into a copy's attributes what it is a copy of.
fn name_origins(tx: &Connection, copy: i64) -> rusqlite::Result<()> {
    let attributes: Option<String> = tx
        .prepare_cached("SELECT metadata FROM memories WHERE rowid = ?1")?
        .query_row([copy], |row| row.get(0))
        .optional()?;
    // It may have gone with its last origin.
    let Some(attributes) = attributes else { return Ok(()) };
    let mut attributes: Vec<Attribute> = unjson(&attributes);
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

/// The keys of copies whose origins are gone, which nothing but damage can bring about.
pub(super) const ORPHANS: &str = "SELECT s.key FROM sightings s JOIN memories c ON c.rowid = s.memory
     JOIN projects p ON p.id = c.project_id AND p.identity = 'shared:'
     WHERE s.session_id = '' AND s.key LIKE 'shared:%'
       AND NOT EXISTS (SELECT 1 FROM memories o WHERE o.id = substr(s.key, 8))";

/// Takes such copies away.
pub(super) fn remove_orphans(tx: &Connection) -> rusqlite::Result<()> {
    let keys: Vec<String> = tx.prepare(ORPHANS)?.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    keys.iter().try_for_each(|key| take_back(tx, key))
}

fn suggestions(conn: &Connection) -> rusqlite::Result<Vec<Suggestion>> {
    /// What says the same, and who said it: the project with its root, and the memory.
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
    for (_, group) in groups.into_iter().filter(|(_, group)| group.len() >= SUGGESTED_FROM) {
        let mut is_new = true;
        for (_, of) in group.values() {
            is_new &= !conn
                .prepare_cached("SELECT 1 FROM sightings WHERE session_id = '' AND key = ?2 || ?1")?
                .exists([&of.id, KEY])?;
        }
        let mut projects: Vec<String> = group.values().map(|(root, _)| root.clone()).collect();
        projects.sort();
        // Of a failure, the one that says what helped.
        let best = group.into_values().map(|(_, of)| of).max_by_key(|of| of.kind == "error_fix");
        found.extend(best.filter(|_| is_new).map(|of| Suggestion { projects, ..of }));
    }
    found.sort_by(|a, b| b.projects.len().cmp(&a.projects.len()).then_with(|| a.id.cmp(&b.id)));
    Ok(found)
}

/// The words of a text in lower case.
fn plain(text: &str) -> String {
    let text = super::folded(text);
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}
