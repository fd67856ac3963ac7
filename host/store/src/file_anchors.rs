//! Table `file_anchors`: how the files were that a session's memories are about, when the session was last read.
//!
//! A later hook compares a file with its anchor, to say that it has changed since. The table has no text: paths and quoted words are
//! hashed. Who makes and compares anchors is not the store's concern.

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::{Result, Store, time, time_from_sql};
use throughline_model::contract::Memory;
use throughline_model::digest::sha256_parts;

/// How a file was.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileAnchor {
    /// What [`file_key`] returns for its path.
    pub file: FileKey,
    /// When it was so, milliseconds since the Unix epoch.
    pub at: u64,
    /// How many lines it had.
    pub lines: u32,
    /// A sketch of its lines.
    pub sketch: Vec<u8>,
    /// Hashes of the quotations in the session's memories that the file contained.
    pub words: Vec<u32>,
}

/// Identifies a file within a project.
pub type FileKey = [u8; 8];

/// Returns the key of a file, given by its path relative to the project's root.
pub fn file_key(path: &str) -> FileKey {
    let mut key = FileKey::default();
    key.copy_from_slice(&sha256_parts(&["file", path])[..8]);
    key
}

/// Reads the columns path, at, lines, sketch and words.
fn from_row(row: &Row<'_>) -> rusqlite::Result<FileAnchor> {
    let words: Vec<u8> = row.get(4)?;
    Ok(FileAnchor {
        file: row.get(0)?,
        at: time_from_sql(row.get(1)?),
        lines: row.get(2)?,
        sketch: row.get(3)?,
        words: words.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect(),
    })
}

impl Store {
    /// Returns how the file was when a session that learned the memory was last read; the latest of several. `None` if no session
    /// saw the file. A forked session, which has a copy of the line, learned nothing.
    pub fn file_anchor(&self, memory: &Memory, file: FileKey) -> Result<Option<FileAnchor>> {
        // A hook asks this for many files. Most memories were learned in one place, and then the table is all that must be read.
        let found = if memory.seen == 1 {
            self.anchor_of_session(&memory.session_id, file)
        } else {
            self.latest_anchor(&memory.id, file)
        };
        self.explain(found)
    }

    fn anchor_of_session(&self, session: &str, file: FileKey) -> rusqlite::Result<Option<FileAnchor>> {
        self.conn
            .prepare_cached("SELECT path, at, lines, sketch, words FROM file_anchors WHERE session_id = ?1 AND path = ?2")?
            .query_row(params![session, file], from_row)
            .optional()
    }

    fn latest_anchor(&self, memory: &str, file: FileKey) -> rusqlite::Result<Option<FileAnchor>> {
        self.conn
            // The order of the tables is given and nothing is sorted: the columns beside `max` are those of its row, and without
            // a row it is null.
            .prepare_cached(
                "SELECT a.path, max(a.at), a.lines, a.sketch, a.words FROM sightings s
                 CROSS JOIN file_anchors a ON a.session_id = s.session_id AND a.path = ?2
                 WHERE s.memory = (SELECT rowid FROM memories WHERE id = ?1)",
            )?
            .query_row(params![memory, file], |row| row.get::<_, Option<i64>>(1)?.map(|_| from_row(row)).transpose())
    }

    /// Returns all anchors of a session.
    pub fn file_anchors(&self, session: &str) -> Result<Vec<FileAnchor>> {
        self.explain(
            self.conn
                .prepare_cached("SELECT path, at, lines, sketch, words FROM file_anchors WHERE session_id = ?1")
                .and_then(|mut s| s.query_map([session], from_row)?.collect()),
        )
    }
}

/// Stores the anchors of a session, in place of earlier ones of the same files.
pub(super) fn put(tx: &Connection, session: &str, anchors: &[FileAnchor]) -> rusqlite::Result<()> {
    for anchor in anchors {
        let words: Vec<u8> = anchor.words.iter().flat_map(|word| word.to_le_bytes()).collect();
        tx.prepare_cached(
            "INSERT INTO file_anchors (session_id, path, at, lines, sketch, words) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
             ON CONFLICT DO UPDATE SET at = ?3, lines = ?4, sketch = ?5, words = ?6",
        )?
        .execute(params![session, anchor.file, time(anchor.at), anchor.lines, anchor.sketch, words])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Selection;
    use crate::forgotten::Fate;
    use crate::tests::{draft, fixture, project};

    fn anchor(path: &str, at: u64) -> FileAnchor {
        FileAnchor { file: file_key(path), at, lines: 3, sketch: vec![1, 0, 7], words: vec![9, u32::MAX] }
    }

    #[test]
    fn the_latest_anchor_of_any_session_that_learned_it_counts() {
        let mut it = fixture();
        let project = project("a");
        for session in ["s1", "s2", "s3"] {
            it.commit(&project, session, &[draft(None, "Ports are in src/net.rs", session)], &[]);
        }
        it.commit(&project, "s4", &[draft(None, "Tests are slow", "s4")], &[]);
        let memories = it.store.recent(&crate::MemoryFilter::default(), 10).unwrap();
        let about = |what: &str| memories.iter().find(|memory| memory.content.contains(what)).unwrap();
        let found = |it: &crate::tests::Fixture, path: &str| it.store.file_anchor(about("Ports"), file_key(path)).unwrap();
        assert_eq!(found(&it, "src/net.rs"), None);
        put(&it.store.conn, "s1", &[anchor("src/net.rs", 10), anchor("src/a.rs", 10)]).unwrap();
        put(&it.store.conn, "s2", &[anchor("src/net.rs", 20)]).unwrap();
        put(&it.store.conn, "s4", &[anchor("src/net.rs", 40)]).unwrap();
        assert_eq!(found(&it, "src/net.rs"), Some(anchor("src/net.rs", 20)));
        put(&it.store.conn, "s1", &[anchor("src/net.rs", 30)]).unwrap();
        assert_eq!(found(&it, "src/net.rs"), Some(anchor("src/net.rs", 30)));
        assert_eq!(it.store.file_anchors("s1").unwrap().len(), 2);
        // And of one that a single session learned, the session's own.
        assert_eq!(it.store.file_anchor(about("Tests"), file_key("src/net.rs")).unwrap(), Some(anchor("src/net.rs", 40)));
        assert_eq!(it.store.file_anchor(about("Tests"), file_key("src/a.rs")).unwrap(), None);
    }

    #[test]
    fn a_forgotten_session_has_no_anchors() {
        let mut it = fixture();
        let project = project("a");
        for session in ["s1", "s2"] {
            it.commit(&project, session, &[draft(None, session, session)], &[]);
            put(&it.store.conn, session, &[anchor("src/net.rs", 10)]).unwrap();
        }
        let selection = Selection { session: Some("s1".into()), ..Selection::default() };
        it.store.forget(&selection, 5_000, Fate::Erased).unwrap();
        assert_eq!(it.store.file_anchors("s1").unwrap(), []);
        assert_eq!(it.store.file_anchors("s2").unwrap().len(), 1);
    }
}
