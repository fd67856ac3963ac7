//! Tables `notes` and `note_files`: memories as notes, and the files that they are synced with.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::memories::{self, COLUMNS, ContentHash, OWN_POLICY, SAVED};
use super::{Result, Store, StoreError, classify, digests, from_json_or_default, json, projects, sharing, time};
use throughline_model::contract::{Draft, Memory, Origin};
use throughline_model::digest::sha256_parts;
use throughline_model::project::Project;
use throughline_model::redacted::Redacted;
use throughline_notes::registry::Registry;
use throughline_notes::{MAX_TITLE_CHARS, Note, describe, links, one_line, slug};

/// Identifies a stored note to the store. It holds only until the next write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoteRow(i64);

/// A stored note.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredNote {
    /// Its row.
    pub row: NoteRow,
    /// The identifier of its memory.
    pub memory: String,
    /// The name of its file, without folder and extension. A note without a file yet has the name that it would be
    /// given.
    pub stem: String,
    /// Whether the name is stored.
    pub is_named: bool,
    /// The note.
    pub note: Redacted<Note>,
}

/// The outcome of storing a note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PutNoteOutcome {
    /// It was stored under this name.
    Stored {
        /// Its identifier.
        uid: String,
        /// The name of its file.
        stem: String,
    },
    /// This note has the same content, or the same title on the same day.
    Duplicate {
        /// Its identifier.
        uid: String,
        /// Its type.
        note_type: String,
        /// The name of its file.
        stem: String,
    },
    /// The user permanently deleted this content.
    Forgotten,
}

/// A file that a note was synced with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyncedFile {
    /// The note's identifier.
    pub uid: String,
    /// The SHA-256 of the file when it was synced.
    pub file_hash: [u8; 32],
    /// The SHA-256 of the note when it was synced, rendered as a file.
    pub note_hash: [u8; 32],
    /// The size in bytes.
    pub size: u64,
    /// The modification time, in nanoseconds since the Unix epoch.
    pub modified: i64,
    /// Whether both sides were changed and the conflict is unresolved.
    pub conflict: bool,
}

/// Where a note comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoteOrigin {
    /// The user or an agent wrote it now; a duplicate is not stored again.
    Written,
    /// It was read from a file, under its own identifier.
    FromFile,
}

/// Returns the day of a time in this machine's time zone, with which a note's name begins.
pub fn day(at: u64) -> String {
    let at = i64::try_from(at).ok().and_then(|at| jiff::Timestamp::from_millisecond(at).ok()).unwrap_or_default();
    at.to_zoned(jiff::tz::TimeZone::system()).date().to_string()
}

impl Store {
    /// Returns all notes of a project in the order in which they were learned: memories written as notes, and memories
    /// made by policies whose kind is a note type. Digests and their sources are excluded: a digest follows from its
    /// sources and would appear beside them on another machine.
    pub fn notes_of(&self, project: &str, registry: &Registry) -> Result<Vec<StoredNote>> {
        self.notes_where(
            project,
            registry,
            "m.digest IS NULL AND NOT EXISTS (SELECT 1 FROM digests d WHERE d.memory = m.rowid)",
        )
    }

    /// Like [`Store::notes_of`], but includes the sources of digests instead of the digests; for purged sources, the
    /// digest.
    pub fn notes_to_export(&self, project: &str, registry: &Registry) -> Result<Vec<StoredNote>> {
        self.notes_where(project, registry, super::export::EXPORTED)
    }

    fn notes_where(&self, project: &str, registry: &Registry, condition: &str) -> Result<Vec<StoredNote>> {
        let kinds = json(&registry.kinds());
        self.explain((|| {
            let sql = format!(
                "SELECT {COLUMNS}, m.rowid, {NOTE_COLUMNS} FROM memories m LEFT JOIN notes n ON n.memory = m.rowid
                 WHERE m.project = (SELECT number FROM projects WHERE id = ?1) AND (n.memory IS NOT NULL OR m.type IN (SELECT value FROM json_each(?2)))
                   AND {condition} ORDER BY m.created_at, m.id"
            );
            let mut notes: Vec<StoredNote> = self
                .conn
                .prepare_cached(&sql)?
                .query_map(params![project, kinds], |row| from_row(row, registry))?
                .collect::<rusqlite::Result<_>>()?;
            name(&mut notes);
            Ok(notes)
        })())
    }

    /// Returns the notes of these memories, in order; memories that are not notes are left out.
    pub fn notes_by_id(&self, ids: &[&str], registry: &Registry) -> Result<Vec<StoredNote>> {
        self.explain((|| {
            let sql = format!(
                "SELECT {COLUMNS}, m.rowid, {NOTE_COLUMNS} FROM memories m LEFT JOIN notes n ON n.memory = m.rowid WHERE m.id = ?1"
            );
            let mut one = self.conn.prepare_cached(&sql)?;
            let mut notes = Vec::with_capacity(ids.len());
            for id in ids {
                notes.extend(one.query_row([id], |row| from_row(row, registry)).optional()?);
            }
            Ok(notes)
        })())
    }

    /// Returns the notes of a project that a link may refer to: those with this name, with or without its day, or with
    /// this identifier; otherwise the only one whose name contains it.
    pub fn notes_named(&self, project: &str, target: &str, registry: &Registry) -> Result<Vec<StoredNote>> {
        self.explain((|| {
            let sql = format!(
                "SELECT {COLUMNS}, m.rowid, {NOTE_COLUMNS} FROM memories m LEFT JOIN notes n ON n.memory = m.rowid
                 WHERE m.project_id = ?1 AND (m.rowid IN (SELECT memory FROM notes WHERE project_id = ?1 AND (stem = ?2 OR uid = ?2))
                                              OR m.id = ?2) ORDER BY m.created_at"
            );
            let find = |sql: &str| -> rusqlite::Result<Vec<StoredNote>> {
                self.conn.prepare_cached(sql)?.query_map([project, target], |row| from_row(row, registry))?.collect()
            };
            let mut notes = find(&sql)?;
            if notes.is_empty() && !links::is_day(target.split('_').next().unwrap_or_default()) {
                // Match names without their day. The day is the first ten characters, followed by `_`.
                let sql = format!(
                    "SELECT {COLUMNS}, m.rowid, {NOTE_COLUMNS} FROM notes n JOIN memories m ON m.rowid = n.memory
                     WHERE n.project_id = ?1 AND substr(n.stem, 11, 1) = '_' AND substr(n.stem, 12) = ?2 ORDER BY m.created_at"
                );
                notes = find(&sql)?;
            }
            if notes.is_empty() && target.len() >= links::MIN_PARTIAL_NAME_BYTES {
                let sql = format!(
                    "SELECT {COLUMNS}, m.rowid, {NOTE_COLUMNS} FROM notes n JOIN memories m ON m.rowid = n.memory
                     WHERE n.project_id = ?1 AND instr(n.stem, ?2) > 0 LIMIT 2"
                );
                notes = find(&sql)?;
                notes.truncate(usize::from(notes.len() == 1));
            }
            Ok(notes)
        })())
    }

    /// Stores a note.
    pub fn put_note(
        &mut self,
        project: &Project,
        note: &Redacted<Note>,
        way: NoteOrigin,
        registry: &Registry,
        now: u64,
    ) -> Result<PutNoteOutcome> {
        self.write(|tx| {
            projects::put(tx, project, now)?;
            put(tx, project, note, "", way, registry)
        })
    }

    /// Applies the changes that a sync found, and records the state of files and notes of `folder` that `settle`
    /// returns (`None` for a file that is gone), in one transaction. If `settle` fails, nothing is changed.
    pub fn sync_notes<E: From<StoreError>>(
        &mut self,
        project: &Project,
        changes: &[NoteChange],
        registry: &Registry,
        now: u64,
        folder: &str,
        settle: impl FnOnce(Vec<PutNoteOutcome>) -> std::result::Result<Vec<(String, Option<SyncedFile>)>, E>,
    ) -> std::result::Result<(), E> {
        let path = self.path.clone();
        let explained = |error| E::from(classify(&path, error));
        let tx = self.conn.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate).map_err(explained)?;
        let puts = run_changes(&tx, project, changes, registry, now).map_err(explained)?;
        set_synced_files(&tx, &project.id, folder, &settle(puts)?).map_err(explained)?;
        tx.commit().map_err(explained)
    }

    /// Returns the folders with which the notes of a project were synced.
    pub fn synced_folders(&self, project: &str) -> Result<Vec<String>> {
        self.explain(
            self.conn
                .prepare_cached("SELECT DISTINCT folder FROM note_files WHERE project_id = ?1 ORDER BY folder")
                .and_then(|mut s| s.query_map([project], |row| row.get(0))?.collect()),
        )
    }

    /// Returns the files of a folder by path, as they were when they were last in sync with the notes of a project.
    pub fn synced_files(&self, project: &str, folder: &str) -> Result<BTreeMap<String, SyncedFile>> {
        self.explain(
            self.conn
                .prepare_cached(
                    "SELECT path, uid, file_hash, note_hash, size, modified, conflict FROM note_files
                     WHERE project_id = ?1 AND folder = ?2",
                )
                .and_then(|mut s| {
                    s.query_map([project, folder], |row| {
                        let file = SyncedFile {
                            uid: row.get(1)?,
                            file_hash: row.get(2)?,
                            note_hash: row.get(3)?,
                            size: super::time_from_sql(row.get(4)?),
                            modified: row.get(5)?,
                            conflict: row.get(6)?,
                        };
                        Ok((row.get(0)?, file))
                    })?
                    .collect()
                }),
        )
    }

    /// Returns whether a file's note may not be stored because its content was permanently deleted.
    pub fn is_forgotten(&self, project: &str, note: &Note, registry: &Registry) -> Result<bool> {
        self.explain(is_forgotten(&self.conn, project, &kind_of(note, registry), note))
    }
}

fn run_changes(
    tx: &Connection,
    project: &Project,
    changes: &[NoteChange],
    registry: &Registry,
    now: u64,
) -> rusqlite::Result<Vec<PutNoteOutcome>> {
    projects::put(tx, project, now)?;
    let mut puts = Vec::with_capacity(changes.len());
    for change in changes {
        puts.push(match change {
            NoteChange::Put { note, stem } => put(tx, project, note, stem, NoteOrigin::FromFile, registry)?,
            NoteChange::Edit { row, note } => edit(tx, row.0, project, note, registry)?,
            NoteChange::Name { row, note, stem } => {
                // A note with a file is not folded, but it may have been folded since the files were examined.
                digests::revive(tx, row.0, None)?;
                write_note(tx, row.0, project, note, stem)?;
                PutNoteOutcome::Stored { uid: note.uid.clone(), stem: stem.clone() }
            }
            NoteChange::Delete { row } => {
                delete(tx, row.0, now)?;
                PutNoteOutcome::Forgotten
            }
        });
    }
    Ok(puts)
}

fn set_synced_files(
    tx: &Connection,
    project: &str,
    folder: &str,
    files: &[(String, Option<SyncedFile>)],
) -> rusqlite::Result<()> {
    let mut delete = tx.prepare_cached("DELETE FROM note_files WHERE project_id = ?1 AND folder = ?2 AND path = ?3")?;
    let mut put = tx.prepare_cached(
        "INSERT OR REPLACE INTO note_files (project_id, folder, path, uid, file_hash, note_hash, size, modified, conflict)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
    )?;
    for (path, file) in files {
        match file {
            None => delete.execute([project, folder, path])?,
            Some(file) => put.execute(params![
                project,
                folder,
                path,
                file.uid,
                file.file_hash,
                file.note_hash,
                time(file.size),
                file.modified,
                file.conflict
            ])?,
        };
    }
    Ok(())
}

/// A change that a sync makes in the database.
#[derive(Clone, Debug)]
pub enum NoteChange {
    /// A new file: its note is stored under the file's name.
    Put {
        /// The note.
        note: Redacted<Note>,
        /// The file's name without its extension.
        stem: String,
    },
    /// A file was edited.
    Edit {
        /// The memory's row.
        row: NoteRow,
        /// The note as read from the file.
        note: Redacted<Note>,
    },
    /// A memory becomes a note with a name.
    Name {
        /// The memory's row.
        row: NoteRow,
        /// The note, which is stored already.
        note: Redacted<Note>,
        /// Its name.
        stem: String,
    },
    /// A file was deleted.
    Delete {
        /// The memory's row.
        row: NoteRow,
    },
}

const NOTE_COLUMNS: &str = "n.uid, n.type, n.stem, n.tags, n.keywords, n.description, n.related, n.extra";

/// The index of the first of [`NOTE_COLUMNS`] in a row that begins with [`COLUMNS`] and the row number.
const NOTE_COLUMNS_START: usize = 12;

/// Wraps a note that was read from the database.
#[expect(clippy::disallowed_methods, reason = "the database holds only redacted notes")]
fn stored(note: Note) -> Redacted<Note> {
    Redacted::read_back(note)
}

fn from_row(row: &Row<'_>, registry: &Registry) -> rusqlite::Result<StoredNote> {
    let memory = memories::from_row(row)?;
    let note_row = NoteRow(row.get(NOTE_COLUMNS_START - 1)?);
    let Some(uid) = row.get::<_, Option<String>>(NOTE_COLUMNS_START)? else {
        return Ok(StoredNote {
            row: note_row,
            memory: memory.id.clone(),
            stem: String::new(),
            is_named: false,
            note: stored(adopted(memory, registry)),
        });
    };
    let note = Note {
        uid,
        note_type: row.get(NOTE_COLUMNS_START + 1)?,
        tags: from_json_or_default(&row.get::<_, String>(NOTE_COLUMNS_START + 3)?),
        keywords: from_json_or_default(&row.get::<_, String>(NOTE_COLUMNS_START + 4)?),
        description: row.get(NOTE_COLUMNS_START + 5)?,
        related: from_json_or_default(&row.get::<_, String>(NOTE_COLUMNS_START + 6)?),
        extra: row.get(NOTE_COLUMNS_START + 7)?,
        kind: memory.kind,
        title: memory.title,
        content: memory.content,
        files: memory.files,
        importance: memory.importance,
        created: memory.created,
        session: memory.session_id,
    };
    Ok(StoredNote {
        row: note_row,
        memory: memory.id,
        stem: row.get(NOTE_COLUMNS_START + 2)?,
        is_named: true,
        note: stored(note),
    })
}

/// Converts a memory that a policy made to a note.
fn adopted(memory: Memory, registry: &Registry) -> Note {
    let note_type = registry.type_of(&memory.kind).unwrap_or(throughline_notes::registry::GENERAL_TYPE).to_owned();
    let title = one_line(&memory.title, MAX_TITLE_CHARS);
    Note {
        tags: registry.get(&note_type).map(|it| it.tags.clone()).unwrap_or_default(),
        description: describe(&title, &memory.content),
        uid: memory.id,
        kind: memory.kind,
        title,
        content: memory.content.trim().to_owned(),
        keywords: memory.keywords,
        related: Vec::new(),
        files: memory.files,
        importance: memory.importance,
        created: memory.created,
        session: memory.session_id,
        note_type,
        extra: String::new(),
    }
}

/// Gives notes without a name the unique name that they would be given.
fn name(notes: &mut [StoredNote]) {
    let mut taken: std::collections::HashSet<String> =
        notes.iter().filter(|it| it.is_named).map(|it| it.stem.clone()).collect();
    for it in notes.iter_mut().filter(|it| !it.is_named) {
        let stem = slug::file_stem(&day(it.note.created), &it.note.title);
        it.stem = slug::unique_stem(&stem, |stem| taken.contains(stem));
        taken.insert(it.stem.clone());
    }
}

fn kind_of(note: &Note, registry: &Registry) -> String {
    if note.kind.is_empty() { registry.kind_of(&note.note_type) } else { note.kind.clone() }
}

/// Returns the hash by which notes are deduplicated. Unlike those of other memories, it includes the title, because a
/// person chose it.
fn note_hash(kind: &str, note: &Note) -> ContentHash {
    ContentHash::of(&["note", kind, note.title.trim(), note.content.trim()])
}

fn body_hash(note: &Note) -> [u8; 32] {
    sha256_parts(&[note.content.trim()])
}

fn draft(kind: &str, note: &Note) -> Draft {
    let mut keywords = note.keywords.clone();
    for word in note.tags.iter().filter(|tag| !tag.starts_with("related:")).chain([&note.description]) {
        if !keywords.contains(word) && !word.is_empty() && !note.content.contains(word.as_str()) {
            keywords.push(word.clone());
        }
    }
    Draft {
        key: None,
        kind: kind.to_owned(),
        title: note.title.clone(),
        content: note.content.clone(),
        keywords,
        files: note.files.clone(),
        importance: note.importance,
        origin: Origin { line_uuid: None, at: Some(note.created) },
        attributes: vec![(SAVED.0.into(), SAVED.1.into())],
    }
}

/// See [`Store::put_note`]. `stem` is the note's name, or empty to choose one.
fn put(
    tx: &Connection,
    project: &Project,
    note: &Note,
    stem: &str,
    way: NoteOrigin,
    registry: &Registry,
) -> rusqlite::Result<PutNoteOutcome> {
    let kind = kind_of(note, registry);
    let hash = note_hash(&kind, note);
    let duplicate =
        |row: &Row<'_>| Ok(PutNoteOutcome::Duplicate { uid: row.get(0)?, note_type: row.get(1)?, stem: row.get(2)? });
    if let Some(same) = tx
        .prepare_cached(
            "SELECT n.uid, n.type, n.stem FROM memories m JOIN notes n ON n.memory = m.rowid
             WHERE m.project_id = ?1 AND m.content_hash = ?2",
        )?
        .query_row(params![project.id, hash], duplicate)
        .optional()?
    {
        return Ok(same);
    }
    if way == NoteOrigin::Written
        && let Some(same) = same_content(tx, project, note, &kind, registry)?.or(same_day(tx, project, note)?)
    {
        return Ok(same);
    }
    if is_forgotten(tx, &project.id, &kind, note)? {
        return Ok(PutNoteOutcome::Forgotten);
    }
    if way == NoteOrigin::FromFile
        && let Some(rowid) = digests::source_named(tx, &project.id, &note.uid)?
    {
        return unfold(tx, rowid, project, note, stem, registry);
    }
    tx.prepare_cached("DELETE FROM tombstones WHERE project_id = ?1 AND content_hash = ?2")?
        .execute(params![project.id, hash])?;
    let draft = draft(&kind, note);
    let (rowid, id) =
        memories::insert(tx, &project.id, &note.session, &draft, hash, Some(&note.uid), OWN_POLICY, note.created)?;
    let uid = if note.uid.is_empty() { id } else { note.uid.clone() };
    record_occurrence(tx, rowid, &note.session, &project.id, &uid, note.created)?;
    let stem = if stem.is_empty() { free_stem(tx, project, note)? } else { stem.to_owned() };
    write_note(tx, rowid, project, &Note { uid: uid.clone(), ..note.clone() }, &stem)?;
    Ok(PutNoteOutcome::Stored { uid, stem })
}

/// Returns whether this content was permanently deleted, as a note or as any memory.
fn is_forgotten(conn: &Connection, project: &str, kind: &str, note: &Note) -> rusqlite::Result<bool> {
    conn.prepare_cached("SELECT 1 FROM tombstones WHERE project_id = ?1 AND content_hash IN (?2, ?3) AND NOT by_file")?
        .exists(params![project, note_hash(kind, note), memories::content_hash(&draft(kind, note))])
}

/// Returns a note, or a memory made by a policy, with the same content.
fn same_content(
    tx: &Connection,
    project: &Project,
    note: &Note,
    kind: &str,
    registry: &Registry,
) -> rusqlite::Result<Option<PutNoteOutcome>> {
    let noted = tx
        .prepare_cached("SELECT uid, type, stem FROM notes WHERE project_id = ?1 AND body_hash = ?2 LIMIT 1")?
        .query_row(params![project.id, body_hash(note)], |row| {
            Ok(PutNoteOutcome::Duplicate { uid: row.get(0)?, note_type: row.get(1)?, stem: row.get(2)? })
        })
        .optional()?;
    if noted.is_some() {
        return Ok(noted);
    }
    let sql = format!(
        "SELECT {COLUMNS}, m.rowid, {NOTE_COLUMNS} FROM memories m LEFT JOIN notes n ON n.memory = m.rowid
         WHERE m.project_id = ?1 AND m.content_hash = ?2"
    );
    let made = tx
        .prepare_cached(&sql)?
        .query_row(params![project.id, memories::content_hash(&draft(kind, note))], |row| from_row(row, registry))
        .optional()?;
    if let Some(made) = &made {
        // The user wrote something that was folded into a digest, so restore it.
        digests::revive(tx, made.row.0, Some(&draft(kind, note)))?;
    }
    Ok(made.map(|made| PutNoteOutcome::Duplicate {
        stem: slug::file_stem(&day(made.note.created), &made.note.title),
        uid: made.note.uid.clone(),
        note_type: made.note.note_type.clone(),
    }))
}

/// Returns a note of the same type, day and title.
fn same_day(tx: &Connection, project: &Project, note: &Note) -> rusqlite::Result<Option<PutNoteOutcome>> {
    let stem = slug::file_stem(&day(note.created), &note.title);
    let found: Vec<(String, String, String)> = tx
        .prepare_cached(
            "SELECT n.uid, n.stem, m.title FROM notes n JOIN memories m ON m.rowid = n.memory
             WHERE n.project_id = ?1 AND n.type = ?2 AND n.stem >= ?3 AND n.stem < ?3 || '/'",
        )?
        .query_map(params![project.id, note.note_type, stem], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
        .collect::<rusqlite::Result<_>>()?;
    let same = found.into_iter().find(|(.., title)| title.trim() == note.title.trim());
    Ok(same.map(|(uid, stem, _)| PutNoteOutcome::Duplicate { uid, note_type: note.note_type.clone(), stem }))
}

/// Returns a name for the note's file that no other note of the project has.
fn free_stem(tx: &Connection, project: &Project, note: &Note) -> rusqlite::Result<String> {
    let stem = slug::file_stem(&day(note.created), &note.title);
    let mut taken = tx.prepare_cached("SELECT 1 FROM notes WHERE project_id = ?1 AND stem = ?2")?;
    let mut failed = None;
    let free = slug::unique_stem(&stem, |stem| {
        taken.exists(params![project.id, stem]).unwrap_or_else(|error| {
            failed = Some(error);
            false
        })
    });
    failed.map_or(Ok(free), Err)
}

/// Records the note's own occurrence, which keeps its memory alive when a session's extraction changes.
fn record_occurrence(
    tx: &Connection,
    rowid: i64,
    session: &str,
    project: &str,
    uid: &str,
    created: u64,
) -> rusqlite::Result<()> {
    tx.prepare_cached(
        "INSERT OR REPLACE INTO sightings (session_id, key, memory, line_uuid, at) VALUES (?1, ?2, ?3, NULL, ?4)",
    )?
    .execute(params![session, format!("note:{project}:{uid}"), rowid, time(created)])?;
    Ok(())
}

fn write_note(tx: &Connection, rowid: i64, project: &Project, note: &Note, stem: &str) -> rusqlite::Result<()> {
    tx.prepare_cached(
        "INSERT OR REPLACE INTO notes (memory, project_id, uid, type, stem, body_hash, tags, keywords, description, related, extra)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
    )?
    .execute(params![
        rowid,
        project.id,
        note.uid,
        note.note_type,
        stem,
        body_hash(note),
        json(&note.tags),
        json(&note.keywords),
        note.description,
        json(&note.related),
        note.extra,
    ])?;
    Ok(())
}

/// Edits a note in place, keeping its identifiers.
fn edit(
    tx: &Connection,
    rowid: i64,
    project: &Project,
    note: &Note,
    registry: &Registry,
) -> rusqlite::Result<PutNoteOutcome> {
    let kind = kind_of(note, registry);
    let hash = note_hash(&kind, note);
    let other = tx
        .prepare_cached(
            "SELECT n.uid, n.type, n.stem FROM memories m JOIN notes n ON n.memory = m.rowid
             WHERE m.project_id = ?1 AND m.content_hash = ?2 AND m.rowid <> ?3",
        )?
        .query_row(params![project.id, hash, rowid], |row| {
            Ok(PutNoteOutcome::Duplicate { uid: row.get(0)?, note_type: row.get(1)?, stem: row.get(2)? })
        })
        .optional()?;
    if let Some(other) = other {
        return Ok(other);
    }
    let stem: String = tx
        .prepare_cached("SELECT stem FROM notes WHERE memory = ?1")?
        .query_row([rowid], |row| row.get(0))
        .optional()?
        .unwrap_or_default();
    let stem = if stem.is_empty() { free_stem(tx, project, note)? } else { stem };
    let is_shared = sharing::is_shared(tx, rowid)?;
    digests::leave_digest(tx, rowid)?;
    sharing::stop_sharing_deleted(tx, rowid)?;
    memories::rewrite(tx, rowid, &project.id, &draft(&kind, note), hash)?;
    // Drop the occurrences from sessions, so that reading a session again does not undo the user's edit.
    tx.prepare_cached("DELETE FROM sightings WHERE memory = ?1")?.execute([rowid])?;
    record_occurrence(tx, rowid, &note.session, &project.id, &note.uid, note.created)?;
    write_note(tx, rowid, project, note, &stem)?;
    memories::recount(tx, rowid)?;
    if is_shared {
        sharing::share(tx, rowid, note.created)?;
    }
    Ok(PutNoteOutcome::Stored { uid: note.uid.clone(), stem })
}

/// Stores the file of a memory that is folded into a digest here, written by a machine that did not fold it: the memory
/// is restored as that file's note.
fn unfold(
    tx: &Connection,
    rowid: i64,
    project: &Project,
    note: &Note,
    stem: &str,
    registry: &Registry,
) -> rusqlite::Result<PutNoteOutcome> {
    let kind = kind_of(note, registry);
    let has_text = digests::revive(tx, rowid, None)?;
    if !has_text {
        digests::revive(tx, rowid, Some(&draft(&kind, note)))?;
    }
    let stem = if stem.is_empty() { free_stem(tx, project, note)? } else { stem.to_owned() };
    write_note(tx, rowid, project, note, &stem)?;
    let is_same = tx
        .prepare_cached("SELECT 1 FROM memories WHERE rowid = ?1 AND type = ?2 AND title = ?3 AND trim(content) = ?4")?
        .exists(params![rowid, kind, note.title, note.content.trim()])?;
    if has_text && is_same {
        return Ok(PutNoteOutcome::Stored { uid: note.uid.clone(), stem });
    }
    edit(tx, rowid, project, note, registry)
}

/// Deletes a note because its file was deleted. A tombstone keeps its content from coming back when a session is read
/// again.
fn delete(tx: &Connection, rowid: i64, now: u64) -> rusqlite::Result<()> {
    tx.prepare_cached(
        "INSERT OR IGNORE INTO tombstones (project_id, content_hash, deleted_at, by_file)
         SELECT project_id, content_hash, ?2, 1 FROM memories WHERE rowid = ?1",
    )?
    .execute(params![rowid, time(now)])?;
    memories::forget_in_notes(tx, rowid)?;
    memories::remove(tx, rowid)
}
