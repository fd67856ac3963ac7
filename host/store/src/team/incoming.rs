//! What comes in: each record is stored once, and what holds after it is a function of all records that are known.

use rusqlite::{Connection, OptionalExtension, params};

use super::outgoing::put_replaced;
use super::{is_dead, own_member};
use crate::import::store_one;
use crate::memories::{self, PutOutcome};
use crate::supersessions;
use crate::{Fate, Forgotten, Import, KeptFile, Result, Store, projects, time_from_sql};
use throughline_model::contract::Memory;
use throughline_model::redacted::Redacted;
use throughline_search::supersession::Relation;

/// What is known about a record besides its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordHeader {
    /// The device whose series it is.
    pub device: String,
    /// `memory` or `tombstone`.
    pub kind: String,
    /// Its place in the series.
    pub sequence: i64,
    /// Whose device it is.
    pub author: String,
    /// Whether the server says that the author may decide about the item: it is the author's own, or the author is a curator.
    pub decides: bool,
    /// The SHA-256 of the body.
    pub hash: String,
    /// Its item.
    pub item: String,
}

/// A memory that comes in.
#[derive(Debug, Clone)]
pub struct IncomingMemory {
    /// The revisions that it replaces.
    pub replaces: Vec<String>,
    /// The items whose memories its author said it replaces, and how.
    pub supersedes: Vec<(String, Relation)>,
    /// The memory, with the revision's hash as its key.
    pub import: Redacted<Import>,
}

/// A record that comes in.
#[derive(Debug, Clone)]
pub enum Incoming {
    /// A revision of a memory.
    Memory(RecordHeader, Box<IncomingMemory>),
    /// A deletion of an item, or of the one revision that is named.
    Tombstone(RecordHeader, String),
    /// A record whose text the server has erased, or that cannot be used. It is known, and nothing more.
    Erased(RecordHeader),
    /// A record that the team's key does not open.
    Unopened(RecordHeader),
    /// A record that is not wanted now: of a project that is not on this machine, or of somebody who is muted.
    Waiting(RecordHeader, String),
}

impl Incoming {
    fn header(&self) -> &RecordHeader {
        match self {
            Self::Memory(header, _)
            | Self::Tombstone(header, _)
            | Self::Erased(header)
            | Self::Unopened(header)
            | Self::Waiting(header, _) => header,
        }
    }
}

/// What became of records that came in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Applied {
    /// New memories.
    pub stored: u64,
    /// Memories that were known here already.
    pub known: u64,
    /// Memories that are not shown: replaced or deleted since, or deleted on this machine before.
    pub dead: u64,
    /// Memories that were removed from this machine.
    pub removed: u64,
    /// Records that wait.
    pub waiting: u64,
    /// Records that the team's key does not open.
    pub unopened: u64,
}

impl Store {
    /// Stores a batch of records and how far the series were read. A record that is known changes nothing, so a batch can
    /// be applied again.
    ///
    /// One transaction stores the records. Another one applies our own deletions, which also delete what this machine learned
    /// on its own. Whether it was us, only the server says: so what they delete is kept in the file, for a person to bring
    /// back.
    pub fn team_apply(&mut self, batch: &[Incoming], now: u64, file: KeptFile<'_>) -> Result<Applied> {
        let (member, _) = self.explain(own_member(&self.conn))?;
        let is_own = |it: &&Incoming| matches!(it, Incoming::Tombstone(header, _) if header.author == member);
        let (own, others): (Vec<&Incoming>, Vec<&Incoming>) = batch.iter().partition(is_own);
        let mut applied = Applied::default();
        self.write(|tx| apply_all(tx, &others, now, &mut applied).map(drop))?;
        if !own.is_empty() {
            self.delete_rows(now, Fate::Kept(file), |tx| apply_all(tx, &own, now, &mut applied))?;
        }
        if self.wants_checkpoint() {
            self.checkpoint()?;
        }
        Ok(applied)
    }
}

/// Applies records, and returns the memories that were deleted.
fn apply_all(tx: &Connection, batch: &[&Incoming], now: u64, applied: &mut Applied) -> rusqlite::Result<Forgotten> {
    let mut deleted = Forgotten::default();
    for it in batch {
        apply(tx, it, now, applied, &mut deleted.memories)?;
        let RecordHeader { device, kind, sequence, .. } = it.header();
        tx.prepare_cached("UPDATE team_series SET sequence = max(sequence, ?3) WHERE device = ?1 AND kind = ?2")?
            .execute(params![device, kind, sequence])?;
    }
    deleted.counts.memories = deleted.memories.len() as u64;
    Ok(deleted)
}

fn apply(
    tx: &Connection,
    it: &Incoming,
    now: u64,
    applied: &mut Applied,
    deleted: &mut Vec<Memory>,
) -> rusqlite::Result<()> {
    let header = it.header();
    if tx.prepare_cached("SELECT 1 FROM team_records WHERE hash = ?1")?.exists([&header.hash])? {
        return Ok(());
    }
    match it {
        Incoming::Memory(_, memory) => apply_memory(tx, header, memory, now, applied),
        Incoming::Tombstone(_, target) if header.decides => apply_tombstone(tx, header, target, now, applied, deleted),
        // A server that lets somebody delete what is not theirs is not obeyed.
        Incoming::Tombstone(..) | Incoming::Erased(_) => {
            applied.dead += 1;
            put(tx, header, "", "dead", None)
        }
        Incoming::Unopened(_) => {
            applied.unopened += 1;
            put_unopened(tx, header)
        }
        Incoming::Waiting(_, what) => {
            applied.waiting += 1;
            tx.prepare_cached(
                "INSERT INTO team_waiting (device, kind, what, sequence) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT DO UPDATE SET sequence = min(sequence, excluded.sequence)",
            )?
            .execute(params![header.device, header.kind, what, header.sequence])?;
            Ok(())
        }
    }
}

fn put(tx: &Connection, header: &RecordHeader, project: &str, state: &str, memory: Option<i64>) -> rusqlite::Result<()> {
    tx.prepare_cached(
        "INSERT INTO team_records (hash, item, kind, state, device, sequence, author, project_id, memory)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) ON CONFLICT DO NOTHING",
    )?
    .execute(params![
        header.hash,
        header.item,
        header.kind,
        state,
        header.device,
        header.sequence,
        header.author,
        project,
        memory
    ])?;
    Ok(())
}

fn apply_memory(
    tx: &Connection,
    header: &RecordHeader,
    memory: &IncomingMemory,
    now: u64,
    applied: &mut Applied,
) -> rusqlite::Result<()> {
    let project = &memory.import.project;
    let mut row = None;
    if is_dead(tx, &header.item, &header.hash)? {
        applied.dead += 1;
    } else {
        projects::put(tx, project, now)?;
        match store_one(tx, &memory.import, now)? {
            PutOutcome::Stored => applied.stored += 1,
            PutOutcome::NewOccurrence | PutOutcome::Known => applied.known += 1,
            PutOutcome::Forgotten => applied.dead += 1,
        }
        row = occurrence(tx, &memory.import)?;
    }
    put(tx, header, &project.id, if row.is_some() { "pulled" } else { "dead" }, row)?;
    let (member, _) = own_member(tx)?;
    if !header.decides {
        // A colleague's word beside another one's: both stay.
        return Ok(());
    }
    put_replaced(tx, &header.item, &memory.replaces, &header.hash)?;
    for hash in &memory.replaces {
        replace(tx, &header.item, hash, row, now, applied)?;
    }
    for (item, relation) in &memory.supersedes {
        let older: Vec<(i64, String)> = tx
            .prepare_cached("SELECT memory, author FROM team_records WHERE item = ?1 AND memory IS NOT NULL")?
            .query_map([item], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<rusqlite::Result<_>>()?;
        for (older, author) in older {
            let author = if author.is_empty() { &member } else { &author };
            if let Some(newer) = row.filter(|newer| *newer != older && *author == header.author) {
                supersessions::state(tx, older, newer, *relation, now)?;
            }
        }
    }
    Ok(())
}

/// Removes a revision of an item that another revision replaced. A memory that this machine learned on its own stays,
/// with a link to the newer revision. A hash that belongs to another item is left alone: the author may decide about this
/// item alone.
fn replace(
    tx: &Connection,
    item: &str,
    hash: &str,
    by: Option<i64>,
    now: u64,
    applied: &mut Applied,
) -> rusqlite::Result<()> {
    let known: Option<(i64, Option<i64>, String)> = tx
        .prepare_cached("SELECT number, memory, state FROM team_records WHERE item = ?1 AND hash = ?2 AND kind = 'memory'")?
        .query_row([item, hash], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .optional()?;
    let Some((number, memory, state)) = known else { return Ok(()) };
    if state == "pulled" {
        remove_pulled(tx, number, hash, applied)?;
    }
    if let (Some(older), Some(newer)) = (memory, by)
        && older != newer
    {
        // A row that is gone is left alone by this.
        supersessions::state(tx, older, newer, Relation::Amends, now)?;
    }
    Ok(())
}

fn apply_tombstone(
    tx: &Connection,
    header: &RecordHeader,
    target: &str,
    now: u64,
    applied: &mut Applied,
    deleted: &mut Vec<Memory>,
) -> rusqlite::Result<()> {
    tx.prepare_cached(
        "INSERT INTO team_records (hash, item, kind, state, target, device, sequence, author)
         VALUES (?1, ?2, 'tombstone', 'pulled', ?3, ?4, ?5, ?6) ON CONFLICT DO NOTHING",
    )?
    .execute(params![header.hash, header.item, target, header.device, header.sequence, header.author])?;
    let (member, _) = own_member(tx)?;
    let known: Vec<(i64, String, String, Option<i64>)> = tx
        .prepare_cached(
            "SELECT number, hash, state, memory FROM team_records
             WHERE item = ?1 AND kind = 'memory' AND (?2 = '' OR hash = ?2) AND state <> 'dead'",
        )?
        .query_map([&header.item, target], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?
        .collect::<rusqlite::Result<_>>()?;
    for (number, hash, state, memory) in known {
        let id: Option<String> = memory
            .and_then(|row| {
                tx.prepare_cached("SELECT id FROM memories WHERE rowid = ?1")
                    .and_then(|mut s| s.query_row([row], |row| row.get(0)).optional())
                    .transpose()
            })
            .transpose()?;
        if header.author == member {
            // Deleted on another machine of ours: it goes here too, and does not come back.
            tx.prepare_cached("UPDATE team_records SET state = 'dead', memory = NULL, body = NULL WHERE number = ?1")?
                .execute([number])?;
            if let Some(id) = id
                && let Some(memory) = memories::delete(tx, &id, now)?
            {
                deleted.push(memory);
                applied.removed += 1;
            }
        } else if state == "pulled" {
            remove_pulled(tx, number, &hash, applied)?;
        } else {
            // A curator took it out of the team's memory. It is still ours.
            tx.prepare_cached("UPDATE team_records SET state = 'dropped', body = NULL WHERE number = ?1")?
                .execute([number])?;
        }
    }
    Ok(())
}

/// Takes away what one revision brought, and the memory if nothing else did.
fn remove_pulled(tx: &Connection, number: i64, hash: &str, applied: &mut Applied) -> rusqlite::Result<()> {
    let memory: Option<i64> =
        tx.prepare_cached("SELECT memory FROM team_records WHERE number = ?1")?.query_row([number], |row| row.get(0))?;
    tx.prepare_cached("UPDATE team_records SET state = 'dead', memory = NULL WHERE number = ?1")?.execute([number])?;
    retract(tx, hash)?;
    if let Some(memory) = memory
        && !tx.prepare_cached("SELECT 1 FROM memories WHERE rowid = ?1")?.exists([memory])?
    {
        applied.removed += 1;
    }
    Ok(())
}

fn retract(tx: &Connection, hash: &str) -> rusqlite::Result<()> {
    memories::retract(tx, "", &occurrence_key(hash))
}

/// The key of the occurrence that a revision is.
pub fn occurrence_key(hash: &str) -> String {
    format!("team:{hash}")
}

fn occurrence(tx: &Connection, import: &Import) -> rusqlite::Result<Option<i64>> {
    let key = import.key.clone().unwrap_or_default();
    tx.prepare_cached("SELECT memory FROM sightings WHERE session_id = '' AND key = ?1")?
        .query_row([key], |row| row.get(0))
        .optional()
}

impl Store {
    /// Lets what another version of this program could not read be read again. `current` is the reason for which its own
    /// unreadable records wait.
    pub fn team_retry_unreadable(&mut self, current: &str) -> Result<()> {
        let is_other = |what: &str| what.starts_with("unreadable") && what != current;
        let any: bool = self.explain(
            self.conn
                .prepare_cached("SELECT EXISTS (SELECT 1 FROM team_waiting WHERE what LIKE 'unreadable%' AND what <> ?1)")
                .and_then(|mut s| s.query_row([current], |row| row.get(0))),
        )?;
        if any { self.write(|tx| read_again(tx, is_other)) } else { Ok(()) }
    }
}

/// Lets what waits be read again, where `is_for` says that it need not wait any longer.
pub(super) fn read_again(tx: &Connection, is_for: impl Fn(&str) -> bool) -> rusqlite::Result<()> {
    let waiting: Vec<(String, String, String, i64)> = tx
        .prepare("SELECT device, kind, what, sequence FROM team_waiting")?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?
        .collect::<rusqlite::Result<_>>()?;
    for (device, kind, what, sequence) in waiting.into_iter().filter(|(_, _, what, _)| is_for(what)) {
        tx.execute(
            "UPDATE team_series SET sequence = min(sequence, ?3) WHERE device = ?1 AND kind = ?2",
            params![device, kind, sequence - 1],
        )?;
        tx.execute("DELETE FROM team_waiting WHERE device = ?1 AND kind = ?2 AND what = ?3", params![device, kind, what])?;
    }
    Ok(())
}

/// Returns the column and the value that identify what is muted.
fn muted_column(what: &str) -> Option<(&'static str, &str)> {
    match what.split_once(':') {
        Some(("person", name)) => Some(("author", name)),
        Some(("project", id)) => Some(("project_id", id)),
        _ => None,
    }
}

/// Counts the memories that muting would hide.
pub(super) fn would_hide(conn: &Connection, what: &str) -> rusqlite::Result<u64> {
    let Some((column, name)) = muted_column(what) else { return Ok(0) };
    let sql = format!("SELECT count(*) FROM team_records WHERE state = 'pulled' AND kind = 'memory' AND {column} = ?1");
    conn.prepare_cached(&sql)?.query_row([name], |row| row.get(0).map(time_from_sql))
}

/// Returns 1 if that is muted, else 0.
pub(super) fn is_muted(conn: &Connection, what: &str) -> rusqlite::Result<u64> {
    Ok(conn.prepare_cached("SELECT 1 FROM team_mutes WHERE what = ?1")?.exists([what])?.into())
}

/// Hides what came from a person, or for a project. Its rows go, and are read again once it is wanted. Returns how many.
pub(super) fn mute(tx: &Connection, what: &str) -> rusqlite::Result<u64> {
    tx.execute("INSERT INTO team_mutes (what) VALUES (?1) ON CONFLICT DO NOTHING", [what])?;
    let Some((column, name)) = muted_column(what) else { return Ok(0) };
    let hidden: Vec<(i64, String, String, String, i64)> = tx
        .prepare(&format!(
            "SELECT number, hash, device, kind, sequence FROM team_records WHERE state = 'pulled' AND kind = 'memory' AND {column} = ?1"
        ))?
        .query_map([name], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?)))?
        .collect::<rusqlite::Result<_>>()?;
    let mut applied = Applied::default();
    for (number, hash, device, kind, sequence) in &hidden {
        remove_pulled(tx, *number, hash, &mut applied)?;
        tx.execute("DELETE FROM team_records WHERE number = ?1", [number])?;
        tx.execute(
            "INSERT INTO team_waiting (device, kind, what, sequence) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT DO UPDATE SET sequence = min(sequence, excluded.sequence)",
            params![device, kind, what, sequence],
        )?;
    }
    Ok(hidden.len() as u64)
}

pub(super) fn unmute(tx: &Connection, what: &str) -> rusqlite::Result<u64> {
    let known = tx.execute("DELETE FROM team_mutes WHERE what = ?1", [what])?;
    read_again(tx, |waiting| waiting == what)?;
    Ok(known as u64)
}

/// Remembers where a record is that cannot be opened.
fn put_unopened(tx: &Connection, header: &RecordHeader) -> rusqlite::Result<()> {
    tx.prepare_cached(
        "INSERT INTO team_unopened (hash, device, kind, sequence) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING",
    )?
    .execute(params![header.hash, header.device, header.kind, header.sequence])?;
    Ok(())
}
