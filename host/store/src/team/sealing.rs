//! Sealed teams: what leaves is encrypted, and what cannot be opened is counted. The store knows no key, only its fingerprint.
//!
//! A text is sealed when its record gets its place in the series, and once, because a ciphertext is another one each time: so
//! a record that is sent again has the same hash. The text itself stays in `body` until the server has acknowledged it, so
//! that the outbox is shown, redacted and forgotten as everywhere else.

use rusqlite::params;

use crate::{Result, Store, index};
use throughline_model::digest::sha256_hex;

/// The key of `meta` with the fingerprint of the team's key.
const KEY: &str = "team_key";

/// What leaves in place of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedText {
    /// The SHA-256 of `body`.
    pub hash: String,
    /// The JSON with the ciphertext.
    pub body: String,
}

/// Encrypts what leaves.
pub trait Sealer {
    /// Encrypts the text of an item's record. `None` if the result would be too long for a record.
    fn seal(&self, item: &str, text: &str) -> Option<SealedText>;
}

impl Store {
    /// Records the fingerprint of the key with which this machine syncs; empty for a team that is not sealed. If it is another
    /// one than before, what was sealed and not acknowledged is sealed anew, and what could not be opened is read again.
    pub fn team_use_key(&mut self, fingerprint: &str) -> Result<()> {
        let before = self.explain(index::meta(&self.conn, KEY))?.unwrap_or_default();
        if before == fingerprint {
            return Ok(());
        }
        self.write(|tx| {
            let sealed: Vec<(i64, String)> = tx
                .prepare("SELECT number, body FROM team_records WHERE sealed IS NOT NULL AND body IS NOT NULL")?
                .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect::<rusqlite::Result<_>>()?;
            for (number, body) in sealed {
                tx.execute(
                    "UPDATE OR IGNORE team_records SET sealed = NULL, hash = ?2 WHERE number = ?1",
                    params![number, sha256_hex(body.as_bytes())],
                )?;
            }
            tx.execute_batch(
                "UPDATE team_series SET sequence = min(sequence, u.first - 1)
                     FROM (SELECT device AS of, kind AS what, min(sequence) AS first FROM team_unopened GROUP BY 1, 2) AS u
                     WHERE device = u.of AND kind = u.what;
                 DELETE FROM team_unopened",
            )?;
            index::set_meta(tx, KEY, fingerprint)
        })
    }
}
