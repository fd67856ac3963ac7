//! Digests: compresses old memories of one type into one memory that lists them.
//!
//! A memory is folded if it is old, nobody looked at it, and its [`rank::prior_score`] is low, the number by which search
//! breaks ties. A digest has the type of its 5 to 30 *sources*, which are of one session or close in time, and a line
//! for each. `throughline memory compress` makes digests; so does the background after a session's end, once a day and
//! for half a minute at most.
//!
//! Only what policies found is folded. Memories stay as they are if a person or an agent wrote them too, if they were
//! shared, pinned or marked wrong, learned in a second place or looked at, if they are still open, have a file, or hold for the project as a
//! whole. Of the summaries of sessions, the newest stay and older ones are folded whatever their age.
//!
//! - *A source keeps its row*: identifier, hash, occurrences, dates. It names its digest (`memories.digest`) and is in
//!   no index and no list. So reading its transcript again recognizes it, and forgetting, deleting and redacting reach
//!   it like any other memory. Restoring it means removing the name and indexing it.
//! - *A digest is derived* from its sources, and rewritten in the transaction that changes or deletes one of them.
//!   Without sources it is removed. It is not synced to a file, no policy's list has it (searches do), and `export`
//!   writes the sources instead. Deleting a digest deletes its sources: somebody who deletes it does not want to be
//!   told of them.
//! - *A source that is learned elsewhere is restored* and leaves its digest: it is useful again, and a line says less
//!   than it does. The copy of a line in a forked session does not count as elsewhere. Saving its text by hand, sharing
//!   it or syncing it to a file restores it too.
//! - *Purging* (`memory gc --purge`, never automatic) deletes the sources' texts and keeps their rows, so that reading
//!   again still brings nothing back. A purged source that is learned elsewhere comes back with the text from there.
//!   Until then the digest's lines are all that is left: forgetting removes single lines, and keywords that no other
//!   line has go with them.
//! - *Compression runs without asking* (`compress.auto`) because it can be undone, changes nothing that anybody wrote,
//!   and waits until a project has been known for as long as the age limit: everything that is folded could have been
//!   looked at. Turns are left out unless the configuration includes them, because details of old sessions are found by
//!   them.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension, params};

use super::index::{index, unindex, unqueue};
use super::memories::{COLUMNS, OWN_POLICY, content_hash, draft, forget_in_notes, from_row, insert, remove};
use super::text::folded;
use super::{Result, Store, from_json_or_default, json, time, time_from_sql};
use throughline_model::contract::{Draft, Memory, Origin};
use throughline_notes::one_line;
use throughline_search::rank;

/// The minimum number of memories in a digest. With fewer, one line each is hardly shorter than the memories.
pub(crate) const MIN_SOURCES: usize = 5;

/// The maximum number of memories in a digest. Nobody reads more lines than that.
pub(crate) const MAX_SOURCES: usize = 30;

/// The maximum length of a line, in characters, without identifier and day.
const MAX_LINE_CHARS: usize = 200;

/// The maximum number of keywords, and of files, in a digest. Those of the most sources come first.
const MAX_KEYWORDS: usize = 64;

/// How many keywords the title lists.
const TITLE_WORDS: usize = 5;

/// The maximum gap, in milliseconds, between consecutive memories that are grouped by time.
const MAX_GROUP_GAP_MS: u64 = 30 * 24 * 60 * 60 * 1000;

/// The attribute that marks a memory as a digest.
pub const DIGEST: (&str, &str) = ("source", "digest");

/// Kinds whose newest memories are never folded, regardless of their age: each summarizes a whole session, or what came
/// before a compaction.
const SUMMARIES: &str = "'session_summary', 'compact_summary'";

/// Which memories to fold into digests.
#[derive(Debug, Clone, Copy)]
pub struct FoldOptions<'a> {
    /// One project, or `None` for each project separately.
    pub project: Option<&'a str>,
    /// Fold memories that were learned, and last accessed, before this time, in milliseconds since the Unix epoch.
    pub before: u64,
    /// Fold memories whose [`rank::prior_score`], the prior that search uses to break ties, is below this.
    pub below: f64,
    /// Whether to fold archived turns too.
    pub turns: bool,
    /// How many of the newest session summaries each project keeps; older ones are folded whatever their age and worth.
    pub summaries: u32,
    /// The current time.
    pub now: u64,
}

/// Memories that can be folded into one digest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoldGroup {
    rows: Vec<i64>,
    /// The project's identifier.
    pub project: String,
    /// Their kind.
    pub kind: String,
}

/// A source of a digest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DigestSource {
    /// The memory's identifier.
    pub id: String,
    /// Its title; if its text was purged, its line in the digest.
    pub title: String,
    /// When it was learned.
    pub created: u64,
}

/// A digest with its sources.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DigestDetails {
    /// When it was made.
    pub made_at: u64,
    /// When the texts of its sources were purged.
    pub purged_at: Option<u64>,
    /// Its sources, oldest first.
    pub sources: Vec<DigestSource>,
}

/// The outcome of restoring sources.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UnfoldOutcome {
    /// They are restored.
    Back(Vec<DigestSource>),
    /// Their texts were purged.
    Purged,
    /// The memory does not exist, or is neither a digest nor a source.
    NotFolded,
}

/// A memory that can be folded.
struct FoldCandidate {
    rowid: i64,
    project: String,
    kind: String,
    session: String,
    created: u64,
}

/// Memories of project `?1`, or of all, that were learned before `?2` and not accessed since `?3`. Selects only
/// memories made by policies, and of those none that a person or an agent also wrote (saved, imported, a note, a file),
/// that is shared, pinned or marked wrong, that was learned in a second place, that applies to the whole project, that the user stated, or that
/// is still open.
const CANDIDATES: &str = "
    SELECT m.rowid, m.project_id, m.type, m.session_id, m.created_at, m.importance, m.seen_count, m.access_count
    FROM memories m JOIN makers a ON a.number = m.maker
    WHERE (?1 IS NULL OR m.project_id = ?1) AND m.digest IS NULL AND a.policy <> 'throughline' AND m.seen_count = 1
      AND m.created_at < ?2 AND COALESCE(m.accessed_at, 0) < ?3
      AND m.type NOT IN ('preference', 'correction', 'architecture', 'pattern', 'convention', 'task', 'plan', 'failure')
      AND NOT EXISTS (SELECT 1 FROM digests d WHERE d.memory = m.rowid)
      AND NOT EXISTS (SELECT 1 FROM notes n WHERE n.memory = m.rowid)
      AND NOT EXISTS (SELECT 1 FROM failures f WHERE f.memory = m.rowid)
      AND NOT EXISTS (SELECT 1 FROM sightings s WHERE s.memory = m.rowid
                        AND (s.session_id = '' OR s.at >= ?2 OR s.key GLOB 'saved[:-]*' OR s.key GLOB 'import:*' OR s.key GLOB 'note:*'))
      AND NOT EXISTS (SELECT 1 FROM sightings s WHERE s.session_id = '' AND s.key = 'shared:' || m.id)
      AND instr(m.metadata, '[\"source\",') = 0 AND m.pinned_at IS NULL AND m.wrong_at IS NULL";

fn candidates(conn: &Connection, folding: &FoldOptions<'_>) -> rusqlite::Result<Vec<FoldCandidate>> {
    let row = |row: &rusqlite::Row<'_>| -> rusqlite::Result<(FoldCandidate, f64)> {
        let candidate = FoldCandidate {
            rowid: row.get(0)?,
            project: row.get(1)?,
            kind: row.get(2)?,
            session: row.get(3)?,
            created: time_from_sql(row.get(4)?),
        };
        let worth = rank::prior_score(row.get(5)?, row.get(4)?, row.get(6)?, row.get(7)?, time(folding.now));
        Ok((candidate, worth))
    };
    let before = time(folding.before);
    let mut found: Vec<FoldCandidate> = Vec::new();
    let mut old =
        conn.prepare(&format!("{CANDIDATES} AND m.type NOT IN ({SUMMARIES}) AND (m.type NOT IN ('turn', 'result') OR ?4)"))?;
    for of in old.query_map(params![folding.project, before, before, folding.turns], row)? {
        let (candidate, worth) = of?;
        if worth < folding.below {
            found.push(candidate);
        }
    }
    let mut beyond = conn.prepare(&format!(
        "{CANDIDATES} AND m.type IN ({SUMMARIES}) AND m.rowid IN (
             SELECT rowid FROM (
                 SELECT rowid, row_number() OVER (PARTITION BY project_id ORDER BY created_at DESC, id) AS place
                 FROM memories o WHERE type IN ({SUMMARIES}) AND digest IS NULL AND (?1 IS NULL OR project_id = ?1)
                   AND NOT EXISTS (SELECT 1 FROM digests d WHERE d.memory = o.rowid))
             WHERE place > ?4)"
    ))?;
    for of in beyond.query_map(params![folding.project, i64::MAX, before, folding.summaries], row)? {
        found.push(of?.0);
    }
    found.sort_by(|a, b| (&a.project, &a.kind, a.created, a.rowid).cmp(&(&b.project, &b.kind, b.created, b.rowid)));
    Ok(found)
}

/// Splits candidates into parts of [`MIN_SOURCES`] to [`MAX_SOURCES`], as even as possible. Requires at least [`MIN_SOURCES`].
fn parts(all: &[FoldCandidate]) -> impl Iterator<Item = &[FoldCandidate]> {
    let size = all.len().div_ceil(all.len().div_ceil(MAX_SOURCES).max(1)).max(1);
    all.chunks(size).filter(|part| part.len() >= MIN_SOURCES)
}

/// Groups candidates of one project and kind: by session if a session has enough of them, and otherwise by closeness in
/// time. Groups that are too small are dropped.
fn grouped(all: Vec<FoldCandidate>) -> Vec<FoldGroup> {
    let mut sessions: HashMap<String, usize> = HashMap::new();
    for candidate in &all {
        *sessions.entry(candidate.session.clone()).or_default() += 1;
    }
    let (mut own, mut rest): (Vec<FoldCandidate>, Vec<FoldCandidate>) =
        all.into_iter().partition(|it| !it.session.is_empty() && sessions[&it.session] >= MIN_SOURCES);
    own.sort_by(|a, b| a.session.cmp(&b.session).then(a.created.cmp(&b.created)).then(a.rowid.cmp(&b.rowid)));
    rest.sort_by_key(|it| (it.created, it.rowid));
    let of_sessions = own.chunk_by(|a, b| a.session == b.session);
    let of_times = rest.chunk_by(|a, b| b.created - a.created <= MAX_GROUP_GAP_MS);
    let parts = of_sessions.chain(of_times).filter(|all| all.len() >= MIN_SOURCES).flat_map(parts);
    let mut groups: Vec<(u64, FoldGroup)> = parts
        .map(|part| {
            let first = &part[0];
            let rows = part.iter().map(|it| it.rowid).collect();
            (first.created, FoldGroup { rows, project: first.project.clone(), kind: first.kind.clone() })
        })
        .collect();
    groups.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| a.1.rows.cmp(&b.1.rows)));
    groups.into_iter().map(|(_, group)| group).collect()
}

impl Store {
    /// Returns the groups that can be folded, oldest first within each project and kind.
    pub fn foldable(&self, folding: &FoldOptions<'_>) -> Result<Vec<FoldGroup>> {
        let mut all = self.explain(candidates(&self.conn, folding))?;
        let mut groups = Vec::new();
        while let Some(last) = all.last() {
            let from = all.partition_point(|it| (&it.project, &it.kind) < (&last.project, &last.kind));
            groups.push(grouped(all.split_off(from)));
        }
        groups.reverse();
        Ok(groups.concat())
    }

    /// Returns the memories of a group, oldest first.
    pub fn group_sources(&self, group: &FoldGroup) -> Result<Vec<DigestSource>> {
        self.explain(memories(&self.conn, &group.rows)).map(|all| all.into_iter().map(DigestSource::from).collect())
    }

    /// Folds a group and returns the digest's identifier, or `None` if others changed so many of its memories that too
    /// few are left.
    pub fn fold(&mut self, group: &FoldGroup, folding: &FoldOptions<'_>) -> Result<Option<String>> {
        self.write(|tx| fold(tx, group, folding))
    }

    /// Restores the sources of a digest and removes it, or restores a single source. Restored memories count as
    /// accessed now; otherwise they would be folded again at once.
    pub fn unfold(&mut self, id: &str, now: u64) -> Result<UnfoldOutcome> {
        self.write(|tx| unfold(tx, id, now))
    }

    /// Purges the texts of all sources whose digests were made before `before`; without `really`, only counts them. The
    /// digests stay.
    pub fn purge(&mut self, before: u64, project: Option<&str>, now: u64, really: bool) -> Result<u64> {
        self.write(|tx| {
            let digests: Vec<i64> = tx
                .prepare(
                    "SELECT d.memory FROM digests d JOIN memories m ON m.rowid = d.memory
                     WHERE d.purged_at IS NULL AND d.made_at < ?1 AND (?2 IS NULL OR m.project_id = ?2)",
                )?
                .query_map(params![time(before), project], |row| row.get(0))?
                .collect::<rusqlite::Result<_>>()?;
            let mut purged = 0;
            for digest in digests {
                if really {
                    purged += tx
                        .prepare_cached(
                            "UPDATE memories SET title = '', content = '', keywords = '[]', files = '[]', metadata = '[]'
                             WHERE digest = ?1",
                        )?
                        .execute([digest])? as u64;
                    tx.prepare_cached("UPDATE digests SET purged_at = ?2 WHERE memory = ?1")?
                        .execute(params![digest, time(now)])?;
                } else {
                    purged += sources(tx, digest)?.len() as u64;
                }
            }
            Ok(purged)
        })
    }

    /// Returns a digest with its sources, or `None` if the memory is not a digest.
    pub fn folded(&self, id: &str) -> Result<Option<DigestDetails>> {
        self.explain((|| {
            let digest = self
                .conn
                .prepare_cached(
                    "SELECT d.memory, d.made_at, d.purged_at, m.content FROM digests d JOIN memories m ON m.rowid = d.memory
                     WHERE m.id = ?1",
                )?
                .query_row([id], |row| {
                    Ok((row.get(0)?, row.get(1)?, row.get::<_, Option<i64>>(2)?, row.get::<_, String>(3)?))
                })
                .optional()?;
            let Some((rowid, made_at, purged_at, content)) = digest else { return Ok(None) };
            let mut sources: Vec<DigestSource> =
                memories(&self.conn, &sources(&self.conn, rowid)?)?.into_iter().map(DigestSource::from).collect();
            if purged_at.is_some() {
                for source in &mut sources {
                    let line = content.lines().filter_map(Line::parse).find(|line| line.id == source.id);
                    source.title = line.map(|line| line.text.to_owned()).unwrap_or_default();
                }
            }
            Ok(Some(DigestDetails { made_at: time_from_sql(made_at), purged_at: purged_at.map(time_from_sql), sources }))
        })())
    }

    /// Returns whether the project should be checked for old memories: the project has been known for longer than the
    /// age at which memories become old, so that anything to be folded could have been accessed before, and the last
    /// check was at least a day ago.
    pub fn is_folding_due(&self, project: &str, before: u64, now: u64) -> Result<bool> {
        const DAY: i64 = 24 * 60 * 60 * 1000;
        self.explain(
            self.conn.prepare_cached("SELECT created_at, COALESCE(compressed_at, 0) FROM projects WHERE id = ?1").and_then(
                |mut s| s.query_row([project], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?))).optional(),
            ),
        )
        .map(|times| times.is_some_and(|(known, last)| known < time(before) && last <= time(now) - DAY))
    }

    /// Records that the check was done.
    pub fn mark_folded(&self, project: &str, now: u64) -> Result<()> {
        self.explain(
            self.conn.execute("UPDATE projects SET compressed_at = ?2 WHERE id = ?1", params![project, time(now)]),
        )?;
        Ok(())
    }
}

impl From<Memory> for DigestSource {
    fn from(memory: Memory) -> Self {
        let title = if memory.title.trim().is_empty() { one_line(&memory.content, MAX_LINE_CHARS) } else { memory.title };
        Self { id: memory.id, title, created: memory.created }
    }
}

/// Returns the memories of those rows that exist, oldest first.
fn memories(conn: &Connection, rows: &[i64]) -> rusqlite::Result<Vec<Memory>> {
    let mut select = conn.prepare_cached(&format!("SELECT {COLUMNS} FROM memories m WHERE m.rowid = ?1"))?;
    let mut found = Vec::with_capacity(rows.len());
    for row in rows {
        found.extend(select.query_row([row], from_row).optional()?);
    }
    found.sort_by(|a: &Memory, b| a.created.cmp(&b.created).then_with(|| a.id.cmp(&b.id)));
    Ok(found)
}

/// Returns the rows of a digest's sources.
pub(super) fn sources(conn: &Connection, digest: i64) -> rusqlite::Result<Vec<i64>> {
    conn.prepare_cached("SELECT rowid FROM memories WHERE digest = ?1 ORDER BY rowid")?
        .query_map([digest], |row| row.get(0))?
        .collect()
}

/// Returns the digest of a source, and whether its sources are purged.
fn digest_of(conn: &Connection, rowid: i64) -> rusqlite::Result<Option<(i64, bool)>> {
    conn.prepare_cached(
        "SELECT m.digest, d.purged_at IS NOT NULL FROM memories m LEFT JOIN digests d ON d.memory = m.digest
         WHERE m.rowid = ?1 AND m.digest IS NOT NULL",
    )?
    .query_row([rowid], |row| Ok((row.get(0)?, row.get(1)?)))
    .optional()
}

/// Returns whether the memory is folded into a digest.
pub(super) fn is_source(conn: &Connection, rowid: i64) -> rusqlite::Result<bool> {
    Ok(digest_of(conn, rowid)?.is_some())
}

/// Returns the source with that identifier in the project.
pub(super) fn source_named(conn: &Connection, project: &str, id: &str) -> rusqlite::Result<Option<i64>> {
    conn.prepare_cached("SELECT rowid FROM memories WHERE id = ?2 AND project_id = ?1 AND digest IS NOT NULL")?
        .query_row([project, id], |row| row.get(0))
        .optional()
}

/// Returns whether the memory is a digest.
pub(super) fn is_digest(conn: &Connection, rowid: i64) -> rusqlite::Result<bool> {
    conn.prepare_cached("SELECT 1 FROM digests WHERE memory = ?1")?.exists([rowid])
}

fn fold(tx: &Connection, group: &FoldGroup, folding: &FoldOptions<'_>) -> rusqlite::Result<Option<String>> {
    // Leave out memories that were seen, accessed, shared or folded since.
    let still: Vec<i64> = tx
        .prepare_cached(&format!("{CANDIDATES} AND m.rowid IN (SELECT value FROM json_each(?4))"))?
        .query_map(params![group.project, i64::MAX, time(folding.before), json(&group.rows)], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let all = memories(tx, &still)?;
    if all.len() < MIN_SOURCES {
        return Ok(None);
    }
    let draft = build_digest(&group.kind, &all);
    let hash = content_hash(&draft);
    let session = &all[0].session_id;
    let session = if all.iter().all(|it| it.session_id == *session) { session } else { "" };
    let created = draft.origin.at.unwrap_or(folding.now);
    let (digest, id) = insert(tx, &group.project, session, &draft, hash, None, OWN_POLICY, created)?;
    tx.prepare_cached("INSERT INTO digests (memory, made_at) VALUES (?1, ?2)")?
        .execute(params![digest, time(folding.now)])?;
    for rowid in still {
        unindex(tx, rowid)?;
        unqueue(tx, rowid)?;
        tx.prepare_cached("UPDATE memories SET digest = ?2 WHERE rowid = ?1")?.execute([rowid, digest])?;
    }
    Ok(Some(id))
}

fn unfold(tx: &Connection, id: &str, now: u64) -> rusqlite::Result<UnfoldOutcome> {
    let Some(rowid) =
        tx.query_row("SELECT rowid FROM memories WHERE id = ?1", [id], |row| row.get::<_, i64>(0)).optional()?
    else {
        return Ok(UnfoldOutcome::NotFolded);
    };
    let purged: Option<bool> =
        tx.query_row("SELECT purged_at IS NOT NULL FROM digests WHERE memory = ?1", [rowid], |row| row.get(0)).optional()?;
    let rows = match (purged, digest_of(tx, rowid)?) {
        (Some(true), _) | (_, Some((_, true))) => return Ok(UnfoldOutcome::Purged),
        (None, None) => return Ok(UnfoldOutcome::NotFolded),
        (Some(false), _) => sources(tx, rowid)?,
        (None, Some(_)) => vec![rowid],
    };
    let back = memories(tx, &rows)?.into_iter().map(DigestSource::from).collect();
    for row in rows {
        tx.prepare_cached("UPDATE memories SET accessed_at = ?2 WHERE rowid = ?1")?.execute(params![row, time(now)])?;
        revive(tx, row, None)?;
    }
    Ok(UnfoldOutcome::Back(back))
}

/// Restores a source and removes it from its digest. A purged source gets its text from `said`, which has the same
/// hash. Returns false if the memory is not a source, or if its text was purged and `said` is `None`.
pub(super) fn revive(tx: &Connection, rowid: i64, said: Option<&Draft>) -> rusqlite::Result<bool> {
    let Some((_, is_purged)) = digest_of(tx, rowid)? else { return Ok(false) };
    if is_purged {
        let Some(said) = said else { return Ok(false) };
        tx.prepare_cached(
            "UPDATE memories SET title = ?2, content = ?3, keywords = ?4, files = ?5, metadata = ?6 WHERE rowid = ?1",
        )?
        .execute(params![
            rowid,
            said.title,
            said.content,
            json(&said.keywords),
            json(&said.files),
            json(&said.attributes)
        ])?;
    }
    leave_digest(tx, rowid)?;
    index(tx, rowid, &draft(tx, rowid)?)?;
    Ok(true)
}

/// Removes a source from its digest. The source is not indexed yet.
pub(super) fn leave_digest(tx: &Connection, rowid: i64) -> rusqlite::Result<()> {
    let Some((digest, _)) = digest_of(tx, rowid)? else { return Ok(()) };
    let id: String = tx
        .prepare_cached("UPDATE memories SET digest = NULL WHERE rowid = ?1 RETURNING id")?
        .query_row([rowid], |row| row.get(0))?;
    refresh(tx, digest, &id)
}

/// Prepares for the deletion of a memory: a source leaves its digest; the sources of a digest are restored, or deleted
/// if their texts are purged.
pub(super) fn prepare_deletion(tx: &Connection, rowid: i64) -> rusqlite::Result<()> {
    leave_digest(tx, rowid)?;
    if is_digest(tx, rowid)? {
        for source in sources(tx, rowid)? {
            if !revive(tx, source, None)? {
                remove(tx, source)?;
            }
        }
    }
    Ok(())
}

/// Permanently deletes a digest's sources, and with the last one the digest itself.
pub(super) fn delete_sources(tx: &Connection, digest: i64, now: u64) -> rusqlite::Result<()> {
    if !is_digest(tx, digest)? {
        return Ok(());
    }
    for source in sources(tx, digest)? {
        add_tombstone(tx, source, now)?;
        forget_in_notes(tx, source)?;
        remove(tx, source)?;
    }
    Ok(())
}

/// Adds a tombstone, so that a memory's content does not come back.
pub(super) fn add_tombstone(tx: &Connection, rowid: i64, now: u64) -> rusqlite::Result<()> {
    tx.prepare_cached(
        "INSERT INTO tombstones (project_id, content_hash, deleted_at)
         SELECT project_id, content_hash, ?2 FROM memories WHERE rowid = ?1 ON CONFLICT DO UPDATE SET by_file = 0",
    )?
    .execute(params![rowid, time(now)])?;
    Ok(())
}

/// Returns the digest's line for a source whose text was purged, or `None` for any other memory.
pub(super) fn line_of(conn: &Connection, id: &str) -> rusqlite::Result<Option<String>> {
    let content: Option<String> = conn
        .prepare_cached(
            "SELECT o.content FROM memories m JOIN digests d ON d.memory = m.digest AND d.purged_at IS NOT NULL
                    JOIN memories o ON o.rowid = d.memory WHERE m.id = ?1",
        )?
        .query_row([id], |row| row.get(0))
        .optional()?;
    Ok(content.and_then(|content| {
        content.lines().filter_map(Line::parse).find(|line| line.id == id).map(|line| line.text.to_owned())
    }))
}

/// Rewrites a digest from its sources; if their texts are purged, removes the line of `gone` instead. A digest without
/// sources is deleted.
pub(super) fn refresh(tx: &Connection, digest: i64, gone: &str) -> rusqlite::Result<()> {
    let found = tx
        .prepare_cached(&format!(
            "SELECT {COLUMNS}, d.purged_at IS NOT NULL FROM memories m JOIN digests d ON d.memory = m.rowid WHERE m.rowid = ?1"
        ))?
        .query_row([digest], |row| Ok((from_row(row)?, row.get::<_, bool>(11)?)))
        .optional()?;
    let Some((before, is_purged)) = found else { return Ok(()) };
    let draft =
        if is_purged { without(&before, gone) } else { build_digest(&before.kind, &memories(tx, &sources(tx, digest)?)?) };
    if draft.content.is_empty() {
        unindex(tx, digest)?;
        tx.prepare_cached("DELETE FROM memories WHERE rowid = ?1")?.execute([digest])?;
        return Ok(());
    }
    if (&draft.title, &draft.content, &draft.keywords, &draft.files)
        == (&before.title, &before.content, &before.keywords, &before.files)
    {
        return Ok(());
    }
    unindex(tx, digest)?;
    tx.prepare_cached(
        "UPDATE memories SET title = ?2, content = ?3, content_hash = ?4, keywords = ?5, files = ?6, importance = ?7,
                weight = ?7, created_at = ?8 WHERE rowid = ?1",
    )?
    .execute(params![
        digest,
        draft.title,
        draft.content,
        content_hash(&draft),
        json(&draft.keywords),
        json(&draft.files),
        f64::from(draft.importance),
        draft.origin.at.map(time),
    ])?;
    index(tx, digest, &draft)
}

/// A line of a digest: `- IDENTIFIER DAY TEXT`.
struct Line<'a> {
    id: &'a str,
    day: &'a str,
    text: &'a str,
}

impl<'a> Line<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let (id, rest) = line.strip_prefix("- ")?.split_once(' ')?;
        let (day, text) = rest.split_once(' ').unwrap_or((rest, ""));
        Some(Self { id, day, text })
    }
}

/// Returns the identifiers in a digest's lines.
pub(super) fn ids_in(content: &str) -> Vec<&str> {
    content.lines().filter_map(Line::parse).map(|line| line.id).collect()
}

/// Formats the line of a memory: its title, and as much of its content as fits.
fn line(memory: &Memory) -> String {
    let (title, content) = (memory.title.trim(), memory.content.trim());
    let said = if content.is_empty() || title.starts_with(content) {
        title.to_owned()
    } else if content.starts_with(title) {
        content.to_owned()
    } else {
        // Do not join with a colon: the text around one looks like a name and its secret.
        format!("{title} — {content}")
    };
    format!("- {} {} {}", memory.id, day(memory.created), one_line(&said, MAX_LINE_CHARS))
}

/// Returns the UTC day of a time, which is the same on every machine.
fn day(at: u64) -> String {
    let at = i64::try_from(at).ok().and_then(|at| jiff::Timestamp::from_millisecond(at).ok()).unwrap_or_default();
    at.to_zoned(jiff::tz::TimeZone::UTC).date().to_string()
}

/// Returns the words of these lists, the most frequent first.
fn most<'a>(lists: impl Iterator<Item = &'a Vec<String>>) -> Vec<String> {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for word in lists.flatten() {
        let place = *places.entry(word).or_insert_with(|| {
            counts.push((word, 0));
            counts.len() - 1
        });
        counts[place].1 += 1;
    }
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    counts.into_iter().take(MAX_KEYWORDS).map(|(word, _)| word.to_owned()).collect()
}

/// Builds the digest of these memories, which must be sorted oldest first.
#[expect(clippy::cast_precision_loss, reason = "some thirty")]
fn build_digest(kind: &str, all: &[Memory]) -> Draft {
    let lines: Vec<String> = all.iter().map(line).collect();
    let sum: f32 = all.iter().map(|it| it.importance).sum();
    written(Draft {
        kind: kind.to_owned(),
        content: lines.join("\n"),
        keywords: most(all.iter().map(|it| &it.keywords)),
        files: most(all.iter().map(|it| &it.files)),
        importance: sum / all.len().max(1) as f32,
        origin: Origin { line_uuid: None, at: all.iter().map(|it| it.created).max() },
        attributes: vec![(DIGEST.0.into(), DIGEST.1.into())],
        ..Draft::default()
    })
}

/// Removes one line from a digest whose sources are purged. Keywords and files that no other line contains are dropped
/// too, since they may have come from that line.
fn without(digest: &Memory, gone: &str) -> Draft {
    let lines: Vec<&str> =
        digest.content.lines().filter(|line| Line::parse(line).is_none_or(|line| line.id != gone)).collect();
    let content = lines.join("\n");
    let said = folded(&content);
    let kept = |words: &[String]| -> Vec<String> {
        let is_same = content == digest.content;
        words.iter().filter(|word| is_same || said.contains(&folded(word))).cloned().collect()
    };
    written(Draft {
        kind: digest.kind.clone(),
        keywords: kept(&digest.keywords),
        files: kept(&digest.files),
        importance: digest.importance,
        origin: Origin { line_uuid: None, at: Some(digest.created) },
        attributes: digest.attributes.clone(),
        content,
        ..Draft::default()
    })
}

/// Fills in the title, which follows from the rest.
fn written(draft: Draft) -> Draft {
    let lines: Vec<Line<'_>> = draft.content.lines().filter_map(Line::parse).collect();
    let days = (lines.iter().map(|line| line.day).min(), lines.iter().map(|line| line.day).max());
    let days = match days {
        (Some(first), Some(last)) if first != last => format!(", {first} to {last}"),
        (Some(first), _) => format!(", {first}"),
        _ => String::new(),
    };
    let words = draft.keywords.iter().take(TITLE_WORDS).map(String::as_str).collect::<Vec<_>>().join(", ");
    let words = if words.is_empty() { words } else { format!(": {words}") };
    let title = one_line(&format!("Digest of {} × {}{days}{words}", lines.len(), draft.kind), MAX_LINE_CHARS);
    Draft { title, ..draft }
}

/// Sources whose digest is missing, because of damage.
pub(super) const LOST_SOURCES_SQL: &str = "SELECT rowid FROM memories m WHERE digest IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM digests d JOIN memories o ON o.rowid = d.memory AND o.digest IS NULL WHERE d.memory = m.digest)";

/// Returns the digests whose lines do not match their sources.
pub(super) fn stale_digests(conn: &Connection) -> rusqlite::Result<Vec<i64>> {
    let mut unfit = Vec::new();
    let mut select = conn.prepare(
        "SELECT m.rowid, m.content, (SELECT json_group_array(id) FROM memories s WHERE s.digest = m.rowid)
         FROM digests d JOIN memories m ON m.rowid = d.memory WHERE d.purged_at IS NULL",
    )?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        let content: String = row.get(1)?;
        let mut ids: Vec<String> = from_json_or_default(&row.get::<_, String>(2)?);
        let mut said = ids_in(&content);
        ids.sort_unstable();
        said.sort_unstable();
        if ids.is_empty() || ids != said {
            unfit.push(row.get(0)?);
        }
    }
    Ok(unfit)
}

/// Restores missing digests if their text still exists, or else their sources, and rewrites digests that do not match
/// their sources.
pub(super) fn repair(tx: &Connection, now: u64) -> rusqlite::Result<()> {
    tx.execute(
        "INSERT INTO digests (memory, made_at, purged_at)
         SELECT o.rowid, ?1, CASE WHEN max(s.title <> '' OR s.content <> '') THEN NULL ELSE ?1 END
         FROM memories s JOIN memories o ON o.rowid = s.digest
         WHERE o.digest IS NULL AND instr(o.metadata, ?2) > 0 AND NOT EXISTS (SELECT 1 FROM digests d WHERE d.memory = o.rowid)
         GROUP BY o.rowid",
        params![time(now), json(&DIGEST)],
    )?;
    let lost: Vec<i64> = tx.prepare(LOST_SOURCES_SQL)?.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    for rowid in lost {
        let is_text: bool = tx.query_row(
            "UPDATE memories SET digest = NULL WHERE rowid = ?1 RETURNING title <> '' OR content <> ''",
            [rowid],
            |row| row.get(0),
        )?;
        if is_text {
            unindex(tx, rowid)?;
            index(tx, rowid, &draft(tx, rowid)?)?;
        } else {
            remove(tx, rowid)?;
        }
    }
    stale_digests(tx)?.into_iter().try_for_each(|digest| refresh(tx, digest, ""))
}
