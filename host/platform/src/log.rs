//! The log: what went wrong, for people and for `doctor`. Entries are collected and written once, at the end, because
//! their details may contain anything and must be redacted first.
//!
//! The message of an entry is a fixed text of our own; only its details vary. If no redactor can be run, the messages
//! are written and the details withheld. The watchdog's last line ([`append_final_entry`]) is such a fixed text too, so a
//! process that hangs can still write it.

use std::cell::RefCell;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::open::append_no_follow;
use crate::paths;

/// The severity of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Details for debugging.
    Debug,
    /// Worth knowing.
    Info,
    /// Something was not done now, but will be done later.
    Warn,
    /// Something was not done.
    Error,
}

impl Level {
    fn parse(word: &str) -> Option<Self> {
        [Self::Debug, Self::Info, Self::Warn, Self::Error].into_iter().find(|level| level.word() == word)
    }

    fn word(self) -> &'static str {
        match self {
            Self::Debug => "DEBUG",
            Self::Info => "INFO",
            Self::Warn => "WARN",
            Self::Error => "ERROR",
        }
    }
}

struct Entry {
    level: Level,
    what: &'static str,
    detail: String,
}

/// The entries of one process run.
#[derive(Default)]
pub struct Log {
    entries: RefCell<Vec<Entry>>,
}

/// The longest detail that is kept, bytes.
const MAX_DETAIL_BYTES: usize = 2_000;

/// The most entries of one run.
const MAX_ENTRIES: usize = 200;

impl Log {
    /// Adds an entry. `what` is a fixed text of this program; `detail` may contain anything from outside.
    pub fn record(&self, level: Level, what: &'static str, detail: impl Into<String>) {
        let mut entries = self.entries.borrow_mut();
        if entries.len() < MAX_ENTRIES {
            let mut detail: String = detail.into();
            if detail.len() > MAX_DETAIL_BYTES {
                detail.truncate(detail.floor_char_boundary(MAX_DETAIL_BYTES));
                detail.push('…');
            }
            entries.push(Entry { level, what, detail });
        }
    }

    /// Returns the entries, one line each and unredacted. They are for the user who asked, and never for the disk.
    pub fn unredacted_lines(&self) -> Vec<String> {
        self.entries
            .borrow()
            .iter()
            .map(|entry| format!("{} {}: {}", entry.level.word(), entry.what, entry.detail))
            .collect()
    }

    /// Returns whether there is nothing to write.
    pub fn is_empty(&self) -> bool {
        self.entries.borrow().is_empty()
    }

    /// Appends the entries to `file`, one line each, with `redact` applied to their details, then clears them.
    pub fn write<E>(
        &self,
        file: &Path,
        max_bytes: u64,
        stamp: &str,
        redact: impl FnOnce(&mut [String]) -> Result<(), E>,
    ) -> io::Result<()> {
        let entries = self.entries.take();
        if entries.is_empty() {
            return Ok(());
        }
        let mut details: Vec<String> = entries.iter().map(|entry| entry.detail.clone()).collect();
        if redact(&mut details).is_err() {
            details.fill("(details withheld: no redactor could be run)".into());
        }
        let mut text = String::new();
        for (entry, detail) in entries.iter().zip(details) {
            let line = format!("{stamp} {} {}: {detail}", entry.level.word(), entry.what);
            // Each entry must stay on one line, whatever its detail contains.
            text.extend(line.trim_end_matches([':', ' ']).chars().map(|c| if c.is_control() { ' ' } else { c }));
            text.push('\n');
        }
        append(file, max_bytes, text.as_bytes())
    }
}

/// Appends one entry without details immediately, for a process that is about to be killed.
pub fn append_final_entry(file: &Path, stamp: &str, what: &'static str) {
    let _ = append(file, u64::MAX, format!("{stamp} {} {what}\n", Level::Error.word()).as_bytes());
}

fn append(file: &Path, max_bytes: u64, bytes: &[u8]) -> io::Result<()> {
    if let Some(folder) = file.parent() {
        paths::create_private(folder)?;
    }
    if fs::metadata(file).is_ok_and(|meta| meta.len() > max_bytes) {
        fs::rename(file, rotated_path(file))?;
    }
    // O_APPEND and a single write: lines of concurrent hooks do not interleave.
    append_no_follow(file)?.write_all(bytes)
}

/// Returns the path of the rotated log.
pub fn rotated_path(file: &Path) -> PathBuf {
    file.with_extension("log.1")
}

/// Deletes the lines for which `is_gone` returns true from the log and the rotated log. Returns how many there were.
pub fn delete_lines(file: &Path, is_gone: impl Fn(&str) -> bool) -> io::Result<u64> {
    let mut gone = 0;
    for file in [rotated_path(file), file.to_path_buf()] {
        let Ok(bytes) = fs::read(&file) else { continue };
        let text = String::from_utf8_lossy(&bytes);
        let kept: Vec<&str> = text.split_inclusive('\n').filter(|line| !is_gone(line)).collect();
        let before = text.split_inclusive('\n').count();
        if kept.len() < before {
            gone += (before - kept.len()) as u64;
            crate::files::replace_atomically(&file, kept.concat().as_bytes(), 0o600)?;
        }
    }
    Ok(gone)
}

/// A line of the log, parsed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLine {
    /// When it was written, milliseconds since the Unix epoch.
    pub at: u64,
    /// The severity.
    pub level: Level,
    /// What happened, with details.
    pub text: String,
}

/// Returns the lines of the rotated log and the log since `from`, oldest first. Lines that are not log entries are
/// skipped.
pub fn read_since(file: &Path, from: u64) -> Vec<LogLine> {
    [rotated_path(file), file.to_path_buf()]
        .iter()
        .filter_map(|file| fs::read(file).ok())
        .flat_map(|bytes| {
            String::from_utf8_lossy(&bytes)
                .lines()
                .filter_map(LogLine::parse)
                .filter(|line| line.at >= from)
                .collect::<Vec<_>>()
        })
        .collect()
}

impl LogLine {
    fn parse(line: &str) -> Option<Self> {
        let (stamp, rest) = line.split_once(' ')?;
        let (level, text) = rest.split_once(' ')?;
        let at = stamp.parse::<jiff::Timestamp>().ok()?.as_millisecond();
        Some(Self { at: u64::try_from(at).ok()?, level: Level::parse(level)?, text: text.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn details_are_redacted_and_lines_stay_lines() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("log/x.log");
        let log = Log::default();
        log.record(Level::Warn, "something failed", "secret\nand more");
        log.write(&file, 1_000, "T", |details| {
            for detail in details {
                *detail = detail.replace("secret", "[redacted:x]");
            }
            Ok::<(), String>(())
        })
        .unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "T WARN something failed: [redacted:x] and more\n");
        assert!(log.is_empty());
    }

    #[cfg(unix)]
    #[test]
    fn attack_a_link_in_the_place_of_the_log() {
        let dir = tempfile::tempdir().unwrap();
        let (file, target) = (dir.path().join("x.log"), dir.path().join("target"));
        fs::write(&target, "theirs").unwrap();
        std::os::unix::fs::symlink(&target, &file).unwrap();
        let log = Log::default();
        log.record(Level::Error, "something failed", "");
        assert!(log.write(&file, 1_000, "T", |_| Ok::<(), String>(())).is_err());
        append_final_entry(&file, "T", "it took too long");
        assert_eq!(fs::read_to_string(&target).unwrap(), "theirs");
    }

    #[test]
    fn without_a_redactor_details_are_withheld() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("x.log");
        let log = Log::default();
        log.record(Level::Error, "something failed", "secret");
        log.write(&file, 1_000, "T", |_| Err("none")).unwrap();
        assert!(!fs::read_to_string(&file).unwrap().contains("secret"));
    }

    #[test]
    fn what_was_written_is_read_back() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("x.log");
        for (stamp, level) in [("2025-01-01T00:00:00Z", Level::Error), ("2025-01-02T00:00:00.5Z", Level::Warn)] {
            let log = Log::default();
            log.record(level, "something failed", "why");
            log.write(&file, 10, stamp, |_| Ok::<(), String>(())).unwrap();
        }
        fs::OpenOptions::new().append(true).open(&file).unwrap().write_all(b"no line of ours\n").unwrap();
        let lines = read_since(&file, 0);
        assert_eq!(lines.iter().map(|line| line.level).collect::<Vec<_>>(), [Level::Error, Level::Warn]);
        assert_eq!(read_since(&file, lines[1].at), lines[1..]);
        assert_eq!((lines[1].at, lines[1].text.as_str()), (1_735_776_000_500, "something failed: why"));
    }

    #[test]
    fn it_is_turned_over() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("x.log");
        for _ in 0..3 {
            let log = Log::default();
            log.record(Level::Info, "long", "x".repeat(100));
            log.write(&file, 50, "T", |_| Ok::<(), String>(())).unwrap();
        }
        assert!(rotated_path(&file).exists());
        assert!(fs::metadata(&file).unwrap().len() < 200);
    }
}
