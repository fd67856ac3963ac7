//! Journals: what hooks inside the agent's loop note down. A hook appends one line to its session's file and returns; a
//! later one ([`Journal::take`]) moves the lines into the database.
//!
//! Many hooks may append at once, and one may take at the same time. Each record is one `write` to a file opened for
//! appending, under a shared lock; taking renames the file under an exclusive one, so an appender either was before it or
//! finds that its file has moved and opens the new one. A record begins and ends with a newline: one that was torn by a kill or
//! a full disk spoils no other. Nothing is synced: what a power cut may cost is observations of the last seconds, and the
//! transcript still has them. A kill costs nothing that was written.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};

use throughline_model::digest::sha256_hex;
use throughline_platform::paths;

/// The most bytes of one session's journal: what is beyond is not noted until it has been taken.
pub const MOST_BYTES: u64 = 32 << 20;

/// Where a journal has grown so far that it is taken in the background. See [`Appended::wants_taking`].
const TAKE_BYTES: u64 = 4 << 20;

/// How often an appender opens the file anew because another process took it.
const MOST_TRIES: u32 = 16;

/// Endings of the files of a session: its journal, what was taken of it, how many uses of tools were counted, a mark.
const NOTED: &str = "jsonl";
const TAKEN: &str = "taken";
const USES: &str = "uses";
const MARK: &str = "mark";

/// A file of a session.
struct Entry {
    stem: String,
    ending: String,
    path: PathBuf,
}

/// A record of which memories a session was shown: their identifiers are the detail, a line each.
pub const SHOWN: &str = "shown";
/// A record that from here on it was shown nothing: its context is gone.
pub const SHOWN_NOTHING: &str = "shown_nothing";

/// What was seen, redacted: of the use of a tool, a prompt, the end of a turn.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Seen {
    /// The agent's name of the tool; empty where it is about none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub tool: String,
    /// One line.
    pub summary: String,
    /// The compressed output, the prompt, the result.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub detail: String,
    /// Relative to the project's root where inside it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// What the policy found worth a name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub attributes: Vec<(String, String)>,
    /// Whether it failed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
    /// Whether a person stopped it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub interrupted: bool,
    /// Milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration: Option<u64>,
    /// The sub-agent that it happened in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
}

impl Seen {
    /// An attribute of this name.
    pub fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Every text that comes from outside.
    pub fn texts_mut(&mut self) -> Vec<&mut String> {
        let mut texts = vec![&mut self.tool, &mut self.summary, &mut self.detail];
        texts.extend(&mut self.files);
        texts.extend(self.attributes.iter_mut().flat_map(|(name, value)| [name, value]));
        texts
    }
}

/// One record.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// `tool_observation`, `user_prompt`, `subagent_stop`, …
    pub kind: String,
    /// Unique within the session: a record that is read twice is stored once.
    pub key: String,
    /// When, milliseconds since the Unix epoch.
    pub at: u64,
    /// The session.
    pub session: String,
    /// The agent's working folder.
    pub cwd: PathBuf,
    /// What was seen.
    pub seen: Seen,
}

/// What appending found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Appended {
    before: u64,
    after: u64,
}

impl Appended {
    /// Whether this record is the one with which the journal grew past a point at which it ought to be taken.
    pub fn wants_taking(self) -> bool {
        self.after / TAKE_BYTES > self.before / TAKE_BYTES
    }
}

/// The journals of all sessions.
#[derive(Debug, Clone)]
pub struct Journal {
    folder: PathBuf,
}

/// Records that were taken, and the files that still hold them until [`Taken::done`].
#[derive(Debug, Default)]
pub struct Taken {
    /// In the order in which they were noted.
    pub records: Vec<Record>,
    /// Lines that are no records.
    pub malformed: u64,
    files: Vec<PathBuf>,
}

impl Taken {
    /// They are stored: their files go.
    pub fn done(self) {
        for file in self.files {
            // One that stays is read again, and nothing of it is stored twice.
            let _ = fs::remove_file(file);
        }
    }
}

impl Journal {
    /// Those in a folder, which need not exist.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// A session's name as a file's.
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
    pub fn append(&self, record: &Record) -> io::Result<Appended> {
        let mut line = String::from("\n");
        line.push_str(&serde_json::to_string(record)?);
        line.push('\n');
        let path = self.file(&record.session, NOTED);
        self.append_to(&path, line.as_bytes(), MOST_BYTES)
    }

    /// Counts one more of a session's tool uses; returns how many there are now. No two callers get the same number.
    pub fn count(&self, session: &str) -> io::Result<u64> {
        Ok(self.append_to(&self.file(session, USES), b".", MOST_BYTES)?.after)
    }

    /// How many tool uses were counted.
    pub fn counted(&self, session: &str) -> u64 {
        fs::metadata(self.file(session, USES)).map_or(0, |meta| meta.len())
    }

    /// Counts from none again.
    pub fn recount(&self, session: &str) {
        let _ = fs::remove_file(self.file(session, USES));
    }

    /// Marks the session; false where it is marked already.
    pub fn mark(&self, session: &str) -> io::Result<bool> {
        let path = self.file(session, MARK);
        match File::options().write(true).create_new(true).mode(0o600).open(path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            other => other.map(|_| true),
        }
    }

    /// Takes the mark away.
    pub fn unmark(&self, session: &str) {
        let _ = fs::remove_file(self.file(session, MARK));
    }

    fn append_to(&self, path: &Path, bytes: &[u8], most: u64) -> io::Result<Appended> {
        for _ in 0..MOST_TRIES {
            let open = || File::options().append(true).create(true).mode(0o600).open(path);
            let mut file = match open() {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    paths::create_private(&self.folder)?;
                    open()?
                }
                other => other?,
            };
            flock(&file, FlockOperation::LockShared)?;
            let meta = file.metadata()?;
            let is_current = fs::metadata(path).is_ok_and(|now| (now.dev(), now.ino()) == (meta.dev(), meta.ino()));
            if !is_current {
                continue;
            }
            if meta.len() >= most {
                return Err(io::Error::other(format!("{} has {} bytes", path.display(), meta.len())));
            }
            file.write_all(bytes)?;
            // An append leaves the position behind what it wrote, wherever others have written since.
            let after = rustix::fs::tell(&file)?;
            return Ok(Appended { before: after.saturating_sub(bytes.len() as u64), after });
        }
        Err(io::Error::other(format!("{} was taken away again and again", path.display())))
    }

    /// Takes what was noted of a session.
    pub fn take(&self, session: &str) -> io::Result<Taken> {
        Self::set_aside(&self.file(session, NOTED))?;
        let mut taken = Taken::default();
        for path in self.taken(session)? {
            let mut bytes = Vec::new();
            match File::open(&path).and_then(|mut file| file.read_to_end(&mut bytes)) {
                // Another process has stored it meanwhile.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                other => other?,
            };
            for line in bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
                match serde_json::from_slice(line) {
                    Ok(record) => taken.records.push(record),
                    Err(_) => taken.malformed += 1,
                }
            }
            taken.files.push(path);
        }
        Ok(taken)
    }

    /// What was taken of a session and not stored yet, the earliest first.
    fn taken(&self, session: &str) -> io::Result<Vec<PathBuf>> {
        let stem = Self::stem(session);
        let is_its = |it: &Entry| it.stem == stem && it.ending == TAKEN;
        let mut files: Vec<PathBuf> = self.files()?.filter(is_its).map(|it| it.path).collect();
        files.sort();
        Ok(files)
    }

    /// What the session was shown as far as it is not stored yet, and whether that is all that it was shown.
    pub fn shown(&self, session: &str) -> (Vec<String>, bool) {
        let mut shown = Vec::new();
        let mut all = false;
        for file in [self.taken(session).unwrap_or_default(), vec![self.file(session, NOTED)]].concat() {
            let bytes = fs::read(file).unwrap_or_default();
            // The kind is the first member: other records, which may be long, are not parsed.
            let start = format!("{{\"kind\":\"{SHOWN}");
            for line in bytes.split(|&byte| byte == b'\n').filter(|line| line.starts_with(start.as_bytes())) {
                match serde_json::from_slice::<Record>(line) {
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

    /// Which of these keys the session's journal holds already.
    pub fn holds(&self, session: &str, keys: &[&str]) -> Vec<bool> {
        let bytes = fs::read(self.file(session, NOTED)).unwrap_or_default();
        let has = |key: &&str| {
            let quoted = serde_json::Value::from(*key).to_string();
            memchr::memmem::find(&bytes, format!("\"key\":{quoted}").as_bytes()).is_some()
        };
        keys.iter().map(has).collect()
    }

    /// The file names of sessions of which something was noted, as [`Journal::take`] takes them too.
    pub fn sessions(&self) -> io::Result<Vec<String>> {
        let mut sessions: Vec<String> =
            self.files()?.filter(|it| it.ending == NOTED || it.ending == TAKEN).map(|it| it.stem).collect();
        sessions.sort();
        sessions.dedup();
        Ok(sessions)
    }

    /// Takes away counts and marks of sessions that nobody has gone on with since `before`.
    pub fn tidy(&self, before: SystemTime) -> io::Result<()> {
        for it in self.files()? {
            let is_old = || fs::metadata(&it.path).and_then(|meta| meta.modified()).is_ok_and(|at| at < before);
            if (it.ending == USES || it.ending == MARK) && is_old() {
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

    /// Renames a journal, so that what comes from now on goes into a new one.
    fn set_aside(path: &Path) -> io::Result<()> {
        let file = match File::open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            other => other?,
        };
        flock(&file, FlockOperation::LockExclusive)?;
        let meta = file.metadata()?;
        if !fs::metadata(path).is_ok_and(|now| (now.dev(), now.ino()) == (meta.dev(), meta.ino())) {
            return Ok(());
        }
        let nanos = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
        fs::rename(path, path.with_extension(format!("{nanos:020}-{}.{TAKEN}", std::process::id())))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::thread;

    use super::*;

    fn record(key: usize) -> Record {
        Record { kind: "tool_observation".into(), key: format!("k{key}"), session: "s".into(), ..Record::default() }
    }

    fn keys(taken: &Taken) -> Vec<&str> {
        taken.records.iter().map(|record| record.key.as_str()).collect()
    }

    #[test]
    fn what_was_noted_is_taken_in_order_until_it_is_done() {
        let dir = tempfile::tempdir().unwrap();
        let journal = Journal::new(dir.path().join("journal"));
        assert!(journal.take("s").unwrap().records.is_empty());
        journal.append(&record(1)).unwrap();
        journal.append(&record(2)).unwrap();
        assert_eq!(journal.holds("s", &["k1", "k3"]), [true, false]);
        assert_eq!(keys(&journal.take("s").unwrap()), ["k1", "k2"]);
        journal.append(&record(3)).unwrap();
        assert_eq!(journal.sessions().unwrap(), ["s"]);
        let taken = journal.take("s").unwrap();
        assert_eq!(keys(&taken), ["k1", "k2", "k3"]);
        taken.done();
        assert!(journal.sessions().unwrap().is_empty());
    }

    #[test]
    fn a_torn_record_spoils_no_other() {
        let dir = tempfile::tempdir().unwrap();
        let journal = Journal::new(dir.path().to_path_buf());
        journal.append(&record(1)).unwrap();
        let path = journal.file("s", NOTED);
        File::options().append(true).open(&path).unwrap().write_all(b"\n{\"kind\":\"tool_obs\xff").unwrap();
        journal.append(&record(2)).unwrap();
        let taken = journal.take("s").unwrap();
        assert_eq!((keys(&taken), taken.malformed), (vec!["k1", "k2"], 1));
    }

    #[test]
    fn any_session_has_a_file_of_its_own_in_the_folder() {
        let dir = tempfile::tempdir().unwrap();
        let journal = Journal::new(dir.path().join("j"));
        for session in ["../../x", "a/b", "", ".", "한글", "a.b"] {
            journal.append(&Record { session: session.into(), ..record(1) }).unwrap();
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
                                journal.append(&record(writer * EACH + at)).unwrap();
                                journal.count("s").unwrap()
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
