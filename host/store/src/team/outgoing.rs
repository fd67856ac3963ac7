//! What leaves: memories are staged with the exact text that will be sent, a person may look at them, and they wait in the
//! outbox until the server has acknowledged them.

use rusqlite::{Connection, OptionalExtension, params};

use super::record::{Record, RecordKind, tombstone};
use super::sealing::{SealedText, Sealer};
use super::{is_dead, own_member, row_of};
use crate::{Result, Store};
use throughline_model::redacted::{Redacted, Texts};

/// Where a memory in the outbox stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutboxState {
    /// A person must look at it first.
    Review,
    /// It leaves with the next sync.
    Pending,
    /// It was sent, and the server has not acknowledged it yet.
    Queued,
    /// A person decided that it stays here.
    Dropped,
    /// The server refused it.
    Refused,
}

impl OutboxState {
    const ALL: [(Self, &'static str); 5] = [
        (Self::Review, "review"),
        (Self::Pending, "pending"),
        (Self::Queued, "queued"),
        (Self::Dropped, "dropped"),
        (Self::Refused, "refused"),
    ];

    /// Returns the word that is stored and printed.
    pub fn word(self) -> &'static str {
        Self::ALL.iter().find(|(state, _)| *state == self).map_or("pending", |(_, word)| word)
    }

    fn of_word(word: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, it)| *it == word).map(|(state, _)| *state)
    }
}

/// Why the server refused a record: the name of a rule, or whatever else the server sent in its place.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RefusalReason(pub String);

impl Texts for RefusalReason {
    fn texts_mut(&mut self) -> Vec<&mut String> {
        vec![&mut self.0]
    }
}

/// A record in the outbox.
#[derive(Debug, Clone, PartialEq)]
pub struct OutboxEntry {
    /// The memory's identifier; none for a deletion.
    pub id: Option<String>,
    /// Where it stands.
    pub state: OutboxState,
    /// Its item.
    pub item: String,
    /// The project's identifier.
    pub project: String,
    /// Whether it deletes something on the server.
    pub is_deletion: bool,
    /// Whether a person changed the text.
    pub is_edited: bool,
    /// The exact text that leaves; none if it stays here.
    pub body: Option<String>,
    /// The rule for which the server refused it.
    pub reason: String,
    /// The SHA-256 of the text.
    pub hash: String,
    /// Whether a person has seen this very text.
    pub is_shown: bool,
}

/// What became of a decision about a memory in the outbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decided {
    /// It holds.
    Done,
    /// The text is another one than the person has seen. Nothing changed.
    Unseen,
    /// The memory is not in the outbox, or has left.
    Missing,
}

/// A record that has its place in the series.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueuedRecord {
    /// Its kind.
    pub kind: RecordKind,
    /// Its place.
    pub sequence: i64,
    /// The SHA-256 of the body.
    pub hash: String,
    /// Its item.
    pub item: String,
    /// The JSON: sealed, or as a person reads it.
    pub body: String,
}

impl Store {
    /// Stages memories, given by their identifiers, and records how far the project was looked through. One that was staged
    /// before and did not leave is replaced.
    pub fn team_stage(
        &mut self,
        project: &str,
        memories: &[(String, OutboxState, Redacted<Record>)],
        scanned: (&str, i64),
    ) -> Result<()> {
        self.write(|tx| {
            for (id, state, record) in memories {
                stage(tx, project, id, *state, record)?;
            }
            tx.prepare_cached("UPDATE team_projects SET rules = ?2, scanned = ?3 WHERE project_id = ?1")?
                .execute(params![project, scanned.0, scanned.1])?;
            Ok(())
        })
    }

    /// Discards staged memories that were not sent, of projects whose rules changed or that no rule names now, so that these
    /// projects are scanned again. What a person decided stays.
    pub fn team_unstage(&mut self, project: &str) -> Result<()> {
        self.write(|tx| {
            tx.prepare_cached(
                "DELETE FROM team_records WHERE project_id = ?1 AND state IN ('review', 'pending') AND kind = 'memory' AND NOT edited",
            )?
            .execute([project])?;
            tx.prepare_cached("UPDATE team_projects SET rules = '', scanned = 0 WHERE project_id = ?1")?.execute([project])?;
            Ok(())
        })
    }

    /// Stages a tombstone for each memory that left and was deleted here since, if that is ours to decide: our own memories,
    /// and a colleague's for a curator. Forgets those that never left. Returns how many were staged.
    pub fn team_stage_deletions(&mut self) -> Result<u64> {
        let any: bool = self.explain(
            self.conn
                .prepare_cached("SELECT EXISTS (SELECT 1 FROM team_records WHERE changed) OR EXISTS (SELECT 1 FROM team_records WHERE gone)")
                .and_then(|mut s| s.query_row([], |row| row.get(0))),
        )?;
        if !any {
            return Ok(0);
        }
        self.write(stage_deletions)
    }

    /// Returns the outbox: what waits for a person, what will leave, and, if `all`, what stays here.
    pub fn team_outbox(&self, all: bool) -> Result<Vec<OutboxEntry>> {
        self.explain(
            self.conn
                .prepare_cached(
                    "SELECT m.id, r.state, r.item, r.project_id, r.kind, r.edited, r.body, r.reason, r.hash, r.shown FROM team_records r
                     LEFT JOIN memories m ON m.rowid = r.memory
                     WHERE r.state IN ('review', 'pending', 'queued') OR ?1 AND r.state IN ('dropped', 'refused')
                     ORDER BY r.number",
                )
                .and_then(|mut s| {
                    s.query_map([all], |row| {
                        Ok(OutboxEntry {
                            id: row.get(0)?,
                            state: OutboxState::of_word(&row.get::<_, String>(1)?).unwrap_or(OutboxState::Pending),
                            item: row.get(2)?,
                            project: row.get(3)?,
                            is_deletion: row.get::<_, String>(4)? == RecordKind::Tombstone.word(),
                            is_edited: row.get(5)?,
                            body: row.get(6)?,
                            reason: row.get(7)?,
                            hash: row.get(8)?,
                            is_shown: row.get(9)?,
                        })
                    })?
                    .collect()
                }),
        )
    }

    /// Records that a person has seen the texts with these hashes.
    pub fn team_mark_shown(&mut self, hashes: &[&str]) -> Result<()> {
        if hashes.is_empty() {
            return Ok(());
        }
        self.write(|tx| {
            let mut shown = tx.prepare_cached("UPDATE team_records SET shown = 1 WHERE hash = ?1 AND body IS NOT NULL")?;
            hashes.iter().try_for_each(|hash| shown.execute([hash]).map(drop))
        })
    }

    /// Records a person's decision about a memory in the outbox: it leaves, or it stays here. Only a text that the person
    /// has seen leaves: a memory that changed since is staged with another one.
    pub fn team_decide(&mut self, id: &str, leaves: bool) -> Result<Decided> {
        self.write(|tx| {
            let Some(row) = row_of(tx, id)? else { return Ok(Decided::Missing) };
            if leaves && has_unseen(tx, row, "'review'")? {
                return Ok(Decided::Unseen);
            }
            let (from, to) = if leaves { ("'review'", "pending") } else { ("'review', 'pending', 'refused'", "dropped") };
            let decided = tx.execute(
                &format!("UPDATE team_records SET state = ?2 WHERE memory = ?1 AND state IN ({from})"),
                params![row, to],
            )?;
            // What stays here needs no copy.
            tx.execute("UPDATE team_records SET body = NULL WHERE memory = ?1 AND state = 'dropped'", [row])?;
            Ok(if decided > 0 { Decided::Done } else { Decided::Missing })
        })
    }

    /// Lets a memory that stays here be offered again. Returns false if none stays under this identifier.
    pub fn team_offer_again(&mut self, id: &str) -> Result<bool> {
        self.write(|tx| {
            let Some(row) = row_of(tx, id)? else { return Ok(false) };
            let project: Option<String> = tx
                .prepare(
                    "DELETE FROM team_records WHERE memory = ?1 AND state IN ('dropped', 'refused') RETURNING project_id",
                )?
                .query_row([row], |row| row.get(0))
                .optional()?;
            if let Some(project) = &project {
                tx.execute(
                    "UPDATE team_projects SET scanned = min(scanned, ?2 - 1) WHERE project_id = ?1",
                    params![project, row],
                )?;
            }
            Ok(project.is_some())
        })
    }

    /// Replaces the text of a memory in the outbox, given by its hash, by one that a person wrote. The memory itself stays.
    pub fn team_edit(&mut self, id: &str, seen: &str, record: &Redacted<Record>) -> Result<Decided> {
        self.write(|tx| {
            let Some(row) = row_of(tx, id)? else { return Ok(Decided::Missing) };
            if has_unseen(tx, row, "'review', 'pending'")? {
                return Ok(Decided::Unseen);
            }
            let edited = tx.execute(
                "UPDATE team_records SET hash = ?2, body = ?3, state = 'pending', edited = 1
                 WHERE memory = ?1 AND item = ?4 AND hash = ?5 AND state IN ('review', 'pending')",
                params![row, record.hash, record.body, record.item, seen],
            )?;
            Ok(if edited > 0 { Decided::Done } else { Decided::Unseen })
        })
    }

    /// Gives what is pending its place in the series, and returns what the server has not acknowledged, in the order of the
    /// series, at most `bytes` of it. With a `sealer`, no memory is returned in the clear, and one that cannot be sealed is
    /// refused.
    pub fn team_queue(&mut self, device: &str, bytes: usize, sealer: Option<&dyn Sealer>) -> Result<Vec<QueuedRecord>> {
        let is_due: bool = self.explain(
            self.conn
                .prepare_cached("SELECT EXISTS (SELECT 1 FROM team_records WHERE state IN ('pending', 'queued'))")
                .and_then(|mut s| s.query_row([], |row| row.get(0))),
        )?;
        if !is_due {
            return Ok(Vec::new());
        }
        self.write(|tx| queue(tx, device, bytes, sealer))
    }

    /// Records that the server has these records, which are given by their hashes.
    pub fn team_acknowledge(&mut self, hashes: &[String]) -> Result<()> {
        self.write(|tx| {
            let mut sent = tx.prepare_cached("UPDATE team_records SET state = 'sent', body = NULL WHERE hash = ?1")?;
            hashes.iter().try_for_each(|hash| sent.execute([hash]).map(drop))
        })
    }

    /// Records that the server refused a record, and why.
    pub fn team_refuse(&mut self, hash: &str, reason: &Redacted<RefusalReason>) -> Result<()> {
        self.write(|tx| {
            tx.execute(
                "UPDATE team_records SET state = 'refused', reason = ?2, body = NULL WHERE hash = ?1 AND state = 'queued'",
                [hash, &reason.0],
            )?;
            Ok(())
        })
    }

    /// Makes ready to be sent again what the server has lost, that is, what lies behind the last record that it has of this
    /// machine's series: it was restored from an old backup. Returns how many.
    pub fn team_resend(&mut self, device: &str, kind: RecordKind, last: i64) -> Result<u64> {
        self.write(|tx| {
            // Their texts are made anew. A tombstone has none to lose.
            let again = tx.execute(
                "UPDATE team_records SET changed = 1 WHERE device = ?1 AND kind = ?2 AND state = 'sent' AND sequence > ?3
                   AND memory IS NOT NULL",
                params![device, kind.word(), last],
            )?;
            let mut select = tx.prepare(
                "SELECT number, item, target FROM team_records WHERE device = ?1 AND kind = 'tombstone' AND ?2 = 'tombstone'
                   AND state = 'sent' AND sequence > ?3",
            )?;
            let buried: Vec<(i64, String, String)> = select
                .query_map(params![device, kind.word(), last], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
                .collect::<rusqlite::Result<_>>()?;
            for (number, item, target) in &buried {
                tx.execute(
                    "UPDATE team_records SET state = 'pending', device = '', sequence = NULL, body = ?2 WHERE number = ?1",
                    params![number, tombstone(item, target).body],
                )?;
            }
            Ok((again + buried.len()) as u64)
        })
    }

    /// Returns the last place that this machine gave away in its series of a kind.
    pub fn team_last_given(&self, device: &str, kind: RecordKind) -> Result<i64> {
        self.explain(
            self.conn
                .prepare_cached("SELECT COALESCE(max(sequence), 0) FROM team_records WHERE device = ?1 AND kind = ?2")
                .and_then(|mut s| s.query_row([device, kind.word()], |row| row.get(0))),
        )
    }

    /// Returns the last place in a series of this machine's that the server acknowledged.
    pub fn team_last_sent(&self, device: &str, kind: RecordKind) -> Result<i64> {
        // From the end of the series: there it is found at once.
        self.explain(
            self.conn
                .prepare_cached(
                    "SELECT sequence FROM team_records WHERE device = ?1 AND kind = ?2 AND sequence IS NOT NULL
                       AND state IN ('sent', 'dead') ORDER BY sequence DESC LIMIT 1",
                )
                .and_then(|mut s| s.query_row([device, kind.word()], |row| row.get(0)).optional()),
        )
        .map(|last| last.unwrap_or(0))
    }

    /// Returns the identifiers under which this machine has written: several if its database was restored.
    pub fn team_own_devices(&self) -> Result<Vec<String>> {
        // Steps from one device to the next in the index of the series.
        self.explain((|| {
            let mut next = self.conn.prepare_cached(
                "SELECT device, author FROM team_records WHERE device > ?1 ORDER BY device, kind, sequence LIMIT 1",
            )?;
            let (mut own, mut last) = (Vec::new(), String::new());
            while let Some((device, author)) =
                next.query_row([&last], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?))).optional()?
            {
                last.clone_from(&device);
                own.extend(Some(device).filter(|_| author.is_empty()));
            }
            Ok(own)
        })())
    }
}

/// Returns whether a memory waits with a text that was not reviewed, or that must be written again.
fn has_unseen(tx: &Connection, row: i64, states: &str) -> rusqlite::Result<bool> {
    tx.prepare_cached(&format!(
        "SELECT 1 FROM team_records WHERE memory = ?1 AND state IN ({states}) AND (NOT shown OR changed OR body IS NULL)"
    ))?
    .exists([row])
}

fn stage(tx: &Connection, project: &str, id: &str, state: OutboxState, record: &Record) -> rusqlite::Result<()> {
    let Some(row) = row_of(tx, id)? else { return Ok(()) };
    tx.prepare_cached(
        "DELETE FROM team_records WHERE memory = ?1 AND item = ?2 AND state IN ('review', 'pending', 'refused')",
    )?
    .execute(params![row, record.item])?;
    tx.prepare_cached(
        "UPDATE team_records SET changed = 0, memory = NULL, state = CASE state WHEN 'queued' THEN 'sent' ELSE state END
         WHERE memory = ?1 AND item = ?2 AND state IN ('queued', 'sent')",
    )?
    .execute(params![row, record.item])?;
    if let Some(replaced) = super::ReadRecord::parse(&record.body).ok().map(|it| it.replaces) {
        put_replaced(tx, &record.item, &replaced, &record.hash)?;
    }
    tx.prepare_cached(
        "INSERT INTO team_records (hash, item, kind, state, project_id, memory, body) VALUES (?1, ?2, 'memory', ?3, ?4, ?5, ?6)
         ON CONFLICT (hash) DO UPDATE SET state = excluded.state, memory = excluded.memory, body = excluded.body, device = '',
             sequence = NULL, changed = 0, gone = 0",
    )?
    .execute(params![record.hash, record.item, state.word(), project, row, record.body])?;
    Ok(())
}

/// Records that a revision of an item takes the place of others of the same item.
pub(super) fn put_replaced(tx: &Connection, item: &str, replaced: &[String], by: &str) -> rusqlite::Result<()> {
    let mut put =
        tx.prepare_cached("INSERT INTO team_replaced (item, hash, by) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING")?;
    replaced.iter().filter(|hash| hash.as_str() != by).try_for_each(|hash| put.execute([item, hash.as_str(), by]).map(drop))
}

fn stage_deletions(tx: &Connection) -> rusqlite::Result<u64> {
    let (member, is_curator) = own_member(tx)?;
    // What never left leaves no trace.
    tx.execute(
        "DELETE FROM team_records WHERE gone AND kind = 'memory' AND state IN ('review', 'pending', 'dropped', 'refused')",
        [],
    )?;
    let gone: Vec<(i64, String, String, String, String, String)> = tx
        .prepare(
            "SELECT number, hash, item, state, author, project_id FROM team_records
             WHERE gone AND kind = 'memory' AND state IN ('queued', 'sent', 'pulled') ORDER BY number",
        )?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?)))?
        .collect::<rusqlite::Result<_>>()?;
    let mut staged = 0;
    for (number, hash, item, state, author, project) in gone {
        tx.execute("UPDATE team_records SET state = 'dead', gone = 0, changed = 0 WHERE number = ?1", [number])?;
        let is_ours = state != "pulled" || author == member || is_curator;
        if !is_ours || is_dead(tx, &item, &hash)? {
            continue;
        }
        // Of two edits side by side, deleting one decides for the other.
        let has_other_head = heads(tx, &item)?.iter().any(|other| *other != hash);
        let record = tombstone(&item, if has_other_head { &hash } else { "" });
        staged += tx.execute(
            "INSERT INTO team_records (hash, item, kind, state, target, project_id, body)
             VALUES (?1, ?2, 'tombstone', 'pending', ?3, ?4, ?5) ON CONFLICT DO NOTHING",
            params![record.hash, item, if has_other_head { hash.as_str() } else { "" }, project, record.body],
        )?;
    }
    tx.execute("UPDATE team_records SET gone = 0 WHERE gone", [])?;
    Ok(staged as u64)
}

/// Returns the hashes of an item's revisions that hold here.
fn heads(tx: &Connection, item: &str) -> rusqlite::Result<Vec<String>> {
    tx.prepare_cached(
        "SELECT hash FROM team_records r WHERE item = ?1 AND kind = 'memory' AND memory IS NOT NULL
           AND NOT EXISTS (SELECT 1 FROM team_replaced p WHERE p.item = r.item AND p.hash = r.hash)",
    )?
    .query_map([item], |row| row.get(0))?
    .collect()
}

fn queue(tx: &Connection, device: &str, bytes: usize, sealer: Option<&dyn Sealer>) -> rusqlite::Result<Vec<QueuedRecord>> {
    for kind in [RecordKind::Memory, RecordKind::Tombstone] {
        let last: i64 = tx
            .prepare_cached("SELECT COALESCE(max(sequence), 0) FROM team_records WHERE device = ?1 AND kind = ?2")?
            .query_row([device, kind.word()], |row| row.get(0))?;
        // Their order is the order in which they were staged.
        tx.prepare_cached(
            "UPDATE team_records SET state = 'queued', device = ?1, sequence = ?3 + place.n
             FROM (SELECT number AS of, row_number() OVER (ORDER BY number) AS n FROM team_records
                   WHERE state = 'pending' AND kind = ?2 AND body IS NOT NULL AND NOT changed AND NOT gone) AS place
             WHERE number = place.of",
        )?
        .execute(params![device, kind.word(), last])?;
    }
    let mut select = tx.prepare_cached(
        "SELECT kind, sequence, hash, item, body, sealed, number FROM team_records
         WHERE state = 'queued' AND device = ?1 AND body IS NOT NULL ORDER BY kind, sequence LIMIT 1000",
    )?;
    let mut rows = select.query([device])?;
    let mut queued: Vec<(i64, Option<String>, QueuedRecord)> = Vec::new();
    let mut total = 0;
    while let Some(row) = rows.next()? {
        let body: String = row.get(4)?;
        total += body.len();
        if total > bytes && !queued.is_empty() {
            break;
        }
        let kind = RecordKind::of_word(&row.get::<_, String>(0)?).unwrap_or(RecordKind::Memory);
        let record = QueuedRecord { kind, sequence: row.get(1)?, hash: row.get(2)?, item: row.get(3)?, body };
        queued.push((row.get(6)?, row.get(5)?, record));
    }
    drop(rows);
    let Some(with) = sealer else { return Ok(queued.into_iter().map(|(_, _, record)| record).collect()) };
    let mut ready = Vec::with_capacity(queued.len());
    for (number, earlier, mut record) in queued {
        if record.kind == RecordKind::Memory {
            let ciphertext = match earlier {
                Some(body) => Some(SealedText { hash: record.hash.clone(), body }),
                None => seal(tx, number, &record, with)?,
            };
            let Some(SealedText { hash, body }) = ciphertext else { continue };
            (record.hash, record.body) = (hash, body);
        }
        ready.push(record);
    }
    Ok(ready)
}

/// Seals a record that has its place in the series. One that cannot be sealed is refused, and stays here.
fn seal(tx: &Connection, number: i64, record: &QueuedRecord, sealer: &dyn Sealer) -> rusqlite::Result<Option<SealedText>> {
    let ciphertext = sealer.seal(&record.item, &record.body);
    match &ciphertext {
        Some(it) => {
            tx.prepare_cached("UPDATE team_replaced SET by = ?2 WHERE by = ?1 AND item = ?3")?.execute([
                &record.hash,
                &it.hash,
                &record.item,
            ])?;
            tx.prepare_cached("UPDATE team_records SET hash = ?2, sealed = ?3 WHERE number = ?1")?
                .execute(params![number, it.hash, it.body])?;
        }
        None => {
            tx.prepare_cached(
                "UPDATE team_records SET state = 'refused', reason = 'it is too long to be sealed', body = NULL WHERE number = ?1",
            )?
            .execute([number])?;
        }
    }
    Ok(ciphertext)
}
