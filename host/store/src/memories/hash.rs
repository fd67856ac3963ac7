//! The hash by which memories are deduplicated.

use rusqlite::ToSql;
use rusqlite::types::{ToSqlOutput, ValueRef};
use throughline_model::contract::Draft;
use throughline_model::digest::{hex, sha256_parts};

/// The SHA-256 by which memories of a project are deduplicated. The database stores its first half.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ContentHash([u8; 32]);

impl ContentHash {
    /// How many bytes the database stores. That is enough: no two contents of a project collide by chance, and nobody
    /// has made two that do.
    const STORED: usize = 16;

    /// Hashes the parts of a text.
    pub(crate) fn of(parts: &[&str]) -> Self {
        Self(sha256_parts(parts))
    }

    /// Returns the first `bytes` of all 32 in hexadecimal.
    pub(crate) fn hex(&self, bytes: usize) -> String {
        hex(&self.0[..bytes])
    }
}

impl ToSql for ContentHash {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(ValueRef::Blob(&self.0[..Self::STORED])))
    }
}

/// Returns the hash by which memories are deduplicated.
pub(crate) fn content_hash(draft: &Draft) -> ContentHash {
    let content = draft.content.trim();
    ContentHash::of(&[&draft.kind, if content.is_empty() { draft.title.trim() } else { content }])
}
