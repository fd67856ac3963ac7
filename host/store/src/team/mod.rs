//! Tables `team_…`: what is shared with a team, and what came from it.
//!
//! A shared memory is an *item*, and each of its states a *revision*: a record whose body names the revisions that it replaces.
//! A deletion is a record too, a *tombstone*. Each device appends its records to series of its own. The state is a function of
//! the set of known records, regardless of their order: a revision is alive if no tombstone names its item or itself, and no
//! known revision of the same item replaces it. So all devices that know the same records agree, two edits side by side both
//! stay, and a tombstone wins.
//!
//! A memory that came from the team is stored as an import is, with an occurrence under the revision's hash. It goes with
//! its last occurrence. A colleague cannot remove a memory that this machine learned on its own; the colleague's newer
//! revision is linked to it, if the colleague may decide.

mod incoming;
mod outgoing;
mod record;
mod scan;
mod scrub;
mod sealing;

pub use incoming::{Applied, Incoming, IncomingMemory, RecordHeader, occurrence_key};
pub use outgoing::{Decided, OutboxEntry, OutboxState, QueuedRecord, RefusalReason};
pub use record::{MAX_BODY_BYTES, ReadRecord, Record, RecordError, RecordKind, SharedMemory, is_item, record_of};
pub use scan::{Shareable, TeamProject};
pub use sealing::{SealedText, Sealer};

pub(crate) use scrub::forget_in_outbox;

use rusqlite::{Connection, OptionalExtension, params};

use super::{Result, Store, index};

pub use throughline_model::said_by::COLLEAGUE;

/// The keys of `meta` with this machine's part in the team.
const DEVICE: &str = "team_device";
const MEMBER: &str = "team_member";
const ROLE: &str = "team_role";
const SYNCED: &str = "team_synced";
const FAULT: &str = "team_fault";
const SALVAGED: &str = "team_salvaged";

/// A series of another device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownSeries {
    /// The device.
    pub device: String,
    /// `memory` or `tombstone`.
    pub kind: String,
    /// The last record that was read.
    pub sequence: i64,
    /// The last record that the server has.
    pub last: i64,
    /// Whose device it is.
    pub member: String,
    /// The device's name.
    pub name: String,
}

/// The state of team memory on this machine.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TeamStatus {
    /// This machine's identifier; none before the first sync.
    pub device: Option<String>,
    /// Who the server says we are.
    pub member: Option<String>,
    /// Our role.
    pub role: Option<String>,
    /// When the last sync ended well, milliseconds since the Unix epoch.
    pub synced: Option<u64>,
    /// Why the last sync failed, if it did.
    pub fault: Option<String>,
    /// Memories that the server has from this machine.
    pub sent: u64,
    /// Records that will be sent.
    pub pending: u64,
    /// Memories that a person must look at first.
    pub review: u64,
    /// Memories that the server refused.
    pub refused: u64,
    /// Memories here that came from others.
    pub pulled: u64,
    /// Records on the server, as of the last sync, that are not read yet.
    pub behind: u64,
    /// Records that this machine's key does not open.
    pub unopened: u64,
    /// The keys of projects for which records wait, because they are not on this machine.
    pub waiting: Vec<String>,
    /// What is muted.
    pub muted: Vec<String>,
}

impl Store {
    /// Returns this machine's identifier, and makes it from `fresh` if there is none.
    pub fn team_device(&mut self, fresh: &str) -> Result<String> {
        self.write(|tx| {
            if let Some(known) = index::meta(tx, DEVICE)? {
                return Ok(known);
            }
            index::set_meta(tx, DEVICE, fresh)?;
            Ok(fresh.to_owned())
        })
    }

    /// Gives this machine another identifier, because another machine writes under its own: the database was copied or
    /// restored. What the server has not acknowledged goes into the new series.
    pub fn renew_team_device(&mut self, fresh: &str) -> Result<()> {
        self.write(|tx| {
            index::set_meta(tx, DEVICE, fresh)?;
            tx.execute(
                "UPDATE team_records SET state = 'pending', device = '', sequence = NULL WHERE state = 'queued'",
                [],
            )?;
            Ok(())
        })
    }

    /// Returns whether the database was salvaged since the last sync. Then the series are to be read before anything is staged: what
    /// the team has of this machine would be sent a second time otherwise.
    pub fn team_is_salvaged(&self) -> Result<bool> {
        Ok(self.explain(index::meta(&self.conn, SALVAGED))?.is_some())
    }

    /// Records that the series were read again after the database was salvaged.
    pub fn team_refilled(&mut self) -> Result<()> {
        self.write(|tx| index::clear_meta(tx, SALVAGED))
    }

    /// Records who the server says we are.
    pub fn set_team_member(&mut self, member: &str, role: &str) -> Result<()> {
        self.write(|tx| {
            // A transaction that changes nothing costs nothing.
            if index::meta(tx, MEMBER)?.as_deref() != Some(member) || index::meta(tx, ROLE)?.as_deref() != Some(role) {
                index::set_meta(tx, MEMBER, member)?;
                index::set_meta(tx, ROLE, role)?;
            }
            Ok(())
        })
    }

    /// Records how a sync ended.
    pub fn set_team_synced(&mut self, fault: Option<&str>, now: u64) -> Result<()> {
        self.write(|tx| {
            if let Some(fault) = fault {
                return index::set_meta(tx, FAULT, fault);
            }
            index::clear_meta(tx, FAULT)?;
            index::set_meta(tx, SYNCED, &now.to_string())
        })
    }

    /// Returns the state of team memory on this machine.
    pub fn team_status(&self) -> Result<TeamStatus> {
        self.explain((|| {
            let conn = &self.conn;
            let count = |sql: &str| -> rusqlite::Result<u64> {
                conn.query_row(sql, [], |row| row.get::<_, i64>(0)).map(super::time_from_sql)
            };
            let list = |sql: &str| -> rusqlite::Result<Vec<String>> {
                conn.prepare(sql)?.query_map([], |row| row.get(0))?.collect()
            };
            Ok(TeamStatus {
                device: index::meta(conn, DEVICE)?,
                member: index::meta(conn, MEMBER)?,
                role: index::meta(conn, ROLE)?,
                synced: index::meta(conn, SYNCED)?.and_then(|at| at.parse().ok()),
                fault: index::meta(conn, FAULT)?,
                sent: count("SELECT count(*) FROM team_records WHERE state = 'sent' AND kind = 'memory'")?,
                pending: count("SELECT count(*) FROM team_records WHERE state IN ('pending', 'queued')")?,
                review: count("SELECT count(*) FROM team_records WHERE state = 'review'")?,
                refused: count("SELECT count(*) FROM team_records WHERE state = 'refused'")?,
                pulled: count("SELECT count(*) FROM team_records WHERE state = 'pulled' AND memory IS NOT NULL")?,
                behind: count("SELECT COALESCE(sum(max(last - sequence, 0)), 0) FROM team_series")?,
                unopened: count("SELECT count(*) FROM team_unopened")?,
                waiting: list("SELECT DISTINCT what FROM team_waiting
                     WHERE what NOT LIKE 'person:%' AND what NOT LIKE 'project:%' AND what NOT LIKE 'unreadable%' ORDER BY 1",
                )?,
                muted: list("SELECT what FROM team_mutes ORDER BY 1")?,
            })
        })())
    }

    /// Returns the series of other devices that are known.
    pub fn team_series(&self) -> Result<Vec<KnownSeries>> {
        self.explain(
            self.conn
                .prepare_cached("SELECT device, kind, sequence, last, member, name FROM team_series ORDER BY device, kind")
                .and_then(|mut s| {
                    s.query_map([], |row| {
                        Ok(KnownSeries {
                            device: row.get(0)?,
                            kind: row.get(1)?,
                            sequence: row.get(2)?,
                            last: row.get(3)?,
                            member: row.get(4)?,
                            name: row.get(5)?,
                        })
                    })?
                    .collect()
                }),
        )
    }

    /// Records which series the server has, and how far each goes. A series is never read less far than it was.
    pub fn put_team_series(&mut self, series: &[KnownSeries]) -> Result<()> {
        self.write(|tx| {
            let mut put = tx.prepare_cached(
                "INSERT INTO team_series (device, kind, sequence, last, member, name) VALUES (?1, ?2, 0, ?3, ?4, ?5)
                 ON CONFLICT (device, kind) DO UPDATE SET last = ?3, member = ?4, name = ?5",
            )?;
            for it in series {
                put.execute(params![it.device, it.kind, it.last, it.member, it.name])?;
            }
            Ok(())
        })
    }

    /// Hides what came from a person or for a project, or shows it again. Nothing is deleted for good: what is
    /// hidden is read again from the server.
    pub fn set_team_mute(&mut self, what: &str, is_muted: bool) -> Result<u64> {
        self.write(|tx| if is_muted { incoming::mute(tx, what) } else { incoming::unmute(tx, what) })
    }

    /// Returns what [`Store::set_team_mute`] would return, and changes nothing.
    pub fn preview_team_mute(&self, what: &str, is_muted: bool) -> Result<u64> {
        self.explain(if is_muted { incoming::would_hide(&self.conn, what) } else { incoming::is_muted(&self.conn, what) })
    }
}

/// Prepares what was salvaged of the team's tables. What a person decided stays, and so does what is known of own records whose
/// memory is there. Everything else is read again from the server. The salvaged database has a new identifier in the team.
pub(crate) fn prepare_salvaged(tx: &Connection) -> rusqlite::Result<()> {
    tx.execute_batch(
        "DELETE FROM team_records WHERE state IN ('pulled', 'dead')
             OR memory IS NOT NULL AND memory NOT IN (SELECT rowid FROM memories);
         UPDATE team_records SET state = 'pending', device = '', sequence = NULL WHERE state = 'queued';",
    )?;
    let is_in_a_team: bool = tx.query_row(
        "SELECT EXISTS (SELECT 1 FROM team_records) OR EXISTS (SELECT 1 FROM team_mutes)
             OR EXISTS (SELECT 1 FROM sightings WHERE session_id = '' AND key LIKE 'team:%')",
        [],
        |row| row.get(0),
    )?;
    if is_in_a_team { index::set_meta(tx, SALVAGED, "1") } else { Ok(()) }
}

fn own_member(tx: &Connection) -> rusqlite::Result<(String, bool)> {
    let member = index::meta(tx, MEMBER)?.unwrap_or_default();
    let role = index::meta(tx, ROLE)?.unwrap_or_default();
    Ok((member, matches!(role.as_str(), "curator" | "admin")))
}

/// Returns whether a revision is dead: deleted, or replaced.
fn is_dead(tx: &Connection, item: &str, hash: &str) -> rusqlite::Result<bool> {
    Ok(is_buried(tx, item, hash)?
        || tx.prepare_cached("SELECT 1 FROM team_replaced WHERE item = ?1 AND hash = ?2")?.exists([item, hash])?)
}

/// Returns whether a tombstone names the item or the revision.
fn is_buried(tx: &Connection, item: &str, hash: &str) -> rusqlite::Result<bool> {
    tx.prepare_cached(
        "SELECT 1 FROM team_records WHERE item = ?1 AND kind = 'tombstone' AND state <> 'dead' AND target IN ('', ?2)",
    )?
    .exists([item, hash])
}

/// Returns the row of a memory.
fn row_of(tx: &Connection, id: &str) -> rusqlite::Result<Option<i64>> {
    tx.prepare_cached("SELECT rowid FROM memories WHERE id = ?1")?.query_row([id], |row| row.get(0)).optional()
}

#[cfg(test)]
mod tests;
