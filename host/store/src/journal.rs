//! Session journals, to which hooks inside the agent's loop append events. A hook appends one line to its session's
//! file and returns; a later one ([`Journal::take`]) moves the lines into the database.
//!
//! Many hooks may append at once while one takes. Each record is one `write` to a file opened for appending, under a
//! shared lock. Taking renames the file under an exclusive lock, so an appender either finished before the rename, or
//! notices that its file has moved and opens the new one. A record begins and ends with a newline, so a record torn by
//! a kill or a full disk damages no other. Nothing is synced: a power cut may lose the observations of the last
//! seconds, but the transcript still has them. A kill loses nothing that was written.

mod tail;

use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::proof;
pub use tail::JournalTail;
use throughline_model::digest::sha256_hex;
use throughline_model::redacted::{Redacted, Texts};
use throughline_platform::open::FileOptions as _;
use throughline_platform::{files, metadata, paths};

/// The maximum size of a session's journal, in bytes. Once it is reached, appending fails until the journal has been
/// taken.
pub const MAX_BYTES: u64 = 32 << 20;

/// The size at which a journal should be taken in the background, in bytes. See [`AppendOutcome::should_take`].
const TAKE_BYTES: u64 = 4 << 20;

/// How often an appender reopens the file because another process took it.
const MAX_RETRIES: u32 = 16;

/// File extensions: a session's journal, what was taken from it, its tool-use counter, and its mark.
const NOTED: &str = "jsonl";
const TAKEN: &str = "taken";
const USES: &str = "uses";
const MARK: &str = "mark";
const REFUSED: &str = "refused";

/// The content of a file that records [`Refusal::Excluded`].
const EXCLUDED: &str = "excluded";

/// A session's file.
struct Entry {
    stem: String,
    ending: String,
    path: PathBuf,
}

/// The kind of record that lists memories shown to a session. The detail has one identifier per line.
pub const SHOWN: &str = "shown";
/// The kind of record that resets what a session was shown, because its context is gone.
pub const SHOWN_NOTHING: &str = "shown_nothing";

/// Why nothing was remembered when a session began. It names no folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// The folder was excluded.
    Excluded,
    /// The project or the session was paused.
    Paused {
        /// The project's identifier.
        project: String,
    },
}

/// Records that the host makes on its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostRecord<'a> {
    /// Memories were shown to the session: where, and their identifiers.
    Shown {
        /// The occasion, one word.
        source: &'a str,
        /// The identifiers.
        ids: &'a [String],
    },
    /// The session's context is gone, and with it what was shown.
    ShownNothing,
    /// The session started.
    SessionStart {
        /// How it started, one word.
        source: &'a str,
    },
}

/// Returns the text if it is one short word, such as `startup`, otherwise `other`: an agent can send anything.
fn word(text: &str) -> &str {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    if !text.is_empty() && text.len() <= 20 && text.bytes().all(is_plain) { text } else { "other" }
}

/// The payload of an event, redacted: a tool use, a prompt, or the end of a turn.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct EventPayload {
    /// The agent's name for the tool; empty if the event is not about a tool.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub tool: String,
    /// A one-line summary.
    pub summary: String,
    /// The compressed output, the prompt or the result.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub detail: String,
    /// Affected files, relative to the project's root if inside it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// Named attributes that the policy extracted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub attributes: Vec<(String, String)>,
    /// Whether it failed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
    /// Whether the user interrupted it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub interrupted: bool,
    /// The duration in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration: Option<u64>,
    /// The sub-agent in which it happened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
}

impl Texts for EventPayload {
    fn texts_mut(&mut self) -> Vec<&mut String> {
        let mut texts = vec![&mut self.tool, &mut self.summary, &mut self.detail];
        texts.extend(&mut self.files);
        texts.extend(self.attributes.iter_mut().flat_map(|(name, value)| [name, value]));
        texts
    }
}

impl EventPayload {
    /// Returns the attribute of this name.
    pub fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// A journal record.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct JournalRecord {
    /// The kind: `tool_observation`, `user_prompt`, `subagent_stop`, …
    pub kind: String,
    /// A key that is unique within the session, so that a record that is read twice is stored once.
    pub key: String,
    /// The time, in milliseconds since the Unix epoch.
    pub at: u64,
    /// The session.
    pub session: String,
    /// The agent's working folder.
    pub cwd: PathBuf,
    /// The event's payload.
    pub seen: EventPayload,
}

impl Texts for JournalRecord {
    /// The texts of the payload. Session, folder and key identify the record; changed, they would name another.
    fn texts_mut(&mut self) -> Vec<&mut String> {
        self.seen.texts_mut()
    }
}

/// The format of the records that this build writes. Records without one are of an earlier build, which derived the subjects
/// of tool uses before it redacted them.
const FORMAT: u32 = 1;

/// A record as it is in the file.
#[derive(Serialize, Deserialize)]
struct Line<R> {
    #[serde(flatten)]
    record: R,
    #[serde(default)]
    format: u32,
}

/// The journal's size before and after an append.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AppendOutcome {
    before: u64,
    after: u64,
}

impl AppendOutcome {
    /// Returns whether this record pushed the journal past a size at which it should be taken.
    pub fn should_take(self) -> bool {
        self.after / TAKE_BYTES > self.before / TAKE_BYTES
    }
}

/// The journals of all sessions.
#[derive(Debug, Clone)]
pub struct Journal {
    folder: PathBuf,
}

/// Records taken from a journal, and the files that contain them until [`TakenRecords::done`].
#[derive(Debug, Default)]
pub struct TakenRecords {
    /// The records, in the order in which they were appended.
    pub records: Vec<Redacted<JournalRecord>>,
    /// The number of lines that could not be parsed.
    pub malformed: u64,
    files: Vec<PathBuf>,
}

impl TakenRecords {
    /// Deletes the files, once their records are stored.
    pub fn done(self) {
        for file in self.files {
            // A file that remains is read again, but none of its records is stored twice.
            let _ = fs::remove_file(file);
        }
    }
}

impl Journal {
    /// Creates a handle for the journals in `folder`, which need not exist.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Returns the file stem for a session.
    pub fn stem(session: &str) -> String {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        if session.len() <= 64 && !session.is_empty() && session.bytes().all(plain) {
            session.to_owned()
        } else {
            format!("x-{}", &sha256_hex(session.as_bytes())[..32])
        }
    }

    fn file(&self, session: &str, ending: &str) -> PathBuf {
        self.folder.join(format!("{}.{ending}", Self::stem(session)))
    }

    /// Appends a record.
    pub fn append(&self, record: &Redacted<JournalRecord>) -> io::Result<AppendOutcome> {
        self.append_record(record)
    }

    /// Appends a record that the host makes on its own. It holds no text from outside, so no redactor needs to run.
    pub fn append_host(&self, session: &str, cwd: &Path, at: u64, record: HostRecord<'_>) -> io::Result<AppendOutcome> {
        let (kind, summary, detail) = match record {
            HostRecord::Shown { source, ids } => (SHOWN, word(source).to_owned(), ids.join("\n")),
            HostRecord::ShownNothing => (SHOWN_NOTHING, String::new(), String::new()),
            HostRecord::SessionStart { source } => {
                ("session_start", format!("Session started ({})", word(source)), String::new())
            }
        };
        self.append_record(&JournalRecord {
            kind: kind.into(),
            key: format!("{kind}:{at}:{}", std::process::id()),
            at,
            session: session.into(),
            cwd: cwd.into(),
            seen: EventPayload { summary, detail, ..EventPayload::default() },
        })
    }

    fn append_record(&self, record: &JournalRecord) -> io::Result<AppendOutcome> {
        let mut line = String::from("\n");
        line.push_str(&serde_json::to_string(&Line { record, format: FORMAT })?);
        line.push('\n');
        let path = self.file(&record.session, NOTED);
        self.append_to(&path, line.as_bytes(), MAX_BYTES)
    }

    /// Increments the session's tool-use counter and returns the new count. No two callers get the same number.
    pub fn increment_tool_count(&self, session: &str) -> io::Result<u64> {
        Ok(self.append_to(&self.file(session, USES), b".", MAX_BYTES)?.after)
    }

    /// Returns how many tool uses were counted.
    pub fn tool_count(&self, session: &str) -> u64 {
        fs::metadata(self.file(session, USES)).map_or(0, |meta| meta.len())
    }

    /// Resets the tool-use counter.
    pub fn reset_tool_count(&self, session: &str) {
        let _ = fs::remove_file(self.file(session, USES));
    }

    /// Marks the session; returns false if it is marked already.
    pub fn mark(&self, session: &str) -> io::Result<bool> {
        let path = self.file(session, MARK);
        match File::options().write(true).create_new(true).private().open(path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            other => other.map(|_| true),
        }
    }

    /// Removes the mark.
    pub fn unmark(&self, session: &str) {
        let _ = fs::remove_file(self.file(session, MARK));
    }

    /// Records why nothing was remembered when the session began, if that is not recorded yet.
    pub fn record_refusal(&self, session: &str, refusal: &Refusal) -> io::Result<()> {
        let text = match refusal {
            Refusal::Excluded => EXCLUDED,
            Refusal::Paused { project } => project,
        };
        paths::create_private(&self.folder)?;
        match File::options().write(true).create_new(true).private().open(self.file(session, REFUSED)) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            other => other?.write_all(text.as_bytes()),
        }
    }

    /// Returns why nothing was remembered when the session began; `None` if that is not recorded.
    pub fn refusal(&self, session: &str) -> Option<Refusal> {
        match fs::read_to_string(self.file(session, REFUSED)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            // If it is torn or cannot be read, the stricter reason holds.
            Ok(project) if project != EXCLUDED && !project.is_empty() => Some(Refusal::Paused { project }),
            _ => Some(Refusal::Excluded),
        }
    }

    /// Returns the folder of the session's first record that is not stored yet.
    pub fn first_folder(&self, session: &str) -> Option<PathBuf> {
        let files = [self.taken(session).unwrap_or_default(), vec![self.file(session, NOTED)]].concat();
        files.iter().find_map(|file| {
            let lines = BufReader::new(File::open(file).ok()?).split(b'\n').map_while(Result::ok);
            lines.filter_map(|line| serde_json::from_slice::<JournalRecord>(&line).ok()).map(|record| record.cwd).next()
        })
    }

    fn append_to(&self, path: &Path, bytes: &[u8], most: u64) -> io::Result<AppendOutcome> {
        for _ in 0..MAX_RETRIES {
            let open = || File::options().read(true).append(true).create(true).private().open(path);
            let mut file = match open() {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    paths::create_private(&self.folder)?;
                    open()?
                }
                other => other?,
            };
            files::lock_for_appending(&file)?;
            if !is_at(&file, path)? {
                continue;
            }
            let size = file.metadata()?.len();
            if size >= most {
                return Err(io::Error::other(format!("{} has {size} bytes", path.display())));
            }
            file.write_all(bytes)?;
            // In append mode the file position is the end of this write, even if others have written since.
            let after = file.stream_position()?;
            return Ok(AppendOutcome { before: after.saturating_sub(bytes.len() as u64), after });
        }
        Err(io::Error::other(format!("{} was moved away repeatedly while appending", path.display())))
    }

    /// Takes the records of a session.
    pub fn take(&self, session: &str) -> io::Result<TakenRecords> {
        Self::set_aside(&self.file(session, NOTED))?;
        let mut taken = TakenRecords::default();
        for path in self.taken(session)? {
            let mut bytes = Vec::new();
            match File::open(&path).and_then(|mut file| file.read_to_end(&mut bytes)) {
                // Another process has stored this file in the meantime.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                other => other?,
            };
            for line in bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
                match serde_json::from_slice::<Line<JournalRecord>>(line) {
                    Ok(Line { mut record, format }) => {
                        if format < FORMAT {
                            proof::drop_unproven(&mut record.seen);
                        }
                        #[expect(clippy::disallowed_methods, reason = "`append` writes only redacted records")]
                        taken.records.push(Redacted::read_back(record));
                    }
                    Err(_) => taken.malformed += 1,
                }
            }
            taken.files.push(path);
        }
        Ok(taken)
    }

    /// Returns the session's taken files that are not stored yet, oldest first.
    fn taken(&self, session: &str) -> io::Result<Vec<PathBuf>> {
        let stem = Self::stem(session);
        let is_its = |it: &Entry| it.stem == stem && it.ending == TAKEN;
        let mut files: Vec<PathBuf> = self.files()?.filter(is_its).map(|it| it.path).collect();
        files.sort();
        Ok(files)
    }

    /// Returns which memories the session was shown, as far as that is not stored yet, and whether this list is
    /// complete (the session was reset since).
    pub fn shown(&self, session: &str) -> (Vec<String>, bool) {
        let mut shown = Vec::new();
        let mut all = false;
        for file in [self.taken(session).unwrap_or_default(), vec![self.file(session, NOTED)]].concat() {
            let bytes = fs::read(file).unwrap_or_default();
            // The kind is the first member, so other records, which may be long, need not be parsed.
            let start = format!("{{\"kind\":\"{SHOWN}");
            for line in bytes.split(|&byte| byte == b'\n').filter(|line| line.starts_with(start.as_bytes())) {
                match serde_json::from_slice::<JournalRecord>(line) {
                    Ok(record) if record.kind == SHOWN => shown.extend(record.seen.detail.lines().map(str::to_owned)),
                    Ok(record) if record.kind == SHOWN_NOTHING => {
                        shown.clear();
                        all = true;
                    }
                    _ => {}
                }
            }
        }
        (shown, all)
    }

    /// Returns, for each key, whether the session's journal already contains it.
    pub fn contains_keys(&self, session: &str, keys: &[&str]) -> Vec<bool> {
        let bytes = fs::read(self.file(session, NOTED)).unwrap_or_default();
        let has = |key: &&str| {
            let quoted = serde_json::Value::from(*key).to_string();
            memchr::memmem::find(&bytes, format!("\"key\":{quoted}").as_bytes()).is_some()
        };
        keys.iter().map(has).collect()
    }

    /// Returns the file stems of all sessions with journal records, including taken ones. [`Journal::take`] accepts
    /// these stems.
    pub fn sessions(&self) -> io::Result<Vec<String>> {
        let mut sessions: Vec<String> =
            self.files()?.filter(|it| it.ending == NOTED || it.ending == TAKEN).map(|it| it.stem).collect();
        sessions.sort();
        sessions.dedup();
        Ok(sessions)
    }

    /// Returns a reader of what hooks append from now on, or with `from_the_end` false of everything that is not stored yet.
    pub fn tail(&self, from_the_end: bool) -> JournalTail {
        JournalTail::new(self.clone(), from_the_end)
    }

    /// Deletes counters, marks and refusals that have not been modified since `before`.
    pub fn delete_stale_markers(&self, before: SystemTime) -> io::Result<()> {
        for it in self.files()? {
            let is_old = || fs::metadata(&it.path).and_then(|meta| meta.modified()).is_ok_and(|at| at < before);
            if [USES, MARK, REFUSED].contains(&it.ending.as_str()) && is_old() {
                let _ = fs::remove_file(&it.path);
            }
        }
        Ok(())
    }

    fn files(&self) -> io::Result<impl Iterator<Item = Entry>> {
        let entries = match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            other => Some(other?),
        };
        let parse = |entry: fs::DirEntry| {
            let name = entry.file_name().into_string().ok()?;
            let (stem, rest) = name.split_once('.')?;
            let ending = rest.rsplit('.').next()?;
            Some(Entry { stem: stem.to_owned(), ending: ending.to_owned(), path: entry.path() })
        };
        Ok(entries.into_iter().flatten().flatten().filter_map(parse))
    }

    /// Renames a journal, so that later records go into a new file.
    fn set_aside(path: &Path) -> io::Result<()> {
        let file = match File::open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            other => other?,
        };
        file.lock()?;
        if !is_at(&file, path)? {
            return Ok(());
        }
        let nanos = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
        fs::rename(path, path.with_extension(format!("{nanos:020}-{}.{TAKEN}", std::process::id())))
    }
}

/// Returns whether the open file still has this name: another process may have renamed it before it was locked.
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let id = metadata::file_id(file)?;
    Ok(metadata::path_id(path).is_ok_and(|now| now == id))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::thread;

    use super::*;
    use crate::tests::redacted;

    fn record(key: usize) -> JournalRecord {
        JournalRecord {
            kind: "tool_observation".into(),
            key: format!("k{key}"),
            session: "s".into(),
            ..JournalRecord::default()
        }
    }

    fn keys(taken: &TakenRecords) -> Vec<&str> {
        taken.records.iter().map(|record| record.key.as_str()).collect()
    }

    #[test]
    fn what_was_noted_is_taken_in_order_until_it_is_done() {
        let dir = tempfile::tempdir().unwrap();
        let journal = Journal::new(dir.path().join("journal"));
        assert!(journal.take("s").unwrap().records.is_empty());
        journal.append(&redacted(record(1))).unwrap();
        journal.append(&redacted(record(2))).unwrap();
        assert_eq!(journal.contains_keys("s", &["k1", "k3"]), [true, false]);
        assert_eq!(keys(&journal.take("s").unwrap()), ["k1", "k2"]);
        journal.append(&redacted(record(3))).unwrap();
        assert_eq!(journal.sessions().unwrap(), ["s"]);
        let taken = journal.take("s").unwrap();
        assert_eq!(keys(&taken), ["k1", "k2", "k3"]);
        taken.done();
        assert!(journal.sessions().unwrap().is_empty());
    }

    #[test]
    fn attack_a_password_in_a_journal_that_an_earlier_build_wrote() {
        let dir = tempfile::tempdir().unwrap();
        let journal = Journal::new(dir.path().to_path_buf());
        let attributes = [("command", "redis-cli -a [redacted:x] ping"), ("subject", "redis-cli swordfish ping")];
        let attributes = attributes.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        let old = JournalRecord { seen: EventPayload { attributes, ..EventPayload::default() }, ..record(1) };
        fs::write(journal.file("s", NOTED), serde_json::to_string(&old).unwrap()).unwrap();
        let taken = journal.take("s").unwrap();
        assert_eq!(taken.records[0].seen.attribute("subject"), None);
        assert_eq!(taken.records[0].seen.attribute("command"), old.seen.attribute("command"));
    }

    #[test]
    fn a_torn_record_spoils_no_other() {
        let dir = tempfile::tempdir().unwrap();
        let journal = Journal::new(dir.path().to_path_buf());
        journal.append(&redacted(record(1))).unwrap();
        let path = journal.file("s", NOTED);
        File::options().append(true).open(&path).unwrap().write_all(b"\n{\"kind\":\"tool_obs\xff").unwrap();
        journal.append(&redacted(record(2))).unwrap();
        let taken = journal.take("s").unwrap();
        assert_eq!((keys(&taken), taken.malformed), (vec!["k1", "k2"], 1));
    }

    #[test]
    fn any_session_has_a_file_of_its_own_in_the_folder() {
        let dir = tempfile::tempdir().unwrap();
        let journal = Journal::new(dir.path().join("j"));
        for session in ["../../x", "a/b", "", ".", "한글", "a.b"] {
            journal.append(&redacted(JournalRecord { session: session.into(), ..record(1) })).unwrap();
            assert_eq!(journal.take(session).unwrap().records.len(), 1);
        }
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
        assert_eq!(journal.sessions().unwrap().len(), 6);
    }

    #[test]
    fn many_append_and_some_take_and_nothing_is_lost() {
        const WRITERS: usize = 8;
        const EACH: usize = 200;
        let dir = tempfile::tempdir().unwrap();
        let journal = Journal::new(dir.path().to_path_buf());
        let mut all: Vec<String> = Vec::new();
        let mut numbers = BTreeSet::new();
        thread::scope(|scope| {
            let writers: Vec<_> = (0..WRITERS)
                .map(|writer| {
                    let journal = &journal;
                    scope.spawn(move || {
                        (0..EACH)
                            .map(|at| {
                                journal.append(&redacted(record(writer * EACH + at))).unwrap();
                                journal.increment_tool_count("s").unwrap()
                            })
                            .collect::<Vec<u64>>()
                    })
                })
                .collect();
            while all.len() < WRITERS * EACH {
                let taken = journal.take("s").unwrap();
                all.extend(taken.records.iter().map(|record| record.key.clone()));
                assert_eq!(taken.malformed, 0);
                taken.done();
            }
            for writer in writers {
                numbers.extend(writer.join().unwrap());
            }
        });
        all.sort();
        all.dedup();
        assert_eq!(all.len(), WRITERS * EACH);
        assert_eq!(numbers, (1..=(WRITERS * EACH) as u64).collect());
    }
}
